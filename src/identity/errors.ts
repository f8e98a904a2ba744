import { type RefusalTable, refuserOf } from '../platform/problem.ts';

/** Every refusal of the protected calls. */
export const identityRefusals = {
  token_missing: [401, 'The call needs an access token in the header `Authorization: Bearer`.'],
  invalid_token: [
    401,
    'The access token is malformed, expired, for another audience, or its session has ended; get a new one.',
  ],
  insufficient_scope: [403, 'The access token does not have the scope that this call needs.'],
} as const satisfies RefusalTable;

const refuse = refuserOf(identityRefusals);

/** RFC 6750, 3: a call without any token is only told that one is needed. */
export function tokenMissing() {
  return refuse('token_missing', undefined, { headers: { 'www-authenticate': 'Bearer' } });
}

export function invalidToken() {
  return refuse('invalid_token', undefined, {
    headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
  });
}

export function insufficientScope(scope: string) {
  return refuse('insufficient_scope', `The scope ${scope} is needed.`, {
    headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
  });
}
