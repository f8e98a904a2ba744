import { randomUUID } from 'node:crypto';
import { type Queryable, sql, type Transaction } from '../../platform/db.ts';
import type { Posting } from '../domain/posting.ts';

/** Posts a transaction; false, and nothing done, when an account would fall below its floor. */
export async function post(tx: Transaction, posting: Posting, at: Date): Promise<boolean> {
  const { lines } = posting;
  const { posted } = await tx.one<{ posted: boolean }>(sql`
    select checkout.post(${posting.merchantId}, ${randomUUID()}::uuid, ${posting.kind}, ${posting.reference}::uuid,
      ${posting.currency}, ${at}, ${lines.map((line) => line.owner)}::text[],
      ${lines.map((line) => line.kind)}::text[], ${lines.map((line) => line.minor)}::bigint[],
      ${lines.map((line) => line.floor)}::bigint[]) as posted`);
  return posted;
}

/** For postings that cannot be refused: money that has come, or goes back where it came from. */
export async function postForSure(tx: Transaction, posting: Posting, at: Date): Promise<void> {
  if (!(await post(tx, posting, at)))
    throw new Error(`posting ${posting.kind} of ${posting.reference} was refused`);
}

export type Balance = { currency: string; available: bigint; onHold: bigint };

export async function listBalances(db: Queryable, merchantId: string): Promise<Balance[]> {
  return db.many<Balance>(sql`
    select currency, coalesce(sum(balance) filter (where kind = 'merchant_available'), 0)::bigint as available,
      coalesce(sum(balance) filter (where kind = 'merchant_refund_hold'), 0)::bigint as on_hold
    from checkout.ledger_accounts
    where owner = ${merchantId} and kind in ('merchant_available', 'merchant_refund_hold')
    group by currency order by currency`);
}

/** The wallets of a person that have something in them. */
export async function listWallets(
  db: Queryable,
  userId: string,
): Promise<{ currency: string; balance: bigint }[]> {
  return db.many(sql`
    select currency, balance from checkout.ledger_accounts
    where owner = ${userId} and kind = 'wallet' and balance > 0 order by currency`);
}
