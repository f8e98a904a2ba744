import type { Brand } from '../../platform/brand.ts';
import type { Money } from './money.ts';
import type { CancelReason, Payment, PaymentId, Succeeded } from './payment.ts';
import { refundableOf } from './payment.ts';

export type RefundId = Brand<'RefundId'>;

type Shared = {
  merchantId: string;
  id: RefundId;
  paymentId: PaymentId;
  terminalId: string;
  amount: Money;
  reason: string | null;
  description: string | null;
  metadata: Record<string, string>;
  createdAt: Date;
  test: boolean;
  version: number;
};
export type PendingRefund = Shared & { status: 'pending'; leaseUntil: Date; inquiries: number };
export type SettledRefund =
  | (Shared & { status: 'succeeded'; settledAt: Date; rrn: string | null })
  | (Shared & { status: 'canceled'; settledAt: Date; reasonCanceled: CancelReason });
export type Refund = PendingRefund | SettledRefund;

export type RefundRefusal = 'payment_not_refundable' | 'currency_mismatch' | 'refund_amount_exceeded';

/** The checks of a refund, in the order in which they are answered. The balance comes last, when it is held. */
export function checkRefund(
  payment: Payment,
  amount: Money,
): { ok: true; payment: Succeeded } | { ok: false; refusal: RefundRefusal } {
  if (payment.status !== 'succeeded') return { ok: false, refusal: 'payment_not_refundable' };
  if (amount.currency !== payment.amount.currency) return { ok: false, refusal: 'currency_mismatch' };
  if (amount.minor > refundableOf(payment)) return { ok: false, refusal: 'refund_amount_exceeded' };
  return { ok: true, payment };
}

/** The money is on its way: it can no longer be refunded by anybody else. */
export function holdRefund(payment: Succeeded, minor: bigint): Succeeded {
  return { ...payment, refundHeld: payment.refundHeld + minor, version: payment.version + 1 };
}

/** The money is there already. */
export function refundAtOnce(payment: Succeeded, minor: bigint): Succeeded {
  return { ...payment, refunded: payment.refunded + minor, version: payment.version + 1 };
}

export function settleHeldRefund(payment: Succeeded, minor: bigint, succeeded: boolean): Succeeded {
  return {
    ...payment,
    refundHeld: payment.refundHeld - minor,
    refunded: succeeded ? payment.refunded + minor : payment.refunded,
    version: payment.version + 1,
  };
}
