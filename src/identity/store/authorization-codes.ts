import { type Queryable, sql } from '../../platform/db.ts';
import { idleMs, type Login, seenEveryMs } from '../domain/session.ts';

export type NewCode = {
  userId: string;
  codeHash: Buffer;
  clientId: string;
  sid: string;
  redirectUri: string;
  codeChallenge: string | undefined;
  nonce: string | undefined;
  scopes: string[];
  now: Date;
  expiresAt: Date;
};

/**
 * Writes a code, the client's part of the session and the person's activity, all or nothing: no rows when the
 * session has ended in between.
 */
export async function insertCode(db: Queryable, code: NewCode): Promise<boolean> {
  const written = await db.run(sql`
    with live as (
      select user_id, sid from identity.sessions
      where user_id = ${code.userId} and sid = ${code.sid} and ended_at is null and expires_at > ${code.now}
      for no key update
    ), seen as (
      update identity.sessions s set last_seen_at = ${code.now} from live
      where s.user_id = live.user_id and s.sid = live.sid
        and s.last_seen_at < ${new Date(code.now.getTime() - seenEveryMs)}
    ), joined as (
      insert into identity.client_sessions (user_id, sid, client_id, scopes, created_at)
      select user_id, sid, ${code.clientId}, ${code.scopes}, ${code.now} from live
      on conflict (user_id, sid, client_id)
      do update set scopes = excluded.scopes, ended_at = null
    )
    insert into identity.authorization_codes
      (user_id, code_hash, client_id, sid, redirect_uri, code_challenge, nonce, scopes, expires_at)
    select user_id, ${code.codeHash}, ${code.clientId}, sid, ${code.redirectUri}, ${code.codeChallenge ?? null},
      ${code.nonce ?? null}, ${code.scopes}, ${code.expiresAt}
    from live`);
  return written === 1;
}

export type Exchange = {
  userId: string;
  codeHash: Buffer;
  clientId: string;
  redirectUri: string;
  /** The challenge that the presented verifier answers; none when no verifier came. */
  codeChallenge: string | undefined;
  grantId: string;
  tokenHash: Buffer;
  refreshTokenMs: number;
  now: Date;
};

export type Exchanged = Login & {
  sid: string;
  nonce: string | null;
  scopes: string[];
  refreshExpiresAt: Date;
};

/**
 * Uses the code up and makes the refresh token's family in one statement. Its own client may try a code once: with
 * the wrong verifier or address it is used up all the same. The session and the client's part of it are locked, so
 * that a logout or a revocation at the same moment either comes first, and nothing is made, or comes after, and sees
 * what was made. The activity is written even within the minute, so that the new refresh token has its whole life.
 */
export async function exchangeCode(db: Queryable, exchange: Exchange): Promise<Exchanged | undefined> {
  const { now } = exchange;
  return db.maybeOne<Exchanged>(sql`
    with used as (
      update identity.authorization_codes
      set used_at = ${now}, grant_id = ${exchange.grantId}
      where user_id = ${exchange.userId} and code_hash = ${exchange.codeHash} and client_id = ${exchange.clientId}
        and used_at is null and (code_challenge is null or ${exchange.codeChallenge ?? null}::text is not null)
      returning user_id, sid, redirect_uri, code_challenge, nonce, scopes, expires_at
    ), good as (
      select used.user_id, used.sid, used.nonce, used.scopes, s.phone, s.auth_time, s.acr, s.amr,
        least(${new Date(now.getTime() + exchange.refreshTokenMs)}::timestamptz,
          ${new Date(now.getTime() + idleMs)}::timestamptz, s.expires_at) as refresh_expires_at
      from used
      join identity.sessions s on s.user_id = used.user_id and s.sid = used.sid
      join identity.client_sessions p
        on p.user_id = used.user_id and p.sid = used.sid and p.client_id = ${exchange.clientId}
      join identity.users u on u.user_id = used.user_id and u.active
      join identity.clients c on c.client_id = ${exchange.clientId} and c.disabled_at is null
      where used.expires_at > ${now} and used.redirect_uri = ${exchange.redirectUri}
        and used.code_challenge is not distinct from ${exchange.codeChallenge ?? null}::text
        and s.ended_at is null and s.expires_at > ${now} and s.last_seen_at > ${new Date(now.getTime() - idleMs)}
        and p.ended_at is null
      for no key update of s, p
    ), seen as (
      update identity.sessions s set last_seen_at = ${now} from good
      where s.user_id = good.user_id and s.sid = good.sid
    ), made as (
      insert into identity.grants
        (user_id, grant_id, client_id, sid, scopes, nonce, phone, auth_time, acr, amr, token_hash, rotated_at,
          expires_at, created_at)
      select user_id, ${exchange.grantId}, ${exchange.clientId}, sid, scopes, nonce, phone, auth_time, acr, amr,
        ${exchange.tokenHash}, ${now},
        refresh_expires_at, ${now}
      from good
    )
    select sid, nonce, scopes, phone, auth_time, acr, amr, refresh_expires_at from good`);
}

export type FailedCode = { usedAt: Date | null; grantId: string | null; codeChallenge: string | null };

/** Why an exchange found nothing to use. */
export async function findCode(
  db: Queryable,
  key: { userId: string; codeHash: Buffer; clientId: string },
): Promise<FailedCode | undefined> {
  return db.maybeOne<FailedCode>(sql`
    select used_at, grant_id, code_challenge from identity.authorization_codes
    where user_id = ${key.userId} and code_hash = ${key.codeHash} and client_id = ${key.clientId}`);
}
