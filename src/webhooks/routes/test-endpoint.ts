import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { IdParams, merchantSecurity, problems } from '../../platform/openapi.ts';
import type { WebhookRouteDeps } from '../plugin.ts';
import { deliveryJson } from '../present.ts';
import { sendTest } from '../send-test.ts';
import { callerOf, endpointIdOf } from './caller.ts';
import { DeliveryJson } from './json.ts';

const schema = {
  summary: 'Send a test event',
  description:
    'Sends `webhook.test`, once, whatever the endpoint is set to, and answers with what the receiver said. It waits up to 15 seconds for that.',
  tags: ['Webhooks'],
  security: merchantSecurity,
  params: IdParams,
  response: { 200: DeliveryJson, ...problems },
};

export const testEndpointRoute: FastifyPluginAsyncTypebox<WebhookRouteDeps> = async (app, deps) => {
  app.post('/v1/webhook-endpoints/:id/test', { schema }, async (request) => {
    const { owner, actor } = callerOf(deps, request);
    return deliveryJson(await sendTest(deps, owner, endpointIdOf(request), actor));
  });
};
