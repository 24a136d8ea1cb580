import { score } from '../../../../src/venues/prediction/scoring/job';
import { testDatabase } from '../../../support/database';
import { call, callOr } from '../markets/call';
import { NOW, iso, market, move, now, trade } from '../small-world';
import { loadRecords, wallet } from '../support';

/** USDC is paid in millionths: what is bought of 33.333333 shares costs a little more or less than its price. Wallet 1 buys at 0.5, wallet 2 at 0.95, wallet 3 at 0.5 for a millionth less. */

const DAY = 86_400;
const PARTS = 33.333333;

let db: Awaited<ReturnType<typeof testDatabase>>;

beforeAll(async () => {
  db = await testDatabase();
  await loadRecords(db.pool, 'markets.json', [
    market(1, {
      tags: [{ slug: 'politics' }],
      closed: true,
      outcomePrices: '["1", "0"]',
      createdAt: iso(NOW - 40 * DAY),
      closedTime: iso(NOW - DAY),
      umaResolutionStatus: 'resolved',
    }),
  ]);
  await loadRecords(db.pool, 'trades.json', [
    trade(1, 1, 0, 1, 'BUY', PARTS, 0.5, 20 * DAY),
    trade(2, 1, 0, 2, 'BUY', PARTS, 0.95, 19 * DAY),
    trade(3, 1, 0, 4, 'BUY', 1_000, 0.8, 3 * DAY),
  ]);
  await loadRecords(db.pool, 'activity.json', [
    { ...trade(4, 1, 1, 3, 'BUY', PARTS, 0.5, 18 * DAY), type: 'TRADE', usdcSize: 16.666666 },
    move(5, 1, 1, 'REDEEM', PARTS, PARTS, DAY / 2),
  ]);
  await score(db.pool, now, () => undefined);
});
afterAll(() => db.drop());

test('what is bought at 0.5 is an early call', async () => {
  const sent = { days_back: 7, min_days_early: 7, min_bet_usdc: 1 };
  const { data } = await call<{ wallet: string; entry_price: number }[]>(db, 'wallets/alpha-callers', now, sent);
  expect(data.map((row) => [row.wallet, Number(row.entry_price.toFixed(6))])).toEqual([[wallet(1), 0.5]]);
});

test('what was resolved so many days ago, and bought so many days before, is in', async () => {
  const early = async (days_back: number, min_days_early: number, at = now): Promise<string[]> => {
    const sent = { days_back, min_days_early, min_bet_usdc: 1 };
    return (await callOr<{ wallet: string }[]>(db, 'wallets/alpha-callers', at, sent, [])).map(({ wallet }) => wallet);
  };
  // At the very instant of the resolution it is known.
  expect(await early(7, 7, new Date((NOW - DAY) * 1_000))).toEqual([wallet(1)]);
  expect([await early(1, 7), await early(7, 19), await early(7, 20)]).toEqual([[wallet(1)], [wallet(1)], []]);
});

test('what is bought at 0.95 is no forecast, in its category neither', async () => {
  const { data } = await call<{ score_breakdown: { n: number } }>(db, 'wallets/profile', now, { wallet: wallet(2), explain: true });
  const sent = { category: 'Politics', min_category_trades: 1, sort_by: 'category_pnl' };
  const experts = await call<{ wallet: string; category_edge: number | null }[]>(db, 'wallets/niche-experts', now, sent);
  expect([data.score_breakdown.n, experts.data.find((row) => row.wallet === wallet(2))?.category_edge]).toEqual([0, null]);
});

test('who bought at 0.5 went against no leader', async () => {
  const { data } = await call<{ profile: { tags: string[] } }>(db, 'wallets/profile', now, { wallet: wallet(3) });
  expect(data.profile.tags).not.toContain('contrarian');
});
