import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { payByWallet } from '../../src/checkout/attempt.ts';
import type { Acquirer } from '../../src/checkout/domain/acquirer.ts';
import type { PaymentId } from '../../src/checkout/domain/payment.ts';
import { topUpPosting } from '../../src/checkout/domain/posting.ts';
import { sweep } from '../../src/checkout/jobs.ts';
import { createMerchantDirectory } from '../../src/checkout/merchant-directory.ts';
import { post } from '../../src/checkout/store/ledger.ts';
import { sql } from '../../src/platform/db.ts';
import { replacingAcquirer } from '../support/acquirer.ts';
import { startTestApp } from '../support/app.ts';
import { assertBooks } from '../support/books.ts';
import { gate } from '../support/gate.ts';
import {
  addMerchant,
  call,
  cards,
  codeOf,
  createPayment,
  demoMerchant,
  liftRequestRate,
  order,
  type PaymentAnswer,
  paidPayment,
  payByCard,
  readPayment,
  refund,
  type TestMerchant,
} from '../support/merchant.ts';
import type { Answer } from '../support/partner.ts';

const service = await startTestApp({ DATABASE_POOL_SIZE: '30' });
await liftRequestRate(service);
const { db, clock } = service;
clock.set(new Date());
const { deps } = service.areas.checkout;
const realAcquirer = deps.acquirer;
const withAcquirer = replacingAcquirer(service);
const rounds = 50;

const azn = (value: string) => ({ value, currency: 'AZN' });

/** A payment of another merchant, paid with a card. */
async function paidTo(
  merchant: TestMerchant,
  amount: { value: string; currency: string },
  card = cards.approved,
) {
  const { authorization } = merchant;
  const answer = await call(service, 'POST', '/v1/payments', {
    body: { ...merchant.order, amount },
    authorization,
  });
  assert.equal(answer.statusCode, 200, answer.body);
  const payment = answer.json<PaymentAnswer>();
  await payByCard(service, payment, card);
  return payment;
}

function refundOf(merchant: TestMerchant, paymentId: string, amount: object, key: string = randomUUID()) {
  const { authorization } = merchant;
  return call(service, 'POST', '/v1/refunds', { body: { paymentId, amount }, authorization, key });
}

async function balanceOf(merchant: { authorization?: string } = {}): Promise<unknown> {
  return (await call(service, 'GET', '/v1/balance', merchant)).json().balances;
}

function tally(answers: Answer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const answer of answers) {
    const outcome =
      answer.statusCode === 200 ? answer.json<{ status: string }>().status : (codeOf(answer) ?? '');
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}

async function entries(): Promise<unknown> {
  return db.one(sql`
    select (select count(*) from checkout.ledger_entries)::int as entries,
      (select count(*) from checkout.refunds)::int as refunds`);
}

test('T65 two refunds of 60 on 100 at once: one succeeds and one is too much, fifty times', async () => {
  for (let round = 0; round < rounds; round++) {
    const { id } = await paidPayment(service);
    const answers = await Promise.all([refund(service, id, '60.00'), refund(service, id, '60.00')]);
    assert.deepEqual(tally(answers), { succeeded: 1, refund_amount_exceeded: 1 });
  }
});

test('T65 fifty refunds of 10 on 100 at once: exactly ten succeed, fifty times', async () => {
  for (let round = 0; round < rounds; round++) {
    const { id } = await paidPayment(service);
    const answers = await Promise.all(Array.from({ length: 50 }, () => refund(service, id, '10.00')));
    assert.deepEqual(tally(answers), { succeeded: 10, refund_amount_exceeded: 40 });
    const after = await readPayment(service, id);
    assert.equal(after.refundedAmount.value, '100.00');
    assert.equal(after.refundableAmount.value, '0.00');
  }
});

test('T67 refunds of 80 on two payments with a balance of 100: one succeeds, fifty times', async () => {
  for (let round = 0; round < rounds; round++) {
    // Of each payment of 80.00 the merchant gets 50.00.
    const merchant = await addMerchant(service, { feeBasisPoints: 3750 });
    const payments = [await paidTo(merchant, azn('80.00')), await paidTo(merchant, azn('80.00'))];
    assert.deepEqual(await balanceOf(merchant), [{ currency: 'AZN', available: '100.00', onHold: '0.00' }]);
    const answers = await Promise.all(payments.map(({ id }) => refundOf(merchant, id, azn('80.00'))));
    assert.deepEqual(tally(answers), { succeeded: 1, insufficient_merchant_balance: 1 });
    assert.deepEqual(await balanceOf(merchant), [{ currency: 'AZN', available: '20.00', onHold: '0.00' }]);
  }
});

test('T50 fifty creations at once with one key: one payment and equal answers, fifty times', async () => {
  for (let round = 0; round < rounds; round++) {
    const key = randomUUID();
    const merchantOrderId = `race ${round}`;
    const body = { ...order, merchantOrderId };
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => call(service, 'POST', '/v1/payments', { body, key })),
    );
    assert.deepEqual([...new Set(answers.map((answer) => answer.statusCode))], [200]);
    assert.equal(new Set(answers.map((answer) => answer.body)).size, 1);
    const made = await db.many(
      sql`select 1 from checkout.payments where merchant_order_id = ${merchantOrderId}`,
    );
    assert.equal(made.length, 1);
  }
});

test('T66 what cannot be refunded is refused in the order of the rules, and the ledger is untouched', async () => {
  const merchant = await addMerchant(service, { feeBasisPoints: 10_000 });
  const pending = await createPayment(service);
  const held = await paidPayment(service, { capture: false });
  const canceled = await createPayment(service);
  await call(service, 'POST', `/v1/payments/${canceled.id}/cancel`);
  const paid = await paidPayment(service);
  const poor = await paidTo(merchant, azn('100.00'));
  const before = await entries();
  for (const { id } of [pending, held, canceled]) {
    // The state comes first, whatever else is wrong.
    const answer = await call(service, 'POST', '/v1/refunds', {
      body: { paymentId: id, amount: { value: '999.00', currency: 'USD' } },
    });
    assert.deepEqual([answer.statusCode, codeOf(answer)], [409, 'payment_not_refundable']);
  }
  for (const [paymentId, amount, status, code] of [
    [paid.id, { value: '999.00', currency: 'USD' }, 422, 'currency_mismatch'],
    [paid.id, { value: '1.00', currency: 'ZZZ' }, 422, 'currency_mismatch'],
    [pending.id, { value: '1.00', currency: 'ZZZ' }, 409, 'payment_not_refundable'],
    // A value without the digits of its currency is no amount, whatever the payment.
    [paid.id, { value: '1.00', currency: 'JPY' }, 400, 'invalid_request'],
    [pending.id, { value: '1.00', currency: 'JPY' }, 400, 'invalid_request'],
    [pending.id, { value: '1', currency: 'JPY' }, 409, 'payment_not_refundable'],
    [paid.id, azn('100.01'), 422, 'refund_amount_exceeded'],
    [paid.id, azn('0.00'), 400, 'invalid_request'],
    [paid.id, azn('-1.00'), 400, 'invalid_request'],
    [randomUUID(), azn('1.00'), 404, 'payment_not_found'],
    [paid.id.toUpperCase(), azn('1.00'), 404, 'payment_not_found'],
    ['', azn('1.00'), 404, 'payment_not_found'],
    [poor.id, azn('1.00'), 404, 'payment_not_found'],
  ] as const) {
    const answer = await call(service, 'POST', '/v1/refunds', { body: { paymentId, amount } });
    assert.deepEqual([answer.statusCode, codeOf(answer)], [status, code], answer.body);
  }
  // Too much comes before a balance that is too small.
  assert.equal(codeOf(await refundOf(merchant, poor.id, azn('100.01'))), 'refund_amount_exceeded');
  assert.equal(codeOf(await refundOf(merchant, poor.id, azn('0.01'))), 'insufficient_merchant_balance');
  assert.deepEqual(await entries(), before);
  assert.equal((await readPayment(service, paid.id)).version, paid.version);
});

test('sums of refunds are exact to the minor unit', async () => {
  const payment = await paidPayment(service, { amount: azn('0.30') });
  assert.equal((await refund(service, payment.id, '0.10')).statusCode, 200);
  assert.equal((await refund(service, payment.id, '0.20')).statusCode, 200);
  const over = await refund(service, payment.id, '0.01');
  assert.equal(over.json().detail, 'Refundable 0.00 AZN, requested 0.01 AZN.');
});

test('currencies without and with three decimal digits are refunded in their own digits', async () => {
  const merchant = await addMerchant(service);
  for (const [whole, part, left] of [
    [{ value: '100', currency: 'JPY' }, { value: '33', currency: 'JPY' }, '67'],
    [{ value: '1.500', currency: 'KWD' }, { value: '0.333', currency: 'KWD' }, '1.167'],
  ] as const) {
    const payment = await paidTo(merchant, whole);
    assert.equal((await refundOf(merchant, payment.id, part)).statusCode, 200);
    const after = await call(service, 'GET', `/v1/payments/${payment.id}`, merchant);
    assert.equal(after.json().refundableAmount.value, left);
    const wrong = await refundOf(merchant, payment.id, { ...part, value: '1.00' });
    assert.equal(wrong.json().errors[0].pointer, '/amount/value');
  }
  assert.deepEqual(await balanceOf(merchant), [
    { currency: 'JPY', available: '67', onHold: '0' },
    { currency: 'KWD', available: '1.167', onHold: '0.000' },
  ]);
});

test('a refund of what was captured, not of what was authorised', async () => {
  const payment = await paidPayment(service, { capture: false });
  await call(service, 'POST', `/v1/payments/${payment.id}/capture`, { body: { amount: azn('40.00') } });
  assert.equal(codeOf(await refund(service, payment.id, '40.01')), 'refund_amount_exceeded');
  assert.equal((await refund(service, payment.id, '40.00')).json().status, 'succeeded');
});

test('fees are basis points plus a fixed part, rounded half up, never above the amount, and not returned', async () => {
  for (const [feeBasisPoints, feeFixed, amount, kept] of [
    [0, 0n, '100.00', '100.00'],
    [250, 0n, '100.00', '97.50'],
    [250, 30n, '100.00', '97.20'],
    // 1.50 of a hundredth, half up to 2; 1.49 down to 1.
    [150, 0n, '1.00', '0.98'],
    [149, 0n, '1.00', '0.99'],
    [50, 0n, '1.00', '0.99'],
    [49, 0n, '1.00', '1.00'],
    [0, 500n, '3.00', '0.00'],
    [10_000, 1n, '3.00', '0.00'],
    [10_000, 0n, '9999999999.99', '0.00'],
    [1, 0n, '9999999999.99', '9998999999.99'],
  ] as const) {
    const merchant = await addMerchant(service, { feeBasisPoints, feeFixed, balanceFloor: -1_000_00n });
    const payment = await paidTo(merchant, azn(amount));
    const [balance] = (await balanceOf(merchant)) as { available: string }[];
    assert.equal(balance?.available ?? '0.00', kept, `${feeBasisPoints} + ${feeFixed} of ${amount}`);
    if (amount !== '100.00') continue;
    assert.equal((await refundOf(merchant, payment.id, azn(amount))).statusCode, 200);
    const left = (Number(kept) - 100).toFixed(2);
    assert.deepEqual(await balanceOf(merchant), [
      { currency: 'AZN', available: left === '-0.00' ? '0.00' : left, onHold: '0.00' },
    ]);
  }
});

test('the balance may fall to its floor and not a hundredth below, be it zero, above or below', async () => {
  for (const [balanceFloor, most] of [
    [0n, '50.00'],
    [-20_00n, '70.00'],
    [10_00n, '40.00'],
  ] as const) {
    const merchant = await addMerchant(service, { feeBasisPoints: 5000, balanceFloor });
    const payment = await paidTo(merchant, azn('100.00'));
    const tooMuch = azn((Number(most) + 0.01).toFixed(2));
    assert.equal(codeOf(await refundOf(merchant, payment.id, tooMuch)), 'insufficient_merchant_balance');
    assert.equal((await refundOf(merchant, payment.id, azn(most))).json().status, 'succeeded');
    assert.equal(codeOf(await refundOf(merchant, payment.id, azn('0.01'))), 'insufficient_merchant_balance');
  }
});

test('a floor that the operator has changed holds from then on', async () => {
  const merchant = await addMerchant(service, { feeBasisPoints: 5000 });
  const payment = await paidTo(merchant, azn('100.00'));
  const setFloor = async (floor: bigint) => {
    await db.run(
      sql`update checkout.merchants set balance_floor = ${floor} where merchant_id = ${merchant.merchantId}`,
    );
    deps.merchants = createMerchantDirectory(db);
  };
  assert.equal(codeOf(await refundOf(merchant, payment.id, azn('60.00'))), 'insufficient_merchant_balance');
  await setFloor(-10_00n);
  assert.equal((await refundOf(merchant, payment.id, azn('60.00'))).json().status, 'succeeded');
  await setFloor(0n);
  assert.equal(codeOf(await refundOf(merchant, payment.id, azn('0.01'))), 'insufficient_merchant_balance');
  // Nor is a floor that was raised above the balance a breach: only what goes out is held to it.
  assert.deepEqual(
    await db.many(sql`
      select * from checkout.ledger_accounts where owner = ${merchant.merchantId} and balance < floor`),
    [],
  );
  // What comes in is never refused, however far below the floor the balance is.
  await paidTo(merchant, azn('0.02'));
  assert.deepEqual(await balanceOf(merchant), [{ currency: 'AZN', available: '-9.99', onHold: '0.00' }]);
  await paidTo(merchant, azn('100.00'));
});

test('a refund that the acquirer refuses is canceled, and the money is the merchant’s again', async () => {
  const payment = await createPayment(service);
  await payByCard(service, payment, cards.refundRejected);
  const key = randomUUID();
  const answer = await refund(service, payment.id, '30.00', key);
  assert.equal(answer.json().status, 'canceled');
  assert.deepEqual(answer.json().cancellationDetails, { party: 'acquirer', reason: 'rejected_by_payee' });
  assert.equal(answer.json().authorization, null);
  assert.equal((await refund(service, payment.id, '30.00', key)).body, answer.body);
  const after = await readPayment(service, payment.id);
  assert.equal(after.refundableAmount.value, '100.00');
  assert.equal(after.refundedAmount.value, '0.00');
});

test('F11 an answer that got lost after the acquirer had done it: unknown, then the same key knows', async () => {
  const payment = await paidPayment(service);
  const key = randomUUID();
  let sent = 0;
  const lost = await withAcquirer(
    {
      async refund(given) {
        sent++;
        await realAcquirer.refund(given);
        return { kind: 'unknown' };
      },
    },
    () => refund(service, payment.id, '40.00', key),
  );
  assert.deepEqual([lost.statusCode, codeOf(lost)], [503, 'outcome_unknown']);
  assert.equal(lost.headers['retry-after'], '1');
  const [, id] = /Refund ([0-9a-f-]{36}) /.exec(lost.json().detail) ?? [];
  const pending = (await call(service, 'GET', `/v1/refunds/${id}`)).json();
  assert.deepEqual([pending.status, pending.settledAt, pending.authorization], ['pending', null, null]);
  const list = (await call(service, 'GET', '/v1/refunds?status=pending')).json();
  assert.deepEqual(list.items, [pending]);
  const during = await readPayment(service, payment.id);
  assert.deepEqual([during.refundedAmount.value, during.refundableAmount.value], ['0.00', '60.00']);
  assert.equal(codeOf(await refund(service, payment.id, '60.01')), 'refund_amount_exceeded');

  // A merchant who asks again need not wait for the next inquiry of the job.
  const answer = await refund(service, payment.id, '40.00', key);
  assert.equal(answer.statusCode, 200, answer.body);
  assert.equal(answer.json().id, id);
  assert.equal(answer.json().status, 'succeeded');
  assert.equal(sent, 1);
  assert.equal((await refund(service, payment.id, '40.00', key)).body, answer.body);
});

test('F11 the job settles a lost refund, and asks later and later until it knows', async () => {
  const payment = await paidPayment(service);
  let asked = 0;
  const lost: Partial<Acquirer> = {
    async refund(given) {
      await realAcquirer.refund(given);
      return { kind: 'unknown' };
    },
    async inquireOperation() {
      asked++;
      return { kind: 'unknown' };
    },
  };
  await withAcquirer(lost, async () => {
    assert.equal((await refund(service, payment.id, '40.00')).statusCode, 503);
    for (const seconds of [1, 2, 4, 8, 16]) {
      const before = asked;
      clock.move(seconds * 1000 - 1);
      await sweep(deps);
      assert.equal(asked, before);
      clock.move(1);
      await sweep(deps);
      assert.equal(asked, before + 1, `after ${seconds} s`);
    }
  });
  clock.move(3600_000);
  await sweep(deps);
  assert.equal((await readPayment(service, payment.id)).refundedAmount.value, '40.00');
});

test('a lost capture is asked about after a second, however long ago the payment was authorised', async () => {
  const payment = await paidPayment(service, { capture: false });
  clock.move(5 * 24 * 3600_000);
  const key = randomUUID();
  const path = `/v1/payments/${payment.id}/capture`;
  let asked = 0;
  await withAcquirer(
    {
      async capture(given) {
        await realAcquirer.capture(given);
        return { kind: 'unknown' };
      },
      async inquireOperation() {
        asked++;
        return { kind: 'unknown' };
      },
    },
    async () => {
      assert.equal(codeOf(await call(service, 'POST', path, { body: {}, key })), 'outcome_unknown');
      for (const seconds of [1, 2, 4]) {
        const before = asked;
        clock.move(seconds * 1000 - 1);
        await sweep(deps);
        assert.equal(asked, before);
        clock.move(1);
        await sweep(deps);
        assert.equal(asked, before + 1, `after ${seconds} s`);
      }
      const cancel = await call(service, 'POST', `/v1/payments/${payment.id}/cancel`);
      assert.deepEqual([cancel.statusCode, codeOf(cancel)], [409, 'capture_in_progress']);
    },
  );
  // A merchant who asks again need not wait for the next inquiry of the job.
  const answer = await call(service, 'POST', path, { body: {}, key });
  assert.equal(answer.json().status, 'succeeded', answer.body);
});

test('one refund that cannot be settled does not keep the job from the others', async () => {
  const [first, second, unpaid] = [
    await paidPayment(service),
    await paidPayment(service),
    await createPayment(service),
  ];
  await withAcquirer({ refund: async () => ({ kind: 'unknown' }) }, async () => {
    for (const { id } of [first, second]) assert.equal((await refund(service, id, '1.00')).statusCode, 503);
  });
  clock.move(2 * 3600_000);
  await withAcquirer(
    {
      async inquireOperation(given) {
        const [row] = await db.many<{ paymentId: string }>(sql`
          select payment_id from checkout.refunds where refund_id = ${given.reference}::uuid`);
        if (row?.paymentId === first.id) throw new Error('a bug');
        return realAcquirer.inquireOperation(given);
      },
    },
    () => sweep(deps).catch(() => {}),
  );
  assert.equal((await readPayment(service, second.id)).refundedAmount.value, '1.00');
  assert.equal((await readPayment(service, unpaid.id)).status, 'canceled');
  clock.move(10_000);
  await sweep(deps);
  assert.equal((await readPayment(service, first.id)).refundedAmount.value, '1.00');
});

async function walletOf(value: bigint): Promise<string> {
  const userId = randomUUID();
  const topUp = topUpPosting({
    id: randomUUID(),
    userId,
    amount: { minor: value, currency: 'AZN' },
    source: 'test',
  });
  await db.transaction((tx) => post(tx, topUp, clock.now()));
  return userId;
}

async function walletBalance(userId: string): Promise<bigint> {
  const { balance } = await db.one<{ balance: bigint }>(sql`
    select balance from checkout.ledger_accounts where owner = ${userId} and kind = 'wallet'`);
  return balance;
}

const where = (payment: PaymentAnswer) => ({
  merchantId: demoMerchant.merchantId,
  paymentId: payment.id as PaymentId,
});

test('a wallet pays, and its refunds go back to it, in one transaction, asking nobody', async () => {
  const userId = await walletOf(150_00n);
  const payment = await createPayment(service);
  await payByWallet(deps, where(payment), userId, 0);
  const paid = await readPayment(service, payment.id);
  assert.equal(paid.status, 'succeeded');
  assert.deepEqual(paid.paymentMethod, { type: 'wallet' });
  assert.equal(paid.authorization, null);
  assert.equal(await walletBalance(userId), 50_00n);
  await withAcquirer(
    {
      refund: () => assert.fail('the acquirer was asked'),
      inquireOperation: () => assert.fail('the acquirer was asked'),
    },
    async () => {
      const key = randomUUID();
      const answer = await refund(service, payment.id, '30.00', key);
      assert.equal(answer.json().status, 'succeeded', answer.body);
      assert.equal(answer.json().authorization, null);
      assert.equal((await refund(service, payment.id, '30.00', key)).body, answer.body);
      assert.deepEqual((await call(service, 'GET', `/v1/refunds/${answer.json().id}`)).json(), answer.json());
      assert.equal(codeOf(await refund(service, payment.id, '70.01')), 'refund_amount_exceeded');
    },
  );
  assert.equal(await walletBalance(userId), 80_00n);
});

test('a wallet with too little pays nothing, and that is no attempt', async () => {
  const userId = await walletOf(99_99n);
  const payment = await createPayment(service);
  assert.equal(await payByWallet(deps, where(payment), userId, 0), undefined);
  assert.equal(await payByWallet(deps, where(payment), randomUUID(), 0), undefined);
  const after = await readPayment(service, payment.id);
  assert.deepEqual([after.status, after.version, after.lastAttempt], ['pending', 1, null]);
  assert.equal(await walletBalance(userId), 99_99n);
});

test('a wallet hold is captured in part, released by a cancel, and released when nobody captures it', async () => {
  const userId = await walletOf(100_00n);
  const ways: [string, (payment: PaymentAnswer) => Promise<unknown>, bigint][] = [
    ['canceled', (payment) => call(service, 'POST', `/v1/payments/${payment.id}/cancel`), 100_00n],
    [
      'canceled',
      async () => {
        clock.move(7 * 24 * 3600_000);
        await sweep(deps);
      },
      100_00n,
    ],
    [
      'succeeded',
      (payment) =>
        call(service, 'POST', `/v1/payments/${payment.id}/capture`, { body: { amount: azn('40.00') } }),
      60_00n,
    ],
  ];
  for (const [status, end, left] of ways) {
    const payment = await createPayment(service, { capture: false });
    await payByWallet(deps, where(payment), userId, 0);
    assert.equal((await readPayment(service, payment.id)).status, 'waiting_for_capture');
    assert.equal(await walletBalance(userId), 0n);
    await end(payment);
    assert.equal((await readPayment(service, payment.id)).status, status);
    assert.equal(await walletBalance(userId), left);
  }
  const { held } = await db.one<{ held: bigint }>(sql`
    select coalesce(sum(balance), 0)::bigint as held from checkout.ledger_accounts where kind = 'wallet_hold'`);
  assert.equal(held, 0n);
});

test('two payments at once from a wallet that has enough for one: one is paid', async () => {
  for (let round = 0; round < 10; round++) {
    const userId = await walletOf(150_00n);
    const payments = [await createPayment(service), await createPayment(service)];
    const outcomes = await Promise.all(
      payments.map((payment) => payByWallet(deps, where(payment), userId, 0)),
    );
    assert.equal(outcomes.filter((payment) => payment?.status === 'succeeded').length, 1);
    assert.equal(await walletBalance(userId), 50_00n);
  }
});

test('forty refunds to wallets at once do not run out of connections', async () => {
  const payments = [];
  for (let at = 0; at < 40; at++) {
    const payment = await createPayment(service);
    await payByWallet(deps, where(payment), await walletOf(100_00n), 0);
    payments.push(payment);
  }
  const answers = await Promise.all(payments.map(({ id }) => refund(service, id, '100.00')));
  assert.deepEqual(tally(answers), { succeeded: 40 });
});

test('fifty refunds of 10 to one wallet at once: exactly ten succeed', async () => {
  const userId = await walletOf(100_00n);
  const payment = await createPayment(service);
  await payByWallet(deps, where(payment), userId, 0);
  const answers = await Promise.all(Array.from({ length: 50 }, () => refund(service, payment.id, '10.00')));
  assert.deepEqual(tally(answers), { succeeded: 10, refund_amount_exceeded: 40 });
  assert.equal(await walletBalance(userId), 100_00n);
});

test('the job and the merchant settle one refund at once, and it counts once', async () => {
  for (let round = 0; round < 10; round++) {
    const payment = await paidPayment(service);
    const key = randomUUID();
    await withAcquirer({ refund: async () => ({ kind: 'unknown' }) }, () =>
      refund(service, payment.id, '10.00', key),
    );
    clock.move(1_000);
    const [answer] = await Promise.all([
      refund(service, payment.id, '10.00', key),
      sweep(deps),
      sweep(deps),
      refund(service, payment.id, '10.00', key),
    ]);
    assert.equal(answer.json().status, 'succeeded', answer.body);
    assert.equal((await readPayment(service, payment.id)).refundedAmount.value, '10.00');
  }
});

test('while a refund is with the acquirer, another one sees what is on hold', async () => {
  const payment = await paidPayment(service);
  const asked = gate();
  const answered = gate();
  const first = withAcquirer(
    {
      async refund(given) {
        asked.open();
        await answered.opened;
        return realAcquirer.refund(given);
      },
    },
    async () => {
      const running = refund(service, payment.id, '60.00');
      await asked.opened;
      assert.equal((await readPayment(service, payment.id)).refundableAmount.value, '40.00');
      assert.equal(codeOf(await refund(service, payment.id, '40.01')), 'refund_amount_exceeded');
      const [balance] = (await balanceOf()) as { onHold: string }[];
      assert.equal(balance?.onHold, '60.00');
      answered.open();
      return running;
    },
  );
  assert.equal((await first).json().status, 'succeeded');
});

test('refunds are listed newest first, by payment, order, status and time, in pages', async () => {
  const payment = await paidPayment(service, { merchantOrderId: 'order 42' });
  const made: string[] = [];
  const start = clock.now();
  for (let at = 0; at < 5; at++) {
    clock.move(1_000);
    made.unshift((await refund(service, payment.id, '1.00')).json().id);
  }
  const list = async (query: string) => {
    const answer = await call(service, 'GET', `/v1/refunds?paymentId=${payment.id}${query}`);
    assert.equal(answer.statusCode, 200, answer.body);
    return answer.json<{ items: { id: string }[]; nextCursor: string | null }>();
  };
  const ids = (page: { items: { id: string }[] }) => page.items.map(({ id }) => id);
  assert.deepEqual(ids(await list('')), made);
  const first = await list('&limit=2');
  const second = await list(`&limit=2&cursor=${first.nextCursor}`);
  const third = await list(`&limit=2&cursor=${second.nextCursor}`);
  assert.deepEqual([first, second, third].flatMap(ids), made);
  assert.equal(third.nextCursor, null);
  const from = new Date(start.getTime() + 2_000).toISOString();
  const to = new Date(start.getTime() + 4_000).toISOString();
  assert.deepEqual(ids(await list(`&createdFrom=${from}&createdTo=${to}`)), made.slice(2, 4));
  assert.deepEqual(ids(await list('&status=canceled')), []);
  assert.deepEqual(ids(await list('&merchantOrderId=order%2042')), made);
  assert.deepEqual(ids(await list('&merchantOrderId=order%2043')), []);
  assert.deepEqual(ids(await list('&status=succeeded')), made);
  const foreign = await addMerchant(service);
  const theirs = await call(service, 'GET', `/v1/refunds?paymentId=${payment.id}`, foreign);
  assert.deepEqual(theirs.json(), { items: [], nextCursor: null });
});

test('T68 the rows of the ledger can be neither changed nor deleted, and none can be added alone', async () => {
  for (const text of [
    'update checkout.ledger_entries set amount = amount + 1',
    'delete from checkout.ledger_entries',
    'truncate checkout.ledger_entries',
    "update checkout.ledger_transactions set kind = 'x'",
    'delete from checkout.ledger_transactions',
    'truncate checkout.ledger_transactions',
    `insert into checkout.ledger_entries select merchant_id, transaction_id, 9, owner, kind, currency, 1
     from checkout.ledger_entries limit 1`,
  ]) {
    await assert.rejects(
      db.run({ name: '', text, values: [] }),
      /append only|do not add up|permission/,
      text,
    );
  }
});

test('after all this the books are right', () => assertBooks(service));
