/** What is measured, of whom, and how: bursts of requests with the processor time of the server and the database. */
import { Connection, drive } from './driver.ts';
import { ownDatabase, usageOf } from './processes.ts';

/** As many as keep the server busy; more would only wait for each other. */
export const connectionCount = 16;

export type Work = {
  /** Makes what the next burst uses up; its time is not counted. */
  prepare?(connections: Connection[]): Promise<void>;
  /** One request, or one series of them that counts as one; false when there is nothing left of what was prepared. */
  step(connection: Connection, at: number): Promise<boolean>;
};

export type Contestant = {
  name: string;
  /** None for what is measured without HTTP. */
  port: number | undefined;
  pids: () => number[];
  usesDatabase: boolean;
  works: Record<string, Work>;
};

export type Figures = {
  requests: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  serverUs: number;
  databaseUs: number;
  totalUs: number;
  serverBytes: number;
  databaseBytes: number;
};

/** Warm means so many requests; a slow machine is given at most so much time for them. */
export type Run = { warmMs: number; warmRequests: number; measureMs: number };
const warmStepMs = 200;

/** One contestant at one work; rounds are added up, so that noise between them falls on all alike. */
export class Cell {
  readonly contestant: Contestant;
  readonly name: string;
  readonly #work: Work;
  #connections: Connection[] = [];
  #seconds = 0;
  #latenciesMs: number[] = [];
  #serverMs = 0;
  #databaseMs = 0;
  #memory = { server: 0, database: 0 };

  constructor(contestant: Contestant, name: string) {
    const work = contestant.works[name];
    if (!work) throw new Error(`${contestant.name} does not do ${name}`);
    this.contestant = contestant;
    this.name = name;
    this.#work = work;
  }

  /** Lets the server find its stride first: what it compiles and caches meanwhile is not counted. */
  async run({ warmMs, warmRequests, measureMs }: Run): Promise<void> {
    const { port } = this.contestant;
    this.#connections = [];
    for (let at = 0; at < connectionCount; at++) {
      // Without a port there is nothing to connect to, and the work takes only the place of the connection.
      this.#connections.push(port === undefined ? (undefined as never) : await Connection.open(port));
    }
    for (let spentMs = 0, done = 0; spentMs < warmMs && done < warmRequests; spentMs += warmStepMs) {
      done += await this.#bursts(warmStepMs, false);
    }
    await this.#bursts(measureMs, true);
    if (port !== undefined) for (const connection of this.#connections) connection.close();
  }

  async #bursts(durationMs: number, counted: boolean): Promise<number> {
    let requests = 0;
    for (let leftMs = durationMs; leftMs > 0; ) {
      await this.#work.prepare?.(this.#connections);
      const database = this.contestant.usesDatabase ? ownDatabase() : [];
      const server = this.contestant.pids();
      const before = { server: usageOf(server), database: usageOf(database) };
      const driven = await drive(
        this.#connections,
        (connection, at) => this.#work.step(connection, at),
        leftMs,
      );
      const after = { server: usageOf(server), database: usageOf(database) };
      leftMs -= driven.seconds * 1000;
      requests += driven.requests;
      if (!counted) continue;
      this.#seconds += driven.seconds;
      for (const latency of driven.latenciesMs) this.#latenciesMs.push(latency);
      this.#serverMs += after.server.cpuMs - before.server.cpuMs;
      this.#databaseMs += after.database.cpuMs - before.database.cpuMs;
      this.#memory = { server: after.server.memoryBytes, database: after.database.memoryBytes };
    }
    return requests;
  }

  figures(): Figures {
    const sorted = Float64Array.from(this.#latenciesMs).sort();
    const requests = sorted.length;
    const serverUs = (this.#serverMs * 1000) / requests;
    const databaseUs = (this.#databaseMs * 1000) / requests;
    return {
      requests,
      perSecond: requests / this.#seconds,
      p50Ms: sorted[Math.floor(requests * 0.5)] ?? 0,
      p99Ms: sorted[Math.floor(requests * 0.99)] ?? 0,
      serverUs,
      databaseUs,
      totalUs: serverUs + databaseUs,
      serverBytes: this.#memory.server,
      databaseBytes: this.#memory.database,
    };
  }
}

/** One after the other, and from the beginning again. */
export function takeFrom<Item>(items: Item[]): () => Item {
  let at = 0;
  return () => {
    const item = items[at++ % items.length];
    if (item === undefined) throw new Error('nothing to take from');
    return item;
  };
}

export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
