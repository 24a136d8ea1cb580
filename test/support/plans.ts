import type { Client } from 'pg';
import { type SentStatement, plainClients } from '../bench/endpoints/statements';

/** What `EXPLAIN (ANALYZE, FORMAT JSON)` tells of a part of a plan. */
interface Plan {
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: Plan[];
}

const literal = (value: unknown): string => {
  if (value === null || value === undefined) return 'NULL';
  const text = Array.isArray(value) ? `{${value.map(textOf).join()}}` : textOf(value);
  return `'${text.replaceAll("'", "''")}'`;
};

const textOf = (value: unknown): string => (value instanceof Date ? value.toISOString() : String(value));

/** The plan of a statement as the product would make it, over `keyed` before any value is known: begun, so that months which the values rule out are gone, or run as well. */
async function planOf(clients: Record<SentStatement['over'], Client>, { query, over }: SentStatement, how: 'begun' | 'run'): Promise<Plan> {
  const client = clients[over];
  await client.query(`PREPARE asked AS ${query.text}`);
  const values = query.values?.length ? `(${query.values.map(literal).join(', ')})` : '';
  const options = how === 'run' ? 'ANALYZE, FORMAT JSON' : 'FORMAT JSON';
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(`EXPLAIN (${options}) EXECUTE asked${values}`);
  await client.query('DEALLOCATE asked');
  return (rows[0] as (typeof rows)[0])['QUERY PLAN'][0].Plan;
}

/** Tables, or months of tables, that a begun statement may read. */
export const tablesOf = async (clients: Record<SentStatement['over'], Client>, statement: SentStatement): Promise<Set<string>> =>
  namesIn(await planOf(clients, statement, 'begun'), new Set());

function namesIn(plan: Plan, names: Set<string>): Set<string> {
  if (plan['Relation Name'] !== undefined) names.add(plan['Relation Name']);
  for (const part of plan.Plans ?? []) namesIn(part, names);
  return names;
}

/** How many rows of the table, or of its months, a statement reads, chosen or not. */
export async function rowsRead(url: string, statement: SentStatement, table: string): Promise<number> {
  const clients = await plainClients(url);
  try {
    return readIn(await planOf(clients, statement, 'run'), table);
  } finally {
    await clients.end();
  }
}

function readIn(plan: Plan, table: string): number {
  const isOf = plan['Relation Name']?.replace(/_\d{6}$/, '') === table;
  const own = isOf ? (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops'] : 0;
  return (plan.Plans ?? []).reduce((sum, part) => sum + readIn(part, table), own);
}
