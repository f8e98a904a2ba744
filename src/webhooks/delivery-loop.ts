import { deliver, takeDue } from './deliver.ts';
import type { WebhookDeps } from './deps.ts';

export type RunningDeliveries = { stop(): Promise<void> };

/** Of all endpoints together in this process. They wait for others most of their time, so many fit. */
const mostUnderWay = 400;

/**
 * Delivers until it is stopped. Apart from the job queue, whose few places the slow receivers of the world would fill:
 * here each waits on its own, and a connection to the database is held only to take and to settle.
 */
export function startDelivering(
  deps: WebhookDeps,
  pauses = { idleMs: 500, busyMs: 20, afterFaultMs: 1_000 },
): RunningDeliveries {
  const underWay = new Set<Promise<void>>();
  let stopping = false;
  let wake = () => {};

  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  const begin = (work: Promise<void>) => {
    const settled = work
      .catch((error) => deps.log.error({ err: error }, 'webhook delivery left for later'))
      .finally(() => {
        underWay.delete(settled);
        // One that is done makes room for the next of its endpoint and its object.
        wake();
      });
    underWay.add(settled);
  };

  const loop = (async () => {
    while (!stopping) {
      const pauseMs = await round().catch((error: unknown) => {
        deps.log.warn({ err: error }, 'webhooks could not be taken from the queue');
        return pauses.afterFaultMs;
      });
      if (!stopping) await pause(pauseMs);
    }
  })();

  async function round(): Promise<number> {
    const room = mostUnderWay - underWay.size;
    const claims = room > 0 ? await takeDue(deps, room) : [];
    for (const claim of claims) begin(deliver(deps, claim));
    return claims.length > 0 ? pauses.busyMs : pauses.idleMs;
  }

  return {
    async stop() {
      stopping = true;
      wake();
      await loop;
      await Promise.all(underWay);
    },
  };
}
