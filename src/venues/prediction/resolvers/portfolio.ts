import { AppError } from '../../../errors';
import { hhi } from '../../../lib/statistics';
import type { Resolver } from '../../venue';
import { makeLoaders } from '../loaders';
import { less, over, percent, total } from '../exact';
import { hasEnded, isPosition } from '../positions/figures';
import { groupedBy } from '../grouped';
import { listPositionsAsOf } from '../rollups/positions-as-of';
import { type KnownPosition, loadKnown, unrealizedOf, valueOf } from './position';
import { nameRun } from './wallets';

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

const valueOrZero = (position: KnownPosition): string => valueOf(position) ?? '0';
const costOf = (positions: readonly KnownPosition[]): string => total(positions.map(({ cost }) => cost));
const openValue = (positions: readonly KnownPosition[]): string => total(positions.map(valueOrZero));
const openGain = (positions: readonly KnownPosition[]): string => total(positions.map((position) => unrealizedOf(position) ?? '0'));
const gainOf = (positions: readonly KnownPosition[]): string => total(positions.map(({ gain }) => gain));

/** wallets/portfolio: a watchlist as one portfolio. Throws not_found when none ever traded, empty_result when nothing is open and nothing ever ended. */
export const walletsPortfolio: Resolver<unknown, PortfolioArgs> = async (_, args, context) => {
  const rows = await listPositionsAsOf(context.sql, { wallets: args.wallets }, context.now);
  const traded = new Set(rows.filter(({ trades }) => trades > 0).map(({ wallet }) => wallet));
  if (traded.size === 0) {
    throw new AppError('not_found', {
      message: 'None of these wallets ever traded.',
      details: [{ param: 'wallets', issue: 'never traded', got: args.wallets.slice(0, 5).join(',') }],
    });
  }
  const all = (await loadKnown(rows.filter((row) => isPosition(row) && traded.has(row.wallet)), context)).filter(({ category }) => !args.category || category === args.category); // prettier-ignore
  const open = all.filter((position) => !hasEnded(position));
  if (all.length === 0) throw new AppError('empty_result', { suggestion: args.category ? { category: null } : {} });
  await nameRun(context);
  const weighty = open.filter((position) => Number(valueOf(position) ?? position.cost) >= args.min_position_usdc);
  const positions = outcomesOf(weighty);
  const shown = [...positions].sort((a, b) => ORDERS[args.sort_by](a, b) || (a.token_id < b.token_id ? -1 : 1)).slice(0, args.limit);
  context.meta.count = args.include_positions ? shown.length : null;
  const loaders = context.loaders(makeLoaders);
  const owned = groupedBy(all, ({ wallet }) => wallet);
  return {
    wallets: await Promise.all(
      args.wallets.map(async (wallet) => ({
        ...walletRow(wallet, traded.has(wallet), owned.get(wallet) ?? [], context.now),
        score: (await loaders.score.load(wallet))?.score ?? null,
      })),
    ),
    totals: totalsOf(traded.size, all, open),
    by_category: byCategory(open),
    positions: args.include_positions ? shown : null,
    consensus: positions
      .filter(({ wallet_count }) => wallet_count >= 2)
      .map(({ condition_id, outcome, wallet_count, cost_usdc }) => ({ condition_id, outcome, wallet_count, usdc: cost_usdc }))
      .sort((a, b) => b.wallet_count - a.wallet_count || Number(b.usdc) - Number(a.usdc) || (a.condition_id < b.condition_id ? -1 : 1)),
    conflicts: conflictsOf(positions),
  };
};

function walletRow(wallet: string, found: boolean, own: readonly KnownPosition[], now: Date) {
  const open = own.filter((position) => !hasEnded(position));
  const recent = own.filter(
    ({ status, closed_at }) => status !== 'open' && closed_at !== null && closed_at.getTime() >= now.getTime() - RECENT_MS,
  );
  return {
    wallet,
    found,
    value_usdc: openValue(open),
    cost_usdc: costOf(open),
    unrealized_pnl_usdc: openGain(open),
    realized_pnl_30d_usdc: gainOf(recent),
    open_positions: open.length,
  };
}

function totalsOf(wallet_count: number, all: readonly KnownPosition[], open: readonly KnownPosition[]) {
  return {
    wallet_count,
    value_usdc: openValue(open),
    cost_usdc: costOf(open),
    unrealized_pnl_usdc: openGain(open),
    realized_pnl_usdc: gainOf(all.filter(hasEnded)),
    open_positions: open.length,
    markets: new Set(open.map(({ condition_id }) => condition_id)).size,
    hhi: hhi([...groupedBy(open, ({ token_id }) => token_id).values()].map((held) => Number(openValue(held)))),
  };
}

/** Open positions by category, most value first. */
function byCategory(open: readonly KnownPosition[]) {
  const whole = openValue(open);
  return [...groupedBy(open, ({ category }) => category)]
    .map(([category, held]) => ({
      category,
      value_usdc: openValue(held),
      pct_of_value: percent(openValue(held), whole),
      position_count: held.length,
    }))
    .sort((a, b) => Number(b.value_usdc) - Number(a.value_usdc) || (a.category < b.category ? -1 : 1));
}

type Held = ReturnType<typeof outcomeOf>;

const ORDERS: Record<PortfolioSort, (a: Held, b: Held) => number> = {
  value: (a, b) => Number(b.value_usdc ?? 0) - Number(a.value_usdc ?? 0),
  wallet_count: (a, b) => b.wallet_count - a.wallet_count,
  pnl: (a, b) => Number(b.unrealized_pnl_usdc ?? 0) - Number(a.unrealized_pnl_usdc ?? 0),
  end_date: (a, b) => (a.end_date?.getTime() ?? Number.MAX_VALUE) - (b.end_date?.getTime() ?? Number.MAX_VALUE),
};

/** What the wallets hold, by outcome. */
function outcomesOf(open: readonly KnownPosition[]): Held[] {
  const markets = groupedBy(open, ({ condition_id }) => condition_id);
  return [...markets.values()].flatMap((inMarket) => {
    const outcomes = [...groupedBy(inMarket, ({ token_id }) => token_id).values()];
    const costs = outcomes.map((held) => Number(costOf(held)));
    const whole = costs.reduce((sum, cost) => sum + cost, 0);
    const agreement = whole === 0 ? null : (2 * Math.max(...costs) - whole) / whole;
    return outcomes.map((held) => outcomeOf(held, agreement));
  });
}

function outcomeOf(held: readonly KnownPosition[], agreement: number | null) {
  const [first] = held as [KnownPosition];
  return {
    condition_id: first.condition_id,
    question: first.market?.question ?? null,
    category: first.category,
    outcome: first.outcome?.outcome ?? null,
    token_id: first.token_id,
    wallet_count: held.length,
    wallets: held.map(({ wallet }) => wallet).sort(),
    shares: total(held.map(({ shares }) => shares)),
    cost_usdc: costOf(held),
    value_usdc: first.price === null ? null : openValue(held),
    avg_buy_price: over(total(held.map(({ paid_usdc }) => paid_usdc)), total(held.map(({ paid_shares }) => paid_shares))),
    current_price: first.price,
    unrealized_pnl_usdc: first.price === null ? null : less(openValue(held), costOf(held)),
    agreement,
    end_date: first.market?.end_date ?? null,
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
