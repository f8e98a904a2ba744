import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { deriveIdentityKeys } from '../../src/identity/derive-keys.ts';
import { rotateKeys } from '../../src/identity/keyring.ts';
import { openTestApp, type TestApp } from '../support/app.ts';
import { commandLine } from '../support/command-line.ts';
import { query, testDatabaseUrl } from '../support/database.ts';
import { lesserRole } from '../support/lesser-role.ts';
import { createPayment, type PaymentAnswer, readPayment } from '../support/merchant.ts';
import { bearer, logIn, refresh } from '../support/partner.ts';
import { deliverAllDue, type Received } from '../support/receiver.ts';
import { openWebhookShop } from '../support/webhook-shop.ts';

const url = await testDatabaseUrl();
const [before, after] = ['the secret before this test has begun', 'the secret after this test has ended'];
const change = commandLine({ DATABASE_URL: url, KEYS_SECRET: before, NEW_KEYS_SECRET: after });
const cliBefore = commandLine({ DATABASE_URL: url, KEYS_SECRET: before });
const cliAfter = commandLine({ DATABASE_URL: url, KEYS_SECRET: after });
const withSecret = (secret: string) => openTestApp({ DATABASE_URL: url, KEYS_SECRET: secret });

test('the secret of the service is changed while it stands still, and nothing that was sealed is lost', async () => {
  const first = await withSecret(before);
  const shop = await openWebhookShop(first);
  const rotated = await shop.send('POST', `${shop.path}/rotate-secret`);
  const secrets = [shop.endpoint.secret, rotated.json<{ secret: string }>().secret];
  await shop.pay();
  const tokens = await logIn(first);
  const keySet = await keySetOf(first);
  const payment = await createPayment(first);
  const documents = JSON.stringify({ pin: '5XYZ001', idCardNumber: 'AA7654321' });
  const { user } = await cliBefore.json<{ user: { id: string } }>(
    'user create --phone +994506001122 --profile -',
    { stdin: documents },
  );

  await change.refused('keys change-secret', 1, /^A server or another command is connected/);
  await first.close();
  const done = await change.json<object>('keys change-secret --actor aysel');
  // Two: one of the demo people has documents as well.
  assert.deepEqual(done, { signingKeys: 3, peopleWithDocuments: 2, webhookEndpoints: 1 });

  const second = await withSecret(after);
  try {
    assert.equal(await keySetOf(second), keySet);
    const profile = await second.app.inject({
      url: '/api/v1/openid-connect/userinfo',
      headers: bearer(tokens.access_token),
    });
    assert.equal(profile.statusCode, 200, profile.body);
    assert.equal((await refresh(second, tokens.refresh_token)).statusCode, 200);
    assert.match(await cliAfter.text(`user show ${user.id} --documents`), /5XYZ001[\s\S]*AA7654321/);

    // What was queued before goes out, signed with both secrets that the receiver may have.
    await deliverAllDue(second.areas.webhooks);
    const [received] = shop.receiver.received as [Received];
    for (const secret of secrets) new Webhook(secret).verify(received.body, received.headers);

    const statusOf = async ({ confirmation }: PaymentAnswer) =>
      (await second.app.inject({ url: new URL(confirmation.confirmationUrl).pathname })).statusCode;
    assert.equal(await statusOf(payment), 404);
    assert.equal(await statusOf(await readPayment(second, payment.id)), 200);
  } finally {
    await second.close();
  }
});

test('the secret before opens nothing any more, and a change from it changes nothing', async () => {
  const state = () =>
    query(url, 'select kid, private_sealed from identity.signing_keys order by kid').then(JSON.stringify);
  const sealed = await state();
  assert.match((await cliBefore.run('doctor')).stdout, /3 of 3 keys cannot be opened with KEYS_SECRET/);
  await change.refused('keys change-secret', 1, /^KEYS_SECRET is not the one .* nothing was changed/);
  assert.equal(await state(), sealed);
  const { entries } = await cliAfter.json<{ entries: { actor: string }[] }>(
    'audit tail --action keys.secret_changed',
  );
  assert.deepEqual(
    entries.map(({ actor }) => actor),
    ['aysel'],
  );
});

test('a new secret that is missing, too short or the same is named', async () => {
  const withNew = (secret: string) =>
    commandLine({ DATABASE_URL: url, KEYS_SECRET: after, NEW_KEYS_SECRET: secret });
  await cliAfter.refused('keys change-secret', 2, /^NEW_KEYS_SECRET: It is not set\. Make one with/);
  await withNew(after).refused('keys change-secret', 2, /^NEW_KEYS_SECRET: It is the same as KEYS_SECRET/);
  await withNew('short').refused('keys change-secret', 2, /^NEW_KEYS_SECRET: The secret has 5 characters/);
});

test('a server or a command with the secret before makes no key that no other could open', async () => {
  await cliBefore.refused('keys rotate', 1, /^KEYS_SECRET is not the one/);
  const { db, close } = await withSecret(after);
  try {
    // So late that new keys are due, as they may be when a server starts.
    const now = () => new Date(Date.now() + 365 * 86_400_000);
    const { signing } = deriveIdentityKeys(before);
    await assert.rejects(rotateKeys({ db, wrappingKey: signing, now }), /KEYS_SECRET is not the one/);
  } finally {
    await close();
  }
  const { keys } = await cliAfter.json<{ keys: object[] }>('keys list');
  assert.equal(keys.length, 3);
});

test('a command with the secret before changes nobody, whose documents no server could open', async () => {
  await cliBefore.refused('user create --phone +994506001133 --profile -', 1, /^KEYS_SECRET is not the one/, {
    stdin: JSON.stringify({ pin: '5XYZ002' }),
  });
  assert.equal((await cliAfter.run('user show +994506001133')).code, 1);
});

test('a role that owns no table may change the secret as well', async () => {
  const { server } = await lesserRole();
  await (await openTestApp({ DATABASE_URL: server, KEYS_SECRET: before })).close();
  const lesser = commandLine({ DATABASE_URL: server, KEYS_SECRET: before, NEW_KEYS_SECRET: after });
  const { signingKeys } = await lesser.json<{ signingKeys: number }>('keys change-secret');
  assert.equal(signingKeys, 3);
});

test('a server that has had nothing to do for a while is seen all the same', async () => {
  const server = await withSecret(after);
  try {
    // As long as the pool keeps a connection that nobody uses.
    await delay(11_000);
    const back = commandLine({ DATABASE_URL: url, KEYS_SECRET: after, NEW_KEYS_SECRET: before });
    await back.refused('keys change-secret', 1, /^A server or another command is connected/);
  } finally {
    await server.close();
  }
});

async function keySetOf(service: TestApp): Promise<string> {
  return (await service.app.inject({ url: '/api/v1/openid-connect/jwks' })).body;
}
