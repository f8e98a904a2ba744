const oauthErrors = {
  invalid_request: [400, 'A parameter is missing, repeated or malformed.'],
  invalid_client: [401, 'The client is unknown, switched off, or its secret is wrong.'],
  invalid_grant: [
    400,
    'The code or refresh token is unknown, used, expired, revoked, or was given to another client.',
  ],
  unauthorized_client: [400, 'The client is not registered for this grant type.'],
  unsupported_grant_type: [400, 'The grant type is not one of ours.'],
  invalid_scope: [400, 'The scope is not one that may be asked for here.'],
  temporarily_unavailable: [
    503,
    'The service cannot work at the moment; send the same request again after a while.',
  ],
  too_many_requests: [429, 'Too many failed authentications; `Retry-After` says how long to wait.'],
  server_error: [500, 'Something went wrong on our side.'],
} as const;

export type OAuthErrorCode = keyof typeof oauthErrors;

/** A refusal in OAuth's own form (RFC 6749, 5.2). */
export class OAuthError extends Error {
  readonly error: OAuthErrorCode;
  readonly status: number;
  readonly headers: Record<string, string>;

  constructor(error: OAuthErrorCode, description?: string, headers: Record<string, string> = {}) {
    super(description ?? oauthErrors[error][1]);
    this.error = error;
    this.status = oauthErrors[error][0];
    this.headers = headers;
  }
}
