import { afterwards } from '../../../db/segments';
import type { Sql, Statement } from '../../../db/sql';
import { BEGINNING, type Window } from '../../../lib/timeframe';
import type { PoolType } from '../chain-addresses';
import { dayOf } from '../rollups/days';
import { newestScore } from '../rollups/smart';
import { lastIn } from './presence';
import { type Filter, flowSumsOfLife, flowsIn, ofType, smartFlowsIn } from './span';
import { spanOf } from './window-span';

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

/** Says nothing new of days of the window, but which months of facts there may be any in. */
const IN_WINDOW = 'e."timestamp" >= $1 AND e."timestamp" < $2';

/**
 * The rows of `pairs`, a table of (pool_address, owner), with what they did in the pool on their smart days of the window (`net`), of a day that a bound cuts by its
 * facts, and their newest `score`; none of who did nothing.
 */
const netsOf = (pairs: string): string => `
SELECT c.*, n.net, n.score FROM ${pairs} c CROSS JOIN LATERAL (
  SELECT sum(d.net) AS net, ${newestScore('d.dated_score')} AS score FROM (
    SELECT d.dated_score, CASE WHEN d.first_at >= $1 AND d.last_at < $2 THEN d.deposit_usd - d.withdraw_usd ELSE (
      SELECT coalesce(sum(CASE e.kind WHEN 'deposit' THEN e.usd WHEN 'withdraw' THEN -e.usd END), 0) FROM lp_event e
      WHERE e.owner = d.owner AND e.pool_address = d.pool_address AND e."timestamp" >= greatest($1, d.day) AND e."timestamp" < least($2, d.day + interval '1 day') AND ${IN_WINDOW}
      HAVING count(*) > 0) END AS net
    FROM lp_smart_day d WHERE d.pool_address = c.pool_address AND d.owner = c.owner AND d.day >= ${dayOf('$1::timestamptz')} AND d.day < $2 AND d.first_at < $2 AND d.last_at >= $1 OFFSET 0
  ) d WHERE d.net IS NOT NULL HAVING count(*) > 0
) n`;

/**
 * The largest of each ranked pool. Who was smart in it in the window alone is told by all of it, and found at the end of an index. Of those who were so before it as
 * well, nobody is among them who never put in or took out as much as the last of those. `again` are those who were so after it.
 */
const largest = (life: boolean): string => `
inside AS MATERIALIZED (
  SELECT r.rank, l.* FROM ranked r CROSS JOIN LATERAL (
    SELECT p.owner, p.deposit_usd - p.withdraw_usd AS net, p.score FROM lp_smart_pool p
    WHERE p.pool_address = r.pool_address AND p.first_at >= $1 AND p.last_at < $2 ORDER BY abs(p.deposit_usd - p.withdraw_usd) DESC, p.owner COLLATE "C" LIMIT ${SHOWN}) l
), ${life ? '' : LONGER}placed AS (
  SELECT o.*, row_number() OVER (PARTITION BY o.rank ORDER BY abs(o.net) DESC, o.owner COLLATE "C") AS place FROM (
    SELECT * FROM inside
    ${after('UNION ALL SELECT r.rank, b.owner, b.net, b.score FROM ranked r JOIN again b ON b.pool_address = r.pool_address')}
    ${life ? '' : `UNION ALL SELECT l.rank, l.owner, l.net, l.score FROM (${netsOf('longer')}) l`}
  ) o
)`;

const LONGER = `bar AS MATERIALIZED (
  SELECT r.rank, r.pool_address, CASE WHEN count(i.owner) = ${SHOWN} THEN min(abs(i.net)) ELSE 0 END AS usd FROM ranked r LEFT JOIN inside i ON i.rank = r.rank GROUP BY r.rank, r.pool_address
), longer AS MATERIALIZED (
  SELECT b.rank, p.pool_address, p.owner FROM bar b JOIN lp_smart_pool p ON p.pool_address = b.pool_address AND greatest(p.deposit_usd, p.withdraw_usd) >= b.usd
  WHERE p.first_at < $1 AND p.last_at >= $1 AND p.last_at < $2
), `;

/** A part that only says something of who was smart after the window as well. */
const after = (sql: string): string => afterwards('$2::timestamptz', sql);
const AGAIN = `back AS MATERIALIZED (SELECT h.pool_address, h.owner FROM lp_smart_pool h WHERE h.first_at < $2 AND h.last_at >= $2 ${ofType(7)('h')}
), again AS MATERIALIZED (${netsOf('back')}
), `;

/** The pools of most members, and all that have as many as the last of them: what was done decides between these alone. */
const MOST = `most AS MATERIALIZED (
  SELECT m.* FROM members m WHERE m.n >= coalesce((SELECT l.n FROM members l ORDER BY l.n DESC OFFSET $9 - 1 LIMIT 1), 0)
), `;

/**
 * An event is smart when the newest run before its day gave its owner at least SMART_SCORE; the owner shows the newest such score. Who was smart in a pool
 * last in the window is counted by the day of it; who was so after the window as well (`back`) by each of its days. `life`: it begins before everything.
 */
function smartPools(sort: SmartPoolsSort, life: boolean): Statement {
  const order = `ORDER BY ${sort} DESC NULLS LAST, smart_volume_usd DESC, pool_address COLLATE "C"`;
  // What all providers did is added up for the pools shown alone, where it does not choose them.
  const shown = sort === 'smart_share_pct' ? '' : `${order} LIMIT $9`;
  const byCount = sort === 'smart_lp_count';
  const ofMembers: Filter = byCount ? (alias) => `AND ${alias}.pool_address = ANY(ARRAY(SELECT pool_address FROM most))` : ofType(7);
  const isFirst: Filter = (alias) => `AND ${alias}.pool_address IN (SELECT pool_address FROM first)`;
  return {
    name: `lp_smart_pools_${sort}_${Number(life)}`,
    text: `
WITH ${after(AGAIN)}members AS (
  SELECT pool_address, sum(n)::int AS n, sum(scores) / sum(n) AS avg_score FROM (
    SELECT h.pool_address, h.owners AS n, h.scores FROM lp_smart_last h WHERE ${lastIn('h', 1, life)} ${ofType(7)('h')}
    UNION ALL SELECT h.pool_address, 1, h.score FROM lp_smart_pool h WHERE h.last_at >= $1 AND h.last_at < $2 AND (h.last_at < $5 OR h.last_at >= $6) ${ofType(7)('h')}
    ${after('UNION ALL SELECT pool_address, 1, score FROM again')}
  ) m GROUP BY pool_address HAVING sum(n) >= $8
), ${byCount ? MOST : ''}flows AS (
  SELECT pool_address, sum(deposit_usd) AS deposit_usd, sum(withdraw_usd) AS withdraw_usd, sum(claim_usd) AS claim_usd FROM (${smartFlowsIn(1, ofMembers)}) f GROUP BY pool_address
), pools AS (
  SELECT m.pool_address, m.n AS smart_lp_count, f.deposit_usd + f.withdraw_usd AS smart_volume_usd, f.deposit_usd - f.withdraw_usd AS smart_net_usd,
    m.avg_score AS avg_lp_score, f.claim_usd AS fees_claimed_by_smart_usd FROM ${byCount ? 'most' : 'members'} m JOIN flows f ON f.pool_address = m.pool_address
), first AS MATERIALIZED (SELECT * FROM pools ${shown}
), totals AS MATERIALIZED (
  ${
    life
      ? `SELECT pool_address, deposit_usd + withdraw_usd AS total_volume_usd, unpriced FROM (${flowSumsOfLife(1, isFirst)}) f`
      : `SELECT pool_address, sum(deposit_usd + withdraw_usd) AS total_volume_usd, sum(unpriced)::int AS unpriced FROM (${flowsIn(1, isFirst)}) f GROUP BY pool_address`
  }
), ranked AS MATERIALIZED (
  SELECT q.*, (row_number() OVER (${order}))::int AS rank FROM (
    SELECT p.*, t.total_volume_usd, t.unpriced, 100 * p.smart_volume_usd / nullif(t.total_volume_usd, 0) AS smart_share_pct
    FROM first p JOIN totals t ON t.pool_address = p.pool_address
  ) q ORDER BY rank LIMIT $9
), ${largest(life)}, foremost AS MATERIALIZED (
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
