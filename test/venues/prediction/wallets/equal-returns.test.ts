import { testDatabase } from '../../../support/database';
import { call } from '../markets/call';
import { NOW, iso, market, now, trade } from '../small-world';
import { loadRecords, wallet } from '../support';

/**
 * Wallet 301 bought at 0.90 on each of twelve markets that were won, so that every return is a ninth: but for the last digits of binary fractions, and of
 * millionths of a dollar. Wallet 302 bought nine of them, and one at 0.45.
 */

type Row = Record<string, unknown>;
const DAY = 86_400;
const MARKETS = Array.from({ length: 12 }, (_, n) => 41 + n);
const SIZES = [100, 70.3, 33.333333];

describe('returns that do not vary have no Sharpe ratio', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  beforeAll(async () => {
    db = await testDatabase();
    const won = { closed: true, outcomePrices: '["1", "0"]', umaResolutionStatus: 'resolved', tags: [{ slug: 'crypto' }] };
    await loadRecords(
      db.pool,
      'markets.json',
      MARKETS.map((n) => market(n, { ...won, closedTime: iso(NOW - DAY - n) })),
    );
    await loadRecords(db.pool, 'trades.json', [
      ...MARKETS.map((n) => trade(n, n, 0, 301, 'BUY', SIZES[n % 3] as number, 0.9, 3 * DAY - n)),
      ...MARKETS.slice(0, 10).map((n) => trade(100 + n, n, 0, 302, 'BUY', 100, n === 41 ? 0.45 : 0.9, 3 * DAY - n - 100)),
    ]);
  });
  afterAll(() => db.drop());

  const ask = async <T>(path: string, sent: Row): Promise<T> => (await call<T>(db, `wallets/${path}`, now, sent)).data;

  test('none leads a ranking by it', async () => {
    const ranked = await ask<Row[]>('top-performers', { metric: 'sharpe', min_trades: 1 });
    expect(ranked.map((row) => row.wallet)).toEqual([wallet(302)]);
    const shown = await ask<Row[]>('top-performers', { metric: 'pnl', min_trades: 1 });
    expect(shown.map((row) => [row.wallet, row.sharpe_ratio === null])).toEqual([[wallet(302), false], [wallet(301), true]]); // prettier-ignore
    const experts = await ask<Row[]>('niche-experts', { category: 'Crypto', min_category_trades: 9 });
    expect(experts.map((row) => [row.wallet, row.category_sharpe === null])).toEqual([[wallet(302), false], [wallet(301), true]]); // prettier-ignore
  });

  test('a profile and a comparison say none', async () => {
    const { profile, category_breakdown } = await ask<{ profile: Row; category_breakdown: Row[] }>('profile', { wallet: wallet(301) });
    expect([profile.sharpe, category_breakdown.map((row) => row.sharpe)]).toEqual([null, [null]]);
    const { comparison_winners } = await ask<{ comparison_winners: Row }>('compare', { wallets: [301, 302].map(wallet) });
    expect(comparison_winners.sharpe).toEqual([wallet(302)]);
  });
});
