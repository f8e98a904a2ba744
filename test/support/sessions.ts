import { randomBytes, randomUUID } from 'node:crypto';
import type { UserId } from '../../src/identity/domain/user.ts';
import { insertClient, type NewClient } from '../../src/identity/store/clients.ts';
import { type Database, sql } from '../../src/platform/db.ts';

/** An ecosystem partner with the usual settings; gives back its client id. */
export async function addClient(db: Database, given: Partial<NewClient> = {}): Promise<string> {
  const clientId = given.clientId ?? `partner-${randomBytes(6).toString('hex')}`;
  const client: NewClient = {
    id: randomUUID(),
    clientId,
    name: clientId,
    audience: 'ecosystem',
    grantTypes: ['authorization_code', 'refresh_token'],
    scopes: ['openid'],
    redirectUris: ['http://localhost:4000/callback'],
    postLogoutRedirectUris: [],
    backchannelLogoutUri: null,
    secretHash: null,
    requirePkce: true,
    requireState: true,
    identityDocuments: true,
    accessTokenAlg: 'ES256',
    idTokenAlg: 'ES256',
    accessTokenSeconds: 300,
    refreshTokenSeconds: 1800,
    merchantId: null,
    ...given,
  };
  await insertClient(db, client, new Date('2026-01-01T00:00:00Z'));
  return clientId;
}

/** A session as a login leaves it, with one grant for each client; gives back its sid. */
export async function addSession(
  db: Database,
  given: { userId: UserId; clientIds?: string[]; authTime: Date; lastSeenAt?: Date; expiresAt?: Date },
): Promise<string> {
  const sid = randomUUID();
  const { userId, authTime } = given;
  const expiresAt = given.expiresAt ?? new Date(authTime.getTime() + 10 * 60 * 60_000);
  await db.run(sql`
    insert into identity.sessions (user_id, sid, cookie_hash, phone, auth_time, acr, amr, last_seen_at, expires_at)
    values (${userId}, ${sid}, ${randomBytes(32)}, '+994500000000', ${authTime}, 'urn:tollgate:otp-sms', '{sms}',
      ${given.lastSeenAt ?? authTime}, ${expiresAt})`);
  for (const clientId of given.clientIds ?? []) {
    await db.run(sql`
      insert into identity.client_sessions (user_id, sid, client_id, scopes, created_at)
      values (${userId}, ${sid}, ${clientId}, '{openid}', ${authTime})`);
    await db.run(sql`
      insert into identity.grants
        (user_id, grant_id, client_id, sid, scopes, token_hash, rotated_at, expires_at, created_at, phone, auth_time,
          acr, amr)
      values (${userId}, ${randomUUID()}, ${clientId}, ${sid}, '{openid}', ${randomBytes(32)}, ${authTime},
        ${new Date(authTime.getTime() + 30 * 60_000)}, ${authTime}, '+994500000000', ${authTime},
        'urn:tollgate:otp-sms', '{sms}')`);
  }
  return sid;
}

export type SessionState = {
  ended: boolean;
  reason: string | null;
  /** Those whose part of the session, or whose grant, still works. */
  liveClients: string[];
  liveGrants: string[];
};

export async function sessionState(db: Database, sid: string): Promise<SessionState> {
  return db.one<SessionState>(sql`
    select ended_at is not null as ended, end_reason as reason,
      array(select client_id from identity.client_sessions c
        where c.sid = s.sid and c.ended_at is null order by 1) as live_clients,
      array(select client_id from identity.grants g
        where g.sid = s.sid and g.revoked_at is null order by 1) as live_grants
    from identity.sessions s where sid = ${sid}`);
}

export type QueuedNotice = { userId: string; sid: string; clientId: string; deliveryId: string };

/** The back-channel logouts that wait in the queue for these sessions. */
export async function queuedNotices(db: Database, sids: string[]): Promise<QueuedNotice[]> {
  const rows = await db.many<{ payload: QueuedNotice }>(sql`
    select j.payload from graphile_worker._private_jobs j
      join graphile_worker._private_tasks t on t.id = j.task_id
    where t.identifier = 'identity.backchannel-logout' and j.payload->>'sid' = any (${sids})
    order by j.payload->>'sid', j.payload->>'clientId'`);
  return rows.map((row) => row.payload);
}
