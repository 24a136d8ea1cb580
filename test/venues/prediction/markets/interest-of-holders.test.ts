import { testDatabase } from '../../../support/database';
import { NOW, iso, market, move, now, score, trade } from '../small-world';
import { loadRecords, wallet } from '../support';
import { call } from './call';

const DAY = 86_400;
const GROUP = { negRisk: true, negRiskMarketID: '0xgroup', createdAt: iso(NOW - 90 * DAY) };

test('who holds shares that a conversion brought before the window is not new to the market', async () => {
  const db = await testDatabase();
  await loadRecords(db.pool, 'markets.json', [51, 52].map((id) => market(id, GROUP))); // prettier-ignore
  await loadRecords(db.pool, 'trades.json', [
    trade(1, 51, 1, 1, 'BUY', 1_000, 0.5, 5 * DAY),
    ...[1, 2].map((by) => trade(10 + by, 52, 0, by, 'BUY', 1_000, 0.5, 3_600)),
  ]);
  await loadRecords(db.pool, 'activity.json', [move(2, 51, 1, 'CONVERSION', 10, 0, 4 * DAY)]);
  await score(db.pool, '2026-03-09', [[1, 80], [2, 70]], 'v'); // prettier-ignore
  const { data } = await call<{ wallets: { wallet: string }[] }[]>(db, 'markets/new-smart-interest', now);
  expect(data.map((row) => row.wallets.map((one) => one.wallet))).toEqual([[wallet(2)]]);
  await db.drop();
});
