import { wilsonLowerBound } from '../../../../src/lib/statistics';
import { testDatabase } from '../../../support/database';
import { call, callForError } from '../markets/call';
import { NOW, iso, market, now, trade } from '../small-world';
import { condition, loadRecords, wallet } from '../support';

/**
 * Rankings and comparisons worked out by hand. Wallet 201 bought 100 shares at 0.50 on each of twelve crypto markets, of which eight won, and holds
 * $400 in sports; 202 and 204 bought 100 at 0.20 on the first one; 203 did what 201 did on the first ten, but is a machine.
 */

type Row = Record<string, unknown>;
const DAY = 86_400;
const MARKETS = Array.from({ length: 12 }, (_, n) => 41 + n);

describe('wallets by hand', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  beforeAll(async () => {
    db = await testDatabase();
    await loadRecords(db.pool, 'markets.json', [
      ...MARKETS.map((n) =>
        market(n, {
          tags: [{ slug: 'crypto' }],
          closed: true,
          outcomePrices: n < 49 ? '["1", "0"]' : '["0", "1"]',
          closedTime: iso(NOW - DAY - n),
          umaResolutionStatus: 'resolved',
        }),
      ),
      market(60, { tags: [{ slug: 'nba' }] }),
    ]);
    await loadRecords(db.pool, 'trades.json', [
      ...MARKETS.map((n) => trade(n, n, 0, 201, 'BUY', 100, 0.5, 3 * DAY - n)),
      ...MARKETS.slice(0, 10).map((n) => trade(100 + n, n, 0, 203, 'BUY', 100, 0.5, 3 * DAY - n - 100)),
      trade(200, 60, 0, 201, 'BUY', 800, 0.5, 2 * DAY),
      trade(201, 41, 0, 202, 'BUY', 100, 0.2, 3 * DAY - 641),
      trade(202, 41, 0, 204, 'BUY', 100, 0.2, 3 * DAY - 1_241),
    ]);
    for (const [by, score, tags] of [[201, 70, ['smart']], [203, null, ['hft_bot']]] as const)
      await db.pool.query("INSERT INTO pm_wallet_score (wallet, day, score, tags, version) VALUES ($1, '2026-03-10', $2, $3, 'test')", [wallet(by), score, tags]); // prettier-ignore
  });
  afterAll(() => db.drop());

  const ask = async <T>(path: string, sent: Row): Promise<T> => (await call<T>(db, `wallets/${path}`, now, sent)).data;

  // Eight returns of 1, four of −1: mean 1/3, sample deviation √(32/33).
  const sharpe = 1 / 3 / Math.sqrt(32 / 33);

  test('top-performers', async () => {
    const rows = await ask<Row[]>('top-performers', {});
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({
      rank: 1, wallet: wallet(201), period_pnl_usdc: 200, period_roi_percent: 33.333333, period_trades: 12, period_win_rate: 0.666667, overall_score: 70, sharpe_ratio: Number(sharpe.toFixed(6)),
      primary_category: 'Crypto', tags: ['smart'], active_positions_count: 1, period_volume_usdc: 1_000, win_rate_lb: Number((wilsonLowerBound(8, 12) as number).toFixed(6)), edge: 0.166667, avg_entry_price: 0.5,
      rank_value: Number(((sharpe * 12) / 32).toFixed(6)), is_significant: false, followable_roi_pct: null,
    }); // prettier-ignore
    const ranked = async (metric: string, sent: Row = {}): Promise<unknown[]> =>
      (await ask<Row[]>('top-performers', { metric, min_trades: 1, ...sent })).map((row) => [
        row.wallet,
        Number(Number(row.rank_value).toFixed(6)),
      ]);
    // One bet that quadruples the money counts 3 / 51, twelve that return a third count 4 / 62.
    expect(await ranked('roi')).toEqual([[wallet(201), 0.064516], [wallet(202), 0.058824], [wallet(204), 0.058824]]); // prettier-ignore
    expect(await ranked('pnl')).toEqual([[wallet(201), 200], [wallet(202), 80], [wallet(204), 80]]); // prettier-ignore
    expect(await ranked('volume', { category: 'Crypto' })).toEqual([[wallet(201), 600], [wallet(202), 20], [wallet(204), 20]]); // prettier-ignore
    const bound = (wins: number, n: number): number => Number((wilsonLowerBound(wins, n) as number).toFixed(6));
    expect(await ranked('win_rate')).toEqual([[wallet(201), bound(8, 12)], [wallet(202), bound(1, 1)], [wallet(204), bound(1, 1)]]); // prettier-ignore
    // With machines: eight of ten won, 300 made.
    expect((await ranked('pnl', { include_bots: true }))[0]).toEqual([wallet(203), 300]);
    expect(await ranked('pnl', { limit: 2 })).toHaveLength(2);
    // Market 41 ended last. What ends at the first or at the last instant of a window ended in it.
    const ended = async (ago: number, timeframe: string): Promise<unknown> =>
      (
        await call<Row[]>(db, 'wallets/top-performers', new Date((NOW - ago) * 1_000), { metric: 'pnl', min_trades: 1, timeframe })
      ).data.find((row) => row.wallet === wallet(201))?.period_trades;
    expect([await ended(DAY + 41, '7d'), await ended(DAY + 41 - 3_600, '1h')]).toEqual([12, 1]);
    expect((await callForError(db, 'wallets/top-performers', now, { timeframe: '12h' })).context.suggestion).toEqual({ timeframe: 'all' });
    expect((await callForError(db, 'wallets/top-performers', now, { category: 'Sports' })).code).toBe('empty_result');
  });

  test('niche-experts', async () => {
    const rows = await ask<Row[]>('niche-experts', { category: 'Crypto', min_category_trades: 11 });
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({
      wallet: wallet(201), category_sharpe: Number(sharpe.toFixed(6)), category_win_rate: 0.666667, category_volume: 600, category_pnl: 200, category_positions: 12, is_specialist: true, volume_concentration: 0.6,
      overall_score: 70, tags: ['smart'], category_roi_pct: 33.333333, category_edge: 0.166667, expected_win_rate: 0.5, open_positions: 0,
    }); // prettier-ignore
    const pnl = await ask<Row[]>('niche-experts', { category: 'Crypto', min_category_trades: 1, sort_by: 'category_pnl' });
    expect(pnl.map((row) => [row.wallet, row.category_pnl])).toEqual([[wallet(201), 200], [wallet(202), 80], [wallet(204), 80]]); // prettier-ignore
    const suggested = async (sent: Row): Promise<unknown> => {
      const { suggestion } = (await callForError(db, 'wallets/niche-experts', now, sent)).context;
      await ask('niche-experts', { ...sent, ...suggestion });
      return suggestion;
    };
    expect(await suggested({ category: 'Crypto', min_category_trades: 13 })).toEqual({ min_category_trades: 1 });
    // Nobody ever had a position there.
    for (const specialists_only of [false, true])
      expect(await suggested({ category: 'Other', specialists_only })).toEqual({ category: 'Crypto' });
    expect(await suggested({ category: 'Other', min_category_trades: 11 })).toEqual({ category: 'Crypto', min_category_trades: 10 });
  });

  test('compare', async () => {
    const answer = await ask<Row & { wallets: Row[]; pairwise: Row[] }>('compare', { wallets: [201, 202, 204, 299].map(wallet) });
    expect(answer.wallets.map((one) => [one.wallet, one.found])).toEqual([[wallet(201), true], [wallet(202), true], [wallet(204), true], [wallet(299), false]]); // prettier-ignore
    expect(answer.comparison_winners).toEqual({
      score: [wallet(201)],
      total_pnl: [wallet(201)],
      sharpe: [wallet(201)],
      win_rate: [wallet(202), wallet(204)],
      total_volume: [wallet(201)],
      roi_pct: [wallet(202), wallet(204)],
    });
    expect(answer.category_overlap).toEqual([
      { category: 'Crypto', wallets: [wallet(201), wallet(202), wallet(204)] },
      { category: 'Sports', wallets: [wallet(201)] },
    ]);
    expect(answer.shared_positions).toEqual([
      {
        condition_id: condition(41),
        question: 'Question 41?',
        holders: [
          { wallet: wallet(201), outcome: 'Yes', net_shares: 100, avg_buy_price: 0.5, pnl: 50 },
          { wallet: wallet(202), outcome: 'Yes', net_shares: 100, avg_buy_price: 0.2, pnl: 80 },
          { wallet: wallet(204), outcome: 'Yes', net_shares: 100, avg_buy_price: 0.2, pnl: 80 },
        ],
        same_side: true,
      },
    ]);
    // 50 of 201's vector of length √(12 · 50² + 400²) is where the others are; one of thirteen markets.
    const cosine = Number((50 / Math.sqrt(12 * 50 ** 2 + 400 ** 2)).toFixed(6));
    expect(answer.pairwise).toEqual([
      { a: wallet(201), b: wallet(202), jaccard: 0.076923, position_cosine: cosine, shared_markets: 1, agree_pct: 100, median_lag_seconds: 600 },
      { a: wallet(201), b: wallet(204), jaccard: 0.076923, position_cosine: cosine, shared_markets: 1, agree_pct: 100, median_lag_seconds: 1_200 },
      { a: wallet(202), b: wallet(204), jaccard: 1, position_cosine: 1, shared_markets: 1, agree_pct: 100, median_lag_seconds: 600 },
    ]); // prettier-ignore
    expect((await ask<Row>('compare', { wallets: [201, 202].map(wallet), include_shared_positions: false })).shared_positions).toBeNull();
    expect((await callForError(db, 'wallets/compare', now, { wallets: [298, 299].map(wallet) })).code).toBe('not_found');
  });

  test('compare: of both outcomes of a market the one most was put into stands for it, what is open is worth its last price', async () => {
    await loadRecords(db.pool, 'both.json', [
      trade(401, 41, 0, 206, 'BUY', 100, 0.2, 3 * DAY),
      trade(402, 42, 1, 206, 'BUY', 10, 0.5, 3 * DAY),
      trade(403, 42, 1, 207, 'BUY', 60, 0.5, 3 * DAY - 300),
      trade(404, 42, 0, 207, 'BUY', 100, 0.3, 3 * DAY - 400),
      trade(405, 60, 0, 206, 'BUY', 100, 0.5, 5_000),
      trade(406, 60, 1, 206, 'BUY', 200, 0.4, 4_900),
      trade(407, 60, 1, 207, 'BUY', 100, 0.45, 4_800),
    ]);
    const answer = await ask<{ shared_positions: Row[]; pairwise: Row[] }>('compare', { wallets: [206, 207].map(wallet) });
    expect(answer.shared_positions).toEqual([
      { condition_id: condition(60), question: 'Question 60?', same_side: true, holders: [
        { wallet: wallet(206), outcome: 'No', net_shares: 200, avg_buy_price: 0.4, pnl: 10 },
        { wallet: wallet(207), outcome: 'No', net_shares: 100, avg_buy_price: 0.45, pnl: 0 },
      ] },
      // As much into either: the lesser token.
      { condition_id: condition(42), question: 'Question 42?', same_side: false, holders: [
        { wallet: wallet(206), outcome: 'No', net_shares: 10, avg_buy_price: 0.5, pnl: -5 },
        { wallet: wallet(207), outcome: 'Yes', net_shares: 100, avg_buy_price: 0.3, pnl: 40 },
      ] },
    ]); // prettier-ignore
    // 50 − 80 beside −45; 20 where the other is not; −5 beside 30 − 30. Both hold No of 60, opened 100 seconds apart, and of 42, 300.
    const cosine = Number((30 / Math.sqrt(30 ** 2 + 20 ** 2 + 5 ** 2)).toFixed(6));
    expect(answer.pairwise).toEqual([
      { a: wallet(206), b: wallet(207), jaccard: 0.666667, position_cosine: cosine, shared_markets: 2, agree_pct: 50, median_lag_seconds: 200 },
    ]); // prettier-ignore
  });

  test('compare: all win that are told the same, whatever binary fractions make of it', async () => {
    // Bought for 1.40 and for 2.00, sold for 5 % more.
    await loadRecords(db.pool, 'even.json', [
      trade(601, 60, 0, 211, 'BUY', 10, 0.14, 9_000),
      trade(602, 60, 0, 211, 'SELL', 10, 0.147, 8_000),
      trade(603, 60, 0, 212, 'BUY', 10, 0.2, 9_000),
      trade(604, 60, 0, 212, 'SELL', 10, 0.21, 8_000),
    ]);
    expect((100 * 0.07) / 1.4).toBeGreaterThan((100 * 0.1) / 2);
    const { wallets, comparison_winners } = await ask<{ wallets: { profile: Row }[]; comparison_winners: Row }>('compare', { wallets: [211, 212].map(wallet) }); // prettier-ignore
    expect(wallets.map(({ profile }) => [profile.roi_pct, profile.total_pnl])).toEqual([[5, 0.07], [5, 0.1]]); // prettier-ignore
    expect(comparison_winners).toMatchObject({ roi_pct: [wallet(211), wallet(212)], total_pnl: [wallet(212)], score: [], sharpe: [] });
  });

  test('compare: markets with as much put in stand by id, and who put as much into one outcome as into the others leans nowhere, whatever binary fractions make of it', async () => {
    await loadRecords(db.pool, 'sums.json', [
      trade(641, 65, 0, 214, 'BUY', 1, 0.15, 9_000),
      trade(642, 65, 0, 215, 'BUY', 1, 0.15, 9_000),
      trade(643, 66, 0, 214, 'BUY', 1, 0.1, 9_000),
      trade(644, 66, 0, 215, 'BUY', 1, 0.2, 9_000),
      trade(645, 67, 0, 216, 'BUY', 1, 0.3, 9_000),
      trade(646, 67, 1, 216, 'BUY', 1, 0.1, 9_000),
      trade(647, 67, 2, 216, 'BUY', 1, 0.2, 9_000),
      trade(648, 67, 0, 217, 'BUY', 100, 0.5, 9_000),
    ]);
    expect(0.1 + 0.2).toBeGreaterThan(0.15 + 0.15);
    const { shared_positions } = await ask<{ shared_positions: Row[] }>('compare', { wallets: [214, 215].map(wallet) });
    expect(shared_positions.map(({ condition_id }) => condition_id)).toEqual([65, 66].map(condition));
    const { pairwise } = await ask<{ pairwise: Row[] }>('compare', { wallets: [216, 217].map(wallet) });
    expect(pairwise).toMatchObject([{ shared_markets: 1, agree_pct: 100, position_cosine: null }]);
  });

  test('compare: two outcomes of one name are two sides', async () => {
    await loadRecords(db.pool, 'names.json', [market(64, { outcomes: '["Draw", "Draw"]' })]);
    await loadRecords(db.pool, 'sides.json', [trade(651, 64, 0, 218, 'BUY', 1, 0.5, 9_000), trade(652, 64, 1, 219, 'BUY', 1, 0.5, 9_000)]);
    const answer = await ask<{ shared_positions: Row[]; pairwise: Row[] }>('compare', { wallets: [218, 219].map(wallet) });
    expect(answer.shared_positions).toMatchObject([{ holders: [{ outcome: 'Draw' }, { outcome: 'Draw' }], same_side: false }]);
    expect(answer.pairwise).toMatchObject([{ agree_pct: 0 }]);
  });

  test('a specialist by the share that is told is one in profile, list and filter', async () => {
    const ten = Array.from({ length: 10 }, (_, n) => trade(620 + n, 41 + n, 0, 213, 'BUY', 1, n === 0 ? 0.42 : 0.4, 3 * DAY));
    await loadRecords(db.pool, 'special.json', [...ten, trade(630, 60, 0, 213, 'BUY', 4, 0.67, 3 * DAY)]);
    // 4.02 of 6.70.
    const { profile } = await ask<{ profile: Row }>('profile', { wallet: wallet(213) });
    expect([profile.total_volume, profile.is_specialist]).toEqual([6.7, true]);
    const rows = await ask<Row[]>('niche-experts', { category: 'Crypto', min_category_trades: 9, specialists_only: true });
    expect(rows.filter((row) => row.wallet === wallet(213))).toMatchObject([{ volume_concentration: 0.6, is_specialist: true }]);
  });

  test('pnl-breakdown: of positions that gained the same the first by id, to the last of the limit; also where some end only later', async () => {
    const shown = async (sent: Row, at = now): Promise<unknown[]> => {
      const sentAll = { wallet: wallet(201), timeframe: 'all', ...sent };
      const { data } = await call<{ positions: Row[]; best_trade: Row; worst_trade: Row }>(db, 'wallets/pnl-breakdown', at, sentAll);
      const numbers = [...data.positions, data.best_trade, data.worst_trade].map(({ condition_id }) => Number(condition_id));
      return [numbers.slice(0, -2), ...numbers.slice(-2)];
    };
    // 41 to 48 gained 50, 49 to 52 lost as much; 41 ended last.
    expect(await shown({ limit: 3 })).toEqual([[41, 42, 43], 41, 52]);
    expect(await shown({ limit: 10, sort_by: 'abs_pnl' })).toEqual([[41, 42, 43, 44, 45, 46, 47, 48, 49, 50], 41, 52]);
    expect(await shown({ limit: 2, sort_by: 'closed_at' })).toEqual([[41, 42], 41, 52]);
    expect(await shown({ limit: 2, sort_by: 'cost' })).toEqual([[41, 42], 41, 52]);
    expect(await shown({ limit: 2, category: 'Crypto', include_open: true })).toEqual([[41, 42], 41, 52]);
    // What is open has lost less than those that lost.
    expect(await shown({ limit: 9, include_open: true })).toEqual([[41, 42, 43, 44, 45, 46, 47, 48, 60], 41, 52]);
    const before = new Date((NOW - DAY - 46) * 1_000);
    expect(await shown({ limit: 3 }, before)).toEqual([[46, 47, 48], 46, 52]);
    expect(await shown({ limit: 4, sort_by: 'abs_pnl' }, before)).toEqual([[46, 47, 48, 49], 46, 52]);
    expect(await shown({ limit: 2, sort_by: 'closed_at' }, before)).toEqual([[46, 47], 46, 52]);
    expect(await shown({ limit: 5, include_open: true }, before)).toEqual([[46, 47, 48, 41, 42], 46, 52]);
  });

  test('portfolio: the value of a position is compared as it is told, in millionths', async () => {
    await loadRecords(db.pool, 'tiny.json', [trade(501, 61, 0, 208, 'BUY', 10.000002, 0.333, 3 * DAY)]);
    const held = async (min_position_usdc: number): Promise<unknown[]> =>
      (await ask<{ positions: Row[] }>('portfolio', { wallets: [wallet(208)], min_position_usdc })).positions.map(({ value_usdc }) => value_usdc); // prettier-ignore
    // 3.330000666
    expect([await held(3.330001), await held(3.330002)]).toEqual([[3.330001], []]);
  });

  test.each([false, true])(
    'pnl-breakdown: where nothing was ever held, nothing of it is suggested; include_open=%s',
    async (include_open) => {
      const error = await callForError(db, 'wallets/pnl-breakdown', now, { wallet: wallet(201), category: 'Weather', include_open });
      expect([error.code, error.context.suggestion]).toEqual(['empty_result', { category: null }]);
    },
  );

  test('pnl-breakdown: even returns go by id, though binary fractions of 58.14/43.86 are above those of 57/43; what is open did not end', async () => {
    await loadRecords(db.pool, 'more.json', [
      trade(301, 41, 0, 205, 'BUY', 100, 0.43, 3 * DAY),
      trade(302, 42, 0, 205, 'BUY', 102, 0.43, 3 * DAY),
      trade(303, 60, 0, 205, 'BUY', 10, 0.5, 3 * DAY),
    ]);
    expect(58.14 / 43.86).toBeGreaterThan(57 / 43);
    const order = async (sort_by: string): Promise<unknown[]> =>
      (await ask<{ positions: Row[] }>('pnl-breakdown', { wallet: wallet(205), sort_by, include_open: true })).positions.map(
        ({ condition_id, roi_pct }) => [condition_id, roi_pct],
      );
    const rows = [[condition(41), 132.55814], [condition(42), 132.55814], [condition(60), 0]]; // prettier-ignore
    expect([await order('roi'), await order('closed_at')]).toEqual([rows, rows]);
  });
});
