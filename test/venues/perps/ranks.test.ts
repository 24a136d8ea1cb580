import { testDatabase } from '../../support/database';
import { NOW, ago, loadScores } from './small-world';
import { ask, load, match, trader, type TestDatabase } from './support';

const [ANN, BOB, CAT, MAX] = ['1', '2', '3', '9'].map(trader) as [string, string, string, string];

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.drop());

/** So many round trips of an account in a coin, each lost. */
const lost = (account: string, coin: string, trips: number, from: number): Record<string, unknown>[] =>
  Array.from({ length: trips }, (_, trip) => [
    match(ago(from - 2 * trip), { coin, px: '100', sz: '1', side: 'B', taker: [account, '0.0'], maker: [MAX, '0.0'] }),
    match(ago(from - 2 * trip - 1), {
      coin,
      px: '99',
      sz: '1',
      side: 'A',
      taker: [account, '1.0', { closedPnl: '-1' }],
      maker: [MAX, '-1.0'],
    }),
  ]).flat();

describe('who won none of its round trips stands by its name, however many these are', () => {
  // Wilson's bound of none won is 0, and in binary fractions a little less for some numbers of trips: 9 and 13, not 3.
  beforeAll(async () => {
    await load(db.pool, [
      ...lost(ANN, 'AAA', 9, 600),
      ...lost(BOB, 'AAA', 3, 500),
      ...lost(CAT, 'AAA', 13, 400),
      ...lost(CAT, 'BBB', 3, 300),
    ]);
    await loadScores(db.pool, '2026-01-31', { [ANN]: 50, [BOB]: 50, [CAT]: 50 });
  });
  const names = async (path: string, parameters: Record<string, unknown>): Promise<string[]> => {
    const { data } = await ask<{ trader: string; coin: string; win_rate_lb: number }[]>(
      db,
      `perps/${path}`,
      { sort_by: 'win_rate', ...parameters },
      NOW,
    );
    const rows = data.filter((row) => row.trader !== MAX);
    expect(rows.map(({ win_rate_lb }) => win_rate_lb)).toEqual(rows.map(() => 0));
    return rows.map((row) => row.trader ?? row.coin);
  };

  test('traders, best or worst first', async () => {
    for (const sort_order of ['desc', 'asc'])
      expect(await names('traders/leaderboard', { min_trades: 1, sort_order })).toEqual([ANN, BOB, CAT]);
  });
  test('coins of one', async () => expect(await names('traders/pnl-by-coin', { trader: CAT })).toEqual(['AAA', 'BBB']));
  test('wallets with a score', async () => expect(await names('smart-wallets/list', { min_score: 50 })).toEqual([ANN, BOB, CAT]));
});
