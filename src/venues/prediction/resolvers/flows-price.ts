import { AppError } from '../../../errors';
import { BUCKETS, type BucketSize, bucketsOf, checkGrid } from '../../../lib/grid';
import { groupedBy } from '../../../lib/grouped';
import { clamp } from '../../../lib/statistics';
import { type Timeframe, type Window, windowOf } from '../../../lib/timeframe';
import type { GraphContext, Resolver } from '../../venue';
import { over } from '../exact';
import { isResolved } from '../market-state';
import { listSmartFlows } from '../queries/market-flows';
import { listFillPrices } from '../queries/market-prices';
import { type SeriesRow, findFillSpan, listSeries } from '../queries/market-series';
import { cutAt, factsWithin } from '../queries/pieces';
import { smartRule } from './flows-scope';
import { type KnownMarket, chosenOutcomes, getKnownMarket } from './markets-known';

interface Args {
  condition_id: string;
  timeframe: Timeframe;
  bucket_size: BucketSize;
  outcome?: string | null;
}

interface Candle {
  bucket: Date;
  open: number;
  high: number;
  low: number;
  close: number;
  volume: string;
  trade_count: number;
  vwap: number;
  filled: boolean;
}

/** markets/price-history: candles by outcome. Throws not_found for an unknown market, empty_result without a candle, range_too_large for too many candles. */
export const marketsPriceHistory: Resolver<unknown, Args> = async (_, args, context) => {
  const known = await getKnownMarket(context, args.condition_id);
  const outcomes = chosenOutcomes(known, args.outcome);
  const window = await windowWithin(known, args.timeframe, context);
  Object.assign(context.meta, { timeframe: args.timeframe, window });
  checkGrid(window, { size: args.bucket_size, allowed: ['5m', '15m', '1h', '4h', '12h', '1d'] });
  const own = cutAt([window.from, window.to]);
  const rule = await smartRule(context, window);
  const length = BUCKETS[args.bucket_size];
  const [rows, fills, smart] = await Promise.all([
    listSeries(context.sql, args.condition_id, length < BUCKETS['1h'] ? factsWithin(window) : own, length),
    listFillPrices(context.sql, [{ condition_id: args.condition_id, at: window.from }]),
    listSmartFlows(context.sql, own, rule, [args.condition_id]),
  ]);
  const buckets = bucketsOf(window, args.bucket_size);
  const byToken = groupedBy(rows, (row) => row.token_id);
  const candles_by_outcome = outcomes.map((outcome) => {
    const before = fills.find((fill) => fill.token_id === outcome.token_id)?.last ?? null;
    const candles = candlesOf(byToken.get(outcome.token_id) ?? [], buckets, before === null ? null : Number(before));
    return { ...outcome, candles: candles.map((candle) => ({ ...candle, token_id: outcome.token_id, outcome: outcome.outcome })) };
  });
  // An outcome that was never traded has none, nor has a day that only begins.
  if (candles_by_outcome.every(({ candles }) => candles.length === 0))
    throw new AppError('empty_result', { suggestion: buckets.length === 0 ? { timeframe: '24h' } : { outcome: null } });
  return {
    ...known.market,
    candles_by_outcome,
    bucket_size: args.bucket_size,
    smart_vwap_by_outcome: outcomes.map((outcome) => {
      const flow = smart.find((row) => row.token_id === outcome.token_id);
      return { ...outcome, vwap: flow === undefined ? null : over(flow.buy_usdc, flow.buy_shares) };
    }),
  };
};

/** The window; of `all`, from the market's first fill, and no longer than to the last one of a market that has ended. */
async function windowWithin({ market }: KnownMarket, timeframe: Timeframe, context: GraphContext): Promise<Window> {
  const span = await findFillSpan(context.sql, market.condition_id, context.now);
  if (span === null) throw new AppError('empty_result');
  const window = windowOf(timeframe, context.now);
  if (timeframe !== 'all') return window;
  // A window does not hold its end.
  return {
    from: span.first,
    to: isResolved(market, context.now) ? new Date(Math.min(span.last.getTime() + 1, window.to.getTime())) : window.to,
  };
}

/** Candles without gaps from the first known price on: a bucket without a fill carries the last close. */
function candlesOf(rows: readonly SeriesRow[], buckets: readonly Date[], before: number | null): Candle[] {
  const filled = new Map(rows.map((row) => [row.bucket.getTime(), row]));
  const candles: Candle[] = [];
  let last = before;
  for (const bucket of buckets) {
    const row = filled.get(bucket.getTime());
    if (row !== undefined) {
      candles.push(candleOf(row));
      last = Number(row.close);
    } else if (last !== null) {
      candles.push({ bucket, open: last, high: last, low: last, close: last, volume: '0', trade_count: 0, vwap: last, filled: true });
    }
  }
  return candles;
}

function candleOf(row: SeriesRow): Candle {
  const [high, low] = [Number(row.high), Number(row.low)];
  const mean = over(row.volume, row.shares) ?? (over(row.fill_usdc, row.fill_shares) as number);
  // Fees and rounding of USDC can lead a little out of the prices.
  const vwap = clamp(mean, low, high);
  return {
    bucket: row.bucket,
    open: Number(row.open),
    high,
    low,
    close: Number(row.close),
    volume: row.volume,
    trade_count: row.buys + row.sells,
    vwap,
    filled: false,
  };
}
