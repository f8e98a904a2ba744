import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import type { UserId } from '../../src/identity/domain/user.ts';
import { createUser } from '../../src/identity/users.ts';
import { openDatabase } from '../../src/platform/db.ts';
import { deriveKey } from '../../src/platform/seal.ts';
import { patience, testDatabaseUrl } from '../support/database.ts';
import { dumpTexts } from '../support/dump.ts';
import { freePort } from '../support/free-port.ts';
import { listen } from '../support/listen.ts';
import {
  authorizeUrl,
  bearer,
  exchange,
  newPkce,
  redirectOf,
  refresh,
  type Tokens,
  tokenCall,
  Visitor,
} from '../support/partner.ts';
import { register } from '../support/registered.ts';
import { remote, urlsOf } from '../support/remote.ts';
import { startServer } from '../support/server.ts';

const unique = (what: string) => `${what}-${randomBytes(12).toString('hex')}`;

/** The operator's SMS gateway; the texts it was given are the only place where a one-time code may be read. */
const texts: string[] = [];
let gatewayStatus = 200;
const gateway = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => (body += chunk));
  request.on('end', () => {
    texts.push((JSON.parse(body) as { text: string }).text);
    response.statusCode = gatewayStatus;
    // A gateway that complains often repeats what it was given.
    response.end(body);
  });
});
const gatewayPort = await listen(gateway);

const databaseUrl = await testDatabaseUrl();
const db = openDatabase({ url: databaseUrl, poolSize: 2, onConnectionError: () => {}, limits: patience });
after(() => db.close());
const port = await freePort();
const settings = {
  KEYS_SECRET: unique('keys-secret'),
  SMS_HTTP_SECRET: unique('sms-secret-of-the-gateway'),
};
const server = await startServer({
  PORT: String(port),
  DATABASE_URL: databaseUrl,
  LOG_LEVEL: 'trace',
  SMS_SENDER: 'http',
  SMS_HTTP_URL: `http://127.0.0.1:${gatewayPort}/texts`,
  ...settings,
});
after(async () => {
  await server.end('SIGTERM');
});
const urls = urlsOf(`http://localhost:${port}`);
const site = remote(server.url, urls);

/** Everything that must be found nowhere, by the name it is reported under. */
const canaries = new Map<string, string>(Object.entries(settings));
const phone = '+994501234567';

test('T34 I10 a whole run of good and bad calls happens, and every secret of it is taken down', async () => {
  const secrets = {
    clientSecret: unique('client-secret'),
    pin: unique('PIN'),
    card: unique('CARD').slice(0, 32),
  };
  const client = await register(
    { db },
    { grantTypes: ['authorization_code', 'refresh_token', 'client_credentials'] },
    secrets.clientSecret,
  );
  await createUser(
    {
      db,
      now: () => new Date(),
      newUserId: () => crypto.randomUUID() as UserId,
      documentsKey: deriveKey(settings.KEYS_SECRET, 'identity documents'),
    },
    { phone, profile: { pin: secrets.pin.slice(0, 32), idCardNumber: secrets.card }, actor: 'test' },
  );
  canaries.set('client secret', secrets.clientSecret);
  canaries.set('pin', secrets.pin.slice(0, 32));
  canaries.set('identity card number', secrets.card);

  const visitor = new Visitor(site);
  const pkce = newPkce();
  canaries.set('code verifier', pkce.verifier);
  const url = authorizeUrl(site, pkce, { client_id: client.client_id });
  const phonePage = await visitor.get(url);
  const codePage = await visitor.follow(await visitor.submit(phonePage, '/auth/login', { phone }));
  assert.equal(texts.length, 1);
  const oneTimeCode = /#(\d{6})/.exec(texts[0] ?? '')?.[1] ?? '';
  canaries.set('one-time code', oneTimeCode);
  const wrong = oneTimeCode === '000000' ? '000001' : '000000';
  assert.equal((await visitor.submit(codePage, '/auth/code', { code: wrong })).statusCode, 400);
  const back = redirectOf(
    await visitor.follow(await visitor.submit(codePage, '/auth/code', { code: oneTimeCode })),
  );
  const code = back.searchParams.get('code') ?? '';
  canaries.set('authorization code', code);
  for (const [name, value] of visitor.cookies) canaries.set(`cookie ${name}`, value);
  assert.deepEqual([...visitor.cookies.keys()].sort(), [
    'tollgate-browser',
    'tollgate-device',
    'tollgate-session',
  ]);

  const first = await exchange(site, code, pkce, { ...client });
  assert.equal(first.statusCode, 200, first.body);
  const tokens = first.json<Tokens>();
  const next = (await refresh(site, tokens.refresh_token, { ...client })).json<Tokens>();
  const again = (await refresh(site, tokens.refresh_token, { ...client })).json<Tokens>();
  const own = (await tokenCall(site, { ...client, grant_type: 'client_credentials' })).json<Tokens>();
  for (const [at, one] of [tokens, next, again, own].entries()) {
    canaries.set(`access token ${at}`, one.access_token);
    if (one.refresh_token) canaries.set(`refresh token ${at}`, one.refresh_token);
    if (one.id_token) canaries.set(`ID token ${at}`, one.id_token);
  }
  const profile = await site.app.inject({
    url: '/api/v1/openid-connect/userinfo',
    headers: bearer(next.access_token),
  });
  assert.equal(profile.json().pin, canaries.get('pin'));

  await badCalls({ ...client }, { ...tokens, code, pkce: pkce.verifier, oneTimeCode });

  const out = await site.app.inject({
    method: 'POST',
    url: '/api/v1/identity/logout',
    headers: bearer(next.access_token),
  });
  assert.equal(out.statusCode, 204);
  await failures({ ...client }, next);
  assert.ok(canaries.size >= 20, String(canaries.size));
  for (const [name, value] of canaries) assert.ok(value.length >= 6, name);
});

type Call =
  | string
  | { method?: 'GET' | 'POST'; url: string; headers: Record<string, string>; payload?: string };

/** Mistakes that partners make, each with a secret in a place where it might end up in a log. */
async function badCalls(
  client: Record<string, string>,
  held: Tokens & { code: string; pkce: string; oneTimeCode: string },
) {
  const query = new URLSearchParams({
    ...client,
    code: held.code,
    code_verifier: held.pkce,
    token: held.refresh_token,
  });
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const json = { 'content-type': 'application/json' };
  const token = '/api/v2/openid-connect/token';
  const calls: Call[] = [
    `${token}?${query}`,
    { method: 'POST', url: `${token}?${query}`, headers: form, payload: '' },
    { method: 'POST', url: token, headers: json, payload: JSON.stringify(Object.fromEntries(query)) },
    { method: 'POST', url: token, headers: json, payload: `{"client_secret":"${client.client_secret}",` },
    { method: 'POST', url: token, headers: form, payload: `${query}&grant_type=a&grant_type=b` },
    { method: 'POST', url: token, headers: form, payload: `${query}&grant_type=password` },
    { method: 'POST', url: token, headers: form, payload: `${query}&client_id=%00${client.client_secret}` },
    {
      method: 'POST',
      url: token,
      headers: { authorization: `Basic ${client.client_secret}`, ...form },
      payload: 'a=b',
    },
    { method: 'POST', url: `/api/v1/openid-connect/introspect`, headers: form, payload: `${query}` },
    {
      method: 'POST',
      url: `/api/v1/openid-connect/userinfo`,
      headers: { ...bearer(held.access_token), ...json },
      payload: JSON.stringify(held),
    },
    { url: `/api/v1/openid-connect/userinfo?access_token=${held.access_token}`, headers: {} },
    { url: '/api/v1/openid-connect/userinfo', headers: bearer(held.id_token) },
    { url: '/api/v1/openid-connect/userinfo', headers: bearer(held.refresh_token) },
    { url: `/${held.refresh_token}`, headers: {} },
    { url: `/api/v1/${client.client_secret}/${held.code}?${query}`, headers: {} },
    { url: `/sso/auth/code?code=${held.oneTimeCode}&flow=${held.code}`, headers: {} },
    { url: `/sso/auth/logout?id_token_hint=${held.access_token}`, headers: {} },
    {
      method: 'POST',
      url: '/sso/auth/code',
      headers: form,
      payload: `code=${held.oneTimeCode}&csrf=x&flow=y`,
    },
    { url: `/%E0%A4%A/${held.refresh_token}`, headers: {} },
    {
      url: '/api',
      headers: {
        'x-request-id': client.client_secret ?? '',
        referer: `http://x/?${query}`,
        'user-agent': held.code,
      },
    },
  ];
  for (const call of calls) {
    const answer = await site.app.inject(call);
    assert.ok(answer.statusCode < 500, `${answer.statusCode} ${answer.body.slice(0, 300)}`);
    for (const [name, value] of canaries) {
      assert.ok(
        !isIn(answer.body, name, value),
        `an answer repeats the ${name}: ${answer.body.slice(0, 300)}`,
      );
    }
  }
}

/** Faults of the world: the gateway complains, and a table is gone. What is logged then is written in a hurry. */
async function failures(client: Record<string, string>, held: Tokens): Promise<void> {
  gatewayStatus = 500;
  const stranger = new Visitor(site);
  const page = await stranger.get(authorizeUrl(site, newPkce()));
  const sent = await stranger.submit(page, '/auth/login', { phone: '+994501234568' });
  assert.equal(sent.statusCode, 503);
  canaries.set('one-time code that was not sent', /#(\d{6})/.exec(texts.at(-1) ?? '')?.[1] ?? '');
  gatewayStatus = 200;

  const { code, verifier } = { code: canaries.get('authorization code') ?? '', verifier: newPkce() };
  for (const table of ['grants', 'authorization_codes', 'sessions', 'clients', 'budgets']) {
    await rename(`identity.${table}`, `${table}_gone`);
    const answers = await Promise.all([
      refresh(site, held.refresh_token, client),
      exchange(site, code, verifier, client),
      tokenCall(site, { ...client, client_secret: canaries.get('refresh token 0') ?? '' }),
      site.app.inject({ url: '/api/v1/openid-connect/userinfo', headers: bearer(held.access_token) }),
      site.app.inject({
        url: '/sso/auth/logout',
        headers: { cookie: `tollgate-session=${canaries.get('cookie tollgate-session')}` },
      }),
    ]);
    assert.ok(
      answers.some((answer) => answer.statusCode === 500),
      table,
    );
    for (const { body } of answers) {
      for (const [name, value] of canaries)
        assert.ok(!isIn(body, name, value), `an answer repeats the ${name}`);
    }
    await rename(`identity.${table}_gone`, table);
  }
}

function rename(from: string, to: string): Promise<number> {
  return db.run({ name: `${from} ${to}`, text: `alter table ${from} rename to ${to}`, values: [] });
}

/** Six digits stand in many a number by chance, so a one-time code has to stand alone. */
function isIn(text: string, name: string, value: string): boolean {
  if (!name.startsWith('one-time code')) return text.includes(value);
  return new RegExp(`(?<![\\w.-])${value}(?![\\w.-])`).test(text);
}

/** The value itself, what is secret in it, and the ways in which it might be written. */
function spellings(name: string, value: string): string[] {
  if (name.startsWith('one-time code')) return [value];
  const bytes = Buffer.from(value);
  const texts = [
    value,
    bytes.toString('hex'),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
  ];
  const isJwt = value.split('.').length === 3;
  if (isJwt) return [...texts, value.split('.')[2] ?? ''];
  // The ids in front of a code or a token are no secret; the 32 bytes behind them are.
  const secret = Buffer.from(value, 'base64url').subarray(-32);
  const isRandom = /code$|token|session$/.test(name) && secret.toString('base64url').length === 43;
  return isRandom
    ? [...texts, secret.toString('hex'), secret.toString('base64url'), value.slice(-40)]
    : texts;
}

test('I10 no log line carries any of them, at any level', async () => {
  const lines = server.output().split('\n');
  assert.ok(lines.length > 40, `${lines.length} lines`);
  assert.ok(lines.some((line) => line.includes('"route":"/api/v2/openid-connect/token"')));
  assert.ok(lines.some((line) => line.includes('"level":"error"')));
  for (const [name, value] of canaries) {
    for (const spelling of spellings(name, value)) {
      const found = lines.filter((line) => isIn(line, name, spelling));
      assert.deepEqual(found, [], name);
    }
  }
});

test('I10 R40 the database has none of them, only hashes and ciphertext', async () => {
  const dump = await dumpTexts(databaseUrl);
  for (const schema of ['identity', 'tollgate', 'graphile_worker']) {
    assert.ok(
      [...dump.keys()].some((column) => column.startsWith(`"${schema}"`)),
      `no columns in ${schema}`,
    );
  }
  // The search is worth something only when it finds what is there.
  const values = [...dump.values()].flat();
  assert.ok(values.some((value) => value.includes(phone)));
  const hashOf = (name: string) =>
    createHash('sha256')
      .update(canaries.get(name) ?? '')
      .digest('hex');
  for (const name of ['client secret', 'authorization code', 'cookie tollgate-session', 'refresh token 1']) {
    assert.ok(
      values.some((value) => value.includes(hashOf(name))),
      `no hash of the ${name} is kept`,
    );
  }
  for (const [name, value] of canaries) {
    for (const spelling of spellings(name, value)) {
      for (const [column, kept] of dump) {
        assert.ok(!kept.some((one) => isIn(one, name, spelling)), `${column} has the ${name}`);
      }
    }
  }
});

test('I10 the search would have found them: a canary put into a table is seen', async () => {
  const value = unique('planted');
  await db.run({
    name: 'plant',
    text: `insert into identity.budgets (key, window_start, expires_at) values ($1, now(), now())`,
    values: [value],
  });
  const found = [...(await dumpTexts(databaseUrl))].filter(([, kept]) =>
    kept.some((one) => isIn(one, 'planted', value)),
  );
  assert.deepEqual(
    found.map(([column]) => column),
    ['"identity"."budgets".key'],
  );
});
