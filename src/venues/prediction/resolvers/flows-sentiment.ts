import type { pm_outcome as OutcomeRecord } from '../../../generated/prisma/client';
import { AppError } from '../../../errors';
import { BUCKETS, bucketsOf, checkGrid, sizeBeside } from '../../../lib/grid';
import { groupedBy } from '../../../lib/grouped';
import { mean, roundTo } from '../../../lib/statistics';
import { BEGINNING, type Timeframe, type Window, windowOf } from '../../../lib/timeframe';
import type { GraphContext, Resolver } from '../../venue';
import { less, over, total } from '../exact';
import { tradedPrice } from '../market-prices';
import { type FillPrices, listFillPrices } from '../queries/market-prices';
import {
  type SeriesRow,
  type SmartSeriesRow,
  type TakerSidesRow,
  findFillSpan,
  listSeries,
  listSmartSeries,
  listTakerSides,
} from '../queries/market-series';
import { cutAt } from '../queries/pieces';
import { emptyWithin, smartRule } from './flows-scope';
import { getKnownMarket } from './markets-known';

/** Which series of a market. */
interface Args {
  condition_id: string;
  timeframe: Timeframe;
  bucket_size: '1h' | '4h' | '12h' | '1d';
}

const SIZES = ['1h', '4h', '12h', '1d'] as const;

interface Sided {
  token_id: string;
  buy_usdc: string;
  sell_usdc: string;
}

/** markets/sentiment: signed flow toward the first outcome over time. Throws not_found for an unknown market, empty_result for a window without trades. */
export const marketsSentiment: Resolver<unknown, Args> = async (_, args, context) => {
  const { market, outcomes } = await getKnownMarket(context, args.condition_id);
  const window = await seriesWindow(context, args);
  Object.assign(context.meta, { timeframe: args.timeframe, window });
  const cut = cutAt([window.from, window.to]);
  const rule = await smartRule(context, window);
  const length = BUCKETS[args.bucket_size];
  const [all, smart, sides, fills] = await Promise.all([
    listSeries(context.sql, args.condition_id, cut, length),
    listSmartSeries(context.sql, args.condition_id, cut, rule, length),
    listTakerSides(context.sql, args.condition_id, cut),
    listFillPrices(context.sql, [{ condition_id: args.condition_id, at: window.from }]),
  ]);
  const reference = outcomes[0];
  if (reference === undefined || !all.some((row) => row.buys + row.sells > 0)) {
    const scope = { condition_id: args.condition_id, category: null, smart: false };
    throw await emptySeries(context, args, await emptyWithin(context, args.timeframe, scope));
  }
  const points = pointsOf(bucketsOf(window, args.bucket_size), all, smart, reference.token_id, fills);
  return {
    ...market,
    overall_sentiment: overallOf(all, smart, reference.token_id),
    by_outcome: outcomes.map((outcome) => flowOf(outcome, all, smart, sides)),
    time_series: points,
    momentum: momentumOf(points.map((point) => point.score)),
    reference_outcome: reference.outcome,
  };
};

/** The window of a series; `all` begins with the market's first fill. Throws range_too_large for too many buckets. */
export async function seriesWindow(context: GraphContext, { condition_id, timeframe, bucket_size }: Args): Promise<Window> {
  const window = await timeOf(context, condition_id, timeframe);
  // Without a fill there is no series.
  if (window.from > BEGINNING) checkGrid(window, { size: bucket_size, allowed: SIZES });
  return window;
}

async function timeOf({ sql, now }: GraphContext, condition_id: string, timeframe: Timeframe): Promise<Window> {
  const window = windowOf(timeframe, now);
  const first = timeframe === 'all' ? (await findFillSpan(sql, condition_id, now))?.first : undefined;
  return first === undefined ? window : { from: first, to: window.to };
}

/** An empty_result of a series, with buckets that are not too many of the timeframe it names. */
export async function emptySeries(context: GraphContext, { condition_id, bucket_size }: Args, empty: AppError): Promise<AppError> {
  const timeframe = empty.context.suggestion?.timeframe as Timeframe | undefined;
  if (timeframe === undefined) return empty;
  const beside = sizeBeside(await timeOf(context, condition_id, timeframe), { size: bucket_size, allowed: SIZES });
  return new AppError('empty_result', { suggestion: { timeframe, ...beside } });
}

/** Buys of the reference outcome and sells of others, less the opposite; and all of it. */
function signedFlow(rows: readonly Sided[], reference: string): { net: string; gross: string } {
  const toward = total(rows.map((row) => (row.token_id === reference ? row.buy_usdc : row.sell_usdc)));
  const away = total(rows.map((row) => (row.token_id === reference ? row.sell_usdc : row.buy_usdc)));
  return { net: less(toward, away), gross: total([toward, away]) };
}

const scoreOf = (rows: readonly Sided[], reference: string): number | null => {
  const { net, gross } = signedFlow(rows, reference);
  return over(net, gross);
};

/** Scores from which a sentiment has a direction, and a strong one. */
export const LEANS = { plain: 0.15, strong: 0.5 } as const;

/** Word for a sentiment score. */
export function labelOf(score: number): 'very_bearish' | 'bearish' | 'neutral' | 'bullish' | 'very_bullish' {
  if (score < -LEANS.strong) return 'very_bearish';
  if (score < -LEANS.plain) return 'bearish';
  if (score < LEANS.plain) return 'neutral';
  return score < LEANS.strong ? 'bullish' : 'very_bullish';
}

function overallOf(all: readonly SeriesRow[], smart: readonly SmartSeriesRow[], reference: string): Record<string, unknown> {
  const [exact, smart_sentiment] = [scoreOf(all, reference), scoreOf(smart, reference)];
  const score = six(exact);
  const [buy_volume, sell_volume] = [total(all.map((row) => row.buy_usdc)), total(all.map((row) => row.sell_usdc))];
  return {
    score,
    label: score === null ? null : labelOf(score),
    buy_volume,
    sell_volume,
    buy_sell_ratio: over(buy_volume, sell_volume),
    smart_sentiment: six(smart_sentiment),
    divergence: exact === null || smart_sentiment === null ? null : six(smart_sentiment - exact),
  };
}

function flowOf(
  outcome: OutcomeRecord,
  all: readonly SeriesRow[],
  smart: readonly SmartSeriesRow[],
  sides: readonly TakerSidesRow[],
): Record<string, unknown> {
  const own = all.filter((row) => row.token_id === outcome.token_id);
  const clever = smart.filter((row) => row.token_id === outcome.token_id);
  const side = sides.find((row) => row.token_id === outcome.token_id);
  const [buy_volume, sell_volume] = [total(own.map((row) => row.buy_usdc)), total(own.map((row) => row.sell_usdc))];
  return {
    ...outcome,
    buy_volume,
    sell_volume,
    net_flow: less(buy_volume, sell_volume),
    buy_count: own.reduce((sum, row) => sum + row.buys, 0),
    sell_count: own.reduce((sum, row) => sum + row.sells, 0),
    unique_buyers: side?.buyers ?? 0,
    unique_sellers: side?.sellers ?? 0,
    smart_net_flow: less(total(clever.map((row) => row.buy_usdc)), total(clever.map((row) => row.sell_usdc))),
  };
}

function pointsOf(
  buckets: readonly Date[],
  all: readonly SeriesRow[],
  smart: readonly SmartSeriesRow[],
  reference: string,
  before: readonly FillPrices[],
): { score: number | null; [field: string]: unknown }[] {
  const [byBucket, smartByBucket] = [groupedBy(all, (row) => row.bucket.getTime()), groupedBy(smart, (row) => row.bucket.getTime())];
  const last = new Map(before.map((fill) => [fill.token_id, fill.last]));
  return buckets.map((bucket) => {
    const [rows, clever] = [byBucket.get(bucket.getTime()) ?? [], smartByBucket.get(bucket.getTime()) ?? []];
    for (const { token_id, close } of rows) last.set(token_id, close);
    return {
      bucket,
      score: six(scoreOf(rows, reference)),
      buy_volume: total(rows.map((row) => row.buy_usdc)),
      sell_volume: total(rows.map((row) => row.sell_usdc)),
      net_flow: signedFlow(rows, reference).net,
      trade_count: rows.reduce((sum, row) => sum + row.buys + row.sells, 0),
      smart_sentiment: six(scoreOf(clever, reference)),
      smart_net_flow: signedFlow(clever, reference).net,
      price: tradedPrice(reference, before, last),
    };
  });
}

/** Scores are plain floats in the answer: rounded here as ratios are. */
export const six = <Score extends number | null>(value: Score): Score => (value === null ? null : roundTo(value, 6)) as Score;

/** A change of the score by this much, of 2 possible, has a direction: 5 % of either side. */
export const NOTICEABLE = 0.05;

/** What is known of a market's momentum: nothing where a third of the buckets saw no trade. */
interface Momentum {
  direction: 'rising' | 'falling' | 'flat' | null;
  strength: number | null;
  change: number | null;
}

/** Mean score of the last third of the buckets less that of the first, buckets without trades left out. */
export function momentumOf(scores: readonly (number | null)[]): Momentum {
  const third = Math.max(1, Math.floor(scores.length / 3));
  const meanOf = (part: readonly (number | null)[]): number | null => mean(part.filter((score) => score !== null));
  const [first, last] = [meanOf(scores.slice(0, third)), meanOf(scores.slice(-third))];
  if (first === null || last === null) return { direction: null, strength: null, change: null };
  const change = six(last - first);
  return {
    direction: change > NOTICEABLE ? 'rising' : change < -NOTICEABLE ? 'falling' : 'flat',
    strength: Math.abs(last - first) / 2,
    change,
  };
}
