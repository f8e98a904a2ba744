import type { EventKey, WebhookDeps } from './deps.ts';
import type { Endpoint } from './domain/endpoint.ts';
import { isWanted } from './domain/event-types.ts';
import { type Owner, ownerKey } from './domain/owner.ts';
import { readEndpoint } from './endpoints.ts';
import { refuse } from './errors.ts';
import { lockHasWaiting, queueEvents } from './store/queue.ts';

const mostAtOnce = 10_000;
const mostWaiting = 50_000;

/**
 * An event bears the time at which the work on its payment began, and is queued, or not, when that work ends. For one
 * who replays from the moment of a disabling, those in between would be lost; a receiver bears an event twice.
 */
const longestWorkMs = 60_000;

/** One event, whatever the endpoint usually wants, or all that it wants of a time. */
export type ReplayWish = { eventId: string } | { from: Date; to: Date };

/** Queues events again that happened before, under their old ids; tells how many. */
export async function replay(
  deps: WebhookDeps,
  owner: Owner,
  id: string,
  wish: ReplayWish,
  actor: string,
): Promise<number> {
  const endpoint = await readEndpoint(deps, owner, id);
  if (endpoint.status === 'disabled') throw refuse('webhook_endpoint_disabled');
  const events = await eventsOf(deps, endpoint, wish);
  const at = deps.now();
  await deps.db.transaction(async (tx) => {
    const isFull = await lockHasWaiting(tx, owner, mostWaiting - events.length + 1);
    if (isFull && !('eventId' in wish)) throw refuse('replay_queue_full');
    await queueEvents(tx, endpoint, events, at);
    const details = { owner: ownerKey(owner), endpointId: id, events: String(events.length) };
    await deps.audit(tx, { at, actor, action: 'webhook.replayed', details });
  });
  return events.length;
}

async function eventsOf(
  deps: WebhookDeps,
  { owner, events }: Endpoint,
  wish: ReplayWish,
): Promise<EventKey[]> {
  const source = deps.sources[owner.kind];
  if ('eventId' in wish) {
    const event = await source.find(deps.db, owner.id, wish.eventId);
    if (!event) throw refuse('event_not_found');
    return [event];
  }
  const found = await source.list(deps.db, owner.id, {
    from: new Date(wish.from.getTime() - longestWorkMs),
    to: wish.to,
    limit: mostAtOnce + 1,
  });
  if (found.length > mostAtOnce) throw refuse('replay_too_large');
  return found.filter((event) => isWanted(events, event.type));
}
