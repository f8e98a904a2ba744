import type { AuthorizationRequest, RedirectError } from './domain/authorization-request.ts';

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

/** The link that the client itself would have given: whoever follows it passes every check again. */
export function authorizationLink(ssoUrl: string, request: AuthorizationRequest): string {
  return redirectWith(`${ssoUrl}/auth/ssoValidateUser`, {
    response_type: 'code',
    client_id: request.clientId,
    redirect_uri: request.redirectUri,
    scope: request.scopes.join(' '),
    state: request.state,
    code_challenge: request.codeChallenge,
    code_challenge_method: request.codeChallenge && 'S256',
    nonce: request.nonce,
    prompt: request.prompt.join(' ') || undefined,
    max_age: request.maxAgeSeconds?.toString(),
    id_token_hint: request.idTokenHint,
    login_hint: request.loginHint,
    ui_locales: request.uiLocales,
  });
}
