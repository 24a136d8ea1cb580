import { sqlOver } from '../../../../src/db/sql';
import { DAY_MS } from '../../../../src/lib/time';
import { BEGINNING } from '../../../../src/lib/timeframe';
import { countOwnTrades, listOwnTrades } from '../../../../src/venues/prediction/queries/copy-trades';
import { listBookFacts } from '../../../../src/venues/prediction/rollups/positions-store';
import { type SentStatement, recordStatements } from '../../../bench/endpoints/statements';
import { type TestDatabase, testDatabase } from '../../../support/database';
import { rowsRead } from '../../../support/plans';
import { loadWorld } from '../../../support/world';

const now = new Date('2026-06-01T00:00:00Z');
const window = { from: new Date(now.getTime() - 150 * DAY_MS), to: now };

let db: TestDatabase;
let own: { wallet: string; condition_id: string; trades: number; all: number };

// Months of few rows each, as many as a store has that does not begin with the whole venue.
beforeAll(async () => {
  db = await testDatabase();
  await loadWorld(db.pool, 'prediction', 3_000, window.from, window.to);
  await db.pool.query('VACUUM ANALYZE');
  const { rows } = await db.pool.query<typeof own>(
    `SELECT wallet, condition_id, count(*)::int AS trades, (SELECT count(*)::int FROM pm_trade AS own WHERE own.wallet = trade.wallet) AS all FROM pm_trade AS trade
GROUP BY wallet, condition_id HAVING count(*) BETWEEN 3 AND 6 ORDER BY 4, max("timestamp"), 1, 2 LIMIT 1`,
  );
  own = rows[0] as typeof own;
});
afterAll(() => db.drop());

/** Rows of pm_trade that the question's statement reads. */
async function read(ask: () => Promise<unknown>): Promise<number> {
  const sent = await recordStatements(db, ask);
  return rowsRead(db.url, sent.at(-1) as SentStatement, 'pm_trade');
}

describe('of a window of months others are not looked through', () => {
  test('for the trades of a wallet', async () => {
    expect(await read(() => listOwnTrades(sqlOver(db), [own.wallet], window))).toBeLessThanOrEqual(own.all);
    expect(await read(() => countOwnTrades(sqlOver(db), [own.wallet], window))).toBeLessThanOrEqual(own.all);
  });

  test('for the facts of a wallet on a market', async () => {
    expect(await read(() => listBookFacts(sqlOver(db), [own], { from: BEGINNING, to: now }))).toBeLessThanOrEqual(own.all);
  });
});
