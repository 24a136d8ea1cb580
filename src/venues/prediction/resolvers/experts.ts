import { AppError } from '../../../errors';
import { CATEGORIES } from '../../../lib/category';
import { groupedBy } from '../../../lib/grouped';
import { mean } from '../../../lib/statistics';
import { windowOf } from '../../../lib/timeframe';
import { type Json, readSnapshot } from '../../../workers/snapshot';
import type { GraphContext, Resolver, Snapshot } from '../../venue';
import { makeMarketLoaders } from '../market-loaders';
import { makeLoaders } from '../loaders';
import { over, percent } from '../exact';
import { sharpeOf } from '../positions/figures';
import { type EndedEvidence, listEndedEvidence } from '../queries/leader-positions';
import {
  EXPERT_SORTS,
  type ExpertRow,
  type ExpertScope,
  type ExpertSort,
  type RankedExpert,
  listExperts,
  listRankedExperts,
} from '../queries/wallet-experts';
import { judgeEdge } from '../scoring/formula';
import { isSpecialist } from '../scoring/tags';
import { looser } from './looser';
import { nameRun } from './wallets';

interface NicheExpertsArgs {
  category: string;
  min_category_trades: number;
  sort_by: ExpertSort;
  limit: number;
  specialists_only: boolean;
}

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
    const ranked = await listRankedExperts(context.sql, await scopeOf(context, { ...KEPT, category }));
    const rankings = [false, true].flatMap((specialists_only) =>
      EXPERT_SORTS.map((sort_by, index) => ({ sort_by, specialists_only, wallets: firstOf(ranked, index, specialists_only) })),
    );
    return { rankings, experts: await describe(ranked, category, context) };
  },
};

/** The first wallets of the order in that place of EXPERT_SORTS. */
function firstOf(ranked: readonly RankedExpert[], order: number, specialists_only: boolean): string[] {
  const wallets: string[] = [];
  for (const { wallet, places, special_places } of ranked) {
    const place = (specialists_only ? special_places : places)?.[order] ?? KEPT.limit + 1;
    if (place <= KEPT.limit) wallets[place - 1] = wallet;
  }
  return wallets;
}

/**
 * wallets/niche-experts: best wallets inside one category, machines left out. Throws empty_result when nobody qualifies, stale_data when its snapshot
 * is too old.
 */
export const walletsNicheExperts: Resolver<unknown, NicheExpertsArgs> = async (_, args, context) => {
  const isKept = args.min_category_trades === KEPT.min_category_trades && args.limit <= KEPT.limit;
  const { experts, as_of } = isKept ? await readKept(context, args) : await listNow(context, args);
  if (experts.length === 0) throw new AppError('empty_result', { suggestion: await suggestionOf(args, context) });
  await nameRun(context.at(as_of));
  context.meta.count = experts.length;
  return experts;
};

/** Fewer positions, or all that are no specialists too; where nobody ever qualifies, the first category in which somebody does. */
async function suggestionOf(args: NicheExpertsArgs, context: GraphContext): Promise<Record<string, unknown>> {
  const suggestion = await looser(args, [{ min_category_trades: 1 }, { specialists_only: false }], async (asked) =>
    (await listRanked(context, { ...asked, limit: 1 })).length > 0 ? {} : undefined,
  );
  if (Object.keys(suggestion).length > 0) return suggestion;
  for (const category of CATEGORIES) {
    const others = await readKept(context, { ...args, category, limit: 1 }).catch(unlessStale);
    if (others.experts.length > 0)
      return { category, ...(args.min_category_trades > KEPT.min_category_trades && { min_category_trades: KEPT.min_category_trades }) };
  }
  return {};
}

/** Copies that are too old tell nothing; what else fails is the answer's failure. */
function unlessStale(error: unknown): { experts: [] } {
  if (error instanceof AppError && error.code === 'stale_data') return { experts: [] };
  throw error;
}

/** Experts in order, and the instant they are as of. */
interface Listed {
  experts: Json<Expert>[] | Expert[];
  as_of: Date;
}

async function readKept(context: GraphContext, args: NicheExpertsArgs): Promise<Listed> {
  const { body, as_of } = await readSnapshot(context, expertsSnapshot, args.category);
  const ranking = body.rankings.find((one) => one.sort_by === args.sort_by && one.specialists_only === args.specialists_only);
  const byWallet = new Map(body.experts.map((expert) => [expert.wallet, expert]));
  return { experts: (ranking?.wallets ?? []).slice(0, args.limit).flatMap((wallet) => byWallet.get(wallet) ?? []), as_of };
}

const listNow = async (context: GraphContext, args: NicheExpertsArgs): Promise<Listed> => ({
  experts: await describe(await listRanked(context, args), args.category, context),
  as_of: context.now,
});

type Scope = Pick<NicheExpertsArgs, 'category' | 'min_category_trades' | 'limit'>;

async function scopeOf(context: GraphContext, { category, min_category_trades, limit }: Scope): Promise<ExpertScope> {
  const run = await context.loaders(makeLoaders).scoreRun();
  return {
    category,
    min_positions: min_category_trades,
    limit,
    score_day: run?.day ?? null,
    now: context.now,
    overlay: await context.loaders(makeMarketLoaders).overlay(),
  };
}

async function listRanked(context: GraphContext, args: NicheExpertsArgs): Promise<ExpertRow[]> {
  const { sort_by, specialists_only } = args;
  return listExperts(context.sql, { sort_by, specialists_only, ...(await scopeOf(context, args)) });
}

async function describe(experts: readonly ExpertRow[], category: string, context: GraphContext): Promise<Expert[]> {
  const { now, sql } = context;
  const scope = { wallets: experts.map(({ wallet }) => wallet), now, overlay: await context.loaders(makeMarketLoaders).overlay() };
  const ended = groupedBy(await listEndedEvidence(sql, scope, windowOf('all', now), category), ({ wallet }) => wallet);
  return Promise.all(experts.map((expert) => expertOf(expert, ended.get(expert.wallet) ?? [], context)));
}

type Expert = Awaited<ReturnType<typeof expertOf>>;

async function expertOf(expert: ExpertRow, ended: readonly EndedEvidence[], context: GraphContext) {
  const score = await context.loaders(makeLoaders).score.load(expert.wallet);
  const { edge, edge_ci } = judgeEdge(ended, context.now);
  const share = over(expert.volume, expert.whole_volume);
  return {
    wallet: expert.wallet,
    category_sharpe: sharpeOf(ended),
    category_win_rate: over(expert.wins, expert.counted),
    category_volume: expert.volume,
    category_pnl: expert.pnl,
    category_positions: expert.ended,
    is_specialist: isSpecialist(share, expert.held),
    volume_concentration: share ?? 0,
    overall_score: score?.score ?? null,
    tags: score?.tags ?? [],
    category_roi_pct: percent(expert.pnl, expert.cost),
    category_edge: edge,
    category_edge_ci: edge_ci,
    expected_win_rate: mean(ended.flatMap(({ e, is_voided }) => (is_voided ? [] : [e]))),
    last_trade: expert.last_trade,
    open_positions: expert.open,
  };
}
