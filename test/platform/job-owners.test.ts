import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from '../../src/platform/db.ts';
import { openJobOwners } from '../../src/platform/job-owners.ts';
import { addJob } from '../../src/platform/jobs.ts';
import { testDatabase } from '../support/database.ts';
import { fixture } from '../support/fixture.ts';

const { url, db } = await testDatabase();
const owners = openJobOwners(url, () => {});

test('jobs of a killed process are set free, and those of a living one are not', async () => {
  await db.transaction((tx) => addJob(tx, 'slow', {}));
  const worker = startWorker();
  const owner = await lockedBy();
  await untilAnnounced();
  await pretendLockedLongAgo();
  assert.equal(await owners.freeAbandoned(), 0);
  assert.equal(await lockedBy(), owner);

  worker.kill('SIGKILL');
  await once(worker, 'exit');
  // PostgreSQL notices a closed connection in its own time.
  for (let tries = 0; tries < 100 && (await owners.freeAbandoned()) === 0; tries++) await delay(50);
  const [job] = await db.many<{ lockedBy: string | null }>(
    sql`select locked_by from graphile_worker._private_jobs`,
  );
  assert.equal(job?.lockedBy, null);
  await owners.close();
});

test('a job that was locked a moment ago is left alone, whoever locked it', async () => {
  await db.run(sql`update graphile_worker._private_jobs set locked_by = 'nobody', locked_at = now()`);
  const others = openJobOwners(url, () => {});
  assert.equal(await others.freeAbandoned(), 0);
  await pretendLockedLongAgo();
  assert.equal(await others.freeAbandoned(), 1);
  await others.close();
});

function startWorker(): ChildProcess {
  return spawn(process.execPath, [fixture('platform/fixtures/slow-worker'), url], { stdio: 'inherit' });
}

async function lockedBy(): Promise<string> {
  for (let tries = 0; tries < 600; tries++) {
    const [job] = await db.many<{ lockedBy: string | null }>(
      sql`select locked_by from graphile_worker._private_jobs`,
    );
    if (job?.lockedBy) return job.lockedBy;
    await delay(50);
  }
  throw new Error('nobody took the job up');
}

/** A process shows that it lives a moment after it has taken its first job up. */
async function untilAnnounced(): Promise<void> {
  const locks = () =>
    db.many(sql`select from pg_locks where locktype = 'advisory' and granted
      and database = (select oid from pg_database where datname = current_database())`);
  while ((await locks()).length === 0) await delay(20);
}

async function pretendLockedLongAgo(): Promise<void> {
  await db.run(sql`update graphile_worker._private_jobs set locked_at = now() - interval '1 minute'`);
}
