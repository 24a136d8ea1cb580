import { TIMEFRAMES } from '../../../src/lib/timeframe';
import { perpsWorld } from '../../../src/sandbox/simulator/perps';
import { testDatabase } from '../../support/database';
import { fillsOf, type RawFill, totals } from './recount';
import { ago, ANN, BOB, loadScores, loadSmallWorld, MAX, NOW } from './small-world';
import { windowAt } from './shared-world';
import { loadAtOnce } from '../../support/world';
import { ask, load, match, type TestDatabase, trader, wireFill } from './support';

const ENDPOINT = 'perps/platform/stats';

describe('in a small world', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await testDatabase();
    await loadSmallWorld(db.pool);
  });
  afterAll(() => db.drop());
  const stats = (variables: Record<string, unknown>, now = NOW): ReturnType<typeof ask<Record<string, unknown>>> =>
    ask(db, ENDPOINT, variables, now);

  test('the last 24 hours: each match once, sides by the taker, no scores is null', async () => {
    const { data, meta } = await stats({});
    expect(data).toEqual({
      total_volume_usd: 315_000, total_trades: 4, active_traders: 3, smart_wallet_count: null, unique_coins: 2, timeframe: '24h',
      buy_volume_usd: 166_000, sell_volume_usd: 149_000, long_short_ratio: 1.114094, smart_volume_usd: null, liquidation_volume_usd: 66_000,
      volume_change_pct: 425,
    }); // prettier-ignore
    expect(meta).toMatchObject({ timeframe: '24h', window: { from: ago(24 * 60), to: NOW }, count: null, warnings: [] });
  });

  test.each([
    ['1h', { total_volume_usd: 215_000, total_trades: 3, unique_coins: 2, volume_change_pct: 115 }],
    ['7d', { total_volume_usd: 376_000, total_trades: 6, volume_change_pct: 88 }],
    // Of the thirty days before, ten are on record.
    ['30d', { total_volume_usd: 576_000, volume_change_pct: null }],
    ['365d', { total_volume_usd: 576_500, total_trades: 8, unique_coins: 3, volume_change_pct: null }],
    ['all', { total_volume_usd: 576_500, total_trades: 8, active_traders: 3, volume_change_pct: null }],
    ['today', { total_volume_usd: 315_000, volume_change_pct: null }],
  ])('timeframe=%s', async (timeframe, expected) => {
    expect((await stats({ timeframe })).data).toMatchObject({ timeframe, ...expected });
  });

  test('without taker sales there is no ratio', async () => {
    expect((await stats({ timeframe: '1h' }, ago(7 * 24 * 60 - 1))).data).toMatchObject({
      buy_volume_usd: 1_000,
      sell_volume_usd: 0,
      long_short_ratio: null,
    });
  });

  test('nothing filled is an empty result', async () => {
    await expect(stats({ timeframe: '1h' }, ago(5 * 24 * 60))).rejects.toMatchObject({
      code: 'empty_result',
      context: { suggestion: { timeframe: '7d' } },
    });
    await expect(stats({ timeframe: 'all' }, ago(50 * 24 * 60))).rejects.toMatchObject({
      code: 'empty_result',
      context: { suggestion: undefined },
    });
  });
});

describe('with more loaded', () => {
  let db: TestDatabase;
  beforeEach(async () => {
    db = await testDatabase();
    await loadSmallWorld(db.pool);
  });
  afterEach(() => db.drop());
  const stats = (variables: Record<string, unknown>, now = NOW): ReturnType<typeof ask<Record<string, unknown>>> =>
    ask(db, ENDPOINT, variables, now);

  test('smart wallets are those of the newest run that traded in the window; their own fills count', async () => {
    await loadScores(db.pool, '2026-01-30', { [ANN]: 91, [BOB]: 84.9, [MAX]: null, [trader('9')]: 99 });
    const { data, meta } = await stats({ timeframe: '4h' });
    expect(data).toMatchObject({ smart_wallet_count: 1, smart_volume_usd: 144_000 });
    expect(meta.score_version).toBe('perps-test');
    expect((await stats({ timeframe: '1h' }, ago(25 * 60))).data).toMatchObject({ smart_wallet_count: 0, smart_volume_usd: 0 });
    expect((await stats({ timeframe: '1h' }, ago(7 * 24 * 60 - 1))).data).toMatchObject({
      smart_wallet_count: null,
      smart_volume_usd: null,
    });
    expect((await stats({ timeframe: '1h' }, ago(-30))).data).toMatchObject({ smart_wallet_count: 1, smart_volume_usd: 900_000 });
  });

  test('one side of a match is enough for market figures, from whoever it comes', async () => {
    const maker = wireFill({ px: '100', sz: '50', side: 'B', crossed: false, tid: 9_001, time: ago(5).getTime() });
    const unknown = wireFill({ px: '100', sz: '10', side: 'B', crossed: undefined, tid: 9_002, time: ago(5).getTime() });
    await load(db.pool, [{ channel: 'userFills', data: { user: trader('8'), fills: [maker, unknown] } }]);
    const { data, meta } = await stats({ timeframe: '1h' });
    expect(data).toMatchObject({ total_volume_usd: 221_000, total_trades: 5, sell_volume_usd: 154_000, active_traders: 4 });
    expect(meta.warnings).toEqual(['1 match does not say which side took: in volume, not in buys and sells']);
  });

  test('every answer about takers tells of matches that do not say who took', async () => {
    const unknown = wireFill({ px: '1', sz: '10', side: 'B', crossed: undefined, tid: 9_003, time: ago(5).getTime() });
    await load(db.pool, [{ channel: 'userFills', data: { user: trader('8'), fills: [unknown] } }]);
    const warned = ['1 match does not say which side took: in volume, not in buys and sells'];
    const answers = ['coins/trending', 'coins/volume-heatmap', 'pressure/pairs', 'pressure/summary'];
    for (const answer of answers)
      expect([answer, (await ask(db, `perps/${answer}`, { timeframe: '1h' }, NOW)).meta.warnings]).toEqual([answer, warned]);
  });

  test('settlements belong to the account, not to the market', async () => {
    await load(db.pool, [
      {
        block_time: ago(3).toISOString(),
        block_number: 1,
        events: [[trader('8'), wireFill({ dir: 'Settlement', tid: 0, time: ago(3).getTime() })]],
      },
    ]);
    expect((await stats({ timeframe: '1h' })).data).toMatchObject({
      total_volume_usd: 215_000,
      total_trades: 3,
      unique_coins: 2,
      active_traders: 4,
    });
  });

  test('a window of settlements alone is empty: nothing was traded in it', async () => {
    const settled = wireFill({ dir: 'Settlement', tid: 0, side: 'A', startPosition: '1.0', time: ago(-90).getTime() });
    await load(db.pool, [[trader('8'), settled]]);
    await loadScores(db.pool, '2026-01-30', { [trader('8')]: 91 });
    // By its bars, and by its day.
    for (const [timeframe, now] of [
      ['1h', ago(-120)],
      ['24h', ago(-26 * 60)],
    ] as const)
      await expect(stats({ timeframe }, now)).rejects.toMatchObject({ code: 'empty_result' });
  });

  test('volume of whales by side rebuilds buys and sells', async () => {
    await load(db.pool, [match(ago(2), { px: '101', sz: '33', side: 'A', taker: [ANN, '2600.0'], maker: [MAX, '-1610.0'] })]);
    const { data } = await stats({});
    const takers = async (side: string): Promise<number> =>
      (await ask<{ is_taker: boolean; usd_value: number }[]>(db, 'perps/trades/whales', { min_usd: 1, side }, NOW)).data.reduce(
        (sum, row) => sum + (row.is_taker ? row.usd_value : 0),
        0,
      );
    expect([await takers('BUY'), await takers('SELL')]).toEqual([data.buy_volume_usd, data.sell_volume_usd]);
  });
});

describe('against a second computation over a simulated world', () => {
  const start = new Date('2026-03-01T00:00:00Z');
  const now = new Date('2026-04-02T13:14:15.161Z');
  const world = perpsWorld({ seed: 3, size: 6_000, start });
  let db: TestDatabase;
  let fills: RawFill[];
  beforeAll(async () => {
    db = await testDatabase();
    const pages = [...world.pages(start, new Date(now.getTime() + 3_600_000))];
    fills = fillsOf(pages);
    await loadAtOnce(db.pool, 'perps', pages);
  });
  afterAll(() => db.drop());

  const expected = (timeframe: string, smart: ReadonlySet<string> | null): Record<string, unknown> => {
    const [from, to] = windowAt(timeframe, now);
    return { ...totals(fills, from, to, timeframe === 'all' ? null : 2 * from - to, smart), timeframe };
  };

  test.each(TIMEFRAMES)('timeframe=%s, before the first scores', async (timeframe) => {
    expect((await ask(db, ENDPOINT, { timeframe }, now)).data).toEqual(expected(timeframe, null));
  });

  describe('with scores', () => {
    const skilled = new Set(world.truth(now).flatMap(({ role, trader: address }) => (role === 'skilled' ? [address] : [])));
    beforeAll(() => loadScores(db.pool, '2026-04-02', Object.fromEntries([...skilled].map((address) => [address, 90]))));

    test.each(TIMEFRAMES)('timeframe=%s', async (timeframe) => {
      expect((await ask(db, ENDPOINT, { timeframe }, now)).data).toEqual(expected(timeframe, skilled));
    });
  });
});
