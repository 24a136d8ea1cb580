import { sqlOver } from '../../../../src/db/sql';
import { prediction } from '../../../../src/venues/prediction/index';
import { listWashShares } from '../../../../src/venues/prediction/scoring/behaviour';
import { runScores } from '../../../../src/workers/scores';
import { testDatabase } from '../../../support/database';
import { market, now, trade } from '../small-world';
import { loadRecords, wallet } from '../support';

const DAYS = 86_400;

let db: Awaited<ReturnType<typeof testDatabase>>;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.drop());

test('two wallets that trade millionths of a share with each other, for less than is counted of a dollar, stop no run', async () => {
  await loadRecords(db.pool, 'markets.json', [market(51)]);
  const dust = Array.from({ length: 12 }, (_, n) => trade(n, 51, 0, 1 + (n % 2), n % 2 === 0 ? 'BUY' : 'SELL', 0.000_001, 0.4, 3_600 - n));
  await loadRecords(db.pool, 'trades.json', dust);
  await runScores(db.pool, prediction, now, () => undefined);
  const { rows } = await db.pool.query('SELECT wallet, score, tags FROM pm_wallet_score ORDER BY wallet');
  expect(rows).toEqual([1, 2].map((by) => ({ wallet: wallet(by), score: null, tags: expect.not.arrayContaining(['wash']) as unknown })));
});

test('who trades against itself or its like: five times within a minute of each other, three tenths of what both trade, in ninety days', async () => {
  let n = 100;
  /** Buys of `one` for 10 USDC and sales of `other` for 4, in turns, `gap` seconds apart, on a market of their own: so many meetings less one. */
  const turns = (one: number, other: number, times: number, gap: number, ago: number, sold = 8): Record<string, unknown>[] =>
    Array.from({ length: times }, (_, i) => {
      const [by, side, size] = i % 2 === 0 ? ([one, 'BUY', 20] as const) : ([other, 'SELL', sold] as const);
      return trade((n += 1), 60 + one, 0, by, side, size, 0.5, ago - i * gap);
    });
  await loadRecords(db.pool, 'trades.json', [
    ...turns(3, 4, 6, 60, 7_200),
    ...turns(5, 6, 6, 61, 7_200),
    ...turns(7, 8, 5, 1, 7_200),
    // A lot to wallet 9, not to 10, which trades 140 elsewhere.
    ...[...turns(9, 10, 6, 1, 7_200, 20), trade(90, 99, 0, 10, 'BUY', 280, 0.5, 7_200)],
    // Wallet 11 buys and sells by itself, wallet 12 to itself: both sides in one transaction.
    ...turns(11, 11, 6, 1, 7_200),
    ...[1, 2, 3, 4, 5].flatMap((i) => (['BUY', 'SELL'] as const).map((side) => trade(90 + i, 72, 0, 12, side, 10, 0.5, 7_200 - 100 * i))),
    // The first of them ninety days ago, or a second before.
    ...[...turns(13, 14, 6, 1, 90 * DAYS), ...turns(15, 16, 6, 1, 90 * DAYS + 1)],
  ]);
  const shares = await listWashShares(sqlOver(db), now);
  expect(new Map([...shares].map(([by, share]) => [Number(by), share]))).toEqual(
    new Map([
      [3, expect.closeTo(20 / 30, 9)],
      [4, 1],
      [12, expect.closeTo(0.5, 9)],
      [13, expect.closeTo(20 / 30, 9)],
      [14, 1],
    ]),
  );
});
