import type { Sql, Statement } from '../../../db/sql';
import { BEGINNING, type Window } from '../../../lib/timeframe';
import { Parameters } from './parameters';
import { categoryPieces } from './taken-pieces';
import { IS_MACHINE, SMART_SCORE } from '../scoring/tiers';

/** Totals of the venue in a window; amounts are exact decimal texts, null where there is nothing to average. */
export interface PlatformTotals {
  total_volume_usdc: string;
  total_trades: number;
  active_traders: number;
  active_markets: number;
  resolved_markets: number;
  smart_wallet_count: number;
  new_traders: number;
  new_markets: number;
  active_smart_wallets: number;
  smart_volume_usdc: string;
  bot_volume_usdc: string;
  median_trade_size_usdc: string | null;
}

// Each match once, by its taker; wallets are counted by any of their fills. The median is exact: the mean of the two middle ones.
const TOTALS: Statement = {
  name: 'pm_platform_totals',
  text: `WITH fills AS MATERIALIZED (
  SELECT wallet, condition_id, usdc_size, is_taker FROM pm_trade WHERE "timestamp" >= $1 AND "timestamp" < $2 AND side IN ('BUY', 'SELL')
), wallets AS (
  SELECT wallet, COALESCE(sum(usdc_size) FILTER (WHERE is_taker), 0) AS volume, count(*) FILTER (WHERE is_taker) AS trades FROM fills GROUP BY wallet
), scores AS (
  SELECT wallet, score >= ${SMART_SCORE} AS smart, ${IS_MACHINE} AS machine FROM pm_wallet_score WHERE day = $3::date
), traders AS (
  SELECT count(*)::int AS active_traders, COALESCE(sum(trades), 0)::int AS total_trades, COALESCE(sum(volume), 0) AS total_volume_usdc,
    count(*) FILTER (WHERE smart)::int AS active_smart_wallets, COALESCE(sum(volume) FILTER (WHERE smart), 0) AS smart_volume_usdc,
    COALESCE(sum(volume) FILTER (WHERE machine), 0) AS bot_volume_usdc
  FROM wallets LEFT JOIN scores USING (wallet)
)
SELECT traders.*,
  (SELECT count(*)::int FROM (SELECT condition_id FROM fills GROUP BY condition_id) AS traded) AS active_markets,
  (SELECT count(*)::int FROM pm_market WHERE resolved_at >= $1 AND resolved_at < $2) AS resolved_markets,
  (SELECT count(*)::int FROM pm_market WHERE created_at >= $1 AND created_at < $2) AS new_markets,
  (SELECT count(*)::int FROM pm_wallet WHERE first_trade_at >= $1 AND first_trade_at < $2) AS new_traders,
  (SELECT count(*)::int FROM scores WHERE smart) AS smart_wallet_count,
  (SELECT (percentile_disc(0.5) WITHIN GROUP (ORDER BY usdc_size) + percentile_disc(0.5) WITHIN GROUP (ORDER BY usdc_size DESC)) / 2 FROM fills WHERE is_taker) AS median_trade_size_usdc
FROM traders`,
};

const ANYTHING: Statement = {
  name: 'pm_platform_anything',
  text: `SELECT EXISTS (SELECT 1 FROM pm_trade WHERE "timestamp" >= $1 AND "timestamp" < $2) OR EXISTS (SELECT 1 FROM pm_market WHERE NOT is_stub AND (created_at IS NULL OR created_at < $2)) AS found`,
};

/** Totals of the window; scores are those of the run of `score_day` (null: nobody is scored). */
export async function getPlatformTotals(sql: Sql, window: Window, score_day: string | null): Promise<PlatformTotals> {
  const [row] = await sql.query<PlatformTotals>(TOTALS, [window.from, window.to, score_day]);
  return row as PlatformTotals;
}

/** What was taken in a window, each match once. */
export interface Taken {
  volume: string;
  trades: number;
}

/** USDC and trades taken in the window. */
export async function getTaken(sql: Sql, window: Window): Promise<Taken> {
  const parameters = new Parameters();
  const pieces = categoryPieces([window.from, window.to], { category: null, named: false, grain: 'day' }, parameters);
  const text = `SELECT COALESCE(sum(buy_usdc + sell_usdc), 0) AS volume, COALESCE(sum(buys + sells), 0)::int AS trades FROM (${pieces}) AS piece`;
  const [row] = await sql.query<Taken>({ name: 'pm_platform_taken', text, keyed: true }, parameters.values);
  return row as Taken;
}

/** Whether the store holds anything of the venue from before `now`. */
export async function hasAnything(sql: Sql, now: Date): Promise<boolean> {
  const [row] = await sql.query<{ found: boolean }>(ANYTHING, [BEGINNING, now]);
  return row?.found ?? false;
}
