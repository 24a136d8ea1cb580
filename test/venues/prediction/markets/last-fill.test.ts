import { testDatabase } from '../../../support/database';
import { NOW, iso, market, trade } from '../small-world';
import { condition, loadRecords } from '../support';
import { call } from './call';

/** Market 91 was resolved at 12:12; it was traded at 12:01, 12:06 and 12:40, of which the last is later than the answer. */
describe('candles of a market that has ended', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  beforeAll(async () => {
    db = await testDatabase();
    const over = { closed: true, outcomePrices: '["1", "0"]', closedTime: iso(NOW + 720), umaResolutionStatus: 'resolved' };
    await loadRecords(db.pool, 'markets.json', [market(91, over)]);
    await loadRecords(db.pool, 'trades.json', [60, 360, 2_400].map((after, k) => trade(1 + k, 91, 0, 901, 'BUY', 10, 0.5, -after))); // prettier-ignore
  });
  afterAll(() => db.drop());

  test('end with its last fill before the answer, whatever came later in that hour', async () => {
    const sent = { condition_id: condition(91), timeframe: 'all', bucket_size: '5m', outcome: 'Yes' };
    const { data } = await call<{ candles_by_outcome: { candles: { bucket: string; filled: boolean }[] }[] }>(db, 'markets/price-history', new Date((NOW + 1_800) * 1_000), sent); // prettier-ignore
    const [yes] = data.candles_by_outcome;
    expect(JSON.parse(JSON.stringify(yes?.candles.map(({ bucket, filled }) => [bucket, filled])))).toEqual([
      [iso(NOW), false],
      [iso(NOW + 300), false],
    ]);
  });
});
