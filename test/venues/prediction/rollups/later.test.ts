import type { Pool } from 'pg';
import { seededRandom } from '../../../support/random';
import { prediction } from '../../../../src/venues/prediction/index';
import { addReport, backfill, emptyReport } from '../../../../src/workers/ingest';
import { pageOf } from '../../../../src/workers/pages';
import type { IngestReport } from '../../../../src/workers/source';
import { loadPage } from '../../../support/load-page';
import { testDatabase } from '../../../support/database';
import { differencesOf, dumpOf, keptTables } from '../../../support/dump';
import { type LoadablePage, pagesOf } from '../../../support/world-pages';
import { NOW, iso, market, move, trade } from '../small-world';

const DAY = 86_400_000;
const start = new Date('2026-01-29T00:00:00Z');
const quiet = { progress: () => undefined };

/** By pages: report of all of them. */
async function pageByPage(pool: Pool, pages: readonly LoadablePage[]): Promise<IngestReport> {
  const total = emptyReport();
  for (const { source, page } of pages) addReport(total, await loadPage(pool, prediction.name, source, page(), quiet));
  return total;
}

const atOnce = (pool: Pool, pages: readonly LoadablePage[]): Promise<IngestReport> =>
  backfill(pool, prediction, async (load) => {
    const total = emptyReport();
    for (const { source, page } of pages) addReport(total, await load(source, page(), quiet));
    return total;
  });

/** What two stores differ in; indexes and partitions of pm_trade included. */
async function compared(one: Pool, other: Pool): Promise<unknown> {
  const shape = async (pool: Pool): Promise<string[]> =>
    (
      await pool.query<{ line: string }>(
        `SELECT tablename || ' ' || replace(replace(indexdef, indexname, ''), ' ON ONLY ', ' ON ') AS line FROM pg_indexes WHERE tablename ~ '^pm_(trade|position|wallet_hour|token_hour|market_day|category_volume)' ORDER BY 1`,
      )
    ).rows.map(({ line }) => line);
  expect(await shape(one)).toEqual(await shape(other));
  const tables = await keptTables(one, 'prediction');
  return differencesOf(await dumpOf(one, tables), await dumpOf(other, tables));
}

/** Markets of one group, and wallets that trade, split, merge, convert and redeem on them in two months. */
function groupPages(): LoadablePage[] {
  const random = seededRandom(11);
  const markets = [1, 3, 4].map(
    (n) =>
    market(n, { negRisk: true, negRiskMarketID: 'group', ...(n === 3 ? { closed: true, outcomePrices: '["1", "0"]', closedTime: iso(NOW - 40_000), umaResolutionStatus: 'resolved' } : {}) }), // prettier-ignore
  );
  const rows = Array.from({ length: 240 }, (_, n) => {
    const [on, by, ago] = [[1, 3, 4][Math.floor(random() * 3)] as number, 1 + Math.floor(random() * 5), Math.floor(random() * 15 * 86_400)];
    const kind = ['BUY', 'BUY', 'BUY', 'SELL', 'SPLIT', 'MERGE', 'CONVERSION', 'REDEEM'][Math.floor(random() * 8)] as string;
    const size = 1 + Math.floor(random() * 50);
    if (kind === 'BUY' || kind === 'SELL')
      return [trade(n, on, random() < 0.3 ? 0 : 1, by, kind, size, 0.2 + Math.floor(random() * 60) / 100, ago)];
    if (kind !== 'CONVERSION') return [move(n, on, by, kind, size, size, ago)];
    // One transaction gives away the No shares of two markets.
    return [1, 3].map((given) => move(n, given, by, kind, size, 0, ago));
  }).flat();
  const of = (name: string, records: unknown[]): LoadablePage => {
    const activity = records.some((row) => 'type' in (row as object));
    const source = prediction.sources[name.startsWith('markets') ? 0 : activity ? 1 : 2] as LoadablePage['source'];
    return { name, source, page: () => pageOf(name, 'json', records) };
  };
  const moves = rows.filter((row) => 'type' in row);
  return [of('trades.json', rows.filter((row) => !('type' in row))), of('markets.json', markets), of('activity.json', moves)]; // prettier-ignore
}

describe('rollups made once, at the end of a load', () => {
  let [one, other]: Awaited<ReturnType<typeof testDatabase>>[] = [];
  beforeEach(async () => {
    [one, other] = await Promise.all([testDatabase(), testDatabase()]);
  });
  afterEach(() => Promise.all([one?.drop(), other?.drop()]));
  const stores = (): [Pool, Pool] => [(one as { pool: Pool }).pool, (other as { pool: Pool }).pool];

  test('leave what pages leave one by one: over two months, with pages that come twice', async () => {
    const [kept, later] = stores();
    const pages = await pagesOf('prediction', { seed: 3, size: 12_000, start }, new Date(start.getTime() + 6 * DAY));
    const twice = [...pages, ...pages.slice(3, 9)];
    const report = await pageByPage(kept, twice);
    expect(report.duplicates).toBeGreaterThan(50);
    expect(await atOnce(later, twice)).toEqual(report);
    expect(await compared(kept, later)).toEqual({});
  });

  test('also on top of facts that were there, with late ones, and page by page after it', async () => {
    const [kept, later] = stores();
    const pages = await pagesOf('prediction', { seed: 4, size: 12_000, start }, new Date(start.getTime() + 6 * DAY));
    const third = Math.floor(pages.length / 3);
    const [early, middle, late] = [pages.slice(0, third), pages.slice(third, 2 * third), pages.slice(2 * third)];
    await pageByPage(kept, [...middle, ...late, ...early]);
    await pageByPage(later, middle);
    await atOnce(later, [...late, ...middle.slice(0, 5), ...early.slice(5)]);
    await pageByPage(later, early);
    expect(await compared(kept, later)).toEqual({});
  });

  test('and where conversions tie the markets of a group together', async () => {
    const [kept, later] = stores();
    const pages = groupPages();
    expect(await atOnce(later, pages)).toEqual(await pageByPage(kept, pages));
    const { rows } = await later.query('SELECT count(*)::int AS n FROM pm_position WHERE gain_conversion <> 0');
    expect((rows[0] as { n: number }).n).toBeGreaterThan(3);
    expect(await compared(kept, later)).toEqual({});
  });

  test('a load that fails leaves nothing', async () => {
    const [, later] = stores();
    const [page] = groupPages() as [LoadablePage];
    const failing = backfill(later, prediction, async (load) => {
      await load(page.source, page.page(), quiet);
      throw new Error('torn');
    });
    await expect(failing).rejects.toThrow('torn');
    const { rows } = await later.query("SELECT count(*)::int AS n FROM pg_class WHERE relname LIKE 'pm_trade_2%'");
    expect(rows).toEqual([{ n: 0 }]);
  });
});
