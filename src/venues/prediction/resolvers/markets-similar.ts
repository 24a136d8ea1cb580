import type { pm_market as MarketRecord } from '../../../generated/prisma/client';
import { AppError } from '../../../errors';
import type { GraphContext, Resolver } from '../../venue';
import { makeLoaders } from '../loaders';
import { makeMarketLoaders } from '../market-loaders';
import { leaderOf } from '../market-prices';
import { statusOf } from '../market-state';
import { WordVectors } from '../market-words';
import { type ListedMarket, listMarkets } from '../queries/market-lists';
import { type OverlapRow, findOverlap } from '../queries/market-overlap';
import { loadLifetimeVolumes } from '../queries/market-volumes';
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

interface Candidate {
  market: ListedMarket;
  overlap: OverlapRow | undefined;
  text: number;
  similarity: number;
}

/** Weights of D-SIM. */
const HYBRID = { wallets: 0.6, text: 0.3, category: 0.1 } as const;

/** markets/similar: markets that share wallets and words with one. Throws not_found for an unknown market, empty_result without a similar one. */
export const marketsSimilar: Resolver<unknown, Args> = async (_, args, context) => {
  const { market } = await getKnownMarket(context, args.condition_id);
  const run = await context.loaders(makeLoaders).scoreRun();
  context.meta.score_version = run?.version ?? null;
  const [overlap, all] = await Promise.all([
    findOverlap(context.sql, args.condition_id, run?.day ?? null, SMART_SCORE, args.min_shared_wallets, await asOf(context)),
    listMarkets(context.sql, { status: 'all', category: null, words: null, exactly: null, resolved_from: null }, context.now),
  ]);
  const rows = new Map(overlap.rows.map((row) => [row.condition_id, row]));
  const vectors = new WordVectors(new Map(all.map((one) => [one.condition_id, one.question ?? ''])));
  const candidates = all
    .filter(
      (one) =>
        one.condition_id !== args.condition_id &&
        hasStatus(one, args.status, context) &&
        (args.min_shared_wallets === 0 || rows.has(one.condition_id)),
    )
    .map((one) => candidateOf(one, market, rows.get(one.condition_id), vectors.cosine(args.condition_id, one.condition_id), args.method))
    // Sharing only a category makes no two markets alike.
    .filter(({ overlap: shared, text, similarity }) => similarity > 0 && (shared !== undefined || text > 0));
  if (candidates.length === 0)
    throw new AppError('empty_result', { suggestion: args.min_shared_wallets > 0 ? { min_shared_wallets: 0 } : { status: 'all' } });
  const shown = candidates
    .sort((a, b) => b.similarity - a.similarity || (a.market.condition_id < b.market.condition_id ? -1 : 1))
    .slice(0, args.limit);
  context.meta.count = shown.length;
  const volumes = await loadLifetimeVolumes(context.sql, shown.map((one) => one.market.condition_id), context.now); // prettier-ignore
  return Promise.all(shown.map((one) => describe(one, market, overlap.wallets, volumes(one.market.condition_id).total, context)));
};

function hasStatus(market: ListedMarket, status: Args['status'], { now }: GraphContext): boolean {
  if (status === 'all') return true;
  const life = statusOf(market, now);
  return status === 'active' ? life === 'active' : life === 'resolved' || life === 'voided';
}

function candidateOf(
  market: ListedMarket,
  asked: MarketRecord,
  overlap: OverlapRow | undefined,
  text: number,
  method: Args['method'],
): Candidate {
  const wallets = overlap?.cosine ?? 0;
  const hybrid = HYBRID.wallets * wallets + HYBRID.text * text + (market.category === asked.category ? HYBRID.category : 0);
  return { market, overlap, text, similarity: method === 'wallets' ? wallets : method === 'text' ? text : hybrid };
}

async function describe(
  { market, overlap, text, similarity }: Candidate,
  asked: MarketRecord,
  own: number,
  volume: string,
  context: GraphContext,
): Promise<Record<string, unknown>> {
  const { condition_id } = market;
  const [record, prices] = await Promise.all([
    context.loaders(makeLoaders).market.load(condition_id) as Promise<MarketRecord>,
    context.loaders(makeMarketLoaders).prices.load({ condition_id, at: context.now }),
  ]);
  const shared = overlap?.shared ?? 0;
  return {
    ...record,
    shared_wallet_count: shared,
    wallet_overlap_pct: own === 0 ? 0 : (100 * shared) / own,
    total_volume_usdc: volume,
    similarity,
    jaccard: overlap === undefined ? 0 : shared / (own + overlap.wallets - shared),
    text_similarity: text,
    shared_smart_wallets: overlap?.shared_smart ?? 0,
    same_event: asked.event_slug !== null && asked.event_slug === record.event_slug,
    leader_price: leaderOf(prices)?.price ?? null,
    status: statusOf(record, context.now),
  };
}
