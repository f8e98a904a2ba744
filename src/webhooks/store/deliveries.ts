import { type Queryable, type Statement, sql } from '../../platform/db.ts';
import { idRange } from '../../platform/paging.ts';
import { type Owner, ownerKey } from '../domain/owner.ts';

/** One attempt, as the owner of the endpoint sees it. */
export type Delivery = {
  deliveryId: string;
  eventId: string;
  type: string;
  attempt: number;
  at: Date;
  result: 'delivered' | 'failed' | 'given_up';
  responseStatus: number | null;
  responseBody: string | null;
  durationMs: number;
  detail: string | null;
  nextAttemptAt: Date | null;
};

export type DeliveryFilter = {
  eventId: string | null;
  result: string | null;
  createdFrom: Date | null;
  createdTo: Date | null;
  /** Everything older than this one. */
  before: string | null;
  limit: number;
};

/** Newest first: the ids carry the time. */
export async function listDeliveries(
  db: Queryable,
  owner: Owner,
  endpointId: string,
  filter: DeliveryFilter,
): Promise<Delivery[]> {
  return db.many<Delivery>(listStatement(ownerKey(owner), endpointId, filter));
}

function listStatement(owner: string, endpointId: string, filter: DeliveryFilter): Statement {
  const { from, below } = idRange(filter);
  if (filter.eventId !== null) {
    // Set apart, so that the event's own index is taken whatever statistics the table of a new day has.
    return sql`
      with of_event as materialized (select * from webhooks.deliveries where event_id = ${filter.eventId})
      select delivery_id, event_id, type, attempt, at, result, response_status, response_body, duration_ms, detail,
        next_attempt_at
      from of_event
      where owner = ${owner} and endpoint_id = ${endpointId}
        and (${filter.before}::uuid is null or delivery_id < ${filter.before}::uuid)
        and (${filter.result}::text is null or result = ${filter.result}::text)
        and (${filter.createdFrom}::timestamptz is null or at >= ${filter.createdFrom}::timestamptz)
        and (${filter.createdTo}::timestamptz is null or at < ${filter.createdTo}::timestamptz)
      order by delivery_id desc limit ${filter.limit}`;
  }
  if (filter.result !== null && filter.result !== 'delivered') {
    // Few at an endpoint that works, and have an index of their own.
    return sql`
      select delivery_id, event_id, type, attempt, at, result, response_status, response_body, duration_ms, detail,
        next_attempt_at
      from webhooks.deliveries
      where owner = ${owner} and endpoint_id = ${endpointId} and delivery_id >= ${from} and delivery_id < ${below}
        and result <> 'delivered' and result = ${filter.result}
        and (${filter.createdFrom}::timestamptz is null or at >= ${filter.createdFrom}::timestamptz)
        and (${filter.createdTo}::timestamptz is null or at < ${filter.createdTo}::timestamptz)
      order by delivery_id desc limit ${filter.limit}`;
  }
  return sql`
    select delivery_id, event_id, type, attempt, at, result, response_status, response_body, duration_ms, detail,
      next_attempt_at
    from webhooks.deliveries
    where owner = ${owner} and endpoint_id = ${endpointId} and delivery_id >= ${from} and delivery_id < ${below}
      and (${filter.result}::text is null or result = ${filter.result}::text)
      and (${filter.createdFrom}::timestamptz is null or at >= ${filter.createdFrom}::timestamptz)
      and (${filter.createdTo}::timestamptz is null or at < ${filter.createdTo}::timestamptz)
    order by delivery_id desc limit ${filter.limit}`;
}

/** For an attempt that stands in no queue. */
export async function insertDelivery(
  db: Queryable,
  owner: Owner,
  endpointId: string,
  delivery: Delivery,
): Promise<void> {
  await db.run(sql`
    insert into webhooks.deliveries (owner, endpoint_id, delivery_id, at, event_id, type, attempt, result,
      response_status, response_body, duration_ms, detail, next_attempt_at)
    values (${ownerKey(owner)}, ${endpointId}, ${delivery.deliveryId}, ${delivery.at}, ${delivery.eventId},
      ${delivery.type}, ${delivery.attempt}, ${delivery.result}, ${delivery.responseStatus}, ${delivery.responseBody},
      ${delivery.durationMs}, ${delivery.detail}, ${delivery.nextAttemptAt})`);
}
