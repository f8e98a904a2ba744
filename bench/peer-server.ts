/**
 * The peer, as a process of its own: oidc-provider as its documentation recommends it for production, without the
 * interactions meant for development. What differs from its defaults makes it do the same work as we do: ES256, access
 * tokens that are JWTs, a new refresh token at every refresh. Codes and tokens to begin with are made by its own
 * models when the benchmark asks.
 */
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';
import { postgresAdapter } from './peer-adapter.ts';
import { challenge, partner, scope } from './setup.ts';

const { PEER_PORT: port = '', PEER_DATABASE_URL: databaseUrl, PEER_POOL_SIZE: poolSize } = process.env;
const resource = 'http://localhost/api';
const resourceServer = {
  scope: 'api',
  audience: resource,
  accessTokenTTL: 300,
  accessTokenFormat: 'jwt',
  jwt: { sign: { alg: 'ES256' } },
};
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

const provider = new Provider(`http://localhost:${port}`, {
  ...(databaseUrl ? { adapter: postgresAdapter(databaseUrl, Number(poolSize)) } : {}),
  clients: [
    {
      client_id: partner.clientId,
      client_secret: partner.clientSecret,
      redirect_uris: [partner.redirectUri],
      response_types: ['code'],
      grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
      token_endpoint_auth_method: 'client_secret_post',
      id_token_signed_response_alg: 'ES256',
      scope: `${scope} offline_access api`,
    },
  ],
  jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: 'bench', use: 'sig', alg: 'ES256' }] },
  cookies: { keys: ['a secret of the benchmark only'] },
  scopes: ['openid', 'offline_access', 'profile', 'phone', 'api'],
  claims: { openid: ['sub'], profile: ['given_name', 'family_name'], phone: ['phone_number'] },
  findAccount: async (_context: unknown, id: string) => ({
    accountId: id,
    claims: async () => ({
      sub: id,
      given_name: 'Aysel',
      family_name: 'Example',
      phone_number: '+994500000001',
    }),
  }),
  rotateRefreshToken: true,
  ttl: { AccessToken: 3600, AuthorizationCode: 600, RefreshToken: 3600, Grant: 3600, IdToken: 300 },
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    introspection: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: async () => resource,
      getResourceServerInfo: async () => resourceServer,
      useGrantedResource: async () => true,
    },
  },
});
provider.on('server_error', (_context, error) => process.stderr.write(`${error.stack}\n`));

export type Wish = { what: keyof typeof makers; count: number };

const makers = {
  codes: (grant: Granted) =>
    new provider.AuthorizationCode({
      ...grant,
      resource,
      redirectUri: partner.redirectUri,
      codeChallenge: challenge,
      codeChallengeMethod: 'S256',
    }).save(),
  refreshTokens: (grant: Granted) =>
    new provider.RefreshToken({
      ...grant,
      resource,
      rotations: 0,
      iiat: Math.floor(Date.now() / 1000),
    }).save(),
  accessTokens: (grant: Granted) => new provider.AccessToken(grant).save(),
};

type Granted = Awaited<ReturnType<typeof grantOf>>;

async function grantOf(at: number) {
  const accountId = `account-${at}`;
  const grant = new provider.Grant({ accountId, clientId: partner.clientId });
  grant.addOIDCScope(`${scope} offline_access`);
  grant.addResourceScope(resource, 'api');
  return {
    accountId,
    grantId: await grant.save(),
    client: await provider.Client.find(partner.clientId),
    scope: `${scope} offline_access api`,
    gty: 'authorization_code',
    authTime: Math.floor(Date.now() / 1000),
    acr: 'phone',
    amr: ['sms'],
    claims: {},
    sid: `session-${at}`,
    sessionUid: `uid-${at}`,
  };
}

process.on('message', async ({ what, count }: Wish) => {
  const made: string[] = [];
  for (let at = 0; at < count; at++) made.push(await makers[what](await grantOf(at)));
  process.send?.(made);
});
createServer(provider.callback()).listen(Number(port), '127.0.0.1', () => process.send?.('ready'));
