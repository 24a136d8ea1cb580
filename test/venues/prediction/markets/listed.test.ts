import { testDatabase } from '../../../support/database';
import { NOW, iso, market, now, trade } from '../small-world';
import { condition, loadRecords } from '../support';
import { call, callForError } from './call';

test('a market is in no list before the venue had listed it, whatever became of it', async () => {
  const db = await testDatabase();
  const over = { closed: true, outcomePrices: '["1", "0"]', closedTime: iso(NOW - 3_600), umaResolutionStatus: 'resolved' };
  await loadRecords(db.pool, 'markets.json', [market(91, { ...over, createdAt: iso(NOW + 60) }), market(92, over)]);
  const listed = async (path: string, sent: Record<string, unknown> = {}): Promise<unknown[]> =>
    (await call<{ condition_id: string }[]>(db, path, now, sent)).data.map(({ condition_id }) => condition_id);
  for (const status of ['resolved', 'all'])
    for (const sort_by of ['relevance', 'volume', 'end_date'])
      expect([status, await listed('markets/search', { status, sort_by })]).toEqual([status, [condition(92)]]);
  for (const sort_by of ['resolved_recently', 'volume', 'smart_money_accuracy'])
    expect([sort_by, await listed('markets/resolutions', { sort_by })]).toEqual([sort_by, [condition(92)]]);
  expect((await callForError(db, 'markets/search', now, { query: condition(91), status: 'resolved' })).code).toBe('empty_result');
  await db.drop();
});

test('markets that nobody is known to have taken anything on come behind all others, by id, whether they were traded or not', async () => {
  const db = await testDatabase();
  await loadRecords(db.pool, 'markets.json', [1, 2, 3, 4, 5].map((n) => market(n))); // prettier-ignore
  await loadRecords(db.pool, 'trades.json', [trade(1, 4, 0, 1, 'BUY', 10, 0.5, 9)]);
  await loadRecords(db.pool, 'trades?takerOnly=false&limit=500.json', [
    trade(2, 2, 0, 1, 'BUY', 10, 0.5, 9),
    trade(3, 5, 0, 1, 'BUY', 10, 0.5, 9),
  ]);
  for (const limit of [1, 2, 5]) {
    const { data } = await call<{ condition_id: string }[]>(db, 'markets/search', now, { sort_by: 'volume', limit });
    expect(data.map(({ condition_id }) => condition_id)).toEqual([4, 1, 2, 3, 5].slice(0, limit).map(condition));
  }
  await db.drop();
});
