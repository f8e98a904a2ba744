import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import {
  bodyMayBeLeftOut,
  IdParams,
  leftOutIsEmpty,
  merchantSecurity,
  problems,
} from '../../platform/openapi.ts';
import { rotateSecret } from '../endpoints.ts';
import type { WebhookRouteDeps } from '../plugin.ts';
import { endpointJson } from '../present.ts';
import { callerOf, endpointIdOf } from './caller.ts';
import { EndpointWithSecretJson } from './json.ts';

const schema = {
  summary: 'Give a webhook endpoint a new secret',
  description:
    'For 24 hours both the new and the former secret sign. Within that time another one is refused, unless `force` is given: the oldest one then stops at once. The body may be left out.',
  tags: ['Webhooks'],
  security: merchantSecurity,
  ...bodyMayBeLeftOut,
  params: IdParams,
  body: Type.Object(
    { force: Type.Optional(Type.Boolean()) },
    { additionalProperties: false, examples: [{ force: true }] },
  ),
  response: { 200: EndpointWithSecretJson, ...problems },
};

export const rotateSecretRoute: FastifyPluginAsyncTypebox<WebhookRouteDeps> = async (app, deps) => {
  const options = { schema, preValidation: leftOutIsEmpty };
  app.post('/v1/webhook-endpoints/:id/rotate-secret', options, async (request, reply) => {
    const { owner, actor } = callerOf(deps, request);
    const { endpoint, secret } = await rotateSecret(deps, owner, endpointIdOf(request), actor, {
      force: request.body.force ?? false,
    });
    return reply.header('cache-control', 'no-store').send({ ...endpointJson(endpoint), secret });
  });
};
