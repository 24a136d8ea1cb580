import type { Sql } from '../../../db/sql';
import { Parameters } from './parameters';
import { type Cut, type SmartRule, isPlannedOnce, smartPieces } from './pieces';
import { loadTold, toldName, toldWalletPieces, withState, withTold } from './told-pieces';

/** Smart wallets' own fills on one outcome over a cut, exact decimal texts. */
export interface SmartFlowRow {
  condition_id: string;
  token_id: string;
  buy_usdc: string;
  buy_shares: string;
  net_usdc: string;
  /** Smart wallets that traded the market, on whichever outcome. */
  wallets: number;
}

/** Smart flow of each outcome of these markets; `told`: what is told of the cut, where that is asked already. */
export async function listSmartFlows(
  sql: Sql,
  cut: Cut,
  rule: SmartRule,
  condition_ids: readonly string[],
  told = loadTold(sql, cut, rule),
): Promise<SmartFlowRow[]> {
  const rows = await withTold(await told, (hours) => {
    const parameters = new Parameters();
    const filter = `condition_id = ANY (${parameters.add(condition_ids, 'text[]')})`;
    const pieces =
      hours === null
        ? smartPieces(cut, rule, parameters, filter)
        : toldWalletPieces(cut, rule, hours, { category: null, filter }, parameters);
    const text = `WITH piece AS MATERIALIZED (${pieces}), flow AS (
  SELECT condition_id, token_id, sum(buy_usdc) AS buy_usdc, sum(buy_shares) AS buy_shares, sum(buy_usdc) - sum(sell_usdc) AS net_usdc
  FROM piece GROUP BY 1, 2
), own AS (
  SELECT condition_id, count(*)::int AS wallets FROM (SELECT DISTINCT condition_id, wallet FROM piece) AS member GROUP BY 1
)
${withState('(SELECT flow.*, wallets FROM flow JOIN own USING (condition_id))', hours, parameters)}`;
    const name = `pm_smart_flows_${cut.bounds.length}${toldName(hours)}`;
    return sql.query<SmartFlowRow & { told: number }>({ name, text, keyed: hours !== null || isPlannedOnce(cut) }, parameters.values);
  });
  return rows.filter(({ token_id }) => token_id !== null);
}

/** Number of smart wallets that traded these outcomes of a market. */
export async function countSmartWallets(
  sql: Sql,
  cut: Cut,
  rule: SmartRule,
  condition_id: string,
  token_ids: readonly string[],
): Promise<number> {
  const parameters = new Parameters();
  const filter = `condition_id = ${parameters.add(condition_id, 'text')} AND token_id = ANY (${parameters.add(token_ids, 'text[]')})`;
  const text = `SELECT count(DISTINCT wallet)::int AS wallets FROM (${smartPieces(cut, rule, parameters, filter)}) AS piece`;
  const [row] = await sql.query<{ wallets: number }>({ name: `pm_smart_count_${cut.bounds.length}`, text }, parameters.values);
  return row?.wallets ?? 0;
}
