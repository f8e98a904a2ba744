import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../../src/platform/db.ts';
import { startTestApp } from '../support/app.ts';
import {
  addMerchant,
  basic,
  call,
  createPayment,
  demoMerchant,
  paidPayment,
  refund,
} from '../support/merchant.ts';
import { addEndpoint, type EndpointAnswer, type EventBody, startReceiver } from '../support/receiver.ts';
import { until } from '../support/server.ts';

const service = await startTestApp();
const receiver = await startReceiver();
const guarded = await startTestApp(
  {
    TOLLGATE_ENV: 'test',
    BASE_URL: 'http://localhost:3000',
    KEYS_SECRET: 'one-of-the-longer-secrets-for-a-test-0123456789',
  },
  {
    resolve: async (name) => {
      if (name === 'mute.example') return new Promise((resolve) => mute.push(resolve));
      return name === 'inside.example' ? ['93.184.216.34', '10.0.0.7'] : ['127.0.0.1'];
    },
  },
);
/** Lookups that wait for an answer. */
const mute: ((addresses: string[]) => void)[] = [];
const guardedMerchant = await addMerchant(guarded);

type Problem = {
  code: string;
  retryable: boolean;
  errors?: { pointer?: string; parameter?: string; detail: string }[];
};
type Page<Item> = { items: Item[]; nextCursor: string | null };

const path = '/v1/webhook-endpoints';

async function refusedWith(
  status: number,
  code: string,
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  url: string,
  options: Parameters<typeof call>[3] = {},
): Promise<Problem> {
  const answer = await call(service, method, url, options);
  assert.equal(answer.statusCode, status, answer.body);
  assert.equal(answer.headers['content-type'], 'application/problem+json; charset=utf-8');
  assert.equal(answer.json<Problem>().code, code);
  return answer.json<Problem>();
}

test('an endpoint is created, read, listed, changed and deleted; its secret is shown once and not stored', async () => {
  const created = await call(service, 'POST', path, {
    body: { url: receiver.url, events: ['payment.*', 'refund.succeeded'], description: 'The shop' },
  });
  assert.equal(created.statusCode, 201, created.body);
  assert.equal(created.headers['cache-control'], 'no-store');
  const { secret, ...endpoint } = created.json<EndpointAnswer>();
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.equal(endpoint.status, 'enabled');

  const read = await call(service, 'GET', `${path}/${endpoint.id}`);
  assert.deepEqual(read.json(), endpoint);
  const list = (await call(service, 'GET', path)).json<Page<EndpointAnswer>>();
  assert.deepEqual(
    list.items.filter((one) => one.id === endpoint.id),
    [endpoint],
  );
  const stored = await service.db.one<{ row: string }>(sql`
    select e::text as row from webhooks.endpoints e where endpoint_id = ${endpoint.id}`);
  const bytes = Buffer.from(secret.slice(6), 'base64').toString('hex');
  assert.ok(!stored.row.includes(bytes) && !stored.row.includes(secret));
  assert.ok(!service.logLines.join('').includes(secret));

  const changed = await call(service, 'PATCH', `${path}/${endpoint.id}`, {
    body: { url: `${receiver.url}/new`, events: ['*'], description: null, status: 'disabled' },
  });
  const shown = changed.json<EndpointAnswer>();
  assert.equal(changed.statusCode, 200, changed.body);
  assert.deepEqual([shown.url, shown.events, shown.status], [`${receiver.url}/new`, ['*'], 'disabled']);
  assert.equal(shown.disabledReason, 'requested');
  const again = await call(service, 'PATCH', `${path}/${endpoint.id}`, { body: { status: 'enabled' } });
  assert.deepEqual(
    [again.json<EndpointAnswer>().status, again.json<EndpointAnswer>().disabledReason],
    ['enabled', null],
  );

  assert.equal((await call(service, 'DELETE', `${path}/${endpoint.id}`)).statusCode, 204);
  await refusedWith(404, 'webhook_endpoint_not_found', 'GET', `${path}/${endpoint.id}`);
  await refusedWith(404, 'webhook_endpoint_not_found', 'DELETE', `${path}/${endpoint.id}`);
});

test('bad input is refused and names the field', async () => {
  const { id } = await addEndpoint(service, { url: receiver.url });
  const cases: [object | string, string][] = [
    [{}, '/url'],
    [{ url: '' }, '/url'],
    [{ url: 'https://a b' }, '/url'],
    [{ url: receiver.url, more: 1 }, '/more'],
    [{ url: receiver.url, events: [] }, '/events'],
    [{ url: receiver.url, events: ['*', 'payment'] }, '/events/1'],
    [{ url: receiver.url, events: ['user.merged'] }, '/events/0'],
    [{ url: receiver.url, events: '*' }, '/events'],
    [{ url: receiver.url, description: 'x'.repeat(129) }, '/description'],
    [{ url: receiver.url, description: 'a\u0000b' }, '/description'],
  ];
  for (const [body, pointer] of cases) {
    const problem = await refusedWith(400, 'invalid_request', 'POST', path, { body });
    assert.equal(problem.errors?.[0]?.pointer, pointer, JSON.stringify(body));
  }
  for (const [body, pointer] of [
    [{}, ''],
    [{ status: 'paused' }, '/status'],
    [{ events: ['refund.'] }, '/events/0'],
  ] as const) {
    const problem = await refusedWith(400, 'invalid_request', 'PATCH', `${path}/${id}`, { body });
    assert.deepEqual(
      problem.errors?.map((fault) => fault.pointer),
      [pointer],
      JSON.stringify(body),
    );
  }
  for (const [body, pointer] of [
    [{ force: 'yes' }, '/force'],
    [{ forse: true }, '/forse'],
    [null, ''],
  ] as const) {
    const problem = await refusedWith(400, 'invalid_request', 'POST', `${path}/${id}/rotate-secret`, {
      body,
    });
    assert.deepEqual(
      problem.errors?.map((fault) => fault.pointer),
      [pointer],
      JSON.stringify(body),
    );
  }
  for (const [body, pointer] of [
    [{}, '/from'],
    [{ from: 'yesterday' }, '/from'],
    [{ from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' }, '/to'],
    [{ eventId: '0199d3a2-5c1e-7b60-9f0e-3d1c5a7b9e02', to: '2026-01-01T00:00:00Z' }, '/eventId'],
  ] as const) {
    const problem = await refusedWith(400, 'invalid_request', 'POST', `${path}/${id}/replay`, { body });
    assert.equal(problem.errors?.[0]?.pointer, pointer, JSON.stringify(body));
  }
  for (const [query, parameter] of [
    ['limit=0', 'limit'],
    ['cursor=x', 'cursor'],
    ['type=*', 'type'],
    ['objectId=1', 'objectId'],
  ]) {
    const problem = await refusedWith(400, 'invalid_request', 'GET', `/v1/events?${query}`);
    assert.equal(problem.errors?.[0]?.parameter, parameter);
  }
  await refusedWith(404, 'event_not_found', 'POST', `${path}/${id}/replay`, { body: { eventId: 'x' } });
  await refusedWith(404, 'webhook_endpoint_not_found', 'GET', `${path}/x`);
  await refusedWith(404, 'event_not_found', 'GET', '/v1/events/x');
});

test('T69 an address that leads inside is refused when it is registered or changed', async () => {
  const { authorization } = guardedMerchant;
  const register = (url: string) => call(guarded, 'POST', path, { authorization, body: { url } });
  for (const url of [
    'http://169.254.169.254',
    'http://[::ffff:a9fe:a9fe]',
    'http://0x7f000001',
    'https://169.254.169.254/latest/meta-data',
    'https://[::ffff:a9fe:a9fe]/',
    'https://0x7f000001/',
    'https://2130706433/',
    'https://localhost./',
    'https://inside.example/',
    'https://10.1.2.3/',
    'https://user:password@93.184.216.34/',
    'http://93.184.216.34/',
    'ftp://93.184.216.34/',
    'https://93.184.216.34/#part',
    'not-an-address',
  ]) {
    const answer = await register(url);
    assert.equal(answer.statusCode, 422, `${url} ${answer.body}`);
    assert.equal(answer.json<Problem>().code, 'webhook_url_not_allowed');
    assert.equal(answer.json<Problem>().errors?.[0]?.pointer, '/url');
  }
  const { id } = (await register('https://93.184.216.34/')).json<EndpointAnswer>();
  const moved = await call(guarded, 'PATCH', `${path}/${id}`, {
    authorization,
    body: { url: 'https://127.0.0.1/' },
  });
  assert.equal(moved.statusCode, 422, moved.body);
  // Even where this machine itself may be called, what hands out its credentials may not.
  await refusedWith(422, 'webhook_url_not_allowed', 'POST', path, {
    body: { url: 'http://169.254.169.254/' },
  });
});

test('sixteen endpoints are the most, also when twenty are asked for at once', async () => {
  const { authorization } = await addMerchant(service);
  const answers = await Promise.all(
    Array.from({ length: 20 }, () =>
      call(service, 'POST', path, { authorization, body: { url: receiver.url } }),
    ),
  );
  const statuses = answers.map((answer) => answer.statusCode).sort();
  assert.deepEqual(statuses, [...Array(16).fill(201), ...Array(4).fill(422)]);
  await refusedWith(422, 'webhook_endpoints_exhausted', 'POST', path, {
    authorization,
    body: { url: receiver.url },
  });
});

test('of one merchant sixteen addresses are looked up at once, and the next is refused without waiting', async () => {
  const create = ({ authorization }: { authorization: string }, name: string) =>
    call(guarded, 'POST', path, { authorization, body: { url: `https://${name}/` } });
  const waiting = Array.from({ length: 16 }, () => create(guardedMerchant, 'mute.example'));
  await until('all of them wait', () => mute.length === 16);
  const refused = await create(guardedMerchant, 'mute.example');
  assert.deepEqual([refused.statusCode, refused.json<Problem>().code], [409, 'webhook_lookups_in_progress']);
  assert.equal(refused.json<Problem>().retryable, true);
  assert.equal((await create(await addMerchant(guarded), '93.184.216.34')).statusCode, 201);
  for (const answer of mute.splice(0)) answer([]);
  for (const { statusCode } of await Promise.all(waiting)) assert.equal(statusCode, 422);
  assert.equal((await create(guardedMerchant, '93.184.216.34')).statusCode, 201);
});

test('credentials without the scope, or none at all, get nowhere', async () => {
  const { authorization } = await addMerchant(service, { scopes: ['payments', 'refunds'] });
  for (const url of [path, '/v1/events']) {
    await refusedWith(403, 'scope_missing', 'GET', url, { authorization });
    await refusedWith(401, 'credentials_missing', 'GET', url, { authorization: null });
    await refusedWith(401, 'credentials_invalid', 'GET', url, { authorization: basic('demo-merchant', 'x') });
  }
});

test('a Bearer token with the scope does as well as a secret', async () => {
  const answer = await service.app.inject({
    method: 'POST',
    url: '/api/v2/openid-connect/token',
    headers: { authorization: basic(), 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'grant_type=client_credentials&scope=webhooks',
  });
  const authorization = `Bearer ${answer.json<{ access_token: string }>().access_token}`;
  assert.equal((await call(service, 'GET', path, { authorization })).statusCode, 200);
  await refusedWith(403, 'scope_missing', 'GET', '/v1/payments', { authorization });
});

test('what belongs to another merchant is answered as if it did not exist', async () => {
  const { id } = await addEndpoint(service, { url: receiver.url });
  const payment = await createPayment(service);
  const [event] = (await call(service, 'GET', `/v1/events?objectId=${payment.id}`)).json<Page<EventBody>>()
    .items;
  assert.ok(event);
  const stranger = await addMerchant(service);
  const own = await addEndpoint(service, { url: receiver.url }, stranger.authorization);
  const { authorization } = stranger;
  const unknown = '0199d3a2-5c1e-7b60-9f0e-3d1c5a7b9e02';
  const body = { eventId: event.id };
  const calls: [Parameters<typeof call>[1], (id: string) => string, object?][] = [
    ['GET', (one) => `${path}/${one}`],
    ['PATCH', (one) => `${path}/${one}`, { status: 'disabled' }],
    ['DELETE', (one) => `${path}/${one}`],
    ['GET', (one) => `${path}/${one}/deliveries`],
    ['POST', (one) => `${path}/${one}/rotate-secret`],
    ['POST', (one) => `${path}/${one}/test`],
    ['POST', (one) => `${path}/${one}/replay`, body],
  ];
  for (const [method, pathOf, sent] of calls) {
    const answers = await Promise.all(
      [id, unknown].map((one) =>
        call(service, method, pathOf(one), { authorization, ...(sent ? { body: sent } : {}) }),
      ),
    );
    const [foreign, none] = answers.map((answer) => {
      const { requestId: _, ...rest } = answer.json<Problem & { requestId: string }>();
      return rest;
    });
    assert.equal(foreign?.code, 'webhook_endpoint_not_found', `${method} ${pathOf(id)}`);
    assert.deepEqual(foreign, none);
  }
  await refusedWith(404, 'event_not_found', 'GET', `/v1/events/${event.id}`, { authorization });
  await refusedWith(404, 'event_not_found', 'POST', `${path}/${own.id}/replay`, { authorization, body });
  assert.deepEqual((await call(service, 'GET', '/v1/events', { authorization })).json(), {
    items: [],
    nextCursor: null,
  });
  assert.equal((await call(service, 'GET', `${path}/${id}`)).json<EndpointAnswer>().status, 'enabled');
});

test('events are listed newest first, in pages, by type and by object, and read byte for byte', async () => {
  const merchant = await addMerchant(service);
  const { authorization } = merchant;
  const payment = (
    await call(service, 'POST', '/v1/payments', { authorization, body: merchant.order })
  ).json<{ id: string }>();
  for (let more = 0; more < 4; more++) {
    await call(service, 'POST', '/v1/payments', { authorization, body: merchant.order });
  }
  await call(service, 'POST', `/v1/payments/${payment.id}/cancel`, { authorization, body: {} });
  const list = async (query: string) =>
    (await call(service, 'GET', `/v1/events?${query}`, { authorization })).json<Page<EventBody>>();

  const all: EventBody[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Page<EventBody> = await list(`limit=2${cursor && `&cursor=${cursor}`}`);
    all.push(...page.items);
    cursor = page.nextCursor;
  }
  assert.equal(all.length, 6);
  assert.deepEqual(
    all.map((event) => event.id),
    all
      .map((event) => event.id)
      .sort()
      .reverse(),
  );
  assert.equal((await list('type=payment.canceled')).items.length, 1);
  assert.equal((await list('type=payment.*')).items.length, 6);
  assert.equal((await list('type=refund.*')).items.length, 0);
  const ofObject = (await list(`objectId=${payment.id}`)).items;
  assert.deepEqual(
    ofObject.map((event) => [event.type, event.sequence]),
    [
      ['payment.canceled', 2],
      ['payment.created', 1],
    ],
  );
  const read = await call(service, 'GET', `/v1/events/${all[0]?.id}`, { authorization });
  const stored = await service.db.one<{ payload: string }>(sql`
    select payload from checkout.events where event_id = ${all[0]?.id}`);
  assert.equal(read.body, stored.payload);
  assert.equal(read.headers['content-type'], 'application/json; charset=utf-8');
});

test('every change leaves a line in the audit that names who, what and when, and no secret', async () => {
  const { id } = await addEndpoint(service, { url: receiver.url });
  await call(service, 'PATCH', `${path}/${id}`, { body: { events: ['refund.*'] } });
  const rotated = await call(service, 'POST', `${path}/${id}/rotate-secret`);
  await call(service, 'POST', `${path}/${id}/test`);
  await call(service, 'POST', `${path}/${id}/replay`, { body: { from: '2020-01-01T00:00:00Z' } });
  await call(service, 'DELETE', `${path}/${id}`);
  const rows = await service.db.many<{ actor: string; action: string; details: object }>(sql`
    select actor, action, details from identity.audit where details->>'endpointId' = ${id} order by audit_id`);
  assert.deepEqual(
    rows.map((row) => row.action),
    [
      'webhook.endpoint_created',
      'webhook.endpoint_changed',
      'webhook.secret_rotated',
      'webhook.tested',
      'webhook.replayed',
      'webhook.endpoint_deleted',
    ],
  );
  assert.deepEqual(new Set(rows.map((row) => row.actor)), new Set([`merchant:${demoMerchant.merchantId}`]));
  assert.ok(!JSON.stringify(rows).includes(rotated.json<EndpointAnswer>().secret));
});

test('a test event is sent at once, signed, and the answer is shown', async () => {
  const { id } = await addEndpoint(service, { url: receiver.url, events: ['refund.*'] });
  receiver.answer = (_received, response) => response.writeHead(418).end('a teapot');
  const failed = await call(service, 'POST', `${path}/${id}/test`);
  assert.equal(failed.statusCode, 200, failed.body);
  const shown = failed.json<{ result: string; responseStatus: number; responseBody: string }>();
  assert.deepEqual([shown.result, shown.responseStatus, shown.responseBody], ['given_up', 418, 'a teapot']);
  let arrived = () => {};
  const first = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  let letGo = () => {};
  receiver.answer = (_received, response) => {
    letGo = () => response.writeHead(204).end();
    arrived();
  };
  const running = call(service, 'POST', `${path}/${id}/test`);
  await first;
  await refusedWith(409, 'webhook_test_in_progress', 'POST', `${path}/${id}/test`);
  letGo();
  assert.equal((await running).json<{ result: string }>().result, 'delivered');
  assert.equal(receiver.received.at(-1)?.event.type, 'webhook.test');
  const log = await call(service, 'GET', `${path}/${id}/deliveries`);
  assert.deepEqual(
    log.json<Page<{ type: string; result: string }>>().items.map((item) => item.result),
    ['delivered', 'given_up'],
  );
});

test('the API reference describes every call about webhooks, with examples', () => {
  const document = service.app.swagger() as { paths: Record<string, Record<string, { summary?: string }>> };
  const described = Object.entries(document.paths)
    .filter(([url]) => /webhook-endpoints|\/v1\/events/.test(url))
    .flatMap(([url, methods]) => Object.keys(methods).map((method) => `${method} ${url}`))
    .sort();
  assert.deepEqual(described, [
    'delete /checkout/v1/webhook-endpoints/{id}',
    'get /checkout/v1/events',
    'get /checkout/v1/events/{id}',
    'get /checkout/v1/webhook-endpoints',
    'get /checkout/v1/webhook-endpoints/{id}',
    'get /checkout/v1/webhook-endpoints/{id}/deliveries',
    'patch /checkout/v1/webhook-endpoints/{id}',
    'post /checkout/v1/webhook-endpoints',
    'post /checkout/v1/webhook-endpoints/{id}/replay',
    'post /checkout/v1/webhook-endpoints/{id}/rotate-secret',
    'post /checkout/v1/webhook-endpoints/{id}/test',
  ]);
  assert.match(JSON.stringify(document.paths['/checkout/v1/webhook-endpoints']), /"examples?":/);
});

test('an event of every type that is told is one that an endpoint can ask for', async () => {
  const payment = await paidPayment(service);
  await refund(service, payment.id, '10.00');
  const rows = await service.db.many<{ type: string }>(sql`select distinct type from checkout.events`);
  assert.ok(rows.length > 3);
  for (const { type } of rows) await addAndDelete(type);

  async function addAndDelete(type: string) {
    const { id } = await addEndpoint(service, { url: receiver.url, events: [type] });
    await call(service, 'DELETE', `${path}/${id}`);
  }
});
