import { TIMEFRAMES, type Timeframe, lengthOf, withShorter } from '../lib/timeframe';
import type { Endpoint } from './endpoint';
import type { Reading } from './read';

/** Rules between parameters that a document cannot say, by endpoint. */
const CHECKS: Readonly<Record<string, (reading: Reading) => void>> = {
  'markets/capital-flow-comparison': longestWindow,
};

/** Applies the endpoint's own rules; what is wrong is added to `problems`. */
export function crossCheck(endpoint: Endpoint, reading: Reading): void {
  CHECKS[endpoint.name]?.(reading);
}

/** `timeframe=X` stands for X and the two next shorter windows; with good `timeframes` too, it must be the longest of them. */
function longestWindow(reading: Reading): void {
  const { timeframe, timeframes } = reading.variables as { timeframe?: Timeframe; timeframes?: readonly Timeframe[] };
  if (timeframe === undefined) return;
  const meant = withShorter(timeframe);
  const problem = (issue: string, allowed: unknown): void => {
    reading.problems.push({ param: 'timeframe', issue, allowed, got: timeframe, missing: false });
    delete reading.variables.timeframe;
  };
  if (meant.length === 1) return problem('leaves no shorter window to compare with', TIMEFRAMES.slice(1));
  if (!reading.sent.has('timeframes') || reading.problems.some(({ param }) => param === 'timeframes')) {
    reading.variables.timeframes = meant;
    return;
  }
  const longest = timeframes?.toSorted((a, b) => lengthOf(b) - lengthOf(a))[0];
  if (longest !== timeframe) problem('is not the longest of timeframes', longest);
}
