import type { TestApp } from './app.ts';
import { addMerchant, call, type PaymentAnswer, type TestMerchant } from './merchant.ts';
import { addEndpoint, type EndpointAnswer, type Receiver, startReceiver } from './receiver.ts';

export type Delivery = {
  eventId: string;
  attempt: number;
  at: string;
  result: string;
  responseStatus: number | null;
  responseBody: string | null;
  detail: string | null;
  nextAttemptAt: string | null;
};

export type WebhookShop = TestMerchant & {
  receiver: Receiver;
  endpoint: EndpointAnswer;
  /** Where the endpoint is found. */
  path: string;
  send(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object): ReturnType<typeof call>;
  pay(): Promise<PaymentAnswer>;
  deliveries(query?: string): Promise<Delivery[]>;
  shown(): Promise<EndpointAnswer>;
};

/** A merchant of its own for each test, with a receiver of its own. */
export async function openWebhookShop(service: TestApp, events: string[] = ['*']): Promise<WebhookShop> {
  const merchant = await addMerchant(service);
  const { authorization } = merchant;
  const receiver = await startReceiver();
  const endpoint = await addEndpoint(service, { url: receiver.url, events }, authorization);
  const path = `/v1/webhook-endpoints/${endpoint.id}`;
  const send: WebhookShop['send'] = (method, url, body) =>
    call(service, method, url, { authorization, ...(body ? { body } : {}) });
  return {
    ...merchant,
    receiver,
    endpoint,
    path,
    send,
    pay: async () => (await send('POST', '/v1/payments', merchant.order)).json<PaymentAnswer>(),
    deliveries: async (query = '') =>
      (await send('GET', `${path}/deliveries?limit=100${query}`)).json<{ items: Delivery[] }>().items,
    shown: async () => (await send('GET', path)).json<EndpointAnswer>(),
  };
}
