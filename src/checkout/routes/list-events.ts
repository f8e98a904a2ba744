import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { merchantSecurity, problems } from '../../platform/openapi.ts';
import { idFilter, PageJson, PageQuery, pageJson, pageOf } from '../../platform/paging.ts';
import type { CheckoutDeps } from '../deps.ts';
import { listEvents } from '../store/events.ts';
import { EventJson } from './json.ts';

const schema = {
  summary: 'List events, newest first',
  description: 'What has happened to payments and refunds, as webhooks tell it. Needs the scope `webhooks`.',
  tags: ['Events'],
  security: merchantSecurity,
  querystring: Type.Object(
    {
      ...PageQuery,
      type: Type.Optional(
        Type.String({ pattern: '^[a-z]{1,20}\\.([a-z_]{1,30}|\\*)$', description: 'Such as `payment.*`' }),
      ),
      objectId: idFilter('a payment or a refund'),
    },
    { additionalProperties: false },
  ),
  response: {
    200: PageJson(EventJson),
    ...problems,
  },
};

export const listEventsRoute: FastifyPluginAsyncTypebox<CheckoutDeps> = async (app, deps) => {
  app.get('/v1/events', { schema }, async (request) => {
    const { query, merchant } = request;
    const page = pageOf(query);
    const events = await listEvents(deps.db, {
      ...page,
      limit: page.limit + 1,
      merchantId: merchant.merchantId,
      type: query.type ?? null,
      objectId: query.objectId ?? null,
    });
    const items = events.map((event) => JSON.parse(event.payload) as Type.Static<typeof EventJson>);
    return pageJson(items, page.limit);
  });
};
