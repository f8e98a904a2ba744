import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { packageRoot } from '../../src/package.ts';
import { temporaryFolder } from '../support/server.ts';

const root = new URL('.', packageRoot).pathname;
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const dockerfile = read('Dockerfile');
const settings = new Set(
  read('docs/configuration.md')
    .match(/`[A-Z][A-Z_]+`/g)
    ?.map((name) => name.slice(1, -1)),
);

test('what the image copies is there, is let through, and is enough to build', async (t) => {
  const letThrough = read('.dockerignore')
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .map((line) => line.slice(1));
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap((match) =>
    (match[1] ?? '').split(' '),
  );
  assert.deepEqual([...new Set(copied)].sort(), letThrough.sort());
  assert.ok(copied.includes('LICENSE'), 'who is given the image is given the licence');

  const folder = await temporaryFolder(t);
  for (const path of copied) cpSync(join(root, path), join(folder, path), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const build = (JSON.parse(read('package.json')) as { scripts: { build: string } }).scripts.build;
  execFileSync('npm', ['exec', '--no', '-c', build], {
    cwd: folder,
  });
  assert.ok(existsSync(join(folder, 'dist/main.js')));
  assert.ok(existsSync(join(folder, 'dist/script-inventory.json')));
});

test('the image runs as nobody special, without a shell or npm between it and its signals', () => {
  assert.match(dockerfile, /^USER node$/m);
  assert.match(dockerfile, /^ENTRYPOINT \["node", /m);
  assert.match(dockerfile, /^CMD \["dist\/main\.js"\]$/m);
  assert.match(dockerfile, /prune --omit=dev --omit=optional/);
  const [, major] = /^FROM node:(\d+)/m.exec(dockerfile) ?? [];
  assert.ok(Number(major) >= 20);
});

test('compose and the unit name only settings that there are', () => {
  const compose = read('compose.yaml');
  const unit = read('deploy/tollgate.service');
  const named = [
    ...[...compose.matchAll(/^ {6}([A-Z_]+): /gm)].map((match) => match[1] ?? ''),
    ...[...unit.matchAll(/^Environment=([A-Z_]+)=/gm)].map((match) => match[1] ?? ''),
  ].filter((name) => !name.startsWith('POSTGRES_'));
  assert.ok(named.length > 5);
  for (const name of named) assert.ok(settings.has(name), name);
  assert.match(unit, /^ExecStart=\/usr\/bin\/node --enable-source-maps dist\/main\.js$/m);
});

test('the command line under systemd has what the unit has', async (t) => {
  const folder = await temporaryFolder(t);
  // In place of the service manager: it shows what it was given, and runs the rest where the build would be.
  writeFileSync(
    join(folder, 'systemd-run'),
    `#!/bin/sh
while [ "\${1#--}" != "$1" ]; do echo "\${1#--property=}"; shift; done
shift
script=$(printf '%s' "$2" | sed 's#exec /usr/bin/node .* dist/cli.js#printf "%s\\\\n" "$KEYS_SECRET_FILE" "$DATABASE_URL_FILE"#')
shift 2
CREDENTIALS_DIRECTORY=/run/c exec /bin/sh -c "$script" "$@"
`,
    { mode: 0o755 },
  );
  const lines = execFileSync(join(root, 'deploy/tollgate-cli'), ['client', 'show', 'a b'], {
    env: { PATH: `${folder}:${process.env.PATH}` },
    encoding: 'utf8',
  }).split('\n');
  const given = /^(DynamicUser|WorkingDirectory|EnvironmentFile|LoadCredential|Environment=TOLLGATE_ENV)=/;
  const wanted = read('deploy/tollgate.service')
    .split('\n')
    .filter((line) => given.test(line));
  assert.equal(wanted.length, 6);
  assert.deepEqual(lines.filter((line) => given.test(line)).sort(), wanted.sort());
  const command = ['/run/c/keys_secret', '/run/c/database_url', 'client', 'show', 'a b'];
  assert.deepEqual(lines.slice(-6, -1), command);
});

test('whoever stops the server waits longer than the server itself', () => {
  const seconds = (path: string, pattern: RegExp) => Number(pattern.exec(read(path))?.[1]?.replace('_', ''));
  const drain = seconds('docs/configuration.md', /^\| `DRAIN_SECONDS` .*`(\d+)`/m);
  const limit = seconds('src/main.ts', /^const stopLimitMs = (\d+)_000;$/m);
  assert.ok(drain + limit > 0);
  assert.ok(seconds('deploy/tollgate.service', /^TimeoutStopSec=(\d+)$/m) > drain + limit);
  assert.ok(seconds('compose.yaml', /^ {4}stop_grace_period: (\d+)s$/m) > drain + limit);
});

test('the secrets that compose reads are made once, long enough, and kept', async (t) => {
  const folder = await temporaryFolder(t);
  mkdirSync(join(folder, 'deploy'));
  cpSync(join(root, 'deploy/make-secrets.sh'), join(folder, 'deploy/make-secrets.sh'));
  const make = () => {
    execFileSync('sh', ['deploy/make-secrets.sh'], { cwd: folder });
    const secrets = join(folder, 'deploy/secrets');
    return Object.fromEntries(
      readdirSync(secrets).map((name) => [name, readFileSync(join(secrets, name), 'utf8')]),
    );
  };
  const made = make();
  const wanted = [...read('compose.yaml').matchAll(/\.\/deploy\/secrets\/(\w+)/g)].map((match) => match[1]);
  assert.deepEqual(Object.keys(made).sort(), wanted.sort());
  assert.equal(made.keys_secret?.length, 64);
  assert.ok(made.database_url?.includes(`:${made.database_password}@`));
  assert.deepEqual(make(), made);

  // The container's user is 1000; nobody else on the host may read them.
  const isRoot = process.getuid?.() === 0;
  for (const name of Object.keys(made)) {
    const { mode, uid } = statSync(join(folder, 'deploy/secrets', name));
    assert.equal((mode & 0o777).toString(8), isRoot ? '400' : '600', name);
    assert.equal(uid, isRoot ? 1000 : process.getuid?.(), name);
  }
});
