/**
 * What a request costs, beside others who do the same and beside what nobody can beat. docs/performance.md says how.
 *
 *   npm run bench                      everything, a quarter of an hour
 *   npm run bench -- --quick           the comparison alone, within a minute
 *   npm run bench -- --compare         the comparison alone, at length
 *   npm run bench -- --grow            only how the cost grows with the tables
 *   npm run bench -- --only <work>     the comparison at one work
 *   npm run bench -- --profile <work>  where the time of our server goes
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { bundle } from '../scripts/bundle.js';
import { packageRoot } from '../src/package.ts';
import { compare, type Pace, type Row } from './compare.ts';
import { startDatabase } from './database.ts';
import { type GrowthRow, grow } from './grow.ts';
import { picture } from './picture.ts';
import { profile } from './profile.ts';
import { comparisonTable, growthTable, targetsOf, targetTable } from './report.ts';
import { say } from './works.ts';

/** An engine that compiles while it runs needs many thousands of requests to find its stride. */
const full: Pace = {
  rounds: 6,
  first: { warmMs: 12_000, warmRequests: 20_000, measureMs: 500 },
  later: { warmMs: 300, warmRequests: 300, measureMs: 500 },
  supply: 10_000,
};
const quick: Pace = {
  rounds: 2,
  first: { warmMs: 400, warmRequests: 1_000, measureMs: 250 },
  later: { warmMs: 100, warmRequests: 100, measureMs: 250 },
  supply: 2_000,
};

const { values: wish } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    compare: { type: 'boolean', default: false },
    grow: { type: 'boolean', default: false },
    only: { type: 'string' },
    profile: { type: 'string' },
  },
});
if (process.platform !== 'linux') throw new Error('Processor time is read from /proc, which only Linux has.');

/** Newest last: servers end before their database. */
const undo: (() => Promise<void>)[] = [];
let undoing = Promise.resolve();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void undoAll().finally(() => process.exit(130)));
}
const begun = performance.now();
try {
  say('building the server');
  await bundle(['src/main.ts', 'src/cli.ts'], 'dist');
  if (wish.profile !== undefined) print(await profile(await database(), wish.profile, undo));
  else {
    const only = wish.only === undefined ? undefined : [wish.only];
    const rows = wish.grow ? [] : await compare(await database(), wish.quick ? quick : full, undo, only);
    await undoAll();
    const growth = wish.quick || wish.compare || only ? [] : await grow(database, undo);
    report(rows, growth);
  }
} finally {
  await undoAll();
}

async function database() {
  say('starting a PostgreSQL with durable settings');
  const started = await startDatabase();
  undo.push(started.stop);
  return started;
}

function report(rows: Row[], growth: GrowthRow[]): void {
  const targets = targetsOf(rows, growth);
  const at = new Date().toISOString();
  const folder = new URL('bench/results/', packageRoot);
  mkdirSync(folder, { recursive: true });
  const file = new URL(`bench-${at.replaceAll(':', '-')}.json`, folder);
  const machine = { cores: cpus().length, model: cpus()[0]?.model, node: process.version };
  writeFileSync(file, `${JSON.stringify({ at, machine, targets, rows, growth }, null, 2)}\n`);
  if (rows.length > 0) print(comparisonTable(rows));
  if (growth.length > 0) print(growthTable(growth));
  print(targetTable(targets));
  if (rows.length > 0 && !wish.quick && wish.only === undefined) {
    // Only a whole comparison is worth showing.
    writeFileSync(new URL('docs/images/bench.svg', packageRoot), picture(rows));
  }
  print(`${Math.round((performance.now() - begun) / 1000)} s; written to ${file.pathname}`);
}

/** Whoever comes second waits for the first: after Ctrl-C the work that was cut off ends here as well. */
function undoAll(): Promise<void> {
  undoing = undoing.then(async () => {
    for (let next = undo.pop(); next; next = undo.pop()) {
      await next().catch((error: unknown) => say(String(error)));
    }
  });
  return undoing;
}

function print(text: string): void {
  process.stdout.write(`${text}\n\n`);
}
