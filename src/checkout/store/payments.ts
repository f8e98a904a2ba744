import { type Queryable, type Statement, sql, type Transaction } from '../../platform/db.ts';
import { idRange } from '../../platform/paging.ts';
import type { Approval } from '../domain/acquirer.ts';
import type {
  AttemptId,
  Cancellation,
  CancelReason,
  LastAttempt,
  Order,
  Paid,
  Payment,
  PaymentId,
  PaymentMethod,
  WaitingForCapture,
} from '../domain/payment.ts';

export type PaymentRow = {
  merchantId: string;
  paymentId: PaymentId;
  terminalId: string;
  status: Payment['status'];
  amount: bigint;
  currency: string;
  capture: boolean;
  captured: bigint;
  refunded: bigint;
  refundHeld: bigint;
  description: string | null;
  merchantOrderId: string | null;
  metadata: Record<string, string>;
  returnUrl: string;
  locale: Order['locale'];
  createdAt: Date;
  expiresAt: Date;
  extensions: number;
  attempts: number;
  openAttemptId: AttemptId | null;
  lastAttempt: (Omit<LastAttempt, 'at'> & { at: string }) | null;
  paidAttemptId: AttemptId | null;
  paymentMethod: PaymentMethod | null;
  authorizationDetails: Approval | null;
  walletUserId: string | null;
  authorizedAt: Date | null;
  captureBefore: Date | null;
  captureId: string | null;
  captureAmount: bigint | null;
  captureLeaseUntil: Date | null;
  captureInquiries: number;
  capturedAt: Date | null;
  canceledAt: Date | null;
  cancelParty: Cancellation['party'] | null;
  cancelReason: CancelReason | null;
  test: boolean;
  version: number;
};

export async function findPayment(
  db: Queryable,
  merchantId: string,
  id: PaymentId,
): Promise<Payment | undefined> {
  const row = await db.maybeOne<PaymentRow>(sql`
    select * from checkout.payments where merchant_id = ${merchantId} and payment_id = ${id}`);
  return row && toPayment(row);
}

/** By its id alone, for an operator: the key is tried for each merchant in turn, of which there are few. */
export async function findPaymentOfAnybody(db: Queryable, id: PaymentId): Promise<Payment | undefined> {
  const row = await db.maybeOne<PaymentRow>(sql`
    select p.* from checkout.merchants m
    join checkout.payments p on p.merchant_id = m.merchant_id and p.payment_id = ${id}`);
  return row && toPayment(row);
}

export type EventRow = {
  objectId: string;
  sequence: number;
  eventId: string;
  type: string;
  payload: string;
  createdAt: Date;
};

/** What was told of a payment and its refunds, oldest first. By an array, since with `or` all events would be read. */
export async function listEventsOfPayment(
  db: Queryable,
  payment: { merchantId: string; id: PaymentId },
): Promise<EventRow[]> {
  return db.many<EventRow>(sql`
    select object_id, sequence, event_id, type, payload, created_at from checkout.events
    where merchant_id = ${payment.merchantId} and object_id = any (array(
      select ${payment.id}::uuid
      union all
      select refund_id from checkout.refunds
      where merchant_id = ${payment.merchantId} and payment_id = ${payment.id}))
    order by created_at, object_id, sequence`);
}

/** Holds the row until the transaction ends, so that two of whatever it is cannot both happen. */
export async function lockPayment(
  tx: Transaction,
  merchantId: string,
  id: PaymentId,
): Promise<Payment | undefined> {
  const row = await tx.maybeOne<PaymentRow>(sql`
    select * from checkout.payments where merchant_id = ${merchantId} and payment_id = ${id} for no key update`);
  return row && toPayment(row);
}

/** An event row goes with every version of an object, in the same statement that makes it true. */
export type ObjectEvent = { eventId: string; type: string; payload: string; at: Date };

/** Writes the next version of a payment together with its event. */
export async function savePayment(tx: Transaction, payment: Payment, event: ObjectEvent): Promise<void> {
  const row = columnsOf(payment);
  const saved = await tx.run(sql`
    with saved as (
      update checkout.payments set
        status = ${payment.status}, captured = ${row.captured}, refunded = ${row.refunded},
        refund_held = ${row.refundHeld}, expires_at = ${payment.expiresAt}, extensions = ${payment.extensions},
        attempts = ${payment.attempts}, open_attempt_id = ${row.openAttemptId},
        last_attempt = ${JSON.stringify(payment.lastAttempt)}::jsonb, paid_attempt_id = ${row.paidAttemptId},
        payment_method = ${JSON.stringify(row.paymentMethod)}::jsonb,
        authorization_details = ${JSON.stringify(row.authorizationDetails)}::jsonb,
        wallet_user_id = ${row.walletUserId}, authorized_at = ${row.authorizedAt},
        capture_before = ${row.captureBefore}, capture_id = ${row.captureId}, capture_amount = ${row.captureAmount},
        capture_lease_until = ${row.captureLeaseUntil}, capture_inquiries = ${row.captureInquiries},
        capture_asking = true,
        captured_at = ${row.capturedAt}, canceled_at = ${row.canceledAt}, cancel_party = ${row.cancelParty},
        cancel_reason = ${row.cancelReason}, version = ${payment.version}
      where merchant_id = ${payment.merchantId} and payment_id = ${payment.id} and version = ${payment.version - 1}
      returning merchant_id, payment_id
    )
    insert into checkout.events (merchant_id, object_id, sequence, event_id, type, payload, created_at)
    select merchant_id, payment_id, ${payment.version}, ${event.eventId}, ${event.type}, ${event.payload}, ${event.at}
    from saved`);
  if (saved !== 1) throw new Error(`payment ${payment.id} is not at version ${payment.version - 1}`);
}

/** Nobody knows yet: when to ask again. */
export async function postponeCapture(
  tx: Transaction,
  lease: { merchantId: string; id: PaymentId; until: Date; inquiries: number },
): Promise<void> {
  await tx.run(sql`
    update checkout.payments
    set capture_lease_until = ${lease.until}, capture_asking = false, capture_inquiries = ${lease.inquiries}
    where merchant_id = ${lease.merchantId} and payment_id = ${lease.id} and capture_lease_until is not null`);
}

/** For a merchant, who need not wait until it is time. As with a refund, `dueAt` is the time for which they did not wait. */
export async function takeCapture(
  db: Queryable,
  take: { merchantId: string; id: PaymentId; captureId: string; now: Date; until: Date },
): Promise<{ payment: WaitingForCapture; dueAt: Date | null } | undefined> {
  const row = await db.maybeOne<PaymentRow & { dueAt: Date | null }>(sql`
    with former as (
      select merchant_id, payment_id, case when not capture_asking then capture_lease_until end as due_at
      from checkout.payments
      where merchant_id = ${take.merchantId} and payment_id = ${take.id} and capture_id = ${take.captureId}
        and capture_lease_until is not null and (capture_lease_until <= ${take.now} or not capture_asking)
      for no key update
    )
    update checkout.payments p set capture_lease_until = ${take.until}, capture_asking = true from former
    where p.merchant_id = former.merchant_id and p.payment_id = former.payment_id
    returning p.*, former.due_at`);
  return row && { payment: toWaiting(row), dueAt: row.dueAt };
}

/** Captures that it is time to ask about; taking them moves that time on, so that no two nodes ask at once. */
export async function takeCapturesToAsk(
  db: Queryable,
  due: { now: Date; until: Date; limit: number },
): Promise<WaitingForCapture[]> {
  const rows = await db.many<PaymentRow>(sql`
    with due as (
      select merchant_id, payment_id from checkout.payments
      where capture_lease_until <= ${due.now}
      order by capture_lease_until limit ${due.limit} for no key update skip locked
    )
    update checkout.payments p set capture_lease_until = ${due.until}, capture_asking = true from due
    where p.merchant_id = due.merchant_id and p.payment_id = due.payment_id
    returning p.*`);
  return rows.map(toWaiting);
}

export type PaymentKey = { merchantId: string; paymentId: PaymentId };

export async function listPaymentsToExpire(
  db: Queryable,
  due: { now: Date; limit: number; offset: number },
): Promise<PaymentKey[]> {
  return db.many<PaymentKey>(sql`
    select merchant_id, payment_id from checkout.payments
    where status = 'pending' and open_attempt_id is null and expires_at <= ${due.now}
    order by expires_at limit ${due.limit} offset ${due.offset}`);
}

export async function listPaymentsToRelease(
  db: Queryable,
  due: { now: Date; limit: number; offset: number },
): Promise<PaymentKey[]> {
  return db.many<PaymentKey>(sql`
    select merchant_id, payment_id from checkout.payments
    where status = 'waiting_for_capture' and capture_before <= ${due.now} and capture_id is null
    order by capture_before limit ${due.limit} offset ${due.offset}`);
}

export type PaymentFilter = {
  merchantId: string;
  status: string | null;
  merchantOrderId: string | null;
  createdFrom: Date | null;
  createdTo: Date | null;
  /** Everything older than this one. */
  before: PaymentId | null;
  limit: number;
};

/** Newest first: the ids carry the time, so the order of the key is the order of age. */
export async function listPayments(db: Queryable, filter: PaymentFilter): Promise<Payment[]> {
  const rows = await db.many<PaymentRow>(listStatement(filter));
  return rows.map(toPayment);
}

function listStatement(filter: PaymentFilter): Statement {
  const { from, below } = idRange(filter);
  if (filter.merchantOrderId !== null) {
    return sql`
      select * from checkout.payments
      where merchant_id = ${filter.merchantId} and merchant_order_id = ${filter.merchantOrderId}
        and (${filter.before}::uuid is null or payment_id < ${filter.before}::uuid)
        and (${filter.status}::text is null or status = ${filter.status}::text)
        and (${filter.createdFrom}::timestamptz is null or created_at >= ${filter.createdFrom}::timestamptz)
        and (${filter.createdTo}::timestamptz is null or created_at < ${filter.createdTo}::timestamptz)
      order by payment_id desc limit ${filter.limit}`;
  }
  if (filter.status !== null) {
    return sql`
      select * from checkout.payments
      where merchant_id = ${filter.merchantId} and status = ${filter.status}
        and payment_id >= ${from} and payment_id < ${below}
        and (${filter.createdFrom}::timestamptz is null or created_at >= ${filter.createdFrom}::timestamptz)
        and (${filter.createdTo}::timestamptz is null or created_at < ${filter.createdTo}::timestamptz)
      order by payment_id desc limit ${filter.limit}`;
  }
  return sql`
    select * from checkout.payments
    where merchant_id = ${filter.merchantId} and payment_id >= ${from} and payment_id < ${below}
      and (${filter.createdFrom}::timestamptz is null or created_at >= ${filter.createdFrom}::timestamptz)
      and (${filter.createdTo}::timestamptz is null or created_at < ${filter.createdTo}::timestamptz)
    order by payment_id desc limit ${filter.limit}`;
}

function columnsOf(payment: Payment) {
  const paid: Paid | null =
    payment.status === 'canceled' ? payment.paid : payment.status === 'pending' ? null : payment;
  const money =
    payment.status === 'succeeded'
      ? payment
      : { captured: 0n, refunded: 0n, refundHeld: 0n, captureId: null, capturedAt: null };
  const asked = payment.status === 'waiting_for_capture' ? payment.asked : null;
  return {
    captured: money.captured,
    refunded: money.refunded,
    refundHeld: money.refundHeld,
    capturedAt: money.capturedAt,
    openAttemptId: payment.status === 'pending' ? payment.openAttemptId : null,
    paidAttemptId: paid?.paidAttemptId ?? null,
    paymentMethod: paid?.method ?? null,
    authorizationDetails: paid?.approval ?? null,
    walletUserId: paid?.walletUserId ?? null,
    authorizedAt: paid?.authorizedAt ?? null,
    captureBefore: payment.status === 'waiting_for_capture' ? payment.captureBefore : null,
    captureId: asked?.captureId ?? money.captureId,
    captureAmount: asked?.minor ?? (money.captureId && money.captured),
    captureLeaseUntil: asked?.leaseUntil ?? null,
    captureInquiries: asked?.inquiries ?? 0,
    canceledAt: payment.status === 'canceled' ? payment.canceledAt : null,
    cancelParty: payment.status === 'canceled' ? payment.cancellation.party : null,
    cancelReason: payment.status === 'canceled' ? payment.cancellation.reason : null,
  };
}

function toWaiting(row: PaymentRow): WaitingForCapture {
  const payment = toPayment(row);
  if (payment.status !== 'waiting_for_capture') throw new Error(`payment ${payment.id} is ${payment.status}`);
  return payment;
}

/** Rebuilds the union; a row that fits no state is a bug and says so. */
function toPayment(row: PaymentRow): Payment {
  const order: Order = {
    merchantId: row.merchantId,
    id: row.paymentId,
    terminalId: row.terminalId,
    amount: { minor: row.amount, currency: row.currency },
    capture: row.capture,
    description: row.description,
    merchantOrderId: row.merchantOrderId,
    metadata: row.metadata,
    returnUrl: row.returnUrl,
    locale: row.locale,
    createdAt: row.createdAt,
    expiresAt: row.expiresAt,
    extensions: row.extensions,
    attempts: row.attempts,
    lastAttempt: row.lastAttempt && { ...row.lastAttempt, at: new Date(row.lastAttempt.at) },
    test: row.test,
    version: row.version,
  };
  switch (row.status) {
    case 'pending':
      return { ...order, status: 'pending', openAttemptId: row.openAttemptId };
    case 'waiting_for_capture': {
      if (!row.captureBefore) break;
      const { captureBefore, captureId, captureAmount: minor, captureLeaseUntil: leaseUntil } = row;
      const asked =
        captureId && minor !== null && leaseUntil
          ? { captureId, minor, leaseUntil, inquiries: row.captureInquiries }
          : null;
      return { ...order, ...paidOfRow(row), status: row.status, captureBefore, asked };
    }
    case 'succeeded': {
      if (!row.capturedAt) break;
      const { captureId, captured, refunded, refundHeld, capturedAt } = row;
      const money = { captureId, capturedAt, captured, refunded, refundHeld };
      return { ...order, ...paidOfRow(row), status: row.status, ...money };
    }
    case 'canceled': {
      if (!row.canceledAt || !row.cancelParty || !row.cancelReason) break;
      const cancellation = { party: row.cancelParty, reason: row.cancelReason };
      const paid = row.paidAttemptId ? paidOfRow(row) : null;
      return { ...order, status: row.status, canceledAt: row.canceledAt, cancellation, paid };
    }
  }
  throw new Error(`payment ${row.paymentId} is ${row.status} but lacks what goes with it`);
}

function paidOfRow(row: PaymentRow): Paid {
  const { paymentMethod, paidAttemptId, authorizedAt, authorizationDetails, walletUserId } = row;
  if (!paymentMethod || !paidAttemptId || !authorizedAt)
    throw new Error(`payment ${row.paymentId} was never paid`);
  return { method: paymentMethod, approval: authorizationDetails, paidAttemptId, walletUserId, authorizedAt };
}
