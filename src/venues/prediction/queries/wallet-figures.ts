import type { Sql, Statement } from '../../../db/sql';
import type { Window } from '../../../lib/timeframe';
import { SHARPE_MIN } from '../positions/figures';
import { positionsSql } from '../rollups/positions-as-of';
import { S_PM } from '../scoring/parameters';
import { RETURN } from './ended-figures';
import type { WalletsScope } from './known-positions';

/** Figures of a wallet's positions, of one category or (null) of all; amounts are exact decimal texts. Those of ended ones are of such that ended in the window. */
export interface WalletFigures {
  wallet: string;
  category: string | null;
  /** Buys and sells, their USDC, on how many markets, the first position and the last trade. */
  trades: number;
  volume: string;
  markets: number;
  last_trade_at: Date | null;
  /** Positions ever held, and those open at some time of the window. */
  held: number;
  seen: number;
  ended: number;
  resolved: number;
  voided: number;
  /** Ended with a gain, with a loss. */
  winning: number;
  losing: number;
  /** Ended without refunded ones, and with a gain among them. */
  counted: number;
  wins: number;
  pnl: string;
  cost: string;
  /** Gains and losses apart, both positive. */
  gained: string;
  lost: string;
  sharpe: number | null;
  brier: number | null;
  avg_entry_price: number | null;
  /** Of all categories alone: largest fall of the running gain from its peak, which begins at 0, in the order in which positions ended. */
  max_drawdown: string | null;
  /** Of all categories alone: gain of the event that gained most over the net gain of all, cut to 1; null without one. */
  largest_event_share: number | null;
}

// Figures as figuresOf and largestEventShare tell them, added up where the positions are. Texts are long: what is kept and grouped on the way are numbers.
const FIGURES: Statement = {
  name: 'pm_wallet_figures',
  text: `WITH own AS MATERIALIZED (
  SELECT w, category, market, event, token_id, trades, traded, last_trade_at, paid_usdc, gain, closed_at, voided, resolved, chosen,
    chosen AND NOT open AND closed_at >= $4 AND closed_at <= $5 AS ended, chosen AND opened_at < $5 AND (open OR closed_at >= $4) AS seen,
    ${RETURN} AS returned, entry, CASE WHEN resolved THEN (entry - COALESCE(payout, 0)::float8) ^ 2 END AS miss
  FROM (SELECT array_position($1::text[], wallet) AS w, COALESCE(market.category, 'Other') AS category, hashtextextended(position.condition_id, 0) AS market,
      hashtextextended(COALESCE(market.event_slug, position.condition_id), 0) AS event, token_id, trades, buy_usdc + sell_usdc AS traded, last_trade_at, paid_usdc, gain, opened_at, position.closed_at, payout,
      status = 'open' AS open, status = 'voided' AS voided, status = 'resolved' AS resolved, CASE WHEN paid_shares > 0 THEN paid_usdc::float8 / paid_shares::float8 END AS entry,
      paid_shares > 0 AND ($6::text IS NULL OR COALESCE(market.category, 'Other') = $6) AS chosen
    FROM (${positionsSql('$2', '$3', 'wallet = ANY ($1)')}) AS position LEFT JOIN pm_market AS market ON market.condition_id = position.condition_id) AS judged
), event AS (
  SELECT w, CASE WHEN sum(gain) > 0 THEN LEAST(1, max(gain)::float8 / sum(gain)::float8) END AS largest_event_share FROM (
    SELECT w, sum(gain) AS gain FROM own WHERE ended AND NOT voided AND paid_usdc >= ${S_PM.min_cost_usdc} GROUP BY w, event
  ) AS gained GROUP BY w
), fall AS (
  SELECT w, max(GREATEST(peak, 0) - running) AS largest_fall FROM (
    SELECT w, running, max(running) OVER (PARTITION BY w ORDER BY closed_at, token_id ROWS UNBOUNDED PRECEDING) AS peak FROM (
      SELECT w, closed_at, token_id, sum(gain) OVER (PARTITION BY w ORDER BY closed_at, token_id ROWS UNBOUNDED PRECEDING) AS running FROM own WHERE ended
    ) AS walk
  ) AS steps GROUP BY w
), told AS (
  SELECT w, category, COALESCE(sum(trades), 0)::int AS trades, COALESCE(sum(traded) FILTER (WHERE trades > 0), 0) AS volume, max(last_trade_at) FILTER (WHERE trades > 0) AS last_trade_at,
    count(*) FILTER (WHERE chosen)::int AS held, count(*) FILTER (WHERE seen)::int AS seen, count(*) FILTER (WHERE ended)::int AS ended,
    count(*) FILTER (WHERE ended AND resolved)::int AS resolved, count(*) FILTER (WHERE ended AND voided)::int AS voided,
    count(*) FILTER (WHERE ended AND gain > 0)::int AS winning, count(*) FILTER (WHERE ended AND gain < 0)::int AS losing,
    count(*) FILTER (WHERE ended AND NOT voided)::int AS counted, count(*) FILTER (WHERE ended AND NOT voided AND gain > 0)::int AS wins,
    COALESCE(sum(gain) FILTER (WHERE ended), 0) AS pnl, COALESCE(sum(paid_usdc) FILTER (WHERE ended), 0) AS cost,
    COALESCE(sum(gain) FILTER (WHERE ended AND gain > 0), 0) AS gained, COALESCE(-sum(gain) FILTER (WHERE ended AND gain < 0), 0) AS lost,
    count(*) FILTER (WHERE ended AND paid_usdc > 0) AS priced, avg(returned) FILTER (WHERE ended) AS mean, stddev_samp(returned) FILTER (WHERE ended) AS spread,
    avg(miss) FILTER (WHERE ended) AS brier, avg(entry) FILTER (WHERE ended AND NOT voided) AS avg_entry_price
  FROM own GROUP BY GROUPING SETS ((w), (w, category))
), traded AS (
  SELECT w, category, count(*)::int AS markets FROM (SELECT DISTINCT w, category, market FROM own WHERE trades > 0) AS market GROUP BY GROUPING SETS ((w), (w, category))
)
SELECT ($1::text[])[told.w] AS wallet, told.category, trades, volume, COALESCE(markets, 0) AS markets, last_trade_at, held, seen, ended, resolved, voided, winning, losing, counted, wins, pnl, cost, gained, lost,
  CASE WHEN priced >= ${SHARPE_MIN} AND spread > 0 THEN mean / spread END AS sharpe, brier, avg_entry_price,
  CASE WHEN told.category IS NULL THEN COALESCE(largest_fall, 0) END AS max_drawdown, CASE WHEN told.category IS NULL THEN largest_event_share END AS largest_event_share
FROM told LEFT JOIN traded ON traded.w = told.w AND traded.category IS NOT DISTINCT FROM told.category LEFT JOIN fall ON fall.w = told.w LEFT JOIN event ON event.w = told.w`,
};

/** Figures of the wallets' positions, by wallet and category and of all of a wallet, in no order; with `category` those of other categories count as trades alone. */
export const listWalletFigures = (
  sql: Sql,
  { wallets, now, overlay }: WalletsScope,
  { from, to }: Window,
  category: string | null,
): Promise<WalletFigures[]> => sql.query<WalletFigures & Record<string, unknown>>(FIGURES, [wallets, now, overlay, from, to, category]);
