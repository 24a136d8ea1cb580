import type { Sql, Statement } from '../../../db/sql';
import { ANY_LATER } from '../rollups/positions-as-of';
import { runsUntil } from './score-runs';

/** A daily run of the scores. */
export interface ScoreRun {
  /** `YYYY-MM-DD`. */
  day: string;
  version: string;
}

/** What answers as of an instant must know of the store. */
export interface VenueState {
  /** Days of the score runs, oldest first. */
  days: string[];
  /** The last of them, or null. */
  run: ScoreRun | null;
  /** The store holds something of the instant or later. */
  any_later: boolean;
}

const STATE: Statement = {
  name: 'pm_venue_state',
  keyed: true,
  text: `WITH run AS MATERIALIZED (${runsUntil('$2::date')})
SELECT ARRAY(SELECT to_char(day, 'YYYY-MM-DD') FROM run ORDER BY day) AS days, (SELECT version FROM pm_wallet_score WHERE day = (SELECT max(day) FROM run) LIMIT 1) AS version, ${ANY_LATER} AS any_later`,
};

type Row = { days: string[]; version: string | null; any_later: boolean };

/** The state as of `now`, with runs up to a day (YYYY-MM-DD). */
export async function loadVenueState(sql: Sql, now: Date, scored_until: string): Promise<VenueState> {
  const [row] = await sql.query<Row>(STATE, [now, scored_until]);
  const { days, version, any_later } = row as Row;
  const day = days.at(-1);
  return { days, run: day === undefined || version === null ? null : { day, version }, any_later };
}
