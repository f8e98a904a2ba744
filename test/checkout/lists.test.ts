import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import pg from 'pg';
import type { PaymentId } from '../../src/checkout/domain/payment.ts';
import type { RefundId } from '../../src/checkout/domain/refund.ts';
import { listEventKeys, listEvents } from '../../src/checkout/store/events.ts';
import { listPayments } from '../../src/checkout/store/payments.ts';
import { listRefunds } from '../../src/checkout/store/refunds.ts';
import { type Statement, sql } from '../../src/platform/db.ts';
import { uuid7 } from '../../src/platform/uuid7.ts';
import { testDatabase } from '../support/database.ts';
import { assertReadByKey, statementMade } from '../support/plans.ts';

/**
 * Two merchants, who take turns: each has a payment, a refund and an event every other second. Their first five payments
 * are still open, their first five refunds were refused, and their first five events are of a rare type.
 */
const merchants = ['EVEN', 'ODD'];
const rows = 50_000;
const begunAt = Date.UTC(2026, 0, 1);
const at = (n: number) => new Date(begunAt + n * 1_000);
const idOf = (n: number) => `${uuid7(at(n)).slice(0, 14)}7000-8000-${n.toString(16).padStart(12, '0')}`;

const { url, db } = await testDatabase();
const client = new pg.Client({ connectionString: url });
client.on('error', () => {}); // The database may be dropped before its connection is closed.
await client.connect();
after(() => client.end());
await fill();

async function fill(): Promise<void> {
  const numbered = `
    select n, (array['${merchants.join("','")}'])[1 + n % 2] as merchant_id,
      (overlay(overlay(time placing '-' from 9 for 0) placing '-7000-8000-' from 14 for 0) || lpad(to_hex(n), 12, '0'))::uuid as id,
      to_timestamp(${begunAt / 1_000} + n) as at
    from generate_series(0, ${rows - 1}) n, lpad(to_hex(${begunAt} + n * 1000::bigint), 12, '0') time`;
  await client.query(`
    alter table checkout.events disable trigger queue_webhooks;
    insert into checkout.payments (merchant_id, payment_id, terminal_id, status, amount, currency, capture, metadata,
      merchant_order_id, return_url, created_at, expires_at, canceled_at, cancel_party, cancel_reason, test, version)
    select merchant_id, id, 'TERM', case when n < 10 then 'pending' else 'canceled' end, 100, 'AZN', true, '{}',
      'order-' || n, 'https://shop.example/', at, at, case when n >= 10 then at end,
      case when n >= 10 then 'tollgate' end, case when n >= 10 then 'expired_on_confirmation' end, true, 2 from (${numbered}) rows;
    insert into checkout.refunds (merchant_id, refund_id, payment_id, terminal_id, status, amount, currency, metadata,
      created_at, settled_at, cancel_party, cancel_reason, test, version)
    select merchant_id, id, id, 'TERM', case when n < 10 then 'canceled' else 'succeeded' end, 100, 'AZN', '{}', at, at,
      case when n < 10 then 'acquirer' end, case when n < 10 then 'declined' end, true, 2 from (${numbered}) rows;
    insert into checkout.events (merchant_id, object_id, sequence, event_id, type, payload, created_at)
    select merchant_id, id, 1, id, case when n < 10 then 'refund.canceled' else 'payment.created' end, '{}', at
    from (${numbered}) rows;
    analyze checkout.payments, checkout.refunds, checkout.events;`);
}

type Filter = {
  createdFrom?: Date;
  createdTo?: Date;
  before?: string;
  status?: string;
  type?: string;
  merchantOrderId?: string;
  paymentId?: string;
  objectId?: string;
};

const none = { createdFrom: null, createdTo: null, before: null, status: null, type: null, limit: 21 };
const ofMerchant = { ...none, merchantId: 'EVEN', merchantOrderId: null, paymentId: null, objectId: null };

/** The statement that a list makes of a filter. */
function statementOf(list: 'payments' | 'refunds' | 'events', filter: Filter): Promise<Statement> {
  const before = (filter.before ?? null) as (PaymentId & RefundId) | null;
  const paymentId = (filter.paymentId ?? null) as PaymentId | null;
  const asked = { ...ofMerchant, ...filter, before, paymentId };
  if (list === 'payments') return statementMade((db) => listPayments(db, asked));
  if (list === 'refunds') return statementMade((db) => listRefunds(db, asked));
  return statementMade((db) => listEvents(db, asked));
}

/** What lies within a minute of a bound is read as well, and a page has 21 rows. */
const mostRead = 100;

const last = rows - 2;
const middle = rows / 2;
const lists: { list: 'payments' | 'refunds' | 'events'; filters: Record<string, Filter> }[] = [
  {
    list: 'payments',
    filters: {
      'the order of the merchant': { merchantOrderId: `order-${middle}` },
      'being pending': { status: 'pending' },
      'waiting to be captured': { status: 'waiting_for_capture' },
      'having succeeded, which none has': { status: 'succeeded' },
      'being canceled, which most are': { status: 'canceled' },
      'being pending, deep down': { status: 'pending', before: idOf(middle), createdTo: at(middle) },
    },
  },
  {
    list: 'refunds',
    filters: {
      'a payment': { paymentId: idOf(middle) },
      'the order of the merchant': { merchantOrderId: `order-${middle}` },
      'a payment and the order of the merchant': {
        paymentId: idOf(middle),
        merchantOrderId: `order-${middle}`,
      },
      'being pending': { status: 'pending' },
      'being canceled': { status: 'canceled', createdTo: at(last) },
    },
  },
  {
    list: 'events',
    filters: {
      'an object': { objectId: idOf(middle) },
      'a rare type': { type: 'payment.waiting_for_capture' },
      'having been canceled': { type: 'payment.canceled' },
      'a rare kind': { type: 'refund.*' },
      'a type that there is not': { type: 'payment.unknown', createdTo: at(last) },
    },
  },
];
const timesAndPages: Record<string, Filter> = {
  nothing: {},
  'a time of which there is little': { createdFrom: at(last - 20) },
  'a time of which there is nothing': { createdFrom: at(rows + 1_000) },
  'a time long ago': { createdTo: at(30) },
  'a time before all': { createdTo: at(-1_000) },
  'a short time in the middle': { createdFrom: at(20_000), createdTo: at(20_020) },
  'a page deep down': { before: idOf(1_000) },
  'the last page': { before: idOf(10) },
  'a page deep down of a time': { before: idOf(1_000), createdFrom: at(900), createdTo: at(last) },
};

for (const { list, filters } of lists) {
  for (const [name, filter] of Object.entries({ ...timesAndPages, ...filters })) {
    test(`${list} by ${name} are read by a key, and no more of them than are shown`, async () => {
      await assertReadByKey(client, await statementOf(list, filter), mostRead);
    });
  }
}

test('what is rare is found, however much is newer', async () => {
  const rare = [8, 6, 4, 2, 0].map(idOf);
  const payments = await listPayments(db, { ...ofMerchant, status: 'pending' });
  assert.deepEqual(
    payments.map(({ id }) => id),
    rare,
  );
  const refunds = await listRefunds(db, { ...ofMerchant, status: 'canceled' });
  assert.deepEqual(
    refunds.map(({ id }) => id),
    rare,
  );
  for (const type of ['refund.canceled', 'refund.*']) {
    const events = await listEvents(db, { ...ofMerchant, type });
    assert.deepEqual(
      events.map(({ eventId }) => eventId),
      rare,
    );
  }
});

test('an id that was made a little before or after the instant its row bears is found at that instant', async () => {
  const instant = at(rows + 10_000);
  const madeAt = (seconds: number) => uuid7(new Date(instant.getTime() + seconds * 1_000)) as RefundId;
  const ids = [madeAt(30), madeAt(-30)];
  await db.run(sql`
    insert into checkout.refunds (merchant_id, refund_id, payment_id, terminal_id, status, amount, currency, metadata,
      created_at, settled_at, test, version)
    select 'LATE', id, id, 'TERM', 'succeeded', 100, 'AZN', '{}', ${instant}, ${instant}, true, 2
    from unnest(${ids}::uuid[]) id`);
  const next = new Date(instant.getTime() + 1);
  const found = async (createdFrom: Date | null, createdTo: Date | null, before: RefundId | null = null) => {
    const refunds = await listRefunds(db, {
      ...ofMerchant,
      merchantId: 'LATE',
      createdFrom,
      createdTo,
      before,
    });
    return refunds.map(({ id }) => id);
  };
  assert.deepEqual(await found(instant, next), ids);
  assert.deepEqual(await found(instant, null), ids);
  assert.deepEqual(await found(null, next), ids);
  assert.deepEqual(await found(next, null), []);
  assert.deepEqual(await found(null, instant), []);
  assert.deepEqual(await found(instant, next, ids[0]), [ids[1]]);
});

test('the events of a time are found by their key, however many others there are', async () => {
  const range = { from: at(10_000), to: at(10_010), limit: 10 };
  const found = await listEventKeys(db, 'EVEN', range);
  assert.deepEqual(
    found.map(({ eventId }) => eventId),
    [10_000, 10_002, 10_004, 10_006, 10_008].map(idOf),
  );
});
