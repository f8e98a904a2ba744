import { isUtf8 } from 'node:buffer';
import pg from 'pg';

const schemas = ['identity', 'tollgate', 'checkout', 'graphile_worker', 'public'];

/** Every text, JSON and bytea of every table, by column; bytes as hex and, where they are text, as text. */
export async function dumpTexts(databaseUrl: string): Promise<Map<string, string[]>> {
  const connection = new pg.Client({ connectionString: databaseUrl });
  await connection.connect();
  try {
    const { rows: columns } = await connection.query<{
      schema: string;
      table: string;
      column: string;
      type: string;
    }>(
      `select table_schema as schema, table_name as table, column_name as column, data_type as type
      from information_schema.columns
      where table_schema = any ($1)
        and data_type in ('text', 'character varying', 'bytea', 'json', 'jsonb', 'ARRAY', 'USER-DEFINED')`,
      [schemas],
    );
    const dump = new Map<string, string[]>();
    for (const { schema, table, column, type } of columns) {
      const name = `"${schema}"."${table}"`;
      const { rows } = await connection.query<{ value: string | Buffer }>(
        `select "${column}"${type === 'bytea' ? '' : '::text'} as value from ${name} where "${column}" is not null`,
      );
      const values = rows.flatMap(({ value }) =>
        typeof value === 'string'
          ? [value]
          : [value.toString('hex'), ...(isUtf8(value) ? [value.toString()] : [])],
      );
      dump.set(`${name}.${column}`, values);
    }
    return dump;
  } finally {
    await connection.end();
  }
}
