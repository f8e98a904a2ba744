/** A whole login as a browser makes it: the page for the number, the page for the code, back to the partner, tokens. */
import { formsOf } from '../test/support/partner.ts';
import { type Answer, ask, type Connection, formRequest, requestText } from './driver.ts';
import { challenge, partner, phoneOf, scope, verifier } from './setup.ts';
import type { Work } from './works.ts';

const authorizePath = `/sso/auth/ssoValidateUser?${new URLSearchParams({
  response_type: 'code',
  client_id: partner.clientId,
  scope,
  state: 'state',
  redirect_uri: partner.redirectUri,
  code_challenge: challenge,
  code_challenge_method: 'S256',
})}`;

/** A new browser each time, on a number of the connection's own. */
export const loginWork: Work = {
  async step(connection, at) {
    const browser = new Browser(connection);
    const phonePage = await browser.get(authorizePath);
    const codePage = await browser.submit(phonePage, '/auth/login', { phone: phoneOf(at) });
    const back = await browser.submit(codePage, '/auth/code', { code: '111111' });
    const code = new URL(locationOf(back) ?? '').searchParams.get('code');
    if (!code) throw new Error(`no code but ${back.head}`);
    await ask(
      connection,
      formRequest('/api/v2/openid-connect/token', {
        client_id: partner.clientId,
        client_secret: partner.clientSecret,
        grant_type: 'authorization_code',
        code,
        redirect_uri: partner.redirectUri,
        code_verifier: verifier,
      }),
    );
    return true;
  },
};

class Browser {
  readonly #connection: Connection;
  readonly #cookies = new Map<string, string>();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  get(path: string): Promise<Answer> {
    return this.#follow(requestText(`GET ${path}`, this.#headers()));
  }

  submit(page: Answer, action: string, fields: Record<string, string>): Promise<Answer> {
    const form = formsOf(page.body.toString()).find((one) => one.action.endsWith(action));
    if (!form) throw new Error(`no form for ${action} but ${page.head}`);
    const text = new URLSearchParams({ ...form.fields, ...fields }).toString();
    return this.#follow(
      requestText(
        `POST ${new URL(form.action).pathname}`,
        { ...this.#headers(), origin: 'null' },
        { type: 'application/x-www-form-urlencoded', text },
      ),
    );
  }

  #headers(): Record<string, string> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    return cookie ? { cookie } : {};
  }

  /** Redirects to the partner are where the login ends. */
  async #follow(request: string): Promise<Answer> {
    const answer = await this.#connection.send(request);
    for (const [, name = '', value = ''] of answer.head.matchAll(/\r\nset-cookie: ([^=]+)=([^;\r]*)/gi)) {
      this.#cookies.set(name, value);
    }
    const location = locationOf(answer);
    if (!location || location.startsWith(partner.redirectUri)) return answer;
    const { pathname, search } = new URL(location, 'http://localhost');
    return this.get(pathname + search);
  }
}

function locationOf(answer: Answer): string | undefined {
  return /\r\nlocation: ([^\r]+)/i.exec(answer.head)?.[1];
}
