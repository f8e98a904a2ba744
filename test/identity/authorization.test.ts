/** The authorization endpoint and the login pages, as partners, people and attackers meet them. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import type { UserId } from '../../src/identity/domain/user.ts';
import { registerClient } from '../../src/identity/register-client.ts';
import type { NewClient } from '../../src/identity/store/clients.ts';
import { changePhone, createUser } from '../../src/identity/users.ts';
import { sql } from '../../src/platform/db.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { startBrowser } from '../support/browser.ts';
import { freePort } from '../support/free-port.ts';
import { listen } from '../support/listen.ts';
import {
  type Answer,
  authorizeUrl,
  bearer,
  claimsOf,
  demo,
  exchange,
  formsOf,
  logIn,
  logInThrough,
  newPkce,
  redirectOf,
  type Tokens,
  Visitor,
} from '../support/partner.ts';
import { addClient } from '../support/sessions.ts';

const port = await freePort();
const service = await startTestApp({ PORT: String(port) });
await service.app.listen({ port, host: '127.0.0.1' });
service.clock.set(new Date());
const { base, sso } = service.config.server.urls;
const browser = await startBrowser();

const rp = { clientId: await addClient(service.db, { redirectUris: ['https://rp.example/cb'] }) };
const native = {
  clientId: await addClient(service.db, { redirectUris: ['http://127.0.0.1/cb', 'com.example.app:/cb'] }),
};
const external = {
  clientId: await addClient(service.db, {
    audience: 'external',
    identityDocuments: false,
    scopes: ['openid', 'profile', 'phone'],
  }),
};
const second = { phone: '+994500000002', code: demo.code };

const pkce = newPkce();
const ask = (changes: Record<string, string | null> = {}, at: TestApp = service) =>
  authorizeUrl(at, pkce, changes);
const askRp = (redirectUri: string) =>
  ask({ client_id: rp.clientId, scope: 'openid', redirect_uri: redirectUri });
const visit = (url: string) => new Visitor(service).get(url);
const errorOf = (answer: Answer) => redirectOf(answer).searchParams.get('error');
const sentTo = (phone: string) => service.texts.filter((text) => text.phone === phone);

/** An error page of ours: nothing is sent anywhere, and no part of the request comes back raw. */
function assertErrorPage(answer: Answer, status = 400): void {
  assert.equal(answer.statusCode, status);
  assert.equal(answer.headers.location, undefined);
  assert.match(String(answer.headers['content-type']), /^text\/html/);
  assert.match(answer.body, /<h1>/);
  assertSafePage(answer);
}

function assertSafePage(answer: Answer): void {
  const policy = String(answer.headers['content-security-policy']);
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.match(policy, /base-uri 'none'/);
  assert.doesNotMatch(policy, /unsafe-|\*/);
  assert.doesNotMatch(policy.replace(/form-action [^;]+/, ''), /https?:/, 'nothing is loaded from anywhere');
  assert.equal(answer.headers['x-frame-options'], 'DENY');
  assert.equal(answer.headers['cache-control'], 'no-store');
  assert.match(String(answer.headers['permissions-policy']), /geolocation=\(\)/);
  assert.equal(answer.headers['referrer-policy'], 'no-referrer');
  assert.equal(answer.headers['x-content-type-options'], 'nosniff');
  assert.equal(answer.headers['access-control-allow-origin'], undefined);
  assert.doesNotMatch(answer.body, /(src|href)="(https?:)?\/\/(?!localhost)/, 'nothing from elsewhere');
}

/** What goes back to the client: the error, a description it may show, its own state, and who says so. */
function assertRedirectError(answer: Answer, error: string, state: string | null = 'state-1'): void {
  assert.ok([302, 303].includes(answer.statusCode), `${answer.statusCode} ${answer.body.slice(0, 200)}`);
  const back = redirectOf(answer);
  assert.equal(`${back.origin}${back.pathname}`, demo.redirectUri);
  assert.equal(back.searchParams.get('error'), error);
  assert.equal(back.searchParams.get('state'), state);
  assert.equal(back.searchParams.get('iss'), base);
  assert.equal(back.searchParams.get('code'), null);
  assert.match(back.searchParams.get('error_description') ?? '', /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
}

/** Up to the page that asks for the code. */
async function toCodePage(visitor: Visitor, url: string, phone: string = demo.phone): Promise<Answer> {
  const page = await visitor.get(url);
  return visitor.follow(await visitor.submit(page, '/auth/login', { phone }));
}

test('T01 R23 R24 a valid request shows a login page that cannot be framed, kept, or made to run a script', async () => {
  const page = await visit(ask());
  assert.equal(page.statusCode, 200);
  assertSafePage(page);
  assert.match(page.body, /name="phone"/);
  assert.match(
    String(page.headers['content-security-policy']),
    /form-action 'self' http:\/\/localhost:4000[ ;]/,
    'a form may lead to us and, by the redirect after it, to the client',
  );
  const script = /script-src ([^;]+)/.exec(String(page.headers['content-security-policy']))?.[1];
  assert.match(script ?? '', /^'sha256-[\w+/=]+'$/);
});

test('T02 R2 an unknown client gets an error page and no redirect, and its name is not shown', async () => {
  for (const client_id of [
    'nobody',
    '<script>alert(1)</script>',
    '\u0000',
    'x'.repeat(4000),
    'DEMO-PARTNER',
  ]) {
    const answer = await visit(ask({ client_id }));
    assertErrorPage(answer);
    assert.ok(!answer.body.includes(client_id));
  }
  assertErrorPage(await visit(ask({ client_id: null })));
  assertErrorPage(await visit(ask({ client_id: '' })));
});

test('T03 R1 R2 a redirect_uri that differs in one byte gets an error page and no redirect', async () => {
  for (const sent of [
    'https://rp.example/cb/',
    'https://RP.example/cb',
    'https://rp.example/CB',
    'https://rp.example/cb?x=1',
    'https://rp.example/cb?',
    'https://rp.example/cb#',
    'https://rp.example:443/cb',
    'https://rp.example/c',
    'https://rp.example//cb',
    'https://rp.example/./cb',
    'https://rp.example/%63b',
    'http://rp.example/cb',
    'HTTPS://rp.example/cb',
    'https:rp.example/cb',
    '//rp.example/cb',
    '/cb',
    ' https://rp.example/cb',
    'https://rp.example/cb ',
    '',
  ]) {
    assertErrorPage(await visit(askRp(sent)));
  }
  assertErrorPage(await visit(ask({ redirect_uri: null })));
  const good = await visit(askRp('https://rp.example/cb'));
  assert.equal(good.statusCode, 200);
});

test('T04 a redirect_uri that hides another host behind an @ or a longer name gets an error page', async () => {
  for (const sent of [
    'https://rp.example@evil.example/cb',
    'https://rp.example@@evil.example/cb',
    'https://rp.example%40evil.example/cb',
    'https://rp.example.evil.example/cb',
    'https://rp.exampleevil.example/cb',
    'https://evil.example/https://rp.example/cb',
    'https://evil.example?https://rp.example/cb',
    'https://evil.example#https://rp.example/cb',
    'https://user:password@rp.example/cb',
    'https://rp.example\u3002evil.example/cb',
    'https://rp.ex\u0430mple/cb',
  ]) {
    assertErrorPage(await visit(askRp(sent)));
  }
});

test('T05 dot segments, backslashes, tabs and line breaks in a redirect_uri get an error page and split no header', async () => {
  const endings = ['/..;/x', '/%2e%2e/', '\\', '\\..\\x', '\t', '\r\nSet-Cookie: planted=1', '\n', '\u0000'];
  for (const ending of endings) assertErrorPage(await visit(askRp(`https://rp.example/cb${ending}`)));
  assertErrorPage(await visit(askRp('\thttps://rp.example/cb')));
  assertErrorPage(await visit(askRp('https://rp\t.example/cb')));

  const query = new URLSearchParams({
    client_id: demo.clientId,
    redirect_uri: demo.redirectUri,
    state: 'a\r\nSet-Cookie: planted=1\r\n\r\n<script>',
    scope: 'openid\r\nX-Planted: 1',
    response_type: 'code\r\nX-Planted: 1',
  });
  const answer = await raw(
    `GET /sso/auth/ssoValidateUser?${query} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`,
  );
  assert.match(answer, /^HTTP\/1\.1 303 /);
  assert.doesNotMatch(answer, /^(set-cookie: planted|x-planted)/im);
  assert.match(answer, /state=a%0D%0ASet-Cookie/);
});

test('T06 R3 a client cannot be registered with a javascript:, data: or remote http: address', async () => {
  const tryWith = (changes: Partial<NewClient>) =>
    registerClient(service.areas.identity, candidate(changes), 'test');
  const candidate = (changes: Partial<NewClient>): NewClient => ({
    id: randomUUID(),
    clientId: `candidate-${randomUUID()}`,
    name: 'Candidate',
    audience: 'external',
    grantTypes: ['authorization_code'],
    scopes: ['openid'],
    redirectUris: ['https://rp.example/cb'],
    postLogoutRedirectUris: [],
    backchannelLogoutUri: null,
    secretHash: Buffer.alloc(32),
    requirePkce: true,
    requireState: true,
    identityDocuments: false,
    accessTokenAlg: 'ES256',
    idTokenAlg: 'ES256',
    accessTokenSeconds: 300,
    refreshTokenSeconds: 1800,
    merchantId: null,
    ...changes,
  });
  const count = async () =>
    (await service.db.one<{ count: bigint }>(sql`select count(*) from identity.clients`)).count;
  const before = await count();
  for (const address of [
    'JaVaScRiPt:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:https://rp.example/x',
    'http://rp.example/cb',
    'http://127.0.0.1.evil.example/cb',
    'https://user@rp.example/cb',
    'https://rp.example/cb#part',
    'https://rp.example/ cb',
    'https://rp.example\\cb',
    '/cb',
    'rp.example/cb',
    '',
  ]) {
    await assert.rejects(tryWith({ redirectUris: [address] }), /redirectUris/, address);
    await assert.rejects(tryWith({ postLogoutRedirectUris: [address] }), /postLogoutRedirectUris/, address);
  }
  await assert.rejects(tryWith({ redirectUris: [] }), /at least one/);
  await assert.rejects(tryWith({ scopes: ['openid', 'everything'] }), /scopes/);
  await assert.rejects(tryWith({ backchannelLogoutUri: 'javascript:x' }), /backchannelLogoutUri/);
  assert.equal(await count(), before, 'nothing is stored of what was refused');
  for (const address of [
    'https://rp.example/cb?x=1',
    'http://127.0.0.1:9/cb',
    'http://[::1]/cb',
    'com.example.app:/cb',
  ]) {
    assert.equal(await tryWith({ redirectUris: [address] }), true, address);
  }
});

test('T07 R1 a loopback address is compared as exactly as any other, its port too', async () => {
  const send = (redirect_uri: string) =>
    visit(ask({ client_id: native.clientId, scope: 'openid', redirect_uri }));
  for (const sent of [
    'http://127.0.0.1.evil.example/cb',
    'http://127.0.0.1:8080/cb',
    'http://127.0.0.1:80/cb',
    'http://localhost/cb',
    'http://127.1/cb',
    'http://[::1]/cb',
    'http://127.0.0.1@evil.example/cb',
  ]) {
    assertErrorPage(await send(sent));
  }
  assert.equal((await send('http://127.0.0.1/cb')).statusCode, 200);
  const app = await send('com.example.app:/cb');
  assert.equal(app.statusCode, 200, 'the address of a native app works');
  assert.match(String(app.headers['content-security-policy']), /form-action 'self' com\.example\.app:;/);
});

test('T08 R7 R8 R12 R13 R27 whatever else is wrong goes back to the client with its state', async () => {
  assertRedirectError(await visit(ask({ state: null })), 'invalid_request', null);
  assertRedirectError(await visit(ask({ state: '' })), 'invalid_request', null);
  assertRedirectError(await visit(ask({ response_type: null })), 'invalid_request');
  for (const response_type of ['token', 'id_token', 'code id_token', 'code token', 'none', 'CODE', 'code ']) {
    assertRedirectError(await visit(ask({ response_type })), 'unsupported_response_type');
  }
  for (const scope of [null, '', 'profile', 'OPENID', 'openid,profile', 'offline_access', ' ']) {
    assertRedirectError(await visit(ask({ scope })), 'invalid_scope');
  }
  for (const response_mode of ['fragment', 'form_post', 'web_message', 'query.jwt']) {
    assertRedirectError(await visit(ask({ response_mode })), 'invalid_request');
  }
  assert.equal((await visit(ask({ response_mode: 'query' }))).statusCode, 200);
  assertRedirectError(await visit(ask({ request: 'a.b.c' })), 'request_not_supported');
  assertRedirectError(await visit(ask({ request_uri: 'https://x.example/r' })), 'request_uri_not_supported');
  assertRedirectError(await visit(ask({ registration: '{}' })), 'registration_not_supported');
});

test('R8 R10 unknown scopes and unknown parameters are ignored', async () => {
  const visitor = new Visitor(service);
  const changes = {
    scope: 'openid email nonsense phone',
    extra: 'x',
    resource: 'https://x.example',
    '': 'y',
  };
  const back = await logInThrough(visitor, ask(changes));
  const tokens = (await exchange(service, back.searchParams.get('code') ?? '', pkce)).json<Tokens>();
  assert.equal(tokens.scope, 'openid phone');
});

test('R10 a parameter without a value counts as left out', async () => {
  const empty = {
    request: '',
    request_uri: '',
    registration: '',
    response_mode: '',
    prompt: '',
    max_age: '',
    nonce: '',
    claims: '',
    id_token_hint: '',
    login_hint: '',
    ui_locales: '',
  };
  const page = await visit(ask(empty));
  assert.equal(page.statusCode, 200, String(page.headers.location));
  assertRedirectError(await visit(ask({ code_challenge: '', code_challenge_method: '' })), 'invalid_request');
});

test('T09 R4 R5 R6 there is no way around PKCE with S256', async () => {
  const { challenge } = pkce;
  for (const changes of [
    { code_challenge: null, code_challenge_method: null },
    { code_challenge: null },
    { code_challenge_method: 'plain' },
    { code_challenge_method: null },
    { code_challenge_method: 's256' },
    { code_challenge_method: 'S512' },
    { code_challenge: challenge.slice(1) },
    { code_challenge: `${challenge}A` },
    { code_challenge: `${challenge.slice(1)}=` },
    { code_challenge: `${challenge.slice(1)}+` },
    { code_challenge: `${challenge.slice(1)}\n` },
    { code_challenge: ` ${challenge.slice(1)}` },
  ]) {
    assertRedirectError(await visit(ask(changes)), 'invalid_request');
  }
  assert.equal((await visit(ask())).statusCode, 200);
});

test('T10 R9 a repeated client_id or redirect_uri gets an error page, any other repeated parameter goes back', async () => {
  const url = ask();
  assertErrorPage(await visit(`${url}&client_id=${demo.clientId}`));
  assertErrorPage(await visit(`${url}&client_id=`));
  assertErrorPage(await visit(`${url}&redirect_uri=${encodeURIComponent(demo.redirectUri)}`));
  assertErrorPage(await visit(`${url}&redirect_uri=https://evil.example`));
  assertRedirectError(await visit(`${url}&state=another`), 'invalid_request', null);
  assertRedirectError(await visit(`${url}&%73tate=another`), 'invalid_request', null);
  for (const name of [
    'scope',
    'response_type',
    'code_challenge',
    'nonce=1&nonce',
    'prompt=login&prompt',
    'unknown=1&unknown',
  ]) {
    assertRedirectError(await visit(`${url}&${name}=x`), 'invalid_request');
  }
  assertRedirectError(await visit(`${url}&%0d%0a"\\=1&%0d%0a"\\=2`), 'invalid_request');
});

test('T10 R9 R11 a POST is checked no less: repeated parameters survive the way to the GET', async () => {
  const fields = new URL(ask()).searchParams;
  const post = async (body: string) => {
    const answer = await service.app.inject({
      method: 'POST',
      url: '/sso/auth/ssoValidateUser?client_id=nobody&state=of-the-address',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: body,
    });
    assert.equal(answer.statusCode, 303);
    assert.ok(String(answer.headers.location).startsWith(`${sso}/auth/ssoValidateUser?posted=`));
    return visit(String(answer.headers.location));
  };
  assert.equal((await post(fields.toString())).statusCode, 200);
  assertErrorPage(await post(`${fields}&client_id=${demo.clientId}`));
  assertErrorPage(await post(`${fields}&redirect_uri=https%3A%2F%2Fevil.example`));
  assertRedirectError(await post(`${fields}&state=another`), 'invalid_request', null);
  assertRedirectError(await post(`${fields}&scope=openid`), 'invalid_request');
  assertErrorPage(await post(''));
});

test('R11 a POST from another site finds the session, because it comes back as a GET', async () => {
  const visitor = new Visitor(service);
  const { session_state: sid } = await logIn(service, { visitor });
  const fields = Object.fromEntries(new URL(ask()).searchParams);
  const posted = await new Visitor(service).post(`${sso}/auth/ssoValidateUser`, fields);
  assert.equal(posted.statusCode, 303);
  assert.equal(posted.headers['set-cookie'], undefined, 'the POST itself does not touch the browser');
  const back = redirectOf(await visitor.get(redirectOf(posted).href));
  assert.equal(back.searchParams.get('session_state'), sid);
});

test('R11 a posted request opens for five minutes, only here, and only unchanged', async () => {
  const fields = Object.fromEntries(new URL(ask()).searchParams);
  const posted = redirectOf(await new Visitor(service).post(`${sso}/auth/ssoValidateUser`, fields));
  service.clock.move(5 * 60_000 - 1_000);
  assert.equal((await visit(posted.href)).statusCode, 200);
  service.clock.move(2_000);
  assertErrorPage(await visit(posted.href));

  const fresh = redirectOf(await new Visitor(service).post(`${sso}/auth/ssoValidateUser`, fields)).href;
  assertErrorPage(
    await visit(fresh.replace(/posted=./, (start) => (start.endsWith('A') ? 'posted=B' : 'posted=A'))),
  );
  assertErrorPage(await visit(fresh.replace('/auth/ssoValidateUser', '/auth/logout')));
  for (const value of ['', 'x', 'A'.repeat(200), '%00', '%F0%9F']) {
    assertErrorPage(await visit(`${sso}/auth/ssoValidateUser?posted=${value}`));
  }
});

test('R11 a POST that is too large to travel in an address ends on an error page, not in a dead end', async () => {
  const send = async (size: number) => {
    const body = new URLSearchParams(new URL(ask()).searchParams);
    body.set('extra', 'x'.repeat(size));
    const posted = await fetch(`${sso}/auth/ssoValidateUser`, { method: 'POST', body, redirect: 'manual' });
    const location = posted.headers.get('location');
    return location === null ? posted : fetch(location, { redirect: 'manual' });
  };
  assert.equal((await send(5_000)).status, 200);
  for (const size of [12_000, 20_000, 60_000]) {
    const answer = await send(size);
    assert.ok([400, 413].includes(answer.status), `${size}: ${answer.status}`);
    assert.match(answer.headers.get('content-type') ?? '', /^text\/html/);
  }
  const tooLarge = await send(70_000);
  assert.equal(tooLarge.status, 413);
  assert.match(tooLarge.headers.get('content-type') ?? '', /^text\/html/);
});

const markup = [
  '"><script>alert(1)</script>',
  "' onfocus=alert(1) autofocus='",
  '</title><svg onload=alert(1)>',
];

test('T11 markup in login_hint is shown as text, and the page stays usable', async () => {
  for (const hint of markup) {
    const page = await visit(ask({ login_hint: hint }));
    assert.equal(page.statusCode, 200);
    for (const raw of ['<script>alert', '<svg onload', '" onfocus']) assert.ok(!page.body.includes(raw), raw);
    const shown = hint.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
    assert.ok(page.body.includes(`value="${shown}"`), 'the field holds it, letter by letter');
  }
});

/** A partner's server on a port of its own. */
async function startPartner() {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<title>back</title>');
  });
  const redirectUri = `http://localhost:${await listen(server)}/callback`;
  const clientId = await addClient(service.db, { redirectUris: [redirectUri] });
  return { client_id: clientId, redirect_uri: redirectUri, scope: 'openid' };
}

test('T11 T12 no markup in a hint or a language runs in a browser, and one can log in from that page', async () => {
  const partner = await startPartner();
  for (const hint of markup) {
    const context = await browser.newContext();
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('dialog', (dialog) => {
      complaints.push(dialog.message());
      void dialog.dismiss();
    });
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(ask({ ...partner, login_hint: hint, ui_locales: 'xx-ZZ <svg/onload=alert(1)>' }));
    const field = page.locator('input[name=phone]');
    assert.equal(await field.inputValue(), hint);
    await field.fill('0500000001');
    await page.locator('button[type=submit]').first().click();
    const code = page.locator('input[name=code]');
    await code.waitFor();
    await code.fill(demo.code);
    await page.waitForURL((url) => url.pathname === '/callback');
    assert.ok(new URL(page.url()).searchParams.get('code'));
    assert.deepEqual(complaints, []);
    await context.close();
  }
});

test('T12 unknown, malformed or huge ui_locales give the default language and are not shown', async () => {
  for (const ui_locales of [
    'xx-ZZ <svg/onload=1>',
    'x'.repeat(5_000),
    'a '.repeat(2_500),
    '%',
    '\u0000',
    '-',
  ]) {
    const page = await visit(ask({ ui_locales }));
    assert.equal(page.statusCode, 200);
    assert.match(page.body, /<html lang="az"/);
    assert.ok(!page.body.includes('<svg/onload'));
    assert.ok(!page.body.includes('xxxxx'));
  }
  assert.match((await visit(ask({ ui_locales: 'xx RU-ru en' }))).body, /<html lang="ru"/);
  const english = new Visitor(service, { 'accept-language': 'fr, en;q=0.8' });
  assert.match((await english.get(ask())).body, /<html lang="en"/);
  assert.match((await english.get(ask({ ui_locales: 'az' }))).body, /<html lang="az"/);
});

test('T13 R12 state comes back as it was sent, up to 2048 characters of anything', async () => {
  const strange = `&#?=%;+ /\\"'<>\u0000\t\r\n😀ə`;
  for (const state of [
    strange,
    strange + 'x'.repeat(2048 - strange.length),
    'x'.repeat(2048),
    'ə'.repeat(2048),
    '%41%2541',
    '+',
  ]) {
    const visitor = new Visitor(service);
    const back = await logInThrough(visitor, ask({ state }));
    assert.equal(back.searchParams.get('state'), state);
    assert.equal(
      redirectOf(await visitor.get(ask({ state, prompt: 'none' }))).searchParams.get('state'),
      state,
    );
    assertRedirectError(await visitor.get(ask({ state, scope: 'x' })), 'invalid_scope', state);
  }
  assertErrorPage(await visit(ask({ state: 'x'.repeat(2049) })));
});

test('T13 R12 even the largest request fits through every step on a real connection', async () => {
  const cookies = new Map<string, string>();
  const open = async (url: string, body?: URLSearchParams) => {
    const answer = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
      ...(body ? { method: 'POST', body } : {}),
    });
    for (const line of answer.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split('=');
      cookies.set(name, value);
    }
    return answer;
  };
  for (const [state, nonce, way] of [
    ['"'.repeat(2048), '\\'.repeat(512), 'GET'],
    ['ə'.repeat(2048), 'ə'.repeat(200), 'GET'],
    ['😀'.repeat(1024), 'n'.repeat(512), 'GET'],
    ['語'.repeat(1500), '語'.repeat(512), 'POST'],
    ['\u0001'.repeat(2048), '\u0001'.repeat(512), 'refused'],
  ] as const) {
    cookies.clear();
    const url = ask({ state, nonce, login_hint: 'h'.repeat(100), ui_locales: 'u'.repeat(300) });
    const posted = way === 'POST' && (await open(`${sso}/auth/ssoValidateUser`, new URL(url).searchParams));
    const first = await open(posted ? (posted.headers.get('location') ?? '') : url);
    if (way === 'refused') {
      // Control characters take six bytes each inside; a login that would die halfway does not begin.
      assert.equal(first.status, 400);
      continue;
    }
    assert.equal(first.status, 200);
    const [phoneForm] = formsOf(await first.text());
    assert.ok(phoneForm);
    const sent = await open(
      phoneForm.action,
      new URLSearchParams({ ...phoneForm.fields, phone: demo.phone }),
    );
    assert.equal(sent.status, 303);
    const codePage = await open(sent.headers.get('location') ?? '');
    assert.equal(codePage.status, 200, `${state.slice(0, 2)} ${(sent.headers.get('location') ?? '').length}`);
    const [codeForm] = formsOf(await codePage.text());
    assert.ok(codeForm);
    const done = await open(codeForm.action, new URLSearchParams({ ...codeForm.fields, code: demo.code }));
    assert.equal(new URL(done.headers.get('location') ?? '').searchParams.get('state'), state);
  }
});

test('T14 R26 a form without our token, or with that of another browser, is refused and sends nothing', async () => {
  const phone = '+994551112233';
  const visitor = new Visitor(service);
  const other = new Visitor(service);
  const own = formsOf((await visitor.get(ask())).body)[0];
  const foreign = formsOf((await other.get(ask())).body)[0];
  assert.ok(own && foreign);
  for (const csrf of [
    '',
    'x',
    foreign.fields.csrf ?? '',
    `${own.fields.csrf}x`,
    (own.fields.csrf ?? '').slice(1),
  ]) {
    assertErrorPage(await visitor.post(own.action, { ...own.fields, csrf, phone }), 403);
  }
  const { csrf: _, ...without } = own.fields;
  assertErrorPage(await visitor.post(own.action, { ...without, phone }), 403);
  const bare = await new Visitor(service).post(own.action, { ...own.fields, phone });
  assertErrorPage(bare, 403);
  assert.equal(bare.headers['set-cookie'], undefined, 'a form on another site cannot take the cookie away');
  assertErrorPage(await other.post(own.action, { ...own.fields, phone }), 403);
  // Their own token with a login of somebody else's browser: the login is not theirs.
  assertErrorPage(await visitor.post(own.action, { ...own.fields, flow: foreign.fields.flow ?? '', phone }));
  assert.deepEqual(sentTo(phone), []);
  assert.equal((await visitor.post(own.action, { ...own.fields, phone })).statusCode, 303);
  assert.equal(sentTo(phone).length, 1);

  for (const path of ['/auth/code', '/auth/resend', '/auth/consent']) {
    assertErrorPage(
      await visitor.post(`${sso}${path}`, { flow: own.fields.flow ?? '', code: '000000' }),
      403,
    );
  }
});

test('T15 R26 a link from the middle of a login is of no use in another browser, which may start again', async () => {
  const attacker = new Visitor(service);
  const sent = await attacker.submit(await attacker.get(ask()), '/auth/login', { phone: demo.phone });
  const link = redirectOf(sent).href;
  assert.equal((await attacker.get(link)).statusCode, 200);

  const victim = new Visitor(service);
  const refused = await victim.get(link);
  assertErrorPage(refused);
  assert.ok(!refused.body.includes('0000001'), 'the number of the other person is not shown');
  assert.equal(formsOf(refused.body).length, 0);
  assertErrorPage(await victim.get(link.replace('/auth/code', '/auth/login')));
  assertErrorPage(await victim.get(link.replace('/auth/code', '/auth/consent')));

  const again = wayOn(refused);
  const fresh = await victim.get(again);
  assert.equal(fresh.statusCode, 200);
  assert.match(fresh.body, /name="phone"/);
  assert.equal(formsOf(fresh.body)[0]?.fields.phone, '', 'it begins with an empty number');
  await logInThrough(victim, again, second);
  assert.match((await attacker.get(link)).body, /name="code"/, 'the other login is where it was');
});

test('T15 two tabs opened at once in a new browser: the one whose cookie lost can start again', async () => {
  const tab = new Visitor(service);
  const other = new Visitor(service);
  const first = await tab.get(ask({ state: 'first' }));
  await other.get(ask({ state: 'second' }));
  for (const [name, value] of other.cookies) tab.cookies.set(name, value);
  const refused = await tab.submit(first, '/auth/login', { phone: demo.phone });
  assertErrorPage(refused, 403);
  const again = wayOn(refused);
  const back = await logInThrough(tab, again);
  assert.equal(back.searchParams.get('state'), 'first');
});

test('T16 R26 R72 a login makes a new cookie, whatever was there before, and it is a host cookie', async () => {
  const secure = await startTestApp({ BASE_URL: 'https://id.example', SSO_URL: 'https://sso.example' });
  const visitor = new Visitor(secure);
  visitor.cookies.set('__Host-tollgate-session', 'A'.repeat(86));
  const page = await visitor.get(ask({}, secure));
  assert.match(
    String(page.headers['set-cookie']),
    /^__Host-tollgate-browser=[\w-]{22}; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=86400$/,
  );
  assert.match(String(page.headers['strict-transport-security']), /max-age=31536000/);
  const codePage = await visitor.follow(await visitor.submit(page, '/auth/login', { phone: demo.phone }));
  const done = await visitor.submit(codePage, '/auth/code', { code: demo.code });
  const lines = [done.headers['set-cookie'] ?? []].flat();
  assert.equal(lines.length, 2);
  for (const line of lines) {
    assert.match(line, /^__Host-tollgate-(session|device)=[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Secure/);
    assert.doesNotMatch(line, /domain=/i);
  }
  const session = visitor.cookies.get('__Host-tollgate-session') ?? '';
  assert.notEqual(session, 'A'.repeat(86));
  assert.ok(Buffer.from(session, 'base64url').length >= 32 + 16);

  // The public sid is no secret: it opens nothing.
  const sid = redirectOf(done).searchParams.get('session_state') ?? '';
  const thief = new Visitor(secure);
  thief.cookies.set('__Host-tollgate-session', sid);
  assert.equal(errorOf(await thief.get(ask({ prompt: 'none' }, secure))), 'login_required');

  const before = session;
  secure.clock.move(1_000);
  await logInThrough(visitor, ask({ prompt: 'login' }, secure));
  assert.notEqual(visitor.cookies.get('__Host-tollgate-session'), before);
  const stale = new Visitor(secure);
  stale.cookies.set('__Host-tollgate-session', before);
  assert.equal(
    errorOf(await stale.get(ask({ prompt: 'none' }, secure))),
    'login_required',
    'the old one is dead',
  );
});

test('T17 R13 R14 R21 a login answers 303 with state, session_state, code and iss, and the nonce comes back', async () => {
  const visitor = new Visitor(service);
  const nonce = 'n0nce & "more" ə';
  const codePage = await toCodePage(visitor, ask({ nonce }));
  const done = await visitor.submit(codePage, '/auth/code', { code: demo.code });
  assert.equal(done.statusCode, 303);
  assert.equal(done.body, '');
  const back = redirectOf(done);
  assert.equal(`${back.origin}${back.pathname}`, demo.redirectUri);
  assert.deepEqual([...back.searchParams.keys()], ['state', 'session_state', 'code', 'iss']);
  assert.equal(back.searchParams.get('iss'), base);
  assert.match(back.searchParams.get('session_state') ?? '', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  const code = back.searchParams.get('code') ?? '';
  const other = redirectOf(await visitor.get(ask())).searchParams.get('code') ?? '';
  const bytes = [code, other].map((each) => Buffer.from(each, 'base64url'));
  assert.deepEqual(bytes[0]?.subarray(0, 16), bytes[1]?.subarray(0, 16), 'the person it belongs to');
  const own = bytes.map((each) => each.subarray(16));
  assert.ok(
    own.every((each) => each.length === 32),
    '256 bits of its own',
  );
  assert.notDeepEqual(own[0], own[1]);

  const tokens = (await exchange(service, code, pkce)).json<Tokens>();
  assert.equal(claimsOf(tokens.id_token).nonce, nonce);
  assert.equal(tokens.session_state, back.searchParams.get('session_state'));
});

test('R14 a nonce may have 512 characters', async () => {
  const back = await logInThrough(new Visitor(service), ask({ nonce: 'n'.repeat(512) }));
  const tokens = (await exchange(service, back.searchParams.get('code') ?? '', pkce)).json<Tokens>();
  assert.equal(claimsOf(tokens.id_token).nonce, 'n'.repeat(512));
  assertRedirectError(await visit(ask({ nonce: 'n'.repeat(513) })), 'invalid_request');
  assertRedirectError(await visit(ask({ nonce: 'a\u0000b' })), 'invalid_request');
});

test('T18 R19 a known and an unknown number get the same answers', async (t) => {
  const many = await startTestApp({ SMS_BLOCK_HOURLY: '100000', SMS_CLIENT_HOURLY: '100000' });
  // It stands still: the pages say how many seconds are left.
  many.clock.move(0);
  const known = Array.from({ length: 101 }, (_, n) => `+99450${1_000_000 + n}`);
  const unknown = Array.from({ length: 101 }, (_, n) => `+99450${2_000_000 + n}`);
  for (const phone of known) await createUser(many.areas.identity.users, { phone, actor: 'test' });

  const walk = async (phone: string, hint: boolean) => {
    const visitor = new Visitor(many);
    const page = await visitor.get(ask(hint ? { login_hint: phone } : {}, many));
    const begun = performance.now();
    const sent = await visitor.submit(page, '/auth/login', { phone });
    const sentMs = performance.now() - begun;
    const codePage = await visitor.follow(sent);
    const guessed = performance.now();
    const wrong = await visitor.submit(codePage, '/auth/code', { code: wrongCode(many, phone) });
    const wrongMs = performance.now() - guessed;
    return { answers: [page, sent, codePage, wrong].map((answer) => plain(answer, phone)), sentMs, wrongMs };
  };
  const first = await walk(known[100] ?? '', true);
  const other = await walk(unknown[100] ?? '', true);
  assert.deepEqual(first.answers, other.answers);
  assert.equal(first.answers[3]?.status, 400);

  const times = { known: [] as number[][], unknown: [] as number[][] };
  const groups = { known, unknown };
  for (let n = 0; n < 100; n++) {
    const order = n % 2 === 0 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const);
    for (const group of order) {
      const { sentMs, wrongMs } = await walk(groups[group][n] ?? '', false);
      times[group].push([sentMs, wrongMs]);
    }
  }
  for (const [step, name] of ['asking for a code', 'a wrong code'].entries()) {
    const [a, b] = [times.known, times.unknown].map((all) => median(all.map((each) => each[step] ?? 0)));
    t.diagnostic(
      `${name}: known ${a?.toFixed(2)} ms, unknown ${b?.toFixed(2)} ms, ratio ${((a ?? 0) / (b ?? 1)).toFixed(3)}`,
    );
  }
});

test('T18 with registration closed, the refusal of an unknown number comes only after its code is proven', async () => {
  const closed = await startTestApp({ SELF_REGISTRATION: 'off' });
  const visitor = new Visitor(closed);
  const phone = '+994509998877';
  const codePage = await toCodePage(visitor, ask({}, closed), phone);
  assert.equal(codePage.statusCode, 200);
  const wrong = await visitor.submit(codePage, '/auth/code', { code: wrongCode(closed, phone) });
  assert.equal(wrong.statusCode, 400);
  const refused = await visitor.submit(codePage, '/auth/code', { code: codeSentTo(closed, phone) });
  assertErrorPage(refused, 403);
  assert.equal(refused.headers['set-cookie'], undefined);
  assert.equal(errorOf(await visitor.get(ask({ prompt: 'none' }, closed))), 'login_required');
});

test('an inactive person is refused after the code, and may go on with another number', async () => {
  const visitor = new Visitor(service);
  const codePage = await toCodePage(visitor, ask({ state: 'mine' }), '+994500000003');
  const refused = await visitor.submit(codePage, '/auth/code', { code: demo.code });
  assertErrorPage(refused, 403);
  const link = wayOn(refused);
  const back = await logInThrough(visitor, link);
  assert.equal(back.searchParams.get('state'), 'mine');
});

test('T19 however a number is written, it is one person', async () => {
  const subjects = new Set<unknown>();
  for (const typed of ['+994 50 123-45-67', '0501234567', '+٩٩٤٥٠١٢٣٤٥٦٧']) {
    const visitor = new Visitor(service);
    const codePage = await toCodePage(visitor, ask(), typed);
    const [text] = sentTo('+994501234567').slice(-1);
    assert.ok(text, typed);
    const done = await visitor.submit(codePage, '/auth/code', { code: text.text.slice(0, 6) });
    const code = redirectOf(done).searchParams.get('code') ?? '';
    const tokens = (await exchange(service, code, pkce)).json<Tokens>();
    assert.equal(claimsOf(tokens.access_token).preferred_username, '+994501234567');
    subjects.add(claimsOf(tokens.access_token).sub);
    service.clock.move(60_000);
  }
  assert.equal(subjects.size, 1);
  const { count } = await service.db.one<{ count: number }>(
    sql`select count(*)::int as count from identity.users where phone = '+994501234567'`,
  );
  assert.equal(count, 1);
});

test('T19 what is no phone number is refused at the field and sends nothing', async () => {
  const before = service.texts.length;
  const visitor = new Visitor(service);
  const page = await visitor.get(ask());
  for (const phone of [
    "+99450'--",
    '1'.repeat(30),
    '+'.repeat(30),
    '',
    '   ',
    '12',
    '0501234567 ext 12',
    '0501234567;0551234567',
    '+994501234567,+994551234567',
    '+994501234567\r\n+994551234567',
    '<b>0501234567</b>',
    '05O1234567',
    '\u0000',
    'x'.repeat(50_000),
  ]) {
    const answer = await visitor.submit(page, '/auth/login', { phone });
    assert.equal(answer.statusCode, 400, phone.slice(0, 40));
    assert.match(answer.body, /aria-invalid="true"/);
    assert.doesNotMatch(answer.body, /<b>0501234567/);
    assertSafePage(answer);
  }
  assert.equal(service.texts.length, before);
});

test('R15 prompt=none never shows a page', async () => {
  assertRedirectError(await visit(ask({ prompt: 'none' })), 'login_required');
  const { visitor } = await logIn(service);
  assert.ok(redirectOf(await visitor.get(ask({ prompt: 'none' }))).searchParams.get('code'));
  service.clock.move(2_000);
  assertRedirectError(await visitor.get(ask({ prompt: 'none', max_age: '1' })), 'login_required');
  assert.ok(redirectOf(await visitor.get(ask({ prompt: 'none', max_age: '100' }))).searchParams.get('code'));
  const outside = await visitor.get(ask({ prompt: 'none', client_id: external.clientId }));
  assertRedirectError(outside, 'consent_required');
  const posted = await visitor.post(
    `${sso}/auth/ssoValidateUser`,
    Object.fromEntries(new URL(ask({ prompt: 'none' })).searchParams),
  );
  assert.ok(redirectOf(await visitor.follow(posted)).searchParams.get('code'));
});

test('R15 prompt=none stands alone, and unknown or misspelt prompts are refused', async () => {
  const { visitor } = await logIn(service);
  for (const prompt of [
    'none login',
    'login none',
    'none consent',
    'none none',
    'NONE',
    'create',
    'login,consent',
    'none\u0000',
  ]) {
    assertRedirectError(await visitor.get(ask({ prompt })), 'invalid_request');
  }
  service.clock.move(1_000);
  for (const prompt of [
    'login',
    'select_account',
    'login consent',
    'consent login select_account',
    ' login ',
  ]) {
    const page = await visitor.get(ask({ prompt }));
    assert.match(page.body, /name="phone"/, prompt);
  }
});

test('R16 prompt=login asks for the code anew, and neither a link nor a reload gets around it', async () => {
  const { visitor, id_token } = await logIn(service);
  const cookie = visitor.cookies.get('tollgate-session');
  service.clock.move(5_000);
  const page = await visitor.get(ask({ prompt: 'login' }));
  const sent = await visitor.submit(page, '/auth/login', { phone: demo.phone });
  const link = redirectOf(sent).href;
  for (const path of ['/auth/code', '/auth/login', '/auth/consent']) {
    const answer = await visitor.follow(await visitor.get(link.replace('/auth/code', path)));
    assert.equal(answer.headers.location, undefined, path);
    assert.match(answer.body, /name="(code|phone)"/);
  }
  const codePage = await visitor.follow(sent);
  const wrong = await visitor.submit(codePage, '/auth/code', { code: '000000' });
  assert.equal(wrong.statusCode, 400);
  const back = redirectOf(await visitor.submit(codePage, '/auth/code', { code: demo.code }));
  assert.notEqual(visitor.cookies.get('tollgate-session'), cookie, 'a new login is a new cookie');
  const tokens = (await exchange(service, back.searchParams.get('code') ?? '', pkce)).json<Tokens>();
  assert.equal(Number(claimsOf(tokens.id_token).auth_time) - Number(claimsOf(id_token).auth_time), 5);
});

test('R17 max_age is kept to the second, 0 always asks, and auth_time is in every ID token', async () => {
  const { visitor, id_token } = await logIn(service);
  assert.equal(typeof claimsOf(id_token).auth_time, 'number');
  service.clock.move(60_000);
  assert.ok(redirectOf(await visitor.get(ask({ max_age: '60' }))).searchParams.get('code'));
  service.clock.move(1);
  assert.match((await visitor.get(ask({ max_age: '60' }))).body, /name="phone"/);
  assert.match((await visitor.get(ask({ max_age: '0' }))).body, /name="phone"/);
  const back = await logInThrough(visitor, ask({ max_age: '0' }));
  assert.ok(back.searchParams.get('code'), 'the login just made is new enough');
  for (const max_age of ['-1', '1.5', 'x', '1e3', '9'.repeat(10), ' 1', '0x10']) {
    assertRedirectError(await visitor.get(ask({ max_age })), 'invalid_request');
  }
});

test('R18 id_token_hint names whom the client expects, also when it has expired', async () => {
  const mine = await logIn(service);
  const theirs = await logIn(service, { person: second });
  service.clock.move(10 * 60_000);
  const { visitor } = mine;
  const silent = (id_token_hint: string) => visitor.get(ask({ prompt: 'none', id_token_hint }));
  assert.ok(redirectOf(await silent(mine.id_token)).searchParams.get('code'));
  assertRedirectError(await silent(theirs.id_token), 'login_required');

  // With pages, the other person may log in; when the first one does so again, the client is told.
  const hinted = ask({ id_token_hint: theirs.id_token });
  assert.match((await visitor.get(hinted)).body, /name="phone"/);
  const codePage = await toCodePage(visitor, hinted, demo.phone);
  assertRedirectError(await visitor.submit(codePage, '/auth/code', { code: demo.code }), 'login_required');
  service.clock.move(1_000);
  const back = await logInThrough(visitor, hinted, second);
  assert.ok(back.searchParams.get('code'));

  const [header, claims] = mine.id_token.split('.');
  const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
  for (const bad of [
    'x',
    'a.b.c',
    `${header}.${claims}.AAAA`,
    `${none}.${claims}.`,
    mine.access_token,
    mine.refresh_token,
    '\u0000',
    'x'.repeat(9_000),
  ]) {
    assertRedirectError(await silent(bad), 'invalid_request');
    assertRedirectError(await visitor.get(ask({ id_token_hint: bad })), 'invalid_request');
  }
});

test('R19 login_hint fills in the number and nothing else', async () => {
  for (const phone of [demo.phone, '+994507776655', 'somebody@example.com']) {
    const page = await visit(ask({ login_hint: phone }));
    assert.equal(formsOf(page.body)[0]?.fields.phone, phone);
  }
  const { visitor } = await logIn(service);
  const back = redirectOf(await visitor.get(ask({ login_hint: second.phone })));
  assert.ok(back.searchParams.get('code'), 'a hint does not end the single sign-on');
});

test('R20 an essential acr that is not offered is an error, and never a weaker token', async () => {
  const { visitor } = await logIn(service);
  const claims = (acr: unknown) => JSON.stringify({ id_token: { acr } });
  for (const acr of [
    { essential: true, value: 'urn:mace:incommon:iap:silver' },
    { essential: true, values: ['a', 'b'] },
    { essential: true, values: [] },
  ]) {
    assertRedirectError(await visitor.get(ask({ claims: claims(acr) })), 'unmet_authentication_requirements');
  }
  const own = 'urn:tollgate:otp-sms';
  for (const asked of [
    claims({ essential: true, value: own }),
    claims({ essential: true, values: ['a', own] }),
    claims({ essential: true }),
    claims({ value: 'a' }),
    claims(null),
    'null',
    '[]',
    '"x"',
    '{',
    '{"id_token":1}',
  ]) {
    const back = redirectOf(await visitor.get(ask({ claims: asked })));
    assert.ok(back.searchParams.get('code'), asked);
  }
  assert.ok(redirectOf(await visitor.get(ask({ acr_values: 'a b' }))).searchParams.get('code'));
});

test('R21 every answer to a form that redirects is a 303, which never sends the form on', async () => {
  const visitor = new Visitor(service);
  const statuses: number[] = [];
  const page = await visitor.get(ask({ client_id: external.clientId, prompt: 'login' }));
  const sent = await visitor.submit(page, '/auth/login', { phone: second.phone });
  const codePage = await visitor.follow(sent);
  const resent = await visitor.submit(codePage, '/auth/resend');
  const proven = await visitor.submit(await visitor.follow(resent), '/auth/code', { code: second.code });
  const consentPage = await visitor.follow(proven);
  const allowed = await visitor.submit(consentPage, '/auth/consent', { decision: 'allow' });
  statuses.push(...[sent, resent, proven, allowed].map((answer) => answer.statusCode));
  assert.deepEqual(statuses, [303, 303, 303, 303]);
  assertSafePage(codePage);
  assertSafePage(consentPage);
  assert.ok(redirectOf(allowed).searchParams.get('code'));
});

test('R22 scripts of other sites cannot read the authorization endpoint or the pages', async () => {
  for (const method of ['GET', 'POST', 'OPTIONS'] as const) {
    const answer = await service.app.inject({
      method,
      url: new URL(ask()).pathname + new URL(ask()).search,
      headers: {
        origin: 'https://evil.example',
        'access-control-request-method': 'POST',
        ...(method === 'POST' ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
      },
    });
    const allowed = Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'));
    assert.deepEqual(allowed, []);
  }
});

test('R25 an error is sent only to an address that the operator has registered for this client', async () => {
  assertErrorPage(await visit(ask({ client_id: rp.clientId, prompt: 'none' })));
  assertErrorPage(await visit(ask({ redirect_uri: 'https://rp.example/cb', prompt: 'none' })));
  assertErrorPage(await visit(ask({ redirect_uri: 'https://evil.example', scope: 'x' })));
  assertErrorPage(await visit(ask({ state: 'x'.repeat(3000), redirect_uri: 'https://evil.example' })));
});

test('a client that is switched off, or that may not use the code flow, gets no login page', async () => {
  const off = await addClient(service.db);
  await service.db.run(sql`update identity.clients set disabled_at = now() where client_id = ${off}`);
  assertErrorPage(await visit(ask({ client_id: off, scope: 'openid' })));
  const machine = await addClient(service.db, { grantTypes: ['client_credentials'] });
  assertRedirectError(await visit(ask({ client_id: machine, scope: 'openid' })), 'unauthorized_client');
});

test('state and PKCE can be switched off for one client, and what is sent all the same still counts', async () => {
  const clientId = await addClient(service.db, { requireState: false, requirePkce: false });
  const free = { client_id: clientId, scope: 'openid', state: null };
  const challenge = { code_challenge: null, code_challenge_method: null };
  assert.equal((await visit(ask({ ...free, ...challenge }))).statusCode, 200);
  const back = await logInThrough(new Visitor(service), ask({ ...free, ...challenge }));
  assert.deepEqual([...back.searchParams.keys()], ['session_state', 'code', 'iss']);
  assertRedirectError(await visit(ask({ ...free, code_challenge_method: 'plain' })), 'invalid_request', null);
  assertRedirectError(await visit(ask({ ...free, code_challenge: null })), 'invalid_request', null);
});

test('where real people are, a client without PKCE must send a nonce', async () => {
  const real = await startTestApp({
    TOLLGATE_ENV: 'dmz',
    TRUST_PROXY: 'none',
    BASE_URL: 'https://id.example',
    SSO_URL: 'https://sso.example',
    CHECKOUT_BASE_URL: 'https://pay.example',
    KEYS_SECRET: 'k9Yw2uVt7Qe4Rz1Xc8Bn5Mh3Lj6Pd0Sa',
    SMS_SENDER: 'http',
    SMS_HTTP_URL: 'https://sms.example/send',
    SMS_HTTP_SECRET: 'p4Wm8Tz2Kx6Vb1Nq9Rc3Yh7Lf5Jd0Gs8',
    CHECKOUT_ENV: 'preprod',
  });
  const clientId = await addClient(real.db, { requirePkce: false });
  const changes = { client_id: clientId, scope: 'openid', code_challenge: null, code_challenge_method: null };
  const visitor = new Visitor(real);
  assert.equal(errorOf(await visitor.get(ask(changes, real))), 'invalid_request');
  assert.equal((await visitor.get(ask({ ...changes, nonce: 'n' }, real))).statusCode, 200);
});

test('consent is asked once for a client outside the ecosystem, again for more, and a no goes back as a no', async () => {
  const clientId = await addClient(service.db, {
    audience: 'external',
    identityDocuments: false,
    scopes: ['openid', 'profile', 'phone'],
  });
  const { visitor } = await logIn(service);
  const askFor = (scope: string, more: Record<string, string> = {}) =>
    ask({ client_id: clientId, scope, ...more });
  const asks = async (url: string) => {
    const page = await visitor.follow(await visitor.get(url));
    return page.statusCode === 200 && page.body.includes('value="deny"') ? page : undefined;
  };

  const page = await asks(askFor('openid'));
  assert.ok(page);
  assertRedirectError(await visitor.submit(page, '/auth/consent', { decision: 'deny' }), 'access_denied');
  assertRedirectError(await visitor.submit(page, '/auth/consent'), 'access_denied');
  assert.ok(await asks(askFor('openid')), 'a no is not remembered as a yes');
  assert.ok(
    redirectOf(await visitor.submit(page, '/auth/consent', { decision: 'allow' })).searchParams.get('code'),
  );
  assert.ok(!(await asks(askFor('openid'))));
  assert.ok(await asks(askFor('openid phone')), 'more is asked for');
  service.clock.move(1_000);
  assert.ok(await asks(askFor('openid', { prompt: 'consent' })));
  assert.ok(await asks(ask({ prompt: 'consent' })), 'prompt=consent asks for ecosystem clients too');
});

test('a yes to little in one tab is no yes to more in another, even with prompt=consent', async () => {
  const clientId = await addClient(service.db, {
    audience: 'external',
    identityDocuments: false,
    scopes: ['openid', 'profile', 'phone'],
  });
  const { visitor } = await logIn(service);
  service.clock.move(1_000);
  const more = await visitor.get(ask({ client_id: clientId, scope: 'openid profile', prompt: 'consent' }));
  const morePage = redirectOf(more).href;
  service.clock.move(1_000);
  const little = await visitor.follow(
    await visitor.get(ask({ client_id: clientId, scope: 'openid', prompt: 'consent' })),
  );
  const allowed = await visitor.submit(little, '/auth/consent', { decision: 'allow' });
  assert.ok(redirectOf(allowed).searchParams.get('code'));
  const again = await visitor.get(morePage);
  assert.equal(again.headers.location, undefined, 'the larger question still stands');
  assert.match(again.body, /value="deny"/);
});

test('consent cannot be given in the name of whoever is logged in by then', async () => {
  const visitor = new Visitor(service);
  await logInThrough(visitor, ask(), second);
  const page = await visitor.follow(
    await visitor.get(ask({ client_id: external.clientId, prompt: 'consent' })),
  );
  assert.match(page.body, /value="deny"/);
  visitor.cookies.delete('tollgate-session');
  const answer = await visitor.follow(await visitor.submit(page, '/auth/consent', { decision: 'allow' }));
  assert.match(answer.body, /name="phone"/, 'without a session one has to log in first');
});

test('a login page works for thirty minutes, then one click begins anew', async () => {
  const visitor = new Visitor(service);
  const page = await visitor.get(ask({ state: 'patient' }));
  service.clock.move(30 * 60_000);
  const codePage = await visitor.follow(await visitor.submit(page, '/auth/login', { phone: demo.phone }));
  assert.match(codePage.body, /name="code"/, 'the last instant');
  service.clock.move(1);
  for (const answer of [
    await visitor.submit(page, '/auth/login', { phone: demo.phone }),
    await visitor.submit(codePage, '/auth/code', { code: demo.code }),
    await visitor.submit(codePage, '/auth/resend'),
  ]) {
    assertErrorPage(answer);
    const again = wayOn(answer);
    const back = await logInThrough(new Visitor(service), ask(), second).then(() => visitor.get(again));
    assert.match(back.body, /name="phone"/);
  }
  const expired = await visitor.submit(page, '/auth/login', { phone: demo.phone });
  const again = wayOn(expired);
  assert.equal((await logInThrough(visitor, again)).searchParams.get('state'), 'patient');
});

test('a broken, foreign or missing flow is an error page, whatever else the request says', async () => {
  const visitor = new Visitor(service);
  const own = formsOf((await visitor.get(ask())).body)[0];
  assert.ok(own);
  const flow = own.fields.flow ?? '';
  for (const path of ['/auth/login', '/auth/code', '/auth/consent']) {
    for (const value of [null, '', 'x', flow.slice(0, -1), `${flow}A`, `A${flow}`, '%00', 'A'.repeat(9000)]) {
      const query = value === null ? '' : `?flow=${value}`;
      assertErrorPage(await visitor.get(`${sso}${path}${query}`));
      const fields = { ...own.fields, phone: demo.phone, code: '000000', flow: value ?? '' };
      assertErrorPage(await visitor.post(`${sso}${path}`, fields));
    }
  }
});

test('the browser keeps its name for another day with every visit, so that no login breaks at midnight', async () => {
  const visitor = new Visitor(service);
  await visitor.get(ask());
  const name = visitor.cookies.get('tollgate-browser');
  const again = await visitor.get(ask());
  assert.equal(visitor.cookies.get('tollgate-browser'), name);
  assert.match(String(again.headers['set-cookie']), /^tollgate-browser=[\w-]{22}; .*Max-Age=86400$/);
});

test('without cookies nothing works, and the person is told instead of being sent round in circles', async () => {
  const page = await visit(ask());
  const answer = await new Visitor(service).submit(page, '/auth/login', { phone: demo.phone });
  assertErrorPage(answer, 403);
  for (const value of ['', 'x', '"', 'ə', '../..', 'A'.repeat(22), 'A'.repeat(3000)]) {
    const strange = new Visitor(service);
    for (const name of ['browser', 'session', 'device'])
      strange.cookies.set(`tollgate-${name}`, encodeURI(value));
    const shown = await strange.get(ask());
    assert.equal(shown.statusCode, 200);
    const back = await logInThrough(strange, ask());
    assert.ok(back.searchParams.get('code'));
  }
});

test('back and reload at every step show the step again and do nothing twice', async () => {
  const phone = '+994557654321';
  const visitor = new Visitor(service);
  const url = ask({ state: 'back' });
  const page = await visitor.get(url);
  assert.equal((await visitor.get(url)).statusCode, 200);
  assert.equal(sentTo(phone).length, 0);

  const sent = await visitor.submit(page, '/auth/login', { phone });
  const codeUrl = redirectOf(sent).href;
  const codePage = await visitor.get(codeUrl);
  for (let reloads = 0; reloads < 3; reloads++) assert.equal((await visitor.get(codeUrl)).statusCode, 200);
  assert.equal(sentTo(phone).length, 1, 'a page that is only shown sends nothing');
  const again = await visitor.follow(await visitor.submit(page, '/auth/login', { phone }));
  assert.match(again.body, /role="status"/, 'the second tab is told that a code is on its way');
  assert.equal(sentTo(phone).length, 1);

  const code = codeSentTo(service, phone);
  const done = redirectOf(await visitor.submit(codePage, '/auth/code', { code }));
  const sid = done.searchParams.get('session_state');
  // The code page again, by reload of its form, by its link, and the page of the number before it.
  for (const answer of [
    await visitor.submit(codePage, '/auth/code', { code }),
    await visitor.get(codeUrl),
    await visitor.submit(page, '/auth/login', { phone }),
    await visitor.get(url),
  ]) {
    const back = redirectOf(answer);
    assert.equal(back.searchParams.get('session_state'), sid, 'the same session, whatever was clicked');
    assert.equal(back.searchParams.get('state'), 'back');
    assert.notEqual(back.searchParams.get('code'), done.searchParams.get('code'));
  }
  assert.equal(sentTo(phone).length, 1);
});

test('two logins in one browser, ended in reverse order, each go back to their own client with their own state', async () => {
  const visitor = new Visitor(service);
  const a = newPkce();
  const b = newPkce();
  const first = await toCodePage(visitor, authorizeUrl(service, a, { state: 'a', nonce: 'na' }), demo.phone);
  const rpUrl = authorizeUrl(service, b, {
    state: 'b',
    client_id: rp.clientId,
    scope: 'openid',
    redirect_uri: 'https://rp.example/cb',
  });
  const other = await toCodePage(visitor, rpUrl, second.phone);
  const doneB = redirectOf(await visitor.submit(other, '/auth/code', { code: second.code }));
  const doneA = redirectOf(await visitor.submit(first, '/auth/code', { code: demo.code }));
  assert.equal(doneB.host, 'rp.example');
  assert.equal(doneB.searchParams.get('state'), 'b');
  assert.equal(`${doneA.origin}${doneA.pathname}`, demo.redirectUri);
  assert.equal(doneA.searchParams.get('state'), 'a');
  assert.notEqual(doneA.searchParams.get('session_state'), doneB.searchParams.get('session_state'));
  const tokens = (await exchange(service, doneA.searchParams.get('code') ?? '', a)).json<Tokens>();
  assert.equal(claimsOf(tokens.access_token).preferred_username, demo.phone);
  assert.equal(claimsOf(tokens.id_token).nonce, 'na');
  const now = redirectOf(await visitor.get(ask({ prompt: 'none' })));
  assert.equal(now.searchParams.get('session_state'), tokens.session_state, 'the last login is the session');
});

test('two tabs of one person, ended in reverse order, share one session and need one code', async () => {
  const visitor = new Visitor(service);
  const first = await toCodePage(visitor, ask({ state: 'one' }));
  const later = await toCodePage(visitor, ask({ state: 'two' }));
  const two = redirectOf(await visitor.submit(later, '/auth/code', { code: demo.code }));
  const one = redirectOf(await visitor.submit(first, '/auth/code', { code: 'not needed' }));
  assert.deepEqual(
    [one, two].map((back) => back.searchParams.get('state')),
    ['one', 'two'],
  );
  assert.equal(one.searchParams.get('session_state'), two.searchParams.get('session_state'));
});

test('the links to other languages keep the login, the number and the step', async () => {
  const visitor = new Visitor(service);
  const page = await visitor.get(ask({ state: 'spoken', ui_locales: 'en' }));
  assert.match(page.body, /<html lang="en"/);
  const russian = linkTo(page, 'ru');
  const translated = await visitor.get(russian);
  assert.match(translated.body, /<html lang="ru"/);
  const codePage = await visitor.follow(
    await visitor.submit(translated, '/auth/login', { phone: demo.phone }),
  );
  assert.match(codePage.body, /<html lang="ru"/);
  const before = service.texts.length;
  const azeri = await visitor.get(linkTo(codePage, 'az'));
  assert.match(azeri.body, /<html lang="az"/);
  assert.match(azeri.body, /name="code"/);
  assert.equal(service.texts.length, before);
  const wrong = await visitor.submit(azeri, '/auth/code', { code: '000000' });
  assert.match(wrong.body, /<html lang="az"/, 'a page after a form too');
  assert.match((await visitor.get(linkTo(wrong, 'en'))).body, /<html lang="en"/);
  const back = redirectOf(await visitor.submit(azeri, '/auth/code', { code: demo.code }));
  assert.equal(back.searchParams.get('state'), 'spoken');
  assertErrorPage(await new Visitor(service).get(russian));
});

test('the way out of the login page goes back to the client as access_denied', async () => {
  const page = await visit(ask({ state: 'a&b"<' }));
  const href = /<a class="link" href="([^"]+)"/.exec(page.body)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const back = new URL(href);
  assert.equal(`${back.origin}${back.pathname}`, demo.redirectUri);
  assert.equal(back.searchParams.get('error'), 'access_denied');
  assert.equal(back.searchParams.get('state'), 'a&b"<');
  assert.equal(back.searchParams.get('iss'), base);
});

test('HEAD tells what GET would, without a body; other methods are refused with what is allowed', async () => {
  const path = new URL(ask()).pathname + new URL(ask()).search;
  const head = await service.app.inject({ method: 'HEAD', url: path });
  assert.equal(head.statusCode, 200);
  assert.equal(head.body, '');
  const nobody = await service.app.inject({ method: 'HEAD', url: `${path}&client_id=x` });
  assert.equal(nobody.statusCode, 400);
  for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS'] as const) {
    const answer = await service.app.inject({ method, url: path });
    assert.equal(answer.statusCode, 405, method);
    assert.match(String(answer.headers.allow), /GET.*POST/);
  }
  const trace = await raw(`TRACE ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`);
  assert.match(trace, /^HTTP\/1\.1 (404|405) /);
});

test('a body that is no form is refused with a page, and a session is not touched by it', async () => {
  for (const [type, payload] of [
    ['application/json', '{"client_id":"demo-partner"}'],
    ['multipart/form-data; boundary=x', '--x--'],
    ['text/plain', 'client_id=demo-partner'],
    ['application/x-www-form-urlencoded; charset=utf-16', 'client_id=demo-partner'],
  ] as const) {
    for (const path of ['/sso/auth/ssoValidateUser', '/sso/auth/login', '/sso/auth/code']) {
      const answer = await service.app.inject({
        method: 'POST',
        url: path,
        headers: { 'content-type': type },
        payload,
      });
      assert.ok(answer.statusCode === 415 || /charset/.test(type), `${type} ${answer.statusCode}`);
      assert.ok(answer.statusCode < 500);
    }
  }
});

test('addresses with broken percent signs, long names and thousands of parameters never fail on our side', async () => {
  const start = new URL(ask());
  for (const tail of [
    '&%',
    '&%zz=%zz',
    '&a=%ff%fe',
    '&=',
    '&&&&',
    `&${'p'.repeat(8_000)}=1`,
    `&${Array.from({ length: 2_000 }, (_, n) => `p${n}`).join('&')}`,
    '&__proto__=1&constructor=2&toString=3',
    '#fragment',
  ]) {
    const answer = await service.app.inject({ url: start.pathname + start.search + tail });
    assert.equal(answer.statusCode, 200, tail.slice(0, 30));
  }
  assertRedirectError(await visit(`${start.href}&__proto__=1&__proto__=2`), 'invalid_request');
  const tooLong = await raw(
    `GET ${start.pathname}${start.search}&x=${'x'.repeat(20_000)} HTTP/1.1\r\nhost: localhost\r\n\r\n`,
  );
  assert.match(tooLong, /^HTTP\/1\.1 431 /);
});

test('links are made from the settings, never from the host that the caller names', async () => {
  const answer = await service.app.inject({
    url: new URL(ask()).pathname + new URL(ask()).search,
    headers: { host: 'evil.example', 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' },
  });
  assert.equal(answer.statusCode, 200);
  assert.ok(!answer.body.includes('evil.example'));
  assert.ok(formsOf(answer.body)[0]?.action.startsWith(sso));
});

test('a session that ends while a login page is open is not revived by it', async () => {
  const { visitor, access_token } = await logIn(service);
  const out = await service.app.inject({
    method: 'POST',
    url: '/api/v1/identity/logout',
    headers: bearer(access_token),
  });
  assert.equal(out.statusCode, 204);
  assertRedirectError(await visitor.get(ask({ prompt: 'none' })), 'login_required');
  assert.match((await visitor.get(ask())).body, /name="phone"/);
});

test('the session ends after thirty idle minutes, and at the latest after ten hours', async () => {
  const { visitor } = await logIn(service);
  const silently = async () =>
    redirectOf(await visitor.get(ask({ prompt: 'none' }))).searchParams.has('code');
  service.clock.move(30 * 60_000 - 1);
  assert.ok(await silently());
  service.clock.move(30 * 60_000);
  assert.ok(!(await silently()), 'idle');

  const busy = await logIn(service);
  const still = async () =>
    redirectOf(await busy.visitor.get(ask({ prompt: 'none' }))).searchParams.has('code');
  for (let minutes = 0; minutes < 580; minutes += 20) {
    service.clock.move(20 * 60_000);
    assert.ok(await still());
  }
  service.clock.move(20 * 60_000 - 1);
  assert.ok(await still(), 'the last instant');
  service.clock.move(1);
  assert.ok(!(await still()), 'ten hours');
});

test('R84 a number that was taken from a person logs nobody in as them', async () => {
  const phone = '+994559990001';
  const userId = await createUser(service.areas.identity.users, { phone, actor: 'test' });
  const visitor = new Visitor(service);
  const codePage = await toCodePage(visitor, ask(), phone);
  await changePhone(service.areas.identity.users, {
    userId: userId as UserId,
    phone: '+994559990002',
    actor: 'test',
  });
  const done = redirectOf(await visitor.submit(codePage, '/auth/code', { code: codeSentTo(service, phone) }));
  const tokens = (await exchange(service, done.searchParams.get('code') ?? '', pkce)).json<Tokens>();
  assert.notEqual(claimsOf(tokens.access_token).sub, userId);
});

/** Where the button of a message leads. */
function wayOn(page: Answer): string {
  const href = /<a class="button" href="([^"]+)"/.exec(page.body)?.[1];
  assert.ok(href, 'there is a way on');
  return href.replaceAll('&amp;', '&');
}

function linkTo(page: Answer, language: string): string {
  const href = new RegExp(`<a href="([^"]+)" hreflang="${language}"`).exec(page.body)?.[1];
  assert.ok(href, `no link to ${language}`);
  return href.replaceAll('&amp;', '&');
}

function codeSentTo(at: TestApp, phone: string): string {
  const text = at.texts.findLast((sent) => sent.phone === phone)?.text;
  assert.ok(text, `nothing was sent to ${phone}`);
  return text.slice(0, 6);
}

function wrongCode(at: TestApp, phone: string): string {
  return codeSentTo(at, phone) === '000000' ? '000001' : '000000';
}

/** An answer without what is random or the number itself. */
function plain(answer: Answer, phone: string) {
  const readable = phone.replace(/^(\+994)(\d\d)(\d{3})(\d\d)(\d\d)$/, '$1\u00a0$2\u00a0$3\u00a0$4\u00a0$5');
  const hide = (text: string) =>
    text
      .replace(/(flow=|name="flow" value="|name="csrf" value=")[\w-]+/g, (_all, name: string) => `${name}…`)
      .replaceAll(phone, '…')
      .replaceAll(readable, '…');
  const { 'x-request-id': _, date: __, ...headers } = answer.headers;
  return {
    status: answer.statusCode,
    body: hide(answer.body),
    headers: {
      ...headers,
      ...(headers.location ? { location: hide(String(headers.location)) } : {}),
      ...(headers['set-cookie']
        ? { 'set-cookie': String(headers['set-cookie']).replace(/=[\w-]{22,}/, '=…') }
        : {}),
    },
    linkLength: String(headers.location ?? '').length,
  };
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** Bytes to our own socket, and all that comes back. */
async function raw(request: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(request);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  await once(socket, 'close');
  return Buffer.concat(chunks).toString();
}
