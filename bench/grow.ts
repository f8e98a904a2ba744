/** How the cost of a request grows with the tables, with one merchant who has half of everything, and with processes. */
import pg from 'pg';
import type { BenchDatabase } from './database.ts';
import { ask } from './driver.ts';
import { loadPayments, loadPeople, settle } from './load-rows.ts';
import { refreshTokenOf } from './setup.ts';
import { createSupplies } from './supply.ts';
import { refreshRequest, startTollgate, tollgateContestant } from './tollgate.ts';
import { Cell, connectionCount, type Figures, say, type Work } from './works.ts';

export const sizes = [1_000, 100_000, 2_000_000];

export const growingWorks = [
  'client_credentials',
  'refresh',
  'userinfo',
  'create payment',
  'create payment, one merchant',
  'read payment',
  'read payment, one merchant',
];

export type GrowthRow = Figures & { work: string; size: number; workers: number };

const pace = { warmMs: 1_000, warmRequests: 1_000, measureMs: 1_500 };
/** A server that has just started would make the smallest tables look dear. */
const coldPace = { warmMs: 6_000, warmRequests: 4_000, measureMs: 1_500 };

export async function grow(database: BenchDatabase, undo: (() => Promise<void>)[]): Promise<GrowthRow[]> {
  const { url, client } = database;
  const second = new pg.Client({ connectionString: url });
  await second.connect();
  undo.push(() => second.end());
  const rows: GrowthRow[] = [];
  const tokens = new Map<number, string>();
  const servers = [
    { workers: 1, server: await startTollgate(url) },
    { workers: 2, server: await startTollgate(url, { workers: 2 }) },
  ];
  for (const { server } of servers) undo.push(server.stop);
  let loaded = 0;
  for (const size of sizes) {
    say(`loading up to ${size} people, sessions and payments`);
    // Seen in an hour: whether a refresh also writes down that the person was seen would depend on the size.
    await Promise.all([
      loadPeople(client, { from: loaded, to: size, seenSecondsAgo: -3600 }),
      loadPayments(second, loaded, size),
    ]);
    loaded = size;
    await settle(client);
    const unused = createSupplies(client, size, 1)('codes');
    for (const { workers, server } of servers) {
      const bearers = Array.from({ length: 200 }, (_, at) => spread(at, size));
      const contestant = await tollgateContestant(`${workers} process`, server, {
        codes: unused,
        refreshable: unused,
        bearers,
        payments: size,
        tokens,
      });
      contestant.works.refresh = refreshAnybody(size, tokens);
      for (const work of growingWorks) {
        const cell = new Cell(contestant, work);
        await cell.run(size === sizes[0] ? coldPace : pace);
        const figures = cell.figures();
        rows.push({ work, size, workers, ...figures });
        say(
          `${size} rows, ${workers} process${workers > 1 ? 'es' : ''}  ${work.padEnd(30)}` +
            `${Math.round(figures.perSecond)}/s  ${Math.round(figures.totalUs)} µs`,
        );
      }
    }
  }
  return rows;
}

/** Anybody of all people, but each on one connection only: two at once with one token would be a retry. */
function refreshAnybody(size: number, tokens: Map<number, string>): Work {
  return {
    async step(connection, at) {
      const person = at + connectionCount * Math.floor(Math.random() * Math.floor(size / connectionCount));
      const { body } = await ask(connection, refreshRequest(tokens.get(person) ?? refreshTokenOf(person)));
      tokens.set(person, (JSON.parse(body.toString()) as { refresh_token: string }).refresh_token);
      return true;
    },
  };
}

function spread(at: number, size: number): number {
  return Math.floor((at * size) / 200);
}
