import { testDatabase } from '../../../support/database';
import { call } from '../markets/call';
import { NOW, iso, market, move, now, trade } from '../small-world';
import { loadRecords, token, wallet } from '../support';

/** To copy a purchase is to hold nothing before it. */

const DAY = 86_400;
const GROUP = { negRisk: true, negRiskMarketID: '0xgroup', createdAt: iso(NOW - 90 * DAY) };

test('who holds shares bought after others were given away, or brought by a conversion, copies no purchase of them', async () => {
  const db = await testDatabase();
  await loadRecords(db.pool, 'markets.json', [
    ...[51, 52, 53, 54, 58].map((id) => market(id)),
    ...[55, 56, 57].map((id) => market(id, GROUP)),
  ]);
  const led = [51, 52, 53, 54, 55].flatMap((id, place) => [
    trade(10 + place, id, 0, 1, 'BUY', 100, 0.5, 50_000 - place * 8_000),
    trade(20 + place, id, 0, 2, 'BUY', 50, 0.5, 49_400 - place * 8_000),
  ]);
  // Of what wallet 2 sells of market 54 nobody saw it come.
  const before = [
    trade(1, 54, 0, 2, 'SELL', 20, 0.5, 3 * DAY),
    trade(2, 54, 0, 2, 'BUY', 10, 0.5, 2 * DAY),
    trade(3, 56, 1, 2, 'BUY', 10, 0.5, 2 * DAY),
  ];
  const others = Array.from({ length: 40 }, (_, n) => trade(100 + n, 58, 0, 3, 'BUY', 1, 0.5, 5_000 + n));
  await loadRecords(db.pool, 'trades.json', [...led, ...before, ...others]);
  await loadRecords(db.pool, 'activity.json', [move(4, 56, 2, 'CONVERSION', 10, 0, DAY)]);
  const { data } = await call<Record<string, unknown>[]>(db, 'wallets/copy-traders', now, { wallet: wallet(1) });
  expect(data).toMatchObject([
    { wallet: wallet(2), overlap_trades: 3, copied_tokens: [51, 52, 53].map((id) => ({ token_id: token(id, 0) })) },
  ]);
  await db.drop();
});
