import { score } from '../../../../src/venues/lp/scoring/job';
import type { TestDatabase } from '../../../support/database';
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
