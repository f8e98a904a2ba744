import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { bearerOf } from '../bearer.ts';
import type { IdentityDeps } from '../deps.ts';
import { invalidToken } from '../errors.ts';
import { findFormerIds } from '../store/token-holder.ts';
import { bearerResponses, bearerSecurity } from './openapi-parts.ts';

const schema = {
  summary: 'Former identifiers of the person',
  description: 'Every identifier that was merged into this person, through chains of merges, oldest first.',
  tags: ['Identity'],
  security: bearerSecurity,
  response: {
    200: Type.Object(
      { oldCustomerIds: Type.Array(Type.String({ format: 'uuid' })) },
      { examples: [{ oldCustomerIds: ['0b6f2b1e-8c0a-4f8e-9d6b-5a1c7a1f0101'] }] },
    ),
    ...bearerResponses,
  },
};

export const mergedHistory: FastifyPluginAsyncTypebox<IdentityDeps> = async (app, deps) => {
  app.get('/api/v1/openid-connect/userinfo/history/merged', { schema }, async (request) => {
    const token = await bearerOf(deps, request);
    const oldCustomerIds = await findFormerIds(deps.db, { ...token, now: deps.now() });
    if (!oldCustomerIds) throw invalidToken();
    return { oldCustomerIds };
  });
};
