import { AppError } from '../../../errors';
import { listScope } from '../../../lib/cursor';
import { type Timeframe, type Window, windowOf } from '../../../lib/timeframe';
import type { GraphContext, Resolver } from '../../venue';
import { type Loaders, makeLoaders } from '../loaders';
import { isResolved } from '../market-state';
import { type MarketTradesFilter, getMarketTradesTotals, listMarketTrades } from '../queries/market-trades';
import { findNewestFill } from '../queries/newest-fill';
import { beforeAll } from '../queries/trade-row';
import { listWhaleBursts } from '../queries/whale-bursts';
import type { WhaleFilter } from '../queries/whale-filter';
import { LARGE_USDC, listWhaleFills } from '../queries/whale-trades';
import { looser } from './looser';
import { type KnownMarket, chosenOutcomes, getKnownMarket } from './markets-known';
import { closePage, openPage, suggestionOf } from './paging';
import { tellSurroundings, tellTrades } from './trade';
import { nameRun } from './wallets';

type Side = 'BUY' | 'SELL' | 'REDEEM';

/** The smallest amount of USDC there is. */
const LEAST_USDC = 0.000_001;

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
export const marketsTrades: Resolver<unknown, MarketTradesArgs> = async (_, args, asked) => {
  const page = openPage(args.cursor, listScope('markets/trades', args), args.timeframe, asked);
  const context = page.then;
  const loaders = context.loaders(makeLoaders);
  const known = await getKnownMarket(context, args.condition_id);
  const chosen = chooseOutcome(args.outcome, known, args.side, context.now);
  const filter: MarketTradesFilter = {
    condition_id: args.condition_id,
    window: page.window,
    sides: args.side ? [args.side] : ['BUY', 'SELL'],
    min_usdc: chosen.paid ? Math.max(args.min_usdc, LEAST_USDC) : args.min_usdc,
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
      `${uncounted} ${uncounted === 1 ? 'row is' : 'rows are'} in no list of takers: listed, but not counted in trade_count and total_volume.`,
    );
  const trades = await tellTrades(await closePage(rows, args.limit, page), context);
  return { ...known.market, trade_count: totals.trade_count, total_volume: totals.total_volume, trades };
};

/** trades/whales: large fills and redemptions over all markets, newest first. Throws empty_result for no row in scope. */
export const tradesWhales: Resolver<unknown, WhalesArgs> = async (_, args, asked) => {
  // A burst stands at its newest fill: one told late moves it.
  const page = openPage(args.cursor, listScope('trades/whales', args), args.timeframe, asked, args.aggregate === 'burst');
  const context = page.then;
  const filter = await filterOf(args, page.window, context);
  const list = args.aggregate === 'burst' ? listWhaleBursts : listWhaleFills;
  const [rows] = await Promise.all([list(context.sql, filter, page.after, args.limit + 1), nameRun(context)]);
  if (rows.length === 0) {
    if (args.condition_id) await getKnownMarket(context, args.condition_id);
    throw new AppError('empty_result', { suggestion: await looserWhales(args, page.window.to, context) });
  }
  const shown = await closePage(rows, args.limit, page);
  const [trades] = await Promise.all([tellTrades(shown, context), tellSurroundings(shown, context)]);
  return trades;
};

async function filterOf(args: WhalesArgs, window: Window, context: GraphContext): Promise<WhaleFilter> {
  return {
    window,
    sides: args.side ? [args.side] : ['BUY', 'SELL', 'REDEEM'],
    min_usdc: args.min_usdc,
    condition_id: args.condition_id ?? null,
    category: args.category ?? null,
    // Where all are asked for, the run is asked for beside them.
    smart_day: args.smart_money_only ? await smartDay(true, context, context.loaders(makeLoaders)) : undefined,
  };
}

/** The shortest window with such a row, fewer USDC, everybody, all categories: what brings rows up to `to`. */
async function looserWhales(args: WhalesArgs, to: Date, context: GraphContext): Promise<Record<string, unknown>> {
  const { from } = windowOf(args.timeframe, to);
  const find = async (asked: WhalesArgs): Promise<Record<string, unknown> | undefined> => {
    const { condition_id = null, category = null, smart_money_only: smart } = asked;
    // Rows of what nobody ever traded are not looked for among all.
    if (condition_id === null && (await findNewestFill(context.sql, { condition_id, category, smart }, to)) === null) return undefined;
    const filter = await filterOf(asked, windowOf('all', to), context);
    for (const min_usdc of thresholds(args.min_usdc, condition_id === null && args.side === 'REDEEM')) {
      const [newest] = await listWhaleFills(context.sql, { ...filter, min_usdc }, beforeAll(to), 1);
      if (newest !== undefined)
        return { ...(min_usdc !== args.min_usdc && { min_usdc }), ...(newest.timestamp < from && suggestionOf(newest, to)) };
    }
    return undefined;
  };
  return (await find(args)) ?? looser(args, [{ smart_money_only: false }, { category: null }], find);
}

/** What is asked for, tenths of it as long as an index has such rows, and the least that can be asked for, but for `rare` rows, which would be looked for among all. */
function thresholds(min_usdc: number, rare: boolean): number[] {
  const tenths = [min_usdc];
  for (let least = min_usdc; least > LARGE_USDC; tenths.push(least)) least = Math.max(LARGE_USDC, Math.floor(least / 10));
  return [...new Set([...tenths, ...(rare ? [] : [1])])];
}

/** Day of the newest score run where only smart wallets are asked for; undefined where all are. Names the run in meta. */
async function smartDay(wanted: boolean, context: GraphContext, loaders: Loaders): Promise<string | null | undefined> {
  const run = await loaders.scoreRun();
  context.meta.score_version = run?.version ?? null;
  return wanted ? (run?.day ?? null) : undefined;
}

/**
 * The token an outcome name or token id stands for. Redemption rows carry no token: those that paid are the winner's, so any other outcome has none.
 * Throws invalid_parameter for an outcome the market has not.
 */
function chooseOutcome(
  wanted: string | null | undefined,
  known: KnownMarket,
  side: Side | null | undefined,
  now: Date,
): { token_id: string | null; impossible: boolean; paid: boolean } {
  if (wanted === null || wanted === undefined) return { token_id: null, impossible: false, paid: false };
  const [outcome] = chosenOutcomes(known, wanted);
  if (side !== 'REDEEM') return { token_id: outcome?.token_id ?? null, impossible: false, paid: false };
  const { market } = known;
  const impossible = !isResolved(market, now) || market.is_voided || market.winning_outcome !== outcome?.outcome;
  return { token_id: null, impossible, paid: true };
}
