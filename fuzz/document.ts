import { Compile } from 'typebox/schema';

/** As much of JSON Schema as our own document uses. */
export type Schema = {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  required?: string[];
  minProperties?: number;
  maxProperties?: number;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
  minimum?: number;
  maximum?: number;
};

/** Who may call: anybody, a person by token, a merchant's program, a client by its secret in the form, a browser. */
export type Caller = 'anybody' | 'person' | 'merchant' | 'client' | 'browser';

export type Operation = {
  /** `POST /checkout/v1/payments` */
  name: string;
  method: string;
  path: string;
  caller: Caller;
  needsKey: boolean;
  /** The parts of a request as one schema: `path`, `query` and `body`, so that one walk sees all of them. */
  parts: Schema;
  bodyType: string | undefined;
  /** By status, then by content type; an answer without a body has no content type. */
  answers: Record<string, Record<string, Schema>>;
};

type Parameter = { name: string; in: string; required?: boolean; schema: Schema };
type Content = Record<string, { schema?: Schema }>;
type Described = {
  parameters?: Parameter[];
  requestBody?: { content: Content; required?: boolean };
  responses: Record<string, { content?: Content }>;
  security?: Record<string, unknown>[];
};
export type OpenApi = { paths: Record<string, Record<string, Described>> };

/** Those that end or delete something come last, so that the others find some. */
export function operationsOf(document: OpenApi): Operation[] {
  return Object.entries(document.paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, described]) =>
        operationOf(path, method.toUpperCase(), described),
      ),
    )
    .sort((a, b) => endsSomething(a) - endsSomething(b));
}

function endsSomething({ name }: Operation): number {
  return ['DELETE', 'revoke', 'logout'].findIndex((word) => name.includes(word));
}

function operationOf(path: string, method: string, described: Described): Operation {
  const parameters = described.parameters ?? [];
  const [[bodyType, body] = []] = Object.entries(described.requestBody?.content ?? {});
  const properties: Record<string, Schema> = {
    path: parametersIn(parameters, 'path'),
    query: parametersIn(parameters, 'query'),
    ...(body?.schema ? { body: body.schema } : {}),
  };
  return {
    name: `${method} ${path}`,
    method,
    path,
    caller: callerOf(described.security ?? []),
    needsKey: parameters.some(({ name }) => name === 'x-idempotency-key'),
    parts: {
      type: 'object',
      properties,
      required: ['path', 'query', ...(described.requestBody?.required ? ['body'] : [])],
    },
    bodyType,
    answers: Object.fromEntries(
      Object.entries(described.responses).map(([status, { content = {} }]) => [
        status,
        Object.fromEntries(Object.entries(content).map(([type, { schema }]) => [type, schema ?? {}])),
      ]),
    ),
  };
}

function parametersIn(parameters: Parameter[], place: string): Schema {
  const here = parameters.filter((parameter) => parameter.in === place);
  return {
    type: 'object',
    properties: Object.fromEntries(here.map(({ name, schema }) => [name, schema])),
    required: here.filter(({ required }) => required).map(({ name }) => name),
  };
}

function callerOf(security: Record<string, unknown>[]): Caller {
  const ways = security.flatMap((way) => Object.keys(way));
  if (ways.includes('bearer')) return ways.includes('clientBasic') ? 'merchant' : 'person';
  return ways.includes('clientBasic') ? 'client' : 'anybody';
}

const compiled = new WeakMap<Schema, (value: unknown) => boolean>();

/** By another reader of JSON Schema than the one the service checks with, so that a fault of either shows. */
export function accepts(schema: Schema, value: unknown): boolean {
  let check = compiled.get(schema);
  if (!check) {
    const validator = Compile(schema as object);
    check = (given) => validator.Check(given);
    compiled.set(schema, check);
  }
  return check(value);
}
