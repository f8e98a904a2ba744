import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import type { FormFields } from '../../platform/form.ts';
import { equalInConstantTime } from '../../platform/seal.ts';
import { authenticateClient, single } from '../client-authentication.ts';
import type { IdentityDeps } from '../deps.ts';
import type { Client } from '../domain/client.ts';
import type { UserId } from '../domain/user.ts';
import { OAuthError } from '../oauth-error.ts';
import { readRoutedSecret } from '../routed-secret.ts';
import { endClientSession } from '../session-end.ts';
import { findGrant } from '../store/grants.ts';
import { readAccessToken } from '../tokens.ts';
import { clientSecurity, documentedOnly, OAuthErrorJson } from './openapi-parts.ts';

const schema = {
  summary: 'Give a token back (RFC 7009)',
  description:
    'Either token of a person ends the client’s part of the session at once: its refresh token and all its access tokens. An unknown token is answered like a good one.',
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
    // Nothing at all: `null` would be sent as four letters.
    200: Type.Unsafe<undefined>(Type.Null({ description: 'The token is dead' })),
    400: OAuthErrorJson,
    401: OAuthErrorJson,
    429: OAuthErrorJson,
    503: OAuthErrorJson,
  },
};

export const revoke: FastifyPluginAsyncTypebox<IdentityDeps> = async (app, deps) => {
  app.post('/api/v1/openid-connect/revoke', { schema, ...documentedOnly }, async (request, reply) => {
    const form = request.body as unknown as FormFields;
    const client = await authenticateClient(deps, request, form);
    const token = single(form, 'token');
    if (!token) throw new OAuthError('invalid_request', 'token is required.');
    const found = await sessionOf(deps, client, token);
    if (found) {
      const end = { ...found, clientId: client.clientId, reason: 'revoked', at: deps.now() };
      await deps.db.transaction((tx) => endClientSession(tx, end));
    }
    return reply.code(200).send(undefined);
  });
};

/** The session behind a token of this client; a token of another client counts as unknown. */
async function sessionOf(
  deps: IdentityDeps,
  client: Client,
  token: string,
): Promise<{ userId: UserId; sid: string } | undefined> {
  if (token.includes('.')) {
    const claims = await readAccessToken(deps.issuer, token, deps.now());
    return claims?.clientId === client.clientId
      ? { userId: claims.userId as UserId, sid: claims.sid }
      : undefined;
  }
  const read = readRoutedSecret(token, 'userId', 'grantId');
  if (!read) return undefined;
  const { userId, grantId } = read;
  const grant = await findGrant(deps.db, { userId, grantId, clientId: client.clientId, now: deps.now() });
  const former = grant?.previousTokenHash;
  const isOurs =
    grant &&
    (equalInConstantTime(read.hash, grant.tokenHash) || (former && equalInConstantTime(read.hash, former)));
  return isOurs ? { userId: userId as UserId, sid: grant.sid } : undefined;
}
