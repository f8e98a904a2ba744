import { randomBytes } from 'node:crypto';
import { after } from 'node:test';
import pg from 'pg';
import { type Database, type DatabaseLimits, openDatabase, sql } from '../../src/platform/db.ts';

const templateName = 'tollgate_template';

/** What a slow machine does to the limits of a server is the matter of the few tests that keep them; all others wait. */
export const patience: DatabaseLimits = {
  connectionTimeoutMillis: 60_000,
  query_timeout: 60_000,
  statement_timeout: 59_000,
  lock_timeout: 58_000,
};

/** The empty, not yet migrated template; every test file then works on a copy of its own. */
export async function createTemplate(serverUrl: string): Promise<string> {
  await query(serverUrl, `create database ${templateName}`);
  return withDatabase(serverUrl, templateName);
}

/** A migrated database of this test file's own, dropped when the file is done. */
export async function testDatabase(): Promise<{ url: string; db: Database }> {
  const url = await testDatabaseUrl();
  const db = openDatabase({ url, poolSize: 10, onConnectionError: () => {}, limits: patience });
  after(() => db.close());
  return { url, db };
}

export async function testDatabaseUrl(options: { empty?: boolean } = {}): Promise<string> {
  const server = serverUrl();
  const name = `test_${randomBytes(6).toString('hex')}`;
  await query(server, `create database ${name}${options.empty ? '' : ` template ${templateName}`}`);
  after(() => query(server, `drop database if exists ${name} with (force)`));
  return withDatabase(server, name);
}

export function serverUrl(): string {
  const url = process.env.TEST_DATABASE_URL;
  if (!url) throw new Error('Tests need their database: run them with `npm run test:only -- <file>`.');
  return url;
}

/** One statement, on a connection of its own. */
export async function query<Row extends pg.QueryResultRow = Record<string, unknown>>(
  url: string,
  statement: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(statement, values)).rows;
  } finally {
    await client.end();
  }
}

/** Until a statement waits for a lock that another transaction holds. */
export async function untilSomebodyWaits(db: Database): Promise<void> {
  const waiting = () =>
    db.one<{ count: number }>(sql`
      select count(*)::int as count from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`);
  while ((await waiting()).count === 0);
}

function withDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
