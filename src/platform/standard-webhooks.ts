import { createHmac } from 'node:crypto';

/**
 * The headers of Standard Webhooks: one signature for each key that counts, with spaces between. They hold for one id,
 * one second and one body, so that a receiver which remembers ids and refuses old times cannot be made to do a thing
 * twice.
 */
export function signedHeaders(
  { id, at, body }: { id: string; at: Date; body: string },
  keys: readonly Buffer[],
): Record<string, string> {
  const timestamp = Math.floor(at.getTime() / 1000).toString();
  const signed = `${id}.${timestamp}.${body}`;
  const signatures = keys.map(
    (key) => `v1,${createHmac('sha256', key).update(signed, 'utf8').digest('base64')}`,
  );
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}

/**
 * The key of a gateway: the operator's secret as it stands, in UTF-8. Nothing is trimmed, and no prefix or base64 is
 * taken off. A receiver that uses the library `standardwebhooks` therefore gives it the `secretText` of those bytes.
 */
export function keyOfText(secret: string): Buffer {
  return Buffer.from(secret, 'utf8');
}

/** The form in which Standard Webhooks writes a secret. */
export function secretText(bytes: Buffer): string {
  return `whsec_${bytes.toString('base64')}`;
}
