import { createCipheriv, createDecipheriv, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** A key for one purpose: what is sealed or signed for one can never be used for another. */
export type PurposeKey = Buffer;

/** One block of HKDF (RFC 5869): each refresh derives a key, and `hkdfSync` takes three times as long. */
export function deriveKey(secret: string | Buffer, purpose: string): PurposeKey {
  const extracted = createHmac('sha256', '').update(secret).digest();
  return createHmac('sha256', extracted).update(`tollgate ${purpose}\x01`).digest();
}

const nonceBytes = 12;
const tagBytes = 16;

/** AES-256-GCM with a random nonce: nonce, ciphertext, tag. `context` must be the same when it is opened. */
export function seal(key: PurposeKey, plain: string | Buffer, context = ''): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Undefined when it was not sealed with this key and context, or was changed since. */
export function unseal(key: PurposeKey, sealed: Buffer, context = ''): Buffer | undefined {
  if (sealed.length < nonceBytes + tagBytes) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  });
  decipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(-tagBytes));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(nonceBytes, -tagBytes)), decipher.final()]);
  } catch {
    return undefined;
  }
}

/** What one key has sealed, sealed by another. */
export function reseal(keys: { from: PurposeKey; to: PurposeKey }, sealed: Buffer, context: string): Buffer {
  const plain = unseal(keys.from, sealed, context);
  if (!plain) throw new WrongKey(`what belongs to ${context} was not sealed with this key`);
  return seal(keys.to, plain, context);
}

export class WrongKey extends Error {}

export function mac(key: PurposeKey, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

/** Compares without telling by its time where the two differ. */
export function equalInConstantTime(left: Buffer, right: Buffer): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}
