import { type Queryable, sql } from '../../platform/db.ts';
import { idleMs, type Login, seenEveryMs } from '../domain/session.ts';

export type Rotation = {
  userId: string;
  grantId: string;
  clientId: string;
  tokenHash: Buffer;
  successorHash: Buffer;
  /** The successor, readable only with the presented token. */
  successorSealed: Buffer;
  refreshTokenMs: number;
  now: Date;
};

export type Refreshed = Login & {
  sid: string;
  nonce: string | null;
  scopes: string[];
  refreshExpiresAt: Date;
};

/**
 * Exchanges a refresh token for its successor. Of two at once the second finds the token already replaced. The
 * session is locked before the family, in the same order as a logout locks them, so that neither waits for the other
 * in a circle and a refresh never outlives its session.
 */
export async function rotateGrant(db: Queryable, rotation: Rotation): Promise<Refreshed | undefined> {
  const { now } = rotation;
  const seenBefore = new Date(now.getTime() - seenEveryMs);
  return db.maybeOne<Refreshed>(sql`
    with live as materialized (
      select s.user_id, s.sid, s.last_seen_at < ${seenBefore} as seen_again,
        least(${new Date(now.getTime() + rotation.refreshTokenMs)}::timestamptz, s.expires_at,
          case when s.last_seen_at < ${seenBefore} then ${new Date(now.getTime() + idleMs)}::timestamptz
            else s.last_seen_at + ${idleMs} * interval '1 millisecond' end) as refresh_expires_at
      from identity.grants g
      join identity.sessions s on s.user_id = g.user_id and s.sid = g.sid
      join identity.users u on u.user_id = g.user_id and u.active
      join identity.clients c on c.client_id = g.client_id and c.disabled_at is null
      where g.user_id = ${rotation.userId} and g.grant_id = ${rotation.grantId}
        and g.client_id = ${rotation.clientId}
        and s.ended_at is null and s.expires_at > ${now} and s.last_seen_at > ${new Date(now.getTime() - idleMs)}
      for no key update of s
    ), rotated as (
      update identity.grants g
      set previous_token_hash = g.token_hash, token_hash = ${rotation.successorHash},
        successor_sealed = ${rotation.successorSealed}, rotated_at = ${now}, expires_at = live.refresh_expires_at
      from live
      where g.user_id = ${rotation.userId} and g.grant_id = ${rotation.grantId}
        and g.token_hash = ${rotation.tokenHash} and g.revoked_at is null and g.expires_at > ${now}
      returning g.nonce, g.scopes, g.phone, g.auth_time, g.acr, g.amr
    ), seen as (
      update identity.sessions s set last_seen_at = ${now} from live, rotated
      where s.user_id = live.user_id and s.sid = live.sid and live.seen_again
    )
    select live.sid, live.refresh_expires_at, rotated.nonce, rotated.scopes, rotated.phone, rotated.auth_time,
      rotated.acr, rotated.amr
    from live, rotated`);
}

export type GrantState = Refreshed & {
  tokenHash: Buffer;
  previousTokenHash: Buffer | null;
  successorSealed: Buffer | null;
  rotatedAt: Date;
  /** The family, its session, its person and its client are all in order. */
  live: boolean;
};

/** Everything about a family, for the retry of a lost answer and for telling a replay from an ordinary end. */
export async function findGrant(
  db: Queryable,
  key: { userId: string; grantId: string; clientId: string; now: Date },
): Promise<GrantState | undefined> {
  const { now } = key;
  return db.maybeOne<GrantState>(sql`
    select g.sid, g.nonce, g.scopes, g.token_hash, g.previous_token_hash, g.successor_sealed, g.rotated_at,
      g.expires_at as refresh_expires_at, g.phone, g.auth_time, g.acr, g.amr,
      g.revoked_at is null and g.expires_at > ${now} and s.ended_at is null and s.expires_at > ${now}
        and s.last_seen_at > ${new Date(now.getTime() - idleMs)} and u.active and c.disabled_at is null as live
    from identity.grants g
    join identity.sessions s on s.user_id = g.user_id and s.sid = g.sid
    join identity.users u on u.user_id = g.user_id
    join identity.clients c on c.client_id = g.client_id
    where g.user_id = ${key.userId} and g.grant_id = ${key.grantId} and g.client_id = ${key.clientId}`);
}

/** Kills a family: its refresh token and every access token that came from it. */
export async function revokeGrant(
  db: Queryable,
  key: { userId: string; grantId: string; reason: string; now: Date },
): Promise<boolean> {
  const revoked = await db.run(sql`
    update identity.grants set revoked_at = ${key.now}, revoke_reason = ${key.reason}
    where user_id = ${key.userId} and grant_id = ${key.grantId} and revoked_at is null`);
  return revoked === 1;
}
