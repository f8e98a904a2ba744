import { randomInt, randomUUID } from 'node:crypto';
import type { Registry } from 'prom-client';
import type { IdentityConfig } from '../config.ts';
import { createCookies } from '../platform/cookies.ts';
import type { Database } from '../platform/db.ts';
import type { Job } from '../platform/jobs.ts';
import type { Logger } from '../platform/log.ts';
import { deriveKey } from '../platform/seal.ts';
import { backchannelLogoutJob } from './backchannel-logout.ts';
import { cleanUpJob, measureCleanUpBacklog } from './clean-up.ts';
import { createClientDirectory } from './client-directory.ts';
import type { IdentityDeps } from './deps.ts';
import { deriveIdentityKeys } from './derive-keys.ts';
import { makeCode } from './domain/one-time-code.ts';
import type { UserId } from './domain/user.ts';
import { expireSessionsJob } from './expire-sessions.ts';
import { createAuthenticationFailures } from './failures.ts';
import { openKeyring, rotateKeys } from './keyring.ts';
import { createIdentityMetrics } from './metrics.ts';
import { createSmsSender, type SmsSender } from './sms/sender.ts';
import { signLogoutToken } from './tokens.ts';

export type Identity = { deps: IdentityDeps; jobs: Job[]; close(): Promise<void> };

export type IdentityOptions = {
  config: IdentityConfig;
  urls: { base: string; sso: string; checkout: string };
  db: Database;
  log: Logger;
  registry: Registry;
  now: () => Date;
  /** Another way out than the configured one, for tests. */
  sms?: SmsSender;
};

/** Puts the area together: its keys, its clients, its sender of texts, and the jobs that go with them. */
export async function openIdentity(options: IdentityOptions): Promise<Identity> {
  const { config, db, log, now, urls } = options;
  const keys = deriveIdentityKeys(config.keysSecret);
  const onError = (error: unknown) => log.warn({ err: error }, 'signing keys could not be read again');
  const keyring = await openKeyring({ db, wrappingKey: keys.signing, now, onError });
  const sms = options.sms ?? createSmsSender(config.sms, log);
  measureCleanUpBacklog({ db, now, registry: options.registry });

  const deps: IdentityDeps = {
    config,
    urls,
    db,
    log,
    now,
    keys,
    issuer: {
      keyring,
      issuer: urls.base,
      identityAudience: `${urls.base}/api`,
      checkoutAudience: urls.checkout,
    },
    clients: createClientDirectory(db),
    failures: createAuthenticationFailures({
      db,
      now,
      key: deriveKey(config.keysSecret, 'failed client authentications'),
    }),
    cookies: createCookies(urls.sso),
    users: { db, now, newUserId: () => randomUUID() as UserId, documentsKey: keys.documents },
    codes: {
      db,
      now,
      log,
      send: (phone, text) => sms.send(phone, text),
      codeKey: deriveKey(config.keysSecret, 'one-time codes'),
      testPhones: new Set(config.testPhones),
      limits: { ...config.smsLimits, conversion: { minSent: 30, minPercent: 10 } },
      randomCode: () => makeCode(randomInt),
      metrics: createIdentityMetrics(options.registry),
      pausedPrefixes: new Set(),
    },
    outgoing: { allowPrivate: config.env === 'local', timeoutMs: 5_000, maxResponseBytes: 16 * 1024 },
  };
  return {
    deps,
    jobs: [
      backchannelLogoutJob({
        db,
        now,
        issuer: urls.base,
        outgoing: deps.outgoing,
        signLogoutToken: (client, claims) => signLogoutToken(deps.issuer, client, claims),
      }),
      expireSessionsJob({ db, now }),
      cleanUpJob({ db, now }),
      {
        name: 'identity.rotate-keys',
        cron: '7 * * * *',
        async run() {
          const made = await rotateKeys({ db, wrappingKey: keys.signing, now });
          if (made.length > 0) log.info({ made: made.length }, 'new signing keys published');
        },
      },
    ],
    async close() {
      keyring.close();
      await sms.close();
    },
  };
}
