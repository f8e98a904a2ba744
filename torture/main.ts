/**
 * The fault campaign: `npm run torture -- --minutes 10 --nodes 2 --seed 7 --only kill-server,failover`. Load, one fault
 * after another, and after each of them one check of everything that must hold. It ends with 1 if anything did not.
 */
import { parseArgs } from 'node:util';
import { undoLater } from '../test/support/server.ts';
import { type Plan, type Report, shuffledFaults, tortureEmbedded, tortureReplicated } from './campaign.ts';
import { faults } from './faults.ts';

const { values: given } = parseArgs({
  options: {
    minutes: { type: 'string', default: '2' },
    nodes: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    only: { type: 'string', default: Object.keys(faults).join(',') },
  },
});
const [minutes, nodes, seed] = [Number(given.minutes), Number(given.nodes), Number(given.seed)];
const names = given.only.split(',');
const unknown = names.filter((name) => !(name in faults));
if (!(minutes > 0) || !(nodes >= 1) || !Number.isInteger(seed) || unknown.length > 0) {
  process.stderr.write(`--minutes N --nodes N --seed N --only ${Object.keys(faults).join(',')}\n`);
  process.exit(2);
}

/** What is undone at the end of a part, newest first, and at a Ctrl-C as well. */
const undos: (() => Promise<void>)[] = [];
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => void undoAll().finally(() => process.exit(130)));
}

const reports: Report[] = [];
say(`seed ${seed}, ${minutes} minutes, ${nodes} ${nodes === 1 ? 'node' : 'nodes'} and one for the jobs`);
// A database with a standby is built and lost in each of its rounds, so it has a part of its own.
const embedded = names.filter((name) => name !== 'failover');
const failsOver = names.includes('failover');
const failOverShare = embedded.length === 0 ? 1 : 0.2;
try {
  if (embedded.length > 0)
    reports.push(await tortureEmbedded(newScope(), planOf(embedded, failsOver ? 1 - failOverShare : 1)));
  await undoAll();
  if (failsOver) {
    const there = names.filter((name) => name === 'failover' || name === 'kill-server');
    const report = await tortureReplicated(newScope(), planOf(there, failOverShare));
    if (report) reports.push(report);
    else say('SKIPPED failover: PostgreSQL 15 or later of the system’s packages is not installed');
  }
} finally {
  await undoAll();
}
process.exit(summarize());

function planOf(names: string[], share: number): Plan {
  const ms = minutes * 60_000 * share;
  return {
    ...{ seed, nodes, faults: shuffledFaults(seed, names), ms },
    ...{ shops: 6, people: 3, ownDisk: names.includes('full-disk'), say },
  };
}

function newScope() {
  const scope = { after: (undo: () => Promise<void>) => void undos.push(undo) };
  undoLater(scope, async () => {});
  return scope;
}

async function undoAll(): Promise<void> {
  for (let undo = undos.pop(); undo; undo = undos.pop()) await undo();
}

/** Prints the figures, and gives back the exit code. */
function summarize(): number {
  const sum = (of: (report: Report) => number) => reports.reduce((total, report) => total + of(report), 0);
  const breaches = reports.flatMap((report) => report.breaches);
  const count = (...kinds: string[]) => breaches.filter(({ kind }) => kinds.includes(kind)).length;
  const slowestMs = Math.max(...reports.map((report) => report.slowestMs));
  say(`
seed ${seed}: ${sum(({ rounds }) => rounds)} rounds, ${sum((report) => report.faults)} faults, ${sum(({ operations }) => operations)} operations
${sum(({ acknowledged }) => acknowledged)} calls of merchants acknowledged, ${sum(({ repeated }) => repeated)} of them asked for again
${sum(({ unavailable }) => unavailable)} times 503, ${sum(({ dropped }) => dropped)} connections lost with a killed server, slowest answer ${Math.round(slowestMs)} ms
lost: ${count('lost')}, doubled: ${count('doubled')}, invariants broken: ${count('invariant')}, wrong answers: ${count('answer')}, later than 5 s: ${count('slow')}`);
  for (const { breaches, journalPath } of reports) if (breaches.length > 0) say(`see ${journalPath}`);
  // A campaign that has done nothing has proven nothing.
  return breaches.length > 0 || sum(({ rounds }) => rounds) === 0 ? 1 : 0;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
