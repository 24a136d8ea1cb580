import type { Pool } from 'pg';
import { score } from '../../../../src/venues/prediction/scoring/job';
import { testDatabase } from '../../../support/database';
import { call } from '../markets/call';
import { NOW, iso, market, move, now, trade } from '../small-world';
import { condition, loadRecords, wallet } from '../support';

/** Gains of sales in wallets/activity, newest first, of wallet 1. */
async function gainsOf(fill: (pool: Pool) => Promise<unknown>, side = 'SELL'): Promise<(number | null)[]> {
  const db = await testDatabase();
  await fill(db.pool);
  const sent = { wallet: wallet(1), timeframe: 'all', side };
  const { data } = await call<{ trades: { realized_pnl_usdc: number | null }[] }>(db, 'wallets/activity', now, sent);
  await db.drop();
  return data.trades.map(({ realized_pnl_usdc }) => realized_pnl_usdc);
}

const GROUP = { negRisk: true, negRiskMarketID: '0xgroup', createdAt: iso(NOW - 90 * 86_400) };

test('shares that a conversion took or brought are sold at what they cost', async () => {
  const gains = await gainsOf(async (pool) => {
    await loadRecords(pool, 'markets.json', [market(1, GROUP), market(3, GROUP), market(4, GROUP)]);
    await loadRecords(pool, 'trades.json', [
      trade(1, 1, 1, 1, 'BUY', 20, 0.6, 900),
      trade(2, 3, 0, 1, 'BUY', 10, 0.5, 800),
      // Others tell the prices of Yes: 0.2, 0.5, 0.3.
      trade(3, 1, 0, 2, 'BUY', 1, 0.2, 700),
      trade(4, 4, 0, 2, 'BUY', 1, 0.3, 700),
      trade(6, 3, 0, 1, 'SELL', 16, 0.75, 500),
      trade(7, 1, 1, 1, 'SELL', 5, 0.9, 400),
      trade(8, 4, 0, 1, 'SELL', 8, 0.25, 300),
    ]);
    // 8 No of market 1, which cost 4.8, become 8 Yes of market 3 (5/8 of the cost) and 8 of market 4 (3/8).
    await loadRecords(pool, 'activity.json', [move(5, 1, 1, 'CONVERSION', 8, 0, 600)]);
  });
  // 8 for 2 that cost 1.8; 5 for 4.5 that cost 3; 16 of 18 for 12, all of which cost 5 and 3.
  expect(gains).toEqual([0.2, 1.5, expect.closeTo(12 - (16 * 8) / 18, 6)]);
});

test('a conversion of a market of no known group takes its shares', async () => {
  const gains = await gainsOf(async (pool) => {
    await loadRecords(pool, 'trades.json', [trade(1, 1, 1, 1, 'BUY', 20, 0.6, 900), trade(2, 1, 1, 1, 'SELL', 5, 0.9, 400), trade(3, 1, 1, 1, 'SELL', 10, 0.9, 300)]); // prettier-ignore
    await loadRecords(pool, 'markets.json', [market(1)]);
    await loadRecords(pool, 'activity.json', [move(4, 1, 1, 'CONVERSION', 8, 0, 600)]);
  });
  // 7 are left for the last sale.
  expect(gains).toEqual([null, 1.5]);
});

test('what is split once the market is resolved cost what its outcomes pay', async () => {
  const resolved = { closed: true, outcomePrices: '["1", "0"]', closedTime: iso(NOW - 500), umaResolutionStatus: 'resolved' };
  const gains = await gainsOf(async (pool) => {
    await loadRecords(pool, 'markets.json', [market(1, { ...resolved, conditionId: condition(1) })]);
    await loadRecords(pool, 'activity.json', [move(1, 1, 1, 'SPLIT', 10, 10, 400), move(2, 1, 1, 'REDEEM', 10, 10, 300)]);
    await loadRecords(pool, 'trades.json', [trade(3, 1, 0, 1, 'BUY', 1, 0.5, 900), trade(4, 1, 0, 1, 'SELL', 1, 0.5, 800)]);
  }, 'REDEEM'); // prettier-ignore
  expect(gains).toEqual([0]);
});

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

test('a gain that is told as 0 is neither won nor lost', async () => {
  const db = await testDatabase();
  await loadRecords(db.pool, 'markets.json', [market(1), market(2)]);
  await loadRecords(db.pool, 'trades.json', [
    // Of 33.333333 sold for 16.666667 it is known where 10 came from: they bring 0.00000015 more than they cost, and at 0.7 as much less.
    ...[1, 2].flatMap((id) => [trade(10 + id, id, 0, 1, 'BUY', 10, id === 1 ? 0.5 : 0.7, 900), trade(20 + id, id, 0, 1, 'SELL', 33.333333, id === 1 ? 0.5 : 0.7, 800)]), // prettier-ignore
  ]);
  const ask = async <T>(path: string, sent: Record<string, unknown>): Promise<T> => (await call<T>(db, path, now, sent)).data;
  for (const told of [false, true]) {
    if (told) await score(db.pool, now, () => undefined);
    expect(await ask('wallets/pnl-breakdown', { wallet: wallet(1), timeframe: 'all' })).toMatchObject({ total_positions: 2, total_realized_pnl: 0, winning_positions: 0, losing_positions: 0, win_rate: 0, profit_factor: null }); // prettier-ignore
    expect(await ask('wallets/profile', { wallet: wallet(1) })).toMatchObject({ profile: { win_rate: 0, profit_factor: null } });
    expect(await ask('wallets/top-performers', { timeframe: 'all', metric: 'pnl', min_trades: 1 })).toMatchObject([{ period_trades: 2, period_win_rate: 0 }]); // prettier-ignore
  }
  await db.drop();
});
