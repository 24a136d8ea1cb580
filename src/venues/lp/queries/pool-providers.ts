import type { Sql, Statement } from '../../../db/sql';
import type { Window } from '../../../lib/timeframe';

export interface PoolProvidersArgs {
  pool_address: string;
  window: Window;
  limit: number;
}

export interface PoolProviderRow {
  owner: string;
  /** Decimal text. */
  volume_usd: string;
  event_count: number;
  last_event: Date;
}

const PROVIDERS: Statement = {
  name: 'lp_pool_providers',
  text: `
SELECT owner, coalesce(sum(usd) FILTER (WHERE kind IN ('deposit', 'withdraw')), 0) AS volume_usd, count(*)::int AS event_count, max("timestamp") AS last_event
FROM lp_event WHERE pool_address = $1 AND "timestamp" >= $2 AND "timestamp" < $3 AND owner IS NOT NULL
GROUP BY owner ORDER BY volume_usd DESC, owner LIMIT $4`,
};

/** Providers of a pool in a window, most USD moved first. */
export function listPoolProviders(sql: Sql, { pool_address, window, limit }: PoolProvidersArgs): Promise<PoolProviderRow[]> {
  return sql.query<PoolProviderRow>(PROVIDERS, [pool_address, window.from, window.to, limit]);
}
