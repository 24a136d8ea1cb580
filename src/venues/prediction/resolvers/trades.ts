import { AppError } from '../../../errors';
import { type Timeframe, windowOf } from '../../../lib/timeframe';
import type { GraphContext, Resolver } from '../../venue';
import { type Loaders, makeLoaders } from '../loaders';
import { isResolved } from '../market-state';
import { type MarketTradesFilter, getMarketTradesTotals, listMarketTrades } from '../queries/market-trades';
import { beforeAll } from '../queries/trade-row';
import { listWhaleBursts } from '../queries/whale-bursts';
import type { WhaleFilter } from '../queries/whale-filter';
import { listWhaleFills } from '../queries/whale-trades';
import { type KnownMarket, chosenOutcomes, getKnownMarket } from './markets-known';
import { closePage, openPage, suggestionOf } from './paging';
import { tellSurroundings, tellTrades } from './trade';
import { nameRun } from './wallets';

type Side = 'BUY' | 'SELL' | 'REDEEM';

interface MarketTradesArgs {
  condition_id: string;
  timeframe: Timeframe;
  side?: Side | null;
  min_usdc: number;
  smart_money_only: boolean;
  limit: number;
  outcome?: string | null;
  cursor?: string | null;
}

interface WhalesArgs {
  side?: Side | null;
  min_usdc: number;
  timeframe: Timeframe;
  condition_id?: string | null;
  category?: string | null;
  smart_money_only: boolean;
  limit: number;
  aggregate: 'fill' | 'burst';
  cursor?: string | null;
}

/** markets/trades: fills of one market, newest first. Throws not_found for an unknown market, empty_result for no row in scope. */
export const marketsTrades: Resolver<unknown, MarketTradesArgs> = async (_, args, context) => {
  const { cursor, ...scope } = args;
  const loaders = context.loaders(makeLoaders);
  const known = await getKnownMarket(context, args.condition_id);
  const page = openPage(cursor, ['markets/trades', scope], args.timeframe, context.now);
  Object.assign(context.meta, { timeframe: args.timeframe, window: page.window });
  const chosen = chooseOutcome(args.outcome, known, args.side, context.now);
  const filter: MarketTradesFilter = {
    condition_id: args.condition_id,
    window: page.window,
    sides: args.side ? [args.side] : ['BUY', 'SELL'],
    min_usdc: args.min_usdc,
    token_id: chosen.token_id,
    smart_day: await smartDay(args.smart_money_only, context, loaders),
  };
  const [rows, totals] = chosen.impossible
    ? [[], { rows: 0, trade_count: 0, total_volume: '0' }]
    : await Promise.all([listMarketTrades(context.sql, filter, page.after, args.limit + 1), getMarketTradesTotals(context.sql, filter)]);
  if (totals.rows === 0) {
    const widest = { ...filter, window: windowOf('all', page.window.to) };
    const [newest] = chosen.impossible ? [] : await listMarketTrades(context.sql, widest, beforeAll(page.window.to), 1);
    throw new AppError('empty_result', { suggestion: suggestionOf(newest, page.window.to) });
  }
  const uncounted = totals.rows - totals.trade_count;
  if (uncounted > 0)
    context.meta.warnings.push(
      `${uncounted} rows are known only from wallets' own histories: listed, but not counted in trade_count and total_volume.`,
    );
  const trades = await tellTrades(closePage(rows, args.limit, page, ['markets/trades', scope], context.meta), context);
  return { ...known.market, trade_count: totals.trade_count, total_volume: totals.total_volume, trades };
};

/** trades/whales: large fills and redemptions over all markets, newest first. Throws empty_result for no row in scope. */
export const tradesWhales: Resolver<unknown, WhalesArgs> = async (_, args, context) => {
  const { cursor, ...scope } = args;
  const loaders = context.loaders(makeLoaders);
  const page = openPage(cursor, ['trades/whales', scope], args.timeframe, context.now);
  Object.assign(context.meta, { timeframe: args.timeframe, window: page.window });
  const filter: WhaleFilter = {
    window: page.window,
    sides: args.side ? [args.side] : ['BUY', 'SELL', 'REDEEM'],
    min_usdc: args.min_usdc,
    condition_id: args.condition_id ?? null,
    category: args.category ?? null,
    // Where all are asked for, the run is asked for beside them.
    smart_day: args.smart_money_only ? await smartDay(true, context, loaders) : undefined,
  };
  const list = args.aggregate === 'burst' ? listWhaleBursts : listWhaleFills;
  const [rows] = await Promise.all([list(context.sql, filter, page.after, args.limit + 1), nameRun(context)]);
  if (rows.length === 0) {
    if (args.condition_id) await getKnownMarket(context, args.condition_id);
    const widest = { ...filter, window: windowOf('all', page.window.to) };
    const [newest] = await listWhaleFills(context.sql, widest, beforeAll(page.window.to), 1);
    throw new AppError('empty_result', {
      suggestion: suggestionOf(newest, page.window.to, { min_usdc: Math.max(1, Math.floor(args.min_usdc / 10)) }),
    });
  }
  const shown = closePage(rows, args.limit, page, ['trades/whales', scope], context.meta);
  const [trades] = await Promise.all([tellTrades(shown, context), tellSurroundings(shown, context)]);
  return trades;
};

/** Day of the newest score run where only smart wallets are asked for; undefined where all are. Names the run in meta. */
async function smartDay(wanted: boolean, context: GraphContext, loaders: Loaders): Promise<string | null | undefined> {
  const run = await loaders.scoreRun();
  context.meta.score_version = run?.version ?? null;
  return wanted ? (run?.day ?? null) : undefined;
}

/**
 * The token an outcome name or token id stands for. Redemption rows carry no token: they are the winner's, so any other outcome has none.
 * Throws invalid_parameter for an outcome the market has not.
 */
function chooseOutcome(
  wanted: string | null | undefined,
  known: KnownMarket,
  side: Side | null | undefined,
  now: Date,
): { token_id: string | null; impossible: boolean } {
  if (wanted === null || wanted === undefined) return { token_id: null, impossible: false };
  const [outcome] = chosenOutcomes(known, wanted);
  if (side !== 'REDEEM') return { token_id: outcome?.token_id ?? null, impossible: false };
  const { market } = known;
  return { token_id: null, impossible: !isResolved(market, now) || market.is_voided || market.winning_outcome !== outcome?.outcome };
}
