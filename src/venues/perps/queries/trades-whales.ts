import type { Timeframe } from '../../../lib/timeframe';
import type { GraphContext } from '../../venue';
import { sideFilter } from '../side';
import { SMART_SCORE } from '../tier';
import { type FillRow, LARGE_USD } from './fills';
import { getCoinIfAny, getSmartDay, openWindow, widerTimeframe, without } from './scope';
import { openTradePage, tradePage } from './trade-page';

export interface TradesWhalesArgs {
  min_usd: number;
  timeframe: Timeframe;
  coin?: string | null;
  side?: string | null;
  direction?: 'Long' | 'Short' | null;
  smart_money_only: boolean;
  limit: number;
  cursor?: string | null;
}

/** Fills (parts of flips) worth at least `min_usd`, newest first. Throws not_found for an unknown coin, empty_result. */
export async function tradesWhales(args: TradesWhalesArgs, context: GraphContext): Promise<FillRow[]> {
  const coin = await getCoinIfAny(context, args.coin);
  const opened = openTradePage('perps/trades/whales', args, context, args.smart_money_only);
  const filter = {
    window: openWindow(args.timeframe, opened.then),
    coin,
    min_usd: args.min_usd,
    ...sideFilter(args.side),
    is_long: args.direction == null ? null : args.direction === 'Long',
    whose: args.smart_money_only ? { day: await getSmartDay(opened.then), least: SMART_SCORE } : null,
  };
  return tradePage(opened, filter, wider(args));
}

/** The narrowest of the sent filters, widened; undefined where there is none. */
function wider(args: TradesWhalesArgs): Record<string, unknown> | undefined {
  const suggestion = widerTimeframe(args.timeframe);
  if (suggestion !== undefined) return suggestion;
  // A tenth as long as an index has such fills; below, whatever there is.
  if (args.min_usd > LARGE_USD) return { min_usd: Math.max(LARGE_USD, args.min_usd / 10) };
  if (args.min_usd > 1) return { min_usd: 1 };
  return without(args, { coin: null, side: null, direction: null, smart_money_only: false });
}
