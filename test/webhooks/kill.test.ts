import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { query, testDatabaseUrl } from '../support/database.ts';
import { lesserRole } from '../support/lesser-role.ts';
import { basic, cardFormOf, cards, order, type PaymentAnswer } from '../support/merchant.ts';
import { answering, type EndpointAnswer, type Receiver, startReceiver } from '../support/receiver.ts';
import { type OwnServer, startOwnServer, until } from '../support/server.ts';

const receiver = await startReceiver();
const slow = await startReceiver();
const lesser = await lesserRole();

async function post<Answer>(server: OwnServer, path: string, body: object): Promise<Answer> {
  const answer = await fetch(`${server.url}/checkout${path}`, {
    method: 'POST',
    headers: {
      authorization: basic(),
      'content-type': 'application/json',
      'x-idempotency-key': randomUUID(),
    },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  assert.ok(answer.ok, `${path}: ${answer.status} ${text}`);
  return JSON.parse(text) as Answer;
}

const idsOf = ({ received }: Receiver) => received.map(({ event }) => event.data.object.id);

test('kill -9 between the commit and the delivery loses no event', async (t) => {
  const env = { DATABASE_URL: await testDatabaseUrl() };
  const payments: string[] = [];
  const requests = await startOwnServer(t, { ...env, JOBS: 'off' });
  await post<EndpointAnswer>(requests, '/v1/webhook-endpoints', { url: receiver.url });
  for (let count = 0; count < 10; count++) {
    payments.push((await post<PaymentAnswer>(requests, '/v1/payments', order)).id);
  }
  requests.child.kill('SIGKILL');
  await requests.ended;
  assert.equal(receiver.received.length, 0);

  // The next one is killed in the middle of its deliveries: some are under way, one has just been answered.
  receiver.answer = (_received, response) => {
    if (receiver.received.length <= 3) response.writeHead(200).end();
  };
  const second = await startOwnServer(t, env);
  await until('deliveries are under way', () => receiver.received.length > 4);
  second.child.kill('SIGKILL');
  await second.ended;

  await release(env.DATABASE_URL);
  receiver.answer = answering(200);
  await startOwnServer(t, env);
  await until('nothing is left', async () => (await waiting(env.DATABASE_URL)) === 0);
  for (const id of payments) assert.ok(idsOf(receiver).includes(id), id);
});

test('receivers that do not answer hold up neither other background work nor a stop', async (t) => {
  const env = { DATABASE_URL: await testDatabaseUrl() };
  const server = await startOwnServer(t, env);
  slow.answer = () => {};
  for (let count = 0; count < 4; count++) {
    await post<EndpointAnswer>(server, '/v1/webhook-endpoints', { url: slow.url });
  }
  for (let count = 0; count < 10; count++) await post<PaymentAnswer>(server, '/v1/payments', order);
  await until('they are busy', () => slow.received.length === 16);

  const payment = await post<PaymentAnswer>(server, '/v1/payments', order);
  const url = payment.confirmation.confirmationUrl.replace(/^http:\/\/[^/]+/, server.url);
  const form = cardFormOf(await (await fetch(url)).text());
  assert.ok(form);
  await fetch(form.action.replace(/^http:\/\/[^/]+/, server.url), {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({
      ...form.fields,
      number: cards.lostThenApproved,
      expiry: '12/30',
      csc: '123',
      holder: 'A Customer',
    }),
  });
  await until('a job has asked the acquirer what became of the attempt', async () => {
    const read = await fetch(`${server.url}/checkout/v1/payments/${payment.id}`, {
      headers: { authorization: basic() },
    });
    return ((await read.json()) as PaymentAnswer).status === 'succeeded';
  });
  assert.equal(slow.received.length, 16, 'and all that time they were left unanswered');
  server.child.kill('SIGTERM');
  slow.answer = answering(200);
  slow.hangUp();
  assert.equal(await server.ended, 0);
});

test('a server under the lesser role of the database delivers, and keeps its log', async (t) => {
  const env = { DATABASE_URL: lesser.server, MIGRATION_DATABASE_URL: lesser.owner };
  const server = await startOwnServer(t, env);
  receiver.received.length = 0;
  receiver.answer = answering(200);
  const { id } = await post<EndpointAnswer>(server, '/v1/webhook-endpoints', { url: receiver.url });
  await post<PaymentAnswer>(server, '/v1/payments', order);
  await until('it is told', () => receiver.received.length === 1);
  await until('it is written down', async () => {
    const answer = await fetch(`${server.url}/checkout/v1/webhook-endpoints/${id}/deliveries`, {
      headers: { authorization: basic() },
    });
    return ((await answer.json()) as { items: object[] }).items.length === 1;
  });
  await query(lesser.server, `select webhooks.keep_delivery_partitions(current_date, 30)`);
  await query(lesser.server, `select identity.keep_partitions('events', current_date, 30)`);
  assert.deepEqual(
    server.log().filter((line) => line.level === 'error'),
    [],
  );
});

/** Lets the half minute pass in which a delivery belongs to whoever took it. */
async function release(url: string): Promise<void> {
  await query(url, `update webhooks.queue set lease_until = now() where lease_until is not null`);
}

async function waiting(url: string): Promise<number> {
  const [row] = await query<{ rows: number }>(url, 'select count(*)::int as rows from webhooks.queue');
  return row?.rows ?? 0;
}
