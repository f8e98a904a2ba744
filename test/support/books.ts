import assert from 'node:assert/strict';
import type { PaymentId } from '../../src/checkout/domain/payment.ts';
import type { RefundId } from '../../src/checkout/domain/refund.ts';
import { paymentJson, refundJson } from '../../src/checkout/present.ts';
import { findPayment } from '../../src/checkout/store/payments.ts';
import { findRefund } from '../../src/checkout/store/refunds.ts';
import type { TestApp } from './app.ts';

/** What must hold whatever was done: each query finds the rows for which it does not. */
const rules: Record<string, string> = {
  'a ledger transaction adds up to nothing': `
    select transaction_id, currency from checkout.ledger_entries
    group by merchant_id, transaction_id, currency having sum(amount) <> 0`,
  'a balance is the sum of its entries': `
    select owner, kind, currency, a.balance, e.total from checkout.ledger_accounts a
    left join (select owner, kind, currency, sum(amount) as total from checkout.ledger_entries group by 1, 2, 3) e
      using (owner, kind, currency)
    where a.balance <> coalesce(e.total, 0)`,
  'no balance is below its floor': 'select * from checkout.ledger_accounts where balance < floor',
  'refunds stay within what was captured, and the payment counts them right': `
    select p.payment_id, p.captured, p.refunded, p.refund_held from checkout.payments p
    left join checkout.refunds r on r.merchant_id = p.merchant_id and r.payment_id = p.payment_id
    group by p.merchant_id, p.payment_id
    having p.refunded <> coalesce(sum(r.amount) filter (where r.status = 'succeeded'), 0)
      or p.refund_held <> coalesce(sum(r.amount) filter (where r.status = 'pending'), 0)
      or p.refunded + p.refund_held > p.captured`,
  'money on hold belongs to refunds that are pending': `
    select a.owner, a.balance from checkout.ledger_accounts a
    where a.kind = 'merchant_refund_hold' and a.balance <> coalesce((
      select sum(amount) from checkout.refunds r
      where r.merchant_id = a.owner and r.currency = a.currency and r.status = 'pending'), 0)`,
  'what was captured was posted once, and nothing else': `
    select p.payment_id, p.status, count(t.*) from checkout.payments p
    left join checkout.ledger_transactions t
      on t.merchant_id = p.merchant_id and t.reference = p.payment_id and t.kind = 'payment_captured'
    group by p.merchant_id, p.payment_id having count(t.*) <> (p.status = 'succeeded')::int`,
  'a refund that succeeded was posted once, and nothing else': `
    select r.refund_id, r.status, count(t.*) from checkout.refunds r
    left join checkout.ledger_transactions t
      on t.merchant_id = r.merchant_id and t.reference = r.refund_id and t.kind = 'refund_succeeded'
    group by r.merchant_id, r.refund_id having count(t.*) <> (r.status = 'succeeded')::int`,
  'each version has one event': `
    select o.id, o.version, count(e.*) from (
      select merchant_id, payment_id as id, version from checkout.payments
      union all select merchant_id, refund_id, version from checkout.refunds) o
    left join checkout.events e on e.merchant_id = o.merchant_id and e.object_id = o.id
    group by o.merchant_id, o.id, o.version
    having count(e.*) <> o.version or min(e.sequence) <> 1 or max(e.sequence) <> o.version`,
  'at most one attempt of a payment is approved and kept': `
    select payment_id from checkout.attempts where status = 'approved' and reversal is null
    group by merchant_id, payment_id having count(*) > 1`,
};

/** The invariants of the ledger and of the events; the newest event of each object shows it as it stands. */
export async function assertBooks(service: TestApp): Promise<void> {
  for (const [rule, text] of Object.entries(rules)) {
    assert.deepEqual(await service.db.many({ name: '', text, values: [] }), [], rule);
  }
  const { deps } = service.areas.checkout;
  const newest = await service.db.many<{
    merchantId: string;
    objectId: string;
    sequence: number;
    payload: string;
  }>({
    name: '',
    text: `select distinct on (merchant_id, object_id) merchant_id, object_id, sequence, payload
      from checkout.events order by merchant_id, object_id, sequence desc`,
    values: [],
  });
  for (const { merchantId, objectId, sequence, payload } of newest) {
    const payment = await findPayment(deps.db, merchantId, objectId as PaymentId);
    const refund = payment ? undefined : await findRefund(deps.db, merchantId, objectId as RefundId);
    const now = payment ? paymentJson(deps, payment) : refund && refundJson(refund);
    const told = JSON.parse(payload) as { sequence: number; data: { object: unknown } };
    assert.deepEqual(told.data.object, now);
    assert.equal(told.sequence, sequence);
  }
}
