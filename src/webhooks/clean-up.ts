import { type Database, sql } from '../platform/db.ts';
import type { Job } from '../platform/jobs.ts';
import { deleteForsaken } from './store/queue.ts';

const daysKept = 30;
const batch = 1_000;
const mostBatches = 500;

/** Drops the log day by day, and what waits for endpoints that nobody enables again. */
export function cleanUpWebhooksJob(deps: { db: Database; now: () => Date }): Job {
  return {
    name: 'webhooks.clean-up',
    cron: '23 * * * *',
    async run() {
      const now = deps.now();
      const today = now.toISOString().slice(0, 10);
      await deps.db.transaction(async (tx) => {
        // Two nodes that make the same partition at the same moment would make each other fail.
        await tx.run(sql`select pg_advisory_xact_lock(hashtext('webhooks.keep_partitions'))`);
        await tx.run(sql`select webhooks.keep_delivery_partitions(${today}::date, ${daysKept}::int)`);
      });
      const before = new Date(now.getTime() - daysKept * 86_400_000);
      await inBatches((limit) =>
        deps.db.run(sql`
          delete from webhooks.deliveries_other where ctid = any (array(
            select ctid from webhooks.deliveries_other where at < ${before} limit ${limit} for update skip locked))`),
      );
      await inBatches((limit) => deps.db.transaction((tx) => deleteForsaken(tx, before, limit)));
    },
  };
}

async function inBatches(deleteBatch: (limit: number) => Promise<number>): Promise<void> {
  for (let batches = 0; batches < mostBatches; batches++) {
    if ((await deleteBatch(batch)) < batch) return;
  }
}
