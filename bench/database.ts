/** A PostgreSQL with the settings of the product, which really writes to its disk, in a folder of its own. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { packageRoot } from '../src/package.ts';
import { startEmbeddedPostgres } from '../src/platform/embedded-postgres.ts';
import { migrate, readMigrations } from '../src/platform/migrate.ts';
import { loadParties } from './load-rows.ts';

/** What the product takes by default; the peer and the bare statements have as many. */
export const poolSize = 10;

export type BenchDatabase = { url: string; client: pg.Client; stop(): Promise<void> };

export async function startDatabase(): Promise<BenchDatabase> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
  const remove = () => rmSync(dataDir, { recursive: true, force: true });
  try {
    const postgres = await startEmbeddedPostgres({ dataDir, log: () => {} });
    const { url } = postgres;
    const migrations = readMigrations(new URL('migrations/', packageRoot));
    await migrate({ ownerUrl: url, serverUrl: url, migrations, log: () => {} });
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => {});
    await client.connect();
    await refuseForgetful(client);
    await loadParties(client);
    return {
      url,
      client,
      async stop() {
        await client.end();
        await postgres.stop();
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

async function refuseForgetful(client: pg.Client): Promise<void> {
  for (const setting of ['fsync', 'synchronous_commit', 'full_page_writes']) {
    const { rows } = await client.query<{ value: string }>('select current_setting($1) as value', [setting]);
    if (rows[0]?.value !== 'on') throw new Error(`${setting} is off: the figures would mean nothing`);
  }
}
