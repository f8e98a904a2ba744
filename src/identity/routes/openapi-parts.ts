import { Type } from 'typebox';
import { ProblemJson } from '../../platform/openapi.ts';

export const bearerSecurity = [{ bearer: [] }];

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
