import { testDatabase } from '../../../support/database';
import { NOW, iso, market, now, trade } from '../small-world';
import { condition, loadRecords, wallet } from '../support';
import { call, callForError } from './call';

/**
 * What is even by its decimals is even, whatever binary fractions make of it. Market 81: $3 bought by a score of 60 and $1 sold by one of 80 weigh the same.
 * Markets 82 and 83: a third of what was bought and sold. Markets 84 and 85: six purchases of $9, and one of $999,999 by the same score. Market 86: twelve
 * wallets with 769.8 points. Markets 87 and 88: a tenth more than the day before. Market 89: four wallets alike put in $169 and took $31 out, at 0.53. Market 90: ten
 * put in $3,833 and took $167 out. Market 91: one wallet of score 70 with its usual bet. Market 92: $10 and $94.629 in hours of the day before.
 */

type Row = Record<string, unknown>;

const HOUR = 3_600;
const SCORES: [number, number][] = [
  [811, 60],
  [812, 80],
  ...[801, 802, 803, 804, 805, 806, 807].map((by): [number, number] => [by, 60.2]),
  [821, 60.1],
  ...[822, 823, 824, 825, 826, 827, 828].map((by): [number, number] => [by, 67.1]),
  ...[829, 830, 831, 832].map((by): [number, number] => [by, 60]),
  ...[850, 851, 852, 853, 854, 855, 856, 857, 858, 859, 860].map((by): [number, number] => [by, 70]),
];

describe('even figures', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  beforeAll(async () => {
    db = await testDatabase();
    const slugs = ['politics', 'crypto', 'crypto', 'weather', 'weather', 'nba', 'tech', 'tech', 'world', 'economy', 'pop-culture', 'esports']; // prettier-ignore
    await loadRecords(db.pool, 'markets.json', slugs.map((slug, k) => market(81 + k, { tags: [{ slug }], endDate: iso(NOW + 720 * HOUR) }))); // prettier-ignore
    await loadRecords(db.pool, 'trades.json', [
      trade(1, 81, 0, 811, 'BUY', 6, 0.5, 3 * HOUR),
      trade(2, 81, 0, 812, 'SELL', 2, 0.5, 2 * HOUR),
      trade(3, 82, 0, 811, 'BUY', 4, 0.5, 3 * HOUR),
      trade(4, 82, 0, 811, 'SELL', 2, 0.5, 2 * HOUR),
      trade(5, 83, 0, 811, 'BUY', 0.4, 0.5, 3 * HOUR),
      trade(6, 83, 0, 811, 'SELL', 0.2, 0.5, 2 * HOUR),
      ...[801, 802, 803, 804, 805, 806].map((by, k) => trade(10 + k, 84, 0, by, 'BUY', 18, 0.5, (3 + k) * HOUR)),
      trade(20, 85, 0, 807, 'BUY', 1_999_998, 0.5, 3 * HOUR),
      ...Array.from({ length: 12 }, (_, k) => trade(30 + k, 86, 0, 821 + k, 'BUY', 2, 0.5, (3 + k) * HOUR)),
      ...[2, 1.4].map((size, k) => trade(50 + k, 87 + k, 0, 840, 'BUY', size, 0.5, 25 * HOUR)),
      ...[2.2, 1.54].map((size, k) => trade(60 + k, 87 + k, 0, 840, 'BUY', size, 0.5, HOUR)),
      ...[851, 852, 853, 854].map((by, k) => trade(70 + k, 89, 0, by, 'BUY', 65, 0.65, (6 + k) * HOUR)),
      ...[851, 852, 853, 854].map((by, k) => trade(80 + k, 89, 0, by, 'SELL', 15.5, 0.5, (2 + k) * HOUR)),
      trade(84, 89, 0, 840, 'BUY', 1, 0.53, HOUR),
      ...Array.from({ length: 10 }, (_, k) => trade(90 + k, 90, 0, 851 + k, 'BUY', 766.6, 0.5, (6 + k) * HOUR)),
      ...Array.from({ length: 10 }, (_, k) => trade(110 + k, 90, 0, 851 + k, 'SELL', 33.4, 0.5, (2 + k / 10) * HOUR)),
      trade(130, 91, 0, 850, 'BUY', 20, 0.5, 3 * HOUR),
      // Records reach back beyond the day before.
      trade(150, 99, 0, 899, 'BUY', 2, 0.5, 60 * HOUR),
      ...[20, 189.258].map((size, k) => trade(140 + k, 92, 0, 840, 'BUY', size, 0.5, (40 - 10 * k) * HOUR)),
    ]);
    for (const day of ['2026-03-08', '2026-03-10'])
      for (const [by, score] of SCORES)
        await db.pool.query("INSERT INTO pm_wallet_score (wallet, day, score, tags, version) VALUES ($1, $3, $2, '{}', 'test')", [wallet(by), score, day]); // prettier-ignore
  });
  afterAll(() => db.drop());

  const listed = async (path: string, sent: Row): Promise<Row[]> => (await call<Row[]>(db, path, now, sent)).data;

  test('what is bought and sold with the same weight has no direction', async () => {
    const error = await callForError(db, 'markets/smart-signals', now, { category: 'Politics', min_smart_wallets: 1 });
    expect(error.code).toBe('empty_result');
  });

  test('equal signals are in order of their markets', async () => {
    const rows = await listed('markets/smart-signals', { category: 'Crypto', min_smart_wallets: 1 });
    expect(rows.map((row) => [row.condition_id, row.signal_score])).toEqual([82, 83].map((n) => [condition(n), 10.5]));
  });

  test('hours that fell alike are in their order', async () => {
    const sent = { category: 'Esports', group_by: 'hour', sort_by: 'volume_change_pct' };
    const { data } = await call<{ groups: Row[] }>(db, 'markets/volume-by-group', now, sent);
    expect(data.groups.map((row) => [row.group, row.volume_change_pct])).toEqual([16, 6].map((ago) => [iso(NOW - ago * HOUR), -100]));
  });

  test('half a tenth of a score is rounded up, and makes its strength', async () => {
    // 80 · 0.47 + 20 + 15 · 138/200 + 4/2 = 69.95; 100 · 3,666/4,000 = 91.65; 35 + 1.25 + 5 + 4 = 45.25.
    const loose = { min_smart_wallets: 1, min_avg_score: 0 };
    expect(await listed('markets/opportunities', { category: 'World', min_signal_strength: 'strong' })).toMatchObject([{ signal_score: 70, signal_strength: 'strong' }]); // prettier-ignore
    expect(await listed('markets/smart-signals', { category: 'Economics' })).toMatchObject([{ signal_score: 91.7 }]);
    expect(await listed('markets/high-conviction', { category: 'Culture', ...loose })).toMatchObject([{ conviction_score: 45.3 }]);
  });

  test('equal interest is in order of its markets', async () => {
    const rows = await listed('markets/new-smart-interest', { category: 'Weather', min_usdc: 0 });
    expect(rows.map((row) => [row.condition_id, row.interest_score])).toEqual([84, 85].map((n) => [condition(n), 361.2]));
  });

  test('the mean score of participants is rounded by its decimals', async () => {
    const { data } = await call<{ by_outcome: Row[] }>(db, 'markets/participants', now, { condition_id: condition(86) });
    expect(data.by_outcome[0]?.avg_score).toBe(64.2);
  });

  test('of equal changes that of most volume is the largest', async () => {
    const { data } = await call<Row>(db, 'markets/volume-heatmap', now, { category: 'Tech' });
    expect(data).toMatchObject({ biggest_gainer: 'Question 87?', biggest_loser: null });
  });
});

test('a trade of less than is counted of a dollar is a trade: its flows are told, as nothing', async () => {
  const db = await testDatabase();
  await loadRecords(db.pool, 'markets.json', [market(89, { tags: [{ slug: 'politics' }] })]);
  await loadRecords(db.pool, 'trades.json', [trade(60, 89, 0, 840, 'BUY', 0.000_001, 0.4, 5 * HOUR)]);
  const compared = async (timeframes: string): Promise<Row> =>
    (await call<Row>(db, 'markets/capital-flow-comparison', now, { timeframes })).data;
  expect(await compared('6h,24h')).toMatchObject({
    categories: [{ category: 'Politics', momentum: 'steady' }],
    totals: ['6h', '24h'].map((timeframe) => ({ timeframe, net_flow: 0, volume: 0 })),
  });
  expect((await callForError(db, 'markets/capital-flow-comparison', now, { timeframes: '1h,4h' })).code).toBe('empty_result');
  await db.drop();
});
