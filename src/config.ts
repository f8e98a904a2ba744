import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { demoCredentials } from './demo.ts';
import type { SmsConfig } from './identity/sms/sender.ts';
import { readAcquirer, readSms, readTrustProxy } from './neighbour-settings.ts';
import { ConfigurationFaults, readSettings, type Values } from './platform/settings.ts';
import { settings } from './setting-table.ts';
import { unsafeSettings } from './unsafe-settings.ts';

const demoKeysSecret = 'tollgate-demo-secret-for-local-use-only-0000';
/** Where Prometheus exporters of OpenTelemetry listen by custom. */
const defaultAdminPort = 9464;

export type Environment = 'local' | 'test' | 'pre' | 'dmz' | 'production';
export type CheckoutEnvironment = 'local' | 'preprod' | 'production';

export type ServerConfig = {
  env: Environment;
  /** Whether the credentials that the README shows exist here. */
  demo: boolean;
  host: string;
  port: number;
  adminPort: number;
  trustProxy: false | number | string[];
  workers: number;
  jobs: 'on' | 'off' | 'only';
  drainMs: number;
  logLevel: string;
  urls: { base: string; sso: string; checkout: string };
};
export type DatabaseConfig = {
  /** Undefined: the embedded database in `dataDir`. */
  url: string | undefined;
  migrationUrl: string | undefined;
  poolSize: number;
  dataDir: string;
};
export type IdentityConfig = {
  env: Environment;
  keysSecret: string;
  selfRegistration: boolean;
  testPhones: string[];
  sms: SmsConfig;
  smsLimits: {
    countryPrefixes: string[];
    daily: number;
    perCountryDaily: number;
    perClientHourly: number;
    perBlockHourly: number;
  };
};
export type CheckoutConfig = {
  env: CheckoutEnvironment;
  acquirer:
    | { kind: 'sandbox' }
    | { kind: 'none' }
    | { kind: 'http'; url: string; secret: string; timeoutMs: number };
  keysSecret: string;
};
export type WebhooksConfig = {
  keysSecret: string;
  /** Receivers on this machine and its network are called, and without TLS. */
  local: boolean;
};

export type Config = {
  /** What `keysSecret` is to become, for the one command that changes it. */
  newKeysSecret: string | undefined;
  server: ServerConfig;
  database: DatabaseConfig;
  identity: IdentityConfig;
  checkout: CheckoutConfig;
  webhooks: WebhooksConfig;
};

/** Reads and checks the whole configuration; throws `ConfigurationFaults` that names every fault. */
export function loadConfig(env: NodeJS.ProcessEnv): Config {
  const { values, faults } = readSettings(settings, env);
  const misread = new Set(faults.map((fault) => fault.name));

  const tollgateEnv = values.env ?? 'local';
  const local = tollgateEnv === 'local';
  const checkoutEnv = values.checkoutEnv ?? checkoutEnvOf(tollgateEnv);
  const port = values.port ?? 3000;
  const base = values.baseUrl ?? (local ? `http://localhost:${port}` : undefined);
  const guarded = isGuarded(tollgateEnv) || checkoutEnv === 'production';
  const demo = local && !guarded;
  const keysSecret = values.keysSecret ?? (demo ? demoKeysSecret : undefined);
  const demoPhones = demo ? demoCredentials('').people.map((person) => person.phone) : [];
  const testPhones = values.testPhones ?? demoPhones;
  const workers = values.workers ?? 1;
  const adminPort = values.adminPort ?? (guarded || workers > 1 ? defaultAdminPort : port);
  const trustProxy = readTrustProxy(values.trustProxy ?? 'none', faults);
  const acquirer = values.acquirer ?? (checkoutEnv === 'production' ? undefined : 'sandbox');
  const sms = readSms(values, faults);
  const acquirerConfig = readAcquirer(acquirer ?? 'none', values, faults);

  if (base === undefined) {
    faults.push({
      name: 'BASE_URL',
      problem: 'It is not set.',
      remedy: 'Give the public address of this service.',
    });
  }
  if (keysSecret === undefined) {
    faults.push({
      name: 'KEYS_SECRET',
      problem: 'It is not set.',
      remedy: 'Make one with: openssl rand -base64 48',
    });
  }
  if (acquirer === undefined) {
    faults.push({
      name: 'ACQUIRER',
      problem: 'It is not set.',
      remedy: 'Choose http (your payment gateway) or none (wallet only).',
    });
  }
  if (adminPort === port && guarded) {
    faults.push({
      name: 'ADMIN_PORT',
      problem: 'It is the public port.',
      remedy: 'Choose another, reachable from inside only.',
    });
  } else if (adminPort === port && workers > 1) {
    faults.push({
      name: 'ADMIN_PORT',
      problem: 'With several workers it cannot be PORT: each worker would show its own figures only.',
      remedy: 'Choose another.',
    });
  }
  if (values.migrationDatabaseUrl === 'embedded' || (values.migrationDatabaseUrl && !serverUrl(values))) {
    faults.push({
      name: 'MIGRATION_DATABASE_URL',
      problem: 'It is set, but the database is the embedded one.',
      remedy: 'Set DATABASE_URL too, or leave both out.',
    });
  }
  const urls = {
    base: base ?? '',
    sso: values.ssoUrl ?? `${base}/sso`,
    checkout: values.checkoutBaseUrl ?? `${base}/checkout`,
  };
  if (guarded) faults.push(...unsafeSettings(values, urls, { testPhones, acquirer, checkoutEnv }));
  if (faults.length > 0 || keysSecret === undefined || acquirer === undefined) {
    // A value that could not be read counts as unset above; only the first of the two sentences helps.
    throw new ConfigurationFaults(
      faults.filter((fault, at) => at < misread.size || !misread.has(fault.name)),
    );
  }

  return {
    newKeysSecret: values.newKeysSecret,
    server: {
      env: tollgateEnv,
      demo,
      host: values.host ?? (local ? '127.0.0.1' : '0.0.0.0'),
      port,
      adminPort,
      trustProxy,
      workers,
      jobs: values.jobs ?? 'on',
      drainMs: (values.drainSeconds ?? (local ? 0 : 5)) * 1000,
      logLevel: values.logLevel ?? 'info',
      urls,
    },
    database: {
      url: serverUrl(values),
      migrationUrl: values.migrationDatabaseUrl ?? serverUrl(values),
      poolSize: values.poolSize ?? 10,
      dataDir: values.dataDir ?? './.data',
    },
    identity: {
      env: tollgateEnv,
      keysSecret,
      selfRegistration: values.selfRegistration !== 'off',
      testPhones,
      sms,
      smsLimits: {
        countryPrefixes: values.smsCountries ?? [],
        daily: values.smsDaily ?? 0,
        perCountryDaily: values.smsCountryDaily ?? 0,
        perClientHourly: values.smsClientHourly ?? 0,
        perBlockHourly: values.smsBlockHourly ?? 0,
      },
    },
    checkout: { env: checkoutEnv, acquirer: acquirerConfig, keysSecret },
    webhooks: { keysSecret, local: local && !guarded },
  };
}

/** The variables of the process, and in local those of `.env` below them. */
export function environment(processEnv: NodeJS.ProcessEnv, path = '.env'): NodeJS.ProcessEnv {
  if ((processEnv.TOLLGATE_ENV || 'local') !== 'local' || !existsSync(path)) return processEnv;
  const fromFile = parseEnv(readFileSync(path, 'utf8'));
  if (fromFile.TOLLGATE_ENV && fromFile.TOLLGATE_ENV !== 'local') {
    throw new ConfigurationFaults([
      {
        name: 'TOLLGATE_ENV',
        problem: `The file ${path} is read in local only, and it sets another environment.`,
        remedy: 'Set TOLLGATE_ENV, and everything else, in the environment of the process.',
      },
    ]);
  }
  return { ...fromFile, ...processEnv };
}

function isGuarded(env: Environment): boolean {
  return env === 'dmz' || env === 'production';
}

function checkoutEnvOf(env: Environment): CheckoutEnvironment {
  if (env === 'production' || env === 'local') return env;
  return 'preprod';
}

function serverUrl(values: Values<typeof settings>): string | undefined {
  return values.databaseUrl === 'embedded' ? undefined : values.databaseUrl;
}
