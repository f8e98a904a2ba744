import type { Brand } from '../../platform/brand.ts';
import type { Approval, DeclineReason } from './acquirer.ts';
import type { Money } from './money.ts';

export type PaymentId = Brand<'PaymentId'>;
export type AttemptId = Brand<'AttemptId'>;

export const mostAttempts = 5;
const mostExtensions = 10;
const longestLifeMs = 24 * 3600_000;
const captureWindowMs = 7 * 24 * 3600_000;

export type CardDetails = {
  brand: string;
  first6: string;
  last4: string;
  expiryMonth: number;
  expiryYear: number;
};
export type PaymentMethod = { type: 'card'; card: CardDetails } | { type: 'wallet' };
export type LastAttempt = {
  status: 'approved' | 'declined' | 'failed' | 'unknown';
  reason: string | null;
  at: Date;
};
export type CancelReason =
  | DeclineReason
  | 'expired_on_confirmation'
  | 'expired_on_capture'
  | 'canceled_by_merchant'
  | 'canceled_by_customer'
  | 'attempts_exhausted';
export type Cancellation = { party: 'merchant' | 'customer' | 'acquirer' | 'tollgate'; reason: CancelReason };

/** What does not change with the state. */
export type Order = {
  merchantId: string;
  id: PaymentId;
  terminalId: string;
  amount: Money;
  capture: boolean;
  description: string | null;
  merchantOrderId: string | null;
  metadata: Record<string, string>;
  returnUrl: string;
  locale: 'az' | 'en' | 'ru' | null;
  createdAt: Date;
  expiresAt: Date;
  extensions: number;
  attempts: number;
  lastAttempt: LastAttempt | null;
  test: boolean;
  version: number;
};

/** Once an attempt was approved: how, and by which attempt the acquirer knows the money. */
export type Paid = {
  method: PaymentMethod;
  approval: Approval | null;
  paidAttemptId: AttemptId;
  walletUserId: string | null;
  authorizedAt: Date;
};

export type Pending = Order & { status: 'pending'; openAttemptId: AttemptId | null };
export type WaitingForCapture = Order &
  Paid & {
    status: 'waiting_for_capture';
    captureBefore: Date;
    /** A capture that was asked for and whose outcome is not known yet. */
    asked: { captureId: string; minor: bigint; leaseUntil: Date; inquiries: number } | null;
  };
export type Succeeded = Order &
  Paid & {
    status: 'succeeded';
    /** The capture that took the money; null when it came with the approval. */
    captureId: string | null;
    capturedAt: Date;
    captured: bigint;
    refunded: bigint;
    refundHeld: bigint;
  };
export type Canceled = Order & {
  status: 'canceled';
  canceledAt: Date;
  cancellation: Cancellation;
  paid: Paid | null;
};
export type Payment = Pending | WaitingForCapture | Succeeded | Canceled;

export type SettledOutcome =
  | { kind: 'approved'; approval: Approval | null }
  | { kind: 'declined'; reason: DeclineReason }
  | { kind: 'failed' };

export type PaymentEvent =
  /** `after`: how many attempts there had been when the form was shown, which is good for one. */
  | { type: 'attempt_begun'; attemptId: AttemptId; after: number; at: Date }
  | { type: 'attempt_unknown'; attemptId: AttemptId; at: Date }
  | {
      type: 'attempt_settled';
      attemptId: AttemptId;
      outcome: SettledOutcome;
      method: PaymentMethod;
      walletUserId: string | null;
      at: Date;
    }
  /** The customer needs more time; `after`: how often they had asked when the form was shown. */
  | { type: 'extended'; after: number; at: Date }
  | { type: 'canceled'; by: 'merchant' | 'customer'; at: Date }
  | { type: 'expired'; at: Date }
  | { type: 'capture_asked'; captureId: string; minor: bigint; leaseUntil: Date; at: Date }
  | { type: 'capture_refused'; at: Date }
  | { type: 'captured'; captureId: string; minor: bigint; at: Date }
  | { type: 'not_captured_in_time'; at: Date };

export type PaymentRefusal =
  | 'payment_is_final'
  | 'payment_not_capturable'
  | 'payment_expired'
  | 'attempt_in_progress'
  | 'attempts_exhausted'
  | 'capture_in_progress'
  | 'capture_amount_exceeded'
  | 'not_due';

export type Advance<Next extends Payment = Payment> =
  | { ok: true; payment: Next }
  | { ok: false; refusal: PaymentRefusal };

/** The whole life of a payment. Time arrives inside the event, so equal inputs give equal answers. */
export function advance(payment: Payment, event: PaymentEvent): Advance {
  switch (payment.status) {
    case 'pending':
      return advancePending(payment, event);
    case 'waiting_for_capture':
      return advanceWaiting(payment, event);
    case 'succeeded':
    case 'canceled':
      return refuse('payment_is_final');
  }
}

function advancePending(payment: Pending, event: PaymentEvent): Advance {
  switch (event.type) {
    case 'attempt_begun':
      if (payment.openAttemptId) return refuse('attempt_in_progress');
      // A form that was sent twice: its attempt has begun, and may even have ended, in between.
      if (event.after !== payment.attempts) return refuse('attempt_in_progress');
      if (event.at >= payment.expiresAt) return refuse('payment_expired');
      if (payment.attempts >= mostAttempts) return refuse('attempts_exhausted');
      return next({ ...payment, attempts: payment.attempts + 1, openAttemptId: event.attemptId });
    case 'attempt_unknown':
      if (payment.openAttemptId !== event.attemptId) return refuse('payment_is_final');
      return next({ ...payment, lastAttempt: { status: 'unknown', reason: null, at: event.at } });
    case 'attempt_settled':
      if (payment.openAttemptId !== event.attemptId) return refuse('payment_is_final');
      return settle(payment, event);
    case 'extended': {
      const expiresAt = laterExpiry(payment);
      if (event.at >= payment.expiresAt) return refuse('payment_expired');
      if (!expiresAt || event.after !== payment.extensions) return refuse('not_due');
      return next({ ...payment, expiresAt, extensions: payment.extensions + 1 });
    }
    case 'canceled':
    case 'expired':
      // An attempt that has begun may already have moved money: only its own outcome may end the payment, or we would
      // tell the merchant "canceled" and charge the customer all the same.
      if (payment.openAttemptId) return refuse('attempt_in_progress');
      if (event.type === 'expired') {
        if (event.at < payment.expiresAt) return refuse('not_due');
        return next(cancel(payment, event.at, { party: 'tollgate', reason: 'expired_on_confirmation' }));
      }
      return next(cancel(payment, event.at, { party: event.by, reason: `canceled_by_${event.by}` }));
    case 'capture_asked':
    case 'capture_refused':
    case 'captured':
    case 'not_captured_in_time':
      return refuse('payment_not_capturable');
  }
}

function settle(payment: Pending, event: PaymentEvent & { type: 'attempt_settled' }): Advance {
  const { outcome, at } = event;
  const reason = outcome.kind === 'declined' ? outcome.reason : null;
  const lastAttempt: LastAttempt = { status: outcome.kind, reason, at };
  if (outcome.kind === 'approved') {
    const paid: Paid = {
      method: event.method,
      approval: outcome.approval,
      paidAttemptId: event.attemptId,
      walletUserId: event.walletUserId,
      authorizedAt: at,
    };
    const { openAttemptId: _, ...order } = payment;
    const shared = { ...order, ...paid, lastAttempt };
    if (payment.capture) {
      const { minor } = payment.amount;
      return next({
        ...shared,
        status: 'succeeded',
        captureId: null,
        capturedAt: at,
        captured: minor,
        refunded: 0n,
        refundHeld: 0n,
      });
    }
    const captureBefore = new Date(at.getTime() + captureWindowMs);
    return next({ ...shared, status: 'waiting_for_capture', captureBefore, asked: null });
  }
  const open: Pending = { ...payment, openAttemptId: null, lastAttempt };
  if (payment.attempts >= mostAttempts) {
    return next(cancel(open, at, { party: 'tollgate', reason: 'attempts_exhausted' }));
  }
  // Its attempt kept it alive beyond its time; now that this has come to nothing, its time is up.
  if (at >= payment.expiresAt) {
    return next(cancel(open, at, { party: 'tollgate', reason: 'expired_on_confirmation' }));
  }
  return next(open);
}

function advanceWaiting(payment: WaitingForCapture, event: PaymentEvent): Advance {
  switch (event.type) {
    case 'capture_asked': {
      const { captureId, minor, leaseUntil } = event;
      if (payment.asked) return refuse('capture_in_progress');
      if (event.at >= payment.captureBefore) return refuse('payment_not_capturable');
      if (minor > payment.amount.minor) return refuse('capture_amount_exceeded');
      return next({ ...payment, asked: { captureId, minor, leaseUntil, inquiries: 0 } });
    }
    case 'capture_refused':
      return next({ ...payment, asked: null });
    case 'captured': {
      const { captureBefore: _, asked: __, ...paid } = payment;
      return next({
        ...paid,
        status: 'succeeded',
        captureId: event.captureId,
        capturedAt: event.at,
        captured: event.minor,
        refunded: 0n,
        refundHeld: 0n,
      });
    }
    case 'canceled':
      if (payment.asked) return refuse('capture_in_progress');
      return next(letGo(payment, event.at, { party: event.by, reason: `canceled_by_${event.by}` }));
    case 'not_captured_in_time':
      if (payment.asked) return refuse('capture_in_progress');
      if (event.at < payment.captureBefore) return refuse('not_due');
      return next(letGo(payment, event.at, { party: 'tollgate', reason: 'expired_on_capture' }));
    case 'expired':
      return refuse('not_due');
    case 'extended':
    case 'attempt_begun':
    case 'attempt_unknown':
    case 'attempt_settled':
      return refuse('payment_is_final');
  }
}

/** The same time once more, ten times at most and to the end of the first day (WCAG 2.2.1); undefined when that is used up. */
export function laterExpiry({ createdAt, expiresAt, extensions }: Order): Date | undefined {
  const lifetime = (expiresAt.getTime() - createdAt.getTime()) / (extensions + 1);
  const later = Math.min(expiresAt.getTime() + lifetime, createdAt.getTime() + longestLifeMs);
  return extensions < mostExtensions && later > expiresAt.getTime() ? new Date(later) : undefined;
}

function cancel(payment: Pending, at: Date, cancellation: Cancellation): Canceled {
  const { openAttemptId: _, ...order } = payment;
  return { ...order, status: 'canceled', canceledAt: at, cancellation, paid: null };
}

/** It was paid and not captured; how it was paid is still told. */
function letGo(payment: WaitingForCapture, at: Date, cancellation: Cancellation): Canceled {
  const { captureBefore: _, asked: __, ...rest } = payment;
  const { method, approval, paidAttemptId, walletUserId, authorizedAt, ...order } = rest;
  const paid = { method, approval, paidAttemptId, walletUserId, authorizedAt };
  return { ...order, status: 'canceled', canceledAt: at, cancellation, paid };
}

function next(payment: Payment): Advance {
  return { ok: true, payment: { ...payment, version: payment.version + 1 } };
}

function refuse(refusal: PaymentRefusal): Advance {
  return { ok: false, refusal };
}

/** What can still be given back: what was captured, less what was given back or is on its way. */
export function refundableOf(payment: Payment): bigint {
  return payment.status === 'succeeded' ? payment.captured - payment.refunded - payment.refundHeld : 0n;
}
