import { type SentStatement, plainClients } from '../bench/endpoints/statements';

/** What `EXPLAIN (FORMAT JSON)` tells of a part of a plan. */
interface Plan {
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: Plan[];
}

const literal = (value: unknown): string => {
  if (value === null || value === undefined) return 'NULL';
  const text = Array.isArray(value) ? `{${value.map((one) => (one === null ? 'NULL' : textOf(one))).join()}}` : textOf(value);
  return `'${text.replaceAll("'", "''")}'`;
};

const textOf = (value: unknown): string => (value instanceof Date ? value.toISOString() : String(value));

/** How many rows of the table, or of its months, a statement reads, chosen or not, by the plan that the product would make: over `keyed` one made before any value is known. */
export async function rowsRead(url: string, statement: SentStatement, table: string): Promise<number> {
  return readIn(await planOf(url, statement, 'ANALYZE, '), table);
}

/** The tables and months that such a plan opens, whether or not it reads anything in them. */
export async function tablesOpened(url: string, statement: SentStatement): Promise<string[]> {
  const named = ({ 'Relation Name': own, Plans = [] }: Plan): string[] => [...(own === undefined ? [] : [own]), ...Plans.flatMap(named)];
  return named(await planOf(url, statement));
}

async function planOf(url: string, { query, over }: SentStatement, options = ''): Promise<Plan> {
  const clients = await plainClients(url);
  const client = clients[over];
  try {
    await client.query(`PREPARE asked AS ${query.text}`);
    const values = query.values?.length ? `(${query.values.map(literal).join(', ')})` : '';
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(`EXPLAIN (${options}FORMAT JSON) EXECUTE asked${values}`);
    return (rows[0] as (typeof rows)[0])['QUERY PLAN'][0].Plan;
  } finally {
    await clients.end();
  }
}

function readIn(plan: Plan, table: string): number {
  const isOf = plan['Relation Name']?.replace(/_\d{6}$/, '') === table;
  const own = isOf ? (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops'] : 0;
  return (plan.Plans ?? []).reduce((sum, part) => sum + readIn(part, table), own);
}
