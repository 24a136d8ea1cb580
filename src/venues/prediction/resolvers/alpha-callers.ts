import { AppError } from '../../../errors';
import { CATEGORIES } from '../../../lib/category';
import { groupedBy } from '../../../lib/grouped';
import { wilsonLowerBound } from '../../../lib/statistics';
import { DAY_MS } from '../../../lib/time';
import { type Json, readSnapshot } from '../../../workers/snapshot';
import type { GraphContext, Resolver, Snapshot } from '../../venue';
import { makeLoaders } from '../loaders';
import { type AlphaFilter, type EarlyBet, listEarlyBets, listMarketHours } from '../queries/alpha-calls';
import { alphaScore, trendStart } from '../scoring/alpha';
import { looser } from './looser';
import { nameRun } from './wallets';

interface AlphaCallersArgs {
  days_back: number;
  min_days_early: number;
  min_bet_usdc: number;
  limit: number;
  category?: string | null;
  min_calls: number;
}

type Scope = Pick<AlphaCallersArgs, 'days_back' | 'min_days_early' | 'min_bet_usdc'>;

/** The scope that is asked for by default: its calls are kept, others are looked for when asked. */
const KEPT_SCOPE: Scope = { days_back: 30, min_days_early: 7, min_bet_usdc: 100 };
const ALL = 'all';

/** Every call of the default scope: parts are all categories together, and each alone. */
export const alphaSnapshot: Snapshot<Call[]> = {
  name: 'wallets/alpha-callers',
  every_s: 600,
  parts: [ALL, ...CATEGORIES],
  build: (context, part) => listCalls(context, KEPT_SCOPE, part === ALL ? null : part),
};

/**
 * wallets/alpha-callers: purchases of winners at 0.5 or less, early and before their market trended. Throws empty_result when there is none in scope,
 * stale_data when its snapshot is too old.
 */
export const walletsAlphaCallers: Resolver<unknown, AlphaCallersArgs> = async (_, args, context) => {
  const { calls, as_of } = await callsIn(args, context);
  const shown = calls.filter((call) => call.calls >= args.min_calls).slice(0, args.limit);
  if (shown.length === 0)
    throw new AppError('empty_result', { suggestion: calls.length > 0 ? { min_calls: 1 } : await suggestionOf(args, context) });
  // Scores are those of then: a run since is not of what the calls are as of.
  const then = context.at(as_of);
  await nameRun(then);
  context.meta.count = shown.length;
  const loaders = then.loaders(makeLoaders);
  return Promise.all(
    shown.map(async (call) => {
      const score = await loaders.judgement.load(call.wallet);
      return { ...call, wallet_score: score?.score ?? null, win_rate: score?.win_rate ?? null };
    }),
  );
};

/** Calls in scope, the best first, however many their wallets made, and the instant they are as of. */
async function callsIn(args: AlphaCallersArgs, context: GraphContext): Promise<{ calls: Json<Call>[] | Call[]; as_of: Date }> {
  const category = args.category ?? null;
  const isKept = Object.entries(KEPT_SCOPE).every(([name, value]) => args[name as keyof Scope] === value);
  if (!isKept) return { calls: await listCalls(context, args, category), as_of: context.now };
  const { body, as_of } = await readSnapshot(context, alphaSnapshot, category ?? ALL);
  return { calls: body, as_of };
}

/** The scope whose calls are kept, or all categories, and of one call where nobody made as many. */
const suggestionOf = (args: AlphaCallersArgs, context: GraphContext): Promise<Record<string, unknown>> =>
  looser(args, [KEPT_SCOPE, { category: null }], async (asked) => {
    const { calls } = await callsIn(asked, context);
    if (calls.length === 0) return undefined;
    return calls.some((call) => call.calls >= args.min_calls) ? {} : { min_calls: 1 };
  });

/** The same, looked for now. */
async function listCalls(
  context: GraphContext,
  { days_back, min_days_early, min_bet_usdc }: Scope,
  category: string | null,
): Promise<Call[]> {
  const filter: AlphaFilter = { days_back, min_days_early, min_bet_usdc, category, now: context.now };
  const calls = await callsOf(await listEarlyBets(context.sql, filter), context);
  return calls.sort((a, b) => b.alpha_score - a.alpha_score || (a.wallet + a.condition_id < b.wallet + b.condition_id ? -1 : 1));
}

type Call = ReturnType<typeof callOf>;

/** Right bets made before their market trended, with the record of their wallets. */
async function callsOf(bets: readonly EarlyBet[], context: GraphContext): Promise<Call[]> {
  const right = bets.filter(({ won }) => won);
  const resolved = new Map(right.map(({ condition_id, resolved_at }) => [condition_id, resolved_at]));
  const hours = groupedBy(await listMarketHours(context.sql, resolved), (row) => row.condition_id);
  const starts = new Map([...resolved].map(([id, resolved_at]) => [id, trendStart(hours.get(id) ?? [], resolved_at)]));
  const hits = right.filter(({ condition_id, at }) => (starts.get(condition_id) ?? at) > at);
  const calls = groupedBy(hits, ({ wallet }) => wallet);
  const records = groupedBy(bets, ({ wallet }) => wallet);
  return hits.map((bet) => {
    const record = records.get(bet.wallet) ?? [];
    const wins = record.filter(({ won }) => won).length;
    return callOf(bet, starts.get(bet.condition_id) as Date, calls.get(bet.wallet)?.length ?? 0, wins, record.length);
  });
}

function callOf(bet: EarlyBet, trend: Date, calls: number, wins: number, n: number) {
  const price = bet.usdc / bet.shares;
  const days = (bet.resolved_at.getTime() - bet.at.getTime()) / DAY_MS;
  const hit_rate_lb = wilsonLowerBound(wins, n) ?? 0;
  return {
    wallet: bet.wallet,
    market_question: bet.question,
    condition_id: bet.condition_id,
    entry_date: bet.at,
    days_before_resolution: days,
    bet_size_usdc: bet.usdc,
    winning_outcome: bet.winning_outcome,
    entry_price: price,
    price_multiple: 1 / price,
    profit_usdc: bet.shares - bet.usdc,
    trend_started_at: trend,
    days_before_trend: (trend.getTime() - bet.at.getTime()) / DAY_MS,
    calls,
    hit_rate: wins / n,
    hit_rate_lb,
    alpha_score: alphaScore({ hit_rate_lb, price_multiple: 1 / price, days_before_resolution: days, bet_usdc: bet.usdc }),
    category: bet.category,
  };
}
