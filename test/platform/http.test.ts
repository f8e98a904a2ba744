import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type TSchema, Type } from 'typebox';
import { allRefusals } from '../../src/app.ts';
import { version } from '../../src/package.ts';
import { isDatabaseAway, openDatabase, sql } from '../../src/platform/db.ts';
import { createHttpServer, type HttpOptions, type HttpServer } from '../../src/platform/http.ts';
import { createLogger } from '../../src/platform/log.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import type { Problem } from '../../src/platform/problem.ts';
import { startTestApp } from '../support/app.ts';
import { testDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';

type LogLine = { level: string; msg: string; requestId?: string; [more: string]: unknown };
type Answer = Awaited<ReturnType<HttpServer['inject']>>;

/** A server with routes that exist for these tests only. */
async function startProbe(options: Partial<HttpOptions> = {}) {
  const raw: string[] = [];
  const log = createLogger({ level: 'trace', destination: { write: (line) => void raw.push(line) } });
  const metrics = createMetrics(undefined);
  const app = createHttpServer({
    log,
    metrics,
    baseUrl: 'https://id.example',
    trustProxy: false,
    ...options,
  });
  after(() => app.close());
  const lines = (): LogLine[] => raw.map((line) => JSON.parse(line));
  return { app, metrics, raw: () => raw.join(''), lines };
}

const orderSchema = Type.Object(
  {
    name: Type.String({ minLength: 2 }),
    amount: Type.Object(
      { value: Type.String(), currency: Type.Literal('AZN') },
      { additionalProperties: false },
    ),
    kind: Type.Optional(Type.Union([Type.Literal('a'), Type.Literal('b')])),
    items: Type.Optional(Type.Array(Type.Integer(), { maxItems: 3 })),
    'a/b~c': Type.Optional(Type.Object({ 'd/e': Type.Number() }, { additionalProperties: false })),
  },
  { additionalProperties: false },
);
const order = { name: 'tea', amount: { value: '1.00', currency: 'AZN' } };

async function startShop(options?: Partial<HttpOptions>) {
  const probe = await startProbe(options);
  probe.app.post('/orders', { schema: { body: orderSchema } }, async (request) => request.body);
  probe.app.put('/orders', async () => 'ok');
  probe.app.get('/orders/:id', async (request) => request.params);
  probe.app.delete('/orders/:id', async () => 'ok');
  return probe;
}

// Everything is started before the first test: the runner may take a file that waits in its middle for finished.
const shop = await startShop();
const threeHosts = {
  TOLLGATE_ENV: 'test',
  KEYS_SECRET: 'q7Zp2vXw9Lk4Rt8Ny3Bm6Hd1Gs5Jf0Qc',
  BASE_URL: 'https://id.example',
  SSO_URL: 'https://sso.example',
  CHECKOUT_BASE_URL: 'https://pay.example',
};
const { app: hosted } = await startTestApp(threeHosts);
const { app: local, logLines } = await startTestApp();
const { app: apart } = await startTestApp({ ADMIN_PORT: '9000' });
const realMoney = await startTestApp({
  CHECKOUT_ENV: 'production',
  BASE_URL: 'https://id.example',
  KEYS_SECRET: threeHosts.KEYS_SECRET,
  SMS_SENDER: 'http',
  SMS_HTTP_URL: 'https://sms.example/send',
  SMS_HTTP_SECRET: 'Wm4Tz8Kc1Vq6Xb3Lp9Rd5Gh7Ns2Jf0Ay',
  ACQUIRER: 'none',
  TRUST_PROXY: 'none',
});

const post = (payload: unknown, headers: Record<string, string> = {}) =>
  shop.app.inject({
    method: 'POST',
    url: '/orders',
    payload: typeof payload === 'string' || Buffer.isBuffer(payload) ? payload : JSON.stringify(payload),
    headers: { 'content-type': 'application/json', ...headers },
  });

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Checks everything that all problem documents share, and gives the document. */
function problemIn(answer: Answer, status: number, code: string, baseUrl = 'https://id.example'): Problem {
  assert.equal(answer.statusCode, status, answer.body);
  assert.match(String(answer.headers['content-type']), /^application\/problem\+json(;|$)/);
  assert.equal(answer.headers['cache-control'], 'no-store');
  const problem: Problem = answer.json();
  assert.equal(problem.type, `${baseUrl}/docs/errors#${code}`);
  assert.equal(problem.title, allRefusals[code as keyof typeof allRefusals][1]);
  assert.equal(problem.status, status);
  assert.equal(problem.code, code);
  assert.equal(problem.retryable, status >= 500);
  assert.match(problem.requestId, uuid);
  assert.equal(problem.requestId, answer.headers['x-request-id']);
  const known = ['type', 'title', 'status', 'detail', 'code', 'requestId', 'retryable', 'errors'];
  assert.deepEqual(
    Object.keys(problem).filter((name) => !known.includes(name)),
    [],
  );
  return problem;
}

const invalid = (answer: Answer) => problemIn(answer, 400, 'invalid_request');

test('a body that fits its schema arrives as it was sent', async () => {
  const whole = { ...order, kind: 'a', items: [1, 2, 3], 'a/b~c': { 'd/e': 1.5 } };
  const answer = await post(whole);
  assert.equal(answer.statusCode, 200);
  assert.deepEqual(answer.json(), whole);
});

test('the content type of a JSON body may carry a charset', async () => {
  for (const type of [
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'Application/JSON',
  ])
    assert.equal((await post(order, { 'content-type': type })).statusCode, 200, type);
});

test('malformed JSON is refused', async () => {
  for (const body of ['{', '{"name":}', 'name=tea', "{'name':'tea'}", '{"name":"tea",}', '\u0000', '[1,2'])
    assert.equal(invalid(await post(body)).detail, 'The body is not valid JSON.');
});

test('an empty body is refused', async () => {
  assert.match(invalid(await post('')).detail ?? '', /^The body is empty/);
});

test('a call without any body or content type is refused where a body is needed', async () => {
  const answer = await shop.app.inject({ method: 'POST', url: '/orders' });
  assert.deepEqual(invalid(answer).errors, [{ pointer: '', detail: 'It must be an object.' }]);
});

test('a name that comes twice is refused', async () => {
  assert.equal(
    invalid(await post('{"name":"tea","name":"gold"}')).detail,
    'The name "name" comes twice in one object.',
  );
  assert.match(invalid(await post('{"name":"tea","n\\u0061me":"gold"}')).detail ?? '', /comes twice/);
});

test('__proto__ is refused', async () => {
  for (const body of ['{"__proto__":{"name":"tea"}}', '{"name":"tea","amount":{"__pr\\u006fto__":1}}'])
    assert.match(invalid(await post(body)).detail ?? '', /"__proto__" is not allowed/);
});

test('a schema gives no way to constructor.prototype', async () => {
  const { errors } = invalid(await post({ ...order, constructor: { prototype: { admin: true } } }));
  assert.deepEqual(errors, [{ pointer: '/constructor', detail: 'This field is not known.' }]);
});

test('deep nesting is refused', async () => {
  const count = 30_000;
  assert.match(invalid(await post('['.repeat(count) + ']'.repeat(count))).detail ?? '', /nested deeper/);
  assert.match(invalid(await post('['.repeat(count))).detail ?? '', /not valid JSON/);
  problemIn(await post('['.repeat(100_000)), 413, 'payload_too_large');
});

test('an unknown field and a missing one are each named by a pointer', async () => {
  assert.deepEqual(invalid(await post({ ...order, color: 'red' })).errors, [
    { pointer: '/color', detail: 'This field is not known.' },
  ]);
  assert.deepEqual(invalid(await post({ amount: order.amount })).errors, [
    { pointer: '/name', detail: 'This field is required.' },
  ]);
  assert.deepEqual(invalid(await post({ ...order, amount: { value: '1.00' } })).errors, [
    { pointer: '/amount/currency', detail: 'This field is required.' },
  ]);
});

test('several faults are reported at once, each at its place', async () => {
  const problem = invalid(
    await post({ name: 'x', amount: { value: 1, currency: 'USD', more: 1 }, items: [1, 'two'], extra: true }),
  );
  assert.equal(problem.detail, 'See `errors` for each fault.');
  const byPointer = (problem.errors ?? []).map((error) => ('pointer' in error ? error.pointer : '?')).sort();
  assert.deepEqual(byPointer, [
    '/amount/currency',
    '/amount/more',
    '/amount/value',
    '/extra',
    '/items/1',
    '/name',
  ]);
  for (const { detail } of problem.errors ?? []) assert.match(detail, /^(It|This field) .+\.$/);
});

test('a pointer escapes ~ and / in names', async () => {
  assert.deepEqual(invalid(await post({ ...order, 'x/y~z': 1 })).errors, [
    { pointer: '/x~1y~0z', detail: 'This field is not known.' },
  ]);
  assert.deepEqual(invalid(await post({ ...order, 'a/b~c': {} })).errors, [
    { pointer: '/a~1b~0c/d~1e', detail: 'This field is required.' },
  ]);
  assert.deepEqual(invalid(await post({ ...order, 'a/b~c': { 'd/e': 'one' } })).errors, [
    { pointer: '/a~1b~0c/d~1e', detail: 'It must be a number.' },
  ]);
});

test('nothing is converted on the way in', async () => {
  for (const body of [
    { ...order, name: 12 },
    { ...order, items: ['1'] },
    { ...order, items: 1 },
    [order],
    'null',
  ])
    invalid(await post(body));
});

test('a fault in a query or a header is named by its parameter', async () => {
  const { app } = await startProbe();
  const querystring = Type.Object(
    { limit: Type.String({ pattern: '^\\d+$' }) },
    { additionalProperties: false },
  );
  const headers = Type.Object({ 'x-key': Type.String({ minLength: 1 }) });
  app.get('/list', { schema: { querystring } }, async () => 'ok');
  app.get('/keyed', { schema: { headers } }, async () => 'ok');
  const errors = async (url: string) => invalid(await app.inject(url)).errors;
  assert.deepEqual(await errors('/list'), [{ parameter: 'limit', detail: 'This field is required.' }]);
  assert.deepEqual(await errors('/list?limit=1&page=2'), [
    { parameter: 'page', detail: 'This field is not known.' },
  ]);
  assert.equal((await app.inject('/list?limit=1')).statusCode, 200);
  assert.deepEqual(await errors('/keyed'), [{ parameter: 'x-key', detail: 'This field is required.' }]);
});

test('what is wrong with a value is said in words, with what would fit', async () => {
  const { app } = await startProbe();
  const body = Type.Object(
    {
      text: Type.String({ minLength: 2, maxLength: 3 }),
      code: Type.String({ pattern: '^[a-z]$', description: 'One small letter' }),
      at: Type.String({ format: 'date-time', description: 'A time of RFC 3339' }),
      count: Type.Integer({ minimum: 1, maximum: 9 }),
      list: Type.Array(Type.Boolean(), { minItems: 1, maxItems: 2 }),
    },
    { additionalProperties: false },
  );
  app.post('/words', { schema: { body } }, async () => 'ok');
  const good = { text: 'abc', code: 'a', at: '2026-11-16T09:00:00Z', count: 5, list: [true] };
  const detailOf = async (changes: object) => {
    const answer = await app.inject({ method: 'POST', url: '/words', payload: { ...good, ...changes } });
    return invalid(answer).errors?.map(({ detail }) => detail);
  };
  for (const [changes, sentence] of [
    [{ text: 'a' }, 'It must have 2 or more characters.'],
    [{ text: 'abcd' }, 'It must have 3 or fewer characters.'],
    [{ text: null }, 'It must be a string.'],
    [{ code: 'A' }, 'It does not fit. Expected: One small letter.'],
    [{ at: 'today' }, 'It does not fit. Expected: A time of RFC 3339.'],
    [{ count: 0 }, 'It must be at least 1.'],
    [{ count: 10 }, 'It must be at most 9.'],
    [{ count: 1.5 }, 'It must be a whole number.'],
    [{ list: [] }, 'It must have 1 or more items.'],
    [{ list: {} }, 'It must be a list.'],
    [{ list: [1] }, 'It must be true or false.'],
  ] as const) {
    assert.deepEqual(await detailOf(changes), [sentence], JSON.stringify(changes));
  }
});

test('any other content type is refused', async () => {
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'application/jsonp',
    'nonsense',
  ]) {
    problemIn(await post(order, { 'content-type': type }), 415, 'unsupported_media_type');
  }
});

test('a body without a content type is refused', async () => {
  const answer = await shop.app.inject({ method: 'POST', url: '/orders', payload: Buffer.from('{}') });
  problemIn(answer, 415, 'unsupported_media_type');
});

test('a compressed body is refused, one that is as it is is taken', async () => {
  for (const encoding of ['gzip', 'br', 'deflate', 'zstd', 'gzip, identity', 'x']) {
    const answer = await post(gzipSync(JSON.stringify(order)), { 'content-encoding': encoding });
    const problem = problemIn(answer, 415, 'unsupported_media_type');
    assert.equal(problem.detail, 'A compressed body is not taken; send it as it is.');
  }
  assert.equal((await post(order, { 'content-encoding': 'identity' })).statusCode, 200);
  assert.equal((await post(order, { 'content-encoding': 'Identity' })).statusCode, 200);
});

test('a body of 64 kB is taken, one byte more is refused', async () => {
  const bodyOf = (bytes: number) => {
    const empty = JSON.stringify({ ...order, name: '' }).length;
    return JSON.stringify({ ...order, name: 'x'.repeat(bytes - empty) });
  };
  assert.equal(bodyOf(65_536).length, 65_536);
  assert.equal((await post(bodyOf(65_536))).statusCode, 200);
  problemIn(await post(bodyOf(65_537)), 413, 'payload_too_large');
});

test('the limit counts bytes, not characters', async () => {
  problemIn(await post({ ...order, name: 'ə'.repeat(40_000) }), 413, 'payload_too_large');
});

test('an address where nothing is served is 404, whatever is sent to it', async () => {
  for (const url of ['/', '/nothing', '/orders/1/2', '/ORDERS', '//orders', '/orders.json'])
    problemIn(await shop.app.inject(url), 404, 'not_found');
  for (const [type, payload] of [
    ['application/json', '{'],
    ['application/json', ''],
    ['text/plain', 'hello'],
  ] as const) {
    const headers = { 'content-type': type };
    problemIn(await shop.app.inject({ method: 'POST', url: '/nothing', headers, payload }), 404, 'not_found');
  }
});

test('a method that an address does not take is 405 and names those it takes', async () => {
  const refused = async (method: 'GET' | 'POST' | 'PATCH' | 'OPTIONS', url: string) => {
    const answer = await shop.app.inject({ method, url });
    problemIn(answer, 405, 'method_not_allowed');
    return answer.headers.allow;
  };
  assert.equal(await refused('GET', '/orders'), 'POST, PUT');
  assert.equal(await refused('PATCH', '/orders?x=1'), 'POST, PUT');
  assert.equal(await refused('OPTIONS', '/orders'), 'POST, PUT');
  assert.equal(await refused('POST', '/orders/17'), 'DELETE, GET, HEAD');
});

test('a method that an address does not take is 405 whatever the body is', async () => {
  for (const [type, payload] of [
    ['application/json', '{'],
    ['text/plain', 'hello'],
  ] as const) {
    const headers = { 'content-type': type };
    const answer = await shop.app.inject({ method: 'POST', url: '/orders/17', headers, payload });
    problemIn(answer, 405, 'method_not_allowed');
  }
});

test('malformed percent-encoding in the path is refused', async () => {
  for (const url of ['/%', '/orders/%zz', '/orders/%E0%A4%A', '/%c0%af']) invalid(await shop.app.inject(url));
});

test('a parameter of the path may have 512 characters, no more', async () => {
  assert.equal((await shop.app.inject(`/orders/${'x'.repeat(512)}`)).statusCode, 200);
  const refused = problemIn(await shop.app.inject(`/orders/${'x'.repeat(513)}`), 431, 'headers_too_large');
  assert.equal(refused.detail, 'A part of the address is longer than 512 characters.');
});

test('every answer carries a request id of its own', async () => {
  const { app } = await startShop();
  app.get('/bug', async () => {
    throw new Error('bug');
  });
  const ids = new Set<string>();
  for (const [status, request] of [
    [200, { url: '/orders/1' }],
    [400, { url: '/%' }],
    [404, { url: '/nothing' }],
    [405, { url: '/orders' }],
    [415, { method: 'POST', url: '/orders', payload: 'x', headers: { 'content-type': 'text/plain' } }],
    [500, { url: '/bug' }],
  ] as const) {
    const answer = await app.inject(request);
    assert.equal(answer.statusCode, status);
    const id = String(answer.headers['x-request-id']);
    assert.match(id, uuid);
    ids.add(id);
  }
  assert.equal(ids.size, 6);
});

const idOf = async (app: HttpServer, given: string, remoteAddress = '127.0.0.1') =>
  (await app.inject({ url: '/orders/1', headers: { 'x-request-id': given }, remoteAddress })).headers[
    'x-request-id'
  ];

test("a caller's request id is ignored unless a proxy in front is trusted", async () => {
  assert.match(String(await idOf(shop.app, 'caller-chosen-1')), uuid);
  const { app } = await startShop({ trustProxy: 1 });
  assert.equal(await idOf(app, 'caller-chosen-1'), 'caller-chosen-1');
});

test('a request id is taken from the trusted proxies only, not from a caller who goes around them', async () => {
  const { app } = await startShop({ trustProxy: ['10.0.0.0/8', '192.168.1.7', 'fd00::/8'] });
  for (const proxy of ['10.1.2.3', '192.168.1.7', '::ffff:10.1.2.3', 'fd00::1'])
    assert.equal(await idOf(app, 'chosen-by-proxy', proxy), 'chosen-by-proxy', proxy);
  for (const other of ['11.1.2.3', '192.168.1.8', '::ffff:11.1.2.3', 'fe80::1', '127.0.0.1'])
    assert.match(String(await idOf(app, 'chosen-by-proxy', other)), uuid, other);
});

test("a proxy's request id is taken only when it is well-formed", async () => {
  const { app } = await startShop({ trustProxy: 1 });
  for (const good of ['12345678', 'x'.repeat(64), '3f0c6f5e-7f0e-4c0e-9d43-6f6f6a1a7c55', 'a_b-C_D-1'])
    assert.equal(await idOf(app, good), good);
  for (const bad of [
    '1234567',
    'x'.repeat(65),
    'has space',
    'semi;colon',
    '<script>',
    'ünïcödé-1',
    '{"a":"bcdef"}',
  ])
    assert.match(String(await idOf(app, bad)), uuid, bad);
});

test('the address of the caller is read from as many hops, or from such proxies, as are trusted', async () => {
  const ipSeenBy = async (trustProxy: HttpOptions['trustProxy'], remoteAddress: string) => {
    const { app } = await startProbe({ trustProxy });
    app.get('/ip', async (request) => request.ip);
    const headers = { 'x-forwarded-for': '1.1.1.1, 2.2.2.2, 10.0.0.2' };
    return (await app.inject({ url: '/ip', headers, remoteAddress })).body;
  };
  assert.equal(await ipSeenBy(false, '10.0.0.1'), '10.0.0.1');
  assert.equal(await ipSeenBy(1, '10.0.0.1'), '10.0.0.2');
  assert.equal(await ipSeenBy(2, '10.0.0.1'), '2.2.2.2');
  assert.equal(await ipSeenBy(['10.0.0.0/8'], '10.0.0.1'), '2.2.2.2');
  assert.equal(await ipSeenBy(['10.0.0.0/8'], '9.9.9.9'), '9.9.9.9');
  assert.equal(await ipSeenBy(['::1'], '10.0.0.1'), '10.0.0.1');
});

test('a bug is answered with 500 and no detail, and logged once with its stack', async () => {
  const { app, lines } = await startProbe();
  app.get('/bug', async () => {
    throw new Error('payment 42 is in an impossible state');
  });
  const answer = await app.inject('/bug');
  const problem = problemIn(answer, 500, 'internal_error');
  assert.equal(problem.detail, undefined);
  assert.doesNotMatch(answer.body, /payment 42|impossible|http\.test|at /);

  const [line, ...more] = lines().filter(({ level }) => level !== 'info');
  assert.deepEqual(more, []);
  assert.equal(line?.level, 'error');
  assert.equal(line?.requestId, problem.requestId);
  const err = line?.err as { message: string; stack: string };
  assert.equal(err.message, 'payment 42 is in an impossible state');
  assert.match(err.stack, /http\.test\.ts/);
});

test('whatever is thrown is answered with 500, also when it is no error', async () => {
  const { app } = await startProbe();
  const thrown: Record<string, unknown> = {
    text: 'a secret text',
    nothing: undefined,
    object: { statusCode: 200, message: 'a secret text' },
    code: Object.assign(new Error('a secret text'), { statusCode: 418 }),
  };
  app.get('/throw/:what', async (request) => {
    throw thrown[(request.params as { what: string }).what];
  });
  for (const what of Object.keys(thrown)) {
    const answer = await app.inject(`/throw/${what}`);
    problemIn(answer, 500, 'internal_error');
    assert.doesNotMatch(answer.body, /a secret text/);
  }
});

test('an answer that does not fit its own schema is a bug of ours', async () => {
  const { app, lines } = await startProbe();
  const response: Record<number, TSchema> = { 200: Type.Object({ id: Type.String() }) };
  app.get('/wrong', { schema: { response } }, async () => ({}));
  problemIn(await app.inject('/wrong'), 500, 'internal_error');
  assert.equal(lines().filter(({ level }) => level === 'error').length, 1);
});

test('a database that is away is answered with 503 and Retry-After, and logged as a warning', async () => {
  const { app, lines } = await startProbe();
  const url = `postgres://nobody@127.0.0.1:${await freePort()}/nothing`;
  const away = openDatabase({ url, poolSize: 1, onConnectionError: () => {} });
  after(() => away.close());
  app.get('/away', async () => away.one(sql`select 1`));
  const answer = await app.inject('/away');
  problemIn(answer, 503, 'service_unavailable');
  assert.equal(answer.headers['retry-after'], '1');
  assert.doesNotMatch(answer.body, /ECONNREFUSED|127\.0\.0\.1/);
  assert.deepEqual(
    lines().map(({ level }) => level),
    ['warn', 'info'],
  );
});

test('a mistake in a statement is a bug, not a database that is away', async () => {
  const { db } = await testDatabase();
  const { app, raw } = await startProbe();
  app.get('/mistake', async () => db.one(sql`select * from nowhere`));
  app.get('/duplicate', async () =>
    db.run(sql`insert into tollgate.migrations values ('0001_schemas', 'canary-row')`),
  );
  const answer = await app.inject('/mistake');
  problemIn(answer, 500, 'internal_error');
  assert.equal(answer.headers['retry-after'], undefined);
  assert.doesNotMatch(answer.body, /nowhere/);
  problemIn(await app.inject('/duplicate'), 500, 'internal_error');
  assert.match(raw(), /23505 tollgate migrations migrations_pkey/);
  assert.doesNotMatch(raw(), /canary/, 'the row that PostgreSQL shows in its details is not logged');
});

test('a value that PostgreSQL quotes in its message is not logged', async () => {
  const { db } = await testDatabase();
  const { app, raw } = await startProbe();
  const statements = [
    () => sql`select ${'canary-uuid'}::uuid`,
    () => sql`select ${'canary-int'}::int`,
    () => sql`select ${'canary "quoted" date'}::date`,
    () => sql`select ${'{canary-json'}::json`,
  ];
  app.get('/cast/:at', async (request) => {
    const { at } = request.params as { at: string };
    return db.one((statements[Number(at)] ?? assert.fail)());
  });
  for (const at of statements.keys()) problemIn(await app.inject(`/cast/${at}`), 500, 'internal_error');
  assert.match(raw(), /22P02/);
  assert.match(raw(), /invalid input syntax for type uuid/);
  assert.doesNotMatch(raw(), /canary|quoted/);
});

const securityHeaders = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

test('the security headers stand on every answer', async () => {
  const { app } = await startShop();
  app.get('/bug', async () => {
    throw new Error('bug');
  });
  for (const url of ['/orders/1', '/nothing', '/orders', '/bug', '/%', `/orders/${'x'.repeat(513)}`]) {
    const { headers } = await app.inject(url);
    for (const [name, value] of Object.entries(securityHeaders))
      assert.equal(headers[name], value, `${url} ${name}`);
    assert.equal(headers['strict-transport-security'], 'max-age=31536000', url);
    assert.equal(headers['x-powered-by'], undefined);
    assert.equal(headers.server, undefined);
  }
});

test('HSTS is sent only when the service is reached by https', async () => {
  const { app } = await startShop({ baseUrl: 'http://localhost:3000' });
  const { headers } = await app.inject('/orders/1');
  assert.equal(headers['strict-transport-security'], undefined);
  assert.equal(headers['x-frame-options'], 'DENY');
});

test('each request makes one line in the log, with the pattern of its route', async () => {
  const { app, lines } = await startShop();
  const answer = await app.inject('/orders/4711?search=tea');
  const [line, ...more] = lines();
  assert.deepEqual(more, []);
  const { durationMs, time, pid, ...rest } = line as LogLine;
  assert.deepEqual(rest, {
    level: 'info',
    requestId: answer.headers['x-request-id'],
    method: 'GET',
    route: '/orders/:id',
    status: 200,
    msg: 'request',
  });
  assert.equal(typeof durationMs, 'number');
  assert.match(String(time), /^\d{4}-\d\d-\d\dT/);
  assert.equal(pid, process.pid);
});

test('each refused request makes one line in the log', async () => {
  const { app, lines } = await startShop();
  for (const [status, request] of [
    [404, { url: '/nothing' }],
    [405, { url: '/orders' }],
    [415, { method: 'POST', url: '/orders', payload: 'x', headers: { 'content-type': 'text/plain' } }],
    [400, { method: 'POST', url: '/orders', payload: '{', headers: { 'content-type': 'application/json' } }],
    [400, { url: '/%' }],
  ] as const) {
    const before = lines().length;
    assert.equal((await app.inject(request)).statusCode, status);
    const written = lines().slice(before);
    assert.deepEqual(
      written.map((line) => [line.level, line.status]),
      [['info', status]],
    );
  }
});

test('a request is counted by its route, never by its path', async () => {
  const { app, metrics } = await startShop();
  await app.inject('/orders/canary-1');
  await app.inject('/canary-2');
  const text = await metrics.registry.metrics();
  assert.match(text, /http_route="\/orders\/:id",http_response_status_code="200"/);
  assert.match(text, /http_route="none",http_response_status_code="404"/);
  assert.doesNotMatch(text, /canary/);
});

test('nothing that a caller sends reaches the log: headers, query, path or body', async () => {
  const { app, raw, lines } = await startShop({ trustProxy: 1 });
  app.post('/bug/:token', async () => {
    throw new Error('bug');
  });
  const headers = {
    authorization: 'Bearer canary-authorization',
    cookie: 'session=canary-cookie',
    'x-other': 'canary-header',
    'x-request-id': 'canary id',
    'user-agent': 'canary-agent',
    'x-forwarded-for': 'canary-address',
    'content-type': 'application/json',
  };
  const payload = JSON.stringify({ password: 'canary-body', canary: 'canary-value' });
  for (const url of [
    '/orders?token=canary-query',
    '/orders/canary-4711?code=canary-query',
    '/bug/canary-4711?code=canary-query',
    '/pay/canary-0123456789-0123456789',
    '/canary-1',
    '/unknown/4242424242424242canary',
    '/%canary',
    `/orders/${'canary'.repeat(100)}`,
  ]) {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE'] as const)
      await app.inject(method === 'GET' ? { method, url, headers } : { method, url, headers, payload });
  }
  await app.inject({ method: 'POST', url: '/orders', headers, payload: '{"canary":1,"canary":2}' });
  await app.inject({ method: 'POST', url: '/orders', headers, payload: '{"canary' });
  assert.equal(lines().length > 30, true);
  assert.doesNotMatch(raw(), /canary/i);
});

test('a number in an unknown path is not logged: it may be a phone or a card', async () => {
  const { app, lines } = await startShop();
  for (const [url, route] of [
    ['/api/v1/nothing/here', '/api/v1/nothing/here'],
    ['/.well-known/nothing', '/.well-known/nothing'],
    ['/people/+994501234567', '/people/…'],
    ['/cards/4242424242424242/code/111111', '/cards/…/code/…'],
    ['/pay/q7Zp2vXw9Lk4Rt8Ny3Bm6H', '/pay/…'],
    [`/${'a/'.repeat(300)}`, `/${'a/'.repeat(300)}`.slice(0, 200)],
  ] as const) {
    await app.inject(url);
    assert.equal(lines().at(-1)?.route, route);
  }
});

const statusAt = async (app: HttpServer, host: string, url = '/api') =>
  (await app.inject({ url, headers: { host } })).statusCode;

test('with three hosts the API answers on its own, in any case and with the default port', async () => {
  for (const host of ['id.example', 'ID.Example', 'id.example:443', 'ID.EXAMPLE:443'])
    assert.equal(await statusAt(hosted, host), 200, host);
});

test('with three hosts the API is not found on any other', async () => {
  for (const host of [
    'sso.example',
    'pay.example',
    'evil.example',
    'id.example.evil.example',
    'id.example:8443',
    'localhost',
    '',
  ]) {
    const answer = await hosted.inject({ url: '/api', headers: { host } });
    problemIn(answer, 404, 'not_found');
  }
});

test('a host that does not serve an address does not tell which methods another takes', async () => {
  const postAt = (host: string) => hosted.inject({ method: 'POST', url: '/api', headers: { host } });
  problemIn(await postAt('sso.example'), 404, 'not_found');
  const own = await postAt('ID.example:443');
  problemIn(own, 405, 'method_not_allowed');
  assert.equal(own.headers.allow, 'GET, HEAD');
});

test('links are made from the settings, never from the Host header', async () => {
  const answer = await hosted.inject({
    url: '/nothing',
    headers: { host: 'evil.example', 'x-forwarded-host': 'evil.example' },
  });
  problemIn(answer, 404, 'not_found');
  assert.doesNotMatch(answer.body, /evil/);
});

test('in local any host that leads here will do', async () => {
  for (const host of ['localhost:3000', '127.0.0.1:3000', '[::1]:3000', 'my-laptop.local', ''])
    assert.equal(await statusAt(local, host), 200, host);
});

test('a path in BASE_URL stands before every address', async () => {
  const { app } = await startTestApp({ BASE_URL: 'https://example.com/id' });
  assert.equal(await statusAt(app, 'example.com', '/id/api'), 200);
  assert.equal(await statusAt(app, 'example.com', '/id/docs/errors'), 200);
  assert.equal(await statusAt(app, 'example.com', '/api'), 404);
  const { links } = (await app.inject('/id/api')).json();
  assert.equal(links.openapi, 'https://example.com/id/api/openapi.json');
});

test('the first page shows the demo credentials in local', async () => {
  const answer = await local.inject('/');
  assert.equal(answer.statusCode, 200);
  assert.equal(answer.headers['content-type'], 'text/html; charset=utf-8');
  for (const shown of [
    'demo-partner',
    'demo-partner-secret',
    'DEMOMERCHANT001',
    'DEMOTRM1',
    'demo-merchant-secret',
    '+994500000001',
    '111111',
    '4242 4242 4242 4242',
    'http://localhost:3000/swagger-ui/index.html',
  ]) {
    assert.equal(answer.body.includes(shown), true, shown);
  }
});

test('the first page allows our one style by its hash and nothing else', async () => {
  const { headers, body } = await local.inject('/');
  assert.match(
    String(headers['content-security-policy']),
    /^default-src 'none'; style-src 'sha256-[\w+/=]+';/,
  );
  assert.doesNotMatch(body, /<script|\sstyle=|\son\w+=|<link rel="stylesheet|(?:src|url\()=?["']?https?:/);
});

test('the first page leads to health and metrics where they are', async () => {
  assert.match((await local.inject('/')).body, /href="\/health\/ready".*href="\/metrics"/);
  const body = (await apart.inject('/')).body;
  assert.match(
    body,
    /href="http:\/\/localhost:9000\/health\/ready".*href="http:\/\/localhost:9000\/metrics"/,
  );
});

test('a production checkout in a local identity shows and has no demo credentials', async () => {
  assert.equal((await realMoney.app.inject('/')).statusCode, 404);
  // Our own payment page is a client too.
  const clients = await realMoney.db.many(sql`select client_id from identity.clients`);
  assert.deepEqual(clients, [{ clientId: 'tollgate-checkout' }]);
});

test('there is no first page with demo credentials anywhere but in local', async () => {
  for (const host of ['id.example', 'sso.example', 'pay.example', 'localhost:3000']) {
    const answer = await hosted.inject({ url: '/', headers: { host } });
    problemIn(answer, 404, 'not_found');
    assert.doesNotMatch(answer.body, /demo-|111111/);
  }
});

test('the page of errors lists every code, with an anchor that problem documents point to', async () => {
  const answer = await local.inject('/docs/errors');
  assert.equal(answer.statusCode, 200);
  assert.equal(answer.headers['content-type'], 'text/html; charset=utf-8');
  for (const [code, [status]] of Object.entries(allRefusals)) {
    assert.equal(answer.body.split(` id="${code}"`).length, 2, code);
    assert.match(answer.body.split(` id="${code}"`)[1] ?? '', new RegExp(`^[^]{1,300}\\b${status}\\b`));
  }
});

test('the index of the API names its version and its documents', async () => {
  const answer = await local.inject('/api');
  assert.equal(answer.statusCode, 200);
  assert.deepEqual(answer.json(), {
    name: 'tollgate',
    version,
    environment: 'local',
    links: {
      openapi: 'http://localhost:3000/api/openapi.json',
      reference: 'http://localhost:3000/swagger-ui/index.html',
    },
  });
});

test('the API is described in OpenAPI 3.1', async () => {
  const answer = await local.inject('/api/openapi.json');
  assert.equal(answer.statusCode, 200);
  assert.match(String(answer.headers['content-type']), /^application\/json/);
  assert.equal(answer.headers['cache-control'], 'public, max-age=300');
  const document = answer.json();
  assert.equal(document.openapi, '3.1.0');
  assert.equal(document.info.version, version);
  assert.deepEqual(document.servers, [{ url: 'http://localhost:3000' }]);
  assert.equal(typeof document.paths, 'object');
});

test('the document shows every answer that has a body, and no body as required that may be left out', async () => {
  type Operation = { requestBody?: { required: boolean }; responses: Record<string, { content?: object }> };
  const { paths } = (await local.inject('/api/openapi.json')).json<{
    paths: Record<string, Record<string, Operation>>;
  }>();
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, ...operation })),
  );
  assert.doesNotMatch(JSON.stringify(paths), /Default Response/);
  const silent = operations.filter(({ responses }) => responses[200] && !responses[200].content);
  assert.deepEqual(
    silent.map(({ name }) => name),
    ['post /api/v1/openid-connect/revoke'],
  );
  const free = operations.filter(({ requestBody }) => requestBody?.required === false);
  assert.deepEqual(free.map(({ name }) => name).sort(), [
    'post /checkout/v1/payments/{id}/capture',
    'post /checkout/v1/webhook-endpoints/{id}/rotate-secret',
  ]);
});

test('whatever has to fit a pattern says in words what fits', async () => {
  const { paths } = (await local.inject('/api/openapi.json')).json<{ paths: object }>();
  const silent: string[] = [];
  const look = (value: unknown, path: string) => {
    if (typeof value !== 'object' || value === null) return;
    const { pattern, format, description, schema } = value as Record<string, unknown>;
    const isAsked = typeof pattern === 'string' || typeof format === 'string';
    if (isAsked && typeof description !== 'string') silent.push(path);
    for (const [name, inner] of Object.entries(value)) {
      // A parameter has its description beside its schema.
      const described = inner === schema && description ? { ...(inner as object), description } : inner;
      if (name !== 'responses') look(described, `${path}/${name}`);
    }
  };
  look(paths, '');
  assert.deepEqual(silent, []);
});

test('the interactive reference comes from our own host, whole', async () => {
  const page = await local.inject('/swagger-ui/index.html');
  assert.equal(page.statusCode, 200);
  assert.doesNotMatch(page.body, /https?:\/\//);
  for (const [, file] of page.body.matchAll(/(?:src|href)="([^"]+)"/g))
    assert.equal((await local.inject(`/swagger-ui/${file}`)).statusCode, 200, file);
  // Relative to the page, so that it is found under whatever name the page was opened.
  assert.match((await local.inject('/swagger-ui/start.js')).body, /url: "\.\.\/api\/openapi\.json"/);
  for (const url of ['/swagger-ui', '/swagger-ui/'])
    assert.equal((await local.inject(url)).headers.location, '/swagger-ui/index.html');
});

test('health and metrics are served, and asking for them leaves no line in the log', async () => {
  const before = logLines.length;
  for (const url of ['/health/live', '/health/started', '/health/ready', '/metrics'])
    assert.equal((await local.inject(url)).statusCode, 200, url);
  assert.equal(logLines.length, before);
});

test('a port of its own takes health and metrics off the public one', async () => {
  const { app } = await startTestApp({ ADMIN_PORT: '9000' });
  for (const url of ['/health/live', '/health/ready', '/metrics'])
    assert.equal((await app.inject(url)).statusCode, 404);
});

/** Sends bytes that no HTTP client would, and gives the whole answer. */
/** Sends bytes as they are, and returns what comes back until the connection is closed. */
async function exchange(app: HttpServer, bytes: string): Promise<string> {
  const address = await app.listen({ port: 0, host: '127.0.0.1' }).catch(() => app.listeningOrigin);
  const socket = connect(Number(new URL(address).port), '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  socket.on('error', () => {});
  socket.write(bytes);
  await once(socket, 'close');
  return text;
}

async function sendRaw(app: HttpServer, bytes: string): Promise<{ head: string; problem: Problem }> {
  const [head = '', body = ''] = (await exchange(app, bytes)).split('\r\n\r\n');
  return { head, problem: JSON.parse(body) };
}

test('what is no HTTP at all is answered with a problem document too', async () => {
  const { app } = await startShop();
  for (const [bytes, status, code] of [
    ['NONSENSE\r\n\r\n', 400, 'invalid_request'],
    ['GET / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n', 400, 'invalid_request'],
    [
      'POST /orders HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
      'invalid_request',
    ],
    [`GET / HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(17_000)}\r\n\r\n`, 431, 'headers_too_large'],
    [`GET /${'x'.repeat(17_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431, 'headers_too_large'],
  ] as const) {
    const { head, problem } = await sendRaw(app, bytes);
    assert.match(head, new RegExp(`^HTTP/1\\.1 ${status} `));
    assert.match(head, /\r\ncontent-type: application\/problem\+json\r\n/);
    assert.match(head, new RegExp(`\r\nx-request-id: ${problem.requestId}\r\n`));
    assert.equal(problem.code, code);
    assert.equal(problem.status, status);
    assert.equal(problem.type, `https://id.example/docs/errors#${code}`);
    assert.equal(problem.retryable, false);
  }
});

test('what Node itself would refuse without a word has a request id and a document as well', async () => {
  const { app } = await startShop();
  for (const [bytes, status, code] of [
    ['GET /orders/1 HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'invalid_request'],
    ['GET /orders/1 HTTP/1.1\r\nHost: a\r\nhost: b\r\nConnection: close\r\n\r\n', 400, 'invalid_request'],
    [
      'GET /orders/1 HTTP/1.1\r\nHost: a\r\nExpect: a miracle\r\nConnection: close\r\n\r\n',
      417,
      'expectation_failed',
    ],
    ['CONNECT other.example:443 HTTP/1.1\r\nHost: other.example:443\r\n\r\n', 400, 'invalid_request'],
  ] as const) {
    const { head, problem } = await sendRaw(app, bytes);
    assert.match(head, new RegExp(`^HTTP/1\\.1 ${status} `));
    assert.match(head, new RegExp(`\r\nx-request-id: ${problem.requestId}\r\n`));
    assert.equal(problem.code, code);
  }
  const old = await exchange(app, 'GET /orders/1 HTTP/1.0\r\n\r\n');
  assert.match(old, /^HTTP\/1\.1 200 /, 'HTTP/1.0 knows no Host');
});

test('garbage behind a pipelined request is answered after the answer to that request, not within it', async () => {
  const { app } = await startProbe();
  app.get('/slow', async (_request, reply) => {
    reply.hijack();
    reply.raw.writeHead(200, { 'content-length': 10 });
    reply.raw.write('first');
    setTimeout(() => reply.raw.end('whole'), 200);
  });
  const answer = await exchange(app, 'GET /slow HTTP/1.1\r\nHost: a\r\n\r\nNONSENSE\r\n\r\nMORE\r\n\r\n');
  const [, body = '', second = ''] = answer.split('\r\n\r\n');
  assert.match(body, /^firstwholeHTTP\/1\.1 400 /);
  assert.equal(JSON.parse(second).code, 'invalid_request');
});

test('a request that Node refuses makes one line in the log and is counted', async () => {
  const { app, lines, metrics } = await startShop();
  const { problem } = await sendRaw(app, 'NONSENSE\r\n\r\n');
  const told = lines().filter((line) => line.requestId !== undefined);
  assert.equal(told.length, 1);
  const { msg, requestId, status, refusal, reason } = told[0] as LogLine;
  assert.deepEqual(
    { msg, requestId, status, refusal, reason },
    {
      msg: 'request refused',
      requestId: problem.requestId,
      status: 400,
      refusal: 'invalid_request',
      reason: 'HPE_INVALID_METHOD',
    },
  );
  assert.match(
    await metrics.registry.metrics(),
    /_count\{http_request_method="_OTHER",http_route="none",http_response_status_code="400"\} 1/,
  );
});

test('the log replaces what has the name of a secret, three levels deep', () => {
  let text = '';
  const write = (line: string) => {
    text += line;
  };
  const log = createLogger({ level: 'info', destination: { write } });
  const secrets = Object.fromEntries(
    [
      'authorization',
      'cookie',
      'set-cookie',
      'password',
      'secret',
      'client_secret',
      'clientSecret',
      'code',
      'code_verifier',
      'codeVerifier',
      'token',
      'access_token',
      'refresh_token',
      'id_token',
      'id_token_hint',
      'accessToken',
      'refreshToken',
      'idToken',
      'pin',
      'idCardNumber',
      'cardNumber',
      'number',
      'csc',
      'securityCode',
      'otp',
      'phone',
    ].map((name) => [name, `canary-${name}`]),
  );
  log.info({ ...secrets, kept: 'one' }, 'first level');
  log.info({ headers: { ...secrets, kept: 'two' } }, 'second level');
  log.info({ request: { headers: { ...secrets, kept: 'three' } } }, 'third level');
  log.child({ ...secrets }).info('of a child');
  assert.doesNotMatch(text, /canary/);
  for (const kept of ['one', 'two', 'three']) assert.match(text, new RegExp(`"kept":"${kept}"`));
  assert.equal(text.split('[secret]').length - 1, 4 * Object.keys(secrets).length);
});

test('a logged error keeps its message, stack, cause and reason, and nothing else that hangs on it', () => {
  let text = '';
  const write = (line: string) => {
    text += line;
  };
  const log = createLogger({ level: 'info', destination: { write } });
  const cause = Object.assign(new Error('the socket was closed'), { code: 'ECONNRESET' });
  const error = Object.assign(new Error('no answer', { cause }), {
    body: 'canary',
    config: { auth: 'canary' },
  });
  log.error({ err: error }, 'failed');
  const { err } = JSON.parse(text);
  assert.equal(err.message, 'no answer');
  assert.match(err.stack, /http\.test\.ts/);
  assert.equal(err.cause.message, 'the socket was closed');
  assert.equal(err.cause.reason, 'ECONNRESET');
  assert.doesNotMatch(text, /canary/);
  assert.equal(isDatabaseAway(cause), true);
});
