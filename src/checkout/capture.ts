import { keepContradiction } from './contradictions.ts';
import type { CheckoutDeps } from './deps.ts';
import type { OperationOutcome } from './domain/acquirer.ts';
import type { Money } from './domain/money.ts';
import { advance, type Payment, type PaymentId, type WaitingForCapture } from './domain/payment.ts';
import { capturePosting, walletCapturePosting } from './domain/posting.ts';
import { codeOf, refuse } from './errors.ts';
import { paymentEvent } from './events.ts';
import { type Answer, awaitFormer, keepAnswer, outcomeUnknown } from './idempotency.ts';
import { leaseMs, postponed, quickInquiryMs } from './inquiries.ts';
import { paymentAnswer } from './present.ts';
import { type Call, claimKey, insertAnswer, type KeyOwner } from './store/idempotency.ts';
import { postForSure } from './store/ledger.ts';
import type { Merchant } from './store/merchants.ts';
import { findPayment, lockPayment, postponeCapture, savePayment, takeCapture } from './store/payments.ts';

export type CaptureWish = { id: PaymentId; amount: Money | undefined };

/** Takes all or part of what was authorised, in the same three steps as a refund. */
export async function capturePayment(
  deps: CheckoutDeps,
  merchant: Merchant,
  call: Call,
  wish: CaptureWish,
  former: KeyOwner | undefined,
): Promise<Answer> {
  if (former) return goOn(deps, call, wish.id, former);
  const at = deps.now();
  const begun = await deps.db.transaction(async (tx): Promise<Payment | 'taken'> => {
    const captureId = deps.newId();
    if (!(await claimKey(tx, call, captureId, at))) return 'taken';
    const before = await lockPayment(tx, merchant.merchantId, wish.id);
    if (!before) throw refuse('payment_not_found');
    if (wish.amount && wish.amount.currency !== before.amount.currency) throw refuse('currency_mismatch');
    const minor = wish.amount?.minor ?? before.amount.minor;
    const leaseUntil = new Date(at.getTime() + leaseMs);
    const asked = advance(before, { type: 'capture_asked', captureId, minor, leaseUntil, at });
    if (!asked.ok)
      throw refuse(asked.refusal === 'not_due' ? 'payment_not_capturable' : codeOf(asked.refusal));
    if (asked.payment.status !== 'waiting_for_capture')
      throw new Error(`payment ${wish.id} skipped its capture`);

    if (asked.payment.walletUserId !== null) {
      const captured = advance(before, { type: 'captured', captureId, minor, at });
      if (!captured.ok || captured.payment.status !== 'succeeded') throw refuse('payment_not_capturable');
      const owner = await deps.survivorOf(tx, asked.payment.walletUserId);
      await savePayment(tx, captured.payment, paymentEvent(deps, before, captured.payment, at));
      await postForSure(tx, walletCapturePosting(captured.payment, owner, minor, merchant), at);
      await insertAnswer(tx, call, paymentAnswer(deps, captured.payment), at);
      return captured.payment;
    }
    await savePayment(tx, asked.payment, paymentEvent(deps, before, asked.payment, at));
    return asked.payment;
  });
  if (begun === 'taken')
    return awaitFormer(deps, call, (owner) => presentSettled(deps, call, wish.id, owner));
  if (begun.status !== 'waiting_for_capture') return paymentAnswer(deps, begun);
  return conclude(deps, { call, since: at, dueAt: null }, begun, await ask(deps, begun));
}

async function ask(deps: CheckoutDeps, payment: WaitingForCapture): Promise<OperationOutcome> {
  if (!payment.asked) throw new Error(`payment ${payment.id} has no capture to ask for`);
  return deps.acquirer.capture({
    reference: payment.asked.captureId,
    authorization: payment.paidAttemptId,
    merchantId: payment.merchantId,
    amount: { minor: payment.asked.minor, currency: payment.amount.currency },
  });
}

/** A merchant who asks; `dueAt` when the job was to ask later. */
type Key = { call: Call; since: Date; dueAt: Date | null };

async function conclude(
  deps: CheckoutDeps,
  key: Key,
  payment: WaitingForCapture,
  outcome: OperationOutcome,
): Promise<Answer> {
  const settled = await settleCapture(deps, payment, outcome, key);
  if (settled === 'unknown') throw outcomeUnknown(`The capture of payment ${payment.id}`);
  if (settled === 'refused') throw refuse('capture_declined');
  return settled;
}

/** Writes the outcome of a capture down, once. */
async function settleCapture(
  deps: CheckoutDeps,
  payment: WaitingForCapture,
  outcome: OperationOutcome,
  key?: Key,
): Promise<Answer | 'refused' | 'unknown'> {
  const merchant = await deps.merchants.find(payment.merchantId);
  if (!merchant || !payment.asked) throw new Error(`capture of payment ${payment.id} is not known`);
  const { captureId, leaseUntil } = payment.asked;
  return deps.db.transaction(async (tx): Promise<Answer | 'refused' | 'unknown'> => {
    const answerFor = async (taken: Payment) =>
      key
        ? keepAnswer(deps, tx, key.call, paymentAnswer(deps, taken), key.since)
        : paymentAnswer(deps, taken);
    const before = await lockPayment(tx, payment.merchantId, payment.id);
    if (!before) throw new Error(`payment ${payment.id} is gone`);
    const at = deps.now();
    if (before.status === 'succeeded' && before.captureId === captureId) return answerFor(before);
    if (before.status !== 'waiting_for_capture' || before.asked?.captureId !== captureId) {
      const { merchantId, id: paymentId } = before;
      if (outcome.kind === 'done')
        await keepContradiction(deps, tx, { merchantId, kind: 'capture', reference: captureId, paymentId });
      return 'refused';
    }
    // One that did not get through is sent again, by the same key or by the job: the authorisation still stands.
    if (outcome.kind === 'unknown' || outcome.kind === 'failed') {
      if (before.asked.leaseUntil.getTime() !== leaseUntil.getTime()) return 'unknown';
      const next = postponed(at, before.asked.inquiries, key?.dueAt);
      await postponeCapture(tx, { merchantId: payment.merchantId, id: payment.id, ...next });
      return 'unknown';
    }
    const { minor } = before.asked;
    const next = advance(
      before,
      outcome.kind === 'done' ? { type: 'captured', captureId, minor, at } : { type: 'capture_refused', at },
    );
    if (!next.ok)
      throw new Error(`payment ${payment.id} cannot take the outcome of its capture: ${next.refusal}`);
    await savePayment(tx, next.payment, paymentEvent(deps, before, next.payment, at));
    if (next.payment.status !== 'succeeded') return 'refused';
    await postForSure(tx, capturePosting(next.payment, next.payment, minor, merchant), at);
    return answerFor(next.payment);
  });
}

/** The same key again: its capture is settled, somebody is at it, or it is ours to go on with. */
async function goOn(deps: CheckoutDeps, call: Call, id: PaymentId, former: KeyOwner): Promise<Answer> {
  const answer = await presentSettled(deps, call, id, former);
  if (answer) return answer;
  const now = deps.now();
  const until = new Date(now.getTime() + leaseMs);
  const capture = { merchantId: call.merchantId, id, captureId: former.objectId };
  const taken = await takeCapture(deps.db, { ...capture, now, until });
  if (!taken) return awaitFormer(deps, call, (owner) => presentSettled(deps, call, id, owner));
  const { payment, dueAt } = taken;
  const outcome = await resume(deps, payment, { sendWithinMs: quickInquiryMs });
  return conclude(deps, { call, since: former.createdAt, dueAt }, payment, outcome);
}

/** Undefined while it is asked about. One that was not taken was declined, whatever another key has taken since. */
async function presentSettled(
  deps: CheckoutDeps,
  call: Call,
  id: PaymentId,
  { objectId: captureId, createdAt }: KeyOwner,
): Promise<Answer | undefined> {
  const payment = await findPayment(deps.db, call.merchantId, id);
  if (!payment) throw new Error(`key of a capture without its payment ${id}`);
  if (payment.status === 'waiting_for_capture' && payment.asked?.captureId === captureId) return undefined;
  if (payment.status !== 'succeeded' || payment.captureId !== captureId) throw refuse('capture_declined');
  return keepAnswer(deps, deps.db, call, paymentAnswer(deps, payment), createdAt);
}

/** What the job does with a capture that it has taken up. */
export async function askAboutCapture(deps: CheckoutDeps, payment: WaitingForCapture): Promise<void> {
  await settleCapture(deps, payment, await resume(deps, payment));
}

/** Asks what became of a capture before it is sent again under the same reference. */
async function resume(
  deps: CheckoutDeps,
  payment: WaitingForCapture,
  { sendWithinMs = Number.POSITIVE_INFINITY } = {},
): Promise<OperationOutcome> {
  if (!payment.asked) throw new Error(`payment ${payment.id} has no capture to ask about`);
  const begunAt = performance.now();
  const outcome = await deps.acquirer.inquireOperation({
    reference: payment.asked.captureId,
    merchantId: payment.merchantId,
  });
  if (outcome.kind !== 'failed') return outcome;
  return performance.now() - begunAt > sendWithinMs ? { kind: 'unknown' } : ask(deps, payment);
}
