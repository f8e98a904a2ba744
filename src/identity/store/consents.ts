import { type Queryable, sql } from '../../platform/db.ts';

export type Consent = { scopes: string[]; identityDocuments: boolean; grantedAt: Date };

export async function findConsent(
  db: Queryable,
  key: { userId: string; clientId: string },
): Promise<Consent | undefined> {
  return db.maybeOne<Consent>(sql`
    select scopes, identity_documents, granted_at from identity.consents
    where user_id = ${key.userId} and client_id = ${key.clientId}`);
}

/** Adds to what the person has allowed before. */
export async function saveConsent(
  db: Queryable,
  consent: Consent & { userId: string; clientId: string },
): Promise<void> {
  await db.run(sql`
    insert into identity.consents as c (user_id, client_id, scopes, identity_documents, granted_at)
    values (${consent.userId}, ${consent.clientId}, ${consent.scopes}, ${consent.identityDocuments},
      ${consent.grantedAt})
    on conflict (user_id, client_id) do update
    set scopes = array(select distinct scope from unnest(c.scopes || excluded.scopes) as scope),
      identity_documents = excluded.identity_documents, granted_at = excluded.granted_at`);
}
