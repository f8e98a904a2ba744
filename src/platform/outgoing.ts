import type { LookupAddress } from 'node:dns';
import { request as requestOverHttp } from 'node:http';
import { type RequestOptions, request as requestOverHttps } from 'node:https';
import { isIP, type LookupFunction, type TcpSocketConnectOpts } from 'node:net';
import ipaddr from 'ipaddr.js';
import { lookUpByDns, lookUpLocally, noSuchName } from './name-lookup.ts';

/** `allowPrivate` is for a local environment alone: it admits this machine, its network and plain http. */
export type OutgoingPolicy = { allowPrivate: boolean; timeoutMs: number; maxResponseBytes: number };

export type OutgoingRequest = {
  method: 'POST' | 'GET';
  url: string;
  headers?: Record<string, string>;
  body?: string;
};

export type OutgoingAnswer = {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
  truncated: boolean;
};

/** From a name to all of its addresses. Nobody waits for them after the deadline. */
export type Resolve = (name: string, deadline: AbortSignal) => Promise<readonly string[]>;

// One sentence for both: told apart, they would let whoever registers addresses ask which names our own network knows.
const noPublicHost = 'The host of the address does not exist or is not public.';

const refusals = {
  url_invalid: 'The address is not a valid URL.',
  scheme_not_allowed: 'The address must begin with https://.',
  credentials_in_url: 'The address must not contain a user name or a password.',
  address_not_allowed: noPublicHost,
  name_not_found: noPublicHost,
} as const;

const failures = {
  timeout: 'The receiver did not answer in time.',
  connection: 'The connection to the receiver failed before a complete HTTP answer arrived.',
  tls: 'A secure connection could not be made: the receiver must present a valid certificate for its name.',
} as const;

/** The address itself is wrong, so that another attempt changes nothing until its owner corrects it. */
export class OutgoingRefused extends Error {
  override readonly name = 'OutgoingRefused';
  readonly reason: keyof typeof refusals;

  constructor(reason: keyof typeof refusals) {
    super(refusals[reason]);
    this.reason = reason;
  }
}

/** The call did not succeed this time. The message may be shown to a partner, the `cause` is for the log. */
export class OutgoingFailed extends Error {
  override readonly name = 'OutgoingFailed';
  readonly reason: keyof typeof failures;

  constructor(reason: keyof typeof failures, cause?: unknown) {
    super(failures[reason], cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}

/**
 * The only way to call an address that a partner or a merchant has chosen. Such an address may aim at
 * our own network (SSRF), so the name is resolved once, every address it has must be public, and the
 * connection goes to those addresses and no others: a name that changes its mind between the check and
 * the connection (DNS rebinding) gains nothing. Redirects are not followed, because the place they lead
 * to was not checked: a 3xx is the answer, and the caller treats it as a failure.
 */
export async function callOutgoing(
  request: OutgoingRequest,
  policy: OutgoingPolicy,
  resolve: Resolve = resolverFor(policy),
): Promise<OutgoingAnswer> {
  const url = readUrl(request.url, policy);
  return withinDeadline(policy.timeoutMs, async (deadline) => {
    const addresses = await checkedAddresses(url, policy, resolve, deadline);
    // A name may resolve after the deadline, when the caller has long been told that the call failed.
    deadline.throwIfAborted();
    return send(request, url, addresses, policy, deadline);
  });
}

/** For the registration of an address: the same checks without a call. */
export async function checkOutgoingUrl(
  url: string,
  policy: OutgoingPolicy,
  resolve: Resolve = resolverFor(policy),
): Promise<void> {
  const parsed = readUrl(url, policy);
  await withinDeadline(policy.timeoutMs, (deadline) => checkedAddresses(parsed, policy, resolve, deadline));
}

function resolverFor(policy: OutgoingPolicy): Resolve {
  return policy.allowPrivate ? lookUpLocally : lookUpByDns;
}

function readUrl(text: string, policy: OutgoingPolicy): URL {
  if (!URL.canParse(text)) throw new OutgoingRefused('url_invalid');
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && policy.allowPrivate)) {
    throw new OutgoingRefused('scheme_not_allowed');
  }
  if (url.username !== '' || url.password !== '') throw new OutgoingRefused('credentials_in_url');
  return url;
}

/** One clock for everything, so that a receiver cannot buy time by being slow at each step in turn. */
async function withinDeadline<Result>(
  timeoutMs: number,
  work: (deadline: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), timeoutMs);
  // This listener is the first, so that the caller learns of the deadline and not of the broken
  // connection that follows from it. A name lookup that cannot be stopped is left behind by the race.
  const late = new Promise<never>((_, reject) => {
    deadline.signal.addEventListener('abort', () => reject(new OutgoingFailed('timeout')), { once: true });
  });
  try {
    return await Promise.race([late, work(deadline.signal)]);
  } finally {
    clearTimeout(timer);
  }
}

async function checkedAddresses(
  url: URL,
  policy: OutgoingPolicy,
  resolve: Resolve,
  deadline: AbortSignal,
): Promise<readonly LookupAddress[]> {
  const host = hostOf(url);
  const found = isIP(host) ? [host] : await resolveName(host, resolve, deadline);
  if (found.length === 0) throw new OutgoingRefused('name_not_found');
  // One inner address among public ones refuses the whole name: nobody needs such a name but an attacker.
  return found.map((address) => checkedAddress(address, policy));
}

/** The URL parser has already brought 127.1, 0x7f000001 and 2130706433 to the form 127.0.0.1. */
function hostOf(url: URL): string {
  return url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
}

async function resolveName(
  name: string,
  resolve: Resolve,
  deadline: AbortSignal,
): Promise<readonly string[]> {
  try {
    return await resolve(name, deadline);
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined) throw error;
    if (noSuchName.has(code)) throw new OutgoingRefused('name_not_found');
    throw new OutgoingFailed('connection', error);
  }
}

// Even a local environment has no business with link-local addresses: on a developer's cloud machine
// 169.254.169.254 hands out the credentials of that machine.
const localRanges: ReadonlySet<string> = new Set(['loopback', 'private', 'uniqueLocal']);

// IANA has given out 2000::/3 alone as global unicast. The classes know nothing of the rest and call it
// unicast, among it the old IPv4-compatible form ::127.0.0.1 (RFC 4291, section 2.5.5.1).
const globalUnicast = ipaddr.parseCIDR('2000::/3');

function checkedAddress(text: string, policy: OutgoingPolicy): LookupAddress {
  if (!isIP(text)) throw new OutgoingRefused('address_not_allowed');
  // An IPv4 address in IPv6 clothes (::ffff:10.0.0.1) is judged as the IPv4 address it is.
  // The other ways to carry one inside (NAT64, 6to4, Teredo) are ranges of their own and refused whole.
  const address = ipaddr.process(text);
  const range = address.range();
  const isPublic = range === 'unicast' && (address.kind() === 'ipv4' || address.match(globalUnicast));
  const isAllowedLocally = policy.allowPrivate && localRanges.has(range);
  if (!isPublic && !isAllowedLocally) throw new OutgoingRefused('address_not_allowed');
  return { address: address.toString(), family: address.kind() === 'ipv4' ? 4 : 6 };
}

const maxHeaderBytes = 16 * 1024;
const maxInterimAnswers = 8;

function send(
  request: OutgoingRequest,
  url: URL,
  addresses: readonly LookupAddress[],
  policy: OutgoingPolicy,
  deadline: AbortSignal,
): Promise<OutgoingAnswer> {
  const host = hostOf(url);
  const isSecure = url.protocol === 'https:';
  const body = Buffer.from(request.body ?? '', 'utf8');
  const options: RequestOptions &
    Pick<TcpSocketConnectOpts, 'autoSelectFamily' | 'autoSelectFamilyAttemptTimeout'> = {
    method: request.method,
    protocol: url.protocol,
    host,
    port: url.port,
    path: url.pathname + url.search,
    headers: {
      // A compressed answer would have to be unpacked, and a small one may unpack to gigabytes.
      'accept-encoding': 'identity',
      ...request.headers,
      host: url.host,
      ...(request.method === 'POST' || body.length > 0 ? { 'content-length': body.length } : {}),
    },
    lookup: pinnedTo(addresses),
    // A name may have an IPv6 address that we have no route to: the next checked address is then tried.
    // Node gives each but the last only 250 ms, which is less than a distant receiver needs.
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: Math.ceil(policy.timeoutMs / 4),
    // A connection shared through an agent would have been pinned by an earlier check, or by none, and
    // an agent of the process may be told by the environment to go through a proxy.
    agent: false,
    // The next two are defaults that the environment or the command line could otherwise turn around.
    rejectUnauthorized: true,
    insecureHTTPParser: false,
    // SNI carries neither an address nor the final dot of a name (RFC 6066, section 3).
    servername: isIP(host) ? '' : host.replace(/\.$/, ''),
    maxHeaderSize: maxHeaderBytes,
  };

  return new Promise((resolve, reject) => {
    const call = isSecure ? requestOverHttps(options) : requestOverHttp(options);
    deadline.addEventListener('abort', () => call.destroy(), { once: true });

    let isHandshaking = false;
    const fail = (error?: unknown) => {
      const isTls = isHandshaking || codeOf(error)?.startsWith('ERR_SSL_') === true;
      reject(new OutgoingFailed(isTls ? 'tls' : 'connection', error));
      call.destroy();
    };
    call.on('socket', (socket) => {
      if (!isSecure) return;
      socket.once('connect', () => {
        isHandshaking = true;
      });
      socket.once('secureConnect', () => {
        isHandshaking = false;
      });
    });
    call.on('error', fail);

    // Each 1xx answer starts the count of header bytes anew, so their number needs a bound of its own.
    let interimAnswers = 0;
    call.on('information', () => {
      interimAnswers += 1;
      if (interimAnswers > maxInterimAnswers) fail();
    });

    let hasResponse = false;
    // Some endings come without an error, such as an answer that switches to another protocol.
    call.on('close', () => {
      if (!hasResponse) fail();
    });

    call.on('response', (response) => {
      hasResponse = true;
      const chunks: Buffer[] = [];
      let room = policy.maxResponseBytes;
      const finish = (truncated: boolean) => {
        const text = Buffer.concat(chunks).toString('utf8');
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text, truncated });
        // Also after a whole answer: a receiver that answers early and reads no further would keep the
        // connection open with the rest of our body.
        call.destroy();
      };
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk.subarray(0, room));
        if (chunk.length > room) finish(true);
        room -= chunk.length;
      });
      response.on('end', () => finish(false));
      response.on('error', fail);
      response.on('close', () => fail());
    });

    call.end(body);
  });
}

function pinnedTo(addresses: readonly LookupAddress[]): LookupFunction {
  return (_name, options, callback) => {
    const [first] = addresses;
    if (!first) throw new Error('a connection was begun without a checked address');
    // Like the lookup it stands for, it never answers within the call that asks.
    process.nextTick(() => {
      if (options.all) callback(null, [...addresses]);
      else callback(null, first.address, first.family);
    });
  };
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
