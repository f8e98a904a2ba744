import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Acquirer, OperationOutcome } from '../../src/checkout/domain/acquirer.ts';
import { sweep } from '../../src/checkout/jobs.ts';
import { verifyLedger } from '../../src/checkout/verify-ledger.ts';
import { sql } from '../../src/platform/db.ts';
import { replacingAcquirer } from '../support/acquirer.ts';
import { startTestApp } from '../support/app.ts';
import { assertBooks } from '../support/books.ts';
import { testDatabaseUrl } from '../support/database.ts';
import { gate } from '../support/gate.ts';
import { call, codeOf, liftRequestRate, paidPayment, readPayment, refund } from '../support/merchant.ts';
import type { Answer } from '../support/partner.ts';

const url = await testDatabaseUrl();
const service = await startTestApp({ DATABASE_URL: url });
await liftRequestRate(service);
const { db, clock } = service;
clock.set(new Date());
const { deps } = service.areas.checkout;
const realAcquirer = deps.acquirer;
const withAcquirer = replacingAcquirer(service);

const capture = (id: string, key?: string, value?: string) =>
  call(service, 'POST', `/v1/payments/${id}/capture`, {
    body: value ? { amount: { value, currency: 'AZN' } } : {},
    ...(key ? { key } : {}),
  });
const refused: OperationOutcome = { kind: 'refused', reason: 'general_decline' };

/** What the acquirer's own books say of a payment. */
function booksOf(paymentId: string) {
  return db.one<{ captured: bigint; refunded: bigint }>(sql`
    select a.captured, a.refunded from checkout.sandbox_authorizations a
    join checkout.payments p on p.merchant_id = a.merchant_id and p.paid_attempt_id::text = a.reference
    where p.payment_id = ${paymentId}`);
}

type Send = (given: Parameters<Acquirer['refund']>[0]) => Promise<OperationOutcome>;

/** The first call sleeps until it is woken, and has failed; those after it are the acquirer's. */
function failingAfterSleep(later: Send) {
  const [asleep, awake] = [gate(), gate()];
  let isFirst = true;
  const send: Send = async (given) => {
    if (!isFirst) return later(given);
    isFirst = false;
    asleep.open();
    await awake.opened;
    return { kind: 'failed' };
  };
  return { asleep, awake, send };
}

for (const kind of ['refund', 'capture'] as const) {
  test(`a worker that wakes after its lease with a ${kind} that failed does not undo the one that was sent since`, async () => {
    const payment = await paidPayment(service, { capture: kind === 'refund' });
    const sentAgain = gate();
    const answered = gate();
    const { asleep, awake, send } = failingAfterSleep(async (given) => {
      const outcome = await realAcquirer[kind](given);
      sentAgain.open();
      await answered.opened;
      return outcome;
    });
    const told = await withAcquirer({ [kind]: send }, async () => {
      const first = kind === 'refund' ? refund(service, payment.id, '100.00') : capture(payment.id);
      await asleep.opened;
      clock.move(10_000);
      const job = sweep(deps);
      await sentAgain.opened;
      awake.open();
      const answer = await first;
      answered.open();
      await job;
      return answer;
    });
    assert.deepEqual([told.statusCode, codeOf(told)], [503, 'outcome_unknown']);
    const after = await readPayment(service, payment.id);
    assert.equal(after.status, 'succeeded');
    assert.equal(after.refundedAmount.value, kind === 'refund' ? '100.00' : '0.00');
    assert.deepEqual(await booksOf(payment.id), {
      captured: 100_00n,
      refunded: kind === 'refund' ? 100_00n : 0n,
    });
    if (kind === 'refund')
      assert.equal(codeOf(await refund(service, payment.id, '0.01')), 'refund_amount_exceeded');
  });

  test(`a worker that wakes after its lease with a ${kind} that failed does not undo what its merchant sent since`, async () => {
    const payment = await paidPayment(service, { capture: kind === 'refund' });
    const key = `woken-${payment.id}`;
    const ask = () =>
      kind === 'refund' ? refund(service, payment.id, '100.00', key) : capture(payment.id, key);
    let sentAgain = 0;
    const { asleep, awake, send } = failingAfterSleep(async (given) => {
      sentAgain++;
      await realAcquirer[kind](given);
      return { kind: 'unknown' };
    });
    await withAcquirer({ [kind]: send }, async () => {
      const first = ask();
      await asleep.opened;
      clock.move(10_000);
      assert.equal(codeOf(await ask()), 'outcome_unknown');
      awake.open();
      assert.equal(codeOf(await first), 'outcome_unknown');
    });
    assert.equal(sentAgain, 1);
    assert.equal((await ask()).json().status, 'succeeded');
  });

  test(`a worker that wakes after its lease and does not know leaves the ${kind} to who is at it`, async () => {
    const payment = await paidPayment(service, { capture: kind === 'refund' });
    const asleep = gate();
    const awake = gate();
    let inquiries = 0;
    const changes: Partial<Acquirer> = {
      async [kind]() {
        asleep.open();
        await awake.opened;
        return { kind: 'unknown' };
      },
      async inquireOperation() {
        inquiries++;
        awake.open();
        await first;
        clock.move(5_000);
        await sweep(deps);
        return { kind: 'unknown' };
      },
    };
    let first: Promise<Answer> | undefined;
    await withAcquirer(changes, async () => {
      first = kind === 'refund' ? refund(service, payment.id, '1.00') : capture(payment.id);
      await asleep.opened;
      clock.move(10_000);
      await sweep(deps);
    });
    assert.equal(inquiries, 1);
    clock.move(3600_000);
    await sweep(deps);
  });

  test(`a ${kind} that the acquirer has done after it was settled as refused is never passed over in silence`, async () => {
    const payment = await paidPayment(service, { capture: kind === 'refund' });
    const asleep = gate();
    const awake = gate();
    const send = async (given: Parameters<Acquirer['refund']>[0]): Promise<OperationOutcome> => {
      asleep.open();
      await awake.opened;
      return realAcquirer[kind](given);
    };
    const told = await withAcquirer({ [kind]: send, inquireOperation: async () => refused }, async () => {
      const first = kind === 'refund' ? refund(service, payment.id, '10.00') : capture(payment.id);
      await asleep.opened;
      clock.move(10_000);
      await sweep(deps);
      awake.open();
      return first;
    });
    // What was settled stands; somebody has to look.
    if (kind === 'refund') assert.equal(told.json().status, 'canceled');
    else assert.equal(codeOf(told), 'capture_declined');
    const lines = service.logLines.map((line) => JSON.parse(line) as { level: string; msg: string });
    const loud = lines.filter(({ msg }) => msg === 'the acquirer has done what was settled as not done');
    assert.deepEqual(
      loud.map(({ level }) => level),
      ['error'],
    );
    service.logLines.length = 0;
    const breaches = await verifyLedger({ url, now: clock.now(), stuckAfterMs: 3600_000 });
    assert.deepEqual(
      breaches.map(({ invariant }) => invariant),
      ['what_was_settled_stands'],
    );
    assert.match(breaches[0]?.object ?? '', new RegExp(`${kind} .* of payment ${payment.id}`));
    const { body } = await service.app.inject({ url: '/metrics' });
    assert.match(body, /^checkout_contradictions 1$/m);
    await db.run(sql`delete from checkout.contradictions`);
  });
}

test('a merchant who comes back does not cross an inquiry that is under way', async () => {
  for (const kind of ['refund', 'capture'] as const) {
    const payment = await paidPayment(service, { capture: kind === 'refund' });
    const key = `crossing-${payment.id}`;
    const again = () =>
      kind === 'refund' ? refund(service, payment.id, '10.00', key) : capture(payment.id, key);
    const lost = await withAcquirer({ [kind]: async () => ({ kind: 'unknown' }) }, again);
    assert.equal(codeOf(lost), 'outcome_unknown');
    clock.move(1_000);
    const asked = gate();
    const answered = gate();
    let inquiries = 0;
    let sent = 0;
    const changes: Partial<Acquirer> = {
      async inquireOperation(given) {
        inquiries++;
        asked.open();
        await answered.opened;
        return realAcquirer.inquireOperation(given);
      },
      async [kind](given: Parameters<Acquirer['refund']>[0]) {
        sent++;
        return realAcquirer[kind](given);
      },
    };
    const answer = await withAcquirer(changes, async () => {
      const job = sweep(deps);
      await asked.opened;
      const merchant = again();
      await delay(100);
      answered.open();
      await job;
      return merchant;
    });
    assert.deepEqual([inquiries, sent], [1, 1]);
    assert.equal(answer.json().status, 'succeeded', answer.body);
  }
});

test('after an inquiry that took long the merchant is not kept waiting: the job sends what has to be sent', async () => {
  for (const kind of ['refund', 'capture'] as const) {
    const payment = await paidPayment(service, { capture: kind === 'refund' });
    const key = `slow-${payment.id}`;
    const again = () =>
      kind === 'refund' ? refund(service, payment.id, '10.00', key) : capture(payment.id, key);
    await withAcquirer({ [kind]: async () => ({ kind: 'unknown' }) }, again);
    let sent = 0;
    const slow: Partial<Acquirer> = {
      async inquireOperation() {
        await delay(1_100);
        return { kind: 'failed' };
      },
      async [kind](given: Parameters<Acquirer['refund']>[0]) {
        sent++;
        return realAcquirer[kind](given);
      },
    };
    await withAcquirer(slow, async () => {
      assert.equal(codeOf(await again()), 'outcome_unknown');
      assert.equal(sent, 0);
      clock.move(2_000);
      await sweep(deps);
      assert.equal(sent, 1);
    });
    assert.equal((await again()).json().status, 'succeeded');
  }
});

test('a refund that another worker has found refused keeps the balance that it had, to the last unit', async () => {
  const balance = async () => (await call(service, 'GET', '/v1/balance')).json();
  const payment = await paidPayment(service);
  const before = await balance();
  await withAcquirer({ refund: async () => ({ kind: 'unknown' }) }, () =>
    refund(service, payment.id, '33.33'),
  );
  clock.move(1_000);
  await withAcquirer({ inquireOperation: async () => refused }, () => sweep(deps));
  assert.deepEqual(await balance(), before);
});

test('a capture while the acquirer cannot be reached is unknown, and its key goes on once it can', async () => {
  const payment = await paidPayment(service, { capture: false });
  const key = `down-${payment.id}`;
  const down = await withAcquirer({ capture: async () => ({ kind: 'failed' }) }, () =>
    capture(payment.id, key),
  );
  assert.deepEqual([down.statusCode, codeOf(down)], [503, 'outcome_unknown']);
  assert.equal(down.headers['retry-after'], '1');
  const up = await capture(payment.id, key);
  assert.equal(up.json().status, 'succeeded', up.body);
});

test('the outcome of a capture that was declined is not that of the next one', async () => {
  const payment = await paidPayment(service, { capture: false });
  const asleep = gate();
  const awake = gate();
  const slow = async (): Promise<OperationOutcome> => {
    asleep.open();
    await awake.opened;
    return refused;
  };
  const first = await withAcquirer({ capture: slow, inquireOperation: async () => refused }, async () => {
    const sent = capture(payment.id, undefined, '70.00');
    await asleep.opened;
    clock.move(10_000);
    await sweep(deps);
    deps.acquirer = { ...realAcquirer, capture: async () => ({ kind: 'unknown' }) };
    assert.equal((await capture(payment.id, 'the-next', '30.00')).statusCode, 503);
    awake.open();
    return sent;
  });
  assert.equal(codeOf(first), 'capture_declined');
  const next = await capture(payment.id, 'the-next', '30.00');
  assert.equal(next.json().capturedAmount?.value, '30.00', next.body);
  assert.deepEqual(await booksOf(payment.id), { captured: 30_00n, refunded: 0n });
});

test('after all this the books are right', () => assertBooks(service));
