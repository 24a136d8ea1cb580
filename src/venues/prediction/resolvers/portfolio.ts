import { AppError } from '../../../errors';
import { groupedBy } from '../../../lib/grouped';
import { hhi, roundDecimal } from '../../../lib/statistics';
import { DAY_MS } from '../../../lib/time';
import type { Resolver } from '../../venue';
import { makeLoaders } from '../loaders';
import { over, percent, total } from '../exact';
import { UNIT, fixed, plain } from '../positions/fixed';
import { type Holding, listHoldings } from '../queries/known-positions';
import { type EndedGains, listEndedGains } from '../queries/ended-gains';
import type { Judgement } from '../queries/judgements';
import { nameRun, unknownWallets, walletsScope } from './wallets';

type PortfolioSort = 'value' | 'wallet_count' | 'pnl' | 'end_date';

interface PortfolioArgs {
  wallets: string[];
  include_positions: boolean;
  min_position_usdc: number;
  category?: string | null;
  sort_by: PortfolioSort;
  limit: number;
}

const RECENT_MS = 30 * DAY_MS;

/** An open position with its amounts as whole numbers, read once; without a price it is worth nothing. */
interface Held extends Holding {
  costs: bigint;
  worth: bigint;
  gain: bigint;
}

function held(holding: Holding): Held {
  const costs = fixed(holding.cost);
  const worth = holding.price === null ? 0n : (fixed(holding.shares) * fixed(holding.price)) / UNIT;
  return Object.assign(holding, { costs, worth, gain: holding.price === null ? 0n : worth - costs });
}

function sumOf(positions: readonly Held[], amount: 'costs' | 'worth' | 'gain'): bigint {
  let sum = 0n;
  for (const position of positions) sum += position[amount];
  return sum;
}

/** wallets/portfolio: a watchlist as one portfolio. Throws not_found when none ever traded, empty_result when nothing is open and nothing ever ended. */
export const walletsPortfolio: Resolver<unknown, PortfolioArgs> = async (_, args, context) => {
  const scope = await walletsScope(args.wallets, context);
  const category = args.category ?? null;
  const loaders = context.loaders(makeLoaders);
  const [ended, holdings, scores] = await Promise.all([
    listEndedGains(context.sql, scope, new Date(context.now.getTime() - RECENT_MS), category),
    listHoldings(context.sql, scope, category),
    loaders.judgement.loadMany(args.wallets),
    nameRun(context),
  ]);
  const traded = new Map(ended.filter(({ trades }) => trades > 0).map((row) => [row.wallet, row]));
  if (traded.size === 0) throw unknownWallets(args.wallets);
  const open = holdings.filter(({ wallet }) => traded.has(wallet)).map(held);
  if ([...traded.values()].every(({ positions: count }) => count === 0))
    throw new AppError('empty_result', { suggestion: args.category ? { category: null } : {} });
  // Compared as it is told.
  const isLarge = ({ price, worth, costs }: Held): boolean =>
    roundDecimal(plain(price === null ? costs : worth), 6) >= args.min_position_usdc;
  const outcomes = outcomesOf(open.filter(isLarge));
  const inOrder = (a: HeldOutcome, b: HeldOutcome): number => ORDERS[args.sort_by](a, b) || byToken(a, b);
  const shown = args.include_positions ? [...outcomes].sort(inOrder).slice(0, args.limit).map(outcomeRecord) : null;
  const without = 'include_positions=false';
  if (shown === null) context.meta.ineffective = { limit: without, sort_by: without };
  context.meta.count = shown?.length ?? null;
  const owned = groupedBy(open, ({ wallet }) => wallet);
  return {
    wallets: args.wallets.map((wallet, index) => ({
      ...walletRow(wallet, traded.get(wallet), owned.get(wallet) ?? []),
      score: (scores[index] as Judgement | null)?.score ?? null,
    })),
    totals: totalsOf([...traded.values()], open),
    by_category: byCategory(open),
    positions: shown,
    consensus: consensusOf(outcomes),
    conflicts: conflictsOf(outcomes),
  };
};

function walletRow(wallet: string, ended: EndedGains | undefined, open: readonly Held[]) {
  return {
    wallet,
    found: ended !== undefined,
    value_usdc: plain(sumOf(open, 'worth')),
    cost_usdc: plain(sumOf(open, 'costs')),
    unrealized_pnl_usdc: plain(sumOf(open, 'gain')),
    realized_pnl_30d_usdc: ended?.recent_gain ?? '0',
    open_positions: open.length,
  };
}

function totalsOf(ended: readonly EndedGains[], open: readonly Held[]) {
  return {
    wallet_count: ended.length,
    value_usdc: plain(sumOf(open, 'worth')),
    cost_usdc: plain(sumOf(open, 'costs')),
    unrealized_pnl_usdc: plain(sumOf(open, 'gain')),
    realized_pnl_usdc: total(ended.map(({ gain }) => gain)),
    open_positions: open.length,
    markets: new Set(open.map(({ condition_id }) => condition_id)).size,
    hhi: hhi([...groupedBy(open, ({ token_id }) => token_id).values()].map((own) => Number(plain(sumOf(own, 'worth'))))),
  };
}

/** Open positions by category, most value first. */
function byCategory(open: readonly Held[]) {
  const whole = plain(sumOf(open, 'worth'));
  return [...groupedBy(open, ({ category }) => category)]
    .map(([category, own]) => ({ category, own, worth: sumOf(own, 'worth') }))
    .sort((a, b) => descending(a.worth, b.worth) || (a.category < b.category ? -1 : 1))
    .map(({ category, own, worth }) => {
      const value_usdc = plain(worth);
      return { category, value_usdc, position_count: own.length, pct_of_value: percent(value_usdc, whole) };
    });
}

/** What the wallets hold of an outcome. */
interface HeldOutcome {
  own: readonly Held[];
  /** Any of them tells what the outcome is. */
  first: Held;
  costs: bigint;
  worth: bigint;
  gain: bigint;
  agreement: number | null;
}

const MILLIONTH = UNIT / 1_000_000n;
/** An amount as it is told: what division leaves beyond that orders nothing. */
const told = (amount: bigint): bigint => (amount + (amount < 0n ? -MILLIONTH : MILLIONTH) / 2n) / MILLIONTH;
const descending = (a: bigint, b: bigint): number => Number(told(b) - told(a));
/** Which comes first of those that are alike. */
const byToken = (a: HeldOutcome, b: HeldOutcome): number => (a.first.token_id < b.first.token_id ? -1 : 1);
/** Those without a price come last. */
const pricedFirst = (a: HeldOutcome, b: HeldOutcome): number => Number(b.first.price !== null) - Number(a.first.price !== null);
const endOf = ({ first: { end_date } }: HeldOutcome): number => end_date?.getTime() ?? Number.MAX_VALUE;

const ORDERS: Record<PortfolioSort, (a: HeldOutcome, b: HeldOutcome) => number> = {
  value: (a, b) => pricedFirst(a, b) || descending(a.worth, b.worth),
  wallet_count: (a, b) => b.own.length - a.own.length,
  pnl: (a, b) => pricedFirst(a, b) || descending(a.gain, b.gain),
  end_date: (a, b) => endOf(a) - endOf(b),
};

/** What the wallets hold, by outcome. */
function outcomesOf(open: readonly Held[]): HeldOutcome[] {
  const markets = groupedBy(open, ({ condition_id }) => condition_id);
  return [...markets.values()].flatMap((inMarket) => {
    const outcomes = [...groupedBy(inMarket, ({ token_id }) => token_id).values()].map((own) => ({
      own,
      first: own[0] as Held,
      costs: sumOf(own, 'costs'),
      worth: sumOf(own, 'worth'),
      gain: sumOf(own, 'gain'),
    }));
    const costs = outcomes.map((outcome) => Number(plain(outcome.costs)));
    const whole = costs.reduce((sum, cost) => sum + cost, 0);
    const agreement = whole === 0 ? null : Math.max(0, (2 * Math.max(...costs) - whole) / whole);
    return outcomes.map((outcome) => ({ ...outcome, agreement }));
  });
}

function outcomeRecord({ own, first, costs, worth, gain, agreement }: HeldOutcome) {
  const known = first.price !== null;
  return {
    condition_id: first.condition_id,
    question: first.question,
    category: first.category,
    outcome: first.outcome,
    token_id: first.token_id,
    wallet_count: own.length,
    wallets: own.map(({ wallet }) => wallet).sort(),
    shares: total(own.map(({ shares }) => shares)),
    cost_usdc: plain(costs),
    value_usdc: known ? plain(worth) : null,
    avg_buy_price: over(total(own.map(({ paid_usdc }) => paid_usdc)), total(own.map(({ paid_shares }) => paid_shares))),
    current_price: first.price,
    unrealized_pnl_usdc: known ? plain(gain) : null,
    agreement,
    end_date: first.end_date,
  };
}

/** Outcomes that two wallets or more hold, most wallets first. */
const consensusOf = (outcomes: readonly HeldOutcome[]) =>
  outcomes
    .filter(({ own }) => own.length >= 2)
    .sort((a, b) => b.own.length - a.own.length || descending(a.costs, b.costs) || byToken(a, b))
    .map(({ first: { condition_id, outcome }, own, costs }) => ({ condition_id, outcome, wallet_count: own.length, usdc: plain(costs) }));

/** Markets in which different wallets hold different outcomes, most USDC first. */
function conflictsOf(outcomes: readonly HeldOutcome[]) {
  return [...groupedBy(outcomes, ({ first }) => first.condition_id)]
    .filter(([, sides]) => sides.length >= 2 && new Set(sides.flatMap(({ own }) => own.map(({ wallet }) => wallet))).size >= 2)
    .map(([condition_id, sides]) => ({ condition_id, sides, costs: sides.reduce((sum, { costs }) => sum + costs, 0n) }))
    .sort((a, b) => descending(a.costs, b.costs) || (a.condition_id < b.condition_id ? -1 : 1))
    .map(({ condition_id, sides }) => ({
      condition_id,
      outcomes: [...sides]
        .sort((a, b) => descending(a.costs, b.costs) || (nameOf(a) < nameOf(b) ? -1 : 1))
        .map((side) => {
          const { token_id, outcome_index } = side.first;
          return { outcome: nameOf(side), token_id, outcome_index, wallet_count: side.own.length, usdc: plain(side.costs) };
        }),
    }));
}

const nameOf = ({ first }: HeldOutcome): string => first.outcome ?? first.token_id;
