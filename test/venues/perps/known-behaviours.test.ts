import { testDatabase } from '../../support/database';
import { ANN, BOB, MAX, NOW, ago, loadScores, loadSmallWorld } from './small-world';
import { ask, load, match, type TestDatabase, wireFill } from './support';

// What earlier services of this kind got wrong, told here as it has to be.

interface Fill {
  usd_value: number;
  trade_side: string;
  side: string;
  direction: string;
  is_taker: boolean;
}

let db: TestDatabase;
beforeEach(async () => {
  db = await testDatabase();
});
afterEach(() => db.drop());

test('a day with one fill has a trending coin and a signal', async () => {
  await load(db.pool, [match(ago(60), { px: '20000', sz: '1', side: 'B', taker: [ANN, '0.0'], maker: [MAX, '0.0'] })]);
  await loadScores(db.pool, '2026-01-31', { [ANN]: 90 });
  const trending = await ask<{ coin: string }[]>(db, 'perps/coins/trending', {}, NOW);
  expect(trending.data).toMatchObject([
    { coin: 'BTC', volume_usd: 20_000, trade_count: 1, unique_traders: 2, smart_wallet_count: 1, smart_net_volume_usd: 20_000, volume_change_pct: null, volume_spike_multiplier: null },
  ]); // prettier-ignore
  const signals = await ask(db, 'perps/smart-wallets/signals', { min_wallets: 1 }, NOW);
  expect(signals.data).toMatchObject([{ coin: 'BTC', direction: 'Long', total_volume: 20_000, smart_wallet_count: 1 }]);
});

test('a day without a fill is empty, and the answer names the week', async () => {
  await loadSmallWorld(db.pool);
  const later = ago(-3 * 24 * 60);
  for (const endpoint of ['perps/coins/trending', 'perps/platform/stats', 'perps/pressure/summary', 'perps/coins/volume-heatmap'])
    await expect(ask(db, endpoint, {}, later)).rejects.toMatchObject({
      code: 'empty_result',
      context: { suggestion: { timeframe: '7d' } },
    });
  await expect(ask(db, 'perps/trades/long-short-ratio', { coin: 'BTC', timeframe: '24h' }, later)).rejects.toMatchObject({
    code: 'empty_result',
  });
});

test.each(['24h', '7d', '30d'])('the long-short ratio of %s is rebuilt from the takers of trades/whales', async (timeframe) => {
  await loadSmallWorld(db.pool);
  const sum = async (side: string): Promise<number> => {
    const { data } = await ask<Fill[]>(db, 'perps/trades/whales', { coin: 'BTC', timeframe, side, min_usd: 1, limit: 200 }, NOW);
    return data.filter(({ is_taker }) => is_taker).reduce((total, { usd_value }) => total + usd_value, 0);
  };
  const { data } = await ask<{ long_volume: number; short_volume: number }[]>(
    db,
    'perps/trades/long-short-ratio',
    { coin: 'BTC', timeframe, bucket_size: '4h' },
    NOW,
  );
  const [long, short] = [await sum('BUY'), await sum('SELL')];
  expect(data.reduce((total, row) => total + row.long_volume, 0)).toBeCloseTo(long, 6);
  expect(data.reduce((total, row) => total + row.short_volume, 0)).toBeCloseTo(short, 6);
  expect(short).toBe(149_000);
  expect(long).toBe({ '24h': 100_000, '7d': 101_000, '30d': 301_000 }[timeframe]);
});

test('sides are words: neither letter of the upstream leaves', async () => {
  await loadSmallWorld(db.pool);
  const { data } = await ask<Fill[]>(db, 'perps/trades/whales', { timeframe: 'all', min_usd: 1, limit: 200 }, NOW);
  expect(new Set(data.map(({ trade_side }) => trade_side))).toEqual(new Set(['BUY', 'SELL']));
  for (const { side, direction, trade_side } of data) {
    expect(side).toMatch(/^(Open|Close) (Long|Short)$/);
    expect(side.endsWith(direction)).toBe(true);
    expect(trade_side).toBe(['Open Long', 'Close Short'].includes(side) ? 'BUY' : 'SELL');
  }
  expect(data.filter(({ side }) => side === 'Open Short').length).toBeGreaterThan(0);
});

test('pages neither repeat nor skip a fill while others come in', async () => {
  await loadSmallWorld(db.pool);
  const all = await ask<{ trade_id: string; trader: string; side: string }[]>(db, 'perps/trades/whales', { timeframe: 'all', min_usd: 1, limit: 200 }, NOW); // prettier-ignore
  const key = ({ trade_id, trader, side }: { trade_id: string; trader: string; side: string }): string => `${trade_id}|${trader}|${side}`;
  const seen: string[] = [];
  let cursor: string | null | undefined;
  for (let page = 0; page < 20 && cursor !== null; page += 1) {
    const { data, meta } = await ask<typeof all.data>(db, 'perps/trades/whales', { timeframe: 'all', min_usd: 1, limit: 3, cursor }, NOW);
    expect(data.length).toBeLessThanOrEqual(3);
    seen.push(...data.map(key));
    cursor = meta.next_cursor;
    await load(db.pool, [
      match(ago(0.001 * (20 - page)), { coin: 'NEW', px: '9', sz: '9', side: 'B', taker: [BOB, '0.0'], maker: [MAX, '0.0'] }),
    ]);
  }
  expect(seen).toEqual(all.data.map(key));
});

test('a coin that was only settled was not traded: no row of zeros, whatever tells its window', async () => {
  await loadSmallWorld(db.pool);
  const settled = wireFill({ coin: 'OLD', time: ago(30).getTime(), dir: 'Settlement', side: 'A', px: '5', sz: '3', startPosition: '3.0', tid: 77, crossed: undefined }); // prettier-ignore
  await load(db.pool, [settled], { account: ANN });
  await expect(ask(db, 'perps/trades/long-short-ratio', { coin: 'OLD', timeframe: '4h' }, NOW)).rejects.toMatchObject({
    code: 'empty_result',
  });
  // By its hour, and by its day.
  for (const [timeframe, now] of [
    ['4h', NOW],
    ['7d', ago(-24 * 60)],
  ] as const) {
    const { data } = await ask<{ coins: { coin: string }[] }>(db, 'perps/pressure/summary', { timeframe }, now);
    expect(data.coins.map(({ coin }) => coin)).toEqual(['BTC', 'ETH']);
  }
});

test('who is settled takes from nobody, though the upstream says that it crossed', async () => {
  const old = { coin: 'OLD', px: '10', sz: '1' };
  await load(db.pool, [match(ago(30), { ...old, side: 'B', taker: [BOB, '0.0'], maker: [MAX, '0.0'] })]);
  const settled = (side: 'B' | 'A', startPosition: string, tid: number) =>
    wireFill({ ...old, time: ago(20).getTime(), dir: 'Settlement', px: '8', side, startPosition, tid, crossed: true });
  await load(db.pool, [settled('A', '1.0', 77_001)], { account: BOB });
  await load(db.pool, [settled('B', '-1.0', 77_002)], { account: MAX });
  const ratio = await ask<object[]>(db, 'perps/trades/long-short-ratio', { coin: 'OLD', timeframe: '1h', bucket_size: '1d' }, NOW);
  expect(ratio.data).toMatchObject([{ long_volume: 10, short_volume: 0, long_traders: 1, short_traders: 0, trade_count: 1 }]);
  const rows = (await ask<Fill[]>(db, 'perps/trades/feed', { coin: 'OLD' }, NOW)).data;
  expect(rows.map(({ side, is_taker }) => `${side} ${String(is_taker)}`).sort()).toEqual([
    'Close Long null',
    'Close Short null',
    'Open Long true',
    'Open Short false',
  ]);
});

test.each([
  ['perps/traders/leaderboard', { timeframe: 'all', min_trades: 1, coin: 'DOGE' }, { coin: null }],
  ['perps/pressure/pairs', { timeframe: 'all', coins: ['DOGE'] }, { coins: null }],
  ['perps/coins/volume-heatmap', { timeframe: 'all', smart_money_only: true }, { smart_money_only: false }],
  ['perps/traders/leaderboard', { timeframe: 'all', min_trades: 2 }, { min_trades: 1 }],
  ['perps/traders/leaderboard', { timeframe: 'all', min_trades: 1, coin: 'BTC' }, { coin: null, include_bots: true }],
])('%s, empty for %j: what narrows it is left out in the end', async (endpoint, asked, suggestion) => {
  await load(db.pool, [match(ago(60), { px: '20000', sz: '1', side: 'B', taker: [ANN, '0.0'], maker: [MAX, '0.0'] })]);
  await load(db.pool, [{ universe: [{ name: 'DOGE', szDecimals: 0, maxLeverage: 10 }] }], { format: 'json' });
  await loadScores(db.pool, '2026-01-31', { [ANN]: 80, [MAX]: 80, [BOB]: 90 });
  await db.pool.query("UPDATE perp_score SET tags = '{wash}'");
  await expect(ask(db, endpoint, asked, NOW)).rejects.toMatchObject({ code: 'empty_result', context: { suggestion } });
});
