import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { packageRoot } from '../../src/package.ts';
import { type Database, openDatabase, sql } from '../../src/platform/db.ts';
import { addJob, startJobs } from '../../src/platform/jobs.ts';
import { createLogger } from '../../src/platform/log.ts';
import { type Migration, migrate, readMigrations } from '../../src/platform/migrate.ts';
import { StartRefused } from '../../src/platform/start-refused.ts';
import { patience, query, testDatabaseUrl } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { lesserRole } from '../support/lesser-role.ts';

const shipped = readMigrations(new URL('migrations/', packageRoot));

/** Applies migrations to a database as its owner, and gives the lines that were logged. */
async function applyTo(url: string, migrations: Migration[], server = url): Promise<string[]> {
  const lines: string[] = [];
  await migrate({ ownerUrl: url, serverUrl: server, migrations, log: (line) => void lines.push(line) });
  return lines;
}

function migrationsOf(files: Record<string, string>): Migration[] {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-migrations-'));
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    return readMigrations(pathToFileURL(`${folder}/`));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const appliedIn = (url: string) => query(url, 'select name from tollgate.migrations order by name');
const namesOf = (migrations: Migration[]) => migrations.map(({ name }) => ({ name }));

/** The part of a database that migrations make: every relation and column outside of PostgreSQL's own schemas. */
const shapeOf = (url: string) =>
  query(
    url,
    `select table_schema, table_name, column_name, data_type from information_schema.columns
     where table_schema not in ('pg_catalog', 'information_schema') order by 1, 2, ordinal_position`,
  );

const withTables = [
  ...shipped,
  ...migrationsOf({
    '9001_test.sql': `
      create table identity.test_people (id int generated always as identity primary key, name text not null);
      create table checkout.test_orders (id bigserial primary key, total bigint not null default 0);
      create view checkout.test_totals as select sum(total) as total from checkout.test_orders;
      create function checkout.test_double(n int) returns int language sql as 'select n * 2';
      create table checkout.test_entries (id int primary key, amount bigint not null);
      create function checkout.test_refuse() returns trigger language plpgsql as $$ begin raise exception 'append only'; end $$;
      create trigger append_only before update or delete on checkout.test_entries
        for each row execute function checkout.test_refuse();
      create table checkout.test_parted (at date not null, id int, primary key (at, id)) partition by range (at);
      create table checkout.test_parted_2024 partition of checkout.test_parted
        for values from ('2024-01-01') to ('2025-01-01');`,
  }),
];

// Made before the first test: the runner may take a file that waits in its middle for finished.
const lesser = await lesserRole(withTables);
const db = openServerPool(lesser.server);

function openServerPool(url: string): Database {
  const pool = openDatabase({ url, poolSize: 4, onConnectionError: () => {}, limits: patience });
  after(() => pool.close());
  return pool;
}

test('an empty database gets every migration, in order, and the job queue', async () => {
  const url = await testDatabaseUrl({ empty: true });
  const lines = await applyTo(url, shipped);
  assert.deepEqual(
    lines,
    shipped.map(({ name }) => `migration ${name} applied`),
  );
  assert.deepEqual(await appliedIn(url), namesOf(shipped));
  assert.deepEqual(await query(url, `select count(*)::int as jobs from graphile_worker.jobs`), [{ jobs: 0 }]);
});

test('a second start finds nothing left to do', async () => {
  const url = await testDatabaseUrl({ empty: true });
  await applyTo(url, shipped);
  const before = await shapeOf(url);
  assert.deepEqual(await applyTo(url, shipped), []);
  assert.deepEqual(await shapeOf(url), before);
});

test('only what is new is applied', async () => {
  const url = await testDatabaseUrl({ empty: true });
  const files = { '0001_schemas.sql': 'create schema identity; create schema checkout;' };
  await applyTo(url, migrationsOf(files));
  const more = migrationsOf({ ...files, '0002_more.sql': 'create table identity.more (id int)' });
  assert.deepEqual(await applyTo(url, more), ['migration 0002_more applied']);
});

test('nodes that start together apply each migration once', async () => {
  const url = await testDatabaseUrl({ empty: true });
  const slow = migrationsOf({
    '0001_schemas.sql': 'create schema identity; create schema checkout; select pg_sleep(0.2);',
    '0002_table.sql': 'create table identity.once (id int); insert into identity.once values (1);',
  });
  const lines = await Promise.all([1, 2, 3, 4].map(() => applyTo(url, slow)));
  const applied = lines.flat().filter((line) => line.startsWith('migration'));
  assert.deepEqual(applied, ['migration 0001_schemas applied', 'migration 0002_table applied']);
  assert.deepEqual(await query(url, 'select id from identity.once'), [{ id: 1 }]);
});

test('a migration that was edited after it had been applied is refused', async () => {
  const url = await testDatabaseUrl({ empty: true });
  const files = { '0001_schemas.sql': 'create schema identity; create schema checkout;' };
  await applyTo(url, migrationsOf(files));
  const edited = migrationsOf({
    '0001_schemas.sql': `${files['0001_schemas.sql']} -- better`,
    '0002_more.sql': 'create table identity.more (id int)',
  });
  await assert.rejects(
    applyTo(url, edited),
    (error: Error) =>
      error instanceof StartRefused &&
      /^Migration 0001_schemas was edited after it had been applied to this database\. .+\.$/.test(
        error.message,
      ),
  );
  assert.deepEqual(await appliedIn(url), [{ name: '0001_schemas' }], 'the new one was not applied either');
});

test('a database that a newer version has migrated is refused', async () => {
  const url = await testDatabaseUrl({ empty: true });
  const files = { '0001_schemas.sql': 'create schema identity; create schema checkout;' };
  await applyTo(url, migrationsOf({ ...files, '0002_future.sql': 'create table identity.future (id int)' }));
  await assert.rejects(
    applyTo(url, migrationsOf(files)),
    (error: Error) =>
      error instanceof StartRefused &&
      /^The database has migration 0002_future, which this version does not know: .+\.$/.test(error.message),
  );
});

test('a refusal leaves the lock free for the next start', async () => {
  const url = await testDatabaseUrl({ empty: true });
  const files = { '0001_schemas.sql': 'create schema identity; create schema checkout;' };
  await applyTo(url, migrationsOf(files));
  await assert.rejects(applyTo(url, migrationsOf({ '0001_schemas.sql': 'select 1' })), StartRefused);
  assert.deepEqual(await applyTo(url, migrationsOf(files)), []);
});

test('a migration that fails leaves nothing of itself behind, and those before it stay', async () => {
  const url = await testDatabaseUrl({ empty: true });
  const files = {
    '0001_schemas.sql': 'create schema identity; create schema checkout;',
    '0002_broken.sql':
      'create table identity.half (id int); insert into identity.half values (1); select 1 / 0;',
    '0003_never.sql': 'create table identity.never (id int)',
  };
  await assert.rejects(applyTo(url, migrationsOf(files)), {
    message: 'migration 0002_broken failed: division by zero',
  });
  assert.deepEqual(await appliedIn(url), [{ name: '0001_schemas' }]);
  assert.deepEqual(
    await query(url, `select to_regclass('identity.half') as half, to_regclass('identity.never') as never`),
    [{ half: null, never: null }],
  );

  const mended = migrationsOf({ ...files, '0002_broken.sql': 'create table identity.half (id int)' });
  assert.deepEqual(await applyTo(url, mended), [
    'migration 0002_broken applied',
    'migration 0003_never applied',
  ]);
});

test('other line ends are no edit', async () => {
  const url = await testDatabaseUrl({ empty: true });
  const text = 'create schema identity;\ncreate schema checkout;\n';
  const windows = migrationsOf({ '0001_schemas.sql': text.replaceAll('\n', '\r\n') });
  assert.deepEqual(windows, migrationsOf({ '0001_schemas.sql': text }));
  await applyTo(url, windows);
  assert.deepEqual(await applyTo(url, migrationsOf({ '0001_schemas.sql': text })), []);
});

test('migrations are read in the order of their names, and other files are left alone', () => {
  const migrations = migrationsOf({
    '0002_b.sql': 'b',
    '0010_c.sql': 'c',
    '0001_a.sql': 'a',
    'README.md': 'no',
  });
  assert.deepEqual(namesOf(migrations), [{ name: '0001_a' }, { name: '0002_b' }, { name: '0010_c' }]);
});

test('a folder without migrations is a broken installation', () => {
  assert.throws(() => migrationsOf({ 'README.md': 'no' }), /^Error: no migrations in /);
});

const deniedCode = '42501';
const isDenied = (statement: string) =>
  assert.rejects(query(lesser.server, statement), { code: deniedCode }, statement);

test('the lesser role of the server reads and writes the rows of both areas', async () => {
  const { id } = await db.one<{ id: number }>(
    sql`insert into identity.test_people (name) values (${'Leyla'}) returning id`,
  );
  assert.equal(await db.run(sql`update identity.test_people set name = 'Aysel' where id = ${id}`), 1);
  assert.deepEqual(await db.many(sql`select name from identity.test_people`), [{ name: 'Aysel' }]);
  assert.equal(await db.run(sql`delete from identity.test_people where id = ${id}`), 1);

  await db.run(sql`insert into checkout.test_orders (total) values (${5n}), (${6n})`);
  assert.deepEqual(await db.one(sql`select total::int8 from checkout.test_totals`), { total: 11n });
  assert.deepEqual(await db.one(sql`select checkout.test_double(21) as answer`), { answer: 42 });
  assert.equal(await db.run(sql`insert into checkout.test_parted values ('2024-05-01', 1)`), 1);
  assert.equal(await db.run(sql`delete from checkout.test_parted_2024`), 1);
});

test('the lesser role sees how far the database is migrated, and cannot change it', async () => {
  assert.equal((await db.many(sql`select name from tollgate.migrations`)).length, withTables.length);
  await isDenied(`insert into tollgate.migrations (name, checksum) values ('x', 'x')`);
  await isDenied('update tollgate.migrations set checksum = name');
  await isDenied('delete from tollgate.migrations');
});

test('the lesser role makes, changes and drops no table', async () => {
  for (const statement of [
    'create table identity.mine (id int)',
    'create table checkout.mine (id int)',
    'create table graphile_worker.mine (id int)',
    'create table tollgate.mine (id int)',
    'create table public.mine (id int)',
    'create schema mine',
    `create function checkout.mine() returns int language sql as 'select 1'`,
    'alter table identity.test_people add column more int',
    'alter table checkout.test_entries disable trigger append_only',
    'drop trigger append_only on checkout.test_entries',
    'create trigger mine before insert on checkout.test_entries for each row execute function checkout.test_refuse()',
    'drop table identity.test_people',
    'drop schema checkout cascade',
    'truncate identity.test_people',
    'truncate graphile_worker._private_jobs',
  ]) {
    await isDenied(statement);
  }
});

test('an append-only table can be read and added to, and nothing in it can be changed', async () => {
  assert.equal(await db.run(sql`insert into checkout.test_entries values (1, 100)`), 1);
  assert.deepEqual(await db.many(sql`select * from checkout.test_entries`), [{ id: 1, amount: 100n }]);
  await isDenied('update checkout.test_entries set amount = 0');
  await isDenied('delete from checkout.test_entries');
  await isDenied('truncate checkout.test_entries');
  await isDenied('insert into checkout.test_entries values (1, 0) on conflict (id) do update set amount = 0');
  await isDenied('select * from checkout.test_entries for update');
});

test('a table that becomes append-only later loses the rights it had', async () => {
  const turned = [
    ...withTables,
    ...migrationsOf({
      '9002_turned.sql': `create trigger append_only before update or delete on checkout.test_orders
        for each row execute function checkout.test_refuse()`,
    }),
  ];
  const { owner, server } = await lesserRole(withTables);
  await query(server, 'update checkout.test_orders set total = 0');
  await applyTo(owner, turned, server);
  await assert.rejects(query(server, 'update checkout.test_orders set total = 0'), { code: deniedCode });
  await assert.rejects(query(server, 'delete from checkout.test_orders'), { code: deniedCode });
  await query(server, 'insert into checkout.test_orders (total) values (1)');
});

test('the lesser role adds jobs and runs them', async () => {
  const { promise, resolve } = later<unknown>();
  const jobs = startJobs({
    url: lesser.server,
    jobs: [{ name: 'greet', cron: '0 4 * * *', run: async (payload) => resolve(payload) }],
    concurrency: 2,
    log: createLogger({ level: 'silent' }),
  });
  try {
    await db.transaction((tx) => addJob(tx, 'greet', { who: 'Leyla' }, { key: 'greet-leyla' }));
    assert.deepEqual(await promise, { who: 'Leyla' });
  } finally {
    await jobs.stop();
  }
  assert.deepEqual(await db.many(sql`select task_identifier, last_error from graphile_worker.jobs`), []);
});

test('a failing job of the lesser role is kept for another attempt', async () => {
  const { promise, resolve } = later<void>();
  const jobs = startJobs({
    url: lesser.server,
    jobs: [
      {
        name: 'stumble',
        run: async () => {
          resolve();
          throw new Error('not today');
        },
      },
    ],
    concurrency: 1,
    log: createLogger({ level: 'silent' }),
  });
  await db.transaction((tx) => addJob(tx, 'stumble', {}));
  await promise;
  await jobs.stop();
  assert.deepEqual(await db.many(sql`select attempts, last_error from graphile_worker.jobs`), [
    { attempts: 1, lastError: 'not today' },
  ]);
});

test('migrating again for the lesser role changes nothing', async () => {
  assert.deepEqual(await applyTo(lesser.owner, withTables, lesser.server), []);
  await isDenied('update checkout.test_entries set amount = 0');
  await query(lesser.server, 'update identity.test_people set name = name');
});

test('two nodes that start together under the lesser role both get what they need', async () => {
  await Promise.all([1, 2, 3].map(() => applyTo(lesser.owner, withTables, lesser.server)));
  await query(lesser.server, 'select * from graphile_worker.jobs');
});

test('the name of the lesser role may be any that PostgreSQL allows', async () => {
  const { server } = await lesserRole(
    withTables,
    `o'Brien "100%" $grants$ ${randomBytes(4).toString('hex')}`,
  );
  await query(server, 'select * from checkout.test_orders');
});

test('the lesser role cannot migrate a database by itself', async () => {
  const url = new URL(await testDatabaseUrl({ empty: true }));
  const { username, password } = new URL(lesser.server);
  Object.assign(url, { username, password });
  await assert.rejects(applyTo(url.href, shipped), (error: Error) => {
    assert.ok(error instanceof StartRefused);
    assert.match(
      error.message,
      /^The role "server_\w+" may not .* name the owner in MIGRATION_DATABASE_URL\.$/,
    );
    return true;
  });
});

test('two server roles on one database both do jobs, whichever was migrated for last', async () => {
  const { owner, server } = await lesserRole(withTables);
  const other = new URL(owner);
  Object.assign(other, {
    username: new URL(lesser.server).username,
    password: new URL(lesser.server).password,
  });
  await applyTo(owner, withTables, other.href);
  const job = `select graphile_worker.add_job('greet')`;
  for (const url of [server, other.href]) {
    await query(url, job);
    assert.ok((await query(url, 'select id from graphile_worker._private_jobs')).length > 0);
  }
  await query(owner, `drop owned by ${pg.escapeIdentifier(other.username)}`);
});

test('a further start under the lesser role waits for nobody who works with the tables', async () => {
  const reader = new pg.Client({ connectionString: lesser.server });
  await reader.connect();
  try {
    // The least lock there is, on every table: only ACCESS EXCLUSIVE would have to wait for it.
    await reader.query('begin');
    const tables = await query(
      lesser.owner,
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname in ('identity', 'checkout', 'graphile_worker')`,
    );
    for (const { name } of tables) await reader.query(`lock table ${name} in access share mode`);
    assert.deepEqual(await applyTo(lesser.owner, withTables, lesser.server), []);
  } finally {
    await reader.end();
  }
});

test('a node that has to wait for another that migrates says so', async () => {
  const url = await testDatabaseUrl({ empty: true });
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  await other.query('select pg_advisory_lock(7455163001)');
  const { promise: waiting, resolve } = later<string>();
  const migrating = migrate({ ownerUrl: url, serverUrl: url, migrations: shipped, log: resolve });
  assert.equal(await waiting, 'another node is migrating; waiting');
  await other.end();
  await migrating;
});

test('a migration that takes its connection with it is still told by its own reason', async () => {
  const url = await testDatabaseUrl({ empty: true });
  const fatal = migrationsOf({ '0001_fatal.sql': 'select pg_terminate_backend(pg_backend_pid())' });
  await assert.rejects(applyTo(url, fatal), /^Error: migration 0001_fatal failed: terminating connection/);
});

test('a database that cannot be used is told in a sentence with its setting, and without the password', async () => {
  const good = new URL(await testDatabaseUrl({ empty: true }));
  const changed = (change: Partial<URL>) => Object.assign(new URL(good), change).href;
  const password = 'pa55word';
  for (const [url, expected] of [
    [changed({ password }), /^The database does not let the role "tollgate" in; .* in DATABASE_URL\.$/],
    [changed({ username: 'nobody', password }), /^The database does not let the role "nobody" in;/],
    [
      changed({ pathname: '/missing' }),
      /^There is no database "missing" at 127\.0\.0\.1:\d+; .* in DATABASE_URL\.$/,
    ],
    [
      changed({ hostname: 'nowhere.invalid', password }),
      /^The (host "nowhere\.invalid" is not known|database at)/,
    ],
    [
      changed({ port: String(await freePort()), password }),
      /^The database at 127\.0\.0\.1:\d+ does not answer \(ECONNREFUSED\);/,
    ],
  ] as const) {
    await assert.rejects(applyTo(url, shipped), (error: Error) => {
      assert.ok(error instanceof StartRefused, error.stack);
      assert.match(error.message, expected);
      assert.ok(!error.message.includes(password));
      return true;
    });
  }
});

/** Promise.withResolvers, which Node 20 does not have. */
function later<Value>(): { promise: Promise<Value>; resolve: (value: Value) => void } {
  let resolve: (value: Value) => void = () => {};
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
