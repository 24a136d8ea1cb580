import type { Sql } from '../../../db/sql';
import type { Window } from '../../../lib/timeframe';
import { SHARPE_MIN } from '../positions/figures';
import { positionsSql } from '../rollups/positions-as-of';
import { S_PM } from '../scoring/parameters';
import { MACHINE_TAGS } from '../scoring/tiers';
import { Parameters } from './parameters';
import { cutAt, walletPieces } from './pieces';

export type LeaderboardMetric = 'sharpe' | 'roi' | 'win_rate' | 'pnl' | 'volume';

/** Whose positions, and how they are ranked. */
export interface LeaderboardFilter {
  window: Window;
  now: Date;
  /** Positions that what is kept does not tell as of now (loadOverlay). */
  overlay: string;
  category: string | null;
  metric: LeaderboardMetric;
  /** Ended positions at least, refunded ones not counted. */
  min_trades: number;
  /** Day of the score run that tells machines, or null. */
  score_day: string | null;
  include_bots: boolean;
  limit: number;
}

/** A ranked wallet. */
export interface LeaderboardRow {
  wallet: string;
  counted: number;
  wins: number;
  rank_value: number;
}

/** D-SHARPE's ranking value leans to 0 for few positions. */
const SHARPE_PRIOR = 20;
const Z = S_PM.significant_z;

/** SQL of Wilson's lower bound of `wins` of `counted`. */
const WILSON = `GREATEST((wins / counted::float8 + ${Z ** 2} / (2 * counted) - ${Z} * sqrt(wins / counted::float8 * (1 - wins / counted::float8) / counted + ${Z ** 2} / (4.0 * counted * counted))) / (1 + ${Z ** 2} / counted), 0)`;

const RANKS: Record<LeaderboardMetric, string> = {
  sharpe: `CASE WHEN priced >= ${SHARPE_MIN} AND spread > 0 THEN mean / spread * priced / (priced + ${SHARPE_PRIOR}.0) END`,
  roi: `COALESCE(mean, 0) * priced / (priced + ${S_PM.return_prior}.0)`,
  win_rate: `CASE WHEN counted > 0 THEN ${WILSON} END`,
  pnl: 'pnl::float8',
  volume: 'volume::float8',
};

/** SQL of a position's return, cut; null where nothing was paid (LEAST and GREATEST pass over nulls). */
export const RETURN = `CASE WHEN paid_usdc > 0 THEN LEAST(GREATEST(gain::float8 / paid_usdc::float8, ${S_PM.return_min}), ${S_PM.return_max}) END`;

/** SQL of the returns' number, mean and deviation. The last two share one pass of PostgreSQL's. */
export const RETURNS = `count(*) FILTER (WHERE paid_usdc > 0)::int AS priced, avg(${RETURN}) AS mean, stddev_samp(${RETURN}) AS spread`;

/** SQL of figures over ended positions, by wallet. */
export const COUNTS = `count(*) FILTER (WHERE status <> 'voided')::int AS counted, count(*) FILTER (WHERE status <> 'voided' AND gain > 0)::int AS wins`;

/** SQL of what a metric ranks by besides. */
const NEEDS: Record<LeaderboardMetric, string> = {
  sharpe: `, ${RETURNS}`,
  roi: `, ${RETURNS}`,
  win_rate: '',
  pnl: ', sum(gain) AS pnl',
  volume: '',
};

const MACHINES = `ARRAY['${MACHINE_TAGS.join("','")}']`;

/** SQL condition: the wallet is no machine in the run of that day. */
export const noMachine = (day: string): string =>
  `wallet NOT IN (SELECT wallet FROM pm_wallet_score WHERE day = ${day} AND tags && ${MACHINES})`;

/** Wallets ranked by positions that ended in the window, best first. */
export function listLeaders(sql: Sql, filter: LeaderboardFilter): Promise<LeaderboardRow[]> {
  const parameters = new Parameters();
  const [now, overlay] = [parameters.add(filter.now, 'timestamptz'), parameters.add(filter.overlay, 'jsonb')];
  const [from, to] = [parameters.add(filter.window.from, 'timestamptz'), parameters.add(filter.window.to, 'timestamptz')];
  const least = parameters.add(filter.min_trades, 'int');
  const category = filter.category === null ? null : parameters.add(filter.category, 'text');
  const markets = category === null ? 'true' : `condition_id IN (SELECT condition_id FROM pm_market WHERE category = ${category})`;
  const ended = positionsSql(
    now,
    overlay,
    `status <> 'open' AND paid_shares > 0 AND closed_at >= ${from} AND closed_at <= ${to} AND ${markets}`,
  );
  const machines = filter.include_bots || filter.score_day === null ? 'true' : noMachine(parameters.add(filter.score_day, 'date'));
  const volume =
    filter.metric === 'volume'
      ? `JOIN (SELECT wallet, sum(buy_usdc + sell_usdc) AS volume FROM (${walletPieces(cutAt([filter.window.from, filter.window.to]), parameters, markets)}) AS piece GROUP BY wallet) AS traded USING (wallet)`
      : '';
  const limit = parameters.add(filter.limit, 'int');
  const text = `WITH figures AS (
  SELECT wallet, ${COUNTS}${NEEDS[filter.metric]} FROM (${ended}) AS position GROUP BY wallet
  HAVING count(*) FILTER (WHERE status <> 'voided') >= ${least}
)
SELECT wallet, counted, wins, rank_value FROM (SELECT *, ${RANKS[filter.metric]} AS rank_value FROM figures ${volume}) AS ranked
WHERE rank_value IS NOT NULL AND ${machines} ORDER BY rank_value DESC, wallet LIMIT ${limit}`;
  const name = `pm_leaders_${filter.metric}${category === null ? '' : '_category'}${machines === 'true' ? '_all' : ''}`;
  return sql.query<LeaderboardRow & Record<string, unknown>>({ name, text }, parameters.values);
}

/** USDC bought and sold in the window by wallet, exact decimal texts. */
export async function listPeriodVolumes(
  sql: Sql,
  wallets: readonly string[],
  window: Window,
  category: string | null,
): Promise<Map<string, string>> {
  const parameters = new Parameters();
  const chosen = parameters.add(wallets, 'text[]');
  const markets =
    category === null
      ? ''
      : ` AND condition_id IN (SELECT condition_id FROM pm_market WHERE category = ${parameters.add(category, 'text')})`;
  const pieces = walletPieces(cutAt([window.from, window.to]), parameters, `wallet = ANY (${chosen})${markets}`);
  const text = `SELECT wallet, sum(buy_usdc + sell_usdc) AS volume FROM (${pieces}) AS piece GROUP BY wallet`;
  const rows = await sql.query<{ wallet: string; volume: string }>(
    { name: `pm_period_volumes${category === null ? '' : '_category'}`, text },
    parameters.values,
  );
  return new Map(rows.map(({ wallet, volume }) => [wallet, volume]));
}
