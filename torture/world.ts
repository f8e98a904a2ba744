import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { topUpWallet } from '../src/checkout/top-up.ts';
import { openDatabase, sql } from '../src/platform/db.ts';
import { freePort } from '../test/support/free-port.ts';
import { basic } from '../test/support/merchant.ts';
import { demo } from '../test/support/partner.ts';
import { type Scope, undoLater } from '../test/support/server.ts';
import { startTcpProxy, type TcpProxy } from '../test/support/tcp-proxy.ts';
import { startBalancer } from './balancer.ts';
import { type TortureDatabase, withClient } from './database.ts';
import { Driver } from './driver.ts';
import { Journal } from './journal.ts';
import { type Nodes, startNodes } from './nodes.ts';
import { phonesSetting } from './person-load.ts';
import { type EventReceiver, startEventReceiver } from './receiver.ts';

/** Everything that a fault can touch: the database, the line to it, the processes of the service, and their callers. */
export type World = {
  baseUrl: string;
  database: TortureDatabase;
  proxy: TcpProxy;
  nodes: Nodes;
  driver: Driver;
  receiver: EventReceiver;
  journalPath: string;
  /** Moves the clock that all processes of the service read. */
  moveClock(offsetMs: number): void;
  /** Holds the event loop of each process of the service for so long. */
  stall(ms: number): void;
};

export async function openWorld(scope: Scope, database: TortureDatabase, nodeCount: number): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-torture-'));
  const wishPath = join(folder, 'wish.json');
  const journalPath = join(folder, 'journal.jsonl');
  const wish = { offsetMs: 0, stall: 0, stallMs: 0 };
  const tell = () => writeFileSync(wishPath, JSON.stringify(wish));
  tell();

  const proxy = await startTcpProxy(portOf(database.url()));
  undoLater(scope, () => proxy.close());
  const throughProxy = new URL(database.url());
  throughProxy.port = String(proxy.port);
  // Everybody calls the service by the address of the balancer that would stand in front of it.
  const publicPort = await freePort();
  const baseUrl = `http://localhost:${publicPort}`;
  const nodes = await startNodes(scope, nodeCount, {
    BASE_URL: baseUrl,
    DATABASE_URL: throughProxy.href,
    TEST_PHONES: phonesSetting,
    TORTURE_WISH: wishPath,
  });
  await startBalancer(scope, publicPort, nodes);
  const driver = new Driver(nodes, new Journal(journalPath));
  // Whoever has found something wants to read how it came about.
  undoLater(scope, async () => {
    if (driver.breaches.length === 0) rmSync(folder, { recursive: true });
  });
  // The load is more than a merchant may send in a second.
  await withClient(database.url(), (client) =>
    client.query('update checkout.merchants set requests_per_second = 1000000'),
  );
  await fillWallet(database.url());
  const receiver = await startEventReceiver(scope);
  await addEndpoint(driver, receiver.url);
  return {
    baseUrl,
    database,
    proxy,
    nodes,
    driver,
    receiver,
    journalPath,
    moveClock(offsetMs) {
      wish.offsetMs = offsetMs;
      tell();
    },
    stall(ms) {
      wish.stall++;
      wish.stallMs = ms;
      tell();
    },
  };
}

/** More than all its owner will ever pay. */
async function fillWallet(url: string): Promise<void> {
  const db = openDatabase({ url, poolSize: 1, onConnectionError: () => {} });
  const { userId } = await db.one<{ userId: string }>(
    sql`select user_id from identity.users where phone = ${demo.phone}`,
  );
  await topUpWallet(
    { db, now: () => new Date(), survivorOf: async (_tx, id) => id },
    {
      userId,
      amount: { minor: 100_000_000_00n, currency: 'AZN' },
      source: 'torture',
      reference: 'once',
      actor: 'torture',
    },
  );
  await db.close();
}

async function addEndpoint(driver: Driver, url: string): Promise<void> {
  const answer = await driver.send({
    method: 'POST',
    path: '/checkout/v1/webhook-endpoints',
    headers: { authorization: basic(), 'x-idempotency-key': 'endpoint', 'content-type': 'application/json' },
    body: JSON.stringify({ url }),
  });
  if (answer?.status !== 201) throw new Error(`no endpoint but ${answer?.status}: ${answer?.body}`);
}

export function portOf(url: string): number {
  return Number(new URL(url).port);
}
