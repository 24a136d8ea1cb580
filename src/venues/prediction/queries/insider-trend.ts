import type { Sql } from '../../../db/sql';
import { earliestOf, latestOf } from '../../../lib/time';
import { bucketOf, millisecondsOf } from '../../../lib/tiles';
import type { Window } from '../../../lib/timeframe';
import { Parameters } from './parameters';

/** A stretch of time in which a wallet is flagged; it may have several, none in another. */
export interface FlaggedSpan {
  wallet: string;
  /** Tells wallets apart, from 1. */
  place: number;
  from: Date;
  to: Date;
}

/** Whose trades count: of each wallet while it is flagged, in the window, of one category or all. */
export interface FlaggedScope {
  flagged: readonly FlaggedSpan[];
  window: Window;
  category: string | null;
}

/** Trades of flagged wallets added up. USDC are exact decimal texts, wallets their places, ascending. */
export interface InsiderSums {
  wallet_count: number;
  trades: number;
  buy_usdc: string;
  markets: number;
  buckets: InsiderBucket[];
  categories: { category: string; wallet_count: number; buy_usdc: string }[];
  markets_shown: InsiderMarket[];
}

export interface InsiderBucket {
  /** Its start, milliseconds since 1970. */
  at: number;
  wallets: number[];
  trades: number;
  buy_usdc: string;
  /** Taken: what counts in the market's volume. */
  taker_usdc: string;
  markets: number;
}

export interface InsiderMarket {
  condition_id: string;
  question: string | null;
  wallets: number[];
  usdc: string;
  /** The outcome that each wallet bought most of, its name or token. */
  sides: string[];
}

/** SQL of buys and sells in scope, and of their category where it is asked for. */
function tradesIn({ flagged, window, category }: FlaggedScope, parameters: Parameters): string {
  // For the months alone in which anybody is flagged.
  const since = latestOf([window.from, earliestOf([window.to, ...flagged.map((span) => span.from)])]);
  const until = earliestOf([window.to, latestOf([window.from, ...flagged.map((span) => span.to)])]);
  const spans = [
    parameters.add(flagged.map(({ wallet }) => wallet), 'text[]'),
    parameters.add(flagged.map(({ place }) => place), 'int[]'),
    parameters.add(flagged.map((span) => span.from), 'timestamptz[]'),
    parameters.add(flagged.map((span) => span.to), 'timestamptz[]'),
  ]; // prettier-ignore
  const [from, to] = [parameters.add(since, 'timestamptz'), parameters.add(until, 'timestamptz')];
  const only =
    category === null
      ? ''
      : ` AND trade.condition_id IN (SELECT condition_id FROM pm_market WHERE category = ${parameters.add(category, 'text')})`;
  return `unnest(${spans.join(', ')}) AS flagged(wallet, place, since, until) JOIN pm_trade AS trade ON trade.wallet = flagged.wallet AND trade."timestamp" >= flagged.since AND trade."timestamp" < flagged.until
    AND trade."timestamp" >= ${from} AND trade."timestamp" < ${to} AND trade.side IN ('BUY', 'SELL')${only}`;
}

/** Sums over the scope: every bucket and category in no order, the `most` markets with most USDC, and the whole; null without a trade. */
export async function findInsiderSums(sql: Sql, scope: FlaggedScope, bucket_ms: number, most: number): Promise<InsiderSums | null> {
  const parameters = new Parameters();
  const bucket = bucketOf('trade."timestamp"', parameters.addLength(bucket_ms));
  const limit = parameters.add(most, 'int');
  // Trades are added up once, what is told of them from their sums. Markets are told apart by number on the way: their ids are long.
  const text = `WITH cell AS MATERIALIZED (
  SELECT cell.*, hashtextextended(condition_id, 0) AS market FROM (
    SELECT flagged.place AS wallet, trade.condition_id, trade.token_id, ${bucket} AS bucket, count(*)::int AS trades, sum(trade.usdc_size) AS usdc,
      COALESCE(sum(trade.usdc_size) FILTER (WHERE trade.side = 'BUY'), 0) AS buy_usdc, COALESCE(sum(trade.usdc_size) FILTER (WHERE trade.is_taker), 0) AS taker_usdc
    FROM ${tradesIn(scope, parameters)} GROUP BY 1, 2, 3, 4
  ) AS cell
), traded AS MATERIALIZED (
  SELECT own.*, COALESCE(market.category, 'Other') AS category FROM (
    SELECT market AS number, min(condition_id) AS condition_id, sum(usdc) AS usdc, sum(buy_usdc) AS buy_usdc FROM cell GROUP BY market
  ) AS own JOIN pm_market AS market ON market.condition_id = own.condition_id
), category AS (
  SELECT category, count(DISTINCT wallet)::int AS wallet_count FROM (SELECT DISTINCT market, wallet FROM cell) AS met JOIN traded ON traded.number = met.market GROUP BY category
), bucket AS (
  SELECT ${millisecondsOf('bucket')} AS at, array_agg(DISTINCT wallet) AS wallets, sum(trades)::int AS trades, sum(buy_usdc)::text AS buy_usdc, sum(taker_usdc)::text AS taker_usdc,
    count(DISTINCT market)::int AS markets FROM cell GROUP BY bucket
), shown AS MATERIALIZED (
  SELECT * FROM traded ORDER BY usdc DESC, condition_id LIMIT ${limit}
), bought AS (
  SELECT shown.condition_id, wallet, token_id, sum(cell.buy_usdc) AS buys FROM cell JOIN shown ON shown.number = cell.market GROUP BY 1, 2, 3
), side AS (
  SELECT condition_id, array_agg(wallet ORDER BY wallet) AS wallets, array_agg(COALESCE(token.outcome, token_id) ORDER BY wallet) AS sides FROM (
    SELECT DISTINCT ON (condition_id, wallet) condition_id, wallet, token_id FROM bought ORDER BY condition_id, wallet, buys DESC, token_id
  ) AS most LEFT JOIN pm_outcome AS token USING (condition_id, token_id) GROUP BY condition_id
)
SELECT count(DISTINCT wallet)::int AS wallet_count, sum(trades)::int AS trades, sum(buy_usdc) AS buy_usdc, (SELECT count(*)::int FROM traded) AS markets,
  (SELECT json_agg(told) FROM bucket AS told) AS buckets,
  (SELECT json_agg(told) FROM (SELECT category, wallet_count, sum(buy_usdc)::text AS buy_usdc FROM traded JOIN category USING (category) GROUP BY category, wallet_count) AS told) AS categories,
  (SELECT json_agg(told) FROM (SELECT condition_id, question, wallets, usdc::text AS usdc, sides FROM shown JOIN side USING (condition_id) JOIN pm_market USING (condition_id)) AS told) AS markets_shown
FROM cell HAVING count(*) > 0`;
  const [sums] = await sql.query<InsiderSums>(
    // A kept plan goes wallet by wallet through many suspects: three times as long at a million.
    { name: `pm_insider_sums${scope.category === null ? '' : '_category'}`, text },
    parameters.values,
  );
  return sums ?? null;
}

/** When the newest trade in the scope was; null where there is none. */
export async function findNewestFlagged(sql: Sql, scope: FlaggedScope): Promise<Date | null> {
  const parameters = new Parameters();
  const text = `SELECT max(trade."timestamp") AS at FROM ${tradesIn(scope, parameters)}`;
  const [row] = await sql.query<{ at: Date | null }>(
    { name: `pm_newest_flagged${scope.category === null ? '' : '_category'}`, text },
    parameters.values,
  );
  return row?.at ?? null;
}

/** USDC bought in the scope, an exact decimal text. */
export async function getInsiderBuys(sql: Sql, scope: FlaggedScope): Promise<string> {
  const parameters = new Parameters();
  const text = `SELECT COALESCE(sum(trade.usdc_size) FILTER (WHERE trade.side = 'BUY'), 0) AS buys FROM ${tradesIn(scope, parameters)}`;
  const [row] = await sql.query<{ buys: string }>(
    { name: `pm_insider_buys${scope.category === null ? '' : '_category'}`, text },
    parameters.values,
  );
  return row?.buys ?? '0';
}
