import { AppError } from '../../../src/errors';
import { perpsWorld } from '../../../src/sandbox/simulator/perps';
import { perps } from '../../../src/venues/perps/index';
import { type SentStatement, recordStatements } from '../../bench/endpoints/statements';
import { ENDPOINTS } from '../../support/catalogue';
import { type TestDatabase, testDatabase } from '../../support/database';
import { rowsRead, tablesPlanned } from '../../support/plans';
import { type Subjects, defaultInput, loosestInput, subjectsOf } from '../../support/subjects';
import { loadAtOnce } from '../../support/world';
import { ask } from './support';

// A store whose months reach further back than its facts is to the planner what a store of many years is.

const START = new Date('2025-11-20T00:00:00Z');
const NOW = new Date('2026-01-20T13:27:00Z');
const MONTHS = /^perp_(?:fill|match)_(\d{6})$/;

let db: TestDatabase;
let subjects: Subjects;
beforeAll(async () => {
  db = await testDatabase();
  await loadAtOnce(db.pool, 'perps', [...perpsWorld({ seed: 3, size: 1_500, start: START }).pages(START, NOW)]);
  await perps.score?.(db.pool, NOW, () => undefined);
  for (const table of ['perp_fill', 'perp_match'])
    await db.pool.query(`SELECT ensure_month_partitions($1, '2025-01-01', $2)`, [table, START]);
  await db.pool.query('ANALYZE');
  subjects = await subjectsOf(db.pool, 'perps');
});
afterAll(() => db.drop());

/** The months of facts, as 202601, that the plans of an answer's statements name. */
async function monthsPlanned(endpoint: string, input: Record<string, unknown>): Promise<string[]> {
  const sent = await recordStatements(db, () =>
    ask(db, endpoint, input, NOW).catch((error: unknown) => {
      if (!(error instanceof AppError)) throw error;
    }),
  );
  const asked = sent.filter(({ query }) => /^\s*(?:SELECT|WITH)/.test(query.text));
  const months = (await tablesPlanned(db.url, asked)).flatMap((name) => MONTHS.exec(name)?.[1] ?? []);
  return [...new Set(months)].sort();
}

test.each(ENDPOINTS.filter(({ venue }) => venue === 'perps'))('$name: no month before the first fact is looked at', async (endpoint) => {
  for (const input of [defaultInput(endpoint, subjects), loosestInput(endpoint, subjects)])
    expect((await monthsPlanned(endpoint.name, input)).filter((month) => month < '202511')).toEqual([]);
});

const LISTS = [
  ['perps/trades/feed', { coin: 'BTC' }],
  ['perps/trades/whales', { timeframe: 'all', min_usd: 1 }],
  ['perps/smart-wallets/activity', { timeframe: 'all', min_score: 0 }],
] as const;

test.each(LISTS)('%s: a full page is of the newest months', async (endpoint, input) => {
  expect(await monthsPlanned(endpoint, { ...input, limit: 5 })).toEqual(['202512', '202601']);
});

test('perps/coins/trending: of the matches of earlier windows those at their ends are read', async () => {
  const sent = await recordStatements(db, () => ask(db, 'perps/coins/trending', { timeframe: '7d' }, NOW));
  const asked = sent.find(({ query }) => String(query.name).startsWith('perps_coins_trending'));
  expect(await rowsRead(db.url, asked as SentStatement, 'perp_match')).toBeLessThan(100);
});
