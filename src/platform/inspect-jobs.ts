import { type Queryable, sql } from './db.ts';

export type JobsCondition = {
  /** Processes that take up jobs at this moment. */
  workers: number;
  waiting: number;
  /** The job that should have begun longest ago, and has not. */
  oldestDue: { name: string; since: Date } | null;
  /** Jobs that were tried as often as they may be, by name. */
  failed: { name: string; count: number; lastError: string | null }[];
};

export async function inspectJobs(db: Queryable, now: Date): Promise<JobsCondition> {
  const { workers } = await db.one<{ workers: number }>(sql`
    select count(*)::int as workers from pg_stat_activity
    where datname = current_database() and application_name = 'tollgate job owner'`);
  const { waiting } = await db.one<{ waiting: number }>(sql`
    select count(*)::int as waiting from graphile_worker._private_jobs
    where attempts < max_attempts and locked_at is null`);
  const oldestDue = await db.maybeOne<{ name: string; since: Date }>(sql`
    select t.identifier as name, j.run_at as since
    from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id
    where j.attempts < j.max_attempts and j.locked_at is null and j.run_at <= ${now}
    order by j.run_at limit 1`);
  const failed = await db.many<JobsCondition['failed'][number]>(sql`
    select t.identifier as name, count(*)::int as count,
      (array_agg(j.last_error order by j.updated_at desc))[1] as last_error
    from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id
    where j.attempts >= j.max_attempts and j.locked_at is null group by t.identifier order by t.identifier`);
  return { workers, waiting, oldestDue: oldestDue ?? null, failed };
}
