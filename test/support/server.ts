import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { packageRoot } from '../../src/package.ts';
import { commandOf } from '../../src/platform/folder-lock.ts';
import { freePort } from './free-port.ts';

/** A test, or `{ after }` from node:test for a whole file. */
export type Scope = { after(undo: () => Promise<void>): void };

export type OwnProcess = {
  child: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** What it has logged: one object for each JSON line of standard output. */
  log(): LogLine[];
  /** The exit code, once it has ended; null when a signal has ended it. */
  ended: Promise<number | null>;
  hasEnded(): boolean;
};
export type LogLine = { msg?: string; level?: string; pid?: number; [field: string]: unknown };
export type OwnServer = OwnProcess & { port: number; url: string };

const root = new URL('.', packageRoot).pathname;

/**
 * Starts the built server as an operator would, without waiting; it is killed when the scope ends, however that
 * ends. Given another command (`npm start`), that runs in a process group of its own, as under a terminal, so that
 * its children are killed with it.
 */
export function spawnOwnServer(scope: Scope, env: Record<string, string>, command?: string[]): OwnProcess {
  const [file = '', ...args] = command ?? [process.execPath, 'dist/main.js'];
  const child = spawn(file, args, {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: command !== undefined,
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk));
  child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk));
  let closed = false;
  // 'close' comes after the last byte of output, 'exit' possibly before it.
  const ended = once(child, 'close').then(() => {
    closed = true;
    return child.exitCode;
  });
  undoLater(scope, async () => {
    if (command === undefined) child.kill('SIGKILL');
    else killGroup(child);
    await ended;
  });
  return {
    child,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    log: () => logLinesOf(output.stdout),
    ended,
    hasEnded: () => closed,
  };
}

/** Starts the built server and waits until it is ready. */
export async function startOwnServer(
  scope: Scope,
  env: Record<string, string>,
  command?: string[],
): Promise<OwnServer> {
  const port = Number(env.PORT ?? (await freePort()));
  const server = spawnOwnServer(scope, { PORT: String(port), ...env }, command);
  await untilReady(server, Number(env.ADMIN_PORT ?? port));
  return { ...server, port, url: `http://127.0.0.1:${port}` };
}

/** The same for a whole file, with its output in one text; `end` tells the exit code. */
export async function startServer(env: Record<string, string>) {
  const server = await startOwnServer({ after }, env);
  return {
    url: server.url,
    output: () => server.stdout() + server.stderr(),
    end(signal: NodeJS.Signals) {
      server.child.kill(signal);
      return server.ended;
    },
  };
}

export async function untilReady(server: OwnProcess, port: number): Promise<void> {
  await until('the server is ready', async () => {
    if (server.hasEnded()) {
      throw new Error(`the server ended with ${await server.ended}:\n${server.stdout()}${server.stderr()}`);
    }
    return isReady(`http://127.0.0.1:${port}`);
  });
}

async function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/health/ready`).then(
    (answer) => answer.ok,
    () => false,
  );
}

/** Asks again and again; gives up after more than a minute. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 3_000; tries++) {
    if (await holds()) return;
    await delay(20);
  }
  throw new Error(`waited in vain until ${what}`);
}

/** A data folder that is removed when the scope ends, together with any PostgreSQL that still runs on it. */
export async function temporaryFolder(scope: Scope): Promise<string> {
  const folder = await fs.realpath(await fs.mkdtemp(join(tmpdir(), 'tollgate-server-')));
  undoLater(scope, async () => {
    for (const pid of await processesOn(folder)) kill(pid, 'SIGKILL');
    await fs.rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  });
  return folder;
}

/** Every process whose command line names the folder: a postmaster, or an initdb. */
export function processesOn(folder: string): Promise<number[]> {
  return processesNaming(`${folder}/`);
}

/** Every process with these words in its command line. */
export async function processesNaming(words: string): Promise<number[]> {
  const found: number[] = [];
  for (const pid of await allProcesses()) {
    if ((await commandOf(pid)).includes(words)) found.push(pid);
  }
  return found;
}

export function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** A process that has ended stays visible until its parent has taken note, but it no longer has a command line. */
export async function isAlive(pid: number): Promise<boolean> {
  return (await commandOf(pid)) !== '';
}

const undosOf = new WeakMap<Scope, (() => Promise<void>)[]>();

/** node:test runs its hooks oldest first, but a server must end before its folder is removed. */
export function undoLater(scope: Scope, undo: () => Promise<void>): void {
  const known = undosOf.get(scope);
  if (known) {
    known.push(undo);
    return;
  }
  const undos = [undo];
  undosOf.set(scope, undos);
  scope.after(async () => {
    for (let next = undos.pop(); next; next = undos.pop()) await next();
  });
}

function killGroup(child: ChildProcess): void {
  if (child.pid !== undefined) kill(-child.pid, 'SIGKILL');
}

async function allProcesses(): Promise<number[]> {
  if (process.platform === 'linux') {
    return (await fs.readdir('/proc')).filter((entry) => /^\d+$/.test(entry)).map(Number);
  }
  const ps = spawn('ps', ['-ax', '-o', 'pid='], { stdio: ['ignore', 'pipe', 'ignore'] });
  let listed = '';
  ps.stdout.on('data', (chunk: Buffer) => (listed += chunk));
  await once(ps, 'close');
  return listed.trim().split(/\s+/).map(Number);
}

function logLinesOf(output: string): LogLine[] {
  // The last line may not be whole yet, and the greeting is not JSON.
  const lines = output.slice(0, output.lastIndexOf('\n') + 1).split('\n');
  return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as LogLine);
}
