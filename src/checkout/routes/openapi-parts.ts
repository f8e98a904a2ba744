import { Type } from 'typebox';

export const merchantSecurity = [{ bearer: [] }, { clientBasic: [] }];

export const IdParams = Type.Object({ id: Type.String({ maxLength: 64 }) });

const ProblemJson = Type.Object(
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

/** For the documentation: the handler checks it before the body is looked at, and says what is wrong in its own words. */
export const KeyHeaders = Type.Object({
  'x-idempotency-key': Type.Optional(
    Type.String({
      description:
        'Required. Chosen by you, one for each thing you want done: 1 to 255 visible ASCII characters',
      examples: ['6f1c0a3e-2b7d-4c58-9a51-0d3f6b7e8c90'],
    }),
  ),
});

export const idForm = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
