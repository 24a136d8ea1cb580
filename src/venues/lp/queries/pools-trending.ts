import type { Sql, Statement } from '../../../db/sql';
import { SPIKE } from '../../../lib/spike';
import { leastShown } from '../../../lib/statistics';
import type { Window } from '../../../lib/timeframe';
import type { PoolType } from '../chain-addresses';
import { earlierTiles, earlierVolume, endedAfter, volumeBounds } from './earlier-volume';
import { feeRate, feeRateFlag, type Filter, spanOf, swapsIn, swapsOfLife } from './span';

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

const ofNear: Filter = (alias) => `AND ${alias}.pool_address = ANY(ARRAY(SELECT pool_address FROM near))`;

const windowsOf = (a: string): string =>
  `CASE WHEN ${a}.seen_at < ALL($15::timestamptz[]) THEN ${SPIKE.windows} ELSE ${endedAfter(10, bornAt(`${a}.pool_address`))} END`;

/** More than what numbers are rounded by, as a factor: the dollars of the spike, or one more, stand for those near nothing. */
const SLACK = 1.000001;

/**
 * The pools that may be among the first by their spikes: whole hours tell each pool's at least and at most, and nobody whose most is less than the least of $9 others is among
 * them. Only theirs are told to the last fact.
 */
const NEAR = `bounds AS MATERIALIZED (
  SELECT b.*, (least_usd + ${SPIKE.usd}) / (most_earlier / windows + ${SPIKE.usd}) AS least, (most_usd + ${SPIKE.usd}) / (least_earlier / windows + ${SPIKE.usd}) AS most FROM (
    SELECT b.*, nullif(${windowsOf('b')}, 0) AS windows FROM (${volumeBounds(10)}) b
    WHERE (b.most_usd + 1) * ${SLACK} >= $8::numeric::float8 AND ($7::text IS NULL OR b.pool_address IN (SELECT pool_address FROM lp_pool WHERE pool_type = $7)) OFFSET 0
  ) b
), near AS MATERIALIZED (
  SELECT b.pool_address FROM bounds b LEFT JOIN (
    SELECT least FROM bounds WHERE windows >= ${SPIKE.fewest} AND least_usd - 1 >= $8::numeric::float8 * ${SLACK} ORDER BY least DESC OFFSET $9 - 1 LIMIT 1
  ) last ON true WHERE last.least IS NULL OR b.windows >= ${SPIKE.fewest} AND b.most * ${SLACK} >= last.least
), `;

/**
 * Volume spike: (V + 1000) / (mean of the earlier windows that end after the pool's first fact + 1000); before its first fact a pool has no volume. `life`: the
 * window begins before everything, and is compared with none.
 */
function trending(life: boolean): Statement {
  return {
    name: `lp_pools_trending_${life ? 0 : SPIKE.windows}`,
    keyed: true,
    text: `
WITH ${life ? '' : NEAR}volumes AS MATERIALIZED (
  SELECT pool_address, sum(usd) AS volume_usd, sum(fee_usd) AS fees_usd, sum(swaps) AS swaps, sum(unpriced) AS unpriced FROM (${life ? swapsOfLife(1) : swapsIn(1, 0, ofNear)}) s GROUP BY pool_address
), ${life ? '' : `before AS MATERIALIZED (${earlierVolume(10, ofNear)}), `}scope AS (
  SELECT p.pool_type, p.created_at, v.*, ${life ? 'NULL::numeric AS previous_usd, NULL::numeric AS earlier_usd, 0 AS windows' : `b.previous_usd - v.volume_usd AS previous_usd, b.earlier_usd - v.volume_usd AS earlier_usd, ${windowsOf('b')} AS windows`}
  FROM volumes v JOIN lp_pool p ON p.pool_address = v.pool_address ${life ? '' : 'JOIN before b ON b.pool_address = v.pool_address'}
  WHERE ($7::text IS NULL OR p.pool_type = $7) AND v.volume_usd >= $8::numeric AND (v.volume_usd > 0 OR v.swaps > 0)
)
SELECT r.pool_address, r.volume_usd, r.volume_change_pct, r.volume_spike_multiplier, r.fees_usd, r.fee_rate_pct, ${feeRateFlag('r', 'r.fee_rate_pct', '$2')} AS fee_rate_flag, r.unpriced::int, r.swaps::int
FROM (
  SELECT s.*, 100 * (s.volume_usd - s.previous_usd) / nullif(s.previous_usd, 0) AS volume_change_pct,
    CASE WHEN s.windows >= ${SPIKE.fewest} THEN (s.volume_usd + ${SPIKE.usd}) / (s.earlier_usd / s.windows + ${SPIKE.usd}) END AS volume_spike_multiplier,
    ${feeRate('s.fees_usd', 's.volume_usd')} AS fee_rate_pct
  FROM scope s
) r ORDER BY r.volume_spike_multiplier DESC NULLS LAST, r.volume_usd DESC, r.pool_address LIMIT $9`,
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
