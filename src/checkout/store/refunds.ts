import { type Queryable, type Statement, sql, type Transaction } from '../../platform/db.ts';
import { idRange } from '../../platform/paging.ts';
import type { CancelReason, PaymentId } from '../domain/payment.ts';
import type { PendingRefund, Refund, RefundId } from '../domain/refund.ts';
import type { ObjectEvent } from './payments.ts';

export type RefundRow = {
  merchantId: string;
  refundId: RefundId;
  paymentId: PaymentId;
  terminalId: string;
  status: Refund['status'];
  amount: bigint;
  currency: string;
  reason: string | null;
  description: string | null;
  metadata: Record<string, string>;
  createdAt: Date;
  settledAt: Date | null;
  cancelReason: CancelReason | null;
  rrn: string | null;
  test: boolean;
  version: number;
  leaseUntil: Date | null;
  inquiries: number;
};

export async function findRefund(
  db: Queryable,
  merchantId: string,
  id: RefundId,
): Promise<Refund | undefined> {
  const row = await db.maybeOne<RefundRow>(sql`
    select * from checkout.refunds where merchant_id = ${merchantId} and refund_id = ${id}`);
  return row && toRefund(row);
}

export async function lockRefund(
  tx: Transaction,
  merchantId: string,
  id: RefundId,
): Promise<Refund | undefined> {
  const row = await tx.maybeOne<RefundRow>(sql`
    select * from checkout.refunds where merchant_id = ${merchantId} and refund_id = ${id} for no key update`);
  return row && toRefund(row);
}

export async function insertRefund(tx: Transaction, refund: Refund, event: ObjectEvent): Promise<void> {
  const row = columnsOf(refund);
  await tx.run(sql`
    with added as (
      insert into checkout.refunds (merchant_id, refund_id, payment_id, terminal_id, status, amount, currency, reason,
        description, metadata, created_at, settled_at, cancel_party, cancel_reason, rrn, test, version, lease_until)
      values (${refund.merchantId}, ${refund.id}, ${refund.paymentId}, ${refund.terminalId}, ${refund.status},
        ${refund.amount.minor}, ${refund.amount.currency}, ${refund.reason}, ${refund.description},
        ${JSON.stringify(refund.metadata)}::jsonb, ${refund.createdAt}, ${row.settledAt}, ${row.cancelParty},
        ${row.cancelReason}, ${row.rrn}, ${refund.test}, ${refund.version}, ${row.leaseUntil})
    )
    insert into checkout.events (merchant_id, object_id, sequence, event_id, type, payload, created_at)
    values (${refund.merchantId}, ${refund.id}, ${refund.version}, ${event.eventId}, ${event.type}, ${event.payload},
      ${event.at})`);
}

export async function saveRefund(tx: Transaction, refund: Refund, event: ObjectEvent): Promise<void> {
  const row = columnsOf(refund);
  const saved = await tx.run(sql`
    with saved as (
      update checkout.refunds
      set status = ${refund.status}, settled_at = ${row.settledAt}, cancel_party = ${row.cancelParty},
        cancel_reason = ${row.cancelReason}, rrn = ${row.rrn}, version = ${refund.version},
        lease_until = ${row.leaseUntil}
      where merchant_id = ${refund.merchantId} and refund_id = ${refund.id} and version = ${refund.version - 1}
      returning merchant_id, refund_id
    )
    insert into checkout.events (merchant_id, object_id, sequence, event_id, type, payload, created_at)
    select merchant_id, refund_id, ${refund.version}, ${event.eventId}, ${event.type}, ${event.payload}, ${event.at}
    from saved`);
  if (saved !== 1) throw new Error(`refund ${refund.id} is not at version ${refund.version - 1}`);
}

/**
 * For a merchant, who need not wait until it is time: undefined when somebody else is at it, or it is settled. `dueAt` is
 * the time for which they did not wait. A lease that has run out is none, and is never given back: who had it may wake.
 */
export async function takeRefund(
  db: Queryable,
  key: { merchantId: string; refundId: RefundId; now: Date; until: Date },
): Promise<{ refund: PendingRefund; dueAt: Date | null } | undefined> {
  const row = await db.maybeOne<RefundRow & { dueAt: Date | null }>(sql`
    with former as (
      select merchant_id, refund_id, case when not asking then lease_until end as due_at from checkout.refunds
      where merchant_id = ${key.merchantId} and refund_id = ${key.refundId} and status = 'pending'
        and (lease_until <= ${key.now} or not asking)
      for no key update
    )
    update checkout.refunds r set lease_until = ${key.until}, asking = true from former
    where r.merchant_id = former.merchant_id and r.refund_id = former.refund_id
    returning r.*, former.due_at`);
  return row && { refund: toPending(row), dueAt: row.dueAt };
}

/** Nobody knows yet: when to ask again. */
export async function postponeRefund(
  db: Queryable,
  key: { merchantId: string; refundId: RefundId; until: Date; inquiries: number },
): Promise<void> {
  await db.run(sql`
    update checkout.refunds set lease_until = ${key.until}, asking = false, inquiries = ${key.inquiries}
    where merchant_id = ${key.merchantId} and refund_id = ${key.refundId} and status = 'pending'`);
}

/** Refunds that it is time to ask about; taking them moves that time on, so that no two nodes ask at once. */
export async function takeRefundsToAsk(
  db: Queryable,
  due: { now: Date; until: Date; limit: number },
): Promise<PendingRefund[]> {
  const rows = await db.many<RefundRow>(sql`
    with due as (
      select merchant_id, refund_id from checkout.refunds
      where status = 'pending' and lease_until <= ${due.now}
      order by lease_until limit ${due.limit} for no key update skip locked
    )
    update checkout.refunds r set lease_until = ${due.until}, asking = true from due
    where r.merchant_id = due.merchant_id and r.refund_id = due.refund_id
    returning r.*`);
  return rows.map(toPending);
}

export type RefundFilter = {
  merchantId: string;
  paymentId: PaymentId | null;
  merchantOrderId: string | null;
  status: string | null;
  createdFrom: Date | null;
  createdTo: Date | null;
  before: RefundId | null;
  limit: number;
};

/** Newest first. */
export async function listRefunds(db: Queryable, filter: RefundFilter): Promise<Refund[]> {
  const rows = await db.many<RefundRow>(listStatement(filter));
  return rows.map(toRefund);
}

function listStatement(filter: RefundFilter): Statement {
  const { from, below } = idRange(filter);
  if (filter.paymentId !== null || filter.merchantOrderId !== null) {
    // The payments come first, and their refunds by their ids, whatever the plan.
    return sql`
      select * from checkout.refunds
      where merchant_id = ${filter.merchantId} and payment_id = any (array(
          select ${filter.paymentId}::uuid where ${filter.merchantOrderId}::text is null
          union all
          select payment_id from checkout.payments
          where merchant_id = ${filter.merchantId} and merchant_order_id = ${filter.merchantOrderId}
            and (${filter.paymentId}::uuid is null or payment_id = ${filter.paymentId}::uuid)))
        and (${filter.before}::uuid is null or refund_id < ${filter.before}::uuid)
        and (${filter.status}::text is null or status = ${filter.status}::text)
        and (${filter.createdFrom}::timestamptz is null or created_at >= ${filter.createdFrom}::timestamptz)
        and (${filter.createdTo}::timestamptz is null or created_at < ${filter.createdTo}::timestamptz)
      order by refund_id desc limit ${filter.limit}`;
  }
  if (filter.status !== null) {
    return sql`
      select * from checkout.refunds
      where merchant_id = ${filter.merchantId} and status = ${filter.status}
        and refund_id >= ${from} and refund_id < ${below}
        and (${filter.createdFrom}::timestamptz is null or created_at >= ${filter.createdFrom}::timestamptz)
        and (${filter.createdTo}::timestamptz is null or created_at < ${filter.createdTo}::timestamptz)
      order by refund_id desc limit ${filter.limit}`;
  }
  return sql`
    select * from checkout.refunds
    where merchant_id = ${filter.merchantId} and refund_id >= ${from} and refund_id < ${below}
      and (${filter.createdFrom}::timestamptz is null or created_at >= ${filter.createdFrom}::timestamptz)
      and (${filter.createdTo}::timestamptz is null or created_at < ${filter.createdTo}::timestamptz)
    order by refund_id desc limit ${filter.limit}`;
}

function columnsOf(refund: Refund) {
  return {
    settledAt: refund.status === 'pending' ? null : refund.settledAt,
    leaseUntil: refund.status === 'pending' ? refund.leaseUntil : null,
    rrn: refund.status === 'succeeded' ? refund.rrn : null,
    cancelParty: refund.status === 'canceled' ? 'acquirer' : null,
    cancelReason: refund.status === 'canceled' ? refund.reasonCanceled : null,
  };
}

function toPending(row: RefundRow): PendingRefund {
  const refund = toRefund(row);
  if (refund.status !== 'pending') throw new Error(`refund ${refund.id} is ${refund.status}`);
  return refund;
}

function toRefund(row: RefundRow): Refund {
  const shared = {
    merchantId: row.merchantId,
    id: row.refundId,
    paymentId: row.paymentId,
    terminalId: row.terminalId,
    amount: { minor: row.amount, currency: row.currency },
    reason: row.reason,
    description: row.description,
    metadata: row.metadata,
    createdAt: row.createdAt,
    test: row.test,
    version: row.version,
  };
  if (row.status === 'pending' && row.leaseUntil) {
    return { ...shared, status: 'pending', leaseUntil: row.leaseUntil, inquiries: row.inquiries };
  }
  if (row.status === 'succeeded' && row.settledAt) {
    return { ...shared, status: 'succeeded', settledAt: row.settledAt, rrn: row.rrn };
  }
  if (row.status === 'canceled' && row.settledAt && row.cancelReason) {
    return { ...shared, status: 'canceled', settledAt: row.settledAt, reasonCanceled: row.cancelReason };
  }
  throw new Error(`refund ${row.refundId} is ${row.status} but lacks what goes with it`);
}
