import type { Algorithm } from './algorithm.ts';

export const grantTypes = ['authorization_code', 'refresh_token', 'client_credentials'] as const;
export type GrantType = (typeof grantTypes)[number];

/** Scopes about a person, and scopes of the checkout; the two are for different audiences. */
export const personScopes = ['openid', 'profile', 'phone'] as const;
export const merchantScopes = ['payments', 'refunds', 'webhooks'] as const;

/** Clients of our own. The server makes them at start, and their secret follows from ours. */
export const builtInClientIds: readonly string[] = ['tollgate-checkout'];

/** A partner or a merchant's program, as registered by the operator. */
export type Client = {
  id: string;
  clientId: string;
  name: string;
  audience: 'ecosystem' | 'external';
  grantTypes: GrantType[];
  scopes: string[];
  redirectUris: string[];
  postLogoutRedirectUris: string[];
  backchannelLogoutUri: string | null;
  secretHash: Buffer | null;
  previousSecretHash: Buffer | null;
  previousSecretExpiresAt: Date | null;
  requirePkce: boolean;
  requireState: boolean;
  identityDocuments: boolean;
  accessTokenAlg: Algorithm;
  idTokenAlg: Algorithm;
  accessTokenSeconds: number;
  refreshTokenSeconds: number;
  merchantId: string | null;
  disabledAt: Date | null;
};
