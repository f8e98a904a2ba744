import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { merchantSecurity, problems } from '../../platform/openapi.ts';
import { createEndpoint } from '../endpoints.ts';
import type { WebhookRouteDeps } from '../plugin.ts';
import { endpointJson } from '../present.ts';
import { callerOf } from './caller.ts';
import { DescriptionJson, EndpointWithSecretJson, EventsJson, UrlJson } from './json.ts';

const schema = {
  summary: 'Create a webhook endpoint',
  description:
    'From now on the events that it names are sent there, signed by Standard Webhooks. Sixteen at most. Needs the scope `webhooks`.',
  tags: ['Webhooks'],
  security: merchantSecurity,
  body: Type.Object(
    {
      url: UrlJson,
      events: Type.Optional(EventsJson),
      description: Type.Optional(DescriptionJson),
    },
    {
      additionalProperties: false,
      examples: [{ url: 'https://shop.example.com/webhooks', events: ['payment.*', 'refund.succeeded'] }],
    },
  ),
  response: { 201: EndpointWithSecretJson, ...problems },
};

export const createEndpointRoute: FastifyPluginAsyncTypebox<WebhookRouteDeps> = async (app, deps) => {
  app.post('/v1/webhook-endpoints', { schema }, async (request, reply) => {
    const { owner, actor } = callerOf(deps, request);
    const { endpoint, secret } = await createEndpoint(deps, owner, request.body, actor);
    return reply
      .status(201)
      .header('cache-control', 'no-store')
      .send({ ...endpointJson(endpoint), secret });
  });
};
