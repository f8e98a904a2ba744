import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { constants } from 'node:fs';
import * as fs from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import {
  type Binaries,
  type Home,
  ifMissing,
  postgresEnvironment,
  type RunAs,
} from './embedded-postgres-files.ts';
import { commandOf } from './folder-lock.ts';
import { StartRefused } from './start-refused.ts';

export type Options = { dataDir: string; log: (message: string) => void; settings?: Record<string, string> };

/** Everything that the steps of a start share. */
export type Setup = { home: Home; runAs: RunAs; binaries: Binaries; password: string } & Required<Options>;

export type Run = { stopping: boolean; postmaster?: ChildProcess; healing?: Promise<void> };

/** Another server is running on the data folder; the message is meant for the operator. */
export class DataDirInUse extends StartRefused {
  constructor(dataDir: string, holder: string) {
    super(
      `The data folder ${dataDir} is in use by another running server (${holder}): stop that one, or set another DATA_DIR or a DATABASE_URL for this one.`,
    );
    this.name = 'DataDirInUse';
  }
}

/** Starts PostgreSQL and waits until it answers. What may pass by itself is tried again for a while. */
export async function launch(setup: Setup, run: Run, fixedPort: number | undefined): Promise<number> {
  const { home, password } = setup;
  const giveUpAt = Date.now() + 15_000;
  for (;;) {
    const port = fixedPort ?? (await freePort());
    const logOffset = await boundLog(home.logFile);
    if (run.stopping) throw new Error('PostgreSQL was stopped while it was starting.');
    const child = await spawnPostgres(setup, port);
    run.postmaster = child;
    if (run.stopping) await endChild(child);
    if (await becomesReady(child, urlOf(port, password, 'postgres'), setup)) return port;

    const output = await readLog(home.logFile, logOffset);
    const mayPass = passingFailures.some((sign) => output.includes(sign));
    if (run.stopping || !mayPass || Date.now() > giveUpAt) {
      throw new StartRefused(
        `PostgreSQL did not start; the end of ${home.logFile} says: ${output.slice(-2_000).trim()}`,
      );
    }
    if (output.includes('postmaster.pid')) {
      // The PostgreSQL of a server that was killed in the middle of its start may have come up only now.
      await stopOrphan(setup);
      await disownPidFile(home.cluster);
    }
    await sleep(100);
  }
}

const passingFailures = [
  // Somebody took the port after we had found it free.
  'Address already in use',
  // Sessions of a PostgreSQL that was killed end on their own once they notice.
  'pre-existing shared memory block',
  // The number in the file is that of a living process, or a power cut has emptied the file.
  'lock file "postmaster.pid"',
];

/**
 * Below the range from which Linux and macOS give ports to outgoing connections: otherwise one of those could take
 * the port while PostgreSQL restarts, even our own pool by connecting to itself.
 */
async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_768);
    const server = createServer();
    const isFree = await new Promise<boolean>((done) => {
      server.once('error', () => done(false));
      server.listen(port, '127.0.0.1', () => server.close(() => done(true)));
    });
    if (isFree) return port;
  }
}

const maxLogBytes = 4 * 1024 * 1024;

/** Empties the log once it has grown large. Returns where the output of the coming start begins. */
async function boundLog(logFile: string): Promise<number> {
  const { size } = await fs.stat(logFile).catch(ifMissing({ size: 0 }));
  if (size > maxLogBytes) await fs.truncate(logFile);
  return size > maxLogBytes ? 0 : size;
}

async function readLog(logFile: string, offset: number): Promise<string> {
  return (await fs.readFile(logFile)).subarray(offset).toString('utf8');
}

async function spawnPostgres(
  { home, runAs, binaries, settings }: Setup,
  port: number,
): Promise<ChildProcess> {
  const all = {
    max_connections: '200',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_checkpoints: 'off',
    ...settings,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    port: String(port),
  };
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  // A file and not a pipe: PostgreSQL outlives a server that is killed, and must not write into nothing.
  const output = await fs.open(
    home.logFile,
    constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT,
    0o600,
  );
  try {
    const child = spawn(binaries.postgres, ['-D', await fs.realpath(home.cluster), ...flags], {
      ...runAs,
      cwd: '/',
      env: postgresEnvironment(),
      stdio: ['ignore', output.fd, output.fd],
      // In a process group of its own, or a terminal's Ctrl-C would stop it in the middle of our own shutdown.
      detached: true,
    });
    child.on('error', () => undefined);
    return child;
  } finally {
    await output.close();
  }
}

/** False when PostgreSQL has ended. It may take its time: after a crash it first replays its journal. */
async function becomesReady(child: ChildProcess, adminUrl: string, { log, home }: Setup): Promise<boolean> {
  let noteAt = Date.now() + 10_000;
  for (; !hasEnded(child); await sleep(25)) {
    try {
      const client = await connect(adminUrl);
      const isOurs = await serves(client, home.cluster);
      await client.end();
      if (isOurs) return true;
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === '28P01') {
        await endChild(child);
        throw new StartRefused(
          `The database in ${home.cluster} does not accept the password in ${home.passwordFile}.`,
        );
      }
      if (Date.now() > noteAt) {
        log(`PostgreSQL is still starting, perhaps after a crash; it answers: ${messageOf(error)}`);
        noteAt = Date.now() + 10_000;
      }
    }
  }
  return false;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message.trim() : String(error);
}

/**
 * The file names a living process that is not a PostgreSQL of this folder: its number was used again after a crash.
 * PostgreSQL takes a file with the number of its parent, that is ours, for stale. Deleting the file would do too,
 * but with it goes the number of the shared memory, by which PostgreSQL finds sessions that outlived the crash.
 */
async function disownPidFile(cluster: string): Promise<void> {
  if (await findPostmaster(cluster)) return;
  const content = await fs.readFile(pidFileOf(cluster), 'utf8').catch(ifMissing(undefined));
  if (content === undefined) return;
  if (content.trim() === '') return fs.rm(pidFileOf(cluster), { force: true });
  // The folder belongs to a lesser user than root: a link that it may have put there is not followed.
  const flags = constants.O_WRONLY | constants.O_TRUNC | constants.O_NOFOLLOW;
  const file = await fs.open(pidFileOf(cluster), flags);
  await file.writeFile(content.replace(/^\d+/, String(process.pid))).finally(() => file.close());
}

export async function endChild(child: ChildProcess | undefined): Promise<void> {
  if (!child || hasEnded(child)) return;
  await new Promise<void>((done) => {
    const immediately = setTimeout(() => child.kill('SIGQUIT'), 10_000);
    child.once('exit', () => {
      clearTimeout(immediately);
      done();
    });
    child.kill('SIGINT');
  });
}

export function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
}

/**
 * We hold the folder, so a PostgreSQL that runs on it was left by a server that was killed. The advisory lock is
 * asked all the same. No other start can be between its PostgreSQL and its advisory lock: it would hold the folder.
 */
export async function stopOrphan({ home, password, dataDir, log }: Setup): Promise<void> {
  const giveUpAt = Date.now() + 15_000;
  for (;;) {
    const running = await findPostmaster(home.cluster);
    if (!running) return;
    const client = await connect(urlOf(running.port, password, 'postgres')).catch(() => undefined);
    const ours = client !== undefined && (await serves(client, home.cluster).catch(() => false));
    const free = ours && (await takeOwnerLock(client, 2_000).catch(() => undefined));
    await client?.end();
    if (free === false && ours) throw new DataDirInUse(dataDir, `PostgreSQL is process ${running.pid}`);
    // It may be starting or stopping, and answer later; one that never answers is of no use to anybody.
    if (free || Date.now() > giveUpAt) {
      log('The last run was cut off and has left its PostgreSQL behind; it is being stopped.');
      return endProcess(running.pid, home.cluster);
    }
    await sleep(25);
  }
}

/** The key, within the database `postgres`, of the advisory lock that a server holds while it lives. */
export const ownerLockId = 1_414_483_015;

export async function takeOwnerLock(client: Client, patienceMs: number): Promise<boolean> {
  // The session of a server that was just killed lasts until its backend has noticed.
  for (const giveUpAt = Date.now() + patienceMs; ; await sleep(50)) {
    const { rows } = await client.query(`select pg_try_advisory_lock(${ownerLockId}) as taken`);
    if (rows[0]?.taken === true) return true;
    if (Date.now() > giveUpAt) return false;
  }
}

async function endProcess(pid: number, cluster: string): Promise<void> {
  for (const [signal, patienceMs] of [
    ['SIGINT', 10_000],
    ['SIGQUIT', 10_000],
    ['SIGKILL', 5_000],
  ] as const) {
    const giveUpAt = Date.now() + patienceMs;
    for (let sent = false; Date.now() < giveUpAt; await sleep(25)) {
      // Looked up anew each time, so that no signal goes to a later process with the same number.
      if ((await findPostmaster(cluster))?.pid !== pid) return;
      if (!sent) process.kill(pid, signal);
      sent = true;
    }
  }
}

/** The living postmaster of the cluster. A file left by a dead one, or a number used by another process, is none. */
export async function findPostmaster(cluster: string): Promise<{ pid: number; port: number } | undefined> {
  const lines = (await fs.readFile(pidFileOf(cluster), 'utf8').catch(ifMissing(''))).split('\n');
  const [pid, port] = [Number(lines[0]), Number(lines[3])];
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  const isOurs = (await commandOf(pid)).includes(` -D ${await fs.realpath(cluster)} `);
  return isOurs ? { pid, port } : undefined;
}

function pidFileOf(cluster: string): string {
  return join(cluster, 'postmaster.pid');
}

/** Tells the cluster from a copy of it, which has the same password and the same file with its number and port. */
export async function serves(client: Client, cluster: string): Promise<boolean> {
  const { rows } = await client.query(`select current_setting('data_directory') as folder`);
  return (await fs.realpath(String(rows[0]?.folder))) === (await fs.realpath(cluster));
}

/** Says that there is no TLS on the loopback, or a PGSSLMODE in the operator's environment would ask for it. */
export function urlOf(port: number, password: string, database: string): string {
  return `postgres://tollgate:${password}@127.0.0.1:${port}/${database}?sslmode=disable`;
}

export async function connect(connectionString: string): Promise<Client> {
  const client = new Client({
    connectionString,
    application_name: 'tollgate owner',
    connectionTimeoutMillis: 5_000,
  });
  // Without a listener a session that PostgreSQL ends would end our process; those who care wait for 'end'.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}
