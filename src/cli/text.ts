export type Cell = string | number | boolean | Date | null | readonly string[];

/** Columns below their headings, each as wide as what stands in it. */
export function table(headings: string[], rows: Cell[][]): string {
  if (rows.length === 0) return 'none';
  const lines = [headings, ...rows.map((row) => row.map(cellText))];
  const widths = headings.map((_, at) => Math.max(...lines.map((line) => widthOf(line[at] ?? ''))));
  return lines
    .map((line) =>
      line
        .map((cell, at) => padded(cell, widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** One thing, a line for each of its parts. */
export function record(parts: Record<string, Cell>): string {
  const widest = Math.max(...Object.keys(parts).map(widthOf));
  return Object.entries(parts)
    .map(([name, value]) => `${padded(name, widest)}  ${cellText(value)}`)
    .join('\n');
}

export function cellText(value: Cell): string {
  if (value === null || value === '') return '-';
  if (value instanceof Date) return value.toISOString().replace(/\.\d+Z$/, 'Z');
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'object') return value.length === 0 ? '-' : value.map(plain).join(' ');
  return plain(String(value));
}

/** What others have written may not move the cursor, colour the screen or turn the direction of writing. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, '\ufffd');
}

function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

function widthOf(text: string): number {
  return [...text].length;
}

/** JSON for people to read: what fits into a line stands in one. */
export function shortJson(value: unknown, indent = '', room = 100): string {
  const whole = jsonLine(value);
  if (whole.length <= room - indent.length || typeof value !== 'object' || value === null) return whole;
  const inner = `${indent}  `;
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const lines = Array.isArray(value)
    ? value.map((one) => shortJson(one, inner, room))
    : Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${shortJson(one, inner, room)}`);
  return `${open}\n${inner}${lines.join(`,\n${inner}`)}\n${indent}${close}`;
}

function jsonLine(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(jsonLine).join(', ')}]`;
  const parts = Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${jsonLine(one)}`);
  return parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`;
}
