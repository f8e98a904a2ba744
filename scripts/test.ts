/**
 * Runs the tests: builds what the process tests start, compiles the tests (loading TypeScript anew in each of their
 * processes would cost a third of the time), starts one PostgreSQL for all files, migrates a template that each file
 * clones, and hands over to node's own runner. Paths given as arguments run alone:
 * `npm run test:only -- test/platform/db.test.ts`.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../src/app.ts';
import { startEmbeddedPostgres } from '../src/platform/embedded-postgres.ts';
import { migrate, readMigrations } from '../src/platform/migrate.ts';
import { installBrowser } from '../test/support/browser.ts';
import { createTemplate } from '../test/support/database.ts';

process.chdir(new URL('.', packageRoot).pathname);
const given = process.argv.slice(2);
const files = given.length > 0 ? given : allTestFiles();
if (files.length === 0) throw new Error('no test files found');

execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
execFileSync('npx', ['--no', '--silent', 'tsc', '-p', 'tsconfig.test.json'], { stdio: 'inherit' });
await installBrowser();

// Without these, Ctrl-C would end this process alone and leave its PostgreSQL and its folder behind.
let interrupted = false;
let runner: ChildProcess | undefined;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    interrupted = true;
    runner?.kill(signal);
  });
}

const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-test-'));
const postgres = await startEmbeddedPostgres({
  dataDir,
  log: () => {},
  // Tests that are about durability start databases of their own with the settings of the product.
  settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' },
});
let code: number | null = 1;
try {
  const template = await createTemplate(postgres.url);
  await migrate({
    ownerUrl: template,
    serverUrl: template,
    migrations: readMigrations(new URL('migrations/', packageRoot)),
    log: () => {},
  });
  if (!interrupted) {
    runner = spawn(
      process.execPath,
      [
        '--enable-source-maps',
        '--test',
        '--test-concurrency=3',
        '--test-reporter=spec',
        ...files.map(compiled),
      ],
      { stdio: 'inherit', env: { ...process.env, TEST_DATABASE_URL: postgres.url } },
    );
    [code] = (await once(runner, 'exit')) as [number | null];
  }
} finally {
  await postgres.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
process.exit(code ?? 1);

function allTestFiles(): string[] {
  return (
    readdirSync('test', { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.test.ts'))
      .map((file) => join('test', file))
      // Those that start and kill servers wait most of their time: begun first, they do not have to be waited for last.
      .sort(
        (left, right) =>
          Number(startsServers(right)) - Number(startsServers(left)) || (left < right ? -1 : 1),
      )
  );
}

function compiled(file: string): string {
  return join('dist-test', file.replace(/\.tsx?$/, '.js'));
}

function startsServers(file: string): boolean {
  return /server\/|kill|embedded/.test(file);
}
