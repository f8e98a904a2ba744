import { createHash, randomBytes } from 'node:crypto';
import type { TestApp } from './app.ts';

/** What a browser does, without a browser: keeps cookies, follows nothing by itself, submits the forms it was shown. */
export class Visitor {
  readonly cookies = new Map<string, string>();
  readonly #service: TestApp;
  readonly #headers: Record<string, string>;

  constructor(service: TestApp, headers: Record<string, string> = {}) {
    this.#service = service;
    this.#headers = headers;
  }

  get(url: string) {
    return this.#send('GET', url);
  }

  post(url: string, fields: Record<string, string>) {
    return this.#send('POST', url, new URLSearchParams(fields).toString());
  }

  /** Submits the form whose action ends like this on the page, with more fields filled in. */
  submit(page: Answer, action: string, fields: Record<string, string> = {}) {
    const form = formsOf(page.body).find((one) => one.action.endsWith(action));
    if (!form) throw new Error(`no form for ${action} but ${describe(page)}`);
    return this.post(form.action, { ...form.fields, ...fields });
  }

  /** The page that a redirect to ourselves leads to; any other answer stays as it is. */
  async follow(answer: Answer): Promise<Answer> {
    const { location } = answer.headers;
    const ours = typeof location === 'string' && location.startsWith(this.#service.config.server.urls.sso);
    return ours ? this.follow(await this.get(location)) : answer;
  }

  async #send(method: 'GET' | 'POST', url: string, payload?: string): Promise<Answer> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const { pathname, search, host } = new URL(url, this.#service.config.server.urls.sso);
    const answer = await this.#service.app.inject({
      method,
      url: pathname + search,
      headers: {
        host,
        ...(cookie ? { cookie } : {}),
        ...(payload === undefined
          ? {}
          : { 'content-type': 'application/x-www-form-urlencoded', origin: 'null' }),
        ...this.#headers,
      },
      ...(payload === undefined ? {} : { payload }),
    });
    for (const line of [answer.headers['set-cookie'] ?? []].flat()) {
      const [pair = ''] = line.split(';');
      const [name = '', value = ''] = pair.split(/=(.*)/s);
      if (/max-age=0/i.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return answer;
  }
}

export type Answer = Awaited<ReturnType<TestApp['app']['inject']>>;

export type Form = { action: string; fields: Record<string, string> };

export function formsOf(html: string): Form[] {
  return [...html.matchAll(/<form[^>]*action="([^"]+)"[^>]*>(.*?)<\/form>/gs)].map(
    ([, action = '', inside = '']) => {
      const inputs = [...inside.matchAll(/<input([^>]*)>/g)].map(([, attributes = '']) => [
        plainText(/name="([^"]*)"/.exec(attributes)?.[1] ?? ''),
        plainText(/value="([^"]*)"/.exec(attributes)?.[1] ?? ''),
      ]);
      return { action: plainText(action), fields: Object.fromEntries(inputs) as Record<string, string> };
    },
  );
}

function plainText(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

export type Pkce = { verifier: string; challenge: string };

export function newPkce(): Pkce {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

export const demo = {
  clientId: 'demo-partner',
  clientSecret: 'demo-partner-secret',
  redirectUri: 'http://localhost:4000/callback',
  phone: '+994500000001',
  code: '111111',
};

/** The address a partner sends people to; a parameter given as null is left out. */
export function authorizeUrl(
  service: TestApp,
  pkce: Pkce,
  changes: Record<string, string | null> = {},
): string {
  const parameters: Record<string, string | null> = {
    response_type: 'code',
    client_id: demo.clientId,
    scope: 'openid profile phone',
    state: 'state-1',
    redirect_uri: demo.redirectUri,
    code_challenge: pkce.challenge,
    code_challenge_method: 'S256',
    ...changes,
  };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== null) query.set(name, value);
  return `${service.config.server.urls.sso}/auth/ssoValidateUser?${query}`;
}

/** From the login page to the redirect back to the partner. */
export async function logInThrough(
  visitor: Visitor,
  url: string,
  person: { phone: string; code: string } = demo,
): Promise<URL> {
  const phonePage = await visitor.get(url);
  const codePage = await visitor.follow(
    await visitor.submit(phonePage, '/auth/login', { phone: person.phone }),
  );
  const back = await visitor.follow(await visitor.submit(codePage, '/auth/code', { code: person.code }));
  return redirectOf(back);
}

export function redirectOf(answer: Answer): URL {
  const { location } = answer.headers;
  if (typeof location !== 'string') throw new Error(`no redirect but ${describe(answer)}`);
  return new URL(location);
}

export async function tokenCall(
  service: TestApp,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return service.app.inject({
    method: 'POST',
    url: '/api/v2/openid-connect/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: new URLSearchParams(fields).toString(),
  });
}

export type Tokens = {
  access_token: string;
  refresh_token: string;
  id_token: string;
  expires_in: number;
  refresh_expires_in: number;
  session_state: string;
  scope: string;
  token_type: string;
};

export const credentials = { client_id: demo.clientId, client_secret: demo.clientSecret };

export function exchange(service: TestApp, code: string, pkce: Pkce, changes: Record<string, string> = {}) {
  return tokenCall(service, {
    ...credentials,
    grant_type: 'authorization_code',
    code,
    redirect_uri: demo.redirectUri,
    code_verifier: pkce.verifier,
    ...changes,
  });
}

export function refresh(service: TestApp, token: string, changes: Record<string, string> = {}) {
  return tokenCall(service, {
    ...credentials,
    grant_type: 'refresh_token',
    refresh_token: token,
    ...changes,
  });
}

/** A whole login of the demo person, up to the tokens. */
export async function logIn(
  service: TestApp,
  options: {
    visitor?: Visitor;
    person?: { phone: string; code: string };
    changes?: Record<string, string | null>;
  } = {},
): Promise<Tokens & { visitor: Visitor }> {
  const visitor = options.visitor ?? new Visitor(service);
  const pkce = newPkce();
  const back = await logInThrough(visitor, authorizeUrl(service, pkce, options.changes), options.person);
  const answer = await exchange(service, back.searchParams.get('code') ?? '', pkce);
  if (answer.statusCode !== 200) throw new Error(`no tokens but ${answer.statusCode}: ${answer.body}`);
  return { ...answer.json<Tokens>(), visitor };
}

export function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

export function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<
    string,
    unknown
  >;
}

function describe(answer: Answer): string {
  const heading = /<h1>(.*?)<\/h1>/.exec(answer.body)?.[1];
  return `${answer.statusCode} ${heading ?? answer.body.slice(0, 500)} ${answer.headers.location ?? ''}`;
}
