import pg from 'pg';
import { type Queryable, sql } from './db.ts';

export type DatabaseCondition = {
  version: string;
  versionNumber: number;
  /** Settings with which PostgreSQL may lose what it said was committed. */
  unsafe: { name: string; value: string; safe: string }[];
  /** How far the database's clock is ahead of ours; negative when it is behind. */
  clockAheadMs: number;
};

/** Which database an address leads to, for people to see: never with its password. */
export function databaseName(url: string): string {
  const { database, host, port } = new pg.Client({ connectionString: url });
  return `${database} at ${host}:${port}`;
}

/** What losing power must not lose depends on these. */
const safeValues: Record<string, { holds: (value: string) => boolean; safe: string }> = {
  fsync: { holds: (value) => value === 'on', safe: 'on' },
  full_page_writes: { holds: (value) => value === 'on', safe: 'on' },
  synchronous_commit: { holds: (value) => value !== 'off', safe: 'on' },
};

export async function inspectDatabase(db: Queryable, now: () => Date): Promise<DatabaseCondition> {
  const row = await db.one<{ version: string; versionNumber: number; settings: Record<string, string> }>(sql`
    select current_setting('server_version') as version, current_setting('server_version_num')::int as version_number,
      (select jsonb_object_agg(name, current_setting(name)) from unnest(${Object.keys(safeValues)}::text[]) as name)
        as settings`);
  const unsafe = Object.entries(safeValues).flatMap(([name, { holds, safe }]) => {
    const value = row.settings[name] ?? '';
    return holds(value) ? [] : [{ name, value, safe }];
  });
  return {
    version: row.version,
    versionNumber: row.versionNumber,
    unsafe,
    clockAheadMs: await clockAhead(db, now),
  };
}

/** The connection is open by now, so that the answer took its time there and back alone. */
async function clockAhead(db: Queryable, now: () => Date): Promise<number> {
  const before = now().getTime();
  const { at } = await db.one<{ at: Date }>(sql`select clock_timestamp() as at`);
  const middle = (before + now().getTime()) / 2;
  return Math.round(at.getTime() - middle);
}
