import { type Queryable, sql, type Transaction } from '../../platform/db.ts';
import { idleMs, type Login } from '../domain/session.ts';

export type LiveSession = Login & { userId: string; sid: string; cookieHash: Buffer };

/** The session of a browser's cookie, as long as it is neither over nor its person switched off. */
export async function findLiveSession(
  db: Queryable,
  key: { userId: string; sid: string; now: Date },
): Promise<LiveSession | undefined> {
  return db.maybeOne<LiveSession>(sql`
    select s.user_id, s.sid, s.cookie_hash, s.phone, s.auth_time, s.acr, s.amr
    from identity.sessions s join identity.users u on u.user_id = s.user_id and u.active
    where s.user_id = ${key.userId} and s.sid = ${key.sid} and s.ended_at is null and s.expires_at > ${key.now}
      and s.last_seen_at > ${new Date(key.now.getTime() - idleMs)}`);
}

export async function insertSession(
  tx: Transaction,
  session: LiveSession & { expiresAt: Date },
): Promise<void> {
  await tx.run(sql`
    insert into identity.sessions (user_id, sid, cookie_hash, phone, auth_time, acr, amr, last_seen_at, expires_at)
    values (${session.userId}, ${session.sid}, ${session.cookieHash}, ${session.phone}, ${session.authTime},
      ${session.acr}, ${session.amr}, ${session.authTime}, ${session.expiresAt})`);
}

/** The same person has logged in again: the session goes on with a new cookie. False when it has ended meanwhile. */
export async function renewSession(
  tx: Transaction,
  session: LiveSession & { expiresAt: Date },
): Promise<boolean> {
  const renewed = await tx.run(sql`
    update identity.sessions
    set cookie_hash = ${session.cookieHash}, phone = ${session.phone}, auth_time = ${session.authTime},
      acr = ${session.acr}, amr = ${session.amr}, last_seen_at = ${session.authTime}, expires_at = ${session.expiresAt}
    where user_id = ${session.userId} and sid = ${session.sid} and ended_at is null`);
  return renewed === 1;
}
