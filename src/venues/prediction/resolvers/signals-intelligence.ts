import { AppError } from '../../../errors';
import { roundTo } from '../../../lib/statistics';
import { DAY_MS } from '../../../lib/time';
import type { GraphContext, Resolver } from '../../venue';
import { type Consensus, type Stance, byScore, consensusOf } from '../consensus';
import { over, total, trendOf } from '../exact';
import { makeMarketLoaders } from '../market-loaders';
import { type PricedOutcome, leaderOf } from '../market-prices';
import { isResolved } from '../market-state';
import { type ActivityRow, listActivity } from '../queries/market-activity';
import { listSmartFlows } from '../queries/market-flows';
import { loadFirstBuys } from '../queries/market-holdings';
import { type MarketCrowd, loadMarketCrowd } from '../queries/market-crowd';
import { cutAt } from '../queries/pieces';
import type { ScoreBand } from '../queries/stances';
import { PM_TAGS } from '../scoring/tags';
import { smartRule } from './flows-scope';
import { getKnownMarket } from './markets-known';
import { byCost, crowdView, entryOfAll, moneyByOutcome, topWallet } from './signals-money';
import { asOf, dumbBand, isContrarian, loadStances, smartBand } from './signals-views';

interface Args {
  condition_id: string;
  top_n_wallets: number;
  min_score: number;
  exclude_market_makers: boolean;
}
/** Independent wallets and strength from which a reading is of medium and high confidence. */
const CONFIDENCE = { high: { wallets: 10, strength: 0.7 }, medium: { wallets: 5, strength: 0.6 } } as const;

/** markets/intelligence: what smart and low-score wallets hold of a market. Throws not_found for an unknown market, empty_result when no scored wallet holds any. */
export const marketsIntelligence: Resolver<unknown, Args> = async (_, args, context) => {
  const { market } = await getKnownMarket(context, args.condition_id);
  const of = async (band: Promise<ScoreBand>): Promise<Stance[]> =>
    (await loadStances(context, [args.condition_id], await band)).get(args.condition_id) ?? [];
  const [high, dumb, prices, activity] = await Promise.all([
    of(smartBand(context, args.min_score)),
    loadDumb(context, args.condition_id),
    context.loaders(makeMarketLoaders).prices.load({ condition_id: args.condition_id, at: context.now }),
    loadActivity(context, args),
  ]);
  // Whoever is neither smart nor of a low score is only asked for where nobody else holds any.
  if (high.length === 0 && !dumb.any && (await of(smartBand(context, 0))).length === 0) throw new AppError('empty_result');
  const smart = high.filter((stance) => !(args.exclude_market_makers && stance.tags.includes('market_maker')));
  const [wise, foolish] = [consensusOf(smart, byScore), crowdView(dumb, prices)];
  const money = moneyByOutcome(smart, prices);
  const shown = money.map((outcome) => outcome.stances.sort(byCost).slice(0, args.top_n_wallets));
  const firstBuy = await loadFirstBuys(context.sql, shown.flat(), context.now);
  context.meta.count = Math.max(0, ...shown.map((wallets) => wallets.length));
  const open = !isResolved(market, context.now);
  const consensus = wise.strength === null ? null : (prices.find((outcome) => outcome.token_id === wise.token_id) ?? null);
  return {
    ...market,
    outcomes: prices.map((outcome) => ({
      ...outcome,
      volume_24h: total(activity.rows.filter((row) => row.part === 2 && row.token_id === outcome.token_id).map((row) => row.volume)),
    })),
    smart_money: {
      consensus_outcome: consensus?.outcome ?? null,
      consensus_strength: wise.strength,
      by_outcome: money.map((outcome, index) => ({
        ...outcome,
        top_wallets: (shown[index] as Stance[]).map((stance) =>
          topWallet(stance, prices[index]?.price ?? null, smart, firstBuy(stance.wallet, stance.token_id)),
        ),
        avg_entry_price: entryOfAll(outcome.stances),
      })),
      independent_wallets: wise.independent_wallets,
    },
    dumb_money: {
      consensus_outcome: prices.find((outcome) => outcome.token_id === foolish.token_id)?.outcome ?? null,
      contrarian_to_smart: consensus === null || foolish.token_id === null ? null : foolish.token_id !== consensus.token_id,
      by_outcome: foolish.by_outcome,
    },
    signal_analysis: analyse(wise, foolish, consensus, prices, activity.smart_net, open),
    recent_activity: recentOf(activity),
  };
};

/** Low-score wallets on a market, whatever they traded. */
async function loadDumb(context: GraphContext, condition_id: string): Promise<MarketCrowd> {
  const [band, as_of] = await Promise.all([dumbBand(context, PM_TAGS.dumb_score), asOf(context)]);
  return loadMarketCrowd(context.sql, condition_id, band, null, as_of);
}

interface Activity {
  /** Part 1: the day before; part 2: the last 24 hours. */
  rows: ActivityRow[];
  smart_net: string;
}

async function loadActivity(context: GraphContext, { condition_id, min_score }: Args): Promise<Activity> {
  const { now } = context;
  const since = (days: number): Date => new Date(now.getTime() - days * DAY_MS);
  const rule = await smartRule(context, { from: since(1), to: now }, min_score);
  const [rows, flows] = await Promise.all([
    listActivity(context.sql, condition_id, cutAt([since(2), since(1), now])),
    listSmartFlows(context.sql, cutAt([since(1), now]), rule, [condition_id]),
  ]);
  return { rows, smart_net: total(flows.map((flow) => flow.net_usdc)) };
}

function recentOf({ rows, smart_net }: Activity): Record<string, unknown> {
  const [before, last] = [rows.filter((row) => row.part === 1), rows.filter((row) => row.part === 2)];
  const volume = (some: readonly ActivityRow[]): string => total(some.map((row) => row.volume));
  return {
    volume_24h: volume(last),
    trade_count_24h: last.reduce((sum, row) => sum + row.trades, 0),
    buy_sell_ratio: over(total(last.map((row) => row.buy_usdc)), total(last.map((row) => row.sell_usdc))),
    volume_trend: trendOf(volume(last), volume(before)),
    smart_net_flow_24h: smart_net,
  };
}

/** What the figures say together, in words and numbers. */
function analyse(
  wise: Consensus,
  foolish: Pick<Consensus, 'token_id'>,
  consensus: PricedOutcome | null,
  prices: readonly PricedOutcome[],
  smart_net: string,
  open: boolean,
): Record<string, unknown> {
  const leader = leaderOf(prices);
  const contrarian_signal = open && consensus !== null && isContrarian(wise.strength, consensus.price);
  const aligned = consensus === null || leader === null ? null : consensus.token_id === leader.token_id;
  return {
    smart_vs_price_aligned: aligned,
    contrarian_signal,
    signal_summary: summaryOf(consensus, wise, aligned, contrarian_signal),
    smart_bias: biasOf(wise, leader?.token_id ?? null),
    confidence: confidenceOf(wise),
    reasons: reasonsOf(wise, foolish, consensus, aligned, smart_net),
  };
}

/** Weight on the price leader less weight on others, of all, −100 to 100; null without weight. */
function biasOf({ weights }: Consensus, leader: string | null): number | null {
  const all = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  const toward = leader === null ? 0 : (weights.get(leader) ?? 0);
  return leader === null || all === 0 ? null : roundTo((100 * (2 * toward - all)) / all, 6);
}

function confidenceOf({ independent_wallets, strength }: Consensus): 'low' | 'medium' | 'high' {
  const reaches = (level: { wallets: number; strength: number }): boolean =>
    (independent_wallets ?? 0) >= level.wallets && (strength ?? 0) >= level.strength;
  return reaches(CONFIDENCE.high) ? 'high' : reaches(CONFIDENCE.medium) ? 'medium' : 'low';
}

const whole = (share: number): number => Math.round(100 * share);

function summaryOf(consensus: PricedOutcome | null, { strength }: Consensus, aligned: boolean | null, contrarian: boolean): string {
  if (consensus === null || strength === null) return 'Too few smart wallets hold this market for a consensus.';
  const price = consensus.price === null ? '' : ` at ${consensus.price}`;
  const against = contrarian
    ? ', against the price'
    : aligned === true
      ? ', with the price'
      : aligned === false
        ? ', not the price leader'
        : '';
  return `Smart money favours ${consensus.outcome}${price} with ${whole(strength)} % of its weight${against}.`;
}

function reasonsOf(
  wise: Consensus,
  foolish: Pick<Consensus, 'token_id'>,
  consensus: PricedOutcome | null,
  aligned: boolean | null,
  smart_net: string,
): string[] {
  const reasons: string[] = [];
  if (consensus !== null)
    reasons.push(
      `${wise.wallets.filter((wallet) => wallet.token_id === consensus.token_id).length} of ${wise.wallets.length} smart wallets are net on ${consensus.outcome}.`,
    );
  if (aligned !== null) reasons.push(aligned ? 'Their outcome leads by price.' : 'Another outcome leads by price.');
  if (wise.independent_wallets !== null)
    reasons.push(`Smart wallets of all outcomes count as ${wise.independent_wallets.toFixed(1)} independent ones.`);
  if (consensus !== null && foolish.token_id !== null)
    reasons.push(
      foolish.token_id === consensus.token_id ? 'Low-score money is on the same outcome.' : 'Low-score money is on another outcome.',
    );
  if (Number(smart_net) !== 0)
    reasons.push(
      `Smart wallets ${Number(smart_net) > 0 ? 'bought' : 'sold'} ${Math.abs(Number(smart_net)).toFixed(2)} USDC net in 24 hours.`,
    );
  return reasons;
}
