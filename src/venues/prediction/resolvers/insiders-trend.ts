import { AppError } from '../../../errors';
import { BUCKETS, type BucketSize, bucketsOf, checkGrid, sizeBeside } from '../../../lib/grid';
import { groupedBy } from '../../../lib/grouped';
import { greatest, mean, median } from '../../../lib/statistics';
import { END, type Timeframe, type Window, windowOf } from '../../../lib/timeframe';
import type { GraphContext, Resolver } from '../../venue';
import { changePercent, meanScore, percent } from '../exact';
import { type JudgedBet, listBucketVolumes, listInsidersEver } from '../queries/insider-runs';
import {
  type FlaggedScope,
  type FlaggedSpan,
  type InsiderBucket,
  type InsiderMarket,
  findInsiderSums,
  findNewestFlagged,
  getInsiderBuys,
} from '../queries/insider-trend';
import { getFirstFill } from '../queries/newest-fill';
import { overMarkets } from '../scoring/insider';
import { windowBefore } from './flows-scope';
import { dominantOf } from './insiders';
import { timeframeWith } from './paging';

const SIZES = ['1h', '4h', '1d', '7d'] as const;

interface TrendArgs {
  timeframe: Timeframe;
  bucket_size: (typeof SIZES)[number];
  min_score: number;
  category?: string | null;
  limit: number;
}

/** A wallet's score grows with its bets that were judged, and falls as runs no longer find them. */
interface Suspect {
  /** Since when the score first reaches what is asked. */
  since: number;
  /** When it changed to a score that reaches it, oldest first. */
  steps: { at: number; score: number }[];
  /** In which times it reaches it. */
  spans: { from: number; to: number }[];
}

/** wallets/insiders/trend: trades of wallets while runs find the bet that made them suspect. Throws empty_result when there is none in the window, range_too_large for too many buckets. */
export const walletsInsidersTrend: Resolver<unknown, TrendArgs> = async (_, args, context) => {
  const length = BUCKETS[args.bucket_size];
  const [window, bets] = await Promise.all([timeOf(context, args.timeframe), listInsidersEver(context.sql, context.now)]);
  Object.assign(context.meta, { timeframe: args.timeframe, window });
  checkGrid(window, { size: args.bucket_size, allowed: SIZES });
  const suspects = suspectsOf(bets, args.min_score);
  const flagged = [...suspects].flatMap(([wallet, { spans }], index) =>
    spans.map(({ from, to }): FlaggedSpan => ({ wallet, place: index + 1, from: new Date(from), to: new Date(to) })),
  );
  const scope: FlaggedScope = { flagged, window, category: args.category ?? null };
  const before = await windowBefore(args.timeframe, context);
  const [sums, earlier, volumes] = await Promise.all([
    findInsiderSums(context.sql, scope, length, args.limit),
    before && getInsiderBuys(context.sql, { ...scope, window: before }),
    listBucketVolumes(context.sql, window, length, scope.category),
  ]);
  if (sums === null) throw await emptyTrend(context, scope, args);
  const placed = [...suspects.values()];
  const series = seriesOf(sums.buckets, placed, volumes, window, args.bucket_size);
  const markets = topMarkets(sums.markets_shown, placed, context.now);
  context.meta.count = markets.length;
  return {
    timeframe: args.timeframe,
    bucket_size: args.bucket_size,
    time_series: series,
    totals: figuresOf(sums),
    trend: purchaseTrend(series.map(({ insider_buy_usdc }) => Number(insider_buy_usdc))),
    change_pct: earlier && changePercent(sums.buy_usdc, earlier),
    by_category: sums.categories
      .map(({ category, wallet_count, buy_usdc }) => ({ category, insider_wallets: wallet_count, insider_buy_usdc: buy_usdc }))
      .sort((a, b) => Number(b.insider_buy_usdc) - Number(a.insider_buy_usdc) || (a.category < b.category ? -1 : 1)),
    top_markets: markets,
  };
};

/** The window of a trend; `all` begins with the first fill. */
async function timeOf({ sql, now }: GraphContext, timeframe: Timeframe): Promise<Window> {
  const { from, to } = windowOf(timeframe, now);
  return { from: (timeframe === 'all' ? await getFirstFill(sql) : null) ?? from, to };
}

/** Suspects by wallet, ascending: means over some of them are always added up in one order. */
function suspectsOf(rows: readonly JudgedBet[], min_score: number): Map<string, Suspect> {
  const wallets = [...groupedBy(rows, (row) => row.wallet)].sort(([a], [b]) => (a < b ? -1 : 1));
  const suspects = wallets.map(([wallet, bets]) => [wallet, suspectOf(bets, min_score)] as const);
  return new Map(suspects.flatMap(([wallet, suspect]) => (suspect === null ? [] : [[wallet, suspect]])));
}

/** Null for a wallet whose score never reaches what is asked. */
function suspectOf(bets: readonly JudgedBet[], min_score: number): Suspect | null {
  const terms = bets.map(({ first_bet_at, lapsed_at, score }) => ({
    from: first_bet_at.getTime(),
    to: (lapsed_at ?? END).getTime(),
    score,
  }));
  const changes = [...new Set(terms.flatMap(({ from, to }) => [from, to]))].sort((a, b) => a - b);
  const pieces = changes.slice(0, -1).flatMap((from, index) => {
    const scores = terms.filter((term) => term.from <= from && from < term.to).map(({ score }) => score);
    const score = scores.length === 0 ? null : overMarkets(scores);
    return score === null || score < min_score ? [] : [{ from, to: changes[index + 1] as number, score }];
  });
  const [first] = pieces;
  if (first === undefined) return null;
  const spans: Suspect['spans'] = [];
  for (const { from, to } of pieces) {
    const last = spans.at(-1);
    if (last?.to === from) last.to = to;
    else spans.push({ from, to });
  }
  return { since: first.from, steps: pieces.map(({ from, score }) => ({ at: from, score })), spans };
}

const scoreAt = ({ steps }: Suspect, time: number): number => steps.findLast(({ at }) => at < time)?.score ?? steps[0]?.score ?? 0;

/** empty_result that names the shortest timeframe with a trade in scope, and buckets that are not too many of it; where there is none ever, all categories, or lower scores. */
async function emptyTrend(context: GraphContext, scope: FlaggedScope, { min_score, bucket_size }: TrendArgs): Promise<AppError> {
  const newest = await findNewestFlagged(context.sql, { ...scope, window: windowOf('all', context.now) });
  if (newest !== null) {
    const timeframe = timeframeWith(newest, context.now);
    const beside = sizeBeside(await timeOf(context, timeframe), { size: bucket_size, allowed: SIZES });
    return new AppError('empty_result', { suggestion: { timeframe, ...beside } });
  }
  return new AppError('empty_result', {
    suggestion: scope.category === null ? { min_score: Math.min(20, min_score) } : { category: null },
  });
}

const figuresOf = ({
  wallet_count,
  trades,
  buy_usdc,
  markets,
}: Pick<InsiderBucket, 'trades' | 'buy_usdc' | 'markets'> & { wallet_count: number }) => ({
  insider_wallets: wallet_count,
  insider_trades: trades,
  insider_buy_usdc: buy_usdc,
  markets_touched: markets,
});

const NOTHING = { insider_wallets: 0, insider_trades: 0, insider_buy_usdc: '0', markets_touched: 0 };

function seriesOf(
  buckets: readonly InsiderBucket[],
  suspects: readonly Suspect[],
  volumes: ReadonlyMap<number, string>,
  window: Window,
  size: BucketSize,
) {
  const byBucket = new Map(buckets.map((row) => [row.at, row]));
  return bucketsOf(window, size).map((bucket) => {
    const start = bucket.getTime();
    const end = start + BUCKETS[size];
    const own = byBucket.get(start);
    const wallets = (own?.wallets ?? []).map((place) => suspects[place - 1] as Suspect);
    // The first bucket begins before the window may.
    const begin = Math.max(start, window.from.getTime());
    return {
      bucket,
      ...(own ? figuresOf({ ...own, wallet_count: own.wallets.length }) : NOTHING),
      new_insider_wallets: wallets.filter(({ since }) => since >= begin && since < end).length,
      avg_insider_score: meanScore(wallets.map((suspect) => scoreAt(suspect, end))),
      share_of_volume_pct: percent(own?.taker_usdc ?? '0', volumes.get(start) ?? '0'),
    };
  });
}

/** Buckets of which each two are compared: slopes grow with their square. */
const MOST_COMPARED = 400;

/** Theil-Sen: median slope between any two buckets, over the window against the mean; ±5 % is flat. Of more buckets than are compared neighbours stand together, by their mean. */
export function purchaseTrend(values: readonly number[]): 'rising' | 'falling' | 'flat' {
  const width = Math.ceil(values.length / MOST_COMPARED);
  const parts = Array.from({ length: Math.ceil(values.length / width) }, (_, index) => values.slice(index * width, (index + 1) * width));
  const means = parts.map((part) => mean(part) as number);
  const level = mean(values) ?? 0;
  const slopes = means.flatMap((value, index) => means.slice(index + 1).map((later, steps) => (later - value) / (steps + 1)));
  const change = level === 0 ? 0 : ((median(slopes) ?? 0) * (means.length - 1)) / level;
  return change > 0.05 ? 'rising' : change < -0.05 ? 'falling' : 'flat';
}

function topMarkets(markets: readonly InsiderMarket[], suspects: readonly Suspect[], now: Date) {
  const top = [...markets].sort((a, b) => Number(b.usdc) - Number(a.usdc) || (a.condition_id < b.condition_id ? -1 : 1));
  return top.map(({ condition_id, question, wallets, usdc, sides }) => {
    const scores = wallets.map((place) => scoreAt(suspects[place - 1] as Suspect, now.getTime()));
    return {
      condition_id,
      question,
      insider_count: scores.length,
      total_insider_volume: usdc,
      highest_score: greatest(scores),
      avg_score: meanScore(scores),
      dominant_outcome: dominantOf(sides),
    };
  });
}
