import { AppError } from '../../../errors';
import type { pm_wallet_score as ScoreRecord } from '../../../generated/prisma/client';
import { hhi } from '../../../lib/statistics';
import type { Resolver } from '../../venue';
import { makeLoaders } from '../loaders';
import { less, over, percent, total } from '../exact';
import { groupedBy } from '../grouped';
import { type KnownPosition, listOpenPositions } from '../queries/known-positions';
import { type EndedGains, listEndedGains } from '../queries/ended-gains';
import { unrealizedOf, valueOf } from './position';
import { nameRun, walletsScope } from './wallets';

type PortfolioSort = 'value' | 'wallet_count' | 'pnl' | 'end_date';

interface PortfolioArgs {
  wallets: string[];
  include_positions: boolean;
  min_position_usdc: number;
  category?: string | null;
  sort_by: PortfolioSort;
  limit: number;
}

const RECENT_MS = 30 * 86_400_000;

/** An open position, valued once. */
interface Holding extends KnownPosition {
  value: string | null;
  unrealized: string | null;
}

const valued = (position: KnownPosition): Holding =>
  Object.assign(position, { value: valueOf(position), unrealized: unrealizedOf(position) });

const costOf = (holdings: readonly Holding[]): string => total(holdings.map(({ cost }) => cost));
const worthOf = (holdings: readonly Holding[]): string => total(holdings.map(({ value }) => value ?? '0'));
const gainOf = (holdings: readonly Holding[]): string => total(holdings.map(({ unrealized }) => unrealized ?? '0'));

/** wallets/portfolio: a watchlist as one portfolio. Throws not_found when none ever traded, empty_result when nothing is open and nothing ever ended. */
export const walletsPortfolio: Resolver<unknown, PortfolioArgs> = async (_, args, context) => {
  const scope = await walletsScope(args.wallets, context);
  const category = args.category ?? null;
  const loaders = context.loaders(makeLoaders);
  const [ended, held, scores] = await Promise.all([
    listEndedGains(context.sql, scope, new Date(context.now.getTime() - RECENT_MS), category),
    listOpenPositions(context.sql, scope),
    loaders.score.loadMany(args.wallets),
    nameRun(context),
  ]);
  const traded = new Map(ended.filter(({ trades }) => trades > 0).map((row) => [row.wallet, row]));
  if (traded.size === 0) {
    throw new AppError('not_found', {
      message: 'None of these wallets ever traded.',
      details: [{ param: 'wallets', issue: 'never traded', got: args.wallets.slice(0, 5).join(',') }],
    });
  }
  const open = held.filter((position) => traded.has(position.wallet) && (category === null || position.category === category)).map(valued);
  if ([...traded.values()].every(({ positions: count }) => count === 0))
    throw new AppError('empty_result', { suggestion: args.category ? { category: null } : {} });
  const positions = outcomesOf(open.filter(({ value, cost }) => Number(value ?? cost) >= args.min_position_usdc));
  const shown = [...positions].sort((a, b) => ORDERS[args.sort_by](a, b) || (a.token_id < b.token_id ? -1 : 1)).slice(0, args.limit);
  context.meta.count = args.include_positions ? shown.length : null;
  const owned = groupedBy(open, ({ wallet }) => wallet);
  return {
    wallets: args.wallets.map((wallet, index) => ({
      ...walletRow(wallet, traded.get(wallet), owned.get(wallet) ?? []),
      score: (scores[index] as ScoreRecord | null)?.score ?? null,
    })),
    totals: totalsOf([...traded.values()], open),
    by_category: byCategory(open),
    positions: args.include_positions ? shown : null,
    consensus: positions
      .filter(({ wallet_count }) => wallet_count >= 2)
      .map(({ condition_id, outcome, wallet_count, cost_usdc }) => ({ condition_id, outcome, wallet_count, usdc: cost_usdc }))
      .sort((a, b) => b.wallet_count - a.wallet_count || Number(b.usdc) - Number(a.usdc) || (a.condition_id < b.condition_id ? -1 : 1)),
    conflicts: conflictsOf(positions),
  };
};

function walletRow(wallet: string, ended: EndedGains | undefined, open: readonly Holding[]) {
  return {
    wallet,
    found: ended !== undefined,
    value_usdc: worthOf(open),
    cost_usdc: costOf(open),
    unrealized_pnl_usdc: gainOf(open),
    realized_pnl_30d_usdc: ended?.recent_gain ?? '0',
    open_positions: open.length,
  };
}

function totalsOf(ended: readonly EndedGains[], open: readonly Holding[]) {
  return {
    wallet_count: ended.length,
    value_usdc: worthOf(open),
    cost_usdc: costOf(open),
    unrealized_pnl_usdc: gainOf(open),
    realized_pnl_usdc: total(ended.map(({ gain }) => gain)),
    open_positions: open.length,
    markets: new Set(open.map(({ condition_id }) => condition_id)).size,
    hhi: hhi([...groupedBy(open, ({ token_id }) => token_id).values()].map((held) => Number(worthOf(held)))),
  };
}

/** Open positions by category, most value first. */
function byCategory(open: readonly Holding[]) {
  const whole = worthOf(open);
  return [...groupedBy(open, ({ category }) => category)]
    .map(([category, held]) => ({ category, value_usdc: worthOf(held), position_count: held.length }))
    .map((row) => ({ ...row, pct_of_value: percent(row.value_usdc, whole) }))
    .sort((a, b) => Number(b.value_usdc) - Number(a.value_usdc) || (a.category < b.category ? -1 : 1));
}

type Held = ReturnType<typeof outcomeOf>;

const ORDERS: Record<PortfolioSort, (a: Held, b: Held) => number> = {
  value: (a, b) => Number(b.value_usdc ?? -1) - Number(a.value_usdc ?? -1),
  wallet_count: (a, b) => b.wallet_count - a.wallet_count,
  pnl: (a, b) => Number(b.unrealized_pnl_usdc ?? -Number.MAX_VALUE) - Number(a.unrealized_pnl_usdc ?? -Number.MAX_VALUE),
  end_date: (a, b) => (a.end_date?.getTime() ?? Number.MAX_VALUE) - (b.end_date?.getTime() ?? Number.MAX_VALUE),
};

/** What the wallets hold, by outcome. */
function outcomesOf(open: readonly Holding[]): Held[] {
  const markets = groupedBy(open, ({ condition_id }) => condition_id);
  return [...markets.values()].flatMap((inMarket) => {
    const outcomes = [...groupedBy(inMarket, ({ token_id }) => token_id).values()];
    const costs = outcomes.map((held) => Number(costOf(held)));
    const whole = costs.reduce((sum, cost) => sum + cost, 0);
    const agreement = whole === 0 ? null : Math.max(0, (2 * Math.max(...costs) - whole) / whole);
    return outcomes.map((held) => outcomeOf(held, agreement));
  });
}

function outcomeOf(held: readonly Holding[], agreement: number | null) {
  const [first] = held as [Holding];
  const [cost_usdc, value_usdc] = [costOf(held), first.price === null ? null : worthOf(held)];
  return {
    condition_id: first.condition_id,
    question: first.question,
    category: first.category,
    outcome: first.outcome,
    token_id: first.token_id,
    wallet_count: held.length,
    wallets: held.map(({ wallet }) => wallet).sort(),
    shares: total(held.map(({ shares }) => shares)),
    cost_usdc,
    value_usdc,
    avg_buy_price: over(total(held.map(({ paid_usdc }) => paid_usdc)), total(held.map(({ paid_shares }) => paid_shares))),
    current_price: first.price,
    unrealized_pnl_usdc: value_usdc === null ? null : less(value_usdc, cost_usdc),
    agreement,
    end_date: first.end_date,
  };
}

/** Markets in which different wallets hold different outcomes, most USDC first. */
function conflictsOf(positions: readonly Held[]) {
  return [...groupedBy(positions, ({ condition_id }) => condition_id)]
    .filter(([, sides]) => sides.length >= 2 && new Set(sides.flatMap(({ wallets }) => wallets)).size >= 2)
    .map(([condition_id, sides]) => ({
      condition_id,
      outcomes: sides
        .map(({ outcome, token_id, wallet_count, cost_usdc }) => ({ outcome: outcome ?? token_id, wallet_count, usdc: cost_usdc }))
        .sort((a, b) => Number(b.usdc) - Number(a.usdc) || (a.outcome < b.outcome ? -1 : 1)),
    }))
    .sort((a, b) => usdcOf(b) - usdcOf(a) || (a.condition_id < b.condition_id ? -1 : 1));
}

const usdcOf = ({ outcomes }: { outcomes: { usdc: string }[] }): number => outcomes.reduce((sum, { usdc }) => sum + Number(usdc), 0);
