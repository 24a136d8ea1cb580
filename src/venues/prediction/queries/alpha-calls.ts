import type { Sql, Statement } from '../../../db/sql';
import { DAY_MS, HOUR_MS, earliestOf, latestOf } from '../../../lib/time';
import { Parameters } from './parameters';

/** Which early purchases are looked at. */
export interface AlphaFilter {
  now: Date;
  /** Markets resolved at most so many days before now. */
  days_back: number;
  /** Bought so many days before resolution at least. */
  min_days_early: number;
  min_bet_usdc: number;
  category: string | null;
}

/** First early purchase of a wallet on an outcome of a market resolved since: one transaction. */
export interface EarlyBet {
  wallet: string;
  condition_id: string;
  question: string | null;
  category: string;
  token_id: string;
  outcome: string;
  won: boolean;
  winning_outcome: string;
  at: Date;
  usdc: number;
  shares: number;
  resolved_at: Date;
}

/** Highest average price, as it is told (to the millionth), of an entry that others do not see coming. */
const MOST_PRICE = 0.5;
const MIN_DAYS = (days: string): string => `make_interval(days => ${days})`;

/** SQL condition: a market is among those looked at. */
function resolvedIn({ now: at, days_back, category }: AlphaFilter, parameters: Parameters): string {
  const now = parameters.add(at, 'timestamptz');
  const only = category === null ? '' : ` AND category = ${parameters.add(category, 'text')}`;
  return `resolved_at >= ${now} - ${MIN_DAYS(parameters.add(days_back, 'int'))} AND resolved_at <= ${now} AND NOT is_voided AND winning_outcome IS NOT NULL${only}`;
}

const scoped = (name: string, { category }: AlphaFilter): string => `${name}${category === null ? '' : '_category'}`;

/** The first fill of all on the markets looked at; null without any. */
async function findFirstFill(sql: Sql, filter: AlphaFilter): Promise<Date | null> {
  const parameters = new Parameters();
  const text = `SELECT min(first_at) AS since FROM pm_market JOIN pm_market_total USING (condition_id) WHERE ${resolvedIn(filter, parameters)}`;
  const [row] = await sql.query<{ since: Date | null }>({ name: scoped('pm_early_since', filter), text }, parameters.values);
  return row?.since ?? null;
}

/** Early purchases at 0.5 or less of at least `min_bet_usdc`, right ones and wrong ones. One of so little that it cost nothing is no bet: it has no price. */
export async function listEarlyBets(sql: Sql, filter: AlphaFilter): Promise<EarlyBet[]> {
  const since = await findFirstFill(sql, filter);
  if (since === null) return [];
  const parameters = new Parameters();
  const resolved = resolvedIn(filter, parameters);
  const early = parameters.add(filter.min_days_early, 'int');
  const least = parameters.add(String(filter.min_bet_usdc), 'numeric');
  const [from, to] = [since, new Date(filter.now.getTime() - filter.min_days_early * DAY_MS)].map((at) =>
    parameters.add(at, 'timestamptz'),
  );
  // Markets are met with their outcomes apart: the planner, who expects two of all bets to have an outcome, would compare each bet with each market.
  const text = `WITH market AS (
  SELECT condition_id, question, category, winning_outcome, resolved_at FROM pm_market
  WHERE ${resolved}
), told AS MATERIALIZED (
  SELECT market.*, token_id, outcome FROM market JOIN pm_outcome USING (condition_id)
), bet AS (
  SELECT trade.wallet, trade.condition_id, trade.token_id, COALESCE(trade.tx_hash, trade."timestamp"::text) AS tx, min(trade."timestamp") AS at, sum(trade.usdc_size) AS usdc, sum(trade.size) AS shares
  FROM market JOIN pm_trade AS trade ON trade.condition_id = market.condition_id AND trade."timestamp" <= market.resolved_at - ${MIN_DAYS(early)} AND trade.side = 'BUY'
    AND trade."timestamp" >= ${from} AND trade."timestamp" <= ${to}
  GROUP BY trade.wallet, trade.condition_id, trade.token_id, tx
  HAVING sum(trade.usdc_size) >= ${least} AND sum(trade.usdc_size) > 0 AND sum(trade.usdc_size) < ${MOST_PRICE + 5e-7} * sum(trade.size)
)
SELECT DISTINCT ON (bet.condition_id, bet.wallet, bet.token_id) bet.wallet, bet.condition_id, question, category, bet.token_id, outcome,
  outcome = winning_outcome AS won, winning_outcome, bet.at, bet.usdc::float8 AS usdc, bet.shares::float8 AS shares, resolved_at
FROM bet JOIN told ON told.condition_id = bet.condition_id AND told.token_id = bet.token_id
ORDER BY bet.condition_id, bet.wallet, bet.token_id, bet.at, bet.tx`;
  return sql.query<EarlyBet>({ name: scoped('pm_early_bets', filter), text }, parameters.values);
}

/** USDC taken on a market in one hour. */
export interface MarketHour {
  condition_id: string;
  hour: Date;
  usdc: number;
}

// Of the hour in which a market was resolved what was taken from then on, which is hardly ever anything, is taken off.
const HOURS: Statement = {
  name: 'pm_market_hours',
  text: `SELECT condition_id, hour::timestamptz AS hour, sum(usdc)::float8 AS usdc FROM (
  SELECT kept.condition_id, hour, buy_usdc + sell_usdc - CASE WHEN close_at >= market.resolved_at THEN (
    SELECT COALESCE(sum(usdc_size), 0) FROM pm_trade AS trade WHERE trade.condition_id = kept.condition_id AND trade.token_id = kept.token_id AND trade.is_taker AND trade.side IN ('BUY', 'SELL')
      AND trade."timestamp" >= $2 AND trade."timestamp" < $3 AND trade."timestamp" >= market.resolved_at AND trade."timestamp" < kept.hour + interval '1 hour'
  ) ELSE 0 END AS usdc
  FROM pm_token_hour AS kept JOIN pm_market AS market ON market.condition_id = kept.condition_id WHERE kept.condition_id = ANY($1) AND hour < market.resolved_at
) AS piece GROUP BY condition_id, hour ORDER BY condition_id, hour`,
};

/** Hours of these markets, each with when it was resolved, with any trade before that, oldest first. */
export function listMarketHours(sql: Sql, resolved: ReadonlyMap<string, Date>): Promise<MarketHour[]> {
  if (resolved.size === 0) return Promise.resolve([]);
  const ends = [...resolved.values()];
  return sql.query<MarketHour>(HOURS, [[...resolved.keys()], earliestOf(ends), new Date(latestOf(ends).getTime() + HOUR_MS)]);
}
