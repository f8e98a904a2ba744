import { type Queryable, sql } from '../../platform/db.ts';
import { idRange } from '../../platform/paging.ts';

/** An event without its text: whose it is, and its place among those of the same object. */
export type EventKey = { eventId: string; objectId: string; sequence: bigint; type: string };

export async function findEventPayload(
  db: Queryable,
  merchantId: string,
  eventId: string,
): Promise<string | undefined> {
  const row = await db.maybeOne<{ payload: string }>(sql`
    select payload from checkout.events where merchant_id = ${merchantId} and event_id = ${eventId}`);
  return row?.payload;
}

export async function findEventKey(
  db: Queryable,
  merchantId: string,
  eventId: string,
): Promise<EventKey | undefined> {
  return db.maybeOne<EventKey>(sql`
    select event_id, object_id, sequence::bigint as sequence, type from checkout.events
    where merchant_id = ${merchantId} and event_id = ${eventId}`);
}

/** Oldest first. An id begins with its time, so that the range is read from the index. */
export async function listEventKeys(
  db: Queryable,
  merchantId: string,
  range: { from: Date; to: Date; limit: number },
): Promise<EventKey[]> {
  const { from, below } = idRange({ createdFrom: range.from, createdTo: range.to, before: null });
  return db.many<EventKey>(sql`
    select event_id, object_id, sequence::bigint as sequence, type from checkout.events
    where merchant_id = ${merchantId} and event_id >= ${from} and event_id < ${below}
      and created_at >= ${range.from} and created_at < ${range.to}
    order by event_id limit ${range.limit}`);
}

export type EventFilter = {
  merchantId: string;
  /** A type, or `payment.*`. */
  type: string | null;
  objectId: string | null;
  createdFrom: Date | null;
  createdTo: Date | null;
  /** Everything older than this one. */
  before: string | null;
  limit: number;
};

export type ListedEvent = { eventId: string; payload: string };

/** Every merchant has many of these: a page is soon full. All others, made up ones too, have an index of their own. */
const commonTypes = ['payment.*', 'payment.created', 'payment.updated', 'payment.succeeded'];

/** Newest first. Those of one object are found by its own key, the others by age. */
export async function listEvents(db: Queryable, filter: EventFilter): Promise<ListedEvent[]> {
  const kind = filter.type?.endsWith('.*') ? filter.type.slice(0, -1) : null;
  if (filter.objectId !== null) {
    return db.many<ListedEvent>(sql`
      select event_id, payload from checkout.events
      where merchant_id = ${filter.merchantId} and object_id = ${filter.objectId}
        and (${filter.before}::uuid is null or event_id < ${filter.before}::uuid)
        and (${filter.type}::text is null or type = ${filter.type}::text or starts_with(type, ${kind}::text))
        and (${filter.createdFrom}::timestamptz is null or created_at >= ${filter.createdFrom}::timestamptz)
        and (${filter.createdTo}::timestamptz is null or created_at < ${filter.createdTo}::timestamptz)
      order by event_id desc limit ${filter.limit}`);
  }
  const { from, below } = idRange(filter);
  if (filter.type !== null && !commonTypes.includes(filter.type)) {
    return db.many<ListedEvent>(sql`
      select event_id, payload from checkout.events
      where merchant_id = ${filter.merchantId} and event_id >= ${from} and event_id < ${below}
        and type not in ('payment.created', 'payment.updated', 'payment.succeeded')
        and (type = ${filter.type} or starts_with(type, ${kind}::text))
        and (${filter.createdFrom}::timestamptz is null or created_at >= ${filter.createdFrom}::timestamptz)
        and (${filter.createdTo}::timestamptz is null or created_at < ${filter.createdTo}::timestamptz)
      order by event_id desc limit ${filter.limit}`);
  }
  return db.many<ListedEvent>(sql`
    select event_id, payload from checkout.events
    where merchant_id = ${filter.merchantId} and event_id >= ${from} and event_id < ${below}
      and (${filter.type}::text is null or type = ${filter.type}::text or starts_with(type, ${kind}::text))
      and (${filter.createdFrom}::timestamptz is null or created_at >= ${filter.createdFrom}::timestamptz)
      and (${filter.createdTo}::timestamptz is null or created_at < ${filter.createdTo}::timestamptz)
    order by event_id desc limit ${filter.limit}`);
}
