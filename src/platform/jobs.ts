import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import {
  parseCronItems,
  type Runner,
  run,
  type TaskList,
  type WorkerEvents,
  Logger as WorkerLogger,
} from 'graphile-worker';
import pg from 'pg';
import { sql, type Transaction } from './db.ts';
import { openJobOwners } from './job-owners.ts';
import type { Logger } from './log.ts';

/**
 * Work that is done beside requests. A job runs at least once, so each must bear being run twice. The signal asks it to
 * come to an end soon, because the process stops.
 */
export type Job = {
  name: string;
  run(payload: unknown, signal?: AbortSignal): Promise<void>;
  /** When it also runs by itself: a cron pattern of five fields, in UTC. All nodes together run one at a time. */
  cron?: string;
  /** Or how long each process waits between two runs of it, about; such a job never stands in the queue. */
  everySeconds?: number;
};

/**
 * Adds a job inside the caller's transaction: it exists exactly when what it follows from does. Of the jobs in one
 * `queue` one runs at a time; those with a higher `priority` number wait for the others.
 */
export async function addJob(
  tx: Transaction,
  name: string,
  payload: object,
  options: { runAt?: Date; key?: string; maxAttempts?: number; queue?: string; priority?: number } = {},
): Promise<void> {
  await tx.run(sql`
    select graphile_worker.add_job(
      ${name}, ${JSON.stringify(payload)}::json, queue_name := ${options.queue ?? null}::text,
      priority := ${options.priority ?? 0}::smallint, run_at := ${options.runAt ?? null}::timestamptz,
      max_attempts := ${options.maxAttempts ?? 25}::int, job_key := ${options.key ?? null}::text)`);
}

export type RunningJobs = { stop(): Promise<void> };

const lookForAbandonedMs = 15_000;

/** Takes up jobs until it is stopped; when the database goes away it begins anew by itself. */
export function startJobs(options: {
  url: string;
  jobs: Job[];
  concurrency: number;
  log: Logger;
}): RunningJobs {
  const { log, jobs, concurrency } = options;
  // Read before anything is opened: a pattern that cannot be read is a bug, which no new beginning would mend.
  const parsedCronItems = parseCronItems(
    jobs.flatMap((job) =>
      job.cron ? [{ task: job.name, match: job.cron, options: { queueName: job.name } }] : [],
    ),
  );
  const pool = new pg.Pool({
    connectionString: options.url,
    application_name: 'tollgate jobs',
    max: concurrency + 2,
    keepAlive: true,
    connectionTimeoutMillis: 5_000,
    query_timeout: 15_000,
  });
  pool.on('error', (error) => log.warn({ err: error }, 'job connection lost'));
  pool.on('connect', (client) =>
    client.on('error', (error) => log.warn({ err: error }, 'job connection lost')),
  );

  const taskList: TaskList = Object.fromEntries(
    jobs.map((job) => [job.name, (payload, { abortSignal }) => job.run(payload, abortSignal)]),
  );
  const stopped = new AbortController();
  const repeated = jobs.map((job) => repeat(job, stopped.signal, log));
  const events: WorkerEvents = new EventEmitter();
  const workerPools: string[] = [];
  const owners = openJobOwners(options.url, (error) => log.warn({ err: error }, 'job connection lost'));
  events.on('pool:create', ({ workerPool }) => {
    workerPools.push(workerPool.id);
    owners.announce(workerPool.id).catch((error) => log.warn({ err: error }, 'job owner not announced'));
  });
  const freeAbandoned = setInterval(() => {
    owners.freeAbandoned().then(
      (freed) => freed > 0 && log.warn({ freed }, 'jobs of a process that is gone were set free'),
      (error) => log.warn({ err: error }, 'abandoned jobs could not be looked for'),
    );
  }, lookForAbandonedMs);
  let runner: Runner | undefined;
  let stopping = false;

  /** A job that could not be marked as done or failed, since the database was away, would be locked for four hours. */
  const unlockWhatWasLeft = async () => {
    if (workerPools.length === 0) return;
    await pool.query('select graphile_worker.force_unlock_workers($1::text[])', [workerPools]);
    workerPools.length = 0;
  };

  const loop = (async () => {
    while (!stopping) {
      try {
        await unlockWhatWasLeft();
        runner = await run({
          pgPool: pool,
          taskList,
          parsedCronItems,
          concurrency,
          noHandleSignals: true,
          pollInterval: 1_000,
          logger: workerLogger(log),
          events,
          // The library marks a job as done without waiting for it, unless it does so in batches. Not waiting would leave
          // every job that ends during a stop locked, and a database that is away would be an unhandled rejection.
          preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
        });
        if (stopping) await runner.stop();
        await runner.promise;
      } catch (error) {
        if (!stopping) log.warn({ err: error }, 'jobs stopped; they begin anew');
      }
      if (!stopping) await delay(1_000);
    }
    await unlockWhatWasLeft().catch((error) => log.warn({ err: error }, 'jobs may be left locked'));
  })();

  return {
    async stop() {
      stopping = true;
      stopped.abort();
      await Promise.all([...repeated, runner?.stop().catch(() => {})]);
      clearInterval(freeAbandoned);
      await loop;
      await owners.close();
      await pool.end();
    },
  };
}

/** A run begins only after the last has ended; a little sooner or later each time, so that nodes do not tick together. */
async function repeat({ name, run, everySeconds }: Job, signal: AbortSignal, log: Logger): Promise<void> {
  if (everySeconds === undefined) return;
  for (;;) {
    await delay(everySeconds * 1_000 * (0.75 + Math.random() / 2), undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    await run({}, signal).catch((error: unknown) => log.error({ job: name, err: error }, 'job failed'));
  }
}

/** The library tells of every single job: that is for debugging only. A job that fails is for the operator. */
function workerLogger(log: Logger) {
  return new WorkerLogger((_scope) => (level, message, meta) => {
    const job = (meta?.job as { task_identifier?: string } | undefined)?.task_identifier;
    const err = meta?.error ?? meta?.fatalError;
    // The library writes the error into its sentence as well; `err` alone knows what of it may be shown.
    if (level === 'error') log.error({ job, err }, meta?.failure ? 'job failed' : message);
    else if (level === 'warning') log.warn({ job, err }, message);
    else log.debug({ job }, message);
  });
}
