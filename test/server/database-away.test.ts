import assert from 'node:assert/strict';
import { get as startGet } from 'node:http';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../src/platform/embedded-postgres.ts';
import { kill, processesOn, startOwnServer, temporaryFolder, undoLater, until } from '../support/server.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

/** A request without an answer for so long counts as one that hangs. */
const hangMs = 15_000;

test('whatever happens to the database, every request is answered 200 or 503, and the server recovers by itself', async (t) => {
  const dataDir = await temporaryFolder(t);
  let database = await startEmbeddedPostgres({ dataDir, log: () => {} });
  undoLater(t, () => database.stop());
  const proxy = await startTcpProxy(portOf(database.url));
  undoLater(t, () => proxy.close());
  const throughProxy = new URL(database.url);
  throughProxy.port = String(proxy.port);
  const server = await startOwnServer(t, { DATABASE_URL: throughProxy.href, JOBS: 'on' });

  const answers: Promise<Answer>[] = [];
  let asking = true;
  const traffic = (async () => {
    // 20 a second; the bound is far beyond the length of this test.
    for (let sent = 0; asking && sent < 3_000; sent++) {
      answers.push(ask(server.port, '/health/ready'));
      await delay(50);
    }
  })();
  undoLater(t, async () => {
    asking = false;
    await traffic;
  });

  const readyAgain = async () => {
    const [database, page] = await Promise.all([ask(server.port, '/health/ready'), ask(server.port, '/api')]);
    assert.equal(page.status, 200, 'what needs no database is served all the time');
    return database.status === 200;
  };
  const outage = async (
    name: string,
    begin: () => Promise<void>,
    lengthMs: number,
    end: () => Promise<void>,
  ) => {
    await begin();
    await until(`${name}: readiness is withdrawn`, async () => !(await readyAgain()));
    await delay(lengthMs);
    await end();
    const endedAt = performance.now();
    await until(`${name}: ready again`, readyAgain);
    t.diagnostic(`${name}: ready again ${Math.round(performance.now() - endedAt)} ms after its end`);
    await until(`${name}: jobs are waited for again`, () => isListeningForJobs(database.url));
    t.diagnostic(`${name}: jobs again ${Math.round(performance.now() - endedAt)} ms after its end`);
    await delay(300);
  };
  const pass = () => proxy.become('pass');

  await until('jobs are waited for', () => isListeningForJobs(database.url));
  await outage('frozen', () => proxy.become('freeze'), 6_000, pass);
  await outage('connections torn', () => proxy.become('reset'), 1_500, pass);
  await outage('connections refused', () => proxy.become('refuse'), 1_500, pass);
  await outage(
    'PostgreSQL restarted',
    () => database.stop(),
    500,
    async () => {
      database = await startEmbeddedPostgres({ dataDir, log: () => {} });
      proxy.leadTo(portOf(database.url));
    },
  );

  // A crash is over so soon that perhaps no request notices; it only has to be survived.
  const crashedAt = performance.now();
  for (const pid of await processesOn(dataDir)) kill(pid, 'SIGKILL');
  await until('crashed: jobs are waited for again', () => isListeningForJobs(database.url));
  await until('crashed: ready again', readyAgain);
  t.diagnostic(`crashed: all is well again after ${Math.round(performance.now() - crashedAt)} ms`);
  await delay(1_000);

  asking = false;
  await traffic;
  const all = await Promise.all(answers);
  t.diagnostic(`${all.length} answers: ${JSON.stringify(countsOf(all))}`);
  t.diagnostic(`slowest answer: ${Math.max(...all.map((answer) => answer.durationMs))} ms`);
  for (const answer of all) {
    assert.ok(
      answer.status === 200 || answer.status === 503,
      `answered with ${answer.failure ?? answer.status}`,
    );
    if (answer.status === 503) assert.match(answer.retryAfter ?? '', /^\d+$/);
  }
  assert.ok(all.some((answer) => answer.status === 503));
  assert.equal(all.at(-1)?.status, 200);

  assert.ok(!server.hasEnded());
  assert.deepEqual(
    server.log().filter((line) => line.level === 'fatal'),
    [],
  );
  server.child.kill('SIGTERM');
  assert.equal(await server.ended, 0);
});

type Answer = {
  status?: number | undefined;
  retryAfter?: string | undefined;
  failure?: string;
  durationMs: number;
};

/** Never rejects; a request that hangs is given up with a failure of that name. */
function ask(port: number, path: string): Promise<Answer> {
  const startedAt = performance.now();
  const durationMs = () => Math.round(performance.now() - startedAt);
  return new Promise((resolve) => {
    const request = startGet({ host: '127.0.0.1', port, path, agent: false }, (response) => {
      response.on('end', () => {
        const { statusCode: status, headers } = response;
        resolve({ status, retryAfter: headers['retry-after'], durationMs: durationMs() });
      });
      response.resume();
    });
    const timer = setTimeout(() => request.destroy(new Error('a hang')), hangMs);
    request.on('close', () => clearTimeout(timer));
    request.on('error', (error) => resolve({ failure: error.message, durationMs: durationMs() }));
  });
}

function countsOf(answers: Answer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, failure } of answers) {
    const key = failure ?? String(status);
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

/** Asked of PostgreSQL itself, past the proxy: a session of the job runner that is told of new jobs. */
async function isListeningForJobs(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    const found = await client.query(
      `select from pg_stat_activity
       where application_name = 'tollgate jobs' and state = 'idle' and query ilike 'listen%'`,
    );
    return (found.rowCount ?? 0) > 0;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}
