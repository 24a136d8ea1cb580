import type { Sql } from '../../../db/sql';
import type { Window } from '../../../lib/timeframe';
import { Parameters } from './parameters';

/** Whose trades count: of each wallet from the time it is flagged on, in the window, of one category or all. */
export interface FlaggedScope {
  flagged: ReadonlyMap<string, Date>;
  window: Window;
  category: string | null;
}

/** Trades of flagged wallets added up by bucket, by category, by market or altogether, exact decimal texts. */
export interface InsiderSums {
  bucket: Date | null;
  category: string | null;
  condition_id: string | null;
  /** Of buckets and markets: places in `flagged`, from 1. */
  wallets: number[] | null;
  wallet_count: number;
  trades: number;
  usdc: string;
  buy_usdc: string;
  /** Taken: what counts in the market's volume. */
  taker_usdc: string;
  markets: number;
  /** Of markets: the outcome that each wallet bought most of, its name or token. */
  sides: string[] | null;
}

/** SQL of buys and sells in scope, and of their category where it is asked for. */
function tradesIn({ flagged, window, category }: FlaggedScope, parameters: Parameters): string {
  const wallets = parameters.add([...flagged.keys()], 'text[]');
  const since = parameters.add([...flagged.values()], 'timestamptz[]');
  const [from, to] = [parameters.add(window.from, 'timestamptz'), parameters.add(window.to, 'timestamptz')];
  const only =
    category === null
      ? ''
      : ` AND trade.condition_id IN (SELECT condition_id FROM pm_market WHERE category = ${parameters.add(category, 'text')})`;
  return `unnest(${wallets}, ${since}) WITH ORDINALITY AS flagged(wallet, since, place) JOIN pm_trade AS trade ON trade.wallet = flagged.wallet AND trade."timestamp" >= flagged.since
    AND trade."timestamp" >= ${from} AND trade."timestamp" < ${to} AND trade.side IN ('BUY', 'SELL')${only}`;
}

/** Sums over the scope, in no order: every bucket and category, the `most` markets with most USDC, and the whole; nothing without a trade. */
export function listInsiderSums(sql: Sql, scope: FlaggedScope, bucket_ms: number, most: number): Promise<InsiderSums[]> {
  const parameters = new Parameters();
  const bucket = `date_bin(${parameters.add(`${bucket_ms} milliseconds`, 'interval')}, trade."timestamp", timestamptz '1970-01-01T00:00:00Z')`;
  const limit = parameters.add(most, 'int');
  // Markets are looked up once a cell, not once a trade. Wallets and markets are told apart by number: texts are long.
  const text = `WITH cell AS MATERIALIZED (
  SELECT cell.*, hashtextextended(cell.condition_id, 0) AS market, COALESCE(market.category, 'Other') AS category FROM (
    SELECT flagged.place::int AS wallet, trade.condition_id, trade.token_id, ${bucket} AS bucket, count(*)::int AS trades, sum(trade.usdc_size) AS usdc,
      COALESCE(sum(trade.usdc_size) FILTER (WHERE trade.side = 'BUY'), 0) AS buy_usdc, COALESCE(sum(trade.usdc_size) FILTER (WHERE trade.is_taker), 0) AS taker_usdc
    FROM ${tradesIn(scope, parameters)} GROUP BY 1, 2, 3, 4
  ) AS cell JOIN pm_market AS market ON market.condition_id = cell.condition_id
), summed AS (
  SELECT bucket, category, condition_id, array_agg(DISTINCT wallet) AS wallets, sum(trades)::int AS trades, sum(usdc) AS usdc, sum(buy_usdc) AS buy_usdc,
    sum(taker_usdc) AS taker_usdc, count(DISTINCT market)::int AS markets FROM cell GROUP BY GROUPING SETS ((bucket), (category), (condition_id), ())
), shown AS (
  SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY condition_id IS NULL ORDER BY usdc DESC, condition_id) AS place FROM summed) AS placed
  WHERE condition_id IS NULL OR place <= ${limit}
), side AS (
  SELECT condition_id, array_agg(COALESCE(token.outcome, token_id)) AS sides FROM (
    SELECT DISTINCT ON (condition_id, wallet) condition_id, wallet, token_id FROM (
      SELECT condition_id, wallet, token_id, sum(buy_usdc) AS buys FROM cell WHERE condition_id IN (SELECT condition_id FROM shown) GROUP BY 1, 2, 3
    ) AS bought ORDER BY condition_id, wallet, buys DESC, token_id
  ) AS most LEFT JOIN pm_outcome AS token USING (condition_id, token_id) GROUP BY condition_id
)
SELECT bucket, category, condition_id, CASE WHEN bucket IS NOT NULL OR condition_id IS NOT NULL THEN wallets END AS wallets, cardinality(wallets) AS wallet_count,
  trades, usdc, buy_usdc, taker_usdc, markets, sides
FROM shown LEFT JOIN side USING (condition_id)`;
  return sql.query<InsiderSums & Record<string, unknown>>(
    { name: `pm_insider_sums${scope.category === null ? '' : '_category'}`, text },
    parameters.values,
  );
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
