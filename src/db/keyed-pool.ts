import type { Pool } from 'pg';
import { type PoolOptions, ROOM, type Settings, makePool, openPool } from './pool';

/** A plan that is kept must not be one for the empty table it was made on: without sequential scans it is always the index. */
export const PLANNED_ONCE: Settings = { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off', ...ROOM };

/** Most such statements are over in a few milliseconds: few connections serve many. */
const keyed = ({ settings, ...options }: PoolOptions): PoolOptions => ({ max: 8, ...options, settings: { ...PLANNED_ONCE, ...settings } });

/**
 * A pool of its own for named statements that find their rows by key: they never wait behind analytics, and are planned once a
 * connection, which for them takes longer than running. Throws one clear sentence when the database cannot be reached.
 */
export const openKeyedPool = (url: string, options: PoolOptions): Promise<Pool> => openPool(url, keyed(options));

/** The same, not tried: for an address that was. */
export const makeKeyedPool = (url: string, options: PoolOptions): Pool => makePool(url, keyed(options));
