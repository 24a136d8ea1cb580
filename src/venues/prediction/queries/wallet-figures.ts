import type { Sql, Statement } from '../../../db/sql';
import type { Window } from '../../../lib/timeframe';
import { positionsSql } from '../rollups/positions-as-of';
import { holdsTold } from '../rollups/told-categories';
import { LEAST_GAIN, S_PM } from '../scoring/parameters';
import { RETURN, SHARPE } from './ended-figures';
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
  /** Of all categories alone: largest fall of the running gain from its peak, which begins at 0, told once for all positions that ended at one instant. */
  max_drawdown: string | null;
  /** Of all categories alone: gain of the event that gained most over the net gain of all, cut to 1; null without one. */
  largest_event_share: number | null;
}

const COLUMNS =
  'trades, volume, markets, last_trade_at, held, seen, ended, resolved, voided, winning, losing, counted, wins, pnl, cost, gained, lost, sharpe, brier, avg_entry_price, max_drawdown, largest_event_share';

/** Columns of pm_told_figures: those of `figuresSql`, category '' for all. */
export const FIGURE_COLUMNS = `wallet, category, ${COLUMNS}, first_ended_at`;

/**
 * SQL condition: what is told of the wallet of `figures`, of all that ever ended, holds for a window from `from` up to `to`: nothing happened to the wallet since,
 * and nothing of it ended before.
 */
const figuresHold = (from: string, to: string): string =>
  `${holdsTold('figures.wallet', to)} AND (first_ended_at IS NULL OR first_ended_at >= ${from})`;

/** Whose figures: SQL of positions, of the number or name that tells their wallets apart, of the wallet it stands for; of the window they ended in and the category or null. */
interface FiguresScope {
  positions: string;
  own: string;
  wallet: (own: string) => string;
  from: string;
  to: string;
  category: string;
}

// What ends at one instant is one step of the running gain: what one side of a market lost is not lost before the other has won.
// Win rates as winRatesOf, the largest event as largestEventShare tells it, added up where the positions are. Texts are long: what is kept and grouped on the way are numbers.
/** SQL of WalletFigures, and of when the first position of the wallet ended. */
export const figuresSql = ({ positions, own, wallet, from, to, category }: FiguresScope): string => `WITH own AS MATERIALIZED (
  SELECT w, category, market, event, trades, traded, last_trade_at, paid_usdc, gain, closed_at, voided, resolved, chosen,
    chosen AND NOT open AND closed_at >= ${from} AND closed_at <= ${to} AS ended, chosen AND opened_at < ${to} AND (open OR closed_at >= ${from}) AS seen,
    ${RETURN} AS returned, entry, CASE WHEN resolved THEN (entry - COALESCE(payout, 0)::float8) ^ 2 END AS miss
  FROM (SELECT ${own} AS w, COALESCE(market.category, 'Other') AS category, hashtextextended(position.condition_id, 0) AS market,
      hashtextextended(COALESCE(market.event_slug, position.condition_id), 0) AS event, trades, buy_usdc + sell_usdc AS traded, last_trade_at, paid_usdc, gain, opened_at, position.closed_at, payout,
      status = 'open' AS open, status = 'voided' AS voided, status = 'resolved' AS resolved, CASE WHEN paid_shares > 0 THEN paid_usdc::float8 / paid_shares::float8 END AS entry,
      paid_shares > 0 AND (${category} IS NULL OR COALESCE(market.category, 'Other') = ${category}) AS chosen
    FROM (${positions}) AS position LEFT JOIN pm_market AS market ON market.condition_id = position.condition_id) AS judged
), event AS (
  SELECT w, CASE WHEN sum(gain) >= ${LEAST_GAIN} THEN LEAST(1, max(gain)::float8 / sum(gain)::float8) END AS largest_event_share FROM (
    SELECT w, sum(gain) AS gain FROM own WHERE ended AND NOT voided AND paid_usdc >= ${S_PM.min_cost_usdc} GROUP BY w, event
  ) AS gained GROUP BY w
), fall AS (
  SELECT w, max(GREATEST(peak, 0) - running) AS largest_fall FROM (
    SELECT w, running, max(running) OVER (PARTITION BY w ORDER BY closed_at) AS peak FROM (
      SELECT w, closed_at, sum(gain) OVER (PARTITION BY w ORDER BY closed_at) AS running FROM own WHERE ended
    ) AS walk
  ) AS steps GROUP BY w
), told AS (
  SELECT w, category, COALESCE(sum(trades), 0)::int AS trades, COALESCE(sum(traded) FILTER (WHERE trades > 0), 0) AS volume, max(last_trade_at) FILTER (WHERE trades > 0) AS last_trade_at,
    count(*) FILTER (WHERE chosen)::int AS held, count(*) FILTER (WHERE seen)::int AS seen, count(*) FILTER (WHERE ended)::int AS ended,
    count(*) FILTER (WHERE ended AND resolved)::int AS resolved, count(*) FILTER (WHERE ended AND voided)::int AS voided,
    count(*) FILTER (WHERE ended AND gain >= ${LEAST_GAIN})::int AS winning, count(*) FILTER (WHERE ended AND gain <= -${LEAST_GAIN})::int AS losing,
    count(*) FILTER (WHERE ended AND NOT voided)::int AS counted, count(*) FILTER (WHERE ended AND NOT voided AND gain >= ${LEAST_GAIN})::int AS wins,
    COALESCE(sum(gain) FILTER (WHERE ended), 0) AS pnl, COALESCE(sum(paid_usdc) FILTER (WHERE ended), 0) AS cost,
    COALESCE(sum(gain) FILTER (WHERE ended AND gain >= ${LEAST_GAIN}), 0) AS gained, COALESCE(-sum(gain) FILTER (WHERE ended AND gain <= -${LEAST_GAIN}), 0) AS lost,
    count(*) FILTER (WHERE ended AND paid_usdc > 0) AS priced, avg(returned) FILTER (WHERE ended) AS mean, stddev_samp(returned) FILTER (WHERE ended) AS spread,
    min(closed_at) FILTER (WHERE ended) AS first_ended_at, avg(miss) FILTER (WHERE ended) AS brier, avg(entry) FILTER (WHERE ended AND NOT voided) AS avg_entry_price
  FROM own GROUP BY GROUPING SETS ((w), (w, category))
), traded AS (
  SELECT w, category, count(*)::int AS markets FROM (SELECT DISTINCT w, category, market FROM own WHERE trades > 0) AS market GROUP BY GROUPING SETS ((w), (w, category))
)
SELECT ${wallet('told.w')} AS wallet, told.category, trades, volume, COALESCE(markets, 0) AS markets, last_trade_at, held, seen, ended, resolved, voided, winning, losing, counted, wins, pnl, cost, gained, lost,
  ${SHARPE} AS sharpe, brier, avg_entry_price,
  CASE WHEN told.category IS NULL THEN COALESCE(largest_fall, 0) END AS max_drawdown, CASE WHEN told.category IS NULL THEN largest_event_share END AS largest_event_share,
  min(first_ended_at) OVER (PARTITION BY told.w) AS first_ended_at
FROM told LEFT JOIN traded ON traded.w = told.w AND traded.category IS NOT DISTINCT FROM told.category LEFT JOIN fall ON fall.w = told.w LEFT JOIN event ON event.w = told.w`;

const FIGURES: Statement = {
  name: 'pm_wallet_figures',
  text: figuresSql({
    positions: positionsSql('$2', '$3', 'wallet = ANY ($1)'),
    own: 'array_position($1::text[], wallet)',
    wallet: (own) => `($1::text[])[${own}]`,
    from: '$4',
    to: '$5',
    category: '$6::text',
  }),
};

const TOLD: Statement = {
  name: 'pm_told_figures',
  keyed: true,
  text: `SELECT wallet, NULLIF(category, '') AS category, ${COLUMNS} FROM pm_told_figures AS figures WHERE wallet = ANY ($1) AND ${figuresHold('$2', '$3')}`,
};

/** Figures of the wallets' positions, by wallet and category and of all of a wallet, in no order; with `category` those of other categories count as trades alone. */
export async function listWalletFigures(
  sql: Sql,
  { wallets, now, overlay }: WalletsScope,
  { from, to }: Window,
  category: string | null,
): Promise<WalletFigures[]> {
  const told = category === null ? await sql.query<WalletFigures>(TOLD, [wallets, from, to]) : [];
  const known = new Set(told.map(({ wallet }) => wallet));
  const rest = wallets.filter((wallet) => !known.has(wallet));
  if (rest.length === 0) return told;
  return [...told, ...(await sql.query<WalletFigures>(FIGURES, [rest, now, overlay, from, to, category]))];
}
