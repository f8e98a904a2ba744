import { deriveKey, equalInConstantTime, mac, type PurposeKey } from '../platform/seal.ts';
import type { PaymentId } from './domain/payment.ts';

const idBytes = 16;
const macBytes = 16;

/** What the tokens of the payment pages are made with. */
export function confirmationKeyOf(keysSecret: string): PurposeKey {
  return deriveKey(keysSecret, 'confirmation url');
}

/**
 * The address of the payment page. Its token follows from the payment and a secret of ours, so no column is needed to
 * find the payment by it; kept answers and events hold the address, since they are given again byte for byte. The token
 * carries the merchant, by which the payment is found, and is of no use for anything but paying this one payment.
 */
export function confirmationToken(key: PurposeKey, payment: { merchantId: string; id: PaymentId }): string {
  const id = Buffer.from(payment.id.replaceAll('-', ''), 'hex');
  const proof = proofOf(key, payment.merchantId, payment.id);
  return Buffer.concat([id, proof, Buffer.from(payment.merchantId)]).toString('base64url');
}

export function readConfirmationToken(
  key: PurposeKey,
  token: string,
): { merchantId: string; id: PaymentId } | undefined {
  if (!/^[\w-]{40,80}$/.test(token)) return undefined;
  const bytes = Buffer.from(token, 'base64url');
  if (bytes.toString('base64url') !== token) return undefined;
  const merchantId = bytes.subarray(idBytes + macBytes).toString();
  const id = bytes
    .subarray(0, idBytes)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5') as PaymentId;
  const given = bytes.subarray(idBytes, idBytes + macBytes);
  return equalInConstantTime(given, proofOf(key, merchantId, id)) ? { merchantId, id } : undefined;
}

function proofOf(key: PurposeKey, merchantId: string, id: PaymentId): Buffer {
  return mac(key, `${merchantId} ${id}`).subarray(0, macBytes);
}
