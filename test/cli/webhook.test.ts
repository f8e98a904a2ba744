import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../../src/platform/db.ts';
import { startTestApp } from '../support/app.ts';
import { commandLine } from '../support/command-line.ts';
import { testDatabaseUrl } from '../support/database.ts';
import { call, createPayment } from '../support/merchant.ts';
import { answering, startReceiver } from '../support/receiver.ts';

type Endpoint = {
  id: string;
  owner: string;
  status: string;
  events: string[];
  disabledAt: string | null;
};
type Added = { endpoint: Endpoint; secret: string };

const url = await testDatabaseUrl();
const service = await startTestApp({ DATABASE_URL: url });
const receiver = await startReceiver();
const cli = commandLine({ DATABASE_URL: url });
const shop = 'merchant:DEMOMERCHANT001';

test('an endpoint is added, tested, looked at, switched off and on, and its secret is shown once', async () => {
  receiver.answer = answering(200);
  const { endpoint, secret } = await cli.json<Added>(
    `webhook add ${shop} --url ${receiver.url} --event payment.* --actor aysel`,
  );
  assert.match(secret, /^whsec_/);
  assert.deepEqual(endpoint.events, ['payment.*']);
  const one = `${shop} ${endpoint.id}`;

  const tested = await cli.json<{ delivery: { result: string } }>(`webhook test ${one} --actor aysel`);
  assert.equal(tested.delivery.result, 'delivered');
  assert.equal(receiver.received.length, 1);
  const log = await cli.json<{ deliveries: { type: string }[] }>(`webhook deliveries ${one}`);
  assert.deepEqual(
    log.deliveries.map(({ type }) => type),
    ['webhook.test'],
  );
  assert.match(
    await cli.text(`webhook deliveries ${one}`),
    /^AT +EVENT +TYPE +ATTEMPT +RESULT +STATUS +NEXT ATTEMPT +DETAIL\n.*webhook\.test +1 +delivered +200/m,
  );

  const rotated = await cli.json<Added>(`webhook rotate-secret ${one} --actor aysel`);
  assert.notEqual(rotated.secret, secret);
  await cli.allRefused([[`webhook rotate-secret ${one}`, 1, /./]]);
  await cli.json(`webhook rotate-secret ${one} --force`);
  const disabled = (await cli.json<{ endpoint: Endpoint }>(`webhook disable ${one}`)).endpoint;
  assert.equal(disabled.status, 'disabled');
  // From when what was missed has to be replayed.
  assert.ok(disabled.disabledAt);
  assert.ok((await cli.text(`webhook list ${shop}`)).includes(disabled.disabledAt));
  await cli.allRefused([[`webhook replay ${one} --from 2026-01-01 --to 2099-01-01`, 1, /disabled/]]);
  assert.equal((await cli.json<{ endpoint: Endpoint }>(`webhook enable ${one}`)).endpoint.status, 'enabled');
  await createPayment(service);
  const again = await cli.json<{ queued: number }>(`webhook replay ${one} --from 2026-01-01 --to 2099-01-01`);
  assert.equal(again.queued, 1);

  const listed = await cli.text(`webhook list ${shop}`);
  assert.ok(listed.includes(endpoint.id) && !listed.includes('whsec_'));
  const { entries } = await cli.json<{ entries: { action: string; actor: string }[] }>(
    'audit tail --actor aysel',
  );
  assert.deepEqual(
    entries.map(({ action }) => action),
    ['webhook.endpoint_created', 'webhook.tested', 'webhook.secret_rotated'],
  );
});

test('a partner is told of people, and of nothing else', async () => {
  const added = await cli.json<Added>(`webhook add partner:demo-partner --url ${receiver.url}`);
  assert.equal(added.endpoint.owner, 'partner:demo-partner');
  await cli.allRefused([
    [`webhook add partner:demo-partner --url ${receiver.url} --event payment.*`, 2, /must be one of/],
    [`webhook add partner:nobody --url ${receiver.url}`, 1, /./],
    [`webhook add ${shop} --url ftp://x`, 2, /./],
    [`webhook add shop --url ${receiver.url}`, 2, /merchant:ID or partner:CLIENT/],
    [`webhook test ${shop} ${added.endpoint.id}`, 1, /./],
    [`webhook replay ${shop} ${added.endpoint.id}`, 2, /--event-id/],
  ]);
});

test('an endpoint of a partner is changed, found among all when it fails, and deleted when it is meant', async () => {
  const { endpoint } = await cli.json<Added>(`webhook add partner:demo-partner --url ${receiver.url}`);
  const one = `partner:demo-partner ${endpoint.id}`;
  type Changed = { endpoint: Endpoint & { url: string; description: string | null } };
  const moved = await cli.json<Changed>(
    `webhook update ${one} --url ${receiver.url}/new --event user.updated --description People --actor aysel`,
  );
  assert.deepEqual(
    [moved.endpoint.url, moved.endpoint.events, moved.endpoint.description],
    [`${receiver.url}/new`, ['user.updated'], 'People'],
  );
  const plain = await cli.json<Changed>(`webhook update ${one} --description none`);
  assert.deepEqual([plain.endpoint.url, plain.endpoint.description], [`${receiver.url}/new`, null]);

  const list = async (rest: string) =>
    (await cli.json<{ endpoints: Endpoint[] }>(`webhook list ${rest}`)).endpoints;
  assert.deepEqual(
    new Set((await list('')).map(({ owner }) => owner)),
    new Set([shop, 'partner:demo-partner']),
  );
  assert.deepEqual(await list('--failing'), []);
  await service.db.run(sql`
    update webhooks.endpoints set failing_since = now() where endpoint_id = ${endpoint.id}`);
  assert.deepEqual(
    (await list('--failing')).map(({ id }) => id),
    [endpoint.id],
  );
  assert.deepEqual(await list(`${shop} --failing`), []);

  await cli.allRefused([
    [`webhook update ${one}`, 2, /Nothing to change was given/],
    [`webhook update ${one} --event payment.*`, 2, /must be one of/],
    [`webhook update ${shop} ${endpoint.id} --description X`, 1, /./],
    [`webhook delete ${one}`, 2, /add --yes/],
    [`webhook delete ${shop} ${endpoint.id} --yes`, 1, /./],
  ]);
  assert.deepEqual(await cli.json(`webhook delete ${one} --yes --actor aysel`), {
    endpointId: endpoint.id,
    deleted: true,
  });
  await cli.refused(`webhook delete ${one} --yes`, 1, /./);
  const { entries } = await cli.json<{ entries: { action: string }[] }>('audit tail --actor aysel --limit 2');
  assert.deepEqual(
    entries.map(({ action }) => action),
    ['webhook.endpoint_changed', 'webhook.endpoint_deleted'],
  );
});

test('one endpoint too many is nothing wrong in what was given: exit code 1', async () => {
  const add = () => call(service, 'POST', '/v1/webhook-endpoints', { body: { url: receiver.url } });
  while ((await add()).statusCode === 201);
  await cli.refused(`webhook add ${shop} --url ${receiver.url}`, 1, /sixteen webhook endpoints already/);
});
