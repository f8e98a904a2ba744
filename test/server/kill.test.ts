import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { findRunningEmbeddedPostgres } from '../../src/platform/embedded-postgres.ts';
import { freePort } from '../support/free-port.ts';
import { kill, processesOn, spawnOwnServer, temporaryFolder, until, untilReady } from '../support/server.ts';

const rounds = 20;

test('a server killed at any moment, alone or with its PostgreSQL, comes up again with every committed row', async (t) => {
  const dataDir = await temporaryFolder(t);
  const acknowledged: number[] = [];
  let writing: Promise<void> = Promise.resolve();
  const startsMs: number[] = [];
  const story: string[] = [];

  /** One start that must succeed, and everything that was ever acknowledged must be there. */
  const startAndCheck = async () => {
    const port = await freePort();
    const startedAt = performance.now();
    const server = spawnOwnServer(t, { PORT: String(port), DATA_DIR: dataDir });
    await untilReady(server, port);
    startsMs.push(performance.now() - startedAt);
    // The writer of the last round has lost its connection by now: the PostgreSQL that it wrote to was stopped.
    await writing;
    const url = await findRunningEmbeddedPostgres(dataDir);
    assert.ok(url, 'the database is found');
    await assertAllThere(url, acknowledged);
    return { server, url };
  };

  for (let round = 0; round < rounds; round++) {
    const withPostgres = round % 2 === 1;
    // Of each four rounds two are cut off in the middle of the start, the very first start among them.
    if (round % 4 < 2) {
      const momentMs = Math.round(Math.random() * 1_500);
      const server = spawnOwnServer(t, { PORT: String(await freePort()), DATA_DIR: dataDir });
      await delay(momentMs);
      await killAll(server.child.pid, withPostgres ? dataDir : undefined);
      await server.ended;
      story.push(`${momentMs} ms after start`);
    } else {
      const { server, url } = await startAndCheck();
      const momentMs = Math.round(Math.random() * 400);
      writing = writeRows(url, acknowledged);
      if (acknowledged.length === 0) await until('a row is there', () => acknowledged.length > 0);
      await delay(momentMs);
      await killAll(server.child.pid, withPostgres ? dataDir : undefined);
      await server.ended;
      story.push(`${momentMs} ms after ready${withPostgres ? ' with PostgreSQL' : ''}`);
    }
  }

  const { server } = await startAndCheck();
  server.child.kill('SIGTERM');
  assert.equal(await server.ended, 0);
  assert.deepEqual(await processesOn(dataDir), []);
  assert.ok(acknowledged.length > 0);
  const sorted = startsMs.map(Math.round).sort((left, right) => left - right);
  t.diagnostic(`killed ${story.join(', ')}`);
  t.diagnostic(`${acknowledged.length} rows acknowledged, all there after ${sorted.length} starts`);
  t.diagnostic(`start to ready: median ${sorted[sorted.length >> 1]} ms, longest ${sorted.at(-1)} ms`);
});

async function killAll(serverPid: number | undefined, dataDir: string | undefined): Promise<void> {
  const postmasters = dataDir === undefined ? [] : await processesOn(dataDir);
  // In either order: a living server starts its PostgreSQL again, and must not get in the way of the next one.
  const pids = [Number(serverPid), ...postmasters];
  if (Math.random() < 0.5) pids.reverse();
  for (const pid of pids) kill(pid, 'SIGKILL');
}

/** One row after another, each its own transaction, until the connection is lost. */
async function writeRows(url: string, acknowledged: number[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('create table if not exists public.scratch (n int primary key)');
    // Far more than there is time for; only the end of a loop that must have one.
    for (let written = 0; written < 1_000_000; written++) {
      const n = acknowledged.length + unacknowledged + 1;
      unacknowledged++;
      await client.query('insert into public.scratch values ($1)', [n]);
      unacknowledged--;
      acknowledged.push(n);
    }
  } catch {
    // The kill has reached it. Whether the last row is there nobody can know, and nothing was promised.
  } finally {
    await client.end().catch(() => {});
  }
}

/** Rows that were sent but not confirmed keep their numbers, since they may be there. */
let unacknowledged = 0;

async function assertAllThere(url: string, acknowledged: number[]): Promise<void> {
  if (acknowledged.length === 0) return;
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ n: number }>('select n from public.scratch');
    const there = new Set(rows.map((row) => row.n));
    assert.deepEqual(
      acknowledged.filter((n) => !there.has(n)),
      [],
    );
  } finally {
    await client.end();
  }
}
