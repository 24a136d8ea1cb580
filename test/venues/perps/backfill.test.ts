import type { Pool } from 'pg';
import { perpsWorld } from '../../../src/sandbox/simulator/perps';
import type { WorldPage } from '../../../src/sandbox/simulator/world';
import { perps } from '../../../src/venues/perps/index';
import { type PageLoader, backfill, recognise, together } from '../../../src/workers/ingest';
import { pageOf } from '../../../src/workers/pages';
import type { IngestReport } from '../../../src/workers/source';
import { loadPage } from '../../support/load-page';
import { testDatabase } from '../../support/database';
import { fillsOf } from './recount';
import { type TestDatabase, trader, wireFill } from './support';

// A first load of much, whose rollups are told once at its end, and pages that share a transaction must leave what pages leave that are loaded one by one.

const KEPT = `
SELECT c.relname AS name, string_agg(CASE WHEN a.atttypid = 'numeric'::regtype THEN format('trim_scale(%I) AS %I', a.attname, a.attname) ELSE quote_ident(a.attname) END, ', ' ORDER BY a.attnum) AS columns
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname ~ '^perp_' GROUP BY 1 ORDER BY 1`;

/** Every row of every table of the wing, cursors and index definitions too; numbers by value. */
async function stored(pool: Pool): Promise<Record<string, unknown[]>> {
  const { rows: tables } = await pool.query<{ name: string; columns: string }>(KEPT);
  const all: Record<string, unknown[]> = {};
  for (const { name, columns } of tables)
    all[name] = (await pool.query(`SELECT ${columns} FROM ${name} ORDER BY ROW(${name}.*)::text COLLATE "C"`)).rows;
  all.cursors = (await pool.query('SELECT source, venue, cursor, watermark, last_event_at FROM source_cursor ORDER BY source')).rows;
  all.indexes = (await pool.query("SELECT indexname, indexdef FROM pg_indexes WHERE tablename ~ '^perp_' ORDER BY 1")).rows;
  return all;
}

type Page = Pick<WorldPage, 'name' | 'format' | 'records'>;

const loadAll = async (pages: readonly Page[], load: PageLoader): Promise<IngestReport[]> => {
  const reports: IngestReport[] = [];
  for (const { name, format, records } of pages) {
    const { source, page } = await recognise(perps, pageOf(name, format, records));
    if (source !== null) reports.push(await load(source, page, { progress: () => undefined }));
  }
  return reports;
};

const pageByPage = (pool: Pool, pages: readonly Page[]): Promise<IngestReport[]> =>
  loadAll(pages, (source, page, options) => loadPage(pool, perps.name, source, page, options));

async function atOnce(pool: Pool, pages: readonly Page[]): Promise<IngestReport[]> {
  let reports: IngestReport[] = [];
  await backfill(pool, perps, async (load) => {
    reports = await loadAll(pages, load);
  });
  return reports;
}

const inOne = (pool: Pool, pages: readonly Page[]): Promise<IngestReport[]> => together(pool, perps.name, (load) => loadAll(pages, load));

const START = new Date('2026-01-20T00:00:00Z');
// Over the end of a month: two partitions.
const PAGES: Page[] = [...perpsWorld({ seed: 9, size: 4_000, start: START }).pages(START, new Date('2026-02-08T07:00:00Z'))];
const BLOCKS = PAGES.filter(({ format }) => format === 'ndjson').flatMap(({ records }) => records);
const ndjson = (name: string, records: unknown[]): Page => ({ name, format: 'ndjson', records });

/** Fills of the busiest accounts one by one, newest first: late, and known already. */
function accountPages(): Page[] {
  const own = new Map<string, unknown[]>();
  for (const fill of fillsOf(PAGES as WorldPage[])) own.set(fill.user, [...(own.get(fill.user) ?? []), fill]);
  return [...own]
    .sort(([, a], [, b]) => b.length - a.length)
    .slice(0, 3)
    .map(([user, fills], index) => ndjson(`account-${index}`, [{ channel: 'userFills', data: { user, fills: [...fills].reverse() } }]));
}

const WORLDS: Record<string, { before: Page[]; pages: Page[] }> = {
  'in order': { before: [], pages: PAGES },
  'with every page twice, some blocks late and accounts told apart': {
    before: [],
    pages: [
      ndjson(
        'even',
        BLOCKS.filter((_, index) => index % 2 === 0),
      ),
      ...accountPages(),
      ...PAGES,
      ...PAGES,
      ndjson('broken', [...BLOCKS.slice(0, 5), { block_time: '2026-01-21T00:00:00', events: [['0x1', wireFill({})], null] }]),
    ],
  },
  'on top of what is loaded already': { before: PAGES.slice(0, 3), pages: [...PAGES.slice(2), ...accountPages()] },
  // What comes later stands between what came first.
  'from both ends of time': {
    before: [],
    pages: [ndjson('ends', [BLOCKS[0], BLOCKS.at(-1)]), ndjson('start', BLOCKS.slice(1, 40)), ndjson('rest', BLOCKS.slice(40, 400)), ndjson('again', BLOCKS.slice(30, 300)), ndjson('after', BLOCKS.slice(400, -1))],
  }, // prettier-ignore
  // The maker's side, seen first, does not say who took.
  'whose matches come to be known better': {
    before: [],
    pages: [
      ndjson('maker', [
        { channel: 'userFills', data: { user: trader('1'), fills: [wireFill({ tid: 7, side: 'B', crossed: undefined })] } },
      ]),
      ndjson('taker', [
        { channel: 'userFills', data: { user: trader('2'), fills: [wireFill({ tid: 7, side: 'A', crossed: true, liquidation: { liquidatedUser: trader('2') } })] } },
      ]), // prettier-ignore
    ],
  },
};

let [one, other]: TestDatabase[] = [];
beforeEach(async () => {
  [one, other] = [await testDatabase(), await testDatabase()];
});
afterEach(async () => {
  await one?.drop();
  await other?.drop();
});

describe.each([
  ['at once', atOnce],
  ['in one transaction', inOne],
])('%s', (_how, load) => {
  test.each(Object.entries(WORLDS))('%s', async (_what, { before, pages }) => {
    const [ours, theirs] = [one as TestDatabase, other as TestDatabase];
    await pageByPage(ours.pool, before);
    await pageByPage(theirs.pool, before);
    const reports = await load(ours.pool, pages);
    expect(reports).toEqual(await pageByPage(theirs.pool, pages));
    const kept = await stored(ours.pool);
    expect(kept).toEqual(await stored(theirs.pool));
    expect(kept.perp_fill?.length).toBeGreaterThan(1);
    expect(kept.perp_trader_life?.length).toBeGreaterThan(1);
  });
});

test('a load that fails leaves nothing, and every index in its place', async () => {
  const { pool } = one as TestDatabase;
  const empty = await stored(pool);
  const failing = backfill(pool, perps, async (load) => {
    await loadAll(PAGES.slice(0, 4), load);
    throw new Error('The disk is gone.');
  });
  await expect(failing).rejects.toThrow('The disk is gone.');
  expect(await stored(pool)).toEqual(empty);
});
