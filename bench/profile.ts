/** Where the processor time of our server goes at one work: `npm run bench -- --profile <work>`. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchDatabase } from './database.ts';
import { loadPayments, loadPeople, settle } from './load-rows.ts';
import { createSupplies } from './supply.ts';
import { startTollgate, tollgateContestant } from './tollgate.ts';
import { Cell, say } from './works.ts';

const people = 1_000;
const warmMs = 8_000;
const durationMs = 6_000;
const linesShown = 40;

type CallFrame = { functionName: string; url: string; lineNumber: number };
type Node = { id: number; callFrame: CallFrame; children?: number[] };
/** Times are those of the machine's steady clock, in microseconds. */
type CpuProfile = { nodes: Node[]; samples: number[]; timeDeltas: number[]; startTime: number };

export async function profile(
  database: BenchDatabase,
  work: string,
  undo: (() => Promise<void>)[],
): Promise<string> {
  const { url, client } = database;
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-profile-'));
  undo.push(async () => rmSync(folder, { recursive: true, force: true }));
  await loadPeople(client, { from: 0, to: people, seenSecondsAgo: 0 });
  await loadPayments(client, 0, people);
  const supplyOf = createSupplies(client, people, 30_000);
  const server = await startTollgate(url, { nodeOptions: ['--cpu-prof', `--cpu-prof-dir=${folder}`] });
  undo.push(server.stop);
  const contestant = await tollgateContestant('tollgate', server, {
    codes: supplyOf('codes'),
    refreshable: supplyOf('refresh tokens'),
    bearers: Array.from({ length: 256 }, (_, at) => 100 + at),
    payments: people,
  });
  await settle(client);
  say(`running ${work}`);
  const cell = new Cell(contestant, work);
  await cell.run({ warmMs, warmRequests: 10_000, measureMs: 1 });
  const from = steadyUs();
  await cell.run({ warmMs: 0, warmRequests: 0, measureMs: durationMs });
  const to = steadyUs();
  await server.stop();
  const [file] = readdirSync(folder);
  if (!file) throw new Error('the server has written no profile');
  const { requests, serverUs, databaseUs } = cell.figures();
  const cost = `${requests} requests, ${Math.round(serverUs)} µs of the server and ${Math.round(databaseUs)} µs of the database each`;
  const found = JSON.parse(readFileSync(join(folder, file), 'utf8')) as CpuProfile;
  return `${cost}\n${summarize(found, from, to)}`;
}

/** Only what happened under load: how a server starts is another matter. */
function summarize({ nodes, samples, timeDeltas, startTime }: CpuProfile, from: number, to: number): string {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const self = new Map<number, number>();
  let time = startTime;
  for (const [at, id] of samples.entries()) {
    const delta = timeDeltas[at] ?? 0;
    time += delta;
    if (time > from && time <= to) self.set(id, (self.get(id) ?? 0) + delta);
  }
  const selfTimes = new Map<string, number>();
  const inclusiveTimes = new Map<string, number>();
  const moduleTimes = new Map<string, number>();
  const visit = (node: Node, above: Set<string>): number => {
    const name = nameOf(node.callFrame);
    const inside = new Set(above).add(name);
    const own = self.get(node.id) ?? 0;
    let total = own;
    for (const child of node.children ?? []) {
      const found = byId.get(child);
      if (found) total += visit(found, inside);
    }
    selfTimes.set(name, (selfTimes.get(name) ?? 0) + own);
    const module = moduleOf(node.callFrame) || name;
    moduleTimes.set(module, (moduleTimes.get(module) ?? 0) + own);
    // A function that calls itself is counted once.
    if (!above.has(name)) inclusiveTimes.set(name, (inclusiveTimes.get(name) ?? 0) + total);
    return total;
  };
  const [root] = nodes;
  const total = root ? visit(root, new Set()) - (selfTimes.get('(idle)') ?? 0) : 0;
  return `\nby module\n${list(moduleTimes, total)}\n\nself\n${list(selfTimes, total)}\n\ninclusive\n${list(inclusiveTimes, total)}`;
}

function steadyUs(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

function nameOf(frame: CallFrame): string {
  return `${frame.functionName || '(anonymous)'}  ${moduleOf(frame)}`.trimEnd();
}

const modulesByFile = new Map<string, { line: number; module: string }[]>();

/** What was bundled together names the module that each part came from in a comment of its own. */
function moduleOf({ url, lineNumber }: CallFrame): string {
  if (!url.startsWith('file:')) return url;
  let modules = modulesByFile.get(url);
  if (!modules) {
    const lines = readFileSync(new URL(url), 'utf8').split('\n');
    modules = lines.flatMap((text, line) => {
      const [, module] = /^\s*\/\/ ((?:src|node_modules)\/\S+)$/.exec(text) ?? [];
      return module ? [{ line, module }] : [];
    });
    modulesByFile.set(url, modules);
  }
  return (
    modules.findLast(({ line }) => line <= lineNumber)?.module ??
    url.replace(/^.*\/node_modules\//, 'node_modules/')
  );
}

function list(times: Map<string, number>, total: number): string {
  return [...times]
    .filter(([name]) => name !== '(idle)' && name !== '(root)')
    .sort(([, left], [, right]) => right - left)
    .slice(0, linesShown)
    .map(([name, time]) => `${((100 * time) / total).toFixed(1).padStart(6)} %  ${name}`)
    .join('\n');
}
