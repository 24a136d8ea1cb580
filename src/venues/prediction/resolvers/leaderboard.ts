import { AppError } from '../../../errors';
import { groupedBy } from '../../../lib/grouped';
import { mean, wilsonLowerBound } from '../../../lib/statistics';
import { type Timeframe, windowOf } from '../../../lib/timeframe';
import type { GraphContext, Resolver } from '../../venue';
import { makeLoaders } from '../loaders';
import { makeMarketLoaders } from '../market-loaders';
import { percent, total } from '../exact';
import { sharpeOf } from '../positions/figures';
import { type CategoryHolding, type EndedEvidence, listCategories, listEndedEvidence } from '../queries/leader-positions';
import {
  type LeaderboardFilter,
  type LeaderboardMetric,
  type LeaderboardRow,
  listLeaders,
  listPeriodVolumes,
} from '../queries/wallet-leaderboard';
import { judgeLeader } from '../scoring/formula';
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
  const [run, overlay] = await Promise.all([context.loaders(makeLoaders).scoreRun(), context.loaders(makeMarketLoaders).overlay()]);
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
  const wallets = leaders.map(({ wallet }) => wallet);
  const scope = { wallets, now: context.now, overlay };
  const [ended, categories, volumes] = await Promise.all([
    listEndedEvidence(context.sql, scope, window, filter.category).then(byWallet),
    listCategories(context.sql, scope).then(byWallet),
    listPeriodVolumes(context.sql, wallets, window, filter.category),
    context.loaders(makeLoaders).judgement.loadMany(wallets),
    nameRun(context),
  ]);
  context.meta.count = leaders.length;
  return Promise.all(
    leaders.map(async (leader, index) => ({
      rank: index + 1,
      ...(await performerOf(leader, ended.get(leader.wallet) ?? [], categories.get(leader.wallet) ?? [], filter, context)),
      period_volume_usdc: volumes.get(leader.wallet) ?? '0',
    })),
  );
};

const byWallet = <Row extends { wallet: string }>(rows: readonly Row[]): Map<string, Row[]> => groupedBy(rows, ({ wallet }) => wallet);

async function performerOf(
  leader: LeaderboardRow,
  ended: readonly EndedEvidence[],
  categories: readonly CategoryHolding[],
  filter: LeaderboardFilter,
  context: GraphContext,
) {
  const score = await context.loaders(makeLoaders).judgement.load(leader.wallet);
  const judged = judgeLeader(ended, context.now);
  const pnl = total(ended.map(({ gain }) => gain));
  const held = categories.filter(({ category }) => filter.category === null || category === filter.category);
  return {
    wallet: leader.wallet,
    period_pnl_usdc: pnl,
    period_roi_percent: percent(pnl, total(ended.map(({ paid_usdc }) => paid_usdc))),
    period_trades: leader.counted,
    period_win_rate: leader.counted === 0 ? null : leader.wins / leader.counted,
    overall_score: score?.score ?? null,
    sharpe_ratio: sharpeOf(ended),
    primary_category: categories.find(({ volume }) => Number(volume) > 0)?.category ?? null,
    tags: score?.tags ?? [],
    active_positions_count: held.reduce((sum, { open }) => sum + open, 0),
    win_rate_lb: wilsonLowerBound(leader.wins, leader.counted),
    edge: judged.edge,
    edge_ci: judged.edge_ci,
    avg_entry_price: mean(ended.flatMap(({ e, is_voided }) => (is_voided ? [] : [e]))),
    followable_roi_pct: score?.followable_roi_pct ?? null,
    followable_share: score?.followable_share ?? null,
    largest_event_share: judged.largest_event_share,
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
    const window = change.timeframe === 'all' ? windowOf('all', context.now) : filter.window;
    const metric = (change.metric as LeaderboardMetric | undefined) ?? args.metric;
    const found = await listLeaders(context.sql, {
      ...filter,
      timeframe: (change.timeframe as Timeframe | undefined) ?? args.timeframe,
      window,
      metric,
      min_trades: change.min_trades === 1 ? 1 : args.min_trades,
      limit: 1,
    });
    if (found.length > 0) return new AppError('empty_result', { suggestion: change });
  }
  return new AppError('empty_result', { suggestion: args.category ? { category: null } : { include_bots: true } });
}
