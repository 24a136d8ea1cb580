import type { pm_market as MarketRecord } from '../../../generated/prisma/client';
import { AppError } from '../../../errors';
import type { Category } from '../../../lib/category';
import { mean } from '../../../lib/statistics';
import type { GraphContext, Resolver } from '../../venue';
import { type Consensus, type NetStance, byMoney, byScore, consensusOf } from '../consensus';
import { groupedBy } from '../grouped';
import { makeLoaders } from '../loaders';
import { makeMarketLoaders } from '../market-loaders';
import { type PricedOutcome, leaderOf } from '../market-prices';
import { listSettledCrowds } from '../queries/market-resolutions';
import { listHeldMarkets, loadLifetimes } from '../queries/stances';
import { entryOfAll } from './signals-money';
import { asOf, dumbBand, loadStances, smartBand } from './signals-views';

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

interface Crowd {
  condition_id: string;
  outcome: PricedOutcome;
  fade: PricedOutcome;
  leader_price: number | null;
  strength: number;
  wallets: NetStance[];
  usdc: number;
  entry: number | null;
  gap: number | null;
  smart: Consensus;
  smart_outcome: PricedOutcome | null;
}

/** A wallet with fewer trades is new, not dumb. */
const FEWEST_TRADES = 5;
/** Past markets are compared with those of a strength in the same tenth. */
const STRENGTH_STEP = 0.1;

/** markets/dumb-consensus: active markets on which low-score wallets agree. Throws empty_result when there is none. */
export const marketsDumbConsensus: Resolver<unknown, Args> = async (_, args, context) => {
  const [kept, past] = await Promise.all([listCrowds(context, args), loadPast(context, args)]);
  if (kept.length === 0) throw new AppError('empty_result', { suggestion: await suggestionOf(context, args) });
  const shown = kept.sort((a, b) => ORDERS[args.sort_by](a, b) || (a.condition_id < b.condition_id ? -1 : 1)).slice(0, args.limit);
  context.meta.count = shown.length;
  const { market } = context.loaders(makeLoaders);
  return Promise.all(
    shown.map(async (crowd) => {
      const similar = past.get(stepOf(crowd.strength)) ?? [];
      return {
        ...((await market.load(crowd.condition_id)) as MarketRecord),
        ...describe(crowd),
        fade_hit_rate: mean(similar.map((faded) => (faded ? 1 : 0))),
        fade_sample: similar.length,
      };
    }),
  );
};

const ORDERS: Record<Args['sort_by'], (a: Crowd, b: Crowd) => number> = {
  consensus_strength: (a, b) => b.strength - a.strength,
  total_usdc: (a, b) => b.usdc - a.usdc,
  wallet_count: (a, b) => b.wallets.length - a.wallets.length,
  price_gap: (a, b) => (b.gap ?? -2) - (a.gap ?? -2),
};

/** Crowds in scope. */
async function listCrowds(context: GraphContext, args: Args): Promise<Crowd[]> {
  const [band, smart, as_of] = await Promise.all([dumbBand(context, args.max_score), smartBand(context), asOf(context)]);
  const scope = { category: args.category ?? null, on_one_outcome: 1, on_market: args.min_wallets };
  const low = await loadStances(context, await listHeldMarkets(context.sql, band, scope, as_of), band);
  const wallets = new Set([...low.values()].flatMap((stances) => stances.map((stance) => stance.wallet)));
  const lifetime = await loadLifetimes(context.sql, [...wallets], as_of);
  const agreed = [...low].flatMap(([condition_id, stances]) => {
    const consensus = consensusOf(stances.filter((stance) => lifetime(stance.wallet).trades >= FEWEST_TRADES), byMoney); // prettier-ignore
    return agrees(consensus, args) ? [{ condition_id, consensus }] : [];
  });
  const wise = await loadStances(context, agreed.map((one) => one.condition_id), smart); // prettier-ignore
  const { prices } = context.loaders(makeMarketLoaders);
  const crowds = agreed.map(async ({ condition_id, consensus }) =>
    crowdOf(
      condition_id,
      consensus,
      consensusOf(wise.get(condition_id) ?? [], byScore),
      await prices.load({ condition_id, at: context.now }),
    ),
  );
  return (await Promise.all(crowds)).flat().filter((crowd) => !args.contrarian_only || contrarianOf(crowd) === true);
}

const usdcOf = ({ weights }: Consensus): number => [...weights.values()].reduce((sum, weight) => sum + weight, 0);
const strengthOf = (consensus: Consensus): number => (consensus.weights.get(consensus.token_id ?? '') ?? 0) / usdcOf(consensus);

const agrees = (consensus: Consensus, { min_wallets, min_usdc, min_consensus }: Args): boolean =>
  consensus.token_id !== null &&
  consensus.wallets.length >= min_wallets &&
  usdcOf(consensus) >= min_usdc &&
  strengthOf(consensus) >= min_consensus;

function crowdOf(condition_id: string, consensus: Consensus, smart: Consensus, prices: readonly PricedOutcome[]): Crowd[] {
  const outcome = prices.find((one) => one.token_id === consensus.token_id);
  // The strongest of the others is what to take instead.
  const others = prices.filter((one) => one !== outcome);
  const fade = leaderOf(others) ?? others[0];
  if (outcome === undefined || fade === undefined) return [];
  const { wallets } = consensus;
  const entry = entryOfAll(wallets.filter((wallet) => wallet.token_id === outcome.token_id));
  return [
    {
      condition_id,
      outcome,
      fade,
      leader_price: leaderOf(prices)?.price ?? null,
      strength: strengthOf(consensus),
      wallets,
      usdc: usdcOf(consensus),
      entry,
      gap: entry === null || outcome.price === null ? null : entry - outcome.price,
      smart,
      smart_outcome: smart.strength === null ? null : (prices.find((one) => one.token_id === smart.token_id) ?? null),
    },
  ];
}

/** What the largest crowd there is would be found by; other scores where there is none. */
async function suggestionOf(context: GraphContext, args: Args): Promise<Record<string, unknown>> {
  const all = await listCrowds(context, { ...args, min_wallets: 1, min_usdc: 0, min_consensus: 0.5, contrarian_only: false });
  const [largest] = all.sort((a, b) => b.wallets.length - a.wallets.length || b.usdc - a.usdc);
  if (largest === undefined) return args.category ? { category: null } : { max_score: 59 };
  return {
    min_wallets: Math.min(args.min_wallets, largest.wallets.length),
    min_usdc: Math.min(args.min_usdc, Math.floor(largest.usdc)),
    min_consensus: Math.min(args.min_consensus, Math.floor(largest.strength * 100) / 100),
    ...(args.contrarian_only ? { contrarian_only: false } : {}),
  };
}

const contrarianOf = ({ smart_outcome, outcome }: Crowd): boolean | null =>
  smart_outcome === null ? null : smart_outcome.token_id !== outcome.token_id;

function describe(crowd: Crowd): Record<string, unknown> {
  return {
    token_id: crowd.outcome.token_id,
    price: crowd.outcome.price,
    consensus_outcome: crowd.outcome.outcome,
    consensus_strength: crowd.strength,
    wallet_count: crowd.wallets.length,
    total_usdc: crowd.usdc,
    avg_score: mean(crowd.wallets.map((wallet) => wallet.score)),
    avg_entry_price: crowd.entry,
    leader_price: crowd.leader_price,
    fade_outcome: crowd.fade.outcome,
    smart_outcome: crowd.smart_outcome?.outcome ?? null,
    smart_strength: crowd.smart.strength,
    contrarian_to_smart: contrarianOf(crowd),
    price_gap: crowd.gap,
  };
}

/** Which tenth a strength is in; 1 belongs to the last. */
const stepOf = (strength: number): number => Math.min(Math.floor(strength / STRENGTH_STEP + 1e-9), Math.round(1 / STRENGTH_STEP) - 1);

/** Whether the other side won, of resolved markets by the strength of the low-score crowd at resolution. */
async function loadPast(context: GraphContext, { max_score, min_wallets, min_usdc }: Args): Promise<Map<number, boolean[]>> {
  const { days } = await context.loaders(makeLoaders).state();
  const outcomes = await listSettledCrowds(context.sql, days, max_score, FEWEST_TRADES, context.now);
  const past = new Map<number, boolean[]>();
  for (const own of groupedBy(outcomes, (row) => row.condition_id).values()) {
    const usdc = own.reduce((sum, row) => sum + Number(row.usdc), 0);
    if (usdc < Math.max(min_usdc, Number.MIN_VALUE) || own.reduce((sum, row) => sum + row.wallets, 0) < min_wallets) continue;
    const [top] = own.sort((a, b) => Number(b.usdc) - Number(a.usdc) || (a.token_id < b.token_id ? -1 : 1));
    if (top === undefined) continue;
    const step = stepOf(Number(top.usdc) / usdc);
    past.set(step, [...(past.get(step) ?? []), !top.won]);
  }
  return past;
}
