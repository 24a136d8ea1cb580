import { testDatabase } from '../../../support/database';
import { call } from '../markets/call';
import { market, move, now, trade } from '../small-world';
import { loadRecords, token, wallet } from '../support';

interface Ordered {
  consensus: { outcome: string; usdc: number }[];
  conflicts: { outcomes: { outcome: string; usdc: number }[] }[];
}

test('outcomes of the same cost are ordered by token and name, not by the digit that a split leaves over', async () => {
  const db = await testDatabase();
  const outcomes = ['A', 'B', 'C'];
  const tokens = outcomes.map((_, index) => token(1, index));
  await loadRecords(db.pool, 'markets.json', [market(1, { outcomes: JSON.stringify(outcomes), clobTokenIds: JSON.stringify(tokens), outcomePrices: '["0.2", "0.3", "0.5"]' })]); // prettier-ignore
  // A third of a cent each: of 18 digits the last outcome has one more.
  await loadRecords(db.pool, 'activity.json', [move(1, 1, 1, 'SPLIT', 0.01, 0.01, 60), move(2, 1, 2, 'SPLIT', 0.01, 0.01, 60)]);
  await loadRecords(db.pool, 'trades.json', [trade(3, 2, 0, 1, 'BUY', 1, 0.5, 60), trade(4, 2, 0, 2, 'BUY', 1, 0.5, 60)]);
  const { data } = await call<Ordered>(db, 'wallets/portfolio', now, { wallets: [wallet(1), wallet(2)], min_position_usdc: 0 });
  const split = outcomes.map((outcome) => ({ outcome, usdc: 0.006667 }));
  expect(data.consensus.filter(({ usdc }) => usdc < 0.1)).toMatchObject(split);
  expect(data.conflicts).toMatchObject([{ outcomes: split }]);
  await db.drop();
});
