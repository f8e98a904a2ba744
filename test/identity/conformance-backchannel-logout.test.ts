/** One test for each module of `oidcc-backchannel-rp-initiated-logout-certification-test-plan`. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { startJobs } from '../../src/platform/jobs.ts';
import { startProvider, tokensOf } from '../support/conformance.ts';
import { testDatabaseUrl } from '../support/database.ts';
import { logInThrough, redirectOf } from '../support/partner.ts';

const url = await testDatabaseUrl();
const provider = await startProvider({ DATABASE_URL: url });
const { service, metadata } = provider;
const keys = createRemoteJWKSet(new URL(metadata.jwks_uri), { timeoutDuration: 60_000 });

type Call = { method: string; path: string; contentType: string; form: URLSearchParams };
const calls: Call[] = [];
const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  calls.push({
    method: request.method ?? '',
    path: request.url ?? '',
    contentType: request.headers['content-type'] ?? '',
    form: new URLSearchParams(Buffer.concat(chunks).toString()),
  });
  response.writeHead(200, { 'cache-control': 'no-store' }).end();
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;
const running = startJobs({ url, jobs: service.areas.jobs, concurrency: 2, log: service.areas.identity.log });
after(async () => {
  await running.stop();
  server.close();
});

/** The calls to one address, once there are that many of them. */
async function callsTo(path: string, count: number): Promise<Call[]> {
  const found = () => calls.filter((call) => call.path === path);
  while (found().length < count) await delay(10);
  return found();
}

const eventName = 'http://schemas.openid.net/event/backchannel-logout';

test('oidcc-backchannel-logout-discovery-endpoint-verification', () => {
  assert.equal(metadata.backchannel_logout_supported, true);
  assert.equal(metadata.backchannel_logout_session_supported, true);
  assert.ok(URL.canParse(metadata.end_session_endpoint));
});

test('oidcc-backchannel-rp-initiated-logout', async () => {
  const client = await provider.addClient({ backchannelLogoutUri: `http://127.0.0.1:${port}/first` });
  const second = await provider.addClient({
    backchannelLogoutUri: `http://127.0.0.1:${port}/second?of=us`,
    idTokenAlg: 'ES256',
  });
  const silent = await provider.addClient();
  const elsewhere = await provider.tokens(client);
  const tokens = await provider.tokens(client);
  await provider.tokens(second, {}, tokens.visitor);
  await provider.tokens(silent, {}, tokens.visitor);

  const query = new URLSearchParams({
    id_token_hint: tokens.id_token,
    post_logout_redirect_uri: client.postLogoutRedirectUri,
    state: 'after',
  });
  const back = redirectOf(await tokens.visitor.get(`${metadata.end_session_endpoint}?${query}`));
  assert.equal(back.href, `${client.postLogoutRedirectUri}?state=after`);

  const seen = new Set<unknown>();
  for (const [path, audience, alg] of [
    ['/first', client.clientId, 'RS256'],
    ['/second?of=us', second.clientId, 'ES256'],
  ] as const) {
    const [call, ...more] = await callsTo(path, 1);
    assert.ok(call);
    assert.deepEqual(more, []);
    assert.equal(call.method, 'POST');
    assert.match(call.contentType, /^application\/x-www-form-urlencoded/);
    assert.deepEqual([...call.form.keys()], ['logout_token']);
    const { payload, protectedHeader } = await jwtVerify(call.form.get('logout_token') ?? '', keys, {
      issuer: metadata.issuer,
      audience,
      typ: 'logout+jwt',
      algorithms: [alg],
    });
    assert.ok(protectedHeader.kid);
    assert.deepEqual(payload.events, { [eventName]: {} });
    assert.equal(payload.sid, tokens.claims.sid);
    assert.equal(payload.sub, tokens.claims.sub);
    assert.ok(payload.jti);
    assert.ok(!('nonce' in payload));
    const lifetime = Number(payload.exp) - Number(payload.iat);
    assert.ok(lifetime > 0 && lifetime <= 120, `${lifetime} s`);
    seen.add(payload.jti);
  }
  assert.equal(seen.size, 2, 'each notice has an identifier of its own');

  const silently = redirectOf(
    await tokens.visitor.get(provider.request(client, { prompt: 'none' }).url),
  ).searchParams;
  assert.equal(silently.get('error'), 'login_required');
  assert.equal((await provider.userinfo(tokens.access_token)).status, 401);
  assert.equal((await provider.userinfo(elsewhere.access_token)).status, 200, 'other sessions live on');
});

test('R71 a logout token is no ID token and no access token', async () => {
  const client = await provider.addClient({ backchannelLogoutUri: `http://127.0.0.1:${port}/third` });
  const tokens = await provider.tokens(client);
  await fetch(`${metadata.issuer}/api/v1/identity/logout`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tokens.access_token}` },
  });
  const [call] = await callsTo('/third', 1);
  const logoutToken = call?.form.get('logout_token') ?? '';
  assert.equal((await provider.userinfo(logoutToken)).status, 401);
  const again = await provider.tokens(client);
  const query = new URLSearchParams({ id_token_hint: logoutToken });
  assert.equal(
    (await again.visitor.get(`${metadata.end_session_endpoint}?${query}`)).statusCode,
    400,
    'nor does it pass for the hint of a logout',
  );
});

test('R71 another person who logs in with the same browser ends the session before, and its clients are told', async () => {
  const client = await provider.addClient({ backchannelLogoutUri: `http://127.0.0.1:${port}/fourth` });
  const first = await provider.tokens(client);
  service.clock.move(1_000);
  const { url: request } = provider.request(client, { prompt: 'login' });
  const other = { phone: '+994500000002', code: '111111' };
  const back = await logInThrough(first.visitor, request, other);
  assert.notEqual(back.searchParams.get('session_state'), first.claims.sid);
  const [call] = await callsTo('/fourth', 1);
  const { payload } = await jwtVerify(call?.form.get('logout_token') ?? '', keys);
  assert.equal(payload.sid, first.claims.sid);
  assert.equal((await provider.userinfo(first.access_token)).status, 401);
  const tokens = await tokensOf(await provider.exchange(client, back.searchParams.get('code') ?? ''));
  assert.equal((await provider.userinfo(tokens.access_token)).status, 200);
});
