import { AppError } from '../../../errors';
import { CATEGORIES } from '../../../lib/category';
import { type Json, readSnapshot } from '../../../workers/snapshot';
import type { GraphContext, Resolver, Snapshot } from '../../venue';
import { makeMarketLoaders } from '../market-loaders';
import { makeLoaders } from '../loaders';
import { over, percent } from '../exact';
import { type JudgedPosition, evidenceOf, figuresOf, hasEnded, isPosition } from '../positions/figures';
import { type ExpertFilter, type ExpertRow, type ExpertSort, listExperts } from '../queries/wallet-experts';
import { listPositionsAsOf } from '../rollups/positions-as-of';
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

const SORTS: readonly ExpertSort[] = ['category_sharpe', 'category_pnl', 'category_volume', 'category_edge'];
const KEPT = { min_category_trades: 10, limit: 100 } as const;

/** The best of a category in one order. */
interface Ranking {
  sort_by: ExpertSort;
  specialists_only: boolean;
  wallets: string[];
}

/** The best hundred of a category in every order, by the default number of positions: a part is a category. */
export const expertsSnapshot: Snapshot<{ rankings: Ranking[]; experts: Expert[] }> = {
  name: 'wallets/niche-experts',
  every_s: 600,
  parts: CATEGORIES,
  build: async (context, category) => {
    const rankings: Ranking[] = [];
    const found = new Map<string, ExpertRow>();
    for (const specialists_only of [false, true]) {
      for (const sort_by of SORTS) {
        const rows = await listRanked(context, { ...KEPT, category, sort_by, specialists_only });
        rankings.push({ sort_by, specialists_only, wallets: rows.map(({ wallet }) => wallet) });
        for (const row of rows) found.set(row.wallet, row);
      }
    }
    return { rankings, experts: await describe([...found.values()], category, context) };
  },
};

/**
 * wallets/niche-experts: best wallets inside one category, machines left out. Throws empty_result when nobody qualifies, stale_data when its snapshot
 * is too old.
 */
export const walletsNicheExperts: Resolver<unknown, NicheExpertsArgs> = async (_, args, context) => {
  const isKept = args.min_category_trades === KEPT.min_category_trades && args.limit <= KEPT.limit;
  const experts = isKept ? await readKept(context, args) : await describe(await listRanked(context, args), args.category, context);
  if (experts.length === 0) {
    const others = await listRanked(context, { ...args, min_category_trades: 1, limit: 1 });
    throw new AppError('empty_result', {
      suggestion:
        others.length > 0 ? { min_category_trades: 1 } : args.specialists_only ? { specialists_only: false } : { min_category_trades: 1 },
    });
  }
  await nameRun(context);
  context.meta.count = experts.length;
  return experts;
};

async function readKept(context: GraphContext, args: NicheExpertsArgs): Promise<Json<Expert>[]> {
  const { body } = await readSnapshot(context, expertsSnapshot, args.category);
  const ranking = body.rankings.find((one) => one.sort_by === args.sort_by && one.specialists_only === args.specialists_only);
  const byWallet = new Map(body.experts.map((expert) => [expert.wallet, expert]));
  return (ranking?.wallets ?? []).slice(0, args.limit).flatMap((wallet) => byWallet.get(wallet) ?? []);
}

async function listRanked(context: GraphContext, { min_category_trades, ...args }: NicheExpertsArgs): Promise<ExpertRow[]> {
  const run = await context.loaders(makeLoaders).scoreRun();
  const filter: ExpertFilter = {
    ...args,
    min_positions: min_category_trades,
    score_day: run?.day ?? null,
    now: context.now,
    overlay: await context.loaders(makeMarketLoaders).overlay(),
  };
  return listExperts(context.sql, filter);
}

async function describe(experts: readonly ExpertRow[], category: string, context: GraphContext): Promise<Expert[]> {
  const kept = await listPositionsAsOf(context.sql, { wallets: experts.map(({ wallet }) => wallet) }, context.now);
  const judged = (await loadJudged(kept, context)).filter((position) => position.category === category);
  const positions = groupedBy(judged, ({ wallet }) => wallet);
  return Promise.all(experts.map((expert) => expertOf(expert, positions.get(expert.wallet) ?? [], context)));
}

type Expert = Awaited<ReturnType<typeof expertOf>>;

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
