import type { FormFields } from '../../platform/form.ts';
import { deriveKey, equalInConstantTime, seal, unseal } from '../../platform/seal.ts';
import { single } from '../client-authentication.ts';
import type { IdentityDeps } from '../deps.ts';
import type { Client } from '../domain/client.ts';
import { OAuthError } from '../oauth-error.ts';
import { makeRoutedSecret, readRoutedSecret } from '../routed-secret.ts';
import { findGrant, type Refreshed, rotateGrant } from '../store/grants.ts';
import { issuePersonTokens } from '../tokens.ts';
import { revokeReplayed } from './replay.ts';
import { personAnswer, type TokenAnswer } from './token-answer.ts';

/** A client whose answer was lost, or whose two tabs refreshed at once, may come back with the same token this long. */
const retryWindowMs = 30_000;

/** Exchanges a refresh token for its successor and new tokens. */
export async function refreshTokenGrant(
  deps: IdentityDeps,
  client: Client,
  form: FormFields,
): Promise<TokenAnswer> {
  const token = single(form, 'refresh_token');
  if (!token) throw new OAuthError('invalid_request', 'refresh_token is required.');
  const read = readRoutedSecret(token, 'userId', 'grantId');
  if (!read) throw new OAuthError('invalid_grant');
  const asked = single(form, 'scope')
    ?.split(' ')
    .filter((scope) => scope !== '');

  if (asked?.length === 0) throw new OAuthError('invalid_scope', 'scope names nothing.');

  // What was taken from the client since, no refresh brings back.
  if (!client.scopes.includes('openid')) throw new OAuthError('invalid_grant');
  if (asked && !asked.every((scope) => client.scopes.includes(scope)))
    throw new OAuthError('invalid_scope', 'scope may shrink at a refresh, never grow.');

  const now = deps.now();
  const { userId, grantId } = read;
  const key = { userId, grantId, clientId: client.clientId };
  const successor = makeRoutedSecret([userId, grantId]);
  // A scope that grows is refused before anything is used up, which costs a read only when a scope is given.
  if (asked) await refuseWiderScope(deps, key, asked, now);

  const rotated = await rotateGrant(deps.db, {
    ...key,
    tokenHash: read.hash,
    successorHash: successor.hash,
    successorSealed: seal(successorKey(token), successor.text, grantId),
    refreshTokenMs: client.refreshTokenSeconds * 1000,
    now,
  });
  const { refreshed, refreshToken } = rotated
    ? { refreshed: rotated, refreshToken: successor.text }
    : await retryOrRefuse(deps, key, token, read.hash, now);
  const scopes = refreshed.scopes.filter(
    (scope) => client.scopes.includes(scope) && (!asked || asked.includes(scope)),
  );
  const grant = { ...refreshed, userId, grantId, scopes };
  return personAnswer(client, grant, issuePersonTokens(deps.issuer, client, grant, now), refreshToken, now);
}

type Key = { userId: string; grantId: string; clientId: string };

async function refuseWiderScope(deps: IdentityDeps, key: Key, asked: string[], now: Date): Promise<void> {
  const grant = await findGrant(deps.db, { ...key, now });
  if (grant && !asked.every((scope) => grant.scopes.includes(scope))) {
    throw new OAuthError('invalid_scope', 'scope may shrink at a refresh, never grow.');
  }
}

/**
 * The token is not the current one of its family. It may be the one before, from a client that never saw our answer:
 * that client gets the very same successor. Anything else that once was ours is a replay, and the family dies.
 */
async function retryOrRefuse(
  deps: IdentityDeps,
  key: Key,
  token: string,
  hash: Buffer,
  now: Date,
): Promise<{ refreshed: Refreshed; refreshToken: string }> {
  const grant = await findGrant(deps.db, { ...key, now });
  // The current token of a family that is over is no replay: its time has simply come.
  if (!grant?.live || equalInConstantTime(hash, grant.tokenHash)) throw new OAuthError('invalid_grant');
  const isPrevious = grant.previousTokenHash !== null && equalInConstantTime(hash, grant.previousTokenHash);
  const inTime = now.getTime() - grant.rotatedAt.getTime() <= retryWindowMs;
  if (isPrevious && inTime && grant.successorSealed) {
    const successor = unseal(successorKey(token), grant.successorSealed, key.grantId);
    if (successor) return { refreshed: grant, refreshToken: successor.toString() };
  }
  await revokeReplayed(deps, { ...key, reason: 'refresh_token_reused' });
  throw new OAuthError('invalid_grant');
}

/** Only whoever holds the presented token can read its successor; the database alone cannot. */
function successorKey(token: string): Buffer {
  return deriveKey(token, 'refresh token successor');
}
