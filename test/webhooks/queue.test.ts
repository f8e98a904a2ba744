import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../../src/platform/db.ts';
import { deriveKey } from '../../src/platform/seal.ts';
import { deliver, takeDue } from '../../src/webhooks/deliver.ts';
import { startTestApp } from '../support/app.ts';
import { liftRequestRate } from '../support/merchant.ts';
import {
  addEndpoint,
  answering,
  deliverAllDue,
  type EndpointAnswer,
  startReceiver,
} from '../support/receiver.ts';
import { openWebhookShop, type WebhookShop } from '../support/webhook-shop.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

const service = await startTestApp();
await liftRequestRate(service);
const { clock, db } = service;
const deps = service.areas.webhooks;
clock.set(new Date());

const openShop = () => openWebhookShop(service);

/** As many objects as asked for, each with events 1 to `each`, written as a change writes them, a few at a time. */
async function addEvents(shop: WebhookShop, objects: number, each: number): Promise<void> {
  const ids = [deps.newId(), deps.newId()];
  for (let from = 1; from <= objects; from += 250) {
    const to = Math.min(objects, from + 249);
    await db.run(sql`
      insert into checkout.events (merchant_id, object_id, sequence, event_id, type, payload, created_at)
      select ${shop.merchantId}, overlay(${ids[0]}::text placing lpad(object::text, 12, '0') from 25)::uuid, sequence,
        overlay(${ids[1]}::text placing lpad((object * 100 + sequence)::text, 12, '0') from 25)::uuid,
        'payment.updated', json_build_object('sequence', sequence, 'object', object)::text, ${clock.now()}
      from generate_series(${from}::int, ${to}::int) object, generate_series(1, ${each}::int) sequence
      order by object, sequence`);
  }
}

type Queue = { rows: number; objects: number; due: number; dueFirsts: number };

async function queueOf(shop: WebhookShop): Promise<Queue> {
  return db.one<Queue>(sql`
    select count(*)::int as rows, count(distinct object_id)::int as objects,
      (count(*) filter (where due_at <= ${clock.now()}))::int as due,
      (count(*) filter (where due_at <= ${clock.now()} and sequence = first))::int as due_firsts
    from (
      select *, min(sequence) over (partition by object_id) as first from webhooks.queue
      where endpoint_id = ${shop.endpoint.id}
    ) q`);
}

const sequencesOf = (shop: WebhookShop) =>
  shop.receiver.received.splice(0).map(({ event }) => Number(event.sequence));

test('after a replay only the first event of each object is due, whatever waited before', async () => {
  const shop = await openShop();
  await addEvents(shop, 5, 4);
  await deliverAllDue(deps);
  assert.equal(shop.receiver.received.splice(0).length, 20);
  const range = { from: clock.now().toISOString(), to: new Date(clock.now().getTime() + 1).toISOString() };
  const replay = () => shop.send('POST', `${shop.path}/replay`, range);

  assert.deepEqual((await replay()).json(), { queued: 20 });
  assert.deepEqual(await queueOf(shop), { rows: 20, objects: 5, due: 5, dueFirsts: 5 });
  await replay();
  assert.deepEqual(await queueOf(shop), { rows: 20, objects: 5, due: 5, dueFirsts: 5 });

  // Two of each object were taken and the third was not: what is queued again comes before it.
  shop.receiver.answer = ({ event }, response) =>
    response.writeHead(Number(event.sequence) < 3 ? 200 : 500).end();
  await deliverAllDue(deps);
  assert.deepEqual(await queueOf(shop), { rows: 10, objects: 5, due: 0, dueFirsts: 0 });
  await replay();
  assert.deepEqual(await queueOf(shop), { rows: 20, objects: 5, due: 5, dueFirsts: 5 });
  shop.receiver.answer = answering(200);
  shop.receiver.received.length = 0;
  await deliverAllDue(deps);
  const told = shop.receiver.received.map(
    ({ body }) => JSON.parse(body) as { object: number; sequence: number },
  );
  for (let object = 1; object <= 5; object++) {
    const sequences = told.filter((event) => event.object === object).map((event) => event.sequence);
    assert.deepEqual(sequences, [1, 2, 3, 4]);
  }
  assert.equal((await queueOf(shop)).rows, 0);
});

test('an event under way that fails stands behind those that were queued before it meanwhile', async () => {
  const shop = await openShop();
  await addEvents(shop, 1, 3);
  shop.receiver.answer = ({ event }, response) =>
    response.writeHead(Number(event.sequence) < 3 ? 200 : 500).end();
  await deliverAllDue(deps);
  clock.move(10_000);
  const [third] = await takeDue(deps, 10);
  assert.equal(third?.sequence, 3n);
  await shop.send('POST', `${shop.path}/replay`, {
    from: new Date(clock.now().getTime() - minuteMs).toISOString(),
  });
  if (third) await deliver(deps, third);
  assert.deepEqual(await queueOf(shop), { rows: 3, objects: 1, due: 1, dueFirsts: 1 });
  shop.receiver.answer = answering(200);
  shop.receiver.received.length = 0;
  await deliverAllDue(deps);
  assert.deepEqual(sequencesOf(shop), [1, 2, 3]);
});

test('a range is refused when more than fifty thousand events would wait, and one event is not', async () => {
  const shop = await openShop();
  const payment = await shop.pay();
  const [event] = (await shop.send('GET', `/v1/events?objectId=${payment.id}`)).json<{
    items: { id: string }[];
  }>().items;
  const fill = (rows: number) =>
    db.run(sql`
      insert into webhooks.queue (owner, endpoint_id, object_id, sequence, event_id, type, queued_at, due_at)
      select ${`merchant:${shop.merchantId}`}, ${shop.endpoint.id},
        overlay(${deps.newId()}::text placing lpad(n::text, 12, '0') from 25)::uuid, 1, ${deps.newId()},
        'payment.updated', ${clock.now()}, ${new Date(clock.now().getTime() + hourMs)}
      from generate_series(1, ${rows}::int) n`);
  for (const rows of [...Array(9).fill(5_000), 4_998]) await fill(rows);
  const range = { from: clock.now().toISOString(), to: new Date(clock.now().getTime() + 1).toISOString() };
  assert.equal((await shop.send('POST', `${shop.path}/replay`, range)).statusCode, 202);
  await fill(1);
  const refused = await shop.send('POST', `${shop.path}/replay`, range);
  assert.deepEqual([refused.statusCode, refused.json<{ code: string }>().code], [409, 'replay_queue_full']);
  assert.equal(refused.json<{ retryable: boolean }>().retryable, true);
  assert.equal((await shop.send('POST', `${shop.path}/replay`, { eventId: event?.id })).statusCode, 202);

  const deleted = await shop.send('DELETE', shop.path);
  assert.equal(deleted.statusCode, 204);
  assert.equal(
    (await queueOf(shop)).rows,
    30_000,
    'in the call twenty thousand go, the others with the clean-up',
  );
  const [cleanUp] = service.areas.jobs.filter((job) => job.name === 'webhooks.clean-up');
  await cleanUp?.run({});
  assert.equal((await queueOf(shop)).rows, 0);
});

test('an endpoint with a long queue is enabled at once, and its queue begins anew step by step', async () => {
  const shop = await openShop();
  await addEvents(shop, 2_500, 2);
  await shop.send('PATCH', shop.path, { status: 'disabled' });
  await db.run(sql`
    update webhooks.queue set attempts = 9, due_at = ${new Date(clock.now().getTime() + 20 * hourMs)}
    where endpoint_id = ${shop.endpoint.id} and sequence = 1`);
  clock.move(100 * hourMs);
  await db.run(sql`
    update webhooks.queue set due_at = ${new Date(clock.now().getTime() + 20 * hourMs)}
    where endpoint_id = ${shop.endpoint.id} and sequence = 1`);
  const enabled = await shop.send('PATCH', shop.path, { status: 'enabled' });
  assert.equal(enabled.json<EndpointAnswer>().status, 'enabled');
  const steps: number[] = [];
  for (let step = 0; step < 4; step++) {
    await takeDue(deps, 1);
    steps.push((await queueOf(shop)).due);
  }
  assert.deepEqual(steps, [1_000, 2_000, 2_500, 2_500]);
  assert.equal((await queueOf(shop)).dueFirsts, 2_500);
  const { restarting } = await db.one<{ restarting: boolean }>(sql`
    select restart_after is not null as restarting from webhooks.endpoints where endpoint_id = ${shop.endpoint.id}`);
  assert.equal(restarting, false);

  // Four days have passed since it was queued: it is tried as if it were new, and so is what stands behind it.
  shop.receiver.answer = answering(500);
  const [claim] = await takeDue(deps, 1);
  assert.ok(claim);
  assert.equal(claim.attempts, 1);
  await deliver(deps, claim);
  const items = await shop.deliveries();
  assert.deepEqual(
    items.map(({ result, attempt }) => [result, attempt]),
    [['failed', 1]],
  );
  await db.run(sql`delete from webhooks.queue where endpoint_id = ${shop.endpoint.id}`);
});

test('what was disabled again before all was taken up goes on where it is enabled the next time', async () => {
  const shop = await openShop();
  await addEvents(shop, 3, 1);
  await shop.send('PATCH', shop.path, { status: 'disabled' });
  await db.run(sql`
    update webhooks.queue set due_at = ${new Date(clock.now().getTime() + hourMs)}
    where endpoint_id = ${shop.endpoint.id}`);
  await shop.send('PATCH', shop.path, { status: 'enabled' });
  await shop.send('PATCH', shop.path, { status: 'disabled' });
  await deliverAllDue(deps);
  assert.equal(shop.receiver.received.length, 0);
  await shop.send('PATCH', shop.path, { status: 'enabled' });
  await deliverAllDue(deps);
  assert.equal(shop.receiver.received.length, 3);
});

test('who settles after somebody else has taken the delivery changes nothing', async () => {
  const shop = await openShop();
  await shop.pay();
  const [lost] = await takeDue(deps, 1);
  clock.move(minuteMs);
  await shop.send('PATCH', shop.path, { status: 'disabled' });
  await shop.send('PATCH', shop.path, { status: 'enabled' });
  const [taken] = await takeDue(deps, 1);
  assert.deepEqual([lost?.attempts, taken?.attempts], [1, 1], 'the count began anew');
  if (lost) await deliver(deps, lost);
  assert.equal((await queueOf(shop)).rows, 1, 'it is still the other one’s');
  if (taken) await deliver(deps, taken);
  assert.equal((await queueOf(shop)).rows, 0);
});

test('an event that has used up its attempts gets all of them again by a replay', async () => {
  const shop = await openShop();
  shop.receiver.answer = answering(500);
  await shop.pay();
  await deliverAllDue(deps);
  const eventId = shop.receiver.received[0]?.event.id ?? '';
  await db.run(sql`update webhooks.queue set attempts = 9 where endpoint_id = ${shop.endpoint.id}`);
  await shop.send('POST', `${shop.path}/replay`, { eventId });
  await deliverAllDue(deps);
  assert.equal((await queueOf(shop)).rows, 1, 'it was not given up');
});

test('an event whose work began before a disabling and ended after it is found by a replay from that moment', async () => {
  const shop = await openShop();
  const late = deps.newId();
  const payload = JSON.stringify({ id: late, type: 'payment.updated', data: { object: { id: late } } });
  const begunAt = clock.now();
  clock.move(59_000);
  await shop.send('PATCH', shop.path, { status: 'disabled' });
  const { disabledAt } = await shop.shown();
  await db.run(sql`
    insert into checkout.events (merchant_id, object_id, sequence, event_id, type, payload, created_at)
    values (${shop.merchantId}, ${late}, 1, ${late}, 'payment.updated', ${payload}, ${begunAt})`);
  clock.move(hourMs);
  await shop.send('PATCH', shop.path, { status: 'enabled' });
  await deliverAllDue(deps);
  assert.equal(shop.receiver.received.length, 0);
  await shop.send('POST', `${shop.path}/replay`, { from: disabledAt ?? '' });
  await deliverAllDue(deps);
  assert.deepEqual(
    shop.receiver.received.map(({ event }) => event.id),
    [late],
  );
});

test('what is heard late from a former address says nothing about the new one', async () => {
  const shop = await openShop();
  const moved = await startReceiver();
  shop.receiver.answer = async (_received, response) => {
    await shop.send('PATCH', shop.path, { url: moved.url });
    response.writeHead(410).end();
  };
  await shop.pay();
  await deliverAllDue(deps);
  const shown = await shop.shown();
  assert.deepEqual([shown.status, shown.url, shown.failingSince], ['enabled', moved.url, null]);
  clock.move(10_000);
  await deliverAllDue(deps);
  assert.equal(moved.received.length, 1);

  moved.answer = answering(410);
  await shop.pay();
  await deliverAllDue(deps);
  assert.equal((await shop.shown()).disabledReason, 'gone');
});

test('three days of failures at a former address do not disable the new one', async () => {
  const shop = await openShop();
  const moved = await startReceiver();
  await shop.pay();
  const since = new Date(clock.now().getTime() - 80 * hourMs);
  await db.run(sql`
    update webhooks.endpoints set failing_since = ${since} where endpoint_id = ${shop.endpoint.id}`);
  shop.receiver.answer = answering(500);
  // It moves between the settling of the delivery and the verdict about the endpoint.
  const settling: typeof deps = {
    ...deps,
    db: {
      ...db,
      transaction: async (work) => {
        const result = await db.transaction(work);
        if (shop.receiver.received.length === 1) await shop.send('PATCH', shop.path, { url: moved.url });
        return result;
      },
    },
  };
  const [claim] = await takeDue(deps, 1);
  assert.ok(claim);
  await deliver(settling, claim);
  assert.equal((await shop.shown()).status, 'enabled');
});

test('endpoints that do not answer leave a place to the others of their owner', async () => {
  const shop = await openShop();
  const second = await addEndpoint(service, { url: shop.receiver.url }, shop.authorization);
  await addEvents(shop, 12, 1);
  clock.move(1);
  const healthy = await startReceiver();
  const third = await addEndpoint(service, { url: healthy.url }, shop.authorization);
  await addEvents(shop, 2, 1);
  const claims = await takeDue(deps, 100);
  const of = (id: string) => claims.filter((claim) => claim.endpointId === id);
  assert.equal(claims.length, 16);
  assert.deepEqual([of(shop.endpoint.id).length, of(second.id).length, of(third.id).length], [7, 7, 2]);

  // All sixteen places are taken. The first that is free goes to the endpoint that has the fewest.
  for (const claim of of(third.id)) await deliver(deps, claim);
  await addEvents(shop, 3, 1);
  const next = await takeDue(deps, 100);
  assert.deepEqual(
    next.map((claim) => claim.endpointId),
    [third.id, third.id],
  );
  await db.run(sql`delete from webhooks.queue where owner = ${`merchant:${shop.merchantId}`}`);
});

test('a delivery that cannot even be sent is in the log, and is tried again after the usual pause', async () => {
  const shop = await openShop();
  await shop.pay();
  const withWrongKey = {
    ...deps,
    secretsKey: deriveKey('another secret than that of the service', 'webhook secrets'),
  };
  await deliverAllDue(withWrongKey);
  const items = await shop.deliveries();
  assert.deepEqual(
    items.map(({ result, detail }) => [result, detail]),
    [['failed', 'It was not sent, because of a fault on our side.']],
  );
  assert.ok(items[0]?.nextAttemptAt);
  assert.equal((await shop.shown()).failingSince, null, 'it is not to blame');
  assert.match(service.logLines.join(''), /webhook could not be sent/);
  clock.move(10_000);
  await deliverAllDue(deps);
  assert.equal(shop.receiver.received.length, 1);
});

test('a claim waits for nobody: what a replay holds is passed over, and taken the next time', async () => {
  const shop = await openShop();
  await addEvents(shop, 3, 1);
  const taken = async () =>
    (await takeDue(deps, 100))
      .filter((claim) => claim.endpointId === shop.endpoint.id)
      .map((claim) => claim.objectId);
  const { objectId } = await db.transaction(async (replay) => {
    const held = await replay.one<{ objectId: string }>(sql`
      select object_id from webhooks.queue where endpoint_id = ${shop.endpoint.id}
      order by object_id limit 1 for update`);
    const others = await taken();
    assert.equal(others.length, 2);
    assert.ok(!others.includes(held.objectId));
    return held;
  });
  assert.deepEqual(await taken(), [objectId]);
});
