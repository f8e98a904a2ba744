import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Acquirer } from '../../src/checkout/domain/acquirer.ts';
import { sweep } from '../../src/checkout/jobs.ts';
import { insertRefusal } from '../../src/checkout/store/idempotency.ts';
import { sql } from '../../src/platform/db.ts';
import { replacingAcquirer } from '../support/acquirer.ts';
import { startTestApp } from '../support/app.ts';
import { assertBooks } from '../support/books.ts';
import { patience } from '../support/database.ts';
import { gate } from '../support/gate.ts';
import {
  addMerchant,
  basic,
  call,
  codeOf,
  createPayment,
  liftRequestRate,
  order,
  type PaymentAnswer,
  paidPayment,
  payByCard,
  readPayment,
  refund,
} from '../support/merchant.ts';
import type { Answer } from '../support/partner.ts';

const service = await startTestApp();
await liftRequestRate(service);
const other = await addMerchant(service);
const { deps } = service.areas.checkout;
const realAcquirer = deps.acquirer;
const withAcquirer = replacingAcquirer(service);
const { db, clock } = service;
clock.set(new Date());
// Another node, which does not wait for locks as long as tests do.
const hasty = await startTestApp(
  { DATABASE_URL: service.config.database.url ?? '' },
  { limits: { ...patience, lock_timeout: 2_000 } },
);
hasty.clock.set(clock.now());
const address = await service.app.listen({ port: 0, host: '127.0.0.1' });
// Another deployment: its own database, and real money.
const live = await startTestApp();
live.areas.checkout.deps.test = false;

const hour = 3600_000;

async function heldPayment(): Promise<PaymentAnswer> {
  return paidPayment(service, { capture: false });
}

type Kind = {
  name: string;
  /** Where to send it and with which body; each time something new that can be done. */
  prepare(): Promise<{ path: string; body?: object }>;
  /** Another request to the same call. */
  otherBody(given: { path: string; body?: object }): Promise<{ path: string; body?: object }>;
};

const kinds: Kind[] = [
  {
    name: 'create payment',
    prepare: async () => ({ path: '/v1/payments', body: order }),
    otherBody: async () => ({
      path: '/v1/payments',
      body: { ...order, amount: { value: '99.99', currency: 'AZN' } },
    }),
  },
  {
    name: 'capture',
    prepare: async () => ({
      path: `/v1/payments/${(await heldPayment()).id}/capture`,
      body: { amount: { value: '60.00', currency: 'AZN' } },
    }),
    otherBody: async ({ path }) => ({ path, body: { amount: { value: '50.00', currency: 'AZN' } } }),
  },
  {
    name: 'cancel',
    prepare: async () => ({ path: `/v1/payments/${(await createPayment(service)).id}/cancel` }),
    otherBody: async () => ({ path: `/v1/payments/${(await createPayment(service)).id}/cancel` }),
  },
  {
    name: 'create refund',
    prepare: async () => ({
      path: '/v1/refunds',
      body: { paymentId: (await paidPayment(service)).id, amount: { value: '10.00', currency: 'AZN' } },
    }),
    otherBody: async ({ path, body }) => ({
      path,
      body: { ...body, amount: { value: '20.00', currency: 'AZN' } },
    }),
  },
];

function send(
  given: { path: string; body?: object | string },
  key: string | null,
  more: object = {},
  node = service,
) {
  return call(node, 'POST', given.path, { ...given, key, ...more });
}

/** By a merchant who may send one request a second, right after another; on a slow machine it takes more tries. */
async function sendTooSoon(
  given: { path: string; body?: object },
  key: string,
  authorization: string,
): Promise<Answer> {
  for (let tries = 0; ; tries++) {
    const before = await call(service, 'GET', '/v1/payments', { authorization });
    const answer = await send(given, key, { authorization });
    if (answer.statusCode === 429 || tries === 20) return answer;
    assert.ok(before.statusCode === 200 || before.statusCode === 429);
  }
}

/** Everything that a call could have left behind. */
async function traces(): Promise<unknown> {
  return db.one(sql`
    select (select count(*) from checkout.payments)::int as payments,
      (select count(*) from checkout.refunds)::int as refunds,
      (select count(*) from checkout.events)::int as events,
      (select count(*) from checkout.idempotency_keys)::int as keys,
      (select count(*) from checkout.answers)::int as answers,
      (select count(*) from checkout.ledger_entries)::int as entries`);
}

async function leavesNothing(work: () => Promise<unknown>): Promise<void> {
  const before = await traces();
  await work();
  assert.deepEqual(await traces(), before);
}

/** Over a real connection: what is injected would not come as two headers. */
async function sendKeyTwice(given: { path: string; body?: object }): Promise<unknown> {
  const request = httpRequest(`${address}/checkout${given.path}`, {
    method: 'POST',
    headers: {
      authorization: basic(),
      'x-idempotency-key': ['one', 'two'],
      ...(given.body ? { 'content-type': 'application/json' } : {}),
    },
  });
  request.end(given.body && JSON.stringify(given.body));
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return [response.statusCode, ((await json(response)) as { code: string }).code];
}

/** Makes every insert into a table fail, as a bug or a full disk would. */
async function withFailingTable(table: string, work: () => Promise<unknown>): Promise<void> {
  const run = (text: string) => db.run({ name: '', text, values: [] });
  await run(`create or replace function checkout.fail_for_test() returns trigger language plpgsql as
    $$ begin raise exception 'made to fail'; end $$`);
  await run(`create trigger fail_for_test before insert or update on checkout.${table}
    for each row execute function checkout.fail_for_test()`);
  try {
    await work();
  } finally {
    await run(`drop trigger fail_for_test on checkout.${table}`);
  }
}

const reads = async () => {
  const payment = await paidPayment(service);
  const made = (await refund(service, payment.id, '1.00')).json<{ id: string }>();
  return [`/v1/payments/${payment.id}`, `/v1/refunds/${made.id}`];
};

test('T49 F17 a key that is missing, empty, too long, not visible ASCII or sent twice is refused by all six calls', async () => {
  const targets = await Promise.all(kinds.map((kind) => kind.prepare()));
  for (const path of await reads()) targets.push({ path });
  await leavesNothing(async () => {
    for (const target of targets) {
      const missing = await send(target, null);
      assert.deepEqual([missing.statusCode, codeOf(missing)], [400, 'idempotency_key_missing'], target.path);
      for (const key of [
        '',
        'k'.repeat(256),
        'with space',
        'tab\there',
        'bell\u0007',
        'del\u007f',
        'schlüssel',
        '🔑',
      ]) {
        const answer = await send(target, key);
        assert.deepEqual(
          [answer.statusCode, codeOf(answer)],
          [400, 'idempotency_key_invalid'],
          `${target.path} ${key}`,
        );
      }
      const twice = await sendKeyTwice(target);
      assert.deepEqual(twice, [400, 'idempotency_key_invalid']);
    }
  });
  for (const key of ['k', `!~${'k'.repeat(253)}`, '"quoted"', 'a,b']) {
    assert.equal((await send({ path: '/v1/payments', body: order }, key)).statusCode, 200, key);
  }
});

for (const kind of kinds) {
  test(`the same key and request to ${kind.name} give the first answer again byte for byte, whatever has changed since`, async () => {
    const given = await kind.prepare();
    const key = randomUUID();
    const first = await send(given, key);
    assert.equal(first.statusCode, 200, first.body);
    assert.equal(first.headers['idempotency-replayed'], undefined);
    const payment = first.json<PaymentAnswer>();
    if (kind.name === 'create payment') await payByCard(service, payment);
    if (kind.name === 'capture') assert.equal((await refund(service, payment.id, '5.00')).statusCode, 200);
    await leavesNothing(async () => {
      for (let at = 0; at < 2; at++) {
        const again = await send(given, key);
        assert.equal(again.body, first.body);
        assert.equal(again.statusCode, 200);
        assert.equal(again.headers['content-type'], first.headers['content-type']);
        assert.equal(again.headers['idempotency-replayed'], 'true');
      }
    });
  });

  test(`T51 F5 F6 the key of ${kind.name} with another body, or for another call, is refused and nothing is done`, async () => {
    const given = await kind.prepare();
    const key = randomUUID();
    const first = await send(given, key);
    const different = await kind.otherBody(given);
    const elsewhere = await Promise.all(kinds.filter((one) => one !== kind).map((one) => one.prepare()));
    await leavesNothing(async () => {
      for (const target of [different, ...elsewhere]) {
        const answer = await send(target, key);
        assert.deepEqual([answer.statusCode, codeOf(answer)], [422, 'idempotency_key_reused'], target.path);
        assert.equal(answer.json().retryable, false);
      }
    });
    assert.equal((await send(given, key)).body, first.body);
  });

  test(`T50 F4 fifty ${kind.name} at once with one key do it once, and all get equal answers`, async () => {
    const given = await kind.prepare();
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: 50 }, () => send(given, key)));
    assert.deepEqual([...new Set(answers.map((answer) => answer.statusCode))], [200]);
    assert.equal(new Set(answers.map((answer) => answer.body)).size, 1);
    assert.equal(answers.filter((answer) => answer.headers['idempotency-replayed'] !== 'true').length, 1);
    const { keys } = await db.one<{ keys: number }>(sql`
      select count(*)::int as keys from checkout.idempotency_keys where key = ${key}`);
    assert.equal(keys, 1);
  });

  test(`F5 of two ${kind.name} at once with one key and different bodies, one is done and the other refused`, async () => {
    for (let round = 0; round < 10; round++) {
      const given = await kind.prepare();
      const different = await kind.otherBody(given);
      const key = randomUUID();
      const answers = await Promise.all([send(given, key), send(different, key)]);
      assert.deepEqual(
        answers.map((answer) => answer.statusCode).sort(),
        [200, 422],
        answers.map((answer) => answer.body).join('\n'),
      );
      const refused = answers.find((answer) => answer.statusCode === 422);
      assert.equal(refused && codeOf(refused), 'idempotency_key_reused');
    }
  });

  test(`F18 order of names and white space do not make another request of ${kind.name}`, async () => {
    const given = await kind.prepare();
    const key = randomUUID();
    const first = await send(given, key);
    const reversed = (value: unknown): unknown =>
      typeof value === 'object' && value !== null
        ? Object.fromEntries(
            Object.entries(value)
              .reverse()
              .map(([name, inside]) => [name, reversed(inside)]),
          )
        : value;
    for (const body of given.body
      ? [
          JSON.stringify(reversed(given.body)),
          JSON.stringify(given.body, null, 3),
          JSON.stringify(given.body).replace('AZN', '\\u0041ZN'),
        ]
      : ['{}', ' { } ', '']) {
      const again = await send({ path: given.path, body }, key);
      assert.equal(again.body, first.body, body);
    }
  });

  test(`T52 F7 another merchant's ${kind.name} under the same key has nothing to do with it`, async () => {
    const given = await kind.prepare();
    const key = randomUUID();
    const first = await send(given, key);
    const foreign = await send(given, key, { authorization: other.authorization });
    assert.equal(foreign.headers['idempotency-replayed'], undefined);
    assert.equal(foreign.statusCode, kind.name === 'create payment' ? 403 : 404, foreign.body);
    assert.ok(!foreign.body.includes(first.json<PaymentAnswer>().id));
    const own = await send({ path: '/v1/payments', body: other.order }, key, {
      authorization: other.authorization,
    });
    assert.equal(own.statusCode, 200);
    assert.notEqual(own.json<PaymentAnswer>().id, first.json<PaymentAnswer>().id);
    assert.equal((await send(given, key)).body, first.body);
  });

  test(`F10 after 72 hours the key of ${kind.name} gives the object as it now stands, and another body is refused`, async () => {
    const given = await kind.prepare();
    const key = randomUUID();
    const first = await send(given, key);
    const { id } = first.json<PaymentAnswer>();
    if (kind.name === 'create payment') await payByCard(service, first.json());
    if (kind.name === 'capture') await refund(service, id, '5.00');
    clock.move(72 * hour - 1);
    assert.equal((await send(given, key)).body, first.body);
    clock.move(1);
    const different = await kind.otherBody(given);
    await leavesNothing(async () => {
      const answer = await send(given, key);
      assert.equal(answer.statusCode, 200);
      const path = kind.name === 'create refund' ? `/v1/refunds/${id}` : `/v1/payments/${id}`;
      assert.deepEqual(answer.json(), (await call(service, 'GET', path)).json());
      const refused = await send(different, key);
      assert.deepEqual([refused.statusCode, codeOf(refused)], [422, 'idempotency_key_reused']);
    });
  });

  test(`T54 F9 a fault of ${kind.name} before the commit is not remembered: the same request is carried out`, async () => {
    const given = await kind.prepare();
    const key = randomUUID();
    for (const table of [
      'events',
      'idempotency_keys',
      ...(kind.name === 'create refund' ? ['ledger_accounts'] : []),
    ]) {
      await leavesNothing(() =>
        withFailingTable(table, async () => {
          const answer = await send(given, key);
          assert.deepEqual([answer.statusCode, codeOf(answer)], [500, 'internal_error']);
          assert.equal(answer.json().retryable, true);
          assert.ok(!answer.body.includes('made to fail'));
        }),
      );
    }
    const first = await send(given, key);
    assert.equal(first.statusCode, 200, first.body);
    assert.equal(first.headers['idempotency-replayed'], undefined);
    assert.equal((await send(given, key)).body, first.body);
  });

  test(`the key of ${kind.name} while the first holds it: it waits, then says so, and works once it is free`, async () => {
    const given = await kind.prepare();
    const key = randomUUID();
    const held = gate();
    const holding = gate();
    const call_ = {
      'create payment': 'create_payment',
      capture: 'capture_payment',
      cancel: 'cancel_payment',
    }[kind.name];
    const holder = db
      .transaction(async (tx) => {
        await tx.run(sql`
          insert into checkout.idempotency_keys (merchant_id, key, call, fingerprint, object_id, created_at)
          values (${order.merchantId}, ${key}, ${call_ ?? 'create_refund'}, ${Buffer.alloc(32)}, ${randomUUID()}, now())`);
        holding.open();
        await held.opened;
        throw new Error('rolled back');
      })
      .catch(() => {});
    await holding.opened;
    const answer = await send(given, key, {}, hasty);
    assert.deepEqual([answer.statusCode, codeOf(answer)], [409, 'idempotency_key_in_use']);
    assert.equal(answer.headers['retry-after'], '1');
    assert.equal(answer.json().retryable, true);
    const waiting = send(given, key);
    await delay(100);
    held.open();
    await holder;
    const done = await waiting;
    assert.equal(done.statusCode, 200, done.body);
    assert.equal((await send(given, key)).body, done.body);
  });

  test(`T55 a body of ${kind.name} that did not validate is not remembered`, async () => {
    const given = await kind.prepare();
    const key = randomUUID();
    const bad = given.body ? { ...given.body, surprise: true } : { surprise: true };
    await leavesNothing(async () => {
      const answer = await send({ path: given.path, body: bad }, key);
      assert.deepEqual([answer.statusCode, codeOf(answer)], [400, 'invalid_request'], answer.body);
    });
    const good = await send(given, key);
    assert.equal(good.statusCode, 200, good.body);
    assert.equal(good.headers['idempotency-replayed'], undefined);
  });

  test(`what is wrong with the caller or the form of ${kind.name} (400, 401, 403, 404, 413, 415, 429) is never remembered`, async () => {
    const given = await kind.prepare();
    const key = randomUUID();
    const slow = await addMerchant(service, { requestsPerSecond: 1 });
    await leavesNothing(async () => {
      const answers = [
        await send({ path: given.path, body: '{' }, key),
        await send(given, key, { authorization: null }),
        await send(given, key, { authorization: 'Basic bm9ib2R5Om5vdGhpbmc=' }),
        await send({ path: given.path, body: `{"a":"${'x'.repeat(70_000)}"}` }, key),
        await send(given, key, { headers: { 'content-encoding': 'gzip' } }),
        await sendTooSoon(given, key, slow.authorization),
      ];
      assert.deepEqual(
        answers.map((answer) => answer.statusCode),
        [400, 401, 401, 413, 415, 429],
      );
      const elsewhere = {
        'create payment': { path: '/v1/payments', body: { ...order, merchantId: 'SOMEONEELSE' } },
        'create refund': { path: '/v1/refunds', body: { ...given.body, paymentId: randomUUID() } },
      }[kind.name] ?? {
        path: given.path.replace(/[0-9a-f-]{36}/, '01900000-0000-7000-8000-000000000000'),
        body: given.body ?? {},
      };
      const refused = await send(elsewhere, key);
      assert.equal(refused.statusCode, kind.name === 'create payment' ? 403 : 404);
    });
    const good = await send(given, key);
    assert.equal(good.statusCode, 200, good.body);
    assert.equal(good.headers['idempotency-replayed'], undefined);
  });
}

test('a refusal by a rule is remembered for 72 hours, even when it would no longer be given', async () => {
  const payment = await createPayment(service);
  const held = await heldPayment();
  const waiting = await createPayment(service, { capture: false });
  const targets = [
    {
      path: '/v1/refunds',
      body: { paymentId: payment.id, amount: order.amount },
      code: 'payment_not_refundable',
    },
    { path: `/v1/payments/${waiting.id}/capture`, body: {}, code: 'payment_not_capturable' },
    {
      path: `/v1/payments/${held.id}/capture`,
      body: { amount: { value: '100.01', currency: 'AZN' } },
      code: 'capture_amount_exceeded',
    },
    {
      path: '/v1/payments',
      body: { ...order, amount: { value: '1', currency: 'JPY' } },
      code: 'currency_not_supported',
    },
    {
      path: '/v1/payments',
      body: { ...order, amount: { value: '1', currency: 'ZZZ' } },
      code: 'currency_not_supported',
    },
    {
      path: '/v1/refunds',
      body: { paymentId: payment.id, amount: { value: '1', currency: 'ZZZ' } },
      code: 'payment_not_refundable',
    },
    {
      path: `/v1/payments/${held.id}/capture`,
      body: { amount: { value: '1', currency: 'ZZZ' } },
      code: 'currency_mismatch',
    },
    {
      path: '/v1/payments',
      body: { ...order, confirmation: { type: 'REDIRECT', returnUrl: 'http://elsewhere.example/' } },
      code: 'return_url_not_allowed',
    },
  ];
  const firsts: { key: string; answer: Answer }[] = [];
  for (const target of targets) {
    const key = randomUUID();
    const answer = await send(target, key);
    assert.equal(codeOf(answer), target.code);
    firsts.push({ key, answer });
  }
  await payByCard(service, payment);
  await payByCard(service, waiting);
  for (const [at, target] of targets.entries()) {
    const { key = '', answer: first } = firsts[at] ?? {};
    const again = await send(target, key);
    assert.equal(again.body, first?.body, target.code);
    assert.equal(again.statusCode, first?.statusCode);
    assert.equal(again.headers['content-type'], first?.headers['content-type']);
    assert.equal(again.headers['idempotency-replayed'], 'true');
    const mended = await send({ path: '/v1/payments', body: order }, key);
    assert.equal(codeOf(mended), 'idempotency_key_reused');
  }
  clock.move(72 * hour);
  const key = firsts[0]?.key ?? '';
  const done = await send(
    { path: '/v1/refunds', body: { paymentId: payment.id, amount: order.amount } },
    key,
  );
  assert.equal(done.statusCode, 200, done.body);
});

test('a used key with an id that is none is a used key, whatever the call', async () => {
  const payment = await paidPayment(service);
  const key = randomUUID();
  assert.equal((await refund(service, payment.id, '1.00', key)).statusCode, 200);
  for (const target of [
    { path: '/v1/refunds', body: { paymentId: 'nonsense', amount: order.amount } },
    { path: '/v1/payments/nonsense/capture', body: {} },
    { path: '/v1/payments/nonsense/cancel' },
  ]) {
    const answer = await send(target, key);
    assert.deepEqual([answer.statusCode, codeOf(answer)], [422, 'idempotency_key_reused'], target.path);
  }
});

test('fifty refusals at once under one key are one refusal', async () => {
  const { id } = await createPayment(service);
  for (const target of [
    { path: '/v1/refunds', body: { paymentId: id, amount: order.amount } },
    { path: '/v1/payments', body: { ...order, amount: { value: '1', currency: 'JPY' } } },
    { path: `/v1/payments/${id}/capture`, body: {} },
  ]) {
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: 50 }, () => send(target, key)));
    assert.equal(new Set(answers.map((answer) => answer.body)).size, 1, target.path);
    const { kept } = await db.one<{ kept: number }>(sql`
      select count(*)::int as kept from checkout.answers where key = ${key}`);
    assert.equal(kept, 1);
  }
});

test('a refusal that was overtaken by a success under its key is not what the key leads to', async () => {
  // The first is refused and held up before it can write that down; meanwhile the payment is paid, and a second
  // request with the same key goes through.
  const payment = await createPayment(service);
  const body = { paymentId: payment.id, amount: order.amount };
  const key = randomUUID();
  const held = gate();
  const holding = gate();
  const holder = db.transaction(async (tx) => {
    await tx.run(sql`lock table checkout.answers in share mode`);
    holding.open();
    await held.opened;
  });
  await holding.opened;
  const first = send({ path: '/v1/refunds', body }, key);
  await delay(200);
  await payByCard(service, payment);
  const second = send({ path: '/v1/refunds', body }, key);
  await delay(200);
  held.open();
  await holder;
  const answers = await Promise.all([first, second]);
  const again = await send({ path: '/v1/refunds', body }, key);
  const refunds = await db.many(sql`select 1 from checkout.refunds where payment_id = ${payment.id}`);
  // Whichever came first, the key has one answer, and it tells whether there is a refund.
  assert.equal(again.statusCode, refunds.length === 1 ? 200 : 409);
  for (const answer of answers) assert.equal(answer.body, again.body);
});

test('T56 F16 a poller that keeps its key sees every change, of a payment and of a refund', async () => {
  const payment = await createPayment(service);
  const key = randomUUID();
  const read = () => send({ path: `/v1/payments/${payment.id}` }, key);
  const before = await read();
  assert.equal(before.json().status, 'pending');
  await payByCard(service, payment);
  const after = await read();
  assert.equal(after.json().status, 'succeeded');
  assert.equal(after.headers['idempotency-replayed'], undefined);
  // The key of a read is not used up: it may be anything else's as well.
  assert.equal((await send({ path: '/v1/payments', body: order }, key)).statusCode, 200);
  assert.equal((await read()).json().status, 'succeeded');

  let settled = false;
  const made = await withAcquirer(
    {
      refund: async (given) => (settled ? realAcquirer.refund(given) : { kind: 'unknown' }),
      inquireOperation: async () => ({ kind: 'unknown' }),
    },
    () => refund(service, payment.id, '10.00'),
  );
  assert.deepEqual([made.statusCode, codeOf(made)], [503, 'outcome_unknown']);
  const [, id] = /Refund ([0-9a-f-]{36}) /.exec(made.json().detail) ?? [];
  const readRefund = () => send({ path: `/v1/refunds/${id}` }, key);
  assert.equal((await readRefund()).json().status, 'pending');
  settled = true;
  clock.move(1_000);
  await sweep(deps);
  assert.equal((await readRefund()).json().status, 'succeeded');
});

test('a read takes no body, an empty one or {}, under any content type, and nothing else', async () => {
  for (const path of await reads()) {
    for (const [body, type] of [
      ['', 'application/json'],
      ['{}', 'application/json'],
      ['{ }', 'text/plain'],
      ['', 'application/x-www-form-urlencoded'],
      ['{}', 'application/xml'],
    ] as const) {
      const answer = await send({ path, body }, 'poll', { headers: { 'content-type': type } });
      assert.equal(answer.statusCode, 200, `${path} ${body} ${type}`);
    }
    assert.equal((await send({ path }, 'poll')).statusCode, 200);
    for (const body of ['[]', '{"a":1}', 'null', '{', '{}{}']) {
      assert.equal((await send({ path, body }, 'poll')).statusCode, 400, body);
    }
    assert.equal((await call(service, 'GET', path)).statusCode, 200);
  }
});

test('F1 a refund whose process died before the acquirer heard of it goes on under its key, once', async () => {
  const payment = await paidPayment(service);
  const key = randomUUID();
  const body = { paymentId: payment.id, amount: order.amount };
  const died = await withAcquirer({ refund: () => Promise.reject(new Error('the process is gone')) }, () =>
    send({ path: '/v1/refunds', body }, key),
  );
  assert.equal(died.statusCode, 500);
  assert.equal((await readPayment(service, payment.id)).refundableAmount.value, '0.00');
  // Whoever began has ten seconds before anybody else goes on.
  const early = await send({ path: '/v1/refunds', body }, key);
  assert.deepEqual([early.statusCode, codeOf(early)], [409, 'idempotency_key_in_use']);
  clock.move(10_000);
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => send({ path: '/v1/refunds', body }, key)),
  );
  assert.deepEqual([...new Set(answers.map((answer) => answer.statusCode))], [200]);
  assert.equal(new Set(answers.map((answer) => answer.body)).size, 1);
  assert.equal(answers[0]?.json().status, 'succeeded');
  assert.equal((await readPayment(service, payment.id)).refundedAmount.value, '100.00');
});

test('F2 a refund or capture that the acquirer has done before the process died is found out, not done again', async () => {
  for (const kind of ['refund', 'capture'] as const) {
    const payment = kind === 'refund' ? await paidPayment(service) : await heldPayment();
    const key = randomUUID();
    const target =
      kind === 'refund'
        ? { path: '/v1/refunds', body: { paymentId: payment.id, amount: order.amount } }
        : { path: `/v1/payments/${payment.id}/capture`, body: {} };
    let sent = 0;
    const counted: Acquirer[typeof kind] = (given) => {
      sent++;
      return realAcquirer[kind](given);
    };
    await withAcquirer(
      {
        [kind]: async (given: Parameters<Acquirer['refund']>[0]) => {
          await counted(given);
          throw new Error('the process is gone');
        },
      },
      async () => assert.equal((await send(target, key)).statusCode, 500),
    );
    clock.move(10_000);
    const answer = await withAcquirer({ [kind]: counted }, () => send(target, key));
    assert.equal(answer.statusCode, 200, answer.body);
    assert.equal(answer.json().status, 'succeeded');
    assert.equal(sent, 1);
    assert.equal((await send(target, key)).body, answer.body);
  }
});

test('F2 what the job has settled is what the key leads to, byte for byte from then on', async () => {
  for (const kind of ['refund', 'capture'] as const) {
    const payment = kind === 'refund' ? await paidPayment(service) : await heldPayment();
    const key = randomUUID();
    const target =
      kind === 'refund'
        ? {
            path: '/v1/refunds',
            body: { paymentId: payment.id, amount: { value: '50.00', currency: 'AZN' } },
          }
        : { path: `/v1/payments/${payment.id}/capture`, body: {} };
    await withAcquirer({ [kind]: async () => ({ kind: 'unknown' }) }, async () => {
      const answer = await send(target, key);
      assert.deepEqual([answer.statusCode, codeOf(answer)], [503, 'outcome_unknown']);
      assert.equal(answer.headers['retry-after'], '1');
      assert.equal(answer.json().retryable, true);
    });
    clock.move(1_000);
    await sweep(deps);
    const first = await send(target, key);
    assert.equal(first.json().status, 'succeeded', first.body);
    await refund(service, payment.id, '10.00');
    assert.equal((await send(target, key)).body, first.body);
  }
});

test('T53 F3 an answer that was committed and never arrived is given again, with one posting', async () => {
  const payment = await paidPayment(service);
  const target = { path: '/v1/refunds', body: { paymentId: payment.id, amount: order.amount } };
  const key = randomUUID();
  // The caller hangs up: nobody reads the answer, which is committed all the same.
  await send(target, key);
  const again = await send(target, key);
  assert.equal(again.headers['idempotency-replayed'], 'true');
  const postings = await db.many(sql`
    select kind from checkout.ledger_transactions where reference = ${again.json().id}::uuid order by kind`);
  assert.deepEqual(postings, [{ kind: 'refund_held' }, { kind: 'refund_succeeded' }]);
});

test('an answer that a later request brought about is the first under its key: one, and not called replayed', async () => {
  for (const kind of ['refund', 'capture'] as const) {
    const payment = kind === 'refund' ? await paidPayment(service) : await heldPayment();
    const key = randomUUID();
    const target =
      kind === 'refund'
        ? { path: '/v1/refunds', body: { paymentId: payment.id, amount: order.amount } }
        : { path: `/v1/payments/${payment.id}/capture`, body: {} };
    const lost = await withAcquirer({ [kind]: async () => ({ kind: 'unknown' }) }, () => send(target, key));
    assert.equal(lost.statusCode, 503);
    clock.move(1_500);
    const slowly: Partial<Acquirer> = {
      async inquireOperation(given) {
        clock.move(100);
        return realAcquirer.inquireOperation(given);
      },
    };
    const first = await withAcquirer(slowly, () => send(target, key));
    assert.equal(first.json().status, 'succeeded', first.body);
    assert.equal(first.headers['idempotency-replayed'], undefined);
    clock.move(100);
    const again = await send(target, key);
    assert.equal(again.body, first.body);
    assert.equal(again.headers['idempotency-replayed'], 'true');
    const kept = await db.many(sql`select 1 from checkout.answers where key = ${key}`);
    assert.equal(kept.length, 1);
  }
});

test('a creation that waited for a refusal under its key is refused as well, and makes nothing', async () => {
  const key = randomUUID();
  const held = gate();
  const holding = gate();
  const refusal = db.transaction(async (tx) => {
    const former = {
      merchantId: order.merchantId,
      key,
      call: 'create_refund',
      fingerprint: Buffer.alloc(32),
    } as const;
    await insertRefusal(tx, former, { status: 409, body: '{"code":"payment_not_refundable"}' }, clock.now());
    holding.open();
    await held.opened;
  });
  await holding.opened;
  const creation = send({ path: '/v1/payments', body: order }, key);
  await delay(200);
  held.open();
  await refusal;
  assert.equal(codeOf(await creation), 'idempotency_key_reused');
  assert.deepEqual(await db.many(sql`select 1 from checkout.idempotency_keys where key = ${key}`), []);
});

test('only a wait for the key says that the key is in use: a wait for the payment is 503, and may be sent again', async () => {
  const payment = await paidPayment(service);
  const key = randomUUID();
  const target = { path: '/v1/refunds', body: { paymentId: payment.id, amount: order.amount } };
  const held = gate();
  const holding = gate();
  const holder = db.transaction(async (tx) => {
    await tx.run(sql`select 1 from checkout.payments where payment_id = ${payment.id} for update`);
    holding.open();
    await held.opened;
  });
  await holding.opened;
  const answer = await send(target, key, {}, hasty);
  held.open();
  await holder;
  assert.deepEqual([answer.statusCode, codeOf(answer)], [503, 'service_unavailable']);
  assert.equal(answer.headers['retry-after'], '1');
  assert.equal((await send(target, key)).statusCode, 200);
});

test('a retry that waits is answered once the job has settled what it waits for', async () => {
  for (const kind of ['refund', 'capture'] as const) {
    const payment = kind === 'refund' ? await paidPayment(service) : await heldPayment();
    const key = randomUUID();
    const target =
      kind === 'refund'
        ? { path: '/v1/refunds', body: { paymentId: payment.id, amount: order.amount } }
        : { path: `/v1/payments/${payment.id}/capture`, body: {} };
    await withAcquirer({ [kind]: () => Promise.reject(new Error('the process is gone')) }, () =>
      send(target, key),
    );
    clock.move(10_000);
    const asked = gate();
    const answered = gate();
    const slowly: Partial<Acquirer> = {
      async inquireOperation(given) {
        asked.open();
        await answered.opened;
        return realAcquirer.inquireOperation(given);
      },
    };
    const answer = await withAcquirer(slowly, async () => {
      const job = sweep(deps);
      await asked.opened;
      const waiting = send(target, key);
      await delay(100);
      answered.open();
      await job;
      return waiting;
    });
    assert.equal(answer.json().status, 'succeeded', answer.body);
    assert.equal((await send(target, key)).body, answer.body);
  }
});

test('F12 a refund of which the acquirer never heard is sent again by the job, and the hold ends', async () => {
  const payment = await paidPayment(service);
  const answer = await withAcquirer({ refund: async () => ({ kind: 'unknown' }) }, () =>
    refund(service, payment.id, '100.00'),
  );
  assert.equal(answer.statusCode, 503);
  clock.move(999);
  await sweep(deps);
  assert.equal((await readPayment(service, payment.id)).refundedAmount.value, '0.00');
  clock.move(1);
  await sweep(deps);
  assert.equal((await readPayment(service, payment.id)).refundedAmount.value, '100.00');
});

test('F12 a refund that certainly did not happen is canceled, and the hold is released', async () => {
  const payment = await paidPayment(service);
  const answer = await withAcquirer({ refund: async () => ({ kind: 'failed' }) }, () =>
    refund(service, payment.id, '100.00'),
  );
  assert.equal(answer.json().status, 'canceled');
  assert.deepEqual(answer.json().cancellationDetails, { party: 'acquirer', reason: 'issuer_unavailable' });
  assert.equal((await readPayment(service, payment.id)).refundableAmount.value, '100.00');
});

test('F13 a connection killed in the middle of the transaction leaves nothing, and the same request works', async () => {
  for (const kind of kinds) {
    const given = await kind.prepare();
    const key = randomUUID();
    await db.run({
      name: '',
      text: `create or replace function checkout.die_for_test() returns trigger language plpgsql as
        $$ begin perform pg_terminate_backend(pg_backend_pid()); perform pg_sleep(5); return new; end $$`,
      values: [],
    });
    await leavesNothing(async () => {
      await db.run(sql`create trigger die_for_test after insert on checkout.events
        for each row execute function checkout.die_for_test()`);
      const answer = await send(given, key);
      await db.run(sql`drop trigger die_for_test on checkout.events`);
      assert.deepEqual([answer.statusCode, codeOf(answer)], [503, 'service_unavailable'], kind.name);
      assert.equal(answer.headers['retry-after'], '1');
    });
    const again = await send(given, key);
    assert.equal(again.statusCode, 200, again.body);
  }
});

test('F15 a deadlock or a serialization failure is 503, and the same request works', async () => {
  for (const code of ['40P01', '40001']) {
    const given = { path: '/v1/payments', body: order };
    const key = randomUUID();
    await db.run({
      name: '',
      text: `create or replace function checkout.clash_for_test() returns trigger language plpgsql as
        $$ begin raise exception 'clash' using errcode = '${code}'; end $$`,
      values: [],
    });
    await db.run(sql`create trigger clash_for_test before insert on checkout.payments
      for each row execute function checkout.clash_for_test()`);
    const answer = await send(given, key);
    await db.run(sql`drop trigger clash_for_test on checkout.payments`);
    assert.deepEqual([answer.statusCode, codeOf(answer)], [503, 'service_unavailable']);
    assert.equal((await send(given, key)).statusCode, 200);
  }
});

test('F19 a worker that comes back after its lease finds the refund settled by another, once', async () => {
  const payment = await paidPayment(service);
  const key = randomUUID();
  const target = { path: '/v1/refunds', body: { paymentId: payment.id, amount: order.amount } };
  const asleep = gate();
  const awake = gate();
  const slow = withAcquirer(
    {
      async refund() {
        asleep.open();
        await awake.opened;
        // It has not been sent: for this worker it has certainly failed.
        return { kind: 'failed' };
      },
    },
    async () => {
      const first = send(target, key);
      await asleep.opened;
      deps.acquirer = realAcquirer;
      clock.move(10_000);
      await sweep(deps);
      awake.open();
      return first;
    },
  );
  const answer = await slow;
  assert.equal(answer.json().status, 'succeeded', answer.body);
  assert.equal((await send(target, key)).body, answer.body);
  assert.equal((await readPayment(service, payment.id)).refundedAmount.value, '100.00');
});

test('F20 a node whose clock is behind gives the same answers and makes nothing twice', async () => {
  const now = clock.now();
  const firsts: { given: { path: string; body?: object }; key: string; first: Answer }[] = [];
  for (const kind of kinds) {
    const given = await kind.prepare();
    const key = randomUUID();
    firsts.push({ given, key, first: await send(given, key) });
  }
  clock.set(new Date(now.getTime() - 2 * hour));
  await leavesNothing(async () => {
    for (const { given, key, first } of firsts) assert.equal((await send(given, key)).body, first.body);
  });
  clock.set(now);
});

test('answers older than their keeping are dropped by the clean-up, and the guard holds all the same', async () => {
  const key = randomUUID();
  const first = await send({ path: '/v1/payments', body: order }, key);
  const cleanUp = service.areas.jobs.find((job) => job.name === 'checkout.clean-up');
  await cleanUp?.run({});
  assert.equal((await send({ path: '/v1/payments', body: order }, key)).body, first.body);
  clock.move(6 * 24 * hour);
  await cleanUp?.run({});
  const kept = await db.many(sql`select 1 from checkout.answers where key = ${key}`);
  assert.deepEqual(kept, []);
  const again = await send({ path: '/v1/payments', body: order }, key);
  assert.equal(again.json<PaymentAnswer>().id, first.json<PaymentAnswer>().id);
  assert.equal(again.json<PaymentAnswer>().status, 'canceled');
});

test('after all this the books are right', () => assertBooks(service));

test('F8 the same key in test and live are two payments: a deployment is one or the other, and each says which', async () => {
  const body = order;
  const inTest = await call(service, 'POST', '/v1/payments', { body, key: 'test-and-live' });
  const inLive = await call(live, 'POST', '/v1/payments', { body, key: 'test-and-live' });
  assert.deepEqual([inTest.json().test, inLive.json().test], [true, false]);
  assert.notEqual(inTest.json().id, inLive.json().id);
});
