import type { Database } from '../platform/db.ts';
import type { Job } from '../platform/jobs.ts';
import { idleMs } from './domain/session.ts';
import { endParts } from './session-end.ts';
import { endSessionsThatAreOver } from './store/sessions.ts';

const batchSize = 100;
/** What is left then waits for the next minute, so that one run cannot hold its place for ever. */
const mostBatches = 500;

/**
 * Ends the sessions that are over, so that clients hear of an expiry as they hear of a logout. Each batch is one short
 * transaction. Any number of nodes may run it at once: a session is ended, and its clients told, by exactly one.
 */
export function expireSessionsJob(deps: { db: Database; now: () => Date }): Job {
  return {
    name: 'identity.expire-sessions',
    cron: '* * * * *',
    async run() {
      for (let batch = 0; batch < mostBatches; batch++) {
        const ended = await deps.db.transaction(async (tx) => {
          const at = deps.now();
          const lastSeenBefore = new Date(at.getTime() - idleMs);
          const sessions = await endSessionsThatAreOver(tx, { at, lastSeenBefore, limit: batchSize });
          await endParts(tx, sessions, { reason: 'expired', at });
          return sessions.length;
        });
        // A batch that is not full may only mean that another node holds the rest of it.
        if (ended === 0) return;
      }
    },
  };
}
