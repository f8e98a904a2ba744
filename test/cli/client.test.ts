import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { hostname, userInfo } from 'node:os';
import { after, test } from 'node:test';
import { sql } from '../../src/platform/db.ts';
import { startTestApp } from '../support/app.ts';
import { auditOf, commandLine } from '../support/command-line.ts';
import { testDatabaseUrl } from '../support/database.ts';
import { bearer, demo, refresh, tokenCall } from '../support/partner.ts';
import { addPerson, obtainTokens, register, testPhonesSetting } from '../support/registered.ts';
import { temporaryFolder } from '../support/server.ts';

type ClientJson = { clientId: string; status: string; redirectUris: string[]; scopes: string[] };

const url = await testDatabaseUrl();
const service = await startTestApp({ DATABASE_URL: url, TEST_PHONES: testPhonesSetting });
const cli = commandLine({ DATABASE_URL: url });
const folder = await temporaryFolder({ after });
const somebody = `cli:${userInfo().username}@${hostname()}`;
const partner = '--name Shop --redirect-uri https://shop.example/callback';

test('a client that was just created gets a token with the secret that was shown once', async () => {
  const { client, clientSecret } = await cli.json<{ client: ClientJson; clientSecret: string }>(
    `client create shop ${partner} --scope "openid profile" --grant authorization_code,client_credentials`,
  );
  assert.deepEqual(client.scopes, ['openid', 'profile']);
  assert.match(clientSecret, /^[\w-]{43}$/);
  assert.deepEqual(await auditOf(service.db, 'identity', 'shop'), [`${somebody} client.created`]);

  const fields = { grant_type: 'client_credentials', client_id: 'shop', client_secret: clientSecret };
  assert.equal((await tokenCall(service, fields)).statusCode, 200);
  for (const line of ['client show shop', 'client list', 'client show shop --json', 'client list --json']) {
    const text = await cli.text(line);
    assert.match(text, /shop/);
    assert.doesNotMatch(text, /[\w-]{43}/, line);
  }
  const hash = createHash('sha256').update(clientSecret).digest();
  const stored = sql`select 1 as one from identity.clients where secret_hash = ${hash}`;
  assert.ok(await service.db.maybeOne(stored));
});

test('a secret of one’s own comes from a file or standard input, and is not shown again', async () => {
  const secret = 'a-secret-of-their-own-0123456789-abcdef';
  await writeFile(`${folder}/secret`, `${secret}\n`);
  const made = await cli.json<{ clientSecret: null }>(
    `client create brought ${partner} --grant client_credentials --secret-from ${folder}/secret --actor aysel`,
  );
  assert.equal(made.clientSecret, null);
  assert.deepEqual(await auditOf(service.db, 'identity', 'brought'), ['aysel client.created']);
  const fields = { grant_type: 'client_credentials', client_id: 'brought', client_secret: secret };
  assert.equal((await tokenCall(service, fields)).statusCode, 200);

  await cli.refused(`client create short ${partner} --secret-from -`, 2, /--secret-from: A secret takes 32/, {
    stdin: 'short',
  });
  await cli.refused(
    `client create none ${partner} --secret-from ${folder}/none`,
    2,
    /cannot be read \(ENOENT\)/,
  );
});

test('what the registration refuses is told by the names of the options', async () => {
  const create = (rest: string) => `client create candidate --name X ${rest}`;
  await cli.allRefused([
    [create('--redirect-uri http://rp.example/cb'), 2, /^--redirect-uri: .* must be https/],
    [create(''), 2, /^--redirect-uri: People have to come back/],
    [create('--grant client_credentials --scope payments'), 2, /^--merchant: payments is about/],
    [create('--grant password'), 2, /^--grant: password is not one of/],
    [create('--access-token-alg none'), 2, /Allowed choices are ES256, EdDSA, RS256/],
    ['client create candidate', 2, /required option '--name <text>'/],
  ]);
  assert.deepEqual(await auditOf(service.db, 'identity', 'candidate'), []);
});

test('a client that exists, or does not, or whose merchant does not, is refused with exit code 1', async () => {
  await cli.allRefused([
    [`client create demo-partner ${partner}`, 1, /There is a client demo-partner already; choose/],
    ['client show nobody', 1, /There is no client nobody; see them all with: tollgate client list/],
    ['client create pos --name Till --merchant NOBODY', 1, /There is no merchant NOBODY/],
    ['client rotate-secret nobody', 1, /There is no client nobody/],
    ['client rotate-secret tollgate-checkout', 1, /is our own: .* its secret follows from KEYS_SECRET/],
  ]);
});

test('an update changes what is given, and nothing else', async () => {
  const { client_id: id } = await register(service, { postLogoutRedirectUris: ['https://rp.example/bye'] });
  const addresses = '--redirect-uri https://rp.example/a --redirect-uri https://rp.example/b';
  const { client, changed } = await cli.json<{ client: ClientJson; changed: string[] }>(
    `client update ${id} ${addresses} --no-pkce`,
  );
  assert.deepEqual(client.redirectUris, ['https://rp.example/a', 'https://rp.example/b']);
  assert.deepEqual(changed.sort(), ['redirectUris', 'requirePkce']);
  assert.deepEqual(await auditOf(service.db, 'identity', id), [`${somebody} client.updated`]);
  const again = await cli.json<{ changed: string[] }>(`client update ${id} --no-pkce`);
  assert.deepEqual(again.changed, []);
  assert.equal((await auditOf(service.db, 'identity', id)).length, 1);
  await cli.refused(`client update ${id}`, 2, /Nothing to change was given/);
});

test('after a rotation both secrets work, or only the new one, as was asked', async () => {
  const client = await register(service, { grantTypes: ['client_credentials'] });
  const { client_id: id } = client;
  const status = async (secret: string) =>
    (await tokenCall(service, { grant_type: 'client_credentials', client_id: id, client_secret: secret }))
      .statusCode;
  const second = await cli.json<{ clientSecret: string; oldSecretValidUntil: string }>(
    `client rotate-secret ${id} --keep-old 30m`,
  );
  await aSecond();
  assert.deepEqual([await status(client.client_secret), await status(second.clientSecret)], [200, 200]);
  const until = second.oldSecretValidUntil.replaceAll('.', '\\.');
  await cli.refused(
    `client rotate-secret ${id} --keep-old 0`,
    1,
    new RegExp(`good until ${until}; .*--force`),
  );
  assert.deepEqual([await status(client.client_secret), await status(second.clientSecret)], [200, 200]);
  const third = await cli.run(`client rotate-secret ${id} --keep-old 0 --force`);
  const [, secret = ''] = /client secret {2}([\w-]{43})/.exec(third.stdout) ?? [];
  await aSecond();
  assert.deepEqual([await status(second.clientSecret), await status(secret)], [401, 200]);
  // Nothing that still works besides the last one is lost by this.
  await cli.json(`client rotate-secret ${id}`);
  assert.deepEqual(await auditOf(service.db, 'identity', id), [
    `${somebody} client.secret_rotated`,
    `${somebody} client.secret_rotated`,
    `${somebody} client.secret_rotated`,
  ]);
  await cli.refused(`client rotate-secret ${id} --keep-old soon`, 2, /It takes a duration such as 30m/);
});

test('a disabled client is refused with everything it had, and after that with what it had before', async () => {
  const client = await register(service);
  const { client_id: id } = client;
  const tokens = await obtainTokens(service, { client, person: await addPerson(service) });
  const profile = async () =>
    (
      await service.app.inject({
        url: '/api/v1/openid-connect/userinfo',
        headers: bearer(tokens.access_token),
      })
    ).statusCode;
  assert.equal(await profile(), 200);

  const off = await cli.json<{ status: string; changed: boolean }>(`client disable ${id}`);
  assert.deepEqual(off, { clientId: id, status: 'disabled', changed: true });
  assert.equal(await profile(), 401);
  await aSecond();
  assert.equal((await refresh(service, tokens.refresh_token, client)).statusCode, 401);
  assert.equal((await cli.json<{ changed: boolean }>(`client disable ${id}`)).changed, false);

  const on = await cli.json<{ status: string; changed: boolean }>(`client enable ${id}`);
  assert.deepEqual(on, { clientId: id, status: 'enabled', changed: true });
  await aSecond();
  assert.equal(await profile(), 401);
  assert.equal((await refresh(service, tokens.refresh_token, client)).statusCode, 400);
  assert.ok(await obtainTokens(service, { client, person: { phone: demo.phone, code: demo.code } }));
  assert.deepEqual(await auditOf(service.db, 'identity', id), [
    `${somebody} client.enabled`,
    `${somebody} client.disabled`,
  ]);
});

/** Servers read a client at most once a second. */
function aSecond(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1_050));
}
