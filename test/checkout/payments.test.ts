import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { payByWallet, payByCard as payWithCard } from '../../src/checkout/attempt.ts';
import type { PaymentId } from '../../src/checkout/domain/payment.ts';
import { sweep } from '../../src/checkout/jobs.ts';
import { createMerchantDirectory } from '../../src/checkout/merchant-directory.ts';
import { sql } from '../../src/platform/db.ts';
import { replacingAcquirer } from '../support/acquirer.ts';
import { startTestApp } from '../support/app.ts';
import { assertBooks } from '../support/books.ts';
import { gate } from '../support/gate.ts';
import {
  addMerchant,
  bankOf,
  basic,
  call,
  cardFormOf,
  cards,
  codeOf,
  createPayment,
  demoMerchant,
  liftRequestRate,
  order,
  type PaymentAnswer,
  paidPayment,
  payByCard,
  postForm,
  readPayment,
  refund,
} from '../support/merchant.ts';
import {
  type Answer,
  bearer,
  credentials,
  formsOf,
  logIn,
  type Tokens,
  tokenCall,
} from '../support/partner.ts';

const service = await startTestApp();
await liftRequestRate(service);
const other = await addMerchant(service);
const { db, clock } = service;
clock.set(new Date());
const { deps } = service.areas.checkout;
const realAcquirer = deps.acquirer;
const withAcquirer = replacingAcquirer(service);

const azn = (value: unknown) => ({ value, currency: 'AZN' });
const hour = 3600_000;
const day = 24 * hour;
const create = (changes: object) => call(service, 'POST', '/v1/payments', { body: { ...order, ...changes } });
const pointersOf = (answer: Answer) =>
  (answer.json<{ errors?: { pointer: string }[] }>().errors ?? []).map(({ pointer }) => pointer);

async function count(table: string): Promise<number> {
  const text = `select count(*)::int as rows from checkout.${table}`;
  return (await db.one<{ rows: number }>({ name: '', text, values: [] })).rows;
}

async function storesNothing(work: () => Promise<void>): Promise<void> {
  const tables = ['payments', 'events', 'idempotency_keys', 'attempts', 'ledger_entries'];
  const before = await Promise.all(tables.map(count));
  await work();
  assert.deepEqual(await Promise.all(tables.map(count)), before);
}

/** The same but for what names the request. */
function withoutIds(answer: Answer): object {
  const { requestId: _, ...body } = answer.json<Record<string, unknown>>();
  const { 'x-request-id': __, date: ___, ...headers } = answer.headers;
  return { status: answer.statusCode, body, headers };
}

const capture = (id: string, body: object = {}) =>
  call(service, 'POST', `/v1/payments/${id}/capture`, { body });
const cancel = (id: string) => call(service, 'POST', `/v1/payments/${id}/cancel`);

function pageOf(payment: PaymentAnswer): Promise<Answer> {
  return service.app.inject({
    url: new URL(payment.confirmation.confirmationUrl).pathname,
    headers: { 'accept-language': 'en' },
  });
}

/** The card form as it is shown now, filled in. */
async function cardForm(payment: PaymentAnswer, number = cards.approved) {
  const form = cardFormOf((await pageOf(payment)).body);
  if (!form) throw new Error('no form is shown');
  return {
    action: form.action,
    fields: { ...form.fields, number, expiry: '12/30', csc: '123', holder: 'A Customer' },
  };
}

const attemptsOf = (payment: PaymentAnswer) =>
  db.many<{ status: string; reason: string | null; reversal: string | null }>(sql`
    select status, reason, reversal from checkout.attempts where payment_id = ${payment.id}::uuid
    order by attempt_id`);

const sandboxOf = (payment: PaymentAnswer) =>
  db.many<{ status: string; captured: bigint; reversed: boolean }>(sql`
    select s.status, s.captured, s.reversed from checkout.sandbox_authorizations s
    join checkout.attempts a on a.attempt_id::text = s.reference where a.payment_id = ${payment.id}::uuid`);

test('T48 without credentials, with wrong ones, or of a merchant or client that was switched off: 401, one shape', async () => {
  const closed = await addMerchant(service);
  await db.run(
    sql`update checkout.merchants set disabled_at = now() where merchant_id = ${closed.merchantId}`,
  );
  const revoked = await addMerchant(service);
  await db.run(
    sql`update identity.clients set disabled_at = now() where merchant_id = ${revoked.merchantId}`,
  );
  const partner = basic(credentials.client_id, credentials.client_secret);
  for (const [authorization, code] of [
    [null, 'credentials_missing'],
    ['', 'credentials_missing'],
    ['Digest x', 'credentials_missing'],
    [basic('demo-merchant', 'wrong'), 'credentials_invalid'],
    [basic('nobody', 'wrong'), 'credentials_invalid'],
    ['Basic !!!', 'credentials_invalid'],
    ['Bearer abc', 'credentials_invalid'],
    [closed.authorization, 'credentials_invalid'],
    [revoked.authorization, 'credentials_invalid'],
  ] as const) {
    for (const [method, path] of [
      ['POST', '/v1/payments'],
      ['POST', `/v1/payments/${randomUUID()}`],
      ['POST', '/v1/refunds'],
      ['GET', '/v1/balance'],
    ] as const) {
      const answer = await call(service, method, path, {
        authorization,
        ...(method === 'POST' ? { body: order } : {}),
      });
      assert.deepEqual([answer.statusCode, codeOf(answer)], [401, code], `${authorization} ${path}`);
      assert.equal(answer.headers['www-authenticate'], 'Bearer, Basic realm="tollgate"');
      assert.deepEqual(Object.keys(answer.json()).sort(), [
        'code',
        'requestId',
        'retryable',
        'status',
        'title',
        'type',
      ]);
    }
  }
  // A partner's program has credentials, but belongs to no merchant.
  const answer = await call(service, 'GET', '/v1/balance', { authorization: partner });
  assert.ok(answer.statusCode === 401 || answer.statusCode === 403, answer.body);
});

async function token(fields: Record<string, string>): Promise<string> {
  const answer = await tokenCall(service, { grant_type: 'client_credentials', ...fields });
  assert.equal(answer.statusCode, 200, answer.body);
  return answer.json<Tokens>().access_token;
}

test('a Bearer token pays with the scope payments and refunds with the scope refunds, until it expires', async () => {
  const secret = { client_id: demoMerchant.clientId, client_secret: demoMerchant.clientSecret };
  const both = await token(secret);
  const payments = await token({ ...secret, scope: 'payments' });
  const refunds = await token({ ...secret, scope: 'refunds' });
  const payment = await paidPayment(service);
  const tries = async (access: string) => {
    const { authorization } = bearer(access) as { authorization: string };
    return Promise.all([
      call(service, 'POST', '/v1/payments', { body: order, authorization }),
      call(service, 'GET', `/v1/payments/${payment.id}`, { authorization }),
      call(service, 'GET', '/v1/balance', { authorization }),
      call(service, 'POST', '/v1/refunds', {
        body: { paymentId: payment.id, amount: azn('1.00') },
        authorization,
      }),
      call(service, 'GET', '/v1/refunds', { authorization }),
    ]);
  };
  const statuses = async (access: string) => (await tries(access)).map((answer) => answer.statusCode);
  assert.deepEqual(await statuses(both), [200, 200, 200, 200, 200]);
  assert.deepEqual(await statuses(payments), [200, 200, 200, 403, 403]);
  assert.deepEqual(await statuses(refunds), [403, 403, 403, 200, 200]);
  const [refused] = await tries(refunds);
  assert.equal(refused && codeOf(refused), 'scope_missing');
  assert.match(String(refused?.headers['www-authenticate']), /insufficient_scope/);

  const person = await logIn(service);
  assert.deepEqual(await statuses(person.access_token), [401, 401, 401, 401, 401]);
  assert.deepEqual(await statuses(person.id_token), [401, 401, 401, 401, 401]);
  const [head, body, signature = ''] = both.split('.');
  assert.deepEqual(
    await statuses(`${head}.${body}.${signature.slice(0, -4)}AAAA`),
    [401, 401, 401, 401, 401],
  );
  clock.move(299_000);
  assert.deepEqual(await statuses(both), [200, 200, 200, 200, 200]);
  clock.move(120_000);
  assert.deepEqual(await statuses(both), [401, 401, 401, 401, 401]);
});

test('Basic credentials have the scopes that the client is registered for', async () => {
  const merchant = await addMerchant(service, { scopes: ['payments'] });
  const { authorization } = merchant;
  assert.equal(
    (await call(service, 'POST', '/v1/payments', { body: merchant.order, authorization })).statusCode,
    200,
  );
  const answer = await call(service, 'GET', '/v1/refunds', { authorization });
  assert.deepEqual([answer.statusCode, codeOf(answer)], [403, 'scope_missing']);
});

test('more requests than agreed are 429 with the time to wait, counted over all calls of the merchant', async () => {
  const merchant = await addMerchant(service, { requestsPerSecond: 5 });
  const { authorization } = merchant;
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, at) =>
      call(service, 'GET', at % 2 ? '/v1/balance' : '/v1/refunds', { authorization }),
    ),
  );
  const refused = answers.filter((answer) => answer.statusCode === 429);
  assert.ok(refused.length >= 20, `${refused.length} of 30`);
  assert.ok(refused.length <= 25);
  for (const answer of refused) {
    assert.equal(codeOf(answer), 'rate_limited');
    assert.equal(answer.json().retryable, true);
    assert.equal(answer.headers['retry-after'], '1');
  }
  assert.equal((await call(service, 'GET', '/v1/balance')).statusCode, 200);
});

test('a new payment has every field of the contract, and a read shows the same', async () => {
  const answer = await create({
    description: 'Sifariş № 1 🎁',
    merchantOrderId: 'order-1',
    metadata: { zeta: '1', a: 'ə', 'with space': '' },
    confirmation: { ...order.confirmation, locale: 'ru' },
    expiresIn: 600,
  });
  assert.equal(answer.statusCode, 200);
  const payment = answer.json<Record<string, unknown> & PaymentAnswer>();
  const { id, confirmation, createdAt, ...rest } = payment;
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  assert.equal(createdAt, clock.now().toISOString());
  const { confirmationUrl, ...confirmed } = confirmation;
  assert.ok(confirmationUrl.startsWith('http://localhost:3000/checkout/pay/'));
  assert.ok(!confirmationUrl.includes(id));
  assert.deepEqual(confirmed, { type: 'REDIRECT', returnUrl: 'http://localhost:4000/thanks', locale: 'ru' });
  assert.deepEqual(rest, {
    status: 'pending',
    merchantId: demoMerchant.merchantId,
    terminalId: demoMerchant.terminalId,
    amount: azn('100.00'),
    capturedAmount: azn('0.00'),
    refundedAmount: azn('0.00'),
    refundableAmount: azn('0.00'),
    paid: false,
    refundable: false,
    capture: true,
    paymentMethod: null,
    authorization: null,
    lastAttempt: null,
    cancellationDetails: null,
    description: 'Sifariş № 1 🎁',
    merchantOrderId: 'order-1',
    metadata: { zeta: '1', a: 'ə', 'with space': '' },
    expiresAt: new Date(clock.now().getTime() + 600_000).toISOString(),
    authorizedAt: null,
    capturedAt: null,
    canceledAt: null,
    test: true,
    version: 1,
  });
  for (const method of ['GET', 'POST'] as const) {
    assert.deepEqual((await call(service, method, `/v1/payments/${id}`)).json(), payment);
  }
});

test('T57 an amount that is none is 400 with a pointer to it, and nothing is stored', async () => {
  const raw = (value: string) => JSON.stringify(order).replace('"100.00"', value);
  await storesNothing(async () => {
    for (const value of [
      '0',
      '-1',
      '0.001',
      '1e3',
      '10',
      '100.00',
      '9007199254740993',
      '99999999999999999999',
      'null',
      '[10]',
      '["10.00"]',
      '{}',
      'true',
      '"0"',
      '"0.00"',
      '"-1.00"',
      '"0.001"',
      '"1e3"',
      '"10,00"',
      '"9007199254740993"',
      '"99999999999999999999"',
      '"99999999999999999999.00"',
      '"10000000000.00"',
      '"NaN"',
      '"Infinity"',
      '""',
      '" 1.00"',
      '"1.00 "',
      '"1.00\\n"',
      '"+1.00"',
      '"1"',
      '"1."',
      '".50"',
      '"1.0"',
      '"1.000"',
      '"01.00"',
      '"00.10"',
      '"1_000.00"',
      '"0x10"',
      '"１.00"',
      '"١.00"',
      '"1.00\\u0000"',
    ]) {
      const answer = await call(service, 'POST', '/v1/payments', { body: raw(value) });
      assert.deepEqual([answer.statusCode, codeOf(answer)], [400, 'invalid_request'], value);
      assert.deepEqual([...new Set(pointersOf(answer))], ['/amount/value'], value);
      assert.equal(answer.json().retryable, false);
    }
    for (const value of ['NaN', '010', '+1', '1.', "'1'", 'undefined']) {
      const answer = await call(service, 'POST', '/v1/payments', { body: raw(value) });
      assert.deepEqual([answer.statusCode, codeOf(answer)], [400, 'invalid_request'], value);
    }
    for (const amount of [undefined, null, '100.00', [azn('1.00')], { value: '1.00' }, { currency: 'AZN' }]) {
      const answer = await create({ amount });
      assert.equal(answer.statusCode, 400);
      assert.match(String(pointersOf(answer)), /^\/amount/);
    }
  });
  for (const value of ['0.01', '0.10', '1.00', '9999999999.99']) {
    assert.equal((await create({ amount: azn(value) })).json().amount.value, value);
  }
});

test('T58 a currency that is unknown, in lower case or not one of the terminal is refused', async () => {
  await storesNothing(async () => {
    for (const currency of ['azn', 'AZ', 'AZNN', '', 'AZN ', 'ＡＺＮ', 944, null]) {
      const answer = await create({ amount: { value: '1.00', currency } });
      assert.deepEqual([answer.statusCode, codeOf(answer)], [400, 'invalid_request'], String(currency));
      assert.deepEqual([...new Set(pointersOf(answer))], ['/amount/currency']);
    }
    for (const amount of [
      { value: '1.00', currency: 'GBP' },
      { value: '1', currency: 'JPY' },
      { value: '1.00', currency: 'ZZZ' },
      { value: '1.00', currency: 'XAU' },
    ]) {
      const answer = await create({ amount });
      assert.deepEqual([answer.statusCode, codeOf(answer)], [422, 'currency_not_supported'], amount.currency);
    }
  });
  for (const currency of ['USD', 'EUR']) {
    assert.equal((await create({ amount: { value: '1.00', currency } })).statusCode, 200);
  }
});

test('unknown fields are refused wherever they stand, each by its pointer', async () => {
  await storesNothing(async () => {
    for (const [changes, pointer] of [
      [{ surprise: 1 }, '/surprise'],
      [{ 'a/b~c': 1 }, '/a~1b~0c'],
      [{ amount: { ...order.amount, surprise: 1 } }, '/amount/surprise'],
      [{ confirmation: { ...order.confirmation, surprise: 1 } }, '/confirmation/surprise'],
      [{ Capture: true }, '/Capture'],
    ] as const) {
      const answer = await create(changes);
      assert.deepEqual([answer.statusCode, pointersOf(answer)], [400, [pointer]]);
    }
  });
});

test('each field takes what the contract says, up to its bound and not beyond', async () => {
  const keys = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 'v']));
  const good = [
    { description: '' },
    { description: '🎁'.repeat(128) },
    { merchantOrderId: 'x' },
    { merchantOrderId: 'ə'.repeat(64) },
    { expiresIn: 60 },
    { expiresIn: 86_400 },
    { metadata: {} },
    { metadata: keys(16) },
    { metadata: { ['🔑'.repeat(32)]: '🎁'.repeat(512) } },
    { metadata: { constructor: 'a', toString: 'b', hasOwnProperty: 'c' } },
    { capture: false },
    { confirmation: { ...order.confirmation, locale: 'az' } },
    { confirmation: { ...order.confirmation, returnUrl: `http://localhost:4000/${'a'.repeat(2026)}` } },
  ];
  for (const changes of good) {
    const answer = await create(changes);
    assert.equal(answer.statusCode, 200, answer.body);
    const { id } = answer.json<PaymentAnswer>();
    assert.deepEqual((await call(service, 'GET', `/v1/payments/${id}`)).json(), answer.json());
  }
  const bad: [object, string][] = [
    [{ description: 'x'.repeat(129) }, '/description'],
    [{ description: null }, '/description'],
    [{ description: 1 }, '/description'],
    [{ merchantOrderId: '' }, '/merchantOrderId'],
    [{ merchantOrderId: 'x'.repeat(65) }, '/merchantOrderId'],
    [{ expiresIn: 59 }, '/expiresIn'],
    [{ expiresIn: 86_401 }, '/expiresIn'],
    [{ expiresIn: 60.5 }, '/expiresIn'],
    [{ expiresIn: '60' }, '/expiresIn'],
    [{ expiresIn: null }, '/expiresIn'],
    [{ metadata: keys(17) }, '/metadata'],
    [{ metadata: { '': 'v' } }, '/metadata/'],
    [{ metadata: { ['k'.repeat(33)]: 'v' } }, `/metadata/${'k'.repeat(33)}`],
    [{ metadata: { k: 'v'.repeat(513) } }, '/metadata/k'],
    [{ metadata: { k: 1 } }, '/metadata/k'],
    [{ metadata: { k: null } }, '/metadata/k'],
    [{ metadata: [] }, '/metadata'],
    [{ capture: 'true' }, '/capture'],
    [{ capture: 0 }, '/capture'],
    [{ merchantId: 'x'.repeat(16) }, '/merchantId'],
    [{ terminalId: '' }, '/terminalId'],
    [{ terminalId: 'x'.repeat(9) }, '/terminalId'],
    [{ confirmation: undefined }, '/confirmation'],
    [{ confirmation: { ...order.confirmation, type: 'redirect' } }, '/confirmation/type'],
    [{ confirmation: { ...order.confirmation, locale: 'de' } }, '/confirmation/locale'],
    [{ confirmation: { type: 'REDIRECT' } }, '/confirmation/returnUrl'],
  ];
  await storesNothing(async () => {
    for (const [changes, pointer] of bad) {
      const answer = await create(changes);
      assert.deepEqual(
        [answer.statusCode, codeOf(answer)],
        [400, 'invalid_request'],
        JSON.stringify(changes),
      );
      assert.deepEqual(pointersOf(answer), [pointer], answer.body);
    }
  });
});

test('text that PostgreSQL cannot hold is 400 with a pointer, in every field that takes text', async () => {
  for (const text of ['a\u0000b', '\ud800', 'x\udc00']) {
    for (const [changes, pointer] of [
      [{ description: text }, '/description'],
      [{ merchantOrderId: text }, '/merchantOrderId'],
      [{ metadata: { k: text } }, '/metadata/k'],
      [{ metadata: { [text]: 'v' } }, '/metadata'],
      [
        { confirmation: { ...order.confirmation, returnUrl: `http://localhost:4000/${text}` } },
        '/confirmation/returnUrl',
      ],
    ] as const) {
      const answer = await create(changes);
      assert.deepEqual(
        [answer.statusCode, codeOf(answer)],
        [400, 'invalid_request'],
        `${JSON.stringify(changes)} ${answer.body}`,
      );
      const pointers = pointersOf(answer);
      assert.ok(pointers.length > 0 && pointers.every((given) => given.startsWith(pointer)), answer.body);
    }
    const paid = await paidPayment(service);
    for (const changes of [{ reason: text }, { description: text }, { metadata: { k: text } }]) {
      const body = { paymentId: paid.id, amount: azn('1.00'), ...changes };
      assert.equal(
        (await call(service, 'POST', '/v1/refunds', { body })).statusCode,
        400,
        JSON.stringify(changes),
      );
    }
  }
});

test('T59 a terminal of another merchant is answered as an unknown one, and a foreign merchant as one that is not', async () => {
  await storesNothing(async () => {
    const foreign = await create({ terminalId: other.order.terminalId });
    assert.deepEqual([foreign.statusCode, codeOf(foreign)], [403, 'terminal_not_allowed']);
    assert.deepEqual(pointersOf(foreign), ['/terminalId']);
    assert.deepEqual(withoutIds(foreign), withoutIds(await create({ terminalId: 'NOTERMNL' })));
    const merchant = await create({ merchantId: other.merchantId, terminalId: other.order.terminalId });
    assert.deepEqual([merchant.statusCode, codeOf(merchant)], [403, 'merchant_not_allowed']);
    assert.deepEqual(pointersOf(merchant), ['/merchantId']);
    assert.deepEqual(withoutIds(merchant), withoutIds(await create({ merchantId: 'NOMERCHANT' })));
  });
  await db.run(sql`insert into checkout.terminals (merchant_id, terminal_id, currencies, disabled_at, created_at)
    values (${other.merchantId}, 'CLOSED1', '{AZN}', now(), now())`);
  const closed = await call(service, 'POST', '/v1/payments', {
    body: { ...(await addMerchant(service)).order, merchantId: other.merchantId, terminalId: 'CLOSED1' },
    authorization: other.authorization,
  });
  assert.equal(codeOf(closed), 'terminal_not_allowed');
});

test('T60 a payment or refund of another merchant is answered exactly as an unknown one, by every call', async () => {
  const payment = await paidPayment(service);
  const { id: refundId } = (await refund(service, payment.id, '1.00')).json<{ id: string }>();
  const unknown = '01900000-0000-7000-8000-000000000000';
  const { authorization } = other;
  const as = (method: 'GET' | 'POST', path: string, body?: object) =>
    call(service, method, path, { authorization, ...(body ? { body } : {}) });
  const pairs: ((id: string) => Promise<Answer>)[] = [
    (id) => as('GET', `/v1/payments/${id}`),
    (id) => as('POST', `/v1/payments/${id}`),
    (id) => as('POST', `/v1/payments/${id}/cancel`),
    (id) => as('POST', `/v1/payments/${id}/capture`, {}),
    (id) => as('POST', `/v1/payments/${id}/capture`, { amount: { value: '1', currency: 'JPY' } }),
    (id) => as('POST', '/v1/refunds', { paymentId: id, amount: azn('1.00') }),
    (id) => as('POST', '/v1/refunds', { paymentId: id, amount: { value: '1', currency: 'JPY' } }),
  ];
  await storesNothing(async () => {
    for (const ask of pairs) {
      const foreign = await ask(payment.id);
      assert.deepEqual([foreign.statusCode, codeOf(foreign)], [404, 'payment_not_found']);
      assert.deepEqual(withoutIds(foreign), withoutIds(await ask(unknown)));
      for (const odd of ['x', '0', randomUUID(), payment.id.toUpperCase(), 'null'])
        assert.deepEqual(withoutIds(foreign), withoutIds(await ask(odd)), odd);
    }
    for (const method of ['GET', 'POST'] as const) {
      const foreign = await as(method, `/v1/refunds/${refundId}`);
      assert.deepEqual([foreign.statusCode, codeOf(foreign)], [404, 'refund_not_found']);
      assert.deepEqual(withoutIds(foreign), withoutIds(await as(method, `/v1/refunds/${unknown}`)));
    }
  });
  assert.deepEqual((await as('GET', '/v1/payments')).json().items, []);
  assert.equal((await readPayment(service, payment.id)).status, 'succeeded');
});

test('T61 a returnUrl that is no plain address of a registered origin is refused', async () => {
  await storesNothing(async () => {
    for (const returnUrl of [
      'javascript:alert(1)',
      'JaVaScRiPt:alert(1)',
      'data:text/html,x',
      'ftp://localhost:4000/',
      'file:///etc/passwd',
      '//localhost:4000/',
      '/thanks',
      'thanks',
      'localhost:4000',
      'http://',
      'http://localhost/',
      'http://localhost:4001/',
      'https://localhost:4000/',
      'http://localhost:4000.evil.example/',
      'http://evil.example/http://localhost:4000/',
      'http://localhost:4000@evil.example/',
      'http://user@localhost:4000/',
      'http://:secret@localhost:4000/',
      'http://evil.example\\@localhost:4000/',
      'http://localhost:4000\\thanks',
      'http://local\thost:4000/',
      ' http://localhost:4000/',
      'http://localhost:4000/a\r\nSet-Cookie: x=1',
      'blob:http://localhost:4000/x',
      '',
      'x'.repeat(3000),
      `http://localhost:4000/${'a'.repeat(3000)}`,
    ]) {
      const answer = await create({ confirmation: { type: 'REDIRECT', returnUrl } });
      assert.ok([400, 422].includes(answer.statusCode), `${returnUrl} ${answer.statusCode}`);
      assert.deepEqual([...new Set(pointersOf(answer))], ['/confirmation/returnUrl'], returnUrl);
    }
  });
  for (const returnUrl of [
    'http://localhost:4000',
    'http://localhost:4000/a?b=c#d',
    'HTTP://LOCALHOST:4000/',
    'http://localhost:3000/',
  ]) {
    const payment = await createPayment(service, { confirmation: { type: 'REDIRECT', returnUrl } });
    await payByCard(service, payment);
    const page = await pageOf(payment);
    const [, back = ''] = /href="([^"]+)"[^>]*>\s*Back to Demo Shop/.exec(page.body) ?? [];
    const url = new URL(back.replaceAll('&amp;', '&'));
    assert.equal(url.origin, new URL(returnUrl).origin);
    assert.equal(url.searchParams.get('paymentId'), payment.id);
    assert.equal(url.searchParams.get('status'), 'succeeded');
  }
});

test('a link to the payment page that was tampered with leads to no payment', async () => {
  const payment = await createPayment(service);
  const path = new URL(payment.confirmation.confirmationUrl).pathname;
  const token = path.slice(path.lastIndexOf('/') + 1);
  const bytes = Buffer.from(token, 'base64url');
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    const url = `/checkout/pay/${changed.toString('base64url')}`;
    assert.equal((await service.app.inject({ url })).statusCode, 404);
    assert.equal((await postForm(service, `http://x${url}`, { attempts: '0' })).statusCode, 404);
    assert.equal((await service.app.inject({ url: `${url}/return` })).statusCode, 404);
  }
  for (const odd of [payment.id, `${token}A`, token.slice(1), `${token}=`, '%00', 'a'.repeat(400)]) {
    assert.equal((await service.app.inject({ url: `/checkout/pay/${odd}` })).statusCode, 404, odd);
  }
});

test('each card of the sandbox does what the contract says, and a declined one leaves the payment open', async () => {
  for (const [number, reason] of [
    [cards.declined, 'general_decline'],
    [cards.noFunds, 'insufficient_funds'],
    [cards.expired, 'card_expired'],
    [cards.wrongCode, 'invalid_csc'],
    [cards.fraud, 'fraud_suspected'],
  ] as const) {
    const payment = await createPayment(service);
    await payByCard(service, payment, number);
    const after = await readPayment(service, payment.id);
    assert.equal(after.status, 'pending');
    assert.deepEqual({ ...after.lastAttempt, at: undefined }, { status: 'declined', reason, at: undefined });
    assert.equal(after.paymentMethod, null);
    await payByCard(service, payment, cards.approved);
    const paid = await readPayment(service, payment.id);
    assert.equal(paid.status, 'succeeded');
    assert.equal(paid.lastAttempt?.status, 'approved');
    assert.deepEqual(paid.paymentMethod, {
      type: 'card',
      card: { brand: 'visa', first6: '424242', last4: '4242', expiryMonth: 12, expiryYear: 2030 },
    });
    assert.match(String(paid.authorization?.rrn), /^\d{12}$/);
    assert.equal(paid.authorization?.threeDSecure, false);
  }
});

test('a number with a wrong check digit, or a form that does not validate, is no attempt', async () => {
  const payment = await createPayment(service);
  const form = await cardForm(payment);
  for (const changes of [
    { number: '4242 4242 4242 4243' },
    { number: '' },
    { number: 'abc' },
    { number: '4'.repeat(100) },
    { expiry: '13/30' },
    { expiry: '00/30' },
    { expiry: '12/20' },
    { expiry: '' },
    { expiry: '12/99' },
    { csc: '12' },
    { csc: '1234' },
    { csc: '' },
    { csc: 'abc' },
    { holder: '' },
    { holder: '   ' },
  ]) {
    const answer = await postForm(service, form.action, { ...form.fields, ...changes });
    assert.equal(answer.statusCode, 400, JSON.stringify(changes));
    assert.ok(!answer.body.includes('4242 4242'));
  }
  const after = await readPayment(service, payment.id);
  assert.deepEqual([after.version, after.lastAttempt], [1, null]);
  assert.equal((await postForm(service, form.action, form.fields)).statusCode, 303);
  assert.equal((await readPayment(service, payment.id)).status, 'succeeded');
});

test('the fifth attempt that fails ends the payment', async () => {
  const payment = await createPayment(service);
  for (let at = 1; at <= 5; at++) {
    assert.equal((await readPayment(service, payment.id)).status, 'pending');
    await payByCard(service, payment, cards.declined);
  }
  const after = await readPayment(service, payment.id);
  assert.equal(after.status, 'canceled');
  assert.deepEqual(after.cancellationDetails, { party: 'tollgate', reason: 'attempts_exhausted' });
  assert.match((await pageOf(payment)).body, /No money was taken/);
  assert.equal((await attemptsOf(payment)).length, 5);
});

test('a fifth attempt that is approved counts', async () => {
  const payment = await createPayment(service);
  for (let at = 1; at <= 4; at++) await payByCard(service, payment, cards.declined);
  await payByCard(service, payment);
  assert.equal((await readPayment(service, payment.id)).status, 'succeeded');
});

test('T62 twenty posts of one form at once are one attempt, be it approved or declined', async () => {
  for (const [number, status] of [
    [cards.approved, 'approved'],
    [cards.declined, 'declined'],
    [cards.challenge, 'challenge'],
  ] as const) {
    for (let round = 0; round < 5; round++) {
      const payment = await createPayment(service);
      const form = await cardForm(payment, number);
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => postForm(service, form.action, form.fields)),
      );
      assert.deepEqual([...new Set(answers.map((answer) => answer.statusCode))], [303]);
      assert.deepEqual(
        (await attemptsOf(payment)).map((attempt) => attempt.status),
        [status],
      );
      if (status === 'challenge') continue;
      // The back button shows the old form: sending it once more shows how it stands.
      await postForm(service, form.action, form.fields);
      assert.equal((await attemptsOf(payment)).length, 1);
    }
  }
});

test('T62 two tabs with different cards: one charge, and the other tab is shown how it stands', async () => {
  for (let round = 0; round < 10; round++) {
    const payment = await createPayment(service);
    const [first, second] = [await cardForm(payment), await cardForm(payment, '5555 5555 5555 4444')];
    await Promise.all([
      postForm(service, first.action, first.fields),
      postForm(service, second.action, second.fields),
    ]);
    assert.equal((await attemptsOf(payment)).length, 1);
    assert.equal((await readPayment(service, payment.id)).status, 'succeeded');
    assert.match((await pageOf(payment)).body, /Thank you!/);
  }
});

test('T63 an expired or canceled payment takes no money, and its state does not change', async () => {
  const expired = await createPayment(service, { expiresIn: 60 });
  const canceled = await createPayment(service);
  const forms = [await cardForm(expired), await cardForm(canceled)];
  await cancel(canceled.id);
  clock.move(60_000);
  await readPayment(service, expired.id);
  await storesNothing(async () => {
    for (const form of forms) {
      assert.equal((await postForm(service, form.action, form.fields)).statusCode, 303);
    }
    for (const payment of [expired, canceled]) {
      assert.match((await pageOf(payment)).body, /No money was taken/);
    }
  });
  assert.equal(
    (await readPayment(service, expired.id)).cancellationDetails?.reason,
    'expired_on_confirmation',
  );
  assert.equal((await readPayment(service, canceled.id)).cancellationDetails?.reason, 'canceled_by_merchant');
});

test('canceling a payment whose time is up finds it expired', async () => {
  const payment = await createPayment(service, { expiresIn: 60 });
  clock.move(60_000);
  const answer = await cancel(payment.id);
  assert.deepEqual([answer.statusCode, codeOf(answer)], [409, 'payment_is_final']);
  assert.deepEqual((await readPayment(service, payment.id)).cancellationDetails, {
    party: 'tollgate',
    reason: 'expired_on_confirmation',
  });
});

test('a merchant that was switched off takes no money; what had begun is still settled, and can be seen', async () => {
  const shop = await addMerchant(service);
  const create = async () =>
    (
      await call(service, 'POST', '/v1/payments', { body: shop.order, authorization: shop.authorization })
    ).json<PaymentAnswer>();
  const open = await create();
  const begun = await create();
  await payByCard(service, begun, cards.lostThenApproved);
  const form = await cardForm(open);
  await db.run(sql`update checkout.merchants set disabled_at = now() where merchant_id = ${shop.merchantId}`);
  deps.merchants = createMerchantDirectory(db);
  assert.match((await pageOf(open)).body, /does not take payments at the moment/);
  assert.equal(cardFormOf((await pageOf(open)).body), undefined);
  assert.equal((await postForm(service, form.action, form.fields)).statusCode, 303);
  assert.match((await pageOf(begun)).body, /We are asking your bank/);
  const where = { merchantId: shop.merchantId, paymentId: open.id as PaymentId };
  await assert.rejects(payByWallet(deps, where, randomUUID(), 0), { code: 'payment_not_found' });
  const card = {
    number: '4242424242424242',
    expiryMonth: 12,
    expiryYear: 2030,
    securityCode: '123',
    holder: 'A',
  };
  await assert.rejects(payWithCard(deps, where, card, { returnUrl: 'http://localhost/', attempts: 0 }), {
    code: 'payment_not_found',
  });
  assert.deepEqual(await attemptsOf(open), []);
  clock.move(1_000);
  await sweep(deps);
  const [row] = await db.many<{ status: string }>(sql`
    select status from checkout.payments where payment_id = ${begun.id}`);
  assert.equal(row?.status, 'succeeded');
  assert.match((await pageOf(begun)).body, /Thank you!/);
});

test('who has answered their bank and lost the way back is told that they have paid', async () => {
  const payment = await createPayment(service);
  await payByCard(service, payment, cards.challenge);
  assert.match((await pageOf(payment)).body, /No money is taken before you confirm/);
  const acs = await bankOf(service, payment);
  await postForm(service, acs, { code: '1234' });
  // Asked at most every few seconds, however often the page is opened.
  for (let tries = 0; tries < 60 && (await readPayment(service, payment.id)).status === 'pending'; tries++) {
    await pageOf(payment);
    await delay(100);
  }
  assert.match((await pageOf(payment)).body, /Thank you!/);
});

test('coming back early, however often, does not put the end of a challenge off', async () => {
  const payment = await createPayment(service);
  await payByCard(service, payment, cards.challenge);
  const { pathname } = new URL(payment.confirmation.confirmationUrl);
  for (let minute = 0; minute < 9; minute++) {
    clock.move(60_000);
    await service.app.inject({ url: `${pathname}/return` });
  }
  clock.move(61_000);
  await sweep(deps);
  assert.equal((await readPayment(service, payment.id)).lastAttempt?.reason, '3d_secure_failed');
});

test('a page that waits sees that the bank asks for a code', async () => {
  const payment = await createPayment(service);
  const { pathname } = new URL(payment.confirmation.confirmationUrl);
  const stateOf = async () =>
    (await service.app.inject({ url: `${pathname}/status` })).json<{ state: string }>().state;
  const real = deps.acquirer.authorize;
  let seen = '';
  deps.acquirer.authorize = async (asked) => {
    seen = await stateOf();
    return real(asked);
  };
  await payByCard(service, payment, cards.challenge);
  deps.acquirer.authorize = real;
  assert.notEqual(await stateOf(), seen);
});

test('of a part that was captured the page says what was taken and what had been reserved', async () => {
  const payment = await paidPayment(service, { capture: false });
  const body = { amount: { value: '40.00', currency: 'AZN' } };
  assert.equal((await call(service, 'POST', `/v1/payments/${payment.id}/capture`, { body })).statusCode, 200);
  const page = (await pageOf(payment)).body.replaceAll('\u00a0', ' ');
  assert.match(page, /<\/span>40\.00 AZN/);
  assert.match(page, /Reserved before.*100\.00 AZN/);
});

test('what goes wrong on the payment page is told on a page, which asks nobody to pay again', async () => {
  const payment = await createPayment(service);
  const { pathname } = new URL(payment.confirmation.confirmationUrl);
  const huge = await service.app.inject({
    method: 'POST',
    url: pathname,
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'accept-language': 'en' },
    payload: 'x'.repeat(70_000),
  });
  assert.equal(huge.statusCode, 413);
  const real = deps.acquirer.authorize;
  deps.acquirer.authorize = async () => {
    throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  };
  const form = await cardForm(payment);
  const fallen = await postForm(service, form.action, form.fields);
  deps.acquirer.authorize = real;
  for (const answer of [huge, fallen]) {
    assert.match(String(answer.headers['content-type']), /^text\/html/);
    assert.ok(answer.body.includes(payment.confirmation.confirmationUrl));
  }
  assert.match(huge.body, /Do not pay again/);
});

test('a payment can be paid up to its last instant, and is expired from then on for whoever looks first', async () => {
  const [paid, read, paying, swept] = [
    await createPayment(service, { expiresIn: 60 }),
    await createPayment(service, { expiresIn: 60 }),
    await createPayment(service, { expiresIn: 60 }),
    await createPayment(service, { expiresIn: 60 }),
  ];
  const late = await cardForm(paying);
  clock.move(59_999);
  await payByCard(service, paid);
  assert.equal((await readPayment(service, paid.id)).status, 'succeeded');
  await sweep(deps);
  assert.equal((await readPayment(service, read.id)).status, 'pending');
  clock.move(1);
  const after = await readPayment(service, read.id);
  assert.equal(after.status, 'canceled');
  assert.deepEqual(after.cancellationDetails, { party: 'tollgate', reason: 'expired_on_confirmation' });
  assert.equal(after.version, 2);
  await postForm(service, late.action, late.fields);
  assert.deepEqual(await attemptsOf(paying), []);
  await sweep(deps);
  const [row] = await db.many<{ status: string }>(sql`
    select status from checkout.payments where payment_id = ${swept.id}::uuid`);
  assert.equal(row?.status, 'canceled');
});

test('many readers and the job find an expired payment at once, and it expires once', async () => {
  const payment = await createPayment(service, { expiresIn: 60 });
  clock.move(60_000);
  await Promise.all([
    ...Array.from({ length: 20 }, () => readPayment(service, payment.id)),
    sweep(deps),
    sweep(deps),
  ]);
  assert.equal((await readPayment(service, payment.id)).version, 2);
});

test('an attempt begun in time holds the expiry, and its approval counts; when it comes to nothing the payment expires', async () => {
  for (const [number, status] of [
    [cards.lostThenApproved, 'succeeded'],
    [cards.lostThenNever, 'canceled'],
  ] as const) {
    const payment = await createPayment(service, { expiresIn: 60 });
    clock.move(59_500);
    await payByCard(service, payment, number);
    clock.move(600);
    await sweep(deps);
    const during = await readPayment(service, payment.id);
    assert.equal(during.status, 'pending');
    assert.equal(during.lastAttempt?.status, 'unknown');
    clock.move(400);
    await sweep(deps);
    const after = await readPayment(service, payment.id);
    assert.equal(after.status, status);
    if (status === 'canceled') assert.equal(after.cancellationDetails?.reason, 'expired_on_confirmation');
  }
});

test('T64 F11 an acquirer that does not answer leaves the payment open and unknown until the job knows: one charge', async () => {
  const payment = await createPayment(service);
  const page = await payByCard(service, payment, cards.lostThenApproved);
  assert.equal(page.statusCode, 303);
  const unknown = await readPayment(service, payment.id);
  assert.equal(unknown.status, 'pending');
  assert.deepEqual(
    { ...unknown.lastAttempt, at: undefined },
    { status: 'unknown', reason: null, at: undefined },
  );
  // No second try, no cancel, while it may have happened.
  assert.match((await pageOf(payment)).body, /Do not pay again/);
  assert.deepEqual(formsOf((await pageOf(payment)).body), []);
  const form = new URL(payment.confirmation.confirmationUrl).href;
  await postForm(service, form, {
    attempts: '1',
    number: cards.approved,
    expiry: '12/30',
    csc: '123',
    holder: 'A',
  });
  const refused = await cancel(payment.id);
  assert.deepEqual([refused.statusCode, codeOf(refused)], [409, 'attempt_in_progress']);
  assert.equal((await attemptsOf(payment)).length, 1);

  clock.move(1_000);
  await Promise.all([sweep(deps), sweep(deps), sweep(deps)]);
  const after = await readPayment(service, payment.id);
  assert.equal(after.status, 'succeeded');
  assert.deepEqual(
    (await sandboxOf(payment)).map(({ captured }) => captured),
    [100_00n],
  );
});

test('T64 F12 a lost attempt that never happened is failed, and the customer may try again', async () => {
  const payment = await createPayment(service);
  await payByCard(service, payment, cards.lostThenNever);
  clock.move(1_000);
  await sweep(deps);
  const after = await readPayment(service, payment.id);
  assert.deepEqual([after.status, after.lastAttempt?.status], ['pending', 'failed']);
  await payByCard(service, payment);
  assert.equal((await readPayment(service, payment.id)).status, 'succeeded');
});

test('T64 the job asks later and later while nobody knows, and settles the attempt once somebody does', async () => {
  const payment = await createPayment(service);
  await payByCard(service, payment, cards.lostThenApproved);
  let asked = 0;
  const deaf = async () => {
    asked++;
    return { kind: 'unknown' as const };
  };
  await withAcquirer({ inquireAuthorization: deaf }, async () => {
    for (const seconds of [1, 2, 4, 8]) {
      const before = asked;
      clock.move(seconds * 1000 - 1);
      await sweep(deps);
      assert.equal(asked, before);
      clock.move(1);
      await sweep(deps);
      assert.equal(asked, before + 1, `after ${seconds} s`);
    }
  });
  const { version } = await readPayment(service, payment.id);
  assert.equal(version, 3);
  clock.move(16_000);
  await service.areas.jobs.find(({ name }) => name === 'checkout.settle')?.run({});
  assert.equal((await readPayment(service, payment.id)).status, 'succeeded');
});

test('an attempt whose process died before the acquirer answered is found out ten seconds later', async () => {
  const payment = await createPayment(service);
  await withAcquirer(
    {
      async authorize(given) {
        await realAcquirer.authorize(given);
        throw new Error('the process is gone');
      },
    },
    () => payByCard(service, payment),
  );
  assert.equal((await readPayment(service, payment.id)).status, 'pending');
  clock.move(9_999);
  await sweep(deps);
  assert.equal((await readPayment(service, payment.id)).status, 'pending');
  clock.move(1);
  await sweep(deps);
  assert.equal((await readPayment(service, payment.id)).status, 'succeeded');
});

test('an approval that comes after its attempt was settled otherwise is given back', async () => {
  // The acquirer first says that it never heard of the attempt, and approves it all the same.
  const payment = await createPayment(service);
  const asked = gate();
  const answered = gate();
  let reversed = 0;
  await withAcquirer(
    {
      async authorize() {
        asked.open();
        await answered.opened;
        return {
          kind: 'approved',
          approval: { rrn: '000000000001', authCode: 'ABCDEF', threeDSecure: false },
        };
      },
      inquireAuthorization: async () => ({ kind: 'failed' }),
      async reverse() {
        reversed++;
        return { kind: 'done', rrn: null };
      },
    },
    async () => {
      const paying = payByCard(service, payment);
      await asked.opened;
      clock.move(10_000);
      await sweep(deps);
      assert.equal((await readPayment(service, payment.id)).lastAttempt?.status, 'failed');
      answered.open();
      await paying;
      assert.equal((await readPayment(service, payment.id)).status, 'pending');
      await sweep(deps);
      await sweep(deps);
    },
  );
  assert.equal(reversed, 1);
  assert.deepEqual(
    (await attemptsOf(payment)).map(({ reversal }) => reversal),
    ['done'],
  );
  await payByCard(service, payment);
  assert.equal((await readPayment(service, payment.id)).status, 'succeeded');
});

test('whoever opens the way back while the acquirer is still being asked does not end the attempt', async () => {
  const payment = await createPayment(service);
  const asked = gate();
  const answered = gate();
  await withAcquirer(
    {
      async authorize(given) {
        asked.open();
        await answered.opened;
        return realAcquirer.authorize(given);
      },
    },
    async () => {
      const paying = payByCard(service, payment);
      await asked.opened;
      const back = `${new URL(payment.confirmation.confirmationUrl).pathname}/return`;
      assert.equal((await service.app.inject({ url: back })).statusCode, 303);
      answered.open();
      await paying;
    },
  );
  assert.equal((await readPayment(service, payment.id)).status, 'succeeded');
});

test('3-D Secure: the customer goes to the bank, enters the code, and comes back to a paid payment', async () => {
  const payment = await createPayment(service);
  const sent = await payByCard(service, payment, cards.challenge);
  assert.equal(sent.statusCode, 303);
  assert.equal(sent.headers.location, `${payment.confirmation.confirmationUrl}/bank`);
  const acs = await bankOf(service, payment);
  assert.match((await pageOf(payment)).body, /Continue to your bank/);
  // Coming back without having answered changes nothing.
  const home = `${new URL(payment.confirmation.confirmationUrl).pathname}/return`;
  await service.app.inject({ url: home });
  assert.equal((await readPayment(service, payment.id)).status, 'pending');
  assert.equal(codeOf(await cancel(payment.id)), 'attempt_in_progress');
  const answer = await postForm(service, acs, { code: '1234' });
  assert.equal(answer.statusCode, 303);
  assert.equal(new URL(String(answer.headers.location)).pathname, home);
  const back = await service.app.inject({ url: home });
  assert.equal(back.headers.location, payment.confirmation.confirmationUrl);
  const paid = await readPayment(service, payment.id);
  assert.equal(paid.status, 'succeeded');
  assert.equal(paid.authorization?.threeDSecure, true);
  await service.app.inject({ url: home });
  assert.equal((await readPayment(service, payment.id)).version, paid.version);
});

test('3-D Secure: declined after the right code, three wrong codes, given up, and not answered for ten minutes', async () => {
  const ways: [string, string, (acs: string) => Promise<unknown>][] = [
    [cards.challengeThenDeclined, 'general_decline', (acs) => postForm(service, acs, { code: '1234' })],
    [
      cards.challenge,
      '3d_secure_failed',
      async (acs) => {
        for (const code of ['0000', '1111', '2222', '1234']) await postForm(service, acs, { code });
      },
    ],
    [cards.challenge, '3d_secure_failed', (acs) => postForm(service, acs, { action: 'cancel' })],
    [
      cards.challenge,
      '3d_secure_failed',
      async () => {
        clock.move(599_999);
        await sweep(deps);
        clock.move(1);
      },
    ],
  ];
  for (const [number, reason, answer] of ways) {
    const payment = await createPayment(service);
    await payByCard(service, payment, number);
    const acs = await bankOf(service, payment);
    await answer(acs);
    assert.equal((await readPayment(service, payment.id)).lastAttempt, null);
    await sweep(deps);
    await service.app.inject({ url: `${new URL(payment.confirmation.confirmationUrl).pathname}/return` });
    const after = await readPayment(service, payment.id);
    assert.deepEqual(
      [after.status, after.lastAttempt?.status, after.lastAttempt?.reason],
      ['pending', 'declined', reason],
    );
    await payByCard(service, payment);
    assert.equal((await readPayment(service, payment.id)).status, 'succeeded');
  }
});

test('3-D Secure holds the expiry too: approved after it counts, given up after it expires the payment', async () => {
  for (const [fields, status] of [
    [{ code: '1234' }, 'succeeded'],
    [{ action: 'cancel' }, 'canceled'],
  ] as const) {
    const payment = await createPayment(service, { expiresIn: 60 });
    await payByCard(service, payment, cards.challenge);
    const acs = await bankOf(service, payment);
    clock.move(120_000);
    await sweep(deps);
    assert.equal((await readPayment(service, payment.id)).status, 'pending');
    await postForm(service, acs, { ...fields });
    await service.app.inject({ url: `${new URL(payment.confirmation.confirmationUrl).pathname}/return` });
    assert.equal((await readPayment(service, payment.id)).status, status);
  }
});

test('a held payment is captured in full or in part, once, and the rest is let go', async () => {
  for (const [body, captured] of [
    [{}, '100.00'],
    [{ amount: azn('100.00') }, '100.00'],
    [{ amount: azn('0.01') }, '0.01'],
  ] as const) {
    const payment = await paidPayment(service, { capture: false });
    assert.equal(payment.status, 'waiting_for_capture');
    assert.deepEqual([payment.capturedAmount.value, payment.refundableAmount.value], ['0.00', '0.00']);
    assert.equal(codeOf(await capture(payment.id, { amount: azn('100.01') })), 'capture_amount_exceeded');
    assert.equal(
      codeOf(await capture(payment.id, { amount: { value: '1.00', currency: 'USD' } })),
      'currency_mismatch',
    );
    const answer = await capture(payment.id, body);
    assert.equal(answer.statusCode, 200, answer.body);
    assert.deepEqual(answer.json(), (await call(service, 'GET', `/v1/payments/${payment.id}`)).json());
    assert.deepEqual([answer.json().status, answer.json().capturedAmount.value], ['succeeded', captured]);
    assert.equal(codeOf(await capture(payment.id)), 'payment_is_final');
    assert.equal(codeOf(await cancel(payment.id)), 'payment_is_final');
  }
  const pending = await createPayment(service, { capture: false });
  assert.equal(codeOf(await capture(pending.id)), 'payment_not_capturable');
});

test('a capture without a body takes all', async () => {
  const payment = await paidPayment(service, { capture: false });
  const key = randomUUID();
  const answer = await call(service, 'POST', `/v1/payments/${payment.id}/capture`, { key });
  assert.equal(answer.json().capturedAmount?.value, '100.00', answer.body);
  // An empty object asks for the same.
  assert.equal(
    (await call(service, 'POST', `/v1/payments/${payment.id}/capture`, { key, body: {} })).body,
    answer.body,
  );
});

test('twenty captures at once with different keys: one is done', async () => {
  for (let round = 0; round < 5; round++) {
    const payment = await paidPayment(service, { capture: false });
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => capture(payment.id, { amount: azn('30.00') })),
    );
    assert.equal(answers.filter((answer) => answer.statusCode === 200).length, 1);
    for (const answer of answers.filter((one) => one.statusCode !== 200)) {
      assert.match(String(codeOf(answer)), /^(capture_in_progress|payment_is_final)$/);
    }
    assert.equal((await readPayment(service, payment.id)).capturedAmount.value, '30.00');
  }
});

test('a capture that the acquirer refuses is 422, remembered, and the payment still waits', async () => {
  const payment = await paidPayment(service, { capture: false });
  const key = randomUUID();
  const path = `/v1/payments/${payment.id}/capture`;
  const first = await withAcquirer(
    { capture: async () => ({ kind: 'refused', reason: 'general_decline' }) },
    () => call(service, 'POST', path, { body: {}, key }),
  );
  assert.deepEqual([first.statusCode, codeOf(first)], [422, 'capture_declined']);
  assert.equal((await readPayment(service, payment.id)).status, 'waiting_for_capture');
  const again = await call(service, 'POST', path, { body: {}, key });
  assert.equal(again.body, first.body);
  assert.equal((await capture(payment.id)).json().status, 'succeeded');
  assert.equal((await call(service, 'POST', path, { body: {}, key })).body, first.body);
});

test('canceling a held payment lets the money go at the acquirer; capture and cancel at once: one of them', async () => {
  const payment = await paidPayment(service, { capture: false });
  const answer = await cancel(payment.id);
  assert.deepEqual(answer.json().cancellationDetails, { party: 'merchant', reason: 'canceled_by_merchant' });
  assert.equal(answer.json().paid, false);
  await sweep(deps);
  assert.deepEqual(
    (await sandboxOf(payment)).map(({ reversed }) => reversed),
    [true],
  );
  assert.equal(codeOf(await capture(payment.id)), 'payment_is_final');

  for (let round = 0; round < 10; round++) {
    const { id } = await paidPayment(service, { capture: false });
    const answers = await Promise.all([capture(id), cancel(id)]);
    assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [200, 409]);
  }
});

test('a held payment that nobody captures in seven days is let go, and not a moment sooner', async () => {
  const payment = await paidPayment(service, { capture: false });
  clock.move(7 * day - 1);
  await sweep(deps);
  assert.equal((await readPayment(service, payment.id)).status, 'waiting_for_capture');
  clock.move(1);
  assert.equal(codeOf(await capture(payment.id)), 'payment_not_capturable');
  await sweep(deps);
  const after = await readPayment(service, payment.id);
  assert.deepEqual(after.cancellationDetails, { party: 'tollgate', reason: 'expired_on_capture' });
  assert.deepEqual(
    (await sandboxOf(payment)).map(({ reversed }) => reversed),
    [true],
  );
});

test('a reversal that does not get through is tried again until it does', async () => {
  const payment = await paidPayment(service, { capture: false });
  await cancel(payment.id);
  await withAcquirer({ reverse: async () => ({ kind: 'unknown' }) }, () => sweep(deps).catch(() => {}));
  assert.deepEqual(
    (await attemptsOf(payment)).map(({ reversal }) => reversal),
    ['due'],
  );
  clock.move(1_000);
  await sweep(deps);
  assert.deepEqual(
    (await attemptsOf(payment)).map(({ reversal }) => reversal),
    ['done'],
  );
});

test('payments are listed newest first, by status, order and time, in pages that do not repeat or skip', async () => {
  const merchant = await addMerchant(service);
  const { authorization } = merchant;
  const start = clock.now();
  const made: string[] = [];
  for (let at = 0; at < 7; at++) {
    clock.move(1_000);
    const body = { ...merchant.order, merchantOrderId: `order-${at % 2}` };
    const payment = (
      await call(service, 'POST', '/v1/payments', { body, authorization })
    ).json<PaymentAnswer>();
    if (at === 3) await payByCard(service, payment);
    made.unshift(payment.id);
  }
  const list = async (query: string) => {
    const answer = await call(service, 'GET', `/v1/payments?${query}`, { authorization });
    assert.equal(answer.statusCode, 200, answer.body);
    return answer.json<{ items: PaymentAnswer[]; nextCursor: string | null }>();
  };
  const ids = ({ items }: { items: PaymentAnswer[] }) => items.map(({ id }) => id);
  assert.deepEqual(ids(await list('')), made);
  const seen: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const page = await list(`limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`);
    assert.ok(page.items.length <= 3 && page.items.length > 0);
    seen.push(...ids(page));
    cursor = page.nextCursor;
  }
  assert.deepEqual(seen, made);
  assert.equal((await list('limit=7')).nextCursor, null);
  assert.deepEqual(ids(await list('status=succeeded')), [made[3]]);
  assert.deepEqual(ids(await list('status=waiting_for_capture')), []);
  assert.deepEqual(
    ids(await list('merchantOrderId=order-1')),
    made.filter((_, at) => at % 2 === 1),
  );
  const at = (seconds: number) => new Date(start.getTime() + seconds * 1000).toISOString();
  assert.deepEqual(ids(await list(`createdFrom=${at(2)}&createdTo=${at(4)}`)), made.slice(4, 6));
  assert.deepEqual(ids(await list(`createdFrom=${at(2)}&createdTo=${at(4)}&limit=1`)), made.slice(4, 5));
  const [first] = (await list('limit=1')).items;
  assert.deepEqual(first, (await call(service, 'GET', `/v1/payments/${made[0]}`, { authorization })).json());
});

test('what a list is asked with is checked', async () => {
  for (const query of [
    'limit=0',
    'limit=101',
    'limit=-1',
    'limit=1.5',
    'limit=',
    'limit=1&limit=2',
    'status=paid',
    'status=',
    'cursor=x',
    'cursor=',
    'createdFrom=yesterday',
    'createdFrom=2026-01-01',
    'createdTo=2026-13-01T00:00:00Z',
    'createdFrom=1998-12-31T23:59:60Z',
    'surprise=1',
    `merchantOrderId=${'x'.repeat(65)}`,
    'merchantOrderId=%00',
  ]) {
    const answer = await call(service, 'GET', `/v1/payments?${query}`);
    assert.deepEqual([answer.statusCode, codeOf(answer)], [400, 'invalid_request'], query);
    assert.ok(answer.json().errors?.[0]?.parameter, `${query} ${answer.body}`);
  }
  for (const query of [
    'paymentId=x',
    `paymentId=urn:uuid:${randomUUID()}`,
    'paymentId=',
    'status=waiting_for_capture',
    'cursor=%00',
  ]) {
    const answer = await call(service, 'GET', `/v1/refunds?${query}`);
    assert.deepEqual([answer.statusCode, codeOf(answer)], [400, 'invalid_request'], query);
  }
});

test('every version of a payment has its event, with its name, in order, with the object as it then was', async () => {
  const payment = await createPayment(service, { capture: false });
  await payByCard(service, payment, cards.declined);
  await payByCard(service, payment);
  await capture(payment.id, { amount: azn('50.00') });
  const { id: refundId } = (await refund(service, payment.id, '20.00')).json<{ id: string }>();
  const events = async (id: string) =>
    (
      await db.many<{ sequence: number; type: string; payload: string; eventId: string }>(sql`
        select sequence, type, payload, event_id from checkout.events where object_id = ${id}::uuid order by sequence`)
    ).map((row) => ({ ...row, told: JSON.parse(row.payload) }));
  const told = await events(payment.id);
  assert.deepEqual(
    told.map(({ type, told: { data } }) => [type, data.object.status, data.previousStatus]),
    [
      ['payment.created', 'pending', null],
      ['payment.updated', 'pending', 'pending'],
      ['payment.attempt_failed', 'pending', 'pending'],
      ['payment.updated', 'pending', 'pending'],
      ['payment.waiting_for_capture', 'waiting_for_capture', 'pending'],
      ['payment.updated', 'waiting_for_capture', 'waiting_for_capture'],
      ['payment.succeeded', 'succeeded', 'waiting_for_capture'],
      ['payment.updated', 'succeeded', 'succeeded'],
      ['payment.updated', 'succeeded', 'succeeded'],
    ],
  );
  for (const [at, { sequence, told: event, type, eventId }] of told.entries()) {
    assert.equal(sequence, at + 1);
    assert.deepEqual(
      [event.sequence, event.data.object.version, event.type, event.id],
      [sequence, sequence, type, eventId],
    );
    assert.deepEqual([event.merchantId, event.test], [demoMerchant.merchantId, true]);
  }
  assert.deepEqual(
    (await events(refundId)).map(({ type }) => type),
    ['refund.created', 'refund.succeeded'],
  );
  assert.deepEqual(
    told.at(-1)?.told.data.object,
    (await call(service, 'GET', `/v1/payments/${payment.id}`)).json(),
  );
});

test('two declines at one instant are two failed attempts to the merchant', async () => {
  const payment = await createPayment(service);
  await payByCard(service, payment, cards.declined);
  await payByCard(service, payment, cards.declined);
  const types = await db.many<{ type: string }>(sql`
    select type from checkout.events where object_id = ${payment.id}::uuid order by sequence`);
  assert.equal(types.filter(({ type }) => type === 'payment.attempt_failed').length, 2);
});

// These two stand last: they look at what all the others have left behind.

test('I10 no card number, security code or secret stands in any column of the checkout, or in the log', async () => {
  const payment = await createPayment(service);
  const form = await cardForm(payment);
  const canary = { csc: '974', holder: 'CANARY HOLDER' };
  await postForm(service, form.action, { ...form.fields, ...canary, number: '4111-1111-1111-1111' });
  assert.equal((await readPayment(service, payment.id)).status, 'succeeded');
  const tables = await db.many<{ name: string }>(sql`
    select format('%I.%I', table_schema, table_name) as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema in ('checkout', 'graphile_worker')`);
  let rows = '';
  for (const { name } of tables) {
    const text = `select coalesce(string_agg(t::text, chr(10)), '') as text from ${name} t`;
    rows += (await db.one<{ text: string }>({ name: '', text, values: [] })).text;
  }
  const lines = service.logLines.join('');
  assert.ok(rows.includes('411111') && lines.includes('/checkout/pay/:token'));
  const numbers = [...Object.values(cards), '4111-1111-1111-1111', '5555 5555 5555 4444'].flatMap(
    (number) => [number, number.replace(/[ -]/g, '')],
  );
  const secrets = [...numbers, canary.holder, 'A Customer', demoMerchant.clientSecret, '"974"', '"123"'];
  for (const secret of secrets) {
    assert.ok(!rows.includes(secret), `${secret} in a table`);
    assert.ok(!lines.includes(secret), `${secret} in the log`);
  }
  const token = new URL(payment.confirmation.confirmationUrl).pathname.split('/').at(-1) ?? '';
  assert.ok(!lines.includes(token), 'the link to the page in the log');
});

test('after all this the books are right', () => assertBooks(service));
