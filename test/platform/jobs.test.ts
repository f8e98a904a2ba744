import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from '../../src/platform/db.ts';
import { addJob, type Job, type RunningJobs, startJobs } from '../../src/platform/jobs.ts';
import { createLogger } from '../../src/platform/log.ts';
import { query, serverUrl, testDatabase } from '../support/database.ts';

const { url, db } = await testDatabase();

type LogLine = { level: string; msg: string; job?: string; err?: { message: string; stack: string } };

/** Runs jobs until the file ends, or until they are stopped by hand. What is logged can be read afterwards. */
function start(jobs: Job[], concurrency = 2): RunningJobs & { log: () => LogLine[]; rawLog: () => string } {
  const lines: string[] = [];
  const log = createLogger({ level: 'trace', destination: { write: (line) => void lines.push(line) } });
  const running = startJobs({ url, jobs, concurrency, log });
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= running.stop();
    return stopped;
  };
  after(stop);
  return { stop, rawLog: () => lines.join(''), log: () => lines.map((line) => JSON.parse(line)) };
}

/** A job that keeps what it was called with. */
function recorder(name: string): Job & { calls: unknown[] } {
  const calls: unknown[] = [];
  return { name, calls, run: async (payload) => void calls.push(payload) };
}

const add = (...given: [name: string, payload: object, options?: Parameters<typeof addJob>[3]]) =>
  db.transaction((tx) => addJob(tx, ...given));

type QueuedJob = {
  attempts: number;
  maxAttempts: number;
  lastError: string | null;
  locked: boolean;
  runAt: Date;
};
const queued = (name: string) =>
  db.many<QueuedJob>(sql`
    select attempts, max_attempts, last_error, locked_at is not null as locked, run_at from graphile_worker.jobs
    where task_identifier = ${name} order by id`);

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await delay(10);
}

const gone = (name: string) => until(async () => (await queued(name)).length === 0);

test('a job runs after the transaction that added it has committed, with its payload', async () => {
  const job = recorder('after-commit');
  start([job]);
  await add(job.name, { first: true });
  await gone(job.name);
  let seenInside: unknown[] = [];
  await db.transaction(async (tx) => {
    await addJob(tx, job.name, { id: 7, name: 'Əli', list: [1, null] });
    // A queue that looked into open transactions would have run it by now.
    await add(job.name, { other: true });
    await until(() => job.calls.length > 1);
    seenInside = [...job.calls];
  });
  assert.deepEqual(seenInside, [{ first: true }, { other: true }]);
  await until(() => job.calls.length === 3);
  assert.deepEqual(job.calls[2], { id: 7, name: 'Əli', list: [1, null] });
  await gone(job.name);
});

test('a job of a transaction that rolled back never existed', async () => {
  const job = recorder('rolled-back');
  start([job]);
  await assert.rejects(
    db.transaction(async (tx) => {
      await addJob(tx, job.name, { kept: false });
      throw new Error('no');
    }),
  );
  assert.deepEqual(await queued(job.name), []);
  await add(job.name, { kept: true });
  await until(() => job.calls.length > 0);
  await gone(job.name);
  assert.deepEqual(job.calls, [{ kept: true }]);
});

test('a payload stays data', async () => {
  const job = recorder('quoted');
  start([job]);
  const payload = { text: `'; drop table graphile_worker._private_jobs; -- " \\ $1 \u2028` };
  await add(job.name, payload);
  await gone(job.name);
  assert.deepEqual(job.calls, [payload]);
});

test('a job that fails is kept with its reason, and is tried again later', async () => {
  let attempts = 0;
  const job: Job = {
    name: 'second-time-lucky',
    run: async () => {
      attempts += 1;
      if (attempts === 1) throw new Error('the gateway is away');
    },
  };
  start([job]);
  await add(job.name, {});
  let kept: QueuedJob | undefined;
  await until(async () => {
    [kept] = await queued(job.name);
    return kept?.lastError != null;
  });
  assert.equal(kept?.attempts, 1);
  assert.equal(kept?.maxAttempts, 25);
  assert.equal(kept?.lastError, 'the gateway is away');
  assert.equal(kept?.locked, false);

  // The next attempt is seconds away; this brings it forward.
  await db.run(sql`update graphile_worker._private_jobs set run_at = now() where last_error is not null`);
  await gone(job.name);
  assert.equal(attempts, 2);
});

test('the next attempt of a failed job lies in the future', async () => {
  const job: Job = { name: 'backs-off', run: () => Promise.reject(new Error('no')) };
  const running = start([job]);
  await add(job.name, {});
  await until(async () => (await queued(job.name))[0]?.lastError != null);
  await running.stop();
  const { ahead } = await db.one<{ ahead: boolean }>(sql`
    select run_at > updated_at + interval '1 second' as ahead
    from graphile_worker.jobs where task_identifier = ${job.name}`);
  assert.equal(ahead, true);
});

test('a job that has used up its attempts is not tried again', async () => {
  let attempts = 0;
  const job: Job = {
    name: 'gives-up',
    run: async () => {
      attempts += 1;
      throw new Error('never');
    },
  };
  const other = recorder('after-giving-up');
  start([job, other]);
  await add(job.name, {}, { maxAttempts: 1 });
  await until(async () => (await queued(job.name))[0]?.lastError != null);
  await db.run(sql`update graphile_worker._private_jobs set run_at = now() where last_error is not null`);
  await add(other.name, {});
  await until(() => other.calls.length === 1);
  assert.equal(attempts, 1);
});

test('a job for later does not run now', async () => {
  const job = recorder('for-later');
  start([job]);
  const runAt = new Date('2099-01-01T00:00:00Z');
  await add(job.name, { when: 'later' }, { runAt });
  await add(job.name, { when: 'past' }, { runAt: new Date('2001-01-01T00:00:00Z') });
  await add(job.name, { when: 'now' });
  await until(() => job.calls.length === 2);
  assert.deepEqual(
    new Set(job.calls.map((call) => (call as { when: string }).when)),
    new Set(['past', 'now']),
  );
  await until(async () => (await queued(job.name)).length === 1);
  assert.deepEqual((await queued(job.name))[0]?.runAt, runAt);
});

test('a job with the same key replaces the one that waits', async () => {
  const job = recorder('keyed');
  await add(job.name, { version: 1 }, { key: 'payment-1', runAt: new Date('2099-01-01T00:00:00Z') });
  await add(job.name, { version: 2 }, { key: 'payment-1' });
  await add(job.name, { version: 1 }, { key: 'payment-2' });
  assert.equal((await queued(job.name)).length, 2);
  start([job]);
  await gone(job.name);
  assert.deepEqual(
    new Set(job.calls.map((call) => JSON.stringify(call))),
    new Set(['{"version":2}', '{"version":1}']),
  );
});

test('jobs without a key stand side by side', async () => {
  const job = recorder('unkeyed');
  await add(job.name, { same: true });
  await add(job.name, { same: true });
  assert.equal((await queued(job.name)).length, 2);
  start([job]);
  await gone(job.name);
  assert.equal(job.calls.length, 2);
});

test('a job nobody here knows is left for a node that does', async () => {
  const known = recorder('known');
  const unknown = recorder('unknown');
  const running = start([known]);
  await add(unknown.name, {});
  await add(known.name, {});
  await gone(known.name);
  assert.equal((await queued(unknown.name))[0]?.attempts, 0);
  await running.stop();
  start([unknown]);
  await gone(unknown.name);
});

test('a job with a cron pattern is registered, and one without is not', async () => {
  start([{ ...recorder('nightly'), cron: '15 3 * * *' }, recorder('by-hand')]);
  const known = () =>
    db.many(sql`select identifier from graphile_worker._private_known_crontabs order by identifier`);
  await until(async () => (await known()).length > 0);
  assert.deepEqual(await known(), [{ identifier: 'nightly' }]);
});

test('a job for every so many seconds runs in each process, never beside itself, and one that fails runs again', async () => {
  const runs = [0, 0];
  let most = 0;
  const jobOf = (node: 0 | 1): Job => {
    let running = 0;
    return {
      name: 'ticking',
      everySeconds: 0.01,
      async run() {
        running++;
        most = Math.max(most, running);
        await delay(20);
        running--;
        runs[node] = (runs[node] ?? 0) + 1;
        throw new Error('not today');
      },
    };
  };
  const [first, second] = [start([jobOf(0)]), start([jobOf(1)])];
  await until(() => runs.every((count) => count > 2));
  await Promise.all([first.stop(), second.stop()]);
  assert.equal(most, 1);
  assert.deepEqual(await queued('ticking'), []);
  const told = first.log().filter(({ level }) => level === 'error');
  assert.deepEqual([told[0]?.job, told[0]?.err?.message], ['ticking', 'not today']);
});

test('stopping tells such a job that it is time to end, waits for it, and begins no other', async () => {
  const steps: string[] = [];
  const job: Job = {
    name: 'told-to-stop',
    everySeconds: 0.01,
    async run(_, signal) {
      steps.push('begun');
      await delay(60_000, undefined, signal ? { signal } : {}).catch(() => {});
      await delay(20);
      steps.push('ended');
    },
  };
  const running = start([job]);
  await until(() => steps.length === 1);
  await running.stop();
  assert.deepEqual(steps, ['begun', 'ended']);
});

test('a cron pattern that cannot be read is a bug that shows at once', () => {
  const log = createLogger({ level: 'silent' });
  assert.throws(() =>
    startJobs({ url, jobs: [{ ...recorder('bad'), cron: 'every day' }], concurrency: 1, log }),
  );
});

test('two nodes on one database run each job once', async () => {
  const runs = new Map<number, number>();
  const byNode = [0, 0];
  const jobOf = (node: 0 | 1): Job => ({
    name: 'shared',
    run: async (payload) => {
      const { id } = payload as { id: number };
      runs.set(id, (runs.get(id) ?? 0) + 1);
      byNode[node] = (byNode[node] ?? 0) + 1;
      await delay(1);
    },
  });
  await db.transaction(async (tx) => {
    for (let id = 0; id < 200; id++) await addJob(tx, 'shared', { id });
  });
  start([jobOf(0)], 4);
  start([jobOf(1)], 4);
  await gone('shared');
  assert.equal(runs.size, 200);
  assert.deepEqual([...new Set(runs.values())], [1]);
  assert.equal((byNode[0] ?? 0) + (byNode[1] ?? 0), 200);
});

test('stopping waits for the job that runs, and takes up no other', async () => {
  const steps: string[] = [];
  let release = () => {};
  const job: Job = {
    name: 'slow',
    run: async () => {
      steps.push('begun');
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      steps.push('ended');
    },
  };
  const running = start([job], 1);
  await add(job.name, {});
  await until(() => steps.length === 1);
  await add(job.name, {});
  const stopped = running.stop().then(() => steps.push('stopped'));
  await delay(50);
  assert.deepEqual(steps, ['begun']);
  release();
  await stopped;
  assert.deepEqual(steps, ['begun', 'ended', 'stopped']);
  const [left, ...more] = await queued(job.name);
  assert.deepEqual(more, [], 'the first is marked as done');
  assert.equal(left?.attempts, 0);
  assert.equal(left?.locked, false);
});

test('a job that fails while its node stops is kept for another attempt, and is not left locked', async () => {
  let begun = false;
  let fail = (_error: Error) => {};
  const job: Job = {
    name: 'fails-while-stopping',
    run: async () => {
      begun = true;
      await new Promise<void>((_resolve, reject) => {
        fail = reject;
      });
    },
  };
  const running = start([job], 1);
  await add(job.name, {});
  await until(() => begun);
  const stopped = running.stop();
  fail(new Error('not now'));
  await stopped;
  const [left] = await queued(job.name);
  assert.deepEqual([left?.attempts, left?.lastError, left?.locked], [1, 'not now', false]);
});

test('stopping right after starting works', async () => {
  await start([recorder('hardly-started')]).stop();
});

test('stopping closes every connection', async () => {
  const job = recorder('to-be-closed');
  const connections = () =>
    db.one<{ count: number }>(sql`
      select count(*)::int as count from pg_stat_activity
      where datname = current_database() and application_name = 'tollgate jobs'`);
  // Those of the tests before this one may still be on their way out.
  await until(async () => (await connections()).count === 0);
  const running = start([job]);
  await add(job.name, {});
  await gone(job.name);
  assert.notEqual((await connections()).count, 0);
  await running.stop();
  await until(async () => (await connections()).count === 0);
});

const endAllJobConnections = () =>
  db.run(sql`
    select pg_terminate_backend(pid, 2000) from pg_stat_activity
    where datname = current_database() and application_name = 'tollgate jobs'`);

test('jobs go on after every connection to the database was lost', async () => {
  const job = recorder('survivor');
  start([job]);
  await add(job.name, { round: 0 });
  await gone(job.name);
  for (const round of [1, 2]) {
    await endAllJobConnections();
    await add(job.name, { round });
    await gone(job.name);
  }
  assert.deepEqual(job.calls, [{ round: 0 }, { round: 1 }, { round: 2 }]);
});

test('a job that runs while the connections are lost is finished, and is not left locked', async () => {
  let release = () => {};
  let begun = false;
  const job: Job = {
    name: 'interrupted',
    run: async () => {
      begun = true;
      await new Promise<void>((resolve) => {
        release = resolve;
      });
    },
  };
  start([job], 1);
  await add(job.name, {});
  await until(() => begun);
  await endAllJobConnections();
  release();
  await gone(job.name);
});

/** Lets nobody into the database while it runs, as a restart would. */
async function whileAway(work: () => Promise<void>): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  await query(serverUrl(), `alter database ${name} allow_connections false`);
  try {
    await endAllJobConnections();
    await work();
  } finally {
    await query(serverUrl(), `alter database ${name} allow_connections true`);
  }
}

test('jobs begin once the database is there', async () => {
  const job = recorder('early-bird');
  let running: ReturnType<typeof start> | undefined;
  await whileAway(async () => {
    running = start([job]);
    await until(() => running?.log().some((line) => line.msg === 'jobs stopped; they begin anew') ?? false);
  });
  await add(job.name, {});
  await gone(job.name);
  assert.equal(job.calls.length, 1);
});

test('a job that ends while the database is away runs again once it is back, and is not left locked', async () => {
  let runs = 0;
  let release = () => {};
  const job: Job = {
    name: 'ended-in-the-dark',
    run: async () => {
      runs += 1;
      if (runs > 1) return;
      await new Promise<void>((resolve) => {
        release = resolve;
      });
    },
  };
  const running = start([job], 1);
  await add(job.name, {});
  await until(() => runs === 1);
  await whileAway(async () => {
    release();
    await until(() => running.log().some((line) => line.msg.startsWith('Failed to complete jobs')));
  });
  await gone(job.name);
  assert.equal(runs, 2);
});

test('an ordinary job is told of at debug only', async () => {
  const job = recorder('quiet');
  const running = start([job]);
  await add(job.name, {});
  await gone(job.name);
  await running.stop();
  const lines = running.log();
  assert.equal(
    lines.some((line) => line.job === job.name && line.msg.includes('with success')),
    true,
  );
  assert.deepEqual([...new Set(lines.map((line) => line.level))], ['debug']);
});

test('a job that fails is told of at error, once, with its name and the stack', async () => {
  const job: Job = { name: 'loud', run: () => Promise.reject(new Error('the gateway is away')) };
  const running = start([job]);
  await add(job.name, {}, { maxAttempts: 1 });
  await until(async () => (await queued(job.name))[0]?.lastError != null);
  await running.stop();
  const [line, ...more] = running.log().filter(({ level }) => level === 'error');
  assert.deepEqual(more, []);
  assert.equal(line?.job, 'loud');
  assert.equal(line?.err?.message, 'the gateway is away');
  assert.match(line?.err?.stack ?? '', /jobs\.test\.ts/);
});

test('no line of the log holds a payload', async () => {
  const fine = recorder('discreet');
  const failing: Job = {
    name: 'discreet-failing',
    // PostgreSQL quotes the value in its message.
    run: async (payload) => void (await db.run(sql`select ${(payload as { phone: string }).phone}::uuid`)),
  };
  const running = start([fine, failing]);
  await add(fine.name, { phone: 'canary-one' });
  await add(failing.name, { phone: 'canary-two' }, { key: 'some-key' });
  await gone(fine.name);
  await until(async () => (await queued(failing.name))[0]?.lastError != null);
  await running.stop();
  assert.notEqual(running.rawLog(), '');
  assert.doesNotMatch(running.rawLog(), /canary/);
});
