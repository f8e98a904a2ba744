import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UserId } from '../../src/identity/domain/user.ts';
import { changePhone, deactivateUser, reactivateUser, updateProfile } from '../../src/identity/users.ts';
import { sql } from '../../src/platform/db.ts';
import { Refusal } from '../../src/platform/problem.ts';
import {
  createEndpoint,
  disableEndpoint,
  enableEndpoint,
  listEndpoints,
  rotateSecret,
} from '../../src/webhooks/endpoints.ts';
import { listDeliveries } from '../../src/webhooks/list-deliveries.ts';
import { replay } from '../../src/webhooks/replay.ts';
import { sendTest } from '../../src/webhooks/send-test.ts';
import { startTestApp } from '../support/app.ts';
import { demoMerchant } from '../support/merchant.ts';
import { bearer } from '../support/partner.ts';
import { deliverAllDue, type Receiver, startReceiver } from '../support/receiver.ts';
import {
  addPerson,
  type Credentials,
  obtainTokens,
  register,
  testPhones,
  testPhonesSetting,
} from '../support/registered.ts';

const service = await startTestApp({ TEST_PHONES: testPhonesSetting });
const { areas, db } = service;
const deps = areas.webhooks;
const actor = 'operator';

type Told = { type: string; clientId: string; data: Record<string, unknown> };
type Partner = {
  client: Credentials;
  receiver: Receiver;
  owner: { kind: 'partner'; id: string };
  endpointId: string;
};

async function addPartner(given: Parameters<typeof register>[1] = {}, events?: string[]): Promise<Partner> {
  const client = await register(service, given);
  const receiver = await startReceiver();
  const owner = { kind: 'partner', id: client.client_id } as const;
  const wish = { url: receiver.url, ...(events ? { events } : {}) };
  const { endpoint } = await createEndpoint(deps, owner, wish, actor);
  return { client, receiver, owner, endpointId: endpoint.id };
}

/** What has arrived since the last look. */
async function toldTo({ receiver }: Partner): Promise<Told[]> {
  await deliverAllDue(deps);
  return receiver.received.splice(0).map(({ body }) => JSON.parse(body) as Told);
}

const summary = (told: Told[]) => told.map(({ type, data }) => ({ type, data }));

test('the end of a session is told to the partners that took part in it, with sub and sid and nothing more', async () => {
  const [partner, absent] = await Promise.all([addPartner(), addPartner()]);
  const person = await addPerson(service);
  const tokens = await obtainTokens(service, { client: partner.client, person });
  await service.app.inject({
    method: 'POST',
    url: '/api/v1/identity/logout',
    headers: bearer(tokens.access_token),
  });
  const [event, ...more] = await toldTo(partner);
  assert.deepEqual(more, []);
  assert.deepEqual(Object.keys(event ?? {}).sort(), [
    'apiVersion',
    'clientId',
    'data',
    'id',
    'timestamp',
    'type',
  ]);
  assert.equal(event?.type, 'session.ended');
  assert.equal(event?.clientId, partner.client.client_id);
  assert.deepEqual(event?.data, { sub: person.id, sid: tokens.session_state });
  assert.deepEqual(await toldTo(absent), []);
});

test('an expired session is told like a logout', async () => {
  const partner = await addPartner();
  const person = await addPerson(service);
  const tokens = await obtainTokens(service, { client: partner.client, person });
  await db.run(sql`
    update identity.sessions set last_seen_at = last_seen_at - interval '1 hour' where user_id = ${person.id}`);
  await areas.jobs.find((job) => job.name === 'identity.expire-sessions')?.run({});
  assert.deepEqual(summary(await toldTo(partner)), [
    { type: 'session.ended', data: { sub: person.id, sid: tokens.session_state } },
  ]);
});

test('a partner learns which fields changed, without their values, and only those it may see', async () => {
  const ecosystem = await addPartner();
  const plain = await addPartner({ audience: 'external', identityDocuments: false, scopes: ['openid'] });
  const stranger = await addPartner();
  const person = await addPerson(service);
  for (const { client } of [ecosystem, plain]) await obtainOrConsent(client, person);
  await updateProfile(areas.identity.users, {
    userId: person.id,
    actor,
    changes: { firstName: 'Leyla', pin: '7XYZ123', verificationStatus: 2 },
  });
  assert.deepEqual(summary(await toldTo(ecosystem)), [
    { type: 'user.updated', data: { sub: person.id, fields: ['firstName', 'pin', 'verificationStatus'] } },
  ]);
  assert.deepEqual(summary(await toldTo(plain)), [
    { type: 'user.updated', data: { sub: person.id, fields: ['verificationStatus'] } },
  ]);
  assert.deepEqual(await toldTo(stranger), []);

  await updateProfile(areas.identity.users, { userId: person.id, actor, changes: { lastName: 'Quliyeva' } });
  assert.equal((await toldTo(ecosystem)).length, 1);
  assert.deepEqual(await toldTo(plain), [], 'nothing that it may see has changed');
  const stored = await db.many<{ payload: string }>(sql`
    select payload from identity.events where user_id = ${person.id}`);
  assert.doesNotMatch(JSON.stringify(stored), /Leyla|7XYZ123|Quliyeva|\+994/);

  await changePhone(areas.identity.users, { userId: person.id, actor, phone: testPhones.at(-1) ?? '' });
  const types = (await toldTo(ecosystem)).map(({ type }) => type).sort();
  assert.deepEqual(types, ['session.ended', 'user.updated']);
});

/** External partners are known by what the person consented to; the session itself is of no matter here. */
async function obtainOrConsent(client: Credentials, person: { id: UserId; phone: string; code: string }) {
  const { audience } = await db.one<{ audience: string }>(sql`
    select audience from identity.clients where client_id = ${client.client_id}`);
  if (audience === 'ecosystem') await obtainTokens(service, { client, person });
  else
    await db.run(sql`
      insert into identity.consents (user_id, client_id, scopes, identity_documents, granted_at)
      values (${person.id}, ${client.client_id}, '{openid}', false, ${service.clock.now()})`);
}

test('a merge is told to whoever knows any of the identifiers, through chains of merges', async () => {
  const [ofFirst, ofSecond, ofThird, stranger] = [
    await addPartner({}, ['user.*']),
    await addPartner({}, ['user.*']),
    await addPartner({}, ['user.*']),
    await addPartner(),
  ] as const;
  const people = [await addPerson(service), await addPerson(service), await addPerson(service)] as const;
  const [first, second, third] = people;
  for (const [at, partner] of [ofFirst, ofSecond, ofThird].entries()) {
    await obtainTokens(service, { client: partner.client, person: people[at] as (typeof people)[0] });
  }
  await areas.mergeUsers({ survivorId: second.id, absorbedId: first.id, phone: 'free', actor });
  const once = [{ type: 'user.merged', data: { sub: second.id, mergedIds: [first.id] } }];
  assert.deepEqual(summary(await toldTo(ofFirst)), once);
  assert.deepEqual(summary(await toldTo(ofSecond)), once);
  assert.deepEqual(await toldTo(ofThird), []);

  await areas.mergeUsers({ survivorId: third.id, absorbedId: second.id, phone: 'take', actor });
  const twice = [
    { type: 'user.merged', data: { sub: third.id, mergedIds: [first.id, second.id] } },
    { type: 'user.updated', data: { sub: third.id, fields: ['phone'] } },
  ];
  for (const partner of [ofFirst, ofSecond, ofThird]) assert.deepEqual(summary(await toldTo(partner)), twice);
  assert.deepEqual(await toldTo(stranger), []);

  await areas.mergeUsers({ survivorId: third.id, absorbedId: second.id, phone: 'take', actor });
  assert.deepEqual(await toldTo(ofThird), [], 'asked for again, it does nothing');
});

test('shutting and opening an account is told, in order, and once', async () => {
  const partner = await addPartner({}, ['user.*']);
  const person = await addPerson(service);
  await obtainTokens(service, { client: partner.client, person });
  const named = { userId: person.id, actor };
  await deactivateUser(areas.identity.users, named);
  await deactivateUser(areas.identity.users, named);
  await reactivateUser(areas.identity.users, named);
  await deactivateUser(areas.identity.users, named);
  assert.deepEqual(summary(await toldTo(partner)), [
    { type: 'user.deactivated', data: { sub: person.id } },
    { type: 'user.reactivated', data: { sub: person.id } },
    { type: 'user.deactivated', data: { sub: person.id } },
  ]);
});

test('what is rolled back is told to nobody, and a disabled client is told nothing', async () => {
  const partner = await addPartner();
  const [person, other] = [await addPerson(service), await addPerson(service)];
  await obtainTokens(service, { client: partner.client, person });
  await assert.rejects(
    updateProfile(areas.identity.users, {
      userId: person.id,
      actor,
      changes: { firstName: 'Fine', gender: 7 as 9 },
    }),
  );
  await assert.rejects(
    areas.mergeUsers({ survivorId: other.id, absorbedId: other.id, phone: 'free', actor }),
  );
  assert.deepEqual(await toldTo(partner), []);
  await db.run(
    sql`update identity.clients set disabled_at = now() where client_id = ${partner.client.client_id}`,
  );
  await deactivateUser(areas.identity.users, { userId: person.id, actor });
  assert.deepEqual(await toldTo(partner), []);
});

test('the operator manages the endpoints of a partner', async () => {
  const { owner, receiver, client, endpointId } = await addPartner();
  const [shown, ...none] = await listEndpoints(deps, owner);
  assert.deepEqual([shown?.id, none], [endpointId, []]);
  const tested = await sendTest(deps, owner, endpointId, actor);
  assert.equal(tested.result, 'delivered');
  const { secret } = await rotateSecret(deps, owner, endpointId, actor);
  assert.match(secret, /^whsec_/);

  const person = await addPerson(service);
  await obtainTokens(service, { client, person });
  await deactivateUser(areas.identity.users, { userId: person.id, actor });
  await deliverAllDue(deps);
  const ids = receiver.received.slice(1).map(({ event }) => event.id);
  assert.equal(ids.length, 2);
  receiver.received.length = 0;
  const now = service.clock.now().getTime();
  const range = { from: new Date(now - 60_000), to: new Date(now + 60_000) };
  assert.equal(await replay(deps, owner, endpointId, range, actor), 2);
  assert.equal(await replay(deps, owner, endpointId, { eventId: ids[0] ?? '' }, actor), 1);
  await deliverAllDue(deps);
  assert.deepEqual(receiver.received.map(({ event }) => event.id).sort(), [...ids].sort());

  assert.equal((await disableEndpoint(deps, owner, endpointId, actor)).status, 'disabled');
  assert.equal((await enableEndpoint(deps, owner, endpointId, actor)).status, 'enabled');
  const page = { eventId: null, result: null, createdFrom: null, createdTo: null, before: null, limit: 10 };
  assert.equal((await listDeliveries(deps, owner, endpointId, page)).length, 5);
  const actions = await db.many<{ action: string }>(sql`
    select action from identity.audit where details->>'endpointId' = ${endpointId} and actor = ${actor}
    order by audit_id`);
  assert.equal(actions.length, 7);
});

test('an endpoint needs a partner that exists, and events that partners are told', async () => {
  const { owner, receiver } = await addPartner();
  const refused = (code: string) => (error: unknown) => error instanceof Refusal && error.code === code;
  const wish = { url: receiver.url };
  for (const id of ['nobody', demoMerchant.clientId]) {
    await assert.rejects(
      createEndpoint(deps, { kind: 'partner', id }, wish, actor),
      refused('webhook_owner_not_found'),
    );
  }
  await assert.rejects(
    createEndpoint(deps, { kind: 'merchant', id: 'NOBODY' }, wish, actor),
    refused('webhook_owner_not_found'),
  );
  await assert.rejects(
    createEndpoint(deps, owner, { ...wish, events: ['payment.*'] }, actor),
    refused('invalid_request'),
  );
});
