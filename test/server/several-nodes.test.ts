import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get as startGet, request as startRequest } from 'node:http';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { packageRoot } from '../../src/package.ts';
import { readMigrations } from '../../src/platform/migrate.ts';
import { testDatabaseUrl } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { isAlive, kill, type OwnServer, startOwnServer, temporaryFolder, until } from '../support/server.ts';

test('two servers started at once on an empty database migrate it once, and both serve', async (t) => {
  const url = await testDatabaseUrl({ empty: true });
  const servers = await Promise.all([
    startOwnServer(t, { DATABASE_URL: url }),
    startOwnServer(t, { DATABASE_URL: url }),
  ]);
  const names = readMigrations(new URL('migrations/', packageRoot)).map((migration) => migration.name);
  assert.deepEqual(await appliedMigrations(url), names);

  const messages = servers.flatMap((server) => server.log().map((line) => line.msg ?? ''));
  const applied = messages.filter((message) => /^migration \S+ applied$/.test(message));
  assert.deepEqual(
    applied.sort(),
    names.map((name) => `migration ${name} applied`),
  );
  for (const server of servers) assert.equal(await status(server.port, '/api'), 200);

  // One may go; the other serves on.
  const [first, second] = servers as [OwnServer, OwnServer];
  first.child.kill('SIGTERM');
  assert.equal(await first.ended, 0);
  assert.equal(await status(second.port, '/health/ready'), 200);
  second.child.kill('SIGTERM');
  assert.equal(await second.ended, 0);
});

test('two workers share one port and their figures are summed; a killed one is replaced; SIGTERM stops all', async (t) => {
  const dataDir = await temporaryFolder(t);
  const adminPort = await freePort();
  const env = { DATA_DIR: dataDir, WORKERS: '2', ADMIN_PORT: String(adminPort) };
  const server = await startOwnServer(t, env);

  const requests = 60;
  for (let sent = 0; sent < requests; sent++) assert.equal(await status(server.port, '/api'), 200);
  await until('the log shows all requests', () => servedBy(server).length >= requests);
  const workers = [...new Set(servedBy(server))];
  assert.equal(workers.length, 2, 'both have served');
  assert.ok(!workers.includes(Number(server.child.pid)));
  assert.equal(await requestsCounted(adminPort, '/api'), requests);

  const [victim = 0, other = 0] = workers;
  kill(victim, 'SIGKILL');
  let lost = 0;
  await until('another worker serves in its place', async () => {
    // A connection that Node's cluster was just handing to the dead one is lost; everything after it is served.
    await status(server.port, '/api').catch(() => lost++);
    return servedBy(server).some((pid) => pid !== victim && pid !== other);
  });
  t.diagnostic(`${lost} connections lost with the killed worker`);
  const died = server.log().filter((line) => line.msg === 'worker died; starting another');
  assert.deepEqual(
    died.map((line) => line.worker),
    [victim],
  );
  assert.equal(await status(adminPort, '/health/ready'), 200);
  assert.ok((await requestsCounted(adminPort, '/api')) > 0);

  const everybody = new Set(servedBy(server));
  server.child.kill('SIGTERM');
  assert.equal(await server.ended, 0, server.stdout());
  for (const pid of everybody) assert.ok(!(await isAlive(pid)), `worker ${pid} has ended`);
  await assert.rejects(status(server.port, '/api'), { code: 'ECONNREFUSED' });
});

test('workers end by themselves when their primary is killed, and the port is free again', async (t) => {
  const url = await testDatabaseUrl();
  const env = { DATABASE_URL: url, WORKERS: '2', ADMIN_PORT: String(await freePort()) };
  const server = await startOwnServer(t, env);
  for (let sent = 0; sent < 10; sent++) await status(server.port, '/api');
  await until('both have served', () => new Set(servedBy(server)).size === 2);
  const workers = [...new Set(servedBy(server))];

  server.child.kill('SIGKILL');
  await until(
    'the workers have ended',
    async () => !(await Promise.all(workers.map(isAlive))).includes(true),
  );
  const next = await startOwnServer(t, { ...env, PORT: String(server.port) });
  assert.equal(await status(next.port, '/api'), 200);
  next.child.kill('SIGTERM');
  assert.equal(await next.ended, 0);
});

test('a request that a worker has accepted is answered although the primary is killed', async (t) => {
  const env = { DATABASE_URL: await testDatabaseUrl(), WORKERS: '2', ADMIN_PORT: String(await freePort()) };
  const server = await startOwnServer(t, env);
  const request = startRequest({
    ...{ host: '127.0.0.1', port: server.port, path: '/api', method: 'POST', agent: false },
    headers: { 'content-type': 'application/json', 'content-length': 2, expect: '100-continue' },
  });
  const answered = once(request, 'response');
  request.flushHeaders();
  await once(request, 'continue');
  server.child.kill('SIGKILL');
  await once(server.child, 'exit');
  await delay(200);
  request.end('{}');
  const [response] = await answered;
  response.resume();
  assert.equal(response.statusCode, 405);
  // The workers hold its output, so this is the end of the last of them.
  await server.ended;
});

/** Each time on a connection of its own, so that the workers take turns. */
function status(port: number, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = startGet({ host: '127.0.0.1', port, path, agent: false }, (response) => {
      response.on('end', () => resolve(response.statusCode ?? 0));
      response.on('error', reject);
      response.resume();
    });
    request.setTimeout(5_000, () => request.destroy(new Error('no answer')));
    request.on('error', reject);
  });
}

/** The process that served each request so far. */
function servedBy(server: OwnServer): number[] {
  return server.log().flatMap((line) => (line.msg === 'request' && line.pid ? [line.pid] : []));
}

async function requestsCounted(adminPort: number, route: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
  const lines = text.split('\n').filter((line) => {
    return (
      line.startsWith('http_server_request_duration_seconds_count{') && line.includes(`http_route="${route}"`)
    );
  });
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

async function appliedMigrations(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      'select name from tollgate.migrations order by name collate "C"',
    );
    return rows.map((row) => row.name);
  } finally {
    await client.end();
  }
}
