import fs from 'node:fs';
import zlib from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { upstreamFill } from '../../support/converters/perps/full-columns';
import { type ExportedFill, blocksOfExport } from '../../support/converters/perps/history-export';
import { testDatabase } from '../../support/database';
import { realData, testWithRealData } from '../../support/real-data';
import { tableOf } from '../../support/told-table';
import { amount, groupBy, sum, usd } from './reckoning';
import { ask, load, loadFile, type TestDatabase } from './support';

// What accounts earned by the venue's own figures, beside what is answered: a difference has reasons that account for all of it, or the test fails.

type Row = Record<string, number>;
interface Profile {
  stats: Row;
}
interface Fill {
  coin: string;
  usd_value: number;
  is_taker: boolean;
}

let db: TestDatabase;
beforeEach(async () => {
  db = await testDatabase();
});
afterEach(() => db.drop());

const linesOf = (file: string): Record<string, string>[] =>
  parse(zlib.gunzipSync(fs.readFileSync(file)).toString('utf8'), { columns: true });
const answer = async <Data>(endpoint: string, variables: Record<string, unknown>, now: Date): Promise<Data> =>
  (await ask<Data>(db, endpoint, variables, now)).data;
/** Exports hold amounts as text of floating-point numbers. */
const exact = (text: string): bigint => amount(Number(text).toFixed(9));
const pnlOf = (lines: readonly Record<string, string>[]): bigint => sum(lines.map((line) => exact(line['Closed PnL'] as string)));

/** The account's realized PnL of a year as each of its answers tells it: all of them must be one figure. */
async function realized(trader: string, now: Date): Promise<Row> {
  const variables = { trader, days: 365 };
  const { stats } = await answer<Profile>('perps/traders/profile', variables, now);
  const days = await answer<Row[]>('perps/traders/daily-pnl', variables, now);
  const coins = await answer<Row[]>('perps/traders/pnl-by-coin', { ...variables, limit: 500 }, now);
  const over = (rows: readonly Row[]): number => rows.reduce((total, { pnl = 0 }) => total + pnl, 0);
  const total = stats.total_pnl as number;
  expect(over(days)).toBeCloseTo(total, 3);
  expect(over(coins)).toBeCloseTo(total, 3);
  expect(days.at(-1)?.cumulative_pnl).toBeCloseTo(total, 5);
  return stats;
}

testWithRealData('four accounts of an export with all columns', 'real/perps/fills-full-columns-2024_2025.csv.gz', async (file) => {
  const lines = linesOf(file);
  await load(db.pool, lines.map(upstreamFill));
  const whole = groupBy(
    linesOf(realData('real/perps/fills-32-accounts-5col-2023_2025.csv.gz') as string),
    ({ Account }) => Account as string,
  );
  const told: Record<string, string | number>[] = [];
  for (const [account, own] of groupBy(lines, ({ Account }) => Account as string)) {
    const spot = own.filter(({ Coin = '' }) => /[@/]/.test(Coin));
    const perpetual = own.filter((line) => !spot.includes(line));
    // Without trade ids two fills alike in every column are one.
    const distinct = [...new Map(perpetual.map((line) => [JSON.stringify(upstreamFill(line)), line])).values()];
    const all = whole.get(account) as Record<string, string>[];
    const published = pnlOf(all);
    const stats = await realized(account, new Date('2025-05-03T00:00:00Z'));
    told.push({
      account: account.slice(0, 10),
      published: usd(published),
      answered: stats.total_pnl as number,
      'missing history': usd(published - pnlOf(own)),
      spot: usd(pnlOf(spot)),
      'alike, no trade id': usd(pnlOf(perpetual) - pnlOf(distinct)),
      'fills missing': all.length - own.length,
    });
    // The whole history is in another file: where no fill is missing, no dollar is.
    if (all.length === own.length) expect(published).toBe(pnlOf(own));
    expect(stats.total_pnl).toBe(usd(pnlOf(distinct)));
    expect(stats.total_trades).toBe(distinct.length);
  }
  expect(told).toHaveLength(4);
  expect(told.filter((row) => row['fills missing'] === 0)).toHaveLength(3);
  console.log(tableOf('Closed PnL by the venue, and as answered (USD)', told));
});

testWithRealData('a trade history of the venue’s page, PnL after fees', 'real/perps/ui-trade-history-export-2024.csv.gz', async (file) => {
  const trader = `0x${'e'.repeat(40)}`;
  const lines = linesOf(file) as unknown as ExportedFill[];
  expect(await load(db.pool, blocksOfExport(lines, trader))).toMatchObject({ inserted: lines.length, duplicates: 0, skipped: {} });
  const stats = await realized(trader, new Date('2024-09-10T00:00:00Z'));
  const [published, fees] = [sum(lines.map(({ closedPnl }) => exact(closedPnl))), sum(lines.map(({ fee }) => exact(fee)))];
  expect(stats.net_pnl).toBeCloseTo(usd(published), 4);
  expect(stats.total_pnl).toBeCloseTo(usd(published + fees), 4);
  console.log(
    tableOf('Trade history of 2024 (USD)', [
      {
        published: usd(published),
        'answered net_pnl': stats.net_pnl as number,
        'answered total_pnl': stats.total_pnl as number,
        'fees apart': usd(fees),
      },
    ]),
  );
});

testWithRealData('every account of 81 seconds', 'real/perps/node-fills-by-block-2025-10-27T17.ndjson.gz', async (file) => {
  await loadFile(db.pool, file);
  const now = new Date('2025-10-27T17:01:20.765Z');
  const fills = zlib.gunzipSync(fs.readFileSync(file)).toString('utf8').trim().split('\n')
    .flatMap((line) => (JSON.parse(line) as { events: [string, Record<'coin' | 'px' | 'sz' | 'side' | 'closedPnl', string> & { crossed: boolean }][] }).events)
    .map(([user, fill]) => ({ user: user.toLowerCase(), ...fill })).filter(({ coin }) => !/[@/]/.test(coin)); // prettier-ignore
  const byUser = [...groupBy(fills, ({ user }) => user)].map(([trader, own]) => ({
    trader,
    pnl: sum(own.map(({ closedPnl }) => amount(closedPnl))),
  }));
  const size = ({ pnl }: { pnl: bigint }): bigint => (pnl < 0n ? -pnl : pnl);
  const largest = byUser.sort((a, b) => (size(a) < size(b) ? 1 : -1)).slice(0, 10);
  for (const { trader, pnl } of largest) expect((await realized(trader, now)).total_pnl).toBe(usd(pnl));

  for (const coin of ['BTC', 'ETH', 'SOL']) {
    const own = fills.filter((fill) => fill.coin === coin && fill.crossed);
    const worth = ({ px, sz }: { px: string; sz: string }): number => Number(px) * Number(sz);
    const rows = await answer<Row[]>('perps/trades/long-short-ratio', { coin, timeframe: '1h', bucket_size: '1h' }, now);
    for (const [field, side, letter] of [
      ['long_volume', 'BUY', 'B'],
      ['short_volume', 'SELL', 'A'],
    ] as const) {
      const rebuilt = await takersOf(coin, side, now);
      // The least threshold is one dollar: smaller fills are in the ratio alone.
      const small = own.filter((fill) => fill.side === letter && worth(fill) < 1).reduce((total, fill) => total + worth(fill), 0);
      const ratio = rows.reduce((total, row) => total + (row[field] as number), 0);
      expect(rebuilt).toBeGreaterThan(1_000);
      expect(Math.abs(ratio - rebuilt - small)).toBeLessThan(0.01);
    }
  }
});

/** USD of a coin's taker fills of one side, page after page. */
async function takersOf(coin: string, side: string, now: Date): Promise<number> {
  let total = 0;
  let cursor: string | null | undefined;
  do {
    const { data, meta } = await ask<Fill[]>(
      db,
      'perps/trades/whales',
      { coin, side, timeframe: '1h', min_usd: 1, limit: 200, cursor: cursor ?? undefined },
      now,
    );
    for (const { usd_value, is_taker } of data) if (is_taker) total += usd_value;
    cursor = meta.next_cursor;
  } while (cursor !== null && cursor !== undefined);
  return total;
}
