import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { hostname, userInfo } from 'node:os';
import { test } from 'node:test';
import { packageRoot } from '../../src/package.ts';
import { sql } from '../../src/platform/db.ts';
import { replacingAcquirer } from '../support/acquirer.ts';
import { startTestApp } from '../support/app.ts';
import { commandLine, tollgate } from '../support/command-line.ts';
import { query, testDatabaseUrl } from '../support/database.ts';
import { call, cards, createPayment, demoMerchant, paidPayment, payByCard } from '../support/merchant.ts';
import { until } from '../support/server.ts';

type Entry = { area: string; actor: string; action: string; object: string; at: string };
type Finding = { check: string; status: string; detail: string; remedy: string | null };

const url = await testDatabaseUrl();
const service = await startTestApp({ DATABASE_URL: url });
const older = await testDatabaseUrl();
const empty = await testDatabaseUrl({ empty: true });
const unseeded = await testDatabaseUrl();
const cli = commandLine({ DATABASE_URL: url });
const somebody = `cli:${userInfo().username}@${hostname()}`;

test('new signing keys are published before they sign, and are not made twice', async () => {
  type Keys = {
    made: string[];
    keys: { kid: string; state: string; activatesAt: string }[];
    next: { at: string }[];
  };
  const before = await cli.json<Keys>('keys list');
  assert.deepEqual(
    before.keys.map((key) => key.state),
    ['current', 'current', 'current'],
  );
  const rotated = await cli.json<Keys>('keys rotate --actor aysel');
  assert.equal(rotated.made.length, 3);
  const waiting = rotated.keys.filter((key) => key.state === 'next');
  assert.deepEqual(waiting.map((key) => key.kid).sort(), [...rotated.made].sort());
  const quarterAway = Date.now() + 14 * 60_000;
  assert.ok(waiting.every((key) => new Date(key.activatesAt).getTime() > quarterAway));
  assert.deepEqual(rotated.keys.filter((key) => key.state === 'current').length, 3);
  assert.match(await cli.text('keys rotate'), /^None made: the next keys are waiting already\.\n/);

  await service.areas.identity.issuer.keyring.reload();
  const published = (await service.app.inject({ url: '/api/v1/openid-connect/jwks' })).json<{
    keys: object[];
  }>();
  assert.equal(published.keys.length, 6);
  const { entries } = await cli.json<{ entries: Entry[] }>('audit tail --action keys.rotated');
  assert.deepEqual(
    entries.map((entry) => entry.actor),
    ['schedule', 'aysel'],
  );
  const everything = await cli.text('keys list');
  assert.doesNotMatch(everything, /"d"|private/i);
});

test('a key that signs because the clock stands before all keys is called current, and the doctor has nothing against it', async () => {
  const move = (by: string) =>
    service.db.run(sql`update identity.signing_keys set activates_at = activates_at + ${by}::interval`);
  await move('2 hours');
  const { keys } = await cli.json<{ keys: { state: string }[] }>('keys list');
  const { stdout } = await tollgate({ DATABASE_URL: url }, 'doctor --json');
  await move('-2 hours');
  assert.deepEqual(keys.map((key) => key.state).sort(), [
    'current',
    'current',
    'current',
    'next',
    'next',
    'next',
  ]);
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  const told = findings.filter(({ check }) => check === 'signing keys');
  assert.deepEqual(
    told.map(({ status }) => status),
    ['ok', 'ok', 'ok'],
  );
});

test('the audit of both areas is shown in order of time, and by area, actor, action and object', async () => {
  await cli.json('client disable demo-partner --actor aysel');
  await cli.json('merchant set-fee DEMOMERCHANT001 --fee-fixed 5 --actor leyla');
  await cli.json('client enable demo-partner --actor aysel');
  const tail = async (rest: string) => (await cli.json<{ entries: Entry[] }>(`audit tail ${rest}`)).entries;
  const last = await tail('--limit 3');
  assert.deepEqual(
    last.map(({ area, actor, action, object }) => `${area} ${actor} ${action} ${object}`),
    [
      'identity aysel client.disabled demo-partner',
      'checkout leyla merchant.changed DEMOMERCHANT001',
      'identity aysel client.enabled demo-partner',
    ],
  );
  assert.ok((await tail('--area checkout')).every((entry) => entry.area === 'checkout'));
  assert.deepEqual((await tail('--actor leyla')).length, 1);
  assert.deepEqual((await tail('--object DEMOMERCHANT001 --action merchant.changed')).length, 1);
  assert.deepEqual(await tail('--since 2099-01-01'), []);
  assert.match(
    await cli.text('audit tail --actor leyla'),
    /leyla +merchant\.changed +DEMOMERCHANT001 +feeFixed=0 to 5/,
  );
  await cli.allRefused([
    ['audit tail --area mars', 2, /Allowed choices are identity, checkout/],
    ['audit tail --limit 0', 2, /It takes a whole number from 1 to 10000/],
  ]);
});

test('the audit can be followed until it is enough', async () => {
  const args = ['dist/cli.js', 'audit', 'tail', '--follow', '--json', '--limit', '1', '--area', 'checkout'];
  const child = spawn(process.execPath, args, {
    cwd: new URL('.', packageRoot).pathname,
    env: { PATH: process.env.PATH ?? '', DATABASE_URL: url },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let lines: Entry[] = [];
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk;
    lines = output
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Entry);
  });
  await until('the first entry is shown', () => lines.length === 1);
  await cli.json('merchant set-fee DEMOMERCHANT001 --fee-fixed 6 --actor follower');
  await until('the change is shown', () => lines.some((entry) => entry.actor === 'follower'));
  child.kill('SIGINT');
  const [code] = (await once(child, 'close')) as [number | null];
  assert.equal(code, 0);
  assert.equal(lines.length, 2);
});

test('a database that does not answer, is empty or is of an older version is named, with exit code 2', async () => {
  await query(older, `delete from tollgate.migrations where name = '0006_operations'`);
  const outcomes = await Promise.all([
    tollgate({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }, 'client list'),
    tollgate({ DATABASE_URL: empty }, 'client list'),
    tollgate({ DATABASE_URL: older }, 'verify-ledger'),
  ]);
  const sentences = [
    /^The database at 127\.0\.0\.1:1 does not answer \(ECONNREFUSED\); start it, or correct DATABASE_URL\.\n$/,
    /^The database lacks 0001_schemas, .*; start the server of this version once, which brings it up to date\.\n$/,
    /^The database lacks 0006_operations; start the server/,
  ];
  for (const [at, { code, stdout, stderr }] of outcomes.entries()) {
    assert.equal(code, 2, stderr);
    assert.equal(stdout, '');
    assert.match(stderr, sentences[at] ?? /$^/);
  }
});

test('the doctor explains each fault with a remedy, and ends with 1', async () => {
  await service.db.run(sql`
    select graphile_worker.add_job('identity.clean-up', '{}'::json, run_at := now() - interval '1 hour')`);
  const payment = await createPayment(service);
  await payByCard(service, payment, cards.lostThenApproved);
  await service.db.run(sql`
    update checkout.attempts set started_at = now() - interval '2 hours' where payment_id = ${payment.id}`);
  const hourMs = 3600_000;
  service.clock.move(-3 * hourMs);
  const held = await paidPayment(service, { capture: false });
  service.clock.move(hourMs);
  const askedAt = service.clock.now().toISOString();
  const capture = () =>
    call(service, 'POST', `/v1/payments/${held.id}/capture`, { body: {}, key: 'lost-capture' });
  const lost = await replacingAcquirer(service)({ capture: async () => ({ kind: 'unknown' }) }, async () => {
    await capture();
    service.clock.move(hourMs);
    return capture();
  });
  assert.equal(lost.statusCode, 503);
  service.clock.move(hourMs);
  const { code, stdout } = await tollgate(
    { DATABASE_URL: url, BASE_URL: 'http://127.0.0.1:1' },
    'doctor --json',
  );
  assert.equal(code, 1, stdout);
  const { healthy, findings } = JSON.parse(stdout) as { healthy: boolean; findings: Finding[] };
  assert.equal(healthy, false);
  const told = (check: string, status: string) =>
    findings
      .filter((one) => one.check === check && one.status === status)
      .map((one) => one.detail)
      .join('\n');
  assert.match(told('durability', 'fault'), /fsync is off[\s\S]*synchronous_commit is off/);
  assert.match(told('jobs', 'fault'), /Nobody takes up jobs[\s\S]*identity\.clean-up should have begun/);
  assert.match(told('BASE_URL', 'fault'), /openid-configuration cannot be reached \(.*\)/);
  const [attempts, captures] = told('acquirer', 'fault').split('\n');
  assert.match(attempts ?? '', /^1 attempt without an outcome, the oldest since /);
  assert.equal(captures, `1 capture without an outcome, the oldest since ${askedAt}.`);
  assert.equal((await capture()).statusCode, 200);
  const { pathname, host } = new URL(url);
  assert.ok(told('database', 'ok').startsWith(`${pathname.slice(1)} at ${host}: PostgreSQL `));
  assert.match(told('clock', 'ok'), /ms (ahead of|behind) ours/);
  assert.equal(told('signing keys', 'ok').split('\n').length, 3);
  assert.ok(findings.every((one) => (one.status === 'ok') === (one.remedy === null)));
});

test('the doctor goes as far as it can: wrong settings, no database, an empty one, another secret', async () => {
  const doctor = async (env: Record<string, string>) => {
    const { code, stdout, stderr } = await tollgate(env, 'doctor');
    assert.equal(code, 1, stdout + stderr);
    return stdout;
  };
  const [settings, away, fresh, secret] = await Promise.all([
    doctor({ TOLLGATE_ENV: 'production' }),
    doctor({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }),
    doctor({ DATABASE_URL: empty }),
    doctor({ DATABASE_URL: url, KEYS_SECRET: 'another-secret-than-the-one-before-0123' }),
  ]);
  assert.match(settings, /fault +configuration +KEYS_SECRET: It is not set\.\n +Make one with/);
  assert.match(away, /fault +database +The database at 127\.0\.0\.1:1 does not answer/);
  assert.match(fresh, /fault +migrations +The database lacks 0001_schemas/);
  assert.match(secret, /fault +signing keys +6 of 6 keys cannot be opened with KEYS_SECRET/);
});

test('demo data is loaded on request, once, and never where it counts', async () => {
  const fresh = commandLine({ DATABASE_URL: unseeded, TOLLGATE_ENV: 'local' });
  await fresh.json('demo seed');
  await fresh.json('demo seed');
  const { entries } = await fresh.json<{ entries: Entry[] }>('audit tail --area checkout');
  assert.deepEqual(
    entries.map(({ actor, action }) => `${actor} ${action}`),
    [`${somebody} demo.seeded`],
  );
  const { clients } = await fresh.json<{ clients: { clientId: string }[] }>('client list');
  assert.deepEqual(
    clients.map((client) => client.clientId),
    ['demo-merchant', 'demo-partner'],
  );
  const pre = commandLine({
    DATABASE_URL: unseeded,
    TOLLGATE_ENV: 'pre',
    BASE_URL: 'https://id.example.com',
    KEYS_SECRET: 'a-secret-for-this-test-alone-0123456789',
  });
  await pre.refused('demo seed', 1, /this is pre; it is for local and test only/);
});

test('the ledger is verified as JSON too', async () => {
  assert.deepEqual(await cli.json('verify-ledger'), { breaches: [] });
});

test('what needs a person is an alarm until somebody has said how it was put right', async () => {
  const held = await paidPayment(service, { capture: false });
  const canceled = await call(service, 'POST', `/v1/payments/${held.id}/cancel`);
  assert.equal(canceled.statusCode, 200, canceled.body);
  await service.db.run(sql`
    update checkout.attempts set reversal = 'refused', reverse_at = null where payment_id = ${held.id}`);
  const paid = await paidPayment(service);
  await service.db.run(sql`
    insert into checkout.contradictions (merchant_id, reference, kind, payment_id, found_at)
    values (${demoMerchant.merchantId}, gen_random_uuid(), 'refund', ${paid.id}, now())`);
  const breaches = async () => {
    const { stdout } = await cli.run('verify-ledger --json');
    const found = JSON.parse(stdout) as { breaches: { invariant: string }[] };
    return found.breaches.map(({ invariant }) => invariant);
  };
  const gauge = async () =>
    /^checkout_contradictions (\d+)$/m.exec((await service.app.inject({ url: '/metrics' })).body)?.[1];
  assert.deepEqual(await breaches(), ['reversal_is_not_refused', 'what_was_settled_stands']);
  assert.equal(await gauge(), '1');

  type Resolved = { resolved: { kind: string }[] };
  const first = await cli.json<Resolved>(
    `payment resolve ${held.id} --note "Paid back by transfer" --actor aysel`,
  );
  assert.deepEqual(
    first.resolved.map(({ kind }) => kind),
    ['reversal'],
  );
  assert.match(
    await cli.text(`payment resolve ${paid.id} --note "Shop told" --actor aysel`),
    /^The refund .* is resolved/,
  );
  assert.deepEqual(await breaches(), []);
  assert.equal(await gauge(), '0');

  assert.match(await cli.text(`payment show ${held.id}`), /reversal .* aysel +Paid back by transfer/);
  await cli.json(`payment show ${paid.id}`);
  const { entries } = await cli.json<{ entries: Entry[] }>('audit tail --action payment.resolved');
  assert.deepEqual(
    entries.map(({ actor, object }) => `${actor} ${object}`),
    [`aysel ${held.id}`, `aysel ${paid.id}`],
  );
  await cli.allRefused([
    [`payment resolve ${paid.id} --note "Once more"`, 1, /Nothing about the payment .* waits to be resolved/],
    [`payment resolve ${paid.id}`, 2, /required option '--note <text>'/],
  ]);
});
