import { Client, type Pool, type QueryConfig, type QueryResult } from 'pg';
import { PLANNED_EACH_TIME, type Statements } from '../../../src/db/client';
import { PLANNED_ONCE } from '../../../src/db/keyed-pool';
import { type Settings, setUp } from '../../../src/db/pool';

/** A statement as it was handed to node-postgres: text, name, values and the way its rows are read; and over which pool. */
export interface SentStatement {
  query: QueryConfig & { values?: unknown[] };
  over: 'pool' | 'keyed';
}

type AnyQuery = (...args: unknown[]) => unknown;
type Listening = Omit<Client, 'query'> & { query: AnyQuery };

/**
 * The statements that `work` sends over the pools, in the order they were sent. Only while it works are the pools' clients
 * listened to; before and after they are as node-postgres made them.
 */
export async function recordStatements(pools: Pick<Statements, 'pool' | 'keyed'>, work: () => Promise<unknown>): Promise<SentStatement[]> {
  const sent: SentStatement[] = [];
  const stops = (['pool', 'keyed'] as const).map((over) => listen(pools[over], (query) => sent.push({ query, over })));
  try {
    await work();
  } finally {
    for (const stop of stops) stop();
  }
  return sent;
}

function listen(pool: Pool, hear: (query: SentStatement['query']) => void): () => void {
  const tapped = new Set<Listening>();
  const tap = (client: unknown): void => {
    const listening = client as Listening;
    if (tapped.has(listening)) return;
    tapped.add(listening);
    const original = listening.query;
    listening.query = function query(this: unknown, ...args: unknown[]): unknown {
      hear(statementOf(args));
      return original.apply(listening, args);
    };
  };
  pool.on('acquire', tap);
  return () => {
    pool.off('acquire', tap);
    for (const client of tapped) Reflect.deleteProperty(client, 'query');
  };
}

function statementOf([first, second]: unknown[]): SentStatement['query'] {
  const config = typeof first === 'string' ? { text: first } : { ...(first as QueryConfig) };
  return Array.isArray(second) ? { ...config, values: second } : config;
}

/** Plain node-postgres connections, one with the planner settings of each of the product's pools. */
export async function plainClients(url: string): Promise<Record<SentStatement['over'], Client> & { end(): Promise<void> }> {
  const connect = async (settings: Settings): Promise<Client> => {
    const client = new Client({ connectionString: url });
    await client.connect();
    await setUp(client, settings);
    return client;
  };
  const [pool, keyed] = [await connect(PLANNED_EACH_TIME), await connect(PLANNED_ONCE)];
  return { pool, keyed, end: async () => void (await Promise.all([pool.end(), keyed.end()])) };
}

/** With a callback, as the product does (src/db/pool.ts tells why): the promise of node-postgres would keep the rows. */
const send = (client: Client, query: QueryConfig): Promise<QueryResult> =>
  new Promise((resolve, reject) => client.query(query, (error: Error | null, result) => (error ? reject(error) : resolve(result))));

/** Sends the statements one after the other; resolves to how many rows came back. */
export async function replay(clients: Record<SentStatement['over'], Client>, statements: readonly SentStatement[]): Promise<number> {
  let rows = 0;
  for (const { query, over } of statements) rows += (await send(clients[over], query)).rowCount ?? 0;
  return rows;
}
