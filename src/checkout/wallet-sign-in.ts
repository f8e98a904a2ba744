import * as oidc from 'openid-client';
import type { Language } from '../platform/languages.ts';
import type { Logger } from '../platform/log.ts';

/** A sign-in that is under way: what the browser carries to our single sign-on and back, sealed. */
export type SignInUnderWay = { state: string; nonce: string; verifier: string };
export type SignedIn = { userId: string; accessToken: string };
export type WalletOwner = { userId: string; name: string | null; phone: string };

export type WalletSignIn = {
  begin(wish: {
    language: Language;
    otherPerson: boolean;
  }): Promise<{ url: string; underWay: SignInUnderWay }>;
  finish(callback: URL, underWay: SignInUnderWay): Promise<SignedIn>;
  /** Who has signed in, as long as their login lives: a logout anywhere is seen here at once. */
  ownerOf(signedIn: SignedIn): Promise<WalletOwner>;
};

/** `unavailable`: our own single sign-on could not be reached. Anything else is an end of this sign-in. */
export class SignInFailed extends Error {
  override readonly name = 'SignInFailed';
  readonly reason: 'not_signed_in' | 'unavailable';

  constructor(reason: SignInFailed['reason'], cause: unknown) {
    super(`sign-in to the wallet: ${reason}`, { cause });
    this.reason = reason;
  }
}

/** Who pays has proven within these seconds that the phone is theirs. */
const maxAgeSeconds = 300;
/** For all calls of one step together: whoever looks at the page is answered within 5 s, and it has other work as well. */
const stepMs = 3_500;

/** The payment page as a client of our single sign-on: the code flow with PKCE over HTTP, like any partner's. */
export function createWalletSignIn(options: {
  issuer: string;
  clientId: string;
  clientSecret: string;
  redirectUri: string;
  now: () => Date;
  log: Logger;
}): WalletSignIn {
  let known: Promise<oidc.Configuration> | undefined;

  function configuration(): Promise<oidc.Configuration> {
    known ??= discover().catch((error: unknown) => {
      known = undefined;
      throw error;
    });
    return known;
  }

  async function discover(): Promise<oidc.Configuration> {
    const skew = Math.round((options.now().getTime() - Date.now()) / 1000);
    return oidc.discovery(
      new URL(options.issuer),
      options.clientId,
      { [oidc.clockSkew]: skew },
      oidc.ClientSecretBasic(options.clientSecret),
      {
        timeout: stepMs / 1000,
        execute: [
          oidc.enableNonRepudiationChecks,
          ...(options.issuer.startsWith('http:') ? [oidc.allowInsecureRequests] : []),
        ],
      },
    );
  }

  async function attempt<Result>(work: (config: oidc.Configuration) => Promise<Result>): Promise<Result> {
    try {
      return await within(stepMs, configuration().then(work));
    } catch (error) {
      const reason = isUnreachable(error) ? 'unavailable' : 'not_signed_in';
      const { name, message, code } = error as Error & { code?: unknown };
      // Its other fields may hold what was sent, which is nobody's to read.
      options.log.warn(
        { reason, error: name, errorCode: code, detail: message },
        'sign-in to the wallet failed',
      );
      throw new SignInFailed(reason, undefined);
    }
  }

  return {
    begin: ({ language, otherPerson }) =>
      attempt(async (config) => {
        const underWay = {
          state: oidc.randomState(),
          nonce: oidc.randomNonce(),
          verifier: oidc.randomPKCECodeVerifier(),
        };
        const url = oidc.buildAuthorizationUrl(config, {
          redirect_uri: options.redirectUri,
          scope: 'openid profile phone',
          state: underWay.state,
          nonce: underWay.nonce,
          code_challenge: await oidc.calculatePKCECodeChallenge(underWay.verifier),
          code_challenge_method: 'S256',
          max_age: String(maxAgeSeconds),
          ui_locales: language,
          ...(otherPerson ? { prompt: 'login' } : {}),
        });
        return { url: url.href, underWay };
      }),

    finish: (callback, underWay) =>
      attempt(async (config) => {
        const tokens = await oidc.authorizationCodeGrant(config, callback, {
          expectedState: underWay.state,
          expectedNonce: underWay.nonce,
          pkceCodeVerifier: underWay.verifier,
          maxAge: maxAgeSeconds,
          idTokenExpected: true,
        });
        const claims = tokens.claims();
        if (!claims) throw new Error('no ID token');
        return { userId: claims.sub, accessToken: tokens.access_token };
      }),

    ownerOf: ({ userId, accessToken }) =>
      attempt(async (config) => {
        const person = await oidc.fetchUserInfo(config, accessToken, userId);
        return { userId, name: person.name ?? null, phone: maskedPhone(person.phone_number ?? '') };
      }),
  };
}

/** Enough to know one's own number by: +994 •••• 67. */
function maskedPhone(phone: string): string {
  return phone.length < 8 ? '••••' : `${phone.slice(0, 4)} •••• ${phone.slice(-2)}`;
}

class TookTooLong extends Error {
  override readonly name = 'TookTooLong';
}

function within<Result>(limitMs: number, work: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new TookTooLong(`no answer within ${limitMs} ms`)), limitMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

function isUnreachable(error: unknown): boolean {
  if (error instanceof TookTooLong) return true;
  if (error instanceof oidc.ResponseBodyError) return error.status >= 500 || error.status === 429;
  if (error instanceof oidc.ClientError) {
    return error.code === 'OAUTH_TIMEOUT' || (error.cause instanceof Response && error.cause.status >= 500);
  }
  return error instanceof TypeError;
}
