import { sqlOver } from '../../../src/db/sql';
import { makeContext } from '../../../src/graph/context';
import { DAY_MS, HOUR_MS } from '../../../src/lib/time';
import { coinsList } from '../../../src/venues/perps/queries/coins-list';
import { listFills } from '../../../src/venues/perps/queries/fills';
import { type SentStatement, recordStatements } from '../../bench/endpoints/statements';
import { type TestDatabase, testDatabase } from '../../support/database';
import { rowsRead } from '../../support/plans';
import { loadWorld } from '../../support/world';

const now = new Date('2026-02-01T13:27:00Z');
const from = new Date(now.getTime() - 10 * DAY_MS);

let db: TestDatabase;
/** Filled in the first hours alone. */
let quiet: string;
let fills: number;

beforeAll(async () => {
  db = await testDatabase();
  await loadWorld(db.pool, 'perps', 20_000, from, now);
  const since = new Date(from.getTime() + 6 * HOUR_MS);
  const { rows } = await db.pool.query<{ coin: string; fills: number }>(
    'SELECT coin, (count(*) FILTER (WHERE timestamp < $1))::int AS fills FROM perp_fill GROUP BY coin ORDER BY count(*) DESC LIMIT 1',
    [since],
  );
  ({ coin: quiet, fills } = rows[0] as { coin: string; fills: number });
  await db.pool.query('DELETE FROM perp_fill WHERE coin = $1 AND timestamp >= $2', [quiet, since]);
  await db.pool.query('DELETE FROM perp_coin_hour WHERE coin = $1 AND hour >= $2', [quiet, since]);
  await db.pool.query('VACUUM ANALYZE');
});
afterAll(() => db.drop());

const read = async (name: string, ask: () => Promise<unknown>): Promise<number> => {
  const sent = await recordStatements(db, ask);
  return rowsRead(db.url, sent.find(({ query }) => query.name?.startsWith(name)) as SentStatement, 'perp_fill');
};

describe('of a coin that nobody has traded for long, other coins are not looked through', () => {
  test('for its last fill', async () => {
    const asked = { limit: 100, sort_by: 'volume', query: quiet } as const;
    expect(await read('perps_coins_list', () => coinsList(asked, makeContext(db, now)))).toBe(0);
  });

  test('for its newest fills', async () => {
    const any = { coin: quiet, whose: null, min_usd: null, is_buy: null, opens: null, is_long: null, window: { from, to: now } };
    expect(await read('perps_fills', () => listFills(sqlOver(db), any, null, 100))).toBeLessThanOrEqual(fills);
  });
});
