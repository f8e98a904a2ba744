import { createHmac } from 'node:crypto';

const prefix = 'whsec_';

/** The form in which Standard Webhooks writes a secret. */
export function secretText(bytes: Buffer): string {
  return prefix + bytes.toString('base64');
}

/** Standard Webhooks: one signature for each secret that counts, with spaces between. */
export function signatureOf(
  message: { id: string; timestamp: string; body: string },
  secrets: readonly Buffer[],
): string {
  const signed = `${message.id}.${message.timestamp}.${message.body}`;
  return secrets
    .map((secret) => `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`)
    .join(' ');
}
