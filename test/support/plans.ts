import assert from 'node:assert/strict';
import pg from 'pg';
import type { Queryable, Statement } from '../../src/platform/db.ts';

/** The one statement that a function of a store makes; it finds nothing. */
export async function statementMade(work: (db: Queryable) => Promise<unknown>): Promise<Statement> {
  const made: Statement[] = [];
  const many = async (statement: Statement) => {
    made.push(statement);
    return [];
  };
  await work({ many } as Pick<Queryable, 'many'> as Queryable);
  const [statement, ...more] = made;
  assert.ok(statement && more.length === 0);
  return statement;
}

/** That no table is read as a whole, and how many rows at most, with a plan for these values and with one for all. */
export async function assertReadByKey(
  client: pg.Client,
  statement: Statement,
  mostRead: number,
): Promise<void> {
  for (const mode of ['force_custom_plan', 'force_generic_plan']) {
    const nodes = await planOf(client, statement, mode);
    const told = `${mode}: ${JSON.stringify(nodes.map((node) => [node['Node Type'], node['Index Name']]))}`;
    assert.ok(!nodes.some((node) => node['Node Type'].includes('Seq Scan')), told);
    assert.ok(readBy(nodes) <= mostRead, `${readBy(nodes)} rows read by ${told}`);
  }
}

type Plan = {
  'Node Type': string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Index Name'?: string;
  Plans?: Plan[];
};

async function planOf(client: pg.Client, { text, values }: Statement, mode: string): Promise<Plan[]> {
  const literals = values.map((value) =>
    value === null ? 'null' : pg.escapeLiteral(value instanceof Date ? value.toISOString() : String(value)),
  );
  await client.query(`deallocate all; prepare statement as ${text}; set plan_cache_mode = ${mode}`);
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
    `explain (analyze, timing off, format json) execute statement(${literals.join(', ')})`,
  );
  const [explained] = rows[0]?.['QUERY PLAN'] ?? [];
  assert.ok(explained);
  return nodesOf(explained.Plan);
}

function nodesOf(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

function readBy(nodes: Plan[]): number {
  return nodes
    .filter(({ 'Node Type': type }) => type.includes('Scan') && type !== 'Bitmap Index Scan')
    .map((node) => (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'])
    .reduce((left, right) => left + right, 0);
}
