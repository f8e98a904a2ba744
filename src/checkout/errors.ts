import { type RefusalTable, refuserOf } from '../platform/problem.ts';
import type { PaymentRefusal } from './domain/payment.ts';

/** Every refusal of the payment API. */
export const checkoutRefusals = {
  credentials_missing: [
    401,
    'The call needs a merchant’s credentials: a Bearer token, or HTTP Basic with client id and secret.',
  ],
  credentials_invalid: [401, 'The credentials are wrong, expired, or belong to no merchant.'],
  scope_missing: [403, 'The credentials do not have the scope that this call needs.'],
  merchant_not_allowed: [403, 'The credentials do not belong to this merchant.'],
  terminal_not_allowed: [403, 'The merchant has no such terminal in use.'],
  payment_not_found: [404, 'No payment with this id belongs to the merchant.'],
  refund_not_found: [404, 'No refund with this id belongs to the merchant.'],
  event_not_found: [404, 'No event with this id was told to the caller.'],
  idempotency_key_missing: [400, 'The header `X-Idempotency-Key` is required.'],
  idempotency_key_invalid: [
    400,
    'The header `X-Idempotency-Key` takes 1 to 255 visible ASCII characters, once.',
  ],
  idempotency_key_reused: [422, 'The key was used before, with another body or another call.'],
  idempotency_key_in_use: [
    409,
    'A request with the same key is under way; send the same request again.',
    'retryable',
  ],
  currency_not_supported: [422, 'The terminal is not set up for this currency.'],
  return_url_not_allowed: [422, 'The origin of `returnUrl` is not registered for the merchant.'],
  payment_is_final: [409, 'The payment has succeeded or was canceled; nothing about it can change.'],
  payment_not_capturable: [409, 'Only a payment that waits for capture can be captured.'],
  attempt_in_progress: [409, 'An attempt to pay is under way; its outcome decides.'],
  capture_in_progress: [409, 'A capture is under way; its outcome decides.'],
  capture_amount_exceeded: [422, 'The amount is larger than what was authorised.'],
  capture_declined: [422, 'The acquirer refused the capture.'],
  payment_not_refundable: [409, 'Only a payment that has succeeded can be refunded.'],
  currency_mismatch: [422, 'The currency is not that of the payment.'],
  refund_amount_exceeded: [422, 'The amount is larger than what is left to refund.'],
  insufficient_merchant_balance: [422, 'The merchant’s balance does not suffice.'],
  rate_limited: [429, 'Too many requests; `Retry-After` says how long to wait.'],
  outcome_unknown: [
    503,
    'The acquirer has not said what happened; the same request goes on where this one stopped.',
  ],
} as const satisfies RefusalTable;

export const refuse = refuserOf(checkoutRefusals);

/** What the API says for what the domain refuses. */
export function codeOf(refusal: PaymentRefusal) {
  switch (refusal) {
    // No call of the API meets these: who meets one on the payment page is shown the payment as it stands.
    case 'not_due':
    case 'payment_expired':
    case 'attempts_exhausted':
      return 'payment_is_final';
    default:
      return refusal;
  }
}
