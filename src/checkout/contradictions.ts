import { Gauge, type Registry } from 'prom-client';
import type { Queryable } from '../platform/db.ts';
import type { CheckoutDeps } from './deps.ts';
import { type Contradiction, countContradictions, insertContradiction } from './store/contradictions.ts';

/**
 * The last wall: money has moved although we have told everybody that it has not. What was told stands, and nobody
 * knows what the merchant has done since, so nothing is posted by itself. It is kept for `verify-ledger` and shouted.
 */
export async function keepContradiction(
  deps: CheckoutDeps,
  db: Queryable,
  found: Contradiction,
): Promise<void> {
  deps.log.error(found, 'the acquirer has done what was settled as not done');
  await insertContradiction(db, found, deps.now());
}

export function measureContradictions(db: Queryable, registry: Registry): void {
  new Gauge({
    name: 'checkout_contradictions',
    help: 'Refunds and captures that the acquirer has done although they were settled as not done. Any is an alarm.',
    registers: [registry],
    // Every process counts the same rows: their sum would mean nothing.
    aggregator: 'max',
    async collect() {
      try {
        this.set(await countContradictions(db));
      } catch {
        // An unknown figure is left out. Failing here would take all the others away as well.
        this.reset();
      }
    },
  });
}
