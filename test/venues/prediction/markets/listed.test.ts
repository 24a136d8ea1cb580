import { testDatabase } from '../../../support/database';
import { NOW, iso, market, now } from '../small-world';
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
