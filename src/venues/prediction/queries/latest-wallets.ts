import { DAY_MS, HOUR_MS } from '../../../lib/time';
import type { Parameters } from './parameters';

/** SQL of when the newest fill of all was; null while there is none. */
export const NEWEST_FILL = `(SELECT max(at) FROM pm_latest_fill WHERE category = '')`;

/**
 * SQL of how many wallets made their latest take in each of `categories` (SQL of an array; '' of their latest fill of all) at `from` or later: category, wallets;
 * several rows of a category are to be added up.
 */
export function latestSince(from: Date, categories: string, parameters: Parameters): string {
  const [hour, day] = [HOUR_MS, DAY_MS].map((ms) => new Date(Math.ceil(from.getTime() / ms) * ms)) as [Date, Date];
  const [since, whole, midnight] = [from, hour, day].map((at) => parameters.add(at, 'timestamptz')) as [string, string, string];
  return `SELECT category, wallets FROM pm_latest_day WHERE category = ANY (${categories}) AND day >= (${midnight} AT TIME ZONE 'UTC')::date
UNION ALL SELECT category, wallets FROM pm_latest_hour WHERE category = ANY (${categories}) AND hour >= ${whole} AND hour < ${midnight}
UNION ALL SELECT category, count(*) FROM pm_latest_fill WHERE category = ANY (${categories}) AND at >= ${since} AND at < ${whole} GROUP BY category`;
}
