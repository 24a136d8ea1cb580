import { momentumOf } from '../../../../src/venues/prediction/resolvers/flows-sentiment';
import { testDatabase } from '../../../support/database';
import { NOW, iso, market, move, now, trade } from '../small-world';
import { condition, loadRecords, token, wallet } from '../support';
import { call, callForError } from './call';

/**
 * Binary fractions miss decimals by a little: what lies on a bound, or is equal, is so as it is told. 601 to 603 score 67.1.
 * Market 61: three fifths of their weight are on No at 0.30. Market 62: ten wallets of equal weight, a quarter of an hour from each other. Market 63: $300
 * against $300. Market 64: 601 held $16.08 of the winner and $6.08 of the loser. Market 65: $7.705 for, $5.695 against. Markets 66 to 68 of three categories:
 * $1.68 after $1.60, $1.47 after $1.40, and $0.665 after $0.70. Markets 71 and 72: $300.30 by two and by one, each ten points above its entry. Markets 81 and
 * 82: 606, who scores 20, bought at 0.30 and 0.40, each twenty points above its price. Market 83: six wallets hold as much of Beta as of Gamma, by thirds of
 * what they split. Markets 91 to 95 ask the same words, each in another order.
 */

type Row = Record<string, unknown>;
interface Report {
  smart_money: { consensus_outcome: string | null; consensus_strength: number; independent_wallets: number };
  signal_analysis: { contrarian_signal: boolean; confidence: string; reasons: string[] };
}

const [MINUTE, HOUR] = [60, 3_600];
const THREE = ['Alpha', 'Beta', 'Gamma'];
const FEW = [601, 602, 603, 631, 632, 633];
const WORDS = ['red', 'foxes', 'beat', 'blue', 'owls'];
const TEN = Array.from({ length: 10 }, (_, k) => 611 + k);

describe('figures on their bounds', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  beforeAll(async () => {
    db = await testDatabase();
    await loadRecords(db.pool, 'markets.json', [
      ...[61, 62, 63, 65].map((n) => market(n, { endDate: iso(NOW + 12 * HOUR) })),
      market(64, { closed: true, outcomePrices: '["1", "0"]', closedTime: iso(NOW - HOUR), umaResolutionStatus: 'resolved' }),
      ...['politics', 'crypto', 'weather'].map((slug, k) => market(66 + k, { tags: [{ slug }] })),
      ...[71, 72].map((n) => market(n, { tags: [{ slug: 'tech' }] })),
      ...[81, 82].map((n) => market(n, { tags: [{ slug: 'economy' }] })),
      market(83, {
        outcomes: JSON.stringify(THREE),
        outcomePrices: '["0.4", "0.3", "0.3"]',
        clobTokenIds: JSON.stringify(THREE.map((_, index) => token(83, index))),
        endDate: iso(NOW + 12 * HOUR),
      }),
      ...WORDS.map((_, k) => market(91 + k, { question: [...WORDS.slice(k), ...WORDS.slice(0, k)].join(' ') })),
      ...[1, 2, 3, 4].map((k) => market(95 + k, { question: WORDS.slice(0, k).join(' ') })),
    ]);
    await loadRecords(db.pool, 'trades.json', [
      trade(1, 61, 1, 601, 'BUY', 1_000, 0.3, 5 * HOUR),
      trade(2, 61, 0, 602, 'BUY', 200, 0.5, 4 * HOUR),
      trade(3, 61, 0, 603, 'BUY', 200, 0.5, 3 * HOUR),
      ...TEN.map((by, k) => trade(10 + k, 62, 0, by, 'BUY', 200, 0.5, 9 * HOUR - k * 15 * MINUTE)),
      trade(4, 63, 0, 601, 'BUY', 600, 0.5, 5 * HOUR),
      trade(5, 63, 1, 602, 'BUY', 200, 0.5, 4 * HOUR),
      trade(6, 63, 1, 603, 'BUY', 400, 0.5, 3 * HOUR),
      trade(20, 64, 0, 601, 'BUY', 32.16, 0.5, 5 * HOUR),
      trade(21, 64, 1, 601, 'BUY', 12.16, 0.5, 4 * HOUR),
      trade(22, 65, 0, 604, 'BUY', 15.41, 0.5, 2 * HOUR),
      trade(23, 65, 0, 604, 'SELL', 11.39, 0.5, HOUR),
      ...[3.2, 2.8, 1.4].map((size, k) => trade(30 + k, 66 + k, 0, 605, 'BUY', size, 0.5, 25 * HOUR)),
      ...[3.36, 2.94, 1.33].map((size, k) => trade(40 + k, 66 + k, 0, 605, 'BUY', size, 0.5, HOUR)),
      // Records reach back beyond the day before.
      trade(59, 89, 0, 699, 'BUY', 2, 0.5, 60 * HOUR),
      ...FEW.map((by, k) => trade(60 + k, 83, 0, by, 'SELL', 20, 0.4, HOUR)),
      trade(50, 71, 0, 601, 'BUY', 200.2, 0.5, 9 * HOUR),
      trade(51, 71, 0, 602, 'BUY', 400.4, 0.5, 8 * HOUR),
      trade(52, 71, 0, 605, 'BUY', 1, 0.6, HOUR),
      trade(53, 72, 0, 603, 'BUY', 1_001, 0.3, 8 * HOUR),
      trade(54, 72, 0, 605, 'BUY', 1, 0.4, HOUR),
      ...[1, 2, 3, 4, 5].flatMap((k) => [81, 82].map((n) => trade(n * 10 + k, n, 0, 606, 'BUY', 2, (n - 78) / 10, 9 * HOUR))),
      ...[81, 82].map((n) => trade(n * 10, n, 0, 605, 'BUY', 1, (n - 80) / 10, HOUR)),
    ]);
    await loadRecords(
      db.pool,
      'activity.json',
      FEW.map((by, k) => move(70 + k, 83, by, 'SPLIT', 20, 20, 2 * HOUR)),
    );
    const scores = [...FEW.map((by) => [by, by < 631 ? 67.1 : 20] as const), ...TEN.map((by) => [by, 60.1] as const), [606, 20] as const];
    for (const day of ['2026-03-09', '2026-03-10'])
      for (const [by, score] of scores)
        await db.pool.query("INSERT INTO pm_wallet_score (wallet, day, score, tags, version) VALUES ($1, $3, $2, '{}', 'test')", [wallet(by), score, day]); // prettier-ignore
  });
  afterAll(() => db.drop());

  const report = async (n: number): Promise<Report> =>
    (await call<Report>(db, 'markets/intelligence', now, { condition_id: condition(n) })).data;
  const listed = async (path: string, n: number): Promise<Row | undefined> =>
    (await call<Row[]>(db, path, now)).data.find(({ condition_id }) => condition_id === condition(n));

  test('a strength of 0.6 is clear', async () => {
    const told = await report(61);
    expect(told).toMatchObject({
      smart_money: { consensus_outcome: 'No', consensus_strength: 0.6 },
      signal_analysis: { contrarian_signal: true },
    });
    // Those on the other outcome are among the independent ones.
    expect(told.signal_analysis.reasons).toEqual(
      expect.arrayContaining(['1 of 3 smart wallets are net on No.', 'Smart wallets of all outcomes count as 2.3 independent ones.']),
    );
    expect(await listed('markets/search', 61)).toMatchObject({ smart_money_outcome: 'No', has_contrarian_signal: true });
  });

  test('ten equal wallets apart from each other are ten', async () => {
    expect(await report(62)).toMatchObject({
      smart_money: { consensus_outcome: 'Yes', consensus_strength: 1, independent_wallets: 10 },
      signal_analysis: { confidence: 'high' },
    });
    const conviction = await call<Row[]>(db, 'markets/high-conviction', now, { min_avg_score: 60 });
    expect(conviction.data).toMatchObject([{ condition_id: condition(62), independent_wallets: 10 }]);
  });

  test('of equal weights the first outcome is favoured', async () => {
    expect(await report(63)).toMatchObject({ smart_money: { consensus_outcome: 'Yes', consensus_strength: 0.5 } });
    for (const path of ['markets/search', 'markets/closing-soon'])
      expect(await listed(path, 63)).toMatchObject({ smart_money_outcome: 'Yes', smart_money_wallets: 1 });
  });

  test('a net of $10 is an opinion', async () => {
    expect(await listed('markets/resolutions', 64)).toMatchObject({ smart_money_correct: 1, smart_money_wrong: 0 });
  });

  test('a rest that thirds leave in the last decimal is no opinion', async () => {
    expect(await report(83)).toMatchObject({
      smart_money: { consensus_outcome: null, consensus_strength: null, independent_wallets: null },
      dumb_money: { consensus_outcome: null },
      signal_analysis: { smart_bias: null },
    });
    for (const path of ['markets/search', 'markets/closing-soon'])
      expect(await listed(path, 83)).toMatchObject({ smart_money_outcome: null, smart_money_wallets: 0 });
    const { data } = await call<{ summary: Row }>(db, 'markets/dumb-money', now, { condition_id: condition(83), min_trades: 1 });
    expect(data.summary).toMatchObject({ total_wallets: 3, total_usdc: 40, consensus_outcome: null, consensus_strength: null });
  });

  test('where nobody holds anything no other parameters are suggested', async () => {
    const { code, context } = await callForError(db, 'markets/dumb-money', now, { condition_id: condition(91) });
    expect([code, context.suggestion]).toEqual(['empty_result', undefined]);
  });

  test('equally similar markets are in order of their ids', async () => {
    const same = [91, 92, 93, 94, 95].map(condition);
    for (const condition_id of same) {
      const { data } = await call<Row[]>(db, 'markets/similar', now, { condition_id, method: 'text', min_shared_wallets: 0 });
      const others = same.filter((id) => id !== condition_id);
      expect(data.slice(0, 4).map((row) => [row.condition_id, row.similarity])).toEqual(others.map((id) => [id, 1]));
    }
  });

  test('a sentiment of 0.15 is bullish', async () => {
    const { data } = await call<{ overall_sentiment: Row }>(db, 'markets/sentiment', now, { condition_id: condition(65) });
    expect(data.overall_sentiment).toMatchObject({ score: 0.15, label: 'bullish' });
  });

  test('five percent more or less is no trend, and no flat flow', async () => {
    const heatmap = await call<{ breakdown: Row[] }>(db, 'markets/volume-heatmap', now, { limit: 100 });
    const trends = [66, 67, 68].map((n) => heatmap.data.breakdown.find(({ condition_id }) => condition_id === condition(n)));
    expect(trends.map((row) => [row?.volume_change_pct, row?.trend])).toEqual([[5, 'flat'], [5, 'flat'], [-5, 'flat']]); // prettier-ignore
    const { data } = await call<{ categories: Row[] }>(db, 'markets/capital-flow', now, { timeframe: '24h' });
    const flows = ['Politics', 'Crypto'].map((name) => data.categories.find(({ category }) => category === name));
    expect(flows.map((row) => [row?.net_flow_change, row?.flow_trend])).toEqual([[0.08, 'accelerating_in'], [0.07, 'accelerating_in']]); // prettier-ignore
  });

  test('equal sums and gaps are in order of their markets', async () => {
    for (const sort_by of ['total_smart_usdc', 'entry_vs_current_gap']) {
      const { data } = await call<Row[]>(db, 'markets/high-conviction', now, { category: 'Tech', min_smart_wallets: 1, sort_by });
      expect(data.map((row) => [row.condition_id, row.total_smart_usdc, row.entry_vs_current_gap])).toEqual([71, 72].map((n) => [condition(n), 300.3, 0.1])); // prettier-ignore
    }
  });

  test('equal gaps of low-score crowds are in order of their markets', async () => {
    const sent = { category: 'Economics', min_wallets: 1, min_usdc: 0, sort_by: 'price_gap' };
    const { data } = await call<Row[]>(db, 'markets/dumb-consensus', now, sent);
    expect(data.map(({ condition_id, price_gap }) => [condition_id, price_gap])).toEqual([[condition(81), 0.2], [condition(82), 0.2]]); // prettier-ignore
  });

  test('a change of the mean sentiment by 0.05 has no direction', () => {
    expect(momentumOf([0.5, null, 0.55])).toMatchObject({ direction: 'flat', change: 0.05 });
  });
});
