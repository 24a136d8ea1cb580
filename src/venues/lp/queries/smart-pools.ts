import type { Sql, Statement } from '../../../db/sql';
import type { Window } from '../../../lib/timeframe';
import type { PoolType } from '../chain-addresses';
import { eventsIn, flowsIn, smartOn, spanOf } from './span';

export type SmartPoolsSort = 'smart_lp_count' | 'smart_volume_usd' | 'smart_share_pct' | 'smart_net_usd';

export interface SmartPoolsArgs {
  window: Window;
  /** Null: both. */
  pool_type: PoolType | null;
  min_smart_lps: number;
  sort_by: SmartPoolsSort;
  limit: number;
}

/** Numeric columns are decimal text; `smart_lps` holds JSON numbers. */
export interface SmartPoolRow {
  pool_address: string;
  total_volume_usd: string;
  smart_lp_count: number;
  smart_volume_usd: string;
  smart_share_pct: string | null;
  smart_net_usd: string;
  avg_lp_score: string;
  fees_claimed_by_smart_usd: string;
  smart_lps: { owner: string; lp_score: number; net_usd: number }[];
  unpriced: number;
}

const typed = (alias: string): string => `AND ($7::text IS NULL OR ${alias}.pool_type = $7)`;

/** An event is smart when the newest run before its day gave its owner at least SMART; the owner shows the newest such score. */
function smartPools(sort: SmartPoolsSort): Statement {
  return {
    name: `lp_smart_pools_${sort}`,
    text: `
WITH totals AS MATERIALIZED (
  SELECT pool_address, sum(deposit_usd + withdraw_usd) AS total_volume_usd, sum(unpriced)::int AS unpriced, array_agg(DISTINCT (hour AT TIME ZONE 'UTC')::date) AS days
  FROM (${flowsIn(1, typed)}) f GROUP BY pool_address
), best AS MATERIALIZED (${smartOn('SELECT DISTINCT unnest(days) AS day FROM totals')}
), smart AS (
  SELECT e.pool_address, e.owner, sum(e.deposit_usd) AS deposit_usd, sum(e.withdraw_usd) AS withdraw_usd, sum(e.claim_usd) AS claim_usd,
    (array_agg(s.score ORDER BY s.day DESC))[1] AS score
  FROM (${eventsIn(1, typed)}) e JOIN best s ON s.owner = e.owner AND s.day = (e.hour AT TIME ZONE 'UTC')::date
  WHERE e.owner <> '' GROUP BY e.pool_address, e.owner
), pools AS (
  SELECT pool_address, count(*)::int AS smart_lp_count, sum(deposit_usd + withdraw_usd) AS smart_volume_usd, sum(deposit_usd - withdraw_usd) AS smart_net_usd,
    avg(score) AS avg_lp_score, sum(claim_usd) AS fees_claimed_by_smart_usd FROM smart GROUP BY pool_address HAVING count(*) >= $8
), ranked AS (
  SELECT p.*, t.total_volume_usd, t.unpriced, 100 * p.smart_volume_usd / nullif(t.total_volume_usd, 0) AS smart_share_pct
  FROM pools p JOIN totals t ON t.pool_address = p.pool_address
  ORDER BY ${sort} DESC NULLS LAST, smart_volume_usd DESC, pool_address LIMIT $9
)
SELECT r.*, (SELECT json_agg(json_build_object('owner', o.owner, 'lp_score', o.score, 'net_usd', o.net) ORDER BY abs(o.net) DESC, o.owner) FROM (
  SELECT s.owner, s.score, s.deposit_usd - s.withdraw_usd AS net FROM smart s WHERE s.pool_address = r.pool_address ORDER BY abs(s.deposit_usd - s.withdraw_usd) DESC, s.owner LIMIT 5) o) AS smart_lps
FROM ranked r ORDER BY r.${sort} DESC NULLS LAST, r.smart_volume_usd DESC, r.pool_address`,
  };
}

/** Pools in which smart providers take part; ties by their volume, then address. */
export function listSmartPools(sql: Sql, { window, pool_type, min_smart_lps, sort_by, limit }: SmartPoolsArgs): Promise<SmartPoolRow[]> {
  return sql.query<SmartPoolRow>(smartPools(sort_by), [...spanOf(window), pool_type, min_smart_lps, limit]);
}
