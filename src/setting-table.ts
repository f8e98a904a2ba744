import {
  BadSetting,
  baseUrl,
  choice,
  databaseUrl,
  integer,
  list,
  secret,
  text,
} from './platform/settings.ts';

/** Every setting there is. `docs/configuration.md` and `.env.example` are written from this table. */
export const settings = {
  env: choice('TOLLGATE_ENV', ['local', 'test', 'pre', 'dmz', 'production'], {
    group: 'Environment',
    about:
      'Where this runs. `test` and `pre` serve ecosystem partners, `dmz` external ones. `dmz` and `production` refuse unsafe settings.',
    default: 'local',
  }),
  checkoutEnv: choice('CHECKOUT_ENV', ['local', 'preprod', 'production'], {
    group: 'Environment',
    about: 'The same for the checkout. `production` moves real money and refuses unsafe settings.',
    shownDefault: 'follows `TOLLGATE_ENV`',
  }),

  host: text('HOST', 'address', {
    group: 'Addresses',
    about: 'The address the process listens on.',
    shownDefault: '`127.0.0.1` in local, else `0.0.0.0`',
  }),
  port: integer('PORT', 1, 65535, {
    group: 'Addresses',
    about: 'The port the process listens on.',
    default: '3000',
  }),
  baseUrl: baseUrl('BASE_URL', {
    group: 'Addresses',
    about: 'Public address of the identity API, and the `issuer` of tokens.',
    shownDefault: '`http://localhost:{PORT}` in local, else required',
  }),
  ssoUrl: baseUrl('SSO_URL', {
    group: 'Addresses',
    about: 'Public address of the login pages.',
    shownDefault: '`{BASE_URL}/sso`',
  }),
  checkoutBaseUrl: baseUrl('CHECKOUT_BASE_URL', {
    group: 'Addresses',
    about: 'Public address of the payment API and the payment page.',
    shownDefault: '`{BASE_URL}/checkout`',
  }),
  trustProxy: text('TRUST_PROXY', '`none`, a number of hops, or addresses and networks with commas', {
    group: 'Addresses',
    about:
      "Which proxies in front are believed when they name the caller's address. Without one all callers behind a proxy share its limits.",
    shownDefault: '`none` in local, test and pre; required in dmz and production',
  }),
  adminPort: integer('ADMIN_PORT', 1, 65535, {
    group: 'Addresses',
    about:
      'The port of `/health` and `/metrics`, when they shall not share `PORT`. Keep it off the public network.',
    shownDefault: '`9464` in dmz and production and with several workers, else `PORT`',
  }),

  databaseUrl: databaseUrl('DATABASE_URL', 'PostgreSQL URL, or `embedded`', {
    group: 'Database',
    about:
      'A PostgreSQL 15 or later. Without it the server runs its own in `DATA_DIR`; `embedded` asks for that by name.',
    shownDefault: 'embedded in local, test and pre; required in dmz and production',
  }),
  migrationDatabaseUrl: databaseUrl('MIGRATION_DATABASE_URL', 'PostgreSQL URL', {
    group: 'Database',
    about: 'The owner role that migrates, so that the server itself can run under a lesser one.',
    shownDefault: '`DATABASE_URL`',
  }),
  poolSize: integer('DATABASE_POOL_SIZE', 1, 500, {
    group: 'Database',
    about: 'Connections to the database for each process.',
    default: '10',
  }),
  dataDir: text('DATA_DIR', 'folder', {
    group: 'Database',
    about: 'Where the embedded database lives.',
    default: './.data',
  }),

  workers: integer('WORKERS', 1, 128, {
    group: 'Processes',
    about: 'Processes that serve requests on one port. One for each core is a good number.',
    default: '1',
  }),
  jobs: choice('JOBS', ['on', 'off', 'only'], {
    group: 'Processes',
    about: 'Background jobs: beside the requests, not at all, or nothing but jobs.',
    default: 'on',
  }),
  drainSeconds: integer('DRAIN_SECONDS', 0, 300, {
    group: 'Processes',
    about: 'After SIGTERM: how long requests are still taken while `/health/ready` already answers 503.',
    shownDefault: '`0` in local, else `5`',
  }),
  logLevel: choice('LOG_LEVEL', ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
    group: 'Processes',
    about: 'How much is logged, as one JSON object a line on standard output.',
    default: 'info',
  }),

  keysSecret: secret('KEYS_SECRET', 32, {
    group: 'Secrets',
    about:
      'The secret under which signing keys are encrypted and from which the other inner keys are derived.',
    shownDefault: 'a demo value in local, else required',
  }),
  newKeysSecret: secret('NEW_KEYS_SECRET', 32, {
    group: 'Secrets',
    about: 'What `tollgate keys change-secret` puts in the place of `KEYS_SECRET`; nothing else reads it.',
  }),

  selfRegistration: choice('SELF_REGISTRATION', ['on', 'off'], {
    group: 'Identity',
    about: 'Whether an unknown number that proves its code becomes a new account.',
    default: 'on',
  }),
  testPhones: list('TEST_PHONES', 'phone numbers in E.164, with commas', parsePhone, {
    group: 'Identity',
    about: 'Numbers that log in with the fixed code `111111` and get no SMS. Refused in dmz and production.',
    shownDefault: 'the demo people in local, else none',
  }),
  smsSender: choice('SMS_SENDER', ['console', 'http', 'smpp'], {
    group: 'SMS',
    about: 'How one-time codes leave: to the log (`console`), to an HTTP gateway, or by SMPP 3.4.',
    default: 'console',
  }),
  smsCountries: list('SMS_COUNTRIES', 'country prefixes, with commas', parsePrefix, {
    group: 'SMS',
    about: 'Numbers of other countries are never sent a code.',
    default: '+994',
  }),
  smsDaily: integer('SMS_DAILY', 1, 100_000_000, {
    group: 'SMS',
    about:
      'Codes a day for all numbers together. Devices that logged in before have as much again for themselves.',
    default: '10000',
  }),
  smsCountryDaily: integer('SMS_COUNTRY_DAILY', 1, 100_000_000, {
    group: 'SMS',
    about: 'Codes a day for one country prefix.',
    default: '5000',
  }),
  smsClientHourly: integer('SMS_CLIENT_HOURLY', 1, 100_000_000, {
    group: 'SMS',
    about: 'Codes an hour for people who come from one client.',
    default: '1000',
  }),
  smsBlockHourly: integer('SMS_BLOCK_HOURLY', 1, 1_000_000, {
    group: 'SMS',
    about: 'Codes an hour for one address block (IPv4 /24, IPv6 /48).',
    default: '50',
  }),
  smsHttpUrl: text('SMS_HTTP_URL', 'http or https URL', {
    group: 'SMS',
    about: 'The HTTP gateway that takes the texts; see sms-gateway.md.',
    shownDefault: 'required with `SMS_SENDER=http`',
  }),
  smsHttpSecret: secret('SMS_HTTP_SECRET', 32, {
    group: 'SMS',
    about: 'Signs each call to the HTTP gateway.',
    shownDefault: 'required with `SMS_SENDER=http`',
  }),
  smppUrl: text('SMPP_URL', '`smpp://host:port` or `ssmpp://host:port`', {
    group: 'SMS',
    about: 'The SMPP gateway; `ssmpp` is TLS.',
    shownDefault: 'required with `SMS_SENDER=smpp`',
  }),
  smppSystemId: text('SMPP_SYSTEM_ID', 'text', {
    group: 'SMS',
    about: 'Who we are to the SMPP gateway.',
    shownDefault: 'required with `SMS_SENDER=smpp`',
  }),
  smppPassword: secret('SMPP_PASSWORD', 1, {
    group: 'SMS',
    about: 'The password for the SMPP gateway.',
    shownDefault: 'required with `SMS_SENDER=smpp`',
  }),
  smsFrom: text('SMS_FROM', 'name or number', {
    group: 'SMS',
    about: 'The sender that the SMPP gateway shows.',
    default: 'Tollgate',
  }),

  acquirer: choice('ACQUIRER', ['sandbox', 'http', 'none'], {
    group: 'Checkout',
    about: "Who takes card payments: the sandbox, the operator's gateway over HTTP, or nobody (wallet only).",
    shownDefault: '`sandbox` outside production, there required',
  }),
  acquirerUrl: text('ACQUIRER_URL', 'http or https URL', {
    group: 'Checkout',
    about: "The operator's payment gateway; see acquirer-gateway.md.",
    shownDefault: 'required with `ACQUIRER=http`',
  }),
  acquirerSecret: secret('ACQUIRER_SECRET', 32, {
    group: 'Checkout',
    about: 'Signs each call to the payment gateway.',
    shownDefault: 'required with `ACQUIRER=http`',
  }),
};

function parsePrefix(given: string): string {
  if (/^\+[1-9]\d{0,6}$/.test(given)) return given;
  throw new BadSetting(`"${given}" is not a country prefix.`, 'Write it like +994.');
}

function parsePhone(given: string): string {
  if (/^\+[1-9]\d{6,14}$/.test(given)) return given;
  throw new BadSetting(`"${given}" is not a phone number in E.164.`, 'Write it like +994500000001.');
}
