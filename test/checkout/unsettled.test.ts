import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { payByWallet } from '../../src/checkout/attempt.ts';
import type { OperationOutcome } from '../../src/checkout/domain/acquirer.ts';
import type { PaymentId } from '../../src/checkout/domain/payment.ts';
import { topUpPosting } from '../../src/checkout/domain/posting.ts';
import { sweep } from '../../src/checkout/jobs.ts';
import { payTexts } from '../../src/checkout/pages/pay-texts.ts';
import { post } from '../../src/checkout/store/ledger.ts';
import { verifyLedger } from '../../src/checkout/verify-ledger.ts';
import { sql } from '../../src/platform/db.ts';
import { startTestApp } from '../support/app.ts';
import { testDatabaseUrl } from '../support/database.ts';
import { gate } from '../support/gate.ts';
import {
  bankOf,
  call,
  cardFormOf,
  cards,
  createPayment,
  demoMerchant,
  liftRequestRate,
  order,
  paidPayment,
  payByCard,
  postForm,
  readPayment,
  refund,
} from '../support/merchant.ts';
import { until } from '../support/server.ts';

const { merchantId } = demoMerchant;
const url = await testDatabaseUrl();
const service = await startTestApp({ DATABASE_URL: url });
const { db, clock } = service;
const { deps } = service.areas.checkout;
const { acquirer } = deps;
clock.set(new Date());
await liftRequestRate(service);
const hourMs = 3600_000;

/** While the work runs, the acquirer answers a call like this; `undefined` leaves it to the sandbox. */
async function answering<Result>(
  kind: 'capture' | 'refund' | 'reverse' | 'inquireOperation',
  answer: (reference: string) => OperationOutcome | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  const original = acquirer[kind] as (call: { reference: string }) => Promise<OperationOutcome>;
  const replaced = async (asked: { reference: string }) => answer(asked.reference) ?? original(asked);
  Object.assign(acquirer, { [kind]: replaced });
  try {
    return await work();
  } finally {
    Object.assign(acquirer, { [kind]: original });
  }
}

const unknown = (): OperationOutcome => ({ kind: 'unknown' });
const capture = (id: string, key?: string, value?: string) =>
  call(service, 'POST', `/v1/payments/${id}/capture`, {
    body: value ? { amount: { value, currency: 'AZN' } } : {},
    ...(key ? { key } : {}),
  });

test('a capture whose outcome is unknown is asked about after one second, then twice as late each time', async () => {
  const payment = await paidPayment(service, { capture: false });
  clock.move(24 * hourMs);
  const lost = await answering('capture', unknown, () => capture(payment.id));
  assert.equal(lost.statusCode, 503);
  const delays: number[] = [];
  await answering('inquireOperation', unknown, async () => {
    for (let n = 0; n < 14; n++) {
      const { at } = await db.one<{ at: Date }>(sql`
        select capture_lease_until as at from checkout.payments where payment_id = ${payment.id}`);
      delays.push((at.getTime() - clock.now().getTime()) / 1000);
      clock.set(at);
      await sweep(deps);
    }
  });
  assert.deepEqual(delays, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600, 3600]);
  clock.move(hourMs);
  await sweep(deps);
  assert.equal((await readPayment(service, payment.id)).status, 'succeeded');
});

test('the merchant need not wait for the next inquiry: the same key goes on with the capture at once', async () => {
  const payment = await paidPayment(service, { capture: false });
  const key = `capture ${payment.id}`.replace(' ', '-');
  const lost = await answering('capture', unknown, () => capture(payment.id, key, '60.00'));
  assert.equal(lost.json().code, 'outcome_unknown');
  assert.equal(
    lost.json().detail,
    `The capture of payment ${payment.id} is pending; the same request goes on with it.`,
  );
  assert.equal(lost.headers['retry-after'], '1');
  const again = await capture(payment.id, key, '60.00');
  assert.equal(again.statusCode, 200, again.body);
  assert.equal(again.json().capturedAmount.value, '60.00');
});

for (const kind of ['capture', 'refund'] as const) {
  test(`a merchant who asks again and again puts the next inquiry about a ${kind} off by nothing`, async () => {
    const payment = await paidPayment(service, { capture: kind === 'refund' });
    const ask = () =>
      kind === 'refund' ? refund(service, payment.id, '60.00', key) : capture(payment.id, key, '60.00');
    const key = `impatient-${payment.id}`;
    assert.equal((await answering(kind, unknown, ask)).statusCode, 503);
    let inquiries = 0;
    const inTrouble = () => {
      inquiries++;
      return unknown();
    };
    await answering('inquireOperation', inTrouble, async () => {
      clock.move(1_000);
      await sweep(deps);
      for (let n = 0; n < 12; n++) assert.equal((await ask()).json().code, 'outcome_unknown');
      assert.equal(inquiries, 13);
      clock.move(1_999);
      await sweep(deps);
      assert.equal(inquiries, 13);
      clock.move(1);
      await sweep(deps);
      assert.equal(inquiries, 14);
      assert.equal((await ask()).statusCode, 503);
      clock.move(3_999);
      await sweep(deps);
      assert.equal(inquiries, 15);
    });
    clock.move(1);
    await sweep(deps);
    const after = await readPayment(service, payment.id);
    assert.equal((kind === 'refund' ? after.refundedAmount : after.capturedAmount).value, '60.00');
  });
}

test('who comes back early from the bank, however often, does not put off the inquiry about a lost answer', async () => {
  const payment = await createPayment(service);
  await payByCard(service, payment, cards.challenge);
  const comeBack = () =>
    service.app.inject({ url: `${new URL(payment.confirmation.confirmationUrl).pathname}/return` });
  for (let n = 0; n < 11; n++) await comeBack();
  await postForm(service, await bankOf(service, payment), { code: '1234' });
  const { complete, inquireAuthorization } = acquirer;
  acquirer.complete = async () => ({ kind: 'unknown' });
  await comeBack();
  acquirer.complete = complete;
  let inquiries = 0;
  acquirer.inquireAuthorization = async () => {
    inquiries++;
    return { kind: 'unknown' };
  };
  const asked: number[] = [];
  for (const ms of [999, 1, 1_999, 1, 3_999]) {
    clock.move(ms);
    await sweep(deps);
    asked.push(inquiries);
  }
  acquirer.inquireAuthorization = inquireAuthorization;
  assert.deepEqual(asked, [0, 1, 1, 2, 2]);
  clock.move(1);
  await sweep(deps);
  assert.equal((await readPayment(service, payment.id)).status, 'succeeded');
});

test('who comes back while the bank still waits after the end of the challenge does not put off the inquiries either', async () => {
  const payment = await createPayment(service);
  await payByCard(service, payment, cards.challenge);
  const { complete, inquireAuthorization } = acquirer;
  const stillOpen = async () => ({ kind: 'challenge' as const, url: 'http://localhost:4000/bank' });
  Object.assign(acquirer, { complete: stillOpen, inquireAuthorization: stillOpen });
  clock.move(600_000);
  await sweep(deps);
  for (let n = 0; n < 13; n++)
    await service.app.inject({ url: `${new URL(payment.confirmation.confirmationUrl).pathname}/return` });
  Object.assign(acquirer, { complete, inquireAuthorization });
  clock.move(1_000);
  await sweep(deps);
  assert.equal((await readPayment(service, payment.id)).lastAttempt?.status, 'declined');
});

test('a capture that the job has settled gives one answer under its key, whatever happens to the payment later', async () => {
  const payment = await paidPayment(service, { capture: false });
  const key = `settled-${payment.id}`;
  await answering('capture', unknown, () => capture(payment.id, key));
  clock.move(2_000);
  await sweep(deps);
  const first = await capture(payment.id, key);
  assert.equal(first.json().status, 'succeeded');
  assert.equal((await refund(service, payment.id, '1.00')).statusCode, 200);
  assert.equal((await capture(payment.id, key)).body, first.body);
});

test('a capture that was declined stays declined under its key, whatever another key captures later', async () => {
  const payment = await paidPayment(service, { capture: false });
  const lost = await answering('capture', unknown, () => capture(payment.id, 'declined-later', '70.00'));
  assert.equal(lost.statusCode, 503);
  const refused = (): OperationOutcome => ({ kind: 'refused', reason: 'general_decline' });
  clock.move(2_000);
  await answering('inquireOperation', refused, () => sweep(deps));
  const next = await answering('capture', unknown, () => capture(payment.id, 'the-next-one', '30.00'));
  assert.equal(next.statusCode, 503);
  const meanwhile = await capture(payment.id, 'declined-later', '70.00');
  assert.equal(meanwhile.json().code, 'capture_declined');
  assert.equal((await capture(payment.id, 'the-next-one', '30.00')).statusCode, 200);
  assert.equal((await capture(payment.id, 'declined-later', '70.00')).body, meanwhile.body);
});

test('a capture that was declined stays declined under its key when the payment is canceled, or another takes the same', async () => {
  for (const after of ['cancel', 'capture'] as const) {
    const payment = await paidPayment(service, { capture: false });
    const key = `declined-${payment.id}`;
    await answering('capture', unknown, () => capture(payment.id, key));
    clock.move(2_000);
    const refused = (): OperationOutcome => ({ kind: 'refused', reason: 'general_decline' });
    await answering('inquireOperation', refused, () => sweep(deps));
    const path = `/v1/payments/${payment.id}/${after}`;
    assert.equal(
      (await call(service, 'POST', path, after === 'capture' ? { body: {} } : {})).statusCode,
      200,
    );
    const again = await capture(payment.id, key);
    assert.equal(again.json().code, 'capture_declined', again.body);
    assert.equal((await capture(payment.id, key)).body, again.body);
  }
});

test('the key of a capture still leads to it after 72 hours, and the key of a declined one to its refusal', async () => {
  const payment = await paidPayment(service, { capture: false });
  const refused = (): OperationOutcome => ({ kind: 'refused', reason: 'general_decline' });
  const declined = await answering('capture', refused, () => capture(payment.id, 'old-declined'));
  assert.equal(declined.json().code, 'capture_declined');
  const taken = await capture(payment.id, 'old-taken');
  assert.equal(taken.json().status, 'succeeded');
  clock.move(73 * hourMs);
  await refund(service, payment.id, '1.00');
  const again = await capture(payment.id, 'old-taken');
  assert.deepEqual([again.statusCode, again.json().refundedAmount?.value], [200, '1.00']);
  assert.equal((await capture(payment.id, 'old-declined')).json().code, 'capture_declined');
});

test('one key with two bodies at once: one is carried out, the other is refused and told why', async () => {
  for (let round = 0; round < 20; round++) {
    const payment = await paidPayment(service);
    const key = `two-bodies-${payment.id}`;
    const answers = await Promise.all(
      ['10.00', '20.00'].map((value) => refund(service, payment.id, value, key)),
    );
    assert.deepEqual(answers.map((answer) => answer.statusCode).sort(), [200, 422]);
    const refused = answers.find((answer) => answer.statusCode === 422);
    assert.equal(refused?.json().code, 'idempotency_key_reused');
  }
});

test('as many wallet refunds, captures and cancellations at once as there are connections all go through', async () => {
  const [person] = await db.many<{ owner: string }>(sql`
    select owner from checkout.ledger_accounts where kind = 'wallet'`);
  const userId = String(person?.owner);
  const amount = { minor: 100_000n, currency: 'AZN' };
  const topUp = topUpPosting({ id: deps.newId(), userId, amount, source: 'test' });
  await db.transaction((tx) => post(tx, topUp, clock.now()));
  const pay = async (captures: boolean) => {
    const changes = { amount: { value: '10.00', currency: 'AZN' }, capture: captures };
    const { id } = await createPayment(service, changes);
    await payByWallet(deps, { merchantId, paymentId: id as PaymentId }, userId, 0);
    return id;
  };
  const paid: string[] = [];
  const toCapture: string[] = [];
  const toCancel: string[] = [];
  for (let n = 0; n < 15; n++) {
    paid.push(await pay(true));
    toCapture.push(await pay(false));
    toCancel.push(await pay(false));
  }
  const answers = await Promise.all([
    ...paid.map((id) => refund(service, id, '10.00')),
    ...toCapture.map((id) => capture(id)),
    ...toCancel.map((id) => call(service, 'POST', `/v1/payments/${id}/cancel`)),
  ]);
  assert.deepEqual(
    answers.filter((answer) => answer.statusCode !== 200).map((answer) => answer.body),
    [],
  );
});

test('one sweep ends every payment whose time is up, however many there are', async () => {
  const key = (n: number) => `many-${n}`;
  const body = { ...order, expiresIn: 60 };
  for (let n = 0; n < 450; n++) await call(service, 'POST', '/v1/payments', { body, key: key(n) });
  clock.move(61_000);
  await sweep(deps);
  const { left } = await db.one<{ left: number }>(sql`
    select count(*)::int as left from checkout.payments
    where status = 'pending' and open_attempt_id is null and expires_at <= ${clock.now()}`);
  assert.equal(left, 0);
});

test('what fails in a sweep is left for the next one and holds nothing else up', async () => {
  const cancel = async () => {
    const { id } = await paidPayment(service, { capture: false });
    await call(service, 'POST', `/v1/payments/${id}/cancel`);
    return id;
  };
  await cancel();
  clock.move(1_000);
  await cancel();
  let refused: string | undefined;
  const refuseTheFirst = (reference: string): OperationOutcome | undefined => {
    refused ??= reference;
    return reference === refused ? { kind: 'unknown' } : undefined;
  };
  const due = () =>
    db.many(sql`select attempt_id from checkout.attempts where reversal = 'due'`).then((rows) => rows.length);
  assert.equal(await due(), 2);
  await answering('reverse', refuseTheFirst, () => sweep(deps));
  assert.equal(await due(), 1);
  clock.move(1_000);
  await sweep(deps);
  assert.equal(await due(), 0);
});

test('a reversal of which nobody knows is asked for after one second, then twice as late each time', async () => {
  const { id } = await paidPayment(service, { capture: false });
  await call(service, 'POST', `/v1/payments/${id}/cancel`);
  const delays: number[] = [];
  await answering('reverse', unknown, async () => {
    for (let n = 0; n < 14; n++) {
      await sweep(deps);
      const { at } = await db.one<{ at: Date }>(sql`
        select reverse_at as at from checkout.attempts where payment_id = ${id}`);
      delays.push((at.getTime() - clock.now().getTime()) / 1000);
      clock.set(at);
    }
  });
  assert.deepEqual(delays, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600, 3600]);
  await sweep(deps);
  assert.deepEqual(await reversalOf(id), 'done');
});

test('reversals that the acquirer refuses come to an end, are told, and hold no others up', async () => {
  const cancel = async () => {
    const { id } = await paidPayment(service, { capture: false });
    await call(service, 'POST', `/v1/payments/${id}/cancel`);
    return id;
  };
  for (let n = 0; n < 25; n++) await cancel();
  const due = await db.many<{ attemptId: string }>(sql`
    select attempt_id from checkout.attempts where reversal = 'due'`);
  const references = new Set(due.map(({ attemptId }) => `${attemptId}-reversal`));
  const good = await cancel();
  let asked = 0;
  const refuse = (reference: string): OperationOutcome | undefined => {
    if (!references.has(reference)) return undefined;
    asked++;
    return { kind: 'refused', reason: 'general_decline' };
  };
  service.logLines.length = 0;
  await answering('reverse', refuse, async () => {
    await sweep(deps);
    assert.equal(await reversalOf(good), 'done');
    clock.move(24 * hourMs);
    await sweep(deps);
  });
  assert.equal(asked, 25);
  const told = service.logLines.filter((line) => line.includes('the acquirer refuses to give money back'));
  assert.equal(told.length, 25);
  const breaches = await verifyLedger({ url, now: clock.now(), stuckAfterMs: 0 });
  assert.deepEqual([...new Set(breaches.map(({ invariant }) => invariant))], ['reversal_is_not_refused']);
  assert.equal(breaches.length, 25);
  // Somebody has seen to it.
  await db.run(sql`update checkout.attempts set reversal = 'done' where reversal = 'refused'`);
});

async function reversalOf(paymentId: string): Promise<string | null | undefined> {
  const [attempt] = await db.many<{ reversal: string | null }>(sql`
    select reversal from checkout.attempts where payment_id = ${paymentId}`);
  return attempt?.reversal;
}

test('what is not known is asked about ten at a time, by all nodes together once each', async () => {
  for (let n = 0; n < 25; n++) await payByCard(service, await createPayment(service), cards.lostThenApproved);
  clock.move(5_000);
  const { inquireAuthorization } = acquirer;
  let now = 0;
  let most = 0;
  let asked = 0;
  acquirer.inquireAuthorization = async (inquiry) => {
    asked++;
    now++;
    most = Math.max(most, now);
    await delay(20);
    now--;
    return inquireAuthorization(inquiry);
  };
  const settle = service.areas.jobs.find(({ name }) => name === 'checkout.settle');
  await settle?.run({});
  assert.deepEqual([asked, most], [25, 10]);
  for (let n = 0; n < 15; n++) await payByCard(service, await createPayment(service), cards.lostThenNever);
  clock.move(5_000);
  asked = 0;
  await Promise.all([settle?.run({}), settle?.run({}), settle?.run({})]);
  acquirer.inquireAuthorization = inquireAuthorization;
  assert.equal(asked, 15);
});

test('a process that stops takes nothing more up', async () => {
  await payByCard(service, await createPayment(service), cards.lostThenApproved);
  clock.move(5_000);
  const stopped = AbortSignal.abort();
  for (const job of service.areas.checkout.jobs) if (!job.name.includes('clean')) await job.run({}, stopped);
  const { left } = await db.one<{ left: number }>(sql`
    select count(*)::int as left from checkout.attempts where inquire_at <= ${clock.now()}`);
  assert.equal(left, 1);
  await sweep(deps);
});

test('payments that cannot be ended do not keep the others from it', async () => {
  const ids: string[] = [];
  for (let n = 0; n < 9; n++) {
    ids.push((await createPayment(service, { expiresIn: 60 })).id);
    clock.move(10);
  }
  const last = ids.pop();
  await db.run({
    name: '',
    text: `create function checkout.stuck_for_test() returns trigger language plpgsql as
      $$ begin if new.payment_id = any ('{${ids.join(',')}}'::uuid[]) then raise exception 'stuck'; end if; return new; end $$`,
    values: [],
  });
  await db.run(sql`create trigger stuck_for_test before update on checkout.payments
    for each row execute function checkout.stuck_for_test()`);
  clock.move(61_000);
  await sweep(deps);
  await db.run(sql`drop trigger stuck_for_test on checkout.payments`);
  const ended = await db.many<{ paymentId: string }>(sql`
    select payment_id from checkout.payments where payment_id = any (${[...ids, last]}::uuid[]) and status = 'canceled'`);
  assert.deepEqual(ended, [{ paymentId: last }]);
  await sweep(deps);
});

test('nothing of a payment, a refund, a capture or a cancellation stands in the queue of jobs', async () => {
  await refund(service, (await paidPayment(service)).id, '1.00');
  await capture((await paidPayment(service, { capture: false })).id);
  await call(service, 'POST', `/v1/payments/${(await paidPayment(service, { capture: false })).id}/cancel`);
  await payByCard(service, await createPayment(service), cards.lostThenApproved);
  const queued = await db.many(sql`select * from graphile_worker._private_jobs`);
  assert.deepEqual(queued, []);
});

test('a customer is answered although the acquirer is silent for longer than we promise, and what has begun goes on', async () => {
  const payment = await createPayment(service);
  const silence = gate();
  const { authorize } = acquirer;
  acquirer.authorize = async (asked) => {
    await silence.opened;
    return authorize(asked);
  };
  const answer = await payByCard(service, payment);
  assert.equal(answer.statusCode, 303);
  assert.equal((await readPayment(service, payment.id)).status, 'pending');

  acquirer.authorize = authorize;
  silence.open();
  const hasSucceeded = async () => (await readPayment(service, payment.id)).status === 'succeeded';
  await until('the payment has succeeded', hasSucceeded);
});

test('a merchant is answered although the acquirer is silent for longer than we promise, and the same key then knows', async () => {
  const { id } = await paidPayment(service);
  const silence = gate();
  const giveBack = acquirer.refund;
  acquirer.refund = async (asked) => {
    await silence.opened;
    return giveBack(asked);
  };
  const unanswered = await refund(service, id, '10.00', 'patience');
  assert.equal(unanswered.statusCode, 503);
  assert.equal(unanswered.json().code, 'outcome_unknown');
  assert.equal(unanswered.headers['retry-after'], '1');
  const [, refundId] = /^Refund (\S+) is pending/.exec(unanswered.json().detail) ?? [];

  acquirer.refund = giveBack;
  silence.open();
  const isRefunded = async () => (await readPayment(service, id)).refundedAmount.value === '10.00';
  await until('the refund has succeeded', isRefunded);
  const again = await refund(service, id, '10.00', 'patience');
  assert.equal(again.json().status, 'succeeded', again.body);
  assert.equal(again.json().id, refundId);
  assert.equal((await readPayment(service, id)).refundedAmount.value, '10.00');
});

test('what a customer has waited for the database before counts as well: two silences do not add up', async () => {
  const silence = gate();
  const { authorize } = acquirer;
  acquirer.authorize = async (asked) => {
    await silence.opened;
    return authorize(asked);
  };
  const waitMs = 3_000;
  const answerAfter = async (beforehand: () => Promise<unknown>) => {
    const payment = await createPayment(service);
    const page = await service.app.inject({ url: new URL(payment.confirmation.confirmationUrl).pathname });
    const form = cardFormOf(page.body);
    assert.ok(form);
    await beforehand();
    const begunAt = performance.now();
    const card = { number: cards.approved, expiry: '12/30', csc: '123', holder: 'A Customer' };
    const answer = await postForm(service, form.action, { ...form.fields, ...card });
    assert.equal(answer.statusCode, 303);
    return { payment, ms: performance.now() - begunAt };
  };
  const one = await answerAfter(async () => {});
  let unlocked: Promise<void> | undefined;
  const two = await answerAfter(async () => {
    const locked = gate();
    unlocked = db.transaction(async (tx) => {
      await tx.run(sql`lock table checkout.payments in access exclusive mode`);
      locked.open();
      await delay(waitMs);
    });
    await locked.opened;
  });
  await unlocked;
  assert.ok(two.ms - one.ms < waitMs / 2, `${one.ms} ms, and ${two.ms} ms with the wait before`);

  acquirer.authorize = authorize;
  silence.open();
  for (const { payment } of [one, two]) {
    const hasSucceeded = async () => (await readPayment(service, payment.id)).status === 'succeeded';
    await until('the payment has succeeded', hasSucceeded);
  }
});

test('a customer whose attempt has not begun in time is not shown a form as if nothing had happened', async () => {
  const payment = await createPayment(service);
  const page = await service.app.inject({ url: new URL(payment.confirmation.confirmationUrl).pathname });
  const form = cardFormOf(page.body);
  assert.ok(form);
  await db.run(sql`create function checkout.slow_for_test() returns trigger language plpgsql as
    $$ begin perform pg_sleep(4); return new; end $$`);
  await db.run(sql`create trigger slow_for_test before update on checkout.payments
    for each row execute function checkout.slow_for_test()`);
  await db.run(sql`create trigger slow_for_test before insert on checkout.attempts
    for each row execute function checkout.slow_for_test()`);
  const card = { number: cards.approved, expiry: '12/30', csc: '123', holder: 'A Customer' };
  const answer = await postForm(service, form.action, { ...form.fields, ...card });
  assert.equal(answer.statusCode, 503, answer.body);
  assert.ok(answer.body.includes(payTexts.az.trouble.text));
  const hasSucceeded = async () => (await readPayment(service, payment.id)).status === 'succeeded';
  await until('the payment has succeeded', hasSucceeded);
  await db.run(sql`drop function checkout.slow_for_test cascade`);
});

test('a customer who comes back from the bank is answered although the acquirer is silent, and what has begun goes on', async () => {
  const payment = await createPayment(service);
  await payByCard(service, payment, cards.challenge);
  await postForm(service, await bankOf(service, payment), { code: '1234' });
  const silence = gate();
  const { complete } = acquirer;
  acquirer.complete = async (asked) => {
    await silence.opened;
    return complete(asked);
  };
  const { confirmationUrl } = payment.confirmation;
  const back = await service.app.inject({ url: `${new URL(confirmationUrl).pathname}/return` });
  acquirer.complete = complete;
  silence.open();
  assert.equal(back.headers.location, confirmationUrl);
  const hasSucceeded = async () => (await readPayment(service, payment.id)).status === 'succeeded';
  await until('the payment has succeeded', hasSucceeded);
});

test('a customer who opens the page while the bank waits for them is shown it although the acquirer is silent', async () => {
  const payment = await createPayment(service);
  await payByCard(service, payment, cards.challenge);
  await postForm(service, await bankOf(service, payment), { code: '1234' });
  const silence = gate();
  const { inquireAuthorization } = acquirer;
  acquirer.inquireAuthorization = async (asked) => {
    await silence.opened;
    return inquireAuthorization(asked);
  };
  const page = await service.app.inject({ url: new URL(payment.confirmation.confirmationUrl).pathname });
  acquirer.inquireAuthorization = inquireAuthorization;
  silence.open();
  assert.ok(page.body.includes(payTexts.az.bank.title), page.body);
  const hasSucceeded = async () => (await readPayment(service, payment.id)).status === 'succeeded';
  await until('the payment has succeeded', hasSucceeded);
});

test('a challenge that was answered, and of whose end the acquirer did not hear, is completed by the job', async () => {
  const payment = await createPayment(service);
  await payByCard(service, payment, cards.challenge);
  const bank = await bankOf(service, payment);
  const { complete, inquireAuthorization } = acquirer;
  // One that takes the money when it is told that the customer came back, and not before.
  acquirer.inquireAuthorization = async () => ({ kind: 'challenge', url: bank });
  let told = 0;
  let isDown = true;
  acquirer.complete = async (asked) => {
    told++;
    return isDown ? { kind: 'unknown' } : complete(asked);
  };
  const { pathname } = new URL(payment.confirmation.confirmationUrl);
  await service.app.inject({ url: `${pathname}/return` });
  clock.move(1_000);
  await sweep(deps);
  assert.equal(told, 2);
  assert.equal((await readPayment(service, payment.id)).lastAttempt?.status, 'unknown');

  // Nobody had been at the bank: the customer is sent there still, and the job waits for them.
  isDown = false;
  clock.move(2_000);
  await sweep(deps);
  clock.move(2_000);
  await sweep(deps);
  assert.equal(told, 3);
  assert.equal(await bankOf(service, payment), bank);
  await postForm(service, bank, { code: '1234' });

  isDown = true;
  await service.app.inject({ url: `${pathname}/return` });
  isDown = false;
  clock.move(1_000);
  await sweep(deps);
  Object.assign(acquirer, { complete, inquireAuthorization });
  assert.equal((await readPayment(service, payment.id)).status, 'succeeded');
});

test('a challenge that nobody was shown is not completed: the customer is sent to the bank first', async () => {
  const payment = await createPayment(service);
  const { authorize, complete } = acquirer;
  acquirer.authorize = async (asked) => {
    await authorize(asked);
    return { kind: 'unknown' };
  };
  let told = 0;
  acquirer.complete = async (asked) => {
    told++;
    return complete(asked);
  };
  await payByCard(service, payment, cards.challenge);
  clock.move(1_000);
  await sweep(deps);
  Object.assign(acquirer, { authorize, complete });
  assert.equal(told, 0);
  await postForm(service, await bankOf(service, payment), { code: '1234' });
  clock.move(hourMs);
  await sweep(deps);
  assert.equal((await readPayment(service, payment.id)).status, 'succeeded');
});

test('after all that nothing is left open and the ledger is clean', async () => {
  const lost = await createPayment(service);
  await payByCard(service, lost, cards.lostThenNever);
  clock.move(2 * hourMs);
  await sweep(deps);
  assert.deepEqual(await verifyLedger({ url, now: clock.now(), stuckAfterMs: 0 }), []);
});
