import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, test } from 'node:test';
import { passesCheckDigit } from '../../src/checkout/domain/card.ts';
import { openDatabase } from '../../src/platform/db.ts';
import { patience, testDatabaseUrl } from '../support/database.ts';
import { dumpTexts } from '../support/dump.ts';
import { freePort } from '../support/free-port.ts';
import {
  bankOf,
  cardFormOf,
  cards,
  createPayment,
  type PaymentAnswer,
  postForm,
  readPayment,
} from '../support/merchant.ts';
import type { Answer } from '../support/partner.ts';
import { remote, urlsOf } from '../support/remote.ts';
import { startServer, until } from '../support/server.ts';

const databaseUrl = await testDatabaseUrl();
const db = openDatabase({ url: databaseUrl, poolSize: 2, onConnectionError: () => {}, limits: patience });
after(() => db.close());
const port = await freePort();
const server = await startServer({ PORT: String(port), DATABASE_URL: databaseUrl, LOG_LEVEL: 'trace' });
const site = remote(server.url, urlsOf(`http://localhost:${port}`));

/** Every card that was entered: its number, and the security code that went with it. */
const entered: { number: string; csc: string }[] = [];
const answers: Answer[] = [];
/** What the server says at its start, which names a card to try. */
let greeting: string[] = [];

type Call = {
  method?: 'GET' | 'POST' | 'PUT';
  url: string;
  headers?: Record<string, string>;
  payload?: string;
};

test('customers pay, mistype, misplace and lose their cards, with the cards of the sandbox and with real-looking ones', async () => {
  await createPayment(site);
  greeting = server.output().split('\n');
  for (const number of Object.values(cards)) await pay(number);
  for (const prefix of ['4', '51', '2204', '62', '6', '37', '9']) await pay(canary(prefix));
  const paid = await createPayment(site);
  await pay(cards.challenge, paid);
  const bank = await bankOf(site, paid);
  for (const code of ['0000', '1234']) await postForm(site, bank, { code, action: 'confirm' });
  await site.app.inject({ url: `${new URL(paid.confirmation.confirmationUrl).pathname}/return` });
  assert.equal((await readPayment(site, paid.id)).status, 'succeeded');
  assert.ok(entered.length > 15, `${entered.length} cards`);
});

test('wrong forms, wrong fields and wrong kinds of requests carry a card where none belongs', async () => {
  const number = canary('4');
  const wrong = number.slice(0, -1) + ((Number(number.at(-1)) + 1) % 10);
  await pay(wrong);
  const payment = await createPayment(site);
  const { pathname } = new URL(payment.confirmation.confirmationUrl);
  const card = { number, csc: code(number), expiry: '12/30', holder: 'A Customer' };
  entered.push(card);
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const urlencoded = (more: object) => new URLSearchParams({ attempts: '0', ...card, ...more }).toString();
  for (const payload of [
    urlencoded({ holder: number }),
    urlencoded({ expiry: number }),
    urlencoded({ csc: number }),
    urlencoded({ attempts: number }),
    urlencoded({ number: `${number}${number}` }),
    urlencoded({ holder: '' }),
    urlencoded({ expiry: '1/20' }),
    urlencoded({ holder: number.repeat(5000) }),
  ]) {
    answers.push(await site.app.inject({ method: 'POST', url: pathname, headers: form, payload }));
  }
  const json = JSON.stringify(card);
  const others: Call[] = [
    { method: 'POST', url: pathname, headers: { 'content-type': 'application/json' }, payload: json },
    { method: 'POST', url: pathname, headers: { 'content-type': `text/plain; ${number}` }, payload: json },
    { method: 'PUT', url: pathname, headers: form, payload: urlencoded({}) },
    { method: 'POST', url: `${pathname}/more-time`, headers: form, payload: urlencoded({}) },
    { method: 'POST', url: `${pathname}/wallet/confirm`, headers: form, payload: urlencoded({}) },
    { method: 'POST', url: '/checkout/v1/payments', headers: form, payload: urlencoded({}) },
    { url: `${pathname}?number=${number}&csc=${card.csc}` },
    { url: `${pathname}/${number}` },
    { url: `/checkout/pay/${number}` },
    { url: `/checkout/sandbox/acs/${number}` },
    { url: `/checkout/pay/wallet/callback?state=${number}&code=${number}` },
    {
      url: pathname,
      headers: { 'x-request-id': number, 'user-agent': number, referer: `http://x/${number}` },
    },
    { url: pathname, headers: { cookie: `tollgate-paying=${number}`, 'accept-language': number } },
  ];
  for (const request of others) answers.push(await site.app.inject(request));
  assert.deepEqual(
    answers.filter(({ statusCode }) => statusCode >= 500).map(({ body }) => body),
    [],
  );
});

test('the database fails in the middle of a payment, and what is logged of it is written in a hurry', async () => {
  for (const table of ['attempts', 'sandbox_authorizations', 'payments', 'events', 'merchants']) {
    const payment = await createPayment(site);
    const { pathname } = new URL(payment.confirmation.confirmationUrl);
    const form = cardFormOf((await site.app.inject({ url: pathname })).body);
    const number = canary('4');
    const card = { number, csc: code(number), expiry: '12/30', holder: 'A Customer' };
    entered.push(card);
    // The terms of a merchant are kept for a second.
    if (table === 'merchants') await new Promise((resolve) => setTimeout(resolve, 1_100));
    await rename(`checkout.${table}`, `${table}_gone`);
    const answer = await postForm(site, form?.action ?? '', { ...form?.fields, ...card });
    await rename(`checkout.${table}_gone`, table);
    answers.push(answer);
  }
  assert.ok(
    answers.some(({ statusCode }) => statusCode === 500),
    'something failed',
  );
});

test('the jobs have asked about what was lost, so that their part is in the books and the logs as well', () =>
  until('both lost cards are settled', async () => {
    const settled = await db.many({
      name: 'lost cards',
      text: `select 1 from checkout.attempts
        where (card->>'last4', status) in (('0119', 'approved'), ('0259', 'failed'))`,
      values: [],
    });
    return settled.length === 2;
  }));

test('no answer repeats a number', () => {
  for (const { number } of entered) {
    for (const { body } of answers) {
      assert.ok(
        !body.includes(number) && !body.includes(grouped(number)),
        `${number} in ${body.slice(0, 300)}`,
      );
    }
  }
});

test('no line that the process wrote, at any level, has a number or a security code', () => {
  const lines = server
    .output()
    .split('\n')
    .filter((line) => !greeting.includes(line));
  assert.ok(lines.length > 60, `${lines.length} lines`);
  assert.ok(
    lines.some((line) => line.includes('"route":"/checkout/pay/:token"')),
    'the page is logged',
  );
  assert.ok(
    lines.some((line) => line.includes('"level":"error"')),
    'failures are logged',
  );
  assert.deepEqual(found(lines.map(withoutMeasures)), []);
});

test('the metrics have none', async () => {
  const { body } = await site.app.inject('/metrics');
  assert.match(body, /http_route="\/checkout\/pay\/:token"/);
  const labels = body.split('\n').map((line) => line.replace(/ [\d.e+-]+$/, '').replace(/le="[^"]*"/, ''));
  assert.deepEqual(found(labels), []);
});

test('the database has none, neither ours nor the books of the acquirer nor the queue', async () => {
  const dump = await dumpTexts(databaseUrl);
  const values = [...dump.values()].flat();
  // The search is worth something only when it finds what is there: what may be kept of a card is.
  assert.ok(
    values.some((value) => value.includes('"first6": "424242"') && value.includes('"last4": "4242"')),
    'first6',
  );
  for (const table of [
    '"checkout"."sandbox_authorizations"',
    '"graphile_worker"."_private_jobs"',
    '"checkout"."events"',
  ]) {
    assert.ok(
      [...dump.keys()].some((column) => column.startsWith(table)),
      table,
    );
  }
  for (const [column, kept] of dump) assert.deepEqual(found(kept), [], column);
});

test('the search would have found them: a card put into a table, a log line or a label is seen', async () => {
  const { number, csc } = entered.at(-1) ?? { number: '', csc: '' };
  for (const text of [
    `{"number":"${number}"}`,
    `number=${grouped(number).replaceAll(' ', '+')}`,
    Buffer.from(number).toString('hex'),
    Buffer.from(`xx${number}`).toString('base64'),
    `detail: Failing row contains (${number}, …).`,
    `{"csc":"${csc}"}`,
    `csc=${csc}&holder=x`,
  ]) {
    assert.notDeepEqual(found([withoutMeasures(text)]), [], text);
  }
});

async function pay(number: string, given?: PaymentAnswer): Promise<void> {
  const payment = given ?? (await createPayment(site));
  const { pathname } = new URL(payment.confirmation.confirmationUrl);
  const form = cardFormOf((await site.app.inject({ url: pathname })).body);
  const card = { number, csc: code(number), expiry: '12/30', holder: 'A Customer' };
  entered.push({ ...card, number: number.replaceAll(' ', '') });
  answers.push(await postForm(site, form?.action ?? '', { ...form?.fields, ...card }));
  answers.push(await site.app.inject({ url: pathname }));
}

/** A number that nobody has issued, as far as we know, with the right check digit. */
function canary(prefix: string): string {
  const length = prefix === '37' ? 15 : 16;
  for (;;) {
    const digits = prefix + Array.from({ length: length - prefix.length }, () => randomInt(10)).join('');
    const endsInCode = entered.some(({ csc }) => digits.endsWith(csc));
    if (passesCheckDigit(digits) && !endsInCode) return digits;
  }
}

/** A code for a card that is no status, no year and no end of a card: one that stands anywhere was put there. */
function code(card: string): string {
  const length = card.startsWith('37') ? 4 : 3;
  const numbers = [card, ...entered.map(({ number }) => number)];
  for (;;) {
    const digits = String(randomInt(6 * 10 ** (length - 1), 10 ** length));
    if (entered.some(({ csc }) => csc === digits)) continue;
    if (!numbers.some((number) => number.endsWith(digits))) return digits;
  }
}

function grouped(number: string): string {
  return number.match(/.{1,4}/g)?.join(' ') ?? '';
}

/** What of the cards stands in the texts: numbers in any spelling, all but their first six and last four included. */
function found(texts: string[]): string[] {
  const together = texts.join('\n');
  return entered.flatMap(({ number, csc }) => {
    const spellings = [
      number,
      grouped(number),
      grouped(number).replaceAll(' ', '+'),
      grouped(number).replaceAll(' ', '-'),
      number.slice(0, -4),
      number.slice(6),
      Buffer.from(number).toString('hex'),
      // Whatever stands before it shifts base64 by one or two bytes, so the middle of each shift is looked for.
      ...[0, 1, 2].map((shift) =>
        Buffer.from(number)
          .subarray(shift, shift + 12)
          .toString('base64'),
      ),
    ].filter((spelling) => together.includes(spelling));
    const alone = new RegExp(`(?<![\\w.:-])${csc}(?![\\w.:-])`);
    return [...spellings, ...texts.filter((text) => alone.test(text)).map((text) => `${csc} in ${text}`)];
  });
}

/** A line of the log without the numbers that every line has, any of which may look like a security code. */
function withoutMeasures(line: string): string {
  return line
    .replace(/"(pid|time|durationMs|position|line|port)":"?[\w.:-]+"?/g, '')
    .replace(/:\d+:\d+\)?/g, '');
}

function rename(from: string, to: string): Promise<number> {
  return db.run({ name: `${from} ${to}`, text: `alter table ${from} rename to ${to}`, values: [] });
}
