import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { merchantSecurity, problems, textJson } from '../../platform/openapi.ts';
import { idFilter, PageJson, PageQuery, pageJson, pageOf } from '../../platform/paging.ts';
import type { CheckoutDeps } from '../deps.ts';
import type { PaymentId } from '../domain/payment.ts';
import type { RefundId } from '../domain/refund.ts';
import { refundJson } from '../present.ts';
import { listRefunds } from '../store/refunds.ts';
import { RefundJson } from './json.ts';

const schema = {
  summary: 'List refunds, newest first',
  tags: ['Refunds'],
  security: merchantSecurity,
  querystring: Type.Object(
    {
      ...PageQuery,
      status: Type.Optional(Type.String({ enum: ['pending', 'succeeded', 'canceled'] })),
      merchantOrderId: Type.Optional(textJson({ maxLength: 64 })),
      paymentId: idFilter('a payment'),
    },
    { additionalProperties: false },
  ),
  response: {
    200: PageJson(RefundJson),
    ...problems,
  },
};

export const listRefundsRoute: FastifyPluginAsyncTypebox<CheckoutDeps> = async (app, deps) => {
  app.get('/v1/refunds', { schema }, async (request) => {
    const { query, merchant } = request;
    const page = pageOf(query);
    const refunds = await listRefunds(deps.db, {
      ...page,
      before: page.before as RefundId | null,
      limit: page.limit + 1,
      merchantId: merchant.merchantId,
      status: query.status ?? null,
      paymentId: (query.paymentId as PaymentId | undefined) ?? null,
      merchantOrderId: query.merchantOrderId ?? null,
    });
    return pageJson(refunds.map(refundJson), page.limit);
  });
};
