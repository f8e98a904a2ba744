import { type Queryable, sql, type Transaction } from '../../platform/db.ts';
import type { PartnerView } from '../domain/partner-view.ts';
import type { UserId } from '../domain/user.ts';

export type NewEvent = {
  clientId: string;
  eventId: string;
  userId: UserId;
  objectId: string;
  type: string;
  payload: string;
  at: Date;
};

/** In the order given: the events of one object are told in it. */
export async function insertEvents(tx: Transaction, events: readonly NewEvent[]): Promise<void> {
  await tx.run(sql`
    insert into identity.events (client_id, event_id, created_at, user_id, object_id, type, payload)
    select client_id, event_id, created_at, user_id, object_id, type, payload
    from unnest(${events.map((event) => event.clientId)}::text[], ${events.map((event) => event.eventId)}::uuid[],
      ${events.map((event) => event.at)}::timestamptz[], ${events.map((event) => event.userId)}::uuid[],
      ${events.map((event) => event.objectId)}::uuid[], ${events.map((event) => event.type)}::text[],
      ${events.map((event) => event.payload)}::text[])
      with ordinality as e (client_id, event_id, created_at, user_id, object_id, type, payload, place)
    order by place`);
}

/** The clients that know a person, under today's identifier or one that was merged into it. */
export async function listPartnersOf(
  tx: Transaction,
  userId: UserId,
): Promise<(PartnerView & { clientId: string })[]> {
  return tx.many(sql`
    with ids as (
      select ${userId}::uuid as user_id
      union all select old_user_id from identity.merged_users where user_id = ${userId}
    ), known as (
      select client_id, scopes, false as documents from ids join identity.client_sessions using (user_id)
      union all select client_id, scopes, false from ids join identity.grants using (user_id)
      union all select client_id, scopes, identity_documents from ids join identity.consents using (user_id)
    )
    select c.client_id, c.audience, c.identity_documents,
      coalesce(array_agg(distinct scope) filter (where scope is not null), '{}') as scopes,
      bool_or(known.documents) as consents_to_documents
    from known join identity.clients c on c.client_id = known.client_id and c.disabled_at is null
    left join lateral unnest(known.scopes) scope on true
    group by c.client_id, c.audience, c.identity_documents
    order by c.client_id`);
}

export async function findEventPayload(
  db: Queryable,
  clientId: string,
  eventId: string,
): Promise<string | undefined> {
  const row = await db.maybeOne<{ payload: string }>(sql`
    select payload from identity.events where client_id = ${clientId} and event_id = ${eventId}`);
  return row?.payload;
}

/** An event without its text. */
export type EventKey = { eventId: string; objectId: string; sequence: bigint; type: string };

export async function findEventKey(
  db: Queryable,
  clientId: string,
  eventId: string,
): Promise<EventKey | undefined> {
  return db.maybeOne<EventKey>(sql`
    select event_id, object_id, sequence, type from identity.events
    where client_id = ${clientId} and event_id = ${eventId}`);
}

export async function listEventKeys(
  db: Queryable,
  clientId: string,
  range: { from: Date; to: Date; limit: number },
): Promise<EventKey[]> {
  return db.many<EventKey>(sql`
    select event_id, object_id, sequence, type from identity.events
    where client_id = ${clientId} and created_at >= ${range.from} and created_at < ${range.to}
    order by created_at, sequence limit ${range.limit}`);
}
