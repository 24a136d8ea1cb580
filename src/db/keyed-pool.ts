import { Pool } from 'pg';
import { unreachable } from './reach';

/** Connections at most: a statement that finds its rows by key is over in a millisecond. */
const CONNECTIONS = 8;

/**
 * A pool of its own for named statements that find their rows by key: they never wait behind analytics, and are planned once a
 * connection, which for them takes longer than running. Throws one clear sentence when the database cannot be reached.
 */
export async function openKeyedPool(url: string): Promise<Pool> {
  const pool = new Pool({
    connectionString: url,
    max: CONNECTIONS,
    statement_timeout: 65_000,
    application_name: 'smart-money-api payments',
    // A plan that is kept must not be one for the empty table it was made on: without sequential scans it is always the index.
    options: '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off',
  });
  pool.on('error', () => undefined);
  try {
    await pool.query('SELECT 1');
  } catch (error) {
    await pool.end();
    throw unreachable(url, error);
  }
  return pool;
}
