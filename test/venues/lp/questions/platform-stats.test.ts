import { testDatabase } from '../../../support/database';
import { ask } from '../ask';
import { named } from '../chain-writer';
import { loadRecords, scoresWritten } from '../load';
import {
  ANNA,
  BEN,
  CARA,
  dammPoolsPage,
  dlmmPoolsPage,
  dlmmSwap,
  history,
  liquidityChange,
  SOL_USDC,
  tokenList,
  tx,
  ZED_SOL,
  ZED_USDC,
} from '../pages';

const NOW = new Date('2026-03-10T12:00:00Z');
let db: Awaited<ReturnType<typeof testDatabase>>;
type Row = Record<string, unknown>;
const stats = (variables: Row = {}) => ask<Row>(db, 'lp/platform/stats', NOW, variables);

beforeAll(async () => {
  db = await testDatabase();
  const load = (name: string, ...records: unknown[]) => loadRecords(db.pool, name, records);
  await load('pools.json', dlmmPoolsPage);
  await load('damm.json', dammPoolsPage);
  await load('tokens.json', ...tokenList);
  const at = (time: string, tx: string, type: 'add' | 'remove' | 'claim_fee', owner: string, usd: string, pool = SOL_USDC) =>
    history({ tx, at: time, type, pool, position: named(`position of ${owner} in ${pool}`), owner, x: '0', y: usd, usdX: '0', usdY: usd });
  await load(
    'h.json',
    at('2026-03-08T12:00:00Z', 'a0', 'add', ANNA, '500'),
    at('2026-03-09T11:59:59Z', 'a1', 'add', ANNA, '300'),
    at('2026-03-09T12:00:00Z', 'a2', 'remove', ANNA, '200.5'),
    at('2026-03-09T20:00:00Z', 'b1', 'add', BEN, '1000', ZED_USDC),
    at('2026-03-10T11:59:59Z', 'b2', 'claim_fee', BEN, '7.25', ZED_USDC),
    at('2026-03-10T12:00:00Z', 'b3', 'add', BEN, '9999', ZED_USDC),
    at('2026-02-01T00:00:00Z', 'c0', 'add', CARA, '40'),
  );
  await load(
    'chain.json',
    // Nothing prices ZED: counted, not summed.
    tx('d1', '2026-03-10T01:00:00Z', CARA, liquidityChange(ZED_SOL, named('nft'), CARA, 1, 1, 0)),
    // Swappers are no providers; providers earned 0.9 USDC of the 1 charged.
    tx('s1', '2026-03-10T02:00:00Z', named('trader'), dlmmSwap(SOL_USDC, named('trader'), -2303, 500_000_000, 1, false, 1_000_000)),
    tx('s2', '2026-03-10T03:10:00Z', named('trader'), dlmmSwap(SOL_USDC, named('trader'), -2303, 500_000_000, 1, false, 1_000_000)),
  );
  await load(`${SOL_USDC}_volume.json`, {
    timeframe: '1h',
    data: [{ timestamp: Date.parse('2026-03-10T03:00:00Z') / 1000, volume: 5000, fees: 10, protocol_fees: 0.5 }],
  });
  await db.pool.query(
    `INSERT INTO lp_score (owner, day, score, n, wins, version) VALUES ($1, '2026-03-08', 60.0, 5, 3, 'v'), ($2, '2026-03-08', 59.9, 5, 3, 'v'), ($2, '2026-03-10', 99, 5, 3, 'v'), ($3, '2026-03-01', 99, 5, 3, 'v')`,
    [ANNA, BEN, CARA],
  );
  await scoresWritten(db.pool);
});
afterAll(() => db.drop());

test('a day: every figure', async () => {
  const { data, meta } = await stats();
  expect(data).toEqual({
    total_volume_usd: 1200.5,
    total_events: 4,
    active_lps: 3,
    active_pools: 3,
    by_pool_type: [
      // Earned: 0.9 seen in the hour of 02:00, 10 - 0.5 stated for the hour of 03:00.
      { pool_type: 'dlmm', volume_usd: 1200.5, event_count: 3, lp_count: 2, pool_count: 2, fees_usd: 10.4 },
      { pool_type: 'damm_v2', volume_usd: 0, event_count: 1, lp_count: 1, pool_count: 1, fees_usd: null },
    ],
    deposits_usd: 1000,
    withdrawals_usd: 200.5,
    net_flow_usd: 799.5,
    fees_claimed_usd: 7.25,
    // Ben; Anna and Cara were there before.
    new_lps: 1,
    // Anna by the run of the 8th; Ben's 99 came only on the 10th; Cara is not in the newest run before her event.
    smart_lps: 1,
    // Against 800 of the day before.
    volume_change_pct: 50.0625,
  });
  expect(meta).toMatchObject({ timeframe: '24h', count: null, window: { from: new Date('2026-03-09T12:00:00Z'), to: NOW } });
  expect(meta.warnings).toEqual(['1 event has no known USD value: counted, left out of sums', 'swaps: sampled']);
});

test('a type that is known and quiet earned no fees: 0, not unknown', async () => {
  const at = async (now: string, timeframe: string): Promise<unknown> =>
    (await ask<{ by_pool_type: Row[] }>(db, 'lp/platform/stats', new Date(now), { timeframe })).data.by_pool_type.map(
      (row) => row.fees_usd,
    );
  expect(await at('2026-03-10T12:00:00Z', '1h')).toEqual([0, null]);
  // Of one that is told of later nothing is known yet.
  expect(await at('2026-03-09T20:30:00Z', '1h')).toEqual([null, null]);
});

test('one type: only its row, and everything counted within it', async () => {
  expect((await stats({ pool_type: 'damm_v2' })).data).toMatchObject({
    total_events: 1,
    total_volume_usd: 0,
    active_lps: 1,
    new_lps: 1,
    volume_change_pct: null,
    by_pool_type: [{ pool_type: 'damm_v2' }],
  });
  expect((await stats({ pool_type: 'dlmm' })).data).toMatchObject({
    total_events: 3,
    active_pools: 2,
    new_lps: 1,
    by_pool_type: [{ pool_type: 'dlmm', fees_usd: 10.4 }],
  });
});

test.each([
  ['1h', { total_events: 1, total_volume_usd: 0, fees_claimed_usd: 7.25, volume_change_pct: null }],
  ['today', { total_events: 2, total_volume_usd: 0, fees_claimed_usd: 7.25 }],
  ['7d', { total_events: 6, total_volume_usd: 2000.5, new_lps: 2, volume_change_pct: null }],
  ['90d', { total_events: 7, total_volume_usd: 2040.5, new_lps: 3 }],
  ['all', { total_events: 7, total_volume_usd: 2040.5, new_lps: 3, volume_change_pct: null, smart_lps: 1 }],
])('%s', async (timeframe, wanted) => {
  expect((await stats({ timeframe })).data).toMatchObject(wanted);
});

test('what came before is not compared with where records begin within it: they hold a part of it alone', async () => {
  const at = async (now: string): Promise<unknown> => (await ask<Row>(db, 'lp/platform/stats', new Date(now), { timeframe: '30d' })).data.volume_change_pct; // prettier-ignore
  // Of the thirty days before the first the first record is told, of those before the other all.
  expect([await at('2026-03-10T12:00:00Z'), await at('2026-04-02T00:00:00Z')]).toEqual([null, 29_898.75]);
});

test('pools are those in use within the window, whatever was done in them before and after it', async () => {
  const at = async (now: string, timeframe: string) => (await ask<Row>(db, 'lp/platform/stats', new Date(now), { timeframe })).data;
  // From the midst of an hour to the midst of the next; ZED-SOL and ZED-USDC come later.
  expect(await at('2026-03-09T12:30:00Z', '1h')).toMatchObject({
    total_events: 2,
    active_pools: 1,
    deposits_usd: 300,
    withdrawals_usd: 200.5,
    by_pool_type: [
      { pool_type: 'dlmm', event_count: 2, pool_count: 1 },
      { pool_type: 'damm_v2', event_count: 0, pool_count: 0 },
    ],
  });
  // Of ZED-USDC something before, and something after.
  expect(await at('2026-03-10T01:30:00Z', '1h')).toMatchObject({
    total_events: 1,
    active_pools: 1,
    by_pool_type: [
      { pool_type: 'dlmm', pool_count: 0 },
      { pool_type: 'damm_v2', event_count: 1, pool_count: 1 },
    ],
  });
  // SOL-USDC is used again just after it: two of its three, and half a second less than a day before.
  expect(await at('2026-03-09T11:59:59.500Z', '24h')).toMatchObject({ total_events: 2, active_pools: 1, total_volume_usd: 800 });
});

test('everything begins with the first event', async () => {
  expect((await stats({ timeframe: 'all' })).meta.window).toEqual({ from: new Date('2026-02-01T00:00:00Z'), to: NOW });
});

test('nothing in the window: empty, with the next longer one suggested', async () => {
  const at = (now: string, variables: Row) => ask(db, 'lp/platform/stats', new Date(now), variables);
  await expect(at('2026-02-20T00:00:00Z', { timeframe: '24h' })).rejects.toMatchObject({
    code: 'empty_result',
    context: { suggestion: { timeframe: '7d' } },
  });
  await expect(at('2026-02-20T00:00:00Z', { timeframe: '1h' })).rejects.toMatchObject({
    code: 'empty_result',
    context: { suggestion: { timeframe: '24h' } },
  });
  await expect(at('2026-01-20T00:00:00Z', { timeframe: 'all' })).rejects.toMatchObject({ code: 'empty_result', context: {} });
});
