import { sqlOver } from '../../../../src/db/sql';
import { DAY_MS } from '../../../../src/lib/time';
import { listEarlyBets } from '../../../../src/venues/prediction/queries/alpha-calls';
import { type SentStatement, recordStatements } from '../../../bench/endpoints/statements';
import { type TestDatabase, testDatabase } from '../../../support/database';
import { pairsCompared } from '../../../support/plans';

const MARKETS = 100;
const BETS = 100;
const RESOLVED = new Date('2026-01-20T00:00:00Z');
const at = (days: number): Date => new Date(RESOLVED.getTime() + days * DAY_MS);

let db: TestDatabase;

beforeAll(async () => {
  db = await testDatabase();
  const id = "'0x' || lpad(market::text, 64, '0')";
  const markets = `generate_series(1, ${MARKETS}) AS market`;
  await db.pool.query("SELECT ensure_month_partitions('pm_trade', $1, $1)", [RESOLVED]);
  await db.pool.query(
    `INSERT INTO pm_market (condition_id, category, tags, outcomes, resolved_at, winning_outcome, is_stub) SELECT ${id}, 'Sports', '{}', '{Yes,No}', $1, 'Yes', false FROM ${markets}`,
    [RESOLVED],
  );
  await db.pool.query(
    `INSERT INTO pm_outcome (condition_id, token_id, outcome) SELECT ${id}, market || outcome, outcome FROM ${markets}, unnest('{Yes,No}'::text[]) AS outcome`,
  );
  await db.pool.query(
    `INSERT INTO pm_trade (condition_id, "timestamp", trade_id, wallet, token_id, side, price, size, usdc_size, is_taker)
SELECT ${id}, $1, gen_random_uuid(), '0x' || wallet, market || 'Yes', 'BUY', 0.4, 100, 40, true FROM ${markets}, generate_series(1, ${BETS}) AS wallet`,
    [at(-5)],
  );
  await db.pool.query(`INSERT INTO pm_market_total SELECT ${id}, 3, 3, 0, 120, 0, $1, $1 FROM ${markets}`, [at(-5)]);
  await db.pool.query('VACUUM ANALYZE');
});
afterAll(() => db.drop());

test('early bets find their markets, however many: each was compared with each, and whoever asked for small ones waited for nothing', async () => {
  const filter = { now: at(1), days_back: 30, min_days_early: 1, min_bet_usdc: 0, category: null };
  let found = 0;
  const sent = await recordStatements(db, async () => void (found = (await listEarlyBets(sqlOver(db), filter)).length));
  expect(found).toBe(MARKETS * BETS);
  expect(await pairsCompared(db.url, sent.at(-1) as SentStatement)).toBeLessThan(found);
});
