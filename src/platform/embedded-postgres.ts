import * as fs from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { prepareCluster } from './embedded-postgres-cluster.ts';
import { findHome, prepareBinaries, prepareHome } from './embedded-postgres-files.ts';
import {
  connect,
  DataDirInUse,
  endChild,
  findPostmaster,
  hasEnded,
  launch,
  messageOf,
  type Options,
  ownerLockId,
  type Run,
  type Setup,
  serves,
  stopOrphan,
  takeOwnerLock,
  urlOf,
} from './embedded-postgres-process.ts';
import { lockFolder } from './folder-lock.ts';

export { DataDirInUse };

export type EmbeddedPostgres = {
  /** With the password; the database is `tollgate`, on a loopback port. It stays valid when PostgreSQL crashes. */
  url: string;
  /** Ends the sessions and PostgreSQL, in order. May be called again. */
  stop(): Promise<void>;
  /** For one who cannot wait: PostgreSQL drops everything and recovers at the next start. Nothing committed is lost. */
  stopNow(): void;
};

/**
 * Runs a PostgreSQL of our own on the data folder. A server that was killed leaves its PostgreSQL behind, so there
 * are two questions at each start. Is another server alive? The lock on the folder answers, and where it was lost
 * (somebody deleted the file), the advisory lock that a living server holds. Is a PostgreSQL alive? Then nobody
 * owns it, and it is stopped: a fresh one has today's program and settings, and is our child, whose end we notice.
 */
export async function startEmbeddedPostgres({
  dataDir,
  log,
  settings = {},
}: Options): Promise<EmbeddedPostgres> {
  const { home, runAs } = await prepareHome(dataDir, log);
  const lock = await lockFolder(home.folder);
  if ('heldByPid' in lock) throw new DataDirInUse(dataDir, `process ${lock.heldByPid}`);
  try {
    const binaries = await prepareBinaries(home, runAs);
    const password = await prepareCluster(home, runAs, binaries);
    const setup = { home, runAs, binaries, password, dataDir, log, settings };
    await stopOrphan(setup);
    return await supervise(setup, lock.release);
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** For the command line: the URL of the database that a running server holds, or undefined when none runs. */
export async function findRunningEmbeddedPostgres(dataDir: string): Promise<string | undefined> {
  try {
    const home = await findHome(dataDir);
    const running = home && (await findPostmaster(home.cluster));
    if (!home || !running) return undefined;
    const password = (await fs.readFile(home.passwordFile, 'utf8')).trim();
    // A server that has just lost its PostgreSQL to a crash is without its advisory lock for a moment.
    for (const giveUpAt = Date.now() + 1_000; Date.now() < giveUpAt; await sleep(50)) {
      if (await isHeld(home.cluster, running.port, password))
        return urlOf(running.port, password, 'tollgate');
    }
    return undefined;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EACCES') {
      throw new Error(
        `Only the user who runs the server may read ${dataDir}: run this command as that user.`,
      );
    }
    throw error;
  }
}

async function isHeld(cluster: string, port: number, password: string): Promise<boolean> {
  const client = await connect(urlOf(port, password, 'postgres')).catch(() => undefined);
  if (!client) return false;
  try {
    const held = await client.query(
      `select from pg_locks where locktype = 'advisory' and granted and objid = ${ownerLockId}
        and database = (select oid from pg_database where datname = current_database())`,
    );
    return held.rowCount === 1 && (await serves(client, cluster));
  } catch {
    // It ended in the middle of the question.
    return false;
  } finally {
    await client.end();
  }
}

/** Keeps PostgreSQL running on one port, and our lock in it, until it is told to stop. */
async function supervise(setup: Setup, releaseFolder: () => void): Promise<EmbeddedPostgres> {
  const { password, log } = setup;
  const run: Run = { stopping: false };
  const port = await launch(setup, run, undefined);
  const adminUrl = urlOf(port, password, 'postgres');

  const holdOwnerLock = async (): Promise<void> => {
    const client = await connect(adminUrl);
    if (!(await takeOwnerLock(client, 2_000))) {
      await client.end();
      throw new DataDirInUse(setup.dataDir, 'it holds the advisory lock');
    }
    client.once('end', () => void retry(holdOwnerLock));
  };
  const watch = (): void => {
    const heal = (): void => {
      if (run.stopping) return;
      log('PostgreSQL has ended unexpectedly; it is being started again.');
      run.healing = retry(async () => {
        await launch(setup, run, port).catch((error: unknown) => {
          if (!run.stopping) log(messageOf(error));
          throw error;
        });
        watch();
      });
    };
    if (run.postmaster && !hasEnded(run.postmaster)) run.postmaster.once('exit', heal);
    else heal();
  };
  /** PostgreSQL and the lock each come back on their own, so neither needs to know how the other was lost. */
  const retry = async (work: () => Promise<void>): Promise<void> => {
    for (let pauseMs = 50; !run.stopping; pauseMs = Math.min(pauseMs * 2, 10_000)) {
      for (const resumeAt = Date.now() + pauseMs; !run.stopping && Date.now() < resumeAt; ) await sleep(25);
      if (run.stopping || (await succeeds(work))) return;
    }
  };

  try {
    await holdOwnerLock();
    await createDatabase(adminUrl);
  } catch (error) {
    run.stopping = true;
    await endChild(run.postmaster);
    throw error;
  }
  watch();

  let stopped: Promise<void> | undefined;
  return {
    url: urlOf(port, password, 'tollgate'),
    stop() {
      run.stopping = true;
      stopped ??= endChild(run.postmaster)
        .then(() => run.healing)
        .then(releaseFolder);
      return stopped;
    },
    stopNow() {
      run.stopping = true;
      run.postmaster?.kill('SIGQUIT');
      releaseFolder();
    },
  };
}

async function succeeds(work: () => Promise<void>): Promise<boolean> {
  return work().then(
    () => true,
    () => false,
  );
}

async function createDatabase(adminUrl: string): Promise<void> {
  const client = await connect(adminUrl);
  try {
    const found = await client.query(`select from pg_database where datname = 'tollgate'`);
    if (found.rowCount === 0) await client.query('create database tollgate');
  } finally {
    await client.end();
  }
}
