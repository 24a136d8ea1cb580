import type { Sql } from '../../../db/sql';
import { SHARPE_MIN } from '../positions/figures';
import { positionsSql } from '../rollups/positions-as-of';
import { S_PM } from '../scoring/parameters';
import { PM_TAGS } from '../scoring/tags';
import { COUNTS, RETURNS } from './ended-figures';
import { Parameters } from './parameters';
import { noMachine } from './wallet-leaderboard';

export type ExpertSort = 'category_sharpe' | 'category_pnl' | 'category_volume' | 'category_edge';

export interface ExpertFilter {
  category: string;
  /** Ended positions there at least, refunded ones not counted. */
  min_positions: number;
  specialists_only: boolean;
  sort_by: ExpertSort;
  /** Day of the score run that tells machines, or null. */
  score_day: string | null;
  now: Date;
  overlay: string;
  limit: number;
}

/** A wallet inside a category, exact decimal texts. */
export interface ExpertRow {
  wallet: string;
  pnl: string;
  cost: string;
  counted: number;
  wins: number;
  ended: number;
  held: number;
  open: number;
  volume: string;
  whole_volume: string;
  last_trade: Date | null;
}

const ORDERS: Record<ExpertSort, string> = {
  category_sharpe: `CASE WHEN priced >= ${SHARPE_MIN} AND spread > 0 THEN mean / spread * priced / (priced + 20.0) END`,
  category_pnl: 'pnl',
  category_volume: 'volume',
  category_edge: 'edge',
};

// The edge of S-PM: entries that forecast, weighed by age.
const COUNTED = `status <> 'voided' AND paid_usdc >= ${S_PM.min_cost_usdc} AND paid_usdc < ${S_PM.carry_entry} * paid_shares`;
const ENDED = "status <> 'open' AND paid_shares > 0";

/** Best wallets inside one category, over all positions that ended there. */
export function listExperts(sql: Sql, filter: ExpertFilter): Promise<ExpertRow[]> {
  const parameters = new Parameters();
  const [now, overlay] = [parameters.add(filter.now, 'timestamptz'), parameters.add(filter.overlay, 'jsonb')];
  const category = parameters.add(filter.category, 'text');
  const least = parameters.add(filter.min_positions, 'int');
  const machines = filter.score_day === null ? 'true' : noMachine(parameters.add(filter.score_day, 'date'));
  const limit = parameters.add(filter.limit, 'int');
  const inCategory = positionsSql(now, overlay, `condition_id IN (SELECT condition_id FROM pm_market WHERE category = ${category})`);
  const weight = `power(2, -extract(epoch FROM ${now} - closed_at)::float8 / ${S_PM.half_life_days * 86_400})`;
  const brought = '((received_usdc + payout_usdc - paid_usdc) / NULLIF(paid_shares, 0))::float8';
  const special = filter.specialists_only
    ? `AND held >= ${PM_TAGS.specialist.positions} AND volume >= ${PM_TAGS.specialist.share} * whole_volume`
    : '';
  const text = `WITH here AS MATERIALIZED (${inCategory}), ended AS (
  SELECT wallet, sum(gain) AS pnl, sum(paid_usdc) AS cost, ${COUNTS}, ${RETURNS}, count(*)::int AS ended, sum(${weight} * ${brought}) FILTER (WHERE ${COUNTED}) / NULLIF(sum(${weight}) FILTER (WHERE ${COUNTED}), 0) AS edge
  FROM here WHERE ${ENDED} GROUP BY wallet HAVING count(*) FILTER (WHERE status <> 'voided') >= ${least}
), held AS (
  SELECT wallet, count(*) FILTER (WHERE paid_shares > 0)::int AS held, count(*) FILTER (WHERE status = 'open')::int AS open, sum(buy_usdc + sell_usdc) AS volume, max(last_trade_at) AS last_trade
  FROM here WHERE wallet IN (SELECT wallet FROM ended) GROUP BY wallet
), whole AS (
  SELECT wallet, sum(buy_usdc + sell_usdc) AS whole_volume FROM (${positionsSql(now, overlay, 'wallet IN (SELECT wallet FROM ended)')}) AS everything GROUP BY wallet
)
SELECT wallet, pnl, cost, counted, wins, ended, held, open, volume, whole_volume, last_trade FROM ended JOIN held USING (wallet) JOIN whole USING (wallet)
WHERE ${machines} ${special} ORDER BY ${ORDERS[filter.sort_by]} DESC NULLS LAST, wallet LIMIT ${limit}`;
  const name = `pm_experts_${filter.sort_by}${filter.specialists_only ? '_special' : ''}${machines === 'true' ? '_all' : ''}`;
  return sql.query<ExpertRow & Record<string, unknown>>({ name, text }, parameters.values);
}
