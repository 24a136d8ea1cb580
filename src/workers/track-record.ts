import type { ClientBase } from 'pg';
import type { Sql, Statement } from '../db/sql';
import { roundTo, wilsonLowerBound } from '../lib/statistics';
import { isoSecond } from '../lib/time';
import type { Resolver } from '../venues/venue';
import type { TrackRecord } from './signal';

// Snapshots of which all marks were known by then, and the marks known by then of the others.
const RECORD: Statement = {
  name: 'signal_track_record',
  keyed: true,
  text: `SELECT horizon, sum(told.signals)::int AS signals, sum(hits)::int AS hits, (sum(return_pct) / sum(told.signals))::float8 AS mean_return_pct, (sum(baseline) / sum(told.signals))::float8 AS baseline,
  COALESCE(sum(told.signals) FILTER (WHERE backdated), 0)::int AS backdated, min(taken_at) AS first_at, max(taken_at) AS last_at
FROM (
  SELECT day, horizon, signals, hits, return_pct, baseline FROM signal_record WHERE endpoint = $1 AND known_at <= $2
  UNION ALL SELECT day, horizon, 1, mark.hit::int, mark.return_pct, mark.baseline FROM signal_record AS later JOIN signal_mark AS mark USING (endpoint, day, horizon)
  WHERE later.endpoint = $1 AND later.known_at > $2 AND mark.at <= $2
) AS told JOIN signal_snapshot AS snapshot ON snapshot.endpoint = $1 AND snapshot.day = told.day GROUP BY horizon`,
};

interface RecordRow {
  horizon: string;
  signals: number;
  hits: number;
  mean_return_pct: number;
  baseline: number;
  backdated: number;
  first_at: Date;
  last_at: Date;
}

/** How the endpoint's signals turned out, by what was known at `now`: one entry a horizon, all marked signals counted. */
export async function readTrackRecord(sql: Sql, endpoint: string, horizons: readonly string[], now: Date): Promise<TrackRecord[]> {
  const rows = await sql.query<RecordRow>(RECORD, [endpoint, now]);
  return horizons.map((horizon) => {
    const row = rows.find((one) => one.horizon === horizon);
    if (row === undefined)
      return {
        horizon,
        signals: 0,
        hit_rate: null,
        hit_rate_lb: null,
        mean_return_pct: null,
        baseline_hit_rate: null,
        backdated: 0,
        from: null,
        to: null,
      };
    return {
      horizon,
      signals: row.signals,
      hit_rate: six(row.hits / row.signals),
      hit_rate_lb: six(wilsonLowerBound(row.hits, row.signals) as number),
      mean_return_pct: six(row.mean_return_pct),
      baseline_hit_rate: six(row.baseline),
      backdated: row.backdated,
      from: isoSecond(row.first_at),
      to: isoSecond(row.last_at),
    };
  });
}

/** As the scalars of answers round: meta passes none of them. */
const six = (figure: number): number => roundTo(figure, 6);

/** The marks of a snapshot at one horizon. */
export interface Marked {
  endpoint: string;
  /** `YYYY-MM-DD`. */
  day: string;
  horizon: string;
}

/** What a statement that writes or takes back marks returns: `Marked` of each. */
export const MARKED = 'RETURNING mark.endpoint, mark.day::text, mark.horizon';

const COUNT = `WITH asked AS (SELECT DISTINCT endpoint, day, horizon FROM unnest($1::text[], $2::date[], $3::text[]) AS asked(endpoint, day, horizon)), counted AS MATERIALIZED (
  SELECT endpoint, day, horizon, count(mark.rank)::int AS signals, (count(*) FILTER (WHERE mark.hit))::int AS hits, sum(mark.return_pct) AS return_pct, sum(mark.baseline) AS baseline, max(mark.at) AS known_at
  FROM asked LEFT JOIN signal_mark AS mark USING (endpoint, day, horizon) GROUP BY endpoint, day, horizon
), gone AS (
  DELETE FROM signal_record AS record USING counted WHERE counted.signals = 0 AND (record.endpoint, record.day, record.horizon) = (counted.endpoint, counted.day, counted.horizon)
)
INSERT INTO signal_record (endpoint, day, horizon, signals, hits, return_pct, baseline, known_at) SELECT * FROM counted WHERE signals > 0
ON CONFLICT (endpoint, day, horizon) DO UPDATE SET signals = EXCLUDED.signals, hits = EXCLUDED.hits, return_pct = EXCLUDED.return_pct, baseline = EXCLUDED.baseline, known_at = EXCLUDED.known_at`;

/** Counts the marks of these snapshots anew, in the transaction that wrote some or took some back. */
export async function countMarks(client: ClientBase, marked: readonly Marked[]): Promise<void> {
  if (marked.length === 0) return;
  await client.query(COUNT, [marked.map(({ endpoint }) => endpoint), marked.map(({ day }) => day), marked.map(({ horizon }) => horizon)]);
}

const UNMARK = `DELETE FROM signal_mark AS mark USING signal WHERE signal.venue = $1 AND signal.subject = ANY($2)
  AND mark.endpoint = signal.endpoint AND mark.day = signal.day AND mark.rank = signal.rank ${MARKED}`;

/** Takes back the marks of signals on these subjects, whose end turned out not to be one: the next look marks by what is known then. */
export async function takeMarksBack(client: ClientBase, venue: string, subjects: readonly string[]): Promise<void> {
  if (subjects.length > 0) await countMarks(client, (await client.query<Marked>(UNMARK, [venue, subjects])).rows);
}

// $4: signals taken before it were marked at all horizons before any of the instants.
const UNMARK_LATER = {
  name: 'signal_unmark_later',
  text: `DELETE FROM signal_mark AS mark USING signal JOIN unnest($2::text[], $3::timestamptz[]) AS changed(subject, since) ON changed.subject = signal.subject
  WHERE signal.venue = $1 AND signal.taken_at > $4 AND mark.endpoint = signal.endpoint AND mark.day = signal.day AND mark.rank = signal.rank AND mark.at > changed.since ${MARKED}`,
};

/** Takes back the marks of signals that are of an instant after the one from which on something else is known of their subject; `longest_ms`: the longest horizon. */
export async function takeLaterMarksBack(
  client: ClientBase,
  venue: string,
  changed: readonly { subject: string; since: Date }[],
  longest_ms: number,
): Promise<void> {
  if (changed.length === 0) return;
  const sinces = changed.map(({ since }) => since);
  const oldest = Math.min(...sinces.map((since) => since.getTime()));
  const values = [venue, changed.map(({ subject }) => subject), sinces, new Date(oldest - longest_ms)];
  await countMarks(client, (await client.query<Marked>({ ...UNMARK_LATER, values })).rows);
}

/** The resolver of a signal endpoint: its answer, with the endpoint's track record in meta. */
export function tracked<Source, Args>(
  endpoint: string,
  horizons: readonly string[],
  resolver: Resolver<Source, Args>,
): Resolver<Source, Args> {
  return async (source, args, context, info) => {
    const [answer, record] = await Promise.all([
      resolver(source, args, context, info) as unknown,
      readTrackRecord(context.sql, endpoint, horizons, context.now),
    ]);
    context.meta.track_record = record;
    return answer;
  };
}
