import assert from 'node:assert/strict';
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { isSecretOf } from '../../src/identity/client-authentication.ts';
import { algorithms } from '../../src/identity/domain/algorithm.ts';
import { findClient } from '../../src/identity/store/clients.ts';
import { changePhone, deactivateUser, mergeUsers } from '../../src/identity/users.ts';
import { sql } from '../../src/platform/db.ts';
import { startTestApp } from '../support/app.ts';
import {
  type Answer,
  authorizeUrl,
  bearer,
  claimsOf,
  credentials,
  demo,
  exchange,
  logIn,
  redirectOf,
  refresh,
  type Tokens,
  tokenCall,
  Visitor,
} from '../support/partner.ts';
import {
  addPerson,
  type Credentials,
  obtainCode,
  obtainTokens,
  register,
  secretHash,
  testPhones,
  testPhonesSetting,
} from '../support/registered.ts';

const service = await startTestApp({ TEST_PHONES: testPhonesSetting });
const { app, clock, db, areas } = service;
const { base } = service.config.server.urls;
const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
// From here on time stands still until a test moves it.
clock.set(new Date());

function refused(answer: Answer, status: number, error: string): void {
  assert.equal(answer.statusCode, status, answer.body);
  assert.equal(answer.json().error, error);
  assert.match(answer.json().error_description, /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
  assert.deepEqual(Object.keys(answer.json()), ['error', 'error_description']);
  assert.match(String(answer.headers['content-type']), /^application\/json/);
  assert.equal(answer.headers['cache-control'], 'no-store');
  assert.ok(answer.headers['x-request-id']);
}

function given(answer: Answer): Tokens {
  assert.equal(answer.statusCode, 200, answer.body);
  assert.equal(answer.headers['cache-control'], 'no-store');
  return answer.json<Tokens>();
}

async function userinfo(accessToken: string): Promise<number> {
  const answer = await app.inject({
    url: '/api/v1/openid-connect/userinfo',
    headers: bearer(accessToken),
  });
  return answer.statusCode;
}

function basic({ client_id, client_secret }: Credentials, scheme = 'Basic'): Record<string, string> {
  const encode = (text: string) => new URLSearchParams({ '': text }).toString().slice(1);
  const text = `${encode(client_id)}:${encode(client_secret)}`;
  return { authorization: `${scheme} ${Buffer.from(text).toString('base64')}` };
}

async function keySet(): Promise<ReturnType<typeof createLocalJWKSet>> {
  const answer = await app.inject('/api/v1/openid-connect/jwks');
  return createLocalJWKSet(answer.json<JSONWebKeySet>());
}

function headerOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) as Record<
    string,
    unknown
  >;
}

test('T27 R38 R39 R54 a code becomes the tokens of the reference, with exactly the claims it names', async () => {
  const { code, pkce, back } = await obtainCode(service, { changes: { nonce: 'nonce-1' } });
  const answer = await exchange(service, code, pkce);
  const tokens = given(answer);
  assert.equal(answer.headers.pragma, undefined);
  assert.deepEqual(
    { ...tokens, access_token: '', refresh_token: '', id_token: '' },
    {
      access_token: '',
      expires_in: 300,
      refresh_token: '',
      refresh_expires_in: 1800,
      id_token: '',
      token_type: 'Bearer',
      scope: 'openid profile phone',
      session_state: back.searchParams.get('session_state'),
    },
  );
  assert.match(tokens.session_state, uuid);

  const keys = await keySet();
  const now = Math.floor(clock.now().getTime() / 1000);
  const access = await jwtVerify(tokens.access_token, keys, { currentDate: clock.now(), typ: 'at+jwt' });
  const { sub, jti } = access.payload;
  assert.match(String(sub), /^[0-9a-f-]{36}$/);
  assert.ok(Buffer.from(String(jti), 'base64url').length >= 16);
  assert.deepEqual(Object.keys(access.protectedHeader).sort(), ['alg', 'kid', 'typ']);
  assert.deepEqual(access.payload, {
    exp: now + 300,
    iat: now,
    iss: base,
    aud: `${base}/api`,
    sub,
    preferred_username: demo.phone,
    typ: 'Bearer',
    azp: demo.clientId,
    sid: tokens.session_state,
    scope: 'openid profile phone',
    jti,
    client_id: demo.clientId,
    auth_time: now,
    acr: 'urn:tollgate:otp-sms',
  });

  const id = await jwtVerify(tokens.id_token, keys, { currentDate: clock.now(), issuer: base, typ: 'JWT' });
  const hash = createHash('sha256').update(tokens.access_token).digest().subarray(0, 16);
  assert.deepEqual(id.payload, {
    iss: base,
    sub,
    aud: demo.clientId,
    exp: now + 300,
    iat: now,
    auth_time: now,
    nonce: 'nonce-1',
    acr: 'urn:tollgate:otp-sms',
    amr: ['sms'],
    azp: demo.clientId,
    at_hash: hash.toString('base64url'),
    sid: tokens.session_state,
  });
});

test('T27 without a nonce the ID token has none', async () => {
  const tokens = await obtainTokens(service);
  assert.ok(!('nonce' in claimsOf(tokens.id_token)));
});

test('R61 each client gets the algorithms it is registered for, and at_hash follows that of the ID token', async () => {
  const keys = await keySet();
  for (const [at, accessTokenAlg] of algorithms.entries()) {
    const idTokenAlg = algorithms[(at + 1) % algorithms.length] ?? 'ES256';
    for (const pair of [
      { accessTokenAlg, idTokenAlg: accessTokenAlg },
      { accessTokenAlg, idTokenAlg },
    ]) {
      const tokens = await obtainTokens(service, { client: await register(service, pair) });
      await jwtVerify(tokens.access_token, keys, {
        algorithms: [pair.accessTokenAlg],
        currentDate: clock.now(),
        audience: `${base}/api`,
      });
      const { payload } = await jwtVerify(tokens.id_token, keys, {
        algorithms: [pair.idTokenAlg],
        currentDate: clock.now(),
        issuer: base,
      });
      const hash = createHash(pair.idTokenAlg === 'EdDSA' ? 'sha512' : 'sha256');
      const digest = hash.update(tokens.access_token).digest();
      assert.equal(payload.at_hash, digest.subarray(0, digest.length / 2).toString('base64url'));
      assert.equal(await userinfo(tokens.access_token), 200);
    }
  }
});

test('R34 R58 codes and refresh tokens carry 256 random bits behind what they are routed by', async () => {
  const codes = new Set<string>();
  for (let round = 0; round < 5; round++) codes.add((await obtainCode(service)).code);
  assert.equal(codes.size, 5);
  for (const code of codes) {
    const random = Buffer.from(code, 'base64url').subarray(16);
    assert.equal(random.length, 32);
    assert.ok(shannonBits(code) >= 96, `${shannonBits(code)} bits`);
  }
  const { refresh_token: token } = await obtainTokens(service);
  assert.equal(Buffer.from(token, 'base64url').subarray(32).length, 32);
  assert.ok(!token.includes('.'), 'a refresh token says nothing to who holds it');
});

/** The measure of the conformance suite: the entropy of the characters times their number. */
function shannonBits(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  const bits = [...counts.values()].map((count) => -(count / text.length) * Math.log2(count / text.length));
  return text.length * bits.reduce((left, right) => left + right, 0);
}

test('T28 R28 a code that comes twice is refused and kills what it produced', async () => {
  const { code, pkce } = await obtainCode(service);
  const tokens = given(await exchange(service, code, pkce));
  const successor = given(await refresh(service, tokens.refresh_token));
  assert.equal(await userinfo(successor.access_token), 200);

  refused(await exchange(service, code, pkce), 400, 'invalid_grant');
  assert.equal(await userinfo(tokens.access_token), 401);
  assert.equal(await userinfo(successor.access_token), 401);
  refused(await refresh(service, successor.refresh_token), 400, 'invalid_grant');
});

test('T28 R28 the second use counts after the minute of the code as well', async () => {
  const { code, pkce } = await obtainCode(service);
  const tokens = given(await exchange(service, code, pkce));
  clock.move(2 * minute);
  refused(await exchange(service, code, pkce), 400, 'invalid_grant');
  assert.equal(await userinfo(tokens.access_token), 401);
});

test('T28 a code that another client repeats kills nothing', async () => {
  const stranger = await register(service);
  const { code, pkce } = await obtainCode(service);
  const tokens = given(await exchange(service, code, pkce));
  refused(await exchange(service, code, pkce, stranger), 400, 'invalid_grant');
  assert.equal(await userinfo(tokens.access_token), 200);
});

test('T29 R33 of twenty exchanges of one code at once at most one gets tokens, and they are dead', async () => {
  const { code, pkce, back } = await obtainCode(service);
  const answers = await Promise.all(Array.from({ length: 20 }, () => exchange(service, code, pkce)));
  const good = answers.filter((answer) => answer.statusCode === 200);
  assert.equal(good.length, 1);
  for (const answer of answers) if (answer !== good[0]) refused(answer, 400, 'invalid_grant');
  for (const answer of good) {
    assert.equal(await userinfo(answer.json<Tokens>().access_token), 401);
    refused(await refresh(service, answer.json<Tokens>().refresh_token), 400, 'invalid_grant');
  }
  const families = await db.many(sql`
    select grant_id from identity.grants where sid = ${back.searchParams.get('session_state')}::uuid`);
  assert.equal(families.length, 1);
});

test('T30 R30 R31 a code is bound to its client, address and challenge, and the refusal does not tell which', async () => {
  const stranger = await register(service);
  const wrongs: Record<string, Record<string, string>> = {
    client: stranger,
    address: { redirect_uri: `${base}/demo/callback` },
    'address that differs by a slash': { redirect_uri: `${demo.redirectUri}/` },
    verifier: { code_verifier: randomBytes(32).toString('base64url') },
  };
  const bodies = new Set<string>();
  for (const [what, wrong] of Object.entries(wrongs)) {
    const { code, pkce } = await obtainCode(service);
    const answer = await exchange(service, code, pkce, wrong);
    refused(answer, 400, 'invalid_grant');
    bodies.add(answer.body);
    // Another client's try must not take the code away from its owner; the owner itself has one try.
    const again = await exchange(service, code, pkce);
    if (what === 'client') given(again);
    else refused(again, 400, 'invalid_grant');
  }
  const unknown = await exchange(service, 'A'.repeat(64), (await obtainCode(service)).pkce);
  bodies.add(unknown.body);
  bodies.add((await exchange(service, 'no code of ours', (await obtainCode(service)).pkce)).body);
  assert.equal(bodies.size, 1);
});

test('T30 R31 a verifier that is missing or malformed is an invalid request and leaves the code alone', async () => {
  const { code, pkce } = await obtainCode(service);
  const malformed = [
    '',
    'a'.repeat(42),
    'a'.repeat(129),
    `${'a'.repeat(42)}+`,
    `${'a'.repeat(42)} `,
    'ə'.repeat(43),
  ];
  for (const code_verifier of malformed) {
    refused(await exchange(service, code, pkce, { code_verifier }), 400, 'invalid_request');
  }
  const { client_id, client_secret } = credentials;
  const bare = { client_id, client_secret, grant_type: 'authorization_code', code };
  refused(await tokenCall(service, { ...bare, redirect_uri: demo.redirectUri }), 400, 'invalid_request');
  refused(await tokenCall(service, { ...bare, code_verifier: pkce.verifier }), 400, 'invalid_request');
  refused(
    await tokenCall(service, {
      ...bare,
      code: '',
      redirect_uri: demo.redirectUri,
      code_verifier: pkce.verifier,
    }),
    400,
    'invalid_request',
  );
  given(await exchange(service, code, pkce));
});

test('R32 PKCE cannot be taken out or put in between the two requests', async () => {
  const client = await register(service, { requirePkce: false });
  const without = { code_challenge: null, code_challenge_method: null };

  const plain = await obtainCode(service, { client, changes: without });
  const fields = { ...client, grant_type: 'authorization_code', redirect_uri: demo.redirectUri };
  given(await tokenCall(service, { ...fields, code: plain.code }));

  // A verifier for a code that had no challenge: somebody took the challenge out of the request.
  const stripped = await obtainCode(service, { client, changes: without });
  refused(
    await tokenCall(service, { ...fields, code: stripped.code, code_verifier: stripped.pkce.verifier }),
    400,
    'invalid_grant',
  );
  refused(await tokenCall(service, { ...fields, code: stripped.code }), 400, 'invalid_grant');

  const challenged = await obtainCode(service, { client });
  refused(await tokenCall(service, { ...fields, code: challenged.code }), 400, 'invalid_request');
  given(
    await tokenCall(service, { ...fields, code: challenged.code, code_verifier: challenged.pkce.verifier }),
  );
});

test('T31 R29 a code works in its last millisecond and not after sixty seconds', async () => {
  const early = await obtainCode(service);
  clock.move(minute - 1);
  given(await exchange(service, early.code, early.pkce));

  const late = await obtainCode(service);
  clock.move(minute);
  refused(await exchange(service, late.code, late.pkce), 400, 'invalid_grant');
});

test('T32 R40 how long a wrong secret takes is measured, first byte against last', async (t) => {
  const { client_id: clientId } = await register(service, {}, 'the-right-secret-of-this-client');
  const client = await findClient(db, clientId);
  assert.ok(client);
  const timed = { first: [] as number[], last: [] as number[] };
  const wrong = { first: 'xhe-right-secret-of-this-client', last: 'the-right-secret-of-this-clienx' };
  for (let round = 0; round < 10_000; round++) {
    // In no fixed order: the second of two runs on warm caches.
    const places = ['first', 'last'] as const;
    for (const place of randomInt(2) === 0 ? places : places.toReversed()) {
      const from = process.hrtime.bigint();
      assert.equal(isSecretOf(client, wrong[place], clock.now()), false);
      timed[place].push(Number(process.hrtime.bigint() - from));
    }
  }
  const [first, last] = [statistics(timed.first), statistics(timed.last)];
  const welch =
    (first.mean - last.mean) / Math.sqrt(first.variance / first.count + last.variance / last.count);
  t.diagnostic(
    `mean ${first.mean.toFixed(0)} ns against ${last.mean.toFixed(0)} ns, t = ${welch.toFixed(2)}`,
  );
});

/** Without the slowest twentieth, which is the garbage collector's. */
function statistics(samples: number[]) {
  const kept = samples.sort((left, right) => left - right).slice(0, Math.floor(samples.length * 0.95));
  const mean = kept.reduce((left, right) => left + right, 0) / kept.length;
  const variance = kept.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (kept.length - 1);
  return { mean, variance, count: kept.length };
}

test('T32 R37 a wrong, missing or empty secret is 401, with a challenge only to who used Basic', async () => {
  const client = await register(service);
  const fields = { grant_type: 'client_credentials' };
  const wrong = { ...client, client_secret: 'wrong' };
  for (const form of [
    { ...fields, ...wrong },
    { ...fields, client_id: client.client_id },
    { ...fields, client_id: client.client_id, client_secret: '' },
    { ...fields, client_id: 'nobody', client_secret: 'x' },
    { ...fields, client_secret: 'x' },
    fields,
  ]) {
    const answer = await tokenCall(service, form);
    refused(answer, 401, 'invalid_client');
    assert.equal(answer.headers['www-authenticate'], undefined);
  }
  for (const header of [
    basic(wrong),
    basic({ client_id: 'nobody', client_secret: 'x' }),
    { authorization: 'Basic !!!' },
    { authorization: `Basic ${Buffer.from('no colon').toString('base64')}` },
    { authorization: `Basic ${Buffer.from('bad%zz:x').toString('base64')}` },
    { authorization: 'Bearer x' },
  ]) {
    const answer = await tokenCall(service, fields, header);
    refused(answer, 401, 'invalid_client');
    assert.match(String(answer.headers['www-authenticate']), /^Basic realm=/);
  }
});

test('R36 a client authenticates in the form or by Basic, not by both', async () => {
  const secret = 'a+b %:&=/ə'.padEnd(32, 'x');
  const client = await register(service, { grantTypes: ['client_credentials'] }, secret);
  const fields = { grant_type: 'client_credentials' };
  given(await tokenCall(service, { ...fields, ...client }));
  given(await tokenCall(service, fields, basic(client)));
  given(await tokenCall(service, fields, basic(client, 'bASIC')));
  given(await tokenCall(service, { ...fields, client_id: client.client_id }, basic(client)));

  refused(await tokenCall(service, { ...fields, ...client }, basic(client)), 400, 'invalid_request');
  refused(await tokenCall(service, { ...fields, client_id: 'other' }, basic(client)), 400, 'invalid_request');
});

test('R40 R46 a client without a secret has no way in, so there are no public clients', async () => {
  const clientId = (await register(service, { secretHash: null })).client_id;
  for (const client_secret of ['', 'null', 'undefined']) {
    refused(
      await tokenCall(service, { grant_type: 'client_credentials', client_id: clientId, client_secret }),
      401,
      'invalid_client',
    );
  }
});

test('R40 two secrets live during a rotation, and the former one to its last millisecond', async () => {
  const client = await register(service, { grantTypes: ['client_credentials'] }, 'new-secret');
  await db.run(sql`
    update identity.clients set previous_secret_hash = ${secretHash('old-secret')},
      previous_secret_expires_at = ${new Date(clock.now().getTime() + hour)}
    where client_id = ${client.client_id}`);
  const call = (client_secret: string) =>
    tokenCall(service, { grant_type: 'client_credentials', client_id: client.client_id, client_secret });
  given(await call('new-secret'));
  given(await call('old-secret'));
  clock.move(hour - 1);
  given(await call('old-secret'));
  clock.move(1);
  refused(await call('old-secret'), 401, 'invalid_client');
  given(await call('new-secret'));
  const [row] = await db.many<{ secretHash: Buffer }>(sql`
    select secret_hash from identity.clients where client_id = ${client.client_id}`);
  assert.ok(!row?.secretHash.includes('new-secret'));
});

test('R44 guessing a secret is throttled for that client and that address alone', async () => {
  const [victim, other] = await Promise.all(
    [0, 1].map(() => register(service, { grantTypes: ['client_credentials'] })),
  );
  assert.ok(victim && other);
  const call = (client: Credentials, remoteAddress: string, secret = client.client_secret) =>
    app.inject({
      method: 'POST',
      url: '/api/v2/openid-connect/token',
      remoteAddress,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: client.client_id,
        client_secret: secret,
      }).toString(),
    });
  for (let guess = 0; guess < 10; guess++) {
    refused(await call(victim, '192.0.2.1', `guess ${guess}`), 401, 'invalid_client');
  }
  const stopped = await call(victim, '192.0.2.1', 'guess 11');
  refused(stopped, 429, 'too_many_requests');
  const wait = Number(stopped.headers['retry-after']);
  assert.ok(wait >= 1 && wait <= 300, String(wait));
  // Otherwise the throttle would tell which guess was right.
  refused(await call(victim, '192.0.2.1'), 429, 'too_many_requests');

  given(await call(victim, '198.51.100.2'));
  given(await call(other, '192.0.2.1'));
  clock.move(wait * second - 1);
  refused(await call(victim, '192.0.2.1'), 429, 'too_many_requests');
  clock.move(1);
  given(await call(victim, '192.0.2.1'));
});

test('R44 forty guesses at once are not judged more often than ten one after the other', async () => {
  const { client_id } = await register(service);
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, guess) =>
      tokenCall(service, { grant_type: 'client_credentials', client_id, client_secret: `guess ${guess}` }),
    ),
  );
  const judged = answers.filter((answer) => answer.statusCode === 401);
  assert.equal(judged.length, 10);
  for (const answer of answers) if (!judged.includes(answer)) refused(answer, 429, 'too_many_requests');
});

test('R44 what the throttle keeps names no address in the clear', async () => {
  await app.inject({
    method: 'POST',
    url: '/api/v2/openid-connect/token',
    remoteAddress: '203.0.113.77',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'grant_type=client_credentials&client_id=demo-partner&client_secret=wrong',
  });
  const kept = await db.many(sql`select key from identity.budgets where key like '%203.0.113.77%'`);
  assert.deepEqual(kept, []);
});

test('T33 R41 R42 a grant type that is unknown, missing, repeated or not allowed is refused', async () => {
  for (const grant_type of [
    'password',
    'implicit',
    'urn:ietf:params:oauth:grant-type:device_code',
    'Refresh_Token',
  ]) {
    const form = { ...credentials, grant_type, username: demo.phone, password: demo.code };
    refused(await tokenCall(service, form), 400, 'unsupported_grant_type');
  }
  refused(await tokenCall(service, credentials), 400, 'invalid_request');
  refused(await tokenCall(service, { ...credentials, grant_type: '' }), 400, 'invalid_request');

  const form = new URLSearchParams({ ...credentials, grant_type: 'client_credentials' });
  for (const repeated of ['grant_type', 'client_id', 'client_secret', 'scope']) {
    const twice = new URLSearchParams([...form, [repeated, 'x'], [repeated, 'x']]);
    refused(await post(twice.toString()), 400, 'invalid_request');
  }
  const narrow = await register(service, { grantTypes: ['authorization_code'] });
  for (const grant_type of ['client_credentials', 'refresh_token']) {
    refused(
      await tokenCall(service, { ...narrow, grant_type, refresh_token: 'x' }),
      400,
      'unauthorized_client',
    );
  }
});

test('R41 a client that may not refresh gets no refresh token', async () => {
  const client = await register(service, { grantTypes: ['authorization_code'] });
  const tokens = await obtainTokens(service, { client });
  assert.ok(!Object.keys(tokens).includes('refresh_token'));
  assert.equal(tokens.refresh_expires_in, 0);
  assert.equal(await userinfo(tokens.access_token), 200);
});

function post(payload: string, type = 'application/x-www-form-urlencoded', query = ''): Promise<Answer> {
  return app.inject({
    method: 'POST',
    url: `/api/v2/openid-connect/token${query}`,
    headers: { 'content-type': type },
    payload,
  });
}

test('T34 R35 the parameters come as a form and in no other way', async () => {
  const fields = { ...credentials, grant_type: 'client_credentials' };
  const form = new URLSearchParams(fields).toString();
  given(await post(form));
  given(await post(form, 'application/x-www-form-urlencoded; charset=UTF-8'));
  for (const type of ['application/json', 'text/plain', 'multipart/form-data; boundary=x', 'nonsense']) {
    refused(
      await post(type === 'application/json' ? JSON.stringify(fields) : form, type),
      415,
      'invalid_request',
    );
  }
  const untyped = await app.inject({ method: 'POST', url: '/api/v2/openid-connect/token', payload: form });
  refused(untyped, 415, 'invalid_request');
  const empty = await app.inject({ method: 'POST', url: '/api/v2/openid-connect/token' });
  refused(empty, 401, 'invalid_client');

  const before = service.logLines.length;
  refused(await post('', undefined, `?${form}`), 401, 'invalid_client');
  refused(await post('grant_type=client_credentials', undefined, `?${form}`), 401, 'invalid_client');
  const read = await app.inject(`/api/v2/openid-connect/token?${form}`);
  assert.equal(read.statusCode, 405);
  assert.equal(read.headers.allow, 'POST');
  assert.equal(read.headers['cache-control'], 'no-store');
  assert.ok(!service.logLines.slice(before).join('').includes(demo.clientSecret));
});

test('T34 a NUL byte, which PostgreSQL cannot keep, is refused like any other wrong value', async () => {
  const { code, pkce } = await obtainCode(service);
  for (const client_id of ['\0', 'demo-partner\0', '\u{10ffff}', 'x'.repeat(10_000)]) {
    const answer = await tokenCall(service, { ...credentials, client_id });
    if (client_id.includes('\0')) refused(answer, 400, 'invalid_request');
    else refused(answer, 401, 'invalid_client');
    refused(
      await tokenCall(service, { grant_type: 'x' }, basic({ client_id, client_secret: 'x' })),
      401,
      'invalid_client',
    );
  }
  refused(
    await tokenCall(service, {}, basic({ client_id: 'x', client_secret: '\0' })),
    401,
    'invalid_client',
  );
  const redirect_uri = `${demo.redirectUri}\0`;
  refused(await exchange(service, code, pkce, { redirect_uri }), 400, 'invalid_request');
  for (const value of ['a\0b', '\ufffd', '%00']) {
    const error = (usual: string) => (value.includes('\0') ? 'invalid_request' : usual);
    const form = { ...credentials, grant_type: 'client_credentials' };
    refused(await tokenCall(service, { ...form, grant_type: value }), 400, error('unsupported_grant_type'));
    refused(await tokenCall(service, { ...form, scope: value }), 400, error('invalid_scope'));
    refused(await exchange(service, value, pkce), 400, error('invalid_grant'));
    refused(await refresh(service, value), 400, error('invalid_grant'));
  }
  given(await exchange(service, code, pkce));

  const visitor = new Visitor(service);
  const unknown = await visitor.get(authorizeUrl(service, pkce, { client_id: 'demo-partner\0' }));
  assert.equal(unknown.statusCode, 400);
  const back = redirectOf(await visitor.get(authorizeUrl(service, pkce, { nonce: 'a\0b' })));
  assert.equal(back.searchParams.get('error'), 'invalid_request');
});

test('T40 a body of two megabytes is refused, over a real connection too', async () => {
  const payload = `grant_type=client_credentials&filler=${'x'.repeat(2 * 1024 * 1024)}`;
  refused(await post(payload), 413, 'invalid_request');

  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(
    `POST /api/v2/openid-connect/token HTTP/1.1\r\nhost: localhost\r\n` +
      `content-type: application/x-www-form-urlencoded\r\ntransfer-encoding: chunked\r\n\r\n`,
  );
  let answer = '';
  socket.on('data', (chunk) => (answer += chunk));
  // Not by `once`, which would reject when the rest of what we send meets a closed door.
  const closed = new Promise((resolve) => socket.on('close', resolve));
  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
  for (let sent = 0; sent < 32 && socket.writable; sent++) socket.write(chunk);
  socket.end('0\r\n\r\n');
  await closed;
  assert.match(answer, /^HTTP\/1\.1 413 /);
  assert.match(answer, /"error":"invalid_request"/);
});

test('T35 R47 R51 a refresh gives new tokens, and the former refresh token after the window kills the family', async () => {
  const first = await obtainTokens(service, { changes: { nonce: 'nonce-2' } });
  clock.move(10 * second);
  const next = given(await refresh(service, first.refresh_token));
  for (const name of ['access_token', 'refresh_token', 'id_token'] as const)
    assert.notEqual(next[name], first[name]);
  assert.equal(next.session_state, first.session_state);
  assert.deepEqual(Object.keys(next).sort(), [
    'access_token',
    'expires_in',
    'id_token',
    'refresh_expires_in',
    'refresh_token',
    'scope',
    'session_state',
    'token_type',
  ]);
  const [before, after] = [claimsOf(first.id_token), claimsOf(next.id_token)];
  for (const name of ['iss', 'sub', 'aud', 'azp', 'auth_time', 'sid', 'nonce', 'acr']) {
    assert.deepEqual(after[name], before[name], name);
  }
  assert.equal(after.iat, Number(before.iat) + 10);

  clock.move(30_100);
  refused(await refresh(service, first.refresh_token), 400, 'invalid_grant');
  refused(await refresh(service, next.refresh_token), 400, 'invalid_grant');
  assert.equal(await userinfo(next.access_token), 401);
});

test('T35 one family dies alone: another client of the same session goes on', async () => {
  const other = await register(service);
  const first = await obtainTokens(service);
  const beside = await obtainTokens(service, { client: other, visitor: first.visitor });
  assert.equal(beside.session_state, first.session_state);
  given(await refresh(service, first.refresh_token));
  clock.move(31 * second);
  refused(await refresh(service, first.refresh_token), 400, 'invalid_grant');
  given(await refresh(service, beside.refresh_token, other));
});

test('T36 R48 a retry 29.9 seconds later gets the same successor, 30.1 seconds later the family is dead', async () => {
  const early = await obtainTokens(service);
  const next = given(await refresh(service, early.refresh_token));
  clock.move(29_900);
  const again = given(await refresh(service, early.refresh_token));
  assert.equal(again.refresh_token, next.refresh_token);
  assert.equal(await userinfo(again.access_token), 200);
  assert.equal(again.refresh_expires_in, 1800 - 30);
  given(await refresh(service, next.refresh_token));

  const late = await obtainTokens(service);
  const lost = given(await refresh(service, late.refresh_token));
  clock.move(30_100);
  refused(await refresh(service, late.refresh_token), 400, 'invalid_grant');
  refused(await refresh(service, lost.refresh_token), 400, 'invalid_grant');
});

test('T36 R48 two tabs that refresh at once both go on with one successor', async () => {
  const first = await obtainTokens(service);
  const answers = await Promise.all([1, 2].map(() => refresh(service, first.refresh_token)));
  const [left, right] = answers.map(given);
  assert.equal(left?.refresh_token, right?.refresh_token);
  given(await refresh(service, String(left?.refresh_token)));
});

test('T36 R47 the window closes as soon as the successor is used', async () => {
  const first = await obtainTokens(service);
  const next = given(await refresh(service, first.refresh_token));
  const last = given(await refresh(service, next.refresh_token));
  refused(await refresh(service, first.refresh_token), 400, 'invalid_grant');
  refused(await refresh(service, last.refresh_token), 400, 'invalid_grant');
  assert.equal(await userinfo(last.access_token), 401);
});

test('T36 R45 inside the window the previous token is of no use to another client', async () => {
  const stranger = await register(service);
  const first = await obtainTokens(service);
  const next = given(await refresh(service, first.refresh_token));
  refused(await refresh(service, first.refresh_token, stranger), 400, 'invalid_grant');
  refused(await refresh(service, next.refresh_token, stranger), 400, 'invalid_grant');
  given(await refresh(service, next.refresh_token));
});

test('T36 R47 a made-up token that names a family of the client kills that family, as a replay would', async () => {
  const first = await obtainTokens(service);
  const forged = Buffer.from(first.refresh_token, 'base64url');
  forged.writeUInt8(forged.readUInt8(forged.length - 1) ^ 1, forged.length - 1);
  refused(await refresh(service, forged.toString('base64url')), 400, 'invalid_grant');
  refused(await refresh(service, first.refresh_token), 400, 'invalid_grant');
});

test('R45 a refresh token is of no use to another client, and loses nothing by the try', async () => {
  const stranger = await register(service);
  const first = await obtainTokens(service);
  refused(await refresh(service, first.refresh_token, stranger), 400, 'invalid_grant');
  given(await refresh(service, first.refresh_token));
  for (const token of ['', ' ', 'x', `${first.refresh_token}A`, first.access_token, first.id_token]) {
    refused(await refresh(service, token), 400, token === '' ? 'invalid_request' : 'invalid_grant');
  }
});

test('R49 scope may shrink for one answer and never grow', async () => {
  const first = await obtainTokens(service, { changes: { scope: 'openid profile' } });
  assert.equal(first.scope, 'openid profile');
  const same = given(await refresh(service, first.refresh_token, { scope: 'profile openid' }));
  assert.equal(same.scope, 'openid profile');

  refused(await refresh(service, same.refresh_token, { scope: 'openid phone' }), 400, 'invalid_scope');
  refused(await refresh(service, same.refresh_token, { scope: 'openid payments' }), 400, 'invalid_scope');
  const narrow = given(await refresh(service, same.refresh_token, { scope: 'openid' }));
  assert.equal(narrow.scope, 'openid');
  assert.equal(claimsOf(narrow.access_token).scope, 'openid');

  // The successor keeps what the person granted (RFC 6749, 6).
  const wide = given(await refresh(service, narrow.refresh_token));
  assert.equal(wide.scope, 'openid profile');
});

test('R49 a refresh brings no scope that was taken from the client since', async () => {
  const client = await register(service, {});
  const { refresh_token } = await obtainTokens(service, { client });
  await service.db.run(sql`
    update identity.clients set scopes = ${['openid', 'phone']} where client_id = ${client.client_id}`);
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  const answer = await refresh(service, refresh_token, client);
  assert.equal(answer.statusCode, 200);
  const next = answer.json<Tokens>();
  assert.equal(claimsOf(next.access_token).scope, 'openid phone');
  const about = await service.app.inject({
    method: 'POST',
    url: '/api/v1/openid-connect/introspect',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams({ ...client, token: next.refresh_token }).toString(),
  });
  assert.equal(about.json().scope, 'openid phone');
  const asking = { ...client, scope: 'profile' };
  refused(await refresh(service, next.refresh_token, asking), 400, 'invalid_scope');
  await service.db.run(sql`
    update identity.clients set scopes = ${['payments']} where client_id = ${client.client_id}`);
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  refused(await refresh(service, next.refresh_token, client), 400, 'invalid_grant');
});

test('R49 a scope of nothing but spaces is no scope', async () => {
  const { refresh_token: token } = await obtainTokens(service);
  refused(await refresh(service, token, { scope: ' ' }), 400, 'invalid_scope');
  given(await refresh(service, token, { scope: '' }));
  const form = { ...credentials, grant_type: 'client_credentials' };
  refused(await tokenCall(service, { ...form, scope: '  ' }), 400, 'invalid_scope');
});

test('R50 an unused refresh token works in its last second and not after half an hour', async () => {
  const early = await obtainTokens(service);
  clock.move(30 * minute - 1);
  given(await refresh(service, early.refresh_token));

  const late = await obtainTokens(service);
  clock.move(30 * minute);
  refused(await refresh(service, late.refresh_token), 400, 'invalid_grant');
});

test('R50 a client may have shorter lives, and the answer says so', async () => {
  const client = await register(service, { accessTokenSeconds: 60, refreshTokenSeconds: 600 });
  const tokens = await obtainTokens(service, { client });
  assert.equal(tokens.expires_in, 60);
  assert.equal(tokens.refresh_expires_in, 600);
  const { exp, iat } = claimsOf(tokens.access_token);
  assert.equal(Number(exp) - Number(iat), 60);
  clock.move(60 * second);
  assert.equal(await userinfo(tokens.access_token), 401);
  clock.move(9 * minute);
  refused(await refresh(service, tokens.refresh_token, client), 400, 'invalid_grant');
});

test('T38 R50 a chain of refreshes ends with the ten hours of its session, each step being in time', async () => {
  let tokens: Tokens = await obtainTokens(service);
  const start = clock.now().getTime();
  const left = () => (start + 10 * hour - clock.now().getTime()) / second;
  while (left() > 20 * 60) {
    clock.move(20 * minute);
    tokens = given(await refresh(service, tokens.refresh_token));
    assert.equal(tokens.refresh_expires_in, Math.min(1800, left()));
  }
  clock.move(left() * second - 1);
  tokens = given(await refresh(service, tokens.refresh_token));
  assert.equal(tokens.refresh_expires_in, 0);
  clock.move(1);
  refused(await refresh(service, tokens.refresh_token), 400, 'invalid_grant');
  assert.equal(await userinfo(tokens.access_token), 401);
});

test('R50 the idle time is the session’s: one client’s refreshes keep it alive for all', async () => {
  const other = await register(service, { refreshTokenSeconds: 36_000 });
  const first = await obtainTokens(service);
  const beside = await obtainTokens(service, { client: other, visitor: first.visitor });
  assert.equal(beside.refresh_expires_in, 1800);
  clock.move(29 * minute);
  const next = given(await refresh(service, first.refresh_token));
  clock.move(29 * minute);
  given(await refresh(service, next.refresh_token));
});

test('T37 R52 after a logout a refresh token is dead, inside the retry window too', async () => {
  const first = await obtainTokens(service);
  const next = given(await refresh(service, first.refresh_token));
  const out = await app.inject({
    method: 'POST',
    url: '/api/v1/identity/logout',
    headers: bearer(next.access_token),
  });
  assert.equal(out.statusCode, 204);
  refused(await refresh(service, next.refresh_token), 400, 'invalid_grant');
  refused(await refresh(service, first.refresh_token), 400, 'invalid_grant');
});

test('T37 R52 whoever is deactivated, merged or gets another number cannot refresh from that moment', async () => {
  const users = areas.identity.users;
  const ways: Record<
    string,
    (person: { id: Parameters<typeof deactivateUser>[1]['userId'] }) => Promise<unknown>
  > = {
    deactivated: ({ id }) => deactivateUser(users, { userId: id, actor: 'test' }),
    'phone changed': ({ id }) =>
      changePhone(users, { userId: id, actor: 'test', phone: testPhones.at(-1) ?? '' }),
    merged: async ({ id }) => {
      const survivor = await addPerson(service);
      const merge = { survivorId: survivor.id, absorbedId: id, phone: 'free' as const, actor: 'test' };
      await mergeUsers({ ...users, onMerged: async () => {} }, merge);
    },
  };
  for (const [way, happen] of Object.entries(ways)) {
    const person = await addPerson(service);
    const waiting = await obtainCode(service, { person });
    const first = await obtainTokens(service, { person });
    const next = given(await refresh(service, first.refresh_token));
    await happen(person);
    refused(await refresh(service, next.refresh_token), 400, 'invalid_grant');
    refused(await refresh(service, first.refresh_token), 400, 'invalid_grant');
    refused(await exchange(service, waiting.code, waiting.pkce), 400, 'invalid_grant');
    assert.equal(await userinfo(next.access_token), 401, way);
  }
});

test('T37 a client that is switched off can neither refresh nor exchange', async () => {
  const client = await register(service);
  const tokens = await obtainTokens(service, { client });
  const waiting = await obtainCode(service, { client });
  await db.run(
    sql`update identity.clients set disabled_at = ${clock.now()} where client_id = ${client.client_id}`,
  );
  // A node may know a client for a second; until then the statement itself refuses.
  for (const answer of [
    await refresh(service, tokens.refresh_token, client),
    await exchange(service, waiting.code, waiting.pkce, client),
  ]) {
    if (answer.statusCode === 401) refused(answer, 401, 'invalid_client');
    else refused(answer, 400, 'invalid_grant');
  }
});

test('T39 R43 a client’s own token is nobody’s: no refresh token, no ID token, no session, no way to a profile', async () => {
  const client = await register(service, {
    grantTypes: ['client_credentials'],
    scopes: ['openid', 'profile', 'phone'],
  });
  const answer = given(await tokenCall(service, { ...client, grant_type: 'client_credentials' }));
  assert.deepEqual(
    { ...answer, access_token: '' },
    {
      access_token: '',
      expires_in: 300,
      refresh_expires_in: 0,
      token_type: 'Bearer',
      scope: 'profile phone',
    },
  );
  const claims = claimsOf(answer.access_token);
  const { id } = await db.one<{ id: string }>(sql`
    select id from identity.clients where client_id = ${client.client_id}`);
  const now = Math.floor(clock.now().getTime() / 1000);
  assert.deepEqual(claims, {
    iss: base,
    aud: `${base}/api`,
    sub: id,
    exp: now + 300,
    iat: now,
    jti: claims.jti,
    typ: 'Bearer',
    azp: client.client_id,
    client_id: client.client_id,
    scope: 'profile phone',
  });
  assert.equal(headerOf(answer.access_token).typ, 'at+jwt');
  for (const url of [
    '/api/v1/openid-connect/userinfo',
    '/api/v2/openid-connect/userinfo',
    '/api/v1/openid-connect/userinfo/history/merged',
  ]) {
    const profile = await app.inject({ url, headers: bearer(answer.access_token) });
    assert.equal(profile.statusCode, 401, url);
    assert.equal(profile.headers['www-authenticate'], 'Bearer error="invalid_token"');
  }
});

test('T39 R43 a merchant’s token is for the checkout, and one token is for one audience', async () => {
  const merchant = { client_id: 'demo-merchant', client_secret: 'demo-merchant-secret' };
  const form = { grant_type: 'client_credentials' };
  const all = given(await tokenCall(service, { ...merchant, ...form }));
  assert.equal(all.scope, 'payments refunds webhooks');
  assert.equal(claimsOf(all.access_token).aud, service.config.server.urls.checkout);
  assert.equal(await userinfo(all.access_token), 401);
  const one = given(await tokenCall(service, { ...merchant, ...form, scope: 'refunds' }));
  assert.equal(one.scope, 'refunds');
  assert.equal(claimsOf(one.access_token).scope, 'refunds');
  for (const scope of ['profile', 'openid', 'payments openid', 'payments unknown', 'Payments']) {
    refused(await tokenCall(service, { ...merchant, ...form, scope }), 400, 'invalid_scope');
  }

  const both = await register(service, {
    grantTypes: ['client_credentials'],
    scopes: ['profile', 'payments'],
  });
  refused(await tokenCall(service, { ...both, ...form }), 400, 'invalid_scope');
  refused(await tokenCall(service, { ...both, ...form, scope: 'profile payments' }), 400, 'invalid_scope');
  assert.equal(given(await tokenCall(service, { ...both, ...form, scope: 'profile' })).scope, 'profile');
  assert.equal(given(await tokenCall(service, { ...both, ...form, scope: 'payments' })).scope, 'payments');
});

test('R51 a login by single sign-on keeps the time of the login, and a new login moves it', async () => {
  const first = await logIn(service);
  clock.move(5 * minute);
  const silent = await obtainTokens(service, { visitor: first.visitor });
  assert.equal(claimsOf(silent.id_token).auth_time, claimsOf(first.id_token).auth_time);
  assert.equal(silent.session_state, first.session_state);
  const anew = await obtainTokens(service, { visitor: first.visitor, changes: { prompt: 'login' } });
  assert.equal(claimsOf(anew.id_token).auth_time, Number(claimsOf(first.id_token).auth_time) + 300);
});

test('R51 a refresh after a second login still tells the time of the login its own tokens came from', async () => {
  const first = await logIn(service);
  clock.move(5 * minute);
  await obtainTokens(service, { visitor: first.visitor, changes: { prompt: 'login' } });
  const answer = await refresh(service, first.refresh_token);
  // OIDC Core, 12.2: auth_time is that of the original authentication.
  assert.equal(claimsOf(given(answer).id_token).auth_time, claimsOf(first.id_token).auth_time);
});

test('R35 R38 whatever is sent to the three OAuth endpoints, the answer is theirs and never a fault', async () => {
  const tokens = await obtainTokens(service);
  const { code, pkce } = await obtainCode(service);
  const client = await register(service, { scopes: ['openid', 'profile', 'payments'] });
  const names = [
    'grant_type',
    'code',
    'redirect_uri',
    'code_verifier',
    'refresh_token',
    'scope',
    'token',
    'token_type_hint',
    'client_id',
    '__proto__',
    '',
  ];
  const values = [
    ...[
      'authorization_code',
      'refresh_token',
      'client_credentials',
      'openid',
      'payments profile',
      ' ',
      '\0',
      '\u{1f600}',
    ],
    ...[code, pkce.verifier, demo.redirectUri, tokens.refresh_token, tokens.access_token, tokens.id_token],
    ...[
      'A'.repeat(64),
      'A'.repeat(86),
      '%',
      '../..',
      "' or 1=1 --",
      '\r\nset-cookie: a=b',
      'x'.repeat(9_000),
    ],
  ];
  const field = fc.tuple(
    fc.constantFrom(...names),
    fc.oneof(fc.constantFrom(...values), fc.string({ unit: 'binary', maxLength: 40 })),
  );
  const endpoint = fc.constantFrom(
    'v2/openid-connect/token',
    'v1/openid-connect/introspect',
    'v1/openid-connect/revoke',
  );
  await fc.assert(
    fc.asyncProperty(
      endpoint,
      fc.array(field, { maxLength: 8 }),
      fc.boolean(),
      async (path, fields, inHeader) => {
        const form = new URLSearchParams(fields);
        if (!inHeader) for (const [name, value] of Object.entries(client)) form.set(name, value);
        const answer = await app.inject({
          method: 'POST',
          url: `/api/${path}`,
          headers: {
            'content-type': 'application/x-www-form-urlencoded',
            ...(inHeader ? basic(client) : {}),
          },
          payload: form.toString(),
        });
        assert.ok([200, 400, 401].includes(answer.statusCode), answer.body);
        assert.equal(answer.headers['cache-control'], 'no-store');
        assert.equal(answer.headers['set-cookie'], undefined);
        if (answer.statusCode !== 200) refused(answer, answer.statusCode, answer.json().error);
      },
    ),
    { numRuns: 400 },
  );
});

test('a clock that is set back to before the first key still gets tokens, and no other key is made', async () => {
  const service = await startTestApp();
  const { keyring } = service.areas.identity.issuer;
  const keys = async () => (await service.app.inject('/api/v1/openid-connect/jwks')).json<JSONWebKeySet>();
  const before = await keys();
  service.clock.set(new Date(Date.now() - 3600_000));
  const tokens = await obtainTokens(service);
  await jwtVerify(tokens.access_token, createLocalJWKSet(before), { currentDate: service.clock.now() });
  await keyring.reload();
  assert.deepEqual(await keys(), before);
});
