import DataLoader from 'dataloader';
import { type PagedList, type Pages, pageLoader } from '../../lib/connection';
import type { GraphContext } from '../venue';
import type { FillRow } from './queries/fills';
import type { PositionRow } from './queries/held';
import { type FillParent, type LinkedFillsFilter, linkedFills } from './queries/linked-fills';
import { coinPositions } from './queries/linked-positions';
import { type FillPart, type RoundTripRow, type RoundTripsFilter, listTripsOfFills, traderRoundTrips } from './queries/linked-round-trips';
import { type ScoreRow, traderScores } from './queries/linked-scores';

/** Pages of what hangs on a record, read together for all records of one level. */
export interface LinkLoaders {
  fills: Record<FillParent, Pages<FillRow, LinkedFillsFilter>>;
  holders: Pages<PositionRow, null>;
  roundTrips: Pages<RoundTripRow, RoundTripsFilter>;
  /** The closed round trip of a row of a trade list; null while its position is open. */
  tripOfFill: DataLoader<FillPart, RoundTripRow | null, string>;
  scores: Pages<ScoreRow, null>;
}

/** The wing's links for one request; made by `context.loaders(makeLinkLoaders)`. */
export function makeLinkLoaders({ sql, now }: GraphContext): LinkLoaders {
  const pages = <Row, Filter>(list: PagedList<Row, Filter>): Pages<Row, Filter> => pageLoader(list, now);
  return {
    fills: { coin: pages(linkedFills(sql, 'coin')), trader: pages(linkedFills(sql, 'trader')), trip: pages(linkedFills(sql, 'trip')) },
    holders: pages(coinPositions(sql)),
    roundTrips: pages(traderRoundTrips(sql)),
    tripOfFill: new DataLoader((parts) => listTripsOfFills(sql, parts, now), {
      cacheKeyFn: ({ trader, coin, timestamp, seq, trade_id, oid, opens }) =>
        [trader, coin, timestamp.getTime(), seq, trade_id, oid, opens].join('|'),
    }),
    scores: pages(traderScores(sql)),
  };
}
