import type { Sql, Statement } from '../../../db/sql';
import { bucketOf } from '../../../lib/tiles';
import { Parameters } from './parameters';
import { type Cut, type SmartRule, hoursOfMarket, isPlannedOnce, placesOf, smartPieces, walletPieces } from './pieces';
import { loadTold, toldName, toldWalletPieces, withState, withTold } from './told-pieces';

/** One outcome in one bucket that had a fill; exact decimal texts. Prices are of all fills, volume and shares of takers. */
export interface SeriesRow {
  token_id: string;
  bucket: Date;
  open: string;
  high: string;
  low: string;
  close: string;
  buys: number;
  sells: number;
  buy_usdc: string;
  sell_usdc: string;
  volume: string;
  shares: string;
  fill_usdc: string;
  fill_shares: string;
}

/** A market's outcomes in buckets of `bucket_ms`, UTC multiples; hours from rollups, so buckets below an hour need a cut of facts alone. Oldest first. */
export function listSeries(sql: Sql, condition_id: string, cut: Cut, bucket_ms: number): Promise<SeriesRow[]> {
  const parameters = new Parameters();
  const { rolled, torn } = placesOf(cut, parameters);
  const id = parameters.add(condition_id, 'text');
  const text = `SELECT token_id, ${bucketOf('at', parameters.addLength(bucket_ms))} AS bucket, (array_agg(open ORDER BY open_at, open_id))[1] AS open, max(high) AS high, min(low) AS low,
  (array_agg(close ORDER BY close_at DESC, close_id DESC))[1] AS close, sum(buys)::int AS buys, sum(sells)::int AS sells, sum(buy_usdc) AS buy_usdc, sum(sell_usdc) AS sell_usdc,
  sum(buy_usdc) + sum(sell_usdc) AS volume, sum(shares) AS shares, sum(fill_usdc) AS fill_usdc, sum(fill_shares) AS fill_shares
FROM (
  SELECT token_id, hour::timestamptz AS at, open, open_at, open_id, high, low, close, close_at, close_id, buys, sells, buy_usdc, sell_usdc, shares, fill_usdc, fill_shares
  FROM pm_token_hour WHERE ${hoursOfMarket(id)} AND ${rolled}
  UNION ALL
  SELECT token_id, "timestamp", price, "timestamp", trade_id, price, price, price, "timestamp", trade_id, (is_taker IS TRUE AND side = 'BUY')::int, (is_taker IS TRUE AND side = 'SELL')::int,
    CASE WHEN is_taker AND side = 'BUY' THEN usdc_size ELSE 0 END, CASE WHEN is_taker AND side = 'SELL' THEN usdc_size ELSE 0 END, CASE WHEN is_taker THEN size ELSE 0 END, usdc_size, size
  FROM pm_trade WHERE condition_id = ${id} AND ${torn} AND side IN ('BUY', 'SELL')
) AS piece GROUP BY 1, 2 ORDER BY 2, 1`;
  return sql.query<SeriesRow>({ name: `pm_series_${cut.bounds.length}`, text, keyed: isPlannedOnce(cut) }, parameters.values);
}

/** Smart wallets' own fills on one outcome in one bucket; exact decimal texts. */
export interface SmartSeriesRow {
  token_id: string;
  bucket: Date;
  buy_usdc: string;
  sell_usdc: string;
  buyers: number;
  sellers: number;
}

/** Smart flow of a market in buckets of at least an hour, oldest first; `told`: what is told of the cut, where that is asked already. */
export async function listSmartSeries(
  sql: Sql,
  condition_id: string,
  cut: Cut,
  rule: SmartRule,
  bucket_ms: number,
  told = loadTold(sql, cut, rule),
): Promise<SmartSeriesRow[]> {
  const rows = await withTold(await told, (hours) => {
    const parameters = new Parameters();
    const id = parameters.add(condition_id, 'text');
    const filter = `condition_id = ${id}`;
    const pieces =
      hours === null
        ? smartPieces(cut, rule, parameters, filter)
        : toldWalletPieces(cut, rule, hours, { category: null, filter }, parameters);
    const series = `(SELECT token_id, ${bucketOf('at', parameters.addLength(bucket_ms))} AS bucket, sum(buy_usdc) AS buy_usdc, sum(sell_usdc) AS sell_usdc,
  (count(DISTINCT wallet) FILTER (WHERE buys > 0))::int AS buyers, (count(DISTINCT wallet) FILTER (WHERE sells > 0))::int AS sellers
FROM (${pieces}) AS piece GROUP BY 1, 2)`;
    const text = `${withState(series, hours, parameters)} ORDER BY bucket, token_id`;
    const name = `pm_smart_series_${cut.bounds.length}${toldName(hours)}`;
    return sql.query<SmartSeriesRow & { told: number }>({ name, text, keyed: hours !== null || isPlannedOnce(cut) }, parameters.values);
  });
  return rows.filter(({ token_id }) => token_id !== null);
}

/** Different takers of one outcome. */
export interface TakerSidesRow {
  token_id: string;
  buyers: number;
  sellers: number;
}

/** Takers that bought and that sold each outcome of a market within a cut. */
export function listTakerSides(sql: Sql, condition_id: string, cut: Cut): Promise<TakerSidesRow[]> {
  const parameters = new Parameters();
  const pieces = walletPieces(cut, parameters, `condition_id = ${parameters.add(condition_id, 'text')}`);
  // Addresses are long: wallets are told apart by numbers.
  const text = `SELECT token_id, (count(DISTINCT w) FILTER (WHERE taker_buys > 0))::int AS buyers, (count(DISTINCT w) FILTER (WHERE taker_sells > 0))::int AS sellers
FROM (SELECT token_id, hashtextextended(wallet, 0) AS w, taker_buys, taker_sells FROM (${pieces}) AS piece) AS taken GROUP BY 1`;
  return sql.query<TakerSidesRow>({ name: `pm_taker_sides_${cut.bounds.length}`, text, keyed: true }, parameters.values);
}

/** First and last fill of a market; null while it has none. */
export interface FillSpan {
  first: Date;
  last: Date;
}

// Where the newest hour has fills of later, its facts tell the last one before.
const SPAN: Statement = {
  name: 'pm_fill_span',
  keyed: true,
  text: `SELECT min(open_at) AS first, CASE WHEN max(close_at) < $2 THEN max(close_at) ELSE (SELECT max("timestamp") FROM pm_trade
  WHERE condition_id = $1 AND "timestamp" >= date_trunc('hour', $2::timestamptz, 'UTC') AND "timestamp" < $2 AND side IN ('BUY', 'SELL')) END AS last
FROM pm_token_hour WHERE condition_id = $1 AND open_at < $2`,
};

/** Time from a market's first fill to its last one, as of `now`; null without a fill. */
export async function findFillSpan(sql: Sql, condition_id: string, now: Date): Promise<FillSpan | null> {
  const [row] = await sql.query<{ first: Date | null; last: Date | null }>(SPAN, [condition_id, now]);
  return row?.first && row.last ? { first: row.first, last: row.last } : null;
}
