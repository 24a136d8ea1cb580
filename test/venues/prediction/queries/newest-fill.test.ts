import { sqlOver } from '../../../../src/db/sql';
import { HOUR_MS } from '../../../../src/lib/time';
import { findNewestFill } from '../../../../src/venues/prediction/queries/newest-fill';
import { type TestDatabase, testDatabase } from '../../../support/database';

const now = new Date('2026-01-20T12:30:00Z');
const ago = (hours: number): Date => new Date(now.getTime() - hours * HOUR_MS);

/** The last of a wallet's hours on the market of a category, and how long ago that was. */
const HOURS: readonly [wallet: string, category: string, hours_ago: number][] = [
  ['smart', 'Crypto', 0.75],
  ['smart', 'Crypto', 30],
  ['smart', 'Politics', 20],
  ['smart', 'Politics', 200],
  ['smart', 'Sports', 120],
  ['smart', 'Sports', 500],
  // Of a low score, of a score that an older run gave, and later than now.
  ['low', 'Politics', 3],
  ['was', 'Sports', 1],
  ['low', 'Weather', 2],
  ['smart', 'Weather', -3],
];

let db: TestDatabase;

beforeAll(async () => {
  db = await testDatabase();
  await db.pool.query(`INSERT INTO pm_market (condition_id, category, tags, outcomes, is_stub)
SELECT category, category, '{}', '{Yes,No}', false FROM unnest(ARRAY['Crypto', 'Politics', 'Sports', 'Weather']) AS category`);
  await db.pool.query(`INSERT INTO pm_wallet_score (wallet, day, score, tags, version) VALUES
('smart', '2026-01-19', 50, '{}', '1'), ('was', '2026-01-19', 90, '{}', '1'), ('smart', '2026-01-20', 60, '{}', '1'), ('low', '2026-01-20', 59.9, '{}', '1'), ('was', '2026-01-20', 10, '{}', '1')`);
  for (const [wallet, category, hours_ago] of HOURS)
    await db.pool.query(
      `INSERT INTO pm_wallet_hour (condition_id, hour, token_id, wallet, buys, sells, taker_buys, taker_sells, buy_usdc, sell_usdc, buy_shares, sell_shares, taker_usdc, sets, redeems, first_at, last_at)
VALUES ($1, date_trunc('hour', $2::timestamptz, 'UTC'), 't', $3, 1, 0, 1, 0, 1, 0, 2, 0, 1, 0, 0, $2, $2)`,
      [category, ago(hours_ago), wallet],
    );
});
afterAll(() => db.drop());

describe('the newest fill of smart wallets', () => {
  test.each([
    ['within two hours', 'Crypto', 0.75],
    ['within a day', 'Politics', 20],
    ['longer ago', 'Sports', 120],
    ['later than now', 'Weather', null],
    ['in any category', null, 0.75],
  ] as const)('%s', async (_, category, hours_ago) => {
    const found = await findNewestFill(sqlOver(db), { condition_id: null, category, smart: true }, now);
    expect(found).toEqual(hours_ago === null ? null : ago(hours_ago));
  });
});
