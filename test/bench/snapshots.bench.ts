import { makeContext } from '../../src/graph/context';
import { prediction } from '../../src/venues/prediction/index';
import { score } from '../../src/venues/prediction/scoring/job';
import { buildSnapshots } from '../../src/workers/snapshots';
import { testDatabase } from '../support/database';
import { loadWorld } from '../support/world';
import { call } from '../venues/prediction/markets/call';
import { type Figure, figure, latencies, printTable, timed } from './measure';

// Endpoints of the snapshot class while nobody builds: their last copies are 14 minutes old. Beside them the same answers made from the facts.
// BENCH_SIZE=facts a month (60000). Goal of markets/opportunities: p99 below a second.

const SIZE = Number(process.env.BENCH_SIZE ?? 60_000);
const RUNS = 200;
const start = new Date('2026-02-01T00:00:00Z');
const now = new Date(start.getTime() + 24 * 86_400_000);
const later = new Date(now.getTime() + 14 * 60_000);

test('answers with the builder stopped', async () => {
  const db = await testDatabase();
  try {
    await loadWorld(db.pool, 'prediction', SIZE, start, now);
    await score(db.pool, now, () => undefined);
    const [market] = (await db.pool.query<{ condition_id: string }>('SELECT condition_id FROM pm_position GROUP BY 1 ORDER BY count(*) DESC LIMIT 1')).rows; // prettier-ignore
    const asked: [string, Record<string, unknown>][] = [
      ['markets/opportunities', { min_signal_strength: 'weak', min_smart_wallets: 1, limit: 100 }],
      ['markets/similar', { condition_id: market?.condition_id, status: 'all', limit: 50 }],
      ['wallets/insiders', { min_score: 20, limit: 200 }],
      ['wallets/niche-experts', { category: 'Sports', limit: 100 }],
      ['wallets/alpha-callers', { limit: 100 }],
    ];
    const rows: Figure[] = [];
    const measure = async (how: string, runs: number): Promise<void> => {
      for (const [path, sent] of asked) {
        const { result, seconds } = await timed(() => latencies(runs, 4, () => call(db, path, later, sent).catch(() => null)));
        rows.push(figure(`${path}, ${how}`, result, seconds));
      }
    };
    await measure('from the facts', 20);
    const { seconds } = await timed(() => buildSnapshots(db.pool, prediction, () => makeContext(db, now)));
    await measure('from its copy', RUNS);
    rows.push({ what: 'building all copies', runs: 1, 'p50 ms': Math.round(seconds * 1_000), 'p99 ms': Math.round(seconds * 1_000), 'per second': Number((1 / seconds).toFixed(3)) }); // prettier-ignore
    printTable(`Snapshots, ${SIZE} facts a month, 4 at once`, rows);
  } finally {
    await db.drop();
  }
});
