import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { FormFields } from '../platform/form.ts';
import { equalInConstantTime } from '../platform/seal.ts';
import type { ClientDirectory } from './client-directory.ts';
import type { Client } from './domain/client.ts';
import { OAuthError } from './oauth-error.ts';

export type AuthenticationDeps = {
  clients: ClientDirectory;
  failures: AuthenticationFailures;
  now: () => Date;
};

/** Counts failed tries for all nodes; tells until when the caller has to wait once there were too many. */
export type AuthenticationFailures = {
  blockedUntil(clientId: string, address: string): Date | undefined;
  count(client: Client | undefined, clientId: string, address: string): Promise<Date | undefined>;
  /** A right secret came from there: whoever else guesses from the same place no longer locks its owner out. */
  trust(clientId: string, address: string): void;
};

/** The client that a request comes from, proven by its secret in the body or by HTTP Basic, never both. */
export async function authenticateClient(
  deps: AuthenticationDeps,
  request: FastifyRequest,
  form: FormFields,
): Promise<Client> {
  const { clientId, secret, basic } = credentialsOf(request, form);
  const blocked = deps.failures.blockedUntil(clientId, request.ip);
  if (blocked) throw tooMany(blocked, deps.now());
  const client = await deps.clients.find(clientId);
  if (client && !client.disabledAt && isSecretOf(client, secret, deps.now())) {
    deps.failures.trust(clientId, request.ip);
    return client;
  }

  const until = await deps.failures.count(client, clientId, request.ip);
  if (until) throw tooMany(until, deps.now());
  throw new OAuthError(
    'invalid_client',
    undefined,
    basic ? { 'www-authenticate': 'Basic realm="tollgate"' } : {},
  );
}

export function isSecretOf(client: Client, secret: string, now: Date): boolean {
  const presented = hash('sha256', secret, 'buffer');
  // Both are always compared, so that the time does not tell which of the two secrets came close.
  const current = client.secretHash !== null && equalInConstantTime(presented, client.secretHash);
  const rotating = client.previousSecretExpiresAt !== null && client.previousSecretExpiresAt > now;
  const previous =
    client.previousSecretHash !== null &&
    equalInConstantTime(presented, client.previousSecretHash) &&
    rotating;
  return current || previous;
}

function tooMany(until: Date, now: Date): OAuthError {
  const seconds = Math.max(1, Math.ceil((until.getTime() - now.getTime()) / 1000));
  return new OAuthError('too_many_requests', undefined, { 'retry-after': String(seconds) });
}

function credentialsOf(request: FastifyRequest, form: FormFields) {
  const header = request.headers.authorization;
  const bodySecret = single(form, 'client_secret');
  const bodyId = single(form, 'client_id');
  if (header === undefined) {
    if (!bodyId) throw new OAuthError('invalid_client', 'client_id and client_secret are required.');
    if (!bodySecret) throw new OAuthError('invalid_client', 'client_secret is required.');
    return { clientId: bodyId, secret: bodySecret, basic: false };
  }
  if (bodySecret) throw new OAuthError('invalid_request', 'Authenticate by one method, not by two.');
  const credentials = basicCredentials(header);
  if (!credentials)
    throw new OAuthError('invalid_client', undefined, { 'www-authenticate': 'Basic realm="tollgate"' });
  if (bodyId && bodyId !== credentials.clientId) {
    throw new OAuthError('invalid_request', 'client_id names another client than the Authorization header.');
  }
  return { ...credentials, basic: true };
}

/** RFC 6749, 2.3.1: both parts are form-encoded before they are joined. */
export function basicCredentials(header: string): { clientId: string; secret: string } | undefined {
  const [, encoded] = /^Basic +([A-Za-z0-9+/]+=*)$/i.exec(header) ?? [];
  if (!encoded) return undefined;
  const text = Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  if (colon < 1) return undefined;
  try {
    const decode = (part: string) => decodeURIComponent(part.replaceAll('+', ' '));
    return { clientId: decode(text.slice(0, colon)), secret: decode(text.slice(colon + 1)) };
  } catch {
    return undefined;
  }
}

/** The one value of a parameter; twice is an error (RFC 6749, 3.2), empty counts as left out. */
export function single(form: FormFields, name: string): string | undefined {
  const values = form.get(name);
  if (values && values.length > 1)
    throw new OAuthError('invalid_request', `${name} is given more than once.`);
  // No parameter may contain it (RFC 6749, appendix A), and PostgreSQL cannot take it.
  if (values?.[0]?.includes('\0')) throw new OAuthError('invalid_request', `${name} is malformed.`);
  return values?.[0] || undefined;
}
