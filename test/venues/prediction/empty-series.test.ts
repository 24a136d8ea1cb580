import { testDatabase } from '../../support/database';
import { call, callForError } from './markets/call';
import { NOW, iso, market, now, score, trade } from './small-world';
import { condition, loadRecords, token, wallet } from './support';

type Row = Record<string, unknown>;

const DAY = 86_400;
/** Markets, how many days ago somebody traded there, once, and who: 701 is smart, 702 has become so since, 703 was. */
const LAST = [
  [71, 200, 701],
  [72, 400, 701],
  [73, 300, 702],
  [74, 200, 703],
] as const;
const RUNS = [
  [450, [80, 20, 80]],
  [10, [80, 80, 20]],
] as const;

/** Buckets of four hours are too many of a year. */
describe('series of what nobody has traded for months', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  beforeAll(async () => {
    db = await testDatabase();
    await loadRecords(db.pool, 'markets.json', LAST.map(([n]) => market(n, { createdAt: iso(NOW - 500 * DAY) }))); // prettier-ignore
    await loadRecords(db.pool, 'trades.json', LAST.map(([n, days, by]) => trade(n, n, 0, by, 'BUY', 100, 0.5, days * DAY))); // prettier-ignore
    for (const [days, scores] of RUNS)
      await score(db.pool, iso(NOW - days * DAY).slice(0, 10), scores.map((value, index) => [701 + index, value]), 'v'); // prettier-ignore
    await db.pool.query(
      `INSERT INTO pm_insider (condition_id, wallet, day, generated_at, score, token_id, buy_usdc, first_bet_at, signals) VALUES ($1, $2, $3, $4, 60, $5, 50, $6, '{}')`,
      [condition(71), wallet(701), iso(NOW - 199 * DAY).slice(0, 10), iso(NOW - 199 * DAY), token(71, 0), iso(NOW - 200 * DAY)],
    );
  });
  afterAll(() => db.drop());

  /** What is suggested where there is no answer, once it has brought one. */
  async function suggested(path: string, sent: Row): Promise<unknown> {
    const { code, context } = await callForError(db, path, now, sent);
    expect(code).toBe('empty_result');
    const { data } = await call<{ time_series: Row[] }>(db, path, now, { ...sent, ...context.suggestion });
    expect(data.time_series.length).toBeGreaterThan(0);
    return context.suggestion;
  }

  test.each(['markets/sentiment', 'markets/smart-flow'])(
    '%s suggests a timeframe with buckets that are not too many of it',
    async (path) => {
      expect(await suggested(path, { condition_id: condition(71) })).toEqual({ timeframe: '365d', bucket_size: '12h' });
      expect(await suggested(path, { condition_id: condition(71), bucket_size: '1d' })).toEqual({ timeframe: '365d' });
      expect(await suggested(path, { condition_id: condition(72) })).toEqual({ timeframe: 'all', bucket_size: '12h' });
    },
  );

  test('smart-flow suggests by who was smart then', async () => {
    expect(await suggested('markets/smart-flow', { condition_id: condition(74) })).toEqual({ timeframe: '365d', bucket_size: '12h' });
    for (const sent of [{ condition_id: condition(73) }, { condition_id: condition(71), outcome: 'No' }])
      expect((await callForError(db, 'markets/smart-flow', now, sent)).context.suggestion).toBeUndefined();
  });

  test('wallets/insiders/trend as well', async () => {
    expect(await suggested('wallets/insiders/trend', { timeframe: '7d', bucket_size: '4h' })).toEqual({ timeframe: '365d', bucket_size: '1d' }); // prettier-ignore
    expect(await suggested('wallets/insiders/trend', { timeframe: '7d' })).toEqual({ timeframe: '365d' });
  });
});
