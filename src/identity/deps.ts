import type { IdentityConfig } from '../config.ts';
import type { Cookies } from '../platform/cookies.ts';
import type { Database } from '../platform/db.ts';
import type { Logger } from '../platform/log.ts';
import type { OutgoingPolicy } from '../platform/outgoing.ts';
import type { PurposeKey } from '../platform/seal.ts';
import type { AuthenticationFailures } from './client-authentication.ts';
import type { ClientDirectory } from './client-directory.ts';
import type { CodeDeps } from './one-time-codes.ts';
import type { Issuer } from './tokens.ts';
import type { UserDeps } from './users.ts';

/** What identity works with. Built once in `app.ts` and passed by hand. */
export type IdentityDeps = {
  config: IdentityConfig;
  urls: { base: string; sso: string };
  db: Database;
  log: Logger;
  now: () => Date;
  issuer: Issuer;
  clients: ClientDirectory;
  failures: AuthenticationFailures;
  /** `browser` ties forms and codes to a browser, `session` is a login, `device` remembers who logged in here before. */
  cookies: Cookies<'browser' | 'session' | 'device'>;
  codes: CodeDeps;
  users: UserDeps;
  outgoing: OutgoingPolicy;
  keys: IdentityKeys;
};

/** Each derived from `KEYS_SECRET` for one purpose. */
export type IdentityKeys = {
  signing: PurposeKey;
  flow: PurposeKey;
  csrf: PurposeKey;
  device: PurposeKey;
  documents: PurposeKey;
};
