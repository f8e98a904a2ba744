import type { Transaction } from '../platform/db.ts';
import type { CheckoutDeps } from './deps.ts';
import type { AuthorizeOutcome, Card } from './domain/acquirer.ts';
import { cardDetailsOf } from './domain/card.ts';
import {
  type AttemptId,
  advance,
  type Payment,
  type PaymentId,
  type SettledOutcome,
} from './domain/payment.ts';
import { capturePosting, walletHoldPosting } from './domain/posting.ts';
import { codeOf, refuse } from './errors.ts';
import { paymentEvent } from './events.ts';
import { leaseMs, postponed } from './inquiries.ts';
import {
  type Attempt,
  type AttemptKey,
  findAttempt,
  insertAttempt,
  keepAttemptOpen,
  lockAttempt,
  settleAttempt,
} from './store/attempts.ts';
import { post, postForSure } from './store/ledger.ts';
import type { Merchant } from './store/merchants.ts';
import { lockPayment, savePayment } from './store/payments.ts';

/** How long a customer may take to answer their bank. */
const challengeMs = 10 * 60_000;

export type AttemptResult =
  | { kind: 'settled'; payment: Payment }
  | { kind: 'challenge'; url: string }
  | { kind: 'unknown' };

type Where = { merchantId: string; paymentId: PaymentId };

/** One try to pay by card. The attempt is written down before the acquirer hears of it. */
export async function payByCard(
  deps: CheckoutDeps,
  where: Where,
  card: Card,
  form: { returnUrl: string; attempts: number; onBegun?: () => void },
): Promise<AttemptResult> {
  await openMerchant(deps, where);
  const attemptId = deps.newId() as AttemptId;
  const key = { ...where, attemptId };
  const payment = await deps.db.transaction(async (tx) => {
    const at = deps.now();
    const begun = await begin(deps, tx, where, { attemptId, after: form.attempts, at });
    // An attempt that still runs then has lost its process.
    const inquireAt = new Date(at.getTime() + leaseMs);
    await insertAttempt(tx, { ...key, method: 'card', card: cardDetailsOf(card), startedAt: at, inquireAt });
    return begun;
  });
  form.onBegun?.();
  const outcome = await deps.acquirer.authorize({
    reference: attemptId,
    merchantId: payment.merchantId,
    terminalId: payment.terminalId,
    amount: payment.amount,
    card,
    capture: payment.capture,
    returnUrl: form.returnUrl,
  });
  return concludeAttempt(deps, key, outcome, 'customer');
}

/** The customer comes back from their bank. */
export async function completeChallenge(deps: CheckoutDeps, key: AttemptKey): Promise<AttemptResult> {
  return concludeAttempt(
    deps,
    key,
    await deps.acquirer.complete({ reference: key.attemptId, merchantId: key.merchantId }),
    'customer',
  );
}

type Asker = 'customer' | 'job';

/** Asks what became of an attempt whose outcome is not known. */
export async function askAboutAttempt(deps: CheckoutDeps, key: AttemptKey, asker: Asker): Promise<void> {
  const attempt = await findAttempt(deps.db, key);
  if (!attempt || isSettled(attempt)) return;
  const inquiry = { reference: key.attemptId, merchantId: key.merchantId };
  const outcome = await deps.acquirer.inquireAuthorization(inquiry);
  // The customer may have come back, and only the acquirer not have heard of it. Who has not come back loses nothing.
  const isUnheard = outcome.kind === 'challenge' && attempt.status === 'unknown' && attempt.challengeUrl;
  await concludeAttempt(deps, key, isUnheard ? await deps.acquirer.complete(inquiry) : outcome, asker);
}

/** Pays from a wallet: one transaction, asking nobody. `undefined` when there is not enough in it. */
export async function payByWallet(
  deps: CheckoutDeps,
  where: Where,
  userId: string,
  attempts: number,
): Promise<Payment | undefined> {
  const merchant = await openMerchant(deps, where);
  const attemptId = deps.newId() as AttemptId;
  return deps.db
    .transaction(async (tx) => {
      const at = deps.now();
      const begun = await begin(deps, tx, where, { attemptId, after: attempts, at });
      const owner = await deps.survivorOf(tx, userId);
      const key = { ...where, attemptId };
      await insertAttempt(tx, { ...key, method: 'wallet', card: null, startedAt: at, inquireAt: at });
      const outcome: SettledOutcome = { kind: 'approved', approval: null };
      const advanced = advance(begun, {
        type: 'attempt_settled',
        attemptId,
        outcome,
        method: { type: 'wallet' },
        walletUserId: owner,
        at,
      });
      if (!advanced.ok) throw refuse(codeOf(advanced.refusal));
      const { payment } = advanced;
      const posting =
        payment.status === 'succeeded'
          ? capturePosting(payment, payment, payment.captured, merchant)
          : walletHoldPosting(payment, owner);
      await settleAttempt(tx, key, { status: 'approved', reason: null, reversal: null, at });
      await savePayment(tx, payment, paymentEvent(deps, begun, payment, at));
      if (await post(tx, posting, at)) return payment;
      throw new WalletTooSmall();
    })
    .catch((error: unknown) => {
      if (error instanceof WalletTooSmall) return undefined;
      throw error;
    });
}

/** Rolls back: an attempt that the wallet cannot pay for leaves nothing behind, and costs the customer no try. */
class WalletTooSmall extends Error {}

/** Nobody begins to pay a merchant that was switched off; what had begun before is still settled. */
async function openMerchant(deps: CheckoutDeps, { merchantId }: Where): Promise<Merchant> {
  const merchant = await deps.merchants.find(merchantId);
  if (!merchant || merchant.disabledAt) throw refuse('payment_not_found');
  return merchant;
}

async function begin(
  deps: CheckoutDeps,
  tx: Transaction,
  where: Where,
  beginning: { attemptId: AttemptId; after: number; at: Date },
): Promise<Payment> {
  const before = await lockPayment(tx, where.merchantId, where.paymentId);
  if (!before) throw refuse('payment_not_found');
  const begun = advance(before, { type: 'attempt_begun', ...beginning });
  if (!begun.ok) throw refuse(codeOf(begun.refusal));
  await savePayment(tx, begun.payment, paymentEvent(deps, before, begun.payment, beginning.at));
  return begun.payment;
}

/** Writes an outcome down, once: whoever comes second with one finds the attempt settled. */
async function concludeAttempt(
  deps: CheckoutDeps,
  key: AttemptKey,
  outcome: AuthorizeOutcome,
  asker: Asker,
): Promise<AttemptResult> {
  const merchant = await deps.merchants.find(key.merchantId);
  if (!merchant) throw new Error(`attempt ${key.attemptId} of an unknown merchant`);
  return deps.db.transaction(async (tx): Promise<AttemptResult> => {
    const before = await lockPayment(tx, key.merchantId, key.paymentId);
    const attempt = await lockAttempt(tx, key);
    if (!before || !attempt) throw new Error(`attempt ${key.attemptId} lost its payment`);
    const at = deps.now();
    if (isSettled(attempt)) {
      // It was taken for failed, and has come true after all: the customer may have paid otherwise by now.
      if (outcome.kind === 'approved' && attempt.status !== 'approved') await giveBack(tx, key, at);
      return { kind: 'settled', payment: before };
    }

    if (outcome.kind === 'challenge' || outcome.kind === 'unknown') {
      const challenged = outcome.kind === 'challenge';
      const lapsesAt = new Date(attempt.startedAt.getTime() + challengeMs);
      // Who comes back and has not answered, however often, does not put the end of the challenge off, nor what is asked
      // after it.
      const isNoNews = asker === 'customer' && challenged && attempt.status === 'challenge';
      const next =
        challenged && at < lapsesAt
          ? { until: lapsesAt, inquiries: 0 }
          : postponed(at, attempt.inquiries, isNoNews ? attempt.inquireAt : null);
      const challengeUrl = challenged ? outcome.url : attempt.challengeUrl;
      await keepAttemptOpen(tx, key, { status: outcome.kind, challengeUrl, ...next });
      if (challenged) return { kind: 'challenge', url: outcome.url };
      const waiting = advance(before, { type: 'attempt_unknown', attemptId: key.attemptId, at });
      // Told once: a merchant need not hear of every time that we have asked in vain.
      if (waiting.ok && attempt.status !== 'unknown') {
        await savePayment(tx, waiting.payment, paymentEvent(deps, before, waiting.payment, at));
      }
      return { kind: 'unknown' };
    }

    const reason = outcome.kind === 'declined' ? outcome.reason : null;
    const method = { type: 'card' as const, card: attempt.card ?? unknownCard(key) };
    const advanced = advance(before, {
      type: 'attempt_settled',
      attemptId: key.attemptId,
      outcome,
      method,
      walletUserId: null,
      at,
    });
    if (!advanced.ok && outcome.kind === 'approved') await giveBack(tx, key, at);
    else await settleAttempt(tx, key, { status: outcome.kind, reason, reversal: null, at });
    if (!advanced.ok) return { kind: 'settled', payment: before };
    const { payment } = advanced;
    await savePayment(tx, payment, paymentEvent(deps, before, payment, at));
    if (payment.status === 'succeeded') {
      await postForSure(tx, capturePosting(payment, payment, payment.captured, merchant), at);
    }
    return { kind: 'settled', payment };
  });
}

/** An approval of something that has ended is reversed. */
async function giveBack(tx: Transaction, key: AttemptKey, at: Date): Promise<void> {
  await settleAttempt(tx, key, { status: 'approved', reason: null, reversal: 'due', at });
}

function isSettled(attempt: Attempt): boolean {
  return attempt.status === 'approved' || attempt.status === 'declined' || attempt.status === 'failed';
}

function unknownCard(key: AttemptKey): never {
  throw new Error(`attempt ${key.attemptId} has no card`);
}
