import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, ask, hang, type Question } from './ask.ts';
import type { Journal } from './journal.ts';
import type { Node, Nodes } from './nodes.ts';

/** What callers may see while a fault lasts; without any of these, every request has to succeed. */
export type Allowance = {
  /** A connection may be lost without an answer. */
  drops?: boolean;
  /** "Not now" may be answered. */
  unavailable?: boolean;
  /** A session may be over before its time. */
  endedSessions?: boolean;
  /** So much later than promised, because the server itself was held for so long. */
  heldMs?: number;
};

export type BreachKind = 'lost' | 'doubled' | 'invariant' | 'answer' | 'slow';
export type Breach = { kind: BreachKind; text: string };
export type Counts = {
  operations: number;
  acknowledged: number;
  unavailable: number;
  dropped: number;
  slowestMs: number;
};

/** Whatever happens, a caller is answered within this time. */
const promisedMs = 5_000;
const lagTickMs = 20;

/** Sends the requests of the whole load, and judges each answer by itself. */
export class Driver {
  readonly nodes: Nodes;
  readonly journal: Journal;
  readonly breaches: Breach[] = [];
  allowance: Allowance = {};
  counts: Counts = noCounts();
  #lagMs = 0;

  constructor(nodes: Nodes, journal: Journal) {
    this.nodes = nodes;
    this.journal = journal;
    let dueAt = performance.now() + lagTickMs;
    setInterval(() => {
      this.#lagMs += Math.max(0, performance.now() - dueAt);
      dueAt = performance.now() + lagTickMs;
    }, lagTickMs).unref();
  }

  breach(kind: BreachKind, text: string): void {
    this.breaches.push({ kind, text });
    this.journal.note(`BREACH ${kind}: ${text}`);
  }

  /** The answer, or undefined when there was none, or "not now": then the same request may be sent again. */
  async send(question: Question, to?: Node): Promise<Answer | undefined> {
    const node = to ?? this.nodes.next();
    if (!node) {
      if (!this.allowance.drops) this.breach('answer', `${nameOf(question)}: nobody to ask`);
      await delay(50);
      return undefined;
    }
    this.counts.operations++;
    // What was allowed when it was sent: an answer may come after the fault is over.
    const { allowance } = this;
    const lagBefore = this.#lagMs;
    const outcome = await ask(node.agent, node.port, question);
    // While our own process stands still, nobody else is to blame for it.
    const ms = outcome.ms - (this.#lagMs - lagBefore);
    this.counts.slowestMs = Math.max(this.counts.slowestMs, ms);
    if (ms > promisedMs + (allowance.heldMs ?? 0))
      this.breach('slow', `${nameOf(question)} took ${Math.round(ms)} ms on ${node.name}`);
    if ('failure' in outcome) {
      if (!allowance.drops || outcome.failure === hang)
        this.breach('answer', `${nameOf(question)}: ${outcome.failure}`);
      this.counts.dropped++;
      return undefined;
    }
    if (outcome.status >= 500) {
      this.#judgeFailure(question, outcome, allowance);
      return undefined;
    }
    return outcome;
  }

  #judgeFailure(question: Question, { status, headers, body }: Answer, allowance: Allowance): void {
    this.counts.unavailable++;
    const said = `${nameOf(question)}: ${status} ${body.slice(0, 300)}`;
    if (status !== 503) this.breach('answer', said);
    else if (!/^\d+$/.test(headers['retry-after'] ?? '')) this.breach('answer', `no Retry-After: ${said}`);
    else if (!allowance.unavailable && !body.includes('outcome_unknown')) this.breach('answer', said);
  }
}

export function noCounts(): Counts {
  return { operations: 0, acknowledged: 0, unavailable: 0, dropped: 0, slowestMs: 0 };
}

/** Tokens stand in paths and must not stand in reports. */
function nameOf({ method, path }: Question): string {
  return `${method} ${path.replace(/\?.*/s, '').replace(/\/pay\/.*/s, '/pay/…')}`;
}
