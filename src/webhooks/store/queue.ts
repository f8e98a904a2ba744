import { type Queryable, sql, type Transaction } from '../../platform/db.ts';
import type { EventKey } from '../deps.ts';
import type { Endpoint } from '../domain/endpoint.ts';
import { type Owner, ownerKey } from '../domain/owner.ts';
import type { Delivery } from './deliveries.ts';
import type { SealedSecrets } from './endpoints.ts';

/** A delivery that this process has taken, with all that it takes to make it. */
export type Claim = SealedSecrets & {
  owner: string;
  endpointId: string;
  objectId: string;
  sequence: bigint;
  eventId: string;
  type: string;
  /** Counts this one. */
  attempts: number;
  /** Tells whether the claim still is ours: whoever takes it later has until later. */
  leaseUntil: Date;
  queuedAt: Date;
  url: string;
};

export type ClaimLimits = { perEndpoint: number; perFailingEndpoint: number; perOwner: number };

/** One node at a time; false when another one is at it. However short the queue was, it is never read as a whole. */
export async function lockClaims(tx: Transaction): Promise<boolean> {
  const { locked } = await tx.one<{ locked: boolean }>(sql`
    select pg_try_advisory_xact_lock(hashtextextended('webhooks claims', 0)) as locked,
      set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)`);
  return locked;
}

/**
 * Takes what is due, at most `limit` in all. Of the events of one object at one endpoint only the first can be taken,
 * and none while another is under way. Endpoints take turns: each gets one before any gets its second, those under
 * way counted in, so that a long queue holds nobody up, and no endpoint the others of its owner. The walk from endpoint to endpoint costs one look into the index for each that has a queue,
 * however long the queues are.
 */
export async function claimDue(
  tx: Transaction,
  wish: { now: Date; leaseUntil: Date; limit: number } & ClaimLimits,
): Promise<Claim[]> {
  return tx.many<Claim>(sql`
    with recursive walk as (
      (select owner, endpoint_id from webhooks.queue where due_at < 'infinity' order by owner, endpoint_id limit 1)
      union all
      select next.owner, next.endpoint_id from walk cross join lateral (
        select q.owner, q.endpoint_id from webhooks.queue q
        where q.due_at < 'infinity' and (q.owner, q.endpoint_id) > (walk.owner, walk.endpoint_id)
        order by q.owner, q.endpoint_id limit 1
      ) next
    ), under_way as materialized (
      select owner, endpoint_id from webhooks.queue where lease_until is not null and lease_until > ${wish.now}
    ), receivers as (
      select e.owner, e.endpoint_id, busy.places,
        case when e.failing_since is null then ${wish.perEndpoint}::int else ${wish.perFailingEndpoint}::int end
          - busy.places as room,
        ${wish.perOwner}::int - (select count(*)::int from under_way u where u.owner = e.owner) as room_of_owner
      from walk join webhooks.endpoints e on e.owner = walk.owner and e.endpoint_id = walk.endpoint_id
      cross join lateral (
        select count(*)::int as places from under_way u where u.owner = e.owner and u.endpoint_id = e.endpoint_id
      ) busy
      where e.status = 'enabled'
    ), due as (
      select heads.*, receivers.room_of_owner, receivers.places + row_number() over (
        partition by heads.owner, heads.endpoint_id order by heads.due_at) as turn
      from receivers cross join lateral (
        select q.owner, q.endpoint_id, q.object_id, q.sequence, q.due_at from webhooks.queue q
        where q.owner = receivers.owner and q.endpoint_id = receivers.endpoint_id
          and q.due_at < 'infinity' and q.due_at <= ${wish.now}
          and (q.lease_until is null or q.lease_until <= ${wish.now})
          and not exists (
            select from webhooks.queue other
            where other.owner = q.owner and other.endpoint_id = q.endpoint_id and other.object_id = q.object_id
              and (other.sequence < q.sequence or (other.sequence > q.sequence and other.lease_until > ${wish.now}))
            offset 0) -- asked for each row by its key; turned into a join it would read the whole queue
        order by q.due_at limit greatest(receivers.room, 0)
      ) heads
    ), due_of_owner as (
      select due.*, row_number() over (partition by owner order by turn, due_at, endpoint_id) as turn_of_owner from due
    ), taken as (
      select owner, endpoint_id, object_id, sequence from due_of_owner where turn_of_owner <= room_of_owner
      order by turn, due_at limit ${wish.limit}
    ), free as materialized (
      select q.owner, q.endpoint_id, q.object_id, q.sequence from taken join webhooks.queue q
        on q.owner = taken.owner and q.endpoint_id = taken.endpoint_id and q.object_id = taken.object_id
        and q.sequence = taken.sequence
      for no key update of q skip locked -- a replay holds many in another order; whoever waits for none cannot deadlock
    )
    update webhooks.queue q set lease_until = ${wish.leaseUntil}, attempts = q.attempts + 1
    from free join webhooks.endpoints e on e.owner = free.owner and e.endpoint_id = free.endpoint_id
    where q.owner = free.owner and q.endpoint_id = free.endpoint_id and q.object_id = free.object_id
      and q.sequence = free.sequence
    returning q.owner, q.endpoint_id, q.object_id, q.sequence, q.event_id, q.type, q.attempts, q.lease_until,
      greatest(q.queued_at, e.enabled_at) as queued_at, e.url, e.secret_sealed, e.previous_secret_sealed, e.previous_secret_expires_at`);
}

/** Writes down how a delivery went, and what it says about the endpoint. Tells since when that had been failing before. */
export async function settle(
  tx: Transaction,
  claim: Claim,
  delivery: Delivery,
  wasSent: boolean,
): Promise<{ failingSince: Date | null } | undefined> {
  const { at, nextAttemptAt: next } = delivery;
  const delivered = delivery.result === 'delivered';
  return tx.maybeOne<{ failingSince: Date | null }>(sql`
    with done as (
      delete from webhooks.queue
      where owner = ${claim.owner} and endpoint_id = ${claim.endpointId} and object_id = ${claim.objectId}
        and sequence = ${claim.sequence} and lease_until = ${claim.leaseUntil} and ${next}::timestamptz is null
    ), postponed as (
      update webhooks.queue q set lease_until = null, due_at = case when exists (
        select from webhooks.queue earlier
        where earlier.owner = q.owner and earlier.endpoint_id = q.endpoint_id and earlier.object_id = q.object_id
          and earlier.sequence < q.sequence
      ) then 'infinity' else ${next}::timestamptz end
      where owner = ${claim.owner} and endpoint_id = ${claim.endpointId} and object_id = ${claim.objectId}
        and sequence = ${claim.sequence} and lease_until = ${claim.leaseUntil} and ${next}::timestamptz is not null
    ), logged as (
      insert into webhooks.deliveries (owner, endpoint_id, delivery_id, at, event_id, type, attempt, result,
        response_status, response_body, duration_ms, detail, next_attempt_at)
      values (${claim.owner}, ${claim.endpointId}, ${delivery.deliveryId}, ${at}, ${delivery.eventId},
        ${delivery.type}, ${delivery.attempt}, ${delivery.result}, ${delivery.responseStatus}, ${delivery.responseBody},
        ${delivery.durationMs}, ${delivery.detail}, ${next})
    ), health as (
      update webhooks.endpoints set failing_since = case when ${delivered} then null else ${at}::timestamptz end
      where owner = ${claim.owner} and endpoint_id = ${claim.endpointId}
        and (failing_since is not null) = ${delivered} and ${wasSent}
        and url = ${claim.url} -- what was heard from the address before says nothing about a new one
    )
    select failing_since from webhooks.endpoints
    where owner = ${claim.owner} and endpoint_id = ${claim.endpointId}`);
}

/**
 * Makes the next event of an object due, in the transaction that removed the one before it and in a statement after
 * that: the removal has waited for whoever was just adding one.
 */
export async function makeNextDue(tx: Transaction, claim: Claim, at: Date): Promise<void> {
  await tx.run(sql`
    update webhooks.queue set due_at = ${at}
    where owner = ${claim.owner} and endpoint_id = ${claim.endpointId} and object_id = ${claim.objectId}
      and due_at = 'infinity' and sequence = (
        select min(sequence) from webhooks.queue
        where owner = ${claim.owner} and endpoint_id = ${claim.endpointId} and object_id = ${claim.objectId})`);
}

/** Whether an owner has so many events waiting, at all of its endpoints. Others who ask wait until the transaction ends. */
export async function lockHasWaiting(tx: Transaction, owner: Owner, most: number): Promise<boolean> {
  await tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${`webhooks ${ownerKey(owner)}`}, 0))`);
  const { waiting } = await tx.one<{ waiting: number }>(sql`
    select count(*)::int as waiting
    from (select from webhooks.queue where owner = ${ownerKey(owner)} limit ${most}) rows`);
  return waiting >= most;
}

/**
 * Queues events anew. One that waits already begins anew and, if it is the first of its object, is tried at once;
 * one that is under way is left alone. Of each object only the first event is due: whoever looks for what is due would
 * otherwise walk past all that stand behind it, each time, while every other owner waits.
 */
export async function queueEvents(
  tx: Transaction,
  endpoint: Endpoint,
  events: readonly EventKey[],
  at: Date,
): Promise<void> {
  const firsts = new Map<string, bigint>();
  for (const { objectId, sequence } of events) {
    const first = firsts.get(objectId);
    if (first === undefined || sequence < first) firsts.set(objectId, sequence);
  }
  const waiting = await lockFirsts(tx, endpoint, [...firsts.keys()].sort());
  const overtaken = waiting.filter(({ objectId, sequence }) => sequence > (firsts.get(objectId) ?? sequence));
  for (const { objectId, sequence } of waiting) {
    if (sequence < (firsts.get(objectId) ?? sequence)) firsts.set(objectId, sequence);
  }
  await tx.run(sql`
    insert into webhooks.queue as q
      (owner, endpoint_id, object_id, sequence, event_id, type, queued_at, due_at)
    select ${ownerKey(endpoint.owner)}, ${endpoint.id}, e.object_id, e.sequence, e.event_id, e.type, ${at},
      case when e.is_first then ${at}::timestamptz else 'infinity' end
    from unnest(${events.map((event) => event.objectId)}::uuid[], ${events.map((event) => event.sequence)}::bigint[],
      ${events.map((event) => event.eventId)}::uuid[], ${events.map((event) => event.type)}::text[],
      ${events.map((event) => event.sequence === firsts.get(event.objectId))}::boolean[])
      as e (object_id, sequence, event_id, type, is_first)
    order by e.object_id, e.sequence
    on conflict (owner, object_id, endpoint_id, sequence) do update
    set queued_at = excluded.queued_at, attempts = 0,
      due_at = case when excluded.due_at = 'infinity' then 'infinity' else least(q.due_at, excluded.due_at) end
    where q.lease_until is null or q.lease_until <= ${at}`);
  await tx.run(sql`
    update webhooks.queue q set due_at = 'infinity'
    from unnest(${overtaken.map((first) => first.objectId)}::uuid[],
      ${overtaken.map((first) => first.sequence)}::bigint[]) as o (object_id, sequence)
    where q.owner = ${ownerKey(endpoint.owner)} and q.endpoint_id = ${endpoint.id} and q.object_id = o.object_id
      and q.sequence = o.sequence and (q.lease_until is null or q.lease_until <= ${at})`);
}

type First = { objectId: string; sequence: bigint };

/** The first event of each object that has one waiting. None leaves the queue before the transaction ends. */
async function lockFirsts(
  tx: Transaction,
  endpoint: Endpoint,
  objectIds: readonly string[],
): Promise<First[]> {
  await tx.run(
    sql`select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)`,
  );
  return tx.many<First>(sql`
    select first.object_id, first.sequence
    from unnest(${objectIds}::uuid[]) as o (object_id) cross join lateral (
      select q.object_id, q.sequence from webhooks.queue q
      where q.owner = ${ownerKey(endpoint.owner)} and q.endpoint_id = ${endpoint.id} and q.object_id = o.object_id
      order by q.sequence limit 1 for update
    ) first`);
}

export type Restart = { owner: string; endpointId: string };

/** An endpoint that was enabled again and has not yet taken up all that waited for it. */
export async function findRestart(db: Queryable): Promise<Restart | undefined> {
  return db.maybeOne<Restart>(sql`
    select owner, endpoint_id from webhooks.endpoints
    where restart_after is not null and status = 'enabled' order by enabled_at limit 1`);
}

/**
 * Of the next so many objects of an endpoint, the first event begins anew and is due. What stands behind it follows by
 * itself. One that somebody holds is passed over: it is under way, or just being queued anew.
 */
export async function restartSome(
  tx: Transaction,
  { owner, endpointId }: Restart,
  at: Date,
  limit: number,
): Promise<void> {
  await tx.run(
    sql`select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)`,
  );
  await tx.run(sql`
    with endpoint as materialized (
      select restart_after from webhooks.endpoints
      where owner = ${owner} and endpoint_id = ${endpointId} and status = 'enabled' and restart_after is not null
      for no key update skip locked
    ), firsts as materialized (
      select distinct on (q.object_id) q.object_id, q.sequence from webhooks.queue q
      where q.owner = ${owner} and q.endpoint_id = ${endpointId} and q.object_id > (select restart_after from endpoint)
      order by q.object_id, q.sequence limit ${limit}
    ), free as materialized (
      select q.object_id, q.sequence from firsts join webhooks.queue q
        on q.owner = ${owner} and q.endpoint_id = ${endpointId}
        and q.object_id = firsts.object_id and q.sequence = firsts.sequence
      where q.lease_until is null or q.lease_until <= ${at}
      for update of q skip locked
    ), restarted as (
      update webhooks.queue q set attempts = 0, due_at = ${at} from free
      where q.owner = ${owner} and q.endpoint_id = ${endpointId}
        and q.object_id = free.object_id and q.sequence = free.sequence
    )
    update webhooks.endpoints e
    set restart_after = (select object_id from firsts order by object_id offset ${limit - 1} limit 1)
    where e.owner = ${owner} and e.endpoint_id = ${endpointId} and exists (select from endpoint)`);
}

/**
 * In the order of the key, like everybody who holds several rows at once. Tells how many went. An object goes as a whole:
 * what stands behind its first event is found by that one alone.
 */
export async function deleteWaiting(
  db: Queryable,
  owner: Owner,
  endpointId: string,
  limit: number,
): Promise<number> {
  return db.run(sql`
    with waiting as materialized (
      select object_id from webhooks.queue
      where owner = ${ownerKey(owner)} and endpoint_id = ${endpointId}
      order by object_id, sequence limit ${limit} for update
    )
    delete from webhooks.queue q using (select distinct object_id from waiting) objects
    where q.owner = ${ownerKey(owner)} and q.endpoint_id = ${endpointId} and q.object_id = objects.object_id`);
}

/**
 * What waits for an endpoint that was disabled that long ago, or is gone, goes, so many objects at a time. They are found
 * like what is due, from endpoint to endpoint, however long the queues of all others are.
 */
export async function deleteForsaken(tx: Transaction, disabledBefore: Date, limit: number): Promise<number> {
  await tx.run(
    sql`select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)`,
  );
  return tx.run(sql`
    with recursive walk as (
      (select owner, endpoint_id from webhooks.queue where due_at < 'infinity' order by owner, endpoint_id limit 1)
      union all
      select next.owner, next.endpoint_id from walk cross join lateral (
        select q.owner, q.endpoint_id from webhooks.queue q
        where q.due_at < 'infinity' and (q.owner, q.endpoint_id) > (walk.owner, walk.endpoint_id)
        order by q.owner, q.endpoint_id limit 1
      ) next
    ), firsts as materialized (
      select first.* from walk
      left join webhooks.endpoints e on e.owner = walk.owner and e.endpoint_id = walk.endpoint_id
      cross join lateral (
        select q.owner, q.endpoint_id, q.object_id from webhooks.queue q
        where q.owner = walk.owner and q.endpoint_id = walk.endpoint_id and q.due_at < 'infinity'
        order by q.due_at limit ${limit} for update skip locked
      ) first
      where e.endpoint_id is null or e.disabled_at < ${disabledBefore} limit ${limit}
    )
    delete from webhooks.queue q using (select distinct owner, object_id, endpoint_id from firsts) objects
    where q.owner = objects.owner and q.object_id = objects.object_id and q.endpoint_id = objects.endpoint_id`);
}

export async function measureQueue(db: Queryable, now: Date): Promise<{ oldestDueAt: Date | null }> {
  return db.one<{ oldestDueAt: Date | null }>(sql`
    with recursive walk as (
      (select owner, endpoint_id from webhooks.queue where due_at < 'infinity' order by owner, endpoint_id limit 1)
      union all
      select next.owner, next.endpoint_id from walk cross join lateral (
        select q.owner, q.endpoint_id from webhooks.queue q
        where q.due_at < 'infinity' and (q.owner, q.endpoint_id) > (walk.owner, walk.endpoint_id)
        order by q.owner, q.endpoint_id limit 1
      ) next
    )
    select min(heads.due_at) as oldest_due_at
    from walk
    join webhooks.endpoints e on e.owner = walk.owner and e.endpoint_id = walk.endpoint_id and e.status = 'enabled'
    cross join lateral (
      select q.due_at from webhooks.queue q
      where q.owner = walk.owner and q.endpoint_id = walk.endpoint_id
        and q.due_at < 'infinity' and q.due_at <= ${now}
      order by q.due_at limit 1
    ) heads`);
}
