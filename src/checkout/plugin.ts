import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify';
import { takeNoBody } from '../platform/bodies.ts';
import type { CheckoutDeps, MerchantCaller } from './deps.ts';
import { refuse } from './errors.ts';
import { createRequestRates, type RequestRates } from './request-rates.ts';
import { cancelPaymentRoute } from './routes/cancel-payment.ts';
import { capturePaymentRoute } from './routes/capture-payment.ts';
import { createPaymentRoute } from './routes/create-payment.ts';
import { createRefundRoute } from './routes/create-refund.ts';
import { listEventsRoute } from './routes/list-events.ts';
import { listPaymentsRoute } from './routes/list-payments.ts';
import { listRefundsRoute } from './routes/list-refunds.ts';
import { payRoutes } from './routes/pay.ts';
import { readBalanceRoute } from './routes/read-balance.ts';
import { readEventRoute } from './routes/read-event.ts';
import { readPaymentRoute } from './routes/read-payment.ts';
import { readRefundRoute } from './routes/read-refund.ts';
import type { Merchant } from './store/merchants.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The merchant whose program is calling; set before anything else is looked at. */
    merchant: Merchant;
  }
}

export type CheckoutPluginOptions = {
  deps: CheckoutDeps;
  /** Calls of another area for the same callers: they come to it authenticated, with `request.merchant` set. */
  webhookRoutes: (api: FastifyInstance) => Promise<void>;
};

/** What merchants' servers call, and the page their customers pay on, below `CHECKOUT_BASE_URL`. */
export const checkout: FastifyPluginAsync<CheckoutPluginOptions> = async (app, { deps, webhookRoutes }) => {
  await app.register(payRoutes, deps);
  await app.register(async (api) => {
    api.decorateRequest('merchant', null as unknown as Merchant);
    // One for all scopes: the rate is the merchant's.
    const rates = createRequestRates();

    await api.register(async (payments) => {
      authenticate(payments, deps, rates, 'payments');
      await payments.register(createPaymentRoute, deps);
      await payments.register(capturePaymentRoute, deps);
      await payments.register(listPaymentsRoute, deps);
      await payments.register(readBalanceRoute, deps);
      await payments.register(async (reads) => {
        takeNoBody(reads);
        await reads.register(readPaymentRoute, deps);
        await reads.register(cancelPaymentRoute, deps);
      });
    });

    await api.register(async (refunds) => {
      authenticate(refunds, deps, rates, 'refunds');
      await refunds.register(createRefundRoute, deps);
      await refunds.register(listRefundsRoute, deps);
      await refunds.register(async (reads) => {
        takeNoBody(reads);
        await reads.register(readRefundRoute, deps);
      });
    });

    await api.register(async (webhooks) => {
      authenticate(webhooks, deps, rates, 'webhooks');
      await webhooks.register(listEventsRoute, deps);
      await webhooks.register(readEventRoute, deps);
      await webhookRoutes(webhooks);
    });
  });
};

/** Who calls, with which scope, and how often: before the body is even read. */
function authenticate(app: FastifyInstance, deps: CheckoutDeps, rates: RequestRates, scope: string): void {
  app.addHook('onRequest', async (request) => {
    const caller = await callerOf(deps, request);
    if (!caller.scopes.includes(scope)) {
      throw refuse('scope_missing', `The scope ${scope} is needed.`, {
        headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
      });
    }
    const merchant = await deps.merchants.find(caller.merchantId);
    if (!merchant || merchant.disabledAt)
      throw refuse('credentials_invalid', undefined, { headers: challenge });
    const waitSeconds = rates.take(merchant.merchantId, merchant.requestsPerSecond);
    if (waitSeconds > 0)
      throw refuse('rate_limited', undefined, { headers: { 'retry-after': String(waitSeconds) } });
    request.merchant = merchant;
  });
}

const challenge = { 'www-authenticate': 'Bearer, Basic realm="tollgate"' };

async function callerOf(deps: CheckoutDeps, request: FastifyRequest): Promise<MerchantCaller> {
  const proof = await deps.authenticate(request.headers.authorization, request.ip);
  if (proof.ok) return proof.caller;
  if (proof.reason === 'blocked') {
    const seconds = Math.max(1, Math.ceil((proof.until.getTime() - deps.now().getTime()) / 1000));
    throw refuse('rate_limited', 'Too many failed authentications.', {
      headers: { 'retry-after': String(seconds) },
    });
  }
  throw refuse(proof.reason === 'missing' ? 'credentials_missing' : 'credentials_invalid', undefined, {
    headers: challenge,
  });
}
