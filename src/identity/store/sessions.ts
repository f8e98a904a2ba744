import { type Queryable, sql, type Transaction } from '../../platform/db.ts';
import type { UserId } from '../domain/user.ts';

export type SessionKey = { userId: UserId; sid: string };

export type SessionEndReason =
  | 'logout'
  | 'replaced'
  | 'expired'
  | 'deactivated'
  | 'merged'
  | 'phone_changed'
  | 'operator';

/** A client that took part in a session, and whether it has an address for back-channel logout. */
export type EndedPart = SessionKey & { clientId: string; wantsLogoutToken: boolean };

/**
 * Ends one session of a person, or all of them, and tells which were open. Whoever ends a session does this first
 * and its parts in later statements: an exchange or a refresh that is under way holds the session, and what it
 * produces can be seen only by a statement that begins after it.
 */
export async function endOpenSessions(
  tx: Transaction,
  end: { userId: UserId; sid?: string; reason: SessionEndReason; at: Date },
): Promise<SessionKey[]> {
  return tx.many<SessionKey>(sql`
    update identity.sessions set ended_at = ${end.at}, end_reason = ${end.reason}
    where user_id = ${end.userId} and (${end.sid ?? null}::uuid is null or sid = ${end.sid ?? null}::uuid)
      and ended_at is null
    returning user_id, sid`);
}

/**
 * Ends a batch of sessions that are over. One that somebody holds is left for the next time: it is being used, or
 * another node is ending it. The two conditions stand twice: within, each finds its rows by an index of its own;
 * without, they are checked again on the row as it is once it is locked.
 */
export async function endSessionsThatAreOver(
  tx: Transaction,
  over: { at: Date; lastSeenBefore: Date; limit: number },
): Promise<SessionKey[]> {
  return tx.many<SessionKey>(sql`
    with due as materialized (
      (select user_id, sid from identity.sessions
       where ended_at is null and last_seen_at <= ${over.lastSeenBefore} order by last_seen_at limit ${over.limit})
      union
      (select user_id, sid from identity.sessions
       where ended_at is null and expires_at <= ${over.at} order by expires_at limit ${over.limit})
    ), held as materialized (
      select s.user_id, s.sid from due join identity.sessions s on s.user_id = due.user_id and s.sid = due.sid
      where s.ended_at is null and (s.last_seen_at <= ${over.lastSeenBefore} or s.expires_at <= ${over.at})
      limit ${over.limit} for update of s skip locked
    )
    update identity.sessions s set ended_at = ${over.at}, end_reason = 'expired'
    from held where s.user_id = held.user_id and s.sid = held.sid
    returning s.user_id, s.sid`);
}

export async function revokeGrantsOfSessions(
  tx: Transaction,
  sessions: readonly SessionKey[],
  { reason, at }: { reason: string; at: Date },
): Promise<void> {
  await tx.run(sql`
    update identity.grants g set revoked_at = ${at}, revoke_reason = ${reason}
    from unnest(${sessions.map((session) => session.userId)}::uuid[],
      ${sessions.map((session) => session.sid)}::uuid[]) as ended (user_id, sid)
    where g.user_id = ended.user_id and g.sid = ended.sid and g.revoked_at is null`);
}

/** Ends every client's part of the sessions, and tells whose parts were open. */
export async function endClientSessionsOfSessions(
  tx: Transaction,
  sessions: readonly SessionKey[],
  at: Date,
): Promise<EndedPart[]> {
  return tx.many<EndedPart>(sql`
    with parts as (
      update identity.client_sessions c set ended_at = ${at}
      from unnest(${sessions.map((session) => session.userId)}::uuid[],
        ${sessions.map((session) => session.sid)}::uuid[]) as ended (user_id, sid)
      where c.user_id = ended.user_id and c.sid = ended.sid and c.ended_at is null
      returning c.user_id, c.sid, c.client_id
    )
    select parts.user_id, parts.sid, parts.client_id,
      clients.backchannel_logout_uri is not null as wants_logout_token
    from parts join identity.clients on clients.client_id = parts.client_id
    where clients.disabled_at is null
    order by parts.user_id, parts.sid, parts.client_id`);
}

type ClientPart = SessionKey & { clientId: string };

export async function revokeGrantsOfClient(
  tx: Transaction,
  part: ClientPart,
  { reason, at }: { reason: string; at: Date },
): Promise<void> {
  await tx.run(sql`
    update identity.grants set revoked_at = ${at}, revoke_reason = ${reason}
    where user_id = ${part.userId} and sid = ${part.sid} and client_id = ${part.clientId} and revoked_at is null`);
}

/** False when it had ended before. */
export async function endClientPart(tx: Transaction, part: ClientPart, at: Date): Promise<boolean> {
  const ended = await tx.run(sql`
    update identity.client_sessions set ended_at = ${at}
    where user_id = ${part.userId} and sid = ${part.sid} and client_id = ${part.clientId} and ended_at is null`);
  return ended === 1;
}

/** A session as an operator sees it. */
export type SessionRow = {
  sid: string;
  authTime: Date;
  lastSeenAt: Date;
  expiresAt: Date;
  endedAt: Date | null;
  endReason: SessionEndReason | null;
  clients: string[];
};

/** A person's sessions, newest first; those that have ended only on request. */
export async function listSessions(
  db: Queryable,
  { userId, ended, limit }: { userId: UserId; ended: boolean; limit: number },
): Promise<SessionRow[]> {
  return db.many<SessionRow>(sql`
    select sid, auth_time, last_seen_at, expires_at, ended_at, end_reason,
      array(select c.client_id from identity.client_sessions c
        where c.user_id = s.user_id and c.sid = s.sid order by c.client_id) as clients
    from identity.sessions s where user_id = ${userId} and (${ended} or ended_at is null)
    order by auth_time desc limit ${limit}`);
}
