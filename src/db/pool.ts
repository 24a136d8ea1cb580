import { Pool, type PoolConfig } from 'pg';
import { unreachable } from './reach';

/** Connections to the database at `url`, made when they are needed. */
export function makePool(url: string, config: PoolConfig): Pool {
  const pool = new Pool({ statement_timeout: 65_000, ...config, connectionString: url });
  // A dropped idle connection is the pool's business, not a crash.
  pool.on('error', () => undefined);
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
