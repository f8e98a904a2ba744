/** How the cost of a request grows with the tables, with one merchant who has half of everything, and with processes. */
import pg from 'pg';
import type { BenchDatabase } from './database.ts';
import { ask } from './driver.ts';
import { loadPayments, loadPeople, settle } from './load-rows.ts';
import { refreshTokenOf } from './setup.ts';
import { createSupplies } from './supply.ts';
import { refreshRequest, type Server, startTollgate, tollgateContestant } from './tollgate.ts';
import { Cell, type Contestant, connectionCount, type Figures, say, type Work } from './works.ts';

export const sizes = [1_000, 100_000, 2_000_000];

export const growingWorks = [
  'client_credentials',
  'refresh',
  'userinfo',
  'create payment',
  'create payment, one merchant',
  'read payment',
  'read payment, one merchant',
  'list payments, none new',
  'list payments, a deep page',
];

export type GrowthRow = Figures & { work: string; size: number; workers: number };

const rounds = 4;
const first = { warmMs: 4_000, warmRequests: 4_000, measureMs: 500 };
const later = { warmMs: 300, warmRequests: 300, measureMs: 500 };

/** Each size has a database of its own, so that all can take turns at a work and noise falls on all alike. */
export async function grow(
  startDatabase: () => Promise<BenchDatabase>,
  undo: (() => Promise<void>)[],
): Promise<GrowthRow[]> {
  const contestants: { size: number; workers: number; contestant: Contestant }[] = [];
  for (const size of sizes) {
    const database = await startDatabase();
    say(`loading ${size} people, sessions and payments`);
    await load(database, size);
    for (const workers of [1, 2]) {
      const server = await startTollgate(database.url, { workers });
      undo.push(server.stop);
      contestants.push({ size, workers, contestant: await contestantAt(database, size, workers, server) });
    }
  }
  const cells = growingWorks.flatMap((work) =>
    contestants.map(({ contestant, ...of }) => ({ work, ...of, cell: new Cell(contestant, work) })),
  );
  for (let round = 0; round < rounds; round++) {
    for (const { work, size, workers, cell } of cells) {
      await cell.run(round === 0 ? first : later);
      const { perSecond, totalUs } = cell.figures();
      say(
        `round ${round + 1}/${rounds}  ${work.padEnd(30)}${size} rows, ${workers} process${workers > 1 ? 'es' : ''}  ` +
          `${Math.round(perSecond)}/s  ${Math.round(totalUs)} µs`,
      );
    }
  }
  return cells.map(({ cell, ...of }) => ({ ...of, ...cell.figures() }));
}

async function load({ url, client }: BenchDatabase, size: number): Promise<void> {
  const second = new pg.Client({ connectionString: url });
  await second.connect();
  // Seen in an hour: whether a refresh also writes down that the person was seen would depend on the size.
  await Promise.all([
    loadPeople(client, { from: 0, to: size, seenSecondsAgo: -3600 }),
    loadPayments(second, 0, size),
  ]);
  await second.end();
  await settle(client);
}

/** The servers of one database share its people: those with even numbers belong to one, the others to the other. */
async function contestantAt(
  { client }: BenchDatabase,
  size: number,
  workers: number,
  server: Server,
): Promise<Contestant> {
  const unused = createSupplies(client, size, 1)('codes');
  const tokens = new Map<number, string>();
  const contestant = await tollgateContestant(`${size} rows, ${workers} processes`, server, {
    codes: unused,
    refreshable: unused,
    bearers: Array.from({ length: 200 }, (_, at) => 2 * Math.floor((at * size) / 400) + workers - 1),
    payments: size,
    tokens,
  });
  contestant.works.refresh = refreshAnybody(size, workers - 1, tokens);
  return contestant;
}

/** Anybody of all its people, but each on one connection only: two at once with one token would be a retry. */
function refreshAnybody(size: number, remainder: number, tokens: Map<number, string>): Work {
  const apart = 2 * connectionCount;
  return {
    async step(connection, at) {
      const person = remainder + 2 * at + apart * Math.floor(Math.random() * Math.floor(size / apart));
      const { body } = await ask(connection, refreshRequest(tokens.get(person) ?? refreshTokenOf(person)));
      tokens.set(person, (JSON.parse(body.toString()) as { refresh_token: string }).refresh_token);
      return true;
    },
  };
}
