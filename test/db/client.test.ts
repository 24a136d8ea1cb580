import { sqlOver } from '../../src/db/sql';
import { testDatabase } from '../support/database';

describe('the database client', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  beforeAll(async () => {
    db = await testDatabase();
  });
  afterAll(() => db.drop());

  test('Prisma and SQL share one pool', async () => {
    await db.prisma.source_cursor.create({ data: { source: 'prediction.trades', venue: 'prediction', cursor: {} } });
    const rows = await sqlOver(db.pool).query({ name: 'cursors', text: 'SELECT source FROM source_cursor' }, []);
    expect(rows).toEqual([{ source: 'prediction.trades' }]);
  });

  test('an aborted query is cancelled in PostgreSQL too', async () => {
    const abort = new AbortController();
    const slow = sqlOver(db.pool, abort.signal).query({ name: 'slow', text: 'SELECT pg_sleep(20)' }, []);
    setTimeout(() => abort.abort(new Error('deadline')), 100);
    await expect(slow).rejects.toThrow('deadline');
    const running = await db.pool.query(
      "SELECT count(*)::int AS n FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND state = 'active'",
    );
    expect(running.rows[0].n).toBe(0);
  });
});
