import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { packageRoot } from '../../src/app.ts';
import { freePort } from './free-port.ts';

export type RunningServer = {
  url: string;
  port: number;
  process: ChildProcess;
  output(): string;
  /** Sends a signal and waits for the end; tells the exit code. */
  end(signal: NodeJS.Signals): Promise<number | null>;
};

const root = new URL('.', packageRoot).pathname;

/** Starts the built server as an operator would, and does not wait. */
export function spawnServer(env: Record<string, string>, command = [process.execPath, 'dist/main.js']) {
  const [file = '', ...args] = command;
  const child = spawn(file, args, {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk));
  return { child, output: () => output };
}

/** Starts the built server and waits until it is ready. */
export async function startServer(env: Record<string, string>, command?: string[]): Promise<RunningServer> {
  const port = Number(env.PORT ?? (await freePort()));
  const { child, output } = spawnServer({ PORT: String(port), ...env }, command);
  const url = `http://127.0.0.1:${port}`;
  await untilReady(env.ADMIN_PORT ? `http://127.0.0.1:${env.ADMIN_PORT}` : url, child, output);
  return {
    url,
    port,
    process: child,
    output,
    async end(signal) {
      const gone = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
      child.kill(signal);
      await gone;
      return child.exitCode;
    },
  };
}

async function untilReady(url: string, child: ChildProcess, output: () => string): Promise<void> {
  for (let tries = 0; tries < 1_500; tries++) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}:\n${output()}`);
    if (await isReady(url)) return;
    await delay(20);
  }
  throw new Error(`the server did not get ready:\n${output()}`);
}

export async function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/health/ready`).then(
    (answer) => answer.ok,
    () => false,
  );
}
