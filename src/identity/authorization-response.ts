import type { RedirectError } from './domain/authorization-request.ts';

/** Adds what we answer to the client's address, in front of whatever query it was registered with. */
export function redirectWith(redirectUri: string, parameters: Record<string, string | undefined>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.append(name, value);
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${query}`;
}

/** RFC 6749, 4.1.2.1 with the issuer of RFC 9207. */
export function errorRedirect(error: RedirectError, issuer: string): string {
  return redirectWith(error.redirectUri, {
    error: error.error,
    error_description: error.description,
    state: error.state,
    iss: issuer,
  });
}
