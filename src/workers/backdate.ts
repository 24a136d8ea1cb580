import type { Pool } from 'pg';
import { DAY_MS, isoDay } from '../lib/time';
import type { GraphContext, Venue } from '../venues/venue';
import { keepsScoresOf, runScores } from './scores';
import { storeSignals, trackSignals } from './track';

/** A day that was told after it. */
export interface BackdatedDay {
  venue: string;
  /** `YYYY-MM-DD`. */
  day: string;
  signals: number;
  /** How many days are told, and how many there are to tell. */
  told: number;
  of: number;
}

/** Instants at which those of the `days` UTC days before today begin whose signals nobody stored, oldest first; none that sources have not been read up to. */
export async function listUntold(pool: Pool, venue: Venue, now: Date, days: number): Promise<Date[]> {
  if (venue.signals === undefined) return [];
  const { watermark } = await venue.freshness(pool);
  if (watermark === null) return [];
  const { endpoints } = venue.signals;
  const { rows } = await pool.query<{ day: string }>(
    'SELECT day::text FROM signal_snapshot WHERE venue = $1 AND endpoint = ANY ($2) GROUP BY day HAVING count(*) = $3',
    [venue.name, endpoints, endpoints.length],
  );
  const stored = new Set(rows.map(({ day }) => day));
  const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  const begun = Array.from({ length: days }, (_, index) => new Date(today - (days - index) * DAY_MS));
  return begun.filter((at) => at <= watermark && !stored.has(isoDay(at)));
}

/**
 * Tells the signals of past days that nobody stored, as a server would have told them when each day began: scores of then (unless a run of that day is
 * kept) for all of them, then signals of then. Marks afterwards those whose horizon has passed. `tell` is handed each day; `now` is asked again at the end.
 */
export async function backdateSignals(
  pool: Pool,
  venue: Venue,
  contextAt: (now: Date) => GraphContext,
  now: () => Date,
  days: number,
  tell: (day: BackdatedDay) => void,
): Promise<void> {
  const untold = await listUntold(pool, venue, now(), days);
  if (venue.signals === undefined || untold.length === 0) return;
  // From the newest day on: what is answered meanwhile judges what happened since by the last run before it, which is not to be one of weeks ago.
  for (const at of untold.toReversed())
    if ((await keepsScoresOf(pool, venue, isoDay(at))) === false) await venue.score?.(pool, at, () => undefined);
  for (const [index, at] of untold.entries()) {
    const signals = await storeSignals(pool, venue.name, venue.signals, contextAt(at), true);
    tell({ venue: venue.name, day: isoDay(at), signals, told: index + 1, of: untold.length });
  }
  // A run also keeps what only the newest one may say.
  await runScores(pool, venue, now(), () => undefined);
  await trackSignals(pool, venue, () => contextAt(now()));
}
