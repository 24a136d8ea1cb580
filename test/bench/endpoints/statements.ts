import { Client, type Pool, type QueryConfig, type QueryResult } from 'pg';

/** A statement as it was handed to node-postgres: text, name, values and the way its rows are read. */
export type SentStatement = QueryConfig & { values?: unknown[] };

type AnyQuery = (...args: unknown[]) => unknown;
type Listening = Omit<Client, 'query'> & { query: AnyQuery };

/**
 * The statements that `work` sends over the pool, in the order they were sent. Only while it works are the pool's clients
 * listened to; before and after they are as node-postgres made them.
 */
export async function recordStatements(pool: Pool, work: () => Promise<unknown>): Promise<SentStatement[]> {
  const sent: SentStatement[] = [];
  const tapped = new Set<Listening>();
  const tap = (client: unknown): void => {
    const listening = client as Listening;
    if (tapped.has(listening)) return;
    tapped.add(listening);
    const original = listening.query;
    listening.query = function query(this: unknown, ...args: unknown[]): unknown {
      sent.push(statementOf(args));
      return original.apply(listening, args);
    };
  };
  pool.on('acquire', tap);
  try {
    await work();
  } finally {
    pool.off('acquire', tap);
    for (const client of tapped) Reflect.deleteProperty(client, 'query');
  }
  return sent;
}

function statementOf([first, second]: unknown[]): SentStatement {
  const config = typeof first === 'string' ? { text: first } : { ...(first as SentStatement) };
  return Array.isArray(second) ? { ...config, values: second } : config;
}

/** One plain node-postgres connection with the planner settings of the product's own. */
export async function plainClient(url: string): Promise<Client> {
  const client = new Client({ connectionString: url, options: '-c plan_cache_mode=force_custom_plan' });
  await client.connect();
  return client;
}

/** Sends the statements one after the other; resolves to how many rows came back. */
export async function replay(client: Client, statements: readonly SentStatement[]): Promise<number> {
  let rows = 0;
  for (const statement of statements) {
    const result = (await client.query(statement)) as QueryResult;
    rows += result.rowCount ?? 0;
  }
  return rows;
}
