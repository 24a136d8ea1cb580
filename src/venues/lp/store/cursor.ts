import type { PoolClient } from 'pg';

/** How far a feed has been read: times in the page, not of the reading. */
export interface FeedTimes {
  /** Newest event in the page. */
  last_event_at: Date | null;
  /** Time the page is as of, where it says so. */
  as_of: Date | null;
}

/** Moves the cursor of a source forward, in the transaction of the facts it brought. A page without times moves nothing. */
export async function moveCursor(client: PoolClient, source: string, page: string, times: FeedTimes): Promise<void> {
  await client.query({
    name: 'lp_move_cursor',
    text: `INSERT INTO source_cursor AS c (source, venue, cursor, watermark, last_event_at) VALUES ($1, 'lp', $2, $3, $4)
      ON CONFLICT (source) DO UPDATE SET cursor = EXCLUDED.cursor, watermark = greatest(c.watermark, EXCLUDED.watermark),
        last_event_at = greatest(c.last_event_at, EXCLUDED.last_event_at), updated_at = now()`,
    values: [source, JSON.stringify({ page }), times.as_of ?? times.last_event_at, times.last_event_at],
  });
}
