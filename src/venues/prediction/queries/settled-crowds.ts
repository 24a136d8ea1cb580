import type { Sql } from '../../../db/sql';
import { LEAST_REST } from '../consensus';
import { FEWEST_TRADES } from '../rollups/told-crowds';
import { scores } from './market-resolutions';
import { Parameters } from './parameters';

/**
 * SQL of the crowds of resolved markets for each bound of a score from `lowest` to `highest`, columns of pm_settled_crowd: what wallets with at most so high a score were net on when
 * their market was resolved. A wallet is judged by what was known before the UTC day of the resolution: the newest run of `days` (SQL of an array of dates, oldest first), and its
 * trades until then; never by later ones. `markets` is SQL of a condition on pm_market. Voided markets have no crowd.
 */
export const settledCrowds = (markets: string, days: string, lowest: string, highest: string): string => `WITH judged AS MATERIALIZED (
  SELECT condition_id, resolved_at, (resolved_at AT TIME ZONE 'UTC')::date AS ended_on, (${days})[width_bucket((resolved_at AT TIME ZONE 'UTC')::date - 1, ${days})] AS day
  FROM pm_market WHERE resolved_at >= ((${days})[1] + 1)::timestamp AT TIME ZONE 'UTC' AND NOT is_voided AND ${markets}
), stance AS MATERIALIZED (
  SELECT position.condition_id, position.token_id, position.wallet, score, resolved_at, ended_on, position.settled_cost AS usdc, position.payout > 0 AS won
  FROM judged JOIN pm_position AS position USING (condition_id)
  JOIN ${scores(`score <= ${highest}`)} AS scored ON scored.wallet = position.wallet AND scored.day = judged.day
  WHERE position.settled_cost > 0
), several AS (
  SELECT condition_id, wallet, sum(usdc) AS usdc FROM stance GROUP BY 1, 2 HAVING count(*) > 1
), known AS (
  SELECT wallet, since FROM pm_known_since(ARRAY(SELECT DISTINCT wallet FROM stance), ${FEWEST_TRADES}) AS known
), part AS (
  SELECT condition_id, token_id, resolved_at, GREATEST(ceil(score)::int, ${lowest}) AS bound, count(*) AS wallets, sum(2 * stance.usdc - COALESCE(several.usdc, stance.usdc)) AS usdc, bool_or(won) AS won
  FROM stance JOIN known USING (wallet) LEFT JOIN several USING (condition_id, wallet)
  WHERE (known.since AT TIME ZONE 'UTC')::date < ended_on AND 2 * stance.usdc - COALESCE(several.usdc, stance.usdc) >= ${LEAST_REST} GROUP BY 1, 2, 3, 4
), side AS (
  SELECT condition_id, token_id, resolved_at, bound, sum(wallets) OVER upward AS wallets, sum(usdc) OVER upward AS usdc, bool_or(won) OVER upward AS won
  FROM (SELECT condition_id, token_id, resolved_at, generate_series(min(bound), ${highest}) AS bound FROM part GROUP BY 1, 2, 3) AS every LEFT JOIN part USING (condition_id, token_id, resolved_at, bound)
  WINDOW upward AS (PARTITION BY condition_id, token_id ORDER BY bound)
)
SELECT bound AS max_score, condition_id, resolved_at, sum(wallets)::int AS wallets, sum(usdc) AS usdc, max(usdc) AS top_usdc, (array_agg(won ORDER BY usdc DESC, token_id))[1] AS won
FROM side GROUP BY 1, 2, 3`;

/** Which tenth a share is in, 0 to 9; 1 belongs to the last. In SQL as well. */
export const tenthOf = (share: number): number => Math.min(Math.floor(10 * share + 1e-9), 9);
const tenthSql = (share: string): string => `LEAST(floor(10 * ${share} + 1e-9), 9)::int`;

/** Resolved markets whose crowd's largest side held a share of its USDC in one tenth: how many, and of how many that side lost. */
export interface FadedTenth {
  tenth: number;
  markets: number;
  faded: number;
}

/** Which crowds count: of wallets that score at most a whole score, with at least so many wallets and so much net USDC, all sides together. */
export interface SettledScope {
  max_score: number;
  min_wallets: number;
  min_usdc: number;
}

/**
 * How often those lost who score low, of markets resolved until `now` by how much of the crowd's money was on one side. As it is told, but for markets of which anything was
 * written since: these are counted anew by the runs of `days`.
 */
export function countFaded(
  sql: Sql,
  days: readonly string[],
  { max_score, min_wallets, min_usdc }: SettledScope,
  now: Date,
): Promise<FadedTenth[]> {
  const parameters = new Parameters();
  const bound = parameters.add(max_score, 'int');
  const due = settledCrowds('condition_id IN (SELECT condition_id FROM pm_settled_due)', parameters.add(days, 'date[]'), bound, bound);
  const text = `SELECT ${tenthSql('(top_usdc / usdc)')} AS tenth, count(*)::int AS markets, (count(*) FILTER (WHERE NOT won))::int AS faded FROM (
  SELECT resolved_at, wallets, usdc, top_usdc, won FROM pm_settled_crowd WHERE max_score = ${bound} AND condition_id NOT IN (SELECT condition_id FROM pm_settled_due)
  UNION ALL SELECT resolved_at, wallets, usdc, top_usdc, won FROM (${due}) AS crowd
) AS crowd WHERE resolved_at <= ${parameters.add(now, 'timestamptz')} AND usdc > 0 AND usdc >= ${parameters.add(min_usdc, 'numeric')} AND wallets >= ${parameters.add(min_wallets, 'int')} GROUP BY 1`;
  return sql.query<FadedTenth>({ name: 'pm_faded_crowds', text, keyed: true }, parameters.values);
}
