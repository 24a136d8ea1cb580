import { testDatabase } from '../../../support/database';
import { NOW, iso, market, now, trade } from '../small-world';
import { condition, loadRecords, wallet } from '../support';
import { call } from './call';

/**
 * Weights are products of decimals, which binary fractions miss by a little: what lies on a bound, or is equal, is so as it is told. 601 to 603 score 67.1.
 * Market 61: three fifths of their weight are on No at 0.30. Market 62: ten wallets of equal weight, a quarter of an hour from each other. Market 63: $300
 * against $300.
 */

type Row = Record<string, unknown>;
interface Report {
  smart_money: { consensus_outcome: string | null; consensus_strength: number; independent_wallets: number };
  signal_analysis: { contrarian_signal: boolean; confidence: string };
}

const [MINUTE, HOUR] = [60, 3_600];
const TEN = Array.from({ length: 10 }, (_, k) => 611 + k);

describe('consensus on its bounds', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  beforeAll(async () => {
    db = await testDatabase();
    await loadRecords(
      db.pool,
      'markets.json',
      [61, 62, 63].map((n) => market(n, { endDate: iso(NOW + 12 * HOUR) })),
    );
    await loadRecords(db.pool, 'trades.json', [
      trade(1, 61, 1, 601, 'BUY', 1_000, 0.3, 5 * HOUR),
      trade(2, 61, 0, 602, 'BUY', 200, 0.5, 4 * HOUR),
      trade(3, 61, 0, 603, 'BUY', 200, 0.5, 3 * HOUR),
      ...TEN.map((by, k) => trade(10 + k, 62, 0, by, 'BUY', 200, 0.5, 9 * HOUR - k * 15 * MINUTE)),
      trade(4, 63, 0, 601, 'BUY', 600, 0.5, 5 * HOUR),
      trade(5, 63, 1, 602, 'BUY', 200, 0.5, 4 * HOUR),
      trade(6, 63, 1, 603, 'BUY', 400, 0.5, 3 * HOUR),
    ]);
    for (const [by, score] of [[601, 67.1], [602, 67.1], [603, 67.1], ...TEN.map((one) => [one, 60.1])] as const)
      await db.pool.query("INSERT INTO pm_wallet_score (wallet, day, score, tags, version) VALUES ($1, '2026-03-10', $2, '{}', 'test')", [wallet(by as number), score]); // prettier-ignore
  });
  afterAll(() => db.drop());

  const report = async (n: number): Promise<Report> =>
    (await call<Report>(db, 'markets/intelligence', now, { condition_id: condition(n) })).data;
  const listed = async (path: string, n: number): Promise<Row | undefined> =>
    (await call<Row[]>(db, path, now)).data.find(({ condition_id }) => condition_id === condition(n));

  test('a strength of 0.6 is clear', async () => {
    expect(await report(61)).toMatchObject({
      smart_money: { consensus_outcome: 'No', consensus_strength: 0.6 },
      signal_analysis: { contrarian_signal: true },
    });
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
});
