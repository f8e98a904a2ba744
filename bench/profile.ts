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
const durationMs = 8_000;
const linesShown = 40;

type CallFrame = { functionName: string; url: string; lineNumber: number };
type Node = { id: number; callFrame: CallFrame; children?: number[] };
type CpuProfile = { nodes: Node[]; samples: number[]; timeDeltas: number[] };

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
  await cell.run({ warmMs: 0, measureMs: durationMs });
  await server.stop();
  const [file] = readdirSync(folder);
  if (!file) throw new Error('the server has written no profile');
  const { requests, serverUs, databaseUs } = cell.figures();
  const cost = `${requests} requests, ${Math.round(serverUs)} µs of the server and ${Math.round(databaseUs)} µs of the database each`;
  return `${cost}\n${summarize(JSON.parse(readFileSync(join(folder, file), 'utf8')) as CpuProfile)}`;
}

function summarize({ nodes, samples, timeDeltas }: CpuProfile): string {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const self = new Map<number, number>();
  for (const [at, id] of samples.entries()) self.set(id, (self.get(id) ?? 0) + (timeDeltas[at] ?? 0));
  const selfTimes = new Map<string, number>();
  const inclusiveTimes = new Map<string, number>();
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
    // A function that calls itself is counted once.
    if (!above.has(name)) inclusiveTimes.set(name, (inclusiveTimes.get(name) ?? 0) + total);
    return total;
  };
  const [root] = nodes;
  const total = root ? visit(root, new Set()) - (selfTimes.get('(idle)') ?? 0) : 0;
  return `\nself\n${list(selfTimes, total)}\n\ninclusive\n${list(inclusiveTimes, total)}`;
}

function nameOf({ functionName, url, lineNumber }: CallFrame): string {
  const file = url.split('/').slice(-1)[0] ?? '';
  return `${functionName || '(anonymous)'}${file ? ` ${file}:${lineNumber + 1}` : ''}`;
}

function list(times: Map<string, number>, total: number): string {
  return [...times]
    .filter(([name]) => name !== '(idle)' && name !== '(root)')
    .sort(([, left], [, right]) => right - left)
    .slice(0, linesShown)
    .map(([name, time]) => `${((100 * time) / total).toFixed(1).padStart(6)} %  ${name}`)
    .join('\n');
}
