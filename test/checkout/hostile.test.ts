import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { startTestApp } from '../support/app.ts';
import { assertBooks } from '../support/books.ts';
import {
  addMerchant,
  bankOf,
  basic,
  call,
  cards,
  createPayment,
  liftRequestRate,
  order,
  paidPayment,
  payByCard,
  refund,
} from '../support/merchant.ts';
import type { Answer } from '../support/partner.ts';

const service = await startTestApp();
await liftRequestRate(service);
const { app, db, logLines } = service;
const address = new URL(await app.listen({ port: 0, host: '127.0.0.1' }));
const open = await createPayment(service);
const held = await paidPayment(service, { capture: false });
const paid = await paidPayment(service);
const made = (await refund(service, paid.id, '1.00')).json<{ id: string }>();
const challenged = await createPayment(service);
await payByCard(service, challenged, cards.challenge);
const acs = new URL(await bankOf(service, challenged)).pathname;
const page = new URL(open.confirmation.confirmationUrl).pathname;

/** Every address of the checkout, with a body that it would take. */
const endpoints: { method: 'GET' | 'POST'; path: string; body?: object; takesNone?: true; page?: true }[] = [
  { method: 'POST', path: '/checkout/v1/payments', body: order },
  { method: 'GET', path: '/checkout/v1/payments' },
  { method: 'POST', path: `/checkout/v1/payments/${open.id}`, takesNone: true },
  { method: 'GET', path: `/checkout/v1/payments/${open.id}` },
  { method: 'POST', path: `/checkout/v1/payments/${held.id}/capture`, body: { amount: order.amount } },
  { method: 'POST', path: `/checkout/v1/payments/${open.id}/cancel`, takesNone: true },
  { method: 'POST', path: '/checkout/v1/refunds', body: { paymentId: paid.id, amount: order.amount } },
  { method: 'GET', path: '/checkout/v1/refunds' },
  { method: 'POST', path: `/checkout/v1/refunds/${made.id}`, takesNone: true },
  { method: 'GET', path: `/checkout/v1/refunds/${made.id}` },
  { method: 'GET', path: '/checkout/v1/balance' },
  { method: 'GET', path: page, page: true },
  { method: 'POST', path: page, page: true },
  { method: 'GET', path: `${page}/return`, page: true },
  { method: 'GET', path: `${page}/bank`, page: true },
  { method: 'GET', path: `${page}/status`, page: true },
  { method: 'GET', path: `${page}/give-up`, page: true },
  { method: 'POST', path: `${page}/give-up`, page: true },
  { method: 'POST', path: `${page}/more-time`, page: true },
  { method: 'GET', path: `${page}/wallet/confirm`, page: true },
  { method: 'POST', path: `${page}/wallet/confirm`, page: true },
  { method: 'GET', path: acs, page: true },
  { method: 'POST', path: acs, page: true },
];
const writing = endpoints.filter((endpoint) => endpoint.method === 'POST' && !endpoint.page);

function send(
  endpoint: { method: string; path: string },
  payload?: string | Buffer,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return app.inject({
    method: endpoint.method as 'POST',
    url: endpoint.path,
    headers: {
      authorization: basic(),
      'x-idempotency-key': randomUUID(),
      ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(payload === undefined ? {} : { payload }),
  });
}

async function traces(): Promise<unknown> {
  const tables = [
    'payments',
    'refunds',
    'events',
    'idempotency_keys',
    'attempts',
    'ledger_entries',
    'answers',
  ];
  const text = `select ${tables.map((table) => `(select count(*) from checkout.${table})::int as ${table}`).join(', ')}`;
  return db.one({ name: '', text, values: [] });
}

function assertRefused(answer: Answer, about: string): void {
  assert.ok(
    answer.statusCode >= 400 && answer.statusCode < 500,
    `${about}: ${answer.statusCode} ${answer.body.slice(0, 300)}`,
  );
  assert.equal(answer.headers['content-type'], 'application/problem+json; charset=utf-8', about);
  const problem = answer.json<{ status: number; requestId: string; retryable: boolean }>();
  assert.equal(problem.status, answer.statusCode);
  assert.equal(problem.requestId, answer.headers['x-request-id']);
  assert.equal(problem.retryable, false);
  assert.ok(!/node_modules|\.ts:|select |syntax error/i.test(answer.body), answer.body);
}

/** Nothing of this may be an error of ours, or leave anything behind. */
async function hostile(work: () => Promise<void>): Promise<void> {
  const before = await traces();
  const logged = logLines.length;
  await work();
  assert.deepEqual(await traces(), before);
  const errors = logLines.slice(logged).filter((line) => /"level":"(error|fatal)"/.test(line));
  assert.deepEqual(errors, []);
  assert.equal((await call(service, 'GET', '/v1/balance')).statusCode, 200);
}

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

test('T72 bodies that poison, nest, repeat or are no JSON are 4xx for every call that takes one', async () => {
  await hostile(async () => {
    for (const endpoint of writing) {
      const good = JSON.stringify(endpoint.body ?? {});
      const inside = (more: string) => `${good.slice(0, -1)}${good === '{}' ? '' : ','}${more}}`;
      for (const payload of [
        inside('"__proto__":{"isAdmin":true}'),
        inside('"\\u005f_proto__":{"isAdmin":true}'),
        inside('"constructor":{"prototype":{"isAdmin":true}}'),
        inside('"metadata":{"__proto__":"x"}'),
        inside(`"metadata":${nested(30)}`),
        inside(`"metadata":${nested(33)}`),
        inside('"surprise":1,"surprise":2'),
        inside('"amount":{"value":"1.00","currency":"AZN"},"amount":{"value":"2.00","currency":"AZN"}'),
        inside('"amount":{"value":"1.00","value":"2.00","currency":"AZN"}'),
        nested(30_000),
        nested(100_000),
        `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`,
        `{"a":"${'x'.repeat(70_000)}"}`,
        '[]',
        'null',
        '1',
        '"text"',
        'true',
        '{',
        '}',
        '{]',
        '{"a":}',
        "{'a':1}",
        '{"a":1,}',
        '{}{}',
        '{} x',
        '\u0000',
        '\ufeff{"a":1}',
        'NaN',
        '-',
        '<xml/>',
        'a=b',
        '{"a":"\\x"}',
        '{"a":"\u0001"}',
        '{"a":"\\ud800"}',
        `[${'1,'.repeat(9000)}1]`,
      ]) {
        assertRefused(await send(endpoint, payload), `${endpoint.path} ${payload.slice(0, 60)}`);
      }
      for (const bytes of [
        [0xff, 0xfe],
        [0x7b, 0xc0, 0x80, 0x7d],
        [0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d],
      ]) {
        assertRefused(await send(endpoint, Buffer.from(bytes)), `${endpoint.path} ${bytes}`);
      }
      if (!endpoint.takesNone) {
        assertRefused(await send(endpoint, ''), endpoint.path);
        // A capture without a body takes all.
        if (!endpoint.path.endsWith('/capture')) assertRefused(await send(endpoint), endpoint.path);
      }
    }
  });
});

test('T72 a compressed body or another content type is 415, before anything is read', async () => {
  await hostile(async () => {
    for (const endpoint of endpoints.filter(({ method }) => method === 'POST')) {
      for (const encoding of ['gzip', 'deflate', 'br', 'zstd', 'GZIP', 'gzip, gzip', 'x']) {
        const answer = await send(endpoint, gzipSync('{}'), { 'content-encoding': encoding });
        assert.equal(answer.statusCode, 415, `${endpoint.path} ${encoding}`);
      }
      if (endpoint.takesNone) continue;
      const types = endpoint.page
        ? ['application/json', 'text/plain', 'multipart/form-data; boundary=x']
        : [
            'text/plain',
            'application/x-www-form-urlencoded',
            'application/xml',
            'multipart/form-data; boundary=x',
            'application/jsonp',
            'x',
            '',
          ];
      for (const type of types) {
        const answer = await send(endpoint, JSON.stringify(endpoint.body ?? {}), { 'content-type': type });
        assert.ok([400, 415].includes(answer.statusCode), `${endpoint.path} ${type} ${answer.statusCode}`);
      }
    }
  });
});

test('T72 addresses that are long, broken or clever are 4xx on every endpoint', async () => {
  await hostile(async () => {
    for (const endpoint of endpoints) {
      const isList = endpoint.method === 'GET' && /\/(payments|refunds)$/.test(endpoint.path);
      for (const path of [
        // Only the lists take parameters; elsewhere they are not looked at.
        ...(isList ? [`${endpoint.path}?${'a'.repeat(20_000)}=1`] : []),
        `${endpoint.path}/${'a'.repeat(20_000)}`,
        `${endpoint.path}/../../../etc/passwd`,
        `${endpoint.path}%00`,
        `${endpoint.path}/`,
        `${endpoint.path}%`,
        `${endpoint.path}%ff`,
        endpoint.path.replace(/\/(v1|pay|sandbox)/, '//$1'),
        endpoint.path.toUpperCase(),
      ]) {
        const answer = await send({ ...endpoint, path }, endpoint.body && JSON.stringify(endpoint.body));
        const isRefused = answer.statusCode >= 400 && answer.statusCode < 500;
        assert.ok(isRefused, `${endpoint.method} ${path.slice(0, 100)} ${answer.statusCode}`);
      }
    }
  });
});

test('T72 a request of more than 16 kB of address and headers is 431 on a real connection, and the process lives', async () => {
  for (const head of [
    `GET /checkout/v1/payments?${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
    `GET /checkout/v1/balance HTTP/1.1\r\nHost: x\r\nX-Idempotency-Key: ${'k'.repeat(20_000)}\r\n\r\n`,
  ]) {
    assert.match(await overSocket(head), /^HTTP\/1\.1 431 /);
  }
  for (const head of [
    'POST /checkout/v1/payments HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'POST /checkout/v1/payments HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n',
    'POST /checkout/v1/payments HTTP/1.1\r\nHost: x\r\nX-Idempotency-Key: a\u0000b\r\n\r\n',
    'NONSENSE\r\n\r\n',
  ]) {
    assert.match(await overSocket(head), /^HTTP\/1\.1 400 /, head);
  }
  assert.equal((await call(service, 'GET', '/v1/balance')).statusCode, 200);
});

async function overSocket(head: string): Promise<string> {
  const socket = connect(Number(address.port), address.hostname);
  await once(socket, 'connect');
  let text = '';
  socket.on('data', (chunk) => {
    text += String(chunk);
  });
  socket.on('error', () => {});
  const closed = once(socket, 'close');
  socket.end(head, 'latin1');
  await closed;
  return text;
}

test('another method than those an address takes is 405 with those it takes', async () => {
  await hostile(async () => {
    for (const endpoint of endpoints) {
      for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const answer = await send({ ...endpoint, method });
        assert.equal(answer.statusCode, 405, `${method} ${endpoint.path}`);
        assert.ok(String(answer.headers.allow).includes(endpoint.method));
      }
    }
  });
});

test('ids that are anything but ids of ours are 404 for every call, in the path and in the body', async () => {
  const other = await addMerchant(service);
  const foreign = await call(service, 'POST', '/v1/payments', {
    body: other.order,
    authorization: other.authorization,
  });
  await hostile(async () => {
    for (const id of [
      '0',
      'null',
      'undefined',
      'NaN',
      '[object Object]',
      "' or 1=1 --",
      '1;drop table checkout.payments',
      '{}',
      '%',
      '_',
      '..',
      '.',
      '\u0000',
      'ə',
      '🎁',
      'x'.repeat(64),
      randomUUID(),
      open.id.toUpperCase(),
      open.id.replaceAll('-', ''),
      `{${open.id}}`,
      ` ${open.id}`,
      `${open.id} `,
      `${open.id}\u0000`,
      `urn:uuid:${open.id}`,
      foreign.json<{ id: string }>().id,
      made.id,
    ]) {
      const path = encodeURIComponent(id).replaceAll('.', '%2e');
      for (const [method, target] of [
        ['GET', `/checkout/v1/payments/${path}`],
        ['POST', `/checkout/v1/payments/${path}`],
        ['POST', `/checkout/v1/payments/${path}/cancel`],
        ['POST', `/checkout/v1/payments/${path}/capture`],
        ['GET', `/checkout/v1/refunds/${id === made.id ? 'x' : path}`],
        ['POST', `/checkout/v1/refunds/${id === made.id ? 'x' : path}`],
      ] as const) {
        const answer = await send({ method, path: target }, target.endsWith('capture') ? '{}' : undefined);
        assert.equal(answer.statusCode, 404, `${method} ${target} ${answer.body}`);
      }
      const answer = await send(
        { method: 'POST', path: '/checkout/v1/refunds' },
        JSON.stringify({ paymentId: id, amount: order.amount }),
      );
      assert.equal(answer.statusCode, 404, `refund of ${id} ${answer.body}`);
    }
    for (const paymentId of ['x'.repeat(65), 1, null, {}, [open.id], true]) {
      assertRefused(
        await send(
          { method: 'POST', path: '/checkout/v1/refunds' },
          JSON.stringify({ paymentId, amount: order.amount }),
        ),
        String(paymentId),
      );
    }
  });
});

test('headers that are odd are refused or ignored, never an error', async () => {
  await hostile(async () => {
    for (const endpoint of writing.filter(({ takesNone }) => !takesNone)) {
      for (const headers of [
        { 'x-idempotency-key': "'; drop table checkout.payments; --".replaceAll(' ', '\t') },
        { authorization: `Basic ${'A'.repeat(8000)}` },
        { authorization: `Bearer ${'a.'.repeat(4000)}` },
        { authorization: 'Basic Og==' },
        { authorization: `Basic ${Buffer.from('demo-merchant').toString('base64')}` },
        { authorization: `Basic ${Buffer.from('\u0000:\u0000').toString('base64')}` },
        { authorization: 'Bearer eyJhbGciOiJub25lIn0.e30.' },
        { 'content-type': 'application/json; charset=utf-16', 'x-idempotency-key': '' },
        { 'content-length': '999999999' },
      ]) {
        const answer = await send(endpoint, JSON.stringify({ ...endpoint.body, surprise: 1 }), headers);
        assert.ok(
          answer.statusCode >= 400 && answer.statusCode < 500,
          `${JSON.stringify(headers).slice(0, 80)} ${answer.statusCode}`,
        );
      }
    }
  });
});

test('forms of the payment page and of the bank that are odd are answered with a page or a refusal, never an error', async () => {
  const long = 'x'.repeat(30_000);
  await hostile(async () => {
    for (const payload of [
      '',
      '=',
      '&&&',
      '%',
      '%00=%00',
      'attempts=0&number=%00',
      `attempts=0&number=${long}`,
      'attempts=0&attempts=1&number=1',
      'attempts=0&number[]=1',
      'attempts=-1',
      'attempts=0e0',
      'attempts=0&number=4242424242424242&expiry=12/30&csc=123&holder=%00%00&x=%ff'.replace(
        'csc=123',
        'csc=%00',
      ),
      '__proto__[a]=1',
      `${'a=1&'.repeat(5_000)}`,
      'code=%00',
      `code=${long}`,
      'code[]=1234',
      'action=CANCEL',
      'code=1234x',
      'attempts=0&number=４２４２424242424242&expiry=12/30&csc=123&holder=x',
    ]) {
      const answer = await send({ method: 'POST', path: page }, payload, {
        'content-type': 'application/x-www-form-urlencoded',
      });
      assert.ok([303, 400].includes(answer.statusCode), `${payload.slice(0, 60)} ${answer.statusCode}`);
    }
  });
  // Each wrong code counts, so a challenge of its own for each.
  for (const payload of [
    '',
    'code=%00',
    `code=${long}`,
    'code[]=1234',
    'action=CANCEL',
    'code=1234x',
    '%',
    'code=1&code=1234',
  ]) {
    const payment = await createPayment(service);
    await payByCard(service, payment, cards.challenge);
    const bank = new URL(await bankOf(service, payment)).pathname;
    const answer = await send({ method: 'POST', path: bank }, payload, {
      'content-type': 'application/x-www-form-urlencoded',
    });
    assert.equal(answer.statusCode, 200, payload.slice(0, 60));
  }
});

/** Bodies like the right one, with something else somewhere. */
function mutated(body: object): fc.Arbitrary<string> {
  const places = placesOf(body);
  const odd = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.constantFrom('\u0000', '\ud800', '-0.00', '1e400', 9e99, -1, '', [], {}, null, 'x'.repeat(3000)),
  );
  return fc
    .tuple(fc.constantFrom(...places), odd, fc.constantFrom('replace', 'remove', 'add'))
    .map(([place, value, way]) => {
      const copy = structuredClone(body) as Record<string, unknown>;
      const parent = place
        .slice(0, -1)
        .reduce<Record<string, unknown>>((at, name) => at[name] as Record<string, unknown>, copy);
      const name = place.at(-1) ?? '';
      if (way === 'remove') delete parent[name];
      else if (way === 'add') parent[`${name}2`] = value;
      else parent[name] = value;
      return JSON.stringify(copy);
    });
}

function placesOf(value: object, before: string[] = []): string[][] {
  return Object.entries(value).flatMap(([name, inside]) => {
    const here = [...before, name];
    return typeof inside === 'object' && inside !== null ? [here, ...placesOf(inside, here)] : [here];
  });
}

test('whatever stands in whichever field, no call fails on our side', async () => {
  const full = {
    ...order,
    confirmation: { ...order.confirmation, locale: 'az' },
    capture: true,
    description: 'd',
    merchantOrderId: 'o',
    expiresIn: 600,
    metadata: { a: 'b' },
  };
  const targets: [string, object][] = [
    ['/checkout/v1/payments', full],
    [
      '/checkout/v1/refunds',
      {
        paymentId: paid.id,
        amount: { value: '0.01', currency: 'AZN' },
        reason: 'r',
        description: 'd',
        metadata: { a: 'b' },
      },
    ],
    [`/checkout/v1/payments/${open.id}/capture`, { amount: order.amount }],
  ];
  const logged = logLines.length;
  for (const [path, body] of targets) {
    await fc.assert(
      fc.asyncProperty(mutated(body), async (payload) => {
        const answer = await send({ method: 'POST', path }, payload);
        assert.ok(answer.statusCode < 500, `${payload} ${answer.body}`);
        if (answer.statusCode === 400) assert.equal(answer.json().code, 'invalid_request');
      }),
      { numRuns: 300 },
    );
  }
  const queries = fc.record(
    Object.fromEntries(
      ['limit', 'cursor', 'createdFrom', 'createdTo', 'status', 'merchantOrderId', 'paymentId'].map(
        (name) => [
          name,
          fc.oneof(
            fc.string({ unit: 'binary', maxLength: 80 }),
            fc.constantFrom(
              '1',
              '0001-01-01T00:00:00Z',
              '9999-12-31T23:59:59Z',
              '0000-01-01T00:00:00Z',
              '2026-01-01T00:00:00+23:59',
            ),
          ),
        ],
      ),
    ),
    { requiredKeys: [] },
  );
  for (const path of ['/checkout/v1/payments', '/checkout/v1/refunds']) {
    await fc.assert(
      fc.asyncProperty(queries, async (query) => {
        const text = Object.entries(query)
          .map(
            ([name, value]) =>
              `${name}=${encodeURIComponent(
                String(value)
                  .toString()
                  .replace(/[\ud800-\udfff]/g, ''),
              )}`,
          )
          .join('&');
        const answer = await send({ method: 'GET', path: `${path}?${text}` });
        assert.ok(answer.statusCode < 500, `${text} ${answer.body}`);
      }),
      { numRuns: 300 },
    );
  }
  const errors = logLines.slice(logged).filter((line) => /"level":"(error|fatal)"/.test(line));
  assert.deepEqual(errors, []);
});

test('every answer, good or bad, names its request and may not be kept', async () => {
  for (const endpoint of endpoints) {
    for (const authorization of [basic(), 'Basic x']) {
      const answer = await send(endpoint, endpoint.body && '{}', { authorization });
      assert.match(String(answer.headers['x-request-id']), /^[0-9a-f-]{36}$/, endpoint.path);
      assert.equal(answer.headers['cache-control'], 'no-store', endpoint.path);
      assert.equal(answer.headers['x-content-type-options'], 'nosniff');
    }
  }
});

test('after all this the books are right', () => assertBooks(service));
