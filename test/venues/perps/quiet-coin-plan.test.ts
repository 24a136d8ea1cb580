import { DAY_MS, HOUR_MS } from '../../../src/lib/time';
import { testDatabase } from '../../support/database';
import { type Explained, type Plan, rowsRead } from '../../support/plans';
import { loadWorld } from '../../support/world';

const now = new Date('2026-02-01T13:27:00Z');
const DAYS = 10;

test('the last fill of a coin that nobody has traded for long is found without those of other coins', async () => {
  const db = await testDatabase();
  try {
    const from = new Date(now.getTime() - DAYS * DAY_MS);
    await loadWorld(db.pool, 'perps', 20_000, from, now);
    const last = new Date(from.getTime() + HOUR_MS);
    const { rows: coins } = await db.pool.query<{ coin: string }>(
      'SELECT coin FROM perp_fill GROUP BY coin ORDER BY count(*) DESC LIMIT 1',
    );
    const quiet = coins[0]?.coin;
    await db.pool.query('DELETE FROM perp_fill WHERE coin = $1 AND timestamp >= $2', [quiet, last]);
    await db.pool.query('DELETE FROM perp_coin_hour WHERE coin = $1 AND hour >= $2', [quiet, last]);
    await db.pool.query('VACUUM ANALYZE');
    const text = `SELECT c.coin, last.filled_at FROM perp_coin c LEFT JOIN LATERAL perp_last_fill(c.coin, '${now.toISOString()}') last ON true WHERE c.coin = '${quiet}'`;
    const { rows } = await db.pool.query<Explained>(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`);
    expect(rowsRead(rows[0]?.['QUERY PLAN'][0].Plan as Plan, 'perp_fill')).toBeLessThan(100);
  } finally {
    await db.drop();
  }
});
