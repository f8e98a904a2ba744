import { randomUUID } from 'node:crypto';
import { Agent, request as overHttp } from 'node:http';
import type { Operation } from './document.ts';

export type Request = {
  method: string;
  /** As it goes over the wire, with its query. */
  target: string;
  headers: [name: string, value: string][];
  body: Buffer | undefined;
};

export type Answer = { status: number; headers: Record<string, string>; type: string; body: string };

/** The parts that a schema of an operation describes. */
export type Parts = { path: Record<string, string>; query: Record<string, string>; body?: unknown };

/** The header that says who is calling. */
export type Identity = [name: 'authorization' | 'cookie', value: string];

export function requestOf(operation: Operation, parts: Parts, identity: Identity | undefined): Request {
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => encoded(parts.path[name] ?? ''));
  const query = formOf(parts.query);
  const headers: Request['headers'] = identity ? [identity] : [];
  if (operation.needsKey) headers.push(['x-idempotency-key', randomUUID()]);
  const body = parts.body === undefined ? undefined : Buffer.from(bodyText(operation, parts.body));
  if (body && operation.bodyType) headers.push(['content-type', operation.bodyType]);
  return { method: operation.method, target: query ? `${path}?${query}` : path, headers, body };
}

function bodyText(operation: Operation, body: unknown): string {
  return operation.bodyType === 'application/json'
    ? JSON.stringify(body)
    : formOf(body as Record<string, string>);
}

function formOf(fields: Record<string, string>): string {
  return Object.entries(fields)
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .join('&');
}

/** Half a character cannot be written in an address. */
function encoded(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString());
}

const agent = new Agent({ keepAlive: true, maxSockets: 16 });

export function send(base: URL, request: Request): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const hasHost = request.headers.some(([name]) => name === 'host');
    const call = overHttp({
      agent,
      host: base.hostname,
      port: base.port,
      method: request.method,
      path: request.target,
      setHost: false,
      headers: [
        ...(hasHost ? [] : ['host', base.host]),
        ...request.headers.flat(),
        ...(request.method === 'GET' && !request.body
          ? []
          : ['content-length', String(request.body?.length ?? 0)]),
      ],
      timeout: 20_000,
    });
    call.on('timeout', () => call.destroy(new Error('no answer within 20 s')));
    call.on('error', reject);
    call.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('error', reject);
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const headers = response.headers as Record<string, string>;
        const [type = ''] = (headers['content-type'] ?? '').split(';');
        resolve({ status: response.statusCode ?? 0, headers, type, body: Buffer.concat(chunks).toString() });
      });
    });
    call.end(request.body);
  });
}

/** A line for a shell that sends the same request again. */
export function curlOf(base: URL, request: Request): string {
  const headers = request.headers.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
  const call = ['curl -si --path-as-is', `-X ${request.method}`, ...headers];
  const address = quoted(base.origin + request.target);
  if (!request.body) return [...call, address].join(' ');
  const text = request.body.toString();
  const isPlain = Buffer.from(text).equals(request.body) && /^[\x20-\x7e]{0,2000}$/.test(text);
  if (isPlain) return [...call, `--data-binary ${quoted(text)}`, address].join(' ');
  const pieces =
    request.body.length > 4000 ? `(${request.body.length} bytes) ` : request.body.toString('base64');
  return [`base64 -d <<< ${pieces} |`, ...call, '--data-binary @-', address].join(' ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
