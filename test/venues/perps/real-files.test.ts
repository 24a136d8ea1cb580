import fs from 'node:fs';
import zlib from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { rowCounts } from '../../../src/db/row-counts';
import { perps } from '../../../src/venues/perps/index';
import { upstreamFill } from '../../support/converters/perps/full-columns';
import { testDatabase } from '../../support/database';
import { testWithRealData } from '../../support/real-data';
import { load, loadFile, type TestDatabase } from './support';

let db: TestDatabase;
beforeEach(async () => {
  db = await testDatabase();
});
afterEach(() => db.drop());

const textOf = (file: string): string =>
  (file.endsWith('.gz') ? zlib.gunzipSync(fs.readFileSync(file)) : fs.readFileSync(file)).toString('utf8');
const count = async (text: string): Promise<number> =>
  Number((await db.pool.query<{ n: string }>(`SELECT count(*) AS n FROM ${text}`)).rows[0]?.n);

/** Fills that do not start where the account's fill before them ended. */
const BROKEN = `(SELECT start_position - lag(start_position + CASE WHEN is_buy THEN size ELSE -size END) OVER (PARTITION BY coin, trader ORDER BY timestamp, seq) AS gap, size
  FROM perp_fill) f WHERE abs(gap) > 1e-9 * greatest(size, 1)`;
/** Fills whose label says something else than their position and side. */
const MISLABELLED = `perp_fill WHERE dir <> CASE
  WHEN open_size > 0 AND open_size < size THEN CASE WHEN is_buy THEN 'Short > Long' ELSE 'Long > Short' END
  WHEN open_size = 0 THEN CASE WHEN is_buy THEN 'Close Short' ELSE 'Close Long' END
  ELSE CASE WHEN is_buy THEN 'Open Long' ELSE 'Open Short' END END`;

interface ArchiveFill {
  coin: string;
  px: string;
  sz: string;
  crossed: boolean;
  tid: number;
  side: string;
}

testWithRealData('the archive of fills by block', 'real/perps/node-fills-by-block-2025-10-27T17.ndjson.gz', async (file) => {
  const events = textOf(file).trim().split('\n').flatMap((line) => (JSON.parse(line) as { events: [string, ArchiveFill][] }).events); // prettier-ignore
  const perpetual = events.filter(([, { coin }]) => !/[@/]/.test(coin));
  const takers = perpetual.filter(([, { crossed }]) => crossed).map(([, fill]) => fill);
  expect([events.length, perpetual.length, takers.length]).toEqual([7_282, 6_766, 3_383]);

  expect(await loadFile(db.pool, file)).toEqual({
    source: 'perps.fills_by_block',
    read: 7_282,
    inserted: 6_766,
    duplicates: 0,
    skipped: { spot: 516 },
  });
  expect(await loadFile(db.pool, file)).toEqual({
    source: 'perps.fills_by_block',
    read: 7_282,
    inserted: 0,
    duplicates: 6_766,
    skipped: { spot: 516 },
  });
  expect(await rowCounts(db.pool, perps.factTables, 60_000)).toEqual({
    perp_fill: 6_766,
    perp_match: 3_383,
    perp_coin: new Set(takers.map(({ coin }) => coin)).size,
  });
  expect(await perps.freshness(db.pool)).toEqual({
    last_event_at: new Date('2025-10-27T17:01:20.764Z'),
    watermark: new Date('2025-10-27T17:01:20.764Z'),
  });

  const volume = takers.reduce((sum, { px, sz }) => sum + Number(px) * Number(sz), 0);
  const { rows } = await db.pool.query<{ volume: string; bought: string; liquidated: string }>(
    'SELECT sum(usd_value) AS volume, sum(usd_value) FILTER (WHERE taker_is_buy) AS bought, sum(usd_value) FILTER (WHERE is_liquidation) AS liquidated FROM perp_match',
  );
  expect(Number(rows[0]?.volume)).toBeCloseTo(volume, 4);
  expect(Number(rows[0]?.bought)).toBeCloseTo(
    takers.reduce((sum, { px, sz, side }) => sum + (side === 'B' ? Number(px) * Number(sz) : 0), 0),
    4,
  );
  expect(Number(rows[0]?.liquidated)).toBeCloseTo(0.15327 * 890, 6);
  expect(await count('perp_fill WHERE is_liquidation')).toBe(1);
  expect(await count(MISLABELLED)).toBe(0);
  expect(await count(BROKEN)).toBe(0);
});

testWithRealData(
  'the archive without its trade ids, account by account: matches that have a transaction count once',
  'real/perps/node-fills-by-block-2025-10-27T17.ndjson.gz',
  async (file) => {
    const events = textOf(file).trim().split('\n').flatMap((line) => (JSON.parse(line) as { events: [string, ArchiveFill][] }).events); // prettier-ignore
    const fills = events
      .filter(([, { coin }]) => !/[@/]/.test(coin))
      .map(([user, fill]): [string, object] => [user, { ...fill, tid: undefined }]);
    const accounts = [...new Set(fills.map(([user]) => user))];
    const pages = [0, 1, 2, 3].map((part) => fills.filter(([user]) => accounts.indexOf(user) % 4 === part));
    for (const page of pages) await load(db.pool, page);
    const slices = await count('perp_fill WHERE tx_hash IS NULL');
    expect([await count('perp_fill'), await count('perp_match'), slices]).toEqual([6_766, (6_766 - slices) / 2 + slices, 822]);
  },
);

testWithRealData('the first blocks of it, then the whole', 'samples/perps/node_fills_by_block.first3.ndjson', async (file) => {
  const events = textOf(file).trim().split('\n').flatMap((line) => (JSON.parse(line) as { events: unknown[] }).events); // prettier-ignore
  expect(await loadFile(db.pool, file)).toEqual({
    source: 'perps.fills_by_block',
    read: events.length,
    inserted: events.length,
    duplicates: 0,
    skipped: {},
  });
});

testWithRealData('one account as CSV: 2,000 fills four times over', 'real/perps/fills-whale-0xb317-2025-12-09.csv.gz', async (file) => {
  const lines = textOf(file).trim().split('\n').slice(1);
  expect([lines.length, new Set(lines).size]).toEqual([8_000, 2_000]);
  expect(await loadFile(db.pool, file, '0xB317D2BC2D3d2Df5Fa441B5bAE0AB9d8b07283ae')).toEqual({
    source: 'perps.user_fills',
    read: 8_000,
    inserted: 2_000,
    duplicates: 6_000,
    skipped: {},
  });
  expect(await count('perp_fill WHERE tx_hash IS NULL')).toBe(new Set(lines.filter((line) => line.includes(`0x${'0'.repeat(64)}`))).size);
  expect(await count(MISLABELLED)).toBe(0);
  expect(await count(BROKEN)).toBe(0);
  expect(await loadFile(db.pool, file)).toMatchObject({ read: 8_000, inserted: 0, duplicates: 0, skipped: { no_account: 8_000 } });
});

testWithRealData('recorded exchanges of 2023', 'samples/perps/python-sdk/get_user_fills.json', async (file) => {
  const { response } = JSON.parse(textOf(file)) as { response: unknown[] };
  expect(await loadFile(db.pool, file)).toEqual({
    source: 'perps.user_fills',
    read: response.length,
    inserted: response.length,
    duplicates: 0,
    skipped: {},
  });
  // The same account over a time: the same fills, page by page.
  const byTime = file.replace('get_user_fills', 'get_user_fills_by_time');
  expect(await loadFile(db.pool, byTime)).toEqual({ source: 'perps.user_fills', read: 300, inserted: 0, duplicates: 300, skipped: {} });
  expect(await count(MISLABELLED)).toBe(0);
  expect(await count('perp_fill WHERE tid > 0')).toBe(0);
});

testWithRealData('the catalogue', 'samples/perps/python-sdk/get_info.json', async (file) => {
  const { response } = JSON.parse(textOf(file)) as { response: { universe: unknown[] } };
  expect(await loadFile(db.pool, file)).toEqual({
    source: 'perps.meta',
    read: response.universe.length,
    inserted: response.universe.length,
    duplicates: 0,
    skipped: {},
  });
});

testWithRealData('a liquidation told by websocket', 'samples/perps/nautilus/ws_user_fill_liquidation.json', async (file) => {
  expect(await loadFile(db.pool, file)).toEqual({
    source: 'perps.user_fills',
    read: 1,
    inserted: 0,
    duplicates: 0,
    skipped: { no_account: 1 },
  });
  expect(await loadFile(db.pool, file, `0x${'1'.repeat(40)}`)).toMatchObject({ read: 1, inserted: 1 });
  // The account is on the other side of it.
  expect(await count('perp_fill WHERE NOT is_liquidation')).toBe(1);
  expect(await count('perp_match WHERE is_liquidation AND NOT taker_is_buy IS NULL')).toBe(1);
});

testWithRealData('spot among perpetuals', 'samples/perps/nautilus/http_user_fills_dust_conversion.json', async (file) => {
  expect(await loadFile(db.pool, file, `0x${'1'.repeat(40)}`)).toEqual({
    source: 'perps.user_fills',
    read: 5,
    inserted: 3,
    duplicates: 0,
    skipped: { spot: 2 },
  });
});

testWithRealData(
  'four accounts over seven months, from an export without trade ids',
  'real/perps/fills-full-columns-2024_2025.csv.gz',
  async (file) => {
    const fills = parse<Record<string, string>>(textOf(file), { columns: true }).map(upstreamFill);
    const spot = fills.filter(([, { coin }]) => (coin as string).startsWith('@')).length;
    const distinct = new Set(fills.filter(([, { coin }]) => !(coin as string).startsWith('@')).map((fill) => JSON.stringify(fill))).size;
    expect([fills.length, spot]).toEqual([15_629, 1_099]);
    expect(await load(db.pool, fills)).toEqual({
      source: 'perps.node_fills',
      read: 15_629,
      inserted: distinct,
      duplicates: 15_629 - spot - distinct,
      skipped: { spot },
    });
    expect(await load(db.pool, fills)).toMatchObject({ inserted: 0, duplicates: 15_629 - spot });
    expect(await count(MISLABELLED)).toBe(0);
  },
);
