import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../../src/platform/db.ts';
import { startTestApp } from '../support/app.ts';
import {
  type Answer,
  authorizeUrl,
  bearer,
  demo,
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
import { addPerson, register, testPhonesSetting } from '../support/registered.ts';

const service = await startTestApp({ TEST_PHONES: testPhonesSetting });
const pkce = newPkce();

test('a body of spaces to a call that takes none does not hold up the process', async () => {
  const payload = `${' '.repeat(1_000)}x`;
  const answer = await service.app.inject({ method: 'POST', url: '/api/v1/identity/logout', payload });
  assert.equal(answer.statusCode, 400);
  const larger = await service.app.inject({
    method: 'POST',
    url: '/api/v1/identity/logout',
    payload: ' '.repeat(60_000),
  });
  assert.equal(larger.statusCode, 413);
});

test('a login that is under way leads nowhere once its client or its address is gone', async () => {
  for (const [change, undo] of [
    [
      sql`update identity.clients set redirect_uris = '{}' where client_id = ${'leaving'}`,
      sql`update identity.clients set redirect_uris = ${[demo.redirectUri]} where client_id = ${'leaving'}`,
    ],
    [
      sql`update identity.clients set disabled_at = now() where client_id = ${'leaving'}`,
      sql`update identity.clients set disabled_at = null where client_id = ${'leaving'}`,
    ],
  ] as const) {
    await register(service, { clientId: 'leaving' }).catch(() => {});
    const visitor = new Visitor(service);
    const page = await visitor.get(authorizeUrl(service, pkce, { client_id: 'leaving' }));
    const codePage = await visitor.follow(await visitor.submit(page, '/auth/login', { phone: demo.phone }));
    await service.db.run(change);
    await untilForgotten();
    const answer = await visitor.submit(codePage, '/auth/code', { code: demo.code });
    assert.equal(answer.statusCode, 400);
    assert.equal(answer.headers.location, undefined);
    await service.db.run(undo);
    await untilForgotten();
  }
});

test('consent is for what was shown, and asked again when documents are added', async () => {
  const person = await addPerson(service, { pin: '7ABCDEF' });
  const client = await register(service, {
    clientId: 'outside',
    audience: 'external',
    identityDocuments: false,
  });
  const visitor = new Visitor(service);
  const consentPage = await toConsent(visitor, person);
  await service.db.run(
    sql`update identity.clients set identity_documents = true where client_id = ${'outside'}`,
  );
  await untilForgotten();
  // What was not on the page is asked for on another one.
  const again = await visitor.follow(
    await visitor.submit(consentPage, '/auth/consent', { decision: 'allow' }),
  );
  assert.match(again.body, /name="decision"/);
  const [saved] = await service.db.many<{ identityDocuments: boolean }>(
    sql`select identity_documents from identity.consents where client_id = ${'outside'}`,
  );
  assert.equal(saved?.identityDocuments, false);
  const profile = async (back: URL) => {
    const answer = await exchange(service, back.searchParams.get('code') ?? '', pkce, client);
    const { access_token } = answer.json<Tokens>();
    const info = await service.app.inject({
      url: '/api/v1/openid-connect/userinfo',
      headers: bearer(access_token),
    });
    return info.json<{ pin: string | null }>();
  };
  const now = redirectOf(await visitor.submit(again, '/auth/consent', { decision: 'allow' }));
  assert.equal((await profile(now)).pin, '7ABCDEF');
});

test('a consent page shown to one person is not taken for the consent of another', async () => {
  const [first, second] = [await addPerson(service), await addPerson(service)];
  await register(service, { clientId: 'outside-two', audience: 'external', identityDocuments: false });
  const visitor = new Visitor(service);
  const page = await toConsent(visitor, first, 'outside-two');
  await logInThrough(visitor, authorizeUrl(service, pkce, { prompt: 'login' }), second);
  const answer = await visitor.submit(page, '/auth/consent', { decision: 'allow' });
  const shown = await visitor.follow(answer);
  assert.match(shown.body, /name="decision"/);
  assert.equal(
    (await service.db.many(sql`select from identity.consents where client_id = ${'outside-two'}`)).length,
    0,
  );
});

test('whoever guesses a client secret does not lock its owner out of the same network', async () => {
  const client = await register(service, { grantTypes: ['client_credentials'], scopes: ['profile'] });
  const ask = (client_secret: string) =>
    tokenCall(service, { ...client, client_secret, grant_type: 'client_credentials' });
  assert.equal((await ask(client.client_secret)).statusCode, 200);
  const guesses: Answer[] = [];
  for (let guess = 0; guess < 12; guess++) guesses.push(await ask(`guess ${guess}`));
  assert.equal(guesses.at(-1)?.statusCode, 429);
  assert.equal((await ask(client.client_secret)).statusCode, 200);
});

test('refused texts leave no rows behind', async () => {
  const rows = async () =>
    (await service.db.one<{ count: bigint }>(sql`select count(*) from identity.budgets`)).count;
  const send = async (phone: string) => {
    const visitor = new Visitor(service);
    const page = await visitor.get(authorizeUrl(service, newPkce()));
    return visitor.submit(page, '/auth/login', { phone });
  };
  for (let each = 0; each < 60; each++) await send(`+9945055500${String(each).padStart(2, '0')}`);
  const before = await rows();
  for (let each = 0; each < 20; each++) {
    assert.equal((await send(`+9945055600${String(each).padStart(2, '0')}`)).statusCode, 429);
  }
  assert.equal(await rows(), before);
});

test('the same person who logs in again stays logged in everywhere else', async () => {
  const person = await addPerson(service);
  const visitor = new Visitor(service);
  const shop = await logIn(service, { visitor, person });
  const back = await logInThrough(visitor, authorizeUrl(service, pkce, { prompt: 'login' }), person);
  assert.equal(back.searchParams.get('session_state'), shop.session_state);
  assert.equal((await refresh(service, shop.refresh_token)).statusCode, 200);
});

test('the same right code sent twice at once logs in, and neither answer is an error', async () => {
  const person = await addPerson(service);
  const visitor = new Visitor(service);
  const page = await visitor.get(authorizeUrl(service, newPkce()));
  const codePage = await visitor.follow(await visitor.submit(page, '/auth/login', { phone: person.phone }));
  const answers = await Promise.all(
    [1, 2].map(() => visitor.submit(codePage, '/auth/code', { code: person.code })),
  );
  assert.deepEqual(
    answers.map((answer) => answer.statusCode),
    [303, 303],
  );
});

test('a hint with an identifier that was merged still names the same person', async () => {
  const { mergeUsers } = await import('../../src/identity/users.ts');
  const [kept, absorbed] = [await addPerson(service), await addPerson(service)];
  const old = await logIn(service, { person: absorbed });
  await mergeUsers(
    { ...service.areas.identity.users, onMerged: async () => {} },
    { survivorId: kept.id, absorbedId: absorbed.id, phone: 'free', actor: 'test' },
  );
  const visitor = new Visitor(service);
  const url = authorizeUrl(service, pkce, { id_token_hint: old.id_token });
  const back = await logInThrough(visitor, url, kept);
  assert.ok(back.searchParams.get('code'), back.href);
});

test('a token made up around a known family is not taken for one when it is given back', async () => {
  const tokens = await logIn(service, { person: await addPerson(service) });
  const bytes = Buffer.from(tokens.refresh_token, 'base64url');
  bytes.fill(0, 32);
  const answer = await service.app.inject({
    method: 'POST',
    url: '/api/v1/openid-connect/revoke',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams({
      client_id: demo.clientId,
      client_secret: demo.clientSecret,
      token: bytes.toString('base64url'),
    }).toString(),
  });
  assert.equal(answer.statusCode, 200);
  assert.equal((await refresh(service, tokens.refresh_token)).statusCode, 200);
});

async function toConsent(visitor: Visitor, person: { phone: string; code: string }, clientId = 'outside') {
  const page = await visitor.get(authorizeUrl(service, pkce, { client_id: clientId }));
  const codePage = await visitor.follow(await visitor.submit(page, '/auth/login', { phone: person.phone }));
  return visitor.follow(await visitor.submit(codePage, '/auth/code', { code: person.code }));
}

/** A node may use what it knows of a client for a second. */
async function untilForgotten(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 1_050));
}

test('made-up clients that were turned away once are turned away without a look at what was counted', async () => {
  const from = '198.51.100.77';
  const ask = (n: number) =>
    service.app.inject({
      method: 'POST',
      url: '/api/v2/openid-connect/token',
      remoteAddress: from,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: `grant_type=client_credentials&client_id=made-up-${n}&client_secret=x`,
    });
  for (let n = 0; n < 10; n++) assert.equal((await ask(n)).statusCode, 401);
  assert.equal((await ask(10)).statusCode, 429);
  await service.db.transaction(async (tx) => {
    await tx.run(sql`lock table identity.budgets`);
    for (let n = 11; n < 20; n++) assert.equal((await ask(n)).statusCode, 429);
  });
});

test('no more texts are sent for a client that was switched off during a login', async () => {
  await register(service, { clientId: 'closing' });
  // Others have sent much from here lately.
  service.clock.move(2 * 3600_000);
  const visitor = new Visitor(service);
  const page = await visitor.get(authorizeUrl(service, pkce, { client_id: 'closing' }));
  const phone = '+994557001122';
  const codePage = await visitor.follow(await visitor.submit(page, '/auth/login', { phone }));
  await service.db.run(sql`update identity.clients set disabled_at = now() where client_id = ${'closing'}`);
  await untilForgotten();
  const before = service.texts.length;
  service.clock.move(61_000);
  const answer = await visitor.submit(codePage, '/auth/resend');
  assert.equal(answer.statusCode, 400);
  assert.equal(service.texts.length, before);
});
