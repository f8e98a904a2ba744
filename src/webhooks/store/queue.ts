import { type Queryable, sql, type Transaction } from '../../platform/db.ts';
import type { EventKey } from '../deps.ts';
import type { Endpoint } from '../domain/endpoint.ts';
import { ownerKey } from '../domain/owner.ts';
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
  /** Counts this one. It also tells whether the claim still is ours: whoever takes it later counts on. */
  attempts: number;
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
 * and none while another is under way. Endpoints take turns: each gets one before any gets its second, so that a long
 * queue holds nobody up. The walk from endpoint to endpoint costs one look into the index for each that has a queue,
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
      select e.owner, e.endpoint_id,
        case when e.failing_since is null then ${wish.perEndpoint}::int else ${wish.perFailingEndpoint}::int end - (
          select count(*)::int from under_way u where u.owner = e.owner and u.endpoint_id = e.endpoint_id
        ) as room,
        ${wish.perOwner}::int - (select count(*)::int from under_way u where u.owner = e.owner) as room_of_owner
      from walk join webhooks.endpoints e on e.owner = walk.owner and e.endpoint_id = walk.endpoint_id
      where e.status = 'enabled'
    ), due as (
      select heads.*, receivers.room_of_owner,
        row_number() over (partition by heads.owner order by heads.due_at, heads.endpoint_id) as turn_of_owner,
        row_number() over (partition by heads.owner, heads.endpoint_id order by heads.due_at) as turn
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
    ), taken as (
      select owner, endpoint_id, object_id, sequence from due where turn_of_owner <= room_of_owner
      order by turn, due_at limit ${wish.limit}
    )
    update webhooks.queue q set lease_until = ${wish.leaseUntil}, attempts = q.attempts + 1
    from taken join webhooks.endpoints e on e.owner = taken.owner and e.endpoint_id = taken.endpoint_id
    where q.owner = taken.owner and q.endpoint_id = taken.endpoint_id and q.object_id = taken.object_id
      and q.sequence = taken.sequence
    returning q.owner, q.endpoint_id, q.object_id, q.sequence, q.event_id, q.type, q.attempts, q.queued_at, e.url,
      e.secret_sealed, e.previous_secret_sealed, e.previous_secret_expires_at`);
}

/** Writes down how a delivery went. Tells since when the endpoint had been failing before this. */
export async function settle(
  tx: Transaction,
  claim: Claim,
  delivery: Delivery,
): Promise<{ failingSince: Date | null } | undefined> {
  const { at, nextAttemptAt: next } = delivery;
  const delivered = delivery.result === 'delivered';
  return tx.maybeOne<{ failingSince: Date | null }>(sql`
    with done as (
      delete from webhooks.queue
      where owner = ${claim.owner} and endpoint_id = ${claim.endpointId} and object_id = ${claim.objectId}
        and sequence = ${claim.sequence} and attempts = ${claim.attempts} and ${next}::timestamptz is null
    ), postponed as (
      update webhooks.queue set due_at = ${next}::timestamptz, lease_until = null
      where owner = ${claim.owner} and endpoint_id = ${claim.endpointId} and object_id = ${claim.objectId}
        and sequence = ${claim.sequence} and attempts = ${claim.attempts} and ${next}::timestamptz is not null
    ), logged as (
      insert into webhooks.deliveries (owner, endpoint_id, delivery_id, at, event_id, type, attempt, result,
        response_status, response_body, duration_ms, detail, next_attempt_at)
      values (${claim.owner}, ${claim.endpointId}, ${delivery.deliveryId}, ${at}, ${delivery.eventId},
        ${delivery.type}, ${delivery.attempt}, ${delivery.result}, ${delivery.responseStatus}, ${delivery.responseBody},
        ${delivery.durationMs}, ${delivery.detail}, ${next})
    ), health as (
      update webhooks.endpoints set failing_since = case when ${delivered} then null else ${at}::timestamptz end
      where owner = ${claim.owner} and endpoint_id = ${claim.endpointId}
        and (failing_since is not null) = ${delivered}
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

/** Queues events anew. One that waits already is tried at once. */
export async function queueEvents(
  tx: Transaction,
  endpoint: Endpoint,
  events: readonly EventKey[],
  at: Date,
): Promise<void> {
  await tx.run(sql`
    insert into webhooks.queue as q
      (owner, endpoint_id, object_id, sequence, event_id, type, queued_at, due_at)
    select ${ownerKey(endpoint.owner)}, ${endpoint.id}, e.object_id, e.sequence, e.event_id, e.type, ${at}, ${at}
    from unnest(${events.map((event) => event.objectId)}::uuid[], ${events.map((event) => event.sequence)}::bigint[],
      ${events.map((event) => event.eventId)}::uuid[], ${events.map((event) => event.type)}::text[])
      as e (object_id, sequence, event_id, type)
    order by e.object_id, e.sequence
    on conflict (owner, object_id, endpoint_id, sequence) do update
    set queued_at = excluded.queued_at, due_at = least(q.due_at, excluded.due_at)`);
}

/** For an endpoint that is enabled again: what was left waiting begins anew. */
export async function restartQueue(tx: Transaction, endpoint: Endpoint, at: Date): Promise<void> {
  await tx.run(sql`
    update webhooks.queue set attempts = 0, queued_at = ${at}, due_at = ${at}
    where owner = ${ownerKey(endpoint.owner)} and endpoint_id = ${endpoint.id}
      and (lease_until is null or lease_until <= ${at})`);
}

/** What waits for an endpoint that was disabled that long ago, or is gone, goes. */
export async function deleteForsaken(db: Queryable, disabledBefore: Date, limit: number): Promise<number> {
  return db.run(sql`
    delete from webhooks.queue where ctid = any (array(
      select q.ctid from webhooks.queue q
      left join webhooks.endpoints e on e.owner = q.owner and e.endpoint_id = q.endpoint_id
      where e.endpoint_id is null or e.disabled_at < ${disabledBefore}
      limit ${limit} for update of q skip locked))`);
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
