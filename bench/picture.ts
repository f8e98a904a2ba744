/** The picture of the README: what one request costs, in processor time of the server and the database. */
import { inMemory, onPostgres, ours, type Row } from './compare.ts';

const shown = ['client_credentials', 'code exchange', 'refresh', 'userinfo', 'introspection'];
const contestants = [ours, inMemory, onPostgres];
const width = 760;
const left = 190;
const barHeight = 14;
const groupHeight = 3 * (barHeight + 4) + 26;

export function picture(rows: Row[]): string {
  const costs = rows.filter((row) => contestants.includes(row.contestant) && shown.includes(row.work));
  const scale = (width - left - 90) / Math.max(...costs.map((row) => row.totalUs));
  const groups = shown.map((work, at) => group(work, costs, 56 + at * groupHeight, scale));
  const height = 56 + shown.length * groupHeight;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="Processor time of one request">
<style>
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .work { font-weight: 600 }
  .server-0 { fill: #0a7d4f } .server-1 { fill: #6e7781 } .server-2 { fill: #8c959f }
  .database { fill: #d4843c }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .server-0 { fill: #3fb97f } .server-1 { fill: #8b949e } .server-2 { fill: #6e7681 }
    .database { fill: #e0a060 }
  }
</style>
<text x="0" y="18" class="work">Processor time of one request, µs (less is better)</text>
<rect x="0" y="28" width="12" height="12" class="server-0"/><text x="18" y="39">server</text>
<rect x="80" y="28" width="12" height="12" class="database"/><text x="98" y="39">database</text>
${groups.join('\n')}
</svg>
`;
}

function group(work: string, costs: Row[], top: number, scale: number): string {
  const bars = contestants.map((contestant, at) => {
    const row = costs.find((one) => one.work === work && one.contestant === contestant);
    if (!row) return '';
    const y = top + 20 + at * (barHeight + 4);
    const [server, database] = [row.serverUs * scale, row.databaseUs * scale];
    return [
      `<text x="0" y="${y + 11}">${contestant}</text>`,
      `<rect x="${left}" y="${y}" width="${server.toFixed(1)}" height="${barHeight}" class="server-${at}"/>`,
      `<rect x="${(left + server).toFixed(1)}" y="${y}" width="${database.toFixed(1)}" height="${barHeight}" class="database"/>`,
      `<text x="${(left + server + database + 6).toFixed(1)}" y="${y + 11}">${Math.round(row.totalUs)}</text>`,
    ].join('\n');
  });
  return `<text x="0" y="${top + 12}" class="work">${work}</text>\n${bars.join('\n')}`;
}
