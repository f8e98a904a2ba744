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

/** All of a person's wallets, also those that are empty now. */
export async function listWalletBalances(
  db: Queryable,
  userId: string,
): Promise<{ currency: string; balance: bigint }[]> {
  return db.many(sql`
    select currency, balance from checkout.ledger_accounts
    where owner = ${userId} and kind = 'wallet' order by currency`);
}

/** Of two top-ups under one reference the second waits for the first, and then finds it. */
export async function lockTopUps(tx: Transaction, reference: string): Promise<void> {
  await tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${reference}, 0))`);
}

/** The top-up that was posted under a reference. */
export async function findTopUp(
  db: Queryable,
  reference: string,
): Promise<{ userId: string; source: string; minor: bigint; currency: string; at: Date } | undefined> {
  return db.maybeOne(sql`
    select wallet.owner as user_id, funding.owner as source, wallet.amount as minor, t.currency, t.created_at as at
    from checkout.ledger_transactions t
    join checkout.ledger_entries wallet on wallet.merchant_id = t.merchant_id
      and wallet.transaction_id = t.transaction_id and wallet.kind = 'wallet'
    join checkout.ledger_entries funding on funding.merchant_id = t.merchant_id
      and funding.transaction_id = t.transaction_id and funding.kind = 'funding'
    where t.merchant_id = '*' and t.kind = 'wallet_topped_up' and t.reference = ${reference}`);
}
