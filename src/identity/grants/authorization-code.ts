import { hash, randomUUID } from 'node:crypto';
import type { FormFields } from '../../platform/form.ts';
import { single } from '../client-authentication.ts';
import type { IdentityDeps } from '../deps.ts';
import type { Client } from '../domain/client.ts';
import { OAuthError } from '../oauth-error.ts';
import { makeRoutedSecret, readRoutedSecret } from '../routed-secret.ts';
import { exchangeCode, findCode } from '../store/authorization-codes.ts';
import { issuePersonTokens } from '../tokens.ts';
import { revokeReplayed } from './replay.ts';
import { personAnswer, type TokenAnswer } from './token-answer.ts';

/** Exchanges a one-time code for the first tokens of a family. */
export async function authorizationCodeGrant(
  deps: IdentityDeps,
  client: Client,
  form: FormFields,
): Promise<TokenAnswer> {
  const code = single(form, 'code');
  const redirectUri = single(form, 'redirect_uri');
  const verifier = single(form, 'code_verifier');
  if (!code) throw new OAuthError('invalid_request', 'code is required.');
  if (!redirectUri) throw new OAuthError('invalid_request', 'redirect_uri is required.');
  if (verifier === undefined && client.requirePkce)
    throw new OAuthError('invalid_request', 'code_verifier is required.');
  if (verifier !== undefined && !/^[A-Za-z0-9._~-]{43,128}$/.test(verifier)) {
    throw new OAuthError('invalid_request', 'code_verifier must be 43 to 128 unreserved characters.');
  }
  const read = readRoutedSecret(code, 'userId');
  if (!read) throw new OAuthError('invalid_grant');

  const now = deps.now();
  const grantId = randomUUID();
  const refreshToken = makeRoutedSecret([read.userId, grantId]);
  const key = { userId: read.userId, codeHash: read.hash, clientId: client.clientId };
  const exchanged = await exchangeCode(deps.db, {
    ...key,
    redirectUri,
    codeChallenge: verifier === undefined ? undefined : hash('sha256', verifier, 'base64url'),
    grantId,
    tokenHash: refreshToken.hash,
    refreshTokenMs: client.refreshTokenSeconds * 1000,
    now,
  });
  if (!exchanged) throw await refuse(deps, key, verifier);
  const grant = { ...exchanged, userId: read.userId, grantId };
  return personAnswer(
    client,
    grant,
    issuePersonTokens(deps.issuer, client, grant, now),
    refreshToken.text,
    now,
  );
}

async function refuse(
  deps: IdentityDeps,
  key: { userId: string; codeHash: Buffer; clientId: string },
  verifier: string | undefined,
): Promise<OAuthError> {
  const found = await findCode(deps.db, key);
  if (found && found.usedAt === null && found.codeChallenge !== null && verifier === undefined) {
    return new OAuthError('invalid_request', 'code_verifier is required.');
  }
  // A code that comes twice may be in the hands of a thief: whatever it produced dies (RFC 6749, 4.1.2).
  if (found?.grantId) {
    await revokeReplayed(deps, { ...key, grantId: found.grantId, reason: 'code_reused' });
  }
  return new OAuthError('invalid_grant');
}
