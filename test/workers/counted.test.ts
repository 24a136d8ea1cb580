import type { Pool } from 'pg';
import type { VenueName } from '../../src/lib/venue-name';
import { backfill } from '../../src/workers/ingest';
import { loadPage } from '../support/load-page';
import { testDatabase } from '../support/database';
import { loadWorld, wingOf } from '../support/world';
import { pagesOf } from '../support/world-pages';

const START = new Date('2026-03-01T00:00:00Z');
const DAY_MS = 86_400_000;
const quiet = { progress: () => undefined };

/** How many rows the planner believes each month of facts to hold, and how many it holds. */
async function countsOf(
  pool: Pool,
  tables: readonly string[],
): Promise<{ believed: Record<string, number>; held: Record<string, number> }> {
  const { rows } = await pool.query<{ name: string; believed: number }>(
    'SELECT relname AS name, reltuples::int AS believed FROM pg_class JOIN pg_inherits ON inhrelid = pg_class.oid WHERE inhparent = ANY ($1::regclass[])',
    [tables],
  );
  const held = await Promise.all(rows.map(async ({ name }) => (await pool.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${name}`)).rows[0]?.n ?? 0)); // prettier-ignore
  const full = rows.map(({ name, believed }, index) => ({ name, believed, held: held[index] as number })).filter((month) => month.held > 0);
  return {
    believed: Object.fromEntries(full.map(({ name, believed }) => [name, believed])),
    held: Object.fromEntries(full.map((month) => [month.name, month.held])),
  };
}

// What a transaction wrote nobody else counts: by what autovacuum finds meanwhile, joins would be planned for a row or two.
test.each([
  ['prediction', ['pm_trade']],
  ['perps', ['perp_fill', 'perp_match']],
  ['lp', ['lp_event', 'lp_swap']],
] as const)('facts of %s that are loaded at once are counted before they are added up', async (name: VenueName, tables) => {
  const venue = wingOf(name);
  const world = { seed: 5, size: 6_000, start: START };
  const before = await pagesOf(name, world, new Date(START.getTime() + DAY_MS));
  const pages = await pagesOf(name, world, new Date(START.getTime() + 4 * DAY_MS));
  const db = await testDatabase();
  try {
    for (const { source, page } of before) await loadPage(db.pool, name, source, page(), quiet);
    await backfill(db.pool, venue, async (load) => {
      for (const { source, page } of pages) await load(source, page(), quiet);
      const { believed } = await countsOf(db.pool, tables);
      for (const month of Object.keys(believed)) await db.pool.query(`ANALYZE ${month}`);
    });
    const { believed, held } = await countsOf(db.pool, tables);
    expect(Object.values(held).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(300);
    expect(believed).toEqual(held);
  } finally {
    await db.drop();
  }
});

// Days before are all counted: a day that nobody has counted would be taken for one of no rows, and what joins its scores be planned for one.
test.each(['prediction', 'perps', 'lp'] as const)(
  'scores of a run of %s are counted before anything is told by them',
  async (name: VenueName) => {
    const venue = wingOf(name);
    const day = (days: number): Date => new Date(START.getTime() + days * DAY_MS);
    const db = await testDatabase();
    try {
      await loadWorld(db.pool, name, 6_000, START, day(7));
      for (const days of [5, 6]) await venue.score?.(db.pool, day(days), () => undefined);
      await db.pool.query(`ANALYZE ${venue.scoreTable}`);
      await venue.score?.(db.pool, day(7), () => undefined);
      const ofDay = `SELECT 1 FROM ${venue.scoreTable} WHERE day = '${day(7).toISOString().slice(0, 10)}'`;
      const { rowCount } = await db.pool.query(ofDay);
      const { rows } = await db.pool.query<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }>(`EXPLAIN (FORMAT JSON) ${ofDay}`);
      expect(rowCount).toBeGreaterThan(20);
      expect(rows[0]?.['QUERY PLAN'][0].Plan['Plan Rows']).toBe(rowCount);
    } finally {
      await db.drop();
    }
  },
);
