import { BEGINNING } from '../../../../src/lib/timeframe';
import { DAY_MS, HOUR_MS } from '../../../../src/lib/time';
import { meanLiquidity } from '../../../../src/venues/lp/queries/liquidity';
import { saveLiquidity } from '../../../../src/venues/lp/store/liquidity';
import { type TestDatabase, testDatabase } from '../../../support/database';
import { rowsRead } from '../../../support/plans';

const start = new Date('2026-01-20T00:00:00Z');
const DAYS = 100;
/** Of one pool each hour is told, of the other two of three; the second was made in the midst of a day. */
const pools = [
  { pool_address: 'often', created_at: new Date(start.getTime() - DAY_MS), told: 1 },
  { pool_address: 'seldom', created_at: new Date(start.getTime() + 3 * DAY_MS + 13.6 * HOUR_MS), told: 2 / 3 },
];
const records = pools.flatMap(({ pool_address, told }) =>
  Array.from({ length: DAYS * 24 }, (_, n) => n)
    .filter((n) => n % 3 < told * 3)
    .map((n) => ({ pool_address, usd: 1_000 + ((n * 7_919) % 1_013), as_of: new Date(start.getTime() + n * HOUR_MS + 35 * 60_000) })),
);

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
  await db.pool.query("SELECT ensure_month_partitions('lp_liquidity_hour', $1, $2)", [start, new Date(start.getTime() + DAYS * DAY_MS)]);
  for (const { pool_address, created_at } of pools)
    await db.pool.query("INSERT INTO lp_pool (pool_address, pool_type, created_at) VALUES ($1, 'dlmm', $2)", [pool_address, created_at]);
  const client = await db.pool.connect();
  const rows = records.map(({ usd, ...record }) => ({ ...record, liquidity_usd: String(usd) }));
  // Half of each day is told later.
  await saveLiquidity(client, rows.filter((_, n) => n % 2 === 0), false); // prettier-ignore
  await saveLiquidity(client, rows.filter((_, n) => n % 2 === 1), false); // prettier-ignore
  client.release();
  await db.pool.query('ANALYZE');
});
afterAll(() => db.drop());

/** From the records alone. */
function expected(pool: (typeof pools)[number], from: Date, to: Date): { usd: number | null; days: number } {
  const born = Math.max(from.getTime(), from.getTime() === BEGINNING.getTime() ? 0 : pool.created_at.getTime());
  const seen = records.filter(
    ({ pool_address, as_of }) => pool_address === pool.pool_address && as_of.getTime() >= born && as_of.getTime() < to.getTime(),
  );
  const usd = seen.length === 0 ? null : seen.reduce((sum, record) => sum + record.usd, 0) / seen.length;
  return { usd, days: (to.getTime() - born) / DAY_MS };
}

const windows = [0.2, 0.9, 5, 20, 24, 31, 47.5, 48, 49, 100, 24 * 30 + 0.3, 24 * 99].flatMap((hours) =>
  [0, 0.4, 0.6, 11.1, 24 * 40.02, 24 * 70].map((earlier) => {
    const to = new Date(start.getTime() + DAYS * DAY_MS - earlier * HOUR_MS);
    return { from: new Date(to.getTime() - hours * HOUR_MS), to };
  }),
);

test.each([true, false])('the mean liquidity of a window is that of its records, by hours alone: %s', async (byHours) => {
  const text = meanLiquidity('lp_pool', 1, 2, byHours);
  let seen = 0;
  for (const { from, to } of [...windows, { from: BEGINNING, to: windows[3]?.to as Date }]) {
    const { rows } = await db.pool.query<{ pool_address: string; usd: string | null; days: string }>(text, [from, to]);
    for (const pool of pools) {
      const row = rows.find(({ pool_address }) => pool_address === pool.pool_address);
      const { usd, days } = expected(pool, from, to);
      if (usd === null) expect(row?.usd).toBeNull();
      else expect(Number(row?.usd)).toBeCloseTo(usd, 6);
      expect(Number(row?.days)).toBeCloseTo(days, 6);
      seen += Number(usd !== null);
    }
  }
  expect(seen).toBeGreaterThan(windows.length);
});

test('of a long window days are read, not hours', async () => {
  const to = new Date(start.getTime() + DAYS * DAY_MS - 11.1 * HOUR_MS);
  const query = { text: meanLiquidity('lp_pool', 1, 2), values: [new Date(to.getTime() - 90 * DAY_MS), to] };
  expect(await rowsRead(db.url, { query, over: 'keyed' }, 'lp_liquidity_hour')).toBeLessThanOrEqual(2 * 48);
});
