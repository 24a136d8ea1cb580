import type { Pool } from 'pg';
import { inTransaction } from '../../src/db/transaction';
import { backfill } from '../../src/workers/ingest';
import type { VenueName } from '../../src/lib/venue-name';
import type { RecordedSource } from '../../src/workers/source';
import { loadPage } from '../support/load-page';
import { testDatabase } from '../support/database';
import { differencesOf, dumpOf, keptTables } from '../support/dump';
import { until } from '../support/feeds';
import { wingOf } from '../support/world';
import { type LoadablePage, pagesOf } from '../support/world-pages';

jest.setTimeout(300_000);

// A first load beside a feed that tells of the same markets, coins and pools in another order: each takes its turn, none waits crosswise.

const START = new Date('2026-03-01T00:00:00Z');
const quiet = { progress: () => undefined };

const isWaiting = async (pool: Pool): Promise<boolean> =>
  (await pool.query("SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")).rows.length > 0;

/** Pages as one transaction of a feed loads them, which after the first of them waits until somebody else waits for it. */
const feedOf = (pool: Pool, pages: readonly LoadablePage[]): RecordedSource => ({
  ...(pages[0] as LoadablePage).source,
  async load(_page, client, options) {
    const reports = [];
    for (const [index, { source, page }] of pages.entries()) {
      if (index === 1) await until(() => isWaiting(pool), 'the other writer waits');
      reports.push(await source.load(page(), client, options));
    }
    return reports[0] as Awaited<ReturnType<RecordedSource['load']>>;
  },
});

test.each([
  ['prediction', 2.5],
  ['perps', 1.5],
  ['lp', 1.5],
] as const)('%s', async (name: VenueName, days) => {
  const venue = wingOf(name);
  const pages = await pagesOf(name, { seed: 1, size: 6_000, start: START }, new Date(START.getTime() + days * 86_400_000));
  const [both, alone] = [await testDatabase(), await testDatabase()];
  try {
    const backwards = [...pages].reverse();
    const feed = loadPage(both.pool, name, feedOf(both.pool, backwards), (backwards[0] as LoadablePage).page(), quiet);
    await until(async () => !(await isFree(both.pool, name)), 'the feed writes');
    const load = backfill(both.pool, venue, async (store) => {
      for (const { source, page } of pages) await store(source, page(), quiet);
    });
    await Promise.all([feed, load]);
    for (const { source, page } of pages) await loadPage(alone.pool, name, source, page(), quiet);
    const tables = await keptTables(alone.pool, name);
    expect(differencesOf(await dumpOf(both.pool, tables), await dumpOf(alone.pool, tables))).toEqual({});
  } finally {
    await Promise.all([both.drop(), alone.drop()]);
  }
});

/** Whether no writer has the venue's turn. */
async function isFree(pool: Pool, venue: VenueName): Promise<boolean> {
  const { rows } = await pool.query<{ free: boolean }>(
    `SELECT NOT EXISTS (SELECT FROM pg_locks JOIN pg_database AS d ON d.oid = database WHERE datname = current_database()
       AND locktype = 'advisory' AND objid::bigint = hashtext($1)::bigint & 4294967295 AND granted) AS free`,
    [`${venue} rollups`],
  );
  return rows[0]?.free === true;
}

// A store may hold a venue of which nothing has happened yet, or nobody is smart.
test.each(['prediction', 'perps', 'lp'] as const)(
  '%s is rebuilt beside its readers, of tables without a row too',
  async (name: VenueName) => {
    const db = await testDatabase();
    try {
      const locked = await inTransaction(db.pool, async (client) => {
        await wingOf(name).rebuild?.(client);
        const { rows } = await client.query<{
          name: string;
        }>(`SELECT DISTINCT relname AS name FROM pg_locks JOIN pg_class ON pg_class.oid = relation
WHERE pid = pg_backend_pid() AND mode = 'AccessExclusiveLock' AND relpersistence <> 't'`);
        return rows;
      });
      expect(locked).toEqual([]);
    } finally {
      await db.drop();
    }
  },
);
