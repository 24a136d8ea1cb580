import type { PoolClient } from 'pg';
import { later } from '../lib/time';
import type { VenueName } from '../lib/venue-name';

/** How far a recorded page tells its feed, by times in the page, not of the reading. */
export interface PageRead {
  source: string;
  venue: VenueName;
  page: string;
  /** Up to where its upstream was read. */
  watermark: Date | null;
  /** Newest event in the page. */
  last_event_at: Date | null;
}

const MOVE = {
  name: 'move_recorded_cursors',
  text: `INSERT INTO source_cursor AS kept (source, venue, cursor, watermark, last_event_at, updated_at)
SELECT source, venue, jsonb_build_object('page', page), watermark, last_event_at, now()
FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[]) AS read(source, venue, page, watermark, last_event_at) ORDER BY source
ON CONFLICT (source) DO UPDATE SET cursor = EXCLUDED.cursor, updated_at = now(),
  watermark = GREATEST(kept.watermark, EXCLUDED.watermark), last_event_at = GREATEST(kept.last_event_at, EXCLUDED.last_event_at)`,
};

/** Notes how far these pages, in the order they were read in, tell their feeds, inside the transaction of their facts. An older page never turns a mark back. */
export async function moveCursors(client: PoolClient, read: readonly PageRead[]): Promise<void> {
  const bySource = new Map<string, PageRead>();
  for (const page of read) {
    const before = bySource.get(page.source);
    const [watermark, last_event_at] = [later(before?.watermark ?? null, page.watermark), later(before?.last_event_at ?? null, page.last_event_at)]; // prettier-ignore
    bySource.set(page.source, { ...page, watermark, last_event_at });
  }
  const feeds = [...bySource.values()];
  const values = (['source', 'venue', 'page', 'watermark', 'last_event_at'] as const).map((column) => feeds.map((feed) => feed[column]));
  await client.query({ ...MOVE, values });
}
