import { VENUE_CONTRACTS } from '../../../../src/venues/prediction/venue-contracts';
import { testDatabase } from '../../../support/database';
import { loadSmallWorld, market, now, trade } from '../small-world';
import { condition, loadRecords, token, wallet } from '../support';
import { call, callForError } from './call';

/**
 * The small world's answers worked out by hand. Fills of 10 March are judged by the run of the 9th (only wallet 5 is smart), older ones by the same run: it is
 * the first. What wallets hold is judged by the run of the 10th (wallets 1 and 2 are smart).
 */

type Row = Record<string, unknown>;

describe('markets by hand', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  beforeAll(async () => {
    db = await testDatabase();
    expect((await callForError(db, 'markets/categories', now)).code).toBe('empty_result');
    await loadSmallWorld(db.pool);
  });
  afterAll(() => db.drop());

  const ask = async <T>(path: string, sent: Row = {}): Promise<T> => (await call<T>(db, `markets/${path}`, now, sent)).data;

  test('categories', async () => {
    const rows = await ask<Row[]>('categories');
    expect(rows).toHaveLength(12);
    expect(rows[0]).toEqual({
      name: 'Politics',
      active_markets: 1,
      period_volume: 27_086.7,
      period_trades: 7,
      unique_traders: 4,
      smart_wallets: 0,
      share_of_volume_pct: 45.68765,
      volume_change_pct: null,
    });
    expect(rows[2]).toMatchObject({ name: 'Crypto', active_markets: 0, period_volume: 200, smart_wallets: 1 });
    // The market that is known from its trades only.
    expect(rows[11]).toMatchObject({ name: 'Other', active_markets: 1, period_volume: 0, share_of_volume_pct: 0 });
  });

  test('trending', async () => {
    expect(await ask<Row[]>('trending')).toEqual([
      {
        condition_id: condition(1), question: 'Question 1?', category: 'Politics', period_volume_usdc: 27_086.7, period_trade_count: 7, volume_spike_multiplier: null, smart_money_wallets_active: 0,
        smart_money_net_direction: null, buy_sell_ratio: 1_073.869048, leader_price: 0.6, leader_outcome: 'Yes', previous_volume_usdc: 0, volume_change_pct: null, smart_money_net_flow_usdc: 0, unique_traders: 4,
        price_change: 0.1, slug: 'question-1', end_date: '2026-04-09T12:00:00Z',
      },
    ]); // prettier-ignore
    // Of the seven windows of 12 hours before, five hold or follow the first fill: one has the 3.5 USDC of three days ago, one the 5.2 of 23 hours ago.
    const [row] = await ask<Row[]>('trending', { timeframe: '12h' });
    expect(row).toMatchObject({
      period_volume_usdc: 27_081.5,
      previous_volume_usdc: 5.2,
      volume_spike_multiplier: Number((28_081.5 / (8.7 / 5 + 1_000)).toFixed(6)),
    });
  });

  test('volume-heatmap and volume-by-group', async () => {
    const heat = await ask<{ breakdown: Row[]; cells: Row[] } & Row>('volume-heatmap', { group_by: 'day_of_week' });
    expect([heat.total_volume, heat.total_trades, heat.hhi]).toEqual([59_286.7, 10, 0.999825]);
    expect(heat.breakdown.map((row) => [row.label, row.volume])).toEqual([['tue', 59_281.5], ['mon', 5.2]]); // prettier-ignore
    const today = await ask<{ groups: Row[] } & Row>('volume-by-group', { group_by: 'hour', timeframe: 'today', sort_by: 'group' });
    // Twelve hours before midnight: 13:00 of the 9th stands under 01:00 of the 10th.
    expect(today.groups[0]).toMatchObject({
      group: '2026-03-10T01:00:00Z',
      volume: 0,
      previous_volume: 5.2,
      volume_change_pct: -100,
      trend: 'falling',
      unique_traders: 0,
    });
    expect(today.groups.slice(1).map((row) => [row.group, row.volume, row.trend])).toEqual([
      ['2026-03-10T05:00:00Z', 12_000, 'rising'], ['2026-03-10T06:00:00Z', 20_000, 'rising'], ['2026-03-10T09:00:00Z', 200, 'rising'], ['2026-03-10T10:00:00Z', 15_000, 'rising'], ['2026-03-10T11:00:00Z', 12_081.5, 'rising'],
    ]); // prettier-ignore
    // At half past, the hours of the window before begin at half past too.
    const halfPast = new Date(now.getTime() + 30 * 60_000);
    const { data } = await call<{ groups: Row[]; previous_total_volume: number }>(db, 'markets/volume-by-group', halfPast, {
      group_by: 'hour',
      timeframe: 'today',
      sort_by: 'group',
    });
    expect([data.previous_total_volume, data.groups[0]]).toEqual([
      5.2,
      expect.objectContaining({ group: '2026-03-10T01:00:00Z', previous_volume: 5.2 }),
    ]);
  });

  test('capital-flow: smart money alone, and nothing in both windows', async () => {
    const flow = await ask<{ categories: Row[] } & Row>('capital-flow', { smart_money_only: true });
    expect(flow).toMatchObject({ total_net_flow: 203.5, biggest_inflow: 'Crypto', biggest_outflow: null });
    expect(flow.categories.map((row) => [row.category, row.current_buy_volume, row.flow_trend])).toEqual([['Crypto', 200, 'accelerating_in'], ['Politics', 3.5, 'accelerating_in']]); // prettier-ignore
    const empty = await callForError(db, 'markets/capital-flow', now, { category: 'Weather' });
    expect([empty.code, empty.context.suggestion]).toEqual(['empty_result', undefined]);
    expect((await callForError(db, 'markets/volume-heatmap', now, { category: 'Other' })).context.suggestion).toEqual({ timeframe: '90d' });
    // Trades of markets that are over bring nothing to a list of active ones.
    expect((await callForError(db, 'markets/trending', now, { timeframe: '1h', category: 'Sports' })).context.suggestion).toBeUndefined();
    expect((await ask<{ categories: Row[] }>('capital-flow', { timeframe: 'all' })).categories[0]).toMatchObject({
      previous_net_flow: null,
      net_flow_change: null,
      flow_trend: null,
    });
  });

  test('price-history', async () => {
    const { candles_by_outcome, smart_vwap_by_outcome } = await ask<{
      candles_by_outcome: { candles: Row[] }[];
      smart_vwap_by_outcome: Row[];
    }>('price-history', { condition_id: condition(1), bucket_size: '1d' });
    const [yes, no] = candles_by_outcome.map(({ candles }) =>
      candles.map((row) => [row.bucket, row.open, row.high, row.low, row.close, row.volume, row.trade_count, row.vwap, row.filled]),
    );
    expect(yes).toEqual([
      ['2026-03-07T00:00:00Z', 0.5, 0.5, 0.5, 0.5, 3.5, 1, 0.5, false],
      ['2026-03-08T00:00:00Z', 0.5, 0.5, 0.5, 0.5, 0, 0, 0.5, true],
      ['2026-03-09T00:00:00Z', 0.52, 0.52, 0.52, 0.52, 5.2, 1, 0.52, false],
      // 27,061.5 USDC for 50,110 shares.
      ['2026-03-10T00:00:00Z', 0.5, 0.6, 0.5, 0.6, 27_061.5, 5, 0.540042, false],
    ]);
    // The second fill is known from a wallet's history alone: a price, no volume.
    expect(no).toEqual([['2026-03-10T00:00:00Z', 0.4, 0.45, 0.4, 0.45, 20, 1, 0.4, false]]);
    expect(smart_vwap_by_outcome.map((row) => row.vwap)).toEqual([0.5, null]);
    await loadRecords(db.pool, 'markets-2.json', [market(9)]);
    expect((await callForError(db, 'markets/price-history', now, { condition_id: condition(9) })).code).toBe('empty_result');
    // Nobody traded No of question 3, and a day that begins now holds nothing yet.
    const other = await callForError(db, 'markets/price-history', now, { condition_id: condition(3), outcome: 'No' });
    expect([other.code, other.context.suggestion]).toEqual(['empty_result', { outcome: null }]);
    const midnight = await callForError(db, 'markets/price-history', new Date('2026-03-10T00:00:00Z'), { condition_id: condition(1), timeframe: 'today' }); // prettier-ignore
    expect([midnight.code, midnight.context.suggestion]).toEqual(['empty_result', { timeframe: '24h' }]);
  });

  test('sentiment and smart-flow', async () => {
    const sentiment = await ask<{ overall_sentiment: Row; time_series: Row[] }>('sentiment', {
      condition_id: condition(1),
      bucket_size: '1d',
    });
    // Toward Yes: 27,065 bought and 20 of No sold; away: 5.2 of Yes sold.
    expect(sentiment.overall_sentiment).toEqual({
      score: 0.999616, label: 'very_bullish', buy_volume: 27_065, sell_volume: 25.2, buy_sell_ratio: 1_074.007937, smart_sentiment: 1, divergence: 0.000384,
    }); // prettier-ignore
    expect(sentiment.time_series.map((point) => point.score)).toEqual([null, null, null, null, 1, null, -1, 1]);
    const flow = await ask<{ overall: Row; by_outcome: Row[]; time_series: Row[] }>('smart-flow', {
      condition_id: condition(1),
      bucket_size: '1d',
    });
    expect(flow.overall).toEqual({
      phase: 'accumulation',
      outcome: 'Yes',
      net_flow: 3.5,
      buy_volume: 3.5,
      sell_volume: 0,
      smart_wallet_count: 1,
      flow_price_correlation: null,
    });
    expect(flow.by_outcome.map((row) => [row.holders_start, row.holders_end])).toEqual([[0, 1], [0, 0]]); // prettier-ignore
    expect(flow.time_series).toHaveLength(16);
    // Before No is traded it is what Yes leaves: of 0.5, then of 0.52.
    const prices = flow.time_series.filter(({ outcome }) => outcome === 'No').map(({ price }) => price);
    expect(prices).toEqual([null, null, null, null, 0.5, 0.5, 0.48, 0.45]);
    const none = await callForError(db, 'markets/smart-flow', now, { condition_id: condition(1), timeframe: '24h' });
    expect([none.code, (await callForError(db, 'markets/smart-flow', now, { condition_id: condition(77) })).code]).toEqual([
      'empty_result',
      'not_found',
    ]);
  });

  test('participants', async () => {
    const answer = await ask<{ by_outcome: { tiers: Row[] }[]; tier_distribution: Row[] } & Row>('participants', {
      condition_id: condition(1),
    });
    expect(answer).toMatchObject({
      total_wallets: 6,
      total_usdc: 27_315.2,
      new_wallets: 4,
      median_bet_usdc: 143,
      bots_and_makers: { wallet_count: 1, total_usdc: 225 },
    });
    expect(answer.tier_distribution.map((row) => [row.tier, row.wallet_count])).toEqual([['elite', 1], ['smart', 1], ['average', 2], ['novice', 0], ['unscored', 2]]); // prettier-ignore
    expect(answer.by_outcome[0]).toMatchObject({ wallet_count: 4, total_usdc: 27_070.2, avg_score: 65 });
  });

  test('early-movers and ownership', async () => {
    const early = await ask<{ movers: Row[]; summary: Row } & Row>('early-movers', { condition_id: condition(1), min_usdc: 0 });
    expect(early.opened_at).toBe('2026-02-18T12:00:00Z');
    expect(early.movers.map((row) => [row.wallet, row.entry_price, row.buy_usdc, row.price_multiple])).toEqual([
      [wallet(5), 0.5, 3.5, 1.2], [wallet(4), 0.5, 15_000, 1.2], [wallet(2), 0.55, 61, 1.081967], [wallet(1), 0.600025, 12_000.5, 0.999958],
    ]); // prettier-ignore
    expect(early.summary).toEqual({ smart_share_pct: 50, median_entry_price: 0.525, early_buy_usdc: 27_065 });
    const { outcomes, overlap_holders } = await ask<{ outcomes: (Row & { holders: Row[] })[]; overlap_holders: number }>('ownership', {
      condition_id: condition(1),
      limit: 2,
    });
    // Wallet 6 split 500 sets and sold the No shares.
    expect(outcomes.map((one) => [one.outcome, one.holder_count, one.total_shares])).toEqual([['Yes', 5, 50_617], ['No', 0, 0]]); // prettier-ignore
    expect(outcomes[0]?.holders.map((row) => [row.rank, row.wallet, row.shares, row.unrealized_pnl_usdc, row.first_buy_at])).toEqual([
      [1, wallet(4), 30_000, 3_000, '2026-03-10T10:00:00Z'], [2, wallet(1), 20_000, -0.5, '2026-03-10T11:59:50Z'],
    ]); // prettier-ignore
    expect(overlap_holders).toBe(0);
    // Everybody redeemed.
    for (const min_shares of [1, 0])
      expect((await callForError(db, 'markets/ownership', now, { condition_id: condition(2), min_shares })).code).toBe('empty_result');
    // The venue's own contracts hold for others.
    await loadRecords(db.pool, 'markets-8.json', [market(13)]);
    await loadRecords(db.pool, 'trades-8.json', [{ ...trade(70, 31, 0, 3, 'BUY', 10, 0.4, 600), proxyWallet: VENUE_CONTRACTS[0] }]);
    expect((await callForError(db, 'markets/ownership', now, { condition_id: condition(13) })).code).toBe('empty_result');
  });

  test('search, closing-soon', async () => {
    expect(
      (await ask<Row[]>('search', { query: 'question 2', status: 'all' })).map((row) => [row.question, row.relevance, row.status]),
    ).toEqual([['Question 2?', 1, 'resolved']]);
    expect((await ask<Row[]>('search', { query: 'blue OWLS', status: 'resolved' }))[0]).toMatchObject({
      winning_outcome: 'Blue Owls',
      leader_price: 1,
      relevance: 0.64,
      smart_money_outcome: 'Blue Owls',
      smart_money_wallets: 1,
    });
    expect((await callForError(db, 'markets/search', now, { query: 'blue owls' })).context.suggestion).toEqual({ status: 'all' });
    // A resolved market is found by its address whatever the status.
    expect(await ask<Row[]>('search', { query: 'https://venue.example/event/event-2' })).toHaveLength(1);
    await loadRecords(db.pool, 'markets-3.json', [market(10, { endDate: '2026-03-11T08:15:00Z' })]);
    expect(await ask<Row[]>('closing-soon')).toEqual([
      expect.objectContaining({
        condition_id: condition(10),
        hours_until_close: 20.3,
        total_volume_usdc: 0,
        leader_price: 0.5,
        smart_money_outcome: null,
        smart_money_wallets: 0,
      }),
    ]);
    expect((await callForError(db, 'markets/closing-soon', now, { hours: 20 })).context.suggestion).toEqual({ hours: 21 });
  });

  test('resolutions: a wallet that became smart by winning is not counted', async () => {
    const rows = await ask<Row[]>('resolutions');
    expect(
      rows.map((row) => [
        row.winning_outcome,
        row.resolved_at,
        row.smart_money_correct,
        row.smart_money_wrong,
        row.smart_money_accuracy,
        row.insider_flagged_wallets,
      ]),
    ).toEqual([
      ['VOID', '2026-03-10T10:00:00Z', 0, 0, null, 0],
      // Wallet 1 has 80 today and won 5,000, but had 10 the day before.
      ['Blue Owls', '2026-03-10T07:00:00Z', 0, 0, null, 0],
    ]);
    await db.pool.query("UPDATE pm_wallet_score SET score = 75 WHERE wallet = $1 AND day = '2026-03-09'", [wallet(1)]);
    await db.pool.query("INSERT INTO pm_wallet_score (wallet, day, score, tags, version) VALUES ($1, '2026-03-09', 60, '{}', 'older')", [
      wallet(6),
    ]);
    expect((await ask<Row[]>('resolutions', { category: 'Sports' }))[0]).toMatchObject({
      smart_money_correct: 1,
      smart_money_wrong: 1,
      smart_money_accuracy: 0.5,
    });
    // A later page is as of the first one's instant, and its window says so.
    const first = await call<Row[]>(db, 'markets/resolutions', now, { timeframe: '24h', limit: 1 });
    const asked = { timeframe: '24h', limit: 1, cursor: first.meta.next_cursor };
    const second = await call<Row[]>(db, 'markets/resolutions', new Date(now.getTime() + 3_600_000), asked);
    expect([second.data.length, second.meta.window]).toEqual([1, first.meta.window]);
    await db.pool.query("DELETE FROM pm_wallet_score WHERE wallet = $1 AND day = '2026-03-09'", [wallet(6)]);
    await db.pool.query("UPDATE pm_wallet_score SET score = 10 WHERE wallet = $1 AND day = '2026-03-09'", [wallet(1)]);
  });

  test('what an empty search or list of resolutions suggests has an answer', async () => {
    const suggested = async (path: string, sent: Row): Promise<unknown> => {
      const { suggestion } = (await callForError(db, `markets/${path}`, now, sent)).context;
      if (suggestion !== undefined) await ask(path, { ...sent, ...suggestion });
      return suggestion;
    };
    expect(await suggested('resolutions', { timeframe: '1h', category: 'Sports' })).toEqual({ timeframe: '6h' });
    expect(await suggested('resolutions', { query: 'nothing of the kind', category: 'Sports' })).toEqual({ query: null });
    // Nothing of it was ever resolved.
    expect(await suggested('resolutions', { timeframe: '24h', category: 'Weather' })).toEqual({ category: null });
    expect(await suggested('resolutions', { timeframe: '1h', category: 'Weather' })).toEqual({ timeframe: '4h', category: null });
    expect(await suggested('resolutions', { query: 'owls', category: 'Weather', sort_by: 'volume' })).toEqual({ category: null });
    expect(await suggested('search', { category: 'Sports' })).toEqual({ status: 'all' });
    expect(await suggested('search', { category: 'Weather' })).toEqual({ category: null });
    expect(await suggested('search', { category: 'Weather', query: 'owls' })).toEqual({ status: 'all', category: null });
    expect(await suggested('search', { category: 'Weather', query: condition(2) })).toEqual({ category: null });
    expect(await suggested('search', { has_smart_money_signal: true })).toEqual({ has_smart_money_signal: null });
    expect(await suggested('search', { has_smart_money_signal: true, category: 'Sports' })).toEqual({ has_smart_money_signal: null, status: 'all' }); // prettier-ignore
    expect(await suggested('search', { query: 'nothing of the kind' })).toBeUndefined();
  });

  test('intelligence, high-conviction, dumb-money', async () => {
    const report = await ask<{ smart_money: Row & { by_outcome: Row[] }; dumb_money: Row; signal_analysis: Row; recent_activity: Row }>(
      'intelligence',
      { condition_id: condition(1) },
    );
    // Two smart wallets are too few for a consensus.
    expect(report.smart_money).toMatchObject({ consensus_outcome: null, consensus_strength: null });
    expect(report.smart_money.by_outcome.map((row) => [row.outcome, row.wallet_count, row.total_usdc, row.percentage])).toEqual([['Yes', 2, 12_061.5, 100], ['No', 0, 0, 0]]); // prettier-ignore
    expect(report.dumb_money).toMatchObject({ consensus_outcome: null, contrarian_to_smart: null });
    expect(report.signal_analysis).toMatchObject({
      smart_vs_price_aligned: null,
      contrarian_signal: false,
      confidence: 'low',
      smart_bias: 100,
    });
    expect(report.recent_activity).toMatchObject({ volume_24h: 27_086.7, trade_count_24h: 7, volume_trend: 'rising' });
    const [row] = await ask<Row[]>('high-conviction', { min_smart_wallets: 2, min_avg_score: 70 });
    // All smart money on Yes: 35; 1.003 of 20 independent wallets: 1.25; mean score 70: 5; bets of 0.75 and 1 times the usual, median 0.87501: 3.5.
    expect(row).toMatchObject({
      smart_wallet_count: 2,
      avg_smart_score: 70,
      total_smart_usdc: 12_061.5,
      favored_outcome: 'Yes',
      favored_price: 0.6,
      conviction_score: 44.8,
      median_bet_share_pct: 87.500977,
    });
    expect((await callForError(db, 'markets/high-conviction', now, { min_smart_wallets: 2, max_price: 0.5 })).code).toBe('empty_result');
    // 59.9 is above 59.
    for (const [max_score, min_trades, suggestion] of [
      [59, 1, { max_score: 100 }],
      [60, 500, { min_trades: 1 }],
      [30, 500, { min_trades: 1, max_score: 100 }],
    ] as const) {
      const { code, context } = await callForError(db, 'markets/dumb-money', now, { condition_id: condition(1), max_score, min_trades });
      expect([code, context.suggestion]).toEqual(['empty_result', suggestion]);
    }
    const wider = await ask<{ summary: Row; positions: Row[] }>('dumb-money', { condition_id: condition(1), max_score: 60, min_trades: 1 });
    expect(wider.summary).toMatchObject({
      total_wallets: 3,
      total_usdc: 15_064.5,
      consensus_outcome: 'Yes',
      consensus_strength: 1,
      contrarian_to_smart: null,
    });
    expect(wider.positions.map((position) => [position.wallet, position.lifetime_trades])).toEqual([[wallet(4), 2], [wallet(2), 3], [wallet(5), 2]]); // prettier-ignore
  });

  test('a market of three outcomes: sentiment, fade and prices are of the outcome itself', async () => {
    const three = market(20, {
      outcomes: '["A","B","C"]',
      outcomePrices: '["0.2","0.3","0.5"]',
      clobTokenIds: JSON.stringify([token(20, 0), token(20, 1), '20099']),
    });
    await loadRecords(db.pool, 'markets-4.json', [three]);
    await loadRecords(db.pool, 'trades-4.json', [
      trade(40, 20, 0, 3, 'BUY', 100, 0.4, 500),
      { ...trade(41, 20, 1, 3, 'SELL', 100, 0.25, 400), outcome: 'B' },
    ]);
    const answer = await ask<{ outcomes: Row[] }>('ownership', { condition_id: condition(20) });
    // No other outcome's fill tells the price of C: the catalogue's stands.
    expect(answer.outcomes.map((one) => one.price)).toEqual([0.4, 0.25, 0.5]);
    const sentiment = await ask<{ overall_sentiment: Row }>('sentiment', { condition_id: condition(20), timeframe: '24h' });
    expect(sentiment.overall_sentiment).toMatchObject({ score: 1, smart_sentiment: null, divergence: null });
  });

  test('sentiment: before its own first fill an outcome is worth what the other one leaves', async () => {
    await loadRecords(db.pool, 'markets-6.json', [market(12)]);
    await loadRecords(db.pool, 'trades-6.json', [
      trade(50, 12, 1, 3, 'BUY', 10, 0.4, 2 * 3_600 + 60),
      trade(51, 12, 0, 3, 'BUY', 10, 0.7, 60),
    ]);
    const sent = { condition_id: condition(12), timeframe: '4h', bucket_size: '1h' };
    const { time_series } = await ask<{ time_series: Row[] }>('sentiment', sent);
    expect(time_series.map(({ price }) => price)).toEqual([null, 0.6, 0.6, 0.7]);
  });

  test('volume-by-group: of a day that is cut within an hour, what was traded before stands under that day', async () => {
    await loadRecords(db.pool, 'markets-8.json', [market(31, { tags: [{ slug: 'weather' }] })]);
    // 13:40 of the 9th, in a window that begins at 13:30, and 01:00 of the 10th.
    const [yesterday, today] = [trade(70, 31, 0, 3, 'BUY', 10, 0.5, 22 * 3_600 + 1_200), trade(71, 31, 0, 3, 'BUY', 40, 0.5, 11 * 3_600)];
    await loadRecords(db.pool, 'trades-8.json', [yesterday, today]);
    const sent = { timeframe: 'today', group_by: 'day', category: 'Weather' };
    const { data } = await call<{ groups: Row[] }>(db, 'markets/volume-by-group', new Date(now.getTime() - 90 * 60_000), sent);
    expect(data.groups).toEqual([expect.objectContaining({ group: '2026-03-10T00:00:00Z', volume: 20, previous_volume: 5 })]);
  });

  test('a search finds letters of every script in either case', async () => {
    const named = { slug: 'will-lvaro-zgr-win', events: [], question: 'Will Álvaro ÖZGÜR or Ивáн win?' };
    await loadRecords(db.pool, 'markets-5.json', [market(11, named)]);
    for (const query of ['Álvaro', 'álvaro özgür', 'ÁLVARO WIN', 'özgür', 'ИВÁН'])
      expect((await ask<Row[]>('search', { query })).map((row) => [row.condition_id, row.relevance])).toEqual([
        [condition(11), expect.anything()],
      ]);
    expect((await callForError(db, 'markets/search', now, { query: 'álvarez' })).code).toBe('empty_result');
  });
});
