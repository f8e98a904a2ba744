import type { CheckoutDeps } from './deps.ts';
import type { Payment } from './domain/payment.ts';
import type { Refund } from './domain/refund.ts';
import { paymentJson, refundJson } from './present.ts';
import type { ObjectEvent } from './store/payments.ts';

/** The version of the events' form, which merchants' programs rely on. */
const apiVersion = '2026-11-01';

/** What a merchant is told of a payment's new version. */
export function paymentEvent(
  deps: CheckoutDeps,
  before: Payment | null,
  after: Payment,
  at: Date,
): ObjectEvent {
  return event(deps, {
    type: paymentEventType(before, after),
    merchantId: after.merchantId,
    test: after.test,
    sequence: after.version,
    object: paymentJson(deps, after),
    previousStatus: before?.status ?? null,
    at,
  });
}

export function refundEvent(deps: CheckoutDeps, before: Refund | null, after: Refund, at: Date): ObjectEvent {
  return event(deps, {
    type: before === null && after.status === 'pending' ? 'refund.created' : `refund.${after.status}`,
    merchantId: after.merchantId,
    test: after.test,
    sequence: after.version,
    object: refundJson(after),
    previousStatus: before?.status ?? null,
    at,
  });
}

function paymentEventType(before: Payment | null, after: Payment): string {
  if (before === null) return 'payment.created';
  if (before.status !== after.status) return `payment.${after.status}`;
  const tried = after.lastAttempt !== before.lastAttempt;
  const failed = after.lastAttempt?.status === 'declined' || after.lastAttempt?.status === 'failed';
  return tried && failed ? 'payment.attempt_failed' : 'payment.updated';
}

function event(
  deps: CheckoutDeps,
  told: {
    type: string;
    merchantId: string;
    test: boolean;
    sequence: number;
    object: object;
    previousStatus: string | null;
    at: Date;
  },
): ObjectEvent {
  const eventId = deps.newId();
  const payload = JSON.stringify({
    id: eventId,
    type: told.type,
    timestamp: told.at.toISOString(),
    apiVersion,
    merchantId: told.merchantId,
    test: told.test,
    sequence: told.sequence,
    data: { object: told.object, previousStatus: told.previousStatus },
  });
  return { eventId, type: told.type, payload, at: told.at };
}
