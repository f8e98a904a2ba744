import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { Agent, type IncomingHttpHeaders, type ServerResponse, request as startRequest } from 'node:http';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { testDatabaseUrl } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { basic, order } from '../support/merchant.ts';
import { startReceiver } from '../support/receiver.ts';
import {
  type OwnProcess,
  processesNaming,
  processesOn,
  type Scope,
  spawnOwnServer,
  startOwnServer,
  temporaryFolder,
  undoLater,
  until,
} from '../support/server.ts';

test('npm start gets ready, and SIGTERM to npm stops the server and its PostgreSQL', async (t) => {
  const dataDir = await temporaryFolder(t);
  for (const which of ['first', 'second']) {
    const startedAt = performance.now();
    const server = await startOwnServer(t, { DATA_DIR: dataDir }, ['npm', 'start']);
    t.diagnostic(`${which} npm start: ready after ${since(startedAt)}`);

    const stoppedAt = performance.now();
    server.child.kill('SIGTERM');
    assert.equal(await server.ended, 0, server.stderr());
    t.diagnostic(`${which} npm start: stopped after ${since(stoppedAt)}`);
    assert.ok(told(server, 'stopped'));
    assert.equal((await get(server.port, '/api')).failure, 'ECONNREFUSED');
    assert.deepEqual(await processesOn(dataDir), []);
  }
});

test('Ctrl-C under npm start, which reaches the server twice, stops it in order', async (t) => {
  const dataDir = await temporaryFolder(t);
  const server = await startOwnServer(t, { DATA_DIR: dataDir, DRAIN_SECONDS: '1' }, ['npm', 'start']);
  // A terminal signals every process of the group, and npm then passes the signal on as well.
  process.kill(-Number(server.child.pid), 'SIGINT');
  await server.ended;
  assert.ok(told(server, 'stopped'));
  assert.ok(!told(server, 'second signal: ending at once'));
  assert.deepEqual(await processesOn(dataDir), []);
});

test('SIGTERM in the middle of the first start leaves no PostgreSQL running', async (t) => {
  for (const [moment, program] of [
    ['while the database is being made', 'initdb'],
    ['while PostgreSQL is starting', 'postgres'],
  ] as const) {
    const dataDir = await temporaryFolder(t);
    const server = spawnOwnServer(t, { PORT: String(await freePort()), DATA_DIR: dataDir });
    const command = program === 'initdb' ? `${dataDir}/postgres.new-` : `-D ${dataDir}/postgres `;
    await until(`${program} runs`, async () => {
      assert.ok(!server.hasEnded(), server.stdout() + server.stderr());
      return (await processesNaming(command)).length > 0;
    });
    const signalledAt = performance.now();
    server.child.kill('SIGTERM');
    assert.equal(await server.ended, 0, server.stdout() + server.stderr());
    t.diagnostic(`signalled ${moment}: ended after ${since(signalledAt)}`);
    assert.deepEqual(await processesOn(dataDir), []);
  }
});

test('SIGTERM under load fails no accepted request, and asks each client to go elsewhere', async (t) => {
  await stopUnderLoad(t, {});
});

test('SIGTERM under load fails no accepted request of several workers either', async (t) => {
  await stopUnderLoad(t, { WORKERS: '2', ADMIN_PORT: String(await freePort()) });
});

async function stopUnderLoad(t: TestContext, settings: Record<string, string>): Promise<void> {
  // As behind a proxy, the requests have names, by which they are found in the server's log.
  const env = { DATABASE_URL: await testDatabaseUrl(), DRAIN_SECONDS: '5', TRUST_PROXY: '1', ...settings };
  const server = await startOwnServer(t, env);
  const adminPort = Number(settings.ADMIN_PORT ?? server.port);
  const keepAlive = new Agent({ keepAlive: true });
  undoLater(t, async () => keepAlive.destroy());

  // 50 a second on kept connections and 50 a second on fresh ones: one of each every 20 ms, until the server listens no more.
  let [draining, refused] = [false, false];
  const load: Promise<{ id: string; duringDrain: boolean; answer: Answer }>[] = [];
  const send = async (agent: Agent | false) => {
    const [id, duringDrain] = [randomUUID(), draining];
    const answer = await get(server.port, '/api', { agent, headers: { 'x-request-id': id } });
    if (answer.failure === 'ECONNREFUSED') refused = true;
    return { id, duringDrain, answer };
  };
  const pacing = (async () => {
    for (let tick = 0; tick < 3_000 && !refused; tick++) {
      load.push(send(keepAlive), send(false));
      await delay(20);
    }
  })();
  await delay(500);

  assert.equal((await get(adminPort, '/health/ready')).status, 200);
  server.child.kill('SIGTERM');
  await until('readiness is withdrawn', async () => {
    const { status, headers } = await get(adminPort, '/health/ready');
    if (status !== 503) return false;
    assert.equal(headers?.['retry-after'], '1');
    return true;
  });
  draining = true;
  const code = await server.ended;
  await pacing;
  const sent = await Promise.all(load);

  assert.ok(refused, 'the load went on until the server no longer listened');
  assert.equal(code, 0, server.stdout());
  const served = sent.filter(({ answer }) => answer.status !== undefined);
  const lost = sent.filter(({ answer }) => answer.failure && answer.failure !== 'ECONNREFUSED');
  t.diagnostic(
    `${sent.length} requests: ${served.length} served, of these ${served.filter((one) => one.duringDrain).length} ` +
      `while draining; ${sent.length - served.length - lost.length} refused; ${lost.length} not accepted`,
  );
  assert.deepEqual([...new Set(served.map(({ answer }) => answer.status))], [200]);
  assert.ok(served.some(({ answer }) => answer.reusedConnection));
  const drained = served.filter((one) => one.duringDrain);
  assert.ok(drained.length >= 10, `${drained.length} served while draining`);
  for (const { answer } of drained) assert.equal(answer.headers?.connection, 'close');

  // At the moment of closing a connection can have bytes of a request on their way: an idle one that the server
  // closes, or a new one that still waits in the kernel's queue. HTTP has no means against it (RFC 9112, 9.5), and
  // clients send such a request again, because not a byte of an answer has come. What the server has *read* it must
  // answer, and everything it has read is in its log.
  const read = new Set(server.log().map((line) => line.requestId));
  for (const { id, answer } of lost) {
    assert.ok(!answer.begun && !read.has(id), `request ${id} was accepted, and then ${answer.failure}`);
  }
}

test('a request whose body is still arriving at SIGTERM is answered', async (t) => {
  const server = await startOwnServer(t, { DATABASE_URL: await testDatabaseUrl(), DRAIN_SECONDS: '0' });
  const body = JSON.stringify({ slow: true });
  const request = startRequest({
    ...{ host: '127.0.0.1', port: server.port, path: '/api', method: 'POST', agent: new Agent() },
    headers: { 'content-type': 'application/json', 'content-length': body.length, expect: '100-continue' },
  });
  const answered = once(request, 'response');
  request.flushHeaders();
  // The server asks for the body, so it has accepted the request.
  await once(request, 'continue');
  request.write(body.slice(0, 5));

  server.child.kill('SIGTERM');
  await until('nobody listens', async () => (await get(server.port, '/api')).failure === 'ECONNREFUSED');
  await delay(1_000);
  request.end(body.slice(5));
  const [response] = await answered;
  let text = '';
  for await (const chunk of response) text += chunk;
  // There is no POST here; to know it the server has read the body and gone all the way.
  assert.equal(response.statusCode, 405);
  assert.equal(JSON.parse(text).code, 'method_not_allowed');
  assert.equal(response.headers.connection, 'close');
  assert.equal(await server.ended, 0);
});

test('a receiver of webhooks that takes its time does not hold the port open', async (t) => {
  const server = await startOwnServer(t, { DATABASE_URL: await testDatabaseUrl(), DRAIN_SECONDS: '0' });
  const receiver = await startReceiver();
  const held: ServerResponse[] = [];
  receiver.answer = (_received, response) => held.push(response);
  const post = async (path: string, body: object) => {
    const answer = await fetch(`${server.url}/checkout/v1/${path}`, {
      method: 'POST',
      headers: {
        authorization: basic(),
        'content-type': 'application/json',
        'x-idempotency-key': randomUUID(),
      },
      body: JSON.stringify(body),
    });
    assert.ok(answer.ok, await answer.text());
  };
  await post('webhook-endpoints', { url: receiver.url });
  await post('payments', order);
  await until('the receiver is told', () => held.length === 1);

  server.child.kill('SIGTERM');
  await until('nobody listens', async () => (await get(server.port, '/api')).failure === 'ECONNREFUSED');
  const [response] = held;
  assert.ok(response && !response.closed, 'the delivery is still under way');
  assert.ok(!server.hasEnded());
  response.writeHead(204).end();
  assert.equal(await server.ended, 0, server.stdout());
  assert.ok(told(server, 'stopped'));
});

test('connections that say nothing, or half of something, do not spoil a clean stop', async (t) => {
  const dataDir = await temporaryFolder(t);
  const server = await startOwnServer(t, { DATA_DIR: dataDir });
  const begun =
    'POST /api HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"a":';
  for (const bytes of ['', 'GET /api HT', begun]) {
    const socket = connect(server.port, '127.0.0.1');
    socket.on('error', () => {});
    undoLater(t, async () => void socket.destroy());
    await once(socket, 'connect');
    if (bytes) socket.write(bytes);
  }
  // Whatever is asked on another connection afterwards is answered once those bytes have been read.
  assert.equal((await get(server.port, '/api')).status, 200);
  const signalledAt = performance.now();
  server.child.kill('SIGTERM');
  assert.equal(await server.ended, 0, server.stdout());
  t.diagnostic(`ended after ${since(signalledAt)}`);
  assert.ok(told(server, 'stopped'));
  assert.deepEqual(await processesOn(dataDir), []);
});

test('a terminal that is closed (SIGHUP) stops the server in order', async (t) => {
  const server = await startOwnServer(t, { DATABASE_URL: await testDatabaseUrl() });
  server.child.kill('SIGHUP');
  assert.equal(await server.ended, 0);
  assert.ok(told(server, 'stopped'));
});

test('a server whose output nobody reads any more ends, and takes its PostgreSQL along', async (t) => {
  const dataDir = await temporaryFolder(t);
  const early = spawnOwnServer(t, { PORT: String(await freePort()), DATA_DIR: dataDir });
  early.child.stdout?.once('data', () => early.child.stdout?.destroy());
  await early.ended;
  assert.deepEqual(await processesOn(dataDir), []);

  const late = await startOwnServer(t, { DATA_DIR: dataDir });
  late.child.stdout?.destroy();
  late.child.stderr?.destroy();
  // The line about this request is what it notices.
  await get(late.port, '/api');
  assert.equal(await late.ended, 0);
  assert.deepEqual(await processesOn(dataDir), []);
});

test('an echo of the first signal is ignored; a second signal after a second ends the server at once', async (t) => {
  const dataDir = await temporaryFolder(t);
  const patient = await startOwnServer(t, { DATA_DIR: dataDir, DRAIN_SECONDS: '1' });
  // Two of one kind at once would reach it as one; both kinds are heard alike.
  patient.child.kill('SIGINT');
  patient.child.kill('SIGTERM');
  assert.equal(await patient.ended, 0);
  assert.ok(told(patient, 'stopped') && !told(patient, 'second signal: ending at once'));
  assert.deepEqual(await processesOn(dataDir), []);

  const hurried = await startOwnServer(t, { DATA_DIR: dataDir, DRAIN_SECONDS: '30' });
  hurried.child.kill('SIGINT');
  await until('it is stopping', () => told(hurried, 'stopping'));
  await delay(1_200);
  const signalledAt = performance.now();
  hurried.child.kill('SIGINT');
  assert.equal(await hurried.ended, 1);
  t.diagnostic(`second signal: ended after ${since(signalledAt)}`);
  assert.ok(told(hurried, 'second signal: ending at once') && !told(hurried, 'stopped'));
  await until('PostgreSQL has ended', async () => (await processesOn(dataDir)).length === 0);

  const next = await startOwnServer(t, { DATA_DIR: dataDir });
  next.child.kill('SIGTERM');
  assert.equal(await next.ended, 0);
});

test('production with demo settings names every fault at once and does not start', async (t) => {
  const dataDir = await temporaryFolder(t);
  const secret = 'tollgate-demo-secret-for-local-use-only-0000';
  const server = spawnOwnServer(t, {
    ...{ TOLLGATE_ENV: 'production', DATA_DIR: dataDir, PORT: '3000', ADMIN_PORT: '3000' },
    ...{ BASE_URL: 'http://id.example.com', KEYS_SECRET: secret, TEST_PHONES: '+994500000001' },
    ...{ SMS_SENDER: 'console', ACQUIRER: 'sandbox' },
  });
  assert.equal(await server.ended, 1);
  assert.deepEqual(faultsNamed(server), [
    ...['ACQUIRER', 'ADMIN_PORT', 'BASE_URL', 'CHECKOUT_BASE_URL', 'DATABASE_URL'],
    ...['KEYS_SECRET', 'SMS_SENDER', 'SSO_URL', 'TEST_PHONES', 'TRUST_PROXY'],
  ]);
  assert.ok(!server.stderr().includes(secret));
  assert.equal(server.stdout(), '');
  assert.deepEqual(await processesOn(dataDir), []);
});

test('production without any setting names what it needs and does not start', async (t) => {
  const server = spawnOwnServer(t, { TOLLGATE_ENV: 'production' });
  assert.equal(await server.ended, 1);
  assert.deepEqual(faultsNamed(server), [
    'ACQUIRER',
    'BASE_URL',
    'DATABASE_URL',
    'KEYS_SECRET',
    'SMS_SENDER',
    'TRUST_PROXY',
  ]);
});

test('values that cannot be read are all listed, each once', async (t) => {
  const server = spawnOwnServer(t, {
    ...{ PORT: 'http', ADMIN_PORT: '70000', WORKERS: '0', DRAIN_SECONDS: '-1', DATABASE_POOL_SIZE: '1e3' },
    ...{ JOBS: 'maybe', LOG_LEVEL: 'loud', BASE_URL: 'id.example.com', TRUST_PROXY: 'everybody' },
    ...{ DATABASE_URL: 'mysql://localhost/tollgate', KEYS_SECRET: 'short', TEST_PHONES: '0500000001' },
  });
  assert.equal(await server.ended, 1);
  assert.deepEqual(faultsNamed(server), [
    ...['ADMIN_PORT', 'BASE_URL', 'DATABASE_POOL_SIZE', 'DATABASE_URL', 'DRAIN_SECONDS', 'JOBS'],
    ...['KEYS_SECRET', 'LOG_LEVEL', 'PORT', 'TEST_PHONES', 'TRUST_PROXY', 'WORKERS'],
  ]);
});

test('a port in use gives one sentence and leaves no PostgreSQL', async (t) => {
  const dataDir = await temporaryFolder(t);
  const port = await occupiedPort(t);
  const server = spawnOwnServer(t, { PORT: String(port), DATA_DIR: dataDir });
  assert.equal(await server.ended, 1);
  assert.equal(server.stderr(), `Tollgate does not start. Port ${port} is in use; set PORT to another.\n`);
  assert.deepEqual(
    server.log().filter(({ level }) => level !== 'info'),
    [],
  );
  assert.deepEqual(await processesOn(dataDir), []);
});

test('Ctrl-C after a refusal to start does not cut off the stop of PostgreSQL', async (t) => {
  const dataDir = await temporaryFolder(t);
  const server = spawnOwnServer(t, { PORT: String(await occupiedPort(t)), DATA_DIR: dataDir });
  server.child.stderr?.once('data', () => server.child.kill('SIGINT'));
  assert.equal(await server.ended, 1);
  assert.deepEqual(await processesOn(dataDir), []);
});

test('an ADMIN_PORT in use is told by its name', async (t) => {
  const adminPort = await occupiedPort(t);
  const env = { PORT: String(await freePort()), ADMIN_PORT: String(adminPort) };
  const server = spawnOwnServer(t, { ...env, DATABASE_URL: await testDatabaseUrl() });
  assert.equal(await server.ended, 1);
  assert.equal(
    server.stderr(),
    `Tollgate does not start. Port ${adminPort} is in use; set ADMIN_PORT to another.\n`,
  );
});

test('what keeps the server from starting is told in one sentence that names the setting', async (t) => {
  const dataDir = await temporaryFolder(t);
  const file = join(dataDir, 'file');
  await writeFile(file, '');
  const away = `postgres://tollgate:pa55word@127.0.0.1:${await freePort()}/tollgate`;
  const database = await testDatabaseUrl();
  for (const [env, expected] of [
    [{ DATABASE_URL: away }, /^The database at 127\.0\.0\.1:\d+ does not answer .* correct DATABASE_URL\.$/],
    [{ DATABASE_URL: database, HOST: '203.0.113.7' }, /^This machine .* 203\.0\.113\.7 .* set HOST to one /],
    [{ DATABASE_URL: database, HOST: 'no.invalid' }, /^This machine .* no\.invalid .* set HOST to one /],
    [{ DATA_DIR: file }, /^The data folder .*file cannot be used \(ENOTDIR\): set DATA_DIR to a folder /],
    [{ DATA_DIR: join(file, 'below') }, /^The data folder .*below cannot be used \(\w+\): set DATA_DIR /],
  ] as const) {
    const server = spawnOwnServer(t, { PORT: String(await freePort()), ...env });
    assert.equal(await server.ended, 1);
    const [, sentence = ''] = /^Tollgate does not start\. (.*)\n$/.exec(server.stderr()) ?? [];
    assert.match(sentence, expected, server.stderr());
    assert.ok(!(server.stderr() + server.stdout()).includes('pa55word'));
    assert.ok(!server.log().some((line) => line.level === 'fatal'), server.stdout());
  }
});

test('with several workers a port in use is told in one sentence too', async (t) => {
  const port = await occupiedPort(t);
  const env = { PORT: String(port), ADMIN_PORT: String(await freePort()), WORKERS: '2' };
  const server = spawnOwnServer(t, { ...env, DATABASE_URL: await testDatabaseUrl() });
  assert.equal(await server.ended, 1);
  assert.equal(server.stderr(), `Tollgate does not start. Port ${port} is in use; set PORT to another.\n`);
});

test('a second server on the same DATA_DIR is refused with a sentence, and the first serves on', async (t) => {
  const dataDir = await temporaryFolder(t);
  const first = await startOwnServer(t, { DATA_DIR: dataDir });
  const second = spawnOwnServer(t, { PORT: String(await freePort()), DATA_DIR: dataDir });
  assert.equal(await second.ended, 1);
  assert.match(
    second.stderr(),
    /^Tollgate does not start\. The data folder .+ is in use by another running server \(.+\): stop .+\n$/,
  );
  assert.ok(second.stderr().includes(dataDir));
  assert.equal((await get(first.port, '/health/ready')).status, 200);
  first.child.kill('SIGTERM');
  assert.equal(await first.ended, 0);
});

test('in production /health and /metrics answer on ADMIN_PORT only', async (t) => {
  const [port, adminPort] = [await freePort(), await freePort()];
  await startOwnServer(t, {
    ...{ TOLLGATE_ENV: 'production', HOST: '127.0.0.1', PORT: String(port), ADMIN_PORT: String(adminPort) },
    ...{ BASE_URL: 'https://id.example.com', SMS_SENDER: 'http', ACQUIRER: 'none', DRAIN_SECONDS: '0' },
    ...{ TRUST_PROXY: 'none' },
    ...{ KEYS_SECRET: randomBytes(48).toString('base64'), DATABASE_URL: await testDatabaseUrl() },
    ...{ SMS_HTTP_URL: 'https://sms.example.com', SMS_HTTP_SECRET: randomBytes(48).toString('base64') },
  });
  const paths = ['/metrics', '/health/live', '/health/started', '/health/ready', '/api'];
  const statuses = (to: number) =>
    Promise.all(paths.map(async (path) => (await get(to, path)).status ?? 'no answer'));
  assert.deepEqual(await statuses(port), [404, 404, 404, 404, 200]);
  assert.deepEqual(await statuses(adminPort), [200, 200, 200, 200, 404]);
});

test('JOBS=only does the jobs and serves health but no API; JOBS=off serves and does no jobs', async (t) => {
  const url = await testDatabaseUrl();
  const only = await startOwnServer(t, { DATABASE_URL: url, JOBS: 'only' });
  assert.equal((await get(only.port, '/health/live')).status, 200);
  assert.equal((await get(only.port, '/metrics')).status, 200);
  for (const path of ['/api', '/api/openapi.json', '/']) {
    assert.equal((await get(only.port, path)).status, 404, path);
  }
  await until('it listens for jobs', async () => (await jobSessions(url)) > 0);
  only.child.kill('SIGTERM');
  assert.equal(await only.ended, 0);
  await until('its sessions have ended', async () => (await jobSessions(url)) === 0);

  const off = await startOwnServer(t, { DATABASE_URL: url, JOBS: 'off' });
  assert.equal((await get(off.port, '/api')).status, 200);
  assert.equal(await jobSessions(url), 0);
  off.child.kill('SIGTERM');
  assert.equal(await off.ended, 0);
});

type Answer = {
  status?: number | undefined;
  headers?: IncomingHttpHeaders;
  /** Why there is no whole answer. */
  failure?: string;
  /** Whether any part of an answer had arrived. */
  begun: boolean;
  reusedConnection: boolean;
};

/** Never rejects: here failures are answers too. */
function get(
  port: number,
  path: string,
  options: { agent?: Agent | false; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const { agent = false, headers = {} } = options;
  return new Promise((resolve) => {
    const request = startRequest({ host: '127.0.0.1', port, path, agent, headers });
    const finish = (how: Omit<Answer, 'reusedConnection'>) =>
      resolve({ ...how, reusedConnection: request.reusedSocket });
    request.on('error', (error: NodeJS.ErrnoException) =>
      finish({ failure: error.code ?? error.message, begun: false }),
    );
    request.on('response', (response) => {
      response.on('error', (error) => finish({ failure: error.message, begun: true }));
      response.on('end', () =>
        finish({ status: response.statusCode, headers: response.headers, begun: true }),
      );
      response.resume();
    });
    request.end();
  });
}

function told(server: OwnProcess, message: string): boolean {
  return server.log().some((line) => line.msg === message);
}

/** The names at the beginnings of the lines, in alphabetical order. */
function faultsNamed(server: OwnProcess): string[] {
  const [title, ...lines] = server.stderr().trimEnd().split('\n');
  assert.equal(title, 'Tollgate does not start. The configuration has faults:');
  return lines.map((line) => /^ {2}([A-Z_]+): \S.+\.?$/.exec(line)?.[1] ?? `not a fault: ${line}`).sort();
}

async function occupiedPort(scope: Scope): Promise<number> {
  const port = await freePort();
  const other = createServer().listen(port, '127.0.0.1');
  await once(other, 'listening');
  undoLater(scope, async () => void other.close());
  return port;
}

async function jobSessions(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const found = await client.query(
      `select from pg_stat_activity where datname = current_database() and application_name = 'tollgate jobs'`,
    );
    return found.rowCount ?? 0;
  } finally {
    await client.end();
  }
}

function since(start: number): string {
  return `${Math.round(performance.now() - start)} ms`;
}
