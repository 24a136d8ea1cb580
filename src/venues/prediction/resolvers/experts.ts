import { AppError } from '../../../errors';
import type { GraphContext, Resolver } from '../../venue';
import { makeLoaders } from '../loaders';
import { over, percent } from '../exact';
import { type JudgedPosition, evidenceOf, figuresOf, hasEnded, isPosition } from '../positions/figures';
import { type ExpertFilter, type ExpertRow, type ExpertSort, listExperts } from '../queries/wallet-experts';
import { listPositionsAsOf, loadOverlay } from '../rollups/positions-as-of';
import { groupedBy } from '../grouped';
import { scoreWallet } from '../scoring/formula';
import { isSpecialist } from '../scoring/tags';
import { loadJudged } from './position';
import { nameRun } from './wallets';

interface NicheExpertsArgs {
  category: string;
  min_category_trades: number;
  sort_by: ExpertSort;
  limit: number;
  specialists_only: boolean;
}

/** wallets/niche-experts: best wallets inside one category, machines left out. Throws empty_result when nobody qualifies. */
export const walletsNicheExperts: Resolver<unknown, NicheExpertsArgs> = async (_, args, context) => {
  const run = await context.loaders(makeLoaders).scoreRun();
  const filter: ExpertFilter = {
    ...args,
    min_positions: args.min_category_trades,
    score_day: run?.day ?? null,
    now: context.now,
    overlay: await loadOverlay(context.sql, context.now),
  };
  const experts = await listExperts(context.sql, filter);
  if (experts.length === 0) {
    const others = await listExperts(context.sql, { ...filter, min_positions: 1, limit: 1 });
    throw new AppError('empty_result', {
      suggestion:
        others.length > 0 ? { min_category_trades: 1 } : args.specialists_only ? { specialists_only: false } : { min_category_trades: 1 },
    });
  }
  await nameRun(context);
  context.meta.count = experts.length;
  const kept = await listPositionsAsOf(context.sql, { wallets: experts.map(({ wallet }) => wallet) }, context.now);
  const positions = groupedBy(
    (await loadJudged(kept, context)).filter(({ category }) => category === args.category),
    ({ wallet }) => wallet,
  );
  return Promise.all(experts.map((expert) => expertOf(expert, positions.get(expert.wallet) ?? [], context)));
};

async function expertOf(expert: ExpertRow, own: readonly JudgedPosition[], context: GraphContext) {
  const score = await context.loaders(makeLoaders).score.load(expert.wallet);
  const ended = own.filter((position) => isPosition(position) && hasEnded(position));
  const figures = figuresOf(ended);
  const judged = scoreWallet(ended.map(evidenceOf), context.now);
  const share = over(expert.volume, expert.whole_volume);
  return {
    wallet: expert.wallet,
    category_sharpe: figures.sharpe,
    category_win_rate: figures.win_rate,
    category_volume: expert.volume,
    category_pnl: expert.pnl,
    category_positions: expert.ended,
    is_specialist: isSpecialist(share, expert.held),
    volume_concentration: share ?? 0,
    overall_score: score?.score ?? null,
    tags: score?.tags ?? [],
    category_roi_pct: percent(expert.pnl, expert.cost),
    category_edge: judged.edge,
    category_edge_ci: judged.edge_ci,
    expected_win_rate: figures.avg_entry_price,
    last_trade: expert.last_trade,
    open_positions: expert.open,
  };
}
