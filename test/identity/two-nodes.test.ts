import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose';
import { lastTokenMs, publishAheadMs } from '../../src/identity/domain/key-schedule.ts';
import { rotateKeys } from '../../src/identity/keyring.ts';
import { openDatabase } from '../../src/platform/db.ts';
import { deriveKey } from '../../src/platform/seal.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { patience, testDatabaseUrl } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { bearer, exchange, refresh, type Tokens } from '../support/partner.ts';
import { obtainCode, obtainTokens, register, testPhonesSetting } from '../support/registered.ts';
import { remote, urlsOf } from '../support/remote.ts';
import { startServer } from '../support/server.ts';

const minute = 60_000;
const keysSecret = 'a secret for two nodes that share one database';

const url = await testDatabaseUrl();
const port = await freePort();
// Both call themselves by the address of the load balancer that would stand in front of them.
const urls = urlsOf(`http://localhost:${port}`);
const env = {
  DATABASE_URL: url,
  BASE_URL: urls.base,
  KEYS_SECRET: keysSecret,
  TEST_PHONES: testPhonesSetting,
  LOG_LEVEL: 'warn',
};
const first = await startServer({ ...env, PORT: String(port) });
const second = await startServer(env);
after(async () => {
  await Promise.all([first.end('SIGTERM'), second.end('SIGTERM')]);
});
const left = remote(first.url, urls);
const right = remote(second.url, urls);

const profile = (node: TestApp, token: string) =>
  node.app.inject({ url: '/api/v1/openid-connect/userinfo', headers: bearer(token) });
const logout = (node: TestApp, token: string) =>
  node.app.inject({ method: 'POST', url: '/api/v1/identity/logout', headers: bearer(token) });

test('T46 R69 a logout on one node is seen by the very next call on the other', async () => {
  for (const [here, there] of [
    [left, right],
    [right, left],
    [left, left],
  ] as const) {
    const tokens = await obtainTokens(here);
    const next = (await refresh(there, tokens.refresh_token)).json<Tokens>();
    for (const node of [here, there]) assert.equal((await profile(node, next.access_token)).statusCode, 200);

    assert.equal((await logout(here, next.access_token)).statusCode, 204);
    assert.equal((await profile(there, next.access_token)).statusCode, 401);
    assert.equal((await refresh(there, next.refresh_token)).json().error, 'invalid_grant');
    assert.equal((await logout(there, next.access_token)).statusCode, 401);
  }
});

test('T46 a login that begins on one node ends on the other', async () => {
  let turn = 0;
  const balanced = {
    ...left,
    app: { inject: (given: never) => (turn++ % 2 === 0 ? left : right).app.inject(given) },
  } as unknown as TestApp;
  const tokens = await obtainTokens(balanced);
  assert.equal((await profile(balanced, tokens.access_token)).statusCode, 200);
  assert.ok(turn >= 5);
});

test('T29 T36 a code or a refresh token used on both nodes at once is used once', async () => {
  for (let round = 0; round < 20; round++) {
    const tokens = await obtainTokens(left);
    const answers = await Promise.all(
      [left, right, left, right].map((node) => refresh(node, tokens.refresh_token)),
    );
    for (const answer of answers) assert.equal(answer.statusCode, 200);
    const successors = new Set(answers.map((answer) => answer.json<Tokens>().refresh_token));
    assert.equal(successors.size, 1);

    const { code, pkce } = await obtainCode(right);
    const exchanges = await Promise.all([left, right].map((node) => exchange(node, code, pkce)));
    const won = exchanges.filter((answer) => answer.statusCode === 200);
    assert.equal(won.length, 1);
    for (const answer of won)
      assert.equal((await refresh(left, answer.json<Tokens>().refresh_token)).statusCode, 400);
  }
});

test('R44 a guess on one node counts on the other', async () => {
  const db = openDatabase({ url, poolSize: 1, onConnectionError: () => {}, limits: patience });
  const { client_id } = await register({ db });
  await db.close();
  const statuses: number[] = [];
  for (let guess = 0; guess < 12; guess++) {
    const node = guess % 2 === 0 ? left : right;
    const answer = await node.app.inject({
      method: 'POST',
      url: '/api/v2/openid-connect/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: `grant_type=client_credentials&client_id=${client_id}&client_secret=${guess}`,
    });
    statuses.push(answer.statusCode);
  }
  assert.deepEqual(statuses, [...Array(10).fill(401), 429, 429]);
});

test('T45 R57 new keys made under load sign nothing yet, are made once, and no call fails', async () => {
  const db = openDatabase({ url, poolSize: 2, onConnectionError: () => {}, limits: patience });
  const kidsOf = async (node: TestApp) => {
    const answer = await node.app.inject('/api/v1/openid-connect/jwks');
    return answer.json<JSONWebKeySet>().keys.map((key) => key.kid);
  };
  const before = await kidsOf(left);
  assert.deepEqual(await kidsOf(right), before);

  let stop = false;
  let calls = 0;
  const load = [left, right].map(async (node, at) => {
    let tokens: Tokens = await obtainTokens(node);
    const other = at === 0 ? right : left;
    while (!stop) {
      tokens = (await refresh(node, tokens.refresh_token)).json<Tokens>();
      assert.equal((await profile(other, tokens.access_token)).statusCode, 200);
      calls++;
    }
  });
  try {
    const wrappingKey = deriveKey(keysSecret, 'signing keys');
    const made = await rotateKeys({ db, wrappingKey, now: () => new Date(), force: true });
    assert.equal(made.length, 3);
    assert.deepEqual(await rotateKeys({ db, wrappingKey, now: () => new Date(), force: true }), []);
    while (calls < 100) await Promise.race([...load, new Promise((done) => setTimeout(done, 20))]);
    const signing = decodeProtectedHeader((await obtainTokens(left)).access_token).kid;
    assert.ok(before.includes(signing), 'a key that was only just published signs already');
  } finally {
    stop = true;
    await Promise.all(load);
    await db.close();
  }
});

test('T45 R57 through a whole rotation every token verifies on both nodes and with a key set five minutes old', async () => {
  const shared = await testDatabaseUrl();
  const nodes = [await startTestApp({ DATABASE_URL: shared }), await startTestApp({ DATABASE_URL: shared })];
  const [one, two] = nodes;
  assert.ok(one && two);
  const now = () => one.clock.now();
  const setClocks = (at: Date) => {
    for (const node of nodes) node.clock.set(at);
  };
  /** What the timer of each node does every minute. */
  const moveMinute = async () => {
    setClocks(new Date(now().getTime() + minute));
    for (const node of nodes) await node.areas.identity.issuer.keyring.reload();
  };
  setClocks(new Date());
  const { identity } = one.areas;
  const clients = [];
  for (const alg of ['ES256', 'EdDSA', 'RS256'] as const) {
    clients.push(await register(one, { accessTokenAlg: alg, idTokenAlg: alg, accessTokenSeconds: 3600 }));
  }

  const read = async () => (await two.app.inject('/api/v1/openid-connect/jwks')).json<JSONWebKeySet>();
  let cached = await read();
  let cachedAt = now();
  /** A partner that fetches the key set when its copy is five minutes old, and never because of an unknown key. */
  const verifies = async (token: string) => {
    if (now().getTime() - cachedAt.getTime() > 5 * minute) {
      cached = await read();
      cachedAt = now();
    }
    await jwtVerify(token, createLocalJWKSet(cached), { currentDate: now() });
  };
  const published = async (kid: string | undefined) => (await read()).keys.some((key) => key.kid === kid);

  const [es256] = clients;
  assert.ok(es256);
  const old = decodeProtectedHeader((await obtainTokens(one, { client: es256 })).access_token).kid;
  const made = await rotateKeys({ db: one.db, wrappingKey: identity.keys.signing, now, force: true });
  assert.equal(made.length, 3);
  const rotatedAt = now().getTime();
  const living: { token: string; until: number }[] = [];
  const signers = new Set<string | undefined>();
  let switchedAt: number | undefined;
  let lastOldExpiry = 0;

  for (let turn = 0; now().getTime() < rotatedAt + publishAheadMs + lastTokenMs + 5 * minute; turn++) {
    const here: TestApp = turn % 2 === 0 ? one : two;
    const there: TestApp = here === one ? two : one;
    const client = clients[turn % clients.length];
    assert.ok(client);
    const tokens = await obtainTokens(here, { client });
    const { kid } = decodeProtectedHeader(tokens.access_token);
    signers.add(kid);
    await verifies(tokens.id_token);
    assert.equal((await profile(there, tokens.access_token)).statusCode, 200);
    living.push({ token: tokens.access_token, until: now().getTime() + 3600_000 });
    if (kid !== undefined && made.includes(kid)) switchedAt ??= now().getTime();
    else lastOldExpiry = Math.max(lastOldExpiry, now().getTime() + 3600_000);
    if (turn % 5 === 0)
      for (const { token, until } of living) if (until > now().getTime()) await verifies(token);
    if (now().getTime() < lastOldExpiry)
      assert.ok(await published(old), 'a key vanished before its last token');
    await moveMinute();
  }
  assert.equal(switchedAt, rotatedAt + publishAheadMs);
  assert.equal(signers.size, 6, 'each of the three algorithms was signed with by its old and by its new key');
  assert.equal(await published(old), false);
});

test('R57 the key set has an ETag that changes with the keys, and 304 for who has it', async () => {
  const node = await startTestApp();
  const { keyring } = node.areas.identity.issuer;
  const read = (headers: Record<string, string> = {}) =>
    node.app.inject({ url: '/api/v1/openid-connect/jwks', headers });
  const answer = await read();
  const etag = String(answer.headers.etag);
  assert.match(etag, /^"[\w-]+"$/);
  assert.equal(answer.headers['cache-control'], 'public, max-age=300');

  const same = await read({ 'if-none-match': etag });
  assert.equal(same.statusCode, 304);
  assert.equal(same.body, '');
  assert.equal(same.headers.etag, etag);
  assert.equal(same.headers['cache-control'], 'public, max-age=300');
  assert.equal((await read({ 'if-none-match': '"other"' })).statusCode, 200);
  // A proxy that compresses weakens the tag, and a cache may send several (RFC 9110, 13.1.2).
  for (const given of [`W/${etag}`, `"other", ${etag}`, '*']) {
    assert.equal((await read({ 'if-none-match': given })).statusCode, 304, given);
  }

  const { keys } = node.areas.identity;
  await rotateKeys({ db: node.db, wrappingKey: keys.signing, now: node.clock.now, force: true });
  await keyring.reload();
  const changed = await read({ 'if-none-match': etag });
  assert.equal(changed.statusCode, 200);
  assert.notEqual(changed.headers.etag, etag);
  assert.equal(changed.json<JSONWebKeySet>().keys.length, 6);
});
