/**
 * How many payments a second can be settled: begun, approved and posted to the ledger, through the same functions as
 * the payment page, on a PostgreSQL that really writes to its disk. The acquirer answers at once, so what is measured
 * is ours. Beside it the raw rate of the same database in the same run: one row, one commit. `npm run bench:settle`.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { payByCard } from '../src/checkout/attempt.ts';
import { openCheckout } from '../src/checkout/checkout.ts';
import type { PaymentId } from '../src/checkout/domain/payment.ts';
import { verifyLedger } from '../src/checkout/verify-ledger.ts';
import { loadConfig } from '../src/config.ts';
import { packageRoot } from '../src/package.ts';
import { openDatabase, sql } from '../src/platform/db.ts';
import { startEmbeddedPostgres } from '../src/platform/embedded-postgres.ts';
import { createLogger } from '../src/platform/log.ts';
import { migrate, readMigrations } from '../src/platform/migrate.ts';

const clients = 16;
const secondsEach = 5;
const manyMerchants = 10_000;
/** More than there is time for. */
const paymentsPrepared = 16_000;

const card = {
  number: '4242424242424242',
  expiryMonth: 12,
  expiryYear: 2099,
  securityCode: '123',
  holder: 'A',
};
const approval = { rrn: '000000000001', authCode: '000001', threeDSecure: false };

const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
say('starting a PostgreSQL with the settings of the product');
const postgres = await startEmbeddedPostgres({ dataDir, log: () => {} });
try {
  const { url } = postgres;
  const migrations = readMigrations(new URL('migrations/', packageRoot));
  await migrate({ ownerUrl: url, serverUrl: url, migrations, log: () => {} });
  const db = openDatabase({ url, poolSize: clients, onConnectionError: () => {} });
  const config = loadConfig({ DATABASE_URL: url });
  const { deps } = openCheckout({
    config: config.checkout,
    urls: config.server.urls,
    db,
    log: createLogger({ level: 'silent' }),
    now: () => new Date(),
    registry: new Registry(),
    authenticate: async () => ({ ok: false, reason: 'missing' }),
    survivorOf: async (_, userId) => userId,
    signIn: { issuer: config.server.urls.base, clientId: 'none', clientSecret: '' },
  });
  deps.acquirer.authorize = async () => ({ kind: 'approved', approval });

  say(`preparing ${manyMerchants} merchants and ${2 * paymentsPrepared} payments`);
  await db.run(sql`
    insert into checkout.merchants (merchant_id, name, return_url_origins, fee_basis_points, created_at)
    select 'M' || n, 'Shop', '{}', 150, now() from generate_series(0, ${manyMerchants}::int - 1) n`);
  await db.run(
    sql`create table public.raw (id uuid primary key, amount bigint not null, at timestamptz not null)`,
  );
  const { durable } = await db.one<{ durable: boolean }>(sql`
    select current_setting('fsync') = 'on' and current_setting('synchronous_commit') = 'on' as durable`);
  if (!durable) throw new Error('this database does not write to its disk: the figures would mean nothing');

  const settle = async (merchants: number) => {
    const keys = await preparePayments(merchants);
    return rateOf(async () => {
      const key = keys.pop();
      if (!key) return false;
      const result = await payByCard(deps, key, card, { returnUrl: 'http://localhost/return', attempts: 0 });
      if (result.kind !== 'settled' || result.payment.status !== 'succeeded') throw new Error(result.kind);
      return true;
    });
  };
  const insertRaw = () =>
    rateOf(async () => {
      await db.run(sql`insert into public.raw values (${deps.newId()}::uuid, 1, now())`);
      return true;
    });

  /** Pending payments, made in bulk, each with its event and its key, as if merchants had sent them. */
  async function preparePayments(merchants: number): Promise<{ merchantId: string; paymentId: PaymentId }[]> {
    const made: { merchantId: string; paymentId: PaymentId }[] = [];
    for (let done = 0; done < paymentsPrepared; done += 2_000) {
      made.push(
        ...(await db.many<{ merchantId: string; paymentId: PaymentId }>(sql`
          with made as (
            insert into checkout.payments (merchant_id, payment_id, terminal_id, status, amount, currency, capture,
              metadata, return_url, created_at, expires_at, test, version)
            select 'M' || n % ${merchants}::int, gen_random_uuid(), 'T', 'pending', 10000, 'AZN', true, '{}',
              'http://localhost/', now(), now() + interval '1 hour', true, 1
            from generate_series(${done}::int, ${done}::int + 1999) n
            returning merchant_id, payment_id
          ), told as (
            insert into checkout.events (merchant_id, object_id, sequence, event_id, type, payload, created_at)
            select merchant_id, payment_id, 1, gen_random_uuid(), 'payment.created',
              '{"data":{"object":{"status":"pending"}}}', now() from made
          ), keyed as (
            insert into checkout.idempotency_keys (merchant_id, key, call, fingerprint, object_id, created_at)
            select merchant_id, payment_id::text, 'create_payment', sha256(''), payment_id, now() from made
          )
          select merchant_id, payment_id from made`)),
      );
    }
    await db.run(sql`analyze checkout.payments`);
    return made;
  }

  say(`raw inserts, ${clients} clients`);
  const rawBefore = await insertRaw();
  say('one hot merchant');
  const oneMerchant = await settle(1);
  say(`${manyMerchants} merchants`);
  const tenThousandMerchants = await settle(manyMerchants);
  say('raw inserts again');
  const rawAfter = await insertRaw();
  await db.close();
  say('checking the ledger');
  const breaches = await verifyLedger({ url, now: new Date(), stuckAfterMs: 3600_000 });

  const result = {
    at: new Date().toISOString(),
    cores: cpus().length,
    node: process.version,
    clients,
    secondsEach,
    perSecond: { rawInserts: [rawBefore, rawAfter], oneMerchant, tenThousandMerchants },
    breaches: breaches.length,
  };
  const folder = new URL('bench/results/', packageRoot);
  mkdirSync(folder, { recursive: true });
  const file = new URL(`settle-rate-${result.at.replaceAll(':', '-')}.json`, folder);
  writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`);
  process.stdout.write(
    `${[
      `raw inserts              ${rawBefore}/s before, ${rawAfter}/s after`,
      `settled, one merchant    ${oneMerchant}/s`,
      `settled, ${manyMerchants} merchants ${tenThousandMerchants}/s`,
      `breaches of the ledger   ${breaches.length}`,
      `written to ${file.pathname}`,
    ].join('\n')}\n`,
  );
  if (breaches.length > 0) process.exitCode = 1;
} finally {
  await postgres.stop();
  rmSync(dataDir, { recursive: true, force: true });
}

/** As often as it can be done by all clients together, per second; `false` says that there is nothing left to do. */
async function rateOf(work: () => Promise<boolean>): Promise<number> {
  let done = 0;
  const from = performance.now();
  const end = from + secondsEach * 1_000;
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (performance.now() < end && (await work())) done++;
    }),
  );
  return Math.round((done * 1_000) / (performance.now() - from));
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
