import type { pm_market as MarketRecord } from '../../../generated/prisma/client';
import { AppError } from '../../../errors';
import { roundTo } from '../../../lib/statistics';
import { findKept } from '../../../workers/snapshot';
import type { GraphContext, Resolver, Snapshot } from '../../venue';
import { makeLoaders } from '../loaders';
import { makeMarketLoaders } from '../market-loaders';
import { leaderOf } from '../market-prices';
import { statusOf } from '../market-state';
import { type WordCounts, WordVectors, countWords } from '../market-words';
import { type ListScope, type ListedMarket, listMarkets } from '../queries/market-lists';
import { type OverlapRow, findOverlap } from '../queries/market-overlap';
import { listTakenVolumes } from '../queries/market-volumes';
import { countNorms, replaceNorms } from '../rollups/market-norms';
import { tellStandings } from '../rollups/standings';
import { tellCrowds } from '../rollups/told-crowds';
import { tellSettled } from '../rollups/told-settled';
import { tellHours } from '../rollups/told-hours';
import { tellParticipants } from '../rollups/told-participants';
import { tellWallets } from '../rollups/told-wallets';
import { SMART_SCORE } from '../scoring/tiers';
import { getKnownMarket } from './markets-known';
import { asOf } from './signals-views';

interface Args {
  condition_id: string;
  limit: number;
  method: 'hybrid' | 'wallets' | 'text';
  min_shared_wallets: number;
  status: 'active' | 'resolved' | 'all';
}

/** What a market is compared by. */
type ComparedMarket = Pick<ListedMarket, 'condition_id' | 'question' | 'category'>;

interface Candidate {
  market: ComparedMarket;
  overlap: OverlapRow | undefined;
  text: number;
  similarity: number;
}

/** Weights of the similarity of two markets. */
export const HYBRID = { wallets: 0.6, text: 0.3, category: 0.1 } as const;

const ALL_MARKETS: ListScope = { status: 'all', category: null, words: null, exactly: null, resolved_from: null };
const WHOLE = 'all';

/** What likeness is measured by, over all markets: the number of those with wallets, and of questions with each word. Norms of markets are kept beside it. */
export const similarSnapshot: Snapshot<{ markets: number; counts: WordCounts }> = {
  name: 'markets/similar',
  every_s: 600,
  parts: [WHOLE],
  refresh: async (pool, now) => {
    await replaceNorms(pool, now);
    await tellHours(pool, now);
    await tellWallets(pool);
    await tellCrowds(pool);
    await tellSettled(pool);
    await tellStandings(pool, now);
    await tellParticipants(pool, now);
  },
  build: async (context) => ({ markets: await countNorms(context.sql), counts: await countAll(context) }),
};

const countAll = async (context: GraphContext): Promise<WordCounts> =>
  countWords((await listMarkets(context.sql, ALL_MARKETS, context.now)).map(({ question }) => question ?? ''));

/**
 * markets/similar: markets that share wallets and words with one. Throws not_found for an unknown market, empty_result without a similar one,
 * stale_data when its snapshot is too old.
 */
export const marketsSimilar: Resolver<unknown, Args> = async (_, args, context) => {
  const [{ market }, run, snapshot, instant] = await Promise.all([
    getKnownMarket(context, args.condition_id),
    context.loaders(makeLoaders).scoreRun(),
    findKept(context, similarSnapshot, WHOLE),
    asOf(context),
  ]);
  context.meta.score_version = run?.version ?? null;
  const kept = snapshot?.body;
  const { min_shared_wallets: min_shared, status } = args;
  const scope = { status, min_shared, score_day: run?.day ?? null, smart_score: SMART_SCORE, markets: kept?.markets ?? null };
  const overlap = await findOverlap(context.sql, args.condition_id, scope, instant);
  const rows = new Map(overlap.rows.map((row) => [row.condition_id, row]));
  const all: ComparedMarket[] = min_shared === 0 ? await listMarkets(context.sql, { ...ALL_MARKETS, status }, context.now) : overlap.rows;
  const questions = new Map([market, ...all].map((one) => [one.condition_id, one.question ?? '']));
  const vectors = new WordVectors((kept?.counts as WordCounts | undefined) ?? (await countAll(context)), questions);
  const candidates = all
    .filter((one) => one.condition_id !== args.condition_id)
    .map((one) => candidateOf(one, market, rows.get(one.condition_id), vectors.cosine(args.condition_id, one.condition_id), args.method))
    // Sharing only a category makes no two markets alike.
    .filter(({ overlap: shared, text, similarity }) => similarity > 0 && (shared !== undefined || text > 0));
  if (candidates.length === 0)
    throw new AppError('empty_result', { suggestion: args.min_shared_wallets > 0 ? { min_shared_wallets: 0 } : { status: 'all' } });
  const shown = candidates
    .sort((a, b) => b.similarity - a.similarity || (a.market.condition_id < b.market.condition_id ? -1 : 1))
    .slice(0, args.limit);
  context.meta.count = shown.length;
  const volumes = listTakenVolumes(context.sql, shown.map((one) => one.market.condition_id), context.now); // prettier-ignore
  return Promise.all(shown.map((one) => describe(one, market, overlap.wallets, volumes, context)));
};

function candidateOf(
  market: ComparedMarket,
  asked: MarketRecord,
  overlap: OverlapRow | undefined,
  text: number,
  method: Args['method'],
): Candidate {
  const wallets = overlap?.cosine ?? 0;
  const hybrid = HYBRID.wallets * wallets + HYBRID.text * text + (market.category === asked.category ? HYBRID.category : 0);
  const similarity = method === 'wallets' ? wallets : method === 'text' ? text : hybrid;
  // As it is told: sums of the same weights in another order differ in their last digits.
  return { market, overlap, text, similarity: roundTo(similarity, 6) };
}

async function describe(
  { market, overlap, text, similarity }: Candidate,
  asked: MarketRecord,
  own: number,
  volumes: ReturnType<typeof listTakenVolumes>,
  context: GraphContext,
): Promise<Record<string, unknown>> {
  const { condition_id } = market;
  const [taken, record, prices] = await Promise.all([
    volumes,
    context.loaders(makeMarketLoaders).shown.load(condition_id),
    context.loaders(makeMarketLoaders).prices.load({ condition_id, at: context.now }),
  ]);
  const shared = overlap?.shared ?? 0;
  return {
    ...record,
    shared_wallet_count: shared,
    wallet_overlap_pct: own === 0 ? 0 : (100 * shared) / own,
    total_volume_usdc: taken.get(condition_id) ?? '0',
    similarity,
    jaccard: overlap === undefined ? 0 : shared / (own + overlap.wallets - shared),
    text_similarity: text,
    shared_smart_wallets: overlap?.shared_smart ?? 0,
    same_event: asked.event_slug !== null && asked.event_slug === record.event_slug,
    leader_price: leaderOf(prices)?.price ?? null,
    status: statusOf(record, context.now),
  };
}
