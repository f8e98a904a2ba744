/** Our own server, built and started as in production, and the work it is given. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { packageRoot } from '../src/package.ts';
import { freePort } from '../test/support/free-port.ts';
import { formsOf } from '../test/support/partner.ts';
import { ask, Connection, formRequest, requestText } from './driver.ts';
import { loginWork } from './login.ts';
import { treeOf } from './processes.ts';
import {
  codeOf,
  idOf,
  merchantAuthorization,
  merchantCount,
  merchantId,
  ownerOf,
  partner,
  phoneOf,
  refreshTokenOf,
  returnUrl,
  terminalId,
  verifier,
} from './setup.ts';
import type { Supply } from './supply.ts';
import { type Contestant, connectionCount, takeFrom, type Work } from './works.ts';

export type Server = { port: number; pids: () => number[]; stop(): Promise<void> };

const json = 'application/json';
const credentials = { client_id: partner.clientId, client_secret: partner.clientSecret };
const tokenPath = '/api/v2/openid-connect/token';

/** People whose number logs in with the fixed code: one for each connection. */
const loginPeople = Array.from({ length: connectionCount }, (_, at) => at);

export async function startTollgate(
  databaseUrl: string,
  { workers = 1, nodeOptions = [] as string[] } = {},
): Promise<Server> {
  const [port, adminPort] = [await freePort(), await freePort()];
  const child = spawn(process.execPath, ['--enable-source-maps', ...nodeOptions, 'dist/main.js'], {
    cwd: new URL('.', packageRoot).pathname,
    env: {
      PATH: process.env.PATH ?? '',
      NODE_ENV: 'production',
      DATABASE_URL: databaseUrl,
      PORT: String(port),
      ADMIN_PORT: String(adminPort),
      WORKERS: String(workers),
      DRAIN_SECONDS: '0',
      TEST_PHONES: loginPeople.map(phoneOf).join(','),
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await untilReady(child, adminPort);
  return {
    port,
    pids: () => treeOf(child.pid ?? 0),
    async stop() {
      if (child.exitCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

async function untilReady(child: ChildProcess, port: number): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`);
    const ready = await fetch(`http://127.0.0.1:${port}/health/ready`).then(
      (answer) => answer.ok,
      () => false,
    );
    if (ready) return;
    await delay(50);
  }
  throw new Error('the server did not become ready');
}

/** Which of the loaded people and payments each work may use. */
export type Rows = {
  codes: Supply;
  refreshable: Supply;
  bearers: number[];
  payments: number;
  /** The refresh token that each person has now, where it is no longer the one that was loaded. */
  tokens?: Map<number, string>;
};

export async function tollgateContestant(name: string, server: Server, rows: Rows): Promise<Contestant> {
  const { port } = server;
  const connection = await Connection.open(port);
  const accessTokens: string[] = [];
  for (const at of rows.bearers) {
    const { body } = await ask(connection, refreshRequest(rows.tokens?.get(at) ?? refreshTokenOf(at)));
    const made = JSON.parse(body.toString()) as { access_token: string; refresh_token: string };
    accessTokens.push(made.access_token);
    rows.tokens?.set(at, made.refresh_token);
  }
  connection.close();
  const bearer = takeFrom(accessTokens);
  return {
    name,
    port,
    pids: server.pids,
    usesDatabase: true,
    works: {
      client_credentials: always(
        formRequest(tokenPath, { ...credentials, grant_type: 'client_credentials' }),
      ),
      'code exchange': useUp(rows.codes, (at) =>
        formRequest(tokenPath, {
          ...credentials,
          grant_type: 'authorization_code',
          code: codeOf(at),
          redirect_uri: partner.redirectUri,
          code_verifier: verifier,
        }),
      ),
      refresh: useUp(rows.refreshable, (at) => refreshRequest(refreshTokenOf(at))),
      userinfo: each(() =>
        requestText('GET /api/v1/openid-connect/userinfo', { authorization: `Bearer ${bearer()}` }),
      ),
      introspection: each(() =>
        formRequest('/api/v1/openid-connect/introspect', { ...credentials, token: bearer() }),
      ),
      'full login': loginWork,
      'create payment': createPayments(() => 1 + Math.floor(Math.random() * (merchantCount - 1))),
      'create payment, one merchant': createPayments(() => 0),
      'read payment': each(() => readRequest(1 + 2 * Math.floor((Math.random() * rows.payments) / 2))),
      'read payment, one merchant': each(() =>
        readRequest(2 * Math.floor((Math.random() * rows.payments) / 2)),
      ),
      'list payments, none new': each(() => listRequest(`createdFrom=${anHourAhead}`)),
      'list payments, a deep page': each(() =>
        listRequest(`cursor=${cursorOf(2 * Math.floor(((1 + Math.random()) * rows.payments) / 4))}`),
      ),
      refund: refunds(),
    },
  };
}

function always(request: string): Work {
  return each(() => request);
}

function each(request: () => string): Work {
  return {
    async step(connection) {
      await ask(connection, request());
      return true;
    },
  };
}

/** A code and a token serve once, so each request is for another person. */
function useUp(people: Supply, request: (at: number) => string): Work {
  return {
    prepare: () => people.refill(),
    async step(connection) {
      const person = people.take();
      if (person === undefined) return false;
      await ask(connection, request(person));
      return true;
    },
  };
}

export function refreshRequest(token: string): string {
  return formRequest(tokenPath, { ...credentials, grant_type: 'refresh_token', refresh_token: token });
}

/** A key that no request had before. */
let keys = 0;
const keyPrefix = `bench-${process.pid}-`;

function createPayments(merchant: () => number): Work {
  const requests = Array.from({ length: merchantCount }, (_, at) => createRequest(at, '100.00'));
  return each(() => requests[merchant()]?.(`${keyPrefix}${keys++}`) ?? '');
}

function createRequest(merchant: number, value: string): (key: string) => string {
  const text = JSON.stringify({
    merchantId: merchantId(merchant),
    terminalId,
    amount: { value, currency: 'AZN' },
    confirmation: { type: 'REDIRECT', returnUrl },
  });
  return keyed('POST /checkout/v1/payments', merchant, text);
}

function keyed(line: string, merchant: number, text: string): (key: string) => string {
  const authorization = merchantAuthorization(merchant);
  const mark = 'KEY';
  const request = requestText(line, { authorization, 'x-idempotency-key': mark }, { type: json, text });
  const [before = '', after = ''] = request.split(mark);
  return (key) => before + key + after;
}

function readRequest(at: number): string {
  return requestText(`GET /checkout/v1/payments/${idOf('payment', at)}`, {
    authorization: merchantAuthorization(ownerOf(at)),
  });
}

/** What a shop asks that looks for new payments: most of the time there are none. */
const anHourAhead = new Date(Date.now() + 3_600_000).toISOString();

/** By the merchant who has half of everything. */
function listRequest(query: string): string {
  return requestText(`GET /checkout/v1/payments?${query}`, { authorization: merchantAuthorization(0) });
}

function cursorOf(payment: number): string {
  return Buffer.from(idOf('payment', payment)).toString('base64url');
}

/** Each connection gives back a large payment of its own, one unit at a time. */
function refunds(): Work {
  const requests: ((key: string) => string)[] = [];
  return {
    async prepare(connections) {
      for (const [at, connection] of connections.entries()) {
        requests[at] ??= await paidPayment(connection, 1 + at);
      }
    },
    async step(connection, at) {
      await ask(connection, requests[at]?.(`${keyPrefix}${keys++}`) ?? '');
      return true;
    },
  };
}

/** Pays as a customer does, on the page, and gives the request that refunds a little of it. */
async function paidPayment(connection: Connection, merchant: number): Promise<(key: string) => string> {
  const created = await ask(connection, createRequest(merchant, '9000000.00')(`${keyPrefix}${keys++}`));
  const payment = JSON.parse(created.body.toString()) as {
    id: string;
    confirmation: { confirmationUrl: string };
  };
  const { pathname } = new URL(payment.confirmation.confirmationUrl);
  const page = (await ask(connection, requestText(`GET ${pathname}`, {}))).body.toString();
  const form = formsOf(page).find((one) => 'attempts' in one.fields);
  if (!form) throw new Error('the payment page takes no card');
  const card = { number: '4242424242424242', expiry: '12/30', csc: '123', holder: 'A Customer' };
  await ask(connection, formRequest(new URL(form.action).pathname, { ...form.fields, ...card }), 303);
  const text = JSON.stringify({ paymentId: payment.id, amount: { value: '0.01', currency: 'AZN' } });
  return keyed('POST /checkout/v1/refunds', merchant, text);
}
