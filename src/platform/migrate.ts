import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { runMigrations } from 'graphile-worker';
import pg from 'pg';
import { isDatabaseAway } from './db.ts';
import { StartRefused } from './start-refused.ts';

export type Migration = { name: string; checksum: string; text: string };

const oldestServer = 150_000;
/** Any fixed number: it only has to be the same on every node. */
const migrationLock = 7_455_163_001;

export function readMigrations(folder: URL): Migration[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.sql'));
  if (files.length === 0) throw new Error(`no migrations in ${folder.pathname}`);
  return files.sort().map((file) => {
    // Git may check files out with other line ends; that is no edit.
    const text = readFileSync(new URL(file, folder), 'utf8').replaceAll('\r\n', '\n');
    return {
      name: file.replace(/\.sql$/, ''),
      checksum: createHash('sha256').update(text).digest('hex'),
      text,
    };
  });
}

/**
 * Brings the database to the level of this code, once, however many nodes start together: the lock makes the
 * others wait, and they then find nothing left to do.
 */
export async function migrate(options: {
  ownerUrl: string;
  /** The role the server itself runs under, when it is a lesser one. */
  serverUrl: string;
  migrations: Migration[];
  log: (message: string) => void;
}): Promise<void> {
  const setting = options.ownerUrl === options.serverUrl ? 'DATABASE_URL' : 'MIGRATION_DATABASE_URL';
  const client = await connect(options.ownerUrl, setting);
  try {
    await refuseOldServer(client);
    await takeLock(client, options.log);
    await client.query(
      `create schema if not exists tollgate;
       create table if not exists tollgate.migrations (
         name text primary key,
         checksum text not null,
         applied_at timestamptz not null default now()
       )`,
    );
    for (const migration of await pending(client, options.migrations)) {
      await apply(client, migration);
      options.log(`migration ${migration.name} applied`);
    }
    await runMigrations({ connectionString: options.ownerUrl });
    await grantToServerRole(client, options.serverUrl);
  } catch (error) {
    throw refusalOf(error, client, setting) ?? error;
  } finally {
    await client.end();
  }
}

/**
 * The migrations that the database still lacks. Whatever keeps it from being ours to use is thrown as a sentence: it
 * does not answer, it lets nobody in, a newer version has migrated it.
 */
export async function pendingMigrations(url: string, migrations: Migration[]): Promise<string[]> {
  const client = await connect(url, 'DATABASE_URL');
  try {
    const { rows } = await client.query<{ migrated: boolean }>(
      `select to_regclass('tollgate.migrations') is not null as migrated`,
    );
    const lacking = rows[0]?.migrated ? await pending(client, migrations) : migrations;
    return lacking.map((migration) => migration.name);
  } catch (error) {
    throw refusalOf(error, client, 'DATABASE_URL') ?? error;
  } finally {
    await client.end();
  }
}

async function connect(url: string, setting: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'tollgate migrate',
    connectionTimeoutMillis: 5_000,
  });
  client.on('error', () => {});
  await client.connect().catch((error: unknown) => {
    throw refusalOf(error, client, setting) ?? error;
  });
  return client;
}

/** What an operator can mend, as a sentence; the address is taken apart, since it carries the password. */
function refusalOf(error: unknown, client: pg.Client, setting: string): StartRefused | undefined {
  const { host, port, user, database } = client;
  const code = (error as { code?: string }).code ?? '';
  const sentence = {
    '28P01': `The database does not let the role "${user}" in; check user and password in ${setting}.`,
    '28000': `The database does not let the role "${user}" in; check user and password in ${setting}.`,
    '3D000': `There is no database "${database}" at ${host}:${port}; create it, or name another in ${setting}.`,
    '42501': `The role "${user}" may not do what a migration needs (${(error as Error).message}); grant it, or name the owner in MIGRATION_DATABASE_URL.`,
    '55P03': `Another session holds locks in the database "${database}" for too long; end it, then start again.`,
    ENOTFOUND: `The host "${host}" is not known; correct it in ${setting}.`,
  }[code];
  if (sentence !== undefined) return new StartRefused(sentence, { cause: error });
  if (!isDatabaseAway(error)) return undefined;
  const reason = code || (error as Error).message;
  return new StartRefused(
    `The database at ${host}:${port} does not answer (${reason}); start it, or correct ${setting}.`,
    { cause: error },
  );
}

async function takeLock(client: pg.Client, log: (message: string) => void): Promise<void> {
  const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [
    migrationLock,
  ]);
  if (rows[0]?.taken) return;
  log('another node is migrating; waiting');
  await client.query('select pg_advisory_lock($1)', [migrationLock]);
}

async function refuseOldServer(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ number: number; version: string }>(
    `select current_setting('server_version_num')::int as number, current_setting('server_version') as version`,
  );
  const [server] = rows;
  if (server && server.number < oldestServer) {
    throw new StartRefused(`The database is PostgreSQL ${server.version}; version 15 or later is needed.`);
  }
}

async function pending(client: pg.Client, known: Migration[]): Promise<Migration[]> {
  const { rows } = await client.query<{ name: string; checksum: string }>(
    'select name, checksum from tollgate.migrations order by name',
  );
  const byName = new Map(known.map((migration) => [migration.name, migration]));
  for (const applied of rows) {
    const ours = byName.get(applied.name);
    if (!ours) {
      throw new StartRefused(
        `The database has migration ${applied.name}, which this version does not know: a newer version has migrated it. ` +
          'Start that version, or restore a backup made before it.',
      );
    }
    if (ours.checksum !== applied.checksum) {
      throw new StartRefused(
        `Migration ${applied.name} was edited after it had been applied to this database. ` +
          'Restore the file as released and put the change into a new migration.',
      );
    }
  }
  const done = new Set(rows.map((row) => row.name));
  return known.filter((migration) => !done.has(migration.name));
}

async function apply(client: pg.Client, migration: Migration): Promise<void> {
  await client.query('begin');
  try {
    await client.query(migration.text);
    await client.query('insert into tollgate.migrations (name, checksum) values ($1, $2)', [
      migration.name,
      migration.checksum,
    ]);
    await client.query('commit');
  } catch (error) {
    // When the connection is lost this fails as well, and would hide why.
    await client.query('rollback').catch(() => {});
    throw new Error(`migration ${migration.name} failed: ${(error as Error).message}`, { cause: error });
  }
}

/**
 * Gives the server's role what it needs and no more: rows, never tables. A table that carries a trigger named
 * `append_only` can be read and added to; nothing in it can be changed, whatever the server tries.
 */
async function grantToServerRole(client: pg.Client, serverUrl: string): Promise<void> {
  const server = await connect(serverUrl, 'DATABASE_URL');
  const { rows } = await server
    .query<{ role: string }>('select current_user as role')
    .finally(() => server.end());
  const { rows: own } = await client.query<{ role: string }>('select current_user as role');
  const role = rows[0]?.role;
  if (!role || role === own[0]?.role) return;

  // A block takes no parameters: the name arrives as a setting of this session, and %I quotes it.
  await client.query(`select set_config('tollgate.server_role', $1, false)`, [role]);
  // While we wait for a lock, everybody else waits behind us.
  await client.query(`set lock_timeout = '3s'`);
  await client.query(`
    do $grants$
    declare
      server_role text := current_setting('tollgate.server_role');
      areas text[] := array(
        select nspname from pg_namespace where nspname in ('identity', 'checkout', 'webhooks', 'graphile_worker'));
      area text;
      item record;
    begin
      execute format('grant usage on schema tollgate to %I', server_role);
      execute format('grant select on all tables in schema tollgate to %I', server_role);
      foreach area in array areas loop
        execute format('grant usage on schema %I to %I', area, server_role);
        execute format('grant usage on all sequences in schema %I to %I', area, server_role);
        execute format('grant execute on all functions in schema %I to %I', area, server_role);
      end loop;
      for item in
        select n.nspname as area, c.relname as name, n.nspname = 'graphile_worker' as is_queue,
          exists (select from pg_trigger t where t.tgrelid = c.oid and t.tgname = 'append_only') as is_append_only
        from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = any (areas) and c.relkind in ('r', 'p', 'v')
      loop
        if item.is_append_only then
          execute format('revoke all on %I.%I from %I', item.area, item.name, server_role);
          execute format('grant select, insert on %I.%I to %I', item.area, item.name, server_role);
        else
          execute format('grant select, insert, update, delete on %I.%I to %I', item.area, item.name, server_role);
        end if;
      end loop;
      -- The job queue's tables have row security without a policy, which shuts out everybody but their owner. Who
      -- may do what is settled by the grants above, so the policy is for all, and once it is there it stays: to
      -- make one takes a lock that no running server could work beside.
      for item in
        select c.relname as name from pg_class c
        where c.relnamespace = 'graphile_worker'::regnamespace and c.relrowsecurity
          and not exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'as_granted')
      loop
        execute format(
          'create policy as_granted on graphile_worker.%I to public using (true) with check (true)', item.name);
      end loop;
    end
    $grants$`);
}
