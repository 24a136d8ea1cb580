import { AsyncLocalStorage } from 'node:async_hooks';
import type { Client, ClientConfig, Pool, PoolClient, QueryConfig } from 'pg';
import { Connection, backendOf, boundTo, connectUntil } from './pool';
import { away, isAnswer, isOutdated } from './reach';

/** How long a statement that was cancelled may take to end. */
const CANCELLED_WITHIN_MS = 2_000;

/**
 * Runs `work`, which asks nobody else, on a connection of the pool. When `signal` aborts, the statement that runs on it is cancelled in PostgreSQL
 * as well (pg_cancel_backend) and the promise rejects with the signal's reason. Where that does not help soon, the connection is closed. What a
 * migration has outdated is done anew on another connection. Throws AppError maintenance where the database cannot be reached, or ends the connection.
 */
export async function runCancellable<T>(pool: Pool, signal: AbortSignal | undefined, work: (client: PoolClient) => Promise<T>): Promise<T> {
  try {
    return await runOn(pool, signal, work);
  } catch (error) {
    if (isOutdated(error)) return runCancellable(pool, signal, work);
    throw signal?.aborted === true || isAnswer(error) ? error : away(error);
  }
}

async function runOn<T>(pool: Pool, signal: AbortSignal | undefined, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await (signal === undefined ? pool.connect() : connectUntil(pool, signal));
  let spoilt = false;
  let hopeless: NodeJS.Timeout | undefined;
  const cancel = (): void => {
    spoilt = true;
    cancelBackend(pool.options, backendOf(client)).catch(() => undefined);
    hopeless = setTimeout(() => void client.end().catch(() => undefined), CANCELLED_WITHIN_MS);
  };
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    signal?.throwIfAborted();
    return await work(client);
  } catch (error) {
    signal?.throwIfAborted();
    spoilt ||= isOutdated(error);
    throw error;
  } finally {
    signal?.removeEventListener('abort', cancel);
    clearTimeout(hopeless);
    // A cancel may still be on its way to this backend: never hand such a connection to somebody else.
    client.release(spoilt);
  }
}

/** Over a connection of its own: when many statements are late, the pool has none left to cancel them with. */
async function cancelBackend(options: ClientConfig, backend: number | undefined): Promise<void> {
  const client: Client = new Connection({ ...options, query_timeout: CANCELLED_WITHIN_MS });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query('SELECT pg_cancel_backend($1)', [backend]);
  } finally {
    await client.end();
  }
}

/** Whose request a statement belongs to: Prisma hands no signal on to its adapter. */
const current = new AsyncLocalStorage<AbortSignal>();

/** Runs `work`; what it asks of a Prisma client over `poolForPrisma` is cancelled in PostgreSQL when `signal` aborts, as by runCancellable. */
export const runUntil = <T>(signal: AbortSignal | undefined, work: () => T): T =>
  signal === undefined ? work() : current.run(signal, work);

/**
 * The pool to open Prisma over: its statements, outside transactions, end with the signal of the `runUntil` they are sent in, and
 * those with a name go over `keyed`.
 */
export function poolForPrisma({ pool, keyed }: { pool: Pool; keyed: Pool }): Pool {
  const query = (config: QueryConfig): Promise<unknown> =>
    runCancellable(config.name === undefined ? pool : keyed, current.getStore(), (client) => client.query(config));
  // Prisma's adapter asks whether this is a Pool; a transaction takes its own connection by connect().
  return new Proxy(pool, {
    get: (target, property) => {
      return property === 'query' ? query : boundTo(target, property);
    },
  });
}
