import type { Count, Finding } from './campaign.ts';

/** How much was sent where, and what came back. */
export function tableOf(counts: Map<string, Count>): string {
  const classes = ['2xx', '3xx', '4xx', '5xx'];
  const rows = [...counts].map(([name, { valid, broken, hostile, answers }]) => [
    name,
    ...[valid, broken, hostile, ...classes.map((one) => answers[one] ?? 0)].map(String),
  ]);
  const total = rows.reduce<number[]>(
    (sums, row) => row.slice(1).map((cell, at) => (sums[at] ?? 0) + Number(cell)),
    [],
  );
  return lines([
    ['endpoint', 'valid', 'broken', 'hostile', ...classes],
    ...rows,
    ['all', ...total.map(String)],
  ]);
}

function lines(rows: string[][]): string {
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0))) ?? [];
  return rows
    .map((row) =>
      row
        .map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
        .join('  '),
    )
    .join('\n');
}

export function findingsText(findings: Finding[]): string {
  if (findings.length === 0) return 'no finding';
  return findings
    .map(
      ({ about, fault, times, repeat, answer }, at) =>
        `${at + 1}. ${about}: ${fault}, ${times} times\n    ${repeat}\n    ${answer}`,
    )
    .join('\n');
}
