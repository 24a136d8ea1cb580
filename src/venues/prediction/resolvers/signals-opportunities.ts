import type { pm_market as MarketRecord } from '../../../generated/prisma/client';
import { AppError } from '../../../errors';
import type { Category } from '../../../lib/category';
import { groupedBy } from '../../../lib/grouped';
import { clear, clip, logClip, roundTo } from '../../../lib/statistics';
import { HOUR_MS } from '../../../lib/time';
import { TIMEFRAMES, type Timeframe, type Window, windowOf } from '../../../lib/timeframe';
import { type Json, readSnapshot } from '../../../workers/snapshot';
import type { GraphContext, Resolver, Snapshot } from '../../venue';
import { type NetStance, byMoney, byScore, consensusOf, independentOf, moneyOf } from '../consensus';
import { less, meanScore, over, total } from '../exact';
import { makeLoaders } from '../loaders';
import { makeMarketLoaders } from '../market-loaders';
import { type PricedOutcome, leaderOf } from '../market-prices';
import { cutAt } from '../queries/pieces';
import { type SmartWalletFlow, listSmartWalletFlowsOn } from '../queries/smart-wallet-flows';
import { listHeldStances } from '../queries/stances';
import { PM_TAGS } from '../scoring/tags';
import { smartRule } from './flows-scope';
import type { Strength } from './signals-smart';
import { asOf, dumbBand, loadStances, smartBand } from './signals-views';
import { nameRun } from './wallets';

interface Args {
  min_signal_strength: Strength;
  category?: Category | null;
  closing_within_hours?: number | null;
  min_smart_wallets: number;
  limit: number;
  timeframe?: Timeframe | null;
}

/** Parts of the score, each 0-1, and what they add to it at most. */
export const WEIGHTS = { gap: 40, consensus: 20, flow: 15, dumb: 10, independent: 10, time: 5 } as const;
export const STRENGTHS: Record<Strength, number> = { weak: 30, moderate: 50, strong: 70 };
/** Where parts are full: a gap of so many price points, so many independent wallets, an end so near; and an end so far that it adds nothing. */
export const FULL_GAP = 0.5;
export const ENOUGH_WALLETS = 20;
export const NEAR_HOURS = 24;
export const FAR_HOURS = 720;

interface Opportunity {
  record: MarketRecord;
  outcome: PricedOutcome & { price: number };
  leader: (PricedOutcome & { price: number }) | null;
  wallets: NetStance[];
  share: number;
  gap: number;
  hours: number | null;
  score: number;
  signals: { consensus: number; flow_24h: number; dumb_opposed: number; new_smart: number; insider_overlap: number };
}

/** A row of the answer, and what it is chosen by. */
type OpportunityRow = ReturnType<typeof describe>;

/** Every opportunity by the timeframe of its flow signal: parts are timeframes. */
export const opportunitiesSnapshot: Snapshot<OpportunityRow[]> = {
  name: 'markets/opportunities',
  every_s: 300,
  parts: TIMEFRAMES,
  build: async (context, part) => {
    const found = await listOpportunities(context, windowOf(part as Timeframe, context.now));
    return found.sort((a, b) => b.score - a.score || (a.record.condition_id < b.record.condition_id ? -1 : 1)).map((one) => describe(one));
  },
};

type KeptRow = Json<OpportunityRow>;

/**
 * markets/opportunities: active markets whose price and smart money differ, by several signals together. Throws empty_result when none is strong
 * enough, stale_data when its snapshot is too old.
 */
export const marketsOpportunities: Resolver<unknown, Args> = async (_, args, context) => {
  const timeframe = args.timeframe ?? '24h';
  const { body, as_of } = await readSnapshot(context, opportunitiesSnapshot, timeframe);
  await nameRun(context.at(as_of));
  Object.assign(context.meta, { timeframe, window: windowOf(timeframe, as_of) });
  const inCategory = body.filter((one) => !args.category || one.category === args.category);
  const shown = inCategory.filter((one) => one.smart_wallet_count >= args.min_smart_wallets && isWanted(one, args)).slice(0, args.limit);
  if (shown.length === 0) throw new AppError('empty_result', { suggestion: suggestionOf(inCategory[0], args) });
  context.meta.count = shown.length;
  return shown;
};

function isWanted({ signal_score, hours }: KeptRow, { min_signal_strength, closing_within_hours }: Args): boolean {
  const inTime = closing_within_hours === null || closing_within_hours === undefined || (hours !== null && hours <= closing_within_hours);
  return inTime && reaches(signal_score, min_signal_strength);
}

/** What the strongest opportunity would be found by. */
function suggestionOf(best: KeptRow | undefined, args: Args): Record<string, unknown> {
  if (best === undefined || !reaches(best.signal_score, 'weak')) return args.category ? { category: null } : {};
  return {
    min_signal_strength: reaches(best.signal_score, args.min_signal_strength) ? args.min_signal_strength : strengthOf(best.signal_score),
    min_smart_wallets: Math.min(args.min_smart_wallets, best.smart_wallet_count),
    ...(isWanted(best, { ...args, min_signal_strength: 'weak' }) ? {} : { closing_within_hours: null }),
  };
}

/** Whether a score, as it is told in tenths, is of that strength at least. */
export const reaches = (score: number, strength: Strength): boolean => roundTo(score, 1) >= STRENGTHS[strength];

const strengthOf = (score: number): Strength => (reaches(score, 'strong') ? 'strong' : reaches(score, 'moderate') ? 'moderate' : 'weak');

/** What is held on active markets, whatever the window: shared by the parts of one build. */
const loadHeld = async (context: GraphContext) => {
  const [band, as_of] = [await smartBand(context), await asOf(context)];
  const held = await listHeldStances(context.sql, band, { category: null, on_one_outcome: 1, on_market: 1 }, as_of);
  const smart = groupedBy(held, (stance) => stance.condition_id);
  const ids = [...smart.keys()];
  return { ids, smart, dumb: await loadStances(context, ids, await dumbBand(context, PM_TAGS.dumb_score)) };
};

async function listOpportunities(context: GraphContext, window: Window): Promise<Opportunity[]> {
  const { ids, smart, dumb } = await context.loaders(loadHeld);
  const rule = await smartRule(context, window);
  const flows = await listSmartWalletFlowsOn(context.sql, cutAt([window.from, window.to]), rule, ids);
  const byMarket = groupedBy(flows, (flow) => flow.condition_id);
  const { market } = context.loaders(makeLoaders);
  const { prices } = context.loaders(makeMarketLoaders);
  const found = [...smart].map(async ([condition_id, stances]) => {
    const consensus = consensusOf(stances, byScore);
    const wallets = consensus.wallets.filter((wallet) => wallet.token_id === consensus.token_id);
    if (consensus.strength === null || wallets.length === 0) return [];
    const [record, priced] = await Promise.all([
      market.load(condition_id) as Promise<MarketRecord>,
      prices.load({ condition_id, at: context.now }),
    ]);
    const { weights } = consensusOf(dumb.get(condition_id) ?? [], byMoney);
    return weigh(record, priced, consensus, weights, byMarket.get(condition_id) ?? [], window.from, context.now);
  });
  return (await Promise.all(found)).flat();
}

function weigh(
  record: MarketRecord,
  prices: readonly PricedOutcome[],
  { token_id, strength, wallets: all }: ReturnType<typeof consensusOf>,
  dumb: ReadonlyMap<string, number>,
  flows: readonly SmartWalletFlow[],
  since: Date,
  now: Date,
): Opportunity[] {
  const outcome = prices.find((one) => one.token_id === token_id);
  if (outcome === undefined || outcome.price === null || strength === null) return [];
  const wallets = all.filter((wallet) => wallet.token_id === outcome.token_id);
  // As it is told: a price misses what was bid in its last decimals, and would turn the direction.
  const gap = roundTo(strength - outcome.price, 6);
  const hours = record.end_date === null ? null : (record.end_date.getTime() - now.getTime()) / HOUR_MS;
  const signals = {
    consensus: strength,
    flow_24h: flowToward(flows.filter((flow) => flow.token_id === outcome.token_id)),
    dumb_opposed: opposedTo(outcome.token_id, dumb),
    new_smart: shareOf(wallets, (wallet) => wallet.opened_at >= since),
    insider_overlap: shareOf(wallets, (wallet) => wallet.tags.includes('insider_pattern')),
  };
  const score = clear(
    WEIGHTS.gap * clip(gap / FULL_GAP) +
      WEIGHTS.consensus * signals.consensus +
      WEIGHTS.flow * signals.flow_24h +
      WEIGHTS.dumb * signals.dumb_opposed +
      WEIGHTS.independent * Math.min(1, (independentOf(wallets) ?? 0) / ENOUGH_WALLETS) +
      WEIGHTS.time * (hours === null ? 0 : logClip(Math.max(hours, Number.MIN_VALUE), FAR_HOURS, NEAR_HOURS)),
  );
  return [
    {
      record,
      outcome: { ...outcome, price: outcome.price },
      leader: leaderOf(prices),
      wallets,
      share: moneyOf(wallets) / moneyOf(all),
      gap,
      hours,
      score,
      signals,
    },
  ];
}
const shareOf = (wallets: readonly NetStance[], test: (wallet: NetStance) => boolean): number =>
  wallets.filter(test).length / wallets.length;

/** Net over gross of smart wallets' fills of the outcome, nothing while they sell. */
function flowToward(flows: readonly SmartWalletFlow[]): number {
  const [buys, sells] = [total(flows.map((flow) => flow.buy_usdc)), total(flows.map((flow) => flow.sell_usdc))];
  return clip(over(less(buys, sells), total([buys, sells])) ?? 0);
}

/** Share of low-score money that is on other outcomes. */
function opposedTo(token_id: string, dumb: ReadonlyMap<string, number>): number {
  const all = [...dumb.values()].reduce((sum, usdc) => sum + usdc, 0);
  return all === 0 ? 0 : 1 - (dumb.get(token_id) ?? 0) / all;
}

function describe(one: Opportunity) {
  return {
    ...one.record,
    hours: one.hours,
    smart_money_favors: one.outcome.outcome,
    smart_money_percentage: 100 * one.share,
    smart_wallet_count: one.wallets.length,
    avg_smart_score: meanScore(one.wallets.map((wallet) => wallet.score)),
    price_signal_gap: one.gap,
    signal_direction: one.gap >= 0 ? 'BUY' : 'SELL',
    signal_strength: strengthOf(one.score),
    leader_price: one.leader?.price ?? null,
    time_until_close: one.hours === null ? null : durationOf(one.hours),
    hours_until_close: one.hours === null ? null : Math.round(one.hours * 10) / 10,
    signal_score: one.score,
    signals: one.signals,
    favored_price: one.outcome.price,
    token_id: one.outcome.token_id,
  };
}

/** ISO 8601 duration in days, hours and minutes: `P3DT4H5M`, `PT0M` at the end. */
export function durationOf(hours: number): string {
  const minutes = Math.max(0, Math.floor(hours * 60));
  const [days, rest] = [Math.floor(minutes / 1_440), minutes % 1_440];
  const time = `${rest >= 60 ? `${Math.floor(rest / 60)}H` : ''}${rest % 60 > 0 ? `${rest % 60}M` : ''}`;
  return days === 0 && time === '' ? 'PT0M' : `P${days > 0 ? `${days}D` : ''}${time === '' ? '' : `T${time}`}`;
}
