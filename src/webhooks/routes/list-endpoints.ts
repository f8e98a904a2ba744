import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { merchantSecurity, problems } from '../../platform/openapi.ts';
import { listEndpoints } from '../endpoints.ts';
import type { WebhookRouteDeps } from '../plugin.ts';
import { endpointJson } from '../present.ts';
import { callerOf } from './caller.ts';
import { EndpointJson } from './json.ts';

const schema = {
  summary: 'List webhook endpoints, oldest first',
  description: 'All of them: there are sixteen at most.',
  tags: ['Webhooks'],
  security: merchantSecurity,
  response: { 200: Type.Object({ items: Type.Array(EndpointJson) }), ...problems },
};

export const listEndpointsRoute: FastifyPluginAsyncTypebox<WebhookRouteDeps> = async (app, deps) => {
  app.get('/v1/webhook-endpoints', { schema }, async (request) => ({
    items: (await listEndpoints(deps, callerOf(deps, request).owner)).map(endpointJson),
  }));
};
