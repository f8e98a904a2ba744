import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createUser } from '../src/identity/users.ts';
import type { TestApp } from '../test/support/app.ts';
import { patience } from '../test/support/database.ts';
import {
  bankOf,
  basic,
  call,
  cards,
  createPayment,
  demoMerchant,
  payByCard,
  refund,
} from '../test/support/merchant.ts';
import {
  authorizeUrl,
  credentials,
  demo,
  formsOf,
  type Pkce,
  tokenCall,
  Visitor,
} from '../test/support/partner.ts';
import { obtainCode, obtainTokens } from '../test/support/registered.ts';
import type { Known } from './arbitrary.ts';
import { isObject } from './break.ts';
import type { Operation } from './document.ts';
import type { Answer, Identity } from './request.ts';

const phones = Array.from({ length: 9000 }, (_, at) => `+9945022${String(10_000 + at)}`);

/** What the service has to be started with: people enough to log in all the time. */
export const worldEnv = {
  LOG_LEVEL: 'info',
  TEST_PHONES: [demo.phone, ...phones].join(','),
  SMS_BLOCK_HOURLY: '1000000',
  SMS_CLIENT_HOURLY: '1000000',
};

/** No name is looked up outside: each leads to this machine. More is sent at once than any caller would send. */
export const worldReplacements = {
  resolve: async () => ['127.0.0.1'],
  limits: { ...patience, lock_timeout: 60_000 },
};

/** What exists in the service: ids, tokens and codes that are good, so that requests get past the first check. */
export type World = Awaited<ReturnType<typeof createWorld>>;

/** Where the demo merchant may have people sent back to, and what only looks like it. */
export const shopOrigin = 'http://localhost:4000';
const elsewhere = [`${shopOrigin}@evil.example/`, `${shopOrigin}.evil.example/`];

const mostKept = 20;
/** A number that no page shows by itself, so that it is seen where it is shown again. */
const typedCard = '5105105105105100';

export async function createWorld(service: TestApp) {
  const receiver = createServer((_request, response) => response.end('taken')).listen(0, '127.0.0.1');
  await new Promise((resolve) => receiver.once('listening', resolve));
  const receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`;

  const ids: Record<'payments' | 'paid' | 'held' | 'refunds' | 'events' | 'webhook-endpoints', string[]> = {
    payments: [],
    paid: [],
    held: [],
    refunds: [],
    events: [],
    'webhook-endpoints': [],
  };
  const cursors: string[] = [];
  const payTokens: string[] = [];
  let bankToken = '';
  let cookie = '';
  let flows: Record<string, string>[] = [];
  let people: string[] = [];
  let merchantToken = '';
  let forms: Record<string, string>[] = [];
  let aboutTokens: Record<string, string>[] = [];
  let authorizations: Record<string, string>[] = [];
  let logouts: Record<string, string>[] = [];
  let nextPerson = 0;

  /** New tokens, codes and payments in every state, since the requests before have used up the old ones. */
  async function refresh() {
    const visitor = new Visitor(service);
    const tokens = await obtainTokens(service, { visitor, person: await newPerson() });
    const other = await obtainTokens(service, { person: await newPerson() });
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
    logouts = [{}, { client_id: demo.clientId, state: 's' }, { id_token_hint: tokens.id_token }];
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
    for (let many = 0; many < 3; many++) {
      keep(ids.paid, await pay(cards.approved));
      keep(ids.held, await pay(cards.approved, { capture: false }));
    }
    await pay(cards.declined);
    await pay(cards.challenge);
    for (let open = 0; open < 4; open++) {
      keep(payTokens, lastPartOf((await createPayment(service)).confirmation.confirmationUrl));
    }
    await beginLogin(pkce);
    const made = (await refund(service, ids.paid.at(-1) ?? '', '1.00')).json<{ id: string }>();
    keep(ids.refunds, made.id);
    const events = (await call(service, 'GET', '/v1/events')).json<{ items: { id: string }[] }>();
    for (const { id } of events.items.slice(0, 5)) keep(ids.events, id);
    const endpoint = await call(service, 'POST', '/v1/webhook-endpoints', { body: { url: receiverUrl } });
    if (endpoint.statusCode === 201) keep(ids['webhook-endpoints'], endpoint.json<{ id: string }>().id);
  }

  async function pay(card: string, changes: object = {}): Promise<string> {
    const payment = await createPayment(service, changes);
    await payByCard(service, payment, card);
    keep(ids.payments, payment.id);
    keep(payTokens, lastPartOf(payment.confirmation.confirmationUrl));
    if (card === cards.challenge) bankToken = lastPartOf(await bankOf(service, payment));
    return payment.id;
  }

  /** As far as the page that asks for the code. */
  async function beginLogin(pkce: Pkce) {
    const visitor = new Visitor(service);
    const first = await visitor.get(authorizeUrl(service, pkce));
    const { phone } = await newPerson();
    const second = await visitor.follow(await visitor.submit(first, '/auth/login', { phone }));
    flows = [first, second].flatMap(({ body }) => formsOf(body).map(({ fields }) => fields));
    cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  async function newPerson() {
    const phone = phones[nextPerson++];
    if (phone === undefined) throw new Error('there are no more people: run it for fewer minutes');
    await createUser(service.areas.identity.users, { phone, profile: {}, actor: 'fuzz' });
    return { phone, code: demo.code };
  }

  function keep(pool: string[], id: string) {
    if (!pool.includes(id)) pool.push(id);
    if (pool.length > mostKept) pool.shift();
  }

  function known(operation: Operation): Known {
    const [, collection = ''] = /\/v1\/([a-z-]+)/.exec(operation.path) ?? [];
    const whole = wholeParts(operation);
    const fields: Record<string, readonly unknown[]> = {
      id: operation.path.endsWith('/capture') ? ids.held : (ids[collection as keyof typeof ids] ?? []),
      paymentId: ids.paid,
      objectId: [...ids.payments, ...ids.refunds],
      eventId: ids.events,
      cursor: cursors,
      merchantId: [demoMerchant.merchantId],
      terminalId: [demoMerchant.terminalId],
      currency: ['AZN'],
      // The last has not the digits of its currency, which no schema can tell.
      value: ['1.00', '0.01', '2.50', '100.00', '1.5'],
      returnUrl: [`${shopOrigin}/thanks`, `${shopOrigin}/a?b=c#d`, `${shopOrigin}/`, ...elsewhere],
      url: [receiverUrl],
      events: [['*'], ['payment.*', 'refund.succeeded']],
      type: ['payment.*', 'refund.succeeded'],
      token: operation.path.includes('/acs/') ? [bankToken] : payTokens,
      attempts: ['0', '1'],
      number: [cards.approved, cards.declined, cards.challenge, typedCard],
      expiry: ['12/30', '1/2031'],
      csc: ['123'],
      holder: ['A Customer'],
      flow: flows.map(({ flow }) => flow),
      csrf: flows.map(({ csrf }) => csrf),
      phone: ['+994501234567', '050 123 45 67', '٠٥٠١٢٣٤٥٦٧'],
      code: ['111111', '000000', '1234'],
      ...whole,
    };
    return (name) => fields[name] ?? [];
  }

  /** Where only certain fields go together, the whole of them is known. */
  function wholeParts(operation: Operation): Record<string, readonly unknown[]> {
    if (operation.caller === 'client') return { body: /\/token$/.test(operation.path) ? forms : aboutTokens };
    if (operation.path.endsWith('/ssoValidateUser')) return { query: authorizations };
    if (operation.path.endsWith('/auth/logout')) return { query: logouts };
    return {};
  }

  return {
    refresh,
    known,
    /** The good ways to say who is calling. */
    identities({ caller }: Operation): Identity[] {
      const authorized = (value: string): Identity => ['authorization', value];
      if (caller === 'merchant') return [basic(), `Bearer ${merchantToken}`].map(authorized);
      if (caller === 'person') return people.map((token) => authorized(`Bearer ${token}`));
      return caller === 'browser' && cookie ? [['cookie', cookie]] : [];
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
      return [...people, merchantToken, ...inForms, basic().slice('Basic '.length), typedCard];
    },
    close: () => receiver.close(),
  };
}

function lastPartOf(url: string): string {
  return new URL(url).pathname.split('/').at(-1) ?? '';
}
