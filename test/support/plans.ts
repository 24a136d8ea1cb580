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

/** The plan that the product would make of a statement: over `keyed` one made before any value is known, without what its values prune. */
async function explain(clients: Awaited<ReturnType<typeof plainClients>>, { query, over }: SentStatement, how: string): Promise<Plan> {
  const client = clients[over];
  await client.query(`PREPARE asked AS ${query.text}`);
  const values = query.values?.length ? `(${query.values.map(literal).join(', ')})` : '';
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(`EXPLAIN (${how}, FORMAT JSON) EXECUTE asked${values}`);
  await client.query('DEALLOCATE asked');
  return (rows[0] as (typeof rows)[0])['QUERY PLAN'][0].Plan;
}

/** Tables, and months of tables, that the plans of statements name, each once. */
export async function tablesPlanned(url: string, sent: readonly SentStatement[]): Promise<string[]> {
  const clients = await plainClients(url);
  const names = new Set<string>();
  try {
    for (const statement of sent) for (const name of namedIn(await explain(clients, statement, 'ANALYZE false'))) names.add(name);
  } finally {
    await clients.end();
  }
  return [...names];
}

const namedIn = ({ 'Relation Name': name, Plans = [] }: Plan): string[] => [
  ...(name === undefined ? [] : [name]),
  ...Plans.flatMap(namedIn),
];

/** How many rows of the table, or of its months, a statement reads, chosen or not. */
export async function rowsRead(url: string, sent: SentStatement, table: string): Promise<number> {
  const clients = await plainClients(url);
  try {
    return readIn(await explain(clients, sent, 'ANALYZE'), table);
  } finally {
    await clients.end();
  }
}

function readIn(plan: Plan, table: string): number {
  const isOf = plan['Relation Name']?.replace(/_\d{6}$/, '') === table;
  const own = isOf ? (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops'] : 0;
  return (plan.Plans ?? []).reduce((sum, part) => sum + readIn(part, table), own);
}
