import { execFileSync } from 'node:child_process';
import { chmod, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../src/platform/embedded-postgres.ts';
import { processesOn, type Scope, temporaryFolder, undoLater } from '../test/support/server.ts';
import { killFamilies } from './processes.ts';

/** The PostgreSQL under torture, as the campaign reaches it past the proxy. */
export type TortureDatabase = {
  url(): string;
  /** kill -9 of all its processes. It comes up again by itself, on the same folder. */
  kill?(): Promise<void>;
  /** Takes all the room on its disk, and gives it back. */
  fillDisk?(): Promise<() => Promise<void>>;
  /** Loses the primary, and promotes its standby; then builds a standby for that one. */
  failOver?(onPromoted: () => Promise<void>): Promise<void>;
};

/** Room for the database, its journal and some minutes of load. */
const diskBytes = 1024 * 1024 * 1024;

/**
 * A PostgreSQL with the product's own settings, which are durable. Its folder can be a small disk of its own (in memory),
 * for root where mounting is allowed.
 */
export async function startEmbeddedDatabase(scope: Scope, ownDisk: boolean): Promise<TortureDatabase> {
  const folder = await temporaryFolder(scope);
  const isOwnDisk = ownDisk && process.platform === 'linux' && mountDisk(scope, folder);
  const dataDir = join(folder, 'data');
  await mkdir(dataDir);
  // PostgreSQL's own user has to pass through.
  await chmod(folder, 0o711);
  const settings = { max_connections: '80', max_wal_size: '128MB' };
  const postgres = await startEmbeddedPostgres({ dataDir, log: () => {}, settings });
  undoLater(scope, () => postgres.stop());
  return {
    url: () => postgres.url,
    kill: async () => killFamilies(await processesOn(dataDir)),
    ...(isOwnDisk ? { fillDisk: () => fill(join(folder, 'ballast')) } : {}),
  };
}

function mountDisk(scope: Scope, folder: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskBytes},mode=0711`, 'tmpfs', folder]);
  } catch {
    // Only root may, and in a container not even root.
    return false;
  }
  undoLater(scope, async () => void execFileSync('umount', ['--lazy', folder]));
  return true;
}

async function fill(path: string): Promise<() => Promise<void>> {
  const ballast = await open(path, 'w');
  const chunk = Buffer.alloc(1024 * 1024);
  try {
    for (let size = chunk.length; size >= 4096; ) {
      const { bytesWritten } = await ballast.write(chunk, 0, size).catch(ifFull);
      if (bytesWritten < size) size = Math.floor(size / 2);
    }
  } finally {
    await ballast.close();
  }
  return () => rm(path);
}

function ifFull(error: NodeJS.ErrnoException): { bytesWritten: number } {
  if (error.code !== 'ENOSPC') throw error;
  return { bytesWritten: 0 };
}

/** A connection past the proxy, for as long as the work lasts. */
export async function withClient<Result>(
  url: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => {});
  await client.connect();
  return work(client).finally(() => client.end().catch(() => {}));
}
