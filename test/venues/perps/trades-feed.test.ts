import { TIMEFRAMES } from '../../../src/lib/timeframe';
import { perpsWorld } from '../../../src/sandbox/simulator/perps';
import { testDatabase } from '../../support/database';
import { fillsOf, type RawFill, type Row, tradeRows } from './recount';
import { ago, ANN, BOB, loadSmallWorld, MAX, NOW } from './small-world';
import { windowAt } from './shared-world';
import { loadAtOnce } from '../../support/world';
import { ask, fixture, load, loadFile, match, type TestDatabase, trader } from './support';

const ENDPOINT = 'perps/trades/feed';

describe('in a small world', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await testDatabase();
    await loadSmallWorld(db.pool);
    await loadFile(db.pool, fixture('meta.json'));
  });
  afterAll(() => db.drop());
  const feed = async (variables: Record<string, unknown>, now = NOW): Promise<Row[]> =>
    (await ask<Row[]>(db, ENDPOINT, variables, now)).data;
  const brief = (rows: Row[]): string[] =>
    rows.map(({ trader: who, side, size }) => `${{ [ANN]: 'Ann', [BOB]: 'Bob', [MAX]: 'Max' }[who]} ${side} ${size}`);

  test('newest first, both sides, a flip as two rows with one trade id', async () => {
    expect(brief(await feed({ coin: 'BTC', limit: 7 }))).toEqual([
      'Bob Open Short 700', 'Bob Close Long 300', 'Max Close Short 1000', 'Ann Close Long 400', 'Max Close Short 400',
      'Ann Open Long 1000', 'Max Open Short 1000',
    ]); // prettier-ignore
  });

  test('a flip is told by its parts: size, value and fee split, PnL with what closes', async () => {
    const [open, close] = (await feed({ coin: 'BTC', limit: 2 })) as [Row, Row];
    const both = {
      trader: BOB,
      coin: 'BTC',
      price: 105,
      timestamp: '2026-01-31T11:30:00Z',
      trade_side: 'SELL',
      is_taker: true,
      is_liquidation: false,
      tx_hash: `0x${'ab'.repeat(32)}`,
      trade_id: open.trade_id,
    };
    expect(open).toEqual({ ...both, side: 'Open Short', direction: 'Short', size: 700, usd_value: 73_500, closed_pnl: 0, fee_usd: 7.35 });
    expect(close).toEqual({
      ...both,
      side: 'Close Long',
      direction: 'Long',
      size: 300,
      usd_value: 31_500,
      closed_pnl: 1_500.25,
      fee_usd: 3.15,
    });
  });

  test('the flag of a liquidation is on the liquidated account only', async () => {
    expect((await feed({ coin: 'ETH', limit: 2 })).map((row) => [row.trader, row.side, row.is_liquidation])).toEqual([
      [BOB, 'Close Short', true],
      [MAX, 'Close Long', false],
    ]);
  });

  test('a coin is found in any case and answered as the venue writes it', async () => {
    expect((await feed({ coin: 'KPEPE' }))[0]).toMatchObject({ coin: 'kPEPE', usd_value: 500, fee_usd: 0.2 });
    expect(await feed({ coin: 'kPEPE' })).toEqual(await feed({ coin: 'KPEPE' }));
  });

  // One of the fills is a flip: two rows.
  test.each([
    ['1h', 5],
    ['4h', 7],
    ['7d', 9],
    ['all', 11],
  ])('timeframe=%s: %i rows, its first instant included, now excluded', async (timeframe, rows) => {
    const { data, meta } = await ask<Row[]>(db, ENDPOINT, { coin: 'BTC', timeframe }, NOW);
    expect(data).toHaveLength(rows);
    expect([meta.timeframe, meta.window?.to, meta.count]).toEqual([timeframe, NOW, rows]);
  });

  test.each([
    ['BUY', ['Max Close Short 1000', 'Max Close Short 400', 'Ann Open Long 1000']],
    ['SELL', ['Bob Open Short 700', 'Bob Close Long 300', 'Ann Close Long 400', 'Max Open Short 1000']],
    ['Open Long', ['Ann Open Long 1000']],
    ['Open Short', ['Bob Open Short 700', 'Max Open Short 1000']],
    ['Close Long', ['Bob Close Long 300', 'Ann Close Long 400']],
    ['Close Short', ['Max Close Short 1000', 'Max Close Short 400']],
  ])('side=%s', async (side, expected) => {
    expect(brief(await feed({ coin: 'BTC', side, timeframe: '4h' }))).toEqual(expected);
  });

  test('what the clock has not reached does not exist', async () => {
    expect((await feed({ coin: 'BTC', limit: 1 }))[0]).toMatchObject({ usd_value: 73_500 });
    expect((await feed({ coin: 'BTC', limit: 1 }, ago(-2)))[0]).toMatchObject({ usd_value: 900_000 });
    await load(db.pool, [match(ago(-5), { coin: 'NEW', px: '1', sz: '1', side: 'B', taker: [ANN, '0.0'], maker: [MAX, '0.0'] })]);
    await expect(feed({ coin: 'NEW' })).rejects.toMatchObject({ code: 'not_found' });
  });

  test('an unknown coin is not found; a known one without fills in scope is empty, with a way out', async () => {
    await expect(feed({ coin: 'NOPE' })).rejects.toMatchObject({ code: 'not_found', status: 404 });
    await expect(feed({ coin: 'TIA' })).rejects.toMatchObject({ code: 'empty_result', context: { suggestion: undefined } });
    await expect(feed({ coin: 'kPEPE', timeframe: '7d' })).rejects.toMatchObject({
      code: 'empty_result',
      context: { suggestion: { timeframe: 'all' } },
    });
  });

  test('a cursor is refused with other parameters, and when it was made up', async () => {
    const { meta } = await ask<Row[]>(db, ENDPOINT, { coin: 'BTC', limit: 2 }, NOW);
    await expect(feed({ coin: 'ETH', limit: 2, cursor: meta.next_cursor })).rejects.toMatchObject({ code: 'invalid_parameter' });
    await expect(feed({ coin: 'BTC', limit: 2, side: 'BUY', cursor: meta.next_cursor })).rejects.toMatchObject({
      code: 'invalid_parameter',
    });
    await expect(feed({ coin: 'BTC', limit: 2, cursor: 'nonsense' })).rejects.toMatchObject({ code: 'invalid_parameter' });
    const [mark] = JSON.parse(Buffer.from(meta.next_cursor as string, 'base64url').toString()) as [string];
    const forged = Buffer.from(JSON.stringify([mark, 'now', 0, 'BTC', 'x', 'y', '1', 'true'])).toString('base64url');
    await expect(feed({ coin: 'BTC', limit: 2, cursor: forged })).rejects.toMatchObject({ code: 'invalid_parameter' });
  });
});

describe('against a second computation over a simulated world', () => {
  const start = new Date('2026-03-01T00:00:00Z');
  const now = new Date('2026-03-12T10:20:30.400Z');
  const world = perpsWorld({ seed: 11, size: 9_000, start });
  let db: TestDatabase;
  let fills: RawFill[];
  beforeAll(async () => {
    db = await testDatabase();
    // Three days more than the clock shows.
    const pages = [...world.pages(start, new Date(now.getTime() + 3 * 86_400_000))];
    fills = fillsOf(pages);
    await loadAtOnce(db.pool, 'perps', pages);
  });
  afterAll(() => db.drop());

  test.each(['BTC', 'xyz:CL', 'kPEPE'])('%s: every timeframe and side', async (coin) => {
    for (const timeframe of [undefined, ...TIMEFRAMES]) {
      for (const side of [undefined, 'BUY', 'SELL', 'Open Long', 'Open Short', 'Close Long', 'Close Short']) {
        const [from, to] = windowAt(timeframe ?? 'all', now);
        const expected = tradeRows(fills, { from, to, coin, side });
        const answer = ask<Row[]>(db, ENDPOINT, { coin, timeframe, side, limit: 500 }, now);
        if (expected.length === 0) await expect(answer).rejects.toMatchObject({ code: 'empty_result' });
        else expect((await answer).data).toEqual(expected.slice(0, 500));
      }
    }
  });

  test('pages neither repeat nor skip rows while rows arrive', async () => {
    const until = now.getTime();
    const all = tradeRows(fills, { from: 0, to: until, coin: 'BTC', side: 'SELL' });
    const seen: Row[] = [];
    let cursor: string | null = null;
    let clock = until;
    do {
      const page: { data: Row[]; meta: { next_cursor: string | null } } = await ask<Row[]>(
        db,
        ENDPOINT,
        { coin: 'BTC', side: 'SELL', limit: 97, cursor },
        new Date(clock),
      );
      seen.push(...page.data);
      cursor = page.meta.next_cursor;
      clock += 60_000;
      await load(db.pool, [
        match(new Date(clock), { px: '64000.5', sz: '0.1', side: 'A', taker: [trader('e'), '0.0'], maker: [trader('f'), '0.0'] }),
      ]);
    } while (cursor !== null);
    expect(seen).toEqual(all);
  });
});
