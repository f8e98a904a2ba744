import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { openDatabase, sql } from '../../src/platform/db.ts';
import { takeDue } from '../../src/webhooks/deliver.ts';
import { startDelivering } from '../../src/webhooks/delivery-loop.ts';
import type { WebhookDeps } from '../../src/webhooks/deps.ts';
import { startTestApp } from '../support/app.ts';
import { patience } from '../support/database.ts';
import { addMerchant, call, liftRequestRate, type PaymentAnswer } from '../support/merchant.ts';
import {
  addEndpoint,
  answering,
  deliverAllDue,
  type EndpointAnswer,
  type Received,
  startReceiver,
} from '../support/receiver.ts';
import { until } from '../support/server.ts';
import { type Delivery, openWebhookShop, type WebhookShop } from '../support/webhook-shop.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

const resolved = { addresses: ['93.184.216.34'] };
const service = await startTestApp();
const guarded = await startTestApp(
  {
    TOLLGATE_ENV: 'test',
    BASE_URL: 'http://localhost:3000',
    KEYS_SECRET: 'one-of-the-longer-secrets-for-a-test-0123456789',
  },
  { resolve: async () => resolved.addresses },
);
await liftRequestRate(service);
const deps = service.areas.webhooks;
const { clock, db } = service;

const openShop = (events?: string[]) => openWebhookShop(service, events);

/** Runs the clock from one due delivery to the next, until the given time has passed. */
async function passTime(ms: number, using: WebhookDeps = deps): Promise<void> {
  const end = clock.now().getTime() + ms;
  for (;;) {
    await deliverAllDue(using);
    const { next } = await db.one<{ next: Date | null }>(sql`
      select min(q.due_at) as next from webhooks.queue q join webhooks.endpoints e using (owner, endpoint_id)
      where e.status = 'enabled' and q.due_at > ${clock.now()} and q.due_at < 'infinity'`);
    if (!next || next.getTime() > end) break;
    clock.set(next);
  }
  clock.set(new Date(end));
}

function verify(secret: string, received: Received): unknown {
  return new Webhook(secret).verify(received.body, received.headers);
}

/** Each node has connections of its own. */
const pools = [1, 2].map(() =>
  openDatabase({
    url: service.config.database.url ?? '',
    poolSize: 4,
    onConnectionError: () => {},
    limits: patience,
  }),
);
after(() => Promise.all(pools.map((pool) => pool.close())));

const quick = { idleMs: 10, busyMs: 5, afterFaultMs: 100 };

// The verifier looks at the real time, so this one comes before the clock is set.
test('T71 a signature verifies; one changed byte or ten minutes of age do not; two secrets count during a rotation', async () => {
  const shop = await openShop();
  const { id, secret: first } = shop.endpoint;
  await shop.pay();
  await deliverAllDue(deps);
  const [received] = shop.receiver.received as [Received];
  assert.equal((verify(first, received) as { type: string }).type, 'payment.created');
  assert.equal(received.headers['webhook-id'], received.event.id);
  assert.equal(received.headers['content-type'], 'application/json');
  const stored = await db.one<{ payload: string }>(sql`
    select payload from checkout.events where event_id = ${received.event.id}`);
  assert.equal(received.body, stored.payload);
  for (const at of [0, 40, received.body.length - 1]) {
    const bytes = Buffer.from(received.body);
    bytes[at] = (bytes[at] as number) ^ 1;
    assert.throws(() => verify(first, { ...received, body: bytes.toString() }));
  }
  assert.throws(() => verify(first, { ...received, headers: { ...received.headers, 'webhook-id': 'x' } }));

  const rotated = await shop.send('POST', `/v1/webhook-endpoints/${id}/rotate-secret`);
  const { secret: second, previousSecretExpiresAt } = rotated.json<EndpointAnswer>();
  assert.notEqual(second, first);
  assert.ok(previousSecretExpiresAt);
  await shop.pay();
  await deliverAllDue(deps);
  const during = shop.receiver.received.at(-1) as Received;
  assert.match(during.headers['webhook-signature'] ?? '', /^v1,[\w+/=]{44} v1,[\w+/=]{44}$/);
  for (const secret of [first, second]) verify(secret, during);

  const rotate = (body?: object) => shop.send('POST', `/v1/webhook-endpoints/${id}/rotate-secret`, body);
  for (const body of [undefined, {}, { force: false }]) {
    const refused = await rotate(body);
    assert.equal(refused.json<{ code: string }>().code, 'webhook_rotation_in_progress', refused.body);
  }
  assert.equal((await rotate({ force: 'yes' })).statusCode, 400);
  const third = (await rotate({ force: true })).json<EndpointAnswer>();
  await shop.pay();
  await deliverAllDue(deps);
  const again = shop.receiver.received.at(-1) as Received;
  assert.throws(() => verify(first, again));
  for (const secret of [second, third.secret]) verify(secret, again);

  const now = Date.now();
  clock.set(new Date(now - 10 * minuteMs));
  await shop.pay();
  await deliverAllDue(deps);
  assert.throws(() => verify(third.secret, shop.receiver.received.at(-1) as Received), /too old/);

  clock.set(new Date(Date.parse(third.previousSecretExpiresAt ?? '') - 1000));
  await shop.pay();
  await deliverAllDue(deps);
  assert.match(shop.receiver.received.at(-1)?.headers['webhook-signature'] ?? '', / /);
  clock.move(1000);
  await shop.pay();
  await deliverAllDue(deps);
  assert.match(shop.receiver.received.at(-1)?.headers['webhook-signature'] ?? '', /^v1,\S+$/);
  assert.equal((await rotate()).statusCode, 200, 'once that one is over, the next may begin');
});

test('T70 a receiver that is down for an hour gets every event once it is back, in order, with the same ids', async () => {
  const shop = await openShop();
  shop.receiver.answer = answering(500);
  const payments = await Promise.all(Array.from({ length: 5 }, () => shop.pay()));
  await passTime(10 * minuteMs);
  for (const { id } of payments) await shop.send('POST', `/v1/payments/${id}/cancel`, {});
  await passTime(50 * minuteMs);
  const failed = shop.receiver.received.splice(0);
  assert.ok(failed.every(({ event }) => event.type === 'payment.created'));

  const attempts = await shop.deliveries();
  for (const { id } of payments) {
    const tried = failed.filter(({ event }) => event.data.object.id === id);
    assert.equal(tried.length, 4);
    assert.equal(new Set(tried.map(({ headers }) => headers['webhook-id'])).size, 1);
    const times = attempts
      .filter((attempt) => attempt.eventId === tried[0]?.event.id)
      .map((attempt) => Date.parse(attempt.at))
      .reverse();
    for (const [at, pauseMs] of [5_000, 5 * minuteMs, 30 * minuteMs].entries()) {
      const gapMs = (times[at + 1] as number) - (times[at] as number);
      assert.ok(gapMs >= pauseMs && gapMs <= pauseMs * 1.2 + 1, `pause ${at + 1} was ${gapMs} ms`);
    }
  }
  const seconds = attempts.filter((attempt) => attempt.attempt === 3).map((attempt) => attempt.at);
  assert.ok(new Set(seconds).size > 1, 'they do not all come back at once');
  assert.notEqual((await shop.shown()).failingSince, null);

  shop.receiver.answer = answering(200);
  await passTime(3 * hourMs);
  const arrived = shop.receiver.received.map(({ event }) => event);
  assert.equal(arrived.length, 10);
  for (const { id } of payments) {
    const told = arrived.filter((event) => event.data.object.id === id).map((event) => event.sequence);
    assert.deepEqual(told, [1, 2]);
  }
  assert.equal((await shop.shown()).failingSince, null);
});

test('T70 a receiver that does not answer delays neither other merchants nor its own other endpoint', async () => {
  const [slow, other] = await Promise.all([openShop(), openShop()]);
  const second = await startReceiver();
  await addEndpoint(service, { url: second.url }, slow.authorization);
  slow.receiver.answer = () => {};
  for (let count = 0; count < 12; count++) await slow.pay();
  const running = startDelivering(deps, quick);
  try {
    await until('the slow one is busy', () => slow.receiver.received.length >= 8);
    await other.pay();
    await until('the other merchant was told', () => other.receiver.received.length === 1);
    await until('the other endpoint was told', () => second.received.length === 12);
    assert.equal(slow.receiver.mostAtOnce, 8, 'and the slow one was not asked for more than it may');
    assert.equal(slow.receiver.received.length, 8);
  } finally {
    slow.receiver.answer = answering(200);
    slow.receiver.hangUp();
    await running.stop();
  }
});

test('a merchant with sixteen endpoints that do not answer leaves room for the others', async () => {
  const [slow, other] = await Promise.all([openShop(), openShop()]);
  slow.receiver.answer = () => {};
  for (let count = 1; count < 16; count++) {
    await addEndpoint(service, { url: slow.receiver.url }, slow.authorization);
  }
  for (let count = 0; count < 3; count++) await slow.pay();
  await other.pay();
  const running = startDelivering(deps, quick);
  try {
    await until('the other merchant was told', () => other.receiver.received.length === 1);
    await until('the slow one is busy', () => slow.receiver.received.length === 16);
    await other.pay();
    await until('the other merchant was told again', () => other.receiver.received.length === 2);
    assert.equal(slow.receiver.mostAtOnce, 16);
  } finally {
    slow.receiver.answer = answering(200);
    slow.receiver.hangUp();
    await running.stop();
  }
});

test('fifty events of one payment arrive in order although every third attempt fails', async () => {
  const shop = await openShop(['payment.*']);
  const payment = await shop.pay();
  const { rows } = await historyOf(payment.id, shop, 49);
  assert.equal(rows, 50);
  let asked = 0;
  const taken: number[] = [];
  shop.receiver.answer = ({ event }, response) => {
    asked++;
    if (asked % 3 !== 0) taken.push(event.sequence);
    response.writeHead(asked % 3 === 0 ? 503 : 200).end();
  };
  await passTime(24 * hourMs);
  assert.deepEqual(
    taken,
    Array.from({ length: 50 }, (_, at) => at + 1),
  );
  assert.equal(shop.receiver.mostAtOnce, 1);
});

/** More versions than a payment goes through in a test: their events are written as a change writes them. */
async function historyOf(id: string, shop: WebhookShop, more: number): Promise<{ rows: number }> {
  for (let sequence = 2; sequence <= more + 1; sequence++) {
    const eventId = deps.newId();
    const payload = JSON.stringify({
      id: eventId,
      type: 'payment.updated',
      sequence,
      data: { object: { id } },
    });
    await db.run(sql`
      insert into checkout.events (merchant_id, object_id, sequence, event_id, type, payload, created_at)
      values (${shop.merchantId}, ${id}, ${sequence}, ${eventId}, 'payment.updated', ${payload}, ${clock.now()})`);
  }
  return db.one<{ rows: number }>(
    sql`select count(*)::int as rows from checkout.events where object_id = ${id}`,
  );
}

test('one object that is never taken blocks no other', async () => {
  const shop = await openShop();
  const poison = await shop.pay();
  shop.receiver.answer = ({ event }, response) =>
    response.writeHead(event.data.object.id === poison.id ? 500 : 200).end();
  await deliverAllDue(deps);
  const others = [await shop.pay(), await shop.pay()];
  await deliverAllDue(deps);
  const taken = shop.receiver.received.map(({ event }) => event.data.object.id);
  assert.deepEqual(taken.sort(), [poison.id, ...others.map((payment) => payment.id)].sort());
  assert.equal((await shop.shown()).status, 'enabled');
});

test('an event is given up after ten attempts, the next one of its object gets its turn, and others kept it enabled', async () => {
  const shop = await openShop();
  const poison = await shop.pay();
  shop.receiver.answer = ({ event }, response) =>
    response
      .writeHead(event.type === 'payment.created' && event.data.object.id === poison.id ? 500 : 200)
      .end();
  await deliverAllDue(deps);
  await shop.send('POST', `/v1/payments/${poison.id}/cancel`, {});
  for (let day = 0; day < 5; day++) {
    await passTime(24 * hourMs);
    await shop.pay();
  }
  const told = shop.receiver.received.filter(({ event }) => event.data.object.id === poison.id);
  assert.deepEqual(
    told.map(({ event }) => event.sequence),
    [...Array(10).fill(1), 2],
  );
  const log = await shop.deliveries(`&eventId=${told[0]?.event.id}`);
  assert.deepEqual(
    log.map((delivery) => delivery.result),
    ['given_up', ...Array(9).fill('failed')],
  );
  assert.equal(log[0]?.nextAttemptAt, null);
  assert.equal(log[1]?.responseStatus, 500);
  assert.equal((await shop.shown()).status, 'enabled');
});

test('an endpoint at which everything fails for three days is disabled; enabled again, it gets what waited', async () => {
  const shop = await openShop();
  shop.receiver.answer = answering(500);
  const payments = [await shop.pay(), await shop.pay()];
  for (const { id } of payments) await shop.send('POST', `/v1/payments/${id}/cancel`, {});
  await passTime(71 * hourMs);
  assert.equal((await shop.shown()).status, 'enabled');
  await passTime(30 * hourMs);
  const disabled = await shop.shown();
  assert.deepEqual([disabled.status, disabled.disabledReason], ['disabled', 'failing']);
  assert.match(service.logLines.join(''), /webhook endpoint disabled/);

  const asked = shop.receiver.received.splice(0).length;
  await shop.pay();
  await passTime(30 * hourMs);
  assert.equal(shop.receiver.received.length, 0, `${asked} before, none since`);
  shop.receiver.answer = answering(200);
  const enabled = await shop.send('PATCH', `/v1/webhook-endpoints/${shop.endpoint.id}`, {
    status: 'enabled',
  });
  assert.equal(enabled.json<EndpointAnswer>().failingSince, null);
  await deliverAllDue(deps);
  // The event at whose last attempt it was disabled may have been given up with it; the others were kept.
  const arrived = shop.receiver.received.map(({ event }) => [event.data.object.id, event.sequence]);
  for (const { id } of payments)
    assert.ok(arrived.some(([object, sequence]) => object === id && sequence === 2));
});

test('an answer of 410 disables the endpoint at once', async () => {
  const shop = await openShop();
  shop.receiver.answer = answering(410);
  await shop.pay();
  await deliverAllDue(deps);
  const gone = await shop.shown();
  assert.deepEqual([gone.status, gone.disabledReason], ['disabled', 'gone']);
  await shop.pay();
  await passTime(24 * hourMs);
  assert.equal(shop.receiver.received.length, 1);
  const replayed = await shop.send('POST', `/v1/webhook-endpoints/${gone.id}/replay`, {
    from: '2020-01-01T00:00:00Z',
  });
  assert.equal(replayed.json<{ code: string }>().code, 'webhook_endpoint_disabled');
});

test('Retry-After lengthens the pause on 429 and 503, up to a day, and counts on nothing else', async () => {
  // A date has whole seconds.
  clock.set(new Date(Math.ceil(clock.now().getTime() / 1000) * 1000));
  const shop = await openShop();
  const pauses: Record<string, [number, number]> = {
    '429 7200': [7_200_000, 7_200_000],
    '503 7200': [7_200_000, 7_200_000],
    '503 1': [5_000, 6_000],
    '429 999999999': [24 * hourMs, 24 * hourMs],
    '500 7200': [5_000, 6_000],
    '503 soon': [5_000, 6_000],
    [`429 ${new Date(clock.now().getTime() + hourMs).toUTCString()}`]: [hourMs - 1_000, hourMs],
  };
  for (const [answer, [least, most]] of Object.entries(pauses)) {
    const [, status, retryAfter] = /^(\d+) (.*)$/.exec(answer) ?? [];
    shop.receiver.answer = answering(Number(status), { 'retry-after': retryAfter ?? '' });
    clock.move(1);
    await shop.pay();
    await deliverAllDue(deps);
    const [delivery] = await shop.deliveries();
    assert.ok(delivery?.nextAttemptAt);
    const pauseMs = Date.parse(delivery.nextAttemptAt) - Date.parse(delivery.at);
    assert.ok(pauseMs >= least && pauseMs <= most, `${answer}: ${pauseMs} ms`);
  }
});

test('T69 a redirect is a failure and is not followed', async () => {
  const [shop, inside] = await Promise.all([openShop(), startReceiver()]);
  for (const status of [301, 302, 303, 307, 308]) {
    shop.receiver.answer = answering(status, { location: inside.url });
    clock.move(1);
    await shop.pay();
    await deliverAllDue(deps);
    const [delivery] = await shop.deliveries();
    assert.deepEqual([delivery?.result, delivery?.responseStatus], ['failed', status]);
  }
  assert.equal(inside.received.length, 0);
});

test('T69 a name that leads inside by the time of the delivery is not called', async () => {
  guarded.clock.set(new Date());
  const inside = await startReceiver();
  const merchant = await addMerchant(guarded);
  const { authorization } = merchant;
  resolved.addresses = ['93.184.216.34'];
  const port = new URL(inside.url).port;
  const { id } = await addEndpoint(guarded, { url: `https://rebind.example:${port}/` }, authorization);
  await call(guarded, 'POST', '/v1/payments', { authorization, body: merchant.order });
  for (const address of ['127.0.0.1', '169.254.169.254', '::ffff:a9fe:a9fe', '10.0.0.1']) {
    resolved.addresses = ['93.184.216.34', address];
    await guarded.db.run(sql`update webhooks.queue set due_at = ${guarded.clock.now()}`);
    await deliverAllDue(guarded.areas.webhooks);
  }
  const log = await call(guarded, 'GET', `/v1/webhook-endpoints/${id}/deliveries`, { authorization });
  const { items } = log.json<{ items: Delivery[] }>();
  assert.equal(items.length, 4);
  for (const item of items) {
    assert.deepEqual([item.result, item.responseStatus], ['failed', null]);
    assert.match(item.detail ?? '', /not public/);
  }
  assert.equal(inside.received.length, 0);
});

test('an answer that is huge, never begins or never ends holds nothing up, and of each only the beginning is kept', async () => {
  const shop = await openShop();
  const hasty: WebhookDeps = { ...deps, outgoing: { ...deps.outgoing, timeoutMs: 300 } };
  shop.receiver.answer = async (_received, response) => {
    response.writeHead(200);
    for (let sent = 0; sent < 2_000 && !response.destroyed; sent++) {
      if (!response.write('x'.repeat(64 * 1024))) await delay(1);
    }
  };
  clock.move(1);
  await shop.pay();
  await deliverAllDue(deps);
  const [huge] = await shop.deliveries();
  assert.equal(huge?.result, 'delivered');
  assert.equal(huge?.responseBody?.length, 1024);

  shop.receiver.answer = (_received, response) => {
    response.writeHead(200);
    const drip = setInterval(() => response.write('.'), 20);
    response.on('close', () => clearInterval(drip));
  };
  clock.move(1);
  await shop.pay();
  await deliverAllDue(hasty);
  shop.receiver.answer = () => {};
  clock.move(1);
  await shop.pay();
  await deliverAllDue(hasty);
  const late = (await shop.deliveries()).slice(0, 2);
  for (const delivery of late) {
    assert.equal(delivery.result, 'failed');
    assert.match(delivery.detail ?? '', /in time/);
  }
  shop.receiver.answer = (_received, response) => response.writeHead(500).end('a\0b');
  clock.move(1);
  await shop.pay();
  await deliverAllDue(deps);
  assert.equal((await shop.deliveries())[0]?.responseBody, 'a\ufffdb');
});

test('only the events that an endpoint asks for are sent to it', async () => {
  const shop = await openShop(['payment.canceled']);
  const refunds = await startReceiver();
  await addEndpoint(service, { url: refunds.url, events: ['refund.*'] }, shop.authorization);
  const payment = await shop.pay();
  await shop.send('POST', `/v1/payments/${payment.id}/cancel`, {});
  await deliverAllDue(deps);
  assert.deepEqual(
    shop.receiver.received.map(({ event }) => event.type),
    ['payment.canceled'],
  );
  assert.equal(refunds.received.length, 0);
});

test('one event or a range of time is sent again under the old ids', async () => {
  const shop = await openShop(['payment.created']);
  const path = `/v1/webhook-endpoints/${shop.endpoint.id}/replay`;
  const start = clock.now();
  const first = await shop.pay();
  clock.move(minuteMs);
  await shop.pay();
  await shop.send('POST', `/v1/payments/${first.id}/cancel`, {});
  clock.move(minuteMs);
  await shop.pay();
  await deliverAllDue(deps);
  const takenIds = () =>
    shop.receiver.received
      .splice(0)
      .map(({ event }) => event.id)
      .sort();
  const ids = takenIds();
  assert.equal(ids.length, 3);

  const one = await shop.send('POST', path, { eventId: ids[1] });
  assert.deepEqual([one.statusCode, one.json()], [202, { queued: 1 }]);
  await deliverAllDue(deps);
  assert.deepEqual(takenIds(), [ids[1]]);
  const from = start.toISOString();
  const to = new Date(start.getTime() + 2 * minuteMs).toISOString();
  assert.deepEqual((await shop.send('POST', path, { from, to })).json(), { queued: 2 });
  await deliverAllDue(deps);
  assert.deepEqual(takenIds(), ids.slice(0, 2));
  clock.move(1);
  assert.deepEqual((await shop.send('POST', path, { from })).json(), { queued: 3 });
  assert.deepEqual((await shop.send('POST', path, { from })).json(), { queued: 3 });
  await deliverAllDue(deps);
  assert.deepEqual(takenIds(), ids, 'what waits already is not queued twice');
});

test('a replay brings forward what waits for its next attempt', async () => {
  const shop = await openShop();
  shop.receiver.answer = answering(500);
  const payment = await shop.pay();
  await shop.send('POST', `/v1/payments/${payment.id}/cancel`, {});
  await passTime(5 * minuteMs);
  shop.receiver.answer = answering(200);
  shop.receiver.received.length = 0;
  await shop.send('POST', `/v1/webhook-endpoints/${shop.endpoint.id}/replay`, {
    eventId: (await shop.deliveries())[0]?.eventId ?? '',
  });
  await deliverAllDue(deps);
  assert.deepEqual(
    shop.receiver.received.map(({ event }) => event.sequence),
    [1, 2],
  );
});

test('a range of more than ten thousand events is refused whole', async () => {
  const shop = await openShop();
  await db.run(
    sql`update webhooks.endpoints set event_types = '{refund.*}' where endpoint_id = ${shop.endpoint.id}`,
  );
  await db.run(sql`
    insert into checkout.events (merchant_id, object_id, sequence, event_id, type, payload, created_at)
    select ${shop.merchantId}, ${deps.newId()}, n, overlay(${deps.newId()}::text placing lpad(n::text, 12, '0') from 25)::uuid,
      'payment.updated', '{}', ${clock.now()}
    from generate_series(1, 10001) n`);
  const answer = await shop.send('POST', `/v1/webhook-endpoints/${shop.endpoint.id}/replay`, {
    from: new Date(clock.now().getTime() - hourMs).toISOString(),
    to: new Date(clock.now().getTime() + hourMs).toISOString(),
  });
  assert.equal(answer.json<{ code: string }>().code, 'replay_too_large');
});

test('an event whose transaction commits late is delivered all the same', async () => {
  const shop = await openShop();
  const late = deps.newId();
  const payload = JSON.stringify({ id: late, type: 'payment.updated', data: { object: { id: late } } });
  await db.transaction(async (tx) => {
    await tx.run(sql`
      insert into checkout.events (merchant_id, object_id, sequence, event_id, type, payload, created_at)
      values (${shop.merchantId}, ${late}, 1, ${late}, 'payment.updated', ${payload}, ${clock.now()})`);
    clock.move(minuteMs);
    await shop.pay();
    await deliverAllDue(deps);
    assert.equal(shop.receiver.received.length, 1);
  });
  await deliverAllDue(deps);
  assert.equal(shop.receiver.received[1]?.event.id, late);
});

test('an event that is rolled back is told to nobody', async () => {
  const shop = await openShop();
  await assert.rejects(
    db.transaction(async (tx) => {
      const id = deps.newId();
      await tx.run(sql`
        insert into checkout.events (merchant_id, object_id, sequence, event_id, type, payload, created_at)
        values (${shop.merchantId}, ${id}, 1, ${id}, 'payment.updated', '{}', ${clock.now()})`);
      throw new Error('no');
    }),
  );
  await passTime(hourMs);
  assert.equal(shop.receiver.received.length, 0);
});

test('two nodes share the work: nothing is delivered twice, and no object by both at once', async () => {
  const shop = await openShop();
  const other = await startReceiver();
  await addEndpoint(service, { url: other.url }, shop.authorization);
  const open = new Map<string, number>();
  let together = 0;
  for (const receiver of [shop.receiver, other]) {
    receiver.answer = async ({ event }, response) => {
      const object = receiver.url + event.data.object.id;
      open.set(object, (open.get(object) ?? 0) + 1);
      if ((open.get(object) ?? 0) > 1) together++;
      await delay(5);
      open.set(object, (open.get(object) ?? 0) - 1);
      response.writeHead(200).end();
    };
  }
  const nodes = pools.map((pool) => startDelivering({ ...deps, db: pool }, quick));
  let payments: PaymentAnswer[] = [];
  try {
    payments = await Promise.all(Array.from({ length: 20 }, () => shop.pay()));
    await Promise.all(payments.map(({ id }) => shop.send('POST', `/v1/payments/${id}/cancel`, {})));
    await until('all is delivered', () => shop.receiver.received.length + other.received.length >= 80);
  } finally {
    await Promise.all(nodes.map((node) => node.stop()));
  }
  for (const receiver of [shop.receiver, other]) {
    const ids = receiver.received.map(({ event }) => event.id);
    assert.equal(new Set(ids).size, 40);
    assert.equal(ids.length, 40);
    for (const { id } of payments) {
      const told = receiver.received.filter(({ event }) => event.data.object.id === id);
      assert.deepEqual(
        told.map(({ event }) => event.sequence),
        [1, 2],
      );
    }
  }
  assert.equal(together, 0);
});

test('a delivery whose node died is taken up by another, once its time is over', async () => {
  const shop = await openShop();
  await shop.pay();
  // What a killed node leaves behind: it had taken the delivery, and nobody heard of it again.
  assert.equal((await takeDue(deps, 10)).length, 1);
  await deliverAllDue(deps);
  assert.equal(shop.receiver.received.length, 0);
  clock.move(minuteMs);
  await deliverAllDue(deps);
  assert.equal(shop.receiver.received.length, 1);
});

test('a merchant without endpoints leaves nothing in the queue', async () => {
  const merchant = await addMerchant(service);
  const before = await queueLength();
  await call(service, 'POST', '/v1/payments', {
    authorization: merchant.authorization,
    body: merchant.order,
  });
  assert.equal(await queueLength(), before);
});

async function queueLength(): Promise<number> {
  const { rows } = await db.one<{ rows: number }>(sql`select count(*)::int as rows from webhooks.queue`);
  return rows;
}

test('the log of deliveries is dropped after thirty days, and so is what waits for a forsaken endpoint', async () => {
  const shop = await openShop();
  const [cleanUp] = service.areas.jobs.filter((job) => job.name === 'webhooks.clean-up');
  await cleanUp?.run({});
  await shop.pay();
  await deliverAllDue(deps);
  shop.receiver.answer = answering(410);
  await shop.pay();
  await shop.pay();
  await deliverAllDue(deps);
  assert.equal((await shop.deliveries()).length, 3);
  const waits = async () =>
    (
      await db.one<{ rows: number }>(sql`
        select count(*)::int as rows from webhooks.queue where endpoint_id = ${shop.endpoint.id}`)
    ).rows;
  const { length } = await shop.deliveries('&result=failed');
  assert.equal(await waits(), length);
  clock.move(29 * 24 * hourMs);
  await cleanUp?.run({});
  assert.equal((await shop.deliveries()).length, 3);
  clock.move(3 * 24 * hourMs);
  await cleanUp?.run({});
  assert.equal((await shop.deliveries()).length, 0);
  assert.equal(await waits(), 0);
});

test('figures tell results and age; neither they nor the log show a secret or a body', async () => {
  const shop = await openShop();
  shop.receiver.answer = answering(500, {}, 'what-the-receiver-said');
  await shop.pay();
  await deliverAllDue(deps);
  clock.move(minuteMs);
  const metrics = (await service.app.inject({ url: '/metrics' })).body;
  assert.match(metrics, /webhooks_deliveries_total\{result="delivered"\} [1-9]/);
  assert.match(metrics, /webhooks_deliveries_total\{result="failed"\} [1-9]/);
  assert.match(metrics, /webhooks_endpoints_disabled_total\{reason="gone"\} [1-9]/);
  const [, age] = /webhooks_queue_age_seconds ([\d.]+)/.exec(metrics) ?? [];
  assert.ok(Number(age) >= 54 && Number(age) <= 60 * 60 * 24 * 40, age);
  const log = service.logLines.join('');
  assert.match(log, /webhook not delivered/);
  assert.ok(!log.includes(shop.endpoint.secret) && !log.includes('what-the-receiver-said'));
});
