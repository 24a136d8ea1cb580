import { type Timeframe, since, windowOf } from '../../../lib/timeframe';
import type { GraphContext } from '../../venue';
import { sideFilter } from '../side';
import type { FillRow } from './fills';
import { getKnownCoin, without } from './scope';
import { openTradePage, tradePage } from './trade-page';

export interface TradesFeedArgs {
  coin: string;
  limit: number;
  timeframe?: Timeframe | null;
  side?: string | null;
  cursor?: string | null;
}

/** Fills of one coin, newest first; without timeframe, as far back as they go. Throws not_found, empty_result. */
export async function tradesFeed(args: TradesFeedArgs, context: GraphContext): Promise<FillRow[]> {
  const { coin, first_seen } = await getKnownCoin(context, args.coin);
  const opened = openTradePage('perps/trades/feed', args, context);
  const timeframe = args.timeframe ?? null;
  const window = windowOf(timeframe ?? 'all', opened.then.now);
  context.meta.timeframe = timeframe;
  context.meta.window = timeframe === null ? null : window;
  const narrowed = timeframe !== null && timeframe !== 'all';
  // A statement opens every month of its window.
  const filter = {
    window: since(window, first_seen ?? window.to),
    coin,
    min_usd: null,
    ...sideFilter(args.side),
    is_long: null,
    whose: null,
  };
  return tradePage(opened, filter, narrowed ? { timeframe: 'all' } : without(args, { side: null }));
}
