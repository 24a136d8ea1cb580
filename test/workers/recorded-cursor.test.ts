import { type PageRead, moveCursors } from '../../src/workers/recorded-cursor';
import { type TestDatabase, testDatabase } from '../support/database';

let db: TestDatabase;
beforeAll(async () => (db = await testDatabase()));
afterAll(() => db.drop());
beforeEach(() => db.pool.query('DELETE FROM source_cursor'));

const at = (hour: number): Date => new Date(Date.UTC(2026, 0, 5, hour));
const pageOf = (source: string, page: string, watermark: Date | null, last_event_at = watermark): PageRead => ({
  source,
  venue: 'lp',
  page,
  watermark,
  last_event_at,
});

async function move(...pages: PageRead[]): Promise<void> {
  const client = await db.pool.connect();
  await moveCursors(client, pages).finally(() => client.release());
}

const kept = async (): Promise<unknown[]> =>
  (await db.pool.query('SELECT source, cursor, watermark, last_event_at FROM source_cursor ORDER BY source')).rows;

test('of pages that are noted together the last one is told, and the newest times of all', async () => {
  await move(
    pageOf('lp.b', 'b1', at(1)),
    pageOf('lp.a', 'a1', at(4), at(3)),
    pageOf('lp.a', 'a2', null),
    pageOf('lp.a', 'a3', at(2), at(5)),
  );
  expect(await kept()).toEqual([
    { source: 'lp.a', cursor: { page: 'a3' }, watermark: at(4), last_event_at: at(5) },
    { source: 'lp.b', cursor: { page: 'b1' }, watermark: at(1), last_event_at: at(1) },
  ]);
});

test('what was noted before is not turned back by an older page, nor by one without times', async () => {
  await move(pageOf('lp.a', 'new', at(7)));
  await move(pageOf('lp.a', 'old', at(2)));
  await move(pageOf('lp.a', 'timeless', null));
  expect(await kept()).toEqual([{ source: 'lp.a', cursor: { page: 'timeless' }, watermark: at(7), last_event_at: at(7) }]);
});

test('a feed of pages without times has a cursor and no mark', async () => {
  await move(pageOf('lp.a', 'timeless', null));
  expect(await kept()).toEqual([{ source: 'lp.a', cursor: { page: 'timeless' }, watermark: null, last_event_at: null }]);
});
