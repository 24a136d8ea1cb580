import { score } from '../../../../src/venues/lp/scoring/job';
import { type TestDatabase, testDatabase } from '../../../support/database';
import { named } from '../chain-writer';
import { loadRecords } from '../load';
import { ANNA, BEN, SOL_USDC, dlmmPoolsPage, history, pairs } from '../pages';
import { START, storeOf } from '../world';

const NOW = new Date(START.getTime() + 11 * 86_400_000 + 3_600_000);

let db: TestDatabase;
beforeAll(async () => (db = await storeOf(6_000, 12)));
afterAll(() => db.drop());

test('scores do not depend on how many providers are held in memory at once', async () => {
  const scored = async (at_once?: number): Promise<{ told: unknown; rows: unknown[]; steps: number }> => {
    await db.pool.query('DELETE FROM lp_score');
    let steps = 0;
    const told = await score(db.pool, NOW, () => (steps += 1), at_once);
    const { rows } = await db.pool.query('SELECT * FROM lp_score ORDER BY owner, day');
    return { told, rows, steps };
  };
  const [whole, few, single] = [await scored(), await scored(3), await scored(1)];
  expect(whole.steps).toBe(1);
  expect(few.steps).toBeGreaterThan(5);
  expect(whole.rows.length).toBeGreaterThan(20);
  expect(few.rows).toEqual(whole.rows);
  expect(single.rows).toEqual(whole.rows);
  expect([few.told, single.told]).toEqual([whole.told, whole.told]);
});

test('a whale is told by the deposits whose worth is known, whatever else of the position is not', async () => {
  const store = await testDatabase();
  await loadRecords(store.pool, 'pools.json', [dlmmPoolsPage]);
  await loadRecords(store.pool, 'pairs.json', pairs);
  const row = (tx: string, type: 'add' | 'claim_fee', owner: string, usd: string) =>
    history({ tx, at: '2026-03-09T10:00:00Z', type, pool: SOL_USDC, position: named(`of ${owner}`), owner, x: '1', y: usd, usdX: '0', usdY: usd }); // prettier-ignore
  const unknown = ({ events, ...rest }: Record<string, unknown>): Record<string, unknown> => ({
    ...rest,
    events: (events as Record<string, unknown>[]).map((event) => ({ ...event, amountXUsd: null, amountYUsd: null, totalUsd: null })),
  });
  await loadRecords(store.pool, 'histories.json', [
    row('a1', 'add', ANNA, '60000'),
    unknown(row('a2', 'claim_fee', ANNA, '7')),
    row('b1', 'add', BEN, '40000'),
    unknown(row('b2', 'add', BEN, '40000')),
  ]);
  expect((await store.pool.query('SELECT count(*)::int AS n FROM lp_event WHERE usd IS NULL')).rows).toEqual([{ n: 2 }]);
  await score(store.pool, new Date('2026-03-10T12:00:00Z'), () => undefined);
  const { rows } = await store.pool.query("SELECT owner FROM lp_score WHERE 'whale' = ANY (tags)");
  expect(rows).toEqual([{ owner: ANNA }]);
  await store.drop();
});
