import { sqlOver } from '../../../src/db/sql';
import { makeContext } from '../../../src/graph/context';
import { DAY_MS } from '../../../src/lib/time';
import { listDays } from '../../../src/venues/perps/queries/trader-days';
import { withoutEmpty } from '../../../src/venues/perps/queries/segments';
import { type SentStatement, recordStatements } from '../../bench/endpoints/statements';
import { testDatabase } from '../../support/database';
import { rowsRead } from '../../support/plans';
import { loadWorld } from '../../support/world';

const DAYS = 25;
const now = new Date('2026-02-01T13:27:00Z');

test('of the days of everybody only those of the account are read, by a plan made before any value is known', async () => {
  const db = await testDatabase();
  try {
    await loadWorld(db.pool, 'perps', 20_000, new Date(now.getTime() - DAYS * DAY_MS), now);
    await db.pool.query('VACUUM ANALYZE');
    const { rows } = await db.pool.query<{ trader: string; days: number }>(
      'SELECT trader, count(*)::int AS days FROM perp_trader_sum GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 1',
    );
    const { trader, days } = rows[0] as { trader: string; days: number };
    const context = makeContext(db, now);
    const cut = { ...context, sql: withoutEmpty(sqlOver(db), async () => 0) };
    const window = { from: new Date(Date.UTC(2026, 0, 5)), to: now };
    let told = 0;
    const sent = await recordStatements(db, async () => void (told = (await listDays(cut, [trader], window)).get(trader)?.length ?? 0));
    expect(told).toBe(28);
    const asked = sent.find(({ query }) => String(query.name).startsWith('perps_trader_days'));
    expect(await rowsRead(db.url, asked as SentStatement, 'perp_trader_sum')).toBe(days);
  } finally {
    await db.drop();
  }
});
