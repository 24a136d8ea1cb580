import { sqlOver } from '../../../../src/db/sql';
import { HOUR_MS } from '../../../../src/lib/time';
import { listActivity } from '../../../../src/venues/prediction/queries/market-activity';
import { listSeries } from '../../../../src/venues/prediction/queries/market-series';
import { cutAt } from '../../../../src/venues/prediction/queries/pieces';
import { findToldTotals } from '../../../../src/venues/prediction/queries/platform-told';
import { type SentStatement, recordStatements } from '../../../bench/endpoints/statements';
import { type TestDatabase, testDatabase } from '../../../support/database';
import { rowsRead } from '../../../support/plans';

const MARKETS = 3_000;
const HOURS = 400;
const START = new Date('2026-01-05T00:00:00Z');
const LAST = new Date(START.getTime() + HOURS * HOUR_MS);
const ID = "'00000000-0000-0000-0000-000000000000'";

const MARKET = `0x${'7'.padStart(64, '0')}`;

let db: TestDatabase;

beforeAll(async () => {
  db = await testDatabase();
  // Each market trades in one hour of eight, as pages write it: hour after hour.
  await db.pool.query(
    `INSERT INTO pm_token_hour (condition_id, token_id, hour, fills, fill_usdc, fill_shares, buys, sells, buy_usdc, sell_usdc, shares, open, open_at, open_id, high, low, close, close_at, close_id)
SELECT '0x' || lpad(market::text, 64, '0'), lpad(market || '0' || outcome, 77, '7'), at, 1, 5, 10, 1, 0, 5, 0, 10, 0.5, at, ${ID}, 0.5, 0.5, 0.5, at, ${ID}
FROM generate_series(0, ${HOURS - 1}) AS hour, generate_series(1, ${MARKETS}) AS market, generate_series(0, 1) AS outcome, LATERAL (SELECT $1::timestamptz + hour * interval '1 hour' AS at) AS t
WHERE (hour + market) % 8 = 0 ORDER BY hour, 1, 2`,
    [START],
  );
  await db.pool.query(
    `INSERT INTO pm_token_last SELECT condition_id, token_id, close, max(close_at), close_id FROM pm_token_hour GROUP BY 1, 2, 3, 5`,
  );
  await db.pool.query('VACUUM ANALYZE pm_token_hour, pm_token_last');
});
afterAll(() => db.drop());

/** Rows of the table that a question's first statement reads, or the one named. */
async function readBy(ask: () => Promise<unknown>, table = 'pm_token_hour', named = ''): Promise<number> {
  const sent = await recordStatements(db, ask);
  return rowsRead(db.url, sent.find(({ query: { name = '' } }) => name.startsWith(named)) as SentStatement, table);
}

describe('of the hours of all markets, which lie in the order of time, only those of the market are read', () => {
  const window = cutAt([new Date(LAST.getTime() - 48 * HOUR_MS), LAST]);

  test('for its series', async () => {
    expect(await readBy(() => listSeries(sqlOver(db), MARKET, window, HOUR_MS))).toBe(12);
  });

  test('for its activity', async () => {
    expect(await readBy(() => listActivity(sqlOver(db), MARKET, window))).toBe(12);
  });
});

test('who counts the markets that were traded within hours looks at none of the others', async () => {
  const [hours, active, day, now] = [3, 40, LAST.toISOString().slice(0, 10), new Date(LAST.getTime() + HOUR_MS)];
  await db.pool.query(
    `INSERT INTO pm_market_total SELECT '0x' || lpad(market::text, 64, '0'), 2, 1, 1, 5, 5, $1::timestamptz, CASE WHEN market <= ${active} THEN $2::timestamptz ELSE $1 END FROM generate_series(1, ${MARKETS}) AS market`,
    [START, LAST],
  );
  await db.pool.query("INSERT INTO pm_latest_fill (category, wallet, at) VALUES ('', '0x1', $1)", [LAST]);
  await db.pool.query(
    `INSERT INTO pm_told_hour (hour, run_day, smart_usdc, machine_usdc) SELECT $1::timestamptz - hour * interval '1 hour', $2::date, 0, 0 FROM generate_series(0, ${hours - 1}) AS hour`,
    [LAST, day],
  );
  await db.pool.query('VACUUM ANALYZE pm_market_total');
  const window = { from: new Date(now.getTime() - hours * HOUR_MS), to: now };
  const ask = (): Promise<unknown> => findToldTotals(sqlOver(db), window, day);
  expect(await ask()).toMatchObject({ active_markets: active });
  expect(await readBy(ask, 'pm_market_total', 'pm_platform_told')).toBe(active);
});
