import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { type Queryable, sql, type Transaction } from '../../platform/db.ts';
import type { Order, Pending } from '../domain/payment.ts';
import { refuse } from '../errors.ts';
import type { ObjectEvent } from './payments.ts';

export type Call = {
  merchantId: string;
  key: string;
  call: 'create_payment' | 'capture_payment' | 'cancel_payment' | 'create_refund';
  fingerprint: Buffer;
};
export type StoredAnswer = { call: string; fingerprint: Buffer; status: number; body: string };
export type KeyOwner = { call: Call['call']; fingerprint: Buffer; objectId: string; createdAt: Date };

/** How long an answer is given again byte for byte. */
export const answersKeptMs = 72 * 3600_000;

/**
 * Creates a payment with everything that belongs to it in one statement: its key, its event, and the answer to give
 * again. Nothing happens, and false is said, when the key was used before; a request with the same key that is under way
 * is waited for, because the key is unique.
 */
export async function insertPaymentOnce(
  db: Queryable,
  call: Call,
  payment: Order & Pending,
  event: ObjectEvent,
  body: string,
): Promise<boolean> {
  const now = payment.createdAt;
  const statement = sql`
    with claimed as (
      insert into checkout.idempotency_keys (merchant_id, key, call, fingerprint, object_id, created_at)
      values (${call.merchantId}, ${call.key}, ${call.call}, ${call.fingerprint}, ${payment.id}, ${now})
      on conflict do nothing
      returning merchant_id, key, object_id
    ), ours as (
      select * from claimed
      where checkout.key_is_unanswered(merchant_id, key, ${new Date(now.getTime() - answersKeptMs)})
    ), payment as (
      insert into checkout.payments (merchant_id, payment_id, terminal_id, status, amount, currency, capture,
        description, merchant_order_id, metadata, return_url, locale, created_at, expires_at, test, version)
      select merchant_id, object_id, ${payment.terminalId}, 'pending', ${payment.amount.minor},
        ${payment.amount.currency}, ${payment.capture}, ${payment.description}, ${payment.merchantOrderId},
        ${JSON.stringify(payment.metadata)}::jsonb, ${payment.returnUrl}, ${payment.locale}, ${now},
        ${payment.expiresAt}, ${payment.test}, ${payment.version}
      from ours
    ), event as (
      insert into checkout.events (merchant_id, object_id, sequence, event_id, type, payload, created_at)
      select merchant_id, object_id, ${payment.version}, ${event.eventId}, ${event.type}, ${event.payload}, ${now}
      from ours
    )
    insert into checkout.answers (merchant_id, key, created_at, call, fingerprint, status, body)
    select merchant_id, key, ${now}, ${call.call}, ${call.fingerprint}, 200, ${body} from ours`;
  try {
    return (await db.run(statement)) === 1;
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === 'TG001') return false;
    throw asKeyInUse(error);
  }
}

/** Turns the wait for a key that another request holds, once it has taken too long, into the answer for it. */
function asKeyInUse(error: unknown): unknown {
  return error instanceof pg.DatabaseError && error.code === '55P03' ? keyInUse() : error;
}

export function keyInUse() {
  return refuse('idempotency_key_in_use', undefined, { headers: { 'retry-after': '1' } });
}

/** Takes the key for an object that is about to be made; false when it is taken already, or was answered. */
export async function claimKey(tx: Transaction, call: Call, objectId: string, now: Date): Promise<boolean> {
  const claimed = await tx
    .run(sql`
      insert into checkout.idempotency_keys (merchant_id, key, call, fingerprint, object_id, created_at)
      values (${call.merchantId}, ${call.key}, ${call.call}, ${call.fingerprint}, ${objectId}, ${now})
      on conflict do nothing`)
    .catch((error: unknown) => {
      throw asKeyInUse(error);
    });
  if (claimed === 0) return false;
  // The insert may have waited for a request that was refused. Only a statement begun after it sees that answer.
  if (!(await findAnswer(tx, call, now))) return true;
  await releaseKey(tx, call);
  return false;
}

/** Keeps a refusal as the answer to its key; false when meanwhile something was done, or answered, under the key. */
export async function insertRefusal(
  tx: Transaction,
  call: Call,
  answer: { status: number; body: string },
  now: Date,
): Promise<boolean> {
  if (!(await claimKey(tx, call, randomUUID(), now))) return false;
  await insertAnswer(tx, call, answer, now);
  await releaseKey(tx, call);
  return true;
}

async function releaseKey(tx: Transaction, call: Call): Promise<void> {
  await tx.run(sql`
    delete from checkout.idempotency_keys where merchant_id = ${call.merchantId} and key = ${call.key}`);
}

export async function findKeyOwner(db: Queryable, call: Call): Promise<KeyOwner | undefined> {
  return db.maybeOne<KeyOwner>(sql`
    select call, fingerprint, object_id, created_at from checkout.idempotency_keys
    where merchant_id = ${call.merchantId} and key = ${call.key}`);
}

export async function findAnswer(db: Queryable, call: Call, now: Date): Promise<StoredAnswer | undefined> {
  return db.maybeOne<StoredAnswer>(sql`
    select call, fingerprint, status, body from checkout.answers
    where merchant_id = ${call.merchantId} and key = ${call.key}
      and created_at > ${new Date(now.getTime() - answersKeptMs)}`);
}

/** Keeps an answer under the time of its key, so that there is one; false when there was one before. */
export async function insertAnswer(
  db: Queryable,
  call: Call,
  answer: { status: number; body: string },
  keySince: Date,
): Promise<boolean> {
  const inserted = await db.run(sql`
    insert into checkout.answers (merchant_id, key, created_at, call, fingerprint, status, body)
    values (${call.merchantId}, ${call.key}, ${keySince}, ${call.call}, ${call.fingerprint}, ${answer.status},
      ${answer.body})
    on conflict do nothing`);
  return inserted === 1;
}
