import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import {
  type Database,
  type DatabaseLimits,
  isDatabaseAway,
  openDatabase,
  sql,
} from '../../src/platform/db.ts';
import { patience, query, testDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';

const { url, db } = await testDatabase();
await query(url, 'create table notes (id int primary key, body text not null)');

let lastId = 0;
const newId = () => ++lastId;
const insertNote = (id: number, body = 'a note') => sql`insert into notes (id, body) values (${id}, ${body})`;
const noteExists = async (id: number) =>
  (await db.many(sql`select from notes where id = ${id}`)).length === 1;

/** What a promise was rejected with; a fulfilled one fails the test. */
async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => assert.fail('this was to be rejected'),
    (error: unknown) => error,
  );
}

/** A pool of its own, for tests that exhaust or break one. */
function openPool(options: { poolSize: number; url?: string; limits?: DatabaseLimits }): Database {
  const pool = openDatabase({ url, onConnectionError: () => {}, limits: patience, ...options });
  after(() => pool.close());
  return pool;
}

const backendPid = sql`select pg_backend_pid() as pid`;

test('what stands in braces travels as a parameter, never as text', () => {
  const value = "'; drop table notes; --";
  const statement = sql`select ${value} as a, ${2} as b`;
  assert.equal(statement.text, 'select $1 as a, $2 as b');
  assert.deepEqual(statement.values, [value, 2]);
});

test('a statement without values is its own text', () => {
  assert.deepEqual(sql`select 1`.values, []);
  assert.equal(sql`select 1`.text, 'select 1');
});

test('a value at the beginning or the end, and two in a row, each get their number', () => {
  assert.equal(sql`${1}${2} between ${3}`.text, '$1$2 between $3');
});

test('one template keeps its name whatever its values', () => {
  const make = (id: number) => sql`select ${id}::int as id`;
  assert.equal(make(1).name, make(2).name);
  assert.deepEqual(make(2).values, [2]);
});

test('equal texts share a name, different texts do not', () => {
  assert.equal(sql`select ${1}::int`.name, sql`select ${2}::int`.name);
  assert.notEqual(sql`select ${1}::int`.name, sql`select ${1}::text`.name);
});

test('a name is short enough for PostgreSQL to tell it from all others', () => {
  assert.equal(sql`select ${'a very long statement '.repeat(100)}::text`.name.length, 32);
});

test('a statement is planned once for each connection, not once for each call', async () => {
  const pool = openPool({ poolSize: 1 });
  for (const value of [1, 2, 3]) await pool.one(sql`select ${value}::int as planned_once`);
  const { count } = await pool.one<{ count: number }>(
    sql`select count(*)::int as count from pg_prepared_statements where statement like '%as planned_once'`,
  );
  assert.equal(count, 1);
});

test('an attempt at injection stays data', async () => {
  const id = newId();
  const body = `'); drop table notes; --\\ " $1 \${1} %s \u0001`;
  await db.run(insertNote(id, body));
  assert.deepEqual(await db.one(sql`select body from notes where id = ${id}`), { body });
  assert.deepEqual(await db.many(sql`select id from notes where body = ${"' or '1'='1"}`), []);
});

test('columns arrive under camel-case names', async () => {
  const row = await db.one(
    sql`select 1 as id, 2 as merchant_id, 3 as created_at_ms, 4 as first_6, 5 as "already", 6 as _led`,
  );
  assert.deepEqual(row, { id: 1, merchantId: 2, createdAtMs: 3, first6: 4, already: 5, Led: 6 });
});

test('a 64-bit integer is a bigint and loses no digit', async () => {
  assert.deepEqual(
    await db.one(
      sql`select 9223372036854775807::int8 as big, 9007199254740993::int8 as odd, (-1)::int8 as low`,
    ),
    { big: 9223372036854775807n, odd: 9007199254740993n, low: -1n },
  );
  assert.deepEqual(await db.one(sql`select ${9223372036854775807n}::int8 as back`), {
    back: 9223372036854775807n,
  });
  assert.deepEqual(await db.one(sql`select null::int8 as none, 7::int4 as small`), { none: null, small: 7 });
});

test('a date is the text of its day, an instant is a Date', async () => {
  const instant = new Date('2024-02-29T12:00:00.123Z');
  assert.deepEqual(
    await db.one(
      sql`select date '1990-05-01' as birthday, ${instant}::timestamptz as at, null::date as none`,
    ),
    { birthday: '1990-05-01', at: instant, none: null },
  );
});

test('many gives every row in order, and none at all', async () => {
  assert.deepEqual(await db.many(sql`select n from generate_series(1, 3) n order by n desc`), [
    { n: 3 },
    { n: 2 },
    { n: 1 },
  ]);
  assert.deepEqual(await db.many(sql`select 1 as n where false`), []);
});

test('maybeOne gives the row or undefined, and throws at two', async () => {
  assert.deepEqual(await db.maybeOne(sql`select 1 as n`), { n: 1 });
  assert.equal(await db.maybeOne(sql`select 1 as n where false`), undefined);
  await assert.rejects(db.maybeOne(sql`select generate_series(1, 2) as n`), /one row expected, 2 found/);
});

test('one gives the row, and throws at none and at two', async () => {
  assert.deepEqual(await db.one(sql`select 1 as n`), { n: 1 });
  await assert.rejects(db.one(sql`select 1 as n where false`), /one row expected, none found/);
  await assert.rejects(db.one(sql`select generate_series(1, 2) as n`), /one row expected, 2 found/);
});

test('the error about a number of rows shows the statement, never its values', async () => {
  const error = await errorOf(db.one(sql`select 1 as n where ${'a secret value'} = 'x'`));
  assert.match(String(error), /where \$1 = 'x'/);
  assert.doesNotMatch(String(error), /a secret value/);
});

test('run tells how many rows it touched', async () => {
  const [first, second] = [newId(), newId()];
  assert.equal(await db.run(insertNote(first)), 1);
  assert.equal(await db.run(insertNote(second)), 1);
  assert.equal(await db.run(sql`update notes set body = 'changed' where id in (${first}, ${second})`), 2);
  assert.equal(await db.run(sql`delete from notes where id = ${-1}`), 0);
  assert.equal(await db.run(sql`create temporary table nothing_to_count ()`), 0);
});

test('a transaction that returns is committed, and gives what it returned', async () => {
  const id = newId();
  const answer = await db.transaction(async (tx) => {
    await tx.run(insertNote(id));
    assert.equal(await noteExists(id), false, 'nobody else sees it yet');
    return 'done';
  });
  assert.equal(answer, 'done');
  assert.equal(await noteExists(id), true);
});

test('a transaction that throws is rolled back, and the very error rises', async () => {
  const id = newId();
  const thrown = new Error('changed my mind');
  const error = await errorOf(
    db.transaction(async (tx) => {
      await tx.run(insertNote(id));
      throw thrown;
    }),
  );
  assert.equal(error, thrown);
  assert.equal(await noteExists(id), false);
});

test('a transaction in which a statement failed is never taken for committed', async () => {
  const id = newId();
  const error = await errorOf(
    db.transaction(async (tx) => {
      await tx.run(insertNote(id));
      // PostgreSQL has given the transaction up; whoever swallows the error would believe in a commit.
      await tx.run(insertNote(id)).catch(() => {});
    }),
  );
  assert.match(String(error), /rolled back/);
  assert.equal(isDatabaseAway(error), false);
  assert.equal(await noteExists(id), false);
});

test('a connection goes back to the pool after a commit, a throw and a failed statement', async () => {
  const pool = openPool({ poolSize: 1 });
  const { pid } = await pool.one<{ pid: number }>(backendPid);
  await pool.transaction(async (tx) => assert.deepEqual(await tx.one(backendPid), { pid }));
  await errorOf(pool.transaction(() => Promise.reject(new Error('no'))));
  await errorOf(pool.transaction((tx) => tx.run(sql`select 1 / 0`)));
  assert.deepEqual(pool.connections(), { used: 0, idle: 1, waiting: 0 });

  assert.deepEqual(await pool.one(backendPid), { pid }, 'it is still the same connection');
  assert.deepEqual(await db.one(sql`select state from pg_stat_activity where pid = ${pid}`), {
    state: 'idle',
  });
});

test('the statements of a transaction share one connection', async () => {
  const pids = await db.transaction(async (tx) => [await tx.one(backendPid), await tx.one(backendPid)]);
  assert.deepEqual(pids[0], pids[1]);
});

test('a statement that takes too long is cancelled by the database, which counts as away', async () => {
  const { statement_timeout: _, ...limits } = patience;
  const pool = openPool({ poolSize: 1, limits });
  const error = await errorOf(pool.run(sql`select pg_sleep(30)`));
  assert.equal((error as pg.DatabaseError).code, '57014');
  assert.equal(isDatabaseAway(error), true);
  assert.deepEqual(await pool.one(sql`select 1 as n`), { n: 1 });
});

test('a statement that takes too long ends its transaction, and the next one works', async () => {
  const pool = openPool({ poolSize: 1, limits: {} });
  const id = newId();
  const error = await errorOf(
    pool.transaction(async (tx) => {
      await tx.run(insertNote(id));
      await tx.run(sql`select pg_sleep(10)`);
    }),
  );
  assert.equal(isDatabaseAway(error), true);
  assert.equal(await noteExists(id), false);
  await pool.transaction((tx) => tx.run(insertNote(id)));
  assert.equal(await noteExists(id), true);
});

test('a connection that is lost in mid transaction counts as away, and the next transaction works', async () => {
  const pool = openPool({ poolSize: 1 });
  const id = newId();
  const error = await errorOf(
    pool.transaction(async (tx) => {
      await tx.run(insertNote(id));
      const { pid } = await tx.one<{ pid: number }>(backendPid);
      await db.run(sql`select pg_terminate_backend(${pid}, 2000)`);
      await tx.run(sql`select 1`);
    }),
  );
  assert.equal(isDatabaseAway(error), true, String(error));
  assert.equal(await noteExists(id), false);
  await pool.transaction((tx) => tx.run(insertNote(id)));
  assert.equal(await noteExists(id), true);
});

test('a connection that is lost during a statement counts as away', async () => {
  const pool = openPool({ poolSize: 1 });
  const { pid } = await pool.one<{ pid: number }>(backendPid);
  const sleeping = errorOf(pool.transaction((tx) => tx.run(sql`select pg_sleep(30)`)));
  await untilActive(pid);
  await db.run(sql`select pg_terminate_backend(${pid})`);
  assert.equal(isDatabaseAway(await sleeping), true);
  assert.deepEqual(await pool.one(sql`select 1 as n`), { n: 1 });
});

test('a connection that is lost before the commit counts as away, and nothing stays', async () => {
  const pool = openPool({ poolSize: 1 });
  const id = newId();
  const error = await errorOf(
    pool.transaction(async (tx) => {
      await tx.run(insertNote(id));
      const { pid } = await tx.one<{ pid: number }>(backendPid);
      await db.run(sql`select pg_terminate_backend(${pid}, 2000)`);
    }),
  );
  assert.equal(isDatabaseAway(error), true, String(error));
  assert.equal(await noteExists(id), false);
});

test('idle connections that are lost are reported, and do not end the process', async () => {
  const lost: Error[] = [];
  const pool = openDatabase({
    url,
    poolSize: 2,
    onConnectionError: (error) => lost.push(error),
    limits: patience,
  });
  after(() => pool.close());
  const { pid } = await pool.one<{ pid: number }>(backendPid);
  await db.run(sql`select pg_terminate_backend(${pid}, 2000)`);
  assert.deepEqual(await pool.many(sql`select 1 as n`).catch(() => pool.many(sql`select 1 as n`)), [
    { n: 1 },
  ]);
  while (lost.length === 0) await delay(5);
});

test('when every connection is in use the next caller is told so, and does not hang', async () => {
  const pool = openPool({ poolSize: 2, limits: {} });
  const { promise: released, release } = gate();
  let held = 0;
  const { promise: allHeld, release: nowAllHeld } = gate();
  const holders = [1, 2].map(() =>
    pool.transaction(async (tx) => {
      await tx.run(sql`select 1`);
      if (++held === 2) nowAllHeld();
      await released;
    }),
  );
  await allHeld;
  const waiting = Promise.all([
    errorOf(pool.one(sql`select 1 as n`)),
    errorOf(pool.transaction(async () => {})),
  ]);
  assert.deepEqual(pool.connections(), { used: 2, idle: 0, waiting: 2 });
  for (const error of await waiting) assert.equal(isDatabaseAway(error), true, String(error));

  release();
  await Promise.all(holders);
  assert.deepEqual(await pool.one(sql`select 1 as n`), { n: 1 });
});

test('a database that nobody listens for counts as away', async () => {
  const away = openPool({ poolSize: 1, url: `postgres://nobody@127.0.0.1:${await freePort()}/nothing` });
  assert.equal(isDatabaseAway(await errorOf(away.one(sql`select 1`))), true);
  assert.equal(isDatabaseAway(await errorOf(away.transaction(async () => {}))), true);
});

test('two transactions that wait for each other: one of them may try again', async () => {
  const [first, second] = [newId(), newId()];
  await db.run(insertNote(first));
  await db.run(insertNote(second));
  const lock = (id: number) => sql`select from notes where id = ${id} for update`;
  const { promise: bothLocked, release } = gate();
  let locked = 0;
  const crossing = (mine: number, theirs: number) =>
    db.transaction(async (tx) => {
      await tx.run(lock(mine));
      if (++locked === 2) release();
      await bothLocked;
      await tx.run(lock(theirs));
    });
  const outcomes = await Promise.allSettled([crossing(first, second), crossing(second, first)]);
  const [failed, ...more] = outcomes.flatMap((outcome) =>
    outcome.status === 'rejected' ? [outcome.reason] : [],
  );
  assert.deepEqual(more, []);
  assert.equal(failed.code, '40P01');
  assert.equal(isDatabaseAway(failed), true);
});

test('what would fail again does not count as away', async () => {
  const id = newId();
  await db.run(insertNote(id));
  for (const statement of [
    insertNote(id),
    sql`insert into notes (id) values (${newId()})`,
    sql`select 1 / 0`,
    sql`select * from nowhere`,
    sql`select ${'x'}::int`,
    sql`selekt`,
  ]) {
    const error = await errorOf(db.run(statement));
    assert.equal(error instanceof pg.DatabaseError, true);
    assert.equal(isDatabaseAway(error), false, String(error));
  }
  for (const other of [
    new Error('no'),
    new TypeError('x is not a function'),
    undefined,
    null,
    'ECONNREFUSED',
  ])
    assert.equal(isDatabaseAway(other), false);
});

test('a statement that fails by its own fault costs no connection', async () => {
  const pool = openPool({ poolSize: 1 });
  const id = newId();
  const before = await pool.one(backendPid);
  await pool.run(insertNote(id));
  await errorOf(pool.run(insertNote(id)));
  await errorOf(pool.one(sql`select 1 / 0`));
  await errorOf(pool.one(sql`select * from nowhere`));
  assert.deepEqual(await pool.one(backendPid), before);
});

test('a unique violation leaves the other statements of the pool alone', async () => {
  const id = newId();
  await db.run(insertNote(id));
  const outcomes = await Promise.allSettled(Array.from({ length: 30 }, () => db.run(insertNote(id))));
  for (const outcome of outcomes) assert.equal(outcome.status === 'rejected' && outcome.reason.code, '23505');
  assert.deepEqual(await db.one(sql`select 1 as n`), { n: 1 });
});

/** A promise, and the call that fulfils it. */
function gate(): { promise: Promise<void>; release: () => void } {
  let release = () => {};
  const promise = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { promise, release };
}

async function untilActive(pid: number): Promise<void> {
  for (;;) {
    const { sleeping } = await db.one<{ sleeping: boolean }>(
      sql`select exists (select from pg_stat_activity where pid = ${pid} and wait_event = 'PgSleep') as sleeping`,
    );
    if (sleeping) return;
  }
}
