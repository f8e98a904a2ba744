/** oidc-provider, in memory or on PostgreSQL, at the work that both of us do. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { freePort } from '../test/support/free-port.ts';
import { ask, formRequest, requestText } from './driver.ts';
import type { Wish } from './peer-server.ts';
import { treeOf } from './processes.ts';
import { partner, verifier } from './setup.ts';
import { type Contestant, takeFrom, type Work } from './works.ts';

const credentials = { client_id: partner.clientId, client_secret: partner.clientSecret };
/** Its memory keeps a thousand objects, and each of these comes with three others. */
const batch = 200;

export type Peer = { contestant: Contestant; stop(): Promise<void> };

export async function startPeer(name: string, database?: { url: string; poolSize: number }): Promise<Peer> {
  const port = await freePort();
  const child = fork(new URL('peer-server.ts', import.meta.url), {
    execArgv: ['--import', 'tsx'],
    env: {
      PATH: process.env.PATH ?? '',
      NODE_ENV: 'production',
      PEER_PORT: String(port),
      ...(database ? { PEER_DATABASE_URL: database.url, PEER_POOL_SIZE: String(database.poolSize) } : {}),
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  await once(child, 'message');
  const contestant = {
    name,
    port,
    pids: () => treeOf(child.pid ?? 0),
    usesDatabase: database !== undefined,
    works: worksOf(child),
  };
  return {
    contestant,
    async stop() {
      if (child.exitCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

function worksOf(child: ChildProcess): Record<string, Work> {
  const make = async (wish: Wish): Promise<string[]> => {
    child.send(wish);
    const [made] = (await once(child, 'message')) as [string[]];
    return made;
  };
  /** Each of them serves once, as it must. */
  const useUp = (what: Wish['what'], request: (made: string) => string): Work => {
    let made: string[] = [];
    return {
      async prepare() {
        made = await make({ what, count: batch });
      },
      async step(connection) {
        const next = made.pop();
        if (!next) return false;
        await ask(connection, request(next));
        return true;
      },
    };
  };
  const withAccessToken = (request: (token: string) => string): Work => {
    let next = () => '';
    return {
      async prepare() {
        next = takeFrom(await make({ what: 'accessTokens', count: batch }));
      },
      async step(connection) {
        await ask(connection, request(next()));
        return true;
      },
    };
  };
  const own = formRequest('/token', { ...credentials, grant_type: 'client_credentials', scope: 'api' });
  return {
    client_credentials: {
      async step(connection) {
        await ask(connection, own);
        return true;
      },
    },
    'code exchange': useUp('codes', (code) =>
      formRequest('/token', {
        ...credentials,
        grant_type: 'authorization_code',
        code,
        redirect_uri: partner.redirectUri,
        code_verifier: verifier,
      }),
    ),
    refresh: useUp('refreshTokens', (token) =>
      formRequest('/token', { ...credentials, grant_type: 'refresh_token', refresh_token: token }),
    ),
    userinfo: withAccessToken((token) => requestText('GET /me', { authorization: `Bearer ${token}` })),
    introspection: withAccessToken((token) => formRequest('/token/introspection', { ...credentials, token })),
  };
}
