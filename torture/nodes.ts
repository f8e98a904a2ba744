import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { packageRoot } from '../src/package.ts';
import { freePort } from '../test/support/free-port.ts';
import { type OwnProcess, type Scope, spawnOwnServer, undoLater, until } from '../test/support/server.ts';
import { ask } from './ask.ts';

const hook = new URL('torture/server-hook.js', packageRoot).href;
const readyEveryMs = 50;

/** One process of the service: it serves requests, or it does the jobs. */
export class Node {
  readonly name: string;
  readonly agent = new Agent({ keepAlive: true });
  readonly #start: (port: number) => OwnProcess;
  process: OwnProcess | undefined;
  port = 0;
  ready = false;
  #outputSeen = 0;
  /** What processes of this name that have ended since have logged. */
  #unread = '';

  constructor(scope: Scope, name: string, env: Record<string, string>) {
    this.name = name;
    this.#start = (port) =>
      spawnOwnServer(scope, { ...env, PORT: String(port) }, [
        process.execPath,
        '--import',
        hook,
        'dist/main.js',
      ]);
  }

  /** Only once it is ready do requests go to it, and no longer to a process of this name before it. */
  async start(): Promise<void> {
    const port = await freePort();
    const started = this.#start(port);
    await until(`${this.name} is ready`, async () => {
      if (started.hasEnded()) throw new Error(`${this.name} has ended:\n${outputOf(started).slice(-4_000)}`);
      return this.#asksForRequests(port);
    });
    this.#unread += this.#newOutput();
    this.process = started;
    this.port = port;
    this.ready = true;
    this.#outputSeen = 0;
  }

  /** Asks whether it wants requests, as a balancer does. */
  async look(): Promise<boolean> {
    const { port } = this;
    const ready = await this.#asksForRequests(port);
    // An answer that comes after a restart tells nothing about the process that runs now.
    if (port === this.port) this.ready = ready;
    return this.ready;
  }

  async #asksForRequests(port: number): Promise<boolean> {
    const outcome = await ask(this.agent, port, { method: 'GET', path: '/health/ready' });
    return 'status' in outcome && outcome.status === 200;
  }

  /** What it has logged since the last time; what it greets people with is not a log. */
  newLog(): string {
    const text = this.#unread + this.#newOutput();
    this.#unread = '';
    return text
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .join('\n');
  }

  #newOutput(): string {
    const output = this.process ? outputOf(this.process) : '';
    const text = output.slice(this.#outputSeen);
    this.#outputSeen = output.length;
    return text;
  }

  signal(signal: NodeJS.Signals): void {
    this.process?.child.kill(signal);
  }

  async kill(): Promise<void> {
    const killed = this.process;
    if (!killed) return;
    this.signal('SIGKILL');
    await killed.ended;
    this.ready = false;
  }

  /** A new process takes over: beside the old one when nobody else serves, else after it. */
  async replace(isAlone: boolean): Promise<void> {
    const old = this.process;
    if (isAlone) await this.start();
    old?.child.kill('SIGTERM');
    const code = await old?.ended;
    if (code !== 0) throw new Error(`${this.name} ended with ${code}:\n${old?.stdout().slice(-2_000)}`);
    if (!isAlone) await this.start();
  }

  isRunning(): boolean {
    return this.process !== undefined && !this.process.hasEnded();
  }
}

function outputOf(one: OwnProcess): string {
  return one.stdout() + one.stderr();
}

export type Nodes = {
  serving: Node[];
  jobs: Node;
  /** Those that want requests. */
  ready(): Node[];
  /** The next one that wants requests; when none does, the next one that runs at all. */
  next(): Node | undefined;
  untilReady(): Promise<void>;
};

/** So many processes that serve, and one that does the jobs, on one database. */
export async function startNodes(scope: Scope, count: number, env: Record<string, string>): Promise<Nodes> {
  const serving = Array.from(
    { length: count },
    (_, at) => new Node(scope, `node ${at + 1}`, { ...env, JOBS: 'off', DRAIN_SECONDS: '1' }),
  );
  const jobs = new Node(scope, 'jobs', { ...env, JOBS: 'only' });
  const all = [...serving, jobs];
  for (const node of all) await node.start();

  let watching = true;
  const watches = serving.map(async (node) => {
    for (; watching; await delay(readyEveryMs)) if (node.isRunning()) await node.look();
  });
  undoLater(scope, async () => {
    watching = false;
    for (const node of all) node.agent.destroy();
    await Promise.all(watches);
  });

  let turn = 0;
  const ready = () => serving.filter((node) => node.ready && node.isRunning());
  return {
    serving,
    jobs,
    ready,
    next() {
      const willing = ready();
      const able = willing.length > 0 ? willing : serving.filter((node) => node.isRunning());
      return able[turn++ % Math.max(able.length, 1)];
    },
    async untilReady() {
      for (const node of all) await until(`${node.name} is ready again`, () => node.look());
    },
  };
}
