import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { IdParams, merchantSecurity, problems } from '../../platform/openapi.ts';
import { uuid7Form } from '../../platform/uuid7.ts';
import type { CheckoutDeps } from '../deps.ts';
import { refuse } from '../errors.ts';
import { findEventPayload } from '../store/events.ts';
import { EventJson } from './json.ts';

const schema = {
  summary: 'Read an event',
  description: 'The body is, byte for byte, what webhooks deliver. Needs the scope `webhooks`.',
  tags: ['Events'],
  security: merchantSecurity,
  params: IdParams,
  response: { 200: EventJson, ...problems },
};

export const readEventRoute: FastifyPluginAsyncTypebox<CheckoutDeps> = async (app, deps) => {
  app.get('/v1/events/:id', { schema }, async (request, reply) => {
    const { id } = request.params;
    const { merchantId } = request.merchant;
    const payload = uuid7Form.test(id) ? await findEventPayload(deps.db, merchantId, id) : undefined;
    if (payload === undefined) throw refuse('event_not_found');
    return reply
      .type('application/json; charset=utf-8')
      .serializer((text: string) => text)
      .send(payload);
  });
};
