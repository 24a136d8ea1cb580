import { prediction } from '../../../../src/venues/prediction/index';
import { runScores } from '../../../../src/workers/scores';
import { testDatabase } from '../../../support/database';
import { market, now, trade } from '../small-world';
import { loadRecords, wallet } from '../support';

test('two wallets that trade millionths of a share with each other, for less than is counted of a dollar, stop no run', async () => {
  const db = await testDatabase();
  await loadRecords(db.pool, 'markets.json', [market(51)]);
  const dust = Array.from({ length: 12 }, (_, n) => trade(n, 51, 0, 1 + (n % 2), n % 2 === 0 ? 'BUY' : 'SELL', 0.000_001, 0.4, 3_600 - n));
  await loadRecords(db.pool, 'trades.json', dust);
  await runScores(db.pool, prediction, now, () => undefined);
  const { rows } = await db.pool.query('SELECT wallet, score, tags FROM pm_wallet_score ORDER BY wallet');
  expect(rows).toEqual([1, 2].map((by) => ({ wallet: wallet(by), score: null, tags: expect.not.arrayContaining(['wash']) as unknown })));
  await db.drop();
});
