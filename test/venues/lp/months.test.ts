import { type Database, openDatabase } from '../../../src/db/client';
import { AppError } from '../../../src/errors';
import { DAY_MS } from '../../../src/lib/time';
import { recordStatements } from '../../bench/endpoints/statements';
import type { TestDatabase } from '../../support/database';
import { tablesOpened } from '../../support/plans';
import { ask } from './ask';
import { START, storeOf } from './world';

// A statement opens every month that its plan leaves in, whether or not there is anything in it: the age of a store must not tell in what is asked of it.

const DAYS = 12;
const now = new Date(START.getTime() + DAYS * DAY_MS);
/** Facts begin with 2026: the months before are empty. Of these the last may be among what was lately. */
const [OLDEST, LATELY] = ['2025-08-01', '202512'];

let store: TestDatabase;
let db: Database;
beforeAll(async () => {
  store = await storeOf(6_000, DAYS);
  await store.pool.query(
    `SELECT ensure_month_partitions(relname, '${OLDEST}', $1) FROM pg_class WHERE relkind = 'p' AND relname ~ '^(lp|dca|token)_'`,
    [START],
  );
  await store.pool.query('ANALYZE');
  db = await openDatabase(store.url);
});
afterAll(async () => {
  await db.close();
  await store.drop();
});

const busiest = async (column: string, table: string): Promise<string> => {
  const { rows } = await store.pool.query<{ id: string }>(
    `SELECT ${column} AS id FROM ${table} WHERE ${column} <> '' GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1`,
  );
  return rows[0]?.id as string;
};
const pool = (): Promise<string> => busiest('pool_address', 'lp_event');
const owner = (): Promise<string> => busiest('owner', 'lp_event');

const ifNotEmpty = (error: unknown): void => {
  if (!(error instanceof AppError) || error.code !== 'empty_result') throw error;
};

test.each<[string, string, () => Promise<Record<string, unknown>>]>([
  ['the pools of the smart', 'lp/pools/smart-wallet', async () => ({ min_smart_lps: 1 })],
  ["an operator's share of everything", 'lp/platform/operator-share', async () => ({ timeframe: 'all' })],
  [
    'a position that was closed',
    'lp/positions/history',
    async () => ({ position_address: await busiest('position_address', '(SELECT * FROM lp_position_sum WHERE closed_at IS NOT NULL) s') }),
  ],
  ['positions of a provider', 'lp/positions/history', async () => ({ owner: await owner(), pool_address: await pool() })],
  ['a provider', 'lp/lps/profile', async () => ({ owner: await owner() })],
  ['the first providers', 'lp/lps/top', async () => ({})],
  ['all that moved much', 'lp/lps/whales', async () => ({ timeframe: 'all', min_usd: 1 })],
  ['a pool', 'lp/pools/detail', async () => ({ pool_address: await pool() })],
  ['what was done in a pool', 'lp/pools/events', async () => ({ pool_address: await pool() })],
  [
    'what was swapped in a pool',
    'lp/pools/events',
    async () => ({ pool_address: await busiest('pool_address', 'lp_swap'), event_type: 'swap' }),
  ],
  ['fees of a pool', 'lp/pools/fee-analysis', async () => ({ pool_address: await pool() })],
  ['the first pools', 'lp/pools/top', async () => ({})],
  ['pools of more and more volume', 'lp/pools/trending', async () => ({})],
  ['pools by their name', 'lp/pools/search', async () => ({ query: 'SOL' })],
  ['recurring orders', 'lp/dca/pressure', async () => ({})],
])('%s: no month before the first fact is opened', async (_words, endpoint, variables) => {
  const asked = await variables();
  // Nobody is smart there before a score run; that is asked all the same.
  const sent = await recordStatements(db, () => ask(db, endpoint, now, asked).catch(ifNotEmpty));
  const opened = await Promise.all(
    sent.map(async (statement) => [statement.query.name, await tablesOpened(store.url, statement)] as const),
  );
  const old = opened.map(
    ([name, tables]) => [name, new Set(tables.filter((table) => /_\d{6}$/.test(table) && table.slice(-6) < LATELY))] as const,
  );
  expect(old.filter(([, tables]) => tables.size > 0)).toEqual([]);
});
