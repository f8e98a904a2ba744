/** A closed loop over raw sockets: each connection asks again as soon as it was answered. It costs little itself. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export type Answer = { status: number; head: string; body: Buffer };

/** One connection that is kept open, with at most one request under way. */
export class Connection {
  readonly #socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  #waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk) => this.#take(chunk));
    socket.on('error', (error) => this.#waiting?.reject(error));
    socket.on('close', () => this.#waiting?.reject(new Error('the server has closed the connection')));
  }

  static async open(port: number): Promise<Connection> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return new Connection(socket);
  }

  send(request: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(request, 'latin1');
    });
  }

  close(): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const headEnd = this.#received.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const head = this.#received.toString('latin1', 0, headEnd);
    const bodyEnd = headEnd + 4 + Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    if (this.#received.length < bodyEnd) return;
    const body = this.#received.subarray(headEnd + 4, bodyEnd);
    this.#received = Buffer.alloc(0);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve({ status: Number(head.slice(9, 12)), head, body });
  }
}

/** A request as it goes over the wire. The body's length is known beforehand, so most of it can be made once. */
export function requestText(
  line: string,
  headers: Record<string, string>,
  body?: { type: string; text: string },
): string {
  const all: Record<string, string> = { host: 'localhost', ...headers };
  if (body) Object.assign(all, { 'content-type': body.type, 'content-length': String(body.text.length) });
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${line} HTTP/1.1\r\n${lines.join('')}\r\n${body?.text ?? ''}`;
}

export function formRequest(path: string, fields: Record<string, string>): string {
  const text = new URLSearchParams(fields).toString();
  return requestText(`POST ${path}`, {}, { type: 'application/x-www-form-urlencoded', text });
}

/** The body of a good answer; anything else ends the run, since its figures would mean nothing. */
export async function ask(connection: Connection, request: string, expected = 200): Promise<Answer> {
  const answer = await connection.send(request);
  if (answer.status !== expected) {
    const [line] = request.split('\r\n');
    throw new Error(`${line}: ${expected} expected, not ${answer.head}\n${answer.body.toString()}`);
  }
  return answer;
}

export type Driven = { requests: number; seconds: number; latenciesMs: number[] };

/** Runs one step after another on every connection until the time is up, or until a step says there is no more. */
export async function drive(
  connections: Connection[],
  step: (connection: Connection, at: number) => Promise<boolean>,
  durationMs: number,
): Promise<Driven> {
  const latenciesMs: number[] = [];
  const from = performance.now();
  await Promise.all(
    connections.map(async (connection, at) => {
      for (let begun = performance.now(); begun < from + durationMs; ) {
        if (!(await step(connection, at))) return;
        const ended = performance.now();
        latenciesMs.push(ended - begun);
        begun = ended;
      }
    }),
  );
  return { requests: latenciesMs.length, seconds: (performance.now() - from) / 1000, latenciesMs };
}
