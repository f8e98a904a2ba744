import { type Queryable, sql, type Transaction } from '../../platform/db.ts';

export type Contradiction = {
  merchantId: string;
  kind: 'refund' | 'capture';
  reference: string;
  paymentId: string;
};

export async function insertContradiction(db: Queryable, found: Contradiction, at: Date): Promise<void> {
  await db.run(sql`
    insert into checkout.contradictions (merchant_id, reference, kind, payment_id, found_at)
    values (${found.merchantId}, ${found.reference}, ${found.kind}, ${found.paymentId}, ${at})
    on conflict do nothing`);
}

export async function countContradictions(db: Queryable): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    select count(*)::int as count from checkout.contradictions where resolved_at is null`);
  return count;
}

/** What needs a person: a contradiction, or a reversal that the acquirer refuses. */
export type Alarm = {
  kind: Contradiction['kind'] | 'reversal';
  /** Ours at the acquirer: the refund, the capture, or the attempt that was to be reversed. */
  reference: string;
  resolvedAt: Date | null;
  resolvedBy: string | null;
  resolution: string | null;
};

export async function listAlarmsOfPayment(
  db: Queryable,
  payment: { merchantId: string; id: string },
): Promise<Alarm[]> {
  return db.many<Alarm>(sql`
    select kind, reference, resolved_at, resolved_by, resolution from checkout.contradictions
    where merchant_id = ${payment.merchantId} and payment_id = ${payment.id}
    union all
    select 'reversal', attempt_id, resolved_at, resolved_by, resolution from checkout.attempts
    where merchant_id = ${payment.merchantId} and payment_id = ${payment.id} and reversal = 'refused'
    order by kind, reference`);
}

/** Those of the payment that nobody has resolved before. */
export async function resolveAlarms(
  tx: Transaction,
  payment: { merchantId: string; id: string },
  { at, by, note }: { at: Date; by: string; note: string },
): Promise<Pick<Alarm, 'kind' | 'reference'>[]> {
  return tx.many(sql`
    with contradictions as (
      update checkout.contradictions set resolved_at = ${at}, resolved_by = ${by}, resolution = ${note}
      where merchant_id = ${payment.merchantId} and payment_id = ${payment.id} and resolved_at is null
      returning kind, reference
    ), reversals as (
      update checkout.attempts set resolved_at = ${at}, resolved_by = ${by}, resolution = ${note}
      where merchant_id = ${payment.merchantId} and payment_id = ${payment.id} and reversal = 'refused'
        and resolved_at is null
      returning 'reversal' as kind, attempt_id as reference
    )
    select kind, reference from contradictions union all select kind, reference from reversals
    order by kind, reference`);
}
