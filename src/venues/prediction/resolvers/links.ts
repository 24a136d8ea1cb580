import type { pm_market as MarketRecord, pm_outcome as OutcomeRecord } from '../../../generated/prisma/client';
import { type Connection, type PageArgs, mapPage } from '../../../lib/connection';
import type { GraphContext, Resolver } from '../../venue';
import { makeLoaders } from '../loaders';
import { makeLinkLoaders } from '../loaders-links';
import { isListed, isResolved } from '../market-state';
import type { LinkedMarketsFilter, MarketPlace } from '../queries/linked-markets';
import type { PositionKey } from '../queries/linked-positions';
import type { ScoreRow } from '../queries/linked-scores';
import type { LinkedTradesFilter, TradeParent } from '../queries/linked-trades';
import type { TradeRow } from '../queries/trade-row';
import type { PositionRow } from '../rollups/positions-row';
import { tierOf } from '../scoring/tiers';
import { loadKnown, positionRecord } from './position';
import { tradedOutcome } from './trade';

type TradesArgs = PageArgs & Partial<LinkedTradesFilter>;
type MarketsArgs = PageArgs & LinkedMarketsFilter;

/** The market of whatever names one; null for one the venue had not listed yet. */
export const marketOf = async ({ condition_id }: { condition_id: string | null }, context: GraphContext): Promise<MarketRecord | null> => {
  const market = condition_id === null ? null : await context.loaders(makeLoaders).market.load(condition_id);
  return market !== null && isListed(market, context.now) ? market : null;
};

/** An outcome of a market by its token; its payout is known once the market is resolved. */
export async function outcomeOf(condition_id: string, token_id: string | null, context: GraphContext): Promise<OutcomeRecord | null> {
  const loaders = context.loaders(makeLoaders);
  const [market, outcomes] = await Promise.all([loaders.market.load(condition_id), loaders.outcomes.load(condition_id)]);
  const outcome = outcomes.find((one) => one.token_id === token_id);
  if (outcome === undefined) return null;
  return { ...outcome, payout: market !== null && isResolved(market, context.now) ? outcome.payout : null };
}

/** Fills and redemptions of a parent, a page of them. */
const trades =
  <Source>(of: TradeParent, keyOf: (source: Source) => string): Resolver<Source, TradesArgs> =>
  (source, { first, after, side, min_usdc }, context) =>
    context
      .loaders(makeLinkLoaders)
      .trades[of].load({ parent: keyOf(source), first, after, filter: { side: side ?? null, min_usdc: min_usdc ?? 0 } });

/** A page of positions in the words of PmPosition. */
const told = (page: Connection<PositionRow>, context: GraphContext): Promise<Connection<unknown>> =>
  mapPage(page, async (rows) => (await loadKnown(rows, context)).map(positionRecord));

const holders =
  <Source>(of: 'market' | 'outcome', keyOf: (source: Source) => string): Resolver<Source, PageArgs> =>
  async (source, { first, after }, context) =>
    told(await context.loaders(makeLinkLoaders).holders[of].load({ parent: keyOf(source), first, after, filter: null }), context);

const positions: Resolver<{ wallet: string }, PageArgs & { status?: string | null }> = async (
  { wallet },
  { first, after, status },
  context,
) =>
  told(
    await context.loaders(makeLinkLoaders).positions.load({ parent: wallet, first, after, filter: { status: status ?? null } }),
    context,
  );

const markets =
  <Source>(by: 'category' | 'event_slug', keyOf: (source: Source) => string): Resolver<Source, MarketsArgs> =>
  async (source, { first, after, active_only }, context) => {
    const page = await context.loaders(makeLinkLoaders).markets[by].load({ parent: keyOf(source), first, after, filter: { active_only } });
    return mapPage(page, async (rows: MarketPlace[]) =>
      Promise.all(rows.map(({ condition_id }) => context.loaders(makeLoaders).market.load(condition_id))),
    );
  };

/** The position that a fill or redemption is part of. */
const positionOf: Resolver<TradeRow> = async (row, _args, context) => {
  // Asked of fills too, which know their token: so they and redemptions are looked up together.
  const token_id = (await tradedOutcome(row, context))?.token_id ?? row.token_id;
  const { wallet, condition_id } = row;
  const found = token_id === null ? null : await context.loaders(makeLinkLoaders).position.load({ wallet, condition_id, token_id });
  const [known] = await loadKnown(found === null ? [] : [found], context);
  return known === undefined ? null : positionRecord(known);
};

const ofToken = ({ condition_id, token_id }: { condition_id: string; token_id: string }): string => `${condition_id}|${token_id}`;
const ofPosition = ({ wallet, condition_id, token_id }: PositionKey): string => `${wallet}|${condition_id}|${token_id}`;
const ofMarket = ({ condition_id }: { condition_id: string }): string => condition_id;
const ofWallet = ({ wallet }: { wallet: string }): string => wallet;
/** The wallet of whatever names one. */
export const walletOf = ({ wallet }: { wallet: string }): { wallet: string } => ({ wallet });

const scoreHistory: Resolver<{ wallet: string }, PageArgs> = ({ wallet }, { first, after }, context) =>
  context.loaders(makeLinkLoaders).scores.load({ parent: wallet, first, after, filter: null });

const currentPrice: Resolver<OutcomeRecord> = async ({ condition_id, token_id }, _args, context) =>
  (await context.loaders(makeLoaders).prices.load(condition_id)).get(token_id) ?? null;

/** Fields of the wing's records that lead to other records. */
export const links = {
  Market: {
    category_page: (({ category }) => ({ name: category ?? 'Other' })) as Resolver<MarketRecord>,
    event: (({ event_slug }) => (event_slug === null ? null : { slug: event_slug })) as Resolver<MarketRecord>,
    trades: trades('market', ofMarket),
    holders: holders('market', ofMarket),
  },
  MarketOutcome: {
    current_price: currentPrice,
    market: (async (source, _args, context) => marketOf(source, context)) as Resolver<OutcomeRecord>,
    trades: trades('outcome', ofToken),
    holders: holders('outcome', ofToken),
  },
  PmWallet: { trades: trades('wallet', ofWallet), positions, score_history: scoreHistory },
  PmTrade: {
    outcome_token: (async (row, _args, context) =>
      outcomeOf(row.condition_id, (await tradedOutcome(row, context))?.token_id ?? null, context)) as Resolver<TradeRow>,
    position: positionOf,
  },
  PmPosition: {
    wallet_profile: walletOf,
    market: (async (source, _args, context) => marketOf(source, context)) as Resolver<PositionKey>,
    outcome_token: (async (source, _args, context) => outcomeOf(source.condition_id, source.token_id, context)) as Resolver<PositionKey>,
    trades: trades('position', ofPosition),
  },
  PmScore: {
    date: ({ day }: ScoreRow) => day,
    tier: ({ score }: ScoreRow) => tierOf(score === null ? null : Number(score)),
    edge_ci: ({ edge_low, edge_high }: ScoreRow) => (edge_low === null || edge_high === null ? null : [edge_low, edge_high]),
    wallet_profile: walletOf,
  },
  PmCategory: { markets: markets('category', ({ name }: { name: string }) => name) },
  PmEvent: { markets: markets('event_slug', ({ slug }: { slug: string }) => slug) },
};
