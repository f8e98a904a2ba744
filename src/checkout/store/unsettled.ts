import { type Queryable, sql } from '../../platform/db.ts';

export type Unsettled = { kind: 'attempt' | 'capture' | 'refund' | 'reversal'; count: number; oldest: Date };

/** What the acquirer has not given an outcome of yet, and since when the oldest of each kind waits for it. */
export async function inspectUnsettled(db: Queryable): Promise<Unsettled[]> {
  return db.many<Unsettled>(sql`
    select kind, count(*)::int as count, min(since) as oldest from (
      select 'attempt' as kind, started_at as since from checkout.attempts where inquire_at is not null
      union all
      -- Nothing else happens to a payment meanwhile, so that its last event is the one of the capture.
      select 'capture', e.created_at
      from checkout.payments p
      join checkout.events e
        on e.merchant_id = p.merchant_id and e.object_id = p.payment_id and e.sequence = p.version
      where p.capture_lease_until is not null
      union all
      select 'refund', created_at from checkout.refunds where status = 'pending'
      union all
      select 'reversal', greatest(a.settled_at, p.canceled_at)
      from checkout.attempts a
      join checkout.payments p on p.merchant_id = a.merchant_id and p.payment_id = a.payment_id
      where a.reverse_at is not null
    ) as unsettled
    group by kind order by kind`);
}
