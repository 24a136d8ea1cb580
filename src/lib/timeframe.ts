/** Window tokens in order of length, with their length in seconds; null: everything since the first fact. */
const LENGTHS = {
  '1m': 60,
  '5m': 300,
  '30m': 1_800,
  '1h': 3_600,
  '4h': 14_400,
  '6h': 21_600,
  '12h': 43_200,
  '24h': 86_400,
  '7d': 604_800,
  '30d': 2_592_000,
  '90d': 7_776_000,
  '365d': 31_536_000,
  all: null,
} as const satisfies Record<string, number | null>;

/** `today` starts at 00:00 UTC, all others reach back by their length. */
export type Timeframe = keyof typeof LENGTHS | 'today';

/** What every endpoint with a timeframe accepts, canonical spelling. */
export const TIMEFRAMES = [
  '1h',
  '4h',
  '6h',
  '12h',
  '24h',
  'today',
  '7d',
  '30d',
  '90d',
  '365d',
  'all',
] as const satisfies readonly Timeframe[];
/** Recurring orders look forward over shorter windows too. */
export const DCA_TIMEFRAMES = ['1m', '5m', '30m', ...TIMEFRAMES] as const satisfies readonly Timeframe[];

const SPELLINGS: Record<string, Timeframe> = { '1d': '24h', '1y': '365d' };

/** Canonical token of any accepted spelling (`1d` is `24h`, `1y` is `365d`, any case), or undefined. */
export function canonicalTimeframe(token: string, allowed: readonly Timeframe[] = TIMEFRAMES): Timeframe | undefined {
  const lower = token.toLowerCase();
  const canonical = SPELLINGS[lower] ?? (lower as Timeframe);
  return allowed.includes(canonical) ? canonical : undefined;
}

/** [from, to): half open, by event time. */
export interface Window {
  from: Date;
  to: Date;
}

/** No fact of any venue is older: `all` starts here. */
export const BEGINNING = new Date('2018-01-01T00:00:00Z');
/** Every fact is older. */
export const END = new Date('2100-01-01T00:00:00Z');

/** Whether an upstream can tell of this instant (milliseconds): before 2018 and from 2100 on it is a wrong unit. */
export const isTold = (time: number): boolean => time >= BEGINNING.getTime() && time < END.getTime();

/** The window of a token that ends at `now`: [now − length, now); `today` from 00:00 UTC; `all` from BEGINNING. */
export function windowOf(timeframe: Timeframe, now: Date): Window {
  return { from: startOf(timeframe, now), to: now };
}

function startOf(timeframe: Timeframe, now: Date): Date {
  if (timeframe === 'today') return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()));
  const seconds = LENGTHS[timeframe];
  return seconds === null ? BEGINNING : new Date(now.getTime() - seconds * 1_000);
}

/** The window without what lies before `birth`. */
export const since = ({ from, to }: Window, birth: Date): Window => ({ from: birth > from ? birth : from, to });

/** The window of equal length just before; null for `all`, which has none. */
export function previousWindow(timeframe: Timeframe, now: Date): Window | null {
  if (timeframe === 'all') return null;
  const { from, to } = windowOf(timeframe, now);
  return { from: new Date(2 * from.getTime() - to.getTime()), to: from };
}

/** The same where records, of which `first` is the first, reach back to its beginning: of a window that they begin within it is not known what it came to. */
export function previousOnRecord(timeframe: Timeframe, now: Date, first: Date | null): Window | null {
  const previous = previousWindow(timeframe, now);
  return previous !== null && first !== null && first <= previous.from ? previous : null;
}

/** A window after the two next shorter ones, as far as there are any. */
export const withShorter = (timeframe: Timeframe): Timeframe[] => [
  ...TIMEFRAMES.filter((token) => token !== 'today' && lengthOf(token) < lengthOf(timeframe)).slice(-2),
  timeframe,
];

/** Orders windows, the shortest first; of today and a day, which count as equally long, today never holds more. */
export const byLength = (a: Timeframe, b: Timeframe): number => lengthOf(a) - lengthOf(b) || Number(a !== 'today') - Number(b !== 'today');

/** The longest of several windows. */
export const longestOf = (timeframes: readonly Timeframe[]): Timeframe | undefined => timeframes.toSorted(byLength).at(-1);

/** Whether a window is among these, and none of them is longer. */
export const isLongest = (timeframe: Timeframe, timeframes: readonly Timeframe[]): boolean =>
  timeframes.includes(timeframe) && timeframes.every((other) => lengthOf(other) <= lengthOf(timeframe));

/** Length in seconds for comparing windows: `today` counts as 24h, `all` as longer than anything. */
export function lengthOf(timeframe: Timeframe): number {
  if (timeframe === 'today') return LENGTHS['24h'];
  return LENGTHS[timeframe] ?? Number.POSITIVE_INFINITY;
}
