import { type Queryable, sql, type Transaction } from '../../platform/db.ts';
import type { AttemptId, CardDetails, PaymentId } from '../domain/payment.ts';

export type Attempt = {
  merchantId: string;
  paymentId: PaymentId;
  attemptId: AttemptId;
  status: 'running' | 'challenge' | 'unknown' | 'approved' | 'declined' | 'failed';
  card: CardDetails | null;
  challengeUrl: string | null;
  startedAt: Date;
  inquiries: number;
  /** Null once it is settled. */
  inquireAt: Date | null;
};

export type AttemptKey = { merchantId: string; paymentId: PaymentId; attemptId: AttemptId };

export async function insertAttempt(
  tx: Transaction,
  attempt: AttemptKey & {
    method: 'card' | 'wallet';
    card: CardDetails | null;
    startedAt: Date;
    inquireAt: Date;
  },
): Promise<void> {
  await tx.run(sql`
    insert into checkout.attempts (merchant_id, payment_id, attempt_id, method, status, card, started_at, inquire_at)
    values (${attempt.merchantId}, ${attempt.paymentId}, ${attempt.attemptId}, ${attempt.method}, 'running',
      ${JSON.stringify(attempt.card)}::jsonb, ${attempt.startedAt}, ${attempt.inquireAt})`);
}

export async function findAttempt(db: Queryable, key: AttemptKey): Promise<Attempt | undefined> {
  return db.maybeOne<Attempt>(sql`
    select merchant_id, payment_id, attempt_id, status, card, challenge_url, started_at, inquiries, inquire_at
    from checkout.attempts
    where merchant_id = ${key.merchantId} and payment_id = ${key.paymentId} and attempt_id = ${key.attemptId}`);
}

/** Every try to pay, oldest first. */
export async function listAttemptsOfPayment(
  db: Queryable,
  payment: { merchantId: string; id: PaymentId },
): Promise<
  (Pick<Attempt, 'attemptId' | 'status' | 'card'> & {
    method: 'card' | 'wallet';
    reason: string | null;
    startedAt: Date;
    settledAt: Date | null;
    reversal: 'due' | 'done' | 'refused' | null;
  })[]
> {
  return db.many(sql`
    select attempt_id, method, status, card, reason, started_at, settled_at, reversal from checkout.attempts
    where merchant_id = ${payment.merchantId} and payment_id = ${payment.id} order by started_at, attempt_id`);
}

export async function lockAttempt(tx: Transaction, key: AttemptKey): Promise<Attempt | undefined> {
  return tx.maybeOne<Attempt>(sql`
    select merchant_id, payment_id, attempt_id, status, card, challenge_url, started_at, inquiries, inquire_at
    from checkout.attempts
    where merchant_id = ${key.merchantId} and payment_id = ${key.paymentId} and attempt_id = ${key.attemptId}
    for no key update`);
}

/** The outcome is not known yet: when to ask for it. */
export async function keepAttemptOpen(
  tx: Transaction,
  key: AttemptKey,
  open: { status: 'challenge' | 'unknown'; challengeUrl: string | null; until: Date; inquiries: number },
): Promise<void> {
  await tx.run(sql`
    update checkout.attempts
    set status = ${open.status}, challenge_url = ${open.challengeUrl}, inquire_at = ${open.until},
      inquiries = ${open.inquiries}
    where merchant_id = ${key.merchantId} and payment_id = ${key.paymentId} and attempt_id = ${key.attemptId}`);
}

export async function settleAttempt(
  tx: Transaction,
  key: AttemptKey,
  settled: {
    status: 'approved' | 'declined' | 'failed';
    reason: string | null;
    reversal: 'due' | null;
    at: Date;
  },
): Promise<void> {
  await tx.run(sql`
    update checkout.attempts
    set status = ${settled.status}, reason = ${settled.reason}, settled_at = ${settled.at}, inquire_at = null,
      inquiries = 0, challenge_url = null, reversal = ${settled.reversal},
      reverse_at = ${settled.reversal && settled.at}
    where merchant_id = ${key.merchantId} and payment_id = ${key.paymentId} and attempt_id = ${key.attemptId}`);
}

/** The money of an approved attempt has to go back. */
export async function askForReversal(tx: Transaction, key: AttemptKey, at: Date): Promise<void> {
  await tx.run(sql`
    update checkout.attempts set reversal = 'due', reverse_at = ${at}
    where merchant_id = ${key.merchantId} and payment_id = ${key.paymentId} and attempt_id = ${key.attemptId}
      and status = 'approved' and reversal is null`);
}

export async function endReversal(
  db: Queryable,
  key: AttemptKey,
  reversal: 'done' | 'refused',
): Promise<void> {
  await db.run(sql`
    update checkout.attempts set reversal = ${reversal}, reverse_at = null
    where merchant_id = ${key.merchantId} and payment_id = ${key.paymentId} and attempt_id = ${key.attemptId}
      and reversal = 'due'`);
}

export async function postponeReversal(db: Queryable, key: AttemptKey, until: Date): Promise<void> {
  await db.run(sql`
    update checkout.attempts set reverse_at = ${until}, inquiries = inquiries + 1
    where merchant_id = ${key.merchantId} and payment_id = ${key.paymentId} and attempt_id = ${key.attemptId}
      and reversal = 'due'`);
}

/** Attempts that it is time to ask about; taking them moves that time on, so that no two nodes ask at once. */
export async function takeAttemptsToAsk(
  db: Queryable,
  due: { now: Date; until: Date; limit: number },
): Promise<AttemptKey[]> {
  return db.many<AttemptKey>(sql`
    with due as (
      select merchant_id, payment_id, attempt_id from checkout.attempts
      where inquire_at <= ${due.now} order by inquire_at limit ${due.limit} for no key update skip locked
    )
    update checkout.attempts a set inquire_at = ${due.until} from due
    where a.merchant_id = due.merchant_id and a.payment_id = due.payment_id and a.attempt_id = due.attempt_id
    returning a.merchant_id, a.payment_id, a.attempt_id`);
}

export type Reversal = AttemptKey & { inquiries: number };

/** The same for money that has to go back. */
export async function takeReversals(
  db: Queryable,
  due: { now: Date; until: Date; limit: number },
): Promise<Reversal[]> {
  return db.many<Reversal>(sql`
    with due as (
      select merchant_id, payment_id, attempt_id from checkout.attempts
      where reverse_at <= ${due.now} order by reverse_at limit ${due.limit} for no key update skip locked
    )
    update checkout.attempts a set reverse_at = ${due.until} from due
    where a.merchant_id = due.merchant_id and a.payment_id = due.payment_id and a.attempt_id = due.attempt_id
    returning a.merchant_id, a.payment_id, a.attempt_id, a.inquiries`);
}
