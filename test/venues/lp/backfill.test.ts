import type { Pool } from 'pg';
import { randomOf } from '../../../src/sandbox/simulator/world';
import type { WorldPage } from '../../../src/sandbox/simulator/world';
import { lpOf } from '../../../src/venues/lp';
import { addReport, backfill, emptyReport, type PageLoader, recognise } from '../../../src/workers/ingest';
import type { IngestReport } from '../../../src/workers/source';
import { loadPage } from '../../support/load-page';
import { testDatabase } from '../../support/database';
import { named } from './chain-writer';
import { pageOf } from './load';
import { ANNA, BEN, CARA, dlmmSwap, liquidity, pairs, positionCreate, tokenList, tx, ZED, ZED_USDC } from './pages';
import { simulated } from './world';

const lp = lpOf([]);

type Loaded = (pool: Pool, pages: readonly WorldPage[]) => Promise<IngestReport[]>;

/** Loads pages one after the other; what became of each. */
async function loadAll(load: PageLoader, pages: readonly WorldPage[]): Promise<IngestReport[]> {
  const reports: IngestReport[] = [];
  for (const { name, records, format } of pages) {
    const { source, page } = await recognise(lp, pageOf(name, records, format));
    if (source === null) throw new Error(`no source recognises ${name}`);
    reports.push(await load(source, page, { progress: () => undefined }));
  }
  return reports;
}

const pageByPage: Loaded = (pool, pages) => loadAll((source, page, options) => loadPage(pool, lp.name, source, page, options), pages);
const allAtOnce: Loaded = (pool, pages) => backfill(pool, lp, (load) => loadAll(load, pages));

/** Every row of every table of the venue, by table, as text and in one order; digits as they are, zeros at their end aside. */
async function tables(pool: Pool): Promise<Record<string, string[]>> {
  const { rows } = await pool.query<{ name: string; columns: string }>(
    `SELECT c.relname AS name, string_agg(CASE WHEN a.atttypid = 'numeric'::regtype THEN format('trim_scale(%I)', a.attname) ELSE quote_ident(a.attname) END, ', ' ORDER BY a.attnum) AS columns
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname ~ '^(lp_|dca_|token_)' GROUP BY 1`,
  );
  const all: Record<string, string[]> = {};
  for (const { name, columns } of rows) {
    const found = await pool.query<{ row: string }>(`SELECT ROW(${columns})::text AS row FROM ${name} ORDER BY 1`);
    all[name] = found.rows.map(({ row }) => row);
  }
  const cursors = await pool.query<{ row: string }>(
    'SELECT ROW(source, cursor, watermark, last_event_at)::text AS row FROM source_cursor ORDER BY 1',
  );
  return { ...all, source_cursor: cursors.rows.map(({ row }) => row) };
}

/** Indexes of the venue's tables and of their partitions, without their names. */
async function indexes(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ definition: string }>(
    `SELECT regexp_replace(indexdef, 'INDEX \\S+ ON', 'INDEX ON') AS definition FROM pg_indexes WHERE schemaname = 'public' AND tablename ~ '^(lp_|dca_|token_)' ORDER BY 1`,
  );
  return rows.map(({ definition }) => definition);
}

const page = (name: string, records: unknown[]): WorldPage => ({ name, format: 'json', records, facts: records.length });

const sumOf = (reports: readonly IngestReport[]): IngestReport => {
  const total = emptyReport();
  for (const report of reports) addReport(total, report);
  return total;
};

/** A part of the pages comes out of its order, and another twice. */
function disturbed(pages: readonly WorldPage[]): WorldPage[] {
  const random = randomOf(5, 'disturbed');
  const late = pages.map((page, i) => ({ page, at: random() < 0.2 ? i + 40 * random() : i }));
  return late.sort((a, b) => a.at - b.at).flatMap(({ page }) => (random() < 0.2 ? [page, page] : [page]));
}

describe('a world whose rollups come at the end of its load', () => {
  const { pages } = simulated(5_000, 10);
  const disorder = disturbed(pages);
  let one: Awaited<ReturnType<typeof testDatabase>>;
  let other: Awaited<ReturnType<typeof testDatabase>>;

  beforeEach(async () => {
    [one, other] = await Promise.all([testDatabase(), testDatabase()]);
  });
  afterEach(async () => {
    await one.drop();
    await other.drop();
  });

  const half = Math.floor(disorder.length / 2);
  const loads: [string, WorldPage[], WorldPage[]][] = [
    ['in order', [], pages],
    ['with late and repeated pages', [], disorder],
    ['on top of what was loaded page by page', disorder.slice(0, half), [...disorder.slice(half - 20), ...pages.slice(0, 15)]],
    ['before nothing but known pages', disorder, disorder.slice(0, 30)],
  ];

  it.each(loads)('is the world loaded page by page: %s', async (_, before, rest) => {
    await Promise.all([pageByPage(one.pool, before), pageByPage(other.pool, before)]);
    const [paged, whole] = await Promise.all([pageByPage(one.pool, rest), allAtOnce(other.pool, rest)]);
    expect(whole).toEqual(paged);
    expect(sumOf(whole).read).toBeGreaterThan(100);
    const [expected, found] = [await tables(one.pool), await tables(other.pool)];
    for (const table of Object.keys(expected)) expect({ [table]: found[table] }).toEqual({ [table]: expected[table] });
    expect(await indexes(other.pool)).toEqual(await indexes(one.pool));
    for (const table of ['lp_event', 'lp_swap', 'token_price', 'lp_owner_hour', 'lp_position_sum', 'dca_order'])
      expect(found[table]?.length).toBeGreaterThan(5);
  });

  it('tells what facts on record are worth where nothing but tokens, or a price, is loaded after them', async () => {
    const facts = [
      tx('swap', '2026-03-05T10:00:00Z', BEN, dlmmSwap(ZED_USDC, BEN, 0, 5_000_000, 5_000_000, true, 0)),
      tx('deposit', '2026-03-05T12:00:00Z', ANNA, liquidity('AddLiquidity', ZED_USDC, ANNA, named('position'), 1_000_000, 0, 0)),
    ];
    const listed = { address: ZED, symbol: 'ZED', name: 'Zed', decimals: 6, usdPrice: 3 };
    const usd = async (): Promise<unknown> =>
      (await other.pool.query('SELECT (SELECT usd::float8 FROM lp_swap) AS swap, (SELECT usd::float8 FROM lp_event) AS deposit')).rows[0];
    for (const { pool } of [one, other]) await pageByPage(pool, [page('pairs.json', pairs), page('facts.json', facts)]);
    for (const [told, worth] of [
      [page('tokens.json', tokenList), { swap: 5, deposit: null }],
      [page('tokens_2026-03-05T11-30-00Z.json', [listed]), { swap: 5, deposit: 3 }],
    ] as const) {
      await Promise.all([pageByPage(one.pool, [told]), allAtOnce(other.pool, [told])]);
      expect(await usd()).toEqual(worth);
      expect(await tables(other.pool)).toEqual(await tables(one.pool));
    }
  });

  it('counts whose a position is as new where nothing, on record or waiting, has told it, and knows who was told last', async () => {
    const [first, second] = [named('first position'), named('second position')];
    const told = (address: string, owner: string): unknown => ({ address, pair_address: ZED_USDC, owner });
    const opened = (name: string, at: string, payer: string, position: string, owner: string): WorldPage =>
      page(`${name}.json`, [
        tx(
          name,
          at,
          payer,
          positionCreate(ZED_USDC, position, owner),
          liquidity('AddLiquidity', ZED_USDC, payer, position, 1_000_000, 0, 0),
        ),
      ]);
    const [before, rest] = [
      [
        page('pairs.json', pairs),
        page('known.json', [tx('0', '2026-03-05T09:00:00Z', BEN, liquidity('AddLiquidity', ZED_USDC, BEN, second, 1, 0, 0))]),
      ],
      [
        opened('late', '2026-03-05T11:00:00Z', BEN, first, BEN),
        opened('early', '2026-03-05T10:00:00Z', ANNA, first, ANNA),
        page('owners_1.json', [told(first, BEN)]),
        opened('other', '2026-03-05T12:00:00Z', BEN, second, ANNA),
        page('owners_2.json', [told(first, ANNA), told(second, ANNA), told(named('third position'), CARA)]),
      ],
    ] as const;
    await Promise.all([pageByPage(one.pool, before), pageByPage(other.pool, before)]);
    const [paged, whole] = await Promise.all([pageByPage(one.pool, rest), allAtOnce(other.pool, rest)]);
    expect(whole).toEqual(paged);
    expect(whole.map(({ inserted }) => inserted)).toEqual([2, 2, 0, 2, 1]);
    expect(await tables(other.pool)).toEqual(await tables(one.pool));
    const owners = 'SELECT position_address, owner FROM lp_position UNION SELECT position_address, owner FROM lp_event ORDER BY 1, 2';
    const expected = [
      [first, BEN],
      [named('third position'), CARA],
      [second, ANNA],
    ].map(([position_address, owner]) => ({ position_address, owner }));
    expect((await other.pool.query(owners)).rows).toEqual(expect.arrayContaining(expected));
    expect((await other.pool.query(owners)).rows).toHaveLength(3);
  });
});
