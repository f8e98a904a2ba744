import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApp } from '../support/app.ts';
import { commandLine } from '../support/command-line.ts';
import { testDatabaseUrl } from '../support/database.ts';
import { createPayment } from '../support/merchant.ts';
import { answering, startReceiver } from '../support/receiver.ts';

type Endpoint = { id: string; owner: string; status: string; events: string[] };
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

  const rotated = await cli.json<Added>(`webhook rotate-secret ${one} --actor aysel`);
  assert.notEqual(rotated.secret, secret);
  assert.equal(
    (await cli.json<{ endpoint: Endpoint }>(`webhook disable ${one}`)).endpoint.status,
    'disabled',
  );
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
