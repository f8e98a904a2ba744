/** Logging in with a code by SMS, through the pages: what people do, and what those try who are not them. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { test } from 'node:test';
import { changePhone, createUser } from '../../src/identity/users.ts';
import { sql } from '../../src/platform/db.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { untilSomebodyWaits } from '../support/database.ts';
import {
  type Answer,
  authorizeUrl,
  claimsOf,
  demo,
  exchange,
  formsOf,
  newPkce,
  redirectOf,
  refresh,
  type Tokens,
  Visitor,
} from '../support/partner.ts';

const service = await startTestApp({ TRUST_PROXY: '1' });
service.clock.set(new Date());
const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const pkce = newPkce();

let lastPhone = 1_234_567;
/** A number that nobody has used before in this file. */
const newPhone = () => `+99450${lastPhone++}`;
let lastBlock = 0;
/** Each visitor comes from a network of their own, unless the test says otherwise. */
const newVisitor = (at: TestApp = service, address = `10.1.${lastBlock++ % 250}.1`) =>
  new Visitor(at, { 'x-forwarded-for': address, 'accept-language': 'en' });

const open = (visitor: Visitor, at: TestApp = service, changes: Record<string, string> = {}) =>
  visitor.get(authorizeUrl(at, pkce, changes));

/** Asks for a code: the page that follows, whichever it is. */
async function askFor(visitor: Visitor, phone: string, at: TestApp = service): Promise<Answer> {
  return visitor.follow(await visitor.submit(await open(visitor, at), '/auth/login', { phone }));
}

const textsTo = (phone: string, at: TestApp = service) => at.texts.filter((sent) => sent.phone === phone);

function codeFor(phone: string, at: TestApp = service): string {
  const text = textsTo(phone, at).at(-1)?.text;
  assert.ok(text, `nothing was sent to ${phone}`);
  return text.slice(0, 6);
}

/** A code that is certainly not the one that was sent. */
function wrongFor(phone: string, other = 1, at: TestApp = service): string {
  return String((Number(codeFor(phone, at)) + other) % 1_000_000).padStart(6, '0');
}

const enter = (visitor: Visitor, page: Answer, code: string) => visitor.submit(page, '/auth/code', { code });

function assertAccepted(answer: Answer): URL {
  const back = redirectOf(answer);
  assert.ok(back.searchParams.get('code'), back.href);
  return back;
}

function assertRefused(answer: Answer, words: RegExp, status = 400): void {
  assert.equal(answer.statusCode, status, answer.body.slice(0, 100));
  assert.match(answer.body, words);
  assert.equal(answer.headers['set-cookie'], undefined);
}

const wrong = /The code is not correct/;
const dead = /The code is no longer valid/;
const tooMany = /Too many codes were requested/;

async function logInWithCode(visitor: Visitor, phone: string, at: TestApp = service): Promise<Tokens> {
  const back = assertAccepted(await enter(visitor, await askFor(visitor, phone, at), codeFor(phone, at)));
  return (await exchange(at, back.searchParams.get('code') ?? '', pkce)).json<Tokens>();
}

test('T20 five wrong tries kill a code, even if the sixth is right; a new one works', async () => {
  const phone = newPhone();
  const visitor = newVisitor();
  const page = await askFor(visitor, phone);
  for (const left of ['4 attempts', '3 attempts', '2 attempts', '1 attempt ']) {
    const answer = await enter(visitor, page, wrongFor(phone));
    assertRefused(answer, wrong);
    assert.ok(answer.body.includes(`You have ${left}`), left);
  }
  assertRefused(await enter(visitor, page, wrongFor(phone)), dead);
  assertRefused(await enter(visitor, page, codeFor(phone)), dead);

  service.clock.move(minuteMs);
  const resent = await visitor.follow(await visitor.submit(page, '/auth/resend'));
  assertAccepted(await enter(visitor, resent, codeFor(phone)));
});

test('T20 the fifth try still counts when it is right', async () => {
  const phone = newPhone();
  const visitor = newVisitor();
  const page = await askFor(visitor, phone);
  for (let tries = 0; tries < 4; tries++) assertRefused(await enter(visitor, page, wrongFor(phone)), wrong);
  assertAccepted(await enter(visitor, page, codeFor(phone)));
});

test('T21 one number gets a code a minute, three in ten minutes and eight a day, and is told how long to wait', async () => {
  const phone = newPhone();
  const sendsNow = async () => {
    const before = textsTo(phone).length;
    const answer = await askFor(newVisitor(), phone);
    const sent = textsTo(phone).length > before;
    if (!sent) assertRefused(answer, tooMany, 429);
    return sent || /You can ask for a new code in [^<]+/.exec(answer.body)?.[0];
  };
  assert.equal(await sendsNow(), true);
  assert.match(String(await sendsNow()), /in 60 seconds\./);
  service.clock.move(minuteMs - 1);
  assert.match(String(await sendsNow()), /in 1 second\./);
  service.clock.move(1);
  assert.equal(await sendsNow(), true);
  service.clock.move(minuteMs);
  assert.equal(await sendsNow(), true);
  service.clock.move(minuteMs);
  assert.match(String(await sendsNow()), /in 7 minutes\./, 'the fourth within ten minutes');
  service.clock.move(7 * minuteMs - 1);
  assert.notEqual(await sendsNow(), true);
  service.clock.move(1);
  assert.equal(await sendsNow(), true);

  for (let sends = 4; sends < 8; sends++) {
    service.clock.move(10 * minuteMs);
    assert.equal(await sendsNow(), true, String(sends));
  }
  service.clock.move(10 * minuteMs);
  assert.match(String(await sendsNow()), /in \d+ hours/, 'the ninth of a day');
});

test('T21 many numbers from one block of addresses are refused, while others are served', async () => {
  const guarded = await startTestApp({ TRUST_PROXY: '1', SMS_BLOCK_HOURLY: '5' });
  for (const [own, same, other] of [
    ['198.51.100.', '198.51.100.250', '198.51.101.1'],
    ['2001:db8:1:', '2001:db8:1:ffff::1', '2001:db8:2::1'],
  ] as const) {
    for (let n = 1; n <= 5; n++) {
      const address = own.endsWith(':') ? `${own}${n}::1` : `${own}${n}`;
      const phone = newPhone();
      await askFor(newVisitor(guarded, address), phone, guarded);
      assert.equal(textsTo(phone, guarded).length, 1);
    }
    const phone = newPhone();
    assertRefused(await askFor(newVisitor(guarded, same), phone, guarded), tooMany, 429);
    assert.equal(textsTo(phone, guarded).length, 0);
    await askFor(newVisitor(guarded, other), phone, guarded);
    assert.equal(textsTo(phone, guarded).length, 1);
  }
  // An address that the caller made up, in front of the one the proxy saw, is no way around.
  const liar = newVisitor(guarded, '203.0.113.9, 198.51.100.3');
  assertRefused(await askFor(liar, newPhone(), guarded), tooMany, 429);
});

test('T21 a client has a budget too, so that one partner cannot be used to empty it for all', async () => {
  const guarded = await startTestApp({ TRUST_PROXY: '1', SMS_CLIENT_HOURLY: '2' });
  for (let n = 0; n < 2; n++) await askFor(newVisitor(guarded), newPhone(), guarded);
  assertRefused(await askFor(newVisitor(guarded), newPhone(), guarded), tooMany, 429);
  assert.equal(guarded.texts.length, 2);
});

test('T21 numbers of other countries are refused before anything is sent', async () => {
  const before = service.texts.length;
  const visitor = newVisitor();
  const page = await open(visitor);
  for (const phone of [
    '+905321234567',
    '+447911123456',
    '+12025550123',
    '+882 13 300 0000',
    '00447911123456',
  ]) {
    const answer = await visitor.submit(page, '/auth/login', { phone });
    assertRefused(answer, /not accepted|Check the number/);
    assert.match(answer.body, /aria-invalid="true"/);
  }
  assert.equal(service.texts.length, before);
});

test('T22 when the budget of the day is spent, sends stop, a metric tells, and who is logged in stays so', async () => {
  const poor = await startTestApp({ TRUST_PROXY: '1', SMS_DAILY: '2' });
  const phone = newPhone();
  const visitor = newVisitor(poor);
  await logInWithCode(visitor, phone, poor);
  await askFor(newVisitor(poor), newPhone(), poor);
  const unlucky = newPhone();
  assertRefused(await askFor(newVisitor(poor), unlucky, poor), tooMany, 429);
  assert.equal(poor.texts.length, 2);
  const metrics = await poor.app.inject({ url: '/metrics' });
  assert.match(metrics.body, /^identity_sms_refused\w*\{[^}]*reason="daily"[^}]*\} 1$/m);

  assertAccepted(await open(visitor, poor, { prompt: 'none' }));
  // The same person on the same device: strangers have spent the budget of strangers.
  poor.clock.move(minuteMs);
  const again = await visitor.follow(
    await visitor.submit(await open(visitor, poor, { prompt: 'login' }), '/auth/login', { phone }),
  );
  assertAccepted(await enter(visitor, again, codeFor(phone, poor)));

  poor.clock.move(24 * 60 * minuteMs);
  await askFor(newVisitor(poor), unlucky, poor);
  assert.equal(textsTo(unlucky, poor).length, 1, 'a new day');
});

test('T23 R80 a code entered twenty times at once logs in once, and later not at all', async () => {
  const phone = newPhone();
  const visitor = newVisitor();
  const page = await askFor(visitor, phone);
  const code = codeFor(phone);
  const answers = await Promise.all(Array.from({ length: 20 }, () => enter(visitor, page, code)));
  const accepted = answers.filter((answer) => String(answer.headers.location).startsWith(demo.redirectUri));
  assert.equal(accepted.length, 1);
  for (const answer of answers.filter((each) => each !== accepted[0])) {
    assert.equal(answer.headers['set-cookie'], undefined, 'nobody else is logged in');
    // A form that was sent twice is led back to the page, which finds the session that the first one made.
    if (answer.statusCode === 303) assert.match(String(answer.headers.location), /\/sso\/auth\/code\?flow=/);
    else assertRefused(answer, dead);
  }
  const { count } = await service.db.one<{ count: number }>(
    sql`select count(*)::int as count from identity.sessions where phone = ${phone}`,
  );
  assert.equal(count, 1);
  visitor.cookies.delete('tollgate-session');
  service.clock.move(10 * secondMs);
  assertRefused(await enter(visitor, page, code), dead);
});

test('a code whose form was broken off before anybody was logged in can be sent again', async () => {
  const phone = newPhone();
  const visitor = newVisitor();
  const page = await askFor(visitor, phone);
  await enterAndBreakOff(visitor, page, codeFor(phone), sql`lock table identity.sessions`);
  assertAccepted(await enter(visitor, page, codeFor(phone)));
});

test('a wrong guess that was broken off is counted like any other', async () => {
  const phone = newPhone();
  const visitor = newVisitor();
  const page = await askFor(visitor, phone);
  for (let tries = 0; tries < 5; tries++)
    await enterAndBreakOff(visitor, page, wrongFor(phone), sql`lock table identity.budgets`);
  assertRefused(await enter(visitor, page, codeFor(phone)), dead);
});

/** Sends a code and goes away while the service waits for the lock. */
async function enterAndBreakOff(
  visitor: Visitor,
  page: Answer,
  code: string,
  lock: ReturnType<typeof sql>,
): Promise<void> {
  const form = formsOf(page.body).find((one) => one.action.endsWith('/auth/code'));
  assert.ok(form);
  const { host, pathname } = new URL(form.action);
  if (!service.app.server.listening) await service.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = service.app.server.address() as AddressInfo;
  const hungUp = new Promise((done) =>
    service.app.server.once('connection', (socket: Socket) => socket.once('close', done)),
  );
  const breakOff = new AbortController();
  const broken = request({
    ...{ port, method: 'POST', path: pathname, agent: false, signal: breakOff.signal },
    headers: {
      host,
      origin: 'null',
      cookie: [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      'content-type': 'application/x-www-form-urlencoded',
      'x-forwarded-for': '10.1.0.9',
    },
  });
  broken.on('error', () => {});
  await service.db.transaction(async (tx) => {
    await tx.run(lock);
    broken.end(new URLSearchParams({ ...form.fields, code }).toString());
    await untilSomebodyWaits(service.db);
    breakOff.abort();
    await hungUp;
  });
}

test('T24 a code works only in the browser that asked for it, in all of its tabs', async () => {
  const phone = newPhone();
  const [mine, theirs] = [newVisitor(), newVisitor()];
  const page = await askFor(mine, phone);
  const code = codeFor(phone);
  service.clock.move(minuteMs);
  const theirPage = await askFor(theirs, phone);
  assert.equal(textsTo(phone).length, 2);
  assertRefused(await enter(theirs, theirPage, code), wrong);
  assertRefused(await enter(mine, page, codeFor(phone)), wrong);
  assert.notEqual(code, codeFor(phone));

  const secondTab = await askFor(mine, phone);
  assert.equal(secondTab.statusCode, 429, 'the other browser has taken the send of this minute');
  assertAccepted(await enter(mine, page, code));
});

test('T24 a second tab within the minute is told that a code is on its way, and takes it', async () => {
  const phone = newPhone();
  const visitor = newVisitor();
  await askFor(visitor, phone);
  const secondTab = await askFor(visitor, phone);
  assert.match(secondTab.body, /A code is already on its way/);
  assert.equal(textsTo(phone).length, 1);
  assertAccepted(await enter(visitor, secondTab, codeFor(phone)));
});

test('T24 two tabs that ask at the same moment get one code', async () => {
  const phone = newPhone();
  const visitor = newVisitor();
  const page = await open(visitor);
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => visitor.submit(page, '/auth/login', { phone })),
  );
  assert.deepEqual([...new Set(answers.map((answer) => answer.statusCode))], [303]);
  assert.equal(textsTo(phone).length, 1);
});

test('T25 R80 a code lives five minutes', async () => {
  for (const [afterMs, lives] of [
    [5 * minuteMs - 1, true],
    [5 * minuteMs, false],
  ] as const) {
    const phone = newPhone();
    const visitor = newVisitor();
    const page = await askFor(visitor, phone);
    service.clock.move(afterMs);
    const answer = await enter(visitor, page, codeFor(phone));
    if (lives) assertAccepted(answer);
    else assertRefused(answer, dead);
  }
});

test('T25 a new code replaces the one before, and asking within the minute sends nothing', async () => {
  const phone = newPhone();
  const visitor = newVisitor();
  const page = await askFor(visitor, phone);
  const old = codeFor(phone);
  service.clock.move(minuteMs - 1);
  const early = await visitor.follow(await visitor.submit(page, '/auth/resend'));
  assert.match(early.body, /A code is already on its way/);
  assert.equal(textsTo(phone).length, 1);
  service.clock.move(1);
  const resent = await visitor.follow(await visitor.submit(page, '/auth/resend'));
  assert.match(resent.body, /We sent a new code\. The earlier one is no longer valid\./);
  assert.equal(textsTo(phone).length, 2);
  if (old !== codeFor(phone)) assertRefused(await enter(visitor, page, old), wrong);
  assertAccepted(await enter(visitor, page, codeFor(phone)));
});

test('T26 ten guesses at once count as ten: five are compared, and then the code is dead', async () => {
  const phone = newPhone();
  const visitor = newVisitor();
  const page = await askFor(visitor, phone);
  const guesses = await Promise.all(
    Array.from({ length: 10 }, (_, n) => enter(visitor, page, wrongFor(phone, n + 1))),
  );
  const compared = guesses.filter((answer) => wrong.test(answer.body)).length;
  const refused = guesses.filter((answer) => dead.test(answer.body)).length;
  assert.equal(compared, 4, 'the fifth wrong guess says at once that the code is over');
  assert.equal(refused, 6);
  assertRefused(await enter(visitor, page, codeFor(phone)), dead);
});

test('T26 R81 wrong guesses count for the number across codes: ten in an hour, then growing waits', async () => {
  const phone = newPhone();
  const visitor = newVisitor();
  await askFor(visitor, phone);
  const burn = async (page: Answer) => {
    await Promise.all(Array.from({ length: 5 }, (_, n) => enter(visitor, page, wrongFor(phone, n + 1))));
  };
  await burn(await askFor(visitor, phone));
  service.clock.move(minuteMs);
  const secondPage = await askFor(visitor, phone);
  service.clock.move(minuteMs / 2);
  await burn(secondPage);
  service.clock.move(minuteMs / 2);
  const page = await askFor(visitor, phone);
  assert.equal(textsTo(phone).length, 3);
  // Another browser has no guesses of its own to spend: they belong to the number.
  const waiting = await enter(visitor, page, codeFor(phone));
  assertRefused(waiting, /Too many attempts/, 429);
  assert.match(waiting.body, /Try again in 30 seconds\./);
  service.clock.move(minuteMs / 2 - 1);
  assertRefused(await enter(visitor, page, codeFor(phone)), /Too many attempts/, 429);
  service.clock.move(1);
  assertRefused(await enter(visitor, page, wrongFor(phone)), wrong);
  assertRefused(await enter(visitor, page, codeFor(phone)), /Try again in 2 minutes\./, 429);
  service.clock.move(2 * minuteMs);
  assertAccepted(await enter(visitor, page, codeFor(phone)));
});

test('R81 whatever strangers use up, the owner of the number still logs in on their own device', async () => {
  const phone = newPhone();
  const owner = newVisitor();
  await logInWithCode(owner, phone);
  service.clock.move(minuteMs);
  for (let sends = 0; sends < 2; sends++) {
    const stranger = newVisitor();
    const page = await askFor(stranger, phone);
    await Promise.all(Array.from({ length: 5 }, (_, n) => enter(stranger, page, wrongFor(phone, n + 1))));
    service.clock.move(minuteMs);
  }
  assertRefused(await askFor(newVisitor(), phone), tooMany, 429);
  assert.equal(textsTo(phone).length, 3);
  owner.cookies.delete('tollgate-session');
  await logInWithCode(owner, phone);

  // The cookie that proves it is of this browser and this number: neither a changed nor a foreign one will do.
  const device = owner.cookies.get('tollgate-device') ?? '';
  const thief = newVisitor();
  thief.cookies.set('tollgate-device', `${device.startsWith('A') ? 'B' : 'A'}${device.slice(1)}`);
  assertRefused(await askFor(thief, phone), tooMany, 429);
});

test('R79 every code has six digits from a generator that cannot be foreseen', async () => {
  const many = await startTestApp({ TRUST_PROXY: '1' });
  for (let n = 0; n < 40; n++) await askFor(newVisitor(many), newPhone(), many);
  const codes = many.texts.map(({ text }) => text.slice(0, 7));
  assert.equal(codes.length, 40);
  for (const code of codes) assert.match(code, /^\d{6} $/);
  // Forty of a million: two pairs of equal ones would be a chance of one in a million.
  assert.ok(new Set(codes).size >= 39);
});

test('R79 the text is bound to our host, in the language of the page, and goes to the number alone', async () => {
  const phone = newPhone();
  const visitor = newVisitor();
  const page = await open(visitor, service, { ui_locales: 'ru' });
  await visitor.submit(page, '/auth/login', { phone });
  const { text } = textsTo(phone)[0] ?? { text: '' };
  const code = codeFor(phone);
  assert.equal(
    text,
    `${code} - kod dlya vhoda v Tollgate. Ne soobshchajte ego nikomu.\n\n@localhost #${code}`,
  );
});

test('R79 neither a code nor a number is written to the log', async () => {
  const phone = newPhone();
  const visitor = newVisitor();
  const page = await askFor(visitor, phone);
  const code = codeFor(phone);
  await enter(visitor, page, wrongFor(phone));
  await enter(visitor, page, code);
  const log = service.logLines.join('');
  assert.ok(log.includes('/auth/code'));
  assert.ok(!log.includes(phone.slice(1)));
  assert.doesNotMatch(log, new RegExp(`\\b${code}\\b`));
});

test('R80 a code may be typed with spaces or other digits; what is no code is told so and costs no try', async () => {
  for (const write of [
    (code: string) => `${code.slice(0, 3)} ${code.slice(3)}`,
    (code: string) => ` ${code}\u200e`,
    (code: string) => code.replace(/\d/g, (digit) => String.fromCharCode(0x660 + Number(digit))),
  ]) {
    const phone = newPhone();
    const visitor = newVisitor();
    const page = await askFor(visitor, phone);
    for (const typed of [
      '',
      '12345',
      '1234567',
      'abcdef',
      '12345a',
      '\u0000',
      '1'.repeat(5000),
      "' or 1=1",
    ]) {
      assertRefused(await enter(visitor, page, typed), /The code is not complete/);
    }
    assertAccepted(await enter(visitor, page, write(codeFor(phone))));
  }
});

test('R81 a guess without a code to aim at costs the number nothing', async () => {
  const phone = newPhone();
  const attacker = newVisitor();
  const page = await askFor(attacker, phone);
  service.clock.move(5 * minuteMs);
  for (let tries = 0; tries < 12; tries++) assertRefused(await enter(attacker, page, '000000'), dead);
  await logInWithCode(newVisitor(), phone);
});

test('the pages say that the code comes by SMS and that nobody may be told of it', async () => {
  const visitor = newVisitor();
  assert.match((await open(visitor)).body, /We will send a 6-digit code to this number by SMS\./);
  assert.match((await askFor(visitor, newPhone())).body, /Do not tell this code to anyone\./);
});

test('R84 partly: when an operator changes a number, what was logged in with the old one is over', async () => {
  const phone = newPhone();
  const userId = await createUser(service.areas.identity.users, { phone, actor: 'test' });
  const visitor = newVisitor();
  const tokens = await logInWithCode(visitor, phone);
  assert.equal(claimsOf(tokens.access_token).sub, userId);
  const next = newPhone();
  await changePhone(service.areas.identity.users, { userId, phone: next, actor: 'test' });
  assert.equal((await refresh(service, tokens.refresh_token)).statusCode, 400);
  assert.match((await open(visitor)).body, /name="phone"/);
  service.clock.move(minuteMs);
  assert.notEqual(claimsOf((await logInWithCode(newVisitor(), phone)).access_token).sub, userId);
  assert.equal(claimsOf((await logInWithCode(newVisitor(), next)).access_token).sub, userId);
});

test('R85 a login by SMS is never called more than that', async () => {
  const tokens = await logInWithCode(newVisitor(), newPhone());
  const claims = claimsOf(tokens.id_token);
  assert.deepEqual(claims.amr, ['sms']);
  assert.equal(claims.acr, 'urn:tollgate:otp-sms');
  assert.equal(claimsOf(tokens.access_token).acr, 'urn:tollgate:otp-sms');
});

test('a text that could not be sent is told as such, and the next try needs no waiting', async () => {
  const phone = newPhone();
  const visitor = newVisitor();
  const { codes } = service.areas.identity;
  const { send } = codes;
  codes.send = async () => {
    throw new Error(`the gateway is away for ${phone}`);
  };
  const page = await open(visitor);
  const failed = await visitor.submit(page, '/auth/login', { phone });
  codes.send = send;
  assertRefused(failed, /We cannot send an SMS right now/, 503);
  assert.ok(!service.logLines.join('').includes(phone.slice(1)));
  const codePage = await visitor.follow(await visitor.submit(page, '/auth/login', { phone }));
  assertAccepted(await enter(visitor, codePage, codeFor(phone)));
});

test('when the counters cannot be read, nothing is sent', async () => {
  const broken = await startTestApp();
  const phone = newPhone();
  const visitor = newVisitor(broken);
  const page = await open(visitor, broken);
  await broken.db.run(sql`alter table identity.budgets rename to budgets_away`);
  const answer = await visitor.submit(page, '/auth/login', { phone });
  assert.equal(answer.statusCode, 500);
  assert.match(answer.body, /Something went wrong/);
  assert.ok(!answer.body.includes('budgets'));
  assert.equal(broken.texts.length, 0);
  await broken.db.run(sql`alter table identity.budgets_away rename to budgets`);
  assert.equal((await visitor.submit(page, '/auth/login', { phone })).statusCode, 303);
});

test('a test phone takes its fixed code, gets no text, and still dies after five wrong tries', async () => {
  const visitor = newVisitor();
  const page = await askFor(visitor, demo.phone);
  for (let tries = 0; tries < 4; tries++) assertRefused(await enter(visitor, page, '222222'), wrong);
  assertRefused(await enter(visitor, page, '222222'), dead);
  assertRefused(await enter(visitor, page, demo.code), dead);
  const resent = await visitor.follow(await visitor.submit(page, '/auth/resend'));
  assertAccepted(await enter(visitor, resent, demo.code));
  assert.equal(textsTo(demo.phone).length, 0);
  const stranger = newVisitor();
  assertRefused(await enter(stranger, await askFor(stranger, newPhone()), demo.code), wrong);
});
