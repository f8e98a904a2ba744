import type { Client } from '../domain/client.ts';
import type { PersonTokens } from '../tokens.ts';

export type TokenAnswer = {
  access_token: string;
  expires_in: number;
  refresh_token?: string;
  refresh_expires_in: number;
  id_token?: string;
  token_type: 'Bearer';
  scope: string;
  session_state?: string;
};

export function personAnswer(
  client: Client,
  grant: { sid: string; scopes: string[]; refreshExpiresAt: Date },
  tokens: PersonTokens,
  refreshToken: string,
  now: Date,
): TokenAnswer {
  const answer: TokenAnswer = {
    access_token: tokens.accessToken,
    expires_in: client.accessTokenSeconds,
    refresh_expires_in: 0,
    id_token: tokens.idToken,
    token_type: 'Bearer',
    scope: grant.scopes.join(' '),
    session_state: grant.sid,
  };
  // A client that is not registered for refreshing gets nothing that it could not use.
  if (!client.grantTypes.includes('refresh_token')) return answer;
  const left = Math.floor((grant.refreshExpiresAt.getTime() - now.getTime()) / 1000);
  return { ...answer, refresh_token: refreshToken, refresh_expires_in: Math.max(0, left) };
}
