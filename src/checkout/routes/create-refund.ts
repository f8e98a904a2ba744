import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { merchantSecurity, problems, textJson } from '../../platform/openapi.ts';
import { uuid7Form } from '../../platform/uuid7.ts';
import type { CheckoutDeps } from '../deps.ts';
import type { PaymentId } from '../domain/payment.ts';
import { refuse } from '../errors.ts';
import { answerOnce, callOf, idempotencyKeyOf } from '../idempotency.ts';
import { createRefund } from '../refund.ts';
import { partOf } from './amounts.ts';
import { KeyHeaders, MetadataJson, MoneyJson, RefundJson } from './json.ts';

const schema = {
  summary: 'Refund a payment',
  description:
    'All of it or a part, as often as something is left. `503 outcome_unknown` means that the acquirer has not answered: send the same request again. Needs the header `X-Idempotency-Key`.',
  tags: ['Refunds'],
  security: merchantSecurity,
  headers: KeyHeaders,
  body: Type.Object(
    {
      paymentId: Type.String({ maxLength: 64 }),
      amount: MoneyJson,
      reason: Type.Optional(textJson({ maxLength: 128 })),
      description: Type.Optional(textJson({ maxLength: 128 })),
      metadata: Type.Optional(MetadataJson),
    },
    {
      additionalProperties: false,
      examples: [
        { paymentId: '019a8a3e-6b5c-7d10-8c2a-1f2e3d4c5b6a', amount: { value: '40.00', currency: 'AZN' } },
      ],
    },
  ),
  response: { 200: RefundJson, ...problems },
};

export const createRefundRoute: FastifyPluginAsyncTypebox<CheckoutDeps> = async (app, deps) => {
  app.post(
    '/v1/refunds',
    { schema, preValidation: async (request) => void idempotencyKeyOf(request) },
    async (request, reply) => {
      const { merchant, body } = request;
      const call = callOf(request, merchant.merchantId, 'create_refund');
      return answerOnce(deps, request, reply, call, async (former, begins) => {
        if (!uuid7Form.test(body.paymentId)) throw refuse('payment_not_found');
        const wish = {
          paymentId: body.paymentId as PaymentId,
          amount: partOf(body.amount),
          reason: body.reason ?? null,
          description: body.description ?? null,
          metadata: body.metadata ?? {},
        };
        return createRefund(deps, merchant, call, wish, former, begins);
      });
    },
  );
};
