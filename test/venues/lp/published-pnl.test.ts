import { testDatabase } from '../../support/database';
import { type RecordedClosedPosition, type RecordedMembership, historyOf, membershipOf, OWNER } from '../../support/converters/lp/recorded';
import { testWithRealData } from '../../support/real-data';
import { tableOf } from '../../support/told-table';
import { ask } from './ask';
import { loadRecords, readNdjson, readRows } from './load';
import { positionClose, tx } from './pages';

// What real positions earned by the ledger of their owner, and who is in which pool by a list of providers, beside what is answered.

type Closed = RecordedClosedPosition & { position: string; closed_at_meteora: string; pnl_pct: number };
interface History {
  summary: { status: string; realized_pnl_usd: number; realized_pnl_pct: number; fees_claimed_usd: number };
}
interface Profile {
  summary: { realized_pnl_usd: number; closed_positions: number; fees_claimed_usd: number; win_rate: number; pool_count: number };
}

let db: Awaited<ReturnType<typeof testDatabase>>;
beforeEach(async () => {
  db = await testDatabase();
});
afterEach(() => db.drop());

const sumOf = (rows: readonly number[]): number => rows.reduce((total, row) => total + row, 0);

testWithRealData('closed positions with stated PnL', 'real/pools/lp-closed-positions-pnl-2026-06_2026-07.ndjson.gz', async (file) => {
  const recorded = await readNdjson<RecordedClosedPosition & { pnl_pct: number }>(file);
  const used = recorded.filter((row): row is Closed => historyOf(row) !== null);
  await loadRecords(db.pool, 'historical.ndjson', used.map(historyOf), 'ndjson');
  // The histories tell no close: the chain does.
  const closes = used.map((row) => tx(`close ${row.position}`, new Date(Date.parse(row.closed_at_meteora) + 1_000).toISOString(), OWNER, positionClose(row.position, OWNER))); // prettier-ignore
  await loadRecords(db.pool, 'chain.json', closes);
  const now = new Date('2026-08-01T00:00:00Z');

  const { data } = await ask<Profile>(db, 'lp/lps/profile', now, { owner: OWNER });
  const stated = sumOf(used.map((row) => row.pnl_usd));
  expect(data.summary.closed_positions).toBe(used.length);
  expect(data.summary.pool_count).toBe(new Set(used.map((row) => row.pool)).size);
  // A millionth of a dollar an amount is rounded, three amounts a position.
  expect(Math.abs(data.summary.realized_pnl_usd - stated)).toBeLessThan(used.length * 2e-6);
  expect(data.summary.fees_claimed_usd).toBeCloseTo(sumOf(used.map((row) => row.fees_earned_usd)), 3);
  expect(data.summary.win_rate).toBeCloseTo(used.filter((row) => row.pnl_usd > 0).length / used.length, 5);

  let farthest = 0;
  for (const row of used.filter((_, index) => index % 6 === 0)) {
    const { summary } = (await ask<History>(db, 'lp/positions/history', now, { position_address: row.position })).data;
    expect(summary.status).toBe('closed');
    expect(Math.abs(summary.realized_pnl_usd - row.pnl_usd)).toBeLessThan(2e-6);
    // The ledger's own share was rounded to cents before it was a share.
    const cents = 100 * (0.005 / row.initial_value_usd) + 0.005;
    farthest = Math.max(farthest, Math.abs(summary.realized_pnl_pct - row.pnl_pct));
    expect(Math.abs(summary.realized_pnl_pct - row.pnl_pct)).toBeLessThan(cents + 0.02);
  }
  const left = recorded.filter((row) => historyOf(row) === null);
  const answered = data.summary.realized_pnl_usd;
  console.log(
      tableOf('PnL of closed positions by their owner’s ledger, and as answered (USD)', [
        { what: 'address, times and value known', positions: used.length, stated: stated.toFixed(6), answered: answered.toFixed(6), reason: `rounding; shares at most ${farthest.toFixed(4)} apart` },
        { what: 'others', positions: left.length, stated: sumOf(left.map((row) => row.pnl_usd)).toFixed(6), answered: 'not loaded', reason: 'missing history: no position address, times or value' },
      ]),
    ); // prettier-ignore
});

testWithRealData('who is in which pool', 'real/pools/pool-participants-2025-07_2025-10.csv.gz', async (file) => {
  const all = readRows<RecordedMembership>(file);
  const wallets = new Map<string, Set<string>>();
  for (const { pool, wallet } of all) wallets.set(pool, (wallets.get(pool) ?? new Set()).add(wallet));
  const chosen = [...wallets].filter(([, own]) => own.size >= 20 && own.size <= 80).slice(0, 25);
  const names = new Set(chosen.map(([pool]) => pool));
  const rows = all.filter(({ pool }) => names.has(pool));
  const report = await loadRecords(db.pool, 'historical.ndjson', rows.map(membershipOf), 'ndjson');
  expect(report).toEqual({ read: rows.length, inserted: rows.length, duplicates: 0, skipped: {} });
  const now = new Date('2025-10-25T00:00:00Z');

  const { data: pools } = await ask<{ pool_address: string; unique_lps: number; event_count: number }[]>(db, 'lp/pools/top', now, { sort_by: 'lp_count', timeframe: 'all', limit: 100 }); // prettier-ignore
  expect(Object.fromEntries(pools.map((row) => [row.pool_address, row.unique_lps]))).toEqual(
    Object.fromEntries(chosen.map(([pool, own]) => [pool, own.size])),
  );
  const memberships = new Map<string, number>();
  for (const { wallet } of rows) memberships.set(wallet, (memberships.get(wallet) ?? 0) + 1);
  const { data: providers } = await ask<{ owner: string; pool_count: number }[]>(db, 'lp/lps/top', now, { sort_by: 'pool_count', timeframe: 'all', limit: 100 }); // prettier-ignore
  const most = [...memberships.values()].sort((a, b) => b - a).slice(0, 100);
  expect(providers.map((row) => row.pool_count)).toEqual(most);
  for (const { owner, pool_count } of providers) expect([owner, pool_count]).toEqual([owner, memberships.get(owner)]);
  const { data: platform } = await ask<Record<string, number>>(db, 'lp/platform/stats', now, { timeframe: 'all' });
  expect([platform.active_lps, platform.active_pools, platform.total_events]).toEqual([memberships.size, chosen.length, rows.length]);
  expect(memberships.size).toBeGreaterThan(200);
});
