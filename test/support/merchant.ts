import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { insertMerchant, insertTerminal, type Merchant } from '../../src/checkout/store/merchants.ts';
import { sql } from '../../src/platform/db.ts';
import type { TestApp } from './app.ts';
import { type Answer, type Form, formsOf } from './partner.ts';
import { addClient } from './sessions.ts';

export const demoMerchant = {
  merchantId: 'DEMOMERCHANT001',
  terminalId: 'DEMOTRM1',
  clientId: 'demo-merchant',
  clientSecret: 'demo-merchant-secret',
};

export function basic(clientId = demoMerchant.clientId, secret = demoMerchant.clientSecret): string {
  return `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`;
}

export const order = {
  merchantId: demoMerchant.merchantId,
  terminalId: demoMerchant.terminalId,
  amount: { value: '100.00', currency: 'AZN' },
  confirmation: { type: 'REDIRECT', returnUrl: 'http://localhost:4000/thanks' },
};

export type PaymentAnswer = {
  id: string;
  status: string;
  version: number;
  confirmation: { confirmationUrl: string };
  capturedAmount: { value: string };
  refundedAmount: { value: string };
  refundableAmount: { value: string };
  lastAttempt: { status: string; reason: string | null } | null;
  cancellationDetails: { party: string; reason: string } | null;
  paymentMethod: { type: string; card?: { brand: string; first6: string; last4: string } } | null;
  authorization: { rrn: string; authCode: string; threeDSecure: boolean } | null;
};

/** A call of a merchant's server; the key is new unless one is given, and null leaves it out. */
export function call(
  service: TestApp,
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  options: {
    body?: unknown;
    key?: string | null;
    authorization?: string | null;
    headers?: Record<string, string>;
  } = {},
): Promise<Answer> {
  const key = options.key === undefined ? randomUUID() : options.key;
  const authorization = options.authorization === undefined ? basic() : options.authorization;
  const { host, pathname } = new URL(service.config.server.urls.checkout);
  return service.app.inject({
    method,
    url: pathname.replace(/\/$/, '') + path,
    headers: {
      host,
      ...(authorization === null ? {} : { authorization }),
      ...(method === 'GET' || key === null ? {} : { 'x-idempotency-key': key }),
      ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...options.headers,
    },
    ...(options.body === undefined
      ? {}
      : { payload: typeof options.body === 'string' ? options.body : JSON.stringify(options.body) }),
  });
}

/** Why a call was refused. */
export const codeOf = (answer: Answer) => answer.json<{ code?: string }>().code;

export async function createPayment(
  service: TestApp,
  changes: object = {},
  key?: string,
): Promise<PaymentAnswer> {
  const answer = await call(service, 'POST', '/v1/payments', {
    body: { ...order, ...changes },
    ...(key ? { key } : {}),
  });
  if (answer.statusCode !== 200) throw new Error(`no payment but ${answer.statusCode}: ${answer.body}`);
  return answer.json<PaymentAnswer>();
}

export async function readPayment(service: TestApp, id: string): Promise<PaymentAnswer> {
  return (await call(service, 'GET', `/v1/payments/${id}`)).json<PaymentAnswer>();
}

export const cards = {
  approved: '4242 4242 4242 4242',
  declined: '4000 0000 0000 0002',
  noFunds: '4000 0000 0000 9995',
  expired: '4000 0000 0000 0069',
  wrongCode: '4000 0000 0000 0127',
  fraud: '4100 0000 0000 0019',
  challenge: '4000 0000 0000 3220',
  challengeThenDeclined: '4000 0084 0000 1629',
  lostThenApproved: '4000 0000 0000 0119',
  lostThenNever: '4000 0000 0000 0259',
  refundRejected: '4000 0000 0000 5126',
};

/** The form of a payment page that takes a card, if there is one. */
export function cardFormOf(html: string): Form | undefined {
  return formsOf(html).find((form) => html.includes('name="number"') && 'attempts' in form.fields);
}

/** Fills in the card form of the payment page, as a browser without script would. */
export async function payByCard(
  service: TestApp,
  payment: PaymentAnswer,
  number = cards.approved,
): Promise<Answer> {
  const url = new URL(payment.confirmation.confirmationUrl);
  const page = await service.app.inject({ url: url.pathname });
  const form = cardFormOf(page.body);
  if (!form) return page;
  return postForm(service, form.action, {
    ...form.fields,
    number,
    expiry: '12/30',
    csc: '123',
    holder: 'A Customer',
  });
}

/** Where the customer's bank asks for its code, as the payment page says. */
export async function bankOf(service: TestApp, payment: PaymentAnswer): Promise<string> {
  const { pathname } = new URL(payment.confirmation.confirmationUrl);
  const page = await service.app.inject({ url: `${pathname}/bank` });
  const [, href] = /href="([^"]+\/sandbox\/acs\/[^"]+)"/.exec(page.body) ?? [];
  if (!href) throw new Error(`no way to the bank but ${page.statusCode}: ${page.body.slice(-900)}`);
  return href;
}

export function postForm(service: TestApp, action: string, fields: Record<string, string>): Promise<Answer> {
  return service.app.inject({
    method: 'POST',
    url: new URL(action).pathname,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams(fields).toString(),
  });
}

export async function paidPayment(service: TestApp, changes: object = {}): Promise<PaymentAnswer> {
  const payment = await createPayment(service, changes);
  await payByCard(service, payment);
  return readPayment(service, payment.id);
}

export function refund(service: TestApp, paymentId: string, value: string, key?: string): Promise<Answer> {
  const body = { paymentId, amount: { value, currency: 'AZN' } };
  return call(service, 'POST', '/v1/refunds', { body, ...(key ? { key } : {}) });
}

export type TestMerchant = { merchantId: string; authorization: string; order: typeof order };

/** Another merchant, on the given terms, with one terminal and a program of its own. */
export async function addMerchant(
  service: TestApp,
  terms: Partial<Omit<Merchant, 'terminals' | 'disabledAt'>> & { scopes?: string[] } = {},
): Promise<TestMerchant> {
  const { scopes = ['payments', 'refunds', 'webhooks'], ...given } = terms;
  const merchantId = given.merchantId ?? `M${randomBytes(6).toString('hex')}`;
  const at = service.clock.now();
  const secret = randomBytes(24).toString('base64url');
  await insertMerchant(
    service.db,
    {
      merchantId,
      name: 'Another Shop',
      returnUrlOrigins: ['http://localhost:4000'],
      feeBasisPoints: 0,
      feeFixed: 0n,
      balanceFloor: 0n,
      requestsPerSecond: 1_000_000,
      ...given,
    },
    at,
  );
  const terminalId = 'OTHERTRM';
  await insertTerminal(service.db, { merchantId, terminalId, currencies: ['AZN', 'JPY', 'KWD'] }, at);
  const clientId = await addClient(service.db, {
    grantTypes: ['client_credentials'],
    scopes,
    redirectUris: [],
    secretHash: createHash('sha256').update(secret).digest(),
    merchantId,
  });
  return { merchantId, authorization: basic(clientId, secret), order: { ...order, merchantId, terminalId } };
}

/** Races send more than a merchant may in a second. To be called before the first request. */
export async function liftRequestRate(service: TestApp): Promise<void> {
  await service.db.run(sql`update checkout.merchants set requests_per_second = 1000000`);
}
