import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { inspect, promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { createSmsSender, type SmsConfig, SmsFailed, type SmsSender } from '../../src/identity/sms/sender.ts';
import { createSmppSender } from '../../src/identity/sms/smpp.ts';
import { type SmppPdu, type SmppSession, smpp } from '../../src/identity/sms/smpp-library.ts';
import { packageRoot } from '../../src/package.ts';
import { createLogger } from '../../src/platform/log.ts';
import { makeCertificate } from '../support/certificate.ts';
import { fixture } from '../support/fixture.ts';
import { freePort } from '../support/free-port.ts';

const phone = '+994501234567';
const text = 'Tollgate: 739154\n\n@login.example #739154';
const patient = 10_000;
const impatient = 150;
/** Long enough for a binding on a busy machine, short enough to wait for. */
const hurried = 4_000;

let lines = '';
const log = createLogger({ level: 'trace', destination: { write: (line) => (lines += line) } });

const servers: Server[] = [];
const sockets = new Set<Socket>();
const senders: SmsSender[] = [];
after(async () => {
  for (const sender of senders) await sender.close();
  for (const socket of sockets) socket.destroy();
  for (const server of servers) server.close();
});

async function listen(server: Server): Promise<number> {
  servers.push(server);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function open(config: SmsConfig): SmsSender {
  const sender = createSmsSender(config, log);
  senders.push(sender);
  return sender;
}

/** Whatever goes wrong, neither the code nor the number may travel on with the error, however deep one looks. */
async function assertFails(sending: Promise<void>, expected: RegExp): Promise<void> {
  await assert.rejects(sending, (error) => {
    assert.ok(error instanceof SmsFailed, inspect(error));
    assert.match(error.message, expected);
    assertSilent(inspect(error, { depth: 20, showHidden: true }));
    return true;
  });
}

function assertSilent(written: string): void {
  for (const canary of ['739154', '1234567', 'login.example', 'gateway password', secret]) {
    assert.ok(!written.includes(canary), `${canary} in ${written}`);
  }
}

/** Promise.withResolvers, which Node 20 does not have. */
function later<Value>(): { promise: Promise<Value>; resolve: (value: Value) => void } {
  let resolve: (value: Value) => void = () => {};
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

test('the console sender shows the number and the whole text to the developer', async () => {
  let shown = '';
  const console = createLogger({ level: 'info', destination: { write: (line) => (shown += line) } });
  const sender = createSmsSender({ kind: 'console' }, console);
  await sender.send(phone, text);
  await sender.close();
  const { level, msg } = JSON.parse(shown);
  assert.deepEqual({ level, msg }, { level: 'info', msg: `SMS to ${phone}: ${text}` });
});

// The HTTP gateway.

const secret = 'any text, şifrə, 12 €';

type Received = {
  method: string | undefined;
  url: string | undefined;
  headers: IncomingHttpHeaders;
  body: string;
};

async function httpGateway(answer: RequestListener): Promise<{ url: string; received: Received[] }> {
  const received: Received[] = [];
  const server = createServer(async (request, reply) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method, url, headers } = request;
    received.push({ method, url, headers, body: Buffer.concat(chunks).toString('utf8') });
    answer(request, reply);
  });
  return { url: `http://127.0.0.1:${await listen(server)}/sms?account=7`, received };
}

const overHttp = (url: string, timeoutMs = patient) => open({ kind: 'http', url, secret, timeoutMs });

test('the HTTP gateway gets one signed request, which the Standard Webhooks library verifies', async () => {
  const { url, received } = await httpGateway((_, reply) => reply.writeHead(202).end('{"queued":true}'));
  const azerbaijani = 'Giriş kodunuz: 739154. Heç kimə deməyin ✓';
  await overHttp(url).send(phone, azerbaijani);

  assert.equal(received.length, 1);
  const [request] = received;
  assert.ok(request);
  assert.equal(request.method, 'POST');
  assert.equal(request.url, '/sms?account=7');
  assert.equal(request.headers['content-type'], 'application/json');
  const { id, ...rest } = JSON.parse(request.body);
  assert.deepEqual(rest, { to: phone, text: azerbaijani });
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(request.headers['webhook-id'], id);

  const headers = request.headers as Record<string, string>;
  const verifier = new Webhook(`whsec_${Buffer.from(secret, 'utf8').toString('base64')}`);
  assert.deepEqual(verifier.verify(request.body, headers), JSON.parse(request.body));
  const stranger = new Webhook(`whsec_${Buffer.from('another secret').toString('base64')}`);
  assert.throws(() => stranger.verify(request.body, headers), /No matching signature/);
  const changed = request.body.replace('739154', '739155');
  assert.throws(() => verifier.verify(changed, headers), /No matching signature/);
  assert.throws(
    () => verifier.verify(request.body, { ...headers, 'webhook-id': 'x' }),
    /No matching signature/,
  );
});

test('the check in the guide for gateways takes what is genuine and refuses what is not', async () => {
  const guide = readFileSync(new URL('docs/sms-gateway.md', packageRoot), 'utf8');
  const [, program] = /```js\n(.*?)```/s.exec(guide) ?? [];
  assert.ok(program);
  process.env.SMS_HTTP_SECRET = secret;
  const { isGenuine } = (await import(
    `data:text/javascript,${encodeURIComponent(`${program}export { isGenuine };`)}`
  )) as { isGenuine(headers: IncomingHttpHeaders, body: Buffer): boolean };
  const { url, received } = await httpGateway((_, reply) => reply.writeHead(202).end());
  await overHttp(url).send(phone, text);
  const [request] = received;
  assert.ok(request);
  const { headers } = request;
  const body = Buffer.from(request.body);
  assert.equal(isGenuine(headers, body), true);
  for (const [changed, sent] of [
    [headers, Buffer.from(request.body.replace(phone, '+994501234568'))],
    [{ ...headers, 'webhook-id': 'x' }, body],
    [{ ...headers, 'webhook-timestamp': '1769092200' }, body],
    [{ ...headers, 'webhook-signature': 'v1,AAAA' }, body],
    [{}, body],
  ] as const) {
    assert.equal(isGenuine(changed, sent), false);
  }
});

test('a secret that looks like a Standard Webhooks secret is still taken as it stands', async () => {
  const { url, received } = await httpGateway((_, reply) => reply.writeHead(200).end());
  const prefixed = 'whsec_c2VjcmV0 ';
  await open({ kind: 'http', url, secret: prefixed, timeoutMs: patient }).send(phone, text);
  const [request] = received;
  assert.ok(request);
  const verifier = new Webhook(`whsec_${Buffer.from(prefixed).toString('base64')}`);
  verifier.verify(request.body, request.headers as Record<string, string>);
});

test('two texts carry two ids', async () => {
  const { url, received } = await httpGateway((_, reply) => reply.writeHead(204).end());
  const sender = overHttp(url);
  await Promise.all([sender.send(phone, text), sender.send(phone, text)]);
  assert.equal(new Set(received.map(({ headers }) => headers['webhook-id'])).size, 2);
});

for (const [status, headers] of [
  [302, { location: '/elsewhere' }],
  [307, { location: '/elsewhere' }],
  [304, {}],
  [400, {}],
  [429, { 'retry-after': '1' }],
  [500, {}],
  [503, {}],
] as const) {
  test(`an answer with status ${status} is a failure and is neither followed nor repeated`, async () => {
    const { url, received } = await httpGateway((_, reply) => reply.writeHead(status, headers).end(text));
    await assertFails(overHttp(url).send(phone, text), new RegExp(`status ${status}\\.`));
    assert.equal(received.length, 1);
  });
}

test('an answer of any length is accepted for its status alone', async () => {
  const { url } = await httpGateway((_, reply) => {
    reply.writeHead(200);
    const pour = () => {
      while (!reply.destroyed && reply.write('x'.repeat(65_536)));
    };
    reply.on('drain', pour);
    pour();
  });
  await overHttp(url).send(phone, text);
});

test('a gateway that answers too late, or never finishes its answer, is a failure', async () => {
  const silent = await httpGateway(() => {});
  await assertFails(overHttp(silent.url, impatient).send(phone, text), /did not answer in time/);
  const halting = await httpGateway((_, reply) => reply.writeHead(200).flushHeaders());
  await assertFails(overHttp(halting.url, impatient).send(phone, text), /did not answer in time/);
});

test('nobody at the address of the HTTP gateway is a failure that says so', async () => {
  const url = `http://127.0.0.1:${await freePort()}/`;
  await assertFails(overHttp(url).send(phone, text), /ECONNREFUSED/);
});

test('a gateway that breaks off, or throws our request back as garbage, is asked once only', async () => {
  for (const respond of [
    (socket: Socket) => socket.destroy(),
    (socket: Socket, request: Buffer) => socket.end(request),
    (socket: Socket) => socket.end(`739154 ${phone}\r\n\r\n`),
    (socket: Socket) => socket.end(`HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n`),
  ]) {
    let connections = 0;
    const port = await listen(
      createTcpServer((socket) => {
        connections += 1;
        socket.once('data', (request) => respond(socket, request));
      }),
    );
    await assertFails(
      overHttp(`http://127.0.0.1:${port}/`).send(phone, text),
      /before a complete HTTP answer/,
    );
    assert.equal(connections, 1);
  }
});

test('an address that no request can be sent to is a failure too', async () => {
  await assertFails(overHttp('https://').send(phone, text), /not a valid URL/);
  await assertFails(overHttp('https://user:gateway password@sms.example/').send(phone, text), /password/);
});

// The SMPP gateway.

type Gateway = { url: string; binds: SmppPdu[]; texts: SmppPdu[]; sessions: SmppSession[] };

/** A gateway that accepts everything, except where it is told to do otherwise. */
async function smppGateway(
  behaviour: {
    onBind?: (session: SmppSession, pdu: SmppPdu) => void;
    onText?: (session: SmppSession, pdu: SmppPdu) => void;
    onEnquiry?: (session: SmppSession, pdu: SmppPdu) => void;
  } = {},
): Promise<Gateway> {
  const accept = (session: SmppSession, pdu: SmppPdu) => session.send(pdu.response());
  const { onBind = accept, onText = accept, onEnquiry = accept } = behaviour;
  const gateway: Gateway = { url: '', binds: [], texts: [], sessions: [] };
  const port = await listen(
    smpp.createServer((session) => {
      gateway.sessions.push(session);
      session.on('error', () => {});
      session.on('bind_transceiver', (pdu) => {
        gateway.binds.push(pdu);
        onBind(session, pdu);
      });
      session.on('submit_sm', (pdu) => {
        gateway.texts.push(pdu);
        onText(session, pdu);
      });
      session.on('enquire_link', (pdu) => onEnquiry(session, pdu));
      session.on('unbind', (pdu) => session.send(pdu.response()));
    }),
  );
  gateway.url = `smpp://127.0.0.1:${port}`;
  return gateway;
}

const account = { systemId: 'tollgate', password: 'gateway password' };

const overSmpp = (url: string, timeoutMs = patient, from = 'Tollgate') =>
  open({ kind: 'smpp', url, ...account, from, timeoutMs });

test('a plain text goes in the default alphabet, to an international number, under the name', async () => {
  const gateway = await smppGateway();
  await overSmpp(gateway.url).send(phone, text);
  const [bind] = gateway.binds;
  assert.equal(bind?.system_id, 'tollgate');
  assert.equal(bind.password, 'gateway password');
  assert.equal(bind.interface_version, 0x34);
  const [pdu] = gateway.texts;
  assert.ok(pdu);
  assert.equal(pdu.data_coding, 0);
  assert.equal(pdu.short_message?.message, text);
  assert.equal(pdu.message_payload, undefined);
  assert.deepEqual([pdu.dest_addr_ton, pdu.dest_addr_npi, pdu.destination_addr], [1, 1, '994501234567']);
  assert.deepEqual([pdu.source_addr_ton, pdu.source_addr_npi, pdu.source_addr], [5, 0, 'Tollgate']);
});

test('a number as the source is sent as the kind of number it is', async () => {
  const gateway = await smppGateway();
  await overSmpp(gateway.url, patient, '+994120000000').send(phone, text);
  await overSmpp(gateway.url, patient, '7711').send(phone, text);
  assert.deepEqual(
    gateway.texts.map((pdu) => [pdu.source_addr_ton, pdu.source_addr_npi, pdu.source_addr]),
    [
      [1, 1, '994120000000'],
      [0, 0, '7711'],
    ],
  );
});

for (const [name, message, coding] of [
  ['every ASCII character of the GSM alphabet', '@$_ !"#%&\'()*+,-./0:;<=>?AZaz[]{}\\^~|\r\n', 0],
  ['the grave accent, which GSM has not', 'code `739154`', 8],
  ['Azerbaijani', 'Giriş kodunuz: 739154. Heç kimə deməyin, ƏĞIİÖŞÜÇ əğıiöşüç', 8],
  ['Russian', 'Ваш код: 739154. Никому не говорите', 8],
  ['a character outside the basic plane', '739154 🔑', 8],
] as const) {
  test(`what the gateway decodes is what was sent: ${name}`, async () => {
    const gateway = await smppGateway();
    await overSmpp(gateway.url).send(phone, message);
    assert.equal(gateway.texts[0]?.short_message?.message, message);
    assert.equal(gateway.texts[0].data_coding, coding);
  });
}

for (const [name, fitting, tooLong, coding] of [
  ['70 characters of Unicode', 'ə'.repeat(70), 'ə'.repeat(71), 8],
  ['160 characters of the default alphabet', 'a'.repeat(160), 'a'.repeat(161), 0],
  ['80 characters that take two places each', '['.repeat(80), '['.repeat(81), 0],
] as const) {
  test(`one message holds ${name}; a longer text travels as payload`, async () => {
    const gateway = await smppGateway();
    const sender = overSmpp(gateway.url);
    await sender.send(phone, fitting);
    await sender.send(phone, tooLong);
    const [first, second] = gateway.texts;
    assert.equal(first?.short_message?.message, fitting);
    assert.equal(first.message_payload, undefined);
    assert.equal(second?.short_message?.message, '');
    assert.equal(second.message_payload?.message, tooLong);
    assert.deepEqual([first.data_coding, second.data_coding], [coding, coding]);
  });
}

test('twenty texts at once share one connection and one binding', async () => {
  const gateway = await smppGateway();
  const sender = overSmpp(gateway.url);
  const texts = Array.from({ length: 20 }, (_, at) => `text ${at}`);
  await Promise.all(texts.map((one) => sender.send(phone, one)));
  assert.equal(gateway.sessions.length, 1);
  assert.equal(gateway.binds.length, 1);
  assert.deepEqual(
    gateway.texts.map((pdu) => pdu.short_message?.message),
    texts,
  );
});

test('answers that come in another order reach the texts they belong to', async () => {
  const held: SmppPdu[] = [];
  const gateway = await smppGateway({
    onText(session, pdu) {
      held.push(pdu);
      if (held.length < 2) return;
      session.send((held[1] as SmppPdu).response());
      session.send((held[0] as SmppPdu).response({ command_status: smpp.errors.ESME_RINVDSTADR as number }));
    },
  });
  const sender = overSmpp(gateway.url);
  const refused = assertFails(sender.send(phone, text), /refused the text: ESME_RINVDSTADR\./);
  await sender.send(phone, text);
  await refused;
});

test('a refused binding is named, and the next text tries anew', async () => {
  let refusals = 0;
  const gateway = await smppGateway({
    onBind(session, pdu) {
      refusals += 1;
      const isRefused = refusals === 1;
      session.send(pdu.response(isRefused ? { command_status: smpp.errors.ESME_RINVPASWD as number } : {}));
      if (isRefused) session.close();
    },
  });
  const sender = overSmpp(gateway.url);
  await Promise.all([
    assertFails(sender.send(phone, text), /refused the binding: ESME_RINVPASWD\./),
    assertFails(sender.send(phone, text), /refused the binding: ESME_RINVPASWD\./),
  ]);
  assert.equal(gateway.texts.length, 0);
  await sender.send(phone, text);
  assert.equal(gateway.binds.length, 2);
});

test('a refused text is a failure with the name or the number of its status, and the binding stays', async () => {
  const statuses = [smpp.errors.ESME_RTHROTTLED as number, 0x4ff, 0];
  const gateway = await smppGateway({
    onText: (session, pdu) => session.send(pdu.response({ command_status: statuses.shift() as number })),
  });
  const sender = overSmpp(gateway.url);
  await assertFails(sender.send(phone, text), /refused the text: ESME_RTHROTTLED\./);
  await assertFails(sender.send(phone, text), /refused the text: status 0x000004ff\./);
  await sender.send(phone, text);
  assert.equal(gateway.binds.length, 1);
});

for (const [name, drop] of [
  ['closes the connection', (session: SmppSession) => session.close()],
  ['ends the binding', (session: SmppSession) => session.unbind({}, () => session.close())],
] as const) {
  test(`when the gateway ${name} between two texts, the second one binds again`, async () => {
    const gateway = await smppGateway();
    const sender = overSmpp(gateway.url);
    await sender.send(phone, text);
    const [session] = gateway.sessions;
    assert.ok(session);
    const closed = once(session.socket, 'close');
    drop(session);
    await closed;
    await sender.send(phone, text);
    assert.equal(gateway.binds.length, 2);
    assert.equal(gateway.texts.length, 2);
  });
}

test('when the connection breaks under a text, the text fails and is not sent again', async () => {
  let isBroken = false;
  const gateway = await smppGateway({
    onText(session, pdu) {
      if (isBroken) return session.send(pdu.response());
      isBroken = true;
      session.socket.resetAndDestroy();
    },
  });
  const sender = overSmpp(gateway.url);
  await assertFails(sender.send(phone, text), /connection to the SMS gateway has ended/);
  assert.equal(gateway.texts.length, 1);
  await sender.send(phone, text);
  assert.equal(gateway.texts.length, 2);
});

test('a gateway that takes texts and never answers is a failure, and is asked whether it lives', async () => {
  const enquired = later<void>();
  const gateway = await smppGateway({
    onText: () => {},
    onEnquiry(session, pdu) {
      session.send(pdu.response());
      enquired.resolve();
    },
  });
  await assertFails(overSmpp(gateway.url, hurried).send(phone, text), /did not answer in time/);
  await enquired.promise;
});

test('a gateway that falls silent altogether is left, and the next text opens a new connection', async () => {
  let isSilent = true;
  const answerWhenAwake = (session: SmppSession, pdu: SmppPdu) => {
    if (!isSilent) session.send(pdu.response());
  };
  const gateway = await smppGateway({ onText: answerWhenAwake, onEnquiry: answerWhenAwake });
  const sender = overSmpp(gateway.url, hurried);
  await assertFails(sender.send(phone, text), /did not answer in time/);
  const [session] = gateway.sessions;
  assert.ok(session);
  await once(session.socket, 'close');
  isSilent = false;
  await sender.send(phone, text);
  assert.equal(gateway.binds.length, 2);
});

test('an idle binding is kept alive, and given up when the gateway no longer answers', async () => {
  const thrice = later<void>();
  let enquiries = 0;
  const gateway = await smppGateway({
    onEnquiry(session, pdu) {
      enquiries += 1;
      if (enquiries < 3) session.send(pdu.response());
      else thrice.resolve();
    },
  });
  const config = {
    kind: 'smpp',
    url: gateway.url,
    ...account,
    from: 'Tollgate',
    timeoutMs: hurried,
  } as const;
  const sender = createSmppSender(config, log, 20);
  senders.push(sender);
  await sender.send(phone, text);
  const [session] = gateway.sessions;
  assert.ok(session);
  const closed = once(session.socket, 'close');
  await thrice.promise;
  await closed;
  assert.equal(enquiries, 3);
});

test('what the gateway asks of us is answered', async () => {
  const gateway = await smppGateway();
  await overSmpp(gateway.url).send(phone, text);
  const [session] = gateway.sessions;
  assert.ok(session);
  const enquiry = later<SmppPdu>();
  session.enquire_link({}, enquiry.resolve);
  assert.equal((await enquiry.promise).command_status, 0);
  const delivery = later<SmppPdu>();
  session.deliver_sm({ short_message: 'stop' }, delivery.resolve);
  assert.equal((await delivery.promise).command, 'deliver_sm_resp');
  // A command that nobody knows: 16 bytes, id 0x0f, status 0, sequence 7.
  const refusal = later<SmppPdu>();
  session.on('generic_nack', refusal.resolve);
  session.socket.write(Buffer.from('000000100000000f0000000000000007', 'hex'));
  assert.equal((await refusal.promise).command_status, smpp.errors.ESME_RINVCMDID);
});

test('nobody at the address, or a host without an address, is a failure and no crash', async () => {
  await assertFails(overSmpp(`smpp://127.0.0.1:${await freePort()}`).send(phone, text), /ECONNREFUSED/);
  await assertFails(overSmpp('smpp://nowhere.invalid').send(phone, text), /ENOTFOUND|EAI_AGAIN|in time/);
});

test('a port that speaks another language, or nothing at all, is a failure', async () => {
  for (const [greeting, timeoutMs, expected] of [
    ['HTTP/1.1 400 Bad Request\r\n\r\n', patient, /PDU length was too large/],
    [Buffer.from('0000000580', 'hex'), patient, /ERR_OUT_OF_RANGE|ERR_BUFFER_OUT_OF_BOUNDS/],
    [Buffer.from('00000001ffffffff', 'hex'), impatient, /in time/],
    ['', impatient, /in time/],
  ] as const) {
    const port = await listen(createTcpServer((socket) => socket.write(greeting)));
    await assertFails(overSmpp(`smpp://127.0.0.1:${port}`, timeoutMs).send(phone, text), expected);
  }
});

test('closing unbinds, ends the connection and refuses further texts', async () => {
  const gateway = await smppGateway();
  const sender = overSmpp(gateway.url);
  await sender.send(phone, text);
  const [session] = gateway.sessions;
  assert.ok(session);
  const unbound = later<SmppPdu>();
  session.on('unbind', unbound.resolve);
  const closed = once(session.socket, 'close');
  await sender.close();
  await unbound.promise;
  await closed;
  await assertFails(sender.send(phone, text), /closed/);
  await sender.close();
  assert.equal(gateway.binds.length, 1);
});

test('closing while a text is on its way lets it arrive, and closing an unused sender connects to nobody', async () => {
  const gateway = await smppGateway();
  const sender = overSmpp(gateway.url);
  await Promise.all([sender.send(phone, text), sender.close()]);
  await overSmpp(gateway.url).close();
  assert.equal(gateway.sessions.length, 1);
  assert.equal(gateway.texts.length, 1);
});

test('an address that is not of SMPP is refused at the start', () => {
  for (const url of ['http://127.0.0.1:2775', 'smpp://', '127.0.0.1:2775', '']) {
    assert.throws(() => overSmpp(url), /must read like smpp:/, url);
  }
});

const certificate = makeCertificate('localhost');
const withCertificate = certificate ? {} : { skip: 'the openssl command is missing: TLS IS NOT TESTED HERE' };

test(
  'over TLS the password goes only to a gateway whose certificate is trusted',
  withCertificate,
  async () => {
    assert.ok(certificate);
    const asked: string[] = [];
    const port = await listen(
      smpp.createServer({ key: certificate.key, cert: certificate.cert }, (session) => {
        session.on('error', () => {});
        session.on('pdu', (pdu) => {
          asked.push(pdu.command);
          session.send(pdu.response());
        });
      }),
    );
    const url = `ssmpp://localhost:${port}`;
    await assertFails(overSmpp(url).send(phone, text), /SELF_SIGNED/);
    assert.deepEqual(asked, []);

    // Node reads its additional authorities only when a process starts.
    const config = { kind: 'smpp', url, ...account, from: 'Tollgate', timeoutMs: patient };
    const args = [fixture('identity/fixtures/send-sms'), JSON.stringify(config), phone, text];
    await promisify(execFile)(process.execPath, args, {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: certificate.file },
    });
    assert.deepEqual(asked, ['bind_transceiver', 'submit_sm', 'unbind']);
  },
);

test('in all of this, the log has seen no text, no number and no secret', () => {
  assert.match(lines, /bound to the SMS gateway/);
  assert.match(lines, /the SMS gateway is no longer bound/);
  assertSilent(lines);
});
