import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { sql } from '../platform/db.ts';
import type { Job } from '../platform/jobs.ts';
import { askAboutAttempt } from './attempt.ts';
import { endPayment } from './cancel.ts';
import { askAboutCapture } from './capture.ts';
import type { CheckoutDeps } from './deps.ts';
import type { AttemptId, PaymentId } from './domain/payment.ts';
import type { RefundId } from './domain/refund.ts';
import { taskNames } from './inquiries.ts';
import { askAboutRefund } from './refund.ts';
import { type AttemptKey, listReversalsDue, markReversed, takeAttemptsToAsk } from './store/attempts.ts';
import {
  findPayment,
  listCapturesToAsk,
  listPaymentsToExpire,
  listPaymentsToRelease,
} from './store/payments.ts';
import { findRefund, listRefundsToAsk } from './store/refunds.ts';

const batch = 200;
const mostBatches = 100;
const answerDays = 4;

const AttemptPayload = Type.Object({
  merchantId: Type.String(),
  paymentId: Type.String(),
  attemptId: Type.String(),
});
const PaymentPayload = Type.Object({ merchantId: Type.String(), paymentId: Type.String() });
const RefundPayload = Type.Object({ merchantId: Type.String(), refundId: Type.String() });

/**
 * What is left to do when nobody is asking. A job of its own is queued with each thing that is not known; the sweep
 * finds what lost its job all the same. Each may run on many nodes at once.
 */
export function checkoutJobs(deps: CheckoutDeps): Job[] {
  return [
    {
      name: taskNames.askAttempt,
      async run(payload) {
        const { merchantId, paymentId, attemptId } = Value.Parse(AttemptPayload, payload);
        await askAboutAttempt(deps, {
          merchantId,
          paymentId: paymentId as PaymentId,
          attemptId: attemptId as AttemptId,
        });
      },
    },
    {
      name: taskNames.askRefund,
      async run(payload) {
        const { merchantId, refundId } = Value.Parse(RefundPayload, payload);
        await refundOfKey(deps, merchantId, refundId as RefundId);
      },
    },
    {
      name: taskNames.askCapture,
      async run(payload) {
        const { merchantId, paymentId } = Value.Parse(PaymentPayload, payload);
        await captureOfKey(deps, merchantId, paymentId as PaymentId);
      },
    },
    {
      name: taskNames.reverse,
      async run(payload) {
        const { merchantId, paymentId, attemptId } = Value.Parse(AttemptPayload, payload);
        await reverse(deps, {
          merchantId,
          paymentId: paymentId as PaymentId,
          attemptId: attemptId as AttemptId,
        });
      },
    },
    { name: 'checkout.sweep', cron: '* * * * *', run: () => sweep(deps) },
    {
      name: 'checkout.clean-up',
      cron: '11 * * * *',
      async run() {
        await deps.db.run(sql`select checkout.keep_answer_partitions(${deps.now()}::date, ${answerDays})`);
        await deps.db.run(sql`
          delete from checkout.answers_other where created_at < ${new Date(deps.now().getTime() - answerDays * 86_400_000)}`);
      },
    },
  ];
}

/** Goes through everything whose time has come. */
export async function sweep(deps: CheckoutDeps): Promise<void> {
  const now = deps.now();
  const due = { now, limit: batch };
  const end =
    (type: 'expired' | 'not_captured_in_time') => (key: { merchantId: string; paymentId: PaymentId }) =>
      deps.db.transaction((tx) => endPayment(deps, tx, key.merchantId, key.paymentId, { type, at: now }));
  await forEach(deps, () => listPaymentsToExpire(deps.db, due), end('expired'));
  await forEach(deps, () => listPaymentsToRelease(deps.db, due), end('not_captured_in_time'));
  const nextAt = new Date(now.getTime() + 60_000);
  const attempts = () => takeAttemptsToAsk(deps.db, { ...due, nextAt });
  await forEach(deps, attempts, (key) => askAboutAttempt(deps, key));
  const refunds = () => listRefundsToAsk(deps.db, due);
  await forEach(deps, refunds, (key) => refundOfKey(deps, key.merchantId, key.refundId));
  const captures = () => listCapturesToAsk(deps.db, due);
  await forEach(deps, captures, (key) => captureOfKey(deps, key.merchantId, key.paymentId));
  await forEach(
    deps,
    () => listReversalsDue(deps.db, batch),
    (key) => reverse(deps, key),
  );
}

/** Batch after batch while there are more. What fails is left for the next sweep, and holds nothing else up. */
async function forEach<Key extends object>(
  deps: CheckoutDeps,
  list: () => Promise<Key[]>,
  work: (key: Key) => Promise<unknown>,
): Promise<void> {
  for (let batches = 0; batches < mostBatches; batches++) {
    const keys = await list();
    let failed = 0;
    for (const key of keys) {
      await work(key).catch((error: unknown) => {
        failed++;
        deps.log.error({ err: error, about: key }, 'left for the next sweep');
      });
    }
    if (keys.length < batch || failed === keys.length) return;
  }
}

async function refundOfKey(deps: CheckoutDeps, merchantId: string, refundId: RefundId): Promise<void> {
  const refund = await findRefund(deps.db, merchantId, refundId);
  if (refund?.status === 'pending') await askAboutRefund(deps, refund);
}

async function captureOfKey(deps: CheckoutDeps, merchantId: string, paymentId: PaymentId): Promise<void> {
  const payment = await findPayment(deps.db, merchantId, paymentId);
  if (payment?.status === 'waiting_for_capture' && payment.asked) await askAboutCapture(deps, payment);
}

/** Lets go of money that nobody will take. Asked again until the acquirer has done it. */
async function reverse(deps: CheckoutDeps, key: AttemptKey): Promise<void> {
  const payment = await findPayment(deps.db, key.merchantId, key.paymentId);
  if (!payment) throw new Error(`reversal of an attempt without its payment ${key.paymentId}`);
  const outcome = await deps.acquirer.reverse({
    reference: `${key.attemptId}-reversal`,
    authorization: key.attemptId,
    merchantId: key.merchantId,
    amount: payment.amount,
  });
  if (outcome.kind !== 'done') throw new Error(`reversal of attempt ${key.attemptId}: ${outcome.kind}`);
  await markReversed(deps.db, key);
}
