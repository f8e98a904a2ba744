/** The figures as tables, and what they say of the targets. */
import { inMemory, onPostgres, ours, type Row, works } from './compare.ts';
import { type GrowthRow, growingWorks, sizes } from './grow.ts';

export type Target = { what: string; target: number; figure: number; met: boolean };

/** Ratios within one run only: how fast the machine is does not count. */
export function targetsOf(rows: Row[], growth: GrowthRow[]): Target[] {
  const atLeast = (what: string, target: number, figure: number): Target => ({
    what,
    target,
    figure,
    met: figure >= target,
  });
  const find = (work: string, contestant: string) =>
    rows.find((row) => row.work === work && row.contestant === contestant);
  const cheaper = (work: string, peer: string, target: number): Target[] => {
    const [we, they] = [find(work, ours), find(work, peer)];
    return we && they
      ? [atLeast(`${work}: times cheaper than ${peer}`, target, they.totalUs / we.totalUs)]
      : [];
  };
  const [created, bare] = [find('create payment', ours), find('create payment', 'bare statements')];
  const shared = ['client_credentials', 'code exchange', 'refresh', 'userinfo'];
  return [
    ...shared.flatMap((work) => cheaper(work, inMemory, work === 'client_credentials' ? 3 : 2)),
    ...shared.flatMap((work) => cheaper(work, onPostgres, 4)),
    ...(created && bare
      ? [
          atLeast(
            'create payment: share of the rate of its bare statement',
            0.4,
            created.perSecond / bare.perSecond,
          ),
        ]
      : []),
    ...growthTargets(growth),
  ];
}

function growthTargets(growth: GrowthRow[]): Target[] {
  const [least = 0, most = 0] = [sizes[0], sizes.at(-1)];
  return growingWorks.flatMap((work) => {
    const cost = (size: number) =>
      growth.find((row) => row.work === work && row.size === size && row.workers === 1)?.totalUs;
    const [few, many] = [cost(least), cost(most)];
    if (few === undefined || many === undefined) return [];
    const figure = many / few;
    return [
      {
        what: `${work}: cost at 2 million rows, of that at 1 thousand`,
        target: 1.5,
        figure,
        met: figure <= 1.5,
      },
    ];
  });
}

export function comparisonTable(rows: Row[]): string {
  const lines = works.flatMap((work) => {
    const group = rows.filter((row) => row.work === work);
    const own = group.find((row) => row.contestant === ours);
    return group.map((row) => [
      work,
      row.contestant,
      whole(row.perSecond),
      row.p50Ms.toFixed(2),
      row.p99Ms.toFixed(2),
      whole(row.serverUs),
      whole(row.databaseUs),
      whole(row.totalUs),
      own ? (row.totalUs / own.totalUs).toFixed(2) : '',
      megabytes(row.serverBytes),
      megabytes(row.databaseBytes),
    ]);
  });
  return table(
    [
      'work',
      'contestant',
      'requests/s',
      'p50 ms',
      'p99 ms',
      'server µs',
      'database µs',
      'total µs',
      'of ours',
      'server MB',
      'database MB',
    ],
    lines,
  );
}

export function growthTable(growth: GrowthRow[]): string {
  const lines = growth.map((row) => {
    const base = growth.find((one) => one.work === row.work && one.workers === row.workers);
    return [
      row.work,
      String(row.workers),
      String(row.size),
      whole(row.perSecond),
      row.p50Ms.toFixed(2),
      row.p99Ms.toFixed(2),
      whole(row.serverUs),
      whole(row.databaseUs),
      whole(row.totalUs),
      base ? (row.totalUs / base.totalUs).toFixed(2) : '',
    ];
  });
  lines.sort((left, right) => `${left[0]} ${left[1]}`.localeCompare(`${right[0]} ${right[1]}`));
  return table(
    [
      'work',
      'processes',
      'rows',
      'requests/s',
      'p50 ms',
      'p99 ms',
      'server µs',
      'database µs',
      'total µs',
      'of 1 thousand',
    ],
    lines,
  );
}

export function targetTable(targets: Target[]): string {
  return table(
    ['target', 'wanted', 'measured', 'met'],
    targets.map(({ what, target, figure, met }) => [
      what,
      `${what.includes('at 2 million') ? 'at most' : 'at least'} ${target}`,
      figure.toFixed(2),
      met ? 'yes' : 'no',
    ]),
  );
}

/** In the form of Markdown, so that it can be put into a document as it is. */
function table(head: string[], lines: string[][]): string {
  const widths = head.map((title, at) =>
    Math.max(title.length, ...lines.map((line) => line[at]?.length ?? 0)),
  );
  const row = (cells: string[]) => `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  return [row(head), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...lines.map(row)].join(
    '\n',
  );
}

function whole(value: number): string {
  return String(Math.round(value));
}

function megabytes(bytes: number): string {
  return bytes === 0 ? '' : whole(bytes / 1e6);
}
