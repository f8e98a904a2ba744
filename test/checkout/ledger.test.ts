import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { after, test } from 'node:test';
import fc from 'fast-check';
import pg from 'pg';
import { payByWallet } from '../../src/checkout/attempt.ts';
import { feeOf, type Money } from '../../src/checkout/domain/money.ts';
import type { Paid, Payment, PaymentId } from '../../src/checkout/domain/payment.ts';
import {
  capturePosting,
  type Posting,
  refundCanceledPosting,
  refundHoldPosting,
  refundSucceededPosting,
  topUpPosting,
  walletCapturePosting,
  walletHoldPosting,
  walletMovePosting,
  walletRefundPosting,
  walletReleasePosting,
} from '../../src/checkout/domain/posting.ts';
import type { Refund } from '../../src/checkout/domain/refund.ts';
import { post } from '../../src/checkout/store/ledger.ts';
import { type Invariant, verifyLedger } from '../../src/checkout/verify-ledger.ts';
import { packageRoot } from '../../src/package.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { testDatabaseUrl } from '../support/database.ts';
import { lesserRole } from '../support/lesser-role.ts';
import {
  call,
  cards,
  createPayment,
  demoMerchant,
  paidPayment,
  payByCard,
  readPayment,
  refund,
} from '../support/merchant.ts';
import { temporaryFolder } from '../support/server.ts';

const { merchantId } = demoMerchant;
const tables = [
  'ledger_accounts',
  'ledger_transactions',
  'ledger_entries',
  'payments',
  'refunds',
  'attempts',
  'events',
  'idempotency_keys',
  'contradictions',
];
const url = await testDatabaseUrl();
const service = await startTestApp({ DATABASE_URL: url });
/** The owner of the tables, and a superuser: what it cannot do, nobody can. */
const owner = await ownerOf(url);
const walletUserId = await walletOwner(service);
const lesser = await onLesserRole();
const objects = await someOfEverything(service);
await owner.query(savedCopy());

async function ownerOf(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl });
  // The database is dropped before the hooks of this file come to the client.
  client.on('error', () => {});
  await client.connect();
  after(() => client.end());
  return client;
}

async function walletOwner({ app }: TestApp): Promise<string> {
  assert.ok(app);
  const { rows } = await owner.query(`select owner from checkout.ledger_accounts where kind = 'wallet'`);
  return String(rows[0]?.owner);
}

/** The whole service as a role that owns nothing, on a database that its owner has migrated. */
async function onLesserRole() {
  const { owner: ownerUrl, server } = await lesserRole();
  const client = await ownerOf(server);
  return { service: await startTestApp({ DATABASE_URL: server }), client, ownerUrl };
}

/** At least one object in each state that the invariants speak of. */
async function someOfEverything(on: TestApp) {
  const { deps } = on.areas.checkout;
  const wallet = async (changes: object) => {
    const { id } = await createPayment(on, { amount: { value: '20.00', currency: 'AZN' }, ...changes });
    await payByWallet(deps, { merchantId, paymentId: id as PaymentId }, walletUserId, 0);
    return id;
  };
  const partlyRefunded = (await paidPayment(on)).id;
  const done = (await refund(on, partlyRefunded, '30.00')).json<{ id: string }>().id;
  const rejecting = await createPayment(on);
  await payByCard(on, rejecting, cards.refundRejected);
  const refused = (await refund(on, rejecting.id, '10.00')).json<{ id: string }>().id;
  const lost = await createPayment(on);
  await payByCard(on, lost, cards.lostThenApproved);
  const waiting = await paidPayment(on, { capture: false });
  const walletPaid = await wallet({});
  const walletRefund = (await refund(on, walletPaid, '5.00')).json<{ id: string }>().id;
  const walletWaiting = await wallet({ capture: false });
  const walletCanceled = await wallet({ capture: false });
  await call(on, 'POST', `/v1/payments/${walletCanceled}/cancel`);
  const walletCaptured = await wallet({ capture: false });
  const part = { amount: { value: '7.00', currency: 'AZN' } };
  await call(on, 'POST', `/v1/payments/${walletCaptured}/capture`, { body: part });
  const canceled = await paidPayment(on, { capture: false });
  await call(on, 'POST', `/v1/payments/${canceled.id}/cancel`);
  const { acquirer } = deps;
  const { refund: answering } = acquirer;
  acquirer.refund = async () => ({ kind: 'unknown' });
  const pending = await refund(on, partlyRefunded, '20.00');
  acquirer.refund = answering;
  assert.equal(pending.json().code, 'outcome_unknown');
  return {
    partlyRefunded,
    done,
    refused,
    lost: lost.id,
    waiting: waiting.id,
    walletPaid,
    walletRefund,
    walletWaiting,
    walletCanceled,
    walletCaptured,
    canceled: canceled.id,
  };
}

const terms = { feeBasisPoints: 150, feeFixed: 0n, balanceFloor: 0n };
const azn = (minor: bigint): Money => ({ minor, currency: 'AZN' });

test('a fee is its basis points plus its fixed part, rounded half up, and never above the amount', () => {
  const cases: [bigint, number, bigint, bigint][] = [
    [10_000n, 250, 0n, 250n],
    [10_000n, 0, 0n, 0n],
    [33n, 150, 0n, 0n], // 0.495
    [34n, 150, 0n, 1n], // 0.51
    [100n, 150, 0n, 2n], // 1.5, half up
    [99n, 150, 0n, 1n], // 1.485
    [300n, 50, 0n, 2n], // 1.5
    [10_000n, 250, 30n, 280n],
    [20n, 0, 30n, 20n],
    [1n, 10_000, 0n, 1n],
    [999_999_999_999n, 9_999, 0n, 999_899_999_999n],
  ];
  for (const [amount, basisPoints, fixed, expected] of cases) {
    assert.equal(feeOf(amount, { basisPoints, fixed }), expected, `${amount} at ${basisPoints} + ${fixed}`);
  }
});

test('whatever the amounts and terms, the lines of every posting add up to nothing and none moves zero', () => {
  const minor = fc.bigInt({ min: 1n, max: 999_999_999_999n });
  const conditions = fc.record({
    feeBasisPoints: fc.integer({ min: 0, max: 10_000 }),
    feeFixed: fc.bigInt({ min: 0n, max: 10_000n }),
    balanceFloor: fc.constant(0n),
  });
  fc.assert(
    fc.property(minor, minor, conditions, fc.boolean(), (one, other, agreed, byWallet) => {
      const [amount, part] = one > other ? [one, other] : [other, one];
      const payment = { merchantId, id: randomUUID(), amount: azn(amount) } as unknown as Payment;
      const paid = { walletUserId: byWallet ? walletUserId : null } as Paid;
      const given = { merchantId, id: randomUUID(), amount: azn(part) } as unknown as Refund;
      const postings: Posting[] = [
        capturePosting(payment, paid, part, agreed),
        walletHoldPosting(payment, walletUserId),
        walletCapturePosting(payment, walletUserId, part, agreed),
        walletReleasePosting(payment, walletUserId),
        refundHoldPosting(given, agreed),
        refundSucceededPosting(given),
        refundCanceledPosting(given, agreed),
        walletRefundPosting(given, walletUserId, agreed),
        topUpPosting({ id: randomUUID(), userId: walletUserId, amount: azn(one), source: 'test' }),
        walletMovePosting({ id: randomUUID(), from: 'a', to: 'b', amount: azn(one) }),
      ];
      for (const { lines, kind } of postings) {
        assert.equal(
          lines.reduce((sum, line) => sum + line.minor, 0n),
          0n,
          kind,
        );
        assert.ok(lines.length >= 2 && lines.every((line) => line.minor !== 0n), kind);
      }
    }),
  );
});

test('a payment of 100 at 2.5 % gives the merchant 97.50 and us 2.50', () => {
  const payment = { merchantId, id: randomUUID(), amount: azn(100_00n) } as unknown as Payment;
  const { lines } = capturePosting(payment, { walletUserId: null } as Paid, 100_00n, {
    ...terms,
    feeBasisPoints: 250,
  });
  assert.deepEqual(
    lines.map(({ kind, minor }) => [kind, minor]),
    [
      ['acquirer_receivable', -100_00n],
      ['merchant_available', 97_50n],
      ['fee_income', 2_50n],
    ],
  );
});

for (const table of ['ledger_transactions', 'ledger_entries']) {
  for (const change of ['update', 'delete', 'truncate'] as const) {
    test(`T68 not even the owner can ${change} ${table}`, async () => {
      const statement = {
        update: `update checkout.${table} set currency = 'USD'`,
        delete: `delete from checkout.${table}`,
        truncate: `truncate checkout.${table}`,
      }[change];
      await assert.rejects(owner.query(statement), { code: '42501', message: `${table} is append only` });
    });

    test(`T68 a server under a lesser role has no right to ${change} ${table}`, async () => {
      const statement = {
        update: `update checkout.${table} set currency = 'USD'`,
        delete: `delete from checkout.${table}`,
        truncate: `truncate checkout.${table}`,
      }[change];
      await assert.rejects(lesser.client.query(statement), {
        code: '42501',
        message: `permission denied for table ${table}`,
      });
    });
  }
}

/** Inserts lines as they are given, each `[transaction, line, kind, currency, amount]`. */
function insertEntries(lines: [string, number, string, string, number][]): Promise<unknown> {
  return owner.query(
    `insert into checkout.ledger_entries (merchant_id, transaction_id, line, owner, kind, currency, amount)
     select 'M', t, l, 'x', k, c, a from unnest($1::uuid[], $2::int[], $3::text[], $4::text[], $5::bigint[]) as e (t, l, k, c, a)`,
    [0, 1, 2, 3, 4].map((column) => lines.map((line) => line[column])),
  );
}

async function insertTransaction(currency = 'AZN'): Promise<string> {
  const id = randomUUID();
  await owner.query(
    `insert into checkout.ledger_transactions (merchant_id, transaction_id, kind, reference, currency, created_at)
     values ('M', $1, 'test', $1, $2, now())`,
    [id, currency],
  );
  return id;
}

const refusedEntries = { code: '23514', message: 'the entries of a ledger transaction do not add up' };

test('entries that do not add up, stand alone, skip a line or mix currencies are refused', async () => {
  await owner.query('begin');
  const id = await insertTransaction();
  const wrong: [string, number, string, string, number][][] = [
    [
      [id, 1, 'funding', 'AZN', 5],
      [id, 2, 'fee_income', 'AZN', -4],
    ],
    [[id, 1, 'funding', 'AZN', 5]],
    [
      [id, 1, 'funding', 'AZN', 5],
      [id, 3, 'fee_income', 'AZN', -5],
    ],
    [
      [id, 2, 'funding', 'AZN', 5],
      [id, 3, 'fee_income', 'AZN', -5],
    ],
    [
      [id, 1, 'funding', 'AZN', 5],
      [id, 2, 'fee_income', 'AZN', -5],
      [id, 3, 'funding', 'USD', 5],
      [id, 4, 'fee_income', 'USD', -5],
    ],
    [
      [id, 1, 'funding', 'USD', 5],
      [id, 2, 'fee_income', 'USD', -5],
    ],
    [
      [randomUUID(), 1, 'funding', 'AZN', 5],
      [randomUUID(), 1, 'fee_income', 'AZN', -5],
    ],
  ];
  for (const lines of wrong) {
    await owner.query('savepoint before');
    await assert.rejects(insertEntries(lines), refusedEntries, JSON.stringify(lines));
    await owner.query('rollback to savepoint before');
  }
  await owner.query('rollback');
});

test('entries without their transaction are refused', async () => {
  const id = randomUUID();
  await assert.rejects(
    insertEntries([
      [id, 1, 'funding', 'AZN', 5],
      [id, 2, 'fee_income', 'AZN', -5],
    ]),
    refusedEntries,
  );
});

test('nothing can be added to a transaction later, balanced or not', async () => {
  await owner.query('begin');
  const id = await insertTransaction();
  await insertEntries([
    [id, 1, 'funding', 'AZN', 5],
    [id, 2, 'fee_income', 'AZN', -5],
  ]);
  await owner.query('savepoint before');
  await assert.rejects(
    insertEntries([
      [id, 3, 'funding', 'AZN', 5],
      [id, 4, 'fee_income', 'AZN', -5],
    ]),
    refusedEntries,
  );
  await owner.query('rollback to savepoint before');
  await assert.rejects(
    insertEntries([
      [id, 1, 'funding', 'AZN', 5],
      [id, 2, 'fee_income', 'AZN', -5],
    ]),
    { code: '23505' },
  );
  await owner.query('rollback');
});

test('an event is posted once, however often it is tried', async () => {
  const topUp = topUpPosting({ id: randomUUID(), userId: randomUUID(), amount: azn(5n), source: 'test' });
  const at = service.clock.now();
  await service.db.transaction((tx) => post(tx, topUp, at)).then((posted) => assert.ok(posted));
  await assert.rejects(
    service.db.transaction((tx) => post(tx, topUp, at)),
    { code: '23505' },
  );
});

test('a posting takes a balance down to its floor and not a unit further, and nothing is written when refused', async () => {
  const at = service.clock.now();
  const person = randomUUID();
  const move = (minor: bigint) =>
    walletMovePosting({ id: randomUUID(), from: person, to: walletUserId, amount: azn(minor) });
  const topUp = topUpPosting({ id: randomUUID(), userId: person, amount: azn(100n), source: 'test' });
  await service.db.transaction((tx) => post(tx, topUp, at));
  const tooMuch = move(101n);
  assert.equal(await service.db.transaction((tx) => post(tx, tooMuch, at)), false);
  const { rows } = await owner.query('select from checkout.ledger_transactions where reference = $1', [
    tooMuch.reference,
  ]);
  assert.equal(rows.length, 0);
  assert.equal(await service.db.transaction((tx) => post(tx, move(100n), at)), true);
  assert.equal(await service.db.transaction((tx) => post(tx, move(1n), at)), false);
  const back = walletMovePosting({ id: randomUUID(), from: walletUserId, to: person, amount: azn(100n) });
  assert.ok(await service.db.transaction((tx) => post(tx, back, at)));
});

test('postings that cross each other in both directions do not deadlock and lose nothing', async () => {
  const at = service.clock.now();
  const people = [randomUUID(), randomUUID()];
  for (const userId of people) {
    const topUp = topUpPosting({ id: randomUUID(), userId, amount: azn(1_000n), source: 'test' });
    await service.db.transaction((tx) => post(tx, topUp, at));
  }
  const [one = '', other = ''] = people;
  // As many at once as there are connections: more would only wait for one.
  await Promise.all(
    Array.from({ length: 10 }, async (_, n) => {
      const [from, to] = n % 2 ? [one, other] : [other, one];
      for (let round = 0; round < 10; round++) {
        const posting = walletMovePosting({ id: randomUUID(), from, to, amount: azn(7n) });
        assert.ok(await service.db.transaction((tx) => post(tx, posting, at)));
      }
    }),
  );
  const { rows } = await owner.query(
    'select balance::int from checkout.ledger_accounts where owner = any ($1)',
    [people],
  );
  assert.deepEqual(rows, [{ balance: 1_000 }, { balance: 1_000 }]);
});

test('the service works under the lesser role: payments, refunds, captures, jobs and clean-up', async () => {
  const on = lesser.service;
  const payment = await paidPayment(on);
  assert.equal(payment.status, 'succeeded');
  assert.equal((await refund(on, payment.id, '40.00')).json().status, 'succeeded');
  const waiting = await paidPayment(on, { capture: false });
  assert.equal((await call(on, 'POST', `/v1/payments/${waiting.id}/capture`, { body: {} })).statusCode, 200);
  const lost = await createPayment(on);
  await payByCard(on, lost, cards.lostThenApproved);
  on.clock.move(3600_000);
  for (const name of ['checkout.settle', 'checkout.sweep', 'checkout.clean-up']) {
    await on.areas.jobs.find((job) => job.name === name)?.run({});
  }
  assert.equal((await readPayment(on, lost.id)).status, 'succeeded');
  assert.deepEqual(await verify(lesser.ownerUrl, on), []);
});

function verify(databaseUrl = url, on = service, stuckAfterMs = 3600_000) {
  return verifyLedger({ url: databaseUrl, now: on.clock.now(), stuckAfterMs });
}

test('verify-ledger finds nothing where nothing is wrong', async () => {
  assert.deepEqual(await verify(), []);
});

function savedCopy(): string {
  return `create schema saved; ${tables.map((table) => `create table saved.${table} as table checkout.${table};`).join('')}`;
}

/** What a statement breaks that no trigger could stop, because a superuser has turned them off. */
async function breachesAfter(statement: string) {
  const untriggered = async (statements: string) =>
    owner.query(`begin; set local session_replication_role = replica; ${statements}; commit`);
  await untriggered(tables.map((table) => `truncate saved.${table}`).join(';'));
  await untriggered(
    tables.map((table) => `insert into saved.${table} select * from checkout.${table}`).join(';'),
  );
  try {
    await untriggered(statement);
    return await verify();
  } finally {
    await owner.query('rollback');
    await untriggered(
      tables
        .map(
          (table) =>
            `delete from checkout.${table}; insert into checkout.${table} select * from saved.${table}`,
        )
        .join(';'),
    );
  }
}

const posting = (kind: string, reference: string) =>
  `transaction_id = (select transaction_id from checkout.ledger_transactions where kind = '${kind}' and reference = '${reference}')`;

const tampering: { what: string; statement: () => string; finds: Partial<Record<Invariant, RegExp>> }[] = [
  {
    what: 'an entry that was changed',
    statement: () =>
      `update checkout.ledger_entries set amount = amount + 1 where kind = 'merchant_available' and ${posting('payment_captured', objects.partlyRefunded)}`,
    finds: {
      transaction_sums_to_zero: /expected 0 AZN, found 1 AZN/,
      currency_sums_to_zero: /AZN: expected 0, found 1$/,
      balance_is_sum_of_entries: /merchant_available AZN/,
      payment_is_posted_as_it_stands: /10000 to the merchant.*10001 to the merchant/,
    },
  },
  {
    what: 'a transaction that lost its entries',
    statement: () => `delete from checkout.ledger_entries where ${posting('refund_succeeded', objects.done)}`,
    finds: {
      transaction_has_its_entries: /no entries/,
      balance_is_sum_of_entries: /merchant_refund_hold/,
      refund_is_posted_as_it_stands: /3000 to the acquirer.*0 to the acquirer/,
    },
  },
  {
    what: 'entries without a transaction',
    statement: () =>
      `delete from checkout.ledger_transactions where ${posting('payment_captured', objects.walletPaid)}`,
    finds: {
      transaction_has_its_entries: /no entries without a transaction/,
      payment_is_posted_as_it_stands: /captured 1 times.*captured 0 times/,
    },
  },
  {
    what: 'a balance that was changed',
    statement: () =>
      `update checkout.ledger_accounts set balance = balance + 7 where kind = 'merchant_available'`,
    finds: { balance_is_sum_of_entries: /merchant_available AZN: expected \d+, found \d+/ },
  },
  {
    what: 'an account that is gone',
    statement: () => `delete from checkout.ledger_accounts where kind = 'wallet_hold'`,
    finds: {
      balance_is_sum_of_entries: /found no account/,
      wallet_hold_is_waiting_payments: /expected 2000, found 0/,
    },
  },
  {
    what: 'a balance below its floor',
    statement: () => `update checkout.ledger_accounts set floor = balance + 1 where kind = 'wallet_hold'`,
    finds: { balance_not_below_floor: /wallet_hold AZN: expected at least 2001, found 2000/ },
  },
  {
    what: 'a hold without its refund',
    statement: () => `update checkout.refunds set amount = amount - 1 where status = 'pending'`,
    finds: {
      refund_hold_is_pending_refunds: /expected 1999, found 2000/,
      payment_knows_its_refunds: /1999 held, found .*2000 held/,
      refund_is_posted_as_it_stands: /1999 on hold.*2000 on hold/,
    },
  },
  {
    what: 'a wallet payment that no longer waits',
    statement: () =>
      `update checkout.payments set amount = amount + 1 where payment_id = '${objects.walletWaiting}'`,
    finds: {
      wallet_hold_is_waiting_payments: /expected 2001, found 2000/,
      payment_is_posted_as_it_stands: /-2001 in the wallet.*-2000 in the wallet/,
    },
  },
  {
    what: 'refunds above what was captured',
    statement: () => `update checkout.refunds set amount = 9000 where refund_id = '${objects.done}'`,
    finds: {
      refunds_within_captured: /expected at most 10000 AZN, found 11000 AZN/,
      payment_knows_its_refunds: /9000 refunded/,
      refund_is_posted_as_it_stands: /9000 to the acquirer/,
    },
  },
  {
    what: 'a payment that counts other refunds',
    statement: () =>
      `update checkout.payments set refunded = refunded + 1 where payment_id = '${objects.walletPaid}'`,
    finds: { payment_knows_its_refunds: /expected 500 refunded, 0 held, found 501 refunded, 0 held/ },
  },
  {
    what: 'a refund of no payment',
    statement: () => `delete from checkout.payments where payment_id = '${objects.walletPaid}'`,
    finds: {
      refunds_within_captured: /of an unknown payment/,
      payment_is_posted_as_it_stands: /no payment/,
      refund_is_posted_as_it_stands: /held 1.*held 0/,
      approval_is_kept_or_given_back: /expected given back, found kept/,
      version_has_one_event: /no events without their object/,
      key_leads_to_its_object: /create_payment of an existing object/,
    },
  },
  {
    what: 'a payment that was posted twice',
    statement: () => `
      insert into checkout.ledger_transactions
        select merchant_id, '${randomUUID()}', 'wallet_released', reference, currency, created_at
        from checkout.ledger_transactions where ${posting('payment_captured', objects.partlyRefunded)};
      insert into checkout.ledger_entries
        select t.merchant_id, t.transaction_id, e.line, e.owner, e.kind, e.currency, e.amount
        from checkout.ledger_transactions t, checkout.ledger_entries e
        where t.kind = 'wallet_released' and t.reference = '${objects.partlyRefunded}'
          and e.${posting('payment_captured', objects.partlyRefunded)};
      update checkout.ledger_accounts set balance = balance + 10000 where kind = 'merchant_available'`,
    finds: { payment_is_posted_as_it_stands: /-10000 from the acquirer.*-20000 from the acquirer/ },
  },
  {
    what: 'a canceled payment that kept the money',
    statement: () =>
      `delete from checkout.ledger_entries where ${posting('wallet_released', objects.walletCanceled)};
       delete from checkout.ledger_transactions where ${posting('wallet_released', objects.walletCanceled)};`,
    finds: {
      payment_is_posted_as_it_stands: /canceled.*0 in the wallet.*-2000 in the wallet, 2000 waiting/,
      balance_is_sum_of_entries: /wallet_hold/,
    },
  },
  {
    what: 'a refund whose cancellation was never posted',
    statement: () =>
      `delete from checkout.ledger_entries where ${posting('refund_canceled', objects.refused)};
       delete from checkout.ledger_transactions where ${posting('refund_canceled', objects.refused)};`,
    finds: {
      refund_is_posted_as_it_stands: /canceled 1 times.*canceled 0 times/,
      balance_is_sum_of_entries: /merchant_available/,
    },
  },
  {
    what: 'a version without its event',
    statement: () =>
      `delete from checkout.events where object_id = '${objects.partlyRefunded}' and sequence = 2`,
    finds: { version_has_one_event: /expected events 1 to \d+, found \d+ events, 1 to \d+/ },
  },
  {
    what: 'a status that no event tells of',
    statement: () =>
      `update checkout.payments set status = 'canceled', canceled_at = now(), cancel_party = 'merchant',
         cancel_reason = 'canceled_by_merchant', capture_before = null where payment_id = '${objects.waiting}'`,
    finds: {
      last_event_tells_the_status: /expected canceled, found waiting_for_capture/,
      approval_is_kept_or_given_back: /expected given back, found kept/,
    },
  },
  {
    what: 'a final state that was left',
    statement: () =>
      `update checkout.events set type = 'payment.canceled' where object_id = '${objects.walletPaid}' and sequence = 1`,
    finds: { nothing_leaves_its_final_state: /nothing after payment.canceled/ },
  },
  {
    what: 'an attempt that nobody asks about',
    statement: () =>
      `update checkout.attempts set inquire_at = now() - interval '2 hours' where inquire_at is not null`,
    finds: { attempt_is_asked_about_in_time: /found still unknown/ },
  },
  {
    what: 'a refund that nobody asks about',
    statement: () =>
      `update checkout.refunds set lease_until = now() - interval '2 hours' where status = 'pending'`,
    finds: { refund_is_asked_about_in_time: /found still pending/ },
  },
  {
    what: 'a capture that nobody asks about',
    statement: () =>
      `update checkout.payments set capture_id = gen_random_uuid(), capture_amount = 5,
         capture_lease_until = now() - interval '2 hours' where payment_id = '${objects.waiting}'`,
    finds: {
      capture_is_asked_about_in_time: /capture of 5 not settled/,
      capture_has_its_key: /expected a key of capture .*, found none/,
    },
  },
  {
    what: 'money that is not given back',
    statement: () =>
      `update checkout.attempts set reverse_at = now() - interval '2 hours' where payment_id = '${objects.canceled}'`,
    finds: { reversal_is_done_in_time: /reversal still due/ },
  },
  {
    what: 'money that the acquirer does not give back',
    statement: () =>
      `update checkout.attempts set reversal = 'refused', reverse_at = null where payment_id = '${objects.canceled}'`,
    finds: { reversal_is_not_refused: /expected given back, found refused by the acquirer/ },
  },
  {
    what: 'a refund that the acquirer has done after it was canceled',
    statement: () =>
      `insert into checkout.contradictions values ('${merchantId}', '${objects.refused}', 'refund', '${objects.waiting}', now())`,
    finds: {
      what_was_settled_stands: /refund .* of payment .*: expected not done.*found done by the acquirer/,
    },
  },
  {
    what: 'a payment that has forgotten its open attempt',
    statement: () =>
      `update checkout.payments set open_attempt_id = null where payment_id = '${objects.lost}'`,
    finds: { payment_points_to_its_attempts: /expected no open attempt, found open attempt/ },
  },
  {
    what: 'a second approval that nobody gives back',
    statement: () =>
      `update checkout.attempts set reversal = null, reverse_at = null where payment_id = '${objects.canceled}'`,
    finds: { approval_is_kept_or_given_back: /expected given back, found kept/ },
  },
  {
    what: 'a key that leads nowhere',
    statement: () =>
      `update checkout.idempotency_keys set object_id = gen_random_uuid() where object_id = '${objects.walletRefund}'`,
    finds: { key_leads_to_its_object: /create_refund/, object_has_one_key: /expected 1 key, found 0 keys/ },
  },
];

for (const { what, statement, finds } of tampering) {
  test(`verify-ledger finds ${what}`, async () => {
    const breaches = await breachesAfter(statement());
    assert.deepEqual(
      [...new Set(breaches.map((breach) => breach.invariant))].sort(),
      Object.keys(finds).sort(),
    );
    for (const [invariant, text] of Object.entries(finds)) {
      const told = breaches
        .filter((breach) => breach.invariant === invariant)
        .map(({ object, expected, found }) => `${object}: expected ${expected}, found ${found}`);
      assert.match(told.join('\n'), text);
    }
  });
}

test('each invariant is broken by some test', () => {
  const found = new Set(tampering.flatMap(({ finds }) => Object.keys(finds)));
  assert.equal(found.size, 25);
});

test('after all that the ledger is as it was', async () => {
  assert.deepEqual(await verify(), []);
});

async function tollgate(env: Record<string, string>, ...args: string[]) {
  const child = spawn(process.execPath, ['dist/cli.js', ...args], {
    cwd: new URL('.', packageRoot).pathname,
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk));
  await once(child, 'close');
  return { code: child.exitCode, stdout, stderr };
}

test('tollgate verify-ledger exits 0 and prints nothing but its progress when all is well', async () => {
  const { code, stdout, stderr } = await tollgate({ DATABASE_URL: url }, 'verify-ledger');
  assert.equal(code, 0, stdout + stderr);
  assert.equal(stdout, '');
  assert.match(stderr, /checking transaction_sums_to_zero\n[\s\S]*the ledger is clean\n$/);
});

test('tollgate verify-ledger exits 1 and lists the breaches, as text or as JSON', async () => {
  const balance = (by: number) =>
    owner.query(`update checkout.ledger_accounts set balance = balance + ${by} where kind = 'wallet_hold'`);
  await balance(1);
  try {
    const text = await tollgate({ DATABASE_URL: url }, 'verify-ledger');
    assert.equal(text.code, 1, text.stderr);
    assert.match(text.stdout, /^balance_is_sum_of_entries: \S+ wallet_hold AZN: expected 2000; found 2001$/m);
    const json = await tollgate({ DATABASE_URL: url }, 'verify-ledger', '--json');
    assert.equal(json.code, 1);
    const { breaches } = JSON.parse(json.stdout) as { breaches: { invariant: string }[] };
    assert.deepEqual(breaches.map(({ invariant }) => invariant).sort(), [
      'balance_is_sum_of_entries',
      'wallet_hold_is_waiting_payments',
    ]);
  } finally {
    await balance(-1);
  }
});

test('tollgate verify-ledger exits 2 when it cannot do its work', async (t) => {
  const away = await tollgate({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }, 'verify-ledger');
  assert.equal(away.code, 2);
  assert.match(away.stderr, /ECONNREFUSED/);
  const empty = await testDatabaseUrl({ empty: true });
  assert.equal((await tollgate({ DATABASE_URL: empty }, 'verify-ledger')).code, 2);
  const folder = await temporaryFolder(t);
  const nothing = await tollgate({ DATA_DIR: `${folder}/nothing` }, 'verify-ledger');
  assert.equal(nothing.code, 2);
  assert.match(nothing.stderr, /There is no database in/);
  assert.equal((await tollgate({ TOLLGATE_ENV: 'mars' }, 'verify-ledger')).code, 2);
  assert.equal((await tollgate({}, 'verify-ledger', '--stuck-after', 'soon')).code, 2);
  assert.equal((await tollgate({}, 'no-such-command')).code, 2);
  assert.equal((await tollgate({}, '--help')).code, 0);
});
