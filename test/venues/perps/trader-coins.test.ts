import { perpsWorld } from '../../../src/sandbox/simulator/perps';
import { testDatabase } from '../../support/database';
import { loadAtOnce } from '../../support/world';
import { ask, load, match, trader } from './support';

const START = new Date('2026-03-01T00:00:00Z');
const NOW = new Date('2026-03-09T13:27:00Z');

test("coins of an account's whole life are those of a window that holds it", async () => {
  const pages = [...perpsWorld({ seed: 31, size: 4_000, start: START }).pages(START, NOW)];
  const stores = await Promise.all([testDatabase(), testDatabase()]);
  try {
    for (const { pool } of stores) await loadAtOnce(pool, 'perps', pages);
    const [whole, windowed] = stores;
    // There somebody else was filled before the window.
    await load(windowed.pool, [
      match(new Date('2026-01-01T00:00:00Z'), { px: '1', sz: '1', side: 'B', taker: [trader('8'), '0.0'], maker: [trader('9'), '0.0'] }),
    ]);
    const { rows } = await whole.pool.query<{ trader: string }>('SELECT trader FROM perp_trader ORDER BY volume_usd DESC LIMIT 12');
    expect(rows).toHaveLength(12);
    for (const { trader: own } of rows)
      for (const sort_by of ['pnl', 'volume', 'win_rate', 'trades']) {
        const [life, window] = await Promise.all(
          stores.map((store) => ask<unknown[]>(store, 'perps/traders/pnl-by-coin', { trader: own, days: 30, sort_by, limit: 5 }, NOW)),
        );
        expect(life?.data.length).toBeGreaterThan(0);
        expect(life?.data).toEqual(window?.data);
      }
  } finally {
    await Promise.all(stores.map((store) => store.drop()));
  }
});
