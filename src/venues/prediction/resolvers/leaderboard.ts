import { AppError } from '../../../errors';
import { wilsonLowerBound } from '../../../lib/statistics';
import { BEGINNING, type Timeframe, windowOf } from '../../../lib/timeframe';
import type { GraphContext, Resolver } from '../../venue';
import { makeLoaders } from '../loaders';
import { percent } from '../exact';
import { type JudgedPosition, evidenceOf, figuresOf, hasEnded, isPosition, sharpeOf, topEventShare } from '../positions/figures';
import {
  type LeaderboardFilter,
  type LeaderboardMetric,
  type LeaderboardRow,
  listLeaders,
  listPeriodVolumes,
} from '../queries/wallet-leaderboard';
import { listPositionsAsOf, loadOverlay } from '../rollups/positions-as-of';
import { groupedBy } from '../grouped';
import { scoreWallet } from '../scoring/formula';
import { loadJudged } from './position';
import { lifetimeVolumes, volumeByCategory } from './wallet-figures';
import { nameRun } from './wallets';

interface TopPerformersArgs {
  timeframe: Timeframe;
  category?: string | null;
  metric: LeaderboardMetric;
  min_trades: number;
  limit: number;
  include_bots: boolean;
}

/** wallets/top-performers: wallets ranked by positions that ended in the window. Throws empty_result when nobody qualifies. */
export const walletsTopPerformers: Resolver<unknown, TopPerformersArgs> = async (_, args, context) => {
  const window = windowOf(args.timeframe, context.now);
  Object.assign(context.meta, { timeframe: args.timeframe, window });
  const run = await context.loaders(makeLoaders).scoreRun();
  const overlay = await loadOverlay(context.sql, context.now);
  const filter: LeaderboardFilter = {
    ...args,
    window,
    now: context.now,
    overlay,
    category: args.category ?? null,
    score_day: run?.day ?? null,
  };
  const leaders = await listLeaders(context.sql, filter);
  if (leaders.length === 0) throw await emptyBoard(filter, args, context);
  await nameRun(context);
  const wallets = leaders.map(({ wallet }) => wallet);
  const positions = groupedBy(
    await loadJudged(await listPositionsAsOf(context.sql, { wallets }, context.now), context),
    ({ wallet }) => wallet,
  );
  const volumes = await listPeriodVolumes(context.sql, wallets, window, filter.category);
  context.meta.count = leaders.length;
  return Promise.all(
    leaders.map(async (leader, index) => ({
      rank: index + 1,
      ...(await performerOf(leader, positions.get(leader.wallet) ?? [], filter, context)),
      period_volume_usdc: volumes.get(leader.wallet) ?? '0',
    })),
  );
};

async function performerOf(leader: LeaderboardRow, all: readonly JudgedPosition[], filter: LeaderboardFilter, context: GraphContext) {
  const score = await context.loaders(makeLoaders).score.load(leader.wallet);
  const own = all.filter((position) => isPosition(position) && (filter.category === null || position.category === filter.category));
  const ended = own.filter((position) => hasEnded(position) && (position.closed_at as Date) >= filter.window.from);
  const judged = scoreWallet(ended.map(evidenceOf), context.now);
  return {
    wallet: leader.wallet,
    period_pnl_usdc: leader.pnl,
    period_roi_percent: percent(leader.pnl, leader.cost),
    period_trades: leader.counted,
    period_win_rate: leader.counted === 0 ? null : leader.wins / leader.counted,
    overall_score: score?.score ?? null,
    sharpe_ratio: sharpeOf(ended),
    primary_category: volumeByCategory(all.map(lifetimeVolumes))[0]?.category ?? null,
    tags: score?.tags ?? [],
    active_positions_count: own.filter((position) => !hasEnded(position)).length,
    win_rate_lb: wilsonLowerBound(leader.wins, leader.counted),
    edge: judged.edge,
    edge_ci: judged.edge_ci,
    avg_entry_price: figuresOf(ended).avg_entry_price,
    followable_roi_pct: score?.followable_roi_pct ?? null,
    followable_share: score?.followable_share ?? null,
    largest_event_share: topEventShare(ended, context.now),
    rank_value: leader.rank_value,
    is_significant: judged.is_significant,
  };
}

/** What would bring wallets: fewer positions, or a longer window. */
async function emptyBoard(filter: LeaderboardFilter, args: TopPerformersArgs, context: GraphContext): Promise<AppError> {
  const tries: Partial<Record<keyof TopPerformersArgs, unknown>>[] = [
    { timeframe: 'all' },
    { min_trades: 1, metric: 'pnl' },
    { timeframe: 'all', min_trades: 1, metric: 'pnl' },
  ];
  for (const change of tries) {
    const window = change.timeframe === 'all' ? { from: BEGINNING, to: context.now } : filter.window;
    const metric = (change.metric as LeaderboardMetric | undefined) ?? args.metric;
    const found = await listLeaders(context.sql, {
      ...filter,
      window,
      metric,
      min_trades: change.min_trades === 1 ? 1 : args.min_trades,
      limit: 1,
    });
    if (found.length > 0) return new AppError('empty_result', { suggestion: change });
  }
  return new AppError('empty_result', { suggestion: args.category ? { category: null } : { include_bots: true } });
}
