import { randomUUID } from 'node:crypto';
import { type Exchange, recordedFetch } from './recorded-fetch.ts';

export type MerchantOptions = {
  checkoutUrl: string;
  baseUrl: string;
  merchantId: string;
  terminalId: string;
  clientId: string;
  clientSecret: string;
};

export type Payment = {
  id: string;
  status: string;
  amount: { value: string; currency: string };
  refundedAmount: { value: string; currency: string };
  refundableAmount: { value: string; currency: string };
  refundable: boolean;
  confirmation: { confirmationUrl: string };
};

/** What the service refused, as it said it. */
export class Refused extends Error {
  readonly answer: unknown;

  constructor(status: number, answer: unknown) {
    super(`the checkout answered ${status}`);
    this.answer = answer;
  }
}

/** The shop as a merchant: plain `fetch`, HTTP Basic, and a key for everything that must not happen twice. */
export function createMerchant(options: MerchantOptions) {
  const credentials = Buffer.from(`${options.clientId}:${options.clientSecret}`).toString('base64');

  async function call<Result>(
    method: string,
    path: string,
    given: { body?: object; key?: string; record?: (exchange: Exchange) => void } = {},
  ): Promise<Result> {
    const response = await recordedFetch(given.record ?? (() => {}), `${options.checkoutUrl}${path}`, {
      method,
      headers: {
        authorization: `Basic ${credentials}`,
        ...(given.key ? { 'x-idempotency-key': given.key } : {}),
        ...(given.body ? { 'content-type': 'application/json' } : {}),
      },
      ...(given.body ? { body: JSON.stringify(given.body) } : {}),
    });
    const answer = response.status === 204 ? undefined : await response.json();
    if (!response.ok) throw new Refused(response.status, answer);
    return answer as Result;
  }

  const order = (product: { name: string; price: string }) => ({
    merchantId: options.merchantId,
    terminalId: options.terminalId,
    amount: { value: product.price, currency: 'AZN' },
    description: product.name,
    confirmation: { type: 'REDIRECT', returnUrl: `${options.baseUrl}/demo/orders` },
  });

  return {
    call,
    order,
    createPayment: (product: { name: string; price: string }, key: string = randomUUID()) =>
      call<Payment>('POST', '/v1/payments', { body: order(product), key }),
    readPayment: (id: string) => call<Payment>('GET', `/v1/payments/${encodeURIComponent(id)}`),
    refund: (paymentId: string, value: string, record?: (exchange: Exchange) => void) =>
      call<{ status: string }>('POST', '/v1/refunds', {
        body: { paymentId, amount: { value, currency: 'AZN' } },
        key: randomUUID(),
        ...(record ? { record } : {}),
      }),
  };
}

export type Merchant = ReturnType<typeof createMerchant>;
