import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { NewClient } from '../../src/identity/store/clients.ts';
import type { TestApp } from './app.ts';
import { listen } from './listen.ts';
import { authorizeUrl, claimsOf, newPkce, type Pkce, type Tokens } from './partner.ts';
import { addClient } from './sessions.ts';

/** What came back to the partner, and what it got for the code. */
export type Arrival = { state: string; parameters: URLSearchParams; status?: number; tokens?: Tokens };

export type WebPartner = {
  origin: string;
  /** Every arrival at the callback, newest last. */
  arrivals: Arrival[];
  /** Where a person begins to sign in; the parameters go into the authorization request. */
  start(clientId: string, parameters?: Record<string, string>): string;
  /** Registers one more client that lives at this partner's address. */
  register(service: TestApp, given?: Partial<NewClient>): Promise<string>;
};

const secret = 'the-secret-of-the-web-partner';

/**
 * A partner's web application on a port of its own: it sends people to the login with PKCE and a state, receives them,
 * exchanges the code from its server, and shows who came on a page that can be reloaded.
 */
export async function startWebPartner(host = '127.0.0.1'): Promise<WebPartner> {
  const begun = new Map<string, { service: TestApp; clientId: string; pkce: Pkce }>();
  const services = new Map<string, TestApp>();
  const arrivals: Arrival[] = [];

  const pages: Record<string, (url: URL, response: ServerResponse) => unknown> = {
    '/start': (url, response) => redirect(response, requestFor(url.searchParams)),
    '/start-by-form': (url, response) => {
      const target = new URL(requestFor(url.searchParams));
      const inputs = [...target.searchParams].map(
        ([name, value]) => `<input type="hidden" name="${name}" value="${value}">`,
      );
      const action = target.origin + target.pathname;
      show(
        response,
        'Shop',
        `<form method="post" action="${action}">${inputs.join('')}<button>Sign in</button>`,
      );
    },
    '/callback': async (url, response) => {
      const state = url.searchParams.get('state') ?? '';
      const login = begun.get(state);
      const code = url.searchParams.get('code');
      const arrival: Arrival = { state, parameters: url.searchParams };
      arrivals.push(arrival);
      if (!login) return show(response, 'Unknown state');
      if (code === null) return redirect(response, `/refused?error=${url.searchParams.get('error')}`);
      const answer = await exchangeCode(login.service, {
        client_id: login.clientId,
        client_secret: secret,
        grant_type: 'authorization_code',
        code,
        redirect_uri: `${origin}/callback`,
        code_verifier: login.pkce.verifier,
      });
      arrival.status = answer.status;
      if (answer.status !== 200) return show(response, 'No tokens');
      arrival.tokens = JSON.parse(answer.body) as Tokens;
      return redirect(response, `/welcome?arrival=${arrivals.length - 1}`);
    },
    '/welcome': (url, response) => {
      const { tokens, state } = arrivals[Number(url.searchParams.get('arrival'))] ?? {};
      const login = begun.get(state ?? '');
      if (!tokens || !login) return show(response, 'Nobody');
      const { preferred_username: phone } = claimsOf(tokens.access_token);
      const out = (parameters: Record<string, string>) =>
        `${login.service.config.server.urls.sso}/auth/logout?${new URLSearchParams(parameters)}`;
      const back = { post_logout_redirect_uri: `${origin}/signed-out`, state: 'out-1', ui_locales: 'en' };
      const hinted = out({ ...back, id_token_hint: tokens.id_token });
      const unproven = out({ ...back, client_id: login.clientId });
      return show(
        response,
        `Welcome ${phone}`,
        `<a href="${hinted}">Sign out</a> <a href="${unproven}">Sign out without a hint</a>`,
      );
    },
    // As of a partner whose callback and whose shop are two hosts.
    '/hop': (_url, response) =>
      redirect(response, `${origin.replace('partner.', 'shop.')}/signed-out?state=hop`),
    '/refused': (url, response) => show(response, `Refused: ${url.searchParams.get('error')}`),
    '/signed-out': (url, response) => show(response, `Goodbye ${url.searchParams.get('state')}`),
  };

  function requestFor(query: URLSearchParams): string {
    const { client_id: clientId = '', ...parameters } = Object.fromEntries(query);
    const service = services.get(clientId);
    if (!service) throw new Error(`no client ${clientId} at this partner`);
    const login = { service, clientId, pkce: newPkce() };
    const state = randomUUID();
    begun.set(state, login);
    return authorizeUrl(service, login.pkce, {
      client_id: clientId,
      redirect_uri: `${origin}/callback`,
      state,
      ui_locales: 'en',
      ...parameters,
    });
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://partner');
    const page = pages[url.pathname];
    if (page) await page(url, response);
    else response.writeHead(404).end();
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error) => response.writeHead(500).end(String(error)));
  });
  const origin = `http://${host}:${await listen(server)}`;

  return {
    origin,
    arrivals,
    start: (clientId, parameters = {}) =>
      `${origin}/start?${new URLSearchParams({ client_id: clientId, ...parameters })}`,
    async register(service, given = {}) {
      const clientId = await addClient(service.db, {
        scopes: ['openid', 'profile', 'phone'],
        secretHash: createHash('sha256').update(secret).digest(),
        redirectUris: [`${origin}/callback`],
        postLogoutRedirectUris: [`${origin}/signed-out`],
        ...given,
      });
      services.set(clientId, service);
      return clientId;
    },
  };
}

function redirect(response: ServerResponse, location: string): void {
  response.writeHead(303, { location }).end();
}

function show(response: ServerResponse, heading: string, rest = ''): void {
  response
    .writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
    .end(
      `<!doctype html><html lang="en"><title>${heading}</title><link rel="icon" href="data:,"><h1>${heading}</h1>${rest}`,
    );
}

/** From server to server. The name of the host need not resolve here: every name of the service is this machine. */
async function exchangeCode(
  service: TestApp,
  fields: Record<string, string>,
): Promise<{ status: number; body: string }> {
  const { host, port, pathname } = new URL(`${service.config.server.urls.base}/api/v2/openid-connect/token`);
  const call = httpRequest({
    host: '127.0.0.1',
    port,
    path: pathname,
    method: 'POST',
    headers: { host, 'content-type': 'application/x-www-form-urlencoded' },
  });
  call.end(new URLSearchParams(fields).toString());
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() };
}
