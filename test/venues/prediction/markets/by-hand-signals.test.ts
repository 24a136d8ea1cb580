import { testDatabase } from '../../../support/database';
import { NOW, iso, market, move, now, trade } from '../small-world';
import { condition, loadRecords, token, wallet } from '../support';
import { call, callForError } from './call';

/**
 * Signals worked out by hand. Wallets 101 to 104 are smart (80, 70, 60, 90), 105 to 107 proven to lose (20), 115 is a machine; the runs of both
 * days say so. Market 31: smart flow; 33: a crowd that loses; 35: such a crowd that has lost; 34: one of newcomers that won; 36 and 37: the same question and people; 39: smart money
 * where the crowd is not.
 */

type Row = Record<string, unknown>;
const [HOUR, DAY] = [3_600, 86_400];
const SCORES: [number, number | null][] = [[101, 80], [102, 70], [103, 60], [104, 90], [105, 20], [106, 20], [107, 20], [121, 20], [122, 20], [123, 20], [110, 80], [115, null]]; // prettier-ignore

const five = (n: number, by: number, outcome: number, size: number): Row[] =>
  [0, 1, 2, 3, 4].map((k) => trade(n + k, 33, outcome, by, 'BUY', size, 0.5, 2 * DAY - (n + k) * 100));

describe('signals by hand', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  beforeAll(async () => {
    db = await testDatabase();
    const crypto = {
      tags: [{ slug: 'crypto' }],
      question: 'Will Bitcoin reach 100k in May?',
      events: [{ id: '9', slug: 'bitcoin-in-may' }],
    };
    await loadRecords(db.pool, 'markets.json', [
      market(31, { tags: [{ slug: 'politics' }] }),
      market(33, { tags: [{ slug: 'nba' }], question: 'Who dances best?' }),
      market(35, { tags: [{ slug: 'nba' }], closed: true, outcomePrices: '["0", "1"]', closedTime: iso(NOW - 2 * HOUR), umaResolutionStatus: 'resolved' }),
      market(34, { tags: [{ slug: 'nba' }], closed: true, outcomePrices: '["1", "0"]', closedTime: iso(NOW - 2 * HOUR), umaResolutionStatus: 'resolved' }),
      market(39, { tags: [{ slug: 'world' }], question: 'Where does it rain?', endDate: iso(NOW + 48 * HOUR) }),
      market(36, crypto),
      market(37, crypto),
    ]); // prettier-ignore
    await loadRecords(db.pool, 'trades.json', [
      trade(1, 31, 0, 104, 'BUY', 1_000, 0.3, 10 * DAY),
      trade(2, 31, 0, 101, 'BUY', 1_000, 0.5, 5 * HOUR),
      trade(3, 31, 0, 102, 'BUY', 1_000, 0.4, 3 * HOUR),
      trade(4, 31, 0, 103, 'SELL', 200, 0.6, HOUR),
      ...five(10, 105, 0, 100),
      ...five(20, 106, 0, 40),
      ...five(30, 107, 1, 60),
      trade(40, 33, 0, 120, 'BUY', 10, 0.4, HOUR),
      // With these 425 on Yes and 75 on No: 350 net.
      trade(49, 35, 0, 105, 'BUY', 150, 0.5, 10 * DAY),
      trade(53, 35, 1, 105, 'BUY', 150, 0.5, 10 * DAY),
      trade(50, 35, 0, 105, 'BUY', 700, 0.5, 3 * DAY),
      trade(51, 35, 1, 106, 'BUY', 200, 0.5, 3 * DAY - 200),
      trade(52, 35, 1, 107, 'BUY', 100, 0.5, 3 * DAY - 400),
      ...[121, 122, 123].flatMap((by, k) =>
        [22, 21, 20, 19].map((days, n) => trade(90 + 10 * k + n, 34, k === 0 ? 0 : 1, by, 'BUY', k === 0 ? 140 : 30, 0.5, days * DAY)),
      ),
      trade(54, 39, 0, 101, 'BUY', 1_000, 0.3, 5 * DAY),
      trade(55, 39, 0, 102, 'BUY', 1_000, 0.3, 4 * DAY),
      trade(56, 39, 1, 105, 'BUY', 200, 0.6, 2 * DAY),
      trade(57, 39, 0, 106, 'BUY', 100, 0.4, 2 * DAY - 300),
      trade(58, 39, 0, 104, 'BUY', 1_000, 0.4, 10 * HOUR),
      // 110 to 112 are on both, 113 and 114 on one, 117 holds what it split on both; the machine and whoever put in less than $10, or merged again, do not count.
      ...[110, 111, 112, 113, 115].map((by, k) => trade(60 + k, 36, 0, by, 'BUY', 100, 0.5, 6 * DAY - k * 300)),
      ...[110, 111, 112, 114, 115].map((by, k) => trade(70 + k, 37, 0, by, 'BUY', 100, 0.5, 5 * DAY - k * 300)),
      trade(80, 36, 0, 116, 'BUY', 10, 0.5, 4 * DAY),
      trade(81, 37, 0, 116, 'BUY', 10, 0.5, 4 * DAY - 100),
    ]);
    await loadRecords(db.pool, 'activity.json', [
      move(82, 36, 117, 'SPLIT', 10, 10, 4 * DAY),
      move(83, 37, 117, 'SPLIT', 10, 10, 4 * DAY),
      move(84, 36, 118, 'SPLIT', 100, 100, 4 * DAY),
      move(85, 36, 118, 'MERGE', 100, 100, 3 * DAY),
    ]);
    for (const day of ['2026-03-09', '2026-03-10'])
      for (const [by, score] of SCORES)
        await db.pool.query("INSERT INTO pm_wallet_score (wallet, day, score, tags, version) VALUES ($1, $2, $3, $4, 'test')", [wallet(by), day, score, by === 115 ? ['hft_bot'] : []]); // prettier-ignore
  });
  afterAll(() => db.drop());

  const ask = async <T>(path: string, sent: Row = {}): Promise<T> => (await call<T>(db, `markets/${path}`, now, sent)).data;
  const refuse = (path: string, sent: Row): Promise<{ code: string; context: { suggestion?: Row } }> =>
    callForError(db, `markets/${path}`, now, sent) as never;

  test('smart-signals', async () => {
    const rows = await ask<Row[]>('smart-signals');
    expect(rows).toHaveLength(1);
    // 101 and 102 pull 0.6 × 500 and 0.4 × 400 towards Yes, 103 0.2 × 120 away from it: 2.016 of 10 independent wallets.
    const independent = 484 ** 2 / (300 ** 2 + 160 ** 2 + 24 ** 2);
    expect(rows[0]).toMatchObject({
      condition_id: condition(31), signal_direction: 'BUY', outcome: 'Yes', smart_wallet_count: 3, smart_buyers: 2, smart_sellers: 1, buy_volume: 900, sell_volume: 120, net_flow: 780,
      total_volume: 1_020, avg_score: 70, signal_score: Number((((100 * 780) / 1_020) * Math.sqrt(independent / 10)).toFixed(1)), signal_strength: 'weak', price: 0.6, price_change: 0.3, avg_entry_price: 0.45,
    }); // prettier-ignore
    expect(rows[0]?.independent_wallets).toBeCloseTo(independent, 5);
    expect((rows[0]?.top_wallets as Row[]).map((row) => [row.wallet, row.side, row.usdc, row.price])).toEqual([
      [wallet(101), 'BUY', 500, 0.5],
      [wallet(102), 'BUY', 400, 0.4],
      [wallet(103), 'SELL', 120, 0.6],
    ]);
    // From 65 on two wallets are left, and nobody sells.
    const [two] = await ask<Row[]>('smart-signals', { min_score: 65, min_smart_wallets: 2 });
    expect(two).toMatchObject({ smart_wallet_count: 2, net_flow: 900, avg_score: 75, signal_score: Number((100 * Math.sqrt(460 ** 2 / (300 ** 2 + 160 ** 2) / 10)).toFixed(1)), signal_strength: 'moderate' }); // prettier-ignore
    expect((await refuse('smart-signals', { side: 'SELL' })).context.suggestion).toEqual({
      timeframe: '24h',
      min_smart_wallets: 3,
      side: 'BUY',
    });
    expect((await refuse('smart-signals', { min_smart_wallets: 4 })).context.suggestion).toEqual({
      timeframe: '24h',
      min_smart_wallets: 3,
    });
    expect((await refuse('smart-signals', { category: 'Sports' })).code).toBe('empty_result');
    // A window with smart fills that do not do is suggested neither again nor shorter.
    expect((await refuse('smart-signals', { min_score: 100 })).context.suggestion).toEqual({ timeframe: 'all' });
    expect((await refuse('smart-signals', { min_score: 100, timeframe: 'all' })).context.suggestion).toBeUndefined();
    expect((await refuse('new-smart-interest', { min_new_wallets: 50 })).context.suggestion).toEqual({ timeframe: 'all' });
  });

  test('high-conviction: a mean score is compared as it is told', async () => {
    const score = (value: number): Promise<unknown> => db.pool.query("UPDATE pm_wallet_score SET score = $2 WHERE wallet = $1 AND day = '2026-03-10'", [wallet(102), value]); // prettier-ignore
    await score(69.9);
    const rows = await ask<Row[]>('high-conviction', { min_smart_wallets: 3, min_avg_score: 80 }).finally(() => score(70));
    // 79.97
    expect(rows.map((row) => row.avg_smart_score)).toEqual([80, 80]);
  });

  test('new-smart-interest', async () => {
    const [row, ...others] = await ask<Row[]>('new-smart-interest', { category: 'Politics' });
    expect(others).toEqual([]);
    const interest = 80 * Math.log10(501) + 70 * Math.log10(401);
    expect(row).toMatchObject({
      condition_id: condition(31), new_smart_wallets: 2, prior_smart_wallets: 1, first_entry_at: iso(NOW - 5 * HOUR), latest_entry_at: iso(NOW - 3 * HOUR), new_smart_usdc: 900, avg_score: 75,
      favored_outcome: 'Yes', favored_outcome_percentage: 100, avg_entry_price: 0.45, leader_price: 0.6, price_change_since_entry: 0.15, interest_score: Number(interest.toFixed(6)),
    }); // prettier-ignore
    expect((row?.wallets as Row[]).map((one) => [one.wallet, one.usdc, one.price])).toEqual([[wallet(102), 400, 0.4], [wallet(101), 500, 0.5]]); // prettier-ignore
    expect((await ask<Row[]>('new-smart-interest', { category: 'Politics', min_usdc: 450 }))[0]).toMatchObject({ new_smart_wallets: 1, new_smart_usdc: 500 }); // prettier-ignore
    expect((await ask<Row[]>('new-smart-interest', { category: 'Politics', min_score: 71 }))[0]).toMatchObject({ new_smart_wallets: 1, avg_score: 80 }); // prettier-ignore
    expect((await refuse('new-smart-interest', { min_new_wallets: 3 })).code).toBe('empty_result');
  });

  test('dumb-consensus', async () => {
    const [row, ...others] = await ask<Row[]>('dumb-consensus', { min_wallets: 3, min_usdc: 100 });
    expect(others).toEqual([]);
    // 350 of 500 on Yes, bought at 0.50 and worth 0.40; the crowd of market 35 stood as strongly and lost; those of 34 were new.
    expect(row).toMatchObject({
      condition_id: condition(33), consensus_outcome: 'Yes', consensus_strength: 0.7, wallet_count: 3, total_usdc: 500, avg_score: 20, avg_entry_price: 0.5, leader_price: 0.5, fade_outcome: 'No',
      smart_outcome: null, smart_strength: null, contrarian_to_smart: null, price_gap: 0.1, fade_hit_rate: 1, fade_sample: 1,
    }); // prettier-ignore
    for (const sent of [{ min_consensus: 0.71 }, { min_wallets: 4 }, { min_usdc: 501 }, { max_score: 19 }, { contrarian_only: true }])
      expect((await refuse('dumb-consensus', { min_wallets: 3, min_usdc: 100, ...sent })).code).toBe('empty_result');
  });

  test('similar', async () => {
    const [row, ...others] = await ask<Row[]>('similar', { condition_id: condition(36) });
    expect(others).toEqual([]);
    // Seven markets have people; who is on two of them weighs ln(1 + 7/2), who is on one ln(1 + 7).
    const [both, one] = [Math.log(1 + 7 / 2) ** 2, Math.log(1 + 7) ** 2];
    const cosine = (4 * both) / (4 * both + one);
    expect(row).toMatchObject({
      condition_id: condition(37), shared_wallet_count: 4, wallet_overlap_pct: 80, total_volume_usdc: 255, jaccard: 0.666667, text_similarity: 1, shared_smart_wallets: 1, same_event: true, leader_price: 0.5,
      status: 'active', similarity: Number((0.6 * cosine + 0.3 + 0.1).toFixed(6)),
    }); // prettier-ignore
    expect((await ask<Row[]>('similar', { condition_id: condition(36), method: 'wallets' }))[0]?.similarity).toBe(
      Number(cosine.toFixed(6)),
    );
    expect((await ask<Row[]>('similar', { condition_id: condition(36), method: 'text' }))[0]?.similarity).toBe(1);
    expect((await refuse('similar', { condition_id: condition(36), min_shared_wallets: 5 })).code).toBe('empty_result');
    expect((await refuse('similar', { condition_id: condition(36), status: 'resolved' })).code).toBe('empty_result');
    expect((await refuse('similar', { condition_id: condition(99) })).code).toBe('not_found');
  });

  test('opportunities', async () => {
    const rows = await ask<Row[]>('opportunities', { category: 'World', min_signal_strength: 'weak' });
    expect(rows).toHaveLength(1);
    // All three on Yes, worth 0.40: a gap of 0.6 of which 0.5 is full, the whole of 104's 400 towards it in a day, 120 of the crowd's 160 against it;
    // (180 + 120 + 320)² / (180² + 120² + 320²) of 20 independent wallets; 48 hours on a scale of logarithms from 720 to 24.
    const independent = 620 ** 2 / (180 ** 2 + 120 ** 2 + 320 ** 2);
    const score = 40 + 20 + 15 + 10 * 0.75 + (10 * independent) / 20 + (5 * Math.log(720 / 48)) / Math.log(720 / 24);
    expect(rows[0]).toMatchObject({
      condition_id: condition(39), smart_money_favors: 'Yes', smart_money_percentage: 100, smart_wallet_count: 3, avg_smart_score: 80, price_signal_gap: 0.6, signal_direction: 'BUY', signal_strength: 'strong',
      favored_price: 0.4, leader_price: 0.6, time_until_close: 'P2D', hours_until_close: 48, signal_score: Number(score.toFixed(1)),
      signals: { consensus: 1, flow_24h: 1, dumb_opposed: 0.75, new_smart: 0.333333, insider_overlap: 0 },
    }); // prettier-ignore
    // In the window of a week all three are new, and the flow is still one way.
    expect((await ask<Row[]>('opportunities', { category: 'World', timeframe: '7d' }))[0]).toMatchObject({
      signals: { new_smart: 1, flow_24h: 1 },
    });
    for (const sent of [{ closing_within_hours: 47 }, { min_smart_wallets: 4 }, { category: 'Sports' }])
      expect((await refuse('opportunities', { category: 'World', ...sent })).code).toBe('empty_result');
    expect(await ask<Row[]>('opportunities', { category: 'World', closing_within_hours: 48, min_signal_strength: 'strong' })).toHaveLength(
      1,
    );
    // One of the three bets as insiders do.
    const tag = (tags: string[]): Promise<unknown> => db.pool.query("UPDATE pm_wallet_score SET tags = $2 WHERE wallet = $1 AND day = '2026-03-10'", [wallet(102), tags]); // prettier-ignore
    await tag(['whale', 'insider_pattern']);
    const [overlap] = await ask<Row[]>('opportunities', { category: 'World' }).finally(() => tag([]));
    expect(overlap).toMatchObject({ signals: { insider_overlap: 0.333333 } });
  });

  test('capital-flow-comparison', async () => {
    const answer = await ask<Row & { categories: Row[] }>('capital-flow-comparison', { category: 'Politics' });
    expect(answer).toEqual({
      timeframes: ['24h', '7d', '30d'],
      categories: [
        {
          category: 'Politics',
          flows: [
            { timeframe: '24h', buy_volume: 900, sell_volume: 120, net_flow: 780, previous_net_flow: 0, net_flow_change: 780, net_flow_per_day: 780, rank: 1 },
            { timeframe: '7d', buy_volume: 900, sell_volume: 120, net_flow: 780, previous_net_flow: 300, net_flow_change: 480, net_flow_per_day: 111.428571, rank: 1 },
            { timeframe: '30d', buy_volume: 1_200, sell_volume: 120, net_flow: 1_080, previous_net_flow: 0, net_flow_change: 1_080, net_flow_per_day: 36, rank: 1 },
          ],
          momentum: 'accelerating',
          rank_change: 0,
        },
      ],
      totals: [{ timeframe: '24h', net_flow: 780, volume: 1_020 }, { timeframe: '7d', net_flow: 780, volume: 1_020 }, { timeframe: '30d', net_flow: 1_080, volume: 1_320 }],
      biggest_inflow: ['24h', '7d', '30d'].map((timeframe) => ({ timeframe, category: 'Politics' })),
      biggest_outflow: ['24h', '7d', '30d'].map((timeframe) => ({ timeframe, category: null })),
    }); // prettier-ignore
    // All categories, those with most volume first: the world took in 1,160, sports 1,004 and crypto 510, and nobody sold there; ranks are by net flow.
    const all = await ask<{ categories: { category: string; flows: Row[] }[] }>('capital-flow-comparison', { timeframes: '24h,7d' });
    expect(all.categories.map(({ category, flows }) => [category, flows[1]?.net_flow, flows[1]?.rank])).toEqual([
      ['World', 1_160, 1],
      ['Politics', 780, 3],
      ['Sports', 1_004, 2],
      ['Crypto', 510, 4],
    ]);
    // A longer window is none of those that were named.
    const suggestion = { timeframes: null, timeframe: '12h' };
    for (const named of [{ timeframes: '1h,4h' }, { timeframes: '4h,1h', timeframe: '4h' }, { timeframe: '4h' }])
      expect((await refuse('capital-flow-comparison', { category: 'World', ...named })).context.suggestion).toEqual(suggestion);
    expect(await ask<Row>('capital-flow-comparison', { category: 'World', timeframe: '12h' })).toMatchObject({ biggest_inflow: [{ timeframe: '4h' }, { timeframe: '6h' }, { timeframe: '12h', category: 'World' }] }); // prettier-ignore
  });

  test('smart-signals: who sold for less than is counted of a dollar sold', async () => {
    await loadRecords(db.pool, 'dust-sold.json', [trade(131, 31, 0, 110, 'SELL', 0.000_001, 0.4, HOUR)]);
    const [row] = await ask<Row[]>('smart-signals');
    expect(row).toMatchObject({ smart_wallet_count: 4, smart_buyers: 2, smart_sellers: 1, net_flow: 780 });
    expect((row?.top_wallets as Row[]).at(-1)).toMatchObject({ wallet: wallet(110), side: 'SELL', usdc: 0, price: 0 });
  });

  test('new-smart-interest: who bought for less than is counted of a dollar did not come in', async () => {
    await loadRecords(db.pool, 'dust.json', [trade(130, 37, 0, 104, 'BUY', 0.000_001, 0.4, 2 * HOUR)]);
    expect((await refuse('new-smart-interest', { min_usdc: 0, category: 'Crypto' })).code).toBe('empty_result');
  });
});

test('what is held of a resolved market cost the average of what was left, as on an open one', async () => {
  const db = await testDatabase();
  await loadRecords(db.pool, 'markets.json', [market(31, { closed: true, outcomePrices: '["0", "1"]', closedTime: iso(NOW - 2 * HOUR), umaResolutionStatus: 'resolved' })]); // prettier-ignore
  await loadRecords(db.pool, 'trades.json', [
    // Bought dear, sold out and bought again, at the very instant of the resolution: 20 on Yes and 30 on No.
    trade(1, 31, 0, 101, 'BUY', 100, 0.8, 10 * DAY),
    trade(2, 31, 0, 101, 'SELL', 100, 0.7, 9 * DAY),
    trade(3, 31, 0, 101, 'BUY', 100, 0.2, 2 * HOUR),
    trade(4, 31, 1, 101, 'BUY', 60, 0.5, 7 * DAY),
    // Sold in part when the result was known already.
    trade(5, 31, 0, 102, 'BUY', 100, 0.4, 6 * DAY),
    trade(6, 31, 0, 102, 'SELL', 50, 0.01, HOUR),
  ]);
  for (const by of [101, 102])
    await db.pool.query("INSERT INTO pm_wallet_score (wallet, day, score, tags, version) VALUES ($1, '2026-03-09', 80, '{}', 'test')", [wallet(by)]); // prettier-ignore
  const { data } = await call<{ smart_money: { by_outcome: Row[] } }>(db, 'markets/intelligence', now, { condition_id: condition(31) });
  expect(data.smart_money.by_outcome.map((one) => [one.outcome, one.total_usdc])).toEqual([['Yes', 40], ['No', 30]]); // prettier-ignore
  const { data: resolved } = await call<Row[]>(db, 'markets/resolutions', now, {});
  expect(resolved).toMatchObject([{ smart_money_correct: 1, smart_money_wrong: 1 }]);
  await db.drop();
});

test('a crowd on one of three outcomes is faded by the strongest of the others', async () => {
  const db = await testDatabase();
  const three = { outcomes: '["A", "B", "C"]', outcomePrices: '["0.2", "0.3", "0.5"]', clobTokenIds: JSON.stringify([0, 1, 2].map((index) => token(31, index))) }; // prettier-ignore
  await loadRecords(db.pool, 'markets.json', [market(31, three)]);
  await loadRecords(
    db.pool,
    'trades.json',
    [105, 106, 107].flatMap((by, place) => [0, 1, 2, 3, 4].map((k) => trade(10 * place + k, 31, 0, by, 'BUY', 100, 0.2, DAY - 100 * k))),
  );
  for (const by of [105, 106, 107])
    await db.pool.query("INSERT INTO pm_wallet_score (wallet, day, score, tags, version) VALUES ($1, '2026-03-10', 20, '{}', 'test')", [wallet(by)]); // prettier-ignore
  const { data } = await call<Row[]>(db, 'markets/dumb-consensus', now, { min_wallets: 3, min_usdc: 100 });
  expect(data).toMatchObject([{ consensus_outcome: 'A', fade_outcome: 'C', leader_price: 0.5 }]);
  await db.drop();
});

test('the money of a crowd is compared as it is told: in millionths', async () => {
  const db = await testDatabase();
  await loadRecords(db.pool, 'markets.json', [market(31)]);
  await loadRecords(db.pool, 'trades.json', [
    // Six shares for 2, of which one is sold: 1.6666… are left.
    ...[0.5, 0.3, 0.2, 0.4, 0.3, 0.3].map((price, k) => trade(k, 31, 0, 105, 'BUY', 1, price, DAY - 100 * k)),
    trade(6, 31, 0, 105, 'SELL', 1, 0.3, HOUR),
    ...[106, 107].flatMap((by, place) => [1, 2, 3, 4, 5].map((k) => trade(10 * (place + 1) + k, 31, 0, by, 'BUY', 10, 0.5, DAY - 50 * k))),
  ]);
  for (const by of [105, 106, 107])
    await db.pool.query("INSERT INTO pm_wallet_score (wallet, day, score, tags, version) VALUES ($1, '2026-03-10', 20, '{}', 'test')", [wallet(by)]); // prettier-ignore
  const crowd = { min_wallets: 3, min_consensus: 0.5 };
  const { data } = await call<Row[]>(db, 'markets/dumb-consensus', now, { ...crowd, min_usdc: 51.666667 });
  expect(data).toMatchObject([{ total_usdc: 51.666667 }]);
  expect((await callForError(db, 'markets/dumb-consensus', now, { ...crowd, min_usdc: 51.666668 })).code).toBe('empty_result');
  await db.drop();
});

test('high-conviction: a price is compared as it is told: in millionths', async () => {
  const db = await testDatabase();
  await loadRecords(db.pool, 'markets.json', [market(31)]);
  await loadRecords(db.pool, 'trades.json', [trade(1, 31, 0, 101, 'BUY', 100, 0.6500000012, DAY)]);
  await db.pool.query("INSERT INTO pm_wallet_score (wallet, day, score, tags, version) VALUES ($1, '2026-03-09', 80, '{}', 'test')", [wallet(101)]); // prettier-ignore
  const { data } = await call<Row[]>(db, 'markets/high-conviction', now, { min_smart_wallets: 1, max_price: 0.65 });
  expect(data).toMatchObject([{ favored_price: 0.65 }]);
  expect((await callForError(db, 'markets/high-conviction', now, { min_smart_wallets: 1, max_price: 0.649999 })).context.suggestion).toMatchObject({ max_price: 1 }); // prettier-ignore
  await db.drop();
});

test('who came to a market before it was smart did not come as a smart wallet, whatever it buys there later', async () => {
  const db = await testDatabase();
  await loadRecords(db.pool, 'markets.json', [market(31)]);
  await loadRecords(db.pool, 'trades.json', [
    trade(1, 31, 0, 101, 'BUY', 1_000, 0.5, 16 * HOUR),
    trade(2, 31, 0, 102, 'BUY', 1_000, 0.5, 15 * HOUR),
    trade(3, 31, 0, 101, 'BUY', 1_000, 0.5, 2 * HOUR),
    trade(4, 31, 1, 102, 'BUY', 1_000, 0.5, HOUR),
  ]);
  // What was bought on the 9th is judged by the run of the 8th.
  for (const [by, runs] of [[101, [40, 80]], [102, [80, 80]]] as const) // prettier-ignore
    for (const [index, score] of runs.entries())
      await db.pool.query("INSERT INTO pm_wallet_score (wallet, day, score, tags, version) VALUES ($1, $2, $3, '{}', 'test')", [wallet(by), `2026-03-0${8 + index}`, score]); // prettier-ignore
  const { data } = await call<Row[]>(db, 'markets/new-smart-interest', now, {});
  expect(data).toMatchObject([{ new_smart_wallets: 1, first_entry_at: iso(NOW - 15 * HOUR), new_smart_usdc: 500 }]);
  await db.drop();
});

test('markets stand by who came new, however much those bought there that had been there before', async () => {
  const db = await testDatabase();
  await loadRecords(
    db.pool,
    'markets.json',
    [31, 32, 33, 34].map((n) => market(n)),
  );
  await loadRecords(db.pool, 'trades.json', [
    // Most is bought on 31, by somebody known there; on 34 by nobody else.
    trade(1, 31, 0, 101, 'BUY', 10, 0.5, 10 * DAY),
    trade(2, 31, 0, 101, 'BUY', 20_000, 0.5, 3 * HOUR),
    trade(3, 31, 0, 102, 'BUY', 400, 0.5, 2 * HOUR),
    trade(4, 34, 0, 101, 'SELL', 10, 0.5, 10 * DAY),
    trade(5, 34, 0, 101, 'BUY', 20_000, 0.5, HOUR),
    trade(6, 32, 0, 103, 'BUY', 1_000, 0.5, HOUR),
    trade(7, 33, 0, 104, 'BUY', 1_000, 0.5, HOUR),
  ]);
  for (const by of [101, 102, 103, 104])
    await db.pool.query("INSERT INTO pm_wallet_score (wallet, day, score, tags, version) VALUES ($1, '2026-03-09', 80, '{}', 'test')", [wallet(by)]); // prettier-ignore
  const first = [condition(32), condition(33)].sort();
  const shown = async (sent: Row): Promise<unknown[]> =>
    (await call<Row[]>(db, 'markets/new-smart-interest', now, sent)).data.map(({ condition_id }) => condition_id);
  for (const limit of [1, 2, 3, 100]) expect(await shown({ limit })).toEqual([...first, condition(31)].slice(0, limit));
  expect((await callForError(db, 'markets/new-smart-interest', now, { min_new_wallets: 2 })).code).toBe('empty_result');
  await db.drop();
});

test('what is bought and sold after a resolution changes nothing of what was held at it', async () => {
  const db = await testDatabase();
  const at = 2 * DAY;
  await loadRecords(db.pool, 'markets.json', [
    market(1, { closed: true, outcomePrices: '["1", "0"]', closedTime: iso(NOW - at), umaResolutionStatus: 'resolved' }),
  ]);
  // 101 was right and sold all of it, 102 was wrong and sold a part, 103 and, of the other side, 104 came later.
  await loadRecords(db.pool, 'trades.json', [
    trade(1, 1, 0, 101, 'BUY', 100, 0.5, at + DAY),
    trade(2, 1, 1, 102, 'BUY', 100, 0.5, at + DAY),
    trade(3, 1, 1, 104, 'BUY', 100, 0.5, at + DAY),
    trade(4, 1, 0, 101, 'SELL', 100, 0.99, at - HOUR),
    trade(5, 1, 1, 102, 'SELL', 90, 0.01, at - HOUR),
    trade(6, 1, 0, 103, 'BUY', 100, 0.99, at - HOUR),
    trade(7, 1, 0, 104, 'BUY', 1_000, 0.99, at - HOUR),
  ]);
  for (const by of [101, 102, 103, 104])
    await db.pool.query("INSERT INTO pm_wallet_score (wallet, day, score, tags, version) VALUES ($1, '2026-03-07', 80, '{}', 'test')", [wallet(by)]); // prettier-ignore
  const { data } = await call<Row[]>(db, 'markets/resolutions', now);
  expect(data).toMatchObject([{ smart_money_correct: 1, smart_money_wrong: 2 }]);
  await db.drop();
});

test('no direction is told of an outcome that good wallets leave while more money of lesser ones comes in', async () => {
  const db = await testDatabase();
  await loadRecords(db.pool, 'markets.json', [market(31), market(32)]);
  const mixed = (n: number, on: number): Row[] => [
    trade(n, on, 0, 104, 'SELL', 200, 0.5, 3 * HOUR),
    trade(n + 1, on, 0, 103, 'BUY', 600, 0.5, 2 * HOUR),
  ];
  // Yes of both: 0.8 · 100 out and 0.2 · 300 in by weight, 200 in by money. On 32 some buy No besides.
  await loadRecords(db.pool, 'trades.json', [
    ...mixed(1, 31),
    ...mixed(3, 32),
    trade(5, 32, 1, 101, 'BUY', 20, 0.5, HOUR),
    trade(6, 32, 1, 102, 'BUY', 20, 0.5, 2 * HOUR),
  ]);
  for (const [by, score] of [[101, 80], [102, 70], [103, 60], [104, 90]]) // prettier-ignore
    await db.pool.query("INSERT INTO pm_wallet_score (wallet, day, score, tags, version) VALUES ($1, '2026-03-09', $2, '{}', 'test')", [wallet(by as number), score]); // prettier-ignore
  const { data } = await call<Row[]>(db, 'markets/smart-signals', now, { min_smart_wallets: 2 });
  expect(data).toMatchObject([{ condition_id: condition(32), outcome: 'No', signal_direction: 'BUY', net_flow: 20 }]);
  await db.drop();
});
