import type { Pool } from 'pg';
import { openPool } from './pool';

/** Connections at most: a statement that finds its rows by key is over in a millisecond. */
const CONNECTIONS = 8;

/**
 * A pool of its own for named statements that find their rows by key: they never wait behind analytics, and are planned once a
 * connection, which for them takes longer than running. Throws one clear sentence when the database cannot be reached.
 */
export const openKeyedPool = (url: string): Promise<Pool> =>
  openPool(url, {
    max: CONNECTIONS,
    application_name: 'smart-money-api payments',
    // A plan that is kept must not be one for the empty table it was made on: without sequential scans it is always the index.
    options: '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off',
  });
