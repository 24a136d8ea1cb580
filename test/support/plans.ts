import type { Client } from 'pg';
import { type SentStatement, plainClients } from '../bench/endpoints/statements';

/** What `EXPLAIN (FORMAT JSON)` tells of a part of a plan. */
interface Plan {
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Join Filter'?: number;
  Plans?: Plan[];
}

const literal = (value: unknown): string => {
  if (value === null || value === undefined) return 'NULL';
  const text = Array.isArray(value) ? `{${value.map((one) => (one === null ? 'NULL' : textOf(one))).join()}}` : textOf(value);
  return `'${text.replaceAll("'", "''")}'`;
};

const textOf = (value: unknown): string => (value instanceof Date ? value.toISOString() : String(value));

type Clients = Record<SentStatement['over'], Client>;

/** The plan that the product would make of a statement, over `keyed` before any value is known: as it begins, without the months that its values rule out, or as it was run. */
async function planOf(clients: Clients, { query, over }: SentStatement, how: 'begun' | 'run'): Promise<Plan> {
  const client = clients[over];
  await client.query(`PREPARE asked AS ${query.text}`);
  const values = query.values?.length ? `(${query.values.map(literal).join(', ')})` : '';
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
    `EXPLAIN (ANALYZE ${how === 'run'}, FORMAT JSON) EXECUTE asked${values}`,
  );
  await client.query('DEALLOCATE asked');
  return (rows[0] as (typeof rows)[0])['QUERY PLAN'][0].Plan;
}

async function withClients<T>(url: string, work: (clients: Clients) => Promise<T>): Promise<T> {
  const clients = await plainClients(url);
  try {
    return await work(clients);
  } finally {
    await clients.end();
  }
}

/** Tables, and months of tables, that statements open which read, whether or not there is anything in them: by the names of the statements. */
export const tablesOpened = (url: string, sent: readonly SentStatement[]): Promise<Map<string, Set<string>>> =>
  withClients(url, async (clients) => {
    const opened = new Map<string, Set<string>>();
    for (const statement of sent) {
      const { text, name = text } = statement.query;
      if (!/^\s*(?:SELECT|WITH)/.test(text)) continue;
      opened.set(name, new Set([...(opened.get(name) ?? []), ...namedIn(await planOf(clients, statement, 'begun'))]));
    }
    return opened;
  });

const namedIn = ({ 'Relation Name': name, Plans = [] }: Plan): string[] => [
  ...(name === undefined ? [] : [name]),
  ...Plans.flatMap(namedIn),
];

/** How many rows of the table, or of its months, a statement reads, chosen or not. */
export const rowsRead = (url: string, statement: SentStatement, table: string): Promise<number> =>
  withClients(url, async (clients) => readIn(await planOf(clients, statement, 'run'), table));

function readIn(plan: Plan, table: string): number {
  const isOf = plan['Relation Name']?.replace(/_\d{6}$/, '') === table;
  const own = isOf ? (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops'] : 0;
  return (plan.Plans ?? []).reduce((sum, part) => sum + readIn(part, table), own);
}

/** How many pairs of rows a statement compares that it has not looked up by what they share, in vain. */
export const pairsCompared = (url: string, statement: SentStatement): Promise<number> =>
  withClients(url, async (clients) => pairsIn(await planOf(clients, statement, 'run')));

const pairsIn = ({ 'Rows Removed by Join Filter': own = 0, 'Actual Loops': loops, Plans = [] }: Plan): number =>
  Plans.reduce((sum, part) => sum + pairsIn(part), own * loops);
