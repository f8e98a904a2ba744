import { existsSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { parseEnv } from 'node:util';
import { demoCredentials } from './demo.ts';
import type { SmsConfig } from './identity/sms/sender.ts';
import { ConfigurationFaults, type Fault, readSettings, type Values } from './platform/settings.ts';
import { settings } from './setting-table.ts';

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

/** What would let somebody in or lose money where it counts. Each is a reason not to start. */
function unsafeSettings(
  values: Values<typeof settings>,
  urls: ServerConfig['urls'],
  chosen: {
    testPhones: string[];
    acquirer: string | undefined;
    checkoutEnv: CheckoutEnvironment;
  },
): Fault[] {
  const faults: Fault[] = [];
  const refuse = (name: string, problem: string, remedy: string) => faults.push({ name, problem, remedy });

  for (const [name, url] of [
    ['BASE_URL', urls.base],
    ['SSO_URL', urls.sso],
    ['CHECKOUT_BASE_URL', urls.checkout],
  ] as const) {
    if (url.startsWith('http:')) refuse(name, `${url} is not https.`, 'Give an https address.');
  }
  for (const [key, { name, secret }] of Object.entries(settings)) {
    // A database's address is as secret as its password, but it is not made of one word that could be compared.
    if (!secret || name.endsWith('DATABASE_URL')) continue;
    const value = values[key as keyof typeof values];
    if (typeof value === 'string' && isDemoSecret(value))
      refuse(name, 'It is a known demo value.', 'Make one with: openssl rand -base64 48');
  }
  if (values.trustProxy === undefined) {
    // We speak plain HTTP, so here somebody else ends TLS: without it all callers would share one address for every limit.
    refuse('TRUST_PROXY', 'It is not set.', 'Name the proxies in front, or say none when there are none.');
  }
  if (chosen.testPhones.length > 0) {
    refuse('TEST_PHONES', 'Numbers with a fixed code would let anybody in.', 'Leave it out.');
  }
  if ((values.smsSender ?? 'console') === 'console') {
    refuse('SMS_SENDER', 'The console sender writes one-time codes to the log.', 'Choose http or smpp.');
  }
  if (values.smsSender === 'http' && values.smsHttpUrl?.startsWith('http:')) {
    refuse('SMS_HTTP_URL', 'One-time codes would travel in the clear.', 'Give an https address.');
  }
  if (chosen.checkoutEnv === 'production' && chosen.acquirer === 'sandbox') {
    refuse('ACQUIRER', 'The sandbox takes no real money.', 'Choose http or none.');
  }
  if (values.acquirer === 'http' && values.acquirerUrl?.startsWith('http:')) {
    refuse('ACQUIRER_URL', 'Card numbers would travel in the clear.', 'Give an https address.');
  }
  if (values.databaseUrl === undefined) {
    refuse(
      'DATABASE_URL',
      'It is not set.',
      'Name a PostgreSQL, or ask for the built-in one with DATABASE_URL=embedded.',
    );
  }
  return faults;
}

/** Every secret that stands in this repository or its documentation is known to the whole world. */
function isDemoSecret(value: string): boolean {
  const isShown =
    /tollgate-demo|demo-(partner|merchant)-secret|change-?me|your-secret|^(password|secret)$/i.test(value);
  // SMPP has room for eight characters only, of which some may well be the same.
  return isShown || new Set(value).size < Math.min(8, value.length / 2);
}

/** A little less than the guard around it allows, so that the log names the real reason. */
const acquirerTimeoutMs = 3_800;

function readAcquirer(
  kind: 'sandbox' | 'http' | 'none',
  values: Values<typeof settings>,
  faults: Fault[],
): CheckoutConfig['acquirer'] {
  if (kind !== 'http') return { kind };
  const { acquirerUrl: url = '', acquirerSecret: secret = '' } = values;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    faults.push({
      name: 'ACQUIRER_URL',
      problem: 'It is not an http or https URL.',
      remedy: 'Name your gateway.',
    });
  }
  if (secret === '') {
    faults.push({ name: 'ACQUIRER_SECRET', problem: 'It is needed with ACQUIRER=http.', remedy: 'Set it.' });
  }
  return { kind, url, secret, timeoutMs: acquirerTimeoutMs };
}

const smsTimeoutMs = 4_000;

function readSms(values: Values<typeof settings>, faults: Fault[]): SmsConfig {
  const sender = values.smsSender ?? 'console';
  const needed = (name: string, value: string | undefined): string => {
    if (value !== undefined) return value;
    faults.push({ name, problem: `It is needed with SMS_SENDER=${sender}.`, remedy: 'Set it.' });
    return '';
  };
  switch (sender) {
    case 'console':
      return { kind: sender };
    case 'http': {
      const url = needed('SMS_HTTP_URL', values.smsHttpUrl);
      if (url !== '' && !(URL.canParse(url) && /^https?:$/.test(new URL(url).protocol))) {
        faults.push({
          name: 'SMS_HTTP_URL',
          problem: 'It is not an http or https URL.',
          remedy: 'Give one.',
        });
      }
      return {
        kind: sender,
        url,
        secret: needed('SMS_HTTP_SECRET', values.smsHttpSecret),
        timeoutMs: smsTimeoutMs,
      };
    }
    case 'smpp': {
      const url = needed('SMPP_URL', values.smppUrl);
      if (url !== '' && !/^s?smpp:\/\/[^\s/@]+$/.test(url)) {
        faults.push({
          name: 'SMPP_URL',
          problem: 'It is not an SMPP address.',
          remedy: 'Write smpp://host:2775.',
        });
      }
      return {
        kind: sender,
        url,
        systemId: needed('SMPP_SYSTEM_ID', values.smppSystemId),
        password: needed('SMPP_PASSWORD', values.smppPassword),
        from: values.smsFrom ?? 'Tollgate',
        timeoutMs: smsTimeoutMs,
      };
    }
  }
}

function readTrustProxy(given: string, faults: Fault[]): ServerConfig['trustProxy'] {
  if (given === 'none') return false;
  // No hop is nobody, and has to read like it: whoever asks whether there is a proxy compares with false.
  if (/^\d{1,2}$/.test(given)) return Number(given) || false;
  const networks = given.split(',').map((one) => one.trim());
  if (networks.every(isNetwork)) return networks;
  faults.push({
    name: 'TRUST_PROXY',
    problem: `"${given}" is neither none, a number of hops, nor a list of addresses.`,
    remedy: 'Give for example 1, or 10.0.0.0/8,192.168.1.7.',
  });
  return false;
}

function isNetwork(given: string): boolean {
  const [address = '', bits, ...rest] = given.split('/');
  const version = isIP(address);
  if (version === 0 || address.includes('%') || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}
