import type { Sql } from '../../../db/sql';
import { positionsSql } from '../rollups/positions-as-of';
import { toldCategory } from '../rollups/told-categories';
import { PM_TAGS } from '../scoring/tags';
import { RANKS } from './ended-figures';
import { Parameters } from './parameters';
import { noMachine } from './wallet-leaderboard';

export const EXPERT_SORTS = ['category_sharpe', 'category_pnl', 'category_volume', 'category_edge'] as const;
export type ExpertSort = (typeof EXPERT_SORTS)[number];

/** Who is ranked, and as of when. */
export interface ExpertScope {
  category: string;
  /** Ended positions there at least, refunded ones not counted. */
  min_positions: number;
  /** Day of the score run that tells machines, or null. */
  score_day: string | null;
  now: Date;
  overlay: string;
  limit: number;
}

export interface ExpertFilter extends ExpertScope {
  specialists_only: boolean;
  sort_by: ExpertSort;
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

/** Such a wallet with its places from 1, in the order of EXPERT_SORTS. */
export interface RankedExpert extends ExpertRow {
  places: number[];
  /** Among specialists; null for others. */
  special_places: number[] | null;
}

const ORDERS: Record<ExpertSort, string> = {
  category_sharpe: RANKS.sharpe,
  category_pnl: 'pnl',
  category_volume: 'volume',
  category_edge: 'edge',
};

const COLUMNS = 'wallet, pnl, cost, counted, wins, ended, held, open, volume, whole_volume, last_trade';
// Who only split or was given shares has no volume to concentrate.
const SPECIAL = `volume > 0 AND held >= ${PM_TAGS.specialist.positions} AND volume >= ${PM_TAGS.specialist.share} * whole_volume`;

/** SQL of wallets that qualify, and what a statement of it is named after. */
function ableSql(
  { category, min_positions, score_day, now, overlay }: ExpertScope,
  parameters: Parameters,
): { able: string; kind: string } {
  const [at, later] = [parameters.add(now, 'timestamptz'), parameters.add(overlay, 'jsonb')];
  const told = toldCategory(parameters.add(category, 'text'), at, (wallets) => positionsSql(at, later, `wallet = ANY (${wallets})`));
  const machines = score_day === null ? 'true' : noMachine(parameters.add(score_day, 'date'));
  const able = `SELECT *, ${SPECIAL} AS is_special FROM (${told}) AS figures WHERE counted >= ${parameters.add(min_positions, 'int')} AND ${machines}`;
  return { able, kind: score_day === null ? '_all' : '' };
}

/** Best wallets inside one category, over all positions that ended there. */
export function listExperts(sql: Sql, filter: ExpertFilter): Promise<ExpertRow[]> {
  const parameters = new Parameters();
  const { able, kind } = ableSql(filter, parameters);
  const text = `SELECT ${COLUMNS} FROM (${able}) AS able WHERE ${filter.specialists_only ? 'is_special' : 'true'} ORDER BY ${ORDERS[filter.sort_by]} DESC NULLS LAST, wallet LIMIT ${parameters.add(filter.limit, 'int')}`;
  const name = `pm_experts_${filter.sort_by}${filter.specialists_only ? '_special' : ''}${kind}`;
  return sql.query<ExpertRow>({ name, text }, parameters.values);
}

/** The best in every order, among all and among specialists, in no order themselves. */
export function listRankedExperts(sql: Sql, scope: ExpertScope): Promise<RankedExpert[]> {
  const parameters = new Parameters();
  const { able, kind } = ableSql(scope, parameters);
  const limit = parameters.add(scope.limit, 'int');
  const places = (among: string): string =>
    `ARRAY[${EXPERT_SORTS.map((sort_by) => `row_number() OVER (${among} ORDER BY ${ORDERS[sort_by]} DESC NULLS LAST, wallet)::int`).join(', ')}]`;
  const text = `SELECT ${COLUMNS}, places, CASE WHEN is_special THEN special_places END AS special_places
FROM (SELECT *, ${places('')} AS places, ${places('PARTITION BY is_special')} AS special_places FROM (${able}) AS able) AS placed
WHERE ${limit} >= ANY (places) OR is_special AND ${limit} >= ANY (special_places)`;
  return sql.query<RankedExpert>({ name: `pm_ranked_experts${kind}`, text }, parameters.values);
}
