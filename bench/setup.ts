/** The client, the merchants and the people that every contestant works for, and how their secrets follow from a number. */
import { createHash } from 'node:crypto';

export const partner = {
  clientId: 'bench-partner',
  clientSecret: 'a secret of the benchmark only, forty bytes',
  redirectUri: 'http://localhost:4000/callback',
};
export const scope = 'openid profile phone';
export const verifier = 'verifier-of-the-benchmark-forty-three-letters-long';
export const challenge = createHash('sha256').update(verifier).digest('base64url');

/** Merchant 0 is the hot one: at every size half of all payments are its own. */
export const merchantCount = 100;
export const terminalId = 'BENCHTRM';
export const returnUrl = 'http://localhost:4000/thanks';

export function merchantId(at: number): string {
  return `BENCH${at}`;
}

export function merchantAuthorization(at: number): string {
  return `Basic ${Buffer.from(`${merchantClientId(at)}:${encodeURIComponent(partner.clientSecret)}`).toString('base64')}`;
}

export function merchantClientId(at: number): string {
  return `bench-merchant-${at}`;
}

/** Whose payment it is: every second one belongs to the hot merchant. */
export function ownerOf(at: number): number {
  return at % 2 === 0 ? 0 : 1 + (((at - 1) / 2) % (merchantCount - 1));
}

export const kinds = {
  user: '4000-8000',
  session: '4000-9000',
  grant: '4000-a000',
  payment: '7000-8000',
  event: '7000-9000',
};

/** Ids follow from numbers, here and in the loader's SQL, so that any row can be asked for without reading it first. */
export function idOf(kind: keyof typeof kinds, at: number): string {
  return `00000000-0000-${kinds[kind]}-${at.toString(16).padStart(12, '0')}`;
}

export function phoneOf(at: number): string {
  return `+99450${2_000_000 + at}`;
}

export function codeOf(at: number): string {
  return routedSecret([idOf('user', at)], `code ${at}`);
}

export function refreshTokenOf(at: number): string {
  return routedSecret([idOf('user', at), idOf('grant', at)], `token ${at}`);
}

/** The form of src/identity/routed-secret.ts, with a known secret in place of a random one. */
function routedSecret(ids: string[], secret: string): string {
  const parts = ids.map((id) => Buffer.from(id.replaceAll('-', ''), 'hex'));
  return Buffer.concat([...parts, createHash('sha256').update(secret).digest()]).toString('base64url');
}
