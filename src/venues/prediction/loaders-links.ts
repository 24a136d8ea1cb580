import DataLoader from 'dataloader';
import { type PagedList, type Pages, pageLoader } from '../../lib/connection';
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
import { type LinkedTradesFilter, type TradeParent, linkedTrades } from './queries/linked-trades';
import type { TradeRow } from './queries/trade-row';
import { listPositionsAsOf } from './rollups/positions-as-of';
import type { PositionRow } from './rollups/positions-row';

/** Pages of what hangs on a record, read together for all records of one level. */
export interface LinkLoaders {
  trades: Record<TradeParent, Pages<TradeRow, LinkedTradesFilter>>;
  positions: Pages<PositionRow, LinkedPositionsFilter>;
  /** A wallet's in an outcome; null where it never bought it. */
  position: DataLoader<PositionKey, PositionRow | null, string>;
  /** All of a wallet, in no order. */
  held: DataLoader<string, readonly PositionRow[]>;
  holders: Record<'market' | 'outcome', Pages<HolderRow, null>>;
  scores: Pages<ScoreRow, null>;
  markets: Record<'category' | 'event_slug', Pages<MarketPlace, LinkedMarketsFilter>>;
}

/** The wing's links for one request; made by `context.loaders(makeLinkLoaders)`. */
export function makeLinkLoaders({ sql, now }: GraphContext): LinkLoaders {
  const pages = <Row, Filter>(list: PagedList<Row, Filter>): Pages<Row, Filter> => pageLoader(list, now);
  return {
    trades: {
      market: pages(linkedTrades(sql, 'market')),
      wallet: pages(linkedTrades(sql, 'wallet')),
      outcome: pages(linkedTrades(sql, 'outcome')),
      position: pages(linkedTrades(sql, 'position')),
    },
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
