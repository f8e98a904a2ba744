import { Counter, type Registry } from 'prom-client';
import type { CheckoutConfig } from '../config.ts';
import type { Database } from '../platform/db.ts';
import type { Job } from '../platform/jobs.ts';
import type { Logger } from '../platform/log.ts';
import { deriveKey } from '../platform/seal.ts';
import { uuid7 } from '../platform/uuid7.ts';
import { guardAcquirer } from './acquirers/guarded.ts';
import { createHttpAcquirer } from './acquirers/http.ts';
import { createSandboxAcquirer, type SandboxAcs } from './acquirers/sandbox.ts';
import { confirmationKeyOf } from './confirmation-url.ts';
import { measureContradictions } from './contradictions.ts';
import type { CheckoutDeps } from './deps.ts';
import type { Acquirer } from './domain/acquirer.ts';
import { checkoutJobs } from './jobs.ts';
import { createMerchantDirectory } from './merchant-directory.ts';
import { createWalletSignIn } from './wallet-sign-in.ts';

export type Checkout = { deps: CheckoutDeps; jobs: Job[]; acs: SandboxAcs | undefined };

export type CheckoutOptions = {
  config: CheckoutConfig;
  urls: { base: string; checkout: string };
  db: Database;
  log: Logger;
  now: () => Date;
  registry: Registry;
  authenticate: CheckoutDeps['authenticate'];
  survivorOf: CheckoutDeps['survivorOf'];
  /** The client of our single sign-on that the payment page is. */
  signIn: { issuer: string; clientId: string; clientSecret: string };
};

/** Where our single sign-on sends people back to who pay from their wallet. */
export function walletCallback(checkoutUrl: string): string {
  return `${checkoutUrl}/pay/wallet/callback`;
}

/** Puts the area together: its merchants, its acquirer, and the jobs that go with them. */
export function openCheckout(options: CheckoutOptions): Checkout {
  const { config, db, log, now, urls } = options;
  const { acquirer, acs } = chooseAcquirer(options);
  measureContradictions(db, options.registry);
  const calls = new Counter({
    name: 'checkout_acquirer_calls_total',
    help: 'Calls to the acquirer, by call and outcome. One that took too long is unknown; refused_by_breaker was not made.',
    labelNames: ['call', 'outcome'] as const,
    registers: [options.registry],
  });
  const deps: CheckoutDeps = {
    db,
    log,
    now,
    newId: () => uuid7(now()),
    test: config.env !== 'production',
    checkoutUrl: urls.checkout,
    baseUrl: urls.base,
    confirmationKey: confirmationKeyOf(config.keysSecret),
    merchants: createMerchantDirectory(db),
    acquirer: guardAcquirer(acquirer, {
      now,
      log,
      timeoutMs: acquirerTimeoutMs,
      breaker: breakerOf(config),
      count: (call, outcome) => calls.inc({ call, outcome }),
    }),
    takesCards: config.acquirer.kind !== 'none',
    walletSignIn: createWalletSignIn({
      ...options.signIn,
      redirectUri: walletCallback(urls.checkout),
      now,
      log,
    }),
    walletKey: deriveKey(config.keysSecret, 'wallet sign-in'),
    authenticate: options.authenticate,
    survivorOf: options.survivorOf,
  };
  return { deps, jobs: checkoutJobs(deps), acs };
}

const acquirerTimeoutMs = 4_000;

/** The sandbox leaves calls unanswered on purpose; that is no reason to stop calling it. */
function breakerOf({ acquirer }: CheckoutConfig) {
  return { failures: acquirer.kind === 'sandbox' ? 1_000 : 5, openMs: 10_000 };
}

function chooseAcquirer({ config, db, log, now, urls }: CheckoutOptions): {
  acquirer: Acquirer;
  acs: SandboxAcs | undefined;
} {
  switch (config.acquirer.kind) {
    case 'sandbox': {
      const sandbox = createSandboxAcquirer({
        db,
        now,
        acsUrl: `${urls.checkout}/sandbox/acs`,
        secret: config.keysSecret,
      });
      return { acquirer: sandbox, acs: sandbox.acs };
    }
    case 'http':
      return { acquirer: createHttpAcquirer({ ...config.acquirer, now, log }), acs: undefined };
    case 'none':
      return { acquirer: nobody, acs: undefined };
  }
}

/** Only wallets pay here. Nothing is sent; what was, to an acquirer that there used to be, nobody here can tell. */
const nobody: Acquirer = {
  authorize: async () => ({ kind: 'failed' }),
  complete: async () => ({ kind: 'unknown' }),
  capture: async () => ({ kind: 'failed' }),
  reverse: async () => ({ kind: 'failed' }),
  refund: async () => ({ kind: 'failed' }),
  inquireAuthorization: async () => ({ kind: 'unknown' }),
  inquireOperation: async () => ({ kind: 'unknown' }),
};
