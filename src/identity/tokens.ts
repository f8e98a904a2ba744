import { hash, randomBytes, randomUUID } from 'node:crypto';
import type { Algorithm } from './domain/algorithm.ts';
import type { Client } from './domain/client.ts';
import type { Login } from './domain/session.ts';
import { type Claims, signJwt, verifyJwt } from './jwt.ts';
import type { Keyring } from './keyring.ts';
import { bytesOf, uuidOf } from './routed-secret.ts';

export type Issuer = { keyring: Keyring; issuer: string; identityAudience: string; checkoutAudience: string };

/** Clocks differ a little: a token from ten seconds ahead is not yet from the future. */
const skewSeconds = 10;

export type PersonTokens = { accessToken: string; idToken: string };

/** The access token and the ID token of a person for one client. */
export function issuePersonTokens(
  issuer: Issuer,
  client: Client,
  grant: Login & { userId: string; grantId: string; sid: string; nonce: string | null; scopes: string[] },
  now: Date,
): PersonTokens {
  const iat = seconds(now);
  const exp = iat + client.accessTokenSeconds;
  const authTime = seconds(grant.authTime);
  const accessToken = signJwt(issuer.keyring.signingKey(client.accessTokenAlg), 'at+jwt', {
    iss: issuer.issuer,
    aud: issuer.identityAudience,
    sub: grant.userId,
    exp,
    iat,
    jti: jtiOf(grant.grantId),
    typ: 'Bearer',
    azp: client.clientId,
    client_id: client.clientId,
    sid: grant.sid,
    scope: grant.scopes.join(' '),
    preferred_username: grant.phone,
    auth_time: authTime,
    acr: grant.acr,
  });
  const idToken = signJwt(issuer.keyring.signingKey(client.idTokenAlg), 'JWT', {
    iss: issuer.issuer,
    aud: client.clientId,
    sub: grant.userId,
    exp,
    iat,
    auth_time: authTime,
    ...(grant.nonce === null ? {} : { nonce: grant.nonce }),
    acr: grant.acr,
    amr: grant.amr,
    azp: client.clientId,
    at_hash: halfHash(accessToken, client.idTokenAlg),
    sid: grant.sid,
  });
  return { accessToken, idToken };
}

/** The access token of a program that acts for itself. */
export function issueClientToken(
  issuer: Issuer,
  client: Client,
  scopes: string[],
  audience: string,
  now: Date,
): string {
  const iat = seconds(now);
  return signJwt(issuer.keyring.signingKey(client.accessTokenAlg), 'at+jwt', {
    iss: issuer.issuer,
    aud: audience,
    sub: client.id,
    exp: iat + client.accessTokenSeconds,
    iat,
    jti: randomUUID(),
    typ: 'Bearer',
    azp: client.clientId,
    client_id: client.clientId,
    scope: scopes.join(' '),
  });
}

/** Signs the notice of an ended session, with the algorithm the client expects of ID tokens. */
export function signLogoutToken(issuer: Issuer, client: Client, claims: Claims): string {
  return signJwt(issuer.keyring.signingKey(client.idTokenAlg), 'logout+jwt', claims);
}

export type AccessClaims = {
  userId: string;
  grantId: string;
  sid: string;
  clientId: string;
  scopes: string[];
  expiresAt: number;
  issuedAt: number;
  claims: Claims;
};

/** A person's access token that we signed for the identity API and that has not expired. Sessions are not looked at. */
export async function readAccessToken(
  issuer: Issuer,
  token: string,
  now: Date,
): Promise<AccessClaims | undefined> {
  const claims = await verifyJwt(issuer.keyring, 'at+jwt', token);
  if (
    !claims ||
    claims.iss !== issuer.issuer ||
    claims.aud !== issuer.identityAudience ||
    !isCurrent(claims, now)
  ) {
    return undefined;
  }
  const { sub, sid, client_id: clientId, scope, jti } = claims;
  if (typeof sub !== 'string' || typeof sid !== 'string' || typeof clientId !== 'string') return undefined;
  if (typeof scope !== 'string' || typeof jti !== 'string') return undefined;
  const grantId = grantIdOf(jti);
  if (!grantId) return undefined;
  return {
    userId: sub,
    grantId,
    sid,
    clientId,
    scopes: scope.split(' '),
    expiresAt: claims.exp as number,
    issuedAt: claims.iat as number,
    claims,
  };
}

/** A program's own access token, for whichever of our audiences. */
export async function readClientToken(
  issuer: Issuer,
  token: string,
  now: Date,
): Promise<{ clientId: string; audience: string; scopes: string[]; claims: Claims } | undefined> {
  const claims = await verifyJwt(issuer.keyring, 'at+jwt', token);
  if (!claims || claims.iss !== issuer.issuer || 'sid' in claims || !isCurrent(claims, now)) return undefined;
  const { client_id: clientId, aud, scope } = claims;
  if (typeof clientId !== 'string' || typeof aud !== 'string' || typeof scope !== 'string') return undefined;
  return { clientId, audience: aud, scopes: scope.split(' '), claims };
}

export type IdTokenHint = { userId: string; sid: string; clientId: string };

/** Whom an ID token names, however old it is. Only its signature and its issuer count. */
export async function readIdTokenHint(issuer: Issuer, token: string): Promise<IdTokenHint | undefined> {
  const claims = await verifyJwt(issuer.keyring, 'JWT', token);
  if (!claims || claims.iss !== issuer.issuer) return undefined;
  const { sub, sid, aud } = claims;
  if (typeof sub !== 'string' || typeof sid !== 'string' || typeof aud !== 'string') return undefined;
  return { userId: sub, sid, clientId: aud };
}

function isCurrent(claims: Claims, now: Date): boolean {
  const at = seconds(now);
  return (
    typeof claims.exp === 'number' &&
    claims.exp > at &&
    typeof claims.iat === 'number' &&
    claims.iat <= at + skewSeconds
  );
}

/** The family a token came from stands inside its `jti`, so that killing the family kills the token. */
function jtiOf(grantId: string): string {
  return Buffer.concat([bytesOf(grantId), randomBytes(8)]).toString('base64url');
}

function grantIdOf(jti: string): string | undefined {
  const bytes = Buffer.from(jti, 'base64url');
  return bytes.length === 24 ? uuidOf(bytes.subarray(0, 16)) : undefined;
}

/** OIDC Core, 3.1.3.6: the left half of the hash that the algorithm uses. */
function halfHash(token: string, alg: Algorithm): string {
  const whole = hash(alg === 'EdDSA' ? 'sha512' : 'sha256', token, 'buffer');
  return whole.subarray(0, whole.length / 2).toString('base64url');
}

function seconds(at: Date): number {
  return Math.floor(at.getTime() / 1000);
}
