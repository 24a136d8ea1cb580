import type { Category } from '../../../lib/category';
import { groupedBy } from '../../../lib/grouped';
import { roundTo } from '../../../lib/statistics';
import { type Timeframe, windowOf } from '../../../lib/timeframe';
import type { GraphContext, Resolver } from '../../venue';
import { compareAmounts, meanScore, over, percent, total } from '../exact';
import { makeMarketLoaders } from '../market-loaders';
import { leaderOf } from '../market-prices';
import { cutAt } from '../queries/pieces';
import {
  type OnMarket,
  type SmartWalletEntry,
  countPriorWallets,
  listEarlier,
  listSmartWalletEntries,
} from '../queries/smart-wallet-flows';
import { emptyWithin, smartRule } from './flows-scope';

interface Args {
  timeframe: Timeframe;
  category?: Category | null;
  min_score: number;
  min_new_wallets: number;
  min_usdc: number;
  limit: number;
}

interface Interest {
  condition_id: string;
  /** Of each wallet the outcome it bought most. */
  entries: SmartWalletEntry[];
  interest: number;
}

const SHOWN_WALLETS = 10;

/** markets/new-smart-interest: active markets that smart wallets entered for the first time. Throws empty_result when there is none. */
export const marketsNewSmartInterest: Resolver<unknown, Args> = async (_, args, context) => {
  const window = windowOf(args.timeframe, context.now);
  Object.assign(context.meta, { timeframe: args.timeframe, window });
  const ruled = smartRule(context, window, args.min_score);
  const scope = { category: args.category ?? null, usdc: args.min_usdc };
  const bought = await listSmartWalletEntries(context.sql, cutAt([window.from, window.to]), ruled, scope, context.now);
  const shown = await listFirst(context, entriesOf(bought), args, window.from);
  if (shown.length === 0)
    throw await emptyWithin(context, args.timeframe, { condition_id: null, category: args.category ?? null, smart: true, active: true });
  context.meta.count = shown.length;
  const rule = await ruled;
  const prior = countPriorWallets(context.sql, shown.map((one) => one.condition_id), rule.spans[0]?.day ?? null, args.min_score, window.from); // prettier-ignore
  return Promise.all(shown.map((one) => describe(one, prior, context)));
};

/**
 * The first markets by interest, with enough wallets that had done nothing there before. Those that had only take away from what interest a market has: the markets of
 * most with them are asked about first, until no other can be among the first.
 */
async function listFirst(
  context: GraphContext,
  entries: readonly SmartWalletEntry[],
  { min_new_wallets, limit }: Args,
  begin: Date,
): Promise<Interest[]> {
  const isEnough = (one: Interest): boolean => one.entries.length >= min_new_wallets;
  let rest = [...groupedBy(entries, (entry) => entry.condition_id).values()].map(interestOf).filter(isEnough).sort(byInterest);
  let first: Interest[] = [];
  const isSettled = (next: Interest): boolean => first.length === limit && byInterest(first.at(-1) as Interest, next) < 0;
  for (let more = limit; rest.length > 0 && !isSettled(rest[0] as Interest); more *= 2) {
    const some = rest.slice(0, more).map((one) => one.entries);
    rest = rest.slice(more);
    const earlier = new Set((await listEarlier(context.sql, some.flat(), begin)).map(keyOf));
    const entered = some.map((own) => own.filter((entry) => !earlier.has(keyOf(entry)))).filter((own) => own.length > 0);
    first = [...first, ...entered.map(interestOf).filter(isEnough)].sort(byInterest).slice(0, limit);
  }
  return first;
}

/** Interest in a market by who entered it, as it is told: the order of wallets tells no markets apart; nobody does not. */
const interestOf = (entries: SmartWalletEntry[]): Interest => {
  const interest = entries.reduce((sum, entry) => sum + entry.score * Math.log10(1 + Number(entry.buy_usdc)), 0);
  return { condition_id: (entries[0] as SmartWalletEntry).condition_id, entries, interest: roundTo(interest, 6) };
};

const byInterest = (a: Interest, b: Interest): number => b.interest - a.interest || (a.condition_id < b.condition_id ? -1 : 1);

const keyOf = ({ condition_id, wallet }: OnMarket): string => `${condition_id}|${wallet}`;

const entriesOf = (bought: readonly SmartWalletEntry[]): SmartWalletEntry[] =>
  [...groupedBy(bought, keyOf).values()].map(
    (own) => own.sort((a, b) => compareAmounts(b.buy_usdc, a.buy_usdc) || (a.token_id < b.token_id ? -1 : 1))[0] as SmartWalletEntry,
  );

async function describe(
  { condition_id, entries, interest }: Interest,
  prior: ReturnType<typeof countPriorWallets>,
  context: GraphContext,
): Promise<Record<string, unknown>> {
  const [priorOf, record, prices] = await Promise.all([
    prior,
    context.loaders(makeMarketLoaders).shown.load(condition_id),
    context.loaders(makeMarketLoaders).prices.load({ condition_id, at: context.now }),
  ]);
  const nameOf = (token_id: string): string => prices.find((one) => one.token_id === token_id)?.outcome ?? token_id;
  const usdc = total(entries.map((entry) => entry.buy_usdc));
  const sums = [...groupedBy(entries, (entry) => entry.token_id)].map(([token_id, own]) => ({
    token_id,
    usdc: total(own.map((entry) => entry.buy_usdc)),
    shares: total(own.map((entry) => entry.buy_shares)),
  }));
  const favoured = sums.sort((a, b) => compareAmounts(b.usdc, a.usdc) || (a.token_id < b.token_id ? -1 : 1))[0] as (typeof sums)[number];
  const price = prices.find((one) => one.token_id === favoured.token_id)?.price ?? null;
  const avg_entry_price = over(favoured.usdc, favoured.shares) as number;
  const newest = [...entries].sort((a, b) => b.first_buy_at.getTime() - a.first_buy_at.getTime() || (a.wallet < b.wallet ? -1 : 1));
  return {
    ...record,
    new_smart_wallets: entries.length,
    prior_smart_wallets: priorOf(condition_id),
    first_entry_at: newest.at(-1)?.first_buy_at,
    latest_entry_at: newest[0]?.first_buy_at,
    new_smart_usdc: usdc,
    avg_score: meanScore(entries.map((entry) => entry.score)),
    token_id: favoured.token_id,
    price,
    favored_outcome: nameOf(favoured.token_id),
    favored_outcome_percentage: percent(favoured.usdc, usdc),
    avg_entry_price,
    leader_price: leaderOf(prices)?.price ?? null,
    price_change_since_entry: price === null ? null : price - avg_entry_price,
    interest_score: interest,
    wallets: newest.slice(0, SHOWN_WALLETS).map((entry) => ({
      wallet: entry.wallet,
      score: entry.score,
      outcome: nameOf(entry.token_id),
      usdc: entry.buy_usdc,
      price: over(entry.buy_usdc, entry.buy_shares),
      timestamp: entry.first_buy_at,
    })),
  };
}
