import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { hostname, userInfo } from 'node:os';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from '../../src/platform/db.ts';
import { startTestApp } from '../support/app.ts';
import { assertBooks } from '../support/books.ts';
import { auditOf, commandLine } from '../support/command-line.ts';
import { testDatabaseUrl } from '../support/database.ts';
import {
  basic,
  call,
  createPayment,
  demoMerchant,
  order,
  paidPayment,
  payByCard,
  refund,
} from '../support/merchant.ts';
import { addPerson, testPhonesSetting } from '../support/registered.ts';
import { temporaryFolder } from '../support/server.ts';

type MerchantJson = { merchantId: string; feeBasisPoints: number; balanceFloor: string; terminals: object[] };

const url = await testDatabaseUrl();
const service = await startTestApp({ DATABASE_URL: url, TEST_PHONES: testPhonesSetting });
const { db } = service;
const cli = commandLine({ DATABASE_URL: url });
const folder = await temporaryFolder({ after });
const somebody = `cli:${userInfo().username}@${hostname()}`;

test('from nothing to a payment: a merchant, a terminal and a program, and its balance after the fee', async () => {
  const { merchant } = await cli.json<{ merchant: MerchantJson }>(
    'merchant create SHOP1 --name "The Shop" --return-origin http://localhost:4000 --fee-basis-points 150',
  );
  assert.equal(merchant.feeBasisPoints, 150);
  await cli.json('terminal add SHOP1 TRM1 --currency AZN --currency USD');
  const { clientSecret } = await cli.json<{ clientSecret: string }>(
    'client create shop-pos --name Till --merchant SHOP1',
  );
  assert.deepEqual(await auditOf(db, 'checkout', 'SHOP1'), [
    `${somebody} terminal.added`,
    `${somebody} merchant.created`,
  ]);
  assert.deepEqual(await auditOf(db, 'identity', 'shop-pos'), [`${somebody} client.created`]);

  const answer = await call(service, 'POST', '/v1/payments', {
    body: { ...order, merchantId: 'SHOP1', terminalId: 'TRM1' },
    authorization: basic('shop-pos', clientSecret),
  });
  assert.equal(answer.statusCode, 200, answer.body);
  const hooks = await call(service, 'GET', '/v1/webhook-endpoints', {
    authorization: basic('shop-pos', clientSecret),
  });
  assert.equal(hooks.statusCode, 200, hooks.body);
  await payByCard(service, answer.json());
  assert.deepEqual(await cli.json('merchant balance SHOP1'), {
    merchantId: 'SHOP1',
    balances: [{ currency: 'AZN', available: '98.50', onHold: '0.00' }],
  });
  assert.match(
    await cli.text('merchant list'),
    /SHOP1 +The Shop +enabled +1\.5% +0 +http:\/\/localhost:4000/,
  );
  assert.match(await cli.text('terminal list SHOP1'), /SHOP1 +TRM1 +enabled +AZN USD/);
  await cli.json('merchant list');
  await cli.json('terminal list');
});

test('terms change and servers see it; a floor above the balance is refused', async () => {
  const fee = await cli.json<{ merchant: MerchantJson; changed: string[] }>(
    `merchant set-fee ${demoMerchant.merchantId} --fee-basis-points 200 --fee-fixed 30`,
  );
  assert.deepEqual(fee.changed, ['feeBasisPoints', 'feeFixed']);
  await delay(1_050);
  await paidPayment(service);
  const { balances } = await cli.json<{ balances: { available: string }[] }>(
    `merchant balance ${demoMerchant.merchantId}`,
  );
  assert.equal(balances[0]?.available, '97.70');

  const { merchantId } = demoMerchant;
  const floor = (minor: string) => `merchant set-floor ${merchantId} --floor ${minor}`;
  await cli.refused(floor('9771'), 1, /The merchant's balance is 97\.70 AZN; choose a floor at or below it/);
  assert.equal((await cli.json<{ merchant: MerchantJson }>(floor('-5000'))).merchant.balanceFloor, '-5000');
  const origins = `merchant update ${merchantId} --return-origin http://localhost:4000 --name "Demo Shop 2"`;
  assert.deepEqual((await cli.json<{ changed: string[] }>(origins)).changed.sort(), [
    'name',
    'returnUrlOrigins',
  ]);
  await cli.json(`merchant set-fee ${merchantId} --fee-basis-points 0 --fee-fixed 0`);
  assert.deepEqual(
    (await auditOf(db, 'checkout', merchantId)).slice(0, 4),
    Array.from({ length: 4 }, () => `${somebody} merchant.changed`),
  );
});

test('a payment page gets the logo and the colour of its merchant', async () => {
  await writeFile(`${folder}/logo.png`, Buffer.from('89504e470d0a1a0a00', 'hex'));
  await writeFile(`${folder}/logo.svg`, '<svg/>');
  const { merchantId } = demoMerchant;
  const set = `merchant set-theme ${merchantId}`;
  assert.deepEqual(await cli.json(`${set} --logo ${folder}/logo.png --accent #0B5FAE`), {
    merchantId,
    theme: { logoBytes: 9, accent: '#0b5fae' },
    changed: ['logo', 'accent'],
  });
  assert.deepEqual((await cli.json<{ changed: string[] }>(`${set} --logo none`)).changed, ['logo']);
  assert.deepEqual((await auditOf(db, 'checkout', merchantId)).slice(0, 2), [
    `${somebody} merchant.theme_changed`,
    `${somebody} merchant.theme_changed`,
  ]);
  await cli.allRefused([
    [`${set} --logo ${folder}/logo.svg`, 2, /^--logo: A logo is a PNG, JPEG or WebP/],
    [`${set} --logo ${folder}/none.png`, 2, /^--logo: .* cannot be read \(ENOENT\)/],
    [`${set} --accent red`, 2, /^--accent: A colour is written as #0b5fae/],
    [set, 2, /Nothing to change was given/],
    ['merchant set-theme NOBODY --accent #000000', 1, /There is no merchant NOBODY/],
  ]);
});

test('a merchant or a terminal is shut out and let in again', async () => {
  const { merchantId, terminalId } = demoMerchant;
  const status = async () => {
    await delay(1_050);
    return (await call(service, 'POST', '/v1/payments', { body: order })).statusCode;
  };
  const terminal = `${merchantId} ${terminalId}`;
  assert.equal((await cli.json<{ changed: boolean }>(`terminal disable ${terminal}`)).changed, true);
  assert.equal(await status(), 403);
  assert.equal((await cli.json<{ changed: boolean }>(`terminal enable ${terminal}`)).changed, true);
  assert.equal((await cli.json<{ changed: boolean }>(`merchant disable ${merchantId}`)).changed, true);
  assert.equal(await status(), 401);
  assert.equal((await cli.json<{ changed: boolean }>(`merchant enable ${merchantId}`)).changed, true);
  assert.equal(await status(), 200);
  assert.equal((await cli.json<{ changed: boolean }>(`merchant enable ${merchantId}`)).changed, false);
  assert.deepEqual((await auditOf(db, 'checkout', merchantId)).slice(0, 4), [
    `${somebody} merchant.enabled`,
    `${somebody} merchant.disabled`,
    `${somebody} terminal.enabled`,
    `${somebody} terminal.disabled`,
  ]);
});

test('what a merchant or terminal cannot be is told by option; what is not there, with exit code 1', async () => {
  const origin = '--name X --return-origin';
  await cli.allRefused([
    [
      `merchant create A ${origin} https://a.example/x`,
      2,
      /^--return-origin: .* an origin alone: https:\/\/a\.example\./,
    ],
    [`merchant create A ${origin} http://a.example`, 2, /^--return-origin: .* must be https/],
    [`merchant create "A B" ${origin} https://a.example`, 2, /^<merchant>: It takes 1 to 15/],
    [`merchant create DEMOMERCHANT001 ${origin} https://a.example`, 1, /already; choose another/],
    ['merchant show NOBODY', 1, /There is no merchant NOBODY; see them all/],
    ['merchant set-fee DEMOMERCHANT001 --fee-fixed x', 2, /It takes a whole number of minor units/],
    ['terminal add DEMOMERCHANT001 TRM9 --currency XXX', 2, /^--currency: "XXX" is not a currency/],
    ['terminal add DEMOMERCHANT001 DEMOTRM1 --currency AZN', 1, /has a terminal DEMOTRM1 already/],
    ['terminal disable DEMOMERCHANT001 TRM9', 1, /has no terminal TRM9/],
  ]);
});

test('a payment is shown with its attempts, refunds and events', async () => {
  const payment = await paidPayment(service);
  await refund(service, payment.id, '30.00');
  const shown = await cli.json<{
    payment: object;
    attempts: { status: string }[];
    refunds: { status: string }[];
  }>(`payment show ${payment.id}`);
  const asMerchant = await call(service, 'GET', `/v1/payments/${payment.id}`);
  assert.deepEqual(shown.payment, asMerchant.json());
  assert.deepEqual([shown.attempts[0]?.status, shown.refunds[0]?.status], ['approved', 'succeeded']);
  const { events } = await cli.json<{ events: { type: string; payload: { type: string } }[] }>(
    `payment events ${payment.id}`,
  );
  assert.equal(events[0]?.type, 'payment.created');
  assert.ok(events.some((event) => event.type === 'refund.succeeded'));
  assert.ok(events.every((event) => event.type === event.payload.type));
  assert.match(await cli.text(`payment show ${payment.id}`), /refunded +30\.00 AZN[\s\S]*REFUND +STATUS/);
  await cli.allRefused([
    ['payment show 0199d1c2-7a52-7c60-b0b5-2c0b7f3f1a11', 1, /There is no payment 0199/],
    ['payment show 17', 2, /It takes an identifier such as/],
  ]);
});

test('payments are listed by page, and what a merchant wrote cannot touch the terminal', async () => {
  const { id } = await createPayment(service, { merchantOrderId: 'evil\u001b[2J\u202eorder' });
  await createPayment(service, { merchantOrderId: 'order-2' });
  const list = `payment list --merchant ${demoMerchant.merchantId} --status pending`;
  const first = await cli.json<{ items: { id: string }[]; nextCursor: string }>(`${list} --limit 1`);
  assert.equal(first.items.length, 1);
  const second = await cli.json<{ items: { id: string }[] }>(
    `${list} --limit 1 --before ${first.nextCursor}`,
  );
  assert.equal(second.items[0]?.id, id);
  const text = await cli.text(list);
  assert.match(text, /evil\ufffd\[2J\ufffdorder/);
  const byOrder = await cli.json<{ items: object[]; nextCursor: null }>(
    `${list} --order order-2 --from 2020-01-01`,
  );
  assert.deepEqual([byOrder.items.length, byOrder.nextCursor], [1, null]);
  await cli.allRefused([
    ['payment list --merchant NOBODY', 1, /There is no merchant NOBODY/],
    [`${list} --from yesterday`, 2, /It takes a day or an instant/],
  ]);
});

test('a top-up is posted once for its reference, however often and at once it is asked for', async () => {
  const person = await addPerson(service);
  const topUp = (amount: string) =>
    `wallet top-up ${person.phone} --amount ${amount} --currency AZN --source bank --reference TRANSFER-1`;
  const both = await Promise.all(
    [1, 2].map(() => cli.json<{ posted: boolean; balance: string }>(topUp('50.00'))),
  );
  assert.deepEqual(both.map((one) => one.posted).sort(), [false, true]);
  assert.deepEqual(
    both.map((one) => one.balance),
    ['50.00', '50.00'],
  );
  await cli.allRefused([
    [topUp('60.00'), 1, /TRANSFER-1 of bank was used for 50\.00 AZN/],
    [topUp('60'), 2, /^--amount: 60 is not an amount of AZN/],
  ]);
  assert.deepEqual(await cli.json(`wallet show ${person.id}`), {
    userId: person.id,
    wallets: [{ currency: 'AZN', balance: '50.00' }],
  });
  assert.deepEqual(await auditOf(db, 'checkout', person.id), [`${somebody} wallet.topped_up`]);
  const { amount } = await db.one<{ amount: bigint }>(
    sql`select sum(amount)::bigint as amount from checkout.ledger_entries where owner = 'bank' and kind = 'funding'`,
  );
  assert.equal(amount, -50_00n);
  await assertBooks(service);
});

test('what is written in the audit stays', async () => {
  await assert.rejects(db.run(sql`update checkout.audit set actor = 'x'`), /append only/);
  await assert.rejects(db.run(sql`delete from checkout.audit`), /append only/);
  await assert.rejects(db.run(sql`truncate checkout.audit`), /append only/);
});
