/** One test for each module of `oidcc-rp-initiated-logout-certification-test-plan`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ConformanceClient, startProvider } from '../support/conformance.ts';
import { type Answer, redirectOf, Visitor } from '../support/partner.ts';

const provider = await startProvider();
const { service, metadata } = provider;
const client = await provider.addClient();

const logoutUrl = (parameters: Record<string, string>) =>
  `${metadata.end_session_endpoint}?${new URLSearchParams(parameters)}`;

/** `prompt=none` is how the suite asks whether the session at the provider lives. */
async function isLoggedIn(visitor: Visitor, at: ConformanceClient = client): Promise<boolean> {
  const back = redirectOf(await visitor.get(provider.request(at, { prompt: 'none' }).url));
  const error = back.searchParams.get('error');
  assert.ok(error === null || error === 'login_required', String(error));
  return error === null;
}

/** An error page that sends the browser nowhere, with the session untouched. */
async function assertRefused(answer: Answer, visitor: Visitor): Promise<void> {
  assert.equal(answer.statusCode, 400);
  assert.equal(answer.headers.location, undefined);
  assert.match(answer.body, /<h1>/);
  assert.ok(!answer.body.includes('suite.example'), 'no way on to an address that is not proven');
  assert.ok(await isLoggedIn(visitor));
}

/** The question whether to log out; after a yes the session is over and the browser stays with us. */
async function assertAsks(answer: Answer, visitor: Visitor): Promise<Answer> {
  assert.equal(answer.statusCode, 200);
  assert.match(answer.body, /\/auth\/logout\/confirm"/);
  assert.ok(await isLoggedIn(visitor), 'asking alone ends nothing');
  const done = await visitor.submit(answer, '/auth/logout/confirm');
  assert.ok(!(await isLoggedIn(visitor)));
  return done;
}

test('oidcc-rp-initiated-logout-discovery-endpoint-verification', () => {
  assert.equal(metadata.end_session_endpoint, `${service.config.server.urls.sso}/auth/logout`);
  const { protocol, hash } = new URL(metadata.end_session_endpoint);
  // The suite wants https, which `dmz` and `production` enforce at start; here it is our own loopback.
  assert.equal(protocol, 'http:');
  assert.equal(hash, '');
});

test('oidcc-rp-initiated-logout', async () => {
  for (const method of ['GET', 'POST'] as const) {
    const { visitor, id_token, refresh_token } = await provider.tokens(client);
    const parameters = {
      id_token_hint: id_token,
      post_logout_redirect_uri: client.postLogoutRedirectUri,
      state: 'a state & more',
    };
    const answer =
      method === 'GET'
        ? await visitor.get(logoutUrl(parameters))
        : await visitor.follow(await visitor.post(metadata.end_session_endpoint, parameters));
    const back = redirectOf(answer);
    assert.equal(`${back.origin}${back.pathname}`, client.postLogoutRedirectUri);
    assert.deepEqual([...back.searchParams], [['state', 'a state & more']]);
    assert.ok(!(await isLoggedIn(visitor)));
    assert.equal((await provider.refresh(client, refresh_token)).status, 400);
  }
});

test('oidcc-rp-initiated-logout-bad-post-logout-redirect-uri', async () => {
  const { visitor, id_token } = await provider.tokens(client);
  const answer = await visitor.get(
    logoutUrl({
      id_token_hint: id_token,
      post_logout_redirect_uri: `${client.postLogoutRedirectUri}/bad`,
      state: 's',
    }),
  );
  await assertRefused(answer, visitor);
});

test('oidcc-rp-initiated-logout-modified-id-token-hint', async () => {
  const { visitor, id_token } = await provider.tokens(client);
  const [header = '', claims = '', signature = ''] = id_token.split('.');
  const changed = { ...JSON.parse(Buffer.from(claims, 'base64url').toString()), sub: 'somebody else' };
  const otherClaims = Buffer.from(JSON.stringify(changed)).toString('base64url');
  const unsigned = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
  for (const id_token_hint of [
    `${header}.${otherClaims}.${signature}`,
    `${header}.${claims}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`,
    `${unsigned}.${claims}.`,
  ]) {
    const answer = await visitor.get(
      logoutUrl({ id_token_hint, post_logout_redirect_uri: client.postLogoutRedirectUri, state: 's' }),
    );
    await assertRefused(answer, visitor);
  }
});

test('oidcc-rp-initiated-logout-no-id-token-hint', async () => {
  const { visitor } = await provider.tokens(client);
  const answer = await visitor.get(
    logoutUrl({ post_logout_redirect_uri: client.postLogoutRedirectUri, state: 's' }),
  );
  await assertRefused(answer, visitor);
});

test('oidcc-rp-initiated-logout-no-params', async () => {
  const { visitor } = await provider.tokens(client);
  const done = await assertAsks(await visitor.get(metadata.end_session_endpoint), visitor);
  assert.equal(done.statusCode, 200);
  assert.equal(done.headers.location, undefined);
});

test('oidcc-rp-initiated-logout-no-post-logout-redirect-uri', async () => {
  const { visitor, id_token } = await provider.tokens(client);
  const answer = await visitor.get(logoutUrl({ id_token_hint: id_token, state: 's' }));
  assert.equal(answer.statusCode, 200);
  assert.equal(answer.headers.location, undefined);
  assert.match(answer.body, /<h1>/);
  assert.ok(!(await isLoggedIn(visitor)));
});

test('oidcc-rp-initiated-logout-no-state', async () => {
  const { visitor, id_token } = await provider.tokens(client);
  const answer = await visitor.get(
    logoutUrl({ id_token_hint: id_token, post_logout_redirect_uri: client.postLogoutRedirectUri }),
  );
  assert.equal(redirectOf(answer).href, client.postLogoutRedirectUri);
  assert.ok(!(await isLoggedIn(visitor)));
});

test('oidcc-rp-initiated-logout-only-state', async () => {
  const { visitor } = await provider.tokens(client);
  const done = await assertAsks(await visitor.get(logoutUrl({ state: 'only' })), visitor);
  assert.equal(done.statusCode, 200);
  assert.equal(done.headers.location, undefined);
});

test('oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri', async () => {
  const { visitor, id_token } = await provider.tokens(client);
  const answer = await visitor.get(
    logoutUrl({
      id_token_hint: id_token,
      post_logout_redirect_uri: `${client.postLogoutRedirectUri}?foo=bar`,
      state: 's',
    }),
  );
  await assertRefused(answer, visitor);
});

test('oidcc-rp-initiated-logout-bad-id-token-hint', async () => {
  const { visitor, access_token, refresh_token } = await provider.tokens(client);
  for (const id_token_hint of ['bad', 'a.b.c', access_token, refresh_token, '\u0000', 'x'.repeat(9000)]) {
    const answer = await visitor.get(
      logoutUrl({ id_token_hint, post_logout_redirect_uri: client.postLogoutRedirectUri, state: 's' }),
    );
    await assertRefused(answer, visitor);
  }
});

test('R70 a client that names itself and its address has the person asked, and then sent back', async () => {
  const { visitor } = await provider.tokens(client);
  const parameters = {
    client_id: client.clientId,
    post_logout_redirect_uri: client.postLogoutRedirectUri,
    state: 's',
  };
  const done = await assertAsks(await visitor.get(logoutUrl(parameters)), visitor);
  assert.equal(redirectOf(done).href, `${client.postLogoutRedirectUri}?state=s`);

  const nobody = await new Visitor(service).get(logoutUrl(parameters));
  assert.equal(nobody.statusCode, 200, 'without a session and a hint there is only a link');
  assert.equal(nobody.headers.location, undefined);
});

test('R70 a hint that has expired is good, one of another session has the person asked', async () => {
  const mine = await provider.tokens(client);
  const other = await provider.tokens(client);
  const foreign = await mine.visitor.get(
    logoutUrl({ id_token_hint: other.id_token, post_logout_redirect_uri: client.postLogoutRedirectUri }),
  );
  await assertAsks(foreign, mine.visitor);
  assert.ok(await isLoggedIn(other.visitor), 'the other session lives on');

  service.clock.move(20 * 60_000);
  const back = await other.visitor.get(
    logoutUrl({ id_token_hint: other.id_token, post_logout_redirect_uri: client.postLogoutRedirectUri }),
  );
  assert.equal(redirectOf(back).href, client.postLogoutRedirectUri);
  assert.ok(!(await isLoggedIn(other.visitor)));
});

test('R70 a hint from a browser that has lost its session ends what the client has of that session, and no more', async () => {
  const second = await provider.addClient();
  const mine = await provider.tokens(client);
  const theirs = await provider.tokens(second, {}, mine.visitor);
  const parameters = {
    id_token_hint: mine.id_token,
    post_logout_redirect_uri: client.postLogoutRedirectUri,
  };
  const back = await new Visitor(service).get(logoutUrl(parameters));
  assert.equal(redirectOf(back).href, client.postLogoutRedirectUri);
  assert.equal((await provider.refresh(client, mine.refresh_token)).status, 400);
  assert.equal((await provider.refresh(second, theirs.refresh_token)).status, 200);
  assert.ok(await isLoggedIn(mine.visitor), 'whoever has read a link of the partner logs nobody out');
});

test('R70 a hint of one client does not open the addresses of another', async () => {
  const { visitor, id_token } = await provider.tokens(client);
  const second = await provider.addClient();
  for (const client_id of [undefined, second.clientId]) {
    const answer = await visitor.get(
      logoutUrl({
        id_token_hint: id_token,
        post_logout_redirect_uri: second.postLogoutRedirectUri,
        ...(client_id ? { client_id } : {}),
      }),
    );
    await assertRefused(answer, visitor);
  }
});

test('R26 a logout is confirmed only by a form of ours, in the browser that was asked', async () => {
  const { visitor } = await provider.tokens(client);
  const question = await visitor.get(metadata.end_session_endpoint);
  const foreign = await provider.tokens(client);
  const foreignQuestion = await foreign.visitor.get(metadata.end_session_endpoint);
  const formOf = (page: Answer) => ({
    csrf: /name="csrf" value="([^"]+)"/.exec(page.body)?.[1] ?? '',
    flow: /name="flow" value="([^"]+)"/.exec(page.body)?.[1] ?? '',
  });
  const confirm = `${metadata.end_session_endpoint}/confirm`;
  for (const [fields, status] of [
    [{ flow: formOf(question).flow }, 403],
    [{ ...formOf(question), csrf: formOf(foreignQuestion).csrf }, 403],
    [{ ...formOf(question), flow: formOf(foreignQuestion).flow }, 400],
    [{ ...formOf(question), flow: 'x' }, 400],
  ] as [Record<string, string>, number][]) {
    assert.equal((await visitor.post(confirm, fields)).statusCode, status);
    assert.ok(await isLoggedIn(visitor));
  }
  assert.equal((await visitor.get(confirm)).statusCode, 405);
});

test('R9 repeated parameters, unknown clients and huge values end on an error page, never on a redirect', async () => {
  const { visitor, id_token } = await provider.tokens(client);
  const target = encodeURIComponent(client.postLogoutRedirectUri);
  for (const query of [
    `id_token_hint=${id_token}&id_token_hint=${id_token}`,
    `id_token_hint=${id_token}&post_logout_redirect_uri=${target}&post_logout_redirect_uri=${target}`,
    `client_id=nobody&post_logout_redirect_uri=${target}`,
    `client_id=%00&post_logout_redirect_uri=${target}`,
    `client_id=${'x'.repeat(5000)}`,
    `id_token_hint=${id_token}&client_id=demo-partner`,
  ]) {
    await assertRefused(await visitor.get(`${metadata.end_session_endpoint}?${query}`), visitor);
  }
  const posted = await visitor.get(`${metadata.end_session_endpoint}?posted=abc`);
  await assertRefused(posted, visitor);
  const large = { id_token_hint: id_token, state: 'x'.repeat(20_000) };
  const tooLarge = await visitor.post(metadata.end_session_endpoint, large);
  assert.equal(tooLarge.statusCode, 413);
  assert.match(tooLarge.body, /<h1>/);
  assert.ok(await isLoggedIn(visitor));
});
