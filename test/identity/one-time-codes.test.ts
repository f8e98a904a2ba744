import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import { Registry } from 'prom-client';
import { addressBlockOf } from '../../src/identity/domain/address-block.ts';
import { codeLimits, makeCode, nextGuessAt, normalizeCode } from '../../src/identity/domain/one-time-code.ts';
import { countryPrefixOf, parsePhone } from '../../src/identity/domain/phone.ts';
import { pausedUntil } from '../../src/identity/domain/sms-conversion.ts';
import { createIdentityMetrics } from '../../src/identity/metrics.ts';
import {
  type CodeDeps,
  type ProofAttempt,
  proveCode,
  type SendLimits,
  type SendRequest,
  sendCode,
} from '../../src/identity/one-time-codes.ts';
import { type Budget, giveBack, takeBudgets } from '../../src/identity/store/budgets.ts';
import { deleteBudgets, deleteSmsConversion } from '../../src/identity/store/clean-up.ts';
import { openDatabase, sql } from '../../src/platform/db.ts';
import { createLogger } from '../../src/platform/log.ts';
import { deriveKey } from '../../src/platform/seal.ts';
import { testDatabase } from '../support/database.ts';

const { db, url } = await testDatabase();

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const phone = '+994501234567';
const testPhone = '+994500000001';

let now: Date;
let sent: { phone: string; code: string }[];
let logLines: string[];
let registry: Registry;
let deps: CodeDeps;

beforeEach(async () => {
  await db.run(sql`truncate identity.budgets, identity.one_time_codes, identity.sms_conversion`);
  now = new Date('2026-03-02T10:00:00.000Z');
  sent = [];
  logLines = [];
  registry = new Registry();
  deps = makeDeps();
});

test('a phone number is one number however it is written', () => {
  const spellings = [
    '+994 50 123-45-67',
    '+994501234567',
    '994501234567',
    '00994501234567',
    '0501234567',
    '501234567',
    '(050) 123 45 67',
    '(+994) 50 123 45 67',
    '\u202a+994\u00a050\u00a0123\u201145\u201167\u202c',
    '٠٥٠١٢٣٤٥٦٧',
    '+۹۹۴۵۰۱۲۳۴۵۶۷',
    '＋９９４５０１２３４５６７',
  ];
  for (const spelling of spellings) assert.equal(parsePhone(spelling, 'AZ'), phone, spelling);
  for (const last of [1, 2, 3]) assert.equal(parsePhone(`+99450000000${last}`, 'AZ'), `+99450000000${last}`);
  assert.equal(parsePhone('+44 20 7946 0958', 'AZ'), '+442079460958');
});

test('what is no phone number is refused', () => {
  const refused = [
    '',
    '+',
    "+99450'--",
    '1'.repeat(30),
    '+994 50 CALL-NOW',
    '0501234567 ext 12',
    '+994501234567;ext=5',
    'tel:+994501234567',
    '+994+501234567',
    '050,1234567',
    '+99450123456',
    '+9945012345678',
    '102',
    '<script>0501234567',
    `0501234567${' '.repeat(31)}`,
  ];
  for (const text of refused) assert.equal(parsePhone(text, 'AZ'), undefined, text);
  assert.equal(parsePhone(`0501234567${' '.repeat(30)}`, 'AZ'), phone);
});

test('the country prefix is the longest one allowed, and none when nothing fits', () => {
  assert.equal(countryPrefixOf(phone, ['+99', '+994', '+9']), '+994');
  assert.equal(countryPrefixOf(phone, ['+7', '+1']), undefined);
  assert.equal(countryPrefixOf(phone, []), undefined);
});

test('an address counts as its block', () => {
  assert.equal(addressBlockOf('192.0.2.1'), addressBlockOf('192.0.2.255'));
  assert.notEqual(addressBlockOf('192.0.2.1'), addressBlockOf('192.0.3.1'));
  assert.equal(addressBlockOf('::ffff:192.0.2.9'), addressBlockOf('192.0.2.1'));
  assert.equal(addressBlockOf('2001:db8:1:2::1'), addressBlockOf('2001:db8:1:ffff::1'));
  assert.notEqual(addressBlockOf('2001:db8:1::1'), addressBlockOf('2001:db8:2::1'));
  assert.equal(addressBlockOf('no address'), addressBlockOf(''));
});

test('a code is six digits, and spaces and Arabic digits are read', () => {
  assert.equal(
    makeCode(() => 42),
    '000042',
  );
  for (let tries = 0; tries < 1_000; tries++) assert.match(makeCode(randomInt), /^[0-9]{6}$/);
  assert.equal(normalizeCode(' 123 456\u00a0'), '123456');
  assert.equal(normalizeCode('١٢٣٤٥٦'), '123456');
  assert.equal(normalizeCode('۱۲۳۴۵۶'), '123456');
  for (const text of ['', '12345', '1234567', '12345a', '-12345', '१२३४५६', ' '.repeat(100)]) {
    assert.equal(normalizeCode(text), undefined, text);
  }
});

test('ten failures an hour are free, then the wait doubles from one minute to one hour', () => {
  const start = new Date('2026-03-02T10:00:00.000Z');
  const failures = Array.from({ length: 9 }, () => start);
  assert.deepEqual(nextGuessAt(failures, start), start);

  const waits: number[] = [];
  let at = start;
  for (let more = 0; more < 24; more++) {
    failures.push(at);
    const next = nextGuessAt(failures, at);
    waits.push((next.getTime() - at.getTime()) / minute);
    at = next;
  }
  assert.deepEqual(waits.slice(0, 6), [1, 2, 4, 8, 16, 32]);
  assert.equal(Math.max(...waits), 60);
  // Patience brings a few free guesses back, never a short wait.
  assert.ok(waits.slice(6).every((wait) => wait === 0 || wait === 60));
});

test('ten failures are forgotten after an hour, to the millisecond', () => {
  const start = new Date('2026-03-02T10:00:00.000Z');
  const strikes = Array.from({ length: 20 }, () => start);
  const after = (ms: number) => new Date(start.getTime() + ms);
  assert.deepEqual(nextGuessAt(strikes, after(hour - 1)), after(hour));
  assert.deepEqual(nextGuessAt(strikes, after(hour)), after(hour));
});

test('a code is sent, proven once, and not twice', async () => {
  const answer = await sendCode(deps, request());
  assert.deepEqual(answer, { outcome: 'sent', resendAt: after(minute) });
  assert.equal(sent.length, 1);
  assert.equal(sent[0]?.phone, phone);
  assert.match(lastCode(), /^[0-9]{6}$/);
  assert.deepEqual(await prove(lastCode()), { outcome: 'proven' });
  assert.deepEqual(await prove(lastCode()), { outcome: 'just_used' });
  now = new Date(now.getTime() + 10_000);
  assert.deepEqual(await prove(lastCode()), { outcome: 'expired' });
});

test('a code typed with spaces or Arabic digits is proven', async () => {
  await sendCode(deps, request());
  const arabic = lastCode().replace(/\d/g, (digit) => String.fromCharCode(0x660 + Number(digit)));
  assert.deepEqual(await prove(` ${arabic.slice(0, 3)} ${arabic.slice(3)}`), { outcome: 'proven' });
});

test('a code lives for five minutes', async () => {
  await sendCode(deps, request());
  pass(5 * minute - 1);
  assert.deepEqual(await prove(wrongCode()), { outcome: 'wrong', attemptsLeft: 4 });
  pass(1);
  assert.deepEqual(await prove(lastCode()), { outcome: 'expired' });

  await sendCode(deps, request());
  pass(5 * minute - 1);
  assert.deepEqual(await prove(lastCode()), { outcome: 'proven' });
});

test('five wrong guesses kill the code even if the sixth is right', async () => {
  await sendCode(deps, request());
  for (const attemptsLeft of [4, 3, 2, 1, 0]) {
    assert.deepEqual(await prove(wrongCode()), { outcome: 'wrong', attemptsLeft });
  }
  assert.deepEqual(await prove(lastCode()), { outcome: 'expired' });
});

test('the fifth guess may still be right', async () => {
  await sendCode(deps, request());
  for (const text of ['', 'abcdef', '12345', wrongCode()]) {
    assert.equal((await prove(text)).outcome, 'wrong');
  }
  assert.deepEqual(await prove(lastCode()), { outcome: 'proven' });
});

test('a code cannot be used by another browser or for another phone', async () => {
  const codes = ['111222', '333444', '555666'];
  deps.randomCode = () => codes.shift() ?? '';
  const otherBrowser = { browserId: 'browser-b' };
  const otherPhone = { phone: '+994501234568' };
  await sendCode(deps, request());
  assert.deepEqual(await prove('111222', otherBrowser), { outcome: 'expired' });
  assert.deepEqual(await prove('111222', otherPhone), { outcome: 'expired' });
  // Not even with a live code of its own.
  pass(minute);
  await sendCode(deps, request(otherBrowser));
  await sendCode(deps, request(otherPhone));
  assert.deepEqual(await prove('111222', otherBrowser), { outcome: 'wrong', attemptsLeft: 4 });
  assert.deepEqual(await prove('111222', otherPhone), { outcome: 'wrong', attemptsLeft: 4 });
  assert.deepEqual(await prove('111222'), { outcome: 'proven' });
  assert.deepEqual(await prove('333444', otherBrowser), { outcome: 'proven' });
});

test('two tabs of one browser share the code, and the second is told that it is on its way', async () => {
  await sendCode(deps, request());
  pass(minute - 1);
  assert.deepEqual(await sendCode(deps, request()), { outcome: 'already_sent', resendAt: after(1) });
  assert.equal(sent.length, 1);
  assert.deepEqual(await prove(lastCode()), { outcome: 'proven' });
});

test('a used code does not count as one on its way', async () => {
  await sendCode(deps, request());
  await prove(lastCode());
  assert.deepEqual(await sendCode(deps, request()), {
    outcome: 'wait',
    until: after(minute),
    reason: 'phone',
  });
});

test('a resend replaces the older code', async () => {
  await sendCode(deps, request());
  const older = lastCode();
  pass(minute);
  deps.randomCode = () => (older === '654321' ? '123456' : '654321');
  assert.equal((await sendCode(deps, request())).outcome, 'sent');
  assert.deepEqual(await prove(older), { outcome: 'wrong', attemptsLeft: 4 });
  assert.deepEqual(await prove(lastCode()), { outcome: 'proven' });
  assert.deepEqual(await prove(older), { outcome: 'just_used' });
});

test('one send a minute to a phone, whichever browser asks', async () => {
  await sendCode(deps, request());
  pass(minute - 1);
  const other = request({ browserId: 'browser-b' });
  assert.deepEqual(await sendCode(deps, other), { outcome: 'wait', until: after(1), reason: 'phone' });
  pass(1);
  assert.equal((await sendCode(deps, other)).outcome, 'sent');
});

test('three sends in ten minutes to a phone', async () => {
  const first = now;
  for (let sends = 0; sends < 3; sends++) {
    assert.equal((await sendCode(deps, request())).outcome, 'sent');
    pass(minute);
  }
  const until = new Date(first.getTime() + 10 * minute);
  assert.deepEqual(await sendCode(deps, request()), { outcome: 'wait', until, reason: 'phone' });
  now = new Date(until.getTime() - 1);
  assert.equal((await sendCode(deps, request())).outcome, 'wait');
  now = until;
  assert.equal((await sendCode(deps, request())).outcome, 'sent');
});

test('eight sends a day to a phone', async () => {
  const first = now;
  for (let sends = 0; sends < 8; sends++) {
    assert.equal((await sendCode(deps, request())).outcome, 'sent');
    pass(hour);
  }
  const until = new Date(first.getTime() + day);
  assert.deepEqual(await sendCode(deps, request()), { outcome: 'wait', until, reason: 'phone' });
  now = until;
  assert.equal((await sendCode(deps, request())).outcome, 'sent');
});

test('a hundred numbers from one block of addresses: fifty are sent', async () => {
  const outcomes: string[] = [];
  for (let which = 0; which < 100; which++) {
    const address = which % 2 ? `::ffff:192.0.2.${which}` : `192.0.2.${which}`;
    const answer = await sendCode(deps, request({ ...stranger(which), address }));
    outcomes.push(answer.outcome);
    if (answer.outcome === 'wait') {
      assert.deepEqual(answer, { outcome: 'wait', until: after(hour), reason: 'block' });
    }
  }
  assert.equal(outcomes.filter((outcome) => outcome === 'sent').length, 50);
  assert.equal(sent.length, 50);
  const elsewhere = request({ ...stranger(100), address: '192.0.3.1' });
  assert.equal((await sendCode(deps, elsewhere)).outcome, 'sent');
  assert.match(await registry.metrics(), /identity_sms_refused_total\{reason="block"\} 50/);
});

test('the budgets of client, country and day stop at their maximum and begin again', async () => {
  const cases = [
    { reason: 'client', limits: { perClientHourly: 2 }, windowMs: hour },
    { reason: 'country', limits: { perCountryDaily: 2 }, windowMs: day },
    { reason: 'daily', limits: { daily: 2 }, windowMs: day },
    { reason: 'client', limits: { perClientHourly: 51 }, windowMs: hour },
    { reason: 'country', limits: { perCountryDaily: 51 }, windowMs: day },
    { reason: 'daily', limits: { daily: 51 }, windowMs: day },
  ] as const;
  let person = 0;
  for (const { reason, limits, windowMs } of cases) {
    await db.run(sql`truncate identity.budgets`);
    deps.limits = { ...generous, ...limits };
    const start = now;
    for (let sends = 0; sends < (Object.values(limits)[0] ?? 0); sends++) {
      assert.equal((await sendCode(deps, request(stranger(person++)))).outcome, 'sent');
    }
    const until = new Date(start.getTime() + windowMs);
    now = new Date(until.getTime() - 1);
    const next = request(stranger(person++));
    assert.deepEqual(await sendCode(deps, next), { outcome: 'wait', until, reason });
    now = until;
    assert.equal((await sendCode(deps, next)).outcome, 'sent');
  }
});

test('another client and another country have budgets of their own', async () => {
  deps.limits = { ...generous, countryPrefixes: ['+994', '+7'], perClientHourly: 1, perCountryDaily: 2 };
  assert.equal((await sendCode(deps, request(stranger(1)))).outcome, 'sent');
  assert.equal((await sendCode(deps, request({ ...stranger(2), clientId: 'other' }))).outcome, 'sent');
  const third = { ...stranger(3), clientId: 'third' };
  const refused = await sendCode(deps, request(third));
  assert.equal(refused.outcome === 'wait' && refused.reason, 'country');
  assert.equal((await sendCode(deps, request({ ...third, phone: '+79123456789' }))).outcome, 'sent');
});

test('a refusal takes from no budget', async () => {
  deps.limits = { ...generous, daily: 2 };
  await sendCode(deps, request(stranger(1)));
  await sendCode(deps, request(stranger(1)));
  await sendCode(deps, request({ ...stranger(1), browserId: 'another' }));
  assert.equal((await sendCode(deps, request(stranger(2)))).outcome, 'sent');
});

test('a country that is not allowed is refused before anything else happens', async () => {
  const foreign = request({ phone: '+442079460958' });
  assert.deepEqual(await sendCode(deps, foreign), { outcome: 'country_not_allowed' });
  assert.equal(sent.length, 0);
  assert.equal((await db.many(sql`select from identity.budgets`)).length, 0);
  assert.match(await registry.metrics(), /identity_sms_refused_total\{reason="country_not_allowed"\} 1/);
});

test('twenty guesses at once: each is counted, five are compared', async () => {
  await sendCode(deps, request());
  const answers = await Promise.all(Array.from({ length: 20 }, () => prove(wrongCode())));
  const left = answers.flatMap((answer) => (answer.outcome === 'wrong' ? [answer.attemptsLeft] : []));
  assert.deepEqual(left.sort(), [0, 1, 2, 3, 4]);
  assert.equal(answers.filter((answer) => answer.outcome === 'expired').length, 15);
  assert.equal(await failuresKept(), 5);
  assert.deepEqual(await prove(lastCode()), { outcome: 'expired' });
});

test('ten guesses at once from two browsers use up the ten of the phone', async () => {
  await sendCode(deps, request());
  pass(minute);
  await sendCode(deps, request({ browserId: 'browser-b' }));
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, which) =>
      prove('000000x', { browserId: which % 2 ? 'browser-a' : 'browser-b' }),
    ),
  );
  assert.ok(answers.every((answer) => answer.outcome === 'wrong'));
  assert.equal(await failuresKept(), 10);
  pass(minute);
  await sendCode(deps, request({ browserId: 'browser-c' }));
  assert.deepEqual(await prove('000000x', { browserId: 'browser-c' }), { outcome: 'wrong', attemptsLeft: 4 });
  assert.deepEqual(await prove(lastCode(), { browserId: 'browser-c' }), {
    outcome: 'wait',
    until: after(2 * minute),
  });
});

test('the guesses are counted across codes, then each one makes the wait longer', async () => {
  for (const browserId of ['browser-a', 'browser-b', 'browser-c']) {
    assert.equal((await sendCode(deps, request({ browserId }))).outcome, 'sent');
    pass(minute);
  }
  for (let guesses = 0; guesses < 10; guesses++) {
    const browserId = guesses < 5 ? 'browser-a' : 'browser-b';
    assert.equal((await prove('wrong', { browserId })).outcome, 'wrong');
  }
  const mine = { browserId: 'browser-c' };
  assert.deepEqual(await prove(lastCode(), mine), { outcome: 'wait', until: after(minute) });
  pass(minute - 1);
  assert.deepEqual(await prove(lastCode(), mine), { outcome: 'wait', until: after(1) });
  pass(1);
  assert.deepEqual(await prove('wrong', mine), { outcome: 'wrong', attemptsLeft: 4 });
  pass(2 * minute - 1);
  assert.deepEqual(await prove(lastCode(), mine), { outcome: 'wait', until: after(1) });
  // A guess that has to wait is no attempt at the code.
  pass(1);
  assert.deepEqual(await prove('wrong', mine), { outcome: 'wrong', attemptsLeft: 3 });
  assert.deepEqual(await prove(lastCode(), mine), { outcome: 'wait', until: after(4 * minute) });
});

test('a success gives the phone its ten guesses back', async () => {
  await failTimes(9);
  pass(minute);
  await sendCode(deps, request({ browserId: 'browser-c' }));
  assert.deepEqual(await prove(lastCode(), { browserId: 'browser-c' }), { outcome: 'proven' });
  assert.equal(await failuresKept(), 0);
});

test('guesses with no live code spend nothing', async () => {
  for (let tries = 0; tries < 20; tries++) assert.deepEqual(await prove('123456'), { outcome: 'expired' });
  assert.equal(await failuresKept(), 0);
  await sendCode(deps, request());
  assert.deepEqual(await prove(lastCode()), { outcome: 'proven' });
});

test('the right code twenty times at once: exactly one success', async () => {
  await sendCode(deps, request());
  const answers = await Promise.all(Array.from({ length: 20 }, () => prove(lastCode())));
  assert.equal(answers.filter((answer) => answer.outcome === 'proven').length, 1);
  assert.equal(answers.filter((answer) => answer.outcome !== 'proven').length, 19);
});

test('twenty sends at once for one phone: one SMS, whether from one browser or from twenty', async () => {
  const tabs = await Promise.all(Array.from({ length: 20 }, () => sendCode(deps, request())));
  assert.equal(sent.length, 1);
  assert.equal(tabs.filter((answer) => answer.outcome === 'sent').length, 1);
  assert.equal(tabs.filter((answer) => answer.outcome === 'already_sent').length, 19);
  assert.deepEqual(await prove(lastCode()), { outcome: 'proven' });

  const browsers = await Promise.all(
    Array.from({ length: 20 }, (_, which) =>
      sendCode(deps, request({ phone: '+994501234568', browserId: `browser-${which}` })),
    ),
  );
  assert.equal(sent.length, 2);
  assert.equal(browsers.filter((answer) => answer.outcome === 'sent').length, 1);
  assert.equal(browsers.filter((answer) => answer.outcome === 'wait').length, 19);
});

test('sends to many phones at once never pass the daily budget and never wait for each other in a circle', async () => {
  deps.limits = { ...generous, daily: 7 };
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, which) => sendCode(deps, request(stranger(which % 20)))),
  );
  assert.equal(sent.length, 7);
  assert.equal(answers.filter((answer) => answer.outcome === 'sent').length, 7);
});

test('a known device keeps its budgets whatever strangers spend on its number', async () => {
  deps.limits = { ...generous, perBlockHourly: 4, perClientHourly: 4, perCountryDaily: 4, daily: 4 };
  await failTimes(10);
  for (const which of [1, 2]) await sendCode(deps, request(stranger(which)));
  const refused = await sendCode(deps, request({ browserId: 'browser-c' }));
  assert.equal(refused.outcome, 'wait');

  const mine = { browserId: 'my-browser', knownDevice: known('my-device') };
  assert.equal((await sendCode(deps, request(mine))).outcome, 'sent');
  assert.deepEqual(await prove('wrong', mine), { outcome: 'wrong', attemptsLeft: 4 });
  assert.deepEqual(await prove(lastCode(), mine), { outcome: 'proven' });
  assert.equal(await failuresKept(), 10);
});

test('a known device has limits too, and another known device is not bound by them', async () => {
  const mine = { browserId: 'my-browser', knownDevice: known('my-device') };
  for (let sends = 0; sends < 3; sends++) {
    assert.equal((await sendCode(deps, request(mine))).outcome, 'sent');
    pass(minute);
  }
  const refused = await sendCode(deps, request(mine));
  assert.equal(refused.outcome === 'wait' && refused.reason, 'phone');
  const former = { browserId: 'their-browser', knownDevice: known('their-device') };
  assert.equal((await sendCode(deps, request(former))).outcome, 'sent');

  deps.limits = { ...generous, daily: 4 };
  pass(hour);
  assert.equal((await sendCode(deps, request(mine))).outcome, 'sent');
});

test('however many known devices a number has, they do not bring it more than three of them could', async () => {
  let texts = 0;
  for (let which = 0; which < 40; which++) {
    const answer = await sendCode(deps, request({ browserId: `b${which}`, knownDevice: known(`d${which}`) }));
    if (answer.outcome === 'sent') texts++;
    else assert.equal(answer.outcome === 'wait' && answer.reason, 'phone');
  }
  assert.equal(texts, 24);
  const owner = { id: 'of the present owner', lastLogin: new Date(now.getTime() + 32 * 24 * hour) };
  pass(33 * 24 * hour);
  for (let which = 0; which < 40; which++)
    await sendCode(deps, request({ browserId: `b${which}`, knownDevice: known(`d${which}`) }));
  const theirs = await sendCode(deps, request({ browserId: 'c', knownDevice: owner }));
  assert.equal(theirs.outcome, 'sent', 'devices of who had the number before do not lock them out');
  pass(24 * hour);
  const next = await sendCode(deps, request({ browserId: 'b', knownDevice: known('d') }));
  assert.equal(next.outcome, 'sent');
});

test('who is refused by a budget of their own holds up nobody by what all share', async () => {
  const mine = { key: 'test of mine', max: 1, windowMs: hour };
  const shared = { key: 'test of all', max: 10_000, windowMs: hour };
  assert.ok((await takeBudgets(db, [mine, shared], now)).ok);
  await db.transaction(async (tx) => {
    const taken = await takeBudgets(tx, [mine, shared], now);
    assert.equal(!taken.ok && taken.key, mine.key);
    assert.equal(
      (await db.many(sql`select from identity.budgets where key = ${shared.key} for update nowait`)).length,
      1,
    );
  });
});

test('known devices together have one daily budget', async () => {
  deps.limits = { ...generous, daily: 2 };
  const device = (which: number) => request({ ...stranger(which), knownDevice: known(`device-${which}`) });
  for (const which of [1, 2]) assert.equal((await sendCode(deps, device(which))).outcome, 'sent');
  const refused = await sendCode(deps, device(3));
  assert.equal(refused.outcome === 'wait' && refused.reason, 'daily');
});

test('a test phone gets no SMS and has no send limits, but its attempts are limited', async () => {
  deps.limits = { ...generous, countryPrefixes: [], daily: 0 };
  const mine = { phone: testPhone };
  for (let sends = 0; sends < 20; sends++) {
    assert.deepEqual(await sendCode(deps, request(mine)), { outcome: 'sent', resendAt: now });
    assert.deepEqual(await prove('111111', mine), { outcome: 'proven' });
  }
  assert.equal(sent.length, 0);
  assert.equal((await db.many(sql`select from identity.sms_conversion`)).length, 0);

  for (const _ of [1, 2]) {
    await sendCode(deps, request(mine));
    for (const attemptsLeft of [4, 3, 2, 1, 0]) {
      assert.deepEqual(await prove('222222', mine), { outcome: 'wrong', attemptsLeft });
    }
    assert.deepEqual(await prove('111111', mine), { outcome: 'expired' });
  }
  await sendCode(deps, request(mine));
  assert.deepEqual(await prove('111111', mine), { outcome: 'wait', until: after(minute) });
});

test('the fixed code opens no other phone', async () => {
  deps.randomCode = () => '222222';
  await sendCode(deps, request());
  assert.deepEqual(await prove('111111'), { outcome: 'wrong', attemptsLeft: 4 });
});

test('a code that could not be sent is worthless, and the person may try again at once', async () => {
  const send = deps.send;
  deps.randomCode = () => '987654';
  deps.send = async (to, text) => {
    throw new Error(`503 for ${to} (994 50 123-45-67): ${text}`, { cause: new TypeError(`again ${text}`) });
  };
  assert.deepEqual(await sendCode(deps, request()), { outcome: 'send_failed' });
  assert.deepEqual(await prove('987654'), { outcome: 'expired' });
  const [line = ''] = logLines;
  assert.equal(logLines.length, 1);
  assert.match(line, /"failure":"Error 503 for \+#/);
  assert.doesNotMatch(line, /4567|45-67|987654/);
  assert.equal(await sentCounted(), 0);

  deps.send = send;
  assert.equal((await sendCode(deps, request())).outcome, 'sent');
  assert.deepEqual(await prove('987654'), { outcome: 'proven' });
  assert.match(await registry.metrics(), /identity_sms_sent_total\{outcome="failed"\} 1/);
  assert.match(await registry.metrics(), /identity_sms_sent_total\{outcome="sent"\} 1/);
});

test('failed sends stay within three in ten minutes: a gateway in doubt may have sent them', async () => {
  deps.send = () => Promise.reject(new Error('no answer'));
  for (let tries = 0; tries < 3; tries++) {
    assert.deepEqual(await sendCode(deps, request()), { outcome: 'send_failed' });
  }
  const until = after(10 * minute);
  assert.deepEqual(await sendCode(deps, request()), { outcome: 'wait', until, reason: 'phone' });
});

test('an older code survives a resend that failed', async () => {
  await sendCode(deps, request());
  pass(minute);
  deps.send = () => Promise.reject(new Error('no answer'));
  await sendCode(deps, request());
  assert.deepEqual(await prove(lastCode()), { outcome: 'proven' });
});

test('nothing is sent when the counters cannot be read or written', async () => {
  const broken = openDatabase({ url, poolSize: 1, onConnectionError: () => {} });
  await broken.close();
  await assert.rejects(sendCode({ ...deps, db: broken }, request()));
  await assert.rejects(sendCode({ ...deps, db: broken }, request({ phone: testPhone })));
  await assert.rejects(proveCode({ ...deps, db: broken }, attempt('123456'), async () => {}));

  for (const table of ['budgets', 'sms_conversion', 'one_time_codes']) {
    await db.run({ name: '', text: `alter table identity.${table} rename to gone`, values: [] });
    await assert.rejects(sendCode(deps, request()), table);
    await db.run({ name: '', text: `alter table identity.gone rename to ${table}`, values: [] });
  }
  assert.equal(sent.length, 0);
  assert.equal((await sendCode(deps, request())).outcome, 'sent');
});

test('codes that nobody proves pause their prefix, and only theirs', async () => {
  deps.limits = { ...generous, countryPrefixes: ['+994', '+7'] };
  await sendMany(30);
  // Not before each of them has had its five minutes.
  pass(10 * minute - 1);
  assert.equal((await sendCode(deps, request(stranger(100)))).outcome, 'sent');
  pass(1);
  const tripped = await sendCode(deps, request(stranger(101)));
  assert.deepEqual(tripped, { outcome: 'wait', until: after(50 * minute), reason: 'conversion' });
  await sendCode(deps, request(stranger(102)));
  assert.match(await registry.metrics(), /identity_sms_paused\{prefix="\+994"\} 1/);
  assert.match(await registry.metrics(), /identity_sms_refused_total\{reason="conversion"\} 2/);
  assert.equal(logLines.filter((line) => line.includes('"level":"warn"')).length, 1);

  assert.equal((await sendCode(deps, request({ ...stranger(103), phone: '+79123456789' }))).outcome, 'sent');
  const mine = { ...stranger(104), knownDevice: known('my-device') };
  assert.equal((await sendCode(deps, request(mine))).outcome, 'sent');

  assert.ok(tripped.outcome === 'wait');
  now = new Date(tripped.until.getTime() - 1);
  assert.equal((await sendCode(deps, request(stranger(105)))).outcome, 'wait');
  now = tripped.until;
  assert.equal((await sendCode(deps, request(stranger(106)))).outcome, 'sent');
  assert.match(await registry.metrics(), /identity_sms_paused\{prefix="\+994"\} 0/);

  await sendMany(30);
  pass(15 * minute);
  assert.equal((await sendCode(deps, request(stranger(107)))).outcome, 'wait');
  assert.equal(logLines.filter((line) => line.includes('"level":"warn"')).length, 2);
});

test('both sides of the conversion rule: 29 sent, and 3 of 30 proven, do not pause', async () => {
  await sendMany(29);
  pass(10 * minute);
  assert.equal((await sendCode(deps, request(stranger(100)))).outcome, 'sent');

  await db.run(sql`truncate identity.sms_conversion`);
  pass(hour);
  await sendMany(30, { proven: 3 });
  pass(10 * minute);
  assert.equal((await sendCode(deps, request(stranger(101)))).outcome, 'sent');

  await db.run(sql`truncate identity.sms_conversion`);
  pass(hour);
  await sendMany(30, { proven: 2 });
  pass(10 * minute);
  assert.equal((await sendCode(deps, request(stranger(102)))).outcome, 'wait');
});

test('proofs by known devices do not hide that strangers prove nothing', async () => {
  await sendMany(30);
  for (let which = 200; which < 230; which++) {
    const device = { ...stranger(which), knownDevice: known(`device-${which}`) };
    await sendCode(deps, request(device));
    assert.equal((await prove(lastCode(), device)).outcome, 'proven');
  }
  pass(10 * minute);
  assert.equal((await sendCode(deps, request(stranger(300)))).outcome, 'wait');
});

test('a pause ends with the slot that made it', () => {
  const rule = { minSent: 30, minPercent: 10 };
  const at = (text: string) => new Date(`2026-03-02T${text}Z`);
  const slots = [
    { slot: at('09:10:00'), sent: 20, verified: 0 },
    { slot: at('09:30:00'), sent: 10, verified: 0 },
    { slot: at('09:55:00'), sent: 500, verified: 400 },
  ];
  assert.deepEqual(pausedUntil(slots, rule, at('10:00:00')), at('10:05:00'));
  assert.equal(pausedUntil(slots, rule, at('10:05:00')), undefined);
  assert.deepEqual(pausedUntil(slots.slice(0, 2), rule, at('10:00:00')), at('10:10:00'));
  assert.equal(pausedUntil([], { minSent: 0, minPercent: 10 }, at('10:00:00')), undefined);
});

test('neither the budgets nor the log show a phone, an address or a code', async () => {
  deps.randomCode = () => '987654';
  await sendCode(deps, request());
  await prove('wrong');
  await sendCode(deps, request({ browserId: 'browser-b' }));
  await sendCode(deps, request({ browserId: 'my-browser', knownDevice: known('my-device') }));
  const rows = await db.many<{ row: string }>(sql`select b::text as row from identity.budgets b`);
  assert.ok(rows.length >= 12);
  for (const text of [...rows.map(({ row }) => row), ...logLines]) {
    assert.doesNotMatch(text, /501234567|203\.0\.113|987654|my-device/);
  }
  const codes = await db.many<{ row: string }>(sql`select c::text as row from identity.one_time_codes c`);
  assert.equal(codes.length, 2);
  for (const { row } of codes) assert.doesNotMatch(row, /987654|browser/);
});

test('budgets are taken all or not at all, and the one that is free last is named', async () => {
  const short: Budget = { key: 'short', max: 1, windowMs: second };
  const long: Budget = { key: 'long', max: 1, windowMs: minute };
  const free: Budget = { key: 'a free one', max: 60, windowMs: hour };
  assert.deepEqual(await takeBudgets(db, [short], now), { ok: true });
  assert.deepEqual(await takeBudgets(db, [long], now), { ok: true });
  const refused = await takeBudgets(db, [long, free, short], now);
  assert.deepEqual(refused, { ok: false, key: 'long', retryAt: after(minute) });
  // Nor is anything left behind of those that were only looked at.
  assert.deepEqual(await db.many(sql`select from identity.budgets where key = ${free.key}`), []);
  pass(minute);
  assert.deepEqual(await takeBudgets(db, [long, free, short], now), { ok: true });
});

test('a small window slides: it is free again when enough of its hits have left it', async () => {
  const budget: Budget = { key: 'three', max: 3, windowMs: minute };
  for (let hits = 0; hits < 3; hits++) {
    assert.deepEqual(await takeBudgets(db, [budget], now), { ok: true });
    pass(10 * second);
  }
  assert.deepEqual(await takeBudgets(db, [budget], now), {
    ok: false,
    key: 'three',
    retryAt: after(30 * second),
  });
  // A budget that was made smaller is free when only one less than its new maximum is left.
  const smaller = { ...budget, max: 1 };
  assert.deepEqual(await takeBudgets(db, [smaller], now), {
    ok: false,
    key: 'three',
    retryAt: after(50 * second),
  });
  const none = { ...budget, max: 0, key: 'none' };
  assert.deepEqual(await takeBudgets(db, [none], now), { ok: false, key: 'none', retryAt: after(minute) });
});

test('a budget of fifty and one of fifty-one both give exactly their maximum under a hundred at once', async () => {
  for (const max of [50, 51]) {
    const budgets = ['b', 'a', 'c'].map((name) => ({ key: `${name} ${max}`, max, windowMs: minute }));
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, which) =>
        takeBudgets(db, which % 2 ? budgets : budgets.toReversed(), now),
      ),
    );
    assert.equal(answers.filter((answer) => answer.ok).length, max);
  }
});

test('what is given back can be taken again, once', async () => {
  for (const max of [1, 51]) {
    const budget: Budget = { key: `max ${max}`, max, windowMs: minute };
    for (let hits = 0; hits < max; hits++) assert.ok((await takeBudgets(db, [budget], now)).ok);
    assert.ok(!(await takeBudgets(db, [budget], now)).ok);
    await giveBack(db, [budget.key, 'never taken'], now);
    assert.ok((await takeBudgets(db, [budget], now)).ok);
    assert.ok(!(await takeBudgets(db, [budget], now)).ok);
  }
});

test('what has run out is cleaned away, and nothing else', async () => {
  await sendCode(deps, request());
  await prove('wrong');
  pass(day - 1);
  assert.equal(await deleteBudgets(db, now, 1_000), 5);
  pass(2);
  assert.equal(await deleteBudgets(db, now, 1_000), 4);
  assert.equal((await db.many(sql`select from identity.budgets`)).length, 0);
  assert.equal(await deleteSmsConversion(db, after(-2 * day), 1_000), 0);
  assert.equal(await deleteSmsConversion(db, now, 1_000), 1);
});

test('cleaning up while budgets are taken loses no count', async () => {
  const budget: Budget = { key: 'busy', max: 51, windowMs: minute };
  const answers = await Promise.all(
    Array.from({ length: 80 }, async (_, which) => {
      if (which % 4 === 0) await deleteBudgets(db, now, 1_000);
      return takeBudgets(db, [budget, { ...budget, key: `own ${which}` }], now);
    }),
  );
  assert.equal(answers.filter((answer) => answer.ok).length, 51);
});

test('the limits are those that are promised', () => {
  assert.equal(codeLimits.lifetimeMs, 5 * minute);
  assert.equal(codeLimits.attemptsPerCode, 5);
  assert.equal(codeLimits.guesses.free, 10);
  assert.deepEqual(
    codeLimits.sendsPerPhone.map(({ max, windowMs }) => [max, windowMs]),
    [
      [1, minute],
      [3, 10 * minute],
      [8, day],
    ],
  );
});

const standard: SendLimits = {
  countryPrefixes: ['+994'],
  perBlockHourly: 50,
  perClientHourly: 1_000,
  perCountryDaily: 5_000,
  daily: 10_000,
  conversion: { minSent: 30, minPercent: 10 },
};
const generous: SendLimits = {
  ...standard,
  perBlockHourly: 100_000,
  conversion: { minSent: 30, minPercent: 0 },
};

function makeDeps(): CodeDeps {
  return {
    db,
    now: () => now,
    log: createLogger({ level: 'trace', destination: { write: (line) => void logLines.push(line) } }),
    send: async (to, text) => void sent.push({ phone: to, code: text.replace(/\D/g, '') }),
    codeKey: deriveKey('a secret of this test', 'one-time codes'),
    testPhones: new Set([testPhone]),
    limits: standard,
    randomCode: () => makeCode(randomInt),
    metrics: createIdentityMetrics(registry),
    pausedPrefixes: new Set(),
  };
}

const known = (id: string) => ({ id, lastLogin: new Date('2026-03-01T09:00:00.000Z') });

function request(different: Partial<SendRequest> = {}): SendRequest {
  return {
    phone,
    browserId: 'browser-a',
    knownDevice: undefined,
    address: '203.0.113.7',
    clientId: 'demo-partner',
    text: (code) => `Your code is ${code}.`,
    ...different,
  };
}

function attempt(code: string, different: Partial<ProofAttempt> = {}): ProofAttempt {
  return { phone, browserId: 'browser-a', knownDevice: undefined, ...different, code };
}

async function prove(code: string, different: Partial<SendRequest> = {}) {
  const { phone = '+994501234567', browserId = 'browser-a', knownDevice } = different;
  const proof = await proveCode(deps, attempt(code, { phone, browserId, knownDevice }), async () => 'done');
  return proof.outcome === 'proven' ? { outcome: proof.outcome } : proof;
}

/** Somebody else: another number, another browser, another block of addresses. */
function stranger(which: number) {
  return {
    phone: `+9945511${String(which).padStart(5, '0')}`,
    browserId: `browser of ${which}`,
    address: `10.${which >> 8}.${which & 255}.1`,
  };
}

let strangers = 1_000;

async function sendMany(count: number, { proven = 0 } = {}): Promise<void> {
  deps.limits = { ...deps.limits, perBlockHourly: 100_000, conversion: standard.conversion };
  for (let done = 0; done < count; done++) {
    const somebody = stranger(strangers++);
    assert.equal((await sendCode(deps, request(somebody))).outcome, 'sent');
    if (done < proven) assert.equal((await prove(lastCode(), somebody)).outcome, 'proven');
  }
}

/** So many wrong guesses at this phone, by strangers in two browsers. */
async function failTimes(count: number): Promise<void> {
  let failed = 0;
  for (const browserId of ['browser-a', 'browser-b']) {
    assert.equal((await sendCode(deps, request({ browserId }))).outcome, 'sent');
    for (let tries = 0; tries < 5 && failed < count; tries++, failed++) {
      assert.equal((await prove('wrong', { browserId })).outcome, 'wrong');
    }
    if (browserId === 'browser-a') pass(minute);
  }
}

async function failuresKept(): Promise<number> {
  const rows = await db.many<{ hits: number }>(
    sql`select cardinality(hits) as hits from identity.budgets where key like 'guesses %'`,
  );
  return rows.reduce((sum, { hits }) => sum + hits, 0);
}

async function sentCounted(): Promise<number> {
  const rows = await db.many<{ sent: number }>(sql`select sent from identity.sms_conversion`);
  return rows.reduce((sum, row) => sum + row.sent, 0);
}

function lastCode(): string {
  return sent.at(-1)?.code ?? '';
}

function wrongCode(): string {
  return lastCode() === '123456' ? '654321' : '123456';
}

function pass(ms: number): void {
  now = after(ms);
}

function after(ms: number): Date {
  return new Date(now.getTime() + ms);
}

test('what should follow from a right code fails: the code is not used up', async () => {
  const other = { phone: '+994509998877', browserId: 'browser-z' };
  await sendCode(deps, request(other));
  const right = attempt(lastCode(), { ...other, knownDevice: undefined });
  await assert.rejects(
    proveCode(deps, right, async () => {
      throw new Error('no session could be made');
    }),
  );
  assert.deepEqual(await prove(lastCode(), other), { outcome: 'proven' });
});

test('one address block cannot pause a whole country by never proving a code', async () => {
  for (let each = 0; each < 45; each++) {
    now = new Date(now.getTime() + 61_000);
    await sendCode(
      deps,
      request({
        phone: `+9945077000${String(each).padStart(2, '0')}`,
        browserId: `b${each}`,
        address: '198.51.100.7',
      }),
    );
  }
  now = new Date(now.getTime() + 11 * 60_000);
  const honest = request({ phone: '+994507799999', browserId: 'honest', address: '203.0.113.9' });
  assert.equal((await sendCode(deps, honest)).outcome, 'sent');
});
