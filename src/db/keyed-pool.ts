import type { Pool, PoolConfig } from 'pg';
import { makePool, openPool } from './pool';

/** A plan that is kept must not be one for the empty table it was made on: without sequential scans it is always the index. */
export const PLANNED_ONCE = '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off';

const KEYED: PoolConfig = {
  // Such a statement is over in a millisecond: few connections serve many.
  max: 8,
  options: PLANNED_ONCE,
};

/**
 * A pool of its own for named statements that find their rows by key: they never wait behind analytics, and are planned once a
 * connection, which for them takes longer than running. Throws one clear sentence when the database cannot be reached.
 */
export const openKeyedPool = (url: string, config: PoolConfig): Promise<Pool> => openPool(url, { ...KEYED, ...config });

/** The same, not tried: for an address that was. */
export const makeKeyedPool = (url: string, config: PoolConfig): Pool => makePool(url, { ...KEYED, ...config });
