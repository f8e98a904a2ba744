import { type Queryable, sql, type Transaction } from '../../platform/db.ts';
import type { DeclineReason } from '../domain/acquirer.ts';

export type SandboxAuthorization = {
  merchantId: string;
  reference: string;
  status: 'challenge' | 'approved' | 'declined' | 'failed';
  reason: DeclineReason | null;
  amount: bigint;
  currency: string;
  capture: boolean;
  captured: bigint;
  refunded: bigint;
  reversed: boolean;
  silent: boolean;
  refusesRefunds: boolean;
  threeDSecure: boolean;
  reasonAfterChallenge: DeclineReason | null;
  wrongCodes: number;
  returnUrl: string;
  createdAt: Date;
};

export type SandboxOperation = {
  merchantId: string;
  reference: string;
  kind: 'capture' | 'reverse' | 'refund';
  authorizationReference: string;
  amount: bigint;
  currency: string;
  /** Why it was refused; null when it was done. */
  reason: DeclineReason | null;
  createdAt: Date;
};

/** Which authorization or operation: references belong to a merchant. */
export type Key = { merchantId: string; reference: string };

/** Writes it down, or returns what already stands under its reference, however many try at once. */
export async function bookAuthorization(
  db: Queryable,
  row: Pick<
    SandboxAuthorization,
    | 'merchantId'
    | 'reference'
    | 'status'
    | 'reason'
    | 'amount'
    | 'currency'
    | 'capture'
    | 'captured'
    | 'silent'
    | 'refusesRefunds'
    | 'reasonAfterChallenge'
    | 'returnUrl'
    | 'createdAt'
  >,
): Promise<SandboxAuthorization> {
  return db.one<SandboxAuthorization>(sql`
    insert into checkout.sandbox_authorizations (merchant_id, reference, status, reason, amount, currency, capture,
      captured, silent, refuses_refunds, reason_after_challenge, return_url, created_at)
    values (${row.merchantId}, ${row.reference}, ${row.status}, ${row.reason}, ${row.amount}, ${row.currency},
      ${row.capture}, ${row.captured}, ${row.silent}, ${row.refusesRefunds}, ${row.reasonAfterChallenge},
      ${row.returnUrl}, ${row.createdAt})
    on conflict (merchant_id, reference) do update set reference = excluded.reference
    returning *`);
}

/**
 * What became of an authorization. Who asks about one that has not come is told that it did not happen, so it is
 * written down as failed: a request that was only late must not come true after that, when the customer has paid
 * otherwise. Operations need no such mark: they are sent again under their own reference, and count once.
 */
export async function askForAuthorization(db: Queryable, key: Key, at: Date): Promise<SandboxAuthorization> {
  return db.one<SandboxAuthorization>(sql`
    insert into checkout.sandbox_authorizations (merchant_id, reference, status, amount, currency, capture,
      return_url, created_at)
    values (${key.merchantId}, ${key.reference}, 'failed', 0, '', false, '', ${at})
    on conflict (merchant_id, reference) do update set silent = false
    returning *`);
}

export async function findAuthorization(db: Queryable, key: Key): Promise<SandboxAuthorization | undefined> {
  return db.maybeOne<SandboxAuthorization>(sql`
    select * from checkout.sandbox_authorizations
    where merchant_id = ${key.merchantId} and reference = ${key.reference}`);
}

/** Everything that moves the money of an authorization queues here. */
export async function lockAuthorization(
  tx: Transaction,
  key: Key,
): Promise<SandboxAuthorization | undefined> {
  return tx.maybeOne<SandboxAuthorization>(sql`
    select * from checkout.sandbox_authorizations
    where merchant_id = ${key.merchantId} and reference = ${key.reference} for update`);
}

export async function passChallenge(db: Queryable, key: Key): Promise<void> {
  await db.run(sql`
    update checkout.sandbox_authorizations
    set status = case when reason_after_challenge is null then 'approved' else 'declined' end,
      reason = reason_after_challenge,
      three_d_secure = true,
      captured = case when capture and reason_after_challenge is null then amount else 0 end
    where merchant_id = ${key.merchantId} and reference = ${key.reference} and status = 'challenge'`);
}

/** Counts in the database, so that codes sent in parallel are not one guess. */
export async function countWrongCode(db: Queryable, key: Key, allowed: number): Promise<void> {
  await db.run(sql`
    update checkout.sandbox_authorizations
    set wrong_codes = wrong_codes + 1,
      status = case when wrong_codes + 1 < ${allowed} then status else 'declined' end,
      reason = case when wrong_codes + 1 < ${allowed} then null else '3d_secure_failed' end
    where merchant_id = ${key.merchantId} and reference = ${key.reference} and status = 'challenge'`);
}

/** Ends a challenge as failed, if it has begun by then. */
export async function failChallenge(db: Queryable, key: Key, begunBy: Date): Promise<void> {
  await db.run(sql`
    update checkout.sandbox_authorizations set status = 'declined', reason = '3d_secure_failed'
    where merchant_id = ${key.merchantId} and reference = ${key.reference}
      and status = 'challenge' and created_at <= ${begunBy}`);
}

/** False when something already stands under its reference. */
export async function addOperation(db: Queryable, row: SandboxOperation): Promise<boolean> {
  const added = await db.run(sql`
    insert into checkout.sandbox_operations (merchant_id, reference, kind, authorization_reference, amount,
      currency, reason, created_at)
    values (${row.merchantId}, ${row.reference}, ${row.kind}, ${row.authorizationReference}, ${row.amount},
      ${row.currency}, ${row.reason}, ${row.createdAt})
    on conflict (merchant_id, reference) do nothing`);
  return added === 1;
}

export async function findOperation(db: Queryable, key: Key): Promise<SandboxOperation | undefined> {
  return db.maybeOne<SandboxOperation>(sql`
    select * from checkout.sandbox_operations
    where merchant_id = ${key.merchantId} and reference = ${key.reference}`);
}

export async function moveMoney(
  tx: Transaction,
  key: Key,
  after: { captured: bigint; refunded: bigint; reversed: boolean },
): Promise<void> {
  await tx.run(sql`
    update checkout.sandbox_authorizations
    set captured = ${after.captured}, refunded = ${after.refunded}, reversed = ${after.reversed}
    where merchant_id = ${key.merchantId} and reference = ${key.reference}`);
}
