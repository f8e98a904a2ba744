import { type Queryable, sql, type Transaction } from '../../platform/db.ts';
import type { OneTimeCode } from '../domain/one-time-code.ts';

/** Whose code it is: only this browser can prove that it holds this phone. */
export type CodeOwner = { phone: string; browserHash: Buffer };

/** From now on the only code of this phone and browser; the same instant twice is the same row. */
export async function insertCode(
  db: Queryable,
  owner: CodeOwner,
  code: { codeHash: Buffer; createdAt: Date; expiresAt: Date; knownDevice: boolean },
): Promise<void> {
  await db.run(sql`
    insert into identity.one_time_codes (phone, browser_hash, code_hash, created_at, expires_at, known_device)
    values (${owner.phone}, ${owner.browserHash}, ${code.codeHash}, ${code.createdAt}, ${code.expiresAt},
      ${code.knownDevice})
    on conflict (phone, browser_hash, created_at) do update set
      code_hash = excluded.code_hash, expires_at = excluded.expires_at, known_device = excluded.known_device,
      attempts = 0, used_at = null`);
}

/** `since` spares the partitions in which no code can be alive any more. */
export async function findNewestCode(
  db: Queryable,
  owner: CodeOwner,
  since: Date,
): Promise<OneTimeCode | undefined> {
  return db.maybeOne<OneTimeCode>(sql`
    select code_hash, created_at, expires_at, attempts, used_at, known_device from identity.one_time_codes
    where phone = ${owner.phone} and browser_hash = ${owner.browserHash} and created_at >= ${since}
    order by created_at desc limit 1`);
}

/** The same, held until the transaction ends, so that guesses at one code are counted one after the other. */
export async function lockNewestCode(
  tx: Transaction,
  owner: CodeOwner,
  since: Date,
): Promise<OneTimeCode | undefined> {
  return tx.maybeOne<OneTimeCode>(sql`
    select code_hash, created_at, expires_at, attempts, used_at, known_device from identity.one_time_codes
    where phone = ${owner.phone} and browser_hash = ${owner.browserHash} and created_at >= ${since}
    order by created_at desc limit 1
    for update`);
}

/** A guess is one more attempt at the code and one more failure of the phone, until it turns out to be right. */
export async function countGuess(
  tx: Transaction,
  owner: CodeOwner,
  guess: { createdAt: Date; failuresKey: string; at: Date; forgottenAt: Date },
): Promise<void> {
  await tx.run(sql`
    with attempt as (
      update identity.one_time_codes set attempts = attempts + 1
      where phone = ${owner.phone} and browser_hash = ${owner.browserHash} and created_at = ${guess.createdAt}
    )
    update identity.budgets set
      hits = hits[greatest(cardinality(hits) - 48, 1):] || ${guess.at}::timestamptz,
      expires_at = ${guess.forgottenAt}
    where key = ${guess.failuresKey}`);
}

/**
 * Uses the code up, forgets the failures and, for a stranger, counts the success, all in one. False when somebody
 * else was faster: of any number of right guesses at once only one gets true.
 */
export async function useCode(
  db: Queryable,
  owner: CodeOwner,
  use: {
    createdAt: Date;
    at: Date;
    failuresKey: string;
    conversion: { prefix: string; slot: Date } | undefined;
  },
): Promise<boolean> {
  const used = await db.maybeOne(sql`
    with used as (
      update identity.one_time_codes set used_at = ${use.at}
      where phone = ${owner.phone} and browser_hash = ${owner.browserHash} and created_at = ${use.createdAt}
        and used_at is null
      returning phone
    ), forgotten as (
      delete from identity.budgets where key = ${use.failuresKey} and exists (select from used)
    ), counted as (
      insert into identity.sms_conversion as c (prefix, slot, verified)
      select ${use.conversion?.prefix}::text, ${use.conversion?.slot}::timestamptz, 1 from used
      where ${use.conversion !== undefined}::boolean
      on conflict (prefix, slot) do update set verified = c.verified + 1
    )
    select phone from used`);
  return used !== undefined;
}

/** Takes back a code that never left the house. One sent before it is the newest again, and works if it is alive. */
export async function withdrawCode(db: Queryable, owner: CodeOwner, createdAt: Date): Promise<void> {
  await db.run(sql`
    delete from identity.one_time_codes
    where phone = ${owner.phone} and browser_hash = ${owner.browserHash} and created_at = ${createdAt}`);
}
