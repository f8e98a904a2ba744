import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { environment, loadConfig } from '../src/config.ts';
import { ConfigurationFaults, type Fault } from '../src/platform/settings.ts';
import { settings } from '../src/setting-table.ts';

type Env = Record<string, string>;

/** Not a demo value: long, and of many different characters. */
const goodSecret = 'q7Zp2vXw9Lk4Rt8Ny3Bm6Hd1Gs5Jf0Qc';

/** The least that production starts with. */
const production: Env = {
  TOLLGATE_ENV: 'production',
  BASE_URL: 'https://id.example',
  SSO_URL: 'https://sso.example',
  CHECKOUT_BASE_URL: 'https://pay.example',
  KEYS_SECRET: goodSecret,
  SMS_SENDER: 'http',
  SMS_HTTP_URL: 'https://sms.example/send',
  SMS_HTTP_SECRET: 'Wm4Tz8Kc1Vq6Xb3Lp9Rd5Gh7Ns2Jf0Ay',
  ACQUIRER: 'http',
  ACQUIRER_URL: 'https://gateway.example/cards',
  ACQUIRER_SECRET: 'Pd8Vn2Xs6Qk1Zb7Lw3Tf9Hc5Rm4Gj0Ey',
  DATABASE_URL: 'postgres://tollgate:pw@db.example/tollgate',
  TRUST_PROXY: 'none',
};
const { ACQUIRER: _, ...dmz }: Env = { ...production, TOLLGATE_ENV: 'dmz' };

const folder = mkdtempSync(join(tmpdir(), 'tollgate-config-'));
after(() => rmSync(folder, { recursive: true }));

let files = 0;
function fileWith(content: string): string {
  files += 1;
  const path = join(folder, `file-${files}`);
  writeFileSync(path, content);
  return path;
}

function faultsOf(read: () => unknown): readonly Fault[] {
  try {
    read();
  } catch (error) {
    if (error instanceof ConfigurationFaults) return error.faults;
    throw error;
  }
  return [];
}

const faultsIn = (env: Env) => faultsOf(() => loadConfig(env));
const namesIn = (env: Env) => faultsIn(env).map((fault) => fault.name);

function without(env: Env, name: string): Env {
  const { [name]: _left, ...rest } = env;
  return rest;
}

test('an empty environment starts in local, with the demo values', () => {
  const { server, database, identity, checkout } = loadConfig({});
  assert.deepEqual(
    { server, database, checkout },
    {
      server: {
        env: 'local',
        demo: true,
        host: '127.0.0.1',
        port: 3000,
        adminPort: 3000,
        trustProxy: false,
        workers: 1,
        jobs: 'on',
        drainMs: 0,
        logLevel: 'info',
        urls: {
          base: 'http://localhost:3000',
          sso: 'http://localhost:3000/sso',
          checkout: 'http://localhost:3000/checkout',
        },
      },
      database: { url: undefined, migrationUrl: undefined, poolSize: 10, dataDir: './.data' },
      checkout: {
        env: 'local',
        acquirer: { kind: 'sandbox' },
        keysSecret: 'tollgate-demo-secret-for-local-use-only-0000',
      },
    },
  );
  assert.equal(identity.env, 'local');
  assert.equal(identity.keysSecret, 'tollgate-demo-secret-for-local-use-only-0000');
  assert.deepEqual(identity.testPhones, ['+994500000001', '+994500000002', '+994500000003']);
});

test('in local the addresses and the admin port follow PORT', () => {
  const { server } = loadConfig({ PORT: '4100' });
  assert.equal(server.adminPort, 4100);
  assert.deepEqual(server.urls, {
    base: 'http://localhost:4100',
    sso: 'http://localhost:4100/sso',
    checkout: 'http://localhost:4100/checkout',
  });
});

test('the login pages and the checkout follow BASE_URL, and each can be set on its own', () => {
  assert.deepEqual(loadConfig({ BASE_URL: 'https://id.example/base' }).server.urls, {
    base: 'https://id.example/base',
    sso: 'https://id.example/base/sso',
    checkout: 'https://id.example/base/checkout',
  });
  assert.deepEqual(
    loadConfig({ BASE_URL: 'https://id.example', SSO_URL: 'https://sso.example' }).server.urls,
    { base: 'https://id.example', sso: 'https://sso.example', checkout: 'https://id.example/checkout' },
  );
});

test('a set value is taken over instead of its default', () => {
  const { server, database, checkout } = loadConfig({
    ...production,
    HOST: '10.1.2.3',
    PORT: '8080',
    ADMIN_PORT: '8081',
    MIGRATION_DATABASE_URL: 'postgresql://owner:pw@db.example/tollgate',
    DATABASE_POOL_SIZE: '25',
    DATA_DIR: '/var/lib/tollgate',
    WORKERS: '4',
    JOBS: 'off',
    DRAIN_SECONDS: '12',
    LOG_LEVEL: 'warn',
    ACQUIRER: 'none',
  });
  assert.deepEqual(
    { server, database, checkout },
    {
      server: {
        env: 'production',
        demo: false,
        host: '10.1.2.3',
        port: 8080,
        adminPort: 8081,
        trustProxy: false,
        workers: 4,
        jobs: 'off',
        drainMs: 12_000,
        logLevel: 'warn',
        urls: { base: 'https://id.example', sso: 'https://sso.example', checkout: 'https://pay.example' },
      },
      database: {
        url: production.DATABASE_URL,
        migrationUrl: 'postgresql://owner:pw@db.example/tollgate',
        poolSize: 25,
        dataDir: '/var/lib/tollgate',
      },
      checkout: { env: 'production', acquirer: { kind: 'none' }, keysSecret: goodSecret },
    },
  );
});

test('outside local the process listens on every address and drains for five seconds', () => {
  const { server } = loadConfig(production);
  assert.equal(server.host, '0.0.0.0');
  assert.equal(server.drainMs, 5_000);
});

test('health and metrics leave the public port in dmz, in production and with several workers', () => {
  const adminPort = (env: Env) => loadConfig(env).server.adminPort;
  assert.equal(adminPort(production), 9464);
  assert.equal(adminPort(dmz), 9464);
  assert.equal(adminPort({ WORKERS: '2' }), 9464);
  assert.equal(adminPort({ WORKERS: '1' }), 3000);
  assert.equal(adminPort({ ADMIN_PORT: '9000' }), 9000);
});

test('the migrating role is that of the server unless another is named', () => {
  const url = 'postgres://server:pw@db.example/tollgate';
  const owner = 'postgres://owner:pw@db.example/tollgate';
  assert.equal(loadConfig({ DATABASE_URL: url }).database.migrationUrl, url);
  assert.deepEqual(loadConfig({ DATABASE_URL: url, MIGRATION_DATABASE_URL: owner }).database, {
    url,
    migrationUrl: owner,
    poolSize: 10,
    dataDir: './.data',
  });
});

test('a migrating role makes no sense for the embedded database', () => {
  const owner = 'postgres://owner:pw@db.example/tollgate';
  assert.deepEqual(namesIn({ MIGRATION_DATABASE_URL: owner }), ['MIGRATION_DATABASE_URL']);
  assert.deepEqual(namesIn({ DATABASE_URL: 'embedded', MIGRATION_DATABASE_URL: owner }), [
    'MIGRATION_DATABASE_URL',
  ]);
  assert.deepEqual(namesIn({ DATABASE_URL: owner, MIGRATION_DATABASE_URL: 'embedded' }), [
    'MIGRATION_DATABASE_URL',
  ]);
});

test('outside local there is no default address and no default secret', () => {
  for (const env of ['test', 'pre']) {
    const complete = { TOLLGATE_ENV: env, BASE_URL: 'http://id.example', KEYS_SECRET: goodSecret };
    assert.deepEqual(namesIn(complete), []);
    assert.deepEqual(namesIn(without(complete, 'BASE_URL')), ['BASE_URL']);
    assert.deepEqual(namesIn(without(complete, 'KEYS_SECRET')), ['KEYS_SECRET']);
    assert.deepEqual(loadConfig(complete).identity.testPhones, []);
  }
});

test('all faults are reported together, each with its name, what is wrong and what to do', () => {
  const faults = faultsIn({
    TOLLGATE_ENV: 'test',
    PORT: 'x',
    TRUST_PROXY: 'nobody',
    DATABASE_URL: 'mysql://x',
  });
  assert.deepEqual(
    faults.map((fault) => fault.name),
    ['PORT', 'DATABASE_URL', 'TRUST_PROXY', 'BASE_URL', 'KEYS_SECRET'],
  );
  for (const fault of faults) {
    assert.match(fault.problem, /^\S.*\.$/);
    assert.match(fault.remedy, /^\S.*[^\s]$/);
  }
});

test('the message of the error holds every fault', () => {
  assert.throws(
    () => loadConfig({ TOLLGATE_ENV: 'pre', PORT: '0' }),
    (error: Error) => ['PORT: ', 'BASE_URL: ', 'KEYS_SECRET: '].every((name) => error.message.includes(name)),
  );
});

test('unsafe settings are reported beside values that cannot be read', () => {
  const env = {
    ...production,
    PORT: '70000',
    SMS_SENDER: 'console',
    CHECKOUT_BASE_URL: 'http://pay.example',
  };
  assert.deepEqual(namesIn(env).sort(), ['CHECKOUT_BASE_URL', 'PORT', 'SMS_SENDER']);
});

test('a value that cannot be read is one fault, not a second one for being unset', () => {
  for (const [name, value] of [
    ['BASE_URL', 'id.example'],
    ['SSO_URL', 'sso.example'],
    ['CHECKOUT_BASE_URL', 'pay.example'],
    ['KEYS_SECRET', 'short'],
    ['SMS_SENDER', 'pigeon'],
    ['ACQUIRER', 'somebody'],
    ['DATABASE_URL', 'mysql://db.example'],
    ['TEST_PHONES', '123'],
    ['TRUST_PROXY', 'everybody'],
    ['ADMIN_PORT', '3000.5'],
  ] as const) {
    assert.deepEqual(namesIn({ ...production, [name]: value }), [name], name);
  }
});

test('an unknown environment is a fault', () => {
  assert.deepEqual(namesIn({ TOLLGATE_ENV: 'prod' }), ['TOLLGATE_ENV']);
  assert.deepEqual(namesIn({ TOLLGATE_ENV: 'LOCAL' }), ['TOLLGATE_ENV']);
  assert.deepEqual(namesIn({ CHECKOUT_ENV: 'dmz' }), ['CHECKOUT_ENV']);
});

test('an empty variable counts as unset', () => {
  const names = Object.values(settings).flatMap(({ name }) => [name, `${name}_FILE`]);
  assert.deepEqual(loadConfig(Object.fromEntries(names.map((name) => [name, '']))), loadConfig({}));
  assert.deepEqual(namesIn({ ...production, KEYS_SECRET: '' }), ['KEYS_SECRET']);
});

test('a secret can come from a file, and the line break at its end is no part of it', () => {
  for (const end of ['', '\n', '\r\n']) {
    const env = { ...without(production, 'KEYS_SECRET'), KEYS_SECRET_FILE: fileWith(goodSecret + end) };
    const { identity, checkout } = loadConfig(env);
    assert.equal(identity.keysSecret, goodSecret);
    assert.equal(checkout.keysSecret, goodSecret);
  }
});

test('only the last line break of a secret file is dropped, and no space', () => {
  const keysSecret = (content: string) =>
    loadConfig({ KEYS_SECRET_FILE: fileWith(content) }).identity.keysSecret;
  assert.equal(keysSecret(`${goodSecret}\n\n`), `${goodSecret}\n`);
  assert.equal(keysSecret(`${goodSecret} \n`), `${goodSecret} `);
});

test('a file with too short a secret, or with nothing, is a fault', () => {
  assert.deepEqual(namesIn({ KEYS_SECRET_FILE: fileWith('') }), ['KEYS_SECRET']);
  assert.deepEqual(namesIn({ KEYS_SECRET_FILE: fileWith('short\n') }), ['KEYS_SECRET']);
});

test('the database addresses can come from files: they carry a password', () => {
  const { database } = loadConfig({
    DATABASE_URL_FILE: fileWith('postgres://server:pw@db.example/tollgate\n'),
    MIGRATION_DATABASE_URL_FILE: fileWith('postgres://owner:pw@db.example/tollgate\n'),
  });
  assert.equal(database.url, 'postgres://server:pw@db.example/tollgate');
  assert.equal(database.migrationUrl, 'postgres://owner:pw@db.example/tollgate');
});

test('a secret that is set directly and by file is a fault, even when both are equal', () => {
  const [fault, ...more] = faultsIn({ KEYS_SECRET: goodSecret, KEYS_SECRET_FILE: fileWith(goodSecret) });
  assert.deepEqual(more, []);
  assert.equal(fault?.problem, 'Both KEYS_SECRET and KEYS_SECRET_FILE are set.');
});

test('a secret file that cannot be read is a fault that says why', () => {
  const [missing] = faultsIn({ KEYS_SECRET_FILE: join(folder, 'nowhere') });
  assert.equal(missing?.name, 'KEYS_SECRET');
  assert.match(missing?.problem ?? '', /KEYS_SECRET_FILE cannot be read \(ENOENT\)/);
  assert.match(faultsIn({ KEYS_SECRET_FILE: folder })[0]?.problem ?? '', /\(EISDIR\)/);
});

test('a setting that is no secret has no _FILE', () => {
  const path = fileWith('4200');
  for (const { name, secret } of Object.values(settings)) {
    if (!secret) assert.deepEqual(loadConfig({ [`${name}_FILE`]: path }), loadConfig({}), name);
  }
});

test('.env is read in local, named or by default', () => {
  const path = fileWith('PORT=4300\n# a comment\nTEST_PHONES="+994501234567"\n');
  for (const env of [{}, { TOLLGATE_ENV: 'local' }, { TOLLGATE_ENV: '' }]) {
    const config = loadConfig(environment(env, path));
    assert.equal(config.server.port, 4300);
    assert.deepEqual(config.identity.testPhones, ['+994501234567']);
  }
});

test('.env is not read in any other environment', () => {
  const path = fileWith('PORT=4300\n');
  for (const env of ['test', 'pre', 'dmz', 'production', 'prod']) {
    assert.deepEqual(environment({ TOLLGATE_ENV: env }, path), { TOLLGATE_ENV: env });
  }
});

test('a missing .env is no fault', () => {
  assert.deepEqual(environment({ PORT: '1' }, join(folder, 'nowhere')), { PORT: '1' });
});

test('.env cannot make another environment of a local one', () => {
  for (const env of ['test', 'production', 'prod']) {
    const path = fileWith(`TOLLGATE_ENV=${env}\n`);
    const [fault] = faultsOf(() => environment({}, path));
    assert.equal(fault?.name, 'TOLLGATE_ENV');
    assert.match(fault?.problem ?? '', /is read in local only/);
  }
  assert.deepEqual(environment({}, fileWith('TOLLGATE_ENV=local\n')), { TOLLGATE_ENV: 'local' });
});

test('a variable of the process wins over .env', () => {
  const env = environment({ PORT: '4401' }, fileWith('PORT=4402\nWORKERS=2\n'));
  assert.deepEqual(env, { PORT: '4401', WORKERS: '2' });
});

test('CHECKOUT_ENV follows TOLLGATE_ENV unless it is set', () => {
  const checkoutEnv = (env: Env) => loadConfig(env).checkout.env;
  const ecosystem = { BASE_URL: 'https://id.example', KEYS_SECRET: goodSecret };
  assert.equal(checkoutEnv({}), 'local');
  assert.equal(checkoutEnv({ ...ecosystem, TOLLGATE_ENV: 'test' }), 'preprod');
  assert.equal(checkoutEnv({ ...ecosystem, TOLLGATE_ENV: 'pre' }), 'preprod');
  assert.equal(checkoutEnv(dmz), 'preprod');
  assert.equal(checkoutEnv(production), 'production');
  assert.equal(checkoutEnv({ ...production, CHECKOUT_ENV: 'preprod' }), 'preprod');
  assert.equal(checkoutEnv({ CHECKOUT_ENV: 'preprod' }), 'preprod');
});

/** Each is a reason of its own not to start; nothing else about the configuration is unsafe. */
const unsafe: [what: string, name: string, value: string | undefined][] = [
  ['BASE_URL is http', 'BASE_URL', 'http://id.example'],
  ['SSO_URL is http', 'SSO_URL', 'http://sso.example'],
  ['CHECKOUT_BASE_URL is http', 'CHECKOUT_BASE_URL', 'http://pay.example'],
  ['BASE_URL is missing', 'BASE_URL', undefined],
  ['KEYS_SECRET is missing', 'KEYS_SECRET', undefined],
  ['KEYS_SECRET has 31 characters', 'KEYS_SECRET', goodSecret.slice(0, 31)],
  ['KEYS_SECRET is the demo value', 'KEYS_SECRET', 'tollgate-demo-secret-for-local-use-only-0000'],
  ['KEYS_SECRET is a placeholder', 'KEYS_SECRET', `changeme-${goodSecret}`],
  ['KEYS_SECRET is a placeholder with a hyphen', 'KEYS_SECRET', `Change-Me-${goodSecret}`],
  ['KEYS_SECRET is a run of few characters', 'KEYS_SECRET', '1234567'.repeat(10)],
  ['another secret is a placeholder', 'SMS_HTTP_SECRET', `changeme-${goodSecret}`],
  ['another secret stands in the README', 'ACQUIRER_SECRET', `demo-partner-secret-${goodSecret}`],
  ['nobody has said which proxies are in front', 'TRUST_PROXY', undefined],
  ['there are test phones', 'TEST_PHONES', '+994500000001'],
  ['one-time codes go to the log', 'SMS_SENDER', 'console'],
  ['the SMS sender is left to its default', 'SMS_SENDER', undefined],
  ['the database is embedded without being asked for', 'DATABASE_URL', undefined],
  ['ADMIN_PORT is PORT', 'ADMIN_PORT', '3000'],
  ['PORT is the default of ADMIN_PORT', 'PORT', '9464'],
];

for (const [what, name, value] of unsafe) {
  test(`dmz and production do not start when ${what}`, () => {
    const refused = name === 'PORT' ? 'ADMIN_PORT' : name;
    for (const safe of [dmz, production]) {
      assert.deepEqual(namesIn(safe), []);
      const env = value === undefined ? without(safe, name) : { ...safe, [name]: value };
      assert.deepEqual(namesIn(env), [refused]);
    }
  });
}

for (const [what, name, value] of unsafe) {
  test(`a production checkout does not start in a local identity when ${what}`, () => {
    const safe = { ...production, TOLLGATE_ENV: 'local', CHECKOUT_ENV: 'production' };
    assert.deepEqual(namesIn(safe), []);
    const env = value === undefined ? without(safe, name) : { ...safe, [name]: value };
    assert.equal(namesIn(env).includes(name === 'PORT' ? 'ADMIN_PORT' : name), true);
  });
}

test('a secret of 32 characters, and one of eight different characters, are taken', () => {
  assert.equal(goodSecret.length, 32);
  assert.deepEqual(namesIn({ ...production, KEYS_SECRET: goodSecret }), []);
  assert.deepEqual(namesIn({ ...production, KEYS_SECRET: '12345678'.repeat(4) }), []);
});

test('a password for SMPP, which has room for eight characters, is refused only when it is a demo value', () => {
  const smpp = {
    ...production,
    ...{ SMS_SENDER: 'smpp', SMPP_URL: 'ssmpp://sms.example:3550', SMPP_SYSTEM_ID: 'tollgate' },
  };
  assert.deepEqual(namesIn({ ...smpp, SMPP_PASSWORD: 'k3ll3rR7' }), []);
  for (const SMPP_PASSWORD of ['password', 'aaaaaaaa', 'changeme'])
    assert.deepEqual(namesIn({ ...smpp, SMPP_PASSWORD }), ['SMPP_PASSWORD']);
});

test('a demo value from a file is refused as well', () => {
  const path = fileWith('tollgate-demo-secret-for-local-use-only-0000\n');
  assert.deepEqual(namesIn({ ...without(production, 'KEYS_SECRET'), KEYS_SECRET_FILE: path }), [
    'KEYS_SECRET',
  ]);
});

test('an http address that SSO_URL and CHECKOUT_BASE_URL follow is refused', () => {
  const { BASE_URL: _base, SSO_URL: _sso, CHECKOUT_BASE_URL: _checkout, ...rest } = production;
  assert.deepEqual(namesIn({ ...rest, BASE_URL: 'https://id.example' }), []);
  assert.equal(namesIn({ ...rest, BASE_URL: 'http://id.example' }).includes('BASE_URL'), true);
});

test('the embedded database is taken when it is asked for by name', () => {
  const config = loadConfig({ ...production, DATABASE_URL: 'embedded' });
  assert.equal(config.database.url, undefined);
  assert.equal(config.database.migrationUrl, undefined);
});

test('the sandbox acquirer is refused in a production checkout only', () => {
  const sandbox = { ...production, ACQUIRER: 'sandbox' };
  assert.deepEqual(namesIn(sandbox), ['ACQUIRER']);
  assert.deepEqual(namesIn({ ...dmz, CHECKOUT_ENV: 'production', ACQUIRER: 'sandbox' }), ['ACQUIRER']);
  assert.deepEqual(namesIn({ ...sandbox, CHECKOUT_ENV: 'preprod' }), []);
  assert.deepEqual(namesIn({ ...dmz, ACQUIRER: 'sandbox' }), []);
  assert.deepEqual(loadConfig(dmz).checkout.acquirer, { kind: 'sandbox' });
});

test('a production checkout has no default acquirer', () => {
  assert.deepEqual(namesIn(without(production, 'ACQUIRER')), ['ACQUIRER']);
  assert.deepEqual(namesIn({ ...production, ACQUIRER: 'none' }), []);
});

test('a production checkout in a local identity gets none of the demo values', () => {
  const names = namesIn({ CHECKOUT_ENV: 'production' });
  for (const name of ['BASE_URL', 'KEYS_SECRET', 'SMS_SENDER', 'ACQUIRER', 'DATABASE_URL']) {
    assert.equal(names.includes(name), true, name);
  }
  const safe = { ...production, TOLLGATE_ENV: 'local', CHECKOUT_ENV: 'production' };
  assert.deepEqual(loadConfig(safe).identity.testPhones, []);
  assert.equal(loadConfig(safe).server.adminPort, 9464);
  assert.equal(loadConfig(safe).server.demo, false);
});

test('a database address that the driver cannot read is a fault', () => {
  for (const good of ['postgresql://db.example', 'postgres://me:p%40ss@[::1]:5432/a?sslmode=disable'])
    assert.deepEqual(namesIn({ DATABASE_URL: good }), [], good);
  assert.deepEqual(namesIn({ DATABASE_URL: 'postgres://me@/tollgate?host=/run/postgresql' }), []);
  for (const bad of ['postgres://me:pw@db.example:99999/a', 'postgres://[::1/a'])
    assert.deepEqual(namesIn({ DATABASE_URL: bad }), ['DATABASE_URL'], bad);
});

test('test and pre start with what dmz and production refuse', () => {
  for (const env of ['test', 'pre']) {
    assert.deepEqual(
      namesIn({
        TOLLGATE_ENV: env,
        BASE_URL: 'http://id.example',
        KEYS_SECRET: 'tollgate-demo-secret-for-local-use-only-0000',
        TEST_PHONES: '+994500000001',
        SMS_SENDER: 'console',
        ACQUIRER: 'sandbox',
        ADMIN_PORT: '3000',
      }),
      [],
    );
  }
});

for (const name of ['BASE_URL', 'SSO_URL', 'CHECKOUT_BASE_URL']) {
  test(`${name} has one spelling only, and a fault says which`, () => {
    const remedy = (value: string) => {
      const [fault, ...more] = faultsIn({ [name]: value });
      assert.deepEqual(more, [], value);
      assert.equal(fault?.name, name, value);
      return fault?.remedy;
    };
    for (const good of [
      'https://id.example',
      'http://id.example:8080',
      'https://id.example/a/b',
      'http://[::1]:3000',
    ])
      assert.deepEqual(namesIn({ [name]: good }), [], good);

    assert.equal(remedy('https://id.example/'), 'Leave the last slash out.');
    assert.equal(remedy('https://id.example/base/'), 'Leave the last slash out.');
    for (const more of ['?a=1', '#top']) {
      assert.equal(remedy(`https://id.example${more}`), 'Give scheme, host and path only.');
    }
    assert.equal(remedy('https://user@id.example'), 'Give scheme, host and path only.');
    assert.equal(remedy('https://user:pw@id.example'), 'Give scheme, host and path only.');
    assert.equal(remedy('https://ID.example'), 'Write it as https://id.example.');
    assert.equal(remedy('HTTPS://id.example/Base'), 'Write it as https://id.example/Base.');
    assert.equal(remedy('https://id.example:443'), 'Write it as https://id.example.');
    assert.equal(remedy('http://id.example:80/base'), 'Write it as http://id.example/base.');
    assert.equal(remedy('https://id.example/a/../b'), 'Write it as https://id.example/b.');
    assert.equal(remedy('https://id.example?'), 'Write it as https://id.example.');
    for (const other of ['id.example', '//id.example', 'ftp://id.example', 'https://', 'javascript:alert(1)'])
      assert.equal(remedy(other), 'Give one such as https://id.example.com.');
  });
}

test('TRUST_PROXY is none, a number of hops, or addresses and networks', () => {
  const trustProxy = (value: string) => loadConfig({ TRUST_PROXY: value }).server.trustProxy;
  assert.equal(trustProxy('none'), false);
  assert.equal(trustProxy(''), false);
  assert.equal(trustProxy('1'), 1);
  assert.equal(trustProxy('12'), 12);
  assert.deepEqual(trustProxy('10.0.0.7'), ['10.0.0.7']);
  assert.deepEqual(trustProxy('10.0.0.0/8, 192.168.1.7,::1,fd00::/8'), [
    '10.0.0.0/8',
    '192.168.1.7',
    '::1',
    'fd00::/8',
  ]);
  assert.deepEqual(trustProxy('0.0.0.0/0,::/128'), ['0.0.0.0/0', '::/128']);
});

test('zero hops trust nobody', () => {
  assert.equal(loadConfig({ TRUST_PROXY: '0' }).server.trustProxy, false);
  assert.equal(loadConfig({ TRUST_PROXY: '00' }).server.trustProxy, false);
});

test('any other TRUST_PROXY is a fault', () => {
  for (const value of [
    'true',
    'loopback',
    '-1',
    '1.5',
    '100',
    '10.0.0',
    '10.0.0.256',
    '10.0.0.0/33',
    'fd00::/129',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0.0/-8',
    '10.0.0.1,',
    '10.0.0.1,proxy.example',
    'fe80::1%eth0',
  ]) {
    assert.deepEqual(namesIn({ TRUST_PROXY: value }), ['TRUST_PROXY'], value);
  }
});

test('whole numbers are taken from the first to the last of their range', () => {
  for (const [name, first, last] of [
    ['PORT', 1, 65535],
    ['ADMIN_PORT', 1, 65535],
    ['DATABASE_POOL_SIZE', 1, 500],
    ['WORKERS', 1, 128],
    ['DRAIN_SECONDS', 0, 300],
  ] as const) {
    assert.deepEqual(namesIn({ [name]: String(first) }), []);
    assert.deepEqual(namesIn({ [name]: String(last) }), []);
    assert.deepEqual(namesIn({ [name]: String(first - 1) }), [name]);
    assert.deepEqual(namesIn({ [name]: String(last + 1) }), [name]);
  }
});

test('a number in any other notation is a fault, not a guess', () => {
  for (const value of [
    '1e3',
    '-1',
    '+1',
    '3000.5',
    '3000.0',
    '0x10',
    '1_000',
    '1 000',
    ' 30',
    '30 ',
    'Infinity',
    'NaN',
  ])
    assert.deepEqual(namesIn({ PORT: value }), ['PORT'], value);
});

test('test phones are E.164 numbers', () => {
  const testPhones = (value: string) => loadConfig({ TEST_PHONES: value }).identity.testPhones;
  assert.deepEqual(testPhones('+994501234567, +12025550100'), ['+994501234567', '+12025550100']);
  assert.deepEqual(testPhones('+1234567'), ['+1234567']);
  assert.deepEqual(testPhones('+123456789012345'), ['+123456789012345']);
  assert.deepEqual(testPhones(','), []);
  for (const value of ['994501234567', '+0994501234567', '+123456', '+1234567890123456', '+99450 1234567']) {
    assert.deepEqual(namesIn({ TEST_PHONES: value }), ['TEST_PHONES'], value);
  }
});

test('no fault ever shows the value of a secret', () => {
  const secretNames = Object.values(settings)
    .filter((setting) => setting.secret)
    .map((setting) => setting.name);
  for (const name of ['DATABASE_URL', 'MIGRATION_DATABASE_URL', 'KEYS_SECRET'])
    assert.equal(secretNames.includes(name), true, name);

  const canary = fc.stringMatching(/^[A-Za-z0-9]{12,20}$/).map((text) => `§${text}§`);
  const secretValue = fc.oneof(
    canary,
    canary.map((text) => `postgres://user:${text}@db.example/tollgate`),
    canary.map((text) => `postgres://user:${text} @db.example/tollgate`),
    canary.map((text) => `mysql://user:${text}@db.example/tollgate`),
    canary.map((text) => `tollgate-demo-${text}-${text}-${text}`),
  );
  const surroundings = fc.constantFrom<Env>(
    {},
    { TOLLGATE_ENV: 'test' },
    { CHECKOUT_ENV: 'production' },
    production,
  );
  fc.assert(
    fc.property(
      surroundings,
      fc.array(secretValue, { minLength: secretNames.length, maxLength: secretNames.length }),
      fc.boolean(),
      fc.boolean(),
      (surrounding, values, byFile, twice) => {
        const env: Env = { ...surrounding, PORT: 'never' };
        secretNames.forEach((name, at) => {
          const value = values[at] ?? '';
          if (!byFile || twice) env[name] = value;
          else delete env[name];
          if (byFile) env[`${name}_FILE`] = fileWith(value);
        });
        assert.throws(
          () => loadConfig(env),
          (error: Error) => error instanceof ConfigurationFaults && !error.message.includes('§'),
        );
      },
    ),
    { numRuns: 200 },
  );
});

test('several workers do not share their admin port with the public one', () => {
  assert.throws(
    () => loadConfig({ WORKERS: '2', PORT: '3000', ADMIN_PORT: '3000' }),
    /ADMIN_PORT: With several workers/,
  );
  assert.throws(() => loadConfig({ WORKERS: '2', PORT: '9464' }), /ADMIN_PORT: With several workers/);
  assert.equal(loadConfig({ WORKERS: '1', PORT: '3000', ADMIN_PORT: '3000' }).server.adminPort, 3000);
  assert.equal(loadConfig({ WORKERS: '2', PORT: '3000' }).server.adminPort, 9464);
});
