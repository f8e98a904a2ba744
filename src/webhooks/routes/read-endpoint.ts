import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { IdParams, merchantSecurity, problems } from '../../platform/openapi.ts';
import { readEndpoint } from '../endpoints.ts';
import type { WebhookRouteDeps } from '../plugin.ts';
import { endpointJson } from '../present.ts';
import { callerOf, endpointIdOf } from './caller.ts';
import { EndpointJson } from './json.ts';

const schema = {
  summary: 'Read a webhook endpoint',
  tags: ['Webhooks'],
  security: merchantSecurity,
  params: IdParams,
  response: { 200: EndpointJson, ...problems },
};

export const readEndpointRoute: FastifyPluginAsyncTypebox<WebhookRouteDeps> = async (app, deps) => {
  app.get('/v1/webhook-endpoints/:id', { schema }, async (request) =>
    endpointJson(await readEndpoint(deps, callerOf(deps, request).owner, endpointIdOf(request))),
  );
};
