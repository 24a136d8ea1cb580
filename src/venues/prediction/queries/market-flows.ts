import type { Sql } from '../../../db/sql';
import { Parameters } from './parameters';
import { type Cut, type SmartRule, smartPieces, walletPieces } from './pieces';

/** Smart wallets' own fills on one outcome over a cut, exact decimal texts. */
export interface SmartFlowRow {
  condition_id: string;
  token_id: string;
  buy_usdc: string;
  sell_usdc: string;
  buy_shares: string;
  net_usdc: string;
}

/** Smart flow of each outcome of these markets. */
export function listSmartFlows(sql: Sql, cut: Cut, rule: SmartRule, condition_ids: readonly string[]): Promise<SmartFlowRow[]> {
  const parameters = new Parameters();
  const filter = `condition_id = ANY (${parameters.add(condition_ids, 'text[]')})`;
  const text = `SELECT condition_id, token_id, sum(buy_usdc) AS buy_usdc, sum(sell_usdc) AS sell_usdc, sum(buy_shares) AS buy_shares, sum(buy_usdc) - sum(sell_usdc) AS net_usdc
FROM (${smartPieces(cut, rule, parameters, filter)}) AS piece GROUP BY 1, 2`;
  return sql.query<SmartFlowRow & Record<string, unknown>>({ name: `pm_smart_flows_${cut.bounds.length}`, text }, parameters.values);
}

/** Different wallets of a market over a cut. */
export interface MarketWalletsRow {
  condition_id: string;
  wallets: number;
}

/** Smart wallets that traded each of these markets, or these outcomes of theirs. */
export function listSmartCounts(
  sql: Sql,
  cut: Cut,
  rule: SmartRule,
  condition_ids: readonly string[],
  token_ids: readonly string[] | null = null,
): Promise<MarketWalletsRow[]> {
  const parameters = new Parameters();
  const market = `condition_id = ANY (${parameters.add(condition_ids, 'text[]')})`;
  const filter = token_ids === null ? market : `${market} AND token_id = ANY (${parameters.add(token_ids, 'text[]')})`;
  const text = `SELECT condition_id, count(DISTINCT wallet)::int AS wallets FROM (${smartPieces(cut, rule, parameters, filter)}) AS piece GROUP BY 1`;
  return sql.query<MarketWalletsRow & Record<string, unknown>>(
    { name: `pm_smart_counts_${cut.bounds.length}${token_ids === null ? '' : '_tokens'}`, text },
    parameters.values,
  );
}

/** Takers of each of these markets. */
export function listTakerCounts(sql: Sql, cut: Cut, condition_ids: readonly string[]): Promise<MarketWalletsRow[]> {
  const parameters = new Parameters();
  const filter = `condition_id = ANY (${parameters.add(condition_ids, 'text[]')})`;
  const text = `SELECT condition_id, count(DISTINCT wallet)::int AS wallets FROM (${walletPieces(cut, parameters, filter)}) AS piece WHERE taker_buys + taker_sells > 0 GROUP BY 1`;
  return sql.query<MarketWalletsRow & Record<string, unknown>>({ name: `pm_taker_counts_${cut.bounds.length}`, text }, parameters.values);
}
