import type { Resolver } from '../../venue';
import { type TradesFeedArgs, tradesFeed } from '../queries/trades-feed';
import { type TradesWhalesArgs, tradesWhales } from '../queries/trades-whales';
import { platformStats } from '../queries/platform-stats';
import type { Timeframe } from '../../../lib/timeframe';

/** Root fields of the wing that answer. */
export const query = {
  perpsPlatformStats: ((_root, args, context) => platformStats(args, context)) as Resolver<unknown, { timeframe: Timeframe }>,
  perpsTradesWhales: ((_root, args, context) => tradesWhales(args, context)) as Resolver<unknown, TradesWhalesArgs>,
  perpsTradesFeed: ((_root, args, context) => tradesFeed(args, context)) as Resolver<unknown, TradesFeedArgs>,
};
