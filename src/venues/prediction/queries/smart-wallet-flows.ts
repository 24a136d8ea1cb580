import type { Sql } from '../../../db/sql';
import { activeMarkets } from './active-markets';
import { Parameters } from './parameters';
import { type Cut, type SmartRule, smartPieces } from './pieces';

/** What one smart wallet did on one outcome within a cut; exact decimal texts. */
export interface SmartWalletFlow {
  condition_id: string;
  token_id: string;
  wallet: string;
  /** That its newest fill is judged by. */
  score: number;
  buy_usdc: string;
  sell_usdc: string;
  buy_shares: string;
  sell_shares: string;
  first_at: Date;
  last_at: Date;
  first_buy_at: Date | null;
  /** It did nothing on the market before the cut. */
  is_new: boolean;
}

/** Which markets: active ones, of a category or all; or these. */
export type FlowScope = { category: string | null } | { condition_ids: readonly string[] };

/** Smart wallets' flows within a cut of two bounds. */
export function listSmartWalletFlows(sql: Sql, cut: Cut, rule: SmartRule, scope: FlowScope, now: Date): Promise<SmartWalletFlow[]> {
  const parameters = new Parameters();
  const named = 'condition_ids' in scope;
  const pieces = named
    ? smartPieces(cut, rule, parameters, `condition_id = ANY (${parameters.add(scope.condition_ids, 'text[]')})`)
    : smartPieces(cut, rule, parameters, 'true', activeMarkets(parameters.add(now, 'timestamptz'), scope.category && parameters.add(scope.category, 'text'))); // prettier-ignore
  const begin = parameters.add(cut.bounds[0], 'timestamptz');
  const text = `SELECT flow.condition_id, token_id, wallet, score, buy_usdc, sell_usdc, buy_shares, sell_shares, first_at, last_at, first_buy_at,
  NOT EXISTS (SELECT FROM pm_wallet_hour AS before WHERE before.wallet = flow.wallet AND before.condition_id = flow.condition_id AND before.hour < ${begin} AND before.first_at < ${begin}) AS is_new
FROM (
  SELECT condition_id, token_id, wallet, (array_agg(score ORDER BY hour DESC))[1]::float8 AS score, sum(buy_usdc) AS buy_usdc, sum(sell_usdc) AS sell_usdc, sum(buy_shares) AS buy_shares,
    sum(sell_shares) AS sell_shares, min(first_at) AS first_at, max(last_at) AS last_at, min(first_buy_at) AS first_buy_at
  FROM (${pieces}) AS piece GROUP BY condition_id, token_id, wallet
) AS flow`;
  const name = `pm_smart_wallet_flows${named ? '_markets' : scope.category === null ? '' : '_category'}`;
  return sql.query<SmartWalletFlow & Record<string, unknown>>({ name, text }, parameters.values);
}

/** Wallets of at least `min_score` in one run that were on each of these markets before `at`. */
export async function countPriorWallets(
  sql: Sql,
  condition_ids: readonly string[],
  day: string | null,
  min_score: number,
  at: Date,
): Promise<(condition_id: string) => number> {
  const parameters = new Parameters();
  const begin = parameters.add(at, 'timestamptz');
  const text = `SELECT condition_id, count(DISTINCT wallet)::int AS wallets FROM pm_wallet_hour JOIN pm_wallet_score AS scored USING (wallet)
WHERE condition_id = ANY (${parameters.add(condition_ids, 'text[]')}) AND hour < ${begin} AND first_at < ${begin} AND scored.day = ${parameters.add(day, 'date')} AND scored.score >= ${parameters.add(min_score, 'numeric')}
GROUP BY 1`;
  const rows = await sql.query<{ condition_id: string; wallets: number }>({ name: 'pm_prior_wallets', text }, parameters.values);
  const counts = new Map(rows.map((row) => [row.condition_id, row.wallets]));
  return (condition_id) => counts.get(condition_id) ?? 0;
}
