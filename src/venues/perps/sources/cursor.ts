import type { PoolClient } from 'pg';

/** How far a page reaches: its last position in the upstream, and the time up to which it tells everything (milliseconds). */
export interface Reached {
  cursor: Record<string, unknown>;
  watermark: number | null;
}

const MOVE = {
  name: 'perps_move_cursor',
  text: `
INSERT INTO source_cursor AS kept (source, venue, cursor, watermark, last_event_at)
VALUES ($1, 'perps', $2, to_timestamp(0) + $3::bigint * interval '1 millisecond', to_timestamp(0) + $4::bigint * interval '1 millisecond')
ON CONFLICT (source) DO UPDATE SET
  cursor = CASE WHEN kept.watermark > EXCLUDED.watermark THEN kept.cursor ELSE EXCLUDED.cursor END,
  watermark = greatest(kept.watermark, EXCLUDED.watermark),
  last_event_at = greatest(kept.last_event_at, EXCLUDED.last_event_at),
  updated_at = now()`,
};

/** Moves a source's cursor forward, never back: an old page loaded late changes nothing. */
export async function moveCursor(client: PoolClient, source: string, reached: Reached & { last_event_at: number | null }): Promise<void> {
  await client.query({ ...MOVE, values: [source, JSON.stringify(reached.cursor), reached.watermark, reached.last_event_at] });
}
