import { gzipSync } from 'node:zlib';
import type { Operation } from './document.ts';
import type { Request } from './request.ts';

/** A good request, changed on the way, and the statuses of which the answer must have one. */
export type Twist = {
  how: string;
  fits: (operation: Operation) => boolean;
  twist: (request: Request) => Request;
  expected: number[];
};

const takesJson = ({ bodyType }: Operation) => bodyType === 'application/json';
const takesBody = ({ bodyType }: Operation) => bodyType !== undefined;
const needsBody = ({ parts }: Operation) => parts.required?.includes('body') ?? false;
const needsCaller = ({ caller }: Operation) => caller === 'merchant' || caller === 'person';
const everywhere = () => true;

export const twists: Twist[] = [
  twist('no JSON', takesJson, [400], (body) => body.slice(0, -1)),
  twist('no JSON but a comment', takesJson, [400], (body) => `/**/${body}`),
  twist('a name twice', takesJson, [400], (body) =>
    body.replace('{', '{"twice":1,"twice":2,').replace(',}', '}'),
  ),
  twist('__proto__', takesJson, [400], (body) =>
    body.replace('{', '{"__proto__":{"a":1},').replace(',}', '}'),
  ),
  twist('100,000 levels deep', takesJson, [400, 413], () => '['.repeat(100_000)),
  twist('33 levels deep', takesJson, [400], () => `{"a":${'['.repeat(33)}${']'.repeat(33)}}`),
  twist('a body of 70 kB', takesBody, [413], (body) => body + ' '.repeat(70_000)),
  twist('NaN', takesJson, [400], () => '{"amount":NaN}'),
  {
    how: 'bytes that are no UTF-8',
    fits: takesJson,
    twist: (request) => ({
      ...withHeader(request, 'content-type', 'application/json'),
      body: Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0xc0, 0x80, 0x22, 0x3a, 0x31]),
    }),
    expected: [400],
  },
  {
    how: 'another content type',
    fits: needsBody,
    twist: (request) => withHeader(request, 'content-type', 'text/plain'),
    expected: [415],
  },
  {
    how: 'a content type that is none',
    fits: needsBody,
    twist: (request) => withHeader(request, 'content-type', 'application/json/json;;='),
    expected: [415],
  },
  {
    how: 'a compressed body',
    fits: takesBody,
    twist: (request) => ({
      ...withHeader(request, 'content-encoding', 'gzip'),
      body: gzipSync(request.body ?? ''),
    }),
    expected: [415],
  },
  {
    how: 'a body where none is taken',
    fits: (operation) => operation.method !== 'GET' && !takesBody(operation),
    twist: (request) => ({
      ...withHeader(request, 'content-type', 'application/json'),
      body: Buffer.from('{"surprise":1}'),
    }),
    expected: [400],
  },
  header('authorization', undefined, needsCaller, [401]),
  header('authorization', 'Bearer', needsCaller, [401]),
  header('authorization', 'Bearer a.b.c', needsCaller, [401]),
  header('authorization', `Bearer ${'x'.repeat(5000)}`, needsCaller, [401]),
  header('authorization', 'Basic !!!!', needsCaller, [401]),
  header('authorization', 'Basic AAAA', needsCaller, [401]),
  header('authorization', `Basic ${Buffer.from('%ff%00:%').toString('base64')}`, needsCaller, [401]),
  header('authorization', 'Digest username="a"', needsCaller, [401]),
  {
    how: 'a signature with another first character',
    fits: needsCaller,
    twist: (request) => {
      const given = request.headers.find(([name]) => name === 'authorization')?.[1] ?? '';
      const at = given.lastIndexOf('.') + 1;
      const wrong = given[at] === 'A' ? 'B' : 'A';
      return withHeader(
        request,
        'authorization',
        at > 0 ? `${given.slice(0, at)}${wrong}${given.slice(at + 1)}` : 'x',
      );
    },
    expected: [401],
  },
  header('x-idempotency-key', undefined, (operation) => operation.needsKey, [400]),
  header('x-idempotency-key', '', (operation) => operation.needsKey, [400]),
  header('x-idempotency-key', 'a b', (operation) => operation.needsKey, [400]),
  header('x-idempotency-key', 'x'.repeat(256), (operation) => operation.needsKey, [400]),
  header('x-idempotency-key', 'k\u00e9y', (operation) => operation.needsKey, [400]),
  {
    how: 'the idempotency key twice',
    fits: (operation) => operation.needsKey,
    twist: (request) => ({ ...request, headers: [...request.headers, ['x-idempotency-key', 'another']] }),
    expected: [400],
  },
  {
    how: 'a parameter twice',
    fits: ({ parts }) => 'limit' in (parts.properties?.query?.properties ?? {}),
    twist: (request) => ({ ...request, target: request.target.replace(/\?.*|$/, '?limit=1&limit=2') }),
    expected: [400],
  },
  {
    how: 'a parameter that nobody knows',
    fits: ({ parts }) => 'limit' in (parts.properties?.query?.properties ?? {}),
    twist: (request) => ({ ...request, target: request.target.replace(/\?.*|$/, '?surprise=1') }),
    expected: [400],
  },
  header('expect', '200-maybe', everywhere, [417]),
  header('x-long', 'x'.repeat(20_000), everywhere, [431]),
  {
    how: 'two hosts',
    fits: everywhere,
    twist: (request) => ({
      ...request,
      headers: [...request.headers, ['host', 'localhost'], ['host', 'evil']],
    }),
    expected: [400],
  },
  ...['PUT', 'TRACE', 'PROPFIND', 'OPTIONS'].map((method) => ({
    how: `the method ${method}`,
    fits: everywhere,
    twist: (request: Request) => ({ ...request, method }),
    expected: [400, 404, 405],
  })),
  ...['/', '/..;/', '%00', '%zz', '/%2e%2e/', '\\', '%ff', '/x'.repeat(3000)].map((tail) => ({
    how: `an address with ${tail.slice(0, 10)} behind it`,
    fits: everywhere,
    twist: (request: Request) => ({ ...request, target: request.target.replace(/\?.*|$/, tail) }),
    // An id of the greatest length becomes too long by this.
    expected: [400, 401, 404, 405, 414, 431],
  })),
];

function twist(
  how: string,
  fits: Twist['fits'],
  expected: number[],
  change: (body: string) => string,
): Twist {
  const changed = (request: Request) => {
    const given = request.body?.toString() ?? 'null';
    return given === 'null'
      ? { ...withHeader(request, 'content-type', 'application/json'), body: Buffer.from(change('{}')) }
      : { ...request, body: Buffer.from(change(given)) };
  };
  return { how, fits, twist: changed, expected };
}

function header(name: string, value: string | undefined, fits: Twist['fits'], expected: number[]): Twist {
  return {
    how: value === undefined ? `no ${name}` : `${name}: ${value.slice(0, 30)}`,
    fits,
    twist: (request) => withHeader(request, name, value),
    expected,
  };
}

function withHeader(request: Request, name: string, value: string | undefined): Request {
  const others = request.headers.filter(([other]) => other !== name);
  return { ...request, headers: value === undefined ? others : [...others, [name, value]] };
}
