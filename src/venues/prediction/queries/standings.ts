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

const TOLD: Statement = { name: 'pm_standing_told', text: 'SELECT told_at FROM pm_standing_told WHERE told_at <= $1' };

// Of a window that began at $1 and begins at $2 now.
const CHANGED: Statement = {
  name: 'pm_standing_changed',
  text: `SELECT wallet FROM (SELECT wallet FROM pm_standing_due UNION ALL SELECT wallet FROM pm_position WHERE closed_at >= $1 AND closed_at < $2) AS changed LIMIT $3`,
};

/** What stands for the window, which ends now; null where nothing is kept of it, or so much has changed that adding up everybody is cheaper. */
export async function findStandings(
  sql: Sql,
  { timeframe, window: { from }, now }: { timeframe: Timeframe; window: Window; now: Date },
): Promise<Standings | null> {
  if (!STANDING_TIMEFRAMES.includes(timeframe)) return null;
  const [told] = await sql.query<{ told_at: Date }>(TOLD, [now]);
  if (told === undefined) return null;
  const before = new Date(from.getTime() - (now.getTime() - told.told_at.getTime()));
  const rows = await sql.query<{ wallet: string }>(CHANGED, [before, from, MOST_CHANGED + 1]);
  return rows.length > MOST_CHANGED ? null : { told_at: told.told_at, changed: rows.map(({ wallet }) => wallet) };
}
