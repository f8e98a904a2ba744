import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { IdParams, merchantSecurity, problems } from '../../platform/openapi.ts';
import { uuid7Form } from '../../platform/uuid7.ts';
import type { CheckoutDeps } from '../deps.ts';
import type { RefundId } from '../domain/refund.ts';
import { refuse } from '../errors.ts';
import { idempotencyKeyOf } from '../idempotency.ts';
import { refundJson } from '../present.ts';
import { findRefund } from '../store/refunds.ts';
import { KeyHeaders, RefundJson } from './json.ts';

const schema = {
  tags: ['Refunds'],
  security: merchantSecurity,
  params: IdParams,
  response: { 200: RefundJson, ...problems },
};

export const readRefundRoute: FastifyPluginAsyncTypebox<CheckoutDeps> = async (app, deps) => {
  const read = async (merchantId: string, id: string) => {
    const refund = uuid7Form.test(id) ? await findRefund(deps.db, merchantId, id as RefundId) : undefined;
    if (!refund) throw refuse('refund_not_found');
    return refundJson(refund);
  };
  app.post(
    '/v1/refunds/:id',
    {
      schema: {
        ...schema,
        headers: KeyHeaders,
        summary: 'Read a refund',
        description: 'Needs the header `X-Idempotency-Key`, but is never replayed.',
      },
      preValidation: async (request) => void idempotencyKeyOf(request),
    },
    async (request) => read(request.merchant.merchantId, request.params.id),
  );
  app.get('/v1/refunds/:id', { schema: { ...schema, summary: 'Read a refund' } }, async (request) =>
    read(request.merchant.merchantId, request.params.id),
  );
};
