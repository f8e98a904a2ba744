import { createHash } from 'node:crypto';
import pg from 'pg';

/** One SQL statement with its values apart. Equal texts share one name, so PostgreSQL plans each only once. */
export type Statement = { name: string; text: string; values: unknown[] };

export type Queryable = {
  many<Row extends object>(statement: Statement): Promise<Row[]>;
  maybeOne<Row extends object>(statement: Statement): Promise<Row | undefined>;
  one<Row extends object>(statement: Statement): Promise<Row>;
  /** Runs a statement for its effect and tells how many rows it touched. */
  run(statement: Statement): Promise<number>;
};

declare const insideTransaction: unique symbol;
/** A function that takes locks asks for this instead of a `Queryable`. */
export type Transaction = Queryable & { readonly [insideTransaction]: true };

export type Database = Queryable & {
  transaction<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result>;
  connections(): { used: number; idle: number; waiting: number };
  close(): Promise<void>;
};

type Prepared = { name: string; text: string };
const preparedByTemplate = new WeakMap<TemplateStringsArray, Prepared>();

/** `sql\`select … where id = ${id}\``: what stands in braces travels as a parameter, never as text. */
export function sql(template: TemplateStringsArray, ...values: unknown[]): Statement {
  let prepared = preparedByTemplate.get(template);
  if (!prepared) {
    const text = template.reduce((left, right, at) => `${left}$${at}${right}`);
    prepared = { name: createHash('sha256').update(text).digest('base64url').slice(0, 32), text };
    preparedByTemplate.set(template, prepared);
  }
  return { name: prepared.name, text: prepared.text, values };
}

const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (format === 'binary') return pg.types.getTypeParser(oid, 'binary');
    if (oid === pg.types.builtins.INT8) return BigInt;
    // A date has no time zone: turning it into an instant would move birthdays.
    if (oid === pg.types.builtins.DATE) return (text: string) => text;
    return pg.types.getTypeParser(oid, 'text');
  },
};

/** A caller is answered within 5 s whatever the database does: at worst one wait for a connection and one query. */
const limits = {
  connectionTimeoutMillis: 1_500,
  query_timeout: 3_000,
  statement_timeout: 2_800,
  lock_timeout: 2_000,
  idle_in_transaction_session_timeout: 10_000,
};

export type DatabaseLimits = Partial<typeof limits>;

/** Who types a command was promised no answer within 5 s, and rather waits for a busy database. */
export const commandLimits: DatabaseLimits = { connectionTimeoutMillis: 10_000 };

export function openDatabase(options: {
  url: string;
  poolSize: number;
  onConnectionError: (error: Error) => void;
  /** Other limits than those that every server keeps. */
  limits?: DatabaseLimits;
}): Database {
  const pool = new pg.Pool({
    connectionString: options.url,
    application_name: 'tollgate',
    max: options.poolSize,
    // A server that has nothing to do is connected all the same: who must not work beside one looks for that.
    min: 1,
    keepAlive: true,
    types,
    ...limits,
    ...options.limits,
  });
  // Without a listener on the pool and on each client, a restarted database would end this process.
  pool.on('error', options.onConnectionError);
  pool.on('connect', (client) => client.on('error', options.onConnectionError));

  return {
    ...queryable((statement) => queryAlone(pool, statement)),
    transaction: (work) => inTransaction(pool, work),
    connections: () => ({
      used: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    }),
    close: () => pool.end(),
  };
}

/** `pool.query` would close the connection after any error at all: each refused duplicate would cost a new one. */
async function queryAlone(pool: pg.Pool, statement: ArrayStatement): Promise<pg.QueryArrayResult<unknown[]>> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    return await client.query(statement);
  } catch (error) {
    if (isDatabaseAway(error)) broken = error as Error;
    throw error;
  } finally {
    client.release(broken);
  }
}

async function inTransaction<Result>(
  pool: pg.Pool,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('begin');
    const result = await work(queryable((statement) => client.query(statement)) as Transaction);
    // After a failed statement, PostgreSQL answers a commit with a rollback and no error.
    const { command } = await client.query('commit');
    if (command !== 'COMMIT')
      throw new Error('a statement failed unnoticed; the transaction was rolled back');
    return result;
  } catch (error) {
    // A connection that no longer answers would make the rollback hang as well; the server rolls back by itself.
    if (isDatabaseAway(error)) broken = error as Error;
    else await client.query('rollback').catch((failure: Error) => (broken = failure));
    throw error;
  } finally {
    client.release(broken);
  }
}

type ArrayStatement = Statement & { rowMode: 'array' };
type Query = (statement: ArrayStatement) => Promise<pg.QueryArrayResult<unknown[]>>;

function queryable(query: Query): Queryable {
  const rows = async <Row extends object>(statement: Statement): Promise<Row[]> => {
    const result = await query({ ...statement, rowMode: 'array' });
    const names = result.fields.map((field) => camelCase(field.name));
    return result.rows.map((values) => rowOf(names, values) as Row);
  };
  return {
    many: rows,
    async maybeOne<Row extends object>(statement: Statement) {
      const found = await rows<Row>(statement);
      if (found.length > 1) throw new Error(`one row expected, ${found.length} found: ${statement.text}`);
      return found[0];
    },
    async one<Row extends object>(statement: Statement) {
      const [row, ...more] = await rows<Row>(statement);
      if (!row || more.length > 0) {
        throw new Error(`one row expected, ${row ? more.length + 1 : 'none'} found: ${statement.text}`);
      }
      return row;
    },
    async run(statement) {
      return (await query({ ...statement, rowMode: 'array' })).rowCount ?? 0;
    },
  };
}

function rowOf(names: string[], values: unknown[]): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (let at = 0; at < names.length; at++) row[names[at] as string] = values[at];
  return row;
}

const camelNames = new Map<string, string>();

function camelCase(name: string): string {
  let camel = camelNames.get(name);
  if (camel === undefined) {
    camel = name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
    camelNames.set(name, camel);
  }
  return camel;
}

/** SQLSTATE classes and codes that say "not now" rather than "wrong". */
const awayCodes = /^(08...|53...|57...|58...|25P03|40001|40P01|55P03|0A000)$/;
const awaySystemCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
/** pg gives these no code. */
const awayMessages =
  /^(Connection terminated|Query read timeout|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|Client was closed)/;

/** Whether the same request may simply be sent again later: the database was away, full, restarting or too slow. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError) return error.errors.some(isDatabaseAway);
  if (error instanceof pg.DatabaseError) return awayCodes.test(error.code ?? '');
  return awaySystemCodes.has((error as NodeJS.ErrnoException).code ?? '') || awayMessages.test(error.message);
}
