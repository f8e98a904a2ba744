import { createHash, randomBytes } from 'node:crypto';
import type { Profile, UserId } from '../../src/identity/domain/user.ts';
import type { NewClient } from '../../src/identity/store/clients.ts';
import { createUser } from '../../src/identity/users.ts';
import type { TestApp } from './app.ts';
import {
  authorizeUrl,
  demo,
  exchange,
  logInThrough,
  newPkce,
  type Pkce,
  redirectOf,
  type Tokens,
  Visitor,
} from './partner.ts';
import { addClient } from './sessions.ts';

/** Numbers beside those of the demo that log in with the fixed code; who has an account is up to the test. */
export const testPhones = Array.from({ length: 60 }, (_, at) => `+9945011100${String(at).padStart(2, '0')}`);
export const testPhonesSetting = ['+994500000001', '+994500000002', '+994500000003', ...testPhones].join(',');

/** How a registered client presents itself in a form. */
export type Credentials = { client_id: string; client_secret: string };

/** A partner with a secret of its own, registered for everything a person can be asked for. */
export async function register(
  service: Pick<TestApp, 'db'>,
  given: Partial<NewClient> = {},
  secret = randomBytes(24).toString('base64url'),
): Promise<Credentials> {
  const clientId = await addClient(service.db, {
    scopes: ['openid', 'profile', 'phone'],
    secretHash: secretHash(secret),
    redirectUris: [demo.redirectUri],
    ...given,
  });
  return { client_id: clientId, client_secret: secret };
}

export function secretHash(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

let nextPhone = 0;

/** A new person with a number of the test phones. */
export async function addPerson(
  service: TestApp,
  profile: Partial<Profile> = {},
): Promise<{ id: UserId; phone: string; code: string }> {
  const phone = testPhones[nextPhone++];
  if (!phone) throw new Error('no test phone is left');
  const id = await createUser(service.areas.identity.users, { phone, profile, actor: 'test' });
  return { id, phone, code: demo.code };
}

export type Login = {
  client?: Credentials;
  visitor?: Visitor;
  person?: { phone: string; code: string };
  changes?: Record<string, string | null>;
};

/** A login up to the code, with all that its exchange needs. */
export async function obtainCode(
  service: TestApp,
  { client, visitor = new Visitor(service), person = demo, changes = {} }: Login = {},
): Promise<{ code: string; pkce: Pkce; back: URL; visitor: Visitor }> {
  const pkce = newPkce();
  const url = authorizeUrl(service, pkce, { ...(client ? { client_id: client.client_id } : {}), ...changes });
  const answer = await visitor.get(url);
  const back =
    answer.statusCode === 200
      ? await logInThrough(visitor, url, person)
      : redirectOf(await visitor.follow(answer));
  const code = back.searchParams.get('code');
  if (!code) throw new Error(`no code but ${back.href}`);
  return { code, pkce, back, visitor };
}

/** A login up to the tokens. */
export async function obtainTokens(
  service: TestApp,
  login: Login = {},
): Promise<Tokens & { visitor: Visitor }> {
  const { code, pkce, visitor } = await obtainCode(service, login);
  const answer = await exchange(service, code, pkce, { ...login.client });
  if (answer.statusCode !== 200) throw new Error(`no tokens but ${answer.statusCode}: ${answer.body}`);
  return { ...answer.json<Tokens>(), visitor };
}
