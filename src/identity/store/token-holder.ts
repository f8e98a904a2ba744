import { type Queryable, sql } from '../../platform/db.ts';
import type { PurposeKey } from '../../platform/seal.ts';
import { idleMs } from '../domain/session.ts';
import type { User } from '../domain/user.ts';
import { toUser, type UserRow } from './users.ts';

type TokenKey = { userId: string; grantId: string; sid: string; clientId: string; now: Date };

/** The person of an access token, while its family and its session live and the account and the client are in use. */
export async function findTokenHolder(
  db: Queryable,
  documentsKey: PurposeKey,
  key: TokenKey,
): Promise<{ user: User; consentsToDocuments: boolean } | undefined> {
  const row = await db.maybeOne<UserRow & { consentsToDocuments: boolean }>(sql`
    select u.user_id, u.phone, u.active, u.merged_into, u.first_name, u.last_name, u.patronymic, u.pin_sealed,
      u.id_card_number_sealed, u.profile_picture, u.birth_date, u.resident, u.verification_status, u.gender,
      u.created_at, u.updated_at, coalesce(consent.identity_documents, false) as consents_to_documents
    from identity.grants g
    join identity.sessions s on s.user_id = g.user_id and s.sid = g.sid
    join identity.users u on u.user_id = g.user_id
    join identity.clients c on c.client_id = g.client_id and c.disabled_at is null
    left join identity.consents consent on consent.user_id = g.user_id and consent.client_id = g.client_id
    where g.user_id = ${key.userId} and g.grant_id = ${key.grantId} and g.sid = ${key.sid}
      and g.client_id = ${key.clientId} and g.revoked_at is null
      and s.ended_at is null and s.expires_at > ${key.now}
      and s.last_seen_at > ${new Date(key.now.getTime() - idleMs)} and u.active`);
  return row && { user: toUser(row, documentsKey), consentsToDocuments: row.consentsToDocuments };
}

/** The former ids of the same person, oldest first, under the same conditions. */
export async function findFormerIds(db: Queryable, key: TokenKey): Promise<string[] | undefined> {
  const row = await db.maybeOne<{ oldUserIds: string[] }>(sql`
    select array(
      select m.old_user_id from identity.merged_users m where m.user_id = g.user_id order by m.merged_at, m.ordinal
    ) as old_user_ids
    from identity.grants g
    join identity.sessions s on s.user_id = g.user_id and s.sid = g.sid
    join identity.users u on u.user_id = g.user_id
    join identity.clients c on c.client_id = g.client_id and c.disabled_at is null
    where g.user_id = ${key.userId} and g.grant_id = ${key.grantId} and g.sid = ${key.sid}
      and g.client_id = ${key.clientId} and g.revoked_at is null
      and s.ended_at is null and s.expires_at > ${key.now}
      and s.last_seen_at > ${new Date(key.now.getTime() - idleMs)} and u.active`);
  return row?.oldUserIds;
}

/** Whether a token still counts, when nothing of its person is wanted. */
export async function isTokenLive(db: Queryable, key: TokenKey): Promise<boolean> {
  const row = await db.maybeOne<{ live: boolean }>(sql`
    select true as live
    from identity.grants g
    join identity.sessions s on s.user_id = g.user_id and s.sid = g.sid
    join identity.users u on u.user_id = g.user_id
    join identity.clients c on c.client_id = g.client_id and c.disabled_at is null
    where g.user_id = ${key.userId} and g.grant_id = ${key.grantId} and g.sid = ${key.sid}
      and g.client_id = ${key.clientId} and g.revoked_at is null
      and s.ended_at is null and s.expires_at > ${key.now}
      and s.last_seen_at > ${new Date(key.now.getTime() - idleMs)} and u.active`);
  return row !== undefined;
}
