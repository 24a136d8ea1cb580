import type { Sql } from '../../../db/sql';
import { HOUR_MS } from '../../../lib/time';
import { activeMarkets } from './active-markets';
import { Parameters } from './parameters';
import { type Cut, type SmartRule, smartPieces } from './pieces';
import { loadTold, toldWalletPieces, withTold } from './told-pieces';

/** What one smart wallet did on one outcome within a cut; exact decimal texts. */
export interface SmartWalletFlow {
  condition_id: string;
  token_id: string;
  wallet: string;
  /** That its newest fill is judged by. */
  score: number;
  buy_usdc: string;
  sell_usdc: string;
  /** Bought less sold. */
  net_usdc: number;
  buy_shares: string;
  sell_shares: string;
  first_at: Date;
  last_at: Date;
  first_buy_at: Date | null;
}
/** In so many hours smart wallets do little against how many markets are active. */
const FEW_HOURS = 48;

type Row = SmartWalletFlow & { told: number } & Record<string, unknown>;

/** SQL of flows from pieces; `told` is of how many hours are told. */
const flowsOf = (
  pieces: string,
  told: string,
): string => `SELECT condition_id, token_id, wallet, (array_agg(score ORDER BY hour DESC))[1]::float8 AS score, sum(buy_usdc) AS buy_usdc,
  sum(sell_usdc) AS sell_usdc, (sum(buy_usdc) - sum(sell_usdc))::float8 AS net_usdc, sum(buy_shares) AS buy_shares, sum(sell_shares) AS sell_shares, min(first_at) AS first_at, max(last_at) AS last_at, min(first_buy_at) AS first_buy_at, ${told} AS told
FROM (${pieces}) AS piece GROUP BY condition_id, token_id, wallet`;

/** Smart wallets' flows within a cut of two bounds, on these markets. */
export function listSmartWalletFlowsOn(sql: Sql, cut: Cut, rule: SmartRule, condition_ids: readonly string[]): Promise<SmartWalletFlow[]> {
  const parameters = new Parameters();
  const pieces = smartPieces(cut, rule, parameters, `condition_id = ANY (${parameters.add(condition_ids, 'text[]')})`);
  return sql.query<Row>({ name: 'pm_smart_wallet_flows_markets', text: flowsOf(pieces, '0') }, parameters.values);
}

/** Which flows: on active markets of a category or all; with `entered` of wallets that did nothing on the market before these flows, and bought so much of the outcome, USDC. */
export interface FlowScope {
  category: string | null;
  entered: number | null;
  /** Only on markets of which at least so many wallets flow on one outcome. */
  on_one_outcome: number;
}

/** Smart wallets' flows within a cut of two bounds, on active markets. */
export async function listSmartWalletFlows(
  sql: Sql,
  cut: Cut,
  rule: SmartRule,
  { category, entered, on_one_outcome }: FlowScope,
  now: Date,
): Promise<SmartWalletFlow[]> {
  const few_hours = cut.whole.to.getTime() - cut.whole.from.getTime() <= FEW_HOURS * HOUR_MS;
  return withTold(await loadTold(sql, cut, rule), (hours) => {
    const parameters = new Parameters();
    const active = activeMarkets(parameters.add(now, 'timestamptz'), category && parameters.add(category, 'text'));
    const pieces =
      hours === null
        ? smartPieces(cut, rule, parameters, 'true', active)
        : toldWalletPieces(cut, rule, hours, { category: null, markets: active, few_hours }, parameters);
    const flows = flowsOf(pieces, hours === null ? '0' : 'max(told)');
    const chosen = entered === null ? flows : enteredOf(flows, entered, cut, parameters);
    // As a truth value the markets are hashed.
    const text = `WITH flow AS MATERIALIZED (${chosen})
SELECT * FROM flow WHERE (condition_id IN (SELECT condition_id FROM flow GROUP BY condition_id, token_id HAVING count(*) >= ${parameters.add(on_one_outcome, 'int')})) IS TRUE`;
    const name = `pm_smart_wallet_flows${category === null ? '' : '_category'}${entered === null ? '' : '_entered'}${hours === null ? '' : few_hours ? '_hours' : '_told'}`;
    return sql.query<Row>({ name, text }, parameters.values);
  });
}

// Who opened its position within the cut before it was smart did not come as a smart wallet. A split is no fill: it counts before the cut alone.
const enteredOf = (flows: string, usdc: number, cut: Cut, parameters: Parameters): string => {
  const begin = parameters.add(cut.bounds[0], 'timestamptz');
  const entered = `SELECT *, min(first_at) OVER (PARTITION BY condition_id, wallet) AS entered_at FROM (${flows}) AS flow`;
  return `SELECT * FROM (${entered}) AS flow WHERE first_buy_at IS NOT NULL AND buy_usdc >= ${parameters.add(usdc, 'numeric')}
  AND NOT EXISTS (SELECT FROM pm_wallet_hour AS before WHERE before.wallet = flow.wallet AND before.condition_id = flow.condition_id AND before.hour <= flow.entered_at
    AND before.first_at < CASE before.token_id WHEN '' THEN ${begin} ELSE flow.entered_at END)`;
};

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
WHERE condition_id = ANY (${parameters.addUnseen(condition_ids)}) AND hour < ${begin} AND first_at < ${begin} AND scored.day = ${parameters.add(day, 'date')} AND scored.score >= ${parameters.add(min_score, 'numeric')}
GROUP BY 1`;
  const rows = await sql.query<{ condition_id: string; wallets: number }>({ name: 'pm_prior_wallets', text }, parameters.values);
  const counts = new Map(rows.map((row) => [row.condition_id, row.wallets]));
  return (condition_id) => counts.get(condition_id) ?? 0;
}
