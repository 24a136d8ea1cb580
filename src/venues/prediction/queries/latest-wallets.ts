import { DAY_MS } from '../../../lib/time';
import type { Parameters } from './parameters';

/**
 * SQL of how many wallets made their latest take in each of `categories` (SQL of an array; '' of their latest fill of all) at `from` or later: category, wallets;
 * several rows of a category are to be added up.
 */
export function latestSince(from: Date, categories: string, parameters: Parameters): string {
  const midnight = new Date(Math.ceil(from.getTime() / DAY_MS) * DAY_MS);
  const [since, whole] = [parameters.add(from, 'timestamptz'), parameters.add(midnight, 'timestamptz')];
  return `SELECT category, wallets FROM pm_latest_day WHERE category = ANY (${categories}) AND day >= (${whole} AT TIME ZONE 'UTC')::date
UNION ALL SELECT category, count(*) FROM pm_latest_fill WHERE category = ANY (${categories}) AND at >= ${since} AND at < ${whole} GROUP BY category`;
}
