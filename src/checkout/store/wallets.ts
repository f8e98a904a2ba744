import { type Queryable, sql, type Transaction } from '../../platform/db.ts';

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
