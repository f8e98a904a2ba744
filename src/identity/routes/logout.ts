import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { bearerOf } from '../bearer.ts';
import type { IdentityDeps } from '../deps.ts';
import type { UserId } from '../domain/user.ts';
import { invalidToken } from '../errors.ts';
import { endSession } from '../session-end.ts';
import { isTokenLive } from '../store/token-holder.ts';
import { bearerResponses, bearerSecurity } from './openapi-parts.ts';

const schema = {
  summary: 'End the session',
  description:
    'The session, its refresh tokens and its access tokens are dead at once, on every node; other sessions of the person live on.',
  tags: ['Identity'],
  security: bearerSecurity,
  response: { 204: Type.Null({ description: 'The session has ended' }), ...bearerResponses },
};

export const logout: FastifyPluginAsyncTypebox<IdentityDeps> = async (app, deps) => {
  app.post('/api/v1/identity/logout', { schema }, async (request, reply) => {
    const token = await bearerOf(deps, request);
    const now = deps.now();
    if (!(await isTokenLive(deps.db, { ...token, now }))) throw invalidToken();
    const userId = token.userId as UserId;
    // Of two calls at once only one ends the session; for the other it has ended already.
    if (!(await endSession(deps.db, { userId, sid: token.sid, reason: 'logout', at: now })))
      throw invalidToken();
    return reply.code(204).send(null);
  });
};
