import { feeOf, type Money } from './money.ts';
import type { Paid, Payment } from './payment.ts';
import type { Refund } from './refund.ts';

export type AccountKind =
  | 'merchant_available'
  | 'merchant_refund_hold'
  | 'wallet'
  | 'wallet_hold'
  | 'acquirer_receivable'
  | 'fee_income'
  | 'funding';

/** One line: what an account gains, or loses when it is negative. */
export type Line = { owner: string; kind: AccountKind; minor: bigint; floor: bigint | null };

export type Posting = {
  merchantId: string;
  kind: string;
  /** With the kind: the one event that it belongs to. */
  reference: string;
  currency: string;
  lines: Line[];
};

export type MerchantTerms = { feeBasisPoints: number; feeFixed: bigint; balanceFloor: bigint };

const shared = 'tollgate';
/** Holds and wallets never go below nothing. */
const nothing = 0n;

type Settled = Pick<Payment, 'merchantId' | 'id' | 'amount'>;

/** The money of a payment has come: from the acquirer or from a wallet, less our fee. */
export function capturePosting(payment: Settled, paid: Paid, minor: bigint, terms: MerchantTerms): Posting {
  const fee = feeOf(minor, { basisPoints: terms.feeBasisPoints, fixed: terms.feeFixed });
  const credit = [merchantLine(payment.merchantId, minor - fee, terms), sharedLine('fee_income', fee)];
  return posting(payment.merchantId, 'payment_captured', payment.id, payment.amount.currency, [
    paid.walletUserId === null
      ? sharedLine('acquirer_receivable', -minor)
      : { owner: paid.walletUserId, kind: 'wallet', minor: -minor, floor: nothing },
    ...credit,
  ]);
}

/** A wallet payment that is to be captured later: the money leaves the wallet and waits. */
export function walletHoldPosting(payment: Settled, userId: string): Posting {
  const { minor, currency } = payment.amount;
  return posting(payment.merchantId, 'wallet_held', payment.id, currency, [
    { owner: userId, kind: 'wallet', minor: -minor, floor: nothing },
    walletHoldLine(payment.merchantId, minor),
  ]);
}

/** Part of what waited goes to the merchant, the rest back to the wallet. */
export function walletCapturePosting(
  payment: Settled,
  userId: string,
  minor: bigint,
  terms: MerchantTerms,
): Posting {
  const fee = feeOf(minor, { basisPoints: terms.feeBasisPoints, fixed: terms.feeFixed });
  return posting(payment.merchantId, 'payment_captured', payment.id, payment.amount.currency, [
    walletHoldLine(payment.merchantId, -payment.amount.minor),
    { owner: userId, kind: 'wallet', minor: payment.amount.minor - minor, floor: nothing },
    merchantLine(payment.merchantId, minor - fee, terms),
    sharedLine('fee_income', fee),
  ]);
}

/** What waited goes back to the wallet. */
export function walletReleasePosting(payment: Settled, userId: string): Posting {
  const { minor, currency } = payment.amount;
  return posting(payment.merchantId, 'wallet_released', payment.id, currency, [
    walletHoldLine(payment.merchantId, -minor),
    { owner: userId, kind: 'wallet', minor, floor: nothing },
  ]);
}

export function refundHoldPosting(refund: Refund, terms: MerchantTerms): Posting {
  const { minor, currency } = refund.amount;
  return posting(refund.merchantId, 'refund_held', refund.id, currency, [
    merchantLine(refund.merchantId, -minor, terms),
    { owner: refund.merchantId, kind: 'merchant_refund_hold', minor, floor: nothing },
  ]);
}

export function refundSucceededPosting(refund: Refund): Posting {
  const { minor, currency } = refund.amount;
  return posting(refund.merchantId, 'refund_succeeded', refund.id, currency, [
    { owner: refund.merchantId, kind: 'merchant_refund_hold', minor: -minor, floor: nothing },
    sharedLine('acquirer_receivable', minor),
  ]);
}

export function refundCanceledPosting(refund: Refund, terms: MerchantTerms): Posting {
  const { minor, currency } = refund.amount;
  return posting(refund.merchantId, 'refund_canceled', refund.id, currency, [
    { owner: refund.merchantId, kind: 'merchant_refund_hold', minor: -minor, floor: nothing },
    merchantLine(refund.merchantId, minor, terms),
  ]);
}

/** A refund to a wallet asks nobody, so there is nothing to hold. */
export function walletRefundPosting(refund: Refund, userId: string, terms: MerchantTerms): Posting {
  const { minor, currency } = refund.amount;
  return posting(refund.merchantId, 'refund_succeeded', refund.id, currency, [
    merchantLine(refund.merchantId, -minor, terms),
    { owner: userId, kind: 'wallet', minor, floor: nothing },
  ]);
}

/** Money from a named source into a wallet. No merchant takes part. */
export function topUpPosting(topUp: { id: string; userId: string; amount: Money; source: string }): Posting {
  const { minor, currency } = topUp.amount;
  return posting('*', 'wallet_topped_up', topUp.id, currency, [
    { owner: topUp.source, kind: 'funding', minor: -minor, floor: null },
    { owner: topUp.userId, kind: 'wallet', minor, floor: nothing },
  ]);
}

/** The wallet of a merged person follows the survivor. */
export function walletMovePosting(move: { id: string; from: string; to: string; amount: Money }): Posting {
  const { minor, currency } = move.amount;
  return posting('*', 'wallet_moved', move.id, currency, [
    { owner: move.from, kind: 'wallet', minor: -minor, floor: nothing },
    { owner: move.to, kind: 'wallet', minor, floor: nothing },
  ]);
}

function merchantLine(merchantId: string, minor: bigint, terms: MerchantTerms): Line {
  return { owner: merchantId, kind: 'merchant_available', minor, floor: terms.balanceFloor };
}

/** What waits for a capture is kept by merchant, so that merging two people leaves it where it is. */
function walletHoldLine(merchantId: string, minor: bigint): Line {
  return { owner: merchantId, kind: 'wallet_hold', minor, floor: nothing };
}

function sharedLine(kind: AccountKind, minor: bigint): Line {
  return { owner: shared, kind, minor, floor: null };
}

/** Lines that move nothing (no fee, nothing left over) are left out: the ledger keeps none of zero. */
function posting(
  merchantId: string,
  kind: string,
  reference: string,
  currency: string,
  lines: Line[],
): Posting {
  return { merchantId, kind, reference, currency, lines: lines.filter((line) => line.minor !== 0n) };
}
