/**
 * Runs the tests: builds what the process tests start, bundles the tests as well (to load TypeScript and the libraries
 * anew in each of their processes would cost a third of the time), starts one PostgreSQL for all files, migrates a
 * template that each file clones, and runs them several at a time. Paths given as arguments run alone:
 * `npm run test:only -- test/platform/db.test.ts`.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, statfsSync, statSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../src/package.ts';
import { startEmbeddedPostgres } from '../src/platform/embedded-postgres.ts';
import { migrate, readMigrations } from '../src/platform/migrate.ts';
import { installBrowser } from '../test/support/browser.ts';
import { createTemplate } from '../test/support/database.ts';
import { bundle } from './bundle.js';

/** For a file that hangs: it fails, instead of holding up all others. */
const stuckMs = 15 * 60_000;
/**
 * Node 20 has a deadlock between the last line of the report, which only comes once nothing is open any more, and the
 * end of the process (nodejs/node#54918): rare, but among hundreds of processes it happens.
 */
const unendedMs = 30_000;

process.chdir(new URL('.', packageRoot).pathname);
const given = process.argv.slice(2);
/** Such as `--test-name-pattern=refund`. */
const flags = given.filter((argument) => argument.startsWith('--'));
const named = given.filter((argument) => !argument.startsWith('--'));
const files = named.length > 0 ? named : allTestFiles();
if (files.length === 0) throw new Error('no test files found');

execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
await bundle([...files, ...fixtures()], 'dist-test');
await installBrowser();

// Without these, Ctrl-C would end this process alone and leave its PostgreSQL and its folder behind.
let interrupted = false;
const running = new Set<ChildProcess>();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    interrupted = true;
    for (const child of running) child.kill(signal);
  });
}

// A process that is killed leaves its files in memory as it does on a disk, and no test waits for the disk there.
if (hasRoom('/dev/shm')) process.env.TMPDIR ??= '/dev/shm';
const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-test-'));
const postgres = await startEmbeddedPostgres({
  dataDir,
  log: () => {},
  // Tests that are about durability start databases of their own with the settings of the product.
  settings: {
    fsync: 'off',
    synchronous_commit: 'off',
    full_page_writes: 'off',
    max_connections: '300',
    // It would visit hundreds of small databases, each in a process of its own.
    autovacuum: 'off',
  },
});
let code = 1;
try {
  const template = await createTemplate(postgres.url);
  await migrate({
    ownerUrl: template,
    serverUrl: template,
    migrations: readMigrations(new URL('migrations/', packageRoot)),
    log: () => {},
  });
  code = await runAll();
} finally {
  await postgres.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
process.exit(code);

/**
 * Those that send fifty requests at once come first, one after the other, with two beside them that start and kill servers
 * and wait most of their time: what a busy machine does to the limits of the product is not what they are about. The rest
 * runs four at a time, so that the machine has always something to do. Large files come first, so that none is left over
 * at the end. (Node's own runner takes files by their names.)
 */
async function runAll(): Promise<number> {
  const bySize = [...files].sort((a, b) => statSync(b).size - statSync(a).size);
  const crowded = bySize.filter(sendsCrowds);
  const others = bySize.filter((file) => !sendsCrowds(file));
  const waiting = others.filter(startsServers);
  const busy = others.filter((file) => !startsServers(file));
  const failed: { file: string; output: string }[] = [];
  const totals: Record<string, number> = {};
  const lane = async (first: string[], then: string[]) => {
    for (let file = first.shift() ?? then.shift(); file; file = first.shift() ?? then.shift()) {
      if (interrupted) return;
      const { code, output } = await runFile(file);
      if (code !== 0) failed.push({ file, output });
      for (const [, name = '', count] of output.matchAll(
        /^ℹ (tests|pass|fail|cancelled|skipped|todo) (\d+)$/gm,
      )) {
        totals[name] = (totals[name] ?? 0) + Number(count);
      }
      process.stdout.write(
        `${file}\n${output.replace(/^ℹ (tests|suites|pass|fail|cancelled|skipped|todo) .*\n/gm, '')}\n`,
      );
    }
  };
  const afterCrowds = lane(crowded, []);
  await Promise.all([
    lane(waiting, busy),
    lane(waiting, busy),
    afterCrowds.then(() => lane(busy, waiting)),
    afterCrowds.then(() => lane(busy, waiting)),
  ]);
  for (const [name, count] of Object.entries(totals)) process.stdout.write(`ℹ ${name} ${count}\n`);
  // Once more, and last: whoever reads the end of a long log sees what failed and why.
  for (const { file, output } of failed) {
    const failures = output.indexOf('✖ failing tests:');
    process.stdout.write(`✖ ${file}\n${failures < 0 ? '' : `${output.slice(failures)}\n`}`);
  }
  return failed.length > 0 || interrupted ? 1 : 0;
}

async function runFile(file: string): Promise<{ code: number | null; output: string }> {
  const compiled = join('dist-test', file.replace(/\.tsx?$/, '.js'));
  const child = spawn(
    process.execPath,
    ['--enable-source-maps', '--test-reporter=spec', ...flags, compiled],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, TEST_DATABASE_URL: postgres.url },
    },
  );
  running.add(child);
  let output = '';
  let killed: 'stuck' | 'unended' | undefined;
  const killAfter = (ms: number, why: typeof killed) =>
    setTimeout(() => {
      killed = why;
      child.kill('SIGKILL');
      // What it has started may live on with the same output, and we would wait for the end of that.
      for (const stream of [child.stdout, child.stderr]) stream.destroy();
    }, ms);
  const stuck = killAfter(stuckMs, 'stuck');
  let unended: NodeJS.Timeout | undefined;
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk;
      if (/^ℹ duration_ms /m.test(output)) unended ??= killAfter(unendedMs, 'unended');
      // Whoever runs one file watches it.
      if (files.length === 1) process.stderr.write(chunk);
    });
  }
  const [exitCode] = (await once(child, 'close')) as [number | null];
  running.delete(child);
  clearTimeout(stuck);
  clearTimeout(unended);
  if (killed === 'stuck') output += `✖ killed: it had not ended after ${stuckMs / 60_000} minutes\n`;
  if (killed !== 'unended') return { code: exitCode, output };
  const isWell = /^ℹ fail 0$/m.test(output) && /^ℹ cancelled 0$/m.test(output);
  return { code: isWell ? 0 : 1, output: `${output}ℹ reported, but did not end by itself\n` };
}

function hasRoom(folder: string): boolean {
  if (!existsSync(folder)) return false;
  const { bavail, bsize } = statfsSync(folder);
  return Math.min(bavail * bsize, freemem()) > 8 * 1024 ** 3;
}

function allTestFiles(): string[] {
  return filesIn('test').filter((file) => file.endsWith('.test.ts'));
}

/** What some tests start in a process of its own. */
function fixtures(): string[] {
  return filesIn('test').filter((file) => file.includes('/fixtures/'));
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((file) => join(folder, file))
    .filter((file) => file.endsWith('.ts'))
    .sort();
}

function sendsCrowds(file: string): boolean {
  return /races|refunds|idempotency|ledger|payments|one-time-codes|token-endpoint|users|page-safety|unsettled|two-nodes|canary|torture/.test(
    file,
  );
}

function startsServers(file: string): boolean {
  return /server\/|kill|embedded|several|cli\//.test(file);
}
