import { hash, sign, verify } from 'node:crypto';
import type { Algorithm } from './domain/algorithm.ts';
import type { Keyring, SigningKey, TokenType } from './keyring.ts';

export type Claims = Record<string, unknown>;

/** Signs with `node:crypto`, which takes a third of the time of WebCrypto for one token after another. */
export function signJwt(key: SigningKey, type: TokenType, claims: Claims): string {
  const input = `${key.headers[type]}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
  const signature = sign(digestOf(key.alg), Buffer.from(input), {
    key: key.privateKey,
    dsaEncoding: 'ieee-p1363',
  });
  return `${input}.${signature.toString('base64url')}`;
}

const form = /^([\w-]{1,512})\.([\w-]{1,8192})\.([\w-]{1,512})$/;

/**
 * The tokens that were found good, by their digests: the same one comes again and again, and to verify an ECDSA
 * signature costs more than all the rest of a call. They count only for as long as the keyring has their key.
 */
const foundGood = new Map<string, { type: TokenType; key: SigningKey; claims: Claims }>();
const mostRemembered = 10_000;

/**
 * The claims of a token that one of our keys has signed for this use, else undefined. The key decides the
 * algorithm, never the token; keys named or carried in the header are not looked at (RFC 8725, 3.1 and 3.2).
 * Times are the caller's to check.
 */
export async function verifyJwt(
  keyring: Pick<Keyring, 'verificationKey'>,
  type: TokenType,
  token: string,
): Promise<Claims | undefined> {
  const digest = hash('sha256', token, 'base64url');
  const known = foundGood.get(digest);
  if (known?.type === type && (await keyring.verificationKey(known.key.kid, type)) === known.key)
    return known.claims;

  const [, header64, claims64, signature64] = form.exec(token) ?? [];
  if (!header64 || !claims64 || !signature64) return undefined;
  const header = parseObject(header64);
  if (!header || header.typ !== type || typeof header.kid !== 'string' || 'crit' in header) return undefined;
  const key = await keyring.verificationKey(header.kid, type);
  if (!key || header.alg !== key.alg) return undefined;
  const signature = Buffer.from(signature64, 'base64url');
  // One spelling only: base64url has spare bits at its end, and a token that was refused must not come back in another.
  if (signature.toString('base64url') !== signature64) return undefined;
  const options = { key: key.publicKey, dsaEncoding: 'ieee-p1363' } as const;
  if (!verify(digestOf(key.alg), Buffer.from(`${header64}.${claims64}`), options, signature))
    return undefined;
  const claims = parseObject(claims64);
  if (!claims) return undefined;
  if (foundGood.size >= mostRemembered) foundGood.clear();
  foundGood.set(digest, { type, key, claims: Object.freeze(claims) });
  return claims;
}

function digestOf(alg: Algorithm): string | null {
  return alg === 'EdDSA' ? null : 'sha256';
}

function parseObject(part: string): Claims | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Claims)
      : undefined;
  } catch {
    return undefined;
  }
}
