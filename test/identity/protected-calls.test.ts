import assert from 'node:assert/strict';
import { createHmac, createPrivateKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { disableClient, enableClient } from '../../src/identity/change-client.ts';
import { type Claims, signJwt } from '../../src/identity/jwt.ts';
import { rotateKeys } from '../../src/identity/keyring.ts';
import { issueClientToken } from '../../src/identity/tokens.ts';
import { changePhone, deactivateUser, mergeUsers } from '../../src/identity/users.ts';
import { sql } from '../../src/platform/db.ts';
import { startTestApp } from '../support/app.ts';
import { listen } from '../support/listen.ts';
import {
  type Answer,
  authorizeUrl,
  bearer,
  claimsOf,
  credentials,
  exchange,
  logIn,
  logInThrough,
  newPkce,
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
  testPhones,
  testPhonesSetting,
} from '../support/registered.ts';
import { sessionState } from '../support/sessions.ts';

const service = await startTestApp({ TEST_PHONES: testPhonesSetting });
const { app, clock, db, areas } = service;
const { base, sso } = service.config.server.urls;
const { keyring } = areas.identity.issuer;
clock.set(new Date());

/** Whoever followed an address in a token would end up here. */
const requests: string[] = [];
const trap = createServer((request, response) => {
  requests.push(request.url ?? '');
  response.end('{}');
});
const trapUrl = `http://127.0.0.1:${await listen(trap)}/keys`;

const profileUrl = '/api/v1/openid-connect/userinfo';
const standardUrl = '/api/v2/openid-connect/userinfo';
const historyUrl = '/api/v1/openid-connect/userinfo/history/merged';
const logoutUrl = '/api/v1/identity/logout';
const calls = [
  { method: 'GET', url: profileUrl },
  { method: 'POST', url: profileUrl },
  { method: 'GET', url: standardUrl },
  { method: 'POST', url: standardUrl },
  { method: 'GET', url: historyUrl },
  { method: 'POST', url: logoutUrl },
] as const;

function problem(answer: Answer, status: number, code: string): void {
  assert.equal(answer.statusCode, status, answer.body);
  assert.match(String(answer.headers['content-type']), /^application\/problem\+json/);
  const body = answer.json();
  assert.equal(body.type, `${base}/docs/errors#${code}`);
  assert.equal(body.status, status);
  assert.equal(body.code, code);
  assert.equal(body.requestId, answer.headers['x-request-id']);
  assert.equal(body.retryable, false);
  assert.ok(body.title);
  assert.equal(answer.headers['cache-control'], 'no-store');
}

function invalidToken(answer: Answer): void {
  problem(answer, 401, 'invalid_token');
  assert.equal(answer.headers['www-authenticate'], 'Bearer error="invalid_token"');
}

const profile = (token: string) => app.inject({ url: profileUrl, headers: bearer(token) });
const standard = (token: string) => app.inject({ url: standardUrl, headers: bearer(token) });
const history = (token: string) => app.inject({ url: historyUrl, headers: bearer(token) });
const logout = (token: string) => app.inject({ method: 'POST', url: logoutUrl, headers: bearer(token) });

test('T41 R63 a call without a token is only told that one is needed', async () => {
  const { access_token: token } = await obtainTokens(service);
  for (const call of calls) {
    const headers = [{}, { authorization: 'Basic eDp5' }, { authorization: token }, { authorization: '' }];
    for (const one of headers) {
      const answer = await app.inject({ ...call, headers: one });
      problem(answer, 401, 'token_missing');
      assert.equal(answer.headers['www-authenticate'], 'Bearer');
    }
  }
});

test('T41 R62 a token in the address or in the body is not looked at', async () => {
  const { access_token: token } = await obtainTokens(service);
  const query = await app.inject(`${standardUrl}?access_token=${token}`);
  problem(query, 401, 'token_missing');
  const body = await app.inject({
    method: 'POST',
    url: standardUrl,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: `access_token=${token}`,
  });
  problem(body, 400, 'invalid_request');
});

test('T41 R63 a malformed token is invalid on every call', async () => {
  const { access_token: good } = await obtainTokens(service);
  const [header = '', claims = '', signature = ''] = good.split('.');
  const malformed = [
    ...[
      '',
      'x',
      'x.y',
      '..',
      'x.y.z',
      `${good}.`,
      `.${good}`,
      `${good}=`,
      `${good} x`,
      good.slice(0, -2),
      good.slice(1),
    ],
    ...[`${header}.${claims}`, `${header}.${claims}.`, `${header}..${signature}`, `.${claims}.${signature}`],
    `${part('null')}.${claims}.${signature}`,
    `${part('[]')}.${claims}.${signature}`,
    `${part('{"alg":')}.${claims}.${signature}`,
    `${header}.${claims}.${'A'.repeat(86)}`,
    'x'.repeat(10_000),
  ];
  for (const token of malformed) {
    for (const call of calls) invalidToken(await app.inject({ ...call, headers: bearer(token) }));
  }
  for (const authorization of [`bearer ${good}`, `BEARER  ${good}`]) {
    assert.equal((await app.inject({ url: profileUrl, headers: { authorization } })).statusCode, 200);
  }
});

test('T41 an access token works in its last second and not at its end', async () => {
  const { access_token: token } = await obtainTokens(service);
  const { exp } = claimsOf(token);
  const start = clock.now();
  clock.set(new Date(Number(exp) * 1000 - 1));
  assert.equal((await profile(token)).statusCode, 200);
  clock.set(new Date(Number(exp) * 1000));
  for (const call of calls) invalidToken(await app.inject({ ...call, headers: bearer(token) }));
  clock.set(start);
});

test('a token that was seen before still needs its own signature, and a key that is still there', async () => {
  const { access_token: good } = await obtainTokens(service);
  const { access_token: other } = await obtainTokens(service);
  for (let times = 0; times < 2; times++) assert.equal((await profile(good)).statusCode, 200);
  const [header, claims] = good.split('.');
  const [, otherClaims, otherSignature] = other.split('.');
  invalidToken(await profile([header, otherClaims, good.split('.')[2]].join('.')));
  invalidToken(await profile([header, claims, otherSignature].join('.')));

  const { keyring } = service.areas.identity.issuer;
  const keys = await service.db.many<{ key: object }>(
    sql`select to_jsonb(signing_keys) as key from identity.signing_keys`,
  );
  await service.db.run(sql`delete from identity.signing_keys`);
  await keyring.reload();
  invalidToken(await profile(good));
  for (const { key } of keys) {
    await service.db.run(sql`
      insert into identity.signing_keys
      select * from jsonb_populate_record(null::identity.signing_keys, ${JSON.stringify(key)}::jsonb)`);
  }
  await keyring.reload();
  assert.equal((await profile(good)).statusCode, 200);
});

test('R57 a key that is no longer published checks old hints, and no token of a person or a merchant any more', async () => {
  const aside = await startTestApp();
  const { issuer, clients, keys } = aside.areas.identity;
  const stolen = issuer.keyring.signingKey('ES256');
  const { id_token } = await logIn(aside);
  aside.clock.set(aside.clock.now());
  await rotateKeys({ db: aside.db, wrappingKey: keys.signing, now: aside.clock.now, force: true });
  const asMerchant = async () => {
    const client = await clients.find('demo-merchant');
    if (!client) throw new Error('no merchant');
    const keyring = { ...issuer.keyring, signingKey: () => stolen };
    const { checkoutAudience } = issuer;
    const token = issueClientToken(
      { ...issuer, keyring },
      client,
      ['payments'],
      checkoutAudience,
      aside.clock.now(),
    );
    return (await aside.app.inject({ url: '/checkout/v1/payments', headers: bearer(token) })).statusCode;
  };
  assert.equal(await asMerchant(), 200, 'it is still the current one');
  // Published ahead for a quarter of an hour, and for an hour and a minute while the last tokens live.
  aside.clock.move(76 * 60_000 - 1_000);
  await issuer.keyring.reload();
  assert.equal(await asMerchant(), 200, 'the last of its tokens may still live');
  aside.clock.move(1_000);
  assert.ok(!issuer.keyring.keySet().body.includes(stolen.kid));
  assert.equal(await asMerchant(), 401);
  const hinted = await new Visitor(aside).get(
    `${aside.config.server.urls.sso}/auth/logout?${new URLSearchParams({
      id_token_hint: id_token,
      post_logout_redirect_uri: 'http://localhost:4000/',
    })}`,
  );
  assert.equal(redirectOf(hinted).href, 'http://localhost:4000/');
});

test('a token has one spelling: the spare bits at the end of its signature are not free', async () => {
  const { access_token: good } = await obtainTokens(service);
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const signatureOf = (token: string) => Buffer.from(token.split('.')[2] ?? '', 'base64url');
  const sameBytes = [...letters]
    .map((letter) => good.slice(0, -1) + letter)
    .filter((token) => token !== good && signatureOf(token).equals(signatureOf(good)));
  assert.ok(sameBytes.length > 0);
  for (const token of sameBytes) invalidToken(await profile(token));
});

function part(value: string | object): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
}

/** A token whose signature is made by anything one likes over any header. */
function forge(header: object, claims: object, signer: (input: Buffer) => Buffer): string {
  const input = `${part(header)}.${part(claims)}`;
  return `${input}.${signer(Buffer.from(input)).toString('base64url')}`;
}

test('T42 R53 the key decides the algorithm, and no key comes from the token', async () => {
  const { access_token: good } = await obtainTokens(service);
  const claims = claimsOf(good);
  const now = Math.floor(clock.now().getTime() / 1000);
  const wished: Claims = { ...claims, iat: now, exp: now + 3600 };
  const kids = keyring.signingKey('ES256').kid;
  const header = { alg: 'ES256', typ: 'at+jwt', kid: kids };
  const none = () => Buffer.alloc(0);

  const mine = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = mine.publicKey.export({ format: 'jwk' });
  const byMe = (input: Buffer) => sign('sha256', input, { key: mine.privateKey, dsaEncoding: 'ieee-p1363' });
  const hmacs = (['ES256', 'RS256', 'EdDSA'] as const).flatMap((alg) => {
    const key = keyring.signingKey(alg);
    const secrets = [
      key.publicKey.export({ type: 'spki', format: 'pem' }),
      key.publicKey.export({ type: 'spki', format: 'der' }),
      JSON.stringify(key.publicJwk),
      '',
    ];
    return secrets.flatMap((secret) =>
      ['HS256', alg].map((named) =>
        forge({ ...header, alg: named, kid: key.kid }, wished, (input) =>
          createHmac('sha256', secret).update(input).digest(),
        ),
      ),
    );
  });
  const forged = [
    ...['none', 'None', 'NONE', ''].flatMap((alg) => [
      forge({ ...header, alg }, wished, none),
      forge({ ...header, alg }, wished, byMe),
    ]),
    ...hmacs,
    forge(header, wished, byMe),
    forge({ ...header, jwk }, wished, byMe),
    forge({ ...header, jwk, kid: undefined }, wished, byMe),
    forge({ ...header, jwk, kid: 'mine' }, wished, byMe),
    forge({ ...header, jku: trapUrl }, wished, byMe),
    forge({ ...header, jku: trapUrl, kid: 'mine' }, wished, byMe),
    forge({ ...header, x5u: trapUrl, kid: 'mine' }, wished, byMe),
    forge({ ...header, x5c: ['MIIB'], kid: 'mine' }, wished, byMe),
    forge({ ...header, kid: trapUrl }, wished, byMe),
    forge({ ...header, kid: 'unknown' }, wished, byMe),
    forge({ ...header, kid: '../../x' }, wished, byMe),
    forge({ ...header, kid: '../../../../dev/null' }, wished, none),
    forge({ ...header, kid: "x' or '1'='1" }, wished, byMe),
    forge({ ...header, kid: '\0' }, wished, byMe),
    forge({ ...header, kid: '__proto__' }, wished, byMe),
    forge({ ...header, kid: ['a'] }, wished, byMe),
    forge({ ...header, kid: 7 }, wished, byMe),
    // CVE-2022-21449: zeros that a careless verifier takes for a signature of anything.
    forge(header, wished, () => Buffer.alloc(64)),
    forge(header, wished, () => Buffer.from([0x30, 6, 2, 1, 0, 2, 1, 0])),
  ];
  for (const token of forged) {
    invalidToken(await profile(token));
    const asked = await introspect(token);
    assert.equal(asked.body, '{"active":false}');
  }
  assert.deepEqual(requests, []);
  assert.equal((await profile(good)).statusCode, 200);
});

test('T42 R53 even our own key signs only in the one form that we read', async () => {
  const { access_token: good } = await obtainTokens(service);
  const claims = claimsOf(good);
  const key = keyring.signingKey('ES256');
  const header = { alg: 'ES256', typ: 'at+jwt', kid: key.kid };
  const raw = (input: Buffer) => sign('sha256', input, { key: key.privateKey, dsaEncoding: 'ieee-p1363' });
  assert.equal((await profile(forge(header, claims, raw))).statusCode, 200);

  const der = (input: Buffer) => sign('sha256', input, { key: key.privateKey, dsaEncoding: 'der' });
  for (const token of [
    forge(header, claims, der),
    forge({ ...header, alg: 'RS256' }, claims, raw),
    forge({ ...header, alg: 'EdDSA' }, claims, raw),
    forge({ ...header, crit: ['exp'] }, claims, raw),
    forge({ ...header, typ: 'JWT' }, claims, raw),
    forge({ alg: 'ES256', kid: key.kid }, claims, raw),
    forge({ alg: 'ES256', typ: 'at+jwt' }, claims, raw),
  ]) {
    invalidToken(await profile(token));
  }
  const rsa = keyring.signingKey('RS256');
  const pss = forge({ alg: 'RS256', typ: 'at+jwt', kid: rsa.kid }, claims, (input) =>
    sign('sha256', input, { key: rsa.privateKey, padding: 6, saltLength: 32 }),
  );
  invalidToken(await profile(pss));
  const [head = '', body = '', signature = ''] = good.split('.');
  const changed = part({ ...claims, sub: claims.sid });
  invalidToken(await profile(`${head}.${changed}.${signature}`));
  assert.ok(
    verify(
      'sha256',
      Buffer.from(`${head}.${body}`),
      { key: key.publicKey, dsaEncoding: 'ieee-p1363' },
      Buffer.from(signature, 'base64url'),
    ),
  );
});

test('T43 R55 an ID token, a refresh token, a code or a logout token is no access token', async () => {
  const tokens = await obtainTokens(service);
  const { code } = await obtainCode(service);
  const logoutToken = signJwt(keyring.signingKey('ES256'), 'logout+jwt', claimsOf(tokens.access_token));
  for (const token of [tokens.id_token, tokens.refresh_token, code, logoutToken]) {
    for (const call of calls) invalidToken(await app.inject({ ...call, headers: bearer(token) }));
  }
});

test('R55 an access token is no ID token: the logout page does not take it as a hint', async () => {
  const tokens = await obtainTokens(service);
  const url = (hint: string) => `${sso}/auth/logout?id_token_hint=${hint}`;
  assert.equal((await tokens.visitor.get(url(tokens.access_token))).statusCode, 400);
  assert.equal((await profile(tokens.access_token)).statusCode, 200);
  assert.equal((await tokens.visitor.get(url(tokens.id_token))).statusCode, 200);
  invalidToken(await profile(tokens.access_token));
});

test('T44 R56 a token for somebody else, from somebody else or from another time is refused', async () => {
  const { access_token: good } = await obtainTokens(service);
  const claims = claimsOf(good);
  const now = Number(claims.iat);
  const signed = (changes: Claims) =>
    signJwt(keyring.signingKey('ES256'), 'at+jwt', { ...claims, ...changes });
  assert.equal((await profile(signed({}))).statusCode, 200);
  assert.equal((await profile(signed({ iat: now + 10 }))).statusCode, 200);

  const other = await obtainTokens(service);
  for (const changes of [
    { aud: service.config.server.urls.checkout },
    { aud: base },
    { aud: `${base}/api/` },
    { aud: [`${base}/api`] },
    { aud: undefined },
    { iss: `${base}/` },
    { iss: 'https://elsewhere.example' },
    { iss: undefined },
    { exp: undefined },
    { exp: now },
    { exp: String(now + 300) },
    { iat: undefined },
    { iat: now + 11 },
    { sub: claimsOf((await obtainTokens(service, { person: await addPerson(service) })).id_token).sub },
    { sub: undefined },
    { sid: other.session_state },
    { sid: undefined },
    { client_id: 'demo-merchant' },
    { scope: undefined },
    { jti: claimsOf(other.access_token).jti },
    { jti: 'x' },
    { jti: undefined },
  ]) {
    invalidToken(await profile(signed(changes)));
  }
});

test('T44 a token of another environment is refused, although it names the same issuer', async () => {
  const elsewhere = await startTestApp();
  const foreign = await obtainTokens(elsewhere);
  assert.equal(claimsOf(foreign.access_token).iss, base);
  invalidToken(await profile(foreign.access_token));
  assert.equal((await introspect(foreign.access_token)).body, '{"active":false}');
  assert.equal((await refresh(service, foreign.refresh_token)).json().error, 'invalid_grant');
});

test('R62 R64 the profile has every field of the reference, for GET and POST alike', async () => {
  const tokens = await obtainTokens(service);
  const answer = await profile(tokens.access_token);
  assert.equal(answer.statusCode, 200);
  const { createdAt, ...rest } = answer.json();
  assert.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const { sub } = claimsOf(tokens.id_token);
  assert.deepEqual(rest, {
    id: sub,
    sub,
    username: '+994500000001',
    firstName: 'Aysel',
    lastName: 'Məmmədova',
    patronymic: 'Rəşid qızı',
    pin: '5DEMO01',
    idCardNumber: 'AA0000001',
    profilePicture: null,
    birthDate: '1990-04-21',
    resident: true,
    active: true,
    verificationStatus: { id: 3, value: 'VERIFIED' },
    gender: { id: 2, value: 'FEMALE' },
  });
  const posted = await app.inject({ method: 'POST', url: profileUrl, headers: bearer(tokens.access_token) });
  assert.equal(posted.body, answer.body);
});

test('R62 what is not known of a person is null, and no field is missing', async () => {
  const person = await addPerson(service);
  const tokens = await obtainTokens(service, { person });
  const answer = (await profile(tokens.access_token)).json();
  assert.deepEqual(answer, {
    id: person.id,
    sub: person.id,
    username: person.phone,
    firstName: null,
    lastName: null,
    patronymic: null,
    pin: null,
    idCardNumber: null,
    profilePicture: null,
    birthDate: null,
    resident: null,
    active: true,
    verificationStatus: { id: 1, value: 'NOT_VERIFIED' },
    gender: { id: 0, value: 'UNKNOWN' },
    createdAt: answer.createdAt,
  });
  assert.deepEqual((await standard(tokens.access_token)).json(), {
    sub: person.id,
    preferred_username: person.phone,
    updated_at: Math.floor(Date.parse(answer.createdAt) / 1000),
    phone_number: person.phone,
    phone_number_verified: true,
  });
});

test('R64 R65 the standard claims follow the scopes and have the standard types', async () => {
  const person = await addPerson(service, {
    firstName: 'Leyla',
    lastName: 'Həsənova',
    patronymic: 'Elçin qızı',
    profilePicture: 'https://cdn.example/leyla.jpg',
    birthDate: '1988-02-29',
    gender: 2,
  });
  const tokens = await obtainTokens(service, { person });
  const ofProfile = {
    name: 'Leyla Həsənova',
    given_name: 'Leyla',
    family_name: 'Həsənova',
    middle_name: 'Elçin qızı',
    preferred_username: person.phone,
    picture: 'https://cdn.example/leyla.jpg',
    gender: 'female',
    birthdate: '1988-02-29',
    updated_at: Math.floor(clock.now().getTime() / 1000),
  };
  const ofPhone = { phone_number: person.phone, phone_number_verified: true };
  const scoped = async (scope: string) => {
    const narrow = await obtainTokens(service, { person, changes: { scope } });
    assert.equal(narrow.scope, scope);
    return (await standard(narrow.access_token)).json();
  };
  const all = (await standard(tokens.access_token)).json();
  assert.deepEqual(all, { sub: person.id, ...ofProfile, ...ofPhone });
  assert.equal(all.sub, claimsOf(tokens.id_token).sub);
  assert.deepEqual(await scoped('openid'), { sub: person.id });
  assert.deepEqual(await scoped('openid profile'), { sub: person.id, ...ofProfile });
  assert.deepEqual(await scoped('openid phone'), { sub: person.id, ...ofPhone });
});

async function documentsSeenBy(tokens: Tokens): Promise<{ pin: unknown; idCardNumber: unknown }> {
  const answer = await profile(tokens.access_token);
  assert.equal(answer.statusCode, 200);
  const { pin, idCardNumber } = answer.json();
  return { pin, idCardNumber };
}

/** A login at a client outside the ecosystem, which asks the person first. */
async function logInConsenting(
  client: Credentials,
  person: { phone: string; code: string },
  changes: Record<string, string> = {},
): Promise<Tokens> {
  const visitor = new Visitor(service);
  const pkce = newPkce();
  const url = authorizeUrl(service, pkce, { client_id: client.client_id, ...changes });
  const phonePage = await visitor.get(url);
  const codePage = await visitor.follow(
    await visitor.submit(phonePage, '/auth/login', { phone: person.phone }),
  );
  const asking = await visitor.follow(await visitor.submit(codePage, '/auth/code', { code: person.code }));
  assert.equal(asking.statusCode, 200);
  const back = redirectOf(await visitor.submit(asking, '/auth/consent', { decision: 'allow' }));
  const answer = await exchange(service, back.searchParams.get('code') ?? '', pkce, { ...client });
  assert.equal(answer.statusCode, 200, answer.body);
  return answer.json<Tokens>();
}

test('R65 document numbers go to registered clients only, and outside the ecosystem only with consent', async () => {
  const numbers = { pin: '7ABCDE1', idCardNumber: 'AZE1234567' };
  const hidden = { pin: null, idCardNumber: null };
  const person = await addPerson(service, numbers);

  const ecosystem = await register(service);
  assert.deepEqual(
    await documentsSeenBy(await obtainTokens(service, { client: ecosystem, person })),
    numbers,
  );
  const unregistered = await register(service, { identityDocuments: false });
  assert.deepEqual(
    await documentsSeenBy(await obtainTokens(service, { client: unregistered, person })),
    hidden,
  );

  const external = await register(service, { audience: 'external', identityDocuments: false });
  assert.deepEqual(await documentsSeenBy(await logInConsenting(external, person)), hidden);
  const trusted = await register(service, { audience: 'external', identityDocuments: true });
  const tokens = await logInConsenting(trusted, person);
  assert.deepEqual(await documentsSeenBy(tokens), numbers);

  // The person has consented to the scopes, but was never asked about documents.
  await db.run(sql`
    update identity.consents set identity_documents = false
    where user_id = ${person.id} and client_id = ${trusted.client_id}`);
  assert.deepEqual(await documentsSeenBy(tokens), hidden);
  await db.run(
    sql`delete from identity.consents where user_id = ${person.id} and client_id = ${trusted.client_id}`,
  );
  assert.deepEqual(await documentsSeenBy(tokens), hidden);

  const standardClaims = (await standard(tokens.access_token)).body;
  assert.ok(!standardClaims.includes(numbers.pin) && !standardClaims.includes(numbers.idCardNumber));
});

test('R65 outside the ecosystem the profile itself needs the scope that the person was shown', async () => {
  const person = await addPerson(service, { firstName: 'Kamran', birthDate: '1979-01-31', gender: 1 });
  const external = await register(service, { audience: 'external', identityDocuments: false });
  const narrow = await logInConsenting(external, person, { scope: 'openid' });
  const { firstName, birthDate, gender, username } = (await profile(narrow.access_token)).json();
  assert.deepEqual(
    { firstName, birthDate, gender, username },
    {
      firstName: null,
      birthDate: null,
      gender: { id: 0, value: 'UNKNOWN' },
      username: person.phone,
    },
  );
  const wide = await logInConsenting(external, person, { scope: 'openid profile' });
  assert.equal((await profile(wide.access_token)).json().firstName, 'Kamran');
  const inside = await obtainTokens(service, { person, changes: { scope: 'openid' } });
  assert.equal((await profile(inside.access_token)).json().firstName, 'Kamran');
});

test('R63 a token whose scope was shrunk below openid is told which scope is needed', async () => {
  const first = await obtainTokens(service);
  const shrunk = (await refresh(service, first.refresh_token, { scope: 'profile' })).json<Tokens>();
  assert.equal(shrunk.scope, 'profile');
  for (const call of calls) {
    const answer = await app.inject({ ...call, headers: bearer(shrunk.access_token) });
    problem(answer, 403, 'insufficient_scope');
    assert.equal(answer.headers['www-authenticate'], 'Bearer error="insufficient_scope", scope="openid"');
  }
  const whole = (await refresh(service, shrunk.refresh_token)).json<Tokens>();
  assert.equal((await profile(whole.access_token)).statusCode, 200);
});

test('R62 nothing, an empty body or {} is fine under any content type, and anything else is refused', async () => {
  const types = [
    'application/json',
    'application/json; charset=utf-8',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/octet-stream',
    'application/merge-patch+json',
    undefined,
  ];
  const { access_token: token } = await obtainTokens(service);
  for (const url of [profileUrl, standardUrl, logoutUrl]) {
    for (const type of types) {
      const headers = (access: string) => ({ ...bearer(access), ...(type ? { 'content-type': type } : {}) });
      for (const payload of ['', '{}', ' {\n} ']) {
        const own = url === logoutUrl ? (await obtainTokens(service)).access_token : token;
        const answer = await app.inject({ method: 'POST', url, headers: headers(own), payload });
        assert.equal(
          answer.statusCode,
          url === logoutUrl ? 204 : 200,
          `${url} ${type} ${payload}: ${answer.body}`,
        );
      }
      for (const payload of ['{"a":1}', '[]', 'x', 'null']) {
        const answer = await app.inject({ method: 'POST', url, headers: headers(token), payload });
        problem(answer, 400, 'invalid_request');
      }
    }
  }
  assert.equal((await profile(token)).statusCode, 200);
});

test('T46 R69 a logout ends the session with all its tokens and clients, and no other session', async () => {
  const other = await register(service);
  const person = await addPerson(service);
  const first = await obtainTokens(service, { person });
  const beside = await obtainTokens(service, { person, client: other, visitor: first.visitor });
  const next = (await refresh(service, first.refresh_token)).json<Tokens>();
  const elsewhere = await obtainTokens(service, { person });
  const waiting = await obtainCode(service, { person, client: other, visitor: first.visitor });

  const out = await logout(first.access_token);
  assert.equal(out.statusCode, 204);
  assert.equal(out.body, '');
  assert.equal(out.headers['content-type'], undefined);
  for (const token of [first.access_token, next.access_token, beside.access_token]) {
    for (const call of calls) invalidToken(await app.inject({ ...call, headers: bearer(token) }));
    assert.equal((await introspect(token)).body, '{"active":false}');
  }
  for (const [token, client] of [
    [first.refresh_token, {}],
    [next.refresh_token, {}],
    [beside.refresh_token, other],
  ] as const) {
    assert.equal((await refresh(service, token, { ...client })).json().error, 'invalid_grant');
  }
  assert.equal(
    (await exchange(service, waiting.code, waiting.pkce, { ...other })).json().error,
    'invalid_grant',
  );
  assert.deepEqual(await sessionState(db, first.session_state), {
    ended: true,
    reason: 'logout',
    liveClients: [],
    liveGrants: [],
  });

  assert.equal((await profile(elsewhere.access_token)).statusCode, 200);
  assert.equal((await refresh(service, elsewhere.refresh_token)).statusCode, 200);
  const again = await first.visitor.get(authorizeUrl(service, newPkce(), { prompt: 'none' }));
  assert.equal(redirectOf(again).searchParams.get('error'), 'login_required');
});

test('T46 of two logouts at once one ends the session and the other finds it ended', async () => {
  const { access_token: token } = await obtainTokens(service);
  const answers = await Promise.all(Array.from({ length: 10 }, () => logout(token)));
  assert.equal(answers.filter((answer) => answer.statusCode === 204).length, 1);
  for (const answer of answers) if (answer.statusCode !== 204) invalidToken(answer);
});

test('T47 the history is empty for a new person and has every former id, once, through chains', async () => {
  const [first, second, third, fourth] = await Promise.all([1, 2, 3, 4].map(() => addPerson(service)));
  assert.ok(first && second && third && fourth);
  const onMerged = async () => {};
  const merge = (absorbedId: typeof first.id, survivorId: typeof first.id) =>
    mergeUsers(
      { ...areas.identity.users, onMerged },
      { survivorId, absorbedId, phone: 'free', actor: 'test' },
    );
  const tokens = await obtainTokens(service, { person: first });
  const untouched = await obtainTokens(service, { person: third });
  const empty = await history(tokens.access_token);
  assert.equal(empty.statusCode, 200);
  assert.equal(empty.body, '{"oldCustomerIds":[]}');

  await merge(first.id, second.id);
  for (const call of calls) invalidToken(await app.inject({ ...call, headers: bearer(tokens.access_token) }));
  clock.move(1_000);
  await merge(fourth.id, third.id);
  clock.move(1_000);
  await merge(second.id, third.id);
  await merge(second.id, third.id);

  // The survivor is still the person it was: its session goes on and sees the history at once.
  assert.equal((await profile(untouched.access_token)).statusCode, 200);
  const answer = await history(untouched.access_token);
  assert.deepEqual(new Set(answer.json().oldCustomerIds), new Set([first.id, second.id, fourth.id]));
  assert.equal(answer.json().oldCustomerIds.length, 3);
  const anew = await obtainTokens(service, { person: third });
  assert.deepEqual((await history(anew.access_token)).json(), answer.json());
});

test('T47 the merged person’s former number is free and makes another person', async () => {
  const [absorbed, survivor] = await Promise.all([addPerson(service), addPerson(service)]);
  await mergeUsers(
    { ...areas.identity.users, onMerged: async () => {} },
    { survivorId: survivor.id, absorbedId: absorbed.id, phone: 'free', actor: 'test' },
  );
  const stranger = await obtainTokens(service, { person: absorbed });
  const { sub } = claimsOf(stranger.access_token);
  assert.ok(sub !== absorbed.id && sub !== survivor.id);
  assert.deepEqual((await history(stranger.access_token)).json(), { oldCustomerIds: [] });
});

test('R69 a deactivation or a new number is seen by the very next call', async () => {
  for (const happen of [
    (userId: Parameters<typeof deactivateUser>[1]['userId']) =>
      deactivateUser(areas.identity.users, { userId, actor: 'test' }),
    (userId: Parameters<typeof deactivateUser>[1]['userId']) =>
      changePhone(areas.identity.users, { userId, actor: 'test', phone: testPhones.at(-1) ?? '' }),
  ]) {
    const person = await addPerson(service);
    const { access_token: token } = await obtainTokens(service, { person });
    assert.equal((await profile(token)).statusCode, 200);
    await happen(person.id);
    for (const call of calls) invalidToken(await app.inject({ ...call, headers: bearer(token) }));
    assert.equal((await introspect(token)).body, '{"active":false}');
  }
});

test('R69 the tokens of a client that was switched off are dead on every call alike', async () => {
  const client = await register(service);
  const { access_token: token } = await obtainTokens(service, { client });
  for (const call of calls.slice(0, -1)) {
    assert.equal((await app.inject({ ...call, headers: bearer(token) })).statusCode, 200);
  }
  await db.run(
    sql`update identity.clients set disabled_at = ${clock.now()} where client_id = ${client.client_id}`,
  );
  for (const call of calls) invalidToken(await app.inject({ ...call, headers: bearer(token) }));
});

function oauthCall(url: string, fields: Record<string, string>): Promise<Answer> {
  return app.inject({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams(fields).toString(),
  });
}

function introspect(token: string, client: Record<string, string> = credentials): Promise<Answer> {
  return oauthCall('/api/v1/openid-connect/introspect', { ...client, token });
}

function revoke(token: string, client: Record<string, string> = credentials): Promise<Answer> {
  return oauthCall('/api/v1/openid-connect/revoke', { ...client, token });
}

test('R69 what a client was granted does not wake up when it is let in again, not even what cannot be refreshed any more', async () => {
  const client = await register(service, { refreshTokenSeconds: 60, accessTokenSeconds: 3600 });
  const { access_token } = await obtainTokens(service, { client, person: await addPerson(service) });
  const read = async () =>
    (await service.app.inject({ url: '/api/v1/openid-connect/userinfo', headers: bearer(access_token) }))
      .statusCode;
  service.clock.move(120_000);
  assert.equal(await read(), 200);
  const deps = { db: service.db, now: service.clock.now, config: service.config.identity };
  const named = { clientId: client.client_id, actor: 'test' };
  await disableClient(deps, named, () => {});
  assert.equal(await read(), 401);
  await enableClient(deps, named, () => {});
  assert.equal(await read(), 401);
});

test('R66 introspection and revocation need the client’s secret and a token', async () => {
  const { access_token: token } = await obtainTokens(service);
  for (const ask of [introspect, revoke]) {
    for (const client of [
      {},
      { client_id: credentials.client_id },
      { ...credentials, client_secret: 'wrong' },
    ]) {
      const answer = await ask(token, client);
      assert.equal(answer.statusCode, 401);
      assert.equal(answer.json().error, 'invalid_client');
      assert.equal(answer.headers['cache-control'], 'no-store');
    }
    const answer = await ask('');
    assert.equal(answer.statusCode, 400);
    assert.equal(answer.json().error, 'invalid_request');
  }
  const asPerson = await app.inject({
    method: 'POST',
    url: '/api/v1/openid-connect/introspect',
    headers: { ...bearer(token), 'content-type': 'application/x-www-form-urlencoded' },
    payload: `token=${token}`,
  });
  assert.equal(asPerson.statusCode, 401);
  assert.equal((await profile(token)).statusCode, 200);
});

test('R66 a client learns about its own living tokens', async () => {
  const tokens = await obtainTokens(service);
  const access = await introspect(tokens.access_token);
  assert.equal(access.statusCode, 200);
  assert.equal(access.headers['cache-control'], 'no-store');
  assert.deepEqual(access.json(), { active: true, token_type: 'Bearer', ...claimsOf(tokens.access_token) });

  const now = Math.floor(clock.now().getTime() / 1000);
  assert.deepEqual((await introspect(tokens.refresh_token)).json(), {
    active: true,
    token_type: 'refresh_token',
    client_id: credentials.client_id,
    sub: claimsOf(tokens.access_token).sub,
    sid: tokens.session_state,
    scope: tokens.scope,
    exp: now + 1800,
    iat: now,
    iss: base,
  });

  const own = (await tokenCall(service, { ...credentials, grant_type: 'client_credentials' })).json<Tokens>();
  assert.equal((await introspect(own.access_token)).json().active, true);
});

test('R66 R67 every other token is exactly {"active":false}', async () => {
  const stranger = await register(service);
  const tokens = await obtainTokens(service);
  const next = (await refresh(service, tokens.refresh_token)).json<Tokens>();
  const own = (await tokenCall(service, { ...credentials, grant_type: 'client_credentials' })).json<Tokens>();
  const inactive = async (token: string, client?: Record<string, string>) => {
    const answer = await introspect(token, client);
    assert.equal(answer.statusCode, 200);
    assert.equal(answer.body, '{"active":false}');
    assert.match(String(answer.headers['content-type']), /^application\/json/);
  };
  for (const token of [next.access_token, next.refresh_token, own.access_token])
    await inactive(token, { ...stranger });
  for (const token of [tokens.refresh_token, tokens.id_token, 'x', 'x.y.z', '../../x', 'ə'])
    await inactive(token);

  const start = clock.now();
  clock.move(300_000);
  await inactive(next.access_token);
  await inactive(own.access_token);
  clock.set(start);
  assert.equal((await introspect(next.access_token)).json().active, true);
  await logout(next.access_token);
  await inactive(next.access_token);
  await inactive(next.refresh_token);
});

test('R66 asking about tokens and reading profiles writes nothing', async () => {
  const tokens = await obtainTokens(service);
  const rows = () =>
    db.many(sql`
      select s.xmin::text as session, g.xmin::text as family, u.xmin::text as person
      from identity.sessions s join identity.grants g on g.user_id = s.user_id and g.sid = s.sid
        join identity.users u on u.user_id = s.user_id
      where s.sid = ${tokens.session_state}`);
  const before = await rows();
  clock.move(2 * 60_000);
  await profile(tokens.access_token);
  await standard(tokens.access_token);
  await history(tokens.access_token);
  await introspect(tokens.access_token);
  await introspect(tokens.refresh_token);
  assert.deepEqual(await rows(), before);
});

test('R68 either token, given back, ends the client’s part of the session and nobody else’s', async () => {
  const other = await register(service);
  for (const name of ['refresh_token', 'access_token'] as const) {
    const first = await obtainTokens(service);
    const beside = await obtainTokens(service, { client: other, visitor: first.visitor });
    const next = (await refresh(service, first.refresh_token)).json<Tokens>();
    const answer = await revoke(next[name]);
    assert.equal(answer.statusCode, 200);
    assert.equal(answer.body, '');
    assert.equal(answer.headers['cache-control'], 'no-store');
    invalidToken(await profile(first.access_token));
    invalidToken(await profile(next.access_token));
    for (const token of [first.refresh_token, next.refresh_token]) {
      assert.equal((await refresh(service, token)).json().error, 'invalid_grant');
    }
    assert.equal((await profile(beside.access_token)).statusCode, 200);
    assert.equal((await refresh(service, beside.refresh_token, { ...other })).statusCode, 200);
    assert.equal((await revoke(next[name])).statusCode, 200);

    // The browser is still logged in: the client may come back.
    const again = await obtainTokens(service, { visitor: first.visitor });
    assert.equal(again.session_state, first.session_state);
    assert.equal((await profile(again.access_token)).statusCode, 200);
  }
});

test('R68 an unknown token is answered like a good one, and a foreign one stays alive', async () => {
  const stranger = await register(service);
  const tokens = await obtainTokens(service);
  for (const token of ['x', 'x.y.z', tokens.id_token, 'A'.repeat(86), 'ə']) {
    assert.equal((await revoke(token)).statusCode, 200);
  }
  for (const token of [tokens.access_token, tokens.refresh_token]) {
    assert.equal((await revoke(token, { ...stranger })).statusCode, 200);
  }
  assert.equal((await profile(tokens.access_token)).statusCode, 200);
  assert.equal((await refresh(service, tokens.refresh_token)).statusCode, 200);
});

test('R68 a code from before the revocation is dead too, so that the client’s part stays ended', async () => {
  const first = await obtainTokens(service);
  const waiting = await obtainCode(service, { visitor: first.visitor });
  await revoke(first.refresh_token);
  const late = await exchange(service, waiting.code, waiting.pkce);
  assert.equal(late.statusCode, 400, late.body);
  assert.equal(late.json().error, 'invalid_grant');
  const after = await obtainTokens(service, { visitor: first.visitor });
  assert.equal((await profile(after.access_token)).statusCode, 200);
  assert.deepEqual((await sessionState(db, first.session_state)).liveClients, [credentials.client_id]);
});

test('R59 R60 the metadata names what works, under the issuer that stands in the tokens', async () => {
  const answer = await app.inject('/.well-known/openid-configuration');
  const metadata = answer.json();
  assert.equal(answer.headers['cache-control'], 'public, max-age=300');
  assert.equal(metadata.issuer, base);
  assert.equal(metadata.issuer, claimsOf((await obtainTokens(service)).id_token).iss);
  assert.deepEqual(new URL(metadata.issuer).search, '');
  assert.deepEqual(metadata.code_challenge_methods_supported, ['S256']);
  assert.deepEqual(metadata.response_types_supported, ['code']);
  assert.deepEqual(metadata.grant_types_supported.sort(), [
    'authorization_code',
    'client_credentials',
    'refresh_token',
  ]);
  assert.ok(!metadata.id_token_signing_alg_values_supported.includes('none'));
  assert.equal((await app.inject('/.well-known/oauth-authorization-server')).body, answer.body);
  for (const [name, url] of Object.entries(metadata)) {
    if (!/(_endpoint|_uri|_documentation)$/.test(name)) continue;
    const { pathname } = new URL(String(url));
    const served = await app.inject({
      method: /token|introspection|revocation/.test(name) ? 'POST' : 'GET',
      url: pathname,
    });
    assert.ok(![404, 405, 500].includes(served.statusCode), `${name} ${served.statusCode}`);
  }
});

test('R57 R58 the key set has public keys alone, each strong and with a name of its own', async () => {
  const answer = await app.inject('/api/v1/openid-connect/jwks');
  assert.equal(answer.headers['cache-control'], 'public, max-age=300');
  const { keys } = answer.json<{ keys: Record<string, string>[] }>();
  assert.deepEqual(keys.map((key) => key.alg).sort(), ['ES256', 'EdDSA', 'RS256']);
  assert.equal(new Set(keys.map((key) => key.kid)).size, keys.length);
  for (const key of keys) {
    assert.equal(key.use, 'sig');
    for (const secret of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k', 'oth']) assert.ok(!(secret in key), secret);
    if (key.kty === 'RSA') assert.ok(Buffer.from(String(key.n), 'base64url').length >= 256);
    else assert.match(String(key.crv), /^(P-256|Ed25519)$/);
  }
  // At rest they are encrypted.
  const rows = await db.many<{ privateSealed: Buffer }>(
    sql`select private_sealed from identity.signing_keys`,
  );
  for (const { privateSealed } of rows) {
    assert.throws(() => createPrivateKey({ key: privateSealed, format: 'der', type: 'pkcs8' }));
  }
});

test('T41 the logout of a browser is a login again for it', async () => {
  const first = await obtainTokens(service);
  await logout(first.access_token);
  const url = authorizeUrl(service, newPkce());
  assert.equal((await first.visitor.get(url)).statusCode, 200);
  const back = await logInThrough(first.visitor, url);
  assert.notEqual(back.searchParams.get('session_state'), first.session_state);
});
