import fs from 'node:fs';
import zlib from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { perps } from '../../../src/venues/perps/index';
import { testDatabase } from '../../support/database';
import { testWithRealData } from '../../support/real-data';
import { ONE, amount, drawdownOf, groupBy, share, sum, usd } from './reckoning';
import { ask, loadFile, type TestDatabase } from './support';

let db: TestDatabase;
beforeEach(async () => {
  db = await testDatabase();
});
afterEach(() => db.drop());

type Row = Record<string, unknown>;
interface Recorded {
  user: string;
  coin: string;
  px: string;
  sz: string;
  side: string;
  time: number;
  startPosition: string;
  closedPnl: string;
  fee: string;
  crossed: boolean;
}
const textOf = (file: string): string => zlib.gunzipSync(fs.readFileSync(file)).toString('utf8');
const worth = ({ px, sz }: { px: string; sz: string }): bigint => (amount(px) * amount(sz)) / ONE;
const total = (fills: readonly Recorded[]): bigint => sum(fills.map(worth));
const pnlOf = (fills: readonly Recorded[]): bigint => sum(fills.map((fill) => amount(fill.closedPnl)));
const opensOf = (fill: Recorded): bigint => {
  const [start, size] = [amount(fill.startPosition), amount(fill.sz)];
  const against = start !== 0n && start > 0n !== (fill.side === 'B');
  const closing = !against ? 0n : (start < 0n ? -start : start) < size ? (start < 0n ? -start : start) : size;
  return (amount(fill.px) * (size - closing)) / ONE;
};

async function rebuildAgrees(): Promise<void> {
  const rows = async (): Promise<unknown[]> =>
    Promise.all(
      [
        'perp_trader_hour',
        'perp_trader_day',
        'perp_trader_life',
        'perp_trader_sum',
        'perp_trader_drawdown',
        'perp_trader_coin_drawdown',
        'perp_coin_hour',
        'perp_coin_day',
        'perp_coin_month',
        'perp_coin_quarter',
        'perp_coin_bar',
        'perp_volume_hour',
        'perp_trader',
        'perp_round_trip',
        'perp_position',
      ].map(
        // prettier-ignore

        async (table) =>
          (await db.pool.query<{ row: string }>(`SELECT md5(string_agg(t::text, '|' ORDER BY t::text)) AS row FROM ${table} t`)).rows,
      ),
    );
  // Bounds that scores tell may be wider than those a rebuild tells: fills since were added to them.
  await db.pool.query('DELETE FROM perp_standing; UPDATE perp_trader SET most_pnl_7d = NULL, most_pnl_30d = NULL');
  const before = await rows();
  const client = await db.pool.connect();
  await client.query('BEGIN');
  await perps.rebuild?.(client);
  await client.query('COMMIT');
  client.release();
  expect(await rows()).toEqual(before);
}

testWithRealData(
  '81 seconds of the whole venue agree with sums over the file',
  'real/perps/node-fills-by-block-2025-10-27T17.ndjson.gz',
  async (file) => {
    await loadFile(db.pool, file);
    const now = new Date('2025-10-27T17:01:20.765Z');
    const fills = textOf(file).trim().split('\n').flatMap((line) => (JSON.parse(line) as { events: [string, Omit<Recorded, 'user'>][] }).events)
    .map(([user, fill]) => ({ ...fill, user: user.toLowerCase() })).filter(({ coin }) => !/[@/]/.test(coin)); // prettier-ignore
    const takers = fills.filter(({ crossed }) => crossed);
    const answer = async (endpoint: string, variables: Row): Promise<unknown> => (await ask(db, endpoint, variables, now)).data;
    const byCoin = groupBy(takers, ({ coin }) => coin);

    const listed = (await answer('perps/coins/list', { limit: 500 })) as Row[];
    expect(listed.map(({ coin, volume_usd, trade_count }) => ({ coin, volume_usd, trade_count }))).toEqual(
    [...byCoin].map(([coin, own]) => ({ coin, volume_usd: usd(total(own)), trade_count: own.length }))
      .sort((a, b) => b.volume_usd - a.volume_usd || (a.coin < b.coin ? -1 : 1)),
  ); // prettier-ignore
    expect(listed.map(({ unique_traders }) => unique_traders)).toEqual(listed.map(({ coin }) => new Set(fills.filter((fill) => fill.coin === coin).map(({ user }) => user)).size)); // prettier-ignore

    const btc = byCoin.get('BTC') as Recorded[];
    const [bought, sold] = ['B', 'A'].map((side) => total(btc.filter((fill) => fill.side === side))) as [bigint, bigint];
    const ratio = (await answer('perps/trades/long-short-ratio', { coin: 'BTC', timeframe: '1h', bucket_size: '1h' })) as {
      long_volume: number;
      short_volume: number;
      trade_count: number;
    }[];
    const over = (of: (row: (typeof ratio)[number]) => number): number => ratio.reduce((all, row) => all + of(row), 0);
    expect(over((row) => row.long_volume)).toBeCloseTo(usd(bought), 5);
    expect(over((row) => row.short_volume)).toBeCloseTo(usd(sold), 5);
    expect(over((row) => row.trade_count)).toBe(btc.length);

    const summary = (await answer('perps/pressure/summary', { timeframe: '1h', limit: 200 })) as {
      market: Row;
      coins: { coin: string; long_pressure: number; short_pressure: number }[];
    };
    const opened = (side: string, coin?: string): number =>
      usd(sum(takers.filter((fill) => fill.side === side && (coin === undefined || fill.coin === coin)).map(opensOf)));
    expect(summary.market).toMatchObject({ long_pressure: opened('B'), short_pressure: opened('A') });
    expect(summary.coins.length).toBe(byCoin.size);
    for (const { coin, long_pressure, short_pressure } of summary.coins)
      expect([long_pressure, short_pressure]).toEqual([opened('B', coin), opened('A', coin)]);

    const board = (await answer('perps/traders/leaderboard', { timeframe: '1h', sort_by: 'volume', min_trades: 1, limit: 100 })) as Row[];
    const byUser = [...groupBy(fills, ({ user }) => user)].map(([trader, own]) => ({
    trader, total_volume: usd(total(own)), total_trades: own.length, total_pnl: usd(pnlOf(own)), fees_usd: usd(sum(own.map(({ fee }) => amount(fee)))),
    max_drawdown_usd: usd(drawdownOf(own.map(({ closedPnl }) => amount(closedPnl)))),
  })).sort((a, b) => b.total_volume - a.total_volume); // prettier-ignore
    expect(board.map(({ trader, total_volume, total_trades, total_pnl }) => ({ trader, total_volume, total_trades, total_pnl }))).toEqual(
      byUser.slice(0, 100).map(({ trader, total_volume, total_trades, total_pnl }) => ({ trader, total_volume, total_trades, total_pnl })),
    );
    // Fees of one coin in 6,766 fills are not in dollars.
    expect(
      board.filter((row, index) => Math.abs((row.fees_usd as number) - (byUser[index]?.fees_usd as number)) < 1e-6).length,
    ).toBeGreaterThan(95);

    const grid = (await answer('perps/coins/volume-heatmap', { timeframe: '1h', limit: 50 })) as { coin: string; volume_usd: number }[];
    const cells = groupBy(grid, ({ coin }) => coin);
    for (const { coin, volume_usd } of listed.slice(0, 50) as { coin: string; volume_usd: number }[])
      expect(cells.get(coin)?.reduce((all, cell) => all + cell.volume_usd, 0)).toBeCloseTo(volume_usd, 5);

    const positions = await db.pool.query<{ wrong: string }>(
      `SELECT count(*) AS wrong FROM perp_position p JOIN LATERAL (SELECT start_position + CASE WHEN is_buy THEN size ELSE -size END AS size FROM perp_fill f
      WHERE f.trader = p.trader AND f.coin = p.coin ORDER BY timestamp DESC, seq DESC LIMIT 1) last ON true WHERE abs(last.size - p.size) > 1e-9 * abs(p.size) + 1e-12`,
    );
    expect(positions.rows).toEqual([{ wrong: '0' }]);
    expect(await perps.score?.(db.pool, now, () => undefined)).toMatchObject({ wallets: byUser.length });
    await rebuildAgrees();
  },
  300_000,
);

testWithRealData('a whale with 2,000 distinct fills', 'real/perps/fills-whale-0xb317-2025-12-09.csv.gz', async (file) => {
  const account = '0xb317d2bc2d3d2df5fa441b5bae0ab9d8b07283ae';
  await loadFile(db.pool, file, account);
  const now = new Date('2025-12-09T23:00:00Z');
  const lines = parse<Record<string, string>>(textOf(file), { columns: true });
  const distinct = [...new Map(lines.map((line) => [`${line.tid}|${line.oid}|${line.time}`, line])).values()] as unknown as Recorded[];
  expect(distinct).toHaveLength(2_000);
  const pnl = pnlOf(distinct);
  const variables = { trader: account, days: 1 };
  const { data: days } = await ask<Row[]>(db, 'perps/traders/daily-pnl', variables, now);
  expect(days).toMatchObject([
    { date: '2025-12-09', pnl: usd(pnl), volume: usd(total(distinct)), trades: 2_000, cumulative_pnl: usd(pnl) },
  ]);
  const { data: coins } = await ask<Row[]>(db, 'perps/traders/pnl-by-coin', variables, now);
  const entered = sum(
    distinct.filter((fill) => opensOf(fill) === 0n).map((fill) => worth(fill) + (fill.side === 'B' ? 1n : -1n) * amount(fill.closedPnl)),
  );
  expect(coins).toMatchObject([{ coin: 'ETH', pnl: usd(pnl), long_pnl: usd(pnl), short_pnl: 0, roi_pct: share(100n * pnl, entered) }]);
  const { data: profile } = await ask<{ stats: Row; open_positions: Row[] }>(db, 'perps/traders/profile', variables, now);
  expect(profile.stats).toMatchObject({ total_pnl: usd(pnl), total_volume: usd(total(distinct)), total_trades: 2_000 });
  const newest = distinct.reduce((last, fill) => ((fill.time as unknown as string) > (last.time as unknown as string) ? fill : last));
  expect(profile.open_positions).toMatchObject([{ coin: 'ETH', direction: 'Long' }]);
  expect(Number(newest.startPosition)).toBeGreaterThan(0);
  await rebuildAgrees();
});
