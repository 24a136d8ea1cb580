import type { Sql, Statement } from '../../../db/sql';
import { BEGINNING, type Window } from '../../../lib/timeframe';
import type { PoolType } from '../chain-addresses';
import { datedScore, newestScore } from '../rollups/smart';
import { days, type Filter, flowsIn, ofType, partDaysIn, smartOn, spanOf } from './span';

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

/** Providers shown of a pool. */
const SHOWN = 5;

/** The largest of each ranked pool, by what they did in it on their smart days of the window: pool by pool, so that of each only these are put in order. */
const LARGEST_OF_RANKED = `
SELECT r.rank, o.owner, o.net, o.score FROM ranked r CROSS JOIN LATERAL (
  SELECT owner, sum(net) AS net, ${newestScore('dated_score')} AS score FROM (
    SELECT h.owner, h.dated_score, h.deposit_usd - h.withdraw_usd AS net FROM lp_smart_day h WHERE h.pool_address = r.pool_address AND ${days(1)}
    UNION ALL SELECT e.owner, e.dated_score, e.deposit_usd - e.withdraw_usd FROM parts e WHERE e.pool_address = r.pool_address
  ) d GROUP BY owner ORDER BY abs(sum(net)) DESC, owner LIMIT ${SHOWN}) o`;

const isBack: Filter = (alias) => `AND (${alias}.pool_address, ${alias}.owner) IN (SELECT pool_address, owner FROM back)`;

/** The same of those who were smart in a pool after the window as well. */
const OWNERS_BACK = `
SELECT pool_address, owner, sum(net) AS net, ${newestScore('dated_score')} AS score FROM (
  SELECT h.pool_address, h.owner, h.dated_score, h.deposit_usd - h.withdraw_usd AS net FROM lp_smart_day h WHERE ${days(1)} ${isBack('h')}
  UNION ALL SELECT e.pool_address, e.owner, e.dated_score, e.deposit_usd - e.withdraw_usd FROM parts e WHERE true ${isBack('e')}
) d GROUP BY pool_address, owner`;

/** The largest of each ranked pool in a window that begins before everything: who was not back after it is found at the end of an index. */
const LARGEST_OF_LIFE = `
SELECT r.rank, l.owner, l.net, l.score FROM ranked r CROSS JOIN LATERAL (
  SELECT p.owner, p.deposit_usd - p.withdraw_usd AS net, p.score FROM lp_smart_pool p
  WHERE p.pool_address = r.pool_address AND p.last_at < $2 ORDER BY abs(p.deposit_usd - p.withdraw_usd) DESC, p.owner LIMIT ${SHOWN}) l
UNION ALL SELECT r.rank, b.owner, b.net, b.score FROM ranked r JOIN again b ON b.pool_address = r.pool_address`;

/**
 * An event is smart when the newest run before its day gave its owner at least SMART_SCORE; the owner shows the newest such score. Who was smart in a pool
 * last in the window is counted by the day of it; who was so after the window as well (`back`) by each of its days. `life`: it begins before everything.
 */
function smartPools(sort: SmartPoolsSort, life: boolean): Statement {
  const order = `ORDER BY ${sort} DESC NULLS LAST, smart_volume_usd DESC, pool_address`;
  // What all providers did is added up for the pools shown alone, where it does not choose them.
  const shown = sort === 'smart_share_pct' ? '' : `${order} LIMIT $9`;
  const isFirst: Filter = (alias) => `AND ${alias}.pool_address IN (SELECT pool_address FROM first)`;
  return {
    name: `lp_smart_pools_${sort}_${Number(life)}`,
    text: `
WITH events AS MATERIALIZED (SELECT e.*, (e.hour AT TIME ZONE 'UTC')::date AS day FROM (${partDaysIn(1, ofType(7))}) e WHERE e.owner <> ''
), parts AS MATERIALIZED (
  SELECT e.pool_address, e.owner, ${datedScore('e.day', 's.score')} AS dated_score, e.deposit_usd, e.withdraw_usd, e.claim_usd
  FROM events e JOIN (${smartOn('SELECT DISTINCT day FROM events')}) s ON s.owner = e.owner AND s.day = e.day
), back AS MATERIALIZED (SELECT h.pool_address, h.owner FROM lp_smart_pool h WHERE h.first_at < $2 AND h.last_at >= $2 ${ofType(7)('h')}
), again AS MATERIALIZED (${OWNERS_BACK}
), members AS (
  SELECT pool_address, sum(n)::int AS n, sum(scores) / sum(n) AS avg_score FROM (
    SELECT h.pool_address, h.owners AS n, h.scores FROM lp_smart_last_day h WHERE ${days(1)} ${ofType(7)('h')}
    UNION ALL SELECT h.pool_address, 1, h.score FROM lp_smart_pool h WHERE h.last_at >= $1 AND h.last_at < $2 AND (h.last_at < $5 OR h.last_at >= $6) ${ofType(7)('h')}
    UNION ALL SELECT pool_address, 1, score FROM again
  ) m GROUP BY pool_address HAVING sum(n) >= $8
), flows AS (
  SELECT pool_address, sum(deposit_usd) AS deposit_usd, sum(withdraw_usd) AS withdraw_usd, sum(claim_usd) AS claim_usd FROM (
    SELECT h.pool_address, h.deposit_usd, h.withdraw_usd, h.claim_usd FROM lp_smart_flow_day h WHERE ${days(1)} ${ofType(7)('h')}
    UNION ALL SELECT pool_address, deposit_usd, withdraw_usd, claim_usd FROM parts
  ) f GROUP BY pool_address
), pools AS (
  SELECT m.pool_address, m.n AS smart_lp_count, f.deposit_usd + f.withdraw_usd AS smart_volume_usd, f.deposit_usd - f.withdraw_usd AS smart_net_usd,
    m.avg_score AS avg_lp_score, f.claim_usd AS fees_claimed_by_smart_usd FROM members m JOIN flows f ON f.pool_address = m.pool_address
), first AS MATERIALIZED (SELECT * FROM pools ${shown}
), totals AS MATERIALIZED (
  SELECT pool_address, sum(deposit_usd + withdraw_usd) AS total_volume_usd, sum(unpriced)::int AS unpriced FROM (${flowsIn(1, isFirst)}) f GROUP BY pool_address
), ranked AS MATERIALIZED (
  SELECT q.*, (row_number() OVER (${order}))::int AS rank FROM (
    SELECT p.*, t.total_volume_usd, t.unpriced, 100 * p.smart_volume_usd / nullif(t.total_volume_usd, 0) AS smart_share_pct
    FROM first p JOIN totals t ON t.pool_address = p.pool_address
  ) q ORDER BY rank LIMIT $9
), placed AS (
  SELECT o.*, row_number() OVER (PARTITION BY o.rank ORDER BY abs(o.net) DESC, o.owner) AS place FROM (${life ? LARGEST_OF_LIFE : LARGEST_OF_RANKED}) o
), foremost AS MATERIALIZED (
  SELECT rank, json_agg(json_build_object('owner', owner, 'lp_score', score, 'net_usd', net) ORDER BY place) AS smart_lps FROM placed WHERE place <= ${SHOWN} GROUP BY rank
)
SELECT r.*, o.smart_lps FROM ranked r JOIN foremost o ON o.rank = r.rank ORDER BY r.rank`,
  };
}

/** Pools in which smart providers take part; ties by their volume, then address. */
export function listSmartPools(sql: Sql, { window, pool_type, min_smart_lps, sort_by, limit }: SmartPoolsArgs): Promise<SmartPoolRow[]> {
  const statement = smartPools(sort_by, window.from.getTime() === BEGINNING.getTime());
  return sql.query<SmartPoolRow>(statement, [...spanOf(window), pool_type, min_smart_lps, limit]);
}
