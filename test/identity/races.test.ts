import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { acr } from '../../src/identity/domain/authorization-request.ts';
import type { UserId } from '../../src/identity/domain/user.ts';
import { makeRoutedSecret } from '../../src/identity/routed-secret.ts';
import { insertCode } from '../../src/identity/store/authorization-codes.ts';
import { insertSession } from '../../src/identity/store/live-sessions.ts';
import { deactivateUser, reactivateUser } from '../../src/identity/users.ts';
import { sql } from '../../src/platform/db.ts';
import { startTestApp } from '../support/app.ts';
import {
  type Answer,
  authorizeUrl,
  bearer,
  credentials,
  demo,
  exchange,
  newPkce,
  refresh,
  type Tokens,
  Visitor,
} from '../support/partner.ts';
import { addPerson, obtainCode, obtainTokens, testPhones, testPhonesSetting } from '../support/registered.ts';

const service = await startTestApp({ TEST_PHONES: testPhonesSetting });
const { app, db, areas, logLines } = service;

function times<Result>(count: number, work: (at: number) => Promise<Result>): Promise<Result[]> {
  return Promise.all(Array.from({ length: count }, (_, at) => work(at)));
}

/** Many rounds, a few of them at once, so that rounds disturb each other too. */
async function rounds(count: number, atOnce: number, round: (at: number) => Promise<void>): Promise<void> {
  for (let start = 0; start < count; start += atOnce) {
    await times(Math.min(atOnce, count - start), (at) => round(start + at));
  }
}

/** Both begin in the same turn of the event loop, now one first, now the other. */
async function atOnce<Left, Right>(
  turn: number,
  left: () => Promise<Left>,
  right: () => Promise<Right>,
): Promise<[Left, Right]> {
  if (turn % 2 === 0) return Promise.all([left(), right()]);
  const [second, first] = await Promise.all([right(), left()]);
  return [first, second];
}

/** What a login leaves, without the pages that led to it: many rounds need many sessions. */
async function quickTokens(): Promise<Tokens> {
  const [now, sid, pkce] = [new Date(), randomUUID(), newPkce()];
  const { userId } = person;
  const session = {
    userId,
    sid,
    cookieHash: randomBytes(32),
    phone: person.phone,
    authTime: now,
    acr,
    amr: ['sms'],
  };
  const expiresAt = new Date(now.getTime() + 3600_000);
  await db.transaction((tx) => insertSession(tx, { ...session, expiresAt }));
  const code = makeRoutedSecret([userId]);
  await insertCode(db, {
    ...{ userId, sid, codeHash: code.hash, clientId: demo.clientId, redirectUri: demo.redirectUri },
    ...{ codeChallenge: pkce.challenge, nonce: undefined, scopes: ['openid'], now, expiresAt },
  });
  const answer = await exchange(service, code.text, pkce);
  assert.equal(answer.statusCode, 200, answer.body);
  return answer.json<Tokens>();
}

const person = await db.one<{ userId: string; phone: string }>(sql`
  select user_id, phone from identity.users where phone = ${demo.phone}`);

const logout = (token: string) =>
  app.inject({ method: 'POST', url: '/api/v1/identity/logout', headers: bearer(token) });

function revoke(token: string): Promise<Answer> {
  return app.inject({
    method: 'POST',
    url: '/api/v1/openid-connect/revoke',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams({ ...credentials, token }).toString(),
  });
}

function oneOf(answer: Answer, ...statuses: number[]): void {
  assert.ok(statuses.includes(answer.statusCode), `${answer.statusCode} ${answer.body}`);
  if (answer.statusCode === 400) assert.equal(answer.json().error, 'invalid_grant');
}

async function assertDead(...tokens: Pick<Tokens, 'access_token' | 'refresh_token'>[]): Promise<void> {
  for (const { access_token, refresh_token } of tokens) {
    const profile = await app.inject({
      url: '/api/v1/openid-connect/userinfo',
      headers: bearer(access_token),
    });
    assert.equal(profile.statusCode, 401);
    const next = await refresh(service, refresh_token);
    assert.equal(next.statusCode, 400, next.body);
    assert.equal(next.json().error, 'invalid_grant');
  }
}

const tokensOf = (...answers: Answer[]) =>
  answers.filter((answer) => answer.statusCode === 200).map((answer) => answer.json<Tokens>());

test('T29 R33 I8 one code exchanged by fifty at once gives one family at most, and a dead one', async () => {
  await rounds(5, 1, async () => {
    const { code, pkce, back } = await obtainCode(service);
    const answers = await times(50, () => exchange(service, code, pkce));
    for (const answer of answers) oneOf(answer, 200, 400);
    const won = tokensOf(...answers);
    assert.ok(won.length <= 1);
    await assertDead(...won);
    const families = await db.many<{ revokeReason: string }>(sql`
      select revoke_reason from identity.grants where sid = ${back.searchParams.get('session_state')}::uuid`);
    assert.deepEqual(families, [{ revokeReason: 'code_reused' }]);
  });
});

test('T36 R48 one refresh token used by fifty at once has one successor, and the person stays logged in', async () => {
  await rounds(5, 1, async () => {
    const first = await obtainTokens(service);
    const answers = await times(50, () => refresh(service, first.refresh_token));
    for (const answer of answers) oneOf(answer, 200);
    const successors = new Set(tokensOf(...answers).map((tokens) => tokens.refresh_token));
    assert.equal(successors.size, 1);
    const next = await refresh(service, [...successors].join());
    assert.equal(next.statusCode, 200);
  });
});

test('R47 a retry against the use of its successor gives one living token or none', async () => {
  await rounds(60, 6, async (turn) => {
    const first = await quickTokens();
    const next = (await refresh(service, first.refresh_token)).json<Tokens>();
    const [retried, used] = await atOnce(
      turn,
      () => refresh(service, first.refresh_token),
      () => refresh(service, next.refresh_token),
    );
    oneOf(retried, 200, 400);
    oneOf(used, 200);
    if (retried.statusCode === 400) await assertDead(used.json<Tokens>());
    else assert.equal(retried.json<Tokens>().refresh_token, next.refresh_token);
  });
});

test('T46 R52 I9 a logout against a refresh, 500 rounds, leaves no token that works', async () => {
  await rounds(500, 8, async (turn) => {
    const first = await quickTokens();
    // After a minute of silence a refresh also writes down that the person was seen, and so needs both rows.
    if (turn % 4 < 2) {
      await db.run(sql`
        update identity.sessions set last_seen_at = last_seen_at - interval '2 minutes'
        where sid = ${first.session_state}`);
    }
    const [refreshed, out] = await atOnce(
      turn,
      () => refresh(service, first.refresh_token),
      () => logout(first.access_token),
    );
    oneOf(refreshed, 200, 400);
    oneOf(out, 204);
    await assertDead(first, ...tokensOf(refreshed));
  });
});

test('T46 R52 I9 a logout against the exchange of a code leaves no token that works', async () => {
  await rounds(100, 8, async (turn) => {
    const first = await obtainTokens(service);
    const { code, pkce } = await obtainCode(service, { visitor: first.visitor });
    const [exchanged, out] = await atOnce(
      turn,
      () => exchange(service, code, pkce),
      () => logout(first.access_token),
    );
    oneOf(exchanged, 200, 400);
    oneOf(out, 204);
    await assertDead(first, ...tokensOf(exchanged));
  });
});

test('R68 a revocation against an exchange or a refresh of the same client leaves no token that works', async () => {
  await rounds(100, 8, async (turn) => {
    const first = await obtainTokens(service);
    const { code, pkce } = await obtainCode(service, { visitor: first.visitor });
    const [answers, given] = await atOnce(
      turn,
      () => Promise.all([exchange(service, code, pkce), refresh(service, first.refresh_token)]),
      () => revoke(first.access_token),
    );
    for (const answer of answers) oneOf(answer, 200, 400);
    oneOf(given, 200);
    await assertDead(first, ...tokensOf(...answers));
  });
});

test('R68 a revocation against a logout ends in both, and neither waits for the other in a circle', async () => {
  await rounds(100, 8, async (turn) => {
    const first = await quickTokens();
    const [given, out] = await atOnce(
      turn,
      () => revoke(first.refresh_token),
      () => logout(first.access_token),
    );
    oneOf(given, 200);
    // Once its family is dead, the token cannot log out any more; that is what the client asked for.
    oneOf(out, 204, 401);
    await assertDead(first);
  });
});

test('R52 I9 a deactivation against a refresh leaves no token that works, not even after a reactivation', async () => {
  const person = await addPerson(service);
  const named = { userId: person.id, actor: 'test' };
  await rounds(50, 1, async (turn) => {
    const first = await obtainTokens(service, { person });
    const [refreshed] = await atOnce(
      turn,
      () => refresh(service, first.refresh_token),
      () => deactivateUser(areas.identity.users, named),
    );
    oneOf(refreshed, 200, 400);
    await assertDead(first, ...tokensOf(refreshed));
    await reactivateUser(areas.identity.users, named);
    await assertDead(first, ...tokensOf(refreshed));
  });
});

test('a deactivation against a login leaves no open session of a person who is switched off', async () => {
  const person = await addPerson(service);
  const named = { userId: person.id as UserId, actor: 'test' };
  await rounds(30, 1, async (turn) => {
    const { visitor, codePage } = await codePageOf(person.phone);
    const [answer] = await atOnce(
      turn,
      () => visitor.submit(codePage, '/auth/code', { code: person.code }),
      () => deactivateUser(areas.identity.users, named),
    );
    assert.ok([303, 403].includes(answer.statusCode), String(answer.statusCode));
    const open = await db.many(sql`
      select sid from identity.sessions where user_id = ${person.id} and ended_at is null`);
    assert.deepEqual(open, []);
    await reactivateUser(areas.identity.users, named);
  });
});

async function codePageOf(phone: string, visitor = new Visitor(service)) {
  const phonePage = await visitor.get(authorizeUrl(service, newPkce()));
  const codePage = await visitor.follow(await visitor.submit(phonePage, '/auth/login', { phone }));
  assert.equal(codePage.statusCode, 200);
  return { visitor, codePage };
}

test('T26 twenty wrong guesses at once are all counted: five for a code, ten for a number', async () => {
  const { visitor, codePage } = await codePageOf(testPhones.at(-4) ?? '');
  const guesses = await times(20, () => visitor.submit(codePage, '/auth/code', { code: '999999' }));
  for (const answer of guesses) assert.equal(answer.statusCode, 400);
  const late = await visitor.submit(codePage, '/auth/code', { code: demo.code });
  assert.equal(late.statusCode, 400);

  // A number of its own, four browsers with a code each, five guesses in each: ten of the twenty are judged.
  const phone = testPhones.at(-2) ?? '';
  const pages = await times(4, () => codePageOf(phone));
  const answers = await times(20, (at) => {
    const page = pages[at % pages.length];
    assert.ok(page);
    return page.visitor.submit(page.codePage, '/auth/code', { code: '999999' });
  });
  const statuses = answers.map((answer) => answer.statusCode).sort();
  assert.deepEqual(statuses, [...Array(10).fill(400), ...Array(10).fill(429)]);
  const { attempts } = await db.one<{ attempts: number }>(sql`
    select sum(attempts)::int as attempts from identity.one_time_codes where phone = ${phone}`);
  assert.equal(attempts, 10);
  for (const { visitor: one, codePage: page } of pages) {
    // Which of the two depends on how the ten fell on the four codes: five on one of them end it.
    const refused = await one.submit(page, '/auth/code', { code: demo.code });
    assert.ok([400, 429].includes(refused.statusCode), String(refused.statusCode));
  }
});

test('T23 one right code entered twenty times at once is one login', async () => {
  const person = await addPerson(service);
  const { visitor, codePage } = await codePageOf(person.phone);
  const answers = await times(20, () => visitor.submit(codePage, '/auth/code', { code: person.code }));
  for (const answer of answers) assert.ok([303, 400].includes(answer.statusCode), String(answer.statusCode));
  const sessions = await db.many(sql`select sid from identity.sessions where user_id = ${person.id}`);
  assert.equal(sessions.length, 1);
});

test('eight logins of a new number at once make one person with eight sessions', async () => {
  // A guess counts as a failure until it proves right, so more than ten at once would be told to wait.
  for (const phone of testPhones.slice(-14, -4)) {
    const pages = await times(8, () => codePageOf(phone));
    const answers = await Promise.all(
      pages.map(({ visitor, codePage }) => visitor.submit(codePage, '/auth/code', { code: demo.code })),
    );
    for (const answer of answers) assert.equal(answer.statusCode, 303);
    const people = await db.many<{ userId: string }>(sql`
      select user_id from identity.users where phone = ${phone}`);
    assert.equal(people.length, 1);
    const sessions = await db.many(sql`
      select sid from identity.sessions where user_id = ${people[0]?.userId} and ended_at is null`);
    assert.equal(sessions.length, 8);
  }
});

test('I8 I9 after all of it: one family for a code, none alive under an ended session, and nothing failed', async () => {
  const alive = await db.many(sql`
    select g.grant_id from identity.grants g
      join identity.sessions s on s.user_id = g.user_id and s.sid = g.sid
    where s.ended_at is not null and g.revoked_at is null`);
  assert.deepEqual(alive, []);
  const parts = await db.many(sql`
    select p.client_id from identity.client_sessions p
      join identity.sessions s on s.user_id = p.user_id and s.sid = p.sid
    where s.ended_at is not null and p.ended_at is null`);
  assert.deepEqual(parts, []);
  const orphans = await db.many(sql`
    select g.grant_id from identity.grants g join identity.client_sessions p
      on p.user_id = g.user_id and p.sid = g.sid and p.client_id = g.client_id
    where g.revoked_at is null and p.ended_at is not null`);
  assert.deepEqual(orphans, []);
  const fathered = await db.many(sql`
    select g.grant_id from identity.grants g
    where (select count(*) from identity.authorization_codes c
      where c.user_id = g.user_id and c.grant_id = g.grant_id) <> 1`);
  assert.deepEqual(fathered, []);
  const shared = await db.many(sql`
    select grant_id from identity.authorization_codes where grant_id is not null
    group by grant_id having count(*) > 1`);
  assert.deepEqual(shared, []);
  assert.deepEqual(
    logLines.filter((line) => /"level":"(error|fatal)"|deadlock|40P01/.test(line)),
    [],
  );
});
