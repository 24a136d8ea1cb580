import type { Statement } from '../../../db/sql';
import { AppError, notKnown } from '../../../errors';
import { DAY_MS } from '../../../lib/time';
import { type Timeframe, type Window, lengthOf, previousOnRecord, windowOf } from '../../../lib/timeframe';
import type { GraphContext } from '../../venue';
import { makeLoaders } from '../loaders';
import { type KnownCoin, findKnownCoin } from './find-coin';
import { SMART_SCORE } from '../tier';
import { type Span, daysWindow, spanOf } from './span';

/** The window of a token, told to the answer's meta. */
export function openWindow(timeframe: Timeframe, context: GraphContext): Window {
  const window = windowOf(timeframe, context.now);
  Object.assign(context.meta, { timeframe, window });
  return window;
}

/** The UTC days that end today, told to the answer's meta. */
export function openDays(days: number, context: GraphContext): Window {
  const window = daysWindow(days, context.now);
  context.meta.window = window;
  return window;
}

/** The first fill of all; null before it. */
export const findFirstFill = ({ loaders }: GraphContext): Promise<Date | null> => loaders(makeLoaders).firstFill();

/** The equal window before one that ends now; null where it is not wholly on record. */
export const windowBefore = async (timeframe: Timeframe, context: GraphContext): Promise<Window | null> =>
  previousOnRecord(timeframe, context.now, await findFirstFill(context));

/** Whether a window up to now begins before the first fact: then whole lives tell it. */
export async function isEverything(context: GraphContext, { from }: Window): Promise<boolean> {
  const first = await findFirstFill(context);
  return first !== null && first >= from;
}

/** Whether nothing is filled from an instant on (now): then what accounts came to is what they have come to by then. */
export const isNewest = async ({ loaders, now }: GraphContext, instant: Date = now): Promise<boolean> =>
  (await loaders(makeLoaders).newestFill()) < instant.getTime();

/** Whether what accounts have come to tells a window up to now. */
export const isLife = async (context: GraphContext, window: Window): Promise<boolean> =>
  (await isEverything(context, window)) && (await isNewest(context));

/**
 * As far as what is told up to an instant may reach: the end of its UTC day where nothing is filled from the instant on, so that the day's own
 * row tells the day, and the hour's the hour.
 */
export const reachOf = async (instant: Date, context: GraphContext): Promise<Date> =>
  (await isNewest(context, instant)) ? new Date(Math.ceil(instant.getTime() / DAY_MS) * DAY_MS) : instant;

/** The span of a window that ends now, as far as it may reach. */
export const spanUpToNow = async ({ from, to }: Window, context: GraphContext): Promise<Span> =>
  spanOf({ from, to: await reachOf(to, context) });

/** What to send instead where a window holds nothing; undefined where nothing is wider. */
export function widerTimeframe(timeframe: Timeframe): { timeframe: Timeframe } | undefined {
  if (timeframe === 'all') return undefined;
  return { timeframe: lengthOf(timeframe) < lengthOf('7d') ? '7d' : 'all' };
}

/** What to send instead of filters that keep everything out, those that were sent: each as if it had not been; undefined where none was. */
export function without<Filters extends object>(filters: Filters, unfiltered: Partial<Filters>): Partial<Filters> | undefined {
  const dropped = Object.entries(unfiltered).filter(([name, value]) => (filters[name as keyof Filters] ?? null) !== value);
  return dropped.length === 0 ? undefined : (Object.fromEntries(dropped) as Partial<Filters>);
}

export const UNKNOWN_COIN = 'is no coin of this venue';
export const COIN_LIST = { method: 'GET', path: '/api/v1/perps/coins/list', note: 'every coin with its name' };

/** A coin that must be known, in the venue's spelling. Throws not_found. */
export async function getKnownCoin({ sql, now }: GraphContext, coin: string): Promise<KnownCoin> {
  const known = await findKnownCoin(sql, coin, now);
  if (known === undefined) throw notKnown('coin', coin, UNKNOWN_COIN, COIN_LIST);
  return known;
}

/** The venue's spelling of such a coin. Throws not_found. */
export const getCoin = async (context: GraphContext, coin: string): Promise<string> => (await getKnownCoin(context, coin)).coin;

/** The venue's spelling of a coin that may not be asked for; null then. Throws not_found. */
export const getCoinIfAny = async (context: GraphContext, coin: string | null | undefined): Promise<string | null> =>
  coin == null ? null : getCoin(context, coin);

const KNOWN_TRADERS: Statement = {
  name: 'perps_known_traders',
  keyed: true,
  text: 'SELECT trader FROM perp_trader WHERE trader = ANY ($1::text[]) AND first_at < $2',
};

/** Which of these accounts traded before now. */
export async function listKnownTraders({ sql, now }: GraphContext, traders: readonly string[]): Promise<Set<string>> {
  const rows = await sql.query<{ trader: string }>(KNOWN_TRADERS, [traders, now]);
  return new Set(rows.map(({ trader }) => trader));
}

/** What is answered where no account asked for ever traded. */
export const unknownTraders = (param: 'trader' | 'traders', traders: readonly string[]): AppError =>
  notKnown(param, traders.join(','), 'never traded here', {
    method: 'GET',
    path: '/api/v1/perps/traders/leaderboard',
    note: 'accounts that did',
  });

/** Throws not_found for an account that never traded. */
export async function checkTrader(context: GraphContext, trader: string): Promise<void> {
  if (!(await listKnownTraders(context, [trader])).has(trader)) throw unknownTraders('trader', [trader]);
}

/** What to send instead of so many days; undefined where nothing is wider. */
export const widerDays = (days: number): { days: number } | undefined => (days >= 365 ? undefined : { days: days < 90 ? 90 : 365 });

const ANY_SCORED: Statement = {
  name: 'perps_any_scored',
  keyed: true,
  text: 'SELECT 1 FROM perp_score WHERE day = $1::date AND score >= $2::numeric LIMIT 1',
};

/** The day of the score run, in which some account must have this score. Throws empty_result, with what to send instead. */
async function getScoredDay(context: GraphContext, least: number, message: string, suggestion: Suggestion | undefined): Promise<string> {
  const run = await context.loaders(makeLoaders).scoreRun();
  const any = run === null ? [] : await context.sql.query(ANY_SCORED, [run.day, least]);
  if (run === null || any.length === 0) throw new AppError('empty_result', { message, suggestion });
  return run.day;
}

type Suggestion = Record<string, unknown>;

/** The day of the score run that an answer uses, null before the first, and whether sums over its smart accounts are told. */
export async function findSmartRun(context: GraphContext): Promise<{ day: string | null; is_told: boolean }> {
  return (await context.loaders(makeLoaders).scoreRun()) ?? { day: null, is_told: false };
}

/** Whether the days of all accounts with at least a score are told beside each other. */
export const isScoreTold = async (context: GraphContext, least: number): Promise<boolean> =>
  least >= SMART_SCORE && (await findSmartRun(context)).is_told;

/** The day of the score run, in which somebody must be smart. Throws empty_result. */
export const getSmartDay = (context: GraphContext): Promise<string> =>
  getScoredDay(context, SMART_SCORE, 'No wallet is scored as smart yet.', { smart_money_only: false });

/** The day of the score run, in which some account must have this score. Throws empty_result. */
export const getDayScoredFrom = (context: GraphContext, min_score: number): Promise<string> =>
  getScoredDay(context, min_score, `No wallet has a score of ${min_score} yet.`, lowerScore(min_score));

/** What to send instead of a least score; undefined where nothing is lower. */
export const lowerScore = (min_score: number): { min_score: number } | undefined =>
  min_score > 0 ? { min_score: Math.max(0, min_score - 25) } : undefined;

/** The day of the score run that an answer uses; null before the first. */
export const findRunDay = async (context: GraphContext): Promise<string | null> =>
  (await context.loaders(makeLoaders).scoreRun())?.day ?? null;

/** Notes in the answer how many matches of its rows say nothing of who took. */
export function warnUndirected({ meta }: GraphContext, rows: readonly { undirected: number }[]): void {
  const matches = rows.reduce((total, { undirected }) => total + undirected, 0);
  if (matches > 0)
    meta.warnings.push(
      `${matches} ${matches === 1 ? 'match does' : 'matches do'} not say which side took: in volume, not in buys and sells`,
    );
}
