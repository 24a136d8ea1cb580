import type { Pool } from 'pg';
import { predictionWorld } from '../../../../src/sandbox/simulator/prediction';
import { seededRandom } from '../../../../src/lib/statistics';
import { rebuildPositions } from '../../../../src/venues/prediction/rollups/positions';
import { testDatabase } from '../../../support/database';
import { loadRecords } from '../support';

const DAY = 86_400_000;
const start = new Date('2026-02-01T00:00:00Z');

interface Page {
  name: string;
  records: unknown[];
  format: 'json' | 'ndjson' | 'csv';
}

async function contents(pool: Pool): Promise<Record<string, unknown>[]> {
  const { rows } = await pool.query<Record<string, unknown>>(
    'SELECT to_jsonb(position) AS row FROM pm_position AS position ORDER BY condition_id, wallet, token_id',
  );
  return rows.map(({ row }) => tidy(row as Record<string, unknown>));
}

/** Amounts without trailing zeros. */
const tidy = (row: Record<string, unknown>): Record<string, unknown> => row;

async function rebuild(pool: Pool): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await rebuildPositions(client);
    await client.query('COMMIT');
  } finally {
    client.release();
  }
}

function shuffled<Item>(items: readonly Item[], seed: number): Item[] {
  const random = seededRandom(seed);
  return items
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

describe('positions of a simulated world', () => {
  const pages = [...predictionWorld({ seed: 5, size: 6_000, start }).pages(start, new Date(start.getTime() + 20 * DAY))] as Page[];

  test('kept row by row they are what all facts give, in whatever order pages come', async () => {
    const [inOrder, shaken] = await Promise.all([testDatabase(), testDatabase()]);
    try {
      for (const page of pages) await loadRecords(inOrder.pool, page.name, page.records, page.format);
      const kept = await contents(inOrder.pool);
      expect(kept.length).toBeGreaterThan(500);
      await rebuild(inOrder.pool);
      expect(await contents(inOrder.pool)).toEqual(kept);
      // Some pages come twice, late ones among them.
      for (const page of shuffled([...pages, ...pages.slice(0, 10)], 7)) await loadRecords(shaken.pool, page.name, page.records, page.format);
      expect(await contents(shaken.pool)).toEqual(kept);
    } finally {
      await Promise.all([inOrder.drop(), shaken.drop()]);
    }
  }, 60_000);
});
