import { Gauge, type Registry } from 'prom-client';
import type { Database, Queryable } from '../platform/db.ts';
import { OperatorRefusal } from '../platform/operator-refusal.ts';
import type { CheckoutDeps } from './deps.ts';
import { writeAudit } from './store/audit.ts';
import {
  type Alarm,
  type Contradiction,
  countContradictions,
  insertContradiction,
  resolveAlarms,
} from './store/contradictions.ts';

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

/**
 * Somebody has put right by hand what the acquirer did against what was settled, or refuses to give back. Nothing is
 * posted: it only says how, by whom and when, and the alarm is over.
 */
export async function resolvePayment(
  deps: { db: Database; now: () => Date },
  { payment, note, actor }: { payment: { merchantId: string; id: string }; note: string; actor: string },
): Promise<Pick<Alarm, 'kind' | 'reference'>[]> {
  return deps.db.transaction(async (tx) => {
    const at = deps.now();
    const resolved = await resolveAlarms(tx, payment, { at, by: actor, note });
    if (resolved.length === 0) {
      throw new OperatorRefusal('found', `Nothing about the payment ${payment.id} waits to be resolved.`);
    }
    const { merchantId } = payment;
    const references = resolved.map(({ kind, reference }) => `${kind} ${reference}`);
    const details = { note, resolved: references };
    await writeAudit(tx, { merchantId, at, actor, action: 'payment.resolved', object: payment.id, details });
    return resolved;
  });
}

export function measureContradictions(db: Queryable, registry: Registry): void {
  new Gauge({
    name: 'checkout_contradictions',
    help: 'Refunds and captures that the acquirer has done although they were settled as not done, and that nobody has resolved. Any is an alarm.',
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
