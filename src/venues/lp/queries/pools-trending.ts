import type { Sql, Statement } from '../../../db/sql';
import { SPIKE } from '../../../lib/spike';
import { leastShown } from '../../../lib/statistics';
import type { Window } from '../../../lib/timeframe';
import type { PoolType } from '../chain-addresses';
import { earlierTiles, endedAfter, volumeSince } from './earlier-volume';
import { feeRate, feeRateFlag } from './fee-rate';
import { type Filter, swapSumsOfLife, swapsIn } from './span';
import { spanOf } from './window-span';

export interface PoolsTrendingArgs {
  /** Null: both. */
  pool_type: PoolType | null;
  window: Window;
  /** Windows of equal length before it, newest first: none for `all`, else seven. */
  earlier: readonly Window[];
  min_volume_usd: number;
  limit: number;
}

/** Numeric columns are decimal text, counts numbers. */
export interface TrendingPoolRow {
  pool_address: string;
  volume_usd: string;
  volume_change_pct: string | null;
  volume_spike_multiplier: string | null;
  fees_usd: string | null;
  fee_rate_pct: string | null;
  fee_rate_flag: string | null;
  unpriced: number;
  swaps: number;
}

/** First instant of any fact of the pool. */
export const bornAt = (pool: string): string => `least(
  (SELECT h.first_at FROM lp_pool_day h WHERE h.pool_address = ${pool} ORDER BY h.day LIMIT 1),
  (SELECT h.first_at FROM lp_flow_day h WHERE h.pool_address = ${pool} ORDER BY h.day LIMIT 1))`;

const windowsOf = (a: string): string =>
  `CASE WHEN ${a}.seen_at < ALL($15::timestamptz[]) THEN ${SPIKE.windows} ELSE ${endedAfter(10, bornAt(`${a}.pool_address`))} END`;

/** Pools of the volume asked for: the days of all others are most of what there is. */
const ofLarge: Filter = (alias) => `AND ${alias}.pool_address IN (SELECT pool_address FROM large)`;
const ofFirst: Filter = (alias) => `AND ${alias}.pool_address = ANY(ARRAY(SELECT pool_address FROM first))`;

/**
 * Volume spike: (V + 1000) / (mean of the earlier windows that end after the pool's first fact + 1000); before its first fact a pool has no volume. What the first
 * were in the window just before is told of them alone. `life`: the window begins before everything, and is compared with none.
 */
function trending(life: boolean): Statement {
  return {
    name: `lp_pools_trending_${life ? 0 : SPIKE.windows}`,
    keyed: true,
    text: `
WITH volumes AS MATERIALIZED (
  ${
    life
      ? `SELECT pool_address, usd AS volume_usd, fee_usd AS fees_usd, swaps, unpriced FROM (${swapSumsOfLife(1)}) s`
      : `SELECT pool_address, sum(usd) AS volume_usd, sum(fee_usd) AS fees_usd, sum(swaps) AS swaps, sum(unpriced) AS unpriced FROM (${swapsIn(1)}) s GROUP BY pool_address`
  }
), large AS MATERIALIZED (
  SELECT v.* FROM volumes v
  WHERE ($7::text IS NULL OR v.pool_address IN (SELECT pool_address FROM lp_pool WHERE pool_type = $7)) AND v.volume_usd >= $8::numeric AND (v.volume_usd > 0 OR v.swaps > 0)
), ${life ? '' : `earlier AS MATERIALIZED (${volumeSince('earlier', 10, undefined, ofLarge)}), `}scope AS (
  SELECT v.*, ${life ? 'NULL::numeric AS earlier_usd, 0 AS windows' : `e.usd - v.volume_usd AS earlier_usd, ${windowsOf('e')} AS windows`}
  FROM large v ${life ? '' : 'JOIN earlier e ON e.pool_address = v.pool_address'}
), first AS MATERIALIZED (
  SELECT r.*, (row_number() OVER (ORDER BY r.volume_spike_multiplier DESC NULLS LAST, r.volume_usd DESC, r.pool_address COLLATE "C"))::int AS rank FROM (
    SELECT s.*, CASE WHEN s.windows >= ${SPIKE.fewest} THEN (s.volume_usd + ${SPIKE.usd}) / (s.earlier_usd / s.windows + ${SPIKE.usd}) END AS volume_spike_multiplier,
      ${feeRate('s.fees_usd', 's.volume_usd')} AS fee_rate_pct
    FROM scope s
  ) r ORDER BY rank LIMIT $9
)
SELECT r.pool_address, r.volume_usd, ${life ? 'NULL::numeric' : '100 * (r.volume_usd - b.usd) / nullif(b.usd, 0)'} AS volume_change_pct, r.volume_spike_multiplier, r.fees_usd, r.fee_rate_pct,
  ${feeRateFlag('p', 'r.fee_rate_pct', '$2')} AS fee_rate_flag, r.unpriced::int, r.swaps::int
FROM first r JOIN lp_pool p ON p.pool_address = r.pool_address ${life ? '' : `LEFT JOIN (SELECT f.pool_address, v.usd - f.volume_usd AS usd FROM first f JOIN (${volumeSince('previous', 10, ofFirst)}) v ON v.pool_address = f.pool_address) b ON b.pool_address = r.pool_address`}
ORDER BY r.rank`,
  };
}

const STATEMENTS = { alone: trending(true), compared: trending(false) };

/** Pools by volume spike, each once; those too young for one follow by volume. */
export function listTrendingPools(
  sql: Sql,
  { pool_type, window, earlier, min_volume_usd, limit }: PoolsTrendingArgs,
): Promise<TrendingPoolRow[]> {
  const life = earlier.length === 0;
  const values = [...spanOf(window), pool_type, leastShown(min_volume_usd), limit, ...(life ? [] : earlierTiles(earlier, window))];
  return sql.query<TrendingPoolRow>(life ? STATEMENTS.alone : STATEMENTS.compared, values);
}
