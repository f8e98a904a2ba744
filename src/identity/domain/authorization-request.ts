import { type Client, personScopes } from './client.ts';

/** A request that has passed every check. It travels sealed through the login pages. */
export type AuthorizationRequest = {
  clientId: string;
  redirectUri: string;
  state: string | undefined;
  scopes: string[];
  codeChallenge: string | undefined;
  nonce: string | undefined;
  prompt: Prompt[];
  maxAgeSeconds: number | undefined;
  idTokenHint: string | undefined;
  loginHint: string | undefined;
  uiLocales: string | undefined;
};

export const prompts = ['none', 'login', 'consent', 'select_account'] as const;
export type Prompt = (typeof prompts)[number];

export const acr = 'urn:tollgate:otp-sms';

/** Shown on a page of ours and never sent anywhere: the address to send it to is not trusted. */
export type PageError = 'client_unknown' | 'redirect_uri_invalid' | 'parameter_repeated' | 'state_too_long';

export type RedirectError = {
  redirectUri: string;
  state: string | undefined;
  error: string;
  description: string;
};

export type CheckedRequest =
  | { kind: 'page_error'; error: PageError }
  | { kind: 'redirect_error'; error: RedirectError }
  | { kind: 'ok'; request: AuthorizationRequest };

/** Every value of every parameter, in the order they came. */
export type Parameters = ReadonlyMap<string, readonly string[]>;

const stateLimit = 2048;

/**
 * The ladder of checks of an authorization request. The order is the security: until the client and the address are
 * proven to belong together nothing is sent anywhere, and after that everything goes back to the client.
 */
export function checkAuthorizationRequest(
  parameters: Parameters,
  client: Client | undefined,
  options: { nonceInsteadOfPkce: boolean },
): CheckedRequest {
  const page = (error: PageError): CheckedRequest => ({ kind: 'page_error', error });
  if (isRepeated(parameters, 'client_id') || isRepeated(parameters, 'redirect_uri'))
    return page('parameter_repeated');
  if (!client || client.disabledAt) return page('client_unknown');
  const redirectUri = one(parameters, 'redirect_uri');
  if (!redirectUri || !client.redirectUris.includes(redirectUri)) return page('redirect_uri_invalid');
  const state = one(parameters, 'state');
  if (state !== undefined && state.length > stateLimit) return page('state_too_long');

  const back = (error: string, description: string): CheckedRequest => ({
    kind: 'redirect_error',
    error: { redirectUri, state: isRepeated(parameters, 'state') ? undefined : state, error, description },
  });
  for (const [name, values] of parameters) {
    if (values.length > 1) return back('invalid_request', `${printable(name)} is given more than once.`);
  }
  if (one(parameters, 'request')) return back('request_not_supported', 'request objects are not supported.');
  if (one(parameters, 'request_uri'))
    return back('request_uri_not_supported', 'request_uri is not supported.');
  if (one(parameters, 'registration'))
    return back('registration_not_supported', 'registration is not supported.');
  if ((one(parameters, 'response_mode') ?? 'query') !== 'query') {
    return back('invalid_request', 'response_mode must be query.');
  }
  const responseType = one(parameters, 'response_type');
  if (!responseType) return back('invalid_request', 'response_type is required; it must be code.');
  if (responseType !== 'code') return back('unsupported_response_type', 'response_type must be code.');
  if (!client.grantTypes.includes('authorization_code')) {
    return back('unauthorized_client', 'This client may not use the authorization code flow.');
  }
  if (client.requireState && !state) return back('invalid_request', 'state is required.');

  const asked = (one(parameters, 'scope') ?? '').split(' ').filter((scope) => scope !== '');
  if (!asked.includes('openid')) return back('invalid_scope', 'scope must include openid.');
  const scopes = personScopes.filter((scope) => asked.includes(scope) && client.scopes.includes(scope));
  if (!scopes.includes('openid')) return back('invalid_scope', 'This client may not ask for openid.');

  const challenge = one(parameters, 'code_challenge');
  const method = one(parameters, 'code_challenge_method');
  if (challenge === undefined && method !== undefined)
    return back('invalid_request', 'code_challenge is missing.');
  if (challenge === undefined && client.requirePkce) {
    return back('invalid_request', 'code_challenge is required (PKCE, S256).');
  }
  if (challenge !== undefined && method !== 'S256') {
    return back('invalid_request', 'code_challenge_method must be S256.');
  }
  if (challenge !== undefined && !/^[A-Za-z0-9_-]{43}$/.test(challenge)) {
    return back('invalid_request', 'code_challenge must be 43 characters of base64url.');
  }
  const nonce = one(parameters, 'nonce');
  if (nonce !== undefined && nonce.length > 512)
    return back('invalid_request', 'nonce is longer than 512 characters.');
  if (nonce?.includes('\0')) return back('invalid_request', 'nonce is malformed.');
  if (challenge === undefined && !nonce && options.nonceInsteadOfPkce) {
    return back('invalid_request', 'nonce is required where code_challenge is not used.');
  }

  const prompt = (one(parameters, 'prompt') ?? '').split(' ').filter((value) => value !== '');
  if (!prompt.every(isPrompt)) return back('invalid_request', `prompt must be of ${prompts.join(', ')}.`);
  if (prompt.includes('none') && prompt.length > 1)
    return back('invalid_request', 'prompt=none must stand alone.');
  const maxAge = one(parameters, 'max_age');
  if (maxAge !== undefined && !/^\d{1,9}$/.test(maxAge)) {
    return back('invalid_request', 'max_age must be a whole number of seconds.');
  }
  if (!acrIsMet(one(parameters, 'claims'))) {
    return back('unmet_authentication_requirements', `Only ${acr} is offered.`);
  }
  return {
    kind: 'ok',
    request: {
      clientId: client.clientId,
      redirectUri,
      state,
      scopes,
      codeChallenge: challenge,
      nonce,
      prompt,
      maxAgeSeconds: maxAge === undefined ? undefined : Number(maxAge),
      idTokenHint: one(parameters, 'id_token_hint'),
      loginHint: one(parameters, 'login_hint')?.slice(0, 64),
      uiLocales: one(parameters, 'ui_locales')?.slice(0, 200),
    },
  };
}

/** RFC 6749, 3.1: a parameter without a value counts as left out. */
function one(parameters: Parameters, name: string): string | undefined {
  return parameters.get(name)?.[0] || undefined;
}

function isRepeated(parameters: Parameters, name: string): boolean {
  return (parameters.get(name)?.length ?? 0) > 1;
}

function isPrompt(value: string): value is Prompt {
  return prompts.some((prompt) => prompt === value);
}

/** RFC 6749, 4.1.2.1 allows few characters in a description, and a name could carry any. */
function printable(name: string): string {
  return name.replace(/[^\w.-]/g, '').slice(0, 40) || 'A parameter';
}

/** OIDC Core, 5.5.1.1: an essential acr that we cannot give is an error, never a weaker token. */
function acrIsMet(claims: string | undefined): boolean {
  if (claims === undefined) return true;
  try {
    const asked = (
      JSON.parse(claims) as {
        id_token?: { acr?: { essential?: unknown; value?: unknown; values?: unknown } };
      }
    )?.id_token?.acr;
    if (asked?.essential !== true) return true;
    const values = Array.isArray(asked.values)
      ? asked.values
      : asked.value === undefined
        ? [acr]
        : [asked.value];
    return values.includes(acr);
  } catch {
    return true;
  }
}
