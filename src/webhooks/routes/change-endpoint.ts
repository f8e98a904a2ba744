import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { IdParams, merchantSecurity, problems } from '../../platform/openapi.ts';
import { changeEndpoint } from '../endpoints.ts';
import type { WebhookRouteDeps } from '../plugin.ts';
import { endpointJson } from '../present.ts';
import { callerOf, endpointIdOf } from './caller.ts';
import { DescriptionJson, EndpointJson, EventsJson, UrlJson } from './json.ts';

const schema = {
  summary: 'Change a webhook endpoint',
  description:
    'What waits for it goes to the new address. While it is disabled nothing new is queued for it, and what waits is kept; enabled again, it takes up what waited, and what happened meanwhile can be replayed.',
  tags: ['Webhooks'],
  security: merchantSecurity,
  params: IdParams,
  body: Type.Object(
    {
      url: Type.Optional(UrlJson),
      events: Type.Optional(EventsJson),
      description: Type.Optional(DescriptionJson),
      status: Type.Optional(Type.Enum(['enabled', 'disabled'], { type: 'string' })),
    },
    { additionalProperties: false, minProperties: 1, examples: [{ status: 'disabled' }] },
  ),
  response: { 200: EndpointJson, ...problems },
};

export const changeEndpointRoute: FastifyPluginAsyncTypebox<WebhookRouteDeps> = async (app, deps) => {
  app.patch('/v1/webhook-endpoints/:id', { schema }, async (request) => {
    const { owner, actor } = callerOf(deps, request);
    const id = endpointIdOf(request);
    return endpointJson(await changeEndpoint(deps, owner, id, request.body, actor));
  });
};
