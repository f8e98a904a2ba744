/** `oidcc-config-certification-test-plan`: the discovery document and the keys it leads to. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startProvider } from '../support/conformance.ts';

const { service, metadata } = await startProvider();
const { base } = service.config.server.urls;

test('oidcc-discovery-endpoint-verification', async () => {
  const answer = await fetch(`${base}/.well-known/openid-configuration`);
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
  assert.equal(metadata.issuer, base, 'the issuer is the address that the document was found under');
  const issuer = new URL(metadata.issuer);
  assert.deepEqual([issuer.search, issuer.hash], ['', '']);

  for (const endpoint of Object.keys(metadata).filter((name) => /_(endpoint|uri)$/.test(name))) {
    assert.ok(URL.canParse(String(metadata[endpoint])), endpoint);
  }
  assert.deepEqual(metadata.response_types_supported, ['code']);
  assert.deepEqual(metadata.subject_types_supported, ['public']);
  assert.ok((metadata.id_token_signing_alg_values_supported as string[]).includes('RS256'));
  assert.ok((metadata.scopes_supported as string[]).includes('openid'));
  for (const claim of ['sub', 'iss', 'auth_time', 'acr', 'phone_number']) {
    assert.ok((metadata.claims_supported as string[]).includes(claim), claim);
  }
  assert.deepEqual(metadata.grant_types_supported, [
    'authorization_code',
    'refresh_token',
    'client_credentials',
  ]);
  assert.equal(metadata.claims_parameter_supported, false);
  assert.equal(metadata.request_parameter_supported, false);
  assert.equal(metadata.request_uri_parameter_supported, false);

  const jwks = await fetch(metadata.jwks_uri);
  assert.equal(jwks.status, 200);
  const { keys } = (await jwks.json()) as { keys: Record<string, string>[] };
  assert.deepEqual([...new Set(keys.map((key) => key.alg))].sort(), ['ES256', 'EdDSA', 'RS256']);
  assert.equal(new Set(keys.map((key) => key.kid)).size, keys.length, 'every kid is there once');
  for (const key of keys) {
    assert.equal(key.use, 'sig');
    for (const secret of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k']) assert.ok(!(secret in key), secret);
    if (key.kty === 'RSA') assert.ok(Buffer.from(key.n ?? '', 'base64url').length * 8 >= 2048);
  }
});

test('R13 R59 R60 the document tells of iss and S256, lists only what works, and stands at both addresses', async () => {
  assert.equal(metadata.authorization_response_iss_parameter_supported, true);
  assert.deepEqual(metadata.code_challenge_methods_supported, ['S256']);
  assert.deepEqual(metadata.response_modes_supported, ['query']);
  const other = await fetch(`${base}/.well-known/oauth-authorization-server`);
  assert.deepEqual(await other.json(), metadata);
  for (const endpoint of Object.keys(metadata).filter((name) => /_(endpoint|uri)$/.test(name))) {
    const answer = await fetch(String(metadata[endpoint]), { method: 'POST', redirect: 'manual' });
    assert.notEqual(answer.status, 404, endpoint);
    assert.ok(answer.status < 500, endpoint);
  }
});

test('the keys may be kept for five minutes and are not sent again while they are the same', async () => {
  const first = await fetch(metadata.jwks_uri);
  assert.equal(first.headers.get('cache-control'), 'public, max-age=300');
  const again = await fetch(metadata.jwks_uri, {
    headers: { 'if-none-match': first.headers.get('etag') ?? '' },
  });
  assert.equal(again.status, 304);
});
