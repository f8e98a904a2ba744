import { type Queryable, sql, type Transaction } from '../../platform/db.ts';
import type { Client } from '../domain/client.ts';

export async function findClient(db: Queryable, clientId: string): Promise<Client | undefined> {
  return db.maybeOne<Client>(sql`
    select id, client_id, name, audience, grant_types, scopes, redirect_uris, post_logout_redirect_uris,
      backchannel_logout_uri, secret_hash, previous_secret_hash, previous_secret_expires_at, require_pkce,
      require_state, identity_documents, access_token_alg, id_token_alg, access_token_seconds,
      refresh_token_seconds, merchant_id, disabled_at
    from identity.clients where client_id = ${clientId}`);
}

export async function lockClient(tx: Transaction, clientId: string): Promise<Client | undefined> {
  return tx.maybeOne<Client>(sql`
    select id, client_id, name, audience, grant_types, scopes, redirect_uris, post_logout_redirect_uris,
      backchannel_logout_uri, secret_hash, previous_secret_hash, previous_secret_expires_at, require_pkce,
      require_state, identity_documents, access_token_alg, id_token_alg, access_token_seconds,
      refresh_token_seconds, merchant_id, disabled_at
    from identity.clients where client_id = ${clientId} for no key update`);
}

/** All of them, or those of one merchant. */
export async function listClients(db: Queryable, merchantId: string | null): Promise<Client[]> {
  return db.many<Client>(sql`
    select id, client_id, name, audience, grant_types, scopes, redirect_uris, post_logout_redirect_uris,
      backchannel_logout_uri, secret_hash, previous_secret_hash, previous_secret_expires_at, require_pkce,
      require_state, identity_documents, access_token_alg, id_token_alg, access_token_seconds,
      refresh_token_seconds, merchant_id, disabled_at
    from identity.clients where ${merchantId}::text is null or merchant_id = ${merchantId}::text
    order by client_id`);
}

/** What an operator may change. Who a client is, whom it acts for and its secret are not among it. */
export type ClientSettings = Omit<NewClient, 'id' | 'clientId' | 'merchantId' | 'secretHash'>;

export async function setClientSettings(
  tx: Transaction,
  clientId: string,
  settings: ClientSettings,
): Promise<void> {
  await tx.run(sql`
    update identity.clients set name = ${settings.name}, audience = ${settings.audience},
      grant_types = ${settings.grantTypes}, scopes = ${settings.scopes}, redirect_uris = ${settings.redirectUris},
      post_logout_redirect_uris = ${settings.postLogoutRedirectUris},
      backchannel_logout_uri = ${settings.backchannelLogoutUri}, require_pkce = ${settings.requirePkce},
      require_state = ${settings.requireState}, identity_documents = ${settings.identityDocuments},
      access_token_alg = ${settings.accessTokenAlg}, id_token_alg = ${settings.idTokenAlg},
      access_token_seconds = ${settings.accessTokenSeconds}, refresh_token_seconds = ${settings.refreshTokenSeconds}
    where client_id = ${clientId}`);
}

export async function setClientSecret(
  tx: Transaction,
  clientId: string,
  secret: { hash: Buffer; previousHash: Buffer | null; previousExpiresAt: Date | null },
): Promise<void> {
  await tx.run(sql`
    update identity.clients set secret_hash = ${secret.hash}, previous_secret_hash = ${secret.previousHash},
      previous_secret_expires_at = ${secret.previousExpiresAt}
    where client_id = ${clientId}`);
}

export async function setClientDisabledAt(tx: Transaction, clientId: string, at: Date | null): Promise<void> {
  await tx.run(sql`update identity.clients set disabled_at = ${at} where client_id = ${clientId}`);
}

/** A batch of what the client was granted. One that is being used just now is left for the next batch. */
export async function revokeSomeGrantsOfClient(
  db: Queryable,
  revoke: { clientId: string; at: Date; limit: number },
): Promise<number> {
  return db.run(sql`
    with held as materialized (
      select user_id, grant_id from identity.grants
      where client_id = ${revoke.clientId} and revoked_at is null
      limit ${revoke.limit} for update skip locked
    )
    update identity.grants g set revoked_at = ${revoke.at}, revoke_reason = 'client_disabled'
    from held where g.user_id = held.user_id and g.grant_id = held.grant_id`);
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
