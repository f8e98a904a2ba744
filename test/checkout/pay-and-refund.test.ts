import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApp } from '../support/app.ts';
import {
  call,
  cards,
  createPayment,
  paidPayment,
  payByCard,
  readPayment,
  refund,
} from '../support/merchant.ts';

const service = await startTestApp();

test('a customer pays by card, and the merchant refunds in parts until nothing is left', async () => {
  const payment = await createPayment(service);
  assert.equal(payment.status, 'pending');
  const paid = await payByCard(service, payment);
  assert.equal(paid.statusCode, 303, paid.body);
  const after = await readPayment(service, payment.id);
  assert.equal(after.status, 'succeeded');
  assert.equal(after.refundableAmount.value, '100.00');

  const first = await refund(service, payment.id, '60.00');
  assert.equal(first.statusCode, 200, first.body);
  assert.equal(first.json().status, 'succeeded');
  const tooMuch = await refund(service, payment.id, '60.00');
  assert.equal(tooMuch.json().code, 'refund_amount_exceeded');
  assert.equal(tooMuch.json().detail, 'Refundable 40.00 AZN, requested 60.00 AZN.');
  assert.equal((await refund(service, payment.id, '40.00')).json().status, 'succeeded');
  const end = await readPayment(service, payment.id);
  assert.equal(end.refundedAmount.value, '100.00');
  const balance = await call(service, 'GET', '/v1/balance');
  assert.deepEqual(balance.json().balances, [{ currency: 'AZN', available: '0.00', onHold: '0.00' }]);
});

test('the same key gives the same bytes again', async () => {
  const body = { ...(await import('../support/merchant.ts')).order };
  const first = await call(service, 'POST', '/v1/payments', { body, key: 'same' });
  const second = await call(service, 'POST', '/v1/payments', { body, key: 'same' });
  assert.equal(first.body, second.body);
  assert.equal(second.headers['idempotency-replayed'], 'true');
  assert.equal(first.headers['idempotency-replayed'], undefined);
});

test('a refund that the acquirer refuses is canceled, and the money is the merchant’s again', async () => {
  const payment = await createPayment(service);
  await payByCard(service, payment, cards.refundRejected);
  const answer = await refund(service, payment.id, '100.00');
  assert.equal(answer.json().status, 'canceled');
  assert.deepEqual(answer.json().cancellationDetails, { party: 'acquirer', reason: 'rejected_by_payee' });
  assert.equal((await readPayment(service, payment.id)).refundableAmount.value, '100.00');
});

test('two refunds of 60 on 100 at once: one succeeds', async () => {
  const payment = await paidPayment(service);
  const answers = await Promise.all([
    refund(service, payment.id, '60.00'),
    refund(service, payment.id, '60.00'),
  ]);
  assert.deepEqual(answers.map((answer) => answer.statusCode).sort(), [200, 422]);
});
