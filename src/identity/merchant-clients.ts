import { basicCredentials, isSecretOf } from './client-authentication.ts';
import type { IdentityDeps } from './deps.ts';
import type { Client } from './domain/client.ts';
import { readClientToken } from './tokens.ts';

export type MerchantProof =
  | { ok: true; caller: { merchantId: string; scopes: string[] } }
  | { ok: false; reason: 'missing' | 'invalid' }
  | { ok: false; reason: 'blocked'; until: Date };

/** Which merchant a program acts for, by its Bearer token or directly by its secret. */
export async function authenticateMerchant(
  deps: IdentityDeps,
  header: string | undefined,
  address: string,
): Promise<MerchantProof> {
  if (header === undefined) return { ok: false, reason: 'missing' };
  const [, token] = /^Bearer +([\w.-]+) *$/i.exec(header) ?? [];
  if (token !== undefined) {
    const read = await readClientToken(deps.issuer, token, deps.now());
    if (read?.audience !== deps.issuer.checkoutAudience) return { ok: false, reason: 'invalid' };
    return proofOf(await deps.clients.find(read.clientId), read.scopes);
  }
  const credentials = basicCredentials(header);
  if (!credentials) return { ok: false, reason: /^(Bearer|Basic)\b/i.test(header) ? 'invalid' : 'missing' };
  const until = deps.failures.blockedUntil(credentials.clientId, address);
  if (until) return { ok: false, reason: 'blocked', until };
  const client = await deps.clients.find(credentials.clientId);
  if (client && isSecretOf(client, credentials.secret, deps.now())) {
    deps.failures.trust(credentials.clientId, address);
    return proofOf(client, client.scopes);
  }
  const blocked = await deps.failures.count(client, credentials.clientId, address);
  return blocked ? { ok: false, reason: 'blocked', until: blocked } : { ok: false, reason: 'invalid' };
}

function proofOf(client: Client | undefined, scopes: string[]): MerchantProof {
  if (!client?.merchantId || client.disabledAt) return { ok: false, reason: 'invalid' };
  return { ok: true, caller: { merchantId: client.merchantId, scopes } };
}
