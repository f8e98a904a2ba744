import * as oidc from 'openid-client';
import { recordedFetch } from './recorded-fetch.ts';
import { remember, type Visitor } from './visitors.ts';

export type PartnerOptions = {
  issuer: string;
  baseUrl: string;
  clientId: string;
  clientSecret: string;
  scopes: string;
};

/** The shop as a partner: "sign in with us", with openid-client and nothing else. */
export function createPartner(options: PartnerOptions) {
  const redirectUri = `${options.baseUrl}/demo/callback`;
  let known: Promise<oidc.Configuration> | undefined;

  /** Reads the discovery document, once. What is said to the service is shown on the visitor's account page. */
  async function configuration(visitor: Visitor, title: string, about: string): Promise<oidc.Configuration> {
    known ??= oidc.discovery(
      new URL(options.issuer),
      options.clientId,
      {},
      oidc.ClientSecretPost(options.clientSecret),
      { execute: options.issuer.startsWith('http:') ? [oidc.allowInsecureRequests] : [] },
    );
    const shared = await known.catch((error: unknown) => {
      known = undefined;
      throw error;
    });
    const own = new oidc.Configuration(
      shared.serverMetadata(),
      options.clientId,
      {},
      oidc.ClientSecretPost(options.clientSecret),
    );
    if (options.issuer.startsWith('http:')) oidc.allowInsecureRequests(own);
    own[oidc.customFetch] = (url, init) =>
      recordedFetch(
        (exchange) => remember(visitor.steps, { title, about, ...exchange }),
        url,
        init as RequestInit,
      );
    return own;
  }

  return {
    /** Step 1: send the person to us with the hash of a secret that only this shop knows (PKCE). */
    async begin(visitor: Visitor, extra: Record<string, string> = {}): Promise<string> {
      visitor.steps = [];
      const config = await configuration(visitor, 'Discovery', '');
      const signIn = {
        state: oidc.randomState(),
        nonce: oidc.randomNonce(),
        verifier: oidc.randomPKCECodeVerifier(),
      };
      const url = oidc.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: options.scopes,
        state: signIn.state,
        nonce: signIn.nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(signIn.verifier),
        code_challenge_method: 'S256',
        ...extra,
      });
      visitor.signIn = signIn;
      remember(visitor.steps, {
        title: '1. The browser is sent to log in',
        about: 'code_challenge is the SHA-256 of a verifier that stays in the shop.',
        request: `GET ${url.origin}${url.pathname}\n\n${[...url.searchParams].map(([name, value]) => `${name}=${value}`).join('\n')}`,
        answer: 'The login page.',
      });
      return url.href;
    },

    /** Step 2: the browser is back with a code. It is exchanged, with the verifier, from server to server. */
    async finish(visitor: Visitor, callback: URL): Promise<void> {
      const { signIn } = visitor;
      if (!signIn) throw new Error('This browser has begun no sign-in.');
      visitor.signIn = null;
      remember(visitor.steps, {
        title: '2. The browser comes back with a code',
        about: 'state is the one of step 1, or somebody else has begun this sign-in.',
        request: `GET ${callback.origin}${callback.pathname}\n\n${[...callback.searchParams].map(([name, value]) => `${name}=${value}`).join('\n')}`,
        answer: `state is ${callback.searchParams.get('state') === signIn.state ? 'ours' : 'not ours'}`,
      });
      visitor.usedCallback = { url: callback.href, signIn };
      const config = await configuration(
        visitor,
        '3. The code is exchanged for tokens',
        'With the verifier: a stolen code is of no use to anybody else.',
      );
      const tokens = await oidc.authorizationCodeGrant(config, callback, {
        expectedState: signIn.state,
        expectedNonce: signIn.nonce,
        pkceCodeVerifier: signIn.verifier,
        idTokenExpected: true,
      });
      visitor.tokens = {
        idToken: tokens.id_token ?? '',
        accessToken: tokens.access_token,
        refreshToken: tokens.refresh_token ?? '',
      };
    },

    /** A refresh token is good for one use; the answer brings the next one. */
    async refresh(visitor: Visitor): Promise<void> {
      if (!visitor.tokens) return;
      const config = await configuration(
        visitor,
        'The tokens are renewed',
        'The refresh token before is spent.',
      );
      const spent = visitor.tokens.refreshToken;
      const tokens = await oidc.refreshTokenGrant(config, spent);
      visitor.usedRefreshToken = spent;
      visitor.tokens = {
        idToken: tokens.id_token ?? visitor.tokens.idToken,
        accessToken: tokens.access_token,
        refreshToken: tokens.refresh_token ?? spent,
      };
    },

    /** Where the browser is sent to sign out here and with us; it comes back to the shop. */
    async signOutUrl(visitor: Visitor): Promise<string> {
      const config = await configuration(visitor, 'Sign out', '');
      const hint = visitor.tokens?.idToken;
      return oidc.buildEndSessionUrl(config, {
        post_logout_redirect_uri: `${options.baseUrl}/demo`,
        ...(hint ? { id_token_hint: hint } : { client_id: options.clientId }),
      }).href;
    },

    /** The calls that take the access token. */
    async person(visitor: Visitor): Promise<{ profile: unknown; merged: unknown } | undefined> {
      const { tokens } = visitor;
      if (!tokens) return undefined;
      const headers = { authorization: `Bearer ${tokens.accessToken}` };
      const path = `${options.baseUrl}/api/v1/openid-connect/userinfo`;
      const [profile, merged] = await Promise.all(
        [path, `${path}/history/merged`].map((url) =>
          fetch(url, { headers, signal: AbortSignal.timeout(10_000) }),
        ),
      );
      // Signed out elsewhere: the shop notices at once.
      if (profile?.status !== 200 || merged?.status !== 200) return undefined;
      return { profile: await profile.json(), merged: await merged.json() };
    },
  };
}
