import type { Pool } from 'pg';
import { type Figure, printTable, timed } from './measure';
import { rebuildWorld, watchMemory } from './world-build';
import { openBenchWorld, VENUES } from './worlds';

/** Sizes of the worlds that are rebuilt, about. */
const SIZES = (process.env.BENCH_SIZES ?? '100000').split(',').map(Number);

// Facts, catalogues and what jobs write, or tell again after a rebuild (columns `most_pnl_…` too), are not rollups; neither is the world's own mark.
const NOT_ROLLUPS =
  /^(_prisma_migrations|bench_world|payment\w*|source_cursor|snapshot|signal\w*|\w+_score|pm_insider|pm_follow_\w+|pm_market_norm|pm_told_\w+|pm_crowd\w*|pm_settled_\w+|pm_smart_\w*hour|\w+_standing\w*|perp_role|perp_dealt\w*)$/;

/** A digest of each table's rows in any order: numbers by value, not by how many zeros end them. */
async function digests(pool: Pool): Promise<Map<string, string>> {
  const { rows } = await pool.query<{ name: string; columns: string }>(
    `SELECT c.relname AS name, string_agg(CASE WHEN a.atttypid = 'numeric'::regtype THEN format('trim_scale(%I)', a.attname) ELSE quote_ident(a.attname) END, ', ' ORDER BY a.attnum) AS columns
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attname NOT LIKE 'most\\_pnl\\_%'
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition GROUP BY 1 ORDER BY 1`,
  );
  const found = new Map<string, string>();
  for (const { name, columns } of rows.filter((table) => !NOT_ROLLUPS.test(table.name))) {
    const digest = await pool.query<{ digest: string }>(
      `SELECT count(*) || ' ' || coalesce(sum(hashtextextended(ROW(${columns})::text, 0)::numeric), 0) AS digest FROM ${name}`,
    );
    if (!digest.rows[0]?.digest.startsWith('0 ')) found.set(name, digest.rows[0]?.digest as string);
  }
  return found;
}

test('rebuilding from facts', async () => {
  const figures: Figure[] = [];
  for (const size of SIZES) {
    for (const venue of VENUES) {
      const world = await openBenchWorld(venue, size);
      try {
        const before = await digests(world.pool);
        const memory = watchMemory();
        const { seconds } = await timed(() => rebuildWorld(world.pool, venue));
        const peak = memory.stop();
        const after = await digests(world.pool);
        // What jobs tell is gone: who measures answers next has it told again.
        await world.pool.query('DELETE FROM snapshot WHERE venue = $1', [venue]);
        const changed = [...new Set([...before.keys(), ...after.keys()])].filter((table) => before.get(table) !== after.get(table));
        const { load_s, score_s, database_mb, peak_rss_mb } = world.built;
        figures.push({
          what: venue,
          facts: world.facts,
          'load s': load_s.toFixed(0),
          'load MB': peak_rss_mb,
          'score s': score_s.toFixed(1),
          'rebuild s': seconds.toFixed(1),
          'facts/s': Math.round(world.facts / seconds),
          'rebuild MB': peak,
          'database MB': database_mb,
          'differs from the incremental state': changed.join(' ') || 'no',
        });
      } finally {
        await world.close();
      }
    }
  }
  printTable('Load, score and rebuild as worlds grow', figures);
});
