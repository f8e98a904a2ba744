import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql, type Transaction } from '../../src/platform/db.ts';
import { cleanUpWebhooksJob } from '../../src/webhooks/clean-up.ts';
import { deleteForsaken, deleteWaiting } from '../../src/webhooks/store/queue.ts';
import { testDatabase } from '../support/database.ts';

const { db } = await testDatabase();
const now = new Date('2026-03-01T00:00:00Z');
const daysAgo = (days: number) => new Date(now.getTime() - days * 86_400_000);
const owner = { kind: 'merchant', id: 'SHOP' } as const;

const endpoints = {
  enabled: '0199d1c2-7a52-7c60-b0b5-000000000001',
  disabledLong: '0199d1c2-7a52-7c60-b0b5-000000000002',
  disabledLately: '0199d1c2-7a52-7c60-b0b5-000000000003',
  gone: '0199d1c2-7a52-7c60-b0b5-000000000004',
};

async function addEndpoint(id: string, disabledAt: Date | null): Promise<void> {
  await db.run(sql`
    insert into webhooks.endpoints (owner, endpoint_id, url, event_types, status, disabled_reason, disabled_at,
      secret_sealed, created_at)
    values ('merchant:SHOP', ${id}, 'https://shop.example/', '{*}',
      case when ${disabledAt}::timestamptz is null then 'enabled' else 'disabled' end,
      case when ${disabledAt}::timestamptz is not null then 'failing' end, ${disabledAt}, '', ${now})`);
}

/** As many objects as asked for, with three events each, of which the first is due. */
async function queue(endpointId: string, objects: number): Promise<void> {
  await db.run(sql`
    insert into webhooks.queue (owner, endpoint_id, object_id, sequence, event_id, type, queued_at, due_at)
    select 'merchant:SHOP', ${endpointId}, ('00000000-0000-7000-8000-' || lpad(object::text, 12, '0'))::uuid, sequence,
      gen_random_uuid(), 'payment.updated', ${now}, case when sequence = 1 then ${now}::timestamptz else 'infinity' end
    from generate_series(1, ${objects}::int) object, generate_series(1, 3) sequence`);
}

type Left = { endpointId: string; rows: number };

async function left(): Promise<Record<string, number>> {
  const rows = await db.many<Left>(sql`
    select endpoint_id, count(*)::int as rows from webhooks.queue group by endpoint_id order by endpoint_id`);
  return Object.fromEntries(rows.map((row) => [row.endpointId, row.rows]));
}

/** Of the queue, by this connection. */
async function readSoFar(tx: Transaction): Promise<bigint> {
  const { rows } = await tx.one<{ rows: bigint }>(sql`
    select seq_tup_read + idx_tup_fetch as rows from pg_stat_xact_user_tables
    where schemaname = 'webhooks' and relname = 'queue'`);
  return rows;
}

await addEndpoint(endpoints.enabled, null);
await addEndpoint(endpoints.disabledLately, daysAgo(30));
await addEndpoint(endpoints.disabledLong, new Date(daysAgo(30).getTime() - 1));
await queue(endpoints.enabled, 5_000);

test('what waits for an endpoint that is gone or was disabled for longer than 30 days goes, and nothing else', async () => {
  for (const id of [endpoints.disabledLong, endpoints.disabledLately, endpoints.gone]) await queue(id, 1_100);
  await cleanUpWebhooksJob({ db, now: () => now }).run({});
  assert.deepEqual(await left(), { [endpoints.enabled]: 15_000, [endpoints.disabledLately]: 3_300 });
});

test('it goes by whole objects, a few at a time, and the queues of others are not read', async () => {
  await queue(endpoints.gone, 5);
  await db.transaction(async (tx) => {
    const before = await readSoFar(tx);
    assert.equal(await deleteForsaken(tx, daysAgo(30), 2), 6);
    const read = (await readSoFar(tx)) - before;
    assert.ok(read < 30n, `${read} rows were read`);
  });
  assert.equal((await left())[endpoints.gone], 9);
  assert.equal(await db.transaction((tx) => deleteForsaken(tx, daysAgo(30), 100)), 9);
});

test('an object whose first event somebody holds is left as a whole, for the next time', async () => {
  await queue(endpoints.gone, 2);
  await db.transaction(async (held) => {
    await held.run(sql`
      select from webhooks.queue where endpoint_id = ${endpoints.gone} order by object_id, sequence limit 1 for update`);
    assert.equal(await db.transaction((tx) => deleteForsaken(tx, daysAgo(30), 100)), 3);
  });
  assert.equal(await db.transaction((tx) => deleteForsaken(tx, daysAgo(30), 100)), 3);
});

test('what waits for a deleted endpoint goes by whole objects too, so that the clean-up finds what is left', async () => {
  await queue(endpoints.gone, 3);
  assert.equal(await deleteWaiting(db, owner, endpoints.gone, 4), 6);
  assert.equal(await db.transaction((tx) => deleteForsaken(tx, daysAgo(30), 100)), 3);
  assert.equal(await deleteWaiting(db, owner, endpoints.gone, 4), 0);
});
