import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';

/** The document at `/api/openapi.json` is made from the schemas that also check the requests. */
export async function describeApi(
  app: FastifyInstance,
  options: { version: string; baseUrl: string },
): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Tollgate',
        version: options.version,
        description:
          'Single sign-on by phone number, and payments. Every answer carries `X-Request-Id`. Beside what is listed, every address may answer 405, 408, 413, 415, 417 and 431.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: new URL(options.baseUrl).origin }],
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'An access token' },
          clientBasic: { type: 'http', scheme: 'basic', description: 'Client id and secret' },
        },
      },
      externalDocs: { description: 'Every error code', url: `${options.baseUrl}/docs/errors` },
    },
    transformObject(made) {
      if (!('openapiObject' in made)) return made.swaggerObject;
      for (const methods of Object.values(made.openapiObject.paths as Record<string, Methods>)) {
        for (const operation of Object.values(methods)) mend(operation);
      }
      return made.openapiObject;
    },
  });
}

/** Goes into the schema of a call whose body may be left out, and `leftOutIsEmpty` before its check. */
export const bodyMayBeLeftOut = { 'x-body-may-be-left-out': true };

/**
 * No body is an empty one. Two forms in the schema would answer a slip with the faults against both. A `null` is a
 * body, and not of this form.
 */
export async function leftOutIsEmpty(request: { body: unknown }): Promise<void> {
  if (request.body === undefined) request.body = {};
}

type Operation = {
  requestBody?: { required?: boolean };
  responses?: Record<string, { description: string }>;
  'x-body-may-be-left-out'?: boolean;
};
type Methods = Record<string, Operation>;

/** The plugin calls every body required, and has one empty phrase for every answer that has no words of its own. */
function mend(operation: Operation): void {
  if (operation['x-body-may-be-left-out'] && operation.requestBody) operation.requestBody.required = false;
  delete operation['x-body-may-be-left-out'];
  for (const response of Object.values(operation.responses ?? {})) {
    if (response.description === 'Default Response') response.description = 'Done';
  }
}

/** RFC 9457, as every problem document of ours. */
export const ProblemJson = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.Optional(Type.String()),
    code: Type.String(),
    requestId: Type.String(),
    retryable: Type.Boolean(),
    errors: Type.Optional(Type.Array(Type.Object({}, { additionalProperties: true }))),
  },
  { description: 'A problem document' },
);

/** What a call of the payment API may be refused with. */
export const problems = Object.fromEntries(
  [
    [400, 'The body or a header is malformed'],
    [401, 'Credentials are missing or wrong'],
    [403, 'Not allowed for this merchant'],
    [404, 'Not found'],
    [409, 'The state does not allow it'],
    [422, 'A rule refuses it'],
    [429, 'Too many requests'],
    [503, 'Try again: the same request goes on'],
  ].map(([status, description]) => [
    status,
    { description, content: { 'application/problem+json': { schema: ProblemJson } } },
  ]),
);

/** How a merchant's program proves itself. */
export const merchantSecurity = [{ bearer: [] }, { clientBasic: [] }];

export const IdParams = Type.Object({ id: Type.String({ maxLength: 64 }) });

export const TimeJson = Type.String({ format: 'date-time' });

export function nullable<T extends Type.TSchema>(type: T) {
  return Type.Union([type, Type.Null()]);
}

/** Free text. PostgreSQL holds neither NUL nor half a character, so neither is taken. */
export function textJson(bounds: { minLength?: number; maxLength: number }) {
  return Type.String({
    ...bounds,
    pattern: '^[^\\u0000\\ud800-\\udfff]*$',
    description: 'Text of whole characters, without NUL',
  });
}
