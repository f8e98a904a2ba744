import { Counter, Gauge, type Registry } from 'prom-client';
import type { Queryable } from '../platform/db.ts';
import { measureQueue } from './store/queue.ts';

export type WebhookMetrics = { deliveries: Counter<'result'>; disabled: Counter<'reason'> };

export function createWebhookMetrics(options: {
  db: Queryable;
  now: () => Date;
  registry: Registry;
}): WebhookMetrics {
  const registers = [options.registry];
  new Gauge({
    name: 'webhooks_queue_age_seconds',
    help: 'How long the delivery that is due for longest has been due.',
    registers,
    // Every process looks at the same queue: a sum would mean nothing.
    aggregator: 'max',
    async collect() {
      try {
        const { oldestDueAt } = await measureQueue(options.db, options.now());
        this.set(oldestDueAt ? (options.now().getTime() - oldestDueAt.getTime()) / 1000 : 0);
      } catch {
        // An unknown figure is left out. Failing here would take all the others away as well.
        this.reset();
      }
    },
  });
  return {
    deliveries: new Counter({
      name: 'webhooks_deliveries_total',
      help: 'Attempts to deliver an event, by result: delivered, failed (to be tried again) or given_up.',
      labelNames: ['result'] as const,
      registers,
    }),
    disabled: new Counter({
      name: 'webhooks_endpoints_disabled_total',
      help: 'Endpoints that were disabled, by reason. A rise of failing is a reason to call somebody.',
      labelNames: ['reason'] as const,
      registers,
    }),
  };
}
