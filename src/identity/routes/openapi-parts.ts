import { Type } from 'typebox';

export const bearerSecurity = [{ bearer: [] }];

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

export const bearerResponses = {
  400: { description: 'A body was sent, or the request is malformed', content: problem() },
  401: { description: 'No token, or one that does not count (any more)', content: problem() },
  403: { description: 'The scope does not suffice', content: problem() },
  503: { description: 'Try again later', content: problem() },
};

export const OAuthErrorJson = Type.Object(
  { error: Type.String(), error_description: Type.Optional(Type.String()) },
  { description: 'An error in the form of RFC 6749, section 5.2' },
);

export const clientSecurity = [{ clientBasic: [] }, {}];

/** A form is checked by the handler, which answers in OAuth's own words; the schema is for the documentation. */
export const documentedOnly = { validatorCompiler: () => () => true };

function problem() {
  return { 'application/problem+json': { schema: ProblemJson } };
}
