import { AppError } from '../../../errors';
import { groupedBy } from '../../../lib/grouped';
import { pearson, roundTo, sum } from '../../../lib/statistics';
import type { GraphContext } from '../../venue';
import { makeLoaders } from '../loaders';
import { listPositions } from './held';
import { listKnownTraders, openDays, unknownTraders, widerDays } from './scope';
import { ALL_COINS, type TraderCoin, listCoins } from './trader-coins';
import { listDailyPnl } from './trader-days';
import { type TraderStats, listStats, noStats } from './trader-stats';

const SHOWN_COINS = 5;
const METRICS = ['total_pnl', 'roi_pct', 'win_rate', 'total_volume', 'smart_score', 'sharpe', 'profit_factor'] as const;
type Metric = (typeof METRICS)[number];

export interface TraderComparison {
  traders: { trader: string; stats: TraderStats | null; coin_breakdown: TraderCoin[]; found: boolean }[];
  shared_coins: { coin: string; traders: { trader: string; pnl: string; volume: string; direction: 'Long' | 'Short' | 'Flat' }[] }[];
  comparison_winners: Record<Metric, string[]>;
  pairwise: Pair[];
}

interface Pair {
  a: string;
  b: string;
  jaccard_coins: number | null;
  daily_pnl_correlation: number | null;
  same_direction_pct: number | null;
}

/** Accounts side by side over the UTC days that end today. Throws not_found when none was ever seen, empty_result when none had a fill. */
export async function compareTraders(args: { traders: string[]; days: number }, context: GraphContext): Promise<TraderComparison> {
  const known = await listKnownTraders(context, args.traders);
  if (known.size === 0) throw unknownTraders('traders', args.traders);
  const found = args.traders.filter((trader) => known.has(trader));
  const window = openDays(args.days, context);
  const [stats, coins, days, positions] = await Promise.all([
    listStats(context, found, window),
    listCoins(context, found, window, 'pnl', ALL_COINS),
    listDailyPnl(context, found, window),
    listPositions(context, found),
  ]);
  if (stats.size === 0) throw new AppError('empty_result', { suggestion: widerDays(args.days) });
  const held = new Map([...positions.values()].flat().map(({ trader, coin, direction }) => [`${trader}|${coin}`, direction]));
  return {
    traders: args.traders.map((trader) => ({
      trader,
      stats: known.has(trader) ? (stats.get(trader) ?? noStats(trader)) : null,
      coin_breakdown: (coins.get(trader) ?? []).slice(0, SHOWN_COINS),
      found: known.has(trader),
    })),
    shared_coins: sharedCoins(found, coins, held),
    comparison_winners: await winnersOf(found, stats, context),
    pairwise: found.flatMap((a, index) => found.slice(index + 1).map((b) => pairOf(a, b, coins, days))),
  };
}

function sharedCoins(
  traders: readonly string[],
  coins: ReadonlyMap<string, TraderCoin[]>,
  held: ReadonlyMap<string, 'Long' | 'Short'>,
): TraderComparison['shared_coins'] {
  const byCoin = groupedBy(
    traders.flatMap((trader) => coins.get(trader) ?? []),
    (own) => own.coin,
  );
  const volume = (rows: readonly TraderCoin[]): number => roundTo(sum(rows.map((row) => Number(row.volume))), 6);
  return [...byCoin]
    .filter(([, rows]) => rows.length > 1)
    .sort(([a, left], [b, right]) => volume(right) - volume(left) || (a < b ? -1 : 1))
    .map(([coin, rows]) => ({
      coin,
      traders: rows.map((row) => ({
        trader: row.trader,
        pnl: row.pnl,
        volume: row.volume,
        direction: held.get(`${row.trader}|${coin}`) ?? 'Flat',
      })),
    }));
}

/** Who leads, by the figures as they are sent: ties name all. Who did nothing leads in nothing but its score. */
async function winnersOf(
  traders: readonly string[],
  stats: ReadonlyMap<string, TraderStats>,
  context: GraphContext,
): Promise<Record<Metric, string[]>> {
  const scores = await Promise.all(traders.map((trader) => context.loaders(makeLoaders).score.load(trader)));
  const figure = (metric: Metric, index: number): number | null => {
    const own = stats.get(traders[index] as string);
    // Gains without a loss have no factor: they are more than any.
    if (metric === 'profit_factor' && own?.profit_factor === null && own.winning_trades > 0) return Infinity;
    const value = metric === 'smart_score' ? scores[index]?.score : own?.[metric];
    return value == null ? null : roundTo(Number(value), 6);
  };
  const leaders = (metric: Metric): string[] => {
    const figures = traders.map((_, index) => figure(metric, index));
    const best = figures.reduce<number | null>((most, value) => (value !== null && (most === null || value > most) ? value : most), null);
    return traders.filter((_, index) => best !== null && figures[index] === best);
  };
  return Object.fromEntries(METRICS.map((metric) => [metric, leaders(metric)])) as Record<Metric, string[]>;
}

function pairOf(a: string, b: string, coins: ReadonlyMap<string, TraderCoin[]>, days: ReadonlyMap<string, number[]>): Pair {
  const [ofA, ofB] = [a, b].map(
    (trader) => new Map((coins.get(trader) ?? []).map((row) => [row.coin, Math.sign(Number(row.net_opened_usd))])),
  ) as [Map<string, number>, Map<string, number>];
  const shared = [...ofA.keys()].filter((coin) => ofB.has(coin));
  const all = ofA.size + ofB.size - shared.length;
  const opened = shared.filter((coin) => ofA.get(coin) !== 0 && ofB.get(coin) !== 0);
  const same = opened.filter((coin) => ofA.get(coin) === ofB.get(coin)).length;
  return {
    a,
    b,
    jaccard_coins: all === 0 ? null : shared.length / all,
    daily_pnl_correlation: pearson(days.get(a) ?? [], days.get(b) ?? []),
    same_direction_pct: opened.length === 0 ? null : (100 * same) / opened.length,
  };
}
