import { isDeepStrictEqual } from 'node:util';
import { canary, isObject } from './break.ts';
import { accepts, type Operation, type Schema } from './document.ts';
import type { Answer, Request } from './request.ts';
import { shopOrigin } from './world.ts';

/** What was done to a request, and so what its answer must be like. */
export type Intent =
  | { kind: 'valid' }
  | { kind: 'broken'; pointer: string; how: string }
  | { kind: 'hostile'; how: string; expected: number[] };

/** What no answer may tell: names in the database, and secrets. */
export type Hidden = { names: string[]; secrets: string[] };

/** Everything that is wrong with an answer, in sentences; mostly none. */
export function faultsOf(
  operation: Operation,
  intent: Intent,
  { request, answer }: { request: Request; answer: Answer },
  hidden: Hidden,
): string[] {
  return [
    ...statusFaults(operation, intent, answer),
    ...bodyFaults(operation, intent, answer),
    ...headerFaults(answer),
    ...secretsIn(answer, hidden),
    ...(answer.status >= 400 ? leaks(answer, hidden) : []),
    ...returnFaults(answer),
    ...echoFaults(operation, request, answer),
    ...(intent.kind === 'broken' ? namingFaults(operation, intent.pointer, answer) : []),
  ];
}

function statusFaults(operation: Operation, intent: Intent, answer: Answer): string[] {
  const { status } = answer;
  if (status >= 500) return [`it is answered with ${status}`];
  if (intent.kind === 'hostile') {
    const expected = status === 429 || intent.expected.includes(status);
    return expected ? [] : [`it is answered with ${status} instead of ${intent.expected.join(' or ')}`];
  }
  if (intent.kind === 'broken' && !isRefused(answer)) return [`an invalid request is taken with ${status}`];
  return status in operation.answers || anywhere.has(status)
    ? []
    : [`the status ${status} is not documented`];
}

/** What the document says of every address at once: too large, too slow, of another kind. */
const anywhere = new Set([405, 408, 413, 415, 417, 431]);

/** The login page refuses by sending the browser back with an error. */
function isRefused({ status, headers }: Answer): boolean {
  return status >= 400 || (status === 303 && /[?&]error=/.test(headers.location ?? ''));
}

function bodyFaults(operation: Operation, intent: Intent, answer: Answer): string[] {
  const documented = operation.answers[answer.status];
  if (!documented || intent.kind === 'hostile') return answer.status >= 400 ? errorFaults(answer) : [];
  if (answer.body === '') return Object.keys(documented).length === 0 ? [] : ['a documented body is missing'];
  const schema = documented[answer.type];
  if (!schema) return [`the content type ${answer.type} is not documented for ${answer.status}`];
  const body = readBody(answer);
  if (body === undefined) return ['the body is no JSON'];
  if (!accepts(schema, body)) return [`the answer ${answer.status} does not fit its schema`];
  return undocumented(schema, body, '').map((place) => `${place} is answered and not documented`);
}

function readBody(answer: Answer): unknown {
  return answer.type.endsWith('json') ? readJson(answer.body) : answer.body;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whatever it is that is refused, it is refused in one of three forms. */
function errorFaults(answer: Answer): string[] {
  if (answer.type === 'text/html') return [];
  const body = readBody(answer);
  if (!isObject(body)) return ['a refusal is no object'];
  const isProblem = answer.type === 'application/problem+json' && body.status === answer.status;
  const isOAuth = answer.type === 'application/json' && typeof body.error === 'string';
  return isProblem || isOAuth ? [] : ['a refusal has neither the form of a problem nor that of OAuth'];
}

function undocumented(schema: Schema, value: unknown, place: string): string[] {
  const choice = schema.anyOf?.find((one) => accepts(one, value)) ?? schema;
  if (Array.isArray(value)) {
    return value.flatMap((item) => undocumented(choice.items ?? {}, item, `${place}[]`));
  }
  if (!isObject(value) || !choice.properties || choice.additionalProperties === true) return [];
  return Object.entries(value).flatMap(([name, inside]) => {
    const property = choice.properties?.[name];
    return property ? undocumented(property, inside, `${place}.${name}`) : [`${place}.${name}`];
  });
}

/** A payment that is taken leads back to a registered address. */
function returnFaults(answer: Answer): string[] {
  const body = answer.status === 200 ? readBody(answer) : undefined;
  const confirmation = isObject(body) ? body.confirmation : undefined;
  if (!isObject(confirmation) || new URL(String(confirmation.returnUrl)).origin === shopOrigin) return [];
  return ['a payment leads back to an address that is not registered'];
}

/** Whatever an answer tells again of what was asked, it tells as it was asked: `1.5` must not become `1.50`. */
function echoFaults({ path }: Operation, request: Request, answer: Answer): string[] {
  if (answer.status >= 300 || answer.type !== 'application/json') return [];
  const [asked, told] = [readJson(request.body?.toString() ?? ''), readBody(answer)];
  if (!isObject(asked) || !isObject(told)) return [];
  const again: Record<string, unknown> = path.endsWith('/capture') ? { amount: told.capturedAmount } : told;
  // Of the way to pay more is told than was asked.
  const names = Object.keys(asked).filter((name) => name in again && name !== 'confirmation');
  return names
    .filter((name) => !isDeepStrictEqual(asked[name], again[name]))
    .map((name) => `${name} is answered otherwise than it was asked`);
}

function headerFaults({ status, headers }: Answer): string[] {
  const needed = ['x-request-id', 'cache-control'];
  // What is refused before there is a request has these two alone.
  if (status !== 431 && headers.connection !== 'close') {
    needed.push('x-content-type-options', 'content-security-policy', 'referrer-policy', 'x-frame-options');
  }
  return needed.filter((name) => !headers[name]).map((name) => `the header ${name} is missing`);
}

/** Each is long enough that no sealed value, which is random text, holds it by chance. */
const traces =
  /node_modules|\.tsx?\b|\bat \S+ \(|\/src\/|\/dist\/|select .+ from|insert into|syntax error|relation "|column "|violates|ECONN(REFUSED|RESET|ABORTED)|TypeError|RangeError|undefined\b/i;

/** Not even an answer that is no refusal tells them again. */
function secretsIn({ body }: Answer, { secrets }: Hidden): string[] {
  return secrets.filter((secret) => body.includes(secret)).map(() => 'the answer tells a secret');
}

function leaks({ body }: Answer, { names }: Hidden): string[] {
  const found = [...names, canary].filter((text) => body.includes(text));
  const trace = traces.exec(body)?.[0];
  return [...found, ...(trace ? [trace] : [])].map((text) => `the answer tells ${JSON.stringify(text)}`);
}

/** A problem document says which field it is about. */
function namingFaults(operation: Operation, pointer: string, answer: Answer): string[] {
  const [, place, rest = ''] = /^\/(\w+)(.*)$/s.exec(pointer) ?? [];
  if (answer.status !== 400 || answer.type !== 'application/problem+json') return [];
  const problem = JSON.parse(answer.body) as { errors?: { pointer?: string; parameter?: string }[] };
  const named = (problem.errors ?? []).map((error) =>
    place === 'body' ? error.pointer : error.parameter === undefined ? undefined : `/${error.parameter}`,
  );
  const isNamed = named.some((one) => one === rest || one?.startsWith(`${rest}/`));
  if (isNamed || (rest === '' && operation.bodyType === undefined)) return [];
  return [`the refusal does not name ${rest || 'the body'}`];
}
