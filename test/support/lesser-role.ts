import { randomBytes } from 'node:crypto';
import { after } from 'node:test';
import pg from 'pg';
import { packageRoot } from '../../src/package.ts';
import { migrate, readMigrations } from '../../src/platform/migrate.ts';
import { query, serverUrl, testDatabaseUrl } from './database.ts';

/** A role that can log in and owns nothing, on a database that its owner has migrated for it. */
export async function lesserRole(
  migrations = readMigrations(new URL('migrations/', packageRoot)),
  name = `server_${randomBytes(6).toString('hex')}`,
): Promise<{ owner: string; server: string }> {
  const password = randomBytes(12).toString('hex');
  const quoted = pg.escapeIdentifier(name);
  await query(serverUrl(), `create role ${quoted} login password '${password}'`);
  // Registered before the database's own end, so it runs first: what the role was granted goes with it.
  let owner = '';
  after(async () => {
    await query(owner, `drop owned by ${quoted}`);
    await query(serverUrl(), `drop role ${quoted}`);
  });
  owner = await testDatabaseUrl({ empty: true });
  const server = new URL(owner);
  server.username = encodeURIComponent(name);
  server.password = password;
  await migrate({ ownerUrl: owner, serverUrl: server.href, migrations, log: () => {} });
  return { owner, server: server.href };
}
