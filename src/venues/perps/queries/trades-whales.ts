import { AppError } from '../../../errors';
import { type Timeframe, lengthOf, windowOf } from '../../../lib/timeframe';
import type { GraphContext } from '../../venue';
import { makeLoaders } from '../loaders';
import { sideFilter } from '../side';
import type { FillRow } from './fills';
import { getCoin, tradePage } from './trade-page';

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
  const window = windowOf(args.timeframe, context.now);
  Object.assign(context.meta, { timeframe: args.timeframe, window });
  const coin = args.coin == null ? null : await getCoin(context, args.coin);
  const traders = args.smart_money_only ? await smartTraders(context) : null;
  return tradePage(
    context,
    {
      window,
      coin,
      min_usd: args.min_usd,
      ...sideFilter(args.side),
      is_long: args.direction == null ? null : args.direction === 'Long',
      traders,
    },
    {
      scope: { question: 'perps/trades/whales', ...args, coin, cursor: undefined },
      limit: args.limit,
      cursor: args.cursor,
      suggestion: wider(args),
    },
  );
}

async function smartTraders(context: GraphContext): Promise<string[]> {
  const traders = await context.loaders(makeLoaders).smartTraders();
  if (traders === null || traders.length === 0)
    throw new AppError('empty_result', { message: 'No wallet is scored as smart yet.', suggestion: { smart_money_only: false } });
  return traders;
}

/** The narrowest of the sent filters, widened. */
function wider(args: TradesWhalesArgs): Record<string, unknown> {
  if (args.timeframe !== 'all') return { timeframe: lengthOf(args.timeframe) < lengthOf('7d') ? '7d' : 'all' };
  return args.min_usd > 1 ? { min_usd: Math.max(1, args.min_usd / 10) } : { coin: null };
}
