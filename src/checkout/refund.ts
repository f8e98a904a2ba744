import type { Transaction } from '../platform/db.ts';
import { keepContradiction } from './contradictions.ts';
import type { CheckoutDeps } from './deps.ts';
import type { OperationOutcome } from './domain/acquirer.ts';
import { formatMoney, type Money } from './domain/money.ts';
import type { PaymentId } from './domain/payment.ts';
import { refundableOf } from './domain/payment.ts';
import {
  refundCanceledPosting,
  refundHoldPosting,
  refundSucceededPosting,
  walletRefundPosting,
} from './domain/posting.ts';
import {
  checkRefund,
  holdRefund,
  type PendingRefund,
  type Refund,
  type RefundId,
  refundAtOnce,
  settleHeldRefund,
} from './domain/refund.ts';
import { refuse } from './errors.ts';
import { paymentEvent, refundEvent } from './events.ts';
import { type Answer, awaitFormer, keepAnswer, outcomeUnknown } from './idempotency.ts';
import { leaseMs, postponed, quickInquiryMs } from './inquiries.ts';
import { refundJson } from './present.ts';
import { type Call, claimKey, insertAnswer, type KeyOwner } from './store/idempotency.ts';
import { post, postForSure } from './store/ledger.ts';
import type { Merchant } from './store/merchants.ts';
import { findPayment, lockPayment, savePayment } from './store/payments.ts';
import {
  findRefund,
  insertRefund,
  lockRefund,
  postponeRefund,
  saveRefund,
  takeRefund,
} from './store/refunds.ts';

export type RefundWish = {
  paymentId: PaymentId;
  amount: Money;
  reason: string | null;
  description: string | null;
  metadata: Record<string, string>;
};

/**
 * Refunds in three steps: the money is put aside, the acquirer is asked, the outcome is written down. Whatever stops us
 * in between, the same key or the background job goes on from where it stopped, asking first what became of it.
 */
export async function createRefund(
  deps: CheckoutDeps,
  merchant: Merchant,
  call: Call,
  wish: RefundWish,
  former: KeyOwner | undefined,
  begins: (what: string) => void,
): Promise<Answer> {
  if (former) {
    begins(nameOf(former.objectId));
    return goOn(deps, call, former);
  }
  const id = deps.newId() as RefundId;
  const begun = await deps.db.transaction((tx) => reserve(deps, tx, merchant, call, id, wish));
  if (begun === 'taken') return awaitFormer(deps, call, (owner) => presentSettled(deps, call, owner));
  begins(nameOf(id));
  if (begun.status !== 'pending') return answerOf(begun);
  return conclude(deps, { call, dueAt: null }, begun, await ask(deps, begun));
}

/** The first step, under the lock of the payment: of refunds that race, each sees what the others have put aside. */
async function reserve(
  deps: CheckoutDeps,
  tx: Transaction,
  merchant: Merchant,
  call: Call,
  id: RefundId,
  wish: RefundWish,
): Promise<Refund | 'taken'> {
  const at = deps.now();
  if (!(await claimKey(tx, call, id, at))) return 'taken';
  const payment = await lockPayment(tx, merchant.merchantId, wish.paymentId);
  if (!payment) throw refuse('payment_not_found');
  const checked = checkRefund(payment, wish.amount);
  if (!checked.ok) {
    const left = formatMoney({ minor: refundableOf(payment), currency: payment.amount.currency });
    const detail =
      checked.refusal === 'refund_amount_exceeded'
        ? `Refundable ${left} ${payment.amount.currency}, requested ${formatMoney(wish.amount)} ${wish.amount.currency}.`
        : undefined;
    throw refuse(checked.refusal, detail);
  }
  const shared = {
    merchantId: merchant.merchantId,
    id,
    paymentId: wish.paymentId,
    terminalId: payment.terminalId,
    amount: wish.amount,
    reason: wish.reason,
    description: wish.description,
    metadata: wish.metadata,
    createdAt: at,
    test: payment.test,
    version: 1,
  };
  const before = checked.payment;
  const { minor } = wish.amount;
  // A wallet has its money back in this transaction; an acquirer still has to be asked.
  const wallet = before.walletUserId && (await deps.survivorOf(tx, before.walletUserId));
  const refund: Refund = wallet
    ? { ...shared, status: 'succeeded', settledAt: at, rrn: null }
    : { ...shared, status: 'pending', leaseUntil: new Date(at.getTime() + leaseMs), inquiries: 0 };
  const after = wallet ? refundAtOnce(before, minor) : holdRefund(before, minor);
  await savePayment(tx, after, paymentEvent(deps, before, after, at));
  await insertRefund(tx, refund, refundEvent(deps, null, refund, at));
  if (refund.status === 'succeeded') await insertAnswer(tx, call, answerOf(refund), at);
  // The balance comes last: it is the row that all of a merchant's refunds wait for.
  const posting = wallet
    ? walletRefundPosting(refund, wallet, merchant)
    : refundHoldPosting(refund, merchant);
  if (!(await post(tx, posting, at))) throw refuse('insufficient_merchant_balance');
  return refund;
}

/** The second step, outside any transaction. */
async function ask(deps: CheckoutDeps, refund: PendingRefund): Promise<OperationOutcome> {
  return deps.acquirer.refund({
    reference: refund.id,
    authorization: await findPaidAttempt(deps, refund),
    merchantId: refund.merchantId,
    amount: refund.amount,
  });
}

async function findPaidAttempt(deps: CheckoutDeps, refund: Refund): Promise<string> {
  const payment = await findPayment(deps.db, refund.merchantId, refund.paymentId);
  if (payment?.status !== 'succeeded')
    throw new Error(`refund ${refund.id} of a payment that has not succeeded`);
  return payment.paidAttemptId;
}

/** A merchant who asks; `dueAt` when the job was to ask later. */
type Asker = { call: Call; dueAt: Date | null };

/** The third step, with the answer to the merchant. */
async function conclude(
  deps: CheckoutDeps,
  asker: Asker,
  refund: PendingRefund,
  outcome: OperationOutcome,
): Promise<Answer> {
  const answer = await settleRefund(deps, refund, outcome, asker);
  if (answer) return answer;
  throw outcomeUnknown(nameOf(refund.id));
}

/** Writes the outcome down, once; undefined while it is not known. */
async function settleRefund(
  deps: CheckoutDeps,
  refund: PendingRefund,
  outcome: OperationOutcome,
  asker?: Asker,
): Promise<Answer | undefined> {
  const merchant = await deps.merchants.find(refund.merchantId);
  if (!merchant) throw new Error(`refund ${refund.id} of an unknown merchant`);
  return deps.db.transaction(async (tx): Promise<Answer | undefined> => {
    const answerFor = async (settled: Refund) =>
      asker ? keepAnswer(deps, tx, asker.call, answerOf(settled), settled.createdAt) : answerOf(settled);
    const payment = await lockPayment(tx, refund.merchantId, refund.paymentId);
    const current = await lockRefund(tx, refund.merchantId, refund.id);
    if (payment?.status !== 'succeeded' || !current) throw new Error(`refund ${refund.id} lost its payment`);
    const at = deps.now();
    if (current.status !== 'pending') {
      if (current.status === 'canceled' && outcome.kind === 'done') {
        const { merchantId, id: reference, paymentId } = current;
        await keepContradiction(deps, tx, { merchantId, kind: 'refund', reference, paymentId });
      }
      return answerFor(current);
    }
    // Once our lease is over somebody else may have sent it again: that ours has failed says nothing of theirs.
    const isOurs = current.leaseUntil.getTime() === refund.leaseUntil.getTime();
    if (outcome.kind === 'unknown' || (outcome.kind === 'failed' && !isOurs)) {
      if (!isOurs) return undefined;
      const next = postponed(at, current.inquiries, asker?.dueAt);
      await postponeRefund(tx, { merchantId: refund.merchantId, refundId: refund.id, ...next });
      return undefined;
    }
    const { leaseUntil: _, inquiries: __, ...shared } = current;
    const version = current.version + 1;
    const settled: Refund =
      outcome.kind === 'done'
        ? { ...shared, status: 'succeeded', settledAt: at, rrn: outcome.rrn, version }
        : {
            ...shared,
            status: 'canceled',
            settledAt: at,
            reasonCanceled: outcome.kind === 'refused' ? outcome.reason : 'issuer_unavailable',
            version,
          };
    const after = settleHeldRefund(payment, current.amount.minor, settled.status === 'succeeded');
    await savePayment(tx, after, paymentEvent(deps, payment, after, at));
    await saveRefund(tx, settled, refundEvent(deps, current, settled, at));
    const posting =
      settled.status === 'succeeded'
        ? refundSucceededPosting(settled)
        : refundCanceledPosting(settled, merchant);
    await postForSure(tx, posting, at);
    return answerFor(settled);
  });
}

/** The same key again: the refund is settled, somebody is at it, or it is ours to go on with. */
async function goOn(deps: CheckoutDeps, call: Call, former: KeyOwner): Promise<Answer> {
  const answer = await presentSettled(deps, call, former);
  if (answer) return answer;
  const now = deps.now();
  const until = new Date(now.getTime() + leaseMs);
  const refundId = former.objectId as RefundId;
  const taken = await takeRefund(deps.db, { merchantId: call.merchantId, refundId, now, until });
  if (!taken) return awaitFormer(deps, call, (owner) => presentSettled(deps, call, owner));
  const { refund, dueAt } = taken;
  const outcome = await resume(deps, refund, { sendWithinMs: quickInquiryMs });
  return conclude(deps, { call, dueAt }, refund, outcome);
}

/** Undefined while it is pending. */
async function presentSettled(deps: CheckoutDeps, call: Call, owner: KeyOwner): Promise<Answer | undefined> {
  const refund = await findRefund(deps.db, call.merchantId, owner.objectId as RefundId);
  if (!refund) throw new Error(`key of refund ${owner.objectId} without its refund`);
  if (refund.status === 'pending') return undefined;
  return keepAnswer(deps, deps.db, call, answerOf(refund), owner.createdAt);
}

/** What the job does with a refund that it has taken up. */
export async function askAboutRefund(deps: CheckoutDeps, refund: PendingRefund): Promise<void> {
  await settleRefund(deps, refund, await resume(deps, refund));
}

/**
 * Goes on with a refund. The acquirer is asked what became of it before anything is sent a second time; even then the
 * reference is the same, so that it could only ever happen once.
 */
async function resume(
  deps: CheckoutDeps,
  refund: PendingRefund,
  { sendWithinMs = Number.POSITIVE_INFINITY } = {},
): Promise<OperationOutcome> {
  const begunAt = performance.now();
  const outcome = await deps.acquirer.inquireOperation({
    reference: refund.id,
    merchantId: refund.merchantId,
  });
  if (outcome.kind !== 'failed') return outcome;
  if (performance.now() - begunAt > sendWithinMs) return { kind: 'unknown' };
  // It never happened, so it is sent again. If that fails too, the first one may still be on its way.
  const again = await ask(deps, refund);
  return again.kind === 'failed' ? { kind: 'unknown' } : again;
}

function nameOf(refundId: string): string {
  return `Refund ${refundId}`;
}

function answerOf(refund: Refund): Answer {
  return { status: 200, body: JSON.stringify(refundJson(refund)) };
}
