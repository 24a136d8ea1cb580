import { AppError } from '../../../errors';
import type { pm_outcome as OutcomeRecord } from '../../../generated/prisma/client';
import { BUCKETS, bucketsOf } from '../../../lib/grid';
import { groupedBy } from '../../../lib/grouped';
import { pearson, roundTo } from '../../../lib/statistics';
import { type Timeframe, type Window, windowOf } from '../../../lib/timeframe';
import type { GraphContext, Resolver } from '../../venue';
import { compareAmounts, less, over, total } from '../exact';
import { tradedPrice } from '../market-prices';
import { countSmartWallets, listSmartFlows } from '../queries/market-flows';
import { listSmartHolders } from '../queries/market-holders';
import { type FillPrices, listFillPrices } from '../queries/market-prices';
import { type SeriesRow, type SmartSeriesRow, listSeries, listSmartSeries } from '../queries/market-series';
import { type Cut, type SmartRule, cutAt } from '../queries/pieces';
import { loadTold } from '../queries/told-pieces';
import { smartRule } from './flows-scope';
import { emptySeries, seriesWindow, six } from './flows-sentiment';
import { type KnownMarket, chosenOutcomes, getKnownMarket } from './markets-known';
import { timeframeWith } from './paging';

interface Args {
  condition_id: string;
  timeframe: Timeframe;
  bucket_size: '1h' | '4h' | '12h' | '1d';
  min_score: number;
  outcome?: string | null;
}

type Phase = 'accumulation' | 'distribution' | 'neutral';

/** Net over gross from which a flow has a direction. */
export const PHASE_FROM = 0.15;

/** Phase of buys against sells. Binary fractions may make 0.1499999999999999 of a share that is 0.15 by its decimals. */
export function phaseOf(buys: string, sells: string): Phase {
  const share = roundTo(over(less(buys, sells), total([buys, sells])) ?? 0, 12);
  return share >= PHASE_FROM ? 'accumulation' : share <= -PHASE_FROM ? 'distribution' : 'neutral';
}

/** markets/smart-flow: what smart wallets bought and sold of a market over time. Throws not_found for an unknown market, empty_result without a smart trade. */
export const marketsSmartFlow: Resolver<unknown, Args> = async (_, args, context) => {
  const known = await getKnownMarket(context, args.condition_id);
  const outcomes = chosenOutcomes(known, args.outcome);
  const window = await seriesWindow(context, args);
  Object.assign(context.meta, { timeframe: args.timeframe, window });
  const found = await load(context, args, known.market, window);
  const tokens = new Set(outcomes.map((outcome) => outcome.token_id));
  const smart = found.smart.filter((row) => tokens.has(row.token_id));
  if (smart.length === 0) throw await emptySeries(context, args, await emptyOf(context, args, tokens));
  const buckets = bucketsOf(window, args.bucket_size);
  const lines = outcomes.map((outcome) => lineOf(outcome, buckets, smart, found.all, found.before));
  const sums = outcomes.map((outcome) => ({ outcome, ...sidesOf(smart.filter((row) => row.token_id === outcome.token_id)) }));
  const favoured = [...sums].sort((a, b) => compareAmounts(b.net_flow, a.net_flow))[0];
  const overall = sidesOf(smart);
  return {
    ...known.market,
    timeframe: args.timeframe,
    bucket_size: args.bucket_size,
    overall: {
      ...overall,
      outcome: favoured !== undefined && Number(favoured.net_flow) > 0 ? favoured.outcome.outcome : null,
      smart_wallet_count: args.outcome
        ? await countSmartWallets(context.sql, found.cut, found.rule, args.condition_id, [...tokens])
        : (found.flows[0]?.wallets ?? 0),
      flow_price_correlation: correlationOf(lines),
    },
    by_outcome: sums.map(({ outcome, ...sides }) => {
      const [flow, held] = [
        found.flows.find((row) => row.token_id === outcome.token_id),
        found.holders.find((row) => row.token_id === outcome.token_id),
      ];
      const avg_entry_price = flow === undefined ? null : over(flow.buy_usdc, flow.buy_shares);
      return { ...outcome, ...sides, holders_start: held?.holders_start ?? 0, holders_end: held?.holders_end ?? 0, avg_entry_price };
    }),
    time_series: buckets.flatMap((_bucket, index) => lines.map((line) => line[index] as Point)),
  };
};

interface Found {
  cut: Cut;
  rule: SmartRule;
  all: SeriesRow[];
  smart: SmartSeriesRow[];
  /** What fills told before the window. */
  before: FillPrices[];
  flows: Awaited<ReturnType<typeof listSmartFlows>>;
  holders: Awaited<ReturnType<typeof listSmartHolders>>;
}

/** empty_result that names the shortest timeframe with a smart trade of these outcomes, each judged as of then; none where there never was one. */
async function emptyOf(context: GraphContext, args: Args, tokens: ReadonlySet<string>): Promise<AppError> {
  const whole = windowOf('all', context.now);
  const rule = await smartRule(context, whole, args.min_score);
  const hours = await listSmartSeries(context.sql, args.condition_id, cutAt([whole.from, whole.to]), rule, BUCKETS['1h']);
  const newest = hours.findLast(({ token_id }) => tokens.has(token_id))?.bucket;
  return new AppError('empty_result', newest && { suggestion: { timeframe: timeframeWith(newest, context.now) } });
}

async function load(context: GraphContext, args: Args, market: KnownMarket['market'], window: Window): Promise<Found> {
  const cut = cutAt([window.from, window.to]);
  const rule = await smartRule(context, window, args.min_score);
  const [length, id] = [BUCKETS[args.bucket_size], args.condition_id];
  const ends = { start_day: rule.spans[0]?.day ?? null, end_day: rule.spans.at(-1)?.day ?? null, min_score: args.min_score };
  const told = loadTold(context.sql, cut, rule);
  const [all, smart, before, flows, holders] = await Promise.all([
    listSeries(context.sql, id, cut, length),
    listSmartSeries(context.sql, id, cut, rule, length, told),
    listFillPrices(context.sql, [{ condition_id: id, at: window.from }]),
    listSmartFlows(context.sql, cut, rule, [id], told),
    listSmartHolders(context.sql, market, window, ends),
  ]);
  return { cut, rule, all, smart, flows, holders, before };
}

function sidesOf(rows: readonly SmartSeriesRow[]): { phase: Phase; net_flow: string; buy_volume: string; sell_volume: string } {
  const [buy_volume, sell_volume] = [total(rows.map((row) => row.buy_usdc)), total(rows.map((row) => row.sell_usdc))];
  return { phase: phaseOf(buy_volume, sell_volume), net_flow: less(buy_volume, sell_volume), buy_volume, sell_volume };
}

interface Point {
  bucket: Date;
  outcome: string;
  net_flow: string;
  price: number | null;
  /** Price at the end of the bucket before. */
  price_before: number | null;
  [field: string]: unknown;
}

/** One outcome's buckets, oldest first. */
function lineOf(
  outcome: OutcomeRecord,
  buckets: readonly Date[],
  smart: readonly SmartSeriesRow[],
  all: readonly SeriesRow[],
  before: readonly FillPrices[],
): Point[] {
  const own = groupedBy(smart.filter((row) => row.token_id === outcome.token_id), (row) => row.bucket.getTime()); // prettier-ignore
  const traded = groupedBy(all, (row) => row.bucket.getTime());
  const last = new Map(before.map((fill) => [fill.token_id, fill.last]));
  // As it is told: what moves in later decimals has not moved.
  const told = (): number | null => six(tradedPrice(outcome.token_id, before, last));
  let [price, cumulative_net_flow] = [told(), '0'];
  return buckets.map((bucket) => {
    const rows = own.get(bucket.getTime()) ?? [];
    const price_before = price;
    for (const { token_id, close } of traded.get(bucket.getTime()) ?? []) last.set(token_id, close);
    price = told();
    const sides = sidesOf(rows);
    cumulative_net_flow = total([cumulative_net_flow, sides.net_flow]);
    return {
      bucket,
      outcome: outcome.outcome,
      ...sides,
      cumulative_net_flow,
      buyers: rows[0]?.buyers ?? 0,
      sellers: rows[0]?.sellers ?? 0,
      price,
      price_before,
    };
  });
}

/** Correlation, over buckets, of the flow toward the first outcome shown (sales of others included) with the change of its price; null without variation. */
function correlationOf(lines: readonly (readonly Point[])[]): number | null {
  const first = lines[0] ?? [];
  const points = first.flatMap((point, index) => {
    if (point.price === null || point.price_before === null) return [];
    const others = lines.slice(1).map((line) => line[index]?.net_flow ?? '0');
    return [{ flow: Number(less(point.net_flow, total(others))), change: point.price - point.price_before }];
  });
  return six(pearson(points.map((point) => point.flow), points.map((point) => point.change))); // prettier-ignore
}
