import type { Sql, Statement } from '../../../db/sql';
import { DAY_MS, HOUR_MS, isoDay } from '../../../lib/time';
import type { Window } from '../../../lib/timeframe';
import type { Parameters } from './parameters';

/** SQL of the days of all runs up to a day, in no order. */
export const runsUntil = (day: string): string => `SELECT day FROM pm_score_runs(${day}) AS run(day)`;

const RUNS: Statement = {
  name: 'pm_score_runs',
  keyed: true,
  text: `SELECT to_char(day, 'YYYY-MM-DD') AS day FROM (${runsUntil('$1::date')}) AS run ORDER BY day`,
};

/** Events of [from, to) are judged by the scores of one run. */
export interface RunSpan {
  /** `YYYY-MM-DD`. */
  day: string;
  from: Date;
  to: Date;
}

/** Days of all runs up to the day of `now`, oldest first. */
export async function listRunDays(sql: Sql, now: Date): Promise<string[]> {
  const rows = await sql.query<{ day: string }>(RUNS, [isoDay(now)]);
  return rows.map((row) => row.day);
}

/**
 * Which run judges which hours of a window: an event uses the scores of the newest run of a day before its own. What is older than the first
 * run is judged by the first: it is all that is known of those wallets.
 */
export function spansOf(days: readonly string[], window: Window): RunSpan[] {
  const begin = new Date(Math.floor(window.from.getTime() / HOUR_MS) * HOUR_MS);
  const startOf = (index: number): Date => (index === 0 ? begin : new Date(Date.parse(days[index] as string) + DAY_MS));
  const later = (a: Date, b: Date): Date => (a > b ? a : b);
  const earlier = (a: Date, b: Date): Date => (a < b ? a : b);
  return days
    .map((day, index) => ({
      day,
      from: later(startOf(index), begin),
      to: index + 1 < days.length ? earlier(startOf(index + 1), window.to) : window.to,
    }))
    .filter((span) => span.from < span.to);
}

/** SQL of the runs and their spans: columns day, since, until. */
export function spanRows(spans: readonly RunSpan[], parameters: Parameters): string {
  const days = parameters.add(spans.map((span) => span.day), 'date[]'); // prettier-ignore
  const since = parameters.add(spans.map((span) => span.from), 'timestamptz[]'); // prettier-ignore
  const until = parameters.add(spans.map((span) => span.to), 'timestamptz[]'); // prettier-ignore
  return `unnest(${days}, ${since}, ${until}) AS run(day, since, until)`;
}
