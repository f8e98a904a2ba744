import type { Transaction } from '../platform/db.ts';
import type { CheckoutDeps } from './deps.ts';
import {
  advance,
  type Payment,
  type PaymentEvent,
  type PaymentId,
  type PaymentRefusal,
} from './domain/payment.ts';
import { walletReleasePosting } from './domain/posting.ts';
import { codeOf, refuse } from './errors.ts';
import { paymentEvent } from './events.ts';
import type { Answer } from './idempotency.ts';
import { awaitFormer } from './idempotency.ts';
import { paymentAnswer } from './present.ts';
import { askForReversal } from './store/attempts.ts';
import { type Call, claimKey, insertAnswer, type KeyOwner } from './store/idempotency.ts';
import { postForSure } from './store/ledger.ts';
import { findPayment, lockPayment, savePayment } from './store/payments.ts';

/** The merchant gives a payment up. */
export async function cancelPayment(
  deps: CheckoutDeps,
  call: Call,
  id: PaymentId,
  former: KeyOwner | undefined,
): Promise<Answer> {
  const asItStands = async (): Promise<Answer> => {
    const payment = await findPayment(deps.db, call.merchantId, id);
    if (!payment) throw new Error(`key of a cancellation without its payment ${id}`);
    return { ...paymentAnswer(deps, payment), replayed: true };
  };
  if (former) return asItStands();
  // One whose time is up has expired, and was not canceled by the merchant.
  await currentPayment(deps, call.merchantId, id);
  const canceled = await deps.db.transaction(async (tx) => {
    const at = deps.now();
    if (!(await claimKey(tx, call, id, at))) return 'taken';
    const ended = await endPayment(deps, tx, call.merchantId, id, { type: 'canceled', by: 'merchant', at });
    if (ended === 'not_found') throw refuse('payment_not_found');
    if (!ended.ok) throw refuse(codeOf(ended.refusal));
    await insertAnswer(tx, call, paymentAnswer(deps, ended.payment), at);
    return ended.payment;
  });
  return canceled === 'taken' ? awaitFormer(deps, call, asItStands) : paymentAnswer(deps, canceled);
}

type Ending = PaymentEvent & { type: 'canceled' | 'expired' | 'not_captured_in_time' };

/** Ends a payment without money: what was held for it goes back, and who held it is asked to let go. */
export async function endPayment(
  deps: CheckoutDeps,
  tx: Transaction,
  merchantId: string,
  id: PaymentId,
  ending: Ending,
): Promise<{ ok: true; payment: Payment } | { ok: false; refusal: PaymentRefusal } | 'not_found'> {
  const before = await lockPayment(tx, merchantId, id);
  if (!before) return 'not_found';
  const ended = advance(before, ending);
  if (!ended.ok) return ended;
  await savePayment(tx, ended.payment, paymentEvent(deps, before, ended.payment, ending.at));
  if (before.status !== 'waiting_for_capture') return ended;
  if (before.walletUserId !== null) {
    const owner = await deps.survivorOf(tx, before.walletUserId);
    await postForSure(tx, walletReleasePosting(before, owner), ending.at);
  } else {
    const key = { merchantId, paymentId: id, attemptId: before.paidAttemptId };
    await askForReversal(tx, key, ending.at);
  }
  return ended;
}

/** The payment as it now stands: one whose time is up is ended by whoever sees it first, be it a reader or the job. */
export async function currentPayment(
  deps: CheckoutDeps,
  merchantId: string,
  id: PaymentId,
): Promise<Payment | undefined> {
  const payment = await findPayment(deps.db, merchantId, id);
  const at = deps.now();
  if (payment?.status !== 'pending' || payment.openAttemptId || at < payment.expiresAt) return payment;
  const ended = await deps.db.transaction((tx) =>
    endPayment(deps, tx, merchantId, id, { type: 'expired', at }),
  );
  return ended !== 'not_found' && ended.ok ? ended.payment : findPayment(deps.db, merchantId, id);
}
