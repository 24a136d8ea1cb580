import { testDatabase } from '../../../support/database';
import { NOW, iso, market, move, now, score, trade } from '../small-world';
import { condition, loadRecords } from '../support';
import { call } from './call';

/**
 * Wallet 1 (score 80) was on each of these markets with more of its dollars on the loser, No, when it was resolved three hours ago; what it did in the hour
 * since, were it told of then, would speak for Yes. 71: a split of 1,000 sets. 72: 500 Yes sold of which ten were seen. 73: all merged. 74: Yes bought dear.
 * On 75 it had sold all before the end, and bought and sold again since.
 */

interface Row {
  condition_id: string;
  smart_money_correct: number;
  smart_money_wrong: number;
}

const HOUR = 3_600;
const LOST = [71, 72, 73, 74];

describe('what was held when a market was resolved', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  beforeAll(async () => {
    db = await testDatabase();
    const ended = { closed: true, outcomePrices: '["1", "0"]', closedTime: iso(NOW - 3 * HOUR), umaResolutionStatus: 'resolved' };
    await loadRecords(db.pool, 'markets.json', [...LOST, 75].map((n) => market(n, ended))); // prettier-ignore
    await loadRecords(db.pool, 'trades.json', [
      ...LOST.map((n) => trade(n, n, 1, 1, 'BUY', 100, 0.4, 6 * HOUR)),
      trade(80, 72, 0, 1, 'BUY', 100, 0.5, 6 * HOUR),
      trade(81, 72, 0, 1, 'SELL', 90, 0.5, 5 * HOUR),
      trade(82, 72, 0, 1, 'SELL', 500, 0.99, HOUR),
      trade(83, 73, 0, 1, 'BUY', 100, 0.1, 6 * HOUR),
      trade(84, 74, 0, 1, 'BUY', 100, 0.2, 6 * HOUR),
      trade(85, 74, 0, 1, 'BUY', 1_000, 0.99, HOUR),
      trade(86, 75, 0, 1, 'BUY', 100, 0.5, 6 * HOUR),
      trade(87, 75, 0, 1, 'SELL', 100, 0.6, 5 * HOUR),
      trade(88, 75, 0, 1, 'BUY', 100, 0.99, HOUR),
      trade(89, 75, 0, 1, 'SELL', 50, 1, HOUR / 2),
    ]);
    await loadRecords(db.pool, 'activity.json', [move(90, 71, 1, 'SPLIT', 1_000, 1_000, HOUR), move(91, 73, 1, 'MERGE', 100, 100, HOUR)]);
    await score(db.pool, '2026-03-09', [[1, 80]], 'test');
  });
  afterAll(() => db.drop());

  test('is judged by what it had cost then, whatever was done since', async () => {
    const { data } = await call<Row[]>(db, 'markets/resolutions', now);
    const verdicts = data.map((row) => [row.condition_id, row.smart_money_correct, row.smart_money_wrong]);
    expect(verdicts.sort()).toEqual([...LOST.map((n) => [condition(n), 0, 1]), [condition(75), 0, 0]]);
  });
});
