import { type Queryable, sql } from '../../platform/db.ts';
import type { Client } from '../domain/client.ts';

export async function findClient(db: Queryable, clientId: string): Promise<Client | undefined> {
  return db.maybeOne<Client>(sql`
    select id, client_id, name, audience, grant_types, scopes, redirect_uris, post_logout_redirect_uris,
      backchannel_logout_uri, secret_hash, previous_secret_hash, previous_secret_expires_at, require_pkce,
      require_state, identity_documents, access_token_alg, id_token_alg, access_token_seconds,
      refresh_token_seconds, merchant_id, disabled_at
    from identity.clients where client_id = ${clientId}`);
}

export type NewClient = Omit<Client, 'previousSecretHash' | 'previousSecretExpiresAt' | 'disabledAt'>;

/** Registers a client; one that exists already is left as it is. */
export async function insertClient(db: Queryable, client: NewClient, createdAt: Date): Promise<boolean> {
  const inserted = await db.run(sql`
    insert into identity.clients (id, client_id, name, audience, grant_types, scopes, redirect_uris,
      post_logout_redirect_uris, backchannel_logout_uri, secret_hash, require_pkce, require_state,
      identity_documents, access_token_alg, id_token_alg, access_token_seconds, refresh_token_seconds, merchant_id,
      created_at)
    values (${client.id}, ${client.clientId}, ${client.name}, ${client.audience}, ${client.grantTypes},
      ${client.scopes}, ${client.redirectUris}, ${client.postLogoutRedirectUris}, ${client.backchannelLogoutUri},
      ${client.secretHash}, ${client.requirePkce}, ${client.requireState}, ${client.identityDocuments},
      ${client.accessTokenAlg}, ${client.idTokenAlg}, ${client.accessTokenSeconds}, ${client.refreshTokenSeconds},
      ${client.merchantId}, ${createdAt})
    on conflict (client_id) do nothing`);
  return inserted === 1;
}

/** Brings a client of our own up to date, and only if something has changed. */
export async function renewClient(
  db: Queryable,
  client: Pick<NewClient, 'clientId' | 'name' | 'redirectUris' | 'secretHash'>,
): Promise<void> {
  await db.run(sql`
    update identity.clients set name = ${client.name}, redirect_uris = ${client.redirectUris}, secret_hash = ${client.secretHash}
    where client_id = ${client.clientId}
      and (name, redirect_uris, secret_hash) is distinct from (${client.name}, ${client.redirectUris}::text[], ${client.secretHash}::bytea)`);
}
