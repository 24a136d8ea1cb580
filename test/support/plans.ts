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

/** How many rows of the table, or of its months, a statement reads, chosen or not, by the plan that the product would make: over `keyed` one made before any value is known. */
export async function rowsRead(url: string, { query, over }: SentStatement, table: string): Promise<number> {
  const clients = await plainClients(url);
  const client = clients[over];
  try {
    await client.query(`PREPARE asked AS ${query.text}`);
    const values = query.values?.length ? `(${query.values.map(literal).join(', ')})` : '';
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(`EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE asked${values}`);
    return readIn((rows[0] as (typeof rows)[0])['QUERY PLAN'][0].Plan, table);
  } finally {
    await clients.end();
  }
}

function readIn(plan: Plan, table: string): number {
  const isOf = plan['Relation Name']?.replace(/_\d{6}$/, '') === table;
  const own = isOf ? (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops'] : 0;
  return (plan.Plans ?? []).reduce((sum, part) => sum + readIn(part, table), own);
}
