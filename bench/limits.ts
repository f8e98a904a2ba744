/** What nobody can beat: HTTP without work, one signature, and the very statements of our works without a server. */
import { fork } from 'node:child_process';
import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { once } from 'node:events';
import pg from 'pg';
import type { PaymentId, Pending } from '../src/checkout/domain/payment.ts';
import { insertPaymentOnce } from '../src/checkout/store/idempotency.ts';
import { findPayment } from '../src/checkout/store/payments.ts';
import { rotateGrant } from '../src/identity/store/grants.ts';
import { findTokenHolder } from '../src/identity/store/token-holder.ts';
import type { Queryable, Statement } from '../src/platform/db.ts';
import { uuid7 } from '../src/platform/uuid7.ts';
import { freePort } from '../test/support/free-port.ts';
import { ask, Connection, formRequest } from './driver.ts';
import { treeOf } from './processes.ts';
import {
  idOf,
  merchantCount,
  merchantId,
  ownerOf,
  partner,
  refreshTokenOf,
  returnUrl,
  terminalId,
} from './setup.ts';
import type { Supply } from './supply.ts';
import type { Contestant, Work } from './works.ts';

const tokenRequest = formRequest('/api/v2/openid-connect/token', {
  client_id: partner.clientId,
  client_secret: partner.clientSecret,
  grant_type: 'client_credentials',
});

/** Bare node:http, which answers the very bytes that our server answered. */
export async function startBareHttp(
  ourPort: number,
): Promise<{ contestant: Contestant; stop(): Promise<void> }> {
  const connection = await Connection.open(ourPort);
  const { body } = await ask(connection, tokenRequest);
  connection.close();
  const port = await freePort();
  const child = fork(new URL('bare-server.ts', import.meta.url), {
    execArgv: ['--import', 'tsx'],
    env: { PATH: process.env.PATH ?? '', BARE_PORT: String(port), BARE_BODY: body.toString() },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  await once(child, 'message');
  const step: Work['step'] = async (to) => {
    await ask(to, tokenRequest);
    return true;
  };
  return {
    contestant: {
      name: 'bare node:http',
      port,
      pids: () => treeOf(child.pid ?? 0),
      usesDatabase: false,
      works: { client_credentials: { step } },
    },
    async stop() {
      if (child.exitCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

/** One ES256 signature over as many bytes as an access token has. */
export function bareSigning(): Contestant {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const input = Buffer.alloc(500, 'a');
  return {
    name: 'bare signature',
    port: undefined,
    pids: () => [process.pid],
    usesDatabase: false,
    works: {
      client_credentials: {
        async step() {
          sign('sha256', input, { key: privateKey, dsaEncoding: 'ieee-p1363' });
          return true;
        },
      },
    },
  };
}

/** The statements alone, on as many connections as our server has. */
export async function openBareStatements(
  url: string,
  poolSize: number,
  rows: { refreshable: Supply; people: number; payments: number },
): Promise<{ contestant: Contestant; stop(): Promise<void> }> {
  const clients = Array.from({ length: poolSize }, () => new pg.Client({ connectionString: url }));
  await Promise.all(clients.map((client) => client.connect()));
  const on = clients.map(bareQueryable);
  /** More steps than connections would only wait in line. */
  const withStatement = (run: (db: Queryable) => Promise<unknown>): Work => ({
    async step(_connection, at) {
      const db = on[at];
      if (!db) return false;
      await run(db);
      return true;
    },
  });
  return {
    contestant: {
      name: 'bare statements',
      port: undefined,
      pids: () => [process.pid],
      usesDatabase: true,
      works: {
        refresh: {
          prepare: () => rows.refreshable.refill(),
          async step(_connection, at) {
            const db = on[at];
            const person = db && rows.refreshable.take();
            if (!db || person === undefined) return false;
            await rotate(db, person);
            return true;
          },
        },
        userinfo: withStatement((db) => findHolder(db, Math.floor(Math.random() * rows.people))),
        'create payment': withStatement(insertPayment),
        'read payment': withStatement((db) => {
          const at = Math.floor(Math.random() * rows.payments);
          return findPayment(db, merchantId(ownerOf(at)), idOf('payment', at) as PaymentId);
        }),
      },
    },
    async stop() {
      await Promise.all(clients.map((client) => client.end()));
    },
  };
}

/** Our own functions run on it; of what our database layer does it keeps only the sending of the statement. */
function bareQueryable(client: pg.Client): Queryable {
  const query = (statement: Statement) => client.query({ ...statement, rowMode: 'array' });
  return {
    many: (statement) => query(statement).then(() => []),
    maybeOne: (statement) => query(statement).then(() => undefined),
    one: () => Promise.reject(new Error('no bare statement asks for exactly one row')),
    run: async (statement) => (await query(statement)).rowCount ?? 0,
  };
}

function rotate(db: Queryable, at: number): Promise<unknown> {
  return rotateGrant(db, {
    userId: idOf('user', at),
    grantId: idOf('grant', at),
    clientId: partner.clientId,
    tokenHash: createHash('sha256').update(refreshTokenOf(at)).digest(),
    successorHash: createHash('sha256').update(`successor of ${at}`).digest(),
    successorSealed: Buffer.alloc(120),
    refreshTokenMs: 1_800_000,
    now: new Date(),
  });
}

function findHolder(db: Queryable, at: number): Promise<unknown> {
  const key = { userId: idOf('user', at), grantId: idOf('grant', at), sid: idOf('session', at) };
  return findTokenHolder(db, Buffer.alloc(32), { ...key, clientId: partner.clientId, now: new Date() });
}

const body = JSON.stringify({ filling: 'x'.repeat(900) });

function insertPayment(db: Queryable): Promise<unknown> {
  const at = new Date();
  const merchant = merchantId(1 + Math.floor(Math.random() * (merchantCount - 1)));
  const payment: Pending = {
    merchantId: merchant,
    id: uuid7(at) as PaymentId,
    terminalId,
    amount: { minor: 10_000n, currency: 'AZN' },
    capture: true,
    description: null,
    merchantOrderId: null,
    metadata: {},
    returnUrl,
    locale: null,
    createdAt: at,
    expiresAt: new Date(at.getTime() + 3600_000),
    extensions: 0,
    attempts: 0,
    lastAttempt: null,
    test: true,
    version: 1,
    status: 'pending',
    openAttemptId: null,
  };
  const fingerprint = createHash('sha256').update(payment.id).digest();
  const call = { merchantId: merchant, key: randomUUID(), call: 'create_payment' as const, fingerprint };
  const event = { eventId: uuid7(at), type: 'payment.created', payload: body, at };
  return insertPaymentOnce(db, call, payment, event, body);
}
