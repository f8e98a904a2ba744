import { keepContradiction } from './contradictions.ts';
import type { CheckoutDeps } from './deps.ts';
import type { OperationOutcome } from './domain/acquirer.ts';
import type { Money } from './domain/money.ts';
import { advance, type Payment, type PaymentId, type WaitingForCapture } from './domain/payment.ts';
import { capturePosting, walletCapturePosting } from './domain/posting.ts';
import { refuse } from './errors.ts';
import { paymentEvent } from './events.ts';
import { type Answer, awaitFormer } from './idempotency.ts';
import { leaseMs, nextInquiryAt } from './inquiries.ts';
import { paymentJson } from './routes/json.ts';
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
  if (former) return goOn(deps, call, wish.id, former.objectId);
  const begun = await deps.db.transaction(async (tx): Promise<Payment | 'taken'> => {
    const at = deps.now();
    const captureId = deps.newId();
    if (!(await claimKey(tx, call, captureId, at))) return 'taken';
    const before = await lockPayment(tx, merchant.merchantId, wish.id);
    if (!before) throw refuse('payment_not_found');
    if (wish.amount && wish.amount.currency !== before.amount.currency) throw refuse('currency_mismatch');
    const minor = wish.amount?.minor ?? before.amount.minor;
    const leaseUntil = new Date(at.getTime() + leaseMs);
    const asked = advance(before, { type: 'capture_asked', captureId, minor, leaseUntil, at });
    if (!asked.ok) throw refuse(asked.refusal === 'not_due' ? 'payment_not_capturable' : asked.refusal);
    if (asked.payment.status !== 'waiting_for_capture')
      throw new Error(`payment ${wish.id} skipped its capture`);

    if (asked.payment.walletUserId !== null) {
      const captured = advance(before, { type: 'captured', captureId, minor, at });
      if (!captured.ok || captured.payment.status !== 'succeeded') throw refuse('payment_not_capturable');
      const owner = await deps.survivorOf(tx, asked.payment.walletUserId);
      await savePayment(tx, captured.payment, paymentEvent(deps, before, captured.payment, at));
      await postForSure(tx, walletCapturePosting(captured.payment, owner, minor, merchant), at);
      await insertAnswer(tx, call, answerOf(deps, captured.payment), at);
      return captured.payment;
    }
    await savePayment(tx, asked.payment, paymentEvent(deps, before, asked.payment, at));
    return asked.payment;
  });
  if (begun === 'taken') return awaitFormer(deps, call);
  if (begun.status !== 'waiting_for_capture') return answerOf(deps, begun);
  return conclude(deps, call, begun, await ask(deps, begun));
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

async function conclude(
  deps: CheckoutDeps,
  call: Call,
  payment: WaitingForCapture,
  outcome: OperationOutcome,
): Promise<Answer> {
  const settled = await settleCapture(deps, payment, outcome, call);
  if (settled === 'unknown') {
    throw refuse('outcome_unknown', `The capture of payment ${payment.id} is not settled.`, {
      headers: { 'retry-after': '1' },
    });
  }
  if (settled === 'refused') throw refuse('capture_declined');
  return answerOf(deps, settled);
}

/** Writes the outcome of a capture down, once. */
async function settleCapture(
  deps: CheckoutDeps,
  payment: WaitingForCapture,
  outcome: OperationOutcome,
  call?: Call,
): Promise<Payment | 'refused' | 'unknown'> {
  const merchant = await deps.merchants.find(payment.merchantId);
  if (!merchant || !payment.asked) throw new Error(`capture of payment ${payment.id} is not known`);
  const { captureId, leaseUntil } = payment.asked;
  return deps.db.transaction(async (tx) => {
    const before = await lockPayment(tx, payment.merchantId, payment.id);
    if (!before) throw new Error(`payment ${payment.id} is gone`);
    const at = deps.now();
    if (before.status === 'succeeded' && before.captureId === captureId) {
      if (call) await insertAnswer(tx, call, answerOf(deps, before), at);
      return before;
    }
    if (before.status !== 'waiting_for_capture' || before.asked?.captureId !== captureId) {
      const { merchantId, id: paymentId } = before;
      if (outcome.kind === 'done')
        await keepContradiction(deps, tx, { merchantId, kind: 'capture', reference: captureId, paymentId });
      return 'refused';
    }
    // One that did not get through is sent again, by the same key or by the job: the authorisation still stands.
    if (outcome.kind === 'unknown' || outcome.kind === 'failed') {
      if (before.asked.leaseUntil.getTime() !== leaseUntil.getTime()) return 'unknown';
      const until = nextInquiryAt(at, before.asked.inquiries);
      await postponeCapture(tx, { merchantId: payment.merchantId, id: payment.id, until });
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
    if (call) await insertAnswer(tx, call, answerOf(deps, next.payment), at);
    return next.payment;
  });
}

/** The same key again, whose capture was taken, is asked about still, or was declined, whatever was taken since. */
async function goOn(deps: CheckoutDeps, call: Call, id: PaymentId, captureId: string): Promise<Answer> {
  const payment = await findPayment(deps.db, call.merchantId, id);
  if (!payment) throw new Error(`key of a capture without its payment ${id}`);
  if (payment.status === 'succeeded' && payment.captureId === captureId) return answerOf(deps, payment);
  if (payment.status !== 'waiting_for_capture' || payment.asked?.captureId !== captureId)
    throw refuse('capture_declined');
  const now = deps.now();
  // A merchant who asks need not wait for the next inquiry, but must not cross one that is under way.
  const patience = payment.asked.inquiries > 0 ? new Date(now.getTime() + 3600_000) : now;
  const until = new Date(now.getTime() + leaseMs);
  const key = { merchantId: payment.merchantId, id: payment.id, captureId };
  const taken = await takeCapture(deps.db, { ...key, now: patience, until });
  return taken ? conclude(deps, call, taken, await resume(deps, taken)) : awaitFormer(deps, call);
}

/** What the job does with a capture that it has taken up. */
export async function askAboutCapture(deps: CheckoutDeps, payment: WaitingForCapture): Promise<void> {
  await settleCapture(deps, payment, await resume(deps, payment));
}

/** Asks what became of a capture before it is sent again under the same reference. */
async function resume(deps: CheckoutDeps, payment: WaitingForCapture): Promise<OperationOutcome> {
  if (!payment.asked) throw new Error(`payment ${payment.id} has no capture to ask about`);
  const outcome = await deps.acquirer.inquireOperation({
    reference: payment.asked.captureId,
    merchantId: payment.merchantId,
  });
  return outcome.kind === 'failed' ? ask(deps, payment) : outcome;
}

function answerOf(deps: CheckoutDeps, payment: Payment): Answer {
  return { status: 200, body: JSON.stringify(paymentJson(deps, payment)) };
}
