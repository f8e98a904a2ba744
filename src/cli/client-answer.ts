import type { Client } from '../identity/domain/client.ts';
import { record } from './text.ts';

export const exampleClient = {
  clientId: 'shop',
  id: '5f0c9f0e-6f1c-4c35-9a5e-0a4c7f1d2b11',
  name: 'Shop',
  status: 'enabled',
  audience: 'ecosystem',
  merchantId: null,
  grantTypes: ['authorization_code', 'refresh_token'],
  scopes: ['openid', 'profile'],
  redirectUris: ['https://shop.example/callback'],
  postLogoutRedirectUris: [],
  backchannelLogoutUri: null,
  requirePkce: true,
  requireState: true,
  identityDocuments: true,
  accessTokenAlg: 'ES256',
  idTokenAlg: 'ES256',
  accessTokenSeconds: 300,
  refreshTokenSeconds: 1800,
  oldSecretValidUntil: null,
  disabledAt: null,
};

export function statusOf(client: Client): 'enabled' | 'disabled' {
  return client.disabledAt ? 'disabled' : 'enabled';
}

/** Everything but the secrets and their hashes. */
export function clientJson(client: Client) {
  return {
    clientId: client.clientId,
    id: client.id,
    name: client.name,
    status: statusOf(client),
    audience: client.audience,
    merchantId: client.merchantId,
    grantTypes: client.grantTypes,
    scopes: client.scopes,
    redirectUris: client.redirectUris,
    postLogoutRedirectUris: client.postLogoutRedirectUris,
    backchannelLogoutUri: client.backchannelLogoutUri,
    requirePkce: client.requirePkce,
    requireState: client.requireState,
    identityDocuments: client.identityDocuments,
    accessTokenAlg: client.accessTokenAlg,
    idTokenAlg: client.idTokenAlg,
    accessTokenSeconds: client.accessTokenSeconds,
    refreshTokenSeconds: client.refreshTokenSeconds,
    oldSecretValidUntil: client.previousSecretExpiresAt?.toISOString() ?? null,
    disabledAt: client.disabledAt?.toISOString() ?? null,
  };
}

export function clientText(client: Client): string {
  return record({
    client: client.clientId,
    name: client.name,
    status: statusOf(client),
    audience: client.audience,
    merchant: client.merchantId,
    grants: client.grantTypes,
    scopes: client.scopes,
    'redirect URIs': client.redirectUris,
    'after logout': client.postLogoutRedirectUris,
    'told of logout': client.backchannelLogoutUri,
    'asks for PKCE': client.requirePkce,
    'asks for state': client.requireState,
    'sees documents': client.identityDocuments,
    'access token': `${client.accessTokenAlg}, ${client.accessTokenSeconds} s`,
    'ID token': client.idTokenAlg,
    'refresh token': `${client.refreshTokenSeconds} s`,
    'old secret until': client.previousSecretExpiresAt,
    'disabled at': client.disabledAt,
  });
}
