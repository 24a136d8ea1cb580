import fc from 'fast-check';
import type { Sql } from '../../../src/db/sql';
import { inTransaction } from '../../../src/db/transaction';
import { makeContext } from '../../../src/graph/context';
import { activeIn } from '../../../src/venues/perps/queries/active';
import { coinsVolumeHeatmap } from '../../../src/venues/perps/queries/coins-volume-heatmap';
import { reachOf } from '../../../src/venues/perps/queries/scope';
import { withoutEmpty } from '../../../src/venues/perps/queries/segments';
import { matchRows, openRows, ownRows, smartRows, spanOf, volumeRows } from '../../../src/venues/perps/queries/span';
import { tellSmart } from '../../../src/venues/perps/rollups/smart-hours';
import { testDatabase } from '../../support/database';
import { statementsOf } from '../../support/statements';
import { ANN, BOB, MAX, loadScores } from './small-world';
import { ask, load, match, type TestDatabase, trader } from './support';

const at = (time: string): Date => new Date(`2026-02-03T${time}Z`);
/** The clock stands inside a bar, an hour and a day. */
const NOW = at('14:31:07.250');

/** Buys for 1 USD, 2, 4, …: a sum says of which. */
const TIMES = [
  '12:31:07.249',
  '12:31:07.250',
  '12:59:59.999',
  '13:00:00.000',
  '13:29:59.999',
  '13:30:00.000',
  '13:31:07.249',
  '13:31:07.250',
  '13:34:59.999',
  '13:35:00.000',
  '13:59:59.999',
  '14:00:00.000',
  '14:29:59.999',
  '14:30:00.000',
  '14:31:07.249',
  '14:31:07.250',
  '14:40:00.000',
];
const usdOf = (from: string, to: string): number =>
  TIMES.reduce((sum, time, place) => sum + (time >= from && time < to ? 2 ** place : 0), 0);
const HOUR = usdOf('13:31:07.250', '14:31:07.250');
const BEFORE = usdOf('12:31:07.250', '13:31:07.250');

const buys = (until: Date): Record<string, unknown>[] =>
  TIMES.map((time, place) =>
    match(at(time), { px: '1', sz: String(2 ** place), side: 'B', taker: [ANN, '0.0'], maker: [MAX, '0.0'] }),
  ).filter(({ block_time }) => Date.parse(`${block_time as string}Z`) < until.getTime());

async function world(until: Date): Promise<TestDatabase> {
  const db = await testDatabase();
  const [early, late] = ['13:31:07.249', '14:35:00.000'].map((time) =>
    match(at(time), { coin: 'ETH', px: '1', sz: '1', side: 'A', taker: [BOB, '0.0'], maker: [trader('9'), '0.0'] }),
  ) as [Record<string, unknown>, Record<string, unknown>];
  await load(db.pool, [...buys(until), early, ...(until > at('14:35:00.000') ? [late] : [])]);
  await loadScores(db.pool, '2026-02-03', { [ANN]: 90, [BOB]: 95, [trader('7')]: 99 });
  await inTransaction(db.pool, (client) => tellSmart(client, '2026-02-03'));
  return db;
}

describe.each([
  ['nothing is newer', NOW],
  ['more is known', at('15:00:00.000')],
])('a window of an hour whose ends lie inside bars, where %s', (_where, until) => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await world(until);
  });
  afterAll(() => db.drop());
  const data = async <Data>(path: string, parameters: Record<string, unknown> = {}): Promise<Data> =>
    (await ask<Data>(db, `perps/${path}`, { timeframe: '1h', ...parameters }, NOW)).data;

  test('the platform, and its smart accounts: who was there before and after it, but not in it, is not counted', async () => {
    expect(await data('platform/stats')).toMatchObject({
      total_volume_usd: HOUR,
      total_trades: 8,
      buy_volume_usd: HOUR,
      smart_wallet_count: 1,
      smart_volume_usd: HOUR,
      volume_change_pct: Math.round((1e8 * (HOUR - BEFORE - 1)) / (BEFORE + 1)) / 1e6,
    });
  });

  test('coins, with the window before', async () => {
    expect(await data('coins/trending', { min_volume_usd: 0 })).toMatchObject([
      {
        coin: 'BTC',
        volume_usd: HOUR,
        trade_count: 8,
        unique_traders: 2,
        smart_wallet_count: 1,
        smart_net_volume_usd: HOUR,
        volume_change_pct: Math.round((1e8 * (HOUR - BEFORE)) / BEFORE) / 1e6,
      },
    ]);
  });

  test('what takers opened', async () => {
    expect(await data('pressure/summary')).toMatchObject({ coins: [{ coin: 'BTC', long_pressure: HOUR, short_pressure: 0 }] });
    expect(await data('pressure/pairs')).toMatchObject({ coins: [{ coin: 'BTC', long_pressure: HOUR, buy_volume: HOUR }] });
  });

  test('bars belong to their hours', async () => {
    const first = usdOf('13:31:07.250', '14:00');
    expect(await data('coins/volume-heatmap', { bucket_size: '1h' })).toMatchObject([
      { coin: 'BTC', bucket: '2026-02-03T13:00:00Z', volume_usd: first, smart_volume_usd: first, trade_count: 4 },
      { coin: 'BTC', bucket: '2026-02-03T14:00:00Z', volume_usd: HOUR - first, smart_volume_usd: HOUR - first, trade_count: 4 },
    ]);
  });

  test('what smart accounts did, by sums over them all or account by account', async () => {
    const summary = {
      trade_count: 8,
      total_volume: HOUR,
      unique_traders: 1,
      long_volume: HOUR,
      top_coins: [{ coin: 'BTC', volume: HOUR }],
    };
    for (const parameters of [{}, { coin: 'BTC' }, { min_score: 86 }, { side: 'BUY' }])
      expect(await data('smart-wallets/activity', parameters)).toMatchObject({ period_summary: summary });
    expect(await data('smart-wallets/activity', { coin: 'BTC', min_score: 50 })).toMatchObject({ period_summary: summary });
  });

  test.each(['platform/stats', 'pressure/pairs', 'smart-wallets/activity', 'smart-wallets/signals'])(
    '%s sends its statements without the marks of what may be left out',
    async (path) => {
      const sent = await statementsOf(() => data(path, path === 'smart-wallets/signals' ? { min_wallets: 1 } : {}));
      expect(sent.length).toBeGreaterThan(1);
      expect(sent.filter((text) => text.includes('/*{'))).toEqual([]);
    },
  );
});

test('a day, and seven before it, are added up as their ends cut them', async () => {
  const db = await testDatabase();
  const days = Array.from({ length: 9 }, (_, day) => new Date(NOW.getTime() - day * 86_400_000));
  // Before and after each end, inside its bar: 1 and 2 on the last day, 4 and 8 on the day before, …
  const sides = days.flatMap((end, day) => [
    match(new Date(end.getTime() - 1_000), { px: String(4 ** day), sz: '1', side: 'B', taker: [ANN, '0.0'], maker: [MAX, '0.0'] }),
    match(end, { px: String(2 * 4 ** day), sz: '1', side: 'B', taker: [ANN, '0.0'], maker: [MAX, '0.0'] }),
  ]);
  await load(db.pool, sides);
  const earlier = [1, 2, 3, 4, 5, 6, 7].map((k) => 4 ** k + 2 * 4 ** (k + 1));
  const volume = 1 + 2 * 4;
  const mean = earlier.reduce((sum, usd) => sum + usd, 0) / 7;
  const { data } = await ask(db, 'perps/coins/trending', { timeframe: '24h', min_volume_usd: 0 }, NOW);
  expect(data).toMatchObject([
    {
      volume_usd: volume,
      volume_change_pct: Math.round((1e8 * (volume - (earlier[0] as number))) / (earlier[0] as number)) / 1e6,
      volume_spike_multiplier: Math.round((1e6 * (volume + 1_000)) / (mean + 1_000)) / 1e6,
    },
  ]);
  // Three days before are enough; one that ends with the first fill is none.
  const spike = async (now: number): Promise<unknown> =>
    (await ask<{ volume_spike_multiplier: unknown }[]>(db, 'perps/coins/trending', { timeframe: '24h', min_volume_usd: 0 }, new Date(now)))
      .data[0]?.volume_spike_multiplier;
  const fifth = (days[5] as Date).getTime();
  expect(await spike(fifth)).toEqual(expect.any(Number));
  expect(await spike(fifth - 1_000)).toBeNull();
  await db.drop();
});

test('a sum that is shown as the least one asked for reaches it', async () => {
  const db = await testDatabase();
  const buy = (time: string, ...taker: [string, string, Record<string, unknown>?]): Record<string, unknown> =>
    match(at(time), { px: '99.9999996', sz: '1', side: 'B', taker, maker: [MAX, '0.0'] });
  await load(db.pool, [buy('13:00:00.000', ANN, '0.0', { closedPnl: '0.9999996' })]);
  const reach = async (): Promise<void> => {
    expect((await ask(db, 'perps/coins/trending', { min_volume_usd: 100 }, NOW)).data).toMatchObject([{ volume_usd: 100 }]);
    for (const coin of [undefined, 'BTC']) {
      const { data } = await ask(db, 'perps/traders/fresh-whales', { min_volume: 100, min_pnl: 1, coin }, NOW);
      expect(data).toMatchObject([{ trader: ANN, total_volume: 100, total_pnl: 1 }]);
    }
  };
  await reach();
  // As of an instant after which something came, accounts are told otherwise.
  await load(db.pool, [buy('15:00:00.000', ANN, '1.0')]);
  await reach();
  await db.drop();
});

test('the price is that of the last fill before the instant, of the hour it lies in or of any before', async () => {
  const db = await testDatabase();
  const fill = (time: string, px: string): Record<string, unknown> =>
    match(at(time), { px, sz: '1', side: 'B', taker: [ANN, '0.0'], maker: [MAX, '0.0'] });
  await load(db.pool, [fill('11:10:00.000', '7'), fill('12:59:59.999', '5'), fill('13:00:00.000', '6')]);
  const price = async (now: Date): Promise<unknown> =>
    (await ask<{ price: number }[]>(db, 'perps/coins/trending', { timeframe: '7d', min_volume_usd: 0 }, now)).data[0]?.price;
  expect(await price(at('12:59:59.999'))).toBe(7);
  expect(await price(at('13:00:00.000'))).toBe(5);
  expect(await price(at('13:00:00.001'))).toBe(6);
  expect(await price(at('14:00:00.000'))).toBe(6);
  expect(await price(new Date(NOW.getTime() + 5 * 86_400_000))).toBe(6);
  await db.drop();
});

test('a remainder of a billionth of what was held is flat, one of more is not', async () => {
  const db = await testDatabase();
  const deal = (time: string, side: 'B' | 'A', sz: string, trader_: string, start: string): Record<string, unknown> =>
    match(at(time), { px: '100', sz, side, taker: [trader_, start], maker: [MAX, '5.0'] });
  await load(db.pool, [
    deal('12:00:00.000', 'B', '1', ANN, '0.0'),
    deal('12:01:00.000', 'B', '1', BOB, '0.0'),
    deal('13:00:00.000', 'A', '0.9999999992', ANN, '1.0'),
    deal('13:01:00.000', 'A', '0.9999999985', BOB, '1.0'),
  ]);
  const { data } = await ask<{ traders: { stats: { closing_trades: number } }[] }>(db, 'perps/traders/compare', { traders: [ANN, BOB] }, NOW); // prettier-ignore
  expect(data.traders.map(({ stats }) => stats.closing_trades)).toEqual([1, 0]);
  await db.drop();
});

test('what is told up to an instant reaches to the end of its day where nothing is filled from it on', async () => {
  const db = await testDatabase();
  const reach = (instant: Date): Promise<Date> => reachOf(instant, makeContext(db, instant));
  const midnight = new Date('2026-02-04T00:00:00Z');
  // Before the first fill too.
  expect(await reach(NOW)).toEqual(midnight);
  await load(db.pool, [match(NOW, { px: '1', sz: '1', side: 'B', taker: [ANN, '0.0'], maker: [MAX, '0.0'] })]);
  expect(await reach(NOW)).toEqual(NOW);
  expect(await reach(at('14:31:07.249'))).toEqual(at('14:31:07.249'));
  expect(await reach(at('14:31:07.251'))).toEqual(midnight);
  expect(await reach(midnight)).toEqual(midnight);
  expect(await reach(new Date(midnight.getTime() + 1))).toEqual(new Date('2026-02-05T00:00:00Z'));
  await db.drop();
});

test('a fill that comes while cells are told is in none of them: its hour is not of the window', async () => {
  const db = await testDatabase();
  const deal = (coin: string, time: string): Record<string, unknown> =>
    match(at(time), { coin, px: '10', sz: '1', side: 'B', taker: [ANN, '0.0'], maker: [MAX, '0.0'] });
  await load(db.pool, [deal('BTC', '12:30:00.000'), deal('BTC', '13:10:00.000'), deal('ETH', '12:40:00.000')]);
  const told = async (coming: () => Promise<unknown>): Promise<unknown> => {
    const { sql, ...context } = makeContext(db, at('13:59:59.900'));
    const query: Sql['query'] = async (statement, values) => {
      if (statement.name.startsWith('perps_coins_heatmap_all')) await coming();
      return sql.query(statement, values);
    };
    const args = { timeframe: '4h', bucket_size: '1h', limit: 2, smart_money_only: false } as const;
    return coinsVolumeHeatmap(args, { ...context, sql: withoutEmpty({ query }, async () => Number.NEGATIVE_INFINITY) });
  };
  const before = (await told(async () => undefined)) as { coin: string; volume_usd: number }[];
  expect(before.map(({ coin, volume_usd }) => [coin, volume_usd])).toEqual([
    ...[0, 0, 0, 10, 10].map((usd) => ['BTC', usd]),
    ...[0, 0, 0, 10, 0].map((usd) => ['ETH', usd]),
  ]);
  expect(await told(() => load(db.pool, [deal('BTC', '14:00:00.050')]))).toEqual(before);
  await db.drop();
});

test('windows of every length are told exactly, those that lie in one hour or in one bar too', async () => {
  const db = await world(at('15:00:00.000'));
  try {
    const sums = `
      SELECT (SELECT coalesce(sum(volume_usd), 0) FROM ${matchRows(['volume_usd'], { coin: "'BTC'" })} r)::int AS matches,
        (SELECT coalesce(sum(open_long_usd), 0) FROM ${smartRows(['open_long_usd'], { day: "'2026-02-03'", is_told: true })} r)::int AS smart,
        (SELECT coalesce(sum(open_long_usd), 0) FROM ${ownRows(['open_long_usd'], { coin: "'BTC'" })} r)::int AS own, (${activeIn()}) AS active`;
    const ends = [...TIMES, '12:00:00.000', '13:31:07.250', '14:57:03.001', '15:00:00.000'].sort();
    const eth = ['13:31:07.249', '14:35:00.000'];
    for (const [place, from] of ends.entries())
      for (const to of ends.slice(place)) {
        const { rows } = await db.pool.query(sums, [...spanOf({ from: at(from), to: at(to) })]);
        const usd = usdOf(from, to);
        const active = (usd > 0 ? 2 : 0) + (eth.some((time) => time >= from && time < to) ? 2 : 0);
        expect({ from, to, ...rows[0] }).toEqual({ from, to, matches: usd, smart: usd, own: usd, active });
      }
  } finally {
    await db.drop();
  }
});

test('windows of some days or months are told exactly, whichever of their months, days, quarters, hours and bars are cut, and whatever is left out as empty', async () => {
  const db = await testDatabase();
  try {
    const [start, days] = [Date.parse('2026-01-30T00:00:00Z'), 62];
    // One fill in each half hour of four days, then one in each day of two months, in another second of it, bought and sold in turns by one who is smart.
    const begins = [...Array(4 * 48).keys()].map((half) => half * 1_800_000).concat([...Array(days - 4).keys()].map((day) => (day + 4) * 86_400_000)); // prettier-ignore
    const fills = begins.map((begin, place) => ({
      at: start + begin + ((place * 7_919) % 1_800) * 1_000,
      usd: (place % 13) + 1,
      buys: place % 2 === 0,
    }));
    await load(db.pool, fills.map(({ at: time, usd, buys: is_buy }) => match(new Date(time), { px: '1', sz: String(usd), side: is_buy ? 'B' : 'A', taker: [ANN, '0.0'], maker: [MAX, '0.0'] }))); // prettier-ignore
    await loadScores(db.pool, '2026-02-06', { [ANN]: 90 });
    await inTransaction(db.pool, (client) => tellSmart(client, '2026-02-06'));
    const text = `
      SELECT (SELECT coalesce(sum(volume_usd), 0) FROM ${matchRows(['volume_usd'])} r)::int AS matches,
        (SELECT coalesce(sum(volume_usd), 0) FROM ${volumeRows()} r)::int AS volume,
        (SELECT coalesce(sum(fills), 0) FROM ${smartRows(['fills'], { day: "'2026-02-06'", is_told: true })} r)::int AS smart,
        (SELECT coalesce(sum(open_long_usd + open_short_usd), 0) FROM ${openRows()} r)::int AS opened,
        (SELECT coalesce(sum(open_long_usd + open_short_usd), 0) FROM ${ownRows(['open_long_usd', 'open_short_usd'], { traders: `ARRAY['${ANN}']` })} r)::int AS own`;
    const whole: Sql = { query: async (statement, values) => (await db.pool.query({ text: statement.text, values: [...values] })).rows };
    const instant = fc.oneof(
      fc.integer({ min: 0, max: 4 * 86_400_000 }),
      fc.constantFrom(...['2026-02-01', '2026-03-01', '2026-04-01'].map((day) => Date.parse(day) - start)),
      fc.integer({ min: 0, max: days * 86_400_000 }),
      fc.integer({ min: 0, max: days * 4 }).map((quarter) => quarter * 21_600_000),
      fc.integer({ min: 0, max: days * 24 }).map((hour) => hour * 3_600_000),
    );
    await fc.assert(
      fc.asyncProperty(instant, instant, async (one, other) => {
        const [from, to] = [start + Math.min(one, other), start + Math.max(one, other)];
        const span = spanOf({ from: new Date(from), to: new Date(to) });
        const within = fills.filter(({ at: time }) => time >= from && time < to);
        const [told] = await whole.query<Record<string, number>>({ name: 'told', text }, [...span]);
        const [cut] = await withoutEmpty(whole, async () => Number.POSITIVE_INFINITY).query({ name: 'told', text }, [...span]);
        expect(cut).toEqual(told);
        const usd = within.reduce((sum, { usd: one }) => sum + one, 0);
        expect([told?.matches, told?.volume, told?.smart, told?.opened]).toEqual([usd, usd, within.length, told?.own]);
      }),
      { numRuns: 100 },
    );
  } finally {
    await db.drop();
  }
});
