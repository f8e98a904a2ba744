import { type Queryable, sql } from '../../platform/db.ts';

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
    select count(*)::int as count from checkout.contradictions`);
  return count;
}
