import type { FormFields } from '../../platform/form.ts';
import { single } from '../client-authentication.ts';
import type { IdentityDeps } from '../deps.ts';
import { type Client, merchantScopes, personScopes } from '../domain/client.ts';
import { OAuthError } from '../oauth-error.ts';
import { issueClientToken } from '../tokens.ts';
import type { TokenAnswer } from './token-answer.ts';

/** A token for the client itself. Nobody has logged in, so there is nothing to refresh. */
export function clientCredentialsGrant(deps: IdentityDeps, client: Client, form: FormFields): TokenAnswer {
  const scopes = scopesFor(client, single(form, 'scope'));
  const forMerchants = scopes.some(isMerchantScope);
  if (forMerchants && !scopes.every(isMerchantScope)) {
    throw new OAuthError('invalid_scope', 'These scopes are for two audiences; ask for them one at a time.');
  }
  const audience = forMerchants ? deps.issuer.checkoutAudience : deps.issuer.identityAudience;
  return {
    access_token: issueClientToken(deps.issuer, client, scopes, audience, deps.now()),
    expires_in: client.accessTokenSeconds,
    refresh_expires_in: 0,
    token_type: 'Bearer',
    scope: scopes.join(' '),
  };
}

function scopesFor(client: Client, asked: string | undefined): string[] {
  // `openid` stands for a person, and there is none.
  const own = client.scopes.filter((scope) => scope !== 'openid');
  if (asked === undefined) return own;
  const scopes = [...new Set(asked.split(' ').filter((scope) => scope !== ''))];
  if (scopes.length === 0) throw new OAuthError('invalid_scope', 'scope names nothing.');
  const wrong = scopes.find((scope) => !own.includes(scope));
  if (wrong !== undefined) {
    const known = [...personScopes, ...merchantScopes].some((scope) => scope === wrong);
    throw new OAuthError(
      'invalid_scope',
      known ? `This client may not ask for ${wrong} here.` : 'A scope is not known.',
    );
  }
  return scopes;
}

function isMerchantScope(scope: string): boolean {
  return merchantScopes.some((one) => one === scope);
}
