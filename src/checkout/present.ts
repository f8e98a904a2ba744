import { confirmationToken } from './confirmation-url.ts';
import type { CheckoutDeps } from './deps.ts';
import { formatMoney, type Money } from './domain/money.ts';
import { type Payment, type PaymentId, refundableOf } from './domain/payment.ts';
import type { Refund } from './domain/refund.ts';
import type { Answer } from './idempotency.ts';

function moneyJson(money: Money) {
  return { value: formatMoney(money), currency: money.currency };
}

/** What the address of a payment page is made of. */
export type PageDeps = Pick<CheckoutDeps, 'checkoutUrl' | 'confirmationKey'>;

function confirmationUrl(deps: PageDeps, payment: { merchantId: string; id: PaymentId }): string {
  return `${deps.checkoutUrl}/pay/${confirmationToken(deps.confirmationKey, payment)}`;
}

export function paymentJson(deps: PageDeps, payment: Payment) {
  const { currency } = payment.amount;
  const of = (minor: bigint) => moneyJson({ minor, currency });
  const succeeded = payment.status === 'succeeded' ? payment : undefined;
  const paid = payment.status === 'canceled' ? payment.paid : payment.status === 'pending' ? null : payment;
  return {
    id: payment.id,
    status: payment.status,
    merchantId: payment.merchantId,
    terminalId: payment.terminalId,
    amount: moneyJson(payment.amount),
    capturedAmount: of(succeeded?.captured ?? 0n),
    refundedAmount: of(succeeded?.refunded ?? 0n),
    refundableAmount: of(refundableOf(payment)),
    paid: payment.status === 'succeeded' || payment.status === 'waiting_for_capture',
    refundable: refundableOf(payment) > 0n,
    capture: payment.capture,
    confirmation: {
      type: 'REDIRECT' as const,
      confirmationUrl: confirmationUrl(deps, payment),
      returnUrl: payment.returnUrl,
      locale: payment.locale,
    },
    paymentMethod: paid?.method ?? null,
    authorization: paid?.approval ?? null,
    lastAttempt: payment.lastAttempt && { ...payment.lastAttempt, at: payment.lastAttempt.at.toISOString() },
    cancellationDetails: payment.status === 'canceled' ? payment.cancellation : null,
    description: payment.description,
    merchantOrderId: payment.merchantOrderId,
    metadata: payment.metadata,
    createdAt: payment.createdAt.toISOString(),
    expiresAt: payment.expiresAt.toISOString(),
    authorizedAt: paid?.authorizedAt.toISOString() ?? null,
    capturedAt: succeeded?.capturedAt.toISOString() ?? null,
    canceledAt: payment.status === 'canceled' ? payment.canceledAt.toISOString() : null,
    test: payment.test,
    version: payment.version,
  };
}

export function paymentAnswer(deps: PageDeps, payment: Payment): Answer {
  return { status: 200, body: JSON.stringify(paymentJson(deps, payment)) };
}

export function refundJson(refund: Refund) {
  return {
    id: refund.id,
    paymentId: refund.paymentId,
    merchantId: refund.merchantId,
    terminalId: refund.terminalId,
    status: refund.status,
    amount: moneyJson(refund.amount),
    reason: refund.reason,
    description: refund.description,
    metadata: refund.metadata,
    cancellationDetails:
      refund.status === 'canceled' ? { party: 'acquirer', reason: refund.reasonCanceled } : null,
    authorization: refund.status === 'succeeded' && refund.rrn !== null ? { rrn: refund.rrn } : null,
    createdAt: refund.createdAt.toISOString(),
    settledAt: refund.status === 'pending' ? null : refund.settledAt.toISOString(),
    test: refund.test,
    version: refund.version,
  };
}
