import { AppError } from '../../../errors';
import type { Category } from '../../../lib/category';
import { groupedBy } from '../../../lib/grouped';
import { roundTo } from '../../../lib/statistics';
import type { GraphContext, Resolver } from '../../venue';
import { compareAmounts, over, total } from '../exact';
import { makeLoaders } from '../loaders';
import { makeMarketLoaders } from '../market-loaders';
import { type PricedOutcome, leaderOf } from '../market-prices';
import { type CrowdSide, listCrowdSides } from '../queries/crowds';
import { type FadedTenth, countFaded, tenthOf } from '../queries/settled-crowds';
import { entryOf } from './signals-money';
import { type SmartView, asOf, dumbBand, loadSmartViews } from './signals-views';

interface Args {
  category?: Category | null;
  max_score: number;
  min_wallets: number;
  min_usdc: number;
  min_consensus: number;
  contrarian_only: boolean;
  sort_by: 'consensus_strength' | 'total_usdc' | 'wallet_count' | 'price_gap';
  limit: number;
}

/** Low-score wallets of a market. */
interface Crowd {
  condition_id: string;
  /** The side with most of their money. */
  top: CrowdSide;
  /** Its share of their money. */
  strength: number;
  wallets: number;
  usdc: number;
  avg_score: number | null;
}

/** A crowd beside prices and what smart money thinks. */
interface Seen extends Crowd {
  outcome: PricedOutcome;
  fade: PricedOutcome;
  leader_price: number | null;
  entry: number | null;
  gap: number | null;
  smart: SmartView;
  smart_outcome: PricedOutcome | null;
}

/** markets/dumb-consensus: active markets on which low-score wallets agree. Throws empty_result when there is none. */
export const marketsDumbConsensus: Resolver<unknown, Args> = async (_, args, context) => {
  const [crowds, past] = await Promise.all([listCrowds(context, args), loadPast(context, args)]);
  const shown = await listShown(context, crowds, args);
  if (shown.length === 0) throw new AppError('empty_result', { suggestion: await suggestionOf(context, args) });
  context.meta.count = shown.length;
  const { shown: market } = context.loaders(makeMarketLoaders);
  return Promise.all(
    shown.map(async (crowd) => {
      const { markets, faded } = past.get(tenthOf(crowd.strength)) ?? { markets: 0, faded: 0 };
      return {
        ...(await market.load(crowd.condition_id)),
        ...describe(crowd),
        fade_hit_rate: over(faded, markets),
        fade_sample: markets,
      };
    }),
  );
};

// Ordered as they are told: binary fractions make 0.19999999999999998 of 0.3 − 0.1.
const MILLIONTHS = 6;
const gapOf = ({ gap }: Seen): number => (gap === null ? -2 : roundTo(gap, MILLIONTHS));
const byGap = (a: Seen, b: Seen): number => gapOf(b) - gapOf(a) || byId(a, b);
const byId = (a: Crowd, b: Crowd): number => (a.condition_id < b.condition_id ? -1 : 1);
const byOwn = {
  consensus_strength: (crowd: Crowd) => roundTo(crowd.strength, MILLIONTHS),
  total_usdc: (crowd: Crowd) => roundTo(crowd.usdc, MILLIONTHS),
  wallet_count: (crowd: Crowd) => crowd.wallets,
} as const;

/** Crowds in scope that agree. */
async function listCrowds(context: GraphContext, args: Args): Promise<Crowd[]> {
  const [band, as_of] = await Promise.all([dumbBand(context, args.max_score), asOf(context)]);
  const { category = null, min_wallets, min_usdc, min_consensus } = args;
  const sides = await listCrowdSides(context.sql, band, { category, min_wallets, min_usdc, min_consensus }, as_of);
  const crowds = [...groupedBy(sides, (side) => side.condition_id).values()].map(crowdOf);
  // Compared as they are told: a share in millionths.
  return crowds.filter(({ strength }) => roundTo(strength, MILLIONTHS) >= min_consensus);
}

function crowdOf(sides: readonly CrowdSide[]): Crowd {
  const [top] = [...sides].sort((a, b) => compareAmounts(b.net_usdc, a.net_usdc) || (a.token_id < b.token_id ? -1 : 1)) as [CrowdSide];
  const usdc = total(sides.map((side) => side.net_usdc));
  const wallets = sides.reduce((sum, side) => sum + side.wallets, 0);
  return {
    condition_id: top.condition_id,
    top,
    strength: over(top.net_usdc, usdc) as number,
    wallets,
    usdc: Number(usdc),
    avg_score: over(total(sides.map((side) => side.scores)), wallets),
  };
}

/** The first of the crowds in the order asked for. Unless prices or smart money choose them, these are looked up for the first alone. */
async function listShown(context: GraphContext, crowds: readonly Crowd[], { sort_by, contrarian_only, limit }: Args): Promise<Seen[]> {
  const keyOf = sort_by === 'price_gap' ? null : byOwn[sort_by];
  const ordered = keyOf === null ? crowds : [...crowds].sort((a, b) => keyOf(b) - keyOf(a) || byId(a, b));
  const at_once = keyOf === null || contrarian_only ? crowds.length : limit;
  const shown: Seen[] = [];
  for (let from = 0; from < ordered.length && shown.length < limit; from += at_once) {
    const seen = await look(context, ordered.slice(from, from + at_once));
    shown.push(...seen.filter((crowd) => !contrarian_only || contrarianOf(crowd) === true));
  }
  return (keyOf === null ? shown.sort(byGap) : shown).slice(0, limit);
}

/** Crowds beside prices and smart money; without those whose outcome the market does not list, or lists alone. */
async function look(context: GraphContext, crowds: readonly Crowd[]): Promise<Seen[]> {
  const ids = crowds.map((crowd) => crowd.condition_id);
  const { prices } = context.loaders(makeMarketLoaders);
  const [wise, priced] = await Promise.all([
    loadSmartViews(context, ids),
    Promise.all(ids.map((condition_id) => prices.load({ condition_id, at: context.now }))),
  ]);
  return crowds.flatMap((crowd, index) => besidePrices(crowd, priced[index] as PricedOutcome[], wise(crowd.condition_id)));
}

function besidePrices(crowd: Crowd, prices: readonly PricedOutcome[], smart: SmartView): Seen[] {
  const outcome = prices.find((one) => one.token_id === crowd.top.token_id);
  // The strongest of the others is what to take instead.
  const others = prices.filter((one) => one !== outcome);
  const fade = leaderOf(others) ?? others[0];
  if (outcome === undefined || fade === undefined) return [];
  const entry = entryOf(crowd.top);
  return [
    {
      ...crowd,
      outcome,
      fade,
      leader_price: leaderOf(prices)?.price ?? null,
      entry,
      gap: entry === null || outcome.price === null ? null : entry - outcome.price,
      smart,
      smart_outcome: smart.strength === null ? null : (prices.find((one) => one.token_id === smart.token_id) ?? null),
    },
  ];
}

/** What the largest crowd there is would be found by; other scores where there is none. */
async function suggestionOf(context: GraphContext, args: Args): Promise<Record<string, unknown>> {
  const crowds = await listCrowds(context, { ...args, min_wallets: 1, min_usdc: 0, min_consensus: 0.5 });
  const all = await look(context, crowds);
  const [largest] = all.sort((a, b) => b.wallets - a.wallets || b.usdc - a.usdc);
  if (largest === undefined) return args.category ? { category: null } : { max_score: 59 };
  return {
    min_wallets: Math.min(args.min_wallets, largest.wallets),
    min_usdc: Math.min(args.min_usdc, Math.floor(largest.usdc)),
    min_consensus: Math.min(args.min_consensus, Math.floor(largest.strength * 100) / 100),
    ...(args.contrarian_only ? { contrarian_only: false } : {}),
  };
}

const contrarianOf = ({ smart_outcome, outcome }: Seen): boolean | null =>
  smart_outcome === null ? null : smart_outcome.token_id !== outcome.token_id;

function describe(crowd: Seen): Record<string, unknown> {
  return {
    token_id: crowd.outcome.token_id,
    price: crowd.outcome.price,
    consensus_outcome: crowd.outcome.outcome,
    consensus_strength: crowd.strength,
    wallet_count: crowd.wallets,
    total_usdc: crowd.usdc,
    avg_score: crowd.avg_score,
    avg_entry_price: crowd.entry,
    leader_price: crowd.leader_price,
    fade_outcome: crowd.fade.outcome,
    smart_outcome: crowd.smart_outcome?.outcome ?? null,
    smart_strength: crowd.smart.strength,
    contrarian_to_smart: contrarianOf(crowd),
    price_gap: crowd.gap,
  };
}

/** How often the other side won, of resolved markets by the tenth that the strength of the low-score crowd was in when they were. */
async function loadPast(context: GraphContext, args: Args): Promise<Map<number, FadedTenth>> {
  const { days } = await context.loaders(makeLoaders).state();
  const tenths = await countFaded(context.sql, days, args, context.now);
  return new Map(tenths.map((tenth) => [tenth.tenth, tenth]));
}
