import { makeContext } from '../../../src/graph/context';
import { perps } from '../../../src/venues/perps/index';
import { copyScore } from '../../../src/venues/perps/scoring/copiers';
import { signals } from '../../../src/venues/perps/signals';
import { testDatabase } from '../../support/database';
import { ago, ANN, BOB, loadScores, loadSmallWorld, MAX, NOW } from './small-world';
import { ask, load, match, type TestDatabase, trader } from './support';

// Every figure here is reckoned by hand from the eight matches of the small world.

type Row = Record<string, unknown>;
let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
  await loadSmallWorld(db.pool);
  await loadScores(db.pool, '2026-01-31', { [ANN]: 91, [BOB]: 86, [MAX]: null });
});
afterAll(() => db.drop());
const answer = async <Data = Row[]>(endpoint: string, variables: Row = {}): Promise<Data> =>
  (await ask<Data>(db, endpoint, variables, NOW)).data;
const iso = (minutes: number): string => `${ago(minutes).toISOString().slice(0, 19)}Z`;
const HOUR = 60;
const DAY = 24 * HOUR;

test('coins/trending: against the day before, and the seven before that', async () => {
  expect(await answer('perps/coins/trending')).toEqual([
    {
      coin: 'BTC',
      volume_usd: 249_000,
      trade_count: 3,
      unique_traders: 3,
      long_short_ratio: 0.671141,
      smart_wallet_count: 2,
      volume_change_pct: null,
      // 250,000 / (201,000 / 7 + 1,000): traded since exactly eight days.
      volume_spike_multiplier: 8.413462,
      smart_net_volume_usd: -49_000,
      price: 105,
      price_change_pct: 5,
    },
    {
      coin: 'ETH',
      volume_usd: 66_000,
      trade_count: 1,
      unique_traders: 2,
      long_short_ratio: null,
      smart_wallet_count: 1,
      volume_change_pct: 10,
      volume_spike_multiplier: null,
      smart_net_volume_usd: 66_000,
      price: 3_300,
      price_change_pct: 10,
    },
  ]);
  expect(await answer('perps/coins/trending', { min_volume_usd: 66_000 })).toHaveLength(2);
  expect(await answer('perps/coins/trending', { min_volume_usd: 66_000.01 })).toHaveLength(1);
});

test('coins/trending: the window that holds the first fill is the first that counts', async () => {
  // ETH since 26 hours: (66,000 + 1,000) / (60,000 / 4 + 1,000).
  expect(await answer('perps/coins/trending', { timeframe: '6h', sort_by: 'volume' })).toMatchObject([
    { coin: 'BTC' },
    { coin: 'ETH', volume_usd: 66_000, volume_spike_multiplier: 4.1875 },
  ]);
});

test.each<[endpoint: string, asked: Row, suggestion: Row | undefined]>([
  ['perps/trades/whales', { timeframe: 'all', min_usd: 1, side: 'Open Long', direction: 'Short' }, { side: null, direction: null }],
  [
    'perps/trades/whales',
    { timeframe: 'all', min_usd: 1, coin: 'kPEPE', side: 'SELL', direction: 'Long' },
    { coin: null, side: null, direction: null },
  ],
  ['perps/smart-wallets/signals', { timeframe: 'all', coin: 'ETH', min_wallets: 2 }, { min_wallets: 1, coin: null }],
  ['perps/smart-wallets/signals', { timeframe: 'all', coin: 'ETH', min_wallets: 1, min_score: 91 }, { coin: null }],
  ['perps/coins/trending', { timeframe: 'all', min_volume_usd: 1e9 }, { min_volume_usd: 0 }],
  ['perps/trades/feed', { coin: 'kPEPE', side: 'Close Long' }, { side: null }],
  ['perps/trades/feed', { coin: 'kPEPE', timeframe: 'all', side: 'Close Long' }, { side: null }],
  ['perps/smart-wallets/activity', { timeframe: 'all', coin: 'kPEPE', side: 'Close Long' }, { coin: null, side: null }],
  ['perps/traders/daily-pnl', { trader: BOB, days: 365, coin: 'kPEPE' }, { coin: null }],
  ['perps/traders/fresh-whales', { max_wallet_age_days: 90, min_volume: 0, min_pnl: 1e9 }, { min_pnl: 0 }],
  ['perps/traders/fresh-whales', { max_wallet_age_days: 90, min_volume: 1, min_pnl: 1e9 }, { min_volume: 0, min_pnl: 0 }],
])('%s, empty for %j: what is suggested is wider than what was asked', async (endpoint, asked, suggestion) => {
  await expect(answer(endpoint, asked)).rejects.toMatchObject({ code: 'empty_result', context: { suggestion } });
});

test('coins/list: seven days to the millisecond', async () => {
  expect(await answer('perps/coins/list')).toEqual([
    { coin: 'BTC', volume_usd: 250_000, trade_count: 4, unique_traders: 3, price: 105, first_seen: iso(8 * DAY), last_trade: iso(30), is_active: true },
    { coin: 'ETH', volume_usd: 126_000, trade_count: 2, unique_traders: 2, price: 3_300, first_seen: iso(26 * HOUR), last_trade: iso(10), is_active: true },
    { coin: 'kPEPE', volume_usd: 0, trade_count: 0, unique_traders: 0, price: 0.01, first_seen: iso(40 * DAY), last_trade: iso(40 * DAY), is_active: false },
  ]); // prettier-ignore
  // ETH was last filled ten minutes before NOW: a day later to the millisecond it is active.
  const active = async (minutes: number): Promise<unknown> =>
    (await ask<Row[]>(db, 'perps/coins/list', { query: 'eth' }, ago(minutes))).data.map(({ is_active }) => is_active);
  expect(await active(10 - DAY)).toEqual([true]);
  expect(await active(9 - DAY)).toEqual([false]);
});

test('trades: from the first instant of the window on, and none of its last', async () => {
  const sides = async (endpoint: string, asked: Row, minutes = 0): Promise<unknown> =>
    (await ask<Row[]>(db, endpoint, asked, ago(minutes))).data.map(({ side, usd_value }) => [side, usd_value]);
  const whales = { timeframe: '7d', coin: 'BTC', side: 'Open Long', min_usd: 1_000 };
  expect(await sides('perps/trades/whales', whales)).toEqual([['Open Long', 100_000], ['Open Long', 1_000]]); // prettier-ignore
  expect(await sides('perps/trades/feed', { coin: 'ETH' }, 10)).toEqual([['Open Short', 60_000], ['Open Long', 60_000]]); // prettier-ignore
});

test('coins/volume-heatmap: four hours of two coins', async () => {
  const cell = (coin: string, hour: string, volume_usd: number, trade_count: number, pct_of_bucket: number | null, net_volume_usd: number): Row => ({
    coin, bucket: `2026-01-31T${hour}:00:00Z`, volume_usd, trade_count, smart_volume_usd: volume_usd, pct_of_bucket, net_volume_usd,
  }); // prettier-ignore
  expect(await answer('perps/coins/volume-heatmap', { timeframe: '4h' })).toEqual([
    cell('BTC', '08', 0, 0, null, 0), cell('BTC', '09', 0, 0, null, 0), cell('BTC', '10', 100_000, 1, 100, 100_000), cell('BTC', '11', 149_000, 2, 69.302326, -149_000),
    cell('ETH', '08', 0, 0, null, 0), cell('ETH', '09', 0, 0, null, 0), cell('ETH', '10', 0, 0, 0, 0), cell('ETH', '11', 66_000, 1, 30.697674, 66_000),
  ]); // prettier-ignore
  // Max is no smart wallet: his side of the matches is not there.
  expect(await answer('perps/coins/volume-heatmap', { timeframe: '1h', smart_money_only: true, bucket_size: '1d', limit: 1 })).toEqual([
    { coin: 'BTC', bucket: '2026-01-31T00:00:00Z', volume_usd: 149_000, trade_count: 2, smart_volume_usd: 149_000, pct_of_bucket: 69.302326, net_volume_usd: -149_000 },
  ]); // prettier-ignore
});

test('trades/long-short-ratio: a window has all its buckets, of a coin that was not traded yet too; everything begins with the first fill', async () => {
  const daily = (timeframe: string) => answer('perps/trades/long-short-ratio', { coin: 'ETH', timeframe, bucket_size: '1d' });
  const week = await daily('7d');
  expect(week.map(({ bucket, trade_count }) => [bucket, trade_count])).toEqual([
    ...['24', '25', '26', '27', '28', '29'].map((day) => [`2026-01-${day}T00:00:00Z`, 0]),
    ['2026-01-30T00:00:00Z', 1],
    ['2026-01-31T00:00:00Z', 1],
  ]);
  expect(await daily('all')).toEqual(week.slice(-2));
  // Before the first score run nobody knows who is smart.
  const { data } = await ask<Row[]>(db, 'perps/trades/long-short-ratio', { coin: 'BTC', timeframe: '7d', bucket_size: '1d' }, ago(DAY));
  expect(data[0]).toMatchObject({ long_volume: 200_000, smart_long_volume: null, smart_short_volume: null });
});

test('trades/long-short-ratio: takers only; a flip opens with its rest', async () => {
  const [empty, full] = (await answer('perps/trades/long-short-ratio', { coin: 'BTC', timeframe: '6h' })) as [Row, Row];
  expect(empty).toMatchObject({
    bucket: '2026-01-31T04:00:00Z',
    long_volume: 0,
    short_volume: 0,
    long_short_ratio: null,
    long_pct: null,
    trade_count: 0,
  });
  expect(full).toEqual({
    bucket: '2026-01-31T08:00:00Z', long_volume: 100_000, short_volume: 149_000, long_short_ratio: 0.671141, smart_long_volume: 100_000, smart_short_volume: 149_000,
    smart_long_short_ratio: 0.671141, long_pct: 40.160643, long_traders: 1, short_traders: 2, opening_long_short_ratio: 1.360544, trade_count: 3,
  }); // prettier-ignore
});

test('pressure: what takers opened, and who holds what', async () => {
  const opens = {
    long_pressure: 100_000,
    short_pressure: 73_500,
    long_percent: 57.636888,
    short_percent: 42.363112,
    pressure_ratio: 0.152738,
    pressure_label: 'buy',
  };
  expect(await answer('perps/pressure/summary')).toEqual({
    coins: [
      { coin: 'BTC', ...opens, long_avg_entry: 100, short_avg_entry: 105 },
      { coin: 'ETH', long_pressure: 0, short_pressure: 0, long_percent: null, short_percent: null, pressure_ratio: null, pressure_label: null, long_avg_entry: null, short_avg_entry: null },
    ],
    market: { ...opens, coins_long: 1, coins_short: 0 },
  }); // prettier-ignore
  expect(await answer('perps/pressure/pairs', { coins: ['BTC'] })).toEqual({
    coins: [{
      coin: 'BTC', long_pressure: 100_000, short_pressure: 73_500, long_avg_entry: 100, short_avg_entry: 105, long_smart_count: 1, short_smart_count: 1,
      smart_positions: [
        { trader: ANN, smart_score: 91, direction: 'Long', size: 2_600, usd_value: 273_000, entry_price: 100, opened_at: iso(8 * DAY), last_trade: iso(HOUR) },
        { trader: BOB, smart_score: 86, direction: 'Short', size: 700, usd_value: 73_500, entry_price: 105, opened_at: iso(30), last_trade: iso(30) },
      ],
      buy_volume: 100_000, sell_volume: 149_000, pressure_ratio: 0.152738, pressure_label: 'buy', smart_pressure_ratio: 0.152738, price: 105,
    }],
  }); // prettier-ignore
  const { data, meta } = await ask<{ coins: Row[] }>(db, 'perps/pressure/pairs', { coins: ['ETH', 'BTC', 'btc'], min_score: 86 }, NOW);
  expect(data.coins).toMatchObject([{ coin: 'BTC', long_smart_count: 1, short_smart_count: 1 }, { coin: 'ETH', long_smart_count: 0, smart_positions: [] }]); // prettier-ignore
  expect(meta.count).toBe(2);
  const unscored = await ask<{ coins: Row[] }>(db, 'perps/pressure/pairs', { coins: ['ETH'], timeframe: '7d' }, ago(DAY));
  expect(unscored.data.coins).toMatchObject([{ long_smart_count: null, short_smart_count: null }]);
});

test('smart-wallets/list by last trade goes on after a wallet that traded last on a 31st', async () => {
  const page = (cursor: string | null) => ask<Row[]>(db, 'perps/smart-wallets/list', { sort_by: 'last_trade', limit: 1, cursor }, NOW);
  const first = await page(null);
  const second = await page(first.meta.next_cursor ?? null);
  expect([...first.data, ...second.data].map((row) => [row.trader, row.last_trade])).toEqual([
    [BOB, iso(10)],
    [ANN, iso(HOUR)],
  ]);
  expect(second.meta.next_cursor).toBeNull();
});

test('traders/fresh-whales: where no fill is as old as an account may be, it is said', async () => {
  const warned = async (max_wallet_age_days: number): Promise<string[]> =>
    (await ask<Row[]>(db, 'perps/traders/fresh-whales', { max_wallet_age_days, min_volume: 0, min_pnl: -1e6 }, NOW)).meta.warnings;
  expect(await warned(39)).toEqual([]);
  // Ann, the first of all, bought kPEPE forty days ago.
  expect(await warned(41)).toEqual(['no fill that old is on record: an account may be older than its first fill seen']);
});

test('traders/daily-pnl at midnight: the day that begins is the last one', async () => {
  const { data } = await ask<Row[]>(db, 'perps/traders/daily-pnl', { trader: BOB, days: 3 }, new Date('2026-02-01T00:00:00Z'));
  expect(data.map(({ date, trades }) => [date, trades])).toEqual([
    ['2026-01-30', 1],
    ['2026-01-31', 2],
    ['2026-02-01', 0],
  ]);
});

test('traders/daily-pnl and pnl-by-coin: a flip books the trip it ends', async () => {
  expect(await answer('perps/traders/daily-pnl', { trader: BOB, days: 2 })).toEqual([
    { date: '2026-01-30', pnl: 0, volume: 60_000, trades: 1, cumulative_pnl: 0, streak: 0, fees_usd: 0, winning_trades: 0, losing_trades: 0, drawdown_usd: 0 },
    { date: '2026-01-31', pnl: -4_499.75, volume: 171_000, trades: 2, cumulative_pnl: -4_499.75, streak: -1, fees_usd: 10.5, winning_trades: 1, losing_trades: 1, drawdown_usd: 4_499.75 },
  ]); // prettier-ignore
  // A day of opens alone is no empty one.
  const { data } = await ask<Row[]>(db, 'perps/traders/daily-pnl', { trader: ANN, days: 1 }, ago(90));
  expect(data).toMatchObject([{ date: '2026-01-31', trades: 1, pnl: 0, streak: 0 }]);
  expect(await answer('perps/traders/pnl-by-coin', { trader: BOB })).toMatchObject([
    { coin: 'ETH', pnl: -6_000, volume: 126_000, trades: 2, winning_trades: 0, win_rate: 0, closing_trades: 1, roi_pct: -10, long_pnl: 0, short_pnl: -6_000, avg_hold_minutes: 1_550, best_trade_usd: -6_000 },
    { coin: 'BTC', pnl: 1_500.25, volume: 106_000, trades: 2, winning_trades: 1, win_rate: 1, fees_usd: 10.5, net_pnl: 1_489.75, roi_pct: 5.000875, long_pnl: 1_500.25, short_pnl: 0, avg_hold_minutes: 10_050, best_trade_usd: 1_497.1 },
  ]); // prettier-ignore
  // Coins without a round trip come after one of which none was won.
  const byWinRate = await answer('perps/traders/pnl-by-coin', { trader: MAX, sort_by: 'win_rate', days: 90 });
  expect(byWinRate.map(({ coin, win_rate }) => [coin, win_rate])).toEqual([['ETH', 0], ['BTC', null], ['kPEPE', null]]); // prettier-ignore
});

test('traders/profile: round trips net of fees, what is held now', async () => {
  const { data, meta } = await ask<{ stats: Row; recent_trades: Row[] } & Row>(db, 'perps/traders/profile', { trader: BOB }, NOW);
  expect(meta.count).toBe(5);
  expect(data.stats).toEqual({
    total_pnl: -4_499.75, total_volume: 232_000, total_trades: 4, winning_trades: 1, win_rate: 0.5, roi_pct: -4.999736, smart_score: 86, tier: 'smart', net_pnl: -4_510.25,
    fees_usd: 10.5, closing_trades: 2, losing_trades: 1, win_rate_lb: 0.120852, profit_factor: 0.249517, sharpe: null, max_drawdown_usd: 6_000, best_trade_usd: 1_497.1,
    worst_trade_usd: -6_000, active_days: 3, coins_traded: 2, first_trade: iso(7 * DAY), last_trade: iso(10), tags: ['swing'],
  }); // prettier-ignore
  expect(data.round_trips).toEqual({ count: 2, avg_hold_minutes: 5_800, avg_win_usd: 1_497.1, avg_loss_usd: -6_000 });
  expect(data.open_positions).toEqual([
    {
      trader: BOB,
      coin: 'BTC',
      direction: 'Short',
      size: 700,
      usd_value: 73_500,
      entry_price: 105,
      opened_at: iso(30),
      last_trade: iso(30),
      realized_pnl: 0,
    },
  ]);
  expect(data.recent_trades.map(({ side }) => side)).toEqual(['Close Short', 'Open Short', 'Close Long', 'Open Short', 'Open Long']);
  expect(data.score_breakdown).toBeNull();
  expect(await answer('perps/traders/profile', { trader: BOB, explain: true })).toMatchObject({
    score_breakdown: {
      trades: 100,
      closing_trades: 50,
      winning_trades: 30,
      net_pnl: 1_000,
      profit_points: 12.001736,
      date: '2026-01-31',
      version: 'perps-test',
    },
  });
});

test('traders/compare: leaders, shared coins, the same way or not', async () => {
  expect(await answer('perps/traders/compare', { traders: [ANN, BOB] })).toMatchObject({
    shared_coins: [
      { coin: 'BTC', traders: [{ trader: ANN, pnl: 4_000, volume: 344_000, direction: 'Long' }, { trader: BOB, pnl: 1_500.25, volume: 106_000, direction: 'Short' }] },
    ],
    comparison_winners: { total_pnl: [ANN], roi_pct: [ANN], win_rate: [BOB], total_volume: [ANN], smart_score: [ANN], sharpe: [], profit_factor: [BOB] },
    pairwise: [{ a: ANN, b: BOB, jaccard_coins: 0.5, same_direction_pct: 0 }],
  }); // prettier-ignore
  // On the day on which Bob came Ann did nothing.
  const { data } = await ask<{ traders: Row[] }>(db, 'perps/traders/compare', { traders: [ANN, BOB], days: 1 }, ago(7 * DAY - 1));
  expect(data.traders).toMatchObject([{ found: true, stats: { total_trades: 0, total_volume: 0 } }, { found: true, stats: { total_trades: 1 } }]); // prettier-ignore
});

describe('amounts that stand at a bound, or are told the same', () => {
  let own: TestDatabase;
  const deal = (coin: string, trader: string, side: 'B' | 'A', sz: string, start: string, minutes: number): Record<string, unknown> =>
    match(ago(minutes), { coin, px: '1', sz, side, taker: [trader, start], maker: [MAX, '0.0'] });
  const buys = (coin: string, trader: string, sz: string): Record<string, unknown> => deal(coin, trader, 'B', sz, '0.0', 5);
  const [EVE, FAY, GUS, HAL] = ['e', 'f', '1', '2'].map(trader) as [string, string, string, string];
  /** A long, opened and closed again. */
  const trip = (account: string, closedPnl: string): Record<string, unknown>[] => [
    buys('JJ', account, '0.01'),
    match(ago(4), { coin: 'JJ', px: '1', sz: '0.01', side: 'A', taker: [account, '0.01', { closedPnl }], maker: [MAX, '0.0'] }),
  ];
  /** Sales that gain 1 and 3 in turns, one a day, so many days ago; today's in two hours. */
  const gains = (account: string, days: readonly number[]): Record<string, unknown>[] =>
    days.flatMap((day, place) =>
      (day === 0 ? ['0.4', '0.6'] : [place % 2 === 0 ? '1' : '3']).map(
        (closedPnl, hour) =>
        match(ago(day * DAY + 60 + 60 * hour), { coin: 'HH', px: '1', sz: '0.001', side: 'A', taker: [account, '100.0', { closedPnl }], maker: [MAX, '0.0'] }), // prettier-ignore
      ),
    );
  beforeAll(async () => {
    own = await testDatabase();
    await load(own.pool, [
      // 0.1 + 0.2 is more than 0.3 to a machine.
      ...[buys('ZZ', ANN, '0.1'), buys('ZZ', BOB, '0.2'), buys('AA', ANN, '0.15'), buys('AA', BOB, '0.15')],
      // Ann opens as much short as long.
      ...[buys('CC', ANN, '0.01'), deal('CC', ANN, 'A', '0.02', '0.01', 4), buys('CC', BOB, '0.01')],
      // A tenth of 1 is left of it; of Bob's nothing.
      ...[buys('EE', ANN, '0.55'), deal('EE', ANN, 'A', '0.45', '0.55', 4), buys('FF', BOB, '0.5'), deal('FF', BOB, 'A', '0.5', '0.5', 4)],
      buys('DD', ANN, '0.0800000001'),
      ...['G1', 'G2', 'G3', 'G4', 'G5'].map((coin) => buys(coin, trader('d'), '1')),
      ...[...trip(GUS, '0.3'), ...trip(HAL, '-0.3')],
      ...[
        ...gains(EVE, [0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]),
        ...gains(
          FAY,
          Array.from({ length: 19 }, (_, day) => day),
        ),
      ],
    ]);
    await loadScores(own.pool, '2026-01-31', { [ANN]: 90, [BOB]: 90 });
  });
  afterAll(() => own.drop());

  test('traders/compare: coins of the same volume by name; both lead by the same; what is opened both ways has no way', async () => {
    const { data } = await ask<{ shared_coins: Row[] }>(own, 'perps/traders/compare', { traders: [ANN, BOB] }, NOW);
    expect(data.shared_coins.map(({ coin }) => coin)).toEqual(['AA', 'ZZ', 'CC']);
    expect(data).toMatchObject({ comparison_winners: { total_volume: [ANN, BOB] }, pairwise: [{ same_direction_pct: 100 }] });
  });

  test('traders/compare: who gained and lost nothing has no profit factor, and leads by it', async () => {
    const compared = await ask(own, 'perps/traders/compare', { traders: [HAL, GUS, EVE] }, NOW);
    expect(compared.data).toMatchObject({
      traders: [{ stats: { profit_factor: 0 } }, { stats: { profit_factor: null, winning_trades: 1 } }, { stats: { profit_factor: null, closing_trades: 0 } }],
      comparison_winners: { profit_factor: [GUS] },
    }); // prettier-ignore
  });

  test('smart-wallets/signals: a tenth is no direction, and none is tracked', async () => {
    const { data } = await ask<Row[]>(own, 'perps/smart-wallets/signals', { min_wallets: 1 }, NOW);
    const even = { direction: 'Neutral', smart_wallet_count: 1 };
    expect(data.filter(({ coin }) => coin === 'EE' || coin === 'FF')).toMatchObject([
      { coin: 'EE', ...even, long_wallets: 1, short_wallets: 0, signal_score: 3.2 },
      { coin: 'FF', ...even, long_wallets: 0, short_wallets: 0, signal_score: 0 },
    ]);
    expect((await signals.list(makeContext(own, NOW), 'perps/smart-wallets/signals')).map(({ subject }) => subject)).toEqual(['AA', 'ZZ']);
  });

  test('a Sharpe ratio takes twenty days with trades, and counts those between without', async () => {
    const stats = async (account: string): Promise<Row> =>
      (await ask<{ stats: Row }>(own, 'perps/traders/profile', { trader: account, days: 90 }, NOW)).data.stats;
    // 40 in 21 days, of which one is nothing: squares of 100.
    const sharpe = (40 / 21 / Math.sqrt((100 - 40 ** 2 / 21) / 20)) * Math.sqrt(365);
    expect(await stats(EVE)).toMatchObject({ active_days: 20, sharpe: expect.closeTo(sharpe, 5) as number });
    expect(await stats(FAY)).toMatchObject({ active_days: 19, sharpe: null });
    const byRatio = { timeframe: '30d', sort_by: 'sharpe', min_trades: 1, limit: 1 };
    expect((await ask<Row[]>(own, 'perps/traders/leaderboard', byRatio, NOW)).data).toMatchObject([{ trader: EVE }]);
    // Who closed nothing fell from nothing.
    expect(await stats(trader('d'))).toMatchObject({ max_drawdown_usd: 0 });
  });

  test('pressure/pairs: of more coins ten', async () => {
    const { data } = await ask<{ coins: Row[] }>(own, 'perps/pressure/pairs', {}, NOW);
    expect(data.coins).toHaveLength(10);
  });
});

test('traders/leaderboard: by PnL of seven days', async () => {
  const rows = await answer('perps/traders/leaderboard', { min_trades: 2 });
  expect(rows).toMatchObject([
    { rank: 1, trader: ANN, total_pnl: 4_000, total_volume: 144_000, total_trades: 2, roi_pct: 10, win_rate: null, closing_trades: 0, net_pnl: 3_955, max_drawdown_usd: 0, active_days: 1, top_coin: 'BTC' },
    { rank: 2, trader: BOB, total_pnl: -4_499.75, total_trades: 4, closing_trades: 2, top_coin: 'ETH' },
    { rank: 3, trader: MAX, total_pnl: -9_000, total_volume: 376_000, total_trades: 6, winning_trades: 0, closing_trades: 1, fees_usd: -3, max_drawdown_usd: 9_000, smart_score: null, top_coin: 'BTC' },
  ]); // prettier-ignore
  const ofEth = await answer('perps/traders/leaderboard', { min_trades: 1, coin: 'ETH', sort_order: 'asc' });
  expect(ofEth).toMatchObject([{ trader: BOB, total_pnl: -6_000 }, { trader: MAX, total_pnl: 0 }]); // prettier-ignore
});

test('traders/leaderboard of whole lives: by the least number of fills, the worst first, machines on request', async () => {
  const traders = async (asked: Row, now = ago(-2)): Promise<unknown> =>
    (await ask<Row[]>(db, 'perps/traders/leaderboard', { timeframe: 'all', ...asked }, now)).data.map((row) => row.trader);
  expect(await traders({ min_trades: 4, sort_order: 'asc' })).toEqual([MAX, BOB, ANN]);
  expect(await traders({ min_trades: 5, sort_order: 'asc' })).toEqual([MAX, ANN]);
  for (const tag of ['vault', 'market_maker', 'wash']) {
    await db.pool.query('UPDATE perp_score SET tags = ARRAY[$2] WHERE trader = $1', [MAX, tag]);
    for (const now of [NOW, ago(-2)]) {
      expect(await traders({ min_trades: 1 }, now)).toEqual([ANN, BOB]);
      expect(await traders({ min_trades: 1, include_bots: true }, now)).toEqual([ANN, BOB, MAX]);
    }
  }
  await db.pool.query("UPDATE perp_score SET tags = '{swing}' WHERE trader = $1", [MAX]);
});

test('by win rate as of before any round trip had closed', async () => {
  const before = async (endpoint: string, variables: Row): Promise<Row[]> =>
    (await ask<Row[]>(db, endpoint, { ...variables, sort_by: 'win_rate' }, ago(45))).data;
  const traders = await before('perps/traders/leaderboard', { timeframe: 'all', min_trades: 1 });
  expect(traders).toMatchObject([ANN, BOB, MAX].map((trader) => ({ trader, win_rate: null, closing_trades: 0 })));
  expect(await before('perps/smart-wallets/list', {})).toMatchObject([{ trader: ANN }, { trader: BOB }]);
});

test('traders/fresh-whales: young and large', async () => {
  expect(await answer('perps/traders/fresh-whales', { min_pnl: -1e6 })).toEqual([{
    trader: BOB, first_trade: iso(7 * DAY), wallet_age_days: 7, total_pnl: -4_499.75, total_volume: 232_000, total_trades: 4, winning_trades: 1, win_rate: 0.5,
    win_rate_lb: 0.120852, roi_pct: -4.999736, top_coin: 'ETH', coin_concentration: 0.543103, largest_trade_usd: 73_500, smart_score: 86, suspicion_score: 27.6,
    signals: { age: 0.5, size: 0.182744, concentration: 0.543103, win_rate: 0.120852, timing: null },
  }]); // prettier-ignore
  // Seven days old to the millisecond.
  for (const coin of [undefined, 'BTC'])
    expect(await answer('perps/traders/fresh-whales', { min_pnl: -1e6, max_wallet_age_days: 7, coin })).toMatchObject([{ trader: BOB }]);
  await expect(answer('perps/traders/fresh-whales', {})).rejects.toMatchObject({ code: 'empty_result' });
  expect(await answer('perps/traders/fresh-whales', { min_pnl: 0, coin: 'BTC' })).toMatchObject([
    { total_volume: 106_000, total_pnl: 1_500.25, top_coin: 'ETH', win_rate: 1 },
  ]);
});

test('traders/fresh-whales: whole lives tell what fills do', async () => {
  const own = await testDatabase();
  try {
    await loadSmallWorld(own.pool);
    const orders = ['total_volume', 'total_pnl', 'win_rate', 'suspicion_score', 'wallet_age_days'];
    const inputs = orders.flatMap((sort_by) => [
      ...[undefined, 'BTC', 'ETH'].map((coin) => ({ sort_by, coin, max_wallet_age_days: 90, min_volume: 0, min_pnl: -1e6 })),
      { sort_by, max_wallet_age_days: 90, min_volume: 0, min_pnl: -1e6, limit: 1 },
      // Bob, with all he has.
      { sort_by, max_wallet_age_days: 8, min_volume: 232_000, min_pnl: -4_499.75 },
    ]);
    const asked = async (): Promise<Row[][]> =>
      Promise.all(inputs.map(async (input) => (await ask<Row[]>(own, 'perps/traders/fresh-whales', input, ago(-DAY))).data));
    const told = await asked();
    expect(told.map((rows) => rows.length)).toEqual(orders.flatMap(() => [3, 3, 2, 1, 1]));
    // Who won none of its trips stands before who closed none.
    expect(told[10]?.map(({ trader }) => trader)).toEqual([BOB, MAX, ANN]);
    // Something newer, so that lives tell more than was.
    await load(own.pool, [match(ago(-DAY - 1), { px: '100', sz: '1', side: 'B', taker: [BOB, '-700.0'], maker: [MAX, '-10610.0'] })]);
    expect(told).toEqual(await asked());
  } finally {
    await own.drop();
  }
});

test('smart-wallets: the list, what they did, where they moved', async () => {
  expect(await answer('perps/smart-wallets/list')).toMatchObject([{ trader: ANN, score: 91, total_trades: 4 }, { trader: BOB, score: 86, total_trades: 4 }]); // prettier-ignore
  const { data } = await ask<Row[]>(db, 'perps/smart-wallets/list', { min_score: 86 }, ago(10));
  expect(data).toMatchObject([{ trader: ANN }, { trader: BOB, last_trade: iso(30) }]);
  expect(await answer('perps/smart-wallets/activity', { side: 'Close Long' })).toMatchObject({
    period_summary: { trade_count: 2, total_volume: 75_500, long_volume: 0, short_volume: 75_500, realized_pnl: 5_500.25 },
  });
  expect(await answer('perps/smart-wallets/activity')).toMatchObject({
    period_summary: {
      trade_count: 4, total_volume: 315_000, unique_traders: 2, long_volume: 166_000, short_volume: 149_000, long_short_ratio: 1.114094, realized_pnl: -499.75,
      top_coins: [{ coin: 'BTC', volume: 249_000, net_volume: -49_000 }, { coin: 'ETH', volume: 66_000, net_volume: 66_000 }],
    },
    trades: [{ coin: 'ETH', side: 'Close Short' }, { side: 'Open Short', size: 700 }, { side: 'Close Long', size: 300 }, { side: 'Close Long', size: 400 }, { side: 'Open Long' }],
  }); // prettier-ignore
  // Ann +56,000 at 0.91, Bob −105,000 at 0.86: net −39,340 of 221,340, carried by 1.93 wallets of ten.
  expect(await answer('perps/smart-wallets/signals')).toEqual([{
    coin: 'BTC', direction: 'Short', smart_wallet_count: 2, total_volume: 249_000, avg_score: 88.5, net_volume: -49_000, long_wallets: 1, short_wallets: 1, signal_score: 7.8,
    signal_strength: null, avg_entry: 149_000 / 1_400, price: 105,
    top_traders: [
      { trader: BOB, score: 86, direction: 'Short', usd_value: 105_000, avg_price: 105, timestamp: iso(30) },
      { trader: ANN, score: 91, direction: 'Long', usd_value: 56_000, avg_price: 100, timestamp: iso(HOUR) },
    ],
  }]); // prettier-ignore
});

test('scores of the small world: what came after the clock is not in them', async () => {
  expect(await perps.score?.(db.pool, NOW, () => undefined)).toEqual({ wallets: 3, scored: 2 });
  const { rows } = await db.pool.query(
    'SELECT trader, score::float8, trades, closing_trades, winning_trades, net_pnl::float8, tags, caps FROM perp_score ORDER BY trader',
  );
  expect(rows).toEqual([
    { trader: ANN, score: null, trades: 4, closing_trades: 0, winning_trades: 0, net_pnl: 3_954.8, tags: ['whale', 'one_hit'], caps: [] },
    // 4·log2(5) + 40·0.120852
    { trader: BOB, score: 14.1, trades: 4, closing_trades: 2, winning_trades: 1, net_pnl: -4_510.25, tags: ['whale', 'fresh', 'liquidated', 'swing'], caps: [] },
    // 4·log2(9): a round trip that wins nothing is not won.
    { trader: MAX, score: 12.7, trades: 8, closing_trades: 1, winning_trades: 0, net_pnl: -8_997, tags: ['whale', 'swing'], caps: [] },
  ]); // prettier-ignore
});

describe('copy scores', () => {
  const following = {
    matches: 8,
    covered: 6,
    reverse_matches: 0,
    follower_entries: 10,
    leader_entries: 12,
    chance: 0.1,
    mean_lag_seconds: 60,
    lag_deviation: 15,
  };
  test('precision, coverage, lift and regular lags', () => {
    expect(copyScore(following)).toBeCloseTo(0.4 * 0.8 + 0.2 * 0.5 + 0.2 * 0.8 + 0.2 * 0.75, 12);
    expect(copyScore({ ...following, lag_deviation: 90 })).toBeCloseTo(0.58, 12);
  });
  test('a half is a half, without the noise of binary fractions', () => {
    // 0.4 · 7/20 + 0.2 · 2/20 + 0.2 · 0.7 + 0.2
    const half = { matches: 7, covered: 2, follower_entries: 20, leader_entries: 20, chance: 0.05, lag_deviation: 0 };
    expect(copyScore({ ...following, ...half })).toBe(0.5);
  });
  test('few matches say nothing; who is followed as much does not follow', () => {
    expect(copyScore({ ...following, matches: 4 })).toBeNull();
    expect(copyScore({ ...following, reverse_matches: 4 })).toBeNull();
  });
});
