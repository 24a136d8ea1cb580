import DataLoader from 'dataloader';
import { type PagedList, type Pages, pageLoader } from '../../lib/connection';
import { byKey } from '../../lib/by-key';
import { groupedBy } from '../../lib/grouped';
import type { GraphContext } from '../venue';
import { type LinkedMarketsFilter, type MarketPlace, linkedMarkets } from './queries/linked-markets';
import {
  type HolderRow,
  type LinkedPositionsFilter,
  type PositionKey,
  linkedHolders,
  listPositionsByKey,
  walletPositions,
} from './queries/linked-positions';
import { type ScoreRow, walletScores } from './queries/linked-scores';
import { type LinkedTradesFilter, type TradeKey, type TradeParent, linkedTrades, listTradesById } from './queries/linked-trades';
import type { TradeRow } from './queries/trade-row';
import { listPositionsAsOf } from './rollups/positions-as-of';
import type { PositionRow } from './rollups/positions-row';

/** Pages of what hangs on a record, read together for all records of one level. */
export interface LinkLoaders {
  trades: Record<TradeParent, Pages<TradeRow, LinkedTradesFilter>>;
  positions: Pages<PositionRow, LinkedPositionsFilter>;
  /** A fill or redemption by its id. */
  trade: DataLoader<TradeKey, TradeRow | null, string>;
  /** The market of a token. */
  marketOfToken: DataLoader<string, { condition_id: string } | null>;
  /** An event by its URL name, as soon as a market of it is listed. */
  event: DataLoader<string, { slug: string } | null>;
  /** A wallet's in an outcome; null where it never bought it. */
  position: DataLoader<PositionKey, PositionRow | null, string>;
  /** All of a wallet, in no order. */
  held: DataLoader<string, readonly PositionRow[]>;
  holders: Record<'market' | 'outcome', Pages<HolderRow, null>>;
  scores: Pages<ScoreRow, null>;
  markets: Record<'category' | 'event_slug', Pages<MarketPlace, LinkedMarketsFilter>>;
}

/** The wing's links for one request; made by `context.loaders(makeLinkLoaders)`. */
export function makeLinkLoaders({ sql, prisma, now }: GraphContext): LinkLoaders {
  const pages = <Row, Filter>(list: PagedList<Row, Filter>): Pages<Row, Filter> => pageLoader(list, now);
  return {
    trades: {
      market: pages(linkedTrades(sql, 'market')),
      wallet: pages(linkedTrades(sql, 'wallet')),
      outcome: pages(linkedTrades(sql, 'outcome')),
      position: pages(linkedTrades(sql, 'position')),
    },
    trade: new DataLoader((keys) => listTradesById(sql, keys, now), {
      cacheKeyFn: ({ condition_id, trade_id }) => `${condition_id}|${trade_id}`,
    }),
    marketOfToken: byKey(
      (tokens) => prisma.pm_outcome.findMany({ where: { token_id: { in: tokens } }, select: { token_id: true, condition_id: true } }),
      (row) => row.token_id,
    ),
    event: byKey(
      async (slugs) => {
        const listed = { OR: [{ created_at: null }, { created_at: { lte: now } }] };
        const found = await prisma.pm_market.groupBy({ by: 'event_slug', where: { event_slug: { in: slugs }, ...listed } });
        return found.map(({ event_slug }) => ({ slug: event_slug as string }));
      },
      (row) => row.slug,
    ),
    positions: pages(walletPositions(sql)),
    position: new DataLoader((keys) => listPositionsByKey(sql, keys, now), {
      cacheKeyFn: ({ wallet, condition_id, token_id }) => [wallet, condition_id, token_id].join('|'),
    }),
    held: new DataLoader(async (wallets) => {
      const byWallet = groupedBy(await listPositionsAsOf(sql, { wallets }, now), ({ wallet }) => wallet);
      return wallets.map((wallet) => byWallet.get(wallet) ?? []);
    }),
    holders: { market: pages(linkedHolders(sql, 'market')), outcome: pages(linkedHolders(sql, 'outcome')) },
    scores: pages(walletScores(sql)),
    markets: { category: pages(linkedMarkets(sql, 'category')), event_slug: pages(linkedMarkets(sql, 'event_slug')) },
  };
}
