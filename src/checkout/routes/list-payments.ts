import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { merchantSecurity, problems, textJson } from '../../platform/openapi.ts';
import { PageJson, PageQuery, pageJson, pageOf } from '../../platform/paging.ts';
import type { CheckoutDeps } from '../deps.ts';
import type { PaymentId } from '../domain/payment.ts';
import { paymentJson } from '../present.ts';
import { listPayments } from '../store/payments.ts';
import { PaymentJson } from './json.ts';

const schema = {
  summary: 'List payments, newest first',
  tags: ['Payments'],
  security: merchantSecurity,
  querystring: Type.Object(
    {
      ...PageQuery,
      status: Type.Optional(
        Type.String({ enum: ['pending', 'waiting_for_capture', 'succeeded', 'canceled'] }),
      ),
      merchantOrderId: Type.Optional(textJson({ maxLength: 64 })),
    },
    { additionalProperties: false },
  ),
  response: {
    200: PageJson(PaymentJson),
    ...problems,
  },
};

export const listPaymentsRoute: FastifyPluginAsyncTypebox<CheckoutDeps> = async (app, deps) => {
  app.get('/v1/payments', { schema }, async (request) => {
    const { query, merchant } = request;
    const page = pageOf(query);
    const payments = await listPayments(deps.db, {
      ...page,
      before: page.before as PaymentId | null,
      limit: page.limit + 1,
      merchantId: merchant.merchantId,
      status: query.status ?? null,
      merchantOrderId: query.merchantOrderId ?? null,
    });
    return pageJson(
      payments.map((payment) => paymentJson(deps, payment)),
      page.limit,
    );
  });
};
