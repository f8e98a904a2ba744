import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { merchantSecurity, problems } from '../../platform/openapi.ts';
import type { CheckoutDeps } from '../deps.ts';
import { formatMoney } from '../domain/money.ts';
import { listBalances } from '../store/ledger.ts';

const schema = {
  summary: 'Read the balance',
  description: '`onHold` is on its way back to customers.',
  tags: ['Payments'],
  security: merchantSecurity,
  response: {
    200: Type.Object({
      balances: Type.Array(
        Type.Object({ currency: Type.String(), available: Type.String(), onHold: Type.String() }),
      ),
    }),
    ...problems,
  },
};

export const readBalanceRoute: FastifyPluginAsyncTypebox<CheckoutDeps> = async (app, deps) => {
  app.get('/v1/balance', { schema }, async (request) => ({
    balances: (await listBalances(deps.db, request.merchant.merchantId)).map(
      ({ currency, available, onHold }) => ({
        currency,
        available: formatMoney({ minor: available, currency }),
        onHold: formatMoney({ minor: onHold, currency }),
      }),
    ),
  }));
};
