import { perpsWorld } from '../../../src/sandbox/simulator/perps';
import { perps } from '../../../src/venues/perps/index';
import { recordStatements } from '../../bench/endpoints/statements';
import { type TestDatabase, testDatabase } from '../../support/database';
import { tablesOpened } from '../../support/plans';
import { loadAtOnce } from '../../support/world';
import { ask } from './support';

const START = new Date('2025-11-20T00:00:00Z');
const NOW = new Date('2026-01-20T13:27:00Z');
const MONTHS = /^perp_(?:fill|match)_(\d{6})$/;

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
  await loadAtOnce(db.pool, 'perps', [...perpsWorld({ seed: 3, size: 1_500, start: START }).pages(START, NOW)]);
  await perps.score?.(db.pool, NOW, () => undefined);
  await db.pool.query('ANALYZE');
});
afterAll(() => db.drop());

/** The months of facts, as 202601, that an answer's statements open. */
async function monthsOpened(endpoint: string, input: Record<string, unknown>): Promise<string[]> {
  const sent = await recordStatements(db, () => ask(db, endpoint, input, NOW));
  const tables = [...(await tablesOpened(db.url, sent)).values()].flatMap((names) => [...names]);
  return [...new Set(tables.flatMap((name) => MONTHS.exec(name)?.[1] ?? []))].sort();
}

const LISTS = [
  ['perps/trades/feed', { coin: 'BTC' }],
  ['perps/trades/whales', { timeframe: 'all', min_usd: 1 }],
  ['perps/smart-wallets/activity', { timeframe: 'all', min_score: 0 }],
] as const;

test.each(LISTS)('%s: a full page is of the newest months', async (endpoint, input) => {
  expect(await monthsOpened(endpoint, { ...input, limit: 5 })).toEqual(['202512', '202601']);
});
