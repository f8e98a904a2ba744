import assert from 'node:assert/strict';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { createRemoteJWKSet, decodeProtectedHeader, type JWTPayload, jwtVerify } from 'jose';
import { insertClient, type NewClient } from '../../src/identity/store/clients.ts';
import { startTestApp, type TestApp } from './app.ts';
import { freePort } from './free-port.ts';
import { logInThrough, redirectOf, type Tokens, Visitor } from './partner.ts';

export type ConformanceClient = {
  clientId: string;
  secret: string;
  redirectUri: string;
  postLogoutRedirectUri: string;
};

export type Metadata = Record<string, unknown> & {
  issuer: string;
  authorization_endpoint: string;
  token_endpoint: string;
  userinfo_endpoint: string;
  jwks_uri: string;
  end_session_endpoint: string;
};

type Changes = Record<string, string | null>;

/** The provider as the conformance suite meets it: known by its discovery document and reached over HTTP. */
export type Provider = {
  service: TestApp;
  metadata: Metadata;
  addClient(given?: Partial<NewClient>): Promise<ConformanceClient>;
  /** The request that the suite makes: state and nonce, no challenge; a parameter given as null is left out. */
  request(client: ConformanceClient, changes?: Changes): { url: string; state: string; nonce: string };
  /** From the login page to the redirect back, which is checked as the suite does. */
  logIn(
    visitor: Visitor,
    client: ConformanceClient,
    changes?: Changes,
  ): Promise<{ code: string; nonce: string; back: URL }>;
  exchange(client: ConformanceClient, code: string, changes?: Record<string, string>): Promise<Response>;
  refresh(client: ConformanceClient, token: string): Promise<Response>;
  /** A whole login up to checked tokens. */
  tokens(
    client: ConformanceClient,
    changes?: Changes,
    visitor?: Visitor,
  ): Promise<Tokens & { claims: JWTPayload; visitor: Visitor }>;
  checkIdToken(client: ConformanceClient, tokens: Tokens, nonce: string | undefined): Promise<JWTPayload>;
  userinfo(accessToken: string, init?: RequestInit): Promise<Response>;
};

export const person = { phone: '+994500000001', code: '111111' };

/** The claims that may stand in an ID token without being asked for; any other makes the suite warn. */
const expectedClaims = new Set(
  'iss sub aud exp iat auth_time nonce acr amr azp at_hash nbf jti sid'.split(' '),
);

export async function startProvider(env: Record<string, string> = {}): Promise<Provider> {
  const port = await freePort();
  const service = await startTestApp({ PORT: String(port), ...env });
  await service.app.listen({ port, host: '127.0.0.1' });
  const { base } = service.config.server.urls;
  const metadata = (await (await fetch(`${base}/.well-known/openid-configuration`)).json()) as Metadata;
  const keys = createRemoteJWKSet(new URL(metadata.jwks_uri), { timeoutDuration: 60_000 });

  const provider: Provider = {
    service,
    metadata,

    async addClient(given = {}) {
      const clientId = `conformance-${randomBytes(6).toString('hex')}`;
      const secret = randomBytes(24).toString('base64url');
      const redirectUri = `https://suite.example:8443/test/a/${clientId}/callback`;
      const postLogoutRedirectUri = `https://suite.example:8443/test/a/${clientId}/post_logout_redirect`;
      await insertClient(
        service.db,
        {
          id: randomUUID(),
          clientId,
          name: 'Conformance Suite',
          audience: 'ecosystem',
          grantTypes: ['authorization_code', 'refresh_token'],
          scopes: ['openid', 'profile', 'phone'],
          redirectUris: [redirectUri],
          postLogoutRedirectUris: [postLogoutRedirectUri],
          backchannelLogoutUri: null,
          secretHash: createHash('sha256').update(secret).digest(),
          requirePkce: false,
          requireState: true,
          identityDocuments: false,
          accessTokenAlg: 'ES256',
          idTokenAlg: 'RS256',
          accessTokenSeconds: 300,
          refreshTokenSeconds: 1800,
          merchantId: null,
          ...given,
        },
        service.clock.now(),
      );
      return { clientId, secret, redirectUri, postLogoutRedirectUri };
    },

    request(client, changes = {}) {
      const state = randomBytes(8).toString('base64url');
      const nonce = randomBytes(8).toString('base64url');
      const parameters: Changes = {
        client_id: client.clientId,
        redirect_uri: client.redirectUri,
        scope: 'openid',
        state,
        nonce,
        response_type: 'code',
        ...changes,
      };
      const query = new URLSearchParams();
      for (const [name, value] of Object.entries(parameters)) if (value !== null) query.set(name, value);
      return { url: `${metadata.authorization_endpoint}?${query}`, state, nonce };
    },

    async logIn(visitor, client, changes) {
      const { url, state, nonce } = provider.request(client, changes);
      const answer = await visitor.get(url);
      const back = answer.statusCode === 200 ? await logInThrough(visitor, url, person) : redirectOf(answer);
      return { code: codeOf(back, client, state, metadata.issuer), nonce, back };
    },

    exchange(client, code, changes = {}) {
      return tokenCall(metadata, client, {
        grant_type: 'authorization_code',
        code,
        redirect_uri: client.redirectUri,
        ...changes,
      });
    },

    refresh(client, token) {
      return tokenCall(metadata, client, { grant_type: 'refresh_token', refresh_token: token });
    },

    async tokens(client, changes = {}, visitor = new Visitor(service)) {
      const { code, nonce } = await provider.logIn(visitor, client, changes);
      const answer = await provider.exchange(client, code);
      const tokens = await tokensOf(answer);
      const claims = await provider.checkIdToken(client, tokens, changes.nonce === null ? undefined : nonce);
      return { ...tokens, claims, visitor };
    },

    async checkIdToken(client, tokens, nonce) {
      const { payload, protectedHeader } = await jwtVerify(tokens.id_token, keys, {
        issuer: metadata.issuer,
        audience: client.clientId,
        typ: 'JWT',
        currentDate: service.clock.now(),
        requiredClaims: ['sub', 'exp', 'iat', 'auth_time'],
      });
      assert.ok(typeof protectedHeader.kid === 'string');
      assert.equal(payload.nonce, nonce);
      assert.equal(payload.azp, client.clientId);
      assert.equal(payload.aud, client.clientId);
      assert.ok((payload.sub ?? '').length <= 255);
      assert.deepEqual(
        Object.keys(payload).filter((name) => !expectedClaims.has(name)),
        [],
      );
      const hash = createHash(protectedHeader.alg === 'EdDSA' ? 'sha512' : 'sha256');
      const digest = hash.update(tokens.access_token).digest();
      assert.equal(payload.at_hash, digest.subarray(0, digest.length / 2).toString('base64url'));
      assert.equal(decodeProtectedHeader(tokens.access_token).typ, 'at+jwt');
      return payload;
    },

    userinfo(accessToken, init = {}) {
      return fetch(metadata.userinfo_endpoint, {
        ...init,
        headers: { authorization: `Bearer ${accessToken}`, ...init.headers },
      });
    },
  };
  return provider;
}

/** The authorization response, exactly: nothing missing, nothing in the fragment, nothing unexpected. */
function codeOf(back: URL, client: ConformanceClient, state: string, issuer: string): string {
  assert.equal(`${back.origin}${back.pathname}`, client.redirectUri);
  assert.equal(back.hash, '');
  assert.deepEqual([...back.searchParams.keys()], ['state', 'session_state', 'code', 'iss']);
  assert.equal(back.searchParams.get('state'), state);
  assert.equal(back.searchParams.get('iss'), issuer);
  const code = back.searchParams.get('code') ?? '';
  assert.ok(code.length >= 22, 'a code holds 128 bits at least');
  return code;
}

/** The token answer as the suite checks it, headers included. */
export async function tokensOf(answer: Response): Promise<Tokens> {
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json(;|$)/);
  assert.match(answer.headers.get('cache-control') ?? '', /no-store/);
  const tokens = JSON.parse(text) as Tokens;
  assert.equal(tokens.token_type, 'Bearer');
  assert.ok(Number.isInteger(tokens.expires_in) && tokens.expires_in > 0);
  return tokens;
}

export async function assertOAuthError(answer: Response, status: number, error: string): Promise<void> {
  const text = await answer.text();
  assert.equal(answer.status, status, text);
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json(;|$)/);
  assert.match(answer.headers.get('cache-control') ?? '', /no-store/);
  assert.equal((JSON.parse(text) as { error: string }).error, error);
}

function tokenCall(
  metadata: Metadata,
  client: ConformanceClient,
  fields: Record<string, string>,
): Promise<Response> {
  const pair = `${encodeURIComponent(client.clientId)}:${encodeURIComponent(client.secret)}`;
  const inBody = 'client_secret' in fields;
  return fetch(metadata.token_endpoint, {
    method: 'POST',
    headers: inBody ? {} : { authorization: `Basic ${Buffer.from(pair).toString('base64')}` },
    body: new URLSearchParams(fields),
  });
}
