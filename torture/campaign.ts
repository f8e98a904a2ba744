import { setTimeout as delay } from 'node:timers/promises';
import type { Scope } from '../test/support/server.ts';
import { type Checked, checkAll, checkEnd } from './checker.ts';
import { startEmbeddedDatabase, type TortureDatabase } from './database.ts';
import { type Breach, noCounts } from './driver.ts';
import { type Fault, faults } from './faults.ts';
import { runShop, type Worker } from './merchant-load.ts';
import { runPeople } from './person-load.ts';
import { Random } from './random.ts';
import { findSystemPostgres, startReplicatedDatabase } from './replicated-database.ts';
import { openWorld, type World } from './world.ts';

/** So long after everything is ready again may a request still be sent away; whatever is sent later has to succeed. */
const graceMs = 1_000;

export type Plan = {
  seed: number;
  nodes: number;
  /** The faults in their order; an endless one is cut off by the time. */
  faults: Iterable<string>;
  /** How long, once everything has started. */
  ms: number;
  /** How many shops and people come at once. */
  shops: number;
  people: number;
  /** Whether the database shall have a small disk of its own, which can be filled. */
  ownDisk: boolean;
  say: (line: string) => void;
};

export type Report = {
  rounds: number;
  faults: number;
  operations: number;
  acknowledged: number;
  unavailable: number;
  dropped: number;
  slowestMs: number;
  /** Calls that were sent once more under their key, to compare the answers. */
  repeated: number;
  breaches: Breach[];
  /** Where the driver's own log lies, if there are breaches. */
  journalPath: string;
};

/** On PostgreSQL as the product runs it. */
export async function tortureEmbedded(scope: Scope, plan: Plan): Promise<Report> {
  return torture(scope, await startEmbeddedDatabase(scope, plan.ownDisk), plan);
}

/** On a primary and its synchronous standby; undefined where PostgreSQL's own programs are missing. */
export async function tortureReplicated(scope: Scope, plan: Plan): Promise<Report | undefined> {
  const binaries = findSystemPostgres();
  return binaries ? torture(scope, await startReplicatedDatabase(scope, binaries), plan) : undefined;
}

/** All faults again and again, each time in another order that follows from the seed. */
export function* shuffledFaults(seed: number, names: string[]): Generator<string> {
  for (const random = new Random(seed); ; ) yield* random.shuffled(names);
}

async function torture(scope: Scope, database: TortureDatabase, plan: Plan): Promise<Report> {
  const world = await openWorld(scope, database, plan.nodes);
  const { driver, journalPath } = world;
  const endsAt = performance.now() + plan.ms;
  const random = new Random(plan.seed);
  const checked: Checked = { acknowledged: 0, ended: 0, repeated: 0 };
  const skipped = new Set<string>();
  let skippedInARow = 0;
  const total = { ...noCounts(), rounds: 0, faults: 0 };

  for (const name of plan.faults) {
    if (performance.now() >= endsAt) break;
    const fault = faults[name];
    if (!fault) throw new Error(`there is no fault named ${name}: ${Object.keys(faults).join(', ')}`);
    const missing = fault.missing?.(world);
    if (missing) {
      if (!skipped.has(name)) plan.say(`SKIPPED ${name}: ${missing}`);
      skipped.add(name);
      if (++skippedInARow > Object.keys(faults).length) break;
      continue;
    }
    skippedInARow = 0;
    driver.counts = noCounts();
    const before = driver.breaches.length;
    const figures = await runRound(world, plan, name, fault, random.fork(), checked);
    const { operations, acknowledged, unavailable, dropped, slowestMs } = driver.counts;
    total.rounds++;
    if (name !== 'calm') total.faults++;
    total.operations += operations;
    total.acknowledged += acknowledged;
    total.unavailable += unavailable;
    total.dropped += dropped;
    total.slowestMs = Math.max(total.slowestMs, slowestMs);
    const found = driver.breaches.slice(before);
    plan.say(
      `round ${total.rounds}: ${name} (${figures}): ${operations} operations, ${unavailable} times 503, ` +
        `${dropped} dropped, slowest ${Math.round(slowestMs)} ms, ${found.length === 0 ? 'all is well' : 'BREACHES'}`,
    );
    for (const { kind, text } of found.slice(0, 10)) plan.say(`  ${kind}: ${text}`);
  }

  driver.counts = noCounts();
  const before = driver.breaches.length;
  await checkEnd(world, random, checked);
  for (const { kind, text } of driver.breaches.slice(before).slice(0, 10)) plan.say(`  ${kind}: ${text}`);
  total.operations += driver.counts.operations;
  return { ...total, repeated: checked.repeated, breaches: driver.breaches, journalPath };
}

/** Load, a fault in the middle of it, recovery, and then the check of everything. Gives back the fault's figures. */
async function runRound(
  world: World,
  { shops, people }: Plan,
  name: string,
  fault: Fault,
  random: Random,
  checked: Checked,
): Promise<string> {
  const { driver, nodes, baseUrl } = world;
  driver.journal.note(`round: ${name}`);
  driver.allowance = fault.allows;
  let over = false;
  const worker = (): Worker => ({ driver, random: random.fork(), isOver: () => over });
  const load = Promise.all([
    ...Array.from({ length: shops }, () => runShop(worker(), baseUrl)),
    ...Array.from({ length: people }, () => runPeople(worker(), baseUrl)),
  ]);
  let figures = '';
  try {
    await delay(random.between(200, 800));
    figures = await fault.inflict(world, random);
    await nodes.untilReady();
    await delay(graceMs);
    const { endedSessions = false } = fault.allows;
    driver.allowance = { endedSessions };
    await delay(random.between(300, 1_000));
  } catch (error) {
    driver.breach('invariant', `after ${name}: ${error}`);
  } finally {
    over = true;
    await load;
  }
  await fault.afterLoad?.(world);
  driver.allowance = {};
  await checkAll(world, random, checked);
  return figures;
}
