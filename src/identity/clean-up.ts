import { Gauge, type Registry } from 'prom-client';
import type { Database, Queryable } from '../platform/db.ts';
import type { Job } from '../platform/jobs.ts';
import {
  countDue,
  type DeleteBatch,
  type DueBefore,
  deleteAuthorizationCodes,
  deleteBudgets,
  deleteGrants,
  deleteSessions,
  deleteSmsConversion,
  deleteStrayEvents,
  deleteStrayLogoutDeliveries,
  deleteStrayOneTimeCodes,
  keepPartitions,
  lockPartitions,
} from './store/clean-up.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const oneTimeCodeDays = 2;
const logoutDeliveryDays = 30;
const eventDays = 30;

type Item = { table: string; keptMs: number; deleteBatch: DeleteBatch };

const items: { [Name in keyof DueBefore]: Item } = {
  // A code stays beyond its minute, so that a second use of it is seen for what it is.
  authorizationCodes: {
    table: 'authorization_codes',
    keptMs: 10 * minuteMs,
    deleteBatch: deleteAuthorizationCodes,
  },
  // A revoked one too goes by its expiry: that is hours away at most, and stays indexed.
  grants: { table: 'grants', keptMs: dayMs, deleteBatch: deleteGrants },
  sessions: { table: 'sessions', keptMs: 30 * dayMs, deleteBatch: deleteSessions },
  budgets: { table: 'budgets', keptMs: 0, deleteBatch: deleteBudgets },
  smsConversion: { table: 'sms_conversion', keptMs: dayMs, deleteBatch: deleteSmsConversion },
  strayOneTimeCodes: {
    table: 'one_time_codes_other',
    keptMs: oneTimeCodeDays * dayMs,
    deleteBatch: deleteStrayOneTimeCodes,
  },
  strayLogoutDeliveries: {
    table: 'logout_deliveries_other',
    keptMs: logoutDeliveryDays * dayMs,
    deleteBatch: deleteStrayLogoutDeliveries,
  },
  strayEvents: { table: 'events_other', keptMs: eventDays * dayMs, deleteBatch: deleteStrayEvents },
};
const names = Object.keys(items) as (keyof DueBefore)[];

const defaultBatches = { size: 1_000, most: 500 };

/**
 * Removes what nobody will ask for again. Each statement deletes a small batch and is its own transaction, so that
 * requests never wait for it; what is left after `most` batches of a table waits for the next run.
 */
export function cleanUpJob(deps: {
  db: Database;
  now: () => Date;
  batches?: { size: number; most: number };
}): Job {
  const batches = deps.batches ?? defaultBatches;
  return {
    name: 'identity.clean-up',
    cron: '*/5 * * * *',
    async run() {
      const today = deps.now();
      await deps.db.transaction(async (tx) => {
        await lockPartitions(tx);
        await keepPartitions(tx, 'one_time_codes', { today, daysKept: oneTimeCodeDays });
        await keepPartitions(tx, 'logout_deliveries', { today, daysKept: logoutDeliveryDays });
        await keepPartitions(tx, 'events', { today, daysKept: eventDays });
      });
      const before = dueBefore(today);
      for (const name of names) {
        for (let batch = 0; batch < batches.most; batch++) {
          const deleted = await items[name].deleteBatch(deps.db, before[name], batches.size);
          if (deleted < batches.size) break;
        }
      }
    },
  };
}

/** A number that keeps growing says that the job does not run, or not often enough. */
export function measureCleanUpBacklog(deps: { db: Queryable; now: () => Date; registry: Registry }): void {
  new Gauge({
    name: 'identity_cleanup_backlog',
    help: 'Rows past the time they are kept, by table, counted up to 100,000.',
    labelNames: ['table'],
    registers: [deps.registry],
    // Every process counts the same rows: their sum would mean nothing.
    aggregator: 'max',
    async collect() {
      try {
        const due = await countDue(deps.db, dueBefore(deps.now()), 100_000);
        for (const name of names) this.set({ table: items[name].table }, due[name]);
      } catch {
        // An unknown figure is left out. Failing here would take all the others away as well.
        this.reset();
      }
    },
  });
}

function dueBefore(now: Date): DueBefore {
  const before = (name: keyof DueBefore) => new Date(now.getTime() - items[name].keptMs);
  return {
    authorizationCodes: before('authorizationCodes'),
    grants: before('grants'),
    sessions: before('sessions'),
    budgets: before('budgets'),
    smsConversion: before('smsConversion'),
    strayOneTimeCodes: before('strayOneTimeCodes'),
    strayLogoutDeliveries: before('strayLogoutDeliveries'),
    strayEvents: before('strayEvents'),
  };
}
