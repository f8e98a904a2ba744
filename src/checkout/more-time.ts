import type { CheckoutDeps } from './deps.ts';
import { advance, type Payment, type PaymentId } from './domain/payment.ts';
import { refuse } from './errors.ts';
import { paymentEvent } from './events.ts';
import { lockPayment, savePayment } from './store/payments.ts';

/** The customer asks for more time. One who asks twice at once, or has had all there is, keeps what they have. */
export async function giveMoreTime(
  deps: CheckoutDeps,
  where: { merchantId: string; paymentId: PaymentId },
  after: number,
): Promise<Payment> {
  return deps.db.transaction(async (tx) => {
    const before = await lockPayment(tx, where.merchantId, where.paymentId);
    if (!before) throw refuse('payment_not_found');
    const at = deps.now();
    const extended = advance(before, { type: 'extended', after, at });
    if (!extended.ok) return before;
    await savePayment(tx, extended.payment, paymentEvent(deps, before, extended.payment, at));
    return extended.payment;
  });
}
