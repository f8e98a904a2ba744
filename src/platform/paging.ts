import { type TSchema, Type } from 'typebox';
import { commonRefusals, refuserOf } from './problem.ts';
import { uuid7Form } from './uuid7.ts';

const refuse = refuserOf(commonRefusals);

/** Parameters arrive as text, and are taken as they are. */
export const PageQuery = {
  limit: Type.Optional(
    Type.String({ pattern: '^([1-9]|[1-9][0-9]|100)$', description: '1 to 100; 20 by default' }),
  ),
  cursor: Type.Optional(Type.String({ maxLength: 64, description: '`nextCursor` of the page before' })),
  createdFrom: Type.Optional(
    Type.String({ format: 'date-time', description: 'A time of RFC 3339, such as 2026-11-16T09:00:00Z' }),
  ),
  createdTo: Type.Optional(
    Type.String({ format: 'date-time', description: 'A time of RFC 3339, up to but not including' }),
  ),
};

/** A filter by the id of something. The format `uuid` would let `urn:uuid:` through, which PostgreSQL does not read. */
export const idFilter = (what: string) =>
  Type.Optional(
    Type.String({
      pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
      description: `The id of ${what}, as it was given`,
    }),
  );

export type PageAsked = { limit?: string; cursor?: string; createdFrom?: string; createdTo?: string };

export function pageOf(query: PageAsked) {
  return {
    limit: Number(query.limit ?? 20),
    before: query.cursor === undefined ? null : idOf(query.cursor),
    createdFrom: timeOf('createdFrom', query.createdFrom),
    createdTo: timeOf('createdTo', query.createdTo),
  };
}

/** Between the making of an id and the instant that its row bears lies the work of one transaction, or one delivery. */
const longestIdLagMs = 60_000;

type Span = { before: string | null; createdFrom: Date | null; createdTo: Date | null };

/**
 * Where the ids of a page lie: they begin with their time, so that the key serves times and cursors alike. There always
 * are both ends: what may be missing is no condition for an index once PostgreSQL keeps one plan for all values.
 */
export function idRange({ before, createdFrom, createdTo }: Span): { from: string; below: string } {
  const from = createdFrom === null ? lowestId : firstIdAt(createdFrom.getTime() - longestIdLagMs);
  const below = createdTo === null ? highestId : firstIdAt(createdTo.getTime() + longestIdLagMs);
  return { from, below: before !== null && before < below ? before : below };
}

const lowestId = '00000000-0000-0000-0000-000000000000';
const highestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

function firstIdAt(ms: number): string {
  const time = Math.min(Math.max(0, ms), 2 ** 48 - 1)
    .toString(16)
    .padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`;
}

/** RFC 3339 knows leap seconds, JavaScript does not. */
function timeOf(parameter: string, text: string | undefined): Date | null {
  if (text === undefined) return null;
  const time = new Date(text);
  if (!Number.isNaN(time.getTime())) return time;
  throw refuse('invalid_request', undefined, {
    errors: [{ parameter, detail: 'It is not a time that we can tell.' }],
  });
}

function idOf(cursor: string): string {
  const id = Buffer.from(cursor, 'base64url').toString();
  if (uuid7Form.test(id)) return id;
  throw refuse('invalid_request', undefined, {
    errors: [{ parameter: 'cursor', detail: 'It is not a cursor of ours.' }],
  });
}

export function PageJson<Item extends TSchema>(item: Item) {
  return Type.Object({ items: Type.Array(item), nextCursor: Type.Union([Type.String(), Type.Null()]) });
}

/** One more row than asked for was read: if it is there, so is another page. */
export function pageJson<Item extends { id: string }>(items: Item[], limit: number) {
  const shown = items.slice(0, limit);
  const last = items.length > limit ? shown.at(-1) : undefined;
  return { items: shown, nextCursor: last ? Buffer.from(last.id).toString('base64url') : null };
}
