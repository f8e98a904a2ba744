import { randomUUID } from 'node:crypto';
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import { BlockList, isIP, type Socket } from 'node:net';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import serializerOf, { type Schema } from 'fast-json-stringify';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { JsonRefused, parseJson } from './json.ts';
import type { Logger } from './log.ts';
import type { Metrics } from './metrics.ts';
import { watchConnections } from './open-connections.ts';
import { commonRefusals, problemOf, type Refusal, refuserOf } from './problem.ts';
import { refusalOf } from './refusal-of.ts';

const refuse = refuserOf(commonRefusals);

export type HttpOptions = {
  log: Logger;
  metrics: Metrics;
  baseUrl: string;
  trustProxy: false | number | string[];
};

export type HttpServer = ReturnType<typeof createHttpServer>;

const requestTimeoutMs = 8_000;

/** Fastify with what all areas share: limits, request ids, problem documents, headers, one log line a request. */
export function createHttpServer(options: HttpOptions) {
  const { baseUrl, metrics } = options;
  const log: FastifyBaseLogger = options.log;
  const trusts = trusted(options.trustProxy);
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    trustProxy: trusts,
    bodyLimit: 64 * 1024,
    // All three are needed to end a request that arrives a byte at a time: without the lower headers timeout and
    // the frequent check, Node lets it live for most of a minute.
    requestTimeout: requestTimeoutMs,
    http: {
      headersTimeout: 6_000,
      connectionsCheckingInterval: 1_000,
      maxHeaderSize: 16 * 1024,
      // Node would refuse a missing Host without a document or a request id; `malformation` tells it instead.
      requireHostHeader: false,
    },
    // Longer than the idle time of common load balancers (60 s), so that it is they who close a connection.
    keepAliveTimeout: 72_000,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    routerOptions: { ignoreTrailingSlash: false, maxParamLength: 512, constraints: { host: hostConstraint } },
    // A schema refuses exactly what it says it refuses: nothing is converted and nothing dropped in silence.
    ajv: {
      customOptions: {
        coerceTypes: false,
        removeAdditional: false,
        useDefaults: true,
        allErrors: true,
        // So that a fault knows the description of its field.
        verbose: true,
        // TypeBox makes no schema that is not one; to prove it again would take a tenth of a second at each start.
        validateSchema: false,
      },
    },
    genReqId: (request) =>
      requestIdOf(request, trusts !== false && trusts(request.socket.remoteAddress ?? '', 0)),
    frameworkErrors: (error, request, reply) =>
      answerUnroutable(error, request as FastifyRequest, reply as FastifyReply),
    clientErrorHandler: (error, socket) =>
      answerBrokenRequest(error as NodeJS.ErrnoException, socket as Socket),
  }).withTypeProvider<TypeBoxTypeProvider>();
  // Made at the first use: most calls have six answers and give one, and to make them all took a sixth of each start.
  app.setSerializerCompiler(({ schema }) => {
    let serialize: ReturnType<typeof serializerOf> | undefined;
    return (value) => {
      serialize ??= serializerOf(schema as Schema);
      return serialize(value);
    };
  });
  const connections = watchConnections(app.server, requestTimeoutMs);
  app.addHook('preClose', async () => connections.letGo());
  // Node would answer an unknown expectation without a document; as a request like any other it gets one.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.server.on('connect', (_request, socket: Socket) => {
    // From here on the socket is nobody's but ours.
    socket.on('error', () => socket.destroy());
    answerByHand(socket, refuse('invalid_request', 'This is no proxy: CONNECT is not taken.'));
  });

  const secure = baseUrl.startsWith('https:');
  function setCommonHeaders(request: FastifyRequest, reply: FastifyReply) {
    reply.headers({
      'x-request-id': request.id,
      'cache-control': 'no-store',
      'content-security-policy':
        "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
    if (secure) reply.header('strict-transport-security', 'max-age=31536000');
  }
  // Hooks that every request passes wait for nothing, so they are of the kind that makes no promise.
  app.addHook('onRequest', (request, reply, done) => {
    setCommonHeaders(request, reply);
    done(malformation(request.raw));
  });

  function recordRequest(request: FastifyRequest, reply: FastifyReply, route: string | undefined) {
    const seconds = reply.elapsedTime / 1000;
    metrics.requestDuration.observe(
      {
        http_request_method: request.method,
        http_route: route ?? 'none',
        http_response_status_code: reply.statusCode,
      },
      seconds,
    );
    request.log.info(
      {
        method: request.method,
        route: route ?? hideSecrets(request.url),
        status: reply.statusCode,
        durationMs: Math.round(seconds * 1e6) / 1e3,
      },
      'request',
    );
  }
  app.addHook('onResponse', (request, reply, done) => {
    recordRequest(request, reply, request.routeOptions.url);
    done();
  });

  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'string' },
    async (request: FastifyRequest, body: string) => {
      // Where nothing is served, that is what the caller has to hear, whatever the body looks like.
      if (request.is404) return undefined;
      if (body === '') throw refuse('invalid_request', 'The body is empty; this call takes a JSON object.');
      try {
        return parseJson(body);
      } catch (error) {
        if (error instanceof JsonRefused) throw refuse('invalid_request', error.message);
        throw error;
      }
    },
  );

  function answerError(error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply) {
    // Whoever has gone away in the middle of a body gets no answer, and their going is no fault of ours to report.
    const refusal = isCutOff(request) ? refuse('request_timeout') : refusalOf(error);
    if (refusal.status >= 500) {
      const level = refusal.code === 'service_unavailable' ? 'warn' : 'error';
      request.log[level]({ err: error }, refusal.title);
    }
    return reply
      .code(refusal.status)
      .headers({ 'x-request-id': request.id, ...refusal.headers })
      .type('application/problem+json')
      .send(JSON.stringify(problemOf(refusal, { baseUrl, requestId: request.id })));
  }
  app.setErrorHandler(answerError);

  /** For an address that the router cannot even read, Fastify runs none of the hooks above. */
  function answerUnroutable(error: FastifyError, request: FastifyRequest, reply: FastifyReply) {
    setCommonHeaders(request, reply);
    reply.raw.once('finish', () => recordRequest(request, reply, undefined));
    return answerError(error, request, reply);
  }

  /** What Node refuses before there is a request: it has to be written to the socket by hand. */
  function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket) {
    if (error.code === 'ECONNRESET') socket.destroy();
    else answerByHand(socket, refuse(brokenRequestCodes[error.code ?? ''] ?? 'invalid_request'), error.code);
  }

  function answerByHand(socket: Socket, refusal: Refusal, reason?: string) {
    connections.afterAnswers(socket, () => {
      if (!socket.writable) {
        socket.destroy();
        return;
      }
      const { status } = refusal;
      const requestId = randomUUID();
      const body = JSON.stringify(problemOf(refusal, { baseUrl, requestId }));
      socket.end(
        `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n` +
          `content-type: application/problem+json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
          `x-request-id: ${requestId}\r\ncache-control: no-store\r\nconnection: close\r\n\r\n${body}`,
      );
      // How long it took is not known, and its method may be anything: `_OTHER` is OpenTelemetry's word for that.
      metrics.requestDuration.observe(
        { http_request_method: '_OTHER', http_route: 'none', http_response_status_code: status },
        0,
      );
      log.info({ requestId, status, refusal: refusal.code, reason }, 'request refused');
    });
  }

  const routes: ServedRoute[] = [];
  app.addHook('onRoute', (route) => void routes.push(route));
  app.setNotFoundHandler((request) => {
    const allowed = allowedMethods(routes, request);
    if (allowed.size === 0 || allowed.has(request.method)) throw refuse('not_found');
    throw refuse('method_not_allowed', undefined, { headers: { allow: [...allowed].sort().join(', ') } });
  });

  return app;
}

/** RFC 9112, 3.2 and RFC 9110, 10.1.1. With two Host headers we and a proxy in front could take different ones. */
function malformation({ headers, rawHeaders, httpVersion }: IncomingMessage): Refusal | undefined {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1')) {
    return refuse('invalid_request', 'A request has exactly one Host header.');
  }
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue') {
    return refuse('expectation_failed');
  }
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return refuse('unsupported_media_type', 'A compressed body is not taken; send it as it is.');
  }
  return undefined;
}

/** Whether the proxy at an address, so many hops away from us, is believed. */
function trusted(proxies: HttpOptions['trustProxy']) {
  if (proxies === false) return false;
  if (typeof proxies === 'number') return (_address: string, hop: number) => hop < proxies;
  const networks = new BlockList();
  for (const proxy of proxies) {
    const [address = '', bits] = proxy.split('/');
    if (bits === undefined) networks.addAddress(address, familyOf(address));
    else networks.addSubnet(address, Number(bits), familyOf(address));
  }
  return (address: string, _hop: number) => isIP(address) !== 0 && networks.check(address, familyOf(address));
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}

/** Restricts the routes registered in a scope to one host; `undefined` leaves them open to all. */
export function routesOfHost(host: string | undefined) {
  return (route: { constraints?: object }) => {
    if (host !== undefined) route.constraints = { ...route.constraints, host };
  };
}

const hostConstraint = {
  name: 'host',
  storage() {
    const handlers = new Map<string, unknown>();
    return {
      get: (host: string) => handlers.get(host) ?? null,
      set: (host: string, handler: unknown) => void handlers.set(host, handler),
    };
  },
  deriveConstraint: hostOf,
  mustMatchWhenDerived: false,
} as never;

function hostOf(request: { headers: IncomingMessage['headers'] }): string | undefined {
  return request.headers.host?.toLowerCase().replace(/:(80|443)$/, '');
}

function isCutOff({ raw }: FastifyRequest): boolean {
  return raw.destroyed && !raw.complete;
}

function requestIdOf(request: { headers: IncomingMessage['headers'] }, behindProxy: boolean): string {
  const given = request.headers['x-request-id'];
  // Only a proxy of ours may name a request: anybody else could forge another caller's trail in the log.
  return behindProxy && typeof given === 'string' && /^[\w-]{8,64}$/.test(given) ? given : randomUUID();
}

type ServedRoute = { url: string; method: string | string[]; constraints?: { host?: unknown } };

/** The methods that an address takes on the host it was asked at; what another host serves is none of its business. */
function allowedMethods(routes: ServedRoute[], request: FastifyRequest): Set<string> {
  const path = pathOf(request.url).split('/');
  const isAsked = ({ url, constraints }: ServedRoute) => {
    if (constraints?.host !== undefined && constraints.host !== hostOf(request)) return false;
    const parts = url.split('/');
    return (
      parts.length === path.length && parts.every((part, at) => part.startsWith(':') || part === path[at])
    );
  };
  return new Set(routes.filter(isAsked).flatMap((route) => route.method));
}

function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? '';
}

/** An address that matched no route may still carry a phone, a card or a token in its path: only plain words are shown. */
function hideSecrets(url: string): string {
  return pathOf(url)
    .split('/')
    .map((part) => (/^(v\d|[a-z._-]{0,20})$/i.test(part) ? part : '…'))
    .join('/')
    .slice(0, 200);
}

const brokenRequestCodes: Record<string, keyof typeof commonRefusals> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  HPE_HEADER_OVERFLOW: 'headers_too_large',
};
