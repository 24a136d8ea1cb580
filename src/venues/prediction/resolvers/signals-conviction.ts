import { AppError } from '../../../errors';
import type { Category } from '../../../lib/category';
import { groupedBy } from '../../../lib/grouped';
import { clear, median, roundTo } from '../../../lib/statistics';
import type { GraphContext, Resolver } from '../../venue';
import { type NetStance, type Stance, byScore, consensusOf, independentOf, moneyOf } from '../consensus';
import { meanScore } from '../exact';
import { makeMarketLoaders } from '../market-loaders';
import type { PricedOutcome } from '../market-prices';
import { loadFirstBuys } from '../queries/market-holdings';
import { listHeldStances, listMedianBets } from '../queries/stances';
import { byCost, entryOfAll, topWallet } from './signals-money';
import { asOf, smartBand } from './signals-views';

interface Args {
  category?: Category | null;
  min_smart_wallets: number;
  min_avg_score: number;
  limit: number;
  max_price: number;
  sort_by: 'conviction_score' | 'total_smart_usdc' | 'smart_wallet_count' | 'entry_vs_current_gap';
}

type Scope = Pick<Args, 'category' | 'min_smart_wallets' | 'min_avg_score'>;

/** A market with its smart wallets net on the outcome they favour. */
interface Clustered {
  condition_id: string;
  token_id: string;
  wallets: NetStance[];
  all: NetStance[];
  held: Stance[];
}

interface Favoured extends Clustered {
  outcome: PricedOutcome;
}

interface Conviction extends Favoured {
  avg_score: number;
  total_usdc: number;
  /** Share of smart USDC on the outcome. */
  share: number;
  independent: number;
  /** Median over wallets of bet over the wallet's median bet. */
  bet: number;
  score: number;
  gap: number | null;
}

/** Weights of conviction, and where its parts are full. */
export const PARTS = { share: 0.35, independent: 0.25, score: 0.2, bet: 0.2 } as const;
export const FULL = { independent: 20, score_from: 60, score_span: 40, bet: 5 } as const;
const TOP_WALLETS = 3;

/** markets/high-conviction: active markets where smart wallets cluster on one outcome. Throws empty_result when none qualifies. */
export const marketsHighConviction: Resolver<unknown, Args> = async (_, args, context) => {
  const as_of = await asOf(context);
  const clustered = await listClustered(context, args);
  const [kept, bets] = await Promise.all([
    withPrices(context, clustered, args.max_price),
    listMedianBets(context.sql, [...new Set(clustered.flatMap((one) => one.wallets.map((wallet) => wallet.wallet)))], as_of),
  ]);
  if (kept.length === 0) throw new AppError('empty_result', { suggestion: await suggestionOf(context, args) });
  const ranked = kept
    .map((one) => convictionOf(one, bets))
    .sort((a, b) => ORDERS[args.sort_by](a, b) || (a.condition_id < b.condition_id ? -1 : 1));
  const shown = ranked.slice(0, args.limit);
  context.meta.count = shown.length;
  const tops = shown.map((one) => [...one.wallets].sort(byCost).slice(0, TOP_WALLETS));
  const firstBuys = loadFirstBuys(context.sql, tops.flat(), context.now);
  return Promise.all(shown.map((one, index) => describe(one, tops[index] as NetStance[], firstBuys, context)));
};

/** Active markets in scope with a smart favourite, whatever its price, and who is on it. */
async function listClustered(context: GraphContext, args: Scope): Promise<Clustered[]> {
  const [band, as_of] = [await smartBand(context), await asOf(context)];
  const scope = { category: args.category ?? null, on_one_outcome: args.min_smart_wallets, on_market: args.min_smart_wallets };
  const stances = groupedBy(await listHeldStances(context.sql, band, scope, as_of), (stance) => stance.condition_id);
  return [...stances].flatMap(([condition_id, held]): Clustered[] => {
    const { token_id, wallets: all } = consensusOf(held, byScore);
    const wallets = all.filter((wallet) => wallet.token_id === token_id);
    const isClustered = wallets.length >= args.min_smart_wallets && toldAverage({ wallets }) >= args.min_avg_score;
    return token_id === null || !isClustered ? [] : [{ condition_id, token_id, wallets, all, held }];
  });
}

/** Those of which the favourite costs at most `max_price`, or has no price; without those whose favourite the market does not list. */
async function withPrices(context: GraphContext, clustered: readonly Clustered[], max_price: number): Promise<Favoured[]> {
  const { prices } = context.loaders(makeMarketLoaders);
  const priced = await Promise.all(clustered.map(({ condition_id }) => prices.load({ condition_id, at: context.now })));
  return clustered.flatMap((one, index) => {
    const outcome = priced[index]?.find(({ token_id }) => token_id === one.token_id);
    return outcome === undefined || costsMore(outcome, max_price) ? [] : [{ ...one, outcome }];
  });
}

/** Prices are compared as they are told. */
const costsMore = ({ price }: PricedOutcome, max_price: number): boolean => price !== null && roundTo(price, 6) > max_price;

/** What the market with most smart wallets would be found by. */
async function suggestionOf(context: GraphContext, args: Args): Promise<Record<string, unknown>> {
  const all = await withPrices(context, await listClustered(context, { ...args, min_smart_wallets: 1, min_avg_score: 0 }), 1);
  const [largest] = all.sort((a, b) => b.wallets.length - a.wallets.length || averageOf(b) - averageOf(a));
  if (largest === undefined) return args.category ? { category: null } : {};
  return {
    min_smart_wallets: Math.min(args.min_smart_wallets, largest.wallets.length),
    min_avg_score: Math.min(args.min_avg_score, Math.floor(averageOf(largest))),
    ...(costsMore(largest.outcome, args.max_price) ? { max_price: 1 } : {}),
  };
}

const averageOf = ({ wallets }: Pick<Favoured, 'wallets'>): number => meanScore(wallets.map((wallet) => wallet.score)) ?? 0;
/** The same as it is told, in tenths. */
const toldAverage = (one: Pick<Favoured, 'wallets'>): number => roundTo(averageOf(one), 1);

/** Conviction of smart money in an outcome. */
function convictionOf(one: Favoured, bets: ReadonlyMap<string, number>): Conviction {
  const [avg_score, total_usdc] = [averageOf(one), moneyOf(one.all)];
  const share = moneyOf(one.wallets) / total_usdc;
  const independent = independentOf(one.wallets) ?? 0;
  const bet = median(one.wallets.map((wallet) => Number(wallet.paid_usdc) / (bets.get(wallet.wallet) ?? Number(wallet.paid_usdc)))) ?? 0;
  const entry = entryOfAll(one.wallets);
  const score = clear(
    100 *
      (PARTS.share * share +
        (PARTS.independent * Math.min(independent, FULL.independent)) / FULL.independent +
        (PARTS.score * (avg_score - FULL.score_from)) / FULL.score_span +
        (PARTS.bet * Math.min(bet, FULL.bet)) / FULL.bet),
  );
  return {
    ...one,
    avg_score,
    total_usdc,
    share,
    independent,
    bet,
    score,
    gap: one.outcome.price === null || entry === null ? null : one.outcome.price - entry,
  };
}

/** Sums and differences without the noise of binary fractions: equal ones are equal. */
const micros = (figure: number): number => roundTo(figure, 6);
const ORDERS: Record<Args['sort_by'], (a: Conviction, b: Conviction) => number> = {
  conviction_score: (a, b) => micros(b.score) - micros(a.score),
  total_smart_usdc: (a, b) => micros(b.total_usdc) - micros(a.total_usdc),
  smart_wallet_count: (a, b) => b.wallets.length - a.wallets.length,
  entry_vs_current_gap: (a, b) => micros(b.gap ?? -2) - micros(a.gap ?? -2),
};

async function describe(
  one: Conviction,
  top: readonly NetStance[],
  firstBuys: ReturnType<typeof loadFirstBuys>,
  context: GraphContext,
): Promise<Record<string, unknown>> {
  const [record, firstBuy] = await Promise.all([context.loaders(makeMarketLoaders).shown.load(one.condition_id), firstBuys]);
  return {
    ...record,
    smart_wallet_count: one.wallets.length,
    avg_smart_score: one.avg_score,
    total_smart_usdc: one.total_usdc,
    conviction_score: one.score,
    favored_outcome: one.outcome.outcome,
    favored_outcome_percentage: 100 * one.share,
    entry_vs_current_gap: one.gap,
    favored_price: one.outcome.price,
    token_id: one.outcome.token_id,
    median_bet_share_pct: 100 * one.bet,
    independent_wallets: one.independent,
    top_wallets: top.map((wallet) => topWallet(wallet, one.outcome.price, one.held, firstBuy(wallet.wallet, wallet.token_id))),
  };
}
