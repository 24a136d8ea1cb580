import { testDatabase } from '../../../support/database';
import { call, callForError } from '../markets/call';
import { NOW, iso, loadSmallWorld, market, move, now, trade } from '../small-world';
import { condition, loadRecords, token, wallet } from '../support';

const HOUR = 3_600;
const DAY = 86_400;

describe('wallets of the small world, by hand', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  beforeAll(async () => {
    db = await testDatabase();
    await loadSmallWorld(db.pool);
  });
  afterAll(() => db.drop());

  test('wallets/profile of a wallet that won $5,000 and holds a position', async () => {
    const { data, meta } = await call<Record<string, unknown>>(db, 'wallets/profile', now, { wallet: wallet(1), trades_limit: 2 });
    // 25,000 shares at 0.8 paid 1; 20,000 shares at 12,000.5 are worth 0.6 each.
    expect(data).toMatchObject({
      wallet: wallet(1),
      profile: {
        score: 80, tier: 'elite', tags: ['elite', 'whale'], total_pnl: 5_000, total_volume: 32_000.5, win_rate: 1, resolved_positions: 1, roi_pct: 25, profit_factor: null, sharpe: null,
        max_drawdown_usdc: 0, unrealized_pnl_usdc: -0.5, brier: 0.04, avg_entry_price: 0.8, largest_event_share: 1, primary_category: 'Sports', is_specialist: false, markets_traded: 2,
        first_trade: iso(NOW - 6 * HOUR), last_trade: iso(NOW - 10), copy_followers: null, insider_score: null,
      },
      category_breakdown: [
        { category: 'Sports', position_count: 1, volume: 20_000, pnl: 5_000, roi_pct: 25, win_rate: 1, sharpe: null, share_of_volume_pct: 62.499023 },
        { category: 'Politics', position_count: 1, volume: 12_000.5, pnl: 0, roi_pct: null, win_rate: null, sharpe: null, share_of_volume_pct: 37.500977 },
      ],
      score_history: [{ date: '2026-03-10', score: 80 }].concat([]).flatMap((row) => [{ date: '2026-03-09', score: 10 }, row]),
      score_breakdown: null,
    }); // prettier-ignore
    expect(data.active_positions).toEqual([
      {
        condition_id: condition(1), question: 'Question 1?', category: 'Politics', outcome: 'Yes', token_id: token(1, 0), status: 'open', shares: 20_000, avg_buy_price: 0.600025, avg_sell_price: null,
        cost_usdc: 12_000.5, proceeds_usdc: 0, current_price: 0.6, current_value_usdc: 12_000, unrealized_pnl_usdc: -0.5, realized_pnl_usdc: 0, roi_pct: -0.004166, opened_at: iso(NOW - 10),
        closed_at: null, won: null, end_date: iso(NOW + 30 * DAY), entry_edge: -0.000025, neg_risk: false,
      },
    ]); // prettier-ignore
    expect([(data.recent_trades as unknown[]).length, meta.count, meta.score_version]).toEqual([2, 2, 'pm-2026.3']);
  });

  test('wallets/activity and wallets/pnl-breakdown of the same', async () => {
    const { data: activity } = await call<Record<string, unknown>>(db, 'wallets/activity', now, { wallet: wallet(1) });
    expect(activity).toMatchObject({
      wallet_score: 80,
      period_summary: {
        trade_count: 2, buy_volume: 32_000.5, sell_volume: 0, redeem_volume: 25_000, net_flow: 32_000.5, realized_pnl: 5_000, markets_traded: 2, new_positions: 2, closed_positions: 1,
        largest_trade_usdc: 20_000, most_traded_category: 'Politics',
      },
    }); // prettier-ignore
    const summary = async (sent: Record<string, unknown>): Promise<unknown> =>
      (await call<{ period_summary: unknown }>(db, 'wallets/activity', now, { wallet: wallet(1), ...sent })).data.period_summary;
    expect(await summary({ min_usdc: 20_000 })).toMatchObject({ trade_count: 1, buy_volume: 20_000, redeem_volume: 25_000 });
    const redeemed = { trade_count: 0, redeem_volume: 25_000, markets_traded: 0, largest_trade_usdc: null, most_traded_category: null };
    expect(await summary({ side: 'REDEEM' })).toMatchObject(redeemed);
    const { data: hour } = await call<{ period_summary: unknown }>(db, 'wallets/activity', now, { wallet: wallet(1), timeframe: '4h' });
    // The market was resolved five hours ago: nothing was realized since.
    expect(hour.period_summary).toMatchObject({
      trade_count: 1,
      redeem_volume: 25_000,
      realized_pnl: 0,
      new_positions: 1,
      closed_positions: 0,
    });
    const { data } = await call<Record<string, unknown>>(db, 'wallets/pnl-breakdown', now, { wallet: wallet(1), timeframe: '24h' });
    expect(data).toMatchObject({
      total_realized_pnl: 5_000, realized_pnl_open_usdc: 0, total_positions: 1, winning_positions: 1, losing_positions: 0, win_rate: 1, roi_pct: 25, profit_factor: null, voided_positions: 0,
      by_category: [{ category: 'Sports', pnl: 5_000, position_count: 1, win_rate: 1 }],
      positions: [{ token_id: token(2, 1), status: 'resolved', shares: 25_000, proceeds_usdc: 25_000, won: true, closed_at: iso(NOW - 5 * HOUR), pnl_components: { sell: 0, resolution: 5_000, conversion: 0, merge: 0 } }],
    }); // prettier-ignore
    expect((await callForError(db, 'wallets/pnl-breakdown', now, { wallet: wallet(1), timeframe: '1h' })).context.suggestion).toEqual({
      timeframe: '6h',
    });
  });

  test('wallets/activity on one market: one that nobody knows is not found, on another nothing was done', async () => {
    const codeOn = async (n: number): Promise<string> =>
      (await callForError(db, 'wallets/activity', now, { wallet: wallet(1), condition_id: condition(n) })).code;
    expect([await codeOn(99), await codeOn(3)]).toEqual(['not_found', 'empty_result']);
  });

  test('refunds: 400 shares for 200 give 200 back, and count in no rate', async () => {
    const { data } = await call<Record<string, unknown>>(db, 'wallets/pnl-breakdown', now, { wallet: wallet(5), timeframe: '24h' });
    expect(data).toMatchObject({ total_realized_pnl: 0, total_positions: 1, voided_positions: 1, win_rate: null, winning_positions: 0, losing_positions: 0, positions: [{ status: 'voided', won: null, roi_pct: 0, proceeds_usdc: 200 }] }); // prettier-ignore
  });

  test('a loser who redeemed nothing, a maker who split: wallet 6', async () => {
    // 60,000 shares at 0.2 are lost. A set of 500 was bought at the last prices 0.5 and 0.5: no price was known five hours ago but Yes 0.52 a day before.
    const { data } = await call<{ positions: unknown[]; total_realized_pnl: number }>(db, 'wallets/pnl-breakdown', now, {
      wallet: wallet(6),
      timeframe: '24h',
      include_open: true,
      sort_by: 'cost',
    });
    // Yes at 0.52, No at 0.48: 500 No for 240, sold for 225.
    expect(data).toMatchObject({
      total_realized_pnl: -12_015,
      positions: [
        { token_id: token(2, 0), status: 'resolved', won: false, realized_pnl_usdc: -12_000 },
        { token_id: token(1, 0), status: 'open', cost_usdc: 260 },
        {
          token_id: token(1, 1),
          status: 'closed',
          cost_usdc: 240,
          proceeds_usdc: 225,
          realized_pnl_usdc: -15,
          pnl_components: { sell: -15 },
        },
      ],
    });
  });

  test('wallets/portfolio of two', async () => {
    const { data } = await call<Record<string, unknown>>(db, 'wallets/portfolio', now, { wallets: [wallet(1), wallet(2)] });
    // Wallet 2: 100 at 0.55 and 10 at 0.6, 61 together.
    expect(data).toMatchObject({
      totals: {
        wallet_count: 2,
        value_usdc: 12_066,
        cost_usdc: 12_061.5,
        unrealized_pnl_usdc: 4.5,
        realized_pnl_usdc: 5_000,
        open_positions: 2,
        markets: 1,
        hhi: 1,
      },
      by_category: [{ category: 'Politics', value_usdc: 12_066, pct_of_value: 100, position_count: 2 }],
      positions: [
        { token_id: token(1, 0), wallet_count: 2, wallets: [wallet(1), wallet(2)], shares: 20_110, cost_usdc: 12_061.5, agreement: 1 },
      ],
      consensus: [{ condition_id: condition(1), outcome: 'Yes', wallet_count: 2, usdc: 12_061.5 }],
      conflicts: [],
    });
  });
});

test('thirty days: of what positions gained to the second, of runs that scored to the day', async () => {
  const db = await testDatabase();
  try {
    await loadRecords(db.pool, 'markets.json', [market(41), market(42)]);
    await loadRecords(
      db.pool,
      'trades.json',
      [41, 42].flatMap((on, n) => [
        trade(560 + 2 * n, on, 0, 48, 'BUY', 10, 0.5, 40 * DAY),
        trade(561 + 2 * n, on, 0, 48, 'SELL', 10, 0.6 + n / 10, 30 * DAY + n),
      ]),
    );
    const { data } = await call<{ wallets: unknown[]; totals: unknown }>(db, 'wallets/portfolio', now, { wallets: [wallet(48)] });
    expect([data.wallets, data.totals]).toMatchObject([[{ realized_pnl_30d_usdc: 1 }], { realized_pnl_usdc: 3 }]);
    for (const day of ['2026-02-08', '2026-02-09', '2026-03-10'])
      await db.pool.query("INSERT INTO pm_wallet_score (wallet, day, score, tags, version) VALUES ($1, $2, 50, '{}', 'test')", [wallet(48), day]); // prettier-ignore
    const { data: profile } = await call<{ score_history: unknown[] }>(db, 'wallets/profile', now, { wallet: wallet(48) });
    expect(profile.score_history).toMatchObject([{ date: '2026-02-09' }, { date: '2026-03-10' }]);
  } finally {
    await db.drop();
  }
});

test('gains that were lost again, sides that outweigh the largest, positions without a price, specialists without volume', async () => {
  const db = await testDatabase();
  try {
    const three = market(40, { outcomes: '["A", "B", "C"]', clobTokenIds: JSON.stringify([0, 1, 2].map((index) => token(40, index))), outcomePrices: '["0.4", "0.3", "0.3"]' }); // prettier-ignore
    const unpriced = { outcomePrices: undefined };
    await loadRecords(db.pool, 'markets.json', [three, market(41), market(42, unpriced), ...Array.from({ length: 12 }, (_, index) => market(50 + index, { tags: [{ slug: 'politics' }] }))]); // prettier-ignore
    await loadRecords(db.pool, 'trades.json', [
      ...[0, 1, 2].map((outcome) => trade(500 + outcome, 40, outcome, 41 + outcome, 'BUY', 100, 0.3, DAY)),
      trade(510, 41, 0, 44, 'BUY', 100, 0.5, 10 * DAY),
      trade(511, 41, 0, 44, 'SELL', 50, 0.6, 9 * DAY),
      trade(512, 41, 0, 44, 'SELL', 50, 0.4, 3_600),
      trade(513, 40, 0, 45, 'BUY', 10, 0.3, DAY),
      trade(514, 40, 0, 46, 'BUY', 10, 0.5, DAY + 60),
    ]);
    await loadRecords(db.pool, 'activity.json', [move(520, 42, 45, 'SPLIT', 50, 50, 3_600)]);
    const { data } = await call<{ period_summary: unknown }>(db, 'wallets/activity', now, { wallet: wallet(44) });
    // Five gained nine days ago were lost an hour ago: nothing in all, five in the window.
    expect(data.period_summary).toMatchObject({ realized_pnl: -5, closed_positions: 1 });
    const { data: apart } = await call<{ positions: Record<string, unknown>[] }>(db, 'wallets/portfolio', now, { wallets: [41, 42, 43].map((by) => wallet(by)) }); // prettier-ignore
    // One third each: the top outcome is outweighed.
    expect(apart.positions.map(({ token_id, agreement }) => [token_id, agreement])).toEqual([0, 1, 2].map((index) => [token(40, index), 0])); // prettier-ignore
    for (const sort_by of ['pnl', 'value']) {
      const { data: mixed } = await call<{ positions: Record<string, unknown>[]; conflicts: unknown[] }>(db, 'wallets/portfolio', now, { wallets: [wallet(45), wallet(46)], sort_by, min_position_usdc: 0 }); // prettier-ignore
      // 20 shares that cost 8 are worth 6; nothing tells what half a set is worth.
      expect(mixed.positions.map(({ token_id, unrealized_pnl_usdc }) => [token_id, unrealized_pnl_usdc])).toEqual([[token(40, 0), -2], [token(42, 0), null], [token(42, 1), null]]); // prettier-ignore
      // Who holds both sides differs from nobody.
      expect(mixed.conflicts).toEqual([]);
    }
    // What has no price is as large as its cost.
    const { data: large } = await call<{ positions: Record<string, unknown>[] }>(db, 'wallets/portfolio', now, { wallets: [wallet(45)], min_position_usdc: 25 }); // prettier-ignore
    expect(large.positions.map(({ token_id }) => token_id)).toEqual([token(42, 0), token(42, 1)]);
    // Nor does anything tell how many USDC its holders have in it.
    const { data: owned } = await call<{ outcomes: { holder_count: number; distribution: { holder_count: number }[] }[] }>(db, 'markets/ownership', now, { condition_id: condition(42) }); // prettier-ignore
    expect(owned.outcomes.map(({ holder_count, distribution }) => [holder_count, ...distribution.map((size) => size.holder_count)])).toEqual([[1, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0]]); // prettier-ignore
    await loadRecords(db.pool, 'activity-2.json', Array.from({ length: 12 }, (_, index) => move(530 + index, 50 + index, 47, 'SPLIT', 10, 10, 2 * DAY))); // prettier-ignore
    await loadRecords(db.pool, 'activity-3.json', Array.from({ length: 12 }, (_, index) => move(550 + index, 50 + index, 47, 'MERGE', 10, 10, DAY))); // prettier-ignore
    const experts = { category: 'Politics', min_category_trades: 1 };
    const { data: all } = await call<Record<string, unknown>[]>(db, 'wallets/niche-experts', now, experts);
    expect(all.map((row) => [row.wallet, row.is_specialist])).toEqual([[wallet(47), false]]);
    const error = await callForError(db, 'wallets/niche-experts', now, { ...experts, specialists_only: true });
    expect(error.code).toBe('empty_result');
    // Copies that cannot be read are no sign that nobody qualifies anywhere.
    await db.pool.query('ALTER TABLE snapshot RENAME TO snapshot_away');
    const nobody = call(db, 'wallets/niche-experts', now, { category: 'Weather', min_category_trades: 2 });
    await expect(nobody).rejects.toThrow('relation "snapshot" does not exist');
  } finally {
    await db.drop();
  }
});

test('markets/insiders: a planted wallet reaches 75, a large honest one stays below 35', async () => {
  const db = await testDatabase();
  try {
    // Half of what it bought at 0.5 two days before the end came true.
    const ended = (index: number): Record<string, unknown> => ({ closed: true, outcomePrices: index % 2 === 0 ? '["1", "0"]' : '["0", "1"]', closedTime: iso(NOW - (198 - index) * DAY), umaResolutionStatus: 'resolved' }); // prettier-ignore
    const markets = Array.from({ length: 9 }, (_, index) => market(20 + index, { createdAt: iso(NOW - 300 * DAY), tags: [{ slug: ['politics', 'crypto', 'world'][index % 3] }], ...ended(index) })); // prettier-ignore
    const target = market(30, { createdAt: iso(NOW - 60 * DAY), tags: [{ slug: 'politics' }], closed: true, outcomePrices: '["1", "0"]', closedTime: iso(NOW - DAY), umaResolutionStatus: 'resolved' }); // prettier-ignore
    await loadRecords(db.pool, 'markets.json', [...markets, target]);
    const crowd = Array.from({ length: 30 }, (_, index) => trade(index, 30, index % 2, 100 + index, 'BUY', 40, 0.4, (40 - index) * DAY));
    const whale = [...markets.keys()].map((index) => trade(100 + index, 20 + index, 0, 1, 'BUY', 20_000, 0.5, (200 - index) * DAY));
    const honest = trade(200, 30, 0, 1, 'BUY', 30_000, 0.35, 12 * DAY);
    const insider = [
      trade(300, 30, 0, 2, 'BUY', 20_000, 0.2, DAY + 4 * HOUR),
      trade(301, 30, 0, 2, 'BUY', 20_000, 0.25, DAY + 3 * HOUR),
      trade(302, 30, 0, 130, 'BUY', 10, 0.88, DAY + HOUR),
    ];
    await loadRecords(db.pool, 'trades.json', [...crowd, ...whale, honest, ...insider]);
    await loadRecords(db.pool, 'activity.json', [
      move(400, 30, 2, 'REDEEM', 40_000, 40_000, DAY - 600),
      move(401, 30, 1, 'REDEEM', 30_000, 30_000, 3_600),
    ]);
    const { data } = await call<{ insiders: { wallet: string; insider_score: number; signals: unknown; won: boolean; realized_pnl_usdc: number }[]; summary: unknown }>(db, 'markets/insiders', now, { condition_id: condition(30), min_score: 0, limit: 100 }); // prettier-ignore
    expect(data.insiders[0]).toMatchObject({
      wallet: wallet(2), insider_score: 100, won: true, realized_pnl_usdc: 31_000,
      signals: {
        wallet_age: { score: 15, days: 0 }, first_bet_size: { score: 15, usdc: 4_000 }, bet_timing: { score: 20, hours_before_end: 3 }, withdrawal_speed: { score: 10, minutes_after_resolution: 10 },
        market_selection: { score: 10, is_binary: true, is_high_volume: false }, category_concentration: { score: 10, distinct_categories: 1, primary_category: 'Politics' },
        short_bet_win_rate: { score: 0, win_rate: 1, sample_size: 1 },
      },
    }); // prettier-ignore
    expect(data.insiders.find((row) => row.wallet === wallet(1))?.insider_score).toBeLessThan(35);
    expect(data.summary).toMatchObject({ total_candidates_scanned: 33, phase1_passed: 33, highest_score: 100, dominant_outcome: 'Yes' });
    const { data: late } = await call<{ insiders: { wallet: string }[] }>(db, 'markets/insiders', now, {
      condition_id: condition(30),
      min_score: 75,
      timeframe: '7d',
    });
    expect(late.insiders.map((row) => row.wallet)).toEqual([wallet(2)]);
    expect((await callForError(db, 'markets/insiders', now, { condition_id: condition(30), timeframe: '1h' })).code).toBe('empty_result');
  } finally {
    await db.drop();
  }
});

test('wallets/compare lists a thousand shared markets, says of how many, and counts all', async () => {
  const db = await testDatabase();
  try {
    const markets = Array.from({ length: 1_002 }, (_, index) => 1_000 + index);
    const [a, b] = [wallet(71), wallet(72)];
    const buys = markets.flatMap((on, index) => [71, 72].map((by) => trade(2 * on + by, on, 0, by, 'BUY', 10 + index, 0.5, DAY)));
    await loadRecords(db.pool, 'trades.json', buys);
    const { data, meta } = await call<{ shared_positions: { condition_id: string }[]; pairwise: { shared_markets: number }[] }>(db, 'wallets/compare', now, { wallets: [a, b] }); // prettier-ignore
    // The two on which least was bought are left out.
    expect(data.shared_positions.map(({ condition_id }) => condition_id)).toEqual(markets.slice(2).reverse().map(condition));
    expect(data.pairwise.map(({ shared_markets }) => shared_markets)).toEqual([1_002]);
    expect(meta.warnings).toEqual([expect.stringContaining('1000 of 1002 markets')]);
    const { data: bare, meta: quiet } = await call<{ shared_positions: null }>(db, 'wallets/compare', now, { wallets: [a, b], include_shared_positions: false }); // prettier-ignore
    expect([bare.shared_positions, quiet.warnings]).toEqual([null, []]);
  } finally {
    await db.drop();
  }
});
