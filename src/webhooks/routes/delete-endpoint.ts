import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { IdParams, merchantSecurity, problems } from '../../platform/openapi.ts';
import { deleteEndpoint } from '../endpoints.ts';
import type { WebhookRouteDeps } from '../plugin.ts';
import { callerOf, endpointIdOf } from './caller.ts';

const schema = {
  summary: 'Delete a webhook endpoint',
  description: 'What still waits for it is not sent.',
  tags: ['Webhooks'],
  security: merchantSecurity,
  params: IdParams,
  response: { 204: Type.Null({ description: 'It is gone' }), ...problems },
};

export const deleteEndpointRoute: FastifyPluginAsyncTypebox<WebhookRouteDeps> = async (app, deps) => {
  app.delete('/v1/webhook-endpoints/:id', { schema }, async (request, reply) => {
    const { owner, actor } = callerOf(deps, request);
    await deleteEndpoint(deps, owner, endpointIdOf(request), actor);
    return reply.status(204).send(null);
  });
};
