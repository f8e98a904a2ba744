import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import pg from 'pg';
import { uuid7 } from '../../src/platform/uuid7.ts';
import { type DeliveryFilter, listDeliveries } from '../../src/webhooks/store/deliveries.ts';
import { testDatabase } from '../support/database.ts';
import { assertReadByKey, statementMade } from '../support/plans.ts';

/** Two endpoints of one shop, which take turns every five seconds for three days; only the first five attempts failed. */
const rows = 50_000;
const begunAt = Date.UTC(2026, 0, 1);
const at = (n: number) => new Date(begunAt + n * 5_000);
const idOf = (n: number) => `${uuid7(at(n)).slice(0, 14)}7000-8000-${n.toString(16).padStart(12, '0')}`;
const owner = { kind: 'merchant', id: 'SHOP' } as const;
const endpointId = '0199d1c2-7a52-7c60-b0b5-000000000000';

const { url, db } = await testDatabase();
const client = new pg.Client({ connectionString: url });
client.on('error', () => {}); // The database may be dropped before its connection is closed.
await client.connect();
after(() => client.end());
// The days to come have no statistics, as at midnight.
await client.query(`
  select webhooks.keep_delivery_partitions('2026-01-01', 30);
  insert into webhooks.deliveries (owner, endpoint_id, delivery_id, at, event_id, type, attempt, result, duration_ms)
  select 'merchant:SHOP', (left('${endpointId}', -1) || n % 2)::uuid, id, to_timestamp(${begunAt / 1_000} + n * 5), id,
    'payment.created', 1, case when n < 10 then 'failed' else 'delivered' end, 10
  from (
    select n, (overlay(overlay(time placing '-' from 9 for 0) placing '-7000-8000-' from 14 for 0)
      || lpad(to_hex(n), 12, '0'))::uuid as id
    from generate_series(0, ${rows - 1}) n, lpad(to_hex(${begunAt} + n * 5000::bigint), 12, '0') time
  ) numbered;
  analyze webhooks.deliveries_20260101, webhooks.deliveries_20260102, webhooks.deliveries_20260103;`);

const none: DeliveryFilter = {
  eventId: null,
  result: null,
  createdFrom: null,
  createdTo: null,
  before: null,
  limit: 21,
};

const last = rows - 2;
const middle = rows / 2;
const filters: Record<string, Partial<DeliveryFilter>> = {
  nothing: {},
  'a time of which there is little': { createdFrom: at(last - 20) },
  'a time of which there is nothing': { createdFrom: at(rows + 1_000) },
  'a time long ago': { createdTo: at(30) },
  'a page deep down': { before: idOf(1_000) },
  'the last page': { before: idOf(10) },
  'the event': { eventId: idOf(middle) },
  'an event that there is not': { eventId: idOf(rows) },
  failure: { result: 'failed' },
  'having been given up': { result: 'given_up', createdTo: at(last) },
};

for (const [name, filter] of Object.entries(filters)) {
  test(`deliveries by ${name} are read by a key, and no more of them than are shown`, async () => {
    const statement = await statementMade((made) =>
      listDeliveries(made, owner, endpointId, { ...none, ...filter }),
    );
    // One row more of each day may be looked at, to see which comes first.
    await assertReadByKey(client, statement, 80);
  });
}

test('what failed and what became of an event is found, however much is newer', async () => {
  const found = async (filter: Partial<DeliveryFilter>) => {
    const deliveries = await listDeliveries(db, owner, endpointId, { ...none, ...filter });
    return deliveries.map(({ deliveryId }) => deliveryId);
  };
  assert.deepEqual(await found({ result: 'failed' }), [8, 6, 4, 2, 0].map(idOf));
  assert.deepEqual(await found({ eventId: idOf(middle) }), [idOf(middle)]);
  assert.deepEqual(await found({ eventId: idOf(middle), before: idOf(middle) }), []);
  assert.deepEqual(await found({ eventId: idOf(middle + 1) }), [], 'it went to another endpoint');
});
