import type { AnswerMeta } from '../../../../src/venues/venue';
import { testDatabase } from '../../../support/database';
import { ask, askForError } from '../ask';
import { NOW, iso, loadSmallWorld, market, move, now, trade } from '../small-world';
import { condition, loadRecords, token, tx, wallet } from '../support';

interface Row {
  tx_hash: string;
  wallet: string;
  condition_id: string;
  token_id: string | null;
  question: string;
  outcome: string | null;
  category: string;
  side: string;
  price: number;
  size: number;
  usdc_size: number;
  timestamp: string;
  wallet_score: number | null;
  fills: number;
  pct_of_market_volume_24h: number | null;
  price_impact: number | null;
  trade_id: string;
  is_taker: boolean | null;
}

const defaults = { min_usdc: 10_000, timeframe: '24h', smart_money_only: false, limit: 50, aggregate: 'fill' };
const numbers = (rows: Row[]): number[] => rows.map((row) => Number(BigInt(row.tx_hash) - BigInt(tx(0))));

test('a redemption on a market whose result is not known yet is told at what it paid', async () => {
  const db = await testDatabase();
  await loadRecords(db.pool, 'markets.json', [market(1)]);
  await loadRecords(db.pool, 'activity.json', [move(1, 1, 1, 'REDEEM', 400, 200, 60), move(2, 1, 2, 'REDEEM', 300, 300, 30)]);
  const { data } = await ask<Row[]>(db, 'trades/whales', now, { ...defaults, min_usdc: 100 });
  expect(data.map(({ outcome, size, usdc_size, price }) => [outcome, size, usdc_size, price])).toEqual([
    [null, 300, 300, 1],
    [null, 400, 200, 0.5],
  ]);
  await db.drop();
});

describe('trades/whales', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  beforeAll(async () => {
    db = await testDatabase();
    await loadSmallWorld(db.pool);
  });
  afterAll(() => db.drop());

  const whales = async (variables: Record<string, unknown> = {}): Promise<number[]> =>
    numbers((await ask<Row[]>(db, 'trades/whales', now, { ...defaults, ...variables })).data);

  test('large fills and redemptions of all markets, newest first', async () => {
    const { data, meta } = await ask<Row[]>(db, 'trades/whales', now, defaults);
    expect(numbers(data)).toEqual([1, 4, 14, 7, 8]);
    expect(meta).toMatchObject({ timeframe: '24h', count: 5, next_cursor: null, score_version: 'pm-2026.3', warnings: [] });
    expect(data[0]).toMatchObject({
      condition_id: condition(1),
      question: 'Question 1?',
      outcome: 'Yes',
      category: 'Politics',
      side: 'BUY',
      usdc_size: 12_000.5,
      wallet_score: 80,
      fills: 1,
    });
    expect(data[2]).toMatchObject({
      side: 'REDEEM',
      price: 1,
      outcome: 'Blue Owls',
      category: 'Sports',
      usdc_size: 25_000,
      pct_of_market_volume_24h: null,
      price_impact: null,
    });
  });

  test.each<[Record<string, unknown>, number[]]>([
    [{ side: 'BUY' }, [1, 4, 7, 8]],
    [{ side: 'REDEEM' }, [14]],
    // A window holds its first instant: 14 is four hours old to the second.
    [{ timeframe: '4h' }, [1, 4, 14]],
    [{ timeframe: '1h' }, [1]],
    [{ min_usdc: 15_000 }, [4, 14, 7]],
    [{ min_usdc: 100 }, [1, 13, 16, 4, 9, 14, 7, 8]],
    [{ min_usdc: 100, side: 'SELL' }, [13]],
    [{ min_usdc: 1, timeframe: 'all', side: 'SELL' }, [13, 3, 5]],
    [{ condition_id: condition(2) }, [14, 7, 8]],
    [{ category: 'Politics' }, [1, 4]],
    [{ category: 'Politics', min_usdc: 100 }, [1, 13, 4]],
    [{ smart_money_only: true }, [1, 14, 7]],
    [{ smart_money_only: true, category: 'Sports', condition_id: condition(2), side: 'BUY' }, [7]],
    [{ smart_money_only: true, min_usdc: 50 }, [1, 2, 14, 7]],
  ])('%j', async (variables, expected) => {
    expect(await whales(variables)).toEqual(expected);
  });

  test('share of the market and move of the price', async () => {
    const { data } = await ask<Row[]>(db, 'trades/whales', now, { ...defaults, condition_id: condition(1) });
    // Before 1: 11 and 11 at 0.6, 50 seconds before now; market volume of its 24 hours: 27,086.7.
    expect(data[0]).toMatchObject({ price_impact: 0, pct_of_market_volume_24h: 44.304031 });
    // Before 4: 5 at 0.52; volume up to it: 15,000 + 5.2.
    expect(data[1]).toMatchObject({ price_impact: -0.02, pct_of_market_volume_24h: 99.965345 });
    const first = await ask<Row[]>(db, 'trades/whales', now, { ...defaults, condition_id: condition(2), side: 'BUY' });
    expect(first.data.map((row) => row.price_impact)).toEqual([null, null]);
  });

  test('share of the market to the second, wherever the day before begins and ends in an hour, and whatever came after the clock', async () => {
    const fill = (n: number, usdc: number, ago: number): Record<string, unknown> => trade(n, 70, 0, 20, 'BUY', 2 * usdc, 0.5, ago);
    const [DAY, late, early] = [86_400, 600, 6_600];
    await loadRecords(db.pool, 'torn.json', [
      fill(301, 2_000, late), fill(302, 3_000, early),
      // Around the day before 11:50, around 11:50, around the day before 10:10, after 10:10.
      fill(303, 17, DAY + late + 2_400), fill(304, 11, DAY + late), fill(305, 13, DAY + late - 1), fill(306, 100, late + 1_800), fill(307, 7, late - 300),
      fill(308, 19, DAY + early + 300), fill(309, 23, DAY + early), fill(310, 29, DAY + early - 60), fill(311, 31, early - 600),
    ]); // prettier-ignore
    const shares = async (clock: Date): Promise<(number | null)[]> =>
      (await ask<Row[]>(db, 'trades/whales', clock, { ...defaults, min_usdc: 1_000, condition_id: condition(70) })).data.map(
        (row) => row.pct_of_market_volume_24h,
      );
    const part = (usdc: number, ...others: number[]): number =>
      Number(((100 * usdc) / others.reduce((sum, other) => sum + other, usdc)).toFixed(6));
    const [first, second] = [part(2_000, 13, 3_000, 31, 100), part(3_000, 29, 17, 11, 13)];
    expect(await shares(now)).toEqual([first, second]);
    expect(await shares(new Date((NOW - late + 120) * 1_000))).toEqual([first, second]);
    expect(await shares(new Date((NOW - early + 120) * 1_000))).toEqual([second]);
  });

  test('what an empty list suggests has an answer', async () => {
    const suggested = async (sent: Record<string, unknown>): Promise<unknown> => {
      const { suggestion } = (await askForError(db, 'trades/whales', now, { ...defaults, ...sent })).context;
      expect(await whales({ ...sent, ...suggestion })).not.toEqual([]);
      return suggestion;
    };
    // The only fills of it are two of 100 USDC.
    expect(await suggested({ category: 'Crypto' })).toEqual({ min_usdc: 1 });
    expect(await suggested({ category: 'Sports', timeframe: '1h', min_usdc: 250_000 })).toEqual({ min_usdc: 25_000, timeframe: '4h' });
    // There is none of it.
    expect(await suggested({ category: 'Weather' })).toEqual({ category: null });
    expect(await suggested({ category: 'Weather', smart_money_only: true, min_usdc: 50_000 })).toEqual({ category: null, min_usdc: 5_000 });
  });

  test('nothing in scope', async () => {
    const error = await askForError(db, 'trades/whales', now, { ...defaults, timeframe: '1h', min_usdc: 15_000 });
    expect([error.code, error.context.suggestion]).toEqual(['empty_result', { timeframe: '4h' }]);
    const none = await askForError(db, 'trades/whales', now, { ...defaults, timeframe: 'all', min_usdc: 1_000_000 });
    expect([none.code, none.context.suggestion]).toEqual(['empty_result', { min_usdc: 10_000 }]);
    expect((await askForError(db, 'trades/whales', now, { ...defaults, condition_id: condition(99) })).code).toBe('not_found');
  });

  test.each(['fill', 'burst'])('pages of %s rows neither repeat nor skip while rows arrive', async (aggregate) => {
    const whole = (await ask<Row[]>(db, 'trades/whales', now, { ...defaults, min_usdc: 1, timeframe: 'all', aggregate })).data.map(
      (row) => row.trade_id,
    );
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const { data, meta }: { data: Row[]; meta: AnswerMeta } = await ask<Row[]>(
        db,
        'trades/whales',
        new Date(now.getTime() + seen.length * 1_000),
        { ...defaults, min_usdc: 1, timeframe: 'all', limit: 3, aggregate, cursor },
      );
      seen.push(...data.map((row) => row.trade_id));
      cursor = meta.next_cursor;
      await loadRecords(db.pool, `late-${aggregate}-${seen.length}.json`, [
        trade(200 + seen.length, 1, 0, 1, 'BUY', 50_000, 0.5, -seen.length),
      ]);
    } while (cursor !== null);
    expect(seen).toEqual(whole);
  });
});

describe('trades/whales, bursts', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  beforeAll(async () => {
    db = await testDatabase();
    await loadRecords(db.pool, 'markets.json', [market(1)]);
    await loadRecords(db.pool, 'trades.json', [
      trade(1, 1, 0, 1, 'BUY', 100, 0.5, 1_000),
      trade(2, 1, 0, 1, 'BUY', 300, 0.6, 940),
      trade(3, 1, 0, 1, 'BUY', 100, 0.7, 881),
      // 61 seconds after the last: another burst.
      trade(4, 1, 0, 1, 'BUY', 10, 0.7, 820),
      // Others in between do not part a burst: another wallet, another side, another token.
      trade(5, 1, 0, 2, 'BUY', 1, 0.6, 930),
      trade(6, 1, 0, 1, 'SELL', 5, 0.6, 930),
      trade(7, 1, 1, 1, 'BUY', 40, 0.4, 930),
    ]);
    await loadRecords(db.pool, 'activity.json', [{ ...trade(8, 1, 1, 1, 'BUY', 60, 0.5, 900), type: 'TRADE', usdcSize: 30 }]);
  });
  afterAll(() => db.drop());

  const bursts = async (min_usdc: number, now_ = now): Promise<Row[]> =>
    (await ask<Row[]>(db, 'trades/whales', now_, { ...defaults, min_usdc, aggregate: 'burst' })).data;

  test('fills of one wallet, token and side within 60 seconds of each other are one row', async () => {
    const rows = await bursts(1);
    expect(
      rows.map((row) => [
        Number(BigInt(row.tx_hash) - BigInt(tx(0))),
        row.fills,
        row.usdc_size,
        row.size,
        row.price,
        row.timestamp,
        row.is_taker,
      ]),
    ).toEqual([
      [4, 1, 7, 10, 0.7, iso(NOW - 820), true],
      // 50 + 180 + 70 USDC over 500 shares, told by its first fill, standing at its last.
      [1, 3, 300, 500, 0.6, iso(NOW - 881), true],
      // One of its fills is not known to be a taker's.
      [7, 2, 46, 100, 0.46, iso(NOW - 900), null],
      [6, 1, 3, 5, 0.6, iso(NOW - 930), true],
    ]);
    expect(rows[1]).toMatchObject({ token_id: token(1, 0), wallet: wallet(1), price_impact: null });
    // Price 0.7 of the newest fill against 0.7, the newest before the second of the oldest.
    expect(rows[0]).toMatchObject({ price_impact: 0 });
  });

  test('the bound is on the merged row', async () => {
    expect((await bursts(200)).map((row) => row.usdc_size)).toEqual([300]);
    expect((await bursts(46)).map((row) => row.usdc_size)).toEqual([300, 46]);
    expect((await ask<Row[]>(db, 'trades/whales', now, { ...defaults, min_usdc: 46 })).data.map((row) => row.usdc_size)).toEqual([
      70, 180, 50,
    ]);
  });

  test('only fills of the window are merged', async () => {
    const late = new Date((NOW - 950 + 86_400) * 1_000);
    expect((await bursts(200, late)).map((row) => [row.fills, row.usdc_size])).toEqual([[2, 250]]);
  });
});
