import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { backchannelLogoutJob, type LogoutClaims } from '../../src/identity/backchannel-logout.ts';
import { cleanUpJob, measureCleanUpBacklog } from '../../src/identity/clean-up.ts';
import type { Client } from '../../src/identity/domain/client.ts';
import type { UserId } from '../../src/identity/domain/user.ts';
import { expireSessionsJob } from '../../src/identity/expire-sessions.ts';
import { endClientSession, endSession } from '../../src/identity/session-end.ts';
import { sql } from '../../src/platform/db.ts';
import { startJobs } from '../../src/platform/jobs.ts';
import { createLogger } from '../../src/platform/log.ts';
import { testDatabase, untilSomebodyWaits } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { listen } from '../support/listen.ts';
import {
  addClient,
  addSession,
  type QueuedNotice,
  queuedNotices,
  sessionState,
} from '../support/sessions.ts';

const { url, db } = await testDatabase();
/** For the clean-up alone: its tests count whole tables. */
const { db: own } = await testDatabase();

const now = () => new Date('2026-01-10T12:00:00Z');
const minutesAgo = (minutes: number, extraMs = 0) => new Date(now().getTime() - minutes * 60_000 + extraMs);
const daysAgo = (days: number, extraMs = 0) => minutesAgo(days * 24 * 60, extraMs);
const newUserId = () => randomUUID() as UserId;
const issuer = 'https://id.example';

type Call = { method: string; path: string; contentType: string; form: URLSearchParams };

/** A partner's server: it keeps what it was sent, and answers as it is told. */
async function startPartner(): Promise<{
  url: string;
  calls: Call[];
  answer: { status: number; body: string };
}> {
  const calls: Call[] = [];
  const answer = { status: 200, body: '' };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    calls.push({
      method: request.method ?? '',
      path: request.url ?? '',
      contentType: request.headers['content-type'] ?? '',
      form: new URLSearchParams(Buffer.concat(chunks).toString()),
    });
    response.writeHead(answer.status, { location: '/elsewhere' }).end(answer.body);
  });
  return { url: `http://127.0.0.1:${await listen(server)}/logout?from=us`, calls, answer };
}

const outgoing = { allowPrivate: true, timeoutMs: 60_000, maxResponseBytes: 1_000 };
const signed: { client: Client; claims: LogoutClaims }[] = [];
const logoutDeps = {
  db,
  now,
  issuer,
  outgoing,
  signLogoutToken: (client: Client, claims: LogoutClaims) => {
    signed.push({ client, claims });
    return `secret-token+${claims.jti}`;
  },
};
const logoutJob = backchannelLogoutJob(logoutDeps);

type Attempt = { attempt: number; status: number | null; outcome: string; detail: string | null };
const attemptsOf = (notice: QueuedNotice) =>
  db.many<Attempt>(sql`
    select attempt, status, outcome, detail from identity.logout_deliveries
    where user_id = ${notice.userId} and delivery_id = ${notice.deliveryId}
      and client_id = ${notice.clientId} and sid = ${notice.sid} and at = ${now()} order by attempt`);

/** A person who is logged in at one partner, right after they have logged out. */
async function loggedOut(backchannelLogoutUri: string): Promise<QueuedNotice> {
  const userId = newUserId();
  const clientId = await addClient(db, { backchannelLogoutUri });
  const sid = await addSession(db, { userId, clientIds: [clientId], authTime: now() });
  assert.equal(await endSession(db, { userId, sid, reason: 'logout', at: now() }), true);
  const [notice, ...more] = await queuedNotices(db, [sid]);
  assert.ok(notice);
  assert.deepEqual(more, []);
  return notice;
}

test('a logout ends one session with all its parts and queues one notice for each client that wants one', async () => {
  const userId = newUserId();
  const uri = 'https://partner.example/logout';
  const [one, two, silent, disabled] = [
    await addClient(db, { backchannelLogoutUri: uri }),
    await addClient(db, { backchannelLogoutUri: uri }),
    await addClient(db),
    await addClient(db, { backchannelLogoutUri: uri }),
  ];
  await db.run(sql`update identity.clients set disabled_at = ${now()} where client_id = ${disabled}`);
  const sid = await addSession(db, { userId, clientIds: [one, two, silent, disabled], authTime: now() });
  const other = await addSession(db, { userId, clientIds: [one], authTime: now() });

  assert.equal(await endSession(db, { userId, sid, reason: 'logout', at: now() }), true);
  assert.deepEqual(await sessionState(db, sid), {
    ended: true,
    reason: 'logout',
    liveClients: [],
    liveGrants: [],
  });
  assert.deepEqual(await sessionState(db, other), {
    ended: false,
    reason: null,
    liveClients: [one],
    liveGrants: [one],
  });
  const notices = await queuedNotices(db, [sid, other]);
  assert.deepEqual(
    notices.map(({ deliveryId: _, ...notice }) => notice),
    [one, two].sort().map((clientId) => ({ userId, sid, clientId })),
  );

  assert.equal(await endSession(db, { userId, sid, reason: 'logout', at: now() }), false);
  assert.equal((await queuedNotices(db, [sid])).length, 2);
});

test("nobody ends another person's session", async () => {
  const [userId, stranger] = [newUserId(), newUserId()];
  const sid = await addSession(db, { userId, authTime: now() });
  assert.equal(await endSession(db, { userId: stranger, sid, reason: 'logout', at: now() }), false);
  assert.equal((await sessionState(db, sid)).ended, false);
});

test('ten logouts of one session at once notify each client once', async () => {
  const userId = newUserId();
  const clientId = await addClient(db, { backchannelLogoutUri: 'https://partner.example/logout' });
  const sid = await addSession(db, { userId, clientIds: [clientId], authTime: now() });
  const results = await Promise.all(
    Array.from({ length: 10 }, () => endSession(db, { userId, sid, reason: 'logout', at: now() })),
  );
  assert.equal(results.filter(Boolean).length, 1);
  assert.equal((await queuedNotices(db, [sid])).length, 1);
});

test('what an exchange under way produces dies with the session that ends meanwhile', async () => {
  const userId = newUserId();
  const clientId = await addClient(db, { backchannelLogoutUri: 'https://partner.example/logout' });
  const sid = await addSession(db, { userId, authTime: now() });
  let ended: Promise<boolean> | undefined;
  await db.transaction(async (tx) => {
    await tx.one(sql`select sid from identity.sessions where user_id = ${userId} and sid = ${sid} for share`);
    ended = endSession(db, { userId, sid, reason: 'logout', at: now() });
    await untilSomebodyWaits(db);
    await tx.run(sql`
      insert into identity.client_sessions (user_id, sid, client_id, scopes, created_at)
      values (${userId}, ${sid}, ${clientId}, '{}', ${now()})`);
    await tx.run(sql`
      insert into identity.grants
        (user_id, grant_id, client_id, sid, scopes, token_hash, rotated_at, expires_at, created_at, phone, auth_time,
          acr, amr)
      values (${userId}, ${randomUUID()}, ${clientId}, ${sid}, '{}', ${randomBytes(32)}, ${now()}, ${now()}, ${now()},
        '+994500000000', ${now()}, 'urn:tollgate:otp-sms', '{sms}')`);
  });
  assert.equal(await ended, true);
  const { liveClients, liveGrants } = await sessionState(db, sid);
  assert.deepEqual([liveClients, liveGrants], [[], []]);
  assert.equal((await queuedNotices(db, [sid])).length, 1);
});

test("a revocation ends one client's part and tells nobody, then or later", async () => {
  const userId = newUserId();
  const uri = 'https://partner.example/logout';
  const [leaving, staying] = [
    await addClient(db, { backchannelLogoutUri: uri }),
    await addClient(db, { backchannelLogoutUri: uri }),
  ];
  const sid = await addSession(db, { userId, clientIds: [leaving, staying], authTime: now() });
  const revoke = () =>
    db.transaction((tx) =>
      endClientSession(tx, { userId, sid, clientId: leaving, reason: 'revoked', at: now() }),
    );
  assert.equal(await revoke(), true);
  assert.equal(await revoke(), false);
  assert.deepEqual(await sessionState(db, sid), {
    ended: false,
    reason: null,
    liveClients: [staying],
    liveGrants: [staying],
  });
  assert.deepEqual(await queuedNotices(db, [sid]), []);
  const { reason } = await db.one<{ reason: string }>(
    sql`select revoke_reason as reason from identity.grants where sid = ${sid} and client_id = ${leaving}`,
  );
  assert.equal(reason, 'revoked');

  await endSession(db, { userId, sid, reason: 'logout', at: now() });
  assert.deepEqual(
    (await queuedNotices(db, [sid])).map((notice) => notice.clientId),
    [staying],
  );
});

test('the partner gets a logout token as the specification wants it', async () => {
  const partner = await startPartner();
  const notice = await loggedOut(partner.url);
  await logoutJob.run(notice);
  const { client, claims } = signed.at(-1) ?? {};
  assert.ok(client && claims);
  assert.equal(client.clientId, notice.clientId);
  const { jti, ...rest } = claims;
  const seconds = now().getTime() / 1000;
  assert.deepEqual(rest, {
    iss: issuer,
    aud: notice.clientId,
    iat: seconds,
    exp: seconds + 120,
    sub: notice.userId,
    sid: notice.sid,
    events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
  });
  const [call, ...more] = partner.calls;
  assert.deepEqual(more, []);
  assert.deepEqual([call?.method, call?.path], ['POST', '/logout?from=us']);
  assert.equal(call?.contentType, 'application/x-www-form-urlencoded');
  assert.deepEqual([...(call?.form ?? [])], [['logout_token', `secret-token+${jti}`]]);
  assert.deepEqual(await attemptsOf(notice), [
    { attempt: 1, status: 200, outcome: 'delivered', detail: null },
  ]);

  // The queue may run a job twice.
  await logoutJob.run(notice);
  assert.equal(partner.calls.length, 1);
});

test('204 counts as delivered; any other answer is a failure that is tried again with a new token', async () => {
  const partner = await startPartner();
  const notice = await loggedOut(partner.url);
  for (const status of [500, 400, 302, 202]) {
    Object.assign(partner.answer, { status, body: 'you sent secret-token' });
    await assert.rejects(Promise.resolve(logoutJob.run(notice)), {
      message: `back-channel logout of ${notice.clientId}: The receiver answered ${status}.`,
    });
  }
  Object.assign(partner.answer, { status: 204, body: '' });
  await logoutJob.run(notice);
  const attempts = await attemptsOf(notice);
  assert.deepEqual(
    attempts.map(({ attempt, status, outcome }) => [attempt, status, outcome]),
    [
      [1, 500, 'failed'],
      [2, 400, 'failed'],
      [3, 302, 'failed'],
      [4, 202, 'failed'],
      [5, 204, 'delivered'],
    ],
  );
  assert.equal(new Set(partner.calls.map((call) => call.form.get('logout_token'))).size, 5);
  assert.doesNotMatch(JSON.stringify(attempts), /secret-token/);
});

test('a partner that is not there is a failure without a status', async () => {
  const notice = await loggedOut(`http://127.0.0.1:${await freePort()}/logout`);
  await assert.rejects(Promise.resolve(logoutJob.run(notice)), /connection to the receiver failed/);
  const [attempt] = await attemptsOf(notice);
  assert.deepEqual([attempt?.status, attempt?.outcome], [null, 'failed']);
});

test('an address that the guard does not let through is refused, and the partner hears nothing', async () => {
  const partner = await startPartner();
  const strict = backchannelLogoutJob({ ...logoutDeps, outgoing: { ...outgoing, allowPrivate: false } });
  const cases = [
    [partner.url, 'The address must begin with https://.'],
    [partner.url.replace('http:', 'https:'), 'The host of the address does not exist or is not public.'],
  ] as const;
  for (const [address, detail] of cases) {
    const notice = await loggedOut(address);
    await assert.rejects(Promise.resolve(strict.run(notice)));
    assert.deepEqual(await attemptsOf(notice), [{ attempt: 1, status: null, outcome: 'refused', detail }]);
  }
  assert.deepEqual(partner.calls, []);
});

test('a client that is gone, switched off or without an address by now is left alone', async () => {
  const partner = await startPartner();
  const notices = [
    await loggedOut(partner.url),
    await loggedOut(partner.url),
    await loggedOut(partner.url),
  ] as const;
  const [gone, disabled, silent] = notices.map((notice) => notice.clientId);
  await db.run(sql`delete from identity.clients where client_id = ${gone}`);
  await db.run(sql`update identity.clients set disabled_at = ${now()} where client_id = ${disabled}`);
  await db.run(sql`update identity.clients set backchannel_logout_uri = null where client_id = ${silent}`);
  for (const notice of notices) {
    await logoutJob.run(notice);
    assert.deepEqual(await attemptsOf(notice), []);
  }
  assert.deepEqual(partner.calls, []);
});

test('a payload that is not a notice is a bug', async () => {
  await assert.rejects(Promise.resolve(logoutJob.run({ userId: newUserId() })));
  await assert.rejects(Promise.resolve(logoutJob.run(null)));
});

test('through the queue: a logout reaches its partner, after a failure too, and no log or table holds the token', async () => {
  const partner = await startPartner();
  partner.answer.status = 500;
  await db.run(sql`delete from graphile_worker._private_jobs`);
  const notice = await loggedOut(partner.url);
  const log: string[] = [];
  const running = startJobs({
    url,
    jobs: [logoutJob],
    concurrency: 2,
    log: createLogger({ level: 'trace', destination: { write: (line) => void log.push(line) } }),
  });
  after(() => running.stop());
  const queued = () =>
    db.maybeOne<{ attempts: number; maxAttempts: number; lastError: string | null }>(
      sql`select attempts, max_attempts, last_error from graphile_worker._private_jobs`,
    );
  const until = async (condition: () => Promise<boolean>) => {
    while (!(await condition())) await delay(10);
  };
  let failed: Awaited<ReturnType<typeof queued>>;
  await until(async () => {
    failed = await queued();
    return failed?.lastError != null;
  });
  assert.deepEqual([failed?.attempts, failed?.maxAttempts], [1, 12]);
  assert.match(failed?.lastError ?? '', /The receiver answered 500/);

  partner.answer.status = 200;
  // The next attempt is seconds away; this brings it forward.
  await db.run(sql`update graphile_worker._private_jobs set run_at = now()`);
  await until(async () => (await queued()) === undefined);
  assert.deepEqual(
    (await attemptsOf(notice)).map(({ attempt, status, outcome }) => [attempt, status, outcome]),
    [
      [1, 500, 'failed'],
      [2, 200, 'delivered'],
    ],
  );
  assert.equal(partner.calls.length, 2);
  assert.notDeepEqual(log, []);
  assert.doesNotMatch(log.join('') + failed?.lastError, /secret-token/);
});

const expireJob = expireSessionsJob({ db, now });

test('a session is over after 30 idle minutes or at its end, and not a moment earlier', async () => {
  const userId = newUserId();
  const clientId = await addClient(db, { backchannelLogoutUri: 'https://partner.example/logout' });
  const add = (given: { lastSeenAt: Date; expiresAt: Date }) =>
    addSession(db, { userId, clientIds: [clientId], authTime: minutesAgo(600), ...given });
  const soon = minutesAgo(-1);
  const idle = await add({ lastSeenAt: minutesAgo(30), expiresAt: soon });
  const almostIdle = await add({ lastSeenAt: minutesAgo(30, 1), expiresAt: soon });
  const atItsEnd = await add({ lastSeenAt: now(), expiresAt: now() });
  const beforeItsEnd = await add({ lastSeenAt: now(), expiresAt: minutesAgo(0, 1) });

  await expireJob.run({});
  for (const sid of [idle, atItsEnd]) {
    assert.deepEqual(await sessionState(db, sid), {
      ended: true,
      reason: 'expired',
      liveClients: [],
      liveGrants: [],
    });
  }
  for (const sid of [almostIdle, beforeItsEnd]) {
    const { ended, liveGrants } = await sessionState(db, sid);
    assert.deepEqual([ended, liveGrants], [false, [clientId]]);
  }
  const notified = (await queuedNotices(db, [idle, almostIdle, atItsEnd, beforeItsEnd])).map(
    ({ sid }) => sid,
  );
  assert.deepEqual(notified, [idle, atItsEnd].sort());
});

test('three jobs at once end more sessions than fit into a batch, and tell each client once', async () => {
  const clientId = await addClient(db, { backchannelLogoutUri: 'https://partner.example/logout' });
  const sids: string[] = [];
  for (let i = 0; i < 250; i++) {
    const userId = newUserId();
    sids.push(await addSession(db, { userId, clientIds: [clientId], authTime: minutesAgo(60) }));
  }
  await Promise.all([expireJob.run({}), expireJob.run({}), expireJob.run({})]);
  const { open } = await db.one<{ open: number }>(
    sql`select count(*)::int as open from identity.sessions where sid = any (${sids}) and ended_at is null`,
  );
  assert.equal(open, 0);
  const notices = await queuedNotices(db, sids);
  assert.equal(notices.length, sids.length);
  assert.equal(new Set(notices.map((notice) => notice.sid)).size, sids.length);
});

test('a session that is being used at this moment is left alone, and lives on when it was', async () => {
  const userId = newUserId();
  const [used, held] = [
    await addSession(db, { userId, authTime: minutesAgo(60) }),
    await addSession(db, { userId, authTime: minutesAgo(60) }),
  ];
  await db.transaction(async (tx) => {
    await tx.run(sql`update identity.sessions set last_seen_at = ${now()} where sid = ${used}`);
    await tx.one(sql`select sid from identity.sessions where sid = ${held} for share`);
    await expireJob.run({});
    assert.equal((await sessionState(db, used)).ended, false);
  });
  await expireJob.run({});
  assert.equal((await sessionState(db, used)).ended, false);
  assert.equal((await sessionState(db, held)).reason, 'expired');
});

const emptyTables = () =>
  own.run(sql`
    truncate identity.authorization_codes, identity.grants, identity.sessions, identity.client_sessions,
      identity.budgets, identity.sms_conversion, identity.one_time_codes, identity.logout_deliveries,
      identity.events`);

/** One row of each table on either side of the line, a millisecond apart. */
async function addRowsAroundTheLine(): Promise<void> {
  for (const [name, extraMs] of [
    ['due', -1],
    ['kept', 0],
  ] as const) {
    const hash = randomBytes(32);
    const id = newUserId();
    await own.run(sql`
      insert into identity.authorization_codes (user_id, code_hash, client_id, sid, redirect_uri, scopes, expires_at)
      values (${id}, ${hash}, ${name}, ${id}, '', '{}', ${minutesAgo(10, extraMs)})`);
    await own.run(sql`
      insert into identity.grants
        (user_id, grant_id, client_id, sid, scopes, token_hash, rotated_at, expires_at, created_at, phone, auth_time,
          acr, amr)
      values (${id}, ${id}, ${name}, ${id}, '{}', ${hash}, ${now()}, ${daysAgo(1, extraMs)}, ${now()},
        '+994500000000', ${now()}, 'urn:tollgate:otp-sms', '{sms}')`);
    await own.run(sql`
      insert into identity.sessions (user_id, sid, cookie_hash, phone, auth_time, acr, amr, last_seen_at, expires_at,
        ended_at, end_reason)
      values (${id}, ${id}, ${hash}, '', ${daysAgo(40)}, ${name}, '{}', ${daysAgo(40)}, ${daysAgo(40)},
        ${daysAgo(30, extraMs)}, 'expired')`);
    await own.run(sql`
      insert into identity.client_sessions (user_id, sid, client_id, scopes, created_at, ended_at)
      values (${id}, ${id}, ${name}, '{}', ${daysAgo(40)}, ${daysAgo(30)})`);
    await own.run(sql`
      insert into identity.budgets (key, window_start, expires_at)
      values (${name}, ${now()}, ${minutesAgo(0, extraMs)})`);
    await own.run(sql`
      insert into identity.sms_conversion (prefix, slot) values (${name}, ${daysAgo(1, extraMs)})`);
    await own.run(sql`
      insert into identity.one_time_codes
        (phone, browser_hash, code_hash, created_at, expires_at, known_device)
      values (${name}, ${hash}, ${hash}, ${daysAgo(2, extraMs)}, ${now()}, false)`);
    await own.run(sql`
      insert into identity.logout_deliveries (user_id, delivery_id, client_id, sid, attempt, at, outcome)
      values (${id}, ${id}, ${name}, ${id}, 1, ${daysAgo(30, extraMs)}, 'failed')`);
    await own.run(sql`
      insert into identity.events (client_id, event_id, created_at, user_id, object_id, type, payload)
      values (${name}, ${id}, ${daysAgo(30, extraMs)}, ${id}, ${id}, 'session.ended', '{}')`);
  }
}

const rowsByTable = () =>
  own.many<{ table: string; names: string[] }>(sql`
    select "table", array_agg(name order by name) as names from (
      select 'authorization_codes' as "table", client_id as name from identity.authorization_codes
      union all select 'budgets', key from identity.budgets
      union all select 'client_sessions', client_id from identity.client_sessions
      union all select 'events_other', client_id from identity.events
      union all select 'grants', client_id from identity.grants
      union all select 'logout_deliveries_other', client_id from identity.logout_deliveries
      union all select 'one_time_codes_other', phone from identity.one_time_codes
      union all select 'sessions', acr from identity.sessions
      union all select 'sms_conversion', prefix from identity.sms_conversion
    ) rows group by "table" order by "table"`);

const tables = [
  'authorization_codes',
  'budgets',
  'client_sessions',
  'events_other',
  'grants',
  'logout_deliveries_other',
  'one_time_codes_other',
  'sessions',
  'sms_conversion',
];

test('the clean-up removes exactly what is due, and the backlog shows it until then', async () => {
  await emptyTables();
  await addRowsAroundTheLine();
  const registry = new Registry();
  measureCleanUpBacklog({ db: own, now, registry });
  const backlog = async () => {
    const metric = await registry.getSingleMetric('identity_cleanup_backlog')?.get();
    return Object.fromEntries(metric?.values.map(({ labels, value }) => [labels.table, value]) ?? []);
  };
  const measured = tables.filter((table) => table !== 'client_sessions');
  assert.deepEqual(await backlog(), Object.fromEntries(measured.map((table) => [table, 1])));

  await cleanUpJob({ db: own, now }).run({});
  assert.deepEqual(
    await rowsByTable(),
    tables.map((table) => ({ table, names: ['kept'] })),
  );
  assert.deepEqual(await backlog(), Object.fromEntries(measured.map((table) => [table, 0])));
});

test('a session that is open stays, however old it is', async () => {
  await emptyTables();
  const sid = await addSession(own, { userId: newUserId(), clientIds: ['any'], authTime: daysAgo(100) });
  await cleanUpJob({ db: own, now }).run({});
  assert.deepEqual((await sessionState(own, sid)).liveClients, ['any']);
});

test('the clean-up works in batches up to its bound, and two at once do not disturb each other', async () => {
  await emptyTables();
  const add = () =>
    own.run(sql`
      insert into identity.budgets (key, window_start, expires_at)
      select 'key ' || i, ${daysAgo(1)}::timestamptz, ${daysAgo(1)}::timestamptz from generate_series(1, 25) i`);
  const left = async () =>
    (await own.one<{ count: number }>(sql`select count(*)::int as count from identity.budgets`)).count;
  await add();
  await cleanUpJob({ db: own, now, batches: { size: 5, most: 2 } }).run({});
  assert.equal(await left(), 15);
  await cleanUpJob({ db: own, now, batches: { size: 5, most: 4 } }).run({});
  assert.equal(await left(), 0);
  await add();
  const job = cleanUpJob({ db: own, now, batches: { size: 1, most: 100 } });
  await Promise.all([job.run({}), job.run({}), job.run({})]);
  await job.run({});
  assert.equal(await left(), 0);
});

test('a row that somebody holds does not hold up the clean-up', async () => {
  await emptyTables();
  await own.run(sql`
    insert into identity.budgets (key, window_start, expires_at)
    values ('held', ${now()}, ${daysAgo(1)}), ('free', ${now()}, ${daysAgo(1)})`);
  const keys = () => own.many<{ key: string }>(sql`select key from identity.budgets`);
  await own.transaction(async (tx) => {
    await tx.run(sql`update identity.budgets set expires_at = ${daysAgo(-1)} where key = 'held'`);
    await cleanUpJob({ db: own, now }).run({});
    assert.deepEqual(await keys(), [{ key: 'held' }]);
  });
  await cleanUpJob({ db: own, now }).run({});
  assert.deepEqual(await keys(), [{ key: 'held' }]);
});

test('the clean-up makes the partitions of the coming days and drops the old ones', async () => {
  await emptyTables();
  const partitions = async () =>
    (
      await own.many<{ name: string }>(sql`
        select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
        where i.inhparent = 'identity.one_time_codes'::regclass order by 1`)
    ).map(({ name }) => name.replace('one_time_codes_', ''));
  await cleanUpJob({ db: own, now: () => daysAgo(9) }).run({});
  assert.deepEqual((await partitions()).slice(0, 2), ['20260101', '20260102']);
  await cleanUpJob({ db: own, now }).run({});
  const days = ['08', '10', '11', '12', '13', '14', '15', '16', '17'].map((day) => `202601${day}`);
  assert.deepEqual(await partitions(), [...days, 'other']);
});

test('when the backlog cannot be counted the other figures are still there', async () => {
  const registry = new Registry();
  const away = { ...own, one: () => Promise.reject(new Error('the database is away')) };
  measureCleanUpBacklog({ db: away, now, registry });
  assert.match(await registry.metrics(), /# TYPE identity_cleanup_backlog gauge/);
  assert.doesNotMatch(await registry.metrics(), /identity_cleanup_backlog\{/);
});
