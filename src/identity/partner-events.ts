import type { Transaction } from '../platform/db.ts';
import { uuid7 } from '../platform/uuid7.ts';
import { type ChangedField, visibleFields } from './domain/partner-view.ts';
import type { UserId } from './domain/user.ts';
import { insertEvents, listPartnersOf, type NewEvent } from './store/events.ts';

/** The version of the events' form, which partners' programs rely on. */
const apiVersion = '2026-11-01';

/** Clients learn that their part of a session is over, and not why: the reason is between the person and us. */
export async function tellOfEndedSessions(
  tx: Transaction,
  parts: readonly { userId: UserId; sid: string; clientId: string }[],
  at: Date,
): Promise<void> {
  const events = parts.map(({ userId, sid, clientId }) =>
    event({ clientId, userId, objectId: sid, type: 'session.ended', at, data: { sub: userId, sid } }),
  );
  if (events.length > 0) await insertEvents(tx, events);
}

export type UserNews = { userId: UserId; at: Date } & (
  | { type: 'user.deactivated' | 'user.reactivated' }
  | { type: 'user.updated'; fields: readonly ChangedField[] }
  | { type: 'user.merged'; mergedIds: readonly UserId[] }
);

/**
 * Tells every partner who has to do with a person. The caller holds the person's row, so that of two changes the one
 * that is made first is also told first.
 */
export async function tellOfUser(tx: Transaction, news: UserNews): Promise<void> {
  const { userId, type, at } = news;
  const events: NewEvent[] = [];
  for (const partner of await listPartnersOf(tx, userId)) {
    const told = { clientId: partner.clientId, userId, objectId: userId, type, at };
    if (news.type === 'user.updated') {
      const fields = visibleFields(partner, news.fields);
      if (fields.length > 0) events.push(event({ ...told, data: { sub: userId, fields } }));
    } else if (news.type === 'user.merged') {
      events.push(event({ ...told, data: { sub: userId, mergedIds: news.mergedIds } }));
    } else {
      events.push(event({ ...told, data: { sub: userId } }));
    }
  }
  if (events.length > 0) await insertEvents(tx, events);
}

function event({ data, ...told }: Omit<NewEvent, 'eventId' | 'payload'> & { data: object }): NewEvent {
  const eventId = uuid7(told.at);
  const payload = JSON.stringify({
    id: eventId,
    type: told.type,
    timestamp: told.at.toISOString(),
    apiVersion,
    clientId: told.clientId,
    data,
  });
  return { ...told, eventId, payload };
}
