import { testDatabase } from '../../../support/database';
import { call } from '../markets/call';
import { NOW, iso, market, move, now, trade } from '../small-world';
import { loadRecords, wallet } from '../support';

const GROUP = { negRisk: true, negRiskMarketID: '0xgroup', createdAt: iso(NOW - 90 * 86_400) };

test('who converts for what it paid has neither won nor lost', async () => {
  const db = await testDatabase();
  await loadRecords(db.pool, 'markets.json', [market(1, GROUP), market(3, GROUP), market(4, GROUP)]);
  await loadRecords(db.pool, 'trades.json', [
    // 10 No of two markets for 6.5 each become 10 USDC and 10 Yes of the third, which are worth 3.
    trade(1, 1, 1, 1, 'BUY', 10, 0.65, 900),
    trade(2, 3, 1, 1, 'BUY', 10, 0.65, 900),
    ...[0.3, 0.4, 0.3].map((price, n) => trade(3 + n, [1, 3, 4][n] as number, 0, 2, 'BUY', 1, price, 800)),
  ]);
  await loadRecords(db.pool, 'activity.json', [move(9, 1, 1, 'CONVERSION', 10, 0, 600), move(9, 3, 1, 'CONVERSION', 10, 0, 600)]);
  const sent = { wallet: wallet(1), timeframe: 'all' };
  const { data } = await call<Record<string, unknown>>(db, 'wallets/pnl-breakdown', now, sent);
  expect(data).toMatchObject({ total_positions: 2, winning_positions: 0, losing_positions: 0, win_rate: 0, profit_factor: null });
  await db.drop();
});
