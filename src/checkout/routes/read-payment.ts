import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { IdParams, merchantSecurity, problems } from '../../platform/openapi.ts';
import { uuid7Form } from '../../platform/uuid7.ts';
import { currentPayment } from '../cancel.ts';
import type { CheckoutDeps } from '../deps.ts';
import type { PaymentId } from '../domain/payment.ts';
import { refuse } from '../errors.ts';
import { idempotencyKeyOf } from '../idempotency.ts';
import { paymentJson } from '../present.ts';
import { KeyHeaders, PaymentJson } from './json.ts';

const schema = {
  tags: ['Payments'],
  security: merchantSecurity,
  params: IdParams,
  response: { 200: PaymentJson, ...problems },
};

/** A read is never replayed: whoever polls with one key must see the change. */
export const readPaymentRoute: FastifyPluginAsyncTypebox<CheckoutDeps> = async (app, deps) => {
  const read = async (merchantId: string, id: string) => {
    const payment = uuid7Form.test(id) ? await currentPayment(deps, merchantId, id as PaymentId) : undefined;
    if (!payment) throw refuse('payment_not_found');
    return paymentJson(deps, payment);
  };
  app.post(
    '/v1/payments/:id',
    {
      schema: {
        ...schema,
        headers: KeyHeaders,
        summary: 'Read a payment',
        description: 'Needs the header `X-Idempotency-Key`, but is never replayed.',
      },
      preValidation: async (request) => void idempotencyKeyOf(request),
    },
    async (request) => read(request.merchant.merchantId, request.params.id),
  );
  app.get('/v1/payments/:id', { schema: { ...schema, summary: 'Read a payment' } }, async (request) =>
    read(request.merchant.merchantId, request.params.id),
  );
};
