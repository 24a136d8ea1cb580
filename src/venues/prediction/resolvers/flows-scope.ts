import { AppError } from '../../../errors';
import { type Timeframe, type Window, previousOnRecord, previousWindow, windowOf } from '../../../lib/timeframe';
import type { GraphContext } from '../../venue';
import { makeLoaders } from '../loaders';
import { type FillScope, findNewestFill, getFirstFill } from '../queries/newest-fill';
import { type Cut, type SmartRule, cutAt } from '../queries/pieces';
import { spansOf } from '../queries/score-runs';
import { SMART_SCORE } from '../scoring/tiers';
import { timeframeWith } from './paging';

/** A window, the equal one before it, and how both are read. */
export interface Windows {
  window: Window;
  /** Null for `all`. */
  previous: Window | null;
  /** Bounds of both: the last part is the window. */
  cut: Cut;
  /** Milliseconds between the two; 0 without a previous one. */
  shift: number;
}

/** The equal window before one that ends now; null where it is not wholly on record. */
export const windowBefore = async (timeframe: Timeframe, { sql, now }: GraphContext): Promise<Window | null> =>
  previousOnRecord(timeframe, now, await getFirstFill(sql));

/** The window of a timeframe and the one before. With `aligned`, hours of the earlier one are cut where those of the later one stand. */
export function windowsOf(timeframe: Timeframe, now: Date, aligned = false, before = previousWindow(timeframe, now)): Windows {
  const window = windowOf(timeframe, now);
  const previous = before !== null && before.from < before.to ? before : null;
  if (previous === null) return { window, previous, cut: cutAt([window.from, window.to]), shift: 0 };
  const shift = window.from.getTime() - previous.from.getTime();
  return { window, previous, cut: cutAt([previous.from, window.from, window.to], aligned ? shift : 0), shift };
}

/** The window of a timeframe, and the one before where that is wholly on record. */
export const windowsOnRecord = async (timeframe: Timeframe, context: GraphContext): Promise<Windows> =>
  windowsOf(timeframe, context.now, false, await windowBefore(timeframe, context));

/** Smart fills of a stretch of time: each judged by the run before its day. Names the newest run in meta. */
export async function smartRule(context: GraphContext, window: Window, min_score: number = SMART_SCORE): Promise<SmartRule> {
  const { days, run } = await context.loaders(makeLoaders).state();
  context.meta.score_version = run?.version ?? null;
  return { spans: spansOf(days, window), min_score };
}

/** The stretch from the first to the last bound of a cut. */
export const stretchOf = (cut: Cut): Window => ({ from: cut.bounds[0] as Date, to: cut.bounds.at(-1) as Date });

/** empty_result that names the shortest timeframe with a fill in scope; where the one asked for has fills and they do not do, the longest. */
export async function emptyWithin(context: GraphContext, timeframe: Timeframe, scope: FillScope): Promise<AppError> {
  const newest = await findNewestFill(context.sql, scope, context.now);
  if (newest === null) return new AppError('empty_result');
  if (newest < windowOf(timeframe, context.now).from)
    return new AppError('empty_result', { suggestion: { timeframe: timeframeWith(newest, context.now) } });
  return new AppError('empty_result', timeframe === 'all' ? {} : { suggestion: { timeframe: 'all' } });
}
