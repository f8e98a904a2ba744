/** One test for each module of `oidcc-basic-certification-test-plan`, asserting what that module checks. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { assertOAuthError, person, startProvider, tokensOf } from '../support/conformance.ts';
import { claimsOf, logInThrough, redirectOf, type Tokens, Visitor } from '../support/partner.ts';

const provider = await startProvider();
const { service, metadata } = provider;
const client = await provider.addClient();
const second = await provider.addClient();

const newVisitor = () => new Visitor(service);
const userinfoOf = async (tokens: Tokens) => (await provider.userinfo(tokens.access_token)).json();
const errorOf = (back: URL) => back.searchParams.get('error');

test('oidcc-server', async () => {
  const tokens = await provider.tokens(client);
  assert.equal(tokens.scope, 'openid');
  assert.ok(tokens.refresh_token);
  const userinfo = await provider.userinfo(tokens.access_token);
  assert.equal(userinfo.status, 200);
  assert.deepEqual(await userinfo.json(), { sub: tokens.claims.sub });
});

test('oidcc-response-type-missing', async () => {
  const { url, state } = provider.request(client, { response_type: null });
  const back = redirectOf(await newVisitor().get(url));
  assert.equal(`${back.origin}${back.pathname}`, client.redirectUri);
  assert.equal(errorOf(back), 'invalid_request');
  assert.equal(back.searchParams.get('state'), state);
  assert.equal(back.searchParams.get('code'), null);
});

test('oidcc-idtoken-signature: without dynamic registration each algorithm is a setting of the client', async () => {
  for (const idTokenAlg of ['ES256', 'EdDSA', 'RS256'] as const) {
    const own = await provider.addClient({ idTokenAlg });
    const { id_token } = await provider.tokens(own);
    const header = JSON.parse(Buffer.from(id_token.split('.')[0] ?? '', 'base64url').toString());
    assert.equal(header.alg, idTokenAlg);
    assert.ok(header.kid);
  }
});

test('oidcc-idtoken-unsigned: not offered, so discovery does not list none and no client can have it', async () => {
  assert.deepEqual(metadata.id_token_signing_alg_values_supported, ['ES256', 'EdDSA', 'RS256']);
  await assert.rejects(provider.addClient({ idTokenAlg: 'none' as 'ES256' }), /check constraint/);
});

test('oidcc-userinfo-get', async () => {
  const tokens = await provider.tokens(client);
  const answer = await provider.userinfo(tokens.access_token, { method: 'GET' });
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
  assert.deepEqual(await answer.json(), { sub: tokens.claims.sub });
});

test('oidcc-userinfo-post-header', async () => {
  const tokens = await provider.tokens(client);
  for (const headers of [{}, { 'content-type': 'application/x-www-form-urlencoded' }]) {
    const answer = await provider.userinfo(tokens.access_token, { method: 'POST', headers });
    assert.equal(answer.status, 200);
    assert.deepEqual(await answer.json(), { sub: tokens.claims.sub });
  }
});

test('oidcc-userinfo-post-body: a token in the body is refused, which the suite takes as a warning', async () => {
  const tokens = await provider.tokens(client);
  const answer = await fetch(metadata.userinfo_endpoint, {
    method: 'POST',
    body: new URLSearchParams({ access_token: tokens.access_token }),
  });
  assert.ok([400, 401].includes(answer.status), String(answer.status));
  assert.equal((await provider.userinfo(tokens.access_token)).status, 200);
});

test('oidcc-ensure-request-without-nonce-succeeds-for-code-flow', async () => {
  const tokens = await provider.tokens(client, { nonce: null });
  assert.ok(!('nonce' in tokens.claims));
});

test('oidcc-scope-profile', async () => {
  const tokens = await provider.tokens(client, { scope: 'openid profile' });
  assert.equal(tokens.scope, 'openid profile');
  const { updated_at: updatedAt, ...claims } = await userinfoOf(tokens);
  assert.equal(typeof updatedAt, 'number');
  assert.deepEqual(claims, {
    sub: tokens.claims.sub,
    name: 'Aysel Məmmədova',
    given_name: 'Aysel',
    family_name: 'Məmmədova',
    middle_name: 'Rəşid qızı',
    preferred_username: person.phone,
    gender: 'female',
    birthdate: '1990-04-21',
  });
});

test('oidcc-scope-email: not offered, so discovery does not list it and the scope is ignored', async () => {
  assert.ok(!(metadata.scopes_supported as string[]).includes('email'));
  const tokens = await provider.tokens(client, { scope: 'openid email' });
  assert.equal(tokens.scope, 'openid');
  assert.deepEqual(await userinfoOf(tokens), { sub: tokens.claims.sub });
});

test('oidcc-scope-address: not offered, so discovery does not list it and the scope is ignored', async () => {
  assert.ok(!(metadata.scopes_supported as string[]).includes('address'));
  const tokens = await provider.tokens(client, { scope: 'openid address' });
  assert.equal(tokens.scope, 'openid');
  assert.deepEqual(await userinfoOf(tokens), { sub: tokens.claims.sub });
});

test('oidcc-scope-phone', async () => {
  const tokens = await provider.tokens(client, { scope: 'openid phone' });
  assert.deepEqual(await userinfoOf(tokens), {
    sub: tokens.claims.sub,
    phone_number: person.phone,
    phone_number_verified: true,
  });
});

test('oidcc-scope-all', async () => {
  const tokens = await provider.tokens(client, { scope: 'openid profile email address phone' });
  assert.equal(tokens.scope, 'openid profile phone');
  const claims = await userinfoOf(tokens);
  assert.equal(claims.sub, tokens.claims.sub);
  assert.equal(claims.given_name, 'Aysel');
  assert.equal(claims.phone_number, person.phone);
});

test('oidcc-alternate-happy-flow', async () => {
  const { url, state } = provider.request(client, { scope: 'phone profile openid' });
  const reversed = new URLSearchParams([...new URL(url).searchParams].reverse());
  const back = await logInThrough(newVisitor(), `${metadata.authorization_endpoint}?${reversed}`, person);
  assert.equal(back.searchParams.get('state'), state);
  const tokens = await tokensOf(await provider.exchange(client, back.searchParams.get('code') ?? ''));
  assert.deepEqual(tokens.scope.split(' ').sort(), ['openid', 'phone', 'profile']);
});

for (const display of ['page', 'popup']) {
  test(`oidcc-display-${display}`, async () => {
    const tokens = await provider.tokens(client, { display });
    assert.equal((await provider.userinfo(tokens.access_token)).status, 200);
  });
}

test('oidcc-prompt-login', async () => {
  const first = await provider.tokens(client);
  service.clock.move(2_000);
  const { url } = provider.request(client, { prompt: 'login' });
  assert.match((await first.visitor.get(url)).body, /name="phone"/, 'the person is asked although logged in');
  const again = await provider.tokens(client, { prompt: 'login' }, first.visitor);
  assert.ok(Number(again.claims.auth_time) > Number(first.claims.auth_time), 'auth_time has moved');
  assert.equal(again.claims.sub, first.claims.sub);
});

test('oidcc-prompt-none-not-logged-in', async () => {
  const { url, state } = provider.request(client, { prompt: 'none' });
  const back = redirectOf(await newVisitor().get(url));
  assert.equal(`${back.origin}${back.pathname}`, client.redirectUri);
  assert.equal(errorOf(back), 'login_required');
  assert.equal(back.searchParams.get('state'), state);
});

test('oidcc-prompt-none-logged-in', async () => {
  const first = await provider.tokens(client);
  service.clock.move(2_000);
  const silent = await provider.tokens(client, { prompt: 'none' }, first.visitor);
  assert.equal(silent.claims.sub, first.claims.sub);
  assert.equal(silent.claims.auth_time, first.claims.auth_time);
  assert.notEqual(silent.id_token, first.id_token);
});

test('oidcc-max-age-1', async () => {
  const first = await provider.tokens(client);
  service.clock.move(2_000);
  const { url } = provider.request(client, { max_age: '1' });
  assert.match((await first.visitor.get(url)).body, /name="phone"/, 'the login is too old');
  const again = await provider.tokens(client, { max_age: '1' }, first.visitor);
  assert.ok(Number(again.claims.auth_time) > Number(first.claims.auth_time));
  const age = service.clock.now().getTime() / 1000 - Number(again.claims.auth_time);
  assert.ok(age <= 2, `auth_time is ${age} s ago`);
});

test('oidcc-max-age-10000', async () => {
  const first = await provider.tokens(client);
  service.clock.move(2_000);
  const again = await provider.tokens(client, { max_age: '10000' }, first.visitor);
  assert.equal(again.claims.auth_time, first.claims.auth_time);
  assert.equal(again.claims.sub, first.claims.sub);
});

test('oidcc-ensure-request-with-unknown-parameter-succeeds', async () => {
  const tokens = await provider.tokens(client, { extra: 'foobar' });
  assert.equal((await provider.userinfo(tokens.access_token)).status, 200);
});

test('oidcc-id-token-hint', async () => {
  const first = await provider.tokens(client);
  service.clock.move(2_000);
  const again = await provider.tokens(
    client,
    { prompt: 'none', id_token_hint: first.id_token },
    first.visitor,
  );
  assert.equal(again.claims.sub, first.claims.sub);
  assert.equal(again.claims.auth_time, first.claims.auth_time);
});

test('oidcc-login-hint', async () => {
  for (const login_hint of ['buffy@suite.example', person.phone]) {
    const tokens = await provider.tokens(client, { login_hint });
    assert.equal(claimsOf(tokens.access_token).preferred_username, person.phone);
  }
});

test('oidcc-ui-locales', async () => {
  const { url } = provider.request(client, { ui_locales: 'se ru' });
  assert.match((await newVisitor().get(url)).body, /<html lang="ru"/);
  await provider.tokens(client, { ui_locales: 'se' });
});

test('oidcc-claims-locales', async () => {
  const tokens = await provider.tokens(client, { claims_locales: 'se', scope: 'openid profile' });
  assert.equal((await userinfoOf(tokens)).given_name, 'Aysel');
});

test('oidcc-ensure-request-with-acr-values-succeeds', async () => {
  const [offered] = metadata.acr_values_supported as string[];
  for (const acr_values of ['1 2', `1 ${offered}`]) {
    const tokens = await provider.tokens(client, { acr_values });
    assert.equal(tokens.claims.acr, offered);
  }
});

test('oidcc-codereuse', async () => {
  const { code } = await provider.logIn(newVisitor(), client);
  const tokens = await tokensOf(await provider.exchange(client, code));
  await assertOAuthError(await provider.exchange(client, code), 400, 'invalid_grant');
  assert.equal((await provider.userinfo(tokens.access_token)).status, 401, 'the first tokens are revoked');
  await assertOAuthError(await provider.refresh(client, tokens.refresh_token), 400, 'invalid_grant');
});

test('oidcc-codereuse-30seconds', async () => {
  const { code } = await provider.logIn(newVisitor(), client);
  const tokens = await tokensOf(await provider.exchange(client, code));
  assert.equal((await provider.userinfo(tokens.access_token)).status, 200);
  service.clock.move(30_000);
  await assertOAuthError(await provider.exchange(client, code), 400, 'invalid_grant');
  assert.equal((await provider.userinfo(tokens.access_token)).status, 401, 'the first tokens are revoked');
});

test('oidcc-ensure-registered-redirect-uri', async () => {
  const { url } = provider.request(client, {
    redirect_uri: `${client.redirectUri}/${randomBytes(4).toString('hex')}`,
  });
  const answer = await newVisitor().get(url);
  assert.equal(answer.statusCode, 400);
  assert.equal(answer.headers.location, undefined);
  assert.match(answer.body, /<h1>/);
});

test('oidcc-ensure-post-request-succeeds', async () => {
  const { url, state, nonce } = provider.request(client);
  const visitor = newVisitor();
  const posted = await visitor.post(
    metadata.authorization_endpoint,
    Object.fromEntries(new URL(url).searchParams),
  );
  assert.equal(posted.statusCode, 303);
  const back = await logInThrough(visitor, redirectOf(posted).href, person);
  assert.equal(back.searchParams.get('state'), state);
  const tokens = await tokensOf(await provider.exchange(client, back.searchParams.get('code') ?? ''));
  await provider.checkIdToken(client, tokens, nonce);
});

test('oidcc-server-client-secret-post', async () => {
  const third = await provider.addClient();
  const { code, nonce } = await provider.logIn(newVisitor(), third);
  const answer = await provider.exchange(third, code, {
    client_id: third.clientId,
    client_secret: third.secret,
  });
  await provider.checkIdToken(third, await tokensOf(answer), nonce);
  assert.deepEqual(metadata.token_endpoint_auth_methods_supported, [
    'client_secret_basic',
    'client_secret_post',
  ]);
});

/** A request object with `alg: none`, as the suite makes it. */
const requestObject = (claims: object) =>
  `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.`;

test('oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported', async () => {
  assert.equal(metadata.request_uri_parameter_supported, false);
  const { url, state } = provider.request(client, { request_uri: 'https://suite.example:8443/requests/1' });
  const back = redirectOf(await newVisitor().get(url));
  assert.equal(errorOf(back), 'request_uri_not_supported');
  assert.equal(back.searchParams.get('state'), state);
});

test('oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported', async () => {
  assert.equal(metadata.request_parameter_supported, false);
  const { url, state } = provider.request(client, {
    request: requestObject({ client_id: client.clientId, response_type: 'code', scope: 'openid' }),
  });
  const back = redirectOf(await newVisitor().get(url));
  assert.equal(errorOf(back), 'request_not_supported');
  assert.equal(back.searchParams.get('state'), state);
});

test('oidcc-claims-essential: the claims parameter is not offered, and asking for a name by it changes nothing', async () => {
  assert.equal(metadata.claims_parameter_supported, false);
  const tokens = await provider.tokens(client, { claims: '{"userinfo":{"name":{"essential":true}}}' });
  assert.deepEqual(await userinfoOf(tokens), { sub: tokens.claims.sub });
});

test('oidcc-ensure-request-object-with-redirect-uri: a request object cannot name another address, since none is read', async () => {
  const { url } = provider.request(client, {
    request: requestObject({ redirect_uri: `${client.redirectUri}/elsewhere` }),
  });
  const back = redirectOf(await newVisitor().get(url));
  assert.equal(`${back.origin}${back.pathname}`, client.redirectUri);
  assert.equal(errorOf(back), 'request_not_supported');
});

test('oidcc-refresh-token', async () => {
  const first = await provider.tokens(client);
  service.clock.move(2_000);
  const refreshed = await tokensOf(await provider.refresh(client, first.refresh_token));
  const claims = await provider.checkIdToken(client, refreshed, first.claims.nonce as string);
  for (const name of ['iss', 'sub', 'aud', 'azp', 'auth_time', 'sid', 'nonce']) {
    assert.deepEqual(claims[name], first.claims[name], name);
  }
  assert.ok(Number(claims.iat) > Number(first.claims.iat));
  assert.notEqual(refreshed.refresh_token, first.refresh_token);
  assert.equal((await provider.userinfo(refreshed.access_token)).status, 200);

  await provider.tokens(second);
  await assertOAuthError(await provider.refresh(second, refreshed.refresh_token), 400, 'invalid_grant');
  await tokensOf(await provider.refresh(client, refreshed.refresh_token));
});

test('oidcc-ensure-request-with-valid-pkce-succeeds', async () => {
  const verifier = randomBytes(32).toString('base64url');
  const code_challenge = createHash('sha256').update(verifier).digest('base64url');
  const challenge = { code_challenge, code_challenge_method: 'S256' };
  const { code, nonce } = await provider.logIn(newVisitor(), client, challenge);
  const tokens = await tokensOf(await provider.exchange(client, code, { code_verifier: verifier }));
  await provider.checkIdToken(client, tokens, nonce);

  const other = await provider.logIn(newVisitor(), client, challenge);
  const wrong = await provider.exchange(client, other.code, {
    code_verifier: randomBytes(32).toString('base64url'),
  });
  await assertOAuthError(wrong, 400, 'invalid_grant');
});
