import type { ClientBase } from 'pg';
import type { Sql, Statement } from '../db/sql';
import { roundTo, wilsonLowerBound } from '../lib/statistics';
import { isoSecond } from '../lib/time';
import type { Resolver } from '../venues/venue';
import type { TrackRecord } from './signal';

const RECORD: Statement = {
  name: 'signal_track_record',
  keyed: true,
  text: `SELECT horizon, count(*)::int AS signals, (count(*) FILTER (WHERE mark.hit))::int AS hits, avg(mark.return_pct)::float8 AS mean_return_pct,
  avg(mark.baseline)::float8 AS baseline, (count(*) FILTER (WHERE snapshot.backdated))::int AS backdated, min(signal.taken_at) AS first_at, max(signal.taken_at) AS last_at
FROM signal_mark AS mark JOIN signal USING (endpoint, day, rank) JOIN signal_snapshot AS snapshot USING (endpoint, day)
WHERE endpoint = $1 AND mark.at <= $2 GROUP BY horizon`,
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

const UNMARK: Statement = {
  name: 'signal_unmark',
  text: `DELETE FROM signal_mark AS mark USING signal WHERE signal.venue = $1 AND signal.subject = ANY($2)
  AND mark.endpoint = signal.endpoint AND mark.day = signal.day AND mark.rank = signal.rank`,
};

/** Takes back the marks of signals on these subjects, whose end turned out not to be one: the next look marks by what is known then. */
export async function takeMarksBack(sql: Sql, venue: string, subjects: readonly string[]): Promise<void> {
  if (subjects.length > 0) await sql.query(UNMARK, [venue, subjects]);
}

// $4: signals taken before it were marked at all horizons before any of the instants.
const UNMARK_LATER = {
  name: 'signal_unmark_later',
  text: `DELETE FROM signal_mark AS mark USING signal JOIN unnest($2::text[], $3::timestamptz[]) AS changed(subject, since) ON changed.subject = signal.subject
  WHERE signal.venue = $1 AND signal.taken_at > $4 AND mark.endpoint = signal.endpoint AND mark.day = signal.day AND mark.rank = signal.rank AND mark.at > changed.since`,
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
  await client.query({ ...UNMARK_LATER, values: [venue, changed.map(({ subject }) => subject), sinces, new Date(oldest - longest_ms)] });
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
