import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { packageRoot } from '../../src/package.ts';
import { findRunningEmbeddedPostgres } from '../../src/platform/embedded-postgres.ts';
import { query } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { basic, cardFormOf, cards, order, type PaymentAnswer } from '../support/merchant.ts';
import {
  kill,
  type OwnProcess,
  processesOn,
  spawnOwnServer,
  temporaryFolder,
  until,
  untilReady,
} from '../support/server.ts';

const rounds = 30;
const customers = 8;

/** One request of a merchant, kept outside of the server: what was asked, and what was answered if anything was. */
type Sent = { path: string; body: object; key: string; status: number | null; answer: string | null };
type Answered = { id: string; status: string; amount: { value: string }; version: number };

test('F14 a server killed at any moment under load keeps every answer it has given, and finishes what it had begun', async (t) => {
  const dataDir = await temporaryFolder(t);
  const listed = join(await temporaryFolder(t), 'acknowledged');
  const unfinished: Sent[] = [];
  const counts = { acknowledged: 0, repeated: 0, killed: [] as string[], different: [] as string[] };

  const start = async () => {
    const port = await freePort();
    const server = spawnOwnServer(t, { PORT: String(port), DATA_DIR: dataDir, LOG_LEVEL: 'error' });
    await untilReady(server, port);
    const database = await findRunningEmbeddedPostgres(dataDir);
    assert.ok(database);
    // The load is more than a merchant may send in a second; a server reads the terms anew within one.
    await query(database, 'update checkout.merchants set requests_per_second = 1000000');
    return { server, database, api: `http://127.0.0.1:${port}/checkout` };
  };

  /** Sends, and writes down what came back before anything follows from it. */
  const send = async (api: string, sent: Sent): Promise<Sent> => {
    const answered = await request(api, sent);
    if (isAnswer(answered)) {
      appendFileSync(listed, `${JSON.stringify(answered)}\n`);
      if (sent.status === null) counts.acknowledged++;
    }
    return answered;
  };

  const post = async (api: string, path: string, body: object): Promise<PaymentAnswer | undefined> => {
    const sent: Sent = { path, body, key: randomUUID(), status: null, answer: null };
    unfinished.push(sent);
    const answered = await send(api, sent);
    if (isAnswer(answered)) unfinished.splice(unfinished.indexOf(sent), 1);
    return answered.status === 200 ? (JSON.parse(answered.answer ?? '') as PaymentAnswer) : undefined;
  };

  /** One customer after another: an order, a card, and what the merchant then does with the money. */
  const shop = async (api: string): Promise<never> => {
    for (;;) {
      const captures = Math.random() < 0.6;
      const payment = await post(api, '/v1/payments', { ...order, capture: captures });
      if (!payment) continue;
      await payOnPage(api, payment);
      if (!captures) {
        const part = Math.random() < 0.5 ? {} : { amount: { value: '70.00', currency: 'AZN' } };
        const end = Math.random() < 0.8 ? 'capture' : 'cancel';
        await post(api, `/v1/payments/${payment.id}/${end}`, end === 'capture' ? part : {});
      }
      for (const value of ['10.00', '25.00']) {
        if (Math.random() < 0.7)
          await post(api, '/v1/refunds', { paymentId: payment.id, amount: { value, currency: 'AZN' } });
      }
    }
  };

  /** Every answer that was ever given is still true: the same again under its key, and the object it told of. */
  const assertAllTrue = async (api: string, database: string) => {
    const lines = readLines(listed);
    // All of the last round, and of those before it some, which are others each time.
    const sample = lines.filter((_, at) => at >= lines.length - 50 || Math.random() < 0.05);
    await Promise.all(
      sample.map(async (acknowledged) => {
        let again = await request(api, acknowledged);
        // A busy machine may say "not now", and is asked again; whatever else it says counts.
        for (let tries = 0; tries < 60 && !isAnswer(again); tries++) {
          await delay(500);
          again = await request(api, acknowledged);
        }
        counts.repeated++;
        assert.equal(again.answer, acknowledged.answer, `${acknowledged.path} ${acknowledged.key}`);
      }),
    );
    const told = new Map<string, Answered>();
    for (const { status, answer } of lines) {
      if (status !== 200 || !answer) continue;
      const object = JSON.parse(answer) as Answered;
      const known = told.get(object.id);
      if (!known || known.version < object.version) told.set(object.id, object);
    }
    const rows = await query<{ id: string; status: string; version: number }>(
      database,
      `select payment_id as id, status, version from checkout.payments
       union all select refund_id, status, version from checkout.refunds`,
    );
    const there = new Map(rows.map((row) => [row.id, row]));
    for (const { id, status, version } of told.values()) {
      const row = there.get(id);
      assert.ok(row && row.version >= version, `${id} was told at version ${version}`);
      const isFinal = status === 'succeeded' || status === 'canceled';
      if (isFinal) assert.equal(row.status, status, id);
    }
  };

  /**
   * What had no answer is asked for again with its key; the id is the one that was made. Whoever was killed holds a
   * refund for some seconds more, so one that gets no answer yet is asked for again in the next round.
   */
  const finish = async (api: string, database: string) => {
    const asked = unfinished.slice();
    const made = await objectsOf(database, asked);
    await Promise.all(
      asked.map(async (sent) => {
        const again = await send(api, sent);
        if (!isAnswer(again)) return;
        unfinished.splice(unfinished.indexOf(sent), 1);
        const id = again.status === 200 ? (JSON.parse(again.answer ?? '') as Answered).id : undefined;
        const expected = made.get(sent.key);
        if (expected && id !== expected)
          counts.different.push(`${sent.path} ${sent.key} ${expected} ${again.answer}`);
      }),
    );
  };

  for (let round = 0; round < rounds; round++) {
    const { server, database, api } = await start();
    await assertAllTrue(api, database);
    const load: Promise<unknown>[] = Array.from({ length: customers }, () =>
      shop(api).catch(() => undefined),
    );
    load.push(finish(api, database).catch(() => undefined));
    const momentMs = 50 + Math.round(Math.random() * 750);
    await delay(momentMs);
    const withPostgres = round % 5 === 4;
    await killNow(server, withPostgres ? dataDir : undefined);
    await Promise.all(load);
    counts.killed.push(`${momentMs}${withPostgres ? ' with PostgreSQL' : ''}`);
  }

  const { server, database, api } = await start();
  await until('every request is answered', async () => {
    await finish(api, database);
    return unfinished.length === 0;
  });
  assert.deepEqual(counts.different, []);
  await assertAllTrue(api, database);
  // What no merchant asks about again is for the jobs to settle.
  await until('nothing is left open', async () => {
    const [left] = await query<{ left: number }>(
      database,
      `select (select count(*) from checkout.attempts where settled_at is null or reversal = 'due')::int
         + (select count(*) from checkout.refunds where status = 'pending')::int
         + (select count(*) from checkout.payments where capture_lease_until is not null)::int as left`,
    );
    return left?.left === 0;
  });
  const verified = await verifyLedger(dataDir);
  assert.equal(verified.code, 0, verified.output);
  assert.ok(counts.acknowledged > rounds, `only ${counts.acknowledged} answers`);
  server.child.kill('SIGTERM');
  assert.equal(await server.ended, 0);
  const offline = await verifyLedger(dataDir);
  assert.equal(offline.code, 0, offline.output);
  t.diagnostic(`killed after ${counts.killed.join(', ')} ms`);
  t.diagnostic(`${counts.acknowledged} answers, all true; ${counts.repeated} asked for again`);
});

async function request(api: string, sent: Sent): Promise<Sent> {
  const response = await fetch(`${api}${sent.path}`, {
    method: 'POST',
    headers: { authorization: basic(), 'x-idempotency-key': sent.key, 'content-type': 'application/json' },
    body: JSON.stringify(sent.body),
  });
  return { ...sent, status: response.status, answer: await response.text() };
}

/** Not "not now": that is no answer to the request, and nothing to hold the server to. */
function isAnswer({ status, answer }: Sent): boolean {
  if (status === null || status >= 500) return false;
  return !(status === 409 && answer?.includes('idempotency_key_in_use'));
}

async function payOnPage(api: string, payment: PaymentAnswer): Promise<void> {
  const token = new URL(payment.confirmation.confirmationUrl).pathname.split('/').at(-1);
  const page = await fetch(`${api}/pay/${token}`).then((answer) => answer.text());
  const form = cardFormOf(page);
  if (!form) return;
  const number = Math.random() < 0.85 ? cards.approved : cards.refundRejected;
  const typed = { ...form.fields, number, expiry: '12/30', csc: '123', holder: 'A Customer' };
  await fetch(`${api}/pay/${token}`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(typed).toString(),
  });
}

async function killNow(server: OwnProcess, dataDir: string | undefined): Promise<void> {
  const postmasters = dataDir === undefined ? [] : await processesOn(dataDir);
  for (const pid of [Number(server.child.pid), ...postmasters]) kill(pid, 'SIGKILL');
  await server.ended;
}

function readLines(path: string): Sent[] {
  try {
    const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
    return lines.map((line) => JSON.parse(line) as Sent);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

async function objectsOf(database: string, sent: Sent[]): Promise<Map<string, string>> {
  const rows = await query<{ key: string; id: string }>(
    database,
    // The key of a capture leads to the capture, and its answer is the payment.
    `select key, coalesce(p.payment_id, object_id) as id from checkout.idempotency_keys k
     left join checkout.payments p on k.call = 'capture_payment'
       and p.merchant_id = k.merchant_id and p.capture_id = k.object_id
     where key = any ($1)`,
    [sent.map(({ key }) => key)],
  );
  return new Map(rows.map(({ key, id }) => [key, id]));
}

async function verifyLedger(dataDir: string): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, ['dist/cli.js', 'verify-ledger'], {
    cwd: new URL('.', packageRoot).pathname,
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk));
  await new Promise((resolve) => child.once('close', resolve));
  return { code: child.exitCode, output };
}
