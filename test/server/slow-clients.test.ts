import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { testDatabaseUrl } from '../support/database.ts';
import { startOwnServer } from '../support/server.ts';

const server = await startOwnServer({ after }, { DATABASE_URL: await testDatabaseUrl() });

test('a body or headers that arrive a byte at a time are cut off with 408', async (t) => {
  const bodyHead =
    'POST /api HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n';
  const headersHead = 'GET /api HTTP/1.1\r\nhost: localhost\r\nx-long: ';
  const [body, headers] = await Promise.all([drip(bodyHead), drip(headersHead)]);
  t.diagnostic(`dripping body: cut off after ${body.afterMs} ms and ${body.drops} bytes`);
  t.diagnostic(`dripping headers: cut off after ${headers.afterMs} ms and ${headers.drops} bytes`);
  assertProblem(body.answer, 408, 'request_timeout');
  assertProblem(headers.answer, 408, 'request_timeout');
  await assertServes();
});

test('a thousand idle connections do not stand in the way of a request', async (t) => {
  const idle: Socket[] = [];
  try {
    const opening = Array.from({ length: 1_000 }, async () => {
      const socket = open();
      idle.push(socket);
      await once(socket, 'connect');
    });
    await Promise.all(opening);
    const askedAt = performance.now();
    await assertServes();
    t.diagnostic(`answered after ${Math.round(performance.now() - askedAt)} ms`);
    assert.equal(idle.filter((socket) => socket.readyState === 'open').length, 1_000);
  } finally {
    for (const socket of idle) socket.destroy();
  }
  await assertServes();
});

test('what is not HTTP gets a 400 problem document with a request id', async () => {
  for (const nonsense of [
    'hello\r\n\r\n',
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    'GET /api HTTP/1.1\r\nhost: localhost\r\nno colon here\r\n\r\n',
    'GET /api HTTP/1.1\r\nhost: localhost\r\ncontent-length: many\r\n\r\n',
    'POST /api HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    'POST /api HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
    'GET /api HTTP/9.9\r\nhost: localhost\r\n\r\n',
  ]) {
    assertProblem(await exchange(nonsense), 400, 'invalid_request');
  }
  await assertServes();
});

test('a URL or headers of 20 kB get a 431 problem document', async () => {
  const long = 'a'.repeat(20_000);
  for (const request of [
    `GET /${long} HTTP/1.1\r\nhost: localhost\r\n\r\n`,
    `GET /api?q=${long} HTTP/1.1\r\nhost: localhost\r\n\r\n`,
    `GET /api HTTP/1.1\r\nhost: localhost\r\ncookie: ${long}\r\n\r\n`,
  ]) {
    assertProblem(await exchange(request), 431, 'headers_too_large');
  }
  await assertServes();
});

test('clients that vanish in the middle of a request leave no trace', async () => {
  for (const beginning of [
    '',
    'GET /api HT',
    'GET /api HTTP/1.1\r\nhost: localhost\r\n',
    'POST /api HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"a":',
  ]) {
    for (const reset of [true, false]) {
      const socket = open();
      await once(socket, 'connect');
      if (beginning) socket.write(beginning);
      await delay(50);
      if (reset) socket.resetAndDestroy();
      else socket.destroy();
    }
  }
  await assertServes();
  assert.deepEqual(
    server.log().filter((line) => line.level === 'error' || line.level === 'fatal'),
    [],
  );
});

async function assertServes(): Promise<void> {
  const answer = await exchange('GET /api HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
  assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/);
  assert.ok(!server.hasEnded());
}

function assertProblem(answer: string, status: number, code: string): void {
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  assert.match(head, new RegExp(`^HTTP/1\\.1 ${status} `), answer);
  assert.match(head, /^content-type: application\/problem\+json(;|$)/im);
  const requestId = /^x-request-id: ([\w-]{36})$/im.exec(head)?.[1];
  assert.ok(requestId, head);
  const problem = JSON.parse(body);
  assert.deepEqual([problem.status, problem.code, problem.requestId], [status, code, requestId]);
  assert.equal(problem.retryable, status === 408);
}

/** Sends all of it at once, and returns what comes back until the server closes. */
async function exchange(request: string): Promise<string> {
  const socket = open();
  const answer = answerOn(socket);
  socket.write(request, 'latin1');
  return answer;
}

/** Sends the beginning, and then a byte each half second until the server has had enough. */
async function drip(beginning: string): Promise<{ answer: string; afterMs: number; drops: number }> {
  const socket = open();
  const startedAt = performance.now();
  let answered = false;
  const answer = answerOn(socket).finally(() => (answered = true));
  socket.write(beginning);
  let drops = 0;
  for (; !answered && drops < 100; drops++) {
    if (socket.writable) socket.write('x');
    await Promise.race([answer, delay(500)]);
  }
  socket.end();
  assert.ok(answered, `still not cut off after ${drops} bytes`);
  return { answer: await answer, afterMs: Math.round(performance.now() - startedAt), drops };
}

/** Whole once the server has closed; a reset after the answer, while we still send, does no harm. */
function answerOn(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let received = '';
    socket.on('data', (chunk: Buffer) => (received += chunk));
    socket.on('end', () => resolve(received));
    socket.on('close', () => resolve(received));
  });
}

function open(): Socket {
  const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => {});
  return socket;
}
