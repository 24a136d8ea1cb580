import DataLoader from 'dataloader';
import { type PagedList, type Pages, pageLoader } from '../../lib/connection';
import type { GraphContext } from '../venue';
import { type EventParent, type LinkedEventsFilter, linkedEvents, poolSwaps } from './queries/linked-events';
import { type OrderParent, type OrderRow, type PoolPlace, linkedOrders, listOrdersByAddress, tokenPools } from './queries/linked-orders';
import { type LinkedPositionRow, type LinkedPositionsFilter, linkedPositions, listPositionsByAddress } from './queries/linked-positions';
import { type PoolProviderRow, type ScoreRow, poolProviders, providerScores } from './queries/linked-providers';
import type { PoolEventRow, PoolSwapRow } from './queries/pools-events';

/** Pages of what hangs on a record, read together for all records of one level. */
export interface LinkLoaders {
  events: Record<EventParent, Pages<PoolEventRow, LinkedEventsFilter>>;
  swaps: Pages<PoolSwapRow, null>;
  positions: Record<'pool_address' | 'owner', Pages<LinkedPositionRow, LinkedPositionsFilter>>;
  /** By address, with results. */
  position: DataLoader<string, LinkedPositionRow | null>;
  providers: Pages<PoolProviderRow, null>;
  scores: Pages<ScoreRow, null>;
  orders: Record<OrderParent, Pages<OrderRow, { open_only: boolean }>>;
  /** By address. */
  order: DataLoader<string, OrderRow | null>;
  pools: Pages<PoolPlace, null>;
}

/** The wing's links for one request; made by `context.loaders(makeLinkLoaders)`. */
export function makeLinkLoaders({ sql, now }: GraphContext): LinkLoaders {
  const pages = <Row, Filter>(list: PagedList<Row, Filter>): Pages<Row, Filter> => pageLoader(list, now);
  return {
    events: {
      pool_address: pages(linkedEvents(sql, 'pool_address')),
      owner: pages(linkedEvents(sql, 'owner')),
      position_address: pages(linkedEvents(sql, 'position_address')),
    },
    swaps: pages(poolSwaps(sql)),
    positions: { pool_address: pages(linkedPositions(sql, 'pool_address')), owner: pages(linkedPositions(sql, 'owner')) },
    position: new DataLoader(async (addresses) => {
      const found = await listPositionsByAddress(sql, addresses, now);
      return addresses.map((address) => found.get(address) ?? null);
    }),
    providers: pages(poolProviders(sql)),
    scores: pages(providerScores(sql)),
    orders: {
      owner: pages(linkedOrders(sql, 'owner')),
      input_mint: pages(linkedOrders(sql, 'input_mint')),
      output_mint: pages(linkedOrders(sql, 'output_mint')),
    },
    order: new DataLoader(async (addresses) => {
      const found = await listOrdersByAddress(sql, addresses, now);
      return addresses.map((address) => found.get(address) ?? null);
    }),
    pools: pages(tokenPools(sql)),
  };
}
