import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { lookUpByDns, lookUpBySystem } from '../../src/platform/name-lookup.ts';
import {
  callOutgoing,
  checkOutgoingUrl,
  OutgoingFailed,
  type OutgoingPolicy,
  OutgoingRefused,
  type Resolve,
} from '../../src/platform/outgoing.ts';

const production: OutgoingPolicy = { allowPrivate: false, timeoutMs: 5_000, maxResponseBytes: 1_000 };

type Zone = Record<string, { a?: number[]; aaaa?: Buffer } | 'mute' | 'in trouble'>;

const loopback6 = Buffer.from([...Array(15).fill(0), 1]);
const zone: Zone = {
  'healthy.example': { a: [1, 1, 1, 1], aaaa: Buffer.from('26064700470000000000000000001111', 'hex') },
  'only-four.example': { a: [1, 1, 1, 1] },
  'inside-by-six.example': { a: [1, 1, 1, 1], aaaa: loopback6 },
  'no-address.example': {},
  'mute.example': 'mute',
  'in-trouble.example': 'in trouble',
};

/** A DNS server that knows the zone above, and can keep silent. */
const asked: string[] = [];
const server = createSocket('udp4', (message, { port, address }) => {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.subarray(at + 1, at + 1 + length).toString('latin1'));
    at += 1 + length;
  }
  const type = message.readUInt16BE(at + 1);
  const name = labels.join('.').toLowerCase();
  asked.push(name);
  const known = zone[name];
  if (known === 'mute') return;
  const data = typeof known === 'object' ? (type === 1 ? known.a : known.aaaa) : undefined;
  const code = known === undefined ? 3 : known === 'in trouble' ? 2 : 0;
  const header = Buffer.from([0, 0, 0x81, 0x80 | code, 0, 1, 0, data ? 1 : 0, 0, 0, 0, 0]);
  message.copy(header, 0, 0, 2);
  const record = data
    ? Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, data.length, ...data])
    : Buffer.alloc(0);
  server.send(Buffer.concat([header, message.subarray(12, at + 5), record]), port, address);
}).bind(0, '127.0.0.1');
await once(server, 'listening');
after(() => server.close());

const servers = [`127.0.0.1:${server.address().port}`];
const resolve: Resolve = (name, deadline) => lookUpByDns(name, deadline, servers);

test('both kinds of addresses are found, and one inner address of either kind refuses the name', async () => {
  assert.deepEqual(await lookUpByDns('healthy.example', undefined, servers), [
    '1.1.1.1',
    '2606:4700:4700::1111',
  ]);
  assert.deepEqual(await lookUpByDns('only-four.example', undefined, servers), ['1.1.1.1']);
  await checkOutgoingUrl('https://healthy.example/', production, resolve);
  await assert.rejects(
    checkOutgoingUrl('https://inside-by-six.example/', production, resolve),
    (error) => error instanceof OutgoingRefused && error.reason === 'address_not_allowed',
  );
});

test('a name that is not there, has no address or is too long is refused; a server in trouble is a failure', async () => {
  for (const name of ['nobody.example', 'no-address.example', `${'a.'.repeat(200)}example`]) {
    await assert.rejects(
      checkOutgoingUrl(`https://${name}/`, production, resolve),
      (error) => error instanceof OutgoingRefused && error.reason === 'name_not_found',
      name,
    );
  }
  await assert.rejects(
    checkOutgoingUrl('https://in-trouble.example/', production, resolve),
    (error) => error instanceof OutgoingFailed && error.reason === 'connection',
  );
});

test('names whose servers never answer hold up neither other names nor the calls of the operator', async () => {
  let settled = 0;
  // Less than the 6 s after which a resolver gives up by itself.
  const waiting = { ...production, timeoutMs: 5_000 };
  const mute = Array.from({ length: 32 }, () =>
    checkOutgoingUrl('https://mute.example/', waiting, resolve).catch((error) => {
      settled += 1;
      return error as unknown;
    }),
  );
  await checkOutgoingUrl('https://healthy.example/', production, resolve);
  await lookUpBySystem('localhost');
  assert.equal(settled, 0, 'all of them are still waiting');
  for (const error of await Promise.all(mute)) {
    assert.ok(error instanceof OutgoingFailed && error.reason === 'timeout', String(error));
  }
});

test('at the deadline a lookup is stopped and its server not asked again', async () => {
  const before = asked.length;
  const deadline = new AbortController();
  const lookup = lookUpByDns('mute.example', deadline.signal, servers);
  deadline.abort();
  await assert.rejects(lookup, { code: 'ECANCELLED' });
  assert.ok(asked.length - before <= 2);
});

test('a name that somebody else has chosen never occupies a thread of the process', async () => {
  let lookups = 0;
  const hook = createHook({
    init: (_id, type) => {
      if (type === 'GETADDRINFOREQWRAP') lookups += 1;
    },
  }).enable();
  try {
    const url = 'https://tollgate-test.invalid/';
    await assert.rejects(checkOutgoingUrl(url, { ...production, timeoutMs: 200 }));
    await assert.rejects(callOutgoing({ method: 'GET', url }, { ...production, timeoutMs: 200 }));
    await checkOutgoingUrl('http://localhost:3000/', { ...production, allowPrivate: true });
    await checkOutgoingUrl('http://shop.localhost:3000/', { ...production, allowPrivate: true });
    assert.equal(lookups, 0);
    await lookUpBySystem('localhost');
    assert.equal(lookups, 1, 'the counter does count');
  } finally {
    hook.disable();
  }
});
