import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import type { FormFields } from '../../platform/form.ts';
import { equalInConstantTime } from '../../platform/seal.ts';
import { authenticateClient, single } from '../client-authentication.ts';
import type { IdentityDeps } from '../deps.ts';
import type { Client } from '../domain/client.ts';
import { OAuthError } from '../oauth-error.ts';
import { readRoutedSecret } from '../routed-secret.ts';
import { findGrant } from '../store/grants.ts';
import { isTokenLive } from '../store/token-holder.ts';
import { readAccessToken, readClientToken } from '../tokens.ts';
import { clientSecurity, documentedOnly, OAuthErrorJson } from './openapi-parts.ts';

const schema = {
  summary: 'Ask about a token (RFC 7662)',
  description: 'A client learns about its own tokens only; any other token is `{"active":false}`.',
  tags: ['Tokens'],
  security: clientSecurity,
  consumes: ['application/x-www-form-urlencoded'],
  body: Type.Object({
    token: Type.String(),
    token_type_hint: Type.Optional(Type.String()),
    client_id: Type.Optional(Type.String()),
    client_secret: Type.Optional(Type.String()),
  }),
  response: {
    200: Type.Object(
      { active: Type.Boolean() },
      { additionalProperties: true, examples: [{ active: true, sub: '0b6f…', client_id: 'demo-partner' }] },
    ),
    400: OAuthErrorJson,
    401: OAuthErrorJson,
    429: OAuthErrorJson,
    503: OAuthErrorJson,
  },
};

const inactive = { active: false };

export const introspect: FastifyPluginAsyncTypebox<IdentityDeps> = async (app, deps) => {
  app.post('/api/v1/openid-connect/introspect', { schema, ...documentedOnly }, async (request) => {
    const form = request.body as unknown as FormFields;
    const client = await authenticateClient(deps, request, form);
    const token = single(form, 'token');
    if (!token) throw new OAuthError('invalid_request', 'token is required.');
    return token.includes('.')
      ? aboutAccessToken(deps, client, token)
      : aboutRefreshToken(deps, client, token);
  });
};

async function aboutAccessToken(deps: IdentityDeps, client: Client, token: string) {
  const now = deps.now();
  const person = await readAccessToken(deps.issuer, token, now);
  if (person) {
    const live = person.clientId === client.clientId && (await isTokenLive(deps.db, { ...person, now }));
    return live ? { active: true, token_type: 'Bearer', ...person.claims } : inactive;
  }
  const own = await readClientToken(deps.issuer, token, now);
  return own?.clientId === client.clientId ? { active: true, token_type: 'Bearer', ...own.claims } : inactive;
}

async function aboutRefreshToken(deps: IdentityDeps, client: Client, token: string) {
  const read = readRoutedSecret(token, 'userId', 'grantId');
  if (!read) return inactive;
  const { userId, grantId } = read;
  const grant = await findGrant(deps.db, { userId, grantId, clientId: client.clientId, now: deps.now() });
  if (!grant?.live || !equalInConstantTime(read.hash, grant.tokenHash)) return inactive;
  return {
    active: true,
    token_type: 'refresh_token',
    client_id: client.clientId,
    sub: userId,
    sid: grant.sid,
    scope: grant.scopes.filter((scope) => client.scopes.includes(scope)).join(' '),
    exp: Math.floor(grant.refreshExpiresAt.getTime() / 1000),
    iat: Math.floor(grant.rotatedAt.getTime() / 1000),
    iss: deps.issuer.issuer,
  };
}
