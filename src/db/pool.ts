import { Client, Pool, type PoolConfig, type QueryResult } from 'pg';
import { unreachable } from './reach';

/** Days are UTC days, and drivers read times as UTC, wherever the server believes itself to be. */
export const IN_UTC = '-c timezone=UTC';

type Told = (error: Error | null, result: QueryResult) => void;

/**
 * node-postgres' client, whose statements are asked for with a callback always. The promise it makes itself, set on a statement after it
 * was made, keeps the rows of statement after statement alive until the whole heap is collected: half of all rows read were moved to the old
 * generation, and a third of the time of a long list went into moving them. Statements with a callback or a stream of their own are left alone.
 */
class Connection extends Client {
  override query(...asked: never[]): never {
    const send = super.query.bind(this) as (...args: unknown[]) => unknown;
    const [first, values, last] = asked as unknown[];
    const own = typeof values === 'function' || typeof last === 'function' || typeof (first as { submit?: unknown }).submit === 'function';
    if (own) return send(...(asked as unknown[])) as never;
    const answer = new Promise<QueryResult>((resolve, reject) => {
      const told: Told = (error, result) => (error ? reject(error) : resolve(result));
      send(first, values, told);
    });
    return answer.catch((error: Error) => {
      // From the socket that told it to who asked.
      Error.captureStackTrace(error);
      throw error;
    }) as never;
  }
}

/** Connections to the database at `url`, made when they are needed. */
export function makePool(url: string, config: PoolConfig): Pool {
  const options = config.options === undefined ? IN_UTC : `${IN_UTC} ${config.options}`;
  const pool = new Pool({ statement_timeout: 65_000, ...config, options, connectionString: url, Client: Connection });
  // A dropped idle connection is the pool's business, not a crash.
  pool.on('error', () => undefined);
  // Nor is one that drops in the middle of a transaction: its next statement fails, which is told to who asks it.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** Connections to the database at `url`, one of them tried. Throws one clear sentence when it cannot be reached. */
export async function openPool(url: string, config: PoolConfig): Promise<Pool> {
  const pool = makePool(url, config);
  try {
    await pool.query('SELECT 1');
  } catch (error) {
    await pool.end();
    throw unreachable(url, error);
  }
  return pool;
}
