import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createUser } from '../src/identity/users.ts';
import type { TestApp } from '../test/support/app.ts';
import {
  basic,
  call,
  cards,
  createPayment,
  demoMerchant,
  payByCard,
  refund,
} from '../test/support/merchant.ts';
import { bearer, credentials, demo, tokenCall, Visitor } from '../test/support/partner.ts';
import { obtainCode, obtainTokens } from '../test/support/registered.ts';
import type { Known } from './arbitrary.ts';
import { isObject } from './break.ts';
import type { Operation } from './document.ts';
import type { Answer } from './request.ts';

const phones = Array.from({ length: 900 }, (_, at) => `+9945022${String(10_000 + at)}`);

/** What the service has to be started with: people enough to log in all the time. */
export const worldEnv = {
  LOG_LEVEL: 'info',
  TEST_PHONES: [demo.phone, ...phones].join(','),
  SMS_BLOCK_HOURLY: '1000000',
  SMS_CLIENT_HOURLY: '1000000',
};

/** No name is looked up outside: each leads to this machine. */
export const worldReplacements = { resolve: async () => ['127.0.0.1'] };

/** What exists in the service: ids, tokens and codes that are good, so that requests get past the first check. */
export type World = Awaited<ReturnType<typeof createWorld>>;

const mostKept = 40;

export async function createWorld(service: TestApp) {
  const receiver = createServer((_request, response) => response.end('taken')).listen(0, '127.0.0.1');
  await new Promise((resolve) => receiver.once('listening', resolve));
  const receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`;

  const ids: Record<'payments' | 'refunds' | 'events' | 'webhook-endpoints', string[]> = {
    payments: [],
    refunds: [],
    events: [],
    'webhook-endpoints': [],
  };
  const cursors: string[] = [];
  let people: string[] = [];
  let merchantToken = '';
  let forms: Record<string, string>[] = [];
  let aboutTokens: Record<string, string>[] = [];
  let authorizations: Record<string, string>[] = [];
  let nextPerson = 0;

  /** New tokens, codes and payments in every state, since the requests before have used up the old ones. */
  async function refresh() {
    const person = { phone: phones[nextPerson++ % phones.length] ?? demo.phone, code: demo.code };
    if (nextPerson <= phones.length) {
      await createUser(service.areas.identity.users, { phone: person.phone, profile: {}, actor: 'fuzz' });
    }
    const visitor = new Visitor(service);
    const tokens = await obtainTokens(service, { visitor, person });
    const other = await obtainTokens(service, { visitor });
    const { code, pkce } = await obtainCode(service, { visitor });
    const merchantForm = {
      grant_type: 'client_credentials',
      client_id: demoMerchant.clientId,
      client_secret: demoMerchant.clientSecret,
    };
    merchantToken = (await tokenCall(service, merchantForm)).json<{ access_token: string }>().access_token;
    people = [tokens.access_token, other.access_token];
    forms = [
      merchantForm,
      { ...credentials, grant_type: 'refresh_token', refresh_token: tokens.refresh_token },
      {
        ...credentials,
        grant_type: 'authorization_code',
        code,
        redirect_uri: demo.redirectUri,
        code_verifier: pkce.verifier,
      },
    ];
    aboutTokens = [other.access_token, other.refresh_token, tokens.id_token, 'unknown'].map((token) => ({
      ...credentials,
      token,
    }));
    authorizations = [
      {
        response_type: 'code',
        client_id: demo.clientId,
        scope: 'openid profile phone',
        state: 'state-1',
        redirect_uri: demo.redirectUri,
        code_challenge: pkce.challenge,
        code_challenge_method: 'S256',
      },
    ];
    const paid = await createPayment(service);
    await payByCard(service, paid);
    const held = await createPayment(service, { capture: false });
    await payByCard(service, held);
    const declined = await createPayment(service);
    await payByCard(service, declined, cards.declined);
    const made = (await refund(service, paid.id, '1.00')).json<{ id: string }>();
    for (const { id } of [paid, held, declined]) keep(ids.payments, id);
    keep(ids.refunds, made.id);
    const events = (await call(service, 'GET', '/v1/events')).json<{ items: { id: string }[] }>();
    for (const { id } of events.items.slice(0, 5)) keep(ids.events, id);
    const endpoint = await call(service, 'POST', '/v1/webhook-endpoints', { body: { url: receiverUrl } });
    if (endpoint.statusCode === 201) keep(ids['webhook-endpoints'], endpoint.json<{ id: string }>().id);
  }

  function keep(pool: string[], id: string) {
    if (!pool.includes(id)) pool.push(id);
    if (pool.length > mostKept) pool.shift();
  }

  function known(operation: Operation): Known {
    const [, collection = ''] = /\/v1\/([a-z-]+)/.exec(operation.path) ?? [];
    const whole = wholeParts(operation);
    const fields: Record<string, readonly unknown[]> = {
      id: ids[collection as keyof typeof ids] ?? [],
      paymentId: ids.payments,
      objectId: [...ids.payments, ...ids.refunds],
      eventId: ids.events,
      cursor: cursors,
      merchantId: [demoMerchant.merchantId],
      terminalId: [demoMerchant.terminalId],
      currency: ['AZN'],
      value: ['1.00', '0.01', '2.50', '100.00'],
      returnUrl: ['http://localhost:4000/thanks', 'http://localhost:4000/a?b=c#d'],
      url: [receiverUrl],
      events: [['*'], ['payment.*', 'refund.succeeded']],
      type: ['payment.*', 'refund.succeeded'],
      ...whole,
    };
    return (name) => fields[name] ?? [];
  }

  /** Where only certain fields go together, the whole of them is known. */
  function wholeParts(operation: Operation): Record<string, readonly unknown[]> {
    if (operation.caller === 'client') return { body: /\/token$/.test(operation.path) ? forms : aboutTokens };
    if (/ssoValidateUser/.test(operation.path)) return { query: authorizations };
    return {};
  }

  return {
    refresh,
    known,
    /** The good ways to say who is calling. */
    authorizations({ caller }: Operation): string[] {
      if (caller === 'merchant') return [basic(), `Bearer ${merchantToken}`];
      return caller === 'person' ? people.map((token) => String(bearer(token).authorization)) : [];
    },
    /** What an answer tells of new objects is used in later requests. */
    learn({ path }: Operation, answer: Answer) {
      if (answer.status >= 300 || answer.type !== 'application/json') return;
      const [, collection = ''] = /\/v1\/([a-z-]+)$/.exec(path) ?? [];
      const pool = ids[collection as keyof typeof ids];
      const body: unknown = JSON.parse(answer.body);
      if (!isObject(body) || !pool) return;
      if (typeof body.id === 'string') keep(pool, body.id);
      if (typeof body.nextCursor === 'string') keep(cursors, body.nextCursor);
    },
    /** What no refusal and no line of the log may ever hold. */
    secrets(): string[] {
      const inForms = [...forms, ...aboutTokens].flatMap(
        ({ client_secret, code, code_verifier, refresh_token }) =>
          [client_secret, code, code_verifier, refresh_token].filter((value) => value !== undefined),
      );
      return [...people, merchantToken, ...inForms, basic().slice('Basic '.length)];
    },
    close: () => receiver.close(),
  };
}
