import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import {
  callOutgoing,
  checkOutgoingUrl,
  OutgoingFailed,
  type OutgoingPolicy,
  OutgoingRefused,
  type Resolve,
} from '../../src/platform/outgoing.ts';
import { makeCertificate } from '../support/certificate.ts';
import { fixture } from '../support/fixture.ts';

const production: OutgoingPolicy = { allowPrivate: false, timeoutMs: 5_000, maxResponseBytes: 1_000 };
const local: OutgoingPolicy = { ...production, allowPrivate: true };
const impatient: OutgoingPolicy = { ...local, timeoutMs: 150 };

// Node reports here every connection and every request that this process begins, whoever begins it.
let connections = 0;
for (const channel of ['net.client.socket', 'http.client.request.start']) {
  subscribe(channel, () => {
    connections += 1;
  });
}

const servers: Server[] = [];
const sockets = new Set<Socket>();
after(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers) server.close();
});

async function listen(server: Server, host = '127.0.0.1'): Promise<number> {
  servers.push(server);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
  });
  server.listen(0, host);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const listenHttp = (listener: RequestListener) => listen(createServer(listener));
const listenRaw = (onConnection: (socket: Socket) => void) => listen(createTcpServer(onConnection));
const listenRawAnswer = (answer: string) =>
  listenRaw((socket) => socket.once('data', () => socket.write(answer)));

/** Promise.withResolvers, which Node 20 does not have. */
function later<Value>(): { promise: Promise<Value>; resolve: (value: Value) => void } {
  let resolve: (value: Value) => void = () => {};
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

function resolver(...answers: string[][]): Resolve & { names: string[] } {
  const names: string[] = [];
  const resolve = async (name: string) => {
    names.push(name);
    return answers[Math.min(names.length, answers.length) - 1] ?? [];
  };
  return Object.assign(resolve, { names });
}

function failingResolver(code: string): Resolve {
  return async () => {
    throw Object.assign(new Error(`getaddrinfo ${code}`), { code });
  };
}

const get = (url: string, policy = local, resolve?: Resolve) =>
  callOutgoing({ method: 'GET', url }, policy, resolve);

/** Both at registration and at the call, and without a connection. */
async function assertRefused(
  url: string,
  policy: OutgoingPolicy,
  reason: OutgoingRefused['reason'],
  resolve?: Resolve,
): Promise<void> {
  const before = connections;
  const isRefusal = (error: unknown) => {
    assert.ok(error instanceof OutgoingRefused, `${url}: ${String(error)}`);
    assert.equal(error.reason, reason, url);
    return true;
  };
  await assert.rejects(checkOutgoingUrl(url, policy, resolve), isRefusal, url);
  await assert.rejects(callOutgoing({ method: 'POST', url, body: '{}' }, policy, resolve), isRefusal, url);
  assert.equal(connections, before, `${url} was connected to`);
}

async function assertFailed(call: Promise<unknown>, reason: OutgoingFailed['reason']): Promise<void> {
  await assert.rejects(call, (error) => {
    assert.ok(error instanceof OutgoingFailed, String(error));
    assert.equal(error.reason, reason);
    return true;
  });
}

const innerLiterals = [
  '169.254.169.254',
  '[::ffff:a9fe:a9fe]',
  '[::ffff:10.0.0.1]',
  '0x7f000001',
  '0x7f.1',
  '0177.0.0.1',
  '2130706433',
  '127.1',
  '127.0.0.1.',
  '%31%32%37.0.0.1',
  '①②⑦.0.0.1',
  '0',
  '0.0.0.0',
  '[::1]',
  '[::]',
  '[::127.0.0.1]',
  '[::ffff:0:127.0.0.1]',
  '[fe80::1]',
  '[fec0::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[ff02::1]',
  '[64:ff9b::a9fe:a9fe]',
  '[64:ff9b::8.8.8.8]',
  '[64:ff9b:1::1]',
  '[2002:7f00:1::]',
  '[2002:808:808::]',
  '[2001:0:7f00:1::]',
  '[2001:db8::1]',
  '[100::1]',
  '[4000::1]',
  '[5f00::1]',
  '100.64.0.1',
  '100.100.100.200',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  '255.255.255.255',
  '224.0.0.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '192.0.0.8',
  '192.0.2.1',
  '192.88.99.1',
  '240.0.0.1',
];

test('an address that is not public is refused in every way of writing it, without a name lookup', async () => {
  const resolve = resolver(['1.1.1.1']);
  for (const literal of innerLiterals) {
    await assertRefused(`https://${literal}/hook`, production, 'address_not_allowed', resolve);
    await assertRefused(`https://${literal}:8443/hook`, production, 'address_not_allowed', resolve);
    await assertRefused(`http://${literal}/hook`, production, 'scheme_not_allowed', resolve);
  }
  assert.deepEqual(resolve.names, []);
});

test('a name that resolves to an address that is not public is refused, whatever the name is', async () => {
  const inner = ['169.254.169.254', '::ffff:127.0.0.1', '::1', '64:ff9b::7f00:1', 'fe80::1%eth0', '10.0.0.1'];
  for (const address of inner) {
    await assertRefused('https://hooks.example/', production, 'address_not_allowed', resolver([address]));
  }
  await assertRefused('https://localhost/', production, 'address_not_allowed');
  await assertRefused('https://localhost./', production, 'address_not_allowed', resolver(['127.0.0.1']));
});

test('a name with one public and one private address is refused in either order', async () => {
  for (const answer of [
    ['1.1.1.1', '10.0.0.1'],
    ['10.0.0.1', '1.1.1.1'],
    ['2606:4700:4700::1111', '::1'],
  ]) {
    await assertRefused('https://hooks.example/', production, 'address_not_allowed', resolver(answer));
  }
});

test('an answer of the resolver that is no address at all is refused', async () => {
  for (const answer of ['', 'localhost', '127.1', '1.1.1.1:80', '0x01010101']) {
    await assertRefused('https://hooks.example/', production, 'address_not_allowed', resolver([answer]));
  }
});

test('public addresses pass the check at registration', async () => {
  const publicAddresses = ['1.1.1.1', '172.15.255.255', '172.32.0.0', '100.63.255.255', '100.128.0.0'];
  for (const address of [...publicAddresses, '::ffff:1.1.1.1', '2606:4700:4700::1111']) {
    await checkOutgoingUrl('https://hooks.example/', production, resolver([address]));
  }
  await checkOutgoingUrl('https://1.1.1.1/', production);
  await checkOutgoingUrl('https://[2606:4700:4700::1111]:8443/', production);
});

test('even a local environment reaches no link-local, unspecified, multicast or reserved address', async () => {
  const never = ['169.254.169.254', '[::ffff:a9fe:a9fe]', '[fe80::1]', '0', '[::]', '224.0.0.1', '240.0.0.1'];
  for (const literal of [...never, '[64:ff9b::7f00:1]', '[2002:7f00:1::]', '[::127.0.0.1]']) {
    await assertRefused(`http://${literal}/`, local, 'address_not_allowed');
  }
});

test('a local environment may register this machine and its network, over plain http too', async () => {
  for (const host of [
    '127.0.0.1',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.0.1',
    '[::1]',
    '[fc00::1]',
    'localhost',
  ]) {
    await checkOutgoingUrl(`http://${host}:3000/hook`, local);
    await checkOutgoingUrl(`https://${host}:3000/hook`, local);
  }
});

test('only http and https exist, and http only where private addresses are allowed', async () => {
  const resolve = resolver(['1.1.1.1']);
  for (const url of [
    'ftp://hooks.example/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'data:text/plain,x',
    'ws://hooks.example/',
    'gopher://hooks.example/',
  ]) {
    await assertRefused(url, production, 'scheme_not_allowed', resolve);
    await assertRefused(url, local, 'scheme_not_allowed', resolve);
  }
  await assertRefused('http://hooks.example/', production, 'scheme_not_allowed', resolve);
  assert.deepEqual(resolve.names, []);
});

test('a user name or a password in the address is refused', async () => {
  const resolve = resolver(['1.1.1.1']);
  for (const credentials of ['user:secret', 'user', ':secret', 'hooks.example%2f']) {
    await assertRefused(`https://${credentials}@hooks.example/`, production, 'credentials_in_url', resolve);
  }
  assert.deepEqual(resolve.names, []);
});

test('what is not a URL is refused', async () => {
  for (const url of [
    '',
    'hooks',
    '/hook',
    '//hooks.example/',
    'https://',
    'https://a b/',
    'https://1.2.3.256/',
  ]) {
    await assertRefused(url, production, 'url_invalid');
  }
});

test('a name that does not exist is refused, and a resolver in trouble is a failure to be retried', async () => {
  for (const resolve of [failingResolver('ENOTFOUND'), failingResolver('ENODATA'), resolver([])]) {
    await assertRefused('https://hooks.example/', production, 'name_not_found', resolve);
  }
  await assertRefused(`https://${'a.'.repeat(200)}example/`, production, 'name_not_found');
  for (const code of ['EAI_AGAIN', 'ESERVFAIL']) {
    await assertFailed(get('https://hooks.example/', production, failingResolver(code)), 'connection');
    await assertFailed(
      checkOutgoingUrl('https://hooks.example/', production, failingResolver(code)),
      'connection',
    );
  }
});

test('a refusal tells neither what the name resolved to nor whether there is such a name', async () => {
  for (const addresses of [['10.9.8.7'], []]) {
    const refused = await get('https://hooks.example/', production, resolver(addresses)).catch(
      (error: unknown) => error,
    );
    assert.ok(refused instanceof OutgoingRefused);
    assert.equal(refused.message, 'The host of the address does not exist or is not public.');
    assert.equal(refused.cause, undefined);
  }
});

test('the connection goes to the checked address and carries the Host of the name', async () => {
  const hosts: (string | undefined)[] = [];
  const port = await listenHttp((request, reply) => {
    hosts.push(request.headers.host);
    reply.end('received');
  });
  const resolve = resolver(['127.0.0.1']);
  const before = connections;

  const answer = await get(`http://hooks.example:${port}/a/b?c=d#e`, local, resolve);

  assert.equal(answer.status, 200);
  assert.equal(answer.body, 'received');
  assert.equal(answer.truncated, false);
  assert.deepEqual(hosts, [`hooks.example:${port}`]);
  assert.deepEqual(resolve.names, ['hooks.example']);
  assert.ok(connections > before, 'the counter that the refusals rely on does count');
});

test('a name that changes its address after the check is still called at the checked one', async () => {
  let received = 0;
  const port = await listenHttp((_, reply) => {
    received += 1;
    reply.end();
  });
  const resolve = resolver(['127.0.0.1'], ['169.254.169.254']);

  await get(`http://rebinding.example:${port}/`, local, resolve);
  assert.equal(received, 1);
  assert.deepEqual(resolve.names, ['rebinding.example']);

  // The next call asks anew and sees the new address: nothing of the earlier check or connection is kept.
  await assert.rejects(get(`http://rebinding.example:${port}/`, local, resolve), OutgoingRefused);
  assert.equal(received, 1);
  assert.deepEqual(resolve.names, ['rebinding.example', 'rebinding.example']);
});

test('when the first checked address does not accept connections, the next one is tried', async () => {
  const port = await listenHttp((_, reply) => reply.end('second'));
  const answer = await get(`http://hooks.example:${port}/`, local, resolver(['127.0.0.2', '127.0.0.1']));
  assert.equal(answer.body, 'second');
});

test('an IPv6 literal is called without its brackets and named with them', async (t) => {
  const server = createServer((request, reply) => reply.end(request.headers.host));
  const port = await listen(server, '::1').catch(() => undefined);
  if (port === undefined) return t.skip('this machine has no IPv6 loopback');
  assert.equal((await get(`http://[::1]:${port}/`)).body, `[::1]:${port}`);
});

test('the body of a POST arrives byte for byte with its length and the headers of the caller', async () => {
  const body = `{"ad":"Şəhər 🏦","zero":"\u0000","line":"\r\n"}${'x'.repeat(200_000)}`;
  let seen: { method: string | undefined; headers: NodeJS.Dict<string | string[]>; body: Buffer } | undefined;
  const port = await listenHttp(async (request, reply) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    seen = { method: request.method, headers: request.headers, body: Buffer.concat(chunks) };
    reply.writeHead(204).end();
  });

  const headers = { 'Content-Type': 'application/json', 'webhook-id': 'msg_1', Host: 'other.example' };
  const answer = await callOutgoing(
    { method: 'POST', url: `http://127.0.0.1:${port}/`, headers, body },
    local,
  );

  assert.equal(answer.status, 204);
  assert.equal(seen?.method, 'POST');
  assert.ok(seen.body.equals(Buffer.from(body)));
  assert.equal(seen.headers['content-length'], String(Buffer.byteLength(body)));
  assert.equal(seen.headers['transfer-encoding'], undefined);
  assert.equal(seen.headers['content-type'], 'application/json');
  assert.equal(seen.headers['webhook-id'], 'msg_1');
  assert.equal(seen.headers.connection, 'close');
  assert.equal(seen.headers['accept-encoding'], 'identity');
  assert.equal(seen.headers.host, `127.0.0.1:${port}`, 'the Host is that of the checked name, always');
});

test('a POST without a body says that its length is zero', async () => {
  const port = await listenHttp((request, reply) => reply.end(request.headers['content-length']));
  const answer = await callOutgoing({ method: 'POST', url: `http://127.0.0.1:${port}/` }, local);
  assert.equal(answer.body, '0');
});

test('a redirect is an answer and is not followed', async () => {
  let reached = 0;
  const inner = await listenHttp((_, reply) => {
    reached += 1;
    reply.end();
  });
  const location = `http://127.0.0.1:${inner}/admin`;
  for (const status of [301, 302, 303, 307, 308]) {
    const port = await listenHttp((_, reply) => reply.writeHead(status, { location }).end());
    const answer = await get(`http://127.0.0.1:${port}/`);
    assert.equal(answer.status, status);
    assert.equal(answer.headers.location, location);
  }
  assert.equal(reached, 0);
});

test('a compressed answer is not unpacked', async () => {
  const port = await listenHttp((_, reply) =>
    reply.writeHead(200, { 'content-encoding': 'gzip' }).end('packed'),
  );
  assert.equal((await get(`http://127.0.0.1:${port}/`)).body, 'packed');
});

test('an answer of exactly the allowed size is whole, and one byte more is cut', async () => {
  const port = await listenHttp((request, reply) => reply.end('x'.repeat(Number(request.url?.slice(1)))));
  const whole = await get(`http://127.0.0.1:${port}/${local.maxResponseBytes}`);
  assert.deepEqual([whole.body.length, whole.truncated], [local.maxResponseBytes, false]);
  const cut = await get(`http://127.0.0.1:${port}/${local.maxResponseBytes + 1}`);
  assert.deepEqual([cut.body.length, cut.truncated], [local.maxResponseBytes, true]);
});

test('an answer whose end is the end of the connection is read whole', async () => {
  const port = await listenRaw((socket) =>
    socket.once('data', () => socket.end('HTTP/1.0 200 OK\r\n\r\nolder')),
  );
  const answer = await get(`http://127.0.0.1:${port}/`);
  assert.deepEqual([answer.status, answer.body, answer.truncated], [200, 'older', false]);
});

test('an endless answer is cut and the connection is closed', async () => {
  const closed = later<void>();
  const port = await listenHttp((_, reply) => {
    const flow = () => {
      while (!reply.destroyed && reply.write('x'.repeat(10_000)));
    };
    reply.on('drain', flow);
    reply.on('close', closed.resolve);
    flow();
  });
  const answer = await get(`http://127.0.0.1:${port}/`);
  assert.deepEqual([answer.body.length, answer.truncated], [local.maxResponseBytes, true]);
  await closed.promise;
});

test('a receiver that drips its body is ended by the deadline and disconnected', async () => {
  const closed = later<void>();
  const port = await listenHttp((_, reply) => {
    const drip = setInterval(() => reply.write('.'), 10);
    reply.on('close', () => {
      clearInterval(drip);
      closed.resolve();
    });
  });
  await assertFailed(get(`http://127.0.0.1:${port}/`, impatient), 'timeout');
  await closed.promise;
});

test('a receiver that drips its headers is ended by the deadline and disconnected', async () => {
  const closed = later<void>();
  const port = await listenRaw((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nx-slow: ');
    const drip = setInterval(() => socket.write('.'), 10);
    socket.resume().on('close', () => {
      clearInterval(drip);
      closed.resolve();
    });
  });
  await assertFailed(get(`http://127.0.0.1:${port}/`, impatient), 'timeout');
  await closed.promise;
});

test('a receiver that never answers, or never shakes hands, is ended by the deadline', async () => {
  const port = await listenRaw((socket) => socket.resume());
  await assertFailed(get(`http://127.0.0.1:${port}/`, impatient), 'timeout');
  await assertFailed(get(`https://127.0.0.1:${port}/`, impatient), 'timeout');
});

test('a receiver that does not read a large body is ended by the deadline', async () => {
  const port = await listenRaw((socket) => socket.pause());
  const request = { method: 'POST', url: `http://127.0.0.1:${port}/`, body: 'x'.repeat(20_000_000) } as const;
  await assertFailed(callOutgoing(request, impatient), 'timeout');
});

test('a name lookup counts towards the deadline, and its late answer starts no connection', async () => {
  const late = later<string[]>();
  const before = connections;
  const resolve = () => late.promise;
  await assertFailed(get('http://slow.example:1/', impatient, resolve), 'timeout');
  await assertFailed(checkOutgoingUrl('http://slow.example:1/', impatient, resolve), 'timeout');
  late.resolve(['127.0.0.1']);
  await new Promise((next) => setImmediate(next));
  assert.equal(connections, before);
});

test('a refused connection is a failure', async () => {
  const server = createTcpServer();
  const port = await listen(server);
  server.close();
  await once(server, 'close');
  await assertFailed(get(`http://127.0.0.1:${port}/`), 'connection');
  await assertFailed(get(`https://127.0.0.1:${port}/`), 'connection');
});

test('huge response headers are a failure', async () => {
  const port = await listenRawAnswer(`HTTP/1.1 200 OK\r\nx-huge: ${'x'.repeat(17_000)}\r\n\r\n`);
  await assertFailed(get(`http://127.0.0.1:${port}/`), 'connection');
  const lines = 'x-many: 1\r\n'.repeat(5_000);
  const many = await listenRawAnswer(`HTTP/1.1 200 OK\r\n${lines}\r\n`);
  await assertFailed(get(`http://127.0.0.1:${many}/`), 'connection');
});

test('an endless row of interim answers is a failure, and a few of them are not', async () => {
  const hint = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n';
  const few = await listenRawAnswer(`${hint.repeat(8)}HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n`);
  assert.equal((await get(`http://127.0.0.1:${few}/`)).status, 200);
  const many = await listenRawAnswer(hint.repeat(9));
  await assertFailed(get(`http://127.0.0.1:${many}/`), 'connection');
});

test('garbage, silence and a switch of protocol instead of an answer are failures', async () => {
  const garbage = await listenRawAnswer('SSH-2.0-OpenSSH_9.9\r\n');
  await assertFailed(get(`http://127.0.0.1:${garbage}/`), 'connection');
  const switching = await listenRawAnswer(
    'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
  );
  await assertFailed(get(`http://127.0.0.1:${switching}/`), 'connection');
  const silent = await listenRaw((socket) => socket.once('data', () => socket.end()));
  await assertFailed(get(`http://127.0.0.1:${silent}/`), 'connection');
});

test('an answer that breaks off before its announced end is a failure', async () => {
  const port = await listenRaw((socket) =>
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf')),
  );
  await assertFailed(get(`http://127.0.0.1:${port}/`), 'connection');
});

test('a receiver that speaks no TLS, or closes during the handshake, fails as tls', async () => {
  const plain = await listenRawAnswer('HTTP/1.1 400 Bad Request\r\n\r\n');
  await assertFailed(get(`https://127.0.0.1:${plain}/`), 'tls');
  const closing = await listenRaw((socket) => socket.once('data', () => socket.end()));
  await assertFailed(get(`https://127.0.0.1:${closing}/`), 'tls');
});

const certificate = makeCertificate('hooks.example');
const withCertificate = certificate ? {} : { skip: 'the openssl command is missing: TLS IS NOT TESTED HERE' };

async function listenTls(): Promise<{ port: number; names: string[]; hosts: (string | undefined)[] }> {
  assert.ok(certificate);
  const names: string[] = [];
  const hosts: (string | undefined)[] = [];
  const server = createTlsServer(
    {
      key: certificate.key,
      cert: certificate.cert,
      SNICallback: (name, done) => {
        names.push(name);
        done(null);
      },
    },
    (request, reply) => {
      hosts.push(request.headers.host);
      reply.end('secret kept');
    },
  );
  return { port: await listen(server), names, hosts };
}

test(
  'a certificate that nobody vouches for fails as tls, and no request is sent',
  withCertificate,
  async () => {
    const { port, names, hosts } = await listenTls();
    const before = connections;
    await assertFailed(get(`https://hooks.example:${port}/`, local, resolver(['127.0.0.1'])), 'tls');
    assert.ok(connections > before, 'the counter that the refusals rely on does count');
    assert.deepEqual(names, ['hooks.example']);
    assert.deepEqual(hosts, []);
  },
);

/** Node reads its certificate authorities and proxies at start, so a different world is a new process. */
async function callInNewProcess(url: string, env: NodeJS.ProcessEnv): Promise<string> {
  const args = [fixture('platform/fixtures/call-outgoing'), JSON.stringify(local), url];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    env: { ...process.env, ...env },
  });
  return stdout;
}

test('a trusted certificate is accepted for its own name alone', withCertificate, async () => {
  const { port, names, hosts } = await listenTls();
  const env = { NODE_EXTRA_CA_CERTS: certificate?.file };
  assert.equal(await callInNewProcess(`https://hooks.example:${port}/`, env), '200 secret kept');
  assert.equal(await callInNewProcess(`https://hooks.example.:${port}/`, env), '200 secret kept');
  assert.equal(await callInNewProcess(`https://other.example:${port}/`, env), 'tls');
  assert.equal(await callInNewProcess(`https://127.0.0.1:${port}/`, env), 'tls');
  assert.deepEqual(names, ['hooks.example', 'hooks.example', 'other.example']);
  assert.deepEqual(hosts, [`hooks.example:${port}`, `hooks.example.:${port}`]);
});

test('the environment cannot turn verification off or put a proxy between', withCertificate, async () => {
  let proxied = 0;
  const proxy = await listenRaw((socket) => {
    proxied += 1;
    socket.destroy();
  });
  const proxyUrl = `http://127.0.0.1:${proxy}`;
  const env = {
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
    NODE_USE_ENV_PROXY: '1',
    HTTP_PROXY: proxyUrl,
    HTTPS_PROXY: proxyUrl,
    http_proxy: proxyUrl,
    https_proxy: proxyUrl,
    NO_PROXY: '',
    no_proxy: '',
  };
  const { port } = await listenTls();
  assert.equal(await callInNewProcess(`https://hooks.example:${port}/`, env), 'tls');
  const plain = await listenHttp((_, reply) => reply.end('direct'));
  assert.equal(await callInNewProcess(`http://hooks.example:${plain}/`, env), '200 direct');
  assert.equal(proxied, 0);
});
