import { perpsWorld } from '../../../src/sandbox/simulator/perps';
import { testDatabase } from '../../support/database';
import { fillsOf, type RawFill, type Row, tradeRows } from './recount';
import { ago, ANN, BOB, loadScores, loadSmallWorld, MAX, NOW } from './small-world';
import { loadAtOnce } from '../../support/world';
import { ask, load, match, query, type TestDatabase, trader } from './support';

const ENDPOINT = 'perps/trades/whales';
type WhaleRow = Row & { smart_score: number | null };

describe('in a small world', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await testDatabase();
    await loadSmallWorld(db.pool);
    await loadScores(db.pool, '2026-01-29', { [ANN]: 99, [BOB]: 95 }, 'perps-old');
    await loadScores(db.pool, '2026-01-30', { [ANN]: 91.4, [BOB]: 84.9, [MAX]: null });
    await loadScores(db.pool, '2026-02-01', { [ANN]: 10, [BOB]: 90 });
  });
  afterAll(() => db.drop());
  const whales = async (variables: Record<string, unknown>, now = NOW): Promise<WhaleRow[]> =>
    (await ask<WhaleRow[]>(db, ENDPOINT, variables, now)).data;
  const brief = (rows: Row[]): string[] =>
    rows.map((row) => `${{ [ANN]: 'Ann', [BOB]: 'Bob', [MAX]: 'Max' }[row.trader]} ${row.side} ${row.usd_value}`);

  test('by default: 50,000 USD and more in 24 hours, all coins, each part of a flip by itself', async () => {
    const { data, meta } = await ask<WhaleRow[]>(db, ENDPOINT, {}, NOW);
    expect(brief(data)).toEqual([
      'Bob Close Short 66000',
      'Max Close Long 66000',
      'Bob Open Short 73500',
      'Max Close Short 105000',
      'Ann Open Long 100000',
      'Max Open Short 100000',
    ]);
    expect(meta).toMatchObject({
      timeframe: '24h',
      window: { from: ago(24 * 60), to: NOW },
      count: 6,
      next_cursor: null,
      score_version: 'perps-test',
      warnings: [],
    });
  });

  test.each([
    [{ min_usd: 73_500 }, ['Bob Open Short 73500', 'Max Close Short 105000', 'Ann Open Long 100000', 'Max Open Short 100000']],
    [{ min_usd: 73_500.01 }, ['Max Close Short 105000', 'Ann Open Long 100000', 'Max Open Short 100000']],
    [{ min_usd: 31_500, side: 'Close Long' }, ['Max Close Long 66000', 'Bob Close Long 31500', 'Ann Close Long 44000']],
    [{ timeframe: '1h' }, ['Bob Close Short 66000', 'Max Close Long 66000', 'Bob Open Short 73500', 'Max Close Short 105000']],
    [
      { timeframe: '30d', coin: 'btc', side: 'BUY', min_usd: 1 },
      ['Max Close Short 105000', 'Max Close Short 44000', 'Ann Open Long 100000', 'Bob Open Long 1000', 'Ann Open Long 200000'],
    ],
    [{ coin: 'ETH' }, ['Bob Close Short 66000', 'Max Close Long 66000']],
    [{ direction: 'Long' }, ['Max Close Long 66000', 'Ann Open Long 100000']],
    [{ direction: 'Short', side: 'SELL' }, ['Bob Open Short 73500', 'Max Open Short 100000']],
    [{ smart_money_only: true }, ['Ann Open Long 100000']],
    [
      { smart_money_only: true, min_usd: 1, coin: 'BTC', timeframe: 'all' },
      ['Ann Close Long 44000', 'Ann Open Long 100000', 'Ann Open Long 200000'],
    ],
    [{ limit: 1 }, ['Bob Close Short 66000']],
  ])('%j', async (variables, expected) => {
    expect(brief(await whales(variables))).toEqual(expected);
  });

  test("the score is the newest of the answer's time", async () => {
    const scores = async (now: Date): Promise<unknown[]> =>
      [...new Set((await whales({ timeframe: 'all', min_usd: 1 }, now)).map((row) => `${row.trader[2]} ${row.smart_score}`))].sort();
    expect(await scores(NOW)).toEqual(['a 91.4', 'b 84.9', 'c null']);
    expect(await scores(new Date('2026-01-29T00:00:00Z'))).toEqual(['a 99', 'b 95', 'c null']);
    expect(await scores(new Date('2026-01-20T00:00:00Z'))).toEqual(['a null', 'c null']);
    expect(await scores(new Date('2026-02-02T00:00:00Z'))).toEqual(['a 10', 'b 90', 'c null']);
  });

  test('rows link to the trader and the coin', async () => {
    const text =
      '{ perpsTradesWhales(limit: 3, coin: "BTC") { coin trader_profile { trader smart_score tier tags } coin_info { sz_decimals } } }';
    await load(db.pool, [{ universe: [{ name: 'BTC', szDecimals: 5, maxLeverage: 40 }] }], { format: 'json' });
    const data = await query<{ trader_profile: { trader: string; tier: string; tags: string[] }; coin_info: unknown }[]>(
      db,
      text.replace('perpsTradesWhales', 'data: perpsTradesWhales'),
      NOW,
    );
    expect(data.map(({ trader_profile: who }) => [who.trader, who.tier, who.tags])).toEqual([
      [BOB, 'average', ['swing']],
      [MAX, 'unscored', ['swing']],
      [ANN, 'smart', ['swing']],
    ]);
    expect(data[0]?.coin_info).toEqual({ sz_decimals: 5 });
  });

  test('nothing in scope is an empty result with a wider scope; an unknown coin is not found', async () => {
    const refused = async (variables: Record<string, unknown>): Promise<unknown> => ask(db, ENDPOINT, variables, NOW).then(() => 'answered', (error: unknown) => error); // prettier-ignore
    expect(await refused({ coin: 'kPEPE' })).toMatchObject({
      code: 'empty_result',
      status: 404,
      context: { suggestion: { timeframe: '7d' } },
    });
    expect(await refused({ coin: 'kPEPE', timeframe: '7d', min_usd: 1 })).toMatchObject({
      code: 'empty_result',
      context: { suggestion: { timeframe: 'all' } },
    });
    expect(await refused({ min_usd: 1e12, timeframe: 'all' })).toMatchObject({
      code: 'empty_result',
      context: { suggestion: { min_usd: 1e11 } },
    });
    expect(await refused({ coin: 'kPEPE', timeframe: 'all' })).toMatchObject({
      code: 'empty_result',
      context: { suggestion: { min_usd: 1 } },
    });
    expect(await refused({ side: 'Open Long', direction: 'Short' })).toMatchObject({ code: 'empty_result' });
    expect(await refused({ coin: 'NOPE' })).toMatchObject({ code: 'not_found' });
  });

  test('before the first score nobody is smart: an empty result that says so', async () => {
    await expect(whales({ smart_money_only: true, timeframe: 'all' }, new Date('2026-01-20T00:00:00Z'))).rejects.toMatchObject({
      code: 'empty_result',
      context: { suggestion: { smart_money_only: false } },
    });
  });
});

test('a part of a flip that is shown as the bound reaches it, whatever noise the position carries', async () => {
  const db = await testDatabase();
  try {
    // 0.1 + 0.2 in binary fractions: what is opened beyond it is 69.999999999999996 USD.
    await load(db.pool, [
      match(ago(5), { px: '100', sz: '1', side: 'A', taker: [ANN, '0.30000000000000004'], maker: [MAX, '-0.30000000000000004'] }),
    ]);
    const { data } = await ask<WhaleRow[]>(db, ENDPOINT, { min_usd: 70 }, NOW);
    expect(data.map(({ side, usd_value }) => [side, usd_value])).toEqual([
      ['Open Short', 70],
      ['Open Long', 70],
    ]);
    await expect(ask(db, ENDPOINT, { min_usd: 70.000_001 }, NOW)).rejects.toMatchObject({ code: 'empty_result' });
  } finally {
    await db.drop();
  }
});

describe('against a second computation over a simulated world', () => {
  const start = new Date('2026-03-01T00:00:00Z');
  const now = new Date('2026-03-11T17:05:06.700Z');
  const world = perpsWorld({ seed: 5, size: 9_000, start });
  let db: TestDatabase;
  let fills: RawFill[];
  let smart: Set<string>;
  beforeAll(async () => {
    db = await testDatabase();
    const pages = [...world.pages(start, new Date(now.getTime() + 86_400_000))];
    fills = fillsOf(pages);
    await loadAtOnce(db.pool, 'perps', pages);
    smart = new Set(world.truth(now).filter(({ role }) => role === 'skilled').map((planted) => planted.trader)); // prettier-ignore
    const others = fills.slice(0, 50).map(({ user }) => user).filter((user) => !smart.has(user)); // prettier-ignore
    await loadScores(db.pool, '2026-03-10', {
      ...Object.fromEntries(others.map((user) => [user, 84.9])),
      ...Object.fromEntries([...smart].map((user) => [user, 85])),
    });
  });
  afterAll(() => db.drop());

  const FROM: Record<string, number> = { '1h': 3_600_000, '24h': 86_400_000, '7d': 7 * 86_400_000, all: now.getTime() };
  const cases = ['1h', '24h', 'all'].flatMap((timeframe) =>
    [1, 12_345.67, 50_000].flatMap((min_usd) => [undefined, 'DOGE'].map((coin) => ({ timeframe, min_usd, coin }))),
  );

  test.each(cases)('%j, every side, direction, smart or not', async (base) => {
    for (const side of [undefined, 'BUY', 'SELL', 'Open Long', 'Close Short']) {
      for (const direction of [undefined, 'Long', 'Short']) {
        for (const smart_money_only of [false, true]) {
          const filter = {
            from: now.getTime() - (FROM[base.timeframe] as number),
            to: now.getTime(),
            coin: base.coin,
            min_usd: base.min_usd,
            side,
            direction,
          };
          const expected = tradeRows(fills, { ...filter, traders: smart_money_only ? smart : undefined });
          const answer = ask<WhaleRow[]>(db, ENDPOINT, { ...base, side, direction, smart_money_only, limit: 200 }, now);
          if (expected.length === 0) await expect(answer).rejects.toMatchObject({ code: 'empty_result' });
          else {
            const rows = (await answer).data;
            expect(rows.map(({ smart_score: _score, ...row }) => row)).toEqual(expected.slice(0, 200));
            expect(rows.every((row) => (row.smart_score === 85) === smart.has(row.trader))).toBe(true);
          }
        }
      }
    }
  });

  test('pages over all coins neither repeat nor skip rows while rows arrive', async () => {
    const all = tradeRows(fills, { from: 0, to: now.getTime(), min_usd: 10_000 });
    const seen: Row[] = [];
    let cursor: string | null = null;
    let clock = now.getTime();
    do {
      const page: { data: WhaleRow[]; meta: { next_cursor: string | null } } = await ask<WhaleRow[]>(
        db,
        ENDPOINT,
        { timeframe: 'all', min_usd: 10_000, limit: 73, cursor },
        new Date(clock),
      );
      seen.push(...page.data.map(({ smart_score: _score, ...row }) => row));
      cursor = page.meta.next_cursor;
      clock += 1_000;
      await load(db.pool, [
        match(new Date(clock), { px: '64000', sz: '10', side: 'A', taker: [trader('e'), '5.0'], maker: [trader('f'), '0.0'] }),
      ]);
    } while (cursor !== null);
    expect(seen).toEqual(all);
    expect(seen.length).toBeGreaterThan(500);
  });
});
