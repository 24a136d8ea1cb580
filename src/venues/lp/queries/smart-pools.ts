import type { Sql, Statement } from '../../../db/sql';
import { BEGINNING, type Window } from '../../../lib/timeframe';
import type { PoolType } from '../chain-addresses';
import { datedScore, newestScore } from '../rollups/smart';
import { type Filter, flowsIn, partDaysIn, smartOn, spanOf } from './span';

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

/** Whose smart days in a pool are not all in the window. */
const LATE = `late AS MATERIALIZED (SELECT pool_address, owner FROM lp_smart_pool WHERE first_at < $1 OR last_at >= $2), `;
const isLate: Filter = (alias) => `AND (${alias}.pool_address, ${alias}.owner) IN (SELECT pool_address, owner FROM late)`;

/**
 * An event is smart when the newest run before its day gave its owner at least SMART; the owner shows the newest such score. With `life` the window
 * begins before everything: whose smart days all lie in it is told by their sums.
 */
function smartPools(sort: SmartPoolsSort, life: boolean): Statement {
  const chosen: Filter = (alias) => `${typed(alias)} ${life ? isLate(alias) : ''}`;
  return {
    name: `lp_smart_pools_${sort}_${Number(life)}`,
    text: `
WITH totals AS MATERIALIZED (
  SELECT pool_address, sum(deposit_usd + withdraw_usd) AS total_volume_usd, sum(unpriced)::int AS unpriced FROM (${flowsIn(1, typed)}) f GROUP BY pool_address
), ${life ? LATE : ''}parts AS MATERIALIZED (SELECT e.*, (e.hour AT TIME ZONE 'UTC')::date AS day FROM (${partDaysIn(1, chosen)}) e WHERE e.owner <> ''
), days AS (
  SELECT h.pool_address, h.owner, h.dated_score, h.deposit_usd, h.withdraw_usd, h.claim_usd
  FROM lp_smart_day h WHERE h.day >= $5 AND h.day < $6 ${chosen('h')}
  UNION ALL SELECT e.pool_address, e.owner, ${datedScore('e.day', 's.score')}, e.deposit_usd, e.withdraw_usd, e.claim_usd
  FROM parts e JOIN (${smartOn('SELECT DISTINCT day FROM parts')}) s ON s.owner = e.owner AND s.day = e.day
), smart AS MATERIALIZED (
  SELECT pool_address, owner, sum(deposit_usd) AS deposit_usd, sum(withdraw_usd) AS withdraw_usd, sum(claim_usd) AS claim_usd, ${newestScore('dated_score')} AS score
  FROM days GROUP BY pool_address, owner
  ${life ? `UNION ALL SELECT h.pool_address, h.owner, h.deposit_usd, h.withdraw_usd, h.claim_usd, h.score FROM lp_smart_pool h WHERE h.first_at >= $1 AND h.last_at < $2 ${typed('h')}` : ''}
), pools AS (
  SELECT pool_address, count(*)::int AS smart_lp_count, sum(deposit_usd) + sum(withdraw_usd) AS smart_volume_usd, sum(deposit_usd) - sum(withdraw_usd) AS smart_net_usd,
    avg(score) AS avg_lp_score, sum(claim_usd) AS fees_claimed_by_smart_usd FROM smart GROUP BY pool_address HAVING count(*) >= $8
), ranked AS MATERIALIZED (
  SELECT p.*, t.total_volume_usd, t.unpriced, 100 * p.smart_volume_usd / nullif(t.total_volume_usd, 0) AS smart_share_pct
  FROM pools p JOIN totals t ON t.pool_address = p.pool_address
  ORDER BY ${sort} DESC NULLS LAST, smart_volume_usd DESC, pool_address LIMIT $9
), placed AS (
  SELECT s.pool_address, s.owner, s.score, s.deposit_usd - s.withdraw_usd AS net,
    row_number() OVER (PARTITION BY s.pool_address ORDER BY abs(s.deposit_usd - s.withdraw_usd) DESC, s.owner) AS place
  FROM smart s WHERE s.pool_address = ANY(ARRAY(SELECT pool_address FROM ranked))
), foremost AS MATERIALIZED (
  SELECT pool_address, json_agg(json_build_object('owner', owner, 'lp_score', score, 'net_usd', net) ORDER BY place) AS smart_lps FROM placed WHERE place <= 5 GROUP BY pool_address
)
SELECT r.*, o.smart_lps FROM ranked r JOIN foremost o ON o.pool_address = r.pool_address ORDER BY r.${sort} DESC NULLS LAST, r.smart_volume_usd DESC, r.pool_address`,
  };
}

/** Pools in which smart providers take part; ties by their volume, then address. */
export function listSmartPools(sql: Sql, { window, pool_type, min_smart_lps, sort_by, limit }: SmartPoolsArgs): Promise<SmartPoolRow[]> {
  const statement = smartPools(sort_by, window.from.getTime() === BEGINNING.getTime());
  return sql.query<SmartPoolRow>(statement, [...spanOf(window), pool_type, min_smart_lps, limit]);
}
