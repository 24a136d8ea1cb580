import { eventsUntil } from '../../src/workers/feed-store';
import { watchFreshness } from '../../src/workers/freshness';
import type { LiveSource } from '../../src/workers/source';
import type { Venue } from '../../src/venues/venue';
import { testDatabase } from '../support/database';

const at = (minute: number): Date => new Date(Date.UTC(2026, 2, 10, 12, minute));
const recorded = { last_event_at: at(0), watermark: at(0) };
const venue = { name: 'perps', freshness: async () => recorded } as unknown as Venue;
const source = (name: string, gates: boolean): LiveSource => ({ name, gates }) as LiveSource;

test('a venue has been read up to where its gating feed that is furthest behind stands; one that has not begun stands where the recording ended', async () => {
  const db = await testDatabase();
  for (const [feed, minute] of [['trades', 30], ['fills', 20], ['history', 5]] as const) // prettier-ignore
    await db.pool.query("INSERT INTO source_cursor (source, venue, cursor, watermark) VALUES ('live.' || $1, 'perps', '{}', $2)", [feed, at(minute)]); // prettier-ignore
  const readUpTo = async (...feeds: LiveSource[]): Promise<[mode: string, watermark: Date | null]> => {
    const watch = await watchFreshness(db.pool, [venue], { perps: feeds });
    await watch.stop();
    const { mode, watermark } = watch.of('perps');
    return [mode, watermark];
  };
  const [trades, fills, history] = [source('trades', true), source('fills', true), source('history', false)];
  expect(await readUpTo()).toEqual(['recorded', at(0)]);
  expect(await readUpTo(trades, fills, history)).toEqual(['live', at(20)]);
  expect(await readUpTo(trades, history)).toEqual(['live', at(30)]);
  expect(await readUpTo(history)).toEqual(['live', at(0)]);
  expect(await readUpTo(trades, source('not begun', true))).toEqual(['live', at(0)]);
  await db.drop();
});

test('no more facts come before where the feed of facts that is furthest behind stands, less how late its rows come', async () => {
  const db = await testDatabase();
  for (const [feed, minute] of [['trades', 30], ['fills', 20], ['catalogue', 5]] as const) // prettier-ignore
    await db.pool.query("INSERT INTO source_cursor (source, venue, cursor, watermark) VALUES ('live.' || $1, 'perps', '{}', $2)", [feed, at(minute)]); // prettier-ignore
  const settled = async (...feeds: LiveSource[]): Promise<Date | null> => {
    const watch = await watchFreshness(db.pool, [venue], { perps: feeds });
    await watch.stop();
    return watch.of('perps').settled;
  };
  const late = (name: string, minutes: number): LiveSource => ({ ...source(name, true), late_ms: minutes * 60_000 });
  const catalogue = source('catalogue', true);
  expect(await settled()).toBeNull();
  expect(await settled(catalogue)).toBeNull();
  expect(await settled(late('trades', 0), catalogue)).toEqual(at(30));
  expect(await settled(late('trades', 2), late('fills', 0), catalogue)).toEqual(at(20));
  expect(await settled(late('trades', 15), late('fills', 0))).toEqual(at(15));
  expect(await settled(late('trades', 0), late('not begun', 0))).toEqual(at(0));
  await db.drop();
});

test('a venue was recorded up to where its feeds of events were: its catalogues count alone only, its live feeds and other venues never', async () => {
  const db = await testDatabase();
  const feeds = [['facts', 'perps', 10], ['more facts', 'perps', 8], ['catalogue', 'perps', 50], ['live.facts', 'perps', 40], ['others', 'lp', 55]] as const; // prettier-ignore
  for (const [feed, of, minute] of feeds)
    await db.pool.query(
      "INSERT INTO source_cursor (source, venue, cursor, watermark, last_event_at) VALUES ($1, $2, '{}', $3, $3::timestamptz - interval '1 minute')",
      [feed, of, at(minute)],
    );
  await db.pool.query("UPDATE source_cursor SET last_event_at = NULL WHERE source = 'catalogue'");
  const until = () => eventsUntil(db.pool, 'perps', ['catalogue']);
  expect(await until()).toEqual({ watermark: at(10), last_event_at: at(9) });
  await db.pool.query("DELETE FROM source_cursor WHERE source LIKE '%facts'");
  expect(await until()).toEqual({ watermark: at(50), last_event_at: null });
  await db.drop();
});
