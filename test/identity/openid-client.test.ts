import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as client from 'openid-client';
import { startTestApp } from '../support/app.ts';
import { freePort } from '../support/free-port.ts';
import { demo, logInThrough, redirectOf, Visitor } from '../support/partner.ts';
import { register, testPhonesSetting } from '../support/registered.ts';
import { remote } from '../support/remote.ts';

const port = await freePort();
const service = await startTestApp({ PORT: String(port), TEST_PHONES: testPhonesSetting });
await service.app.listen({ port, host: '127.0.0.1' });
const { urls } = service.config.server;
/** The same service, but the browser too comes over the network. */
const site = remote(`http://127.0.0.1:${port}`, urls);
const callback = demo.redirectUri;

/** A partner as the library's own documentation would have it; plain http is the only thing allowed beyond it. */
function discover(authentication?: client.ClientAuth, clientId = demo.clientId, secret = demo.clientSecret) {
  return client.discovery(new URL(urls.base), clientId, secret, authentication, {
    execute: [client.allowInsecureRequests],
  });
}

async function logIn(config: client.Configuration, visitor = new Visitor(site)) {
  const verifier = client.randomPKCECodeVerifier();
  const [state, nonce] = [client.randomState(), client.randomNonce()];
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: callback,
    scope: 'openid profile phone',
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    nonce,
    max_age: '600',
  });
  const back = await logInThrough(visitor, url.href);
  const tokens = await client.authorizationCodeGrant(config, back, {
    pkceCodeVerifier: verifier,
    expectedState: state,
    expectedNonce: nonce,
    maxAge: 600,
    idTokenExpected: true,
  });
  return { tokens, visitor, back, verifier, state, nonce };
}

test('discovery by the OpenID address and by that of RFC 8414 gives the same issuer', async () => {
  const config = await discover();
  const metadata = config.serverMetadata();
  assert.equal(metadata.issuer, urls.base);
  assert.ok(metadata.supportsPKCE('S256'));
  const other = await client.discovery(new URL(urls.base), demo.clientId, demo.clientSecret, undefined, {
    algorithm: 'oauth2',
    execute: [client.allowInsecureRequests],
  });
  assert.equal(other.serverMetadata().token_endpoint, metadata.token_endpoint);
});

for (const [name, authentication] of [
  ['in the body', client.ClientSecretPost],
  ['by Basic', client.ClientSecretBasic],
] as const) {
  test(`a partner that authenticates ${name} goes through the whole flow with openid-client`, async () => {
    const config = await discover(authentication(demo.clientSecret));
    const { tokens, nonce } = await logIn(config);
    const claims = tokens.claims();
    assert.ok(claims);
    assert.equal(claims.nonce, nonce);
    assert.equal(claims.aud, demo.clientId);
    assert.equal(tokens.expires_in, 300);
    assert.equal(tokens.session_state, claims.sid);

    const profile = await client.fetchUserInfo(config, tokens.access_token, claims.sub);
    assert.equal(profile.given_name, 'Aysel');
    assert.equal(profile.phone_number, demo.phone);
    assert.equal(profile.gender, 'female');

    const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token ?? '');
    assert.equal(refreshed.claims()?.sub, claims.sub);
    assert.notEqual(refreshed.refresh_token, tokens.refresh_token);
    assert.equal(refreshed.session_state, tokens.session_state);

    const asked = await client.tokenIntrospection(config, refreshed.access_token);
    assert.equal(asked.active, true);
    assert.equal(asked.sub, claims.sub);

    await client.tokenRevocation(config, refreshed.refresh_token ?? '');
    assert.deepEqual(await client.tokenIntrospection(config, refreshed.access_token), { active: false });
    await assert.rejects(client.refreshTokenGrant(config, refreshed.refresh_token ?? ''), {
      error: 'invalid_grant',
    });
    await assert.rejects(client.fetchUserInfo(config, refreshed.access_token, claims.sub));
  });
}

for (const alg of ['RS256', 'EdDSA'] as const) {
  test(`an ID token signed with ${alg} is checked against our published keys`, async () => {
    const { client_id, client_secret } = await register(service, { idTokenAlg: alg, accessTokenAlg: alg });
    const config = await client.discovery(
      new URL(urls.base),
      client_id,
      { client_secret, id_token_signed_response_alg: alg },
      undefined,
      { execute: [client.allowInsecureRequests, client.enableNonRepudiationChecks] },
    );
    const { tokens } = await logIn(config);
    assert.equal(tokens.claims()?.aud, client_id);
  });
}

test('the default ES256 signature is checked against our published keys', async () => {
  const { client_id, client_secret } = await register(service);
  const config = await discover(undefined, client_id, client_secret);
  client.enableNonRepudiationChecks(config);
  const { tokens } = await logIn(config);
  assert.equal(tokens.claims()?.azp, client_id);
});

test('client credentials give a token and nothing else', async () => {
  const config = await discover(undefined, 'demo-merchant', 'demo-merchant-secret');
  const tokens = await client.clientCredentialsGrant(config, { scope: 'payments' });
  assert.equal(tokens.scope, 'payments');
  assert.equal(tokens.refresh_token, undefined);
  assert.equal(tokens.claims(), undefined);
});

test('a second login in the same browser needs no page, and prompt=none says so when it would', async () => {
  const config = await discover();
  const { visitor, tokens } = await logIn(config);
  const verifier = client.randomPKCECodeVerifier();
  const state = client.randomState();
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: callback,
    scope: 'openid',
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    prompt: 'none',
  });
  const checks = { pkceCodeVerifier: verifier, expectedState: state };
  const silent = await client.authorizationCodeGrant(config, redirectOf(await visitor.get(url.href)), checks);
  assert.equal(silent.session_state, tokens.session_state);

  const stranger = redirectOf(await new Visitor(site).get(url.href));
  await assert.rejects(client.authorizationCodeGrant(config, stranger, checks), { error: 'login_required' });
});

test('an answer with another state, another issuer or a code that was used is refused', async () => {
  const config = await discover();
  const { back, verifier, state, nonce } = await logIn(config);
  const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce };
  await assert.rejects(client.authorizationCodeGrant(config, back, { ...checks, expectedState: 'other' }));
  const mixedUp = new URL(back);
  mixedUp.searchParams.set('iss', 'https://elsewhere.example');
  await assert.rejects(client.authorizationCodeGrant(config, mixedUp, checks));
  await assert.rejects(client.authorizationCodeGrant(config, back, checks), { error: 'invalid_grant' });
});

test('a logout by the partner’s link ends the session and brings the browser back', async () => {
  const config = await discover();
  const { tokens, visitor } = await logIn(config);
  const url = client.buildEndSessionUrl(config, {
    post_logout_redirect_uri: 'http://localhost:4000/',
    id_token_hint: tokens.id_token ?? '',
    state: 'bye',
  });
  const back = redirectOf(await visitor.get(url.href));
  assert.equal(back.href, 'http://localhost:4000/?state=bye');
  await assert.rejects(client.refreshTokenGrant(config, tokens.refresh_token ?? ''), {
    error: 'invalid_grant',
  });
  assert.deepEqual(await client.tokenIntrospection(config, tokens.access_token), { active: false });
});

test('a wrong secret is told to the library as invalid_client', async () => {
  const config = await discover(undefined, demo.clientId, 'wrong');
  await assert.rejects(client.clientCredentialsGrant(config), { error: 'invalid_client' });
  const basic = await discover(client.ClientSecretBasic('wrong'), demo.clientId, 'wrong');
  await assert.rejects(client.clientCredentialsGrant(basic));
});
