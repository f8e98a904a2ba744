import { appendFileSync } from 'node:fs';

/** A call of a merchant that makes or changes something, under its own idempotency key. */
export type Sent = { path: string; body: object; key: string };
export type Acknowledged = Sent & { status: number; answer: string };
/** What was last said of a payment or a refund. */
export type Told = {
  id: string;
  status: string;
  version: number;
  amount: { value: string; currency: string };
};
/** Whether this can stand where that was told: nothing goes back, and what is final stays. */
export function mayFollow(told: Told, is: { status: string; version: number }): boolean {
  if (is.version < told.version) return false;
  const isFinal = told.status === 'succeeded' || told.status === 'canceled';
  return isFinal || is.version === told.version ? is.status === told.status : true;
}

/** The tokens of a session whose end was acknowledged. */
export type EndedSession = { accessToken: string; refreshToken: string };

/**
 * What was asked and what was answered, kept by the driver, outside the server and its database. Each line is in the file
 * before anything follows from it, so that a campaign that fails leaves its story behind.
 */
export class Journal {
  readonly acknowledged: Acknowledged[] = [];
  readonly unfinished = new Map<string, Sent>();
  readonly told = new Map<string, Told>();
  readonly ended: EndedSession[] = [];
  readonly #path: string;
  #keys = 0;

  constructor(path: string) {
    this.#path = path;
  }

  intend(path: string, body: object): Sent {
    const sent = { path, body, key: `torture-${++this.#keys}` };
    this.#write({ intent: sent });
    this.unfinished.set(sent.key, sent);
    return sent;
  }

  acknowledge(sent: Sent, status: number, answer: string): Acknowledged {
    const acknowledged = { ...sent, status, answer };
    this.#write({ acknowledged });
    this.acknowledged.push(acknowledged);
    this.unfinished.delete(sent.key);
    if (status === 200) this.tell(JSON.parse(answer) as Told);
    return acknowledged;
  }

  /** Keeps the newest of what was said about an object. */
  tell(object: Told): void {
    const { id, status, version, amount } = object;
    const known = this.told.get(id);
    if (known && known.version >= version) return;
    this.#write({ told: { id, status, version } });
    this.told.set(id, { id, status, version, amount });
  }

  end(session: EndedSession): void {
    this.#write({ ended: session });
    this.ended.push(session);
  }

  /** What happened beside the calls: rounds and faults. */
  note(text: string): void {
    this.#write({ note: text });
  }

  #write(line: object): void {
    appendFileSync(this.#path, `${JSON.stringify({ at: new Date().toISOString(), ...line })}\n`);
  }
}
