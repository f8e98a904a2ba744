/** Ourselves, our peers and the limits at the same work, in turn and in several rounds. */
import { type BenchDatabase, poolSize } from './database.ts';
import { bareSigning, openBareStatements, startBareHttp } from './limits.ts';
import { loadPayments, loadPeople, settle } from './load-rows.ts';
import { peerTable } from './peer-adapter.ts';
import { startPeer } from './peers.ts';
import { createSupplies } from './supply.ts';
import { startTollgate, tollgateContestant } from './tollgate.ts';
import { Cell, type Figures, type Run, say } from './works.ts';

export const ours = 'tollgate';
export const inMemory = 'oidc-provider, memory';
export const onPostgres = 'oidc-provider, PostgreSQL';

export const works = [
  'client_credentials',
  'code exchange',
  'refresh',
  'userinfo',
  'introspection',
  'full login',
  'create payment',
  'read payment',
  'refund',
];

export type Pace = { rounds: number; first: Run; later: Run; supply: number };
export type Row = Figures & { work: string; contestant: string };

/** These few rows and what the works themselves add; `grow` shows what more rows cost. */
const people = 1_000;
const bearers = Array.from({ length: 256 }, (_, at) => 100 + at);

export async function compare(
  database: BenchDatabase,
  pace: Pace,
  undo: (() => Promise<void>)[],
  wanted = works,
): Promise<Row[]> {
  const { url, client } = database;
  say('loading people and payments');
  await client.query(peerTable);
  await loadPeople(client, { from: 0, to: people, seenSecondsAgo: 0 });
  await loadPayments(client, 0, people);
  const supplyOf = createSupplies(client, people, pace.supply);
  const [codes, refreshable, bareRefreshable] = [
    supplyOf('codes'),
    supplyOf('refresh tokens'),
    supplyOf('refresh tokens'),
  ];
  await settle(client);

  say('starting the contestants');
  const server = await startTollgate(url);
  undo.push(server.stop);
  const memoryPeer = await startPeer(inMemory);
  undo.push(memoryPeer.stop);
  const postgresPeer = await startPeer(onPostgres, { url, poolSize });
  undo.push(postgresPeer.stop);
  const http = await startBareHttp(server.port);
  undo.push(http.stop);
  const statements = await openBareStatements(url, poolSize, {
    refreshable: bareRefreshable,
    people,
    payments: people,
  });
  undo.push(statements.stop);
  const contestants = [
    await tollgateContestant(ours, server, { codes, refreshable, bearers, payments: people }),
    memoryPeer.contestant,
    postgresPeer.contestant,
    http.contestant,
    bareSigning(),
    statements.contestant,
  ];

  const cells = wanted.flatMap((work) =>
    contestants.filter((one) => work in one.works).map((one) => new Cell(one, work)),
  );
  for (let round = 0; round < pace.rounds; round++) {
    for (const cell of cells) {
      await cell.run(round === 0 ? pace.first : pace.later);
      const { perSecond, totalUs } = cell.figures();
      say(
        `round ${round + 1}/${pace.rounds}  ${cell.name.padEnd(20)}${cell.contestant.name.padEnd(28)}` +
          `${Math.round(perSecond)}/s  ${Math.round(totalUs)} µs`,
      );
    }
  }
  return cells.map((cell) => ({ work: cell.name, contestant: cell.contestant.name, ...cell.figures() }));
}
