import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { IdParams, merchantSecurity, problems } from '../../platform/openapi.ts';
import { idFilter, PageJson, PageQuery, pageJson, pageOf } from '../../platform/paging.ts';
import { listDeliveries } from '../list-deliveries.ts';
import type { WebhookRouteDeps } from '../plugin.ts';
import { deliveryJson } from '../present.ts';
import { callerOf, endpointIdOf } from './caller.ts';
import { DeliveryJson } from './json.ts';

const schema = {
  summary: 'List the deliveries to a webhook endpoint, newest first',
  description: 'Every attempt of the last 30 days, with what the receiver answered.',
  tags: ['Webhooks'],
  security: merchantSecurity,
  params: IdParams,
  querystring: Type.Object(
    {
      ...PageQuery,
      eventId: idFilter('an event'),
      result: Type.Optional(Type.String({ enum: ['delivered', 'failed', 'given_up'] })),
    },
    { additionalProperties: false },
  ),
  response: {
    200: PageJson(DeliveryJson),
    ...problems,
  },
};

export const listDeliveriesRoute: FastifyPluginAsyncTypebox<WebhookRouteDeps> = async (app, deps) => {
  app.get('/v1/webhook-endpoints/:id/deliveries', { schema }, async (request) => {
    const { query } = request;
    const page = pageOf(query);
    const deliveries = await listDeliveries(deps, callerOf(deps, request).owner, endpointIdOf(request), {
      ...page,
      limit: page.limit + 1,
      eventId: query.eventId ?? null,
      result: query.result ?? null,
    });
    return pageJson(deliveries.map(deliveryJson), page.limit);
  });
};
