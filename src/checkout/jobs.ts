import { sql } from '../platform/db.ts';
import type { Job } from '../platform/jobs.ts';
import { askAboutAttempt } from './attempt.ts';
import { endPayment } from './cancel.ts';
import { askAboutCapture } from './capture.ts';
import type { CheckoutDeps } from './deps.ts';
import { leaseMs, nextInquiryAt } from './inquiries.ts';
import { askAboutRefund } from './refund.ts';
import {
  endReversal,
  postponeReversal,
  type Reversal,
  takeAttemptsToAsk,
  takeReversals,
} from './store/attempts.ts';
import {
  findPayment,
  listPaymentsToExpire,
  listPaymentsToRelease,
  type PaymentKey,
  takeCapturesToAsk,
} from './store/payments.ts';
import { takeRefundsToAsk } from './store/refunds.ts';

/** As much as the acquirer is asked at once by one process. */
const askedAtOnce = 10;
const settleMs = 20_000;
/** Fewer, since each of these holds a connection all the while. */
const endedAtOnce = 4;
/** Less than the minute after which it comes again. */
const endMs = 40_000;
const answerDays = 4;

/**
 * What is left to do when nobody is asking. It is found by its time in the tables; a job in the queue for each would
 * cost more than the payment itself, because PostgreSQL lets only one notification commit at a time.
 */
export function checkoutJobs(deps: CheckoutDeps): Job[] {
  return [
    { name: 'checkout.settle', everySeconds: 1, run: (_, signal) => settleDue(deps, signal) },
    { name: 'checkout.sweep', cron: '* * * * *', run: (_, signal) => endOverdue(deps, signal) },
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
  await endOverdue(deps);
  await settleDue(deps);
}

/** Asks about what is not known. Each is taken for as long as that may take, so that no two nodes ask at once. */
async function settleDue(deps: CheckoutDeps, signal?: AbortSignal): Promise<void> {
  const due = () => {
    const now = deps.now();
    return { now, until: new Date(now.getTime() + leaseMs), limit: askedAtOnce };
  };
  const { db } = deps;
  const kinds = [
    kindOf(
      () => takeAttemptsToAsk(db, due()),
      (attempt) => askAboutAttempt(deps, attempt, 'job'),
    ),
    kindOf(
      () => takeRefundsToAsk(db, due()),
      (refund) => askAboutRefund(deps, refund),
    ),
    kindOf(
      () => takeCapturesToAsk(db, due()),
      (payment) => askAboutCapture(deps, payment),
    ),
    kindOf(
      () => takeReversals(db, due()),
      (reversal) => reverse(deps, reversal),
    ),
  ];
  await goThrough(deps, kinds, settleMs, signal);
}

/** Ends payments that were not paid, or not captured, in time. */
async function endOverdue(deps: CheckoutDeps, signal?: AbortSignal): Promise<void> {
  const kind = (
    list: typeof listPaymentsToExpire,
    type: 'expired' | 'not_captured_in_time',
  ): ReturnType<typeof kindOf> => {
    // What could not be ended stays at the head of the list, and is passed over.
    let failed = 0;
    return kindOf(
      () => list(deps.db, { now: deps.now(), limit: endedAtOnce, offset: failed }),
      ({ merchantId, paymentId }: PaymentKey) =>
        deps.db
          .transaction((tx) => endPayment(deps, tx, merchantId, paymentId, { type, at: deps.now() }))
          .catch((error: unknown) => {
            failed++;
            throw error;
          }),
    );
  };
  const kinds = [kind(listPaymentsToExpire, 'expired'), kind(listPaymentsToRelease, 'not_captured_in_time')];
  await goThrough(deps, kinds, endMs, signal);
}

/** The next few of a kind, each as the work that is to be done. */
type Kind = () => Promise<(() => Promise<unknown>)[]>;

function kindOf<Item>(take: () => Promise<Item[]>, work: (item: Item) => Promise<unknown>): Kind {
  return async () => (await take()).map((item) => () => work(item));
}

/**
 * A few at once of one kind after another, beginning with another each time, so that none waits for the others, until
 * all have nothing left or the time is over. What fails has its time moved on, and holds nothing else up.
 */
async function goThrough(
  deps: CheckoutDeps,
  kinds: Kind[],
  mostMs: number,
  signal?: AbortSignal,
): Promise<void> {
  const end = performance.now() + mostMs;
  let at = Math.floor(Math.random() * kinds.length);
  for (let empty = 0; empty < kinds.length && performance.now() < end && !signal?.aborted; at++) {
    const works = (await kinds[at % kinds.length]?.()) ?? [];
    empty = works.length === 0 ? empty + 1 : 0;
    await Promise.all(
      works.map((work) => work().catch((error) => deps.log.error({ err: error }, 'left for later'))),
    );
  }
}

/** Lets go of money that nobody will take. Asked again until the acquirer has done it, or refuses. */
async function reverse(deps: CheckoutDeps, { inquiries, ...key }: Reversal): Promise<void> {
  const payment = await findPayment(deps.db, key.merchantId, key.paymentId);
  if (!payment) throw new Error(`reversal of an attempt without its payment ${key.paymentId}`);
  const outcome = await deps.acquirer.reverse({
    reference: `${key.attemptId}-reversal`,
    authorization: key.attemptId,
    merchantId: key.merchantId,
    amount: payment.amount,
  });
  if (outcome.kind === 'done') return endReversal(deps.db, key, 'done');
  if (outcome.kind !== 'refused') {
    return postponeReversal(deps.db, key, nextInquiryAt(deps.now(), inquiries));
  }
  deps.log.error({ ...key, reason: outcome.reason }, 'the acquirer refuses to give money back');
  await endReversal(deps.db, key, 'refused');
}
