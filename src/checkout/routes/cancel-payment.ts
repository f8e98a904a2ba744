import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { IdParams, merchantSecurity, problems } from '../../platform/openapi.ts';
import { uuid7Form } from '../../platform/uuid7.ts';
import { cancelPayment } from '../cancel.ts';
import type { CheckoutDeps } from '../deps.ts';
import type { PaymentId } from '../domain/payment.ts';
import { refuse } from '../errors.ts';
import { answerOnce, callOf, idempotencyKeyOf } from '../idempotency.ts';
import { KeyHeaders, PaymentJson } from './json.ts';

const schema = {
  summary: 'Cancel a payment',
  description:
    'One that waits for the customer or for a capture; money that was held is let go. Needs the header `X-Idempotency-Key`.',
  tags: ['Payments'],
  security: merchantSecurity,
  headers: KeyHeaders,
  params: IdParams,
  response: { 200: PaymentJson, ...problems },
};

export const cancelPaymentRoute: FastifyPluginAsyncTypebox<CheckoutDeps> = async (app, deps) => {
  app.post(
    '/v1/payments/:id/cancel',
    { schema, preValidation: async (request) => void idempotencyKeyOf(request) },
    async (request, reply) => {
      const { merchant, params } = request;
      const call = callOf(request, merchant.merchantId, 'cancel_payment');
      return answerOnce(deps, request, reply, call, async (former) => {
        if (!uuid7Form.test(params.id)) throw refuse('payment_not_found');
        return cancelPayment(deps, call, params.id as PaymentId, former);
      });
    },
  );
};
