import type { Pool, PoolClient } from 'pg';
import { later } from '../lib/time';
import { addReport, emptyReport } from './ingest';
import type { FeedCursor, IngestReport } from './source';

/** How long events took from happening to being visible, over the last ones that arrived. */
export interface LagFigures {
  events: number;
  p50_s: number | null;
  p99_s: number | null;
}

/** A live feed's row of source_cursor. */
export interface FeedRow {
  feed: string;
  at: FeedCursor;
  /** Steps taken: who writes a step must have seen the one before it. */
  version: number;
  watermark: Date | null;
  last_event_at: Date | null;
  /** Everything loaded since the feed began. */
  totals: IngestReport;
  lag: LagFigures;
  /** The last poll that failed, until one succeeds. */
  failure: { at: string; since?: string; words: string } | null;
}

/** Another process has taken a step of this feed: this one must stop reading it. */
export class Overtaken extends Error {
  constructor(feed: string) {
    super(`Another process reads ${feed}.`);
    this.name = 'Overtaken';
  }
}

/** Of a feed in which nothing has arrived yet. */
export const NO_LAG: LagFigures = { events: 0, p50_s: null, p99_s: null };

const rowName = (feed: string): string => `live.${feed}`;

interface Stored {
  source: string;
  cursor: Pick<FeedRow, 'at' | 'version' | 'totals' | 'lag'> & { failure?: FeedRow['failure'] };
  watermark: Date | null;
  last_event_at: Date | null;
}

const COLUMNS = 'source, cursor, watermark, last_event_at';

const fromStored = ({ source, cursor, watermark, last_event_at }: Stored): FeedRow => ({
  feed: source.slice('live.'.length),
  watermark,
  last_event_at,
  ...cursor,
  failure: cursor.failure ?? null,
});

/** Every live feed that ever ran on this store. */
export async function listFeeds(pool: Pool): Promise<FeedRow[]> {
  const { rows } = await pool.query<Stored>(`SELECT ${COLUMNS} FROM source_cursor WHERE source LIKE 'live.%' ORDER BY source`);
  return rows.map(fromStored);
}

/** The feed's row; undefined before its first poll. */
export async function findFeed(pool: Pool, feed: string): Promise<FeedRow | undefined> {
  const { rows } = await pool.query<Stored>(`SELECT ${COLUMNS} FROM source_cursor WHERE source = $1`, [rowName(feed)]);
  return rows[0] && fromStored(rows[0]);
}

/** Time up to which all of these live feeds have been read; null while one of them has not begun. */
export async function readUntil(pool: Pool, feeds: readonly string[]): Promise<Date | null> {
  const { rows } = await pool.query<{ begun: number; until: Date | null }>(
    'SELECT count(watermark)::int AS begun, min(watermark) AS until FROM source_cursor WHERE source = ANY($1)',
    [feeds.map(rowName)],
  );
  return rows[0]?.begun === feeds.length ? rows[0].until : null;
}

/** Up to when a recorded feed was loaded; null when it never was. */
export async function recordedUntil(pool: Pool, feed: string): Promise<Date | null> {
  const { rows } = await pool.query<{ watermark: Date | null }>('SELECT watermark FROM source_cursor WHERE source = $1', [feed]);
  return rows[0]?.watermark ?? null;
}

const RECORDED = `SELECT max(last_event_at) AS last_event_at, COALESCE(max(watermark) FILTER (WHERE source <> ALL ($2)), max(watermark)) AS watermark
FROM source_cursor WHERE venue = $1 AND source NOT LIKE 'live.%'`;

/** A venue's newest event and up to when its events were loaded; a feed of `catalogues` tells of none, and may be far ahead. */
export async function eventsUntil(
  pool: Pool,
  venue: string,
  catalogues: readonly string[] = [],
): Promise<{ last_event_at: Date | null; watermark: Date | null }> {
  const { rows } = await pool.query<{ last_event_at: Date | null; watermark: Date | null }>(RECORDED, [venue, catalogues]);
  return rows[0] ?? { last_event_at: null, watermark: null };
}

/** Writes the first row of a feed that begins at `from`; one that is there stays. */
export async function beginFeed(pool: Pool, venue: string, feed: string, at: FeedCursor, from: Date): Promise<void> {
  const cursor = { at, version: 0, totals: emptyReport(), lag: NO_LAG };
  await pool.query(
    'INSERT INTO source_cursor (source, venue, cursor, watermark, updated_at) VALUES ($1, $2, $3, $4, now()) ON CONFLICT (source) DO NOTHING',
    [rowName(feed), venue, JSON.stringify(cursor), from],
  );
}

/** Takes the feed's row for a step, inside the step's transaction. Throws Overtaken when it is not as this process left it. */
export async function holdFeed(client: PoolClient, row: FeedRow): Promise<void> {
  const { rows } = await client.query<{ version: number }>(
    "SELECT (cursor->>'version')::int AS version FROM source_cursor WHERE source = $1 FOR UPDATE",
    [rowName(row.feed)],
  );
  if (rows[0]?.version !== row.version) throw new Overtaken(row.feed);
}

/** Moves the feed on by one step, inside its transaction; tells the row as it then is. Marks never turn back, and a failure is told until a whole poll succeeds. */
export async function moveFeed(
  client: PoolClient,
  row: FeedRow,
  step: { at: FeedCursor; watermark: Date | null; report: IngestReport; lag: LagFigures; last_event_at: Date | null },
): Promise<FeedRow> {
  const totals = { ...row.totals, skipped: { ...row.totals.skipped } };
  addReport(totals, step.report);
  const moved: FeedRow = {
    ...row,
    at: step.at,
    version: row.version + 1,
    watermark: later(row.watermark, step.watermark),
    last_event_at: later(row.last_event_at, step.last_event_at),
    totals,
    lag: step.lag,
  };
  const { at, version, lag, failure } = moved;
  await client.query('UPDATE source_cursor SET cursor = $2, watermark = $3, last_event_at = $4, updated_at = now() WHERE source = $1', [
    rowName(row.feed),
    JSON.stringify({ at, version, totals, lag, failure }),
    moved.watermark,
    moved.last_event_at,
  ]);
  return moved;
}

/** Notes why the last poll failed, and since when none succeeded; the feed stands where it stood. */
export async function noteFailure(pool: Pool, feed: string, words: string, at: Date): Promise<void> {
  await pool.query(
    `UPDATE source_cursor SET cursor = cursor || jsonb_build_object('failure',
       jsonb_build_object('at', $2::text, 'since', COALESCE(cursor#>>'{failure,since}', $2::text), 'words', $3::text)) WHERE source = $1`,
    [rowName(feed), at.toISOString(), words],
  );
}

/** Takes that note back: a poll succeeded. */
export async function forgetFailure(pool: Pool, feed: string): Promise<void> {
  await pool.query("UPDATE source_cursor SET cursor = cursor - 'failure' WHERE source = $1", [rowName(feed)]);
}
