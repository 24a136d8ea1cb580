import type { Sql } from '../../../db/sql';
import { AppError } from '../../../errors';
import type { PendingSignal, Signal, SignalMark } from '../../../workers/signal';
import type { GraphContext, Resolver, SignalTracking } from '../../venue';
import { makeLoaders } from '../loaders';
import { makeMarketLoaders } from '../market-loaders';
import { statusOf } from '../market-state';
import { listNewestInsiders } from '../queries/insider-runs';
import { type Payout, listPayouts } from '../queries/payouts';
import { listPositionsAsOf } from '../rollups/positions-as-of';
import { RESOLUTION, isTradable, markOf } from '../scoring/signal-mark';
import { walletsAlphaCallers } from './alpha-callers';
import { walletsInsiders } from './insiders';
import { marketsHighConviction } from './signals-conviction';
import { marketsDumbConsensus } from './signals-fade';
import { marketsNewSmartInterest } from './signals-interest';
import { marketsOpportunities } from './signals-opportunities';
import { marketsSmartSignals } from './signals-smart';

/** Default parameters of the signal endpoints, with their greatest limit. */
export const SIGNAL_DEFAULTS = {
  'markets/opportunities': { min_signal_strength: 'moderate', min_smart_wallets: 3, limit: 100, timeframe: '24h' },
  'markets/high-conviction': { min_smart_wallets: 5, min_avg_score: 65, limit: 100, max_price: 0.95, sort_by: 'conviction_score' },
  'markets/smart-signals': { timeframe: '24h', min_score: 60, min_smart_wallets: 3, sort_by: 'signal_score', limit: 100 },
  'markets/new-smart-interest': { timeframe: '24h', min_score: 60, min_new_wallets: 1, min_usdc: 100, limit: 100 },
  'markets/dumb-consensus': { max_score: 30, min_wallets: 10, min_usdc: 1_000, min_consensus: 0.7, contrarian_only: false, sort_by: 'consensus_strength', limit: 100 },
  'markets/insiders': { limit: 100, min_score: 20 },
  'wallets/insiders': { limit: 200, min_score: 50, max_wallet_age_days: 60, sort_by: 'insider_score' },
  'wallets/alpha-callers': { days_back: 30, min_days_early: 7, min_bet_usdc: 100, limit: 100, min_calls: 1 },
} as const; // prettier-ignore

type Endpoint = keyof typeof SIGNAL_DEFAULTS;

/** An outcome that is said to become worth more (1) or less (-1); without a price, the price now is looked up. */
interface Said {
  condition_id: string;
  token_id: string;
  direction: 1 | -1;
  price?: number | null;
}

type Row = Record<string, unknown>;

/** What each endpoint's answer says. */
const SAID: Record<Endpoint, (context: GraphContext) => Promise<Said[]>> = {
  'markets/opportunities': async (context) =>
    (await rowsOf('markets/opportunities', marketsOpportunities, context)).map((row) => saidBy(row, row.favored_price)),
  'markets/high-conviction': async (context) =>
    (await rowsOf('markets/high-conviction', marketsHighConviction, context)).map((row) => saidBy(row, row.favored_price)),
  'markets/smart-signals': async (context) =>
    (await rowsOf('markets/smart-signals', marketsSmartSignals, context)).map((row) => saidBy(row, row.price)),
  'markets/new-smart-interest': async (context) =>
    (await rowsOf('markets/new-smart-interest', marketsNewSmartInterest, context)).map((row) => saidBy(row, row.price)),
  // A crowd that is wrong speaks against what it holds.
  'markets/dumb-consensus': async (context) =>
    (await rowsOf('markets/dumb-consensus', marketsDumbConsensus, context)).map((row) => ({ ...saidBy(row, row.price), direction: -1 })),
  'markets/insiders': async (context) => {
    const { min_score } = SIGNAL_DEFAULTS['markets/insiders'];
    const run = await context.loaders(makeLoaders).scoreRun();
    const found = (await listNewestInsiders(context.sql, context.now, run?.day ?? null)).filter(({ score }) => score >= min_score);
    return found.map(({ condition_id, token_id }) => ({ condition_id, token_id, direction: 1 }));
  },
  'wallets/insiders': async (context) => {
    const candidates = (await rowsOf('wallets/insiders', walletsInsiders, context)) as { flagged_markets: Row[] }[];
    return candidates.flatMap(({ flagged_markets }) => flagged_markets.map((market) => saidBy(market)));
  },
  'wallets/alpha-callers': async (context) => {
    const calls = await rowsOf('wallets/alpha-callers', walletsAlphaCallers, context);
    const wallets = [...new Set(calls.map(({ wallet }) => wallet as string))];
    const held = await listPositionsAsOf(context.sql, { wallets }, context.now);
    const open = held.filter(({ status, shares }) => status === 'open' && Number(shares) > 0);
    return open
      .map(({ condition_id, token_id }): Said => ({ condition_id, token_id, direction: 1 }))
      .sort((a, b) => (a.condition_id + a.token_id < b.condition_id + b.token_id ? -1 : 1));
  },
};

const saidBy = (row: Row, price?: unknown): Said => ({
  condition_id: row.condition_id as string,
  token_id: row.token_id as string,
  direction: row.signal_direction === 'SELL' ? -1 : 1,
  ...(price === undefined ? {} : { price: price as number | null }),
});

/** Rows of an endpoint's default answer; none when it answers empty. */
async function rowsOf<Args>(endpoint: Endpoint, resolver: Resolver<unknown, Args>, context: GraphContext): Promise<Row[]> {
  try {
    const args = SIGNAL_DEFAULTS[endpoint] as unknown as Args;
    const answer = (await resolver(undefined, args, context, undefined as never)) as Row[] | { candidates: Row[] };
    return Array.isArray(answer) ? answer : answer.candidates;
  } catch (error) {
    if (error instanceof AppError && error.code === 'empty_result') return [];
    throw error;
  }
}

/** Signals of one endpoint on markets that are still open, at the price now. */
async function signalsOf(endpoint: Endpoint, context: GraphContext): Promise<Signal[]> {
  const signals = (await SAID[endpoint](context)).map(async (said): Promise<Signal[]> => {
    const market = await context.loaders(makeLoaders).market.load(said.condition_id);
    if (market === null || statusOf(market, context.now) !== 'active') return [];
    const price = said.price === undefined ? await priceOf(said, context) : said.price;
    const { condition_id: subject, token_id: part, direction } = said;
    return isTradable(price, direction) ? [{ endpoint, subject, part, direction, price }] : [];
  });
  return (await Promise.all(signals)).flat();
}

async function priceOf({ condition_id, token_id }: Said, context: GraphContext): Promise<number | null> {
  const prices = await context.loaders(makeMarketLoaders).prices.load({ condition_id, at: context.now });
  return prices.find((one) => one.token_id === token_id)?.price ?? null;
}

async function mark(sql: Sql, pending: readonly PendingSignal[], now: Date): Promise<SignalMark[]> {
  const payouts = new Map<string, Payout>();
  for (const one of await listPayouts(sql, [...new Set(pending.map(({ subject }) => subject))], now))
    payouts.set(`${one.condition_id}|${one.token_id}`, one);
  return pending.flatMap((signal) => {
    const payout = payouts.get(`${signal.subject}|${signal.part}`);
    return payout === undefined ? [] : [markOf(signal, payout)];
  });
}

/** Signals of the wing: what smart, low-score, young and early wallets hold in open markets, marked when a market is resolved or refunded. */
export const signals: SignalTracking = {
  endpoints: Object.keys(SIGNAL_DEFAULTS),
  horizons: [RESOLUTION],
  list: (context, endpoint) => signalsOf(endpoint as Endpoint, context),
  mark,
};
