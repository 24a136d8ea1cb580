import type { Sql, Statement } from '../../../db/sql';
import type { Timeframe, Window } from '../../../lib/timeframe';
import { STANDING_TIMEFRAMES } from '../rollups/standings';

/** What is kept of how wallets stand, and for which of them it no longer holds. */
export interface Standings {
  told_at: Date;
  /** Wallets whose positions were written, or have left the window, since; some twice. */
  changed: string[];
}

/** Changed wallets at most: adding up everybody is no dearer with more. */
const MOST_CHANGED = 5_000;

// Of a window that began as long before they were told as the window of $2 begins before it, and begins at $1 now.
const TOLD: Statement = {
  name: 'pm_standing_told',
  keyed: true,
  text: `SELECT told_at, ARRAY(
  SELECT wallet FROM (SELECT wallet FROM pm_standing_due UNION ALL SELECT wallet FROM pm_position WHERE closed_at >= $1::timestamptz - make_interval(secs => extract(epoch FROM $2::timestamptz - (SELECT told_at FROM pm_standing_told))::float8) AND closed_at < $1) AS changed LIMIT $3::int
) AS changed FROM pm_standing_told WHERE told_at <= $2`,
};

/** What stands for the window, which ends now; null where nothing is kept of it, or so much has changed that adding up everybody is cheaper. */
export async function findStandings(
  sql: Sql,
  { timeframe, window: { from }, now }: { timeframe: Timeframe; window: Window; now: Date },
): Promise<Standings | null> {
  if (!STANDING_TIMEFRAMES.includes(timeframe)) return null;
  const [told] = await sql.query<Standings>(TOLD, [from, now, MOST_CHANGED + 1]);
  return told === undefined || told.changed.length > MOST_CHANGED ? null : { told_at: told.told_at, changed: told.changed };
}
