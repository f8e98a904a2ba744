import type { FastifyRequest } from 'fastify';
import type { IdentityDeps } from './deps.ts';
import { insufficientScope, invalidToken, tokenMissing } from './errors.ts';
import { type AccessClaims, readAccessToken } from './tokens.ts';

/**
 * The access token of a protected call. Only its signature, times and scope are checked here; whether its session
 * still lives is part of the statement that each call makes anyway, so that a logout is seen by the very next call.
 */
export async function bearerOf(deps: IdentityDeps, request: FastifyRequest): Promise<AccessClaims> {
  const header = request.headers.authorization;
  if (header === undefined || !/^Bearer\b/i.test(header)) throw tokenMissing();
  const [, token] = /^Bearer +([\w.~+/-]+=*) *$/i.exec(header) ?? [];
  const claims = token === undefined ? undefined : await readAccessToken(deps.issuer, token, deps.now());
  if (!claims) throw invalidToken();
  if (!claims.scopes.includes('openid')) throw insufficientScope('openid');
  return claims;
}
