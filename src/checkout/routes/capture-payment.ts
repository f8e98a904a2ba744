import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import {
  bodyMayBeLeftOut,
  IdParams,
  leftOutIsEmpty,
  merchantSecurity,
  problems,
} from '../../platform/openapi.ts';
import { uuid7Form } from '../../platform/uuid7.ts';
import { capturePayment } from '../capture.ts';
import type { CheckoutDeps } from '../deps.ts';
import type { PaymentId } from '../domain/payment.ts';
import { refuse } from '../errors.ts';
import { answerOnce, callOf, idempotencyKeyOf } from '../idempotency.ts';
import { partOf } from './amounts.ts';
import { KeyHeaders, MoneyJson, PaymentJson } from './json.ts';

const schema = {
  summary: 'Capture an authorised payment',
  description:
    'All of it, also without a body, or a smaller `amount`; the rest is let go. Needs the header `X-Idempotency-Key`.',
  tags: ['Payments'],
  security: merchantSecurity,
  ...bodyMayBeLeftOut,
  headers: KeyHeaders,
  params: IdParams,
  body: Type.Object({ amount: Type.Optional(MoneyJson) }, { additionalProperties: false }),
  response: { 200: PaymentJson, ...problems },
};

export const capturePaymentRoute: FastifyPluginAsyncTypebox<CheckoutDeps> = async (app, deps) => {
  app.post(
    '/v1/payments/:id/capture',
    {
      schema,
      async preValidation(request) {
        idempotencyKeyOf(request);
        await leftOutIsEmpty(request);
      },
    },
    async (request, reply) => {
      const { merchant, params, body } = request;
      const call = callOf(request, merchant.merchantId, 'capture_payment');
      return answerOnce(deps, request, reply, call, async (former) => {
        if (!uuid7Form.test(params.id)) throw refuse('payment_not_found');
        const wish = { id: params.id as PaymentId, amount: body.amount && partOf(body.amount) };
        return capturePayment(deps, merchant, call, wish, former);
      });
    },
  );
};
