import { SOL } from '../../../../src/venues/lp/chain-addresses';
import { score } from '../../../../src/venues/lp/scoring/job';
import { testDatabase } from '../../../support/database';
import { ask } from '../ask';
import { named } from '../chain-writer';
import { loadRecords, scoresWritten } from '../load';
import {
  ANNA,
  BEN,
  CARA,
  claimFee,
  dammPoolsPage,
  dlmmPoolsPage,
  dlmmSwap,
  history,
  liquidity,
  liquidityChange,
  pairs,
  positionClose,
  positionCreate,
  rebalancing,
  SOL_USDC,
  tx,
  ZED_SOL,
  ZED_USDC,
} from '../pages';

// Who left and who stays, hours in which nothing was swapped, and a position that was opened before anybody looked: worked out on paper.

const NOW = new Date('2026-03-10T12:30:00Z');
const [P1, P2, P3] = [named('position one'), named('position two'), named('position three')];

type Row = Record<string, unknown>;
type Store = Awaited<ReturnType<typeof testDatabase>>;
let db: Store;

/** A world of its own, gone when `work` is done. */
async function inStore(work: (store: Store) => Promise<void>): Promise<void> {
  const store = await testDatabase();
  await work(store).finally(() => store.drop());
}

const data = async <Data = Row>(endpoint: string, variables: Row = {}): Promise<Data> =>
  (await ask<Data>(db, endpoint, NOW, variables)).data;

const own = (name: string, at: string, type: 'add' | 'remove' | 'claim_fee', position: string, owner: string, usd: string): Row =>
  history({ tx: name, at, type, pool: SOL_USDC, position, owner, x: '0', y: usd, usdX: '0', usdY: usd });

beforeAll(async () => {
  db = await testDatabase();
  await loadRecords(db.pool, 'pools.json', [dlmmPoolsPage]);
  await loadRecords(db.pool, 'pairs.json', pairs);
  await loadRecords(db.pool, 'histories.json', [
    // Anna leaves with 400 less than she put in; Ben stays with 500 of 600.
    own('a1', '2026-03-05T10:00:00Z', 'add', P1, ANNA, '1000'),
    own('a2', '2026-03-07T10:00:00Z', 'remove', P1, ANNA, '600'),
    own('b1', '2026-03-08T10:00:00Z', 'add', P2, BEN, '600'),
    own('b2', '2026-03-09T10:00:00Z', 'remove', P2, BEN, '100'),
    // Cara claims; when her position was opened, and whether it still is, nobody told.
    own('c1', '2026-03-09T11:00:00Z', 'claim_fee', P3, CARA, '7'),
  ]);
  await loadRecords(db.pool, 'chain.json', [tx('a3', '2026-03-07T10:00:00Z', ANNA, positionClose(P1, ANNA))]);
  const hours = (pool: string, ...volumes: [hour: number, volume: number][]): Promise<unknown> =>
    loadRecords(db.pool, `${pool}_volume.json`, [
      {
        timeframe: '1h',
        data: volumes.map(([hour, volume]) => ({
          timestamp: Date.UTC(2026, 2, 10, hour) / 1_000,
          volume,
          fees: volume / 100,
          protocol_fees: 0,
        })),
      },
    ]);
  await hours(ZED_USDC, [9, 0], [10, 50], [11, 0], [12, 0]);
  await hours(SOL_USDC, [11, 0], [12, 0]);
  await db.pool.query(
    `INSERT INTO lp_score (owner, day, score, n, wins, win_rate_lb, deposited_usd, avg_pnl_pct, version) VALUES ($1, '2026-03-10', 60, 7, 6, 0.523333, 25000, 9.123, 'v')`,
    [BEN],
  );
});
afterAll(() => db.drop());

test('pools/detail: who has left holds nothing, whatever was lost', async () => {
  expect(await data('lp/pools/detail', { pool_address: SOL_USDC })).toMatchObject({
    unique_lps: 3,
    active_lps: 1,
    // By today's run, which gives him 60.
    smart_lp_count: 1,
    net_liquidity_usd: 900,
    hhi: 1,
    top_lps: [{ owner: BEN, share_pct: 100, net_deposit_usd: 500 }],
  });
});

test('swaps that come after the instant of an answer tell nothing of the volume before it, whatever is asked', async () => {
  await inStore(async (store) => {
    await loadRecords(store.pool, 'pools.json', [dlmmPoolsPage]);
    await loadRecords(store.pool, 'histories.json', [
      own('d1', '2026-03-10T12:05:00Z', 'add', P1, ANNA, '1000'),
      own('d2', '2026-03-10T12:10:00Z', 'claim_fee', P1, ANNA, '3'),
    ]);
    // One of them is of the hour that goes on.
    await loadRecords(store.pool, 'chain.json', [
      tx('d3', '2026-03-10T12:40:00Z', BEN, dlmmSwap(SOL_USDC, BEN, -2303, 10_500_000, 1, false, 0)),
      tx('d4', '2026-03-10T13:40:00Z', BEN, dlmmSwap(SOL_USDC, BEN, -2303, 10_500_000, 1, false, 0)),
    ]);
    const asked = async (now: Date): Promise<unknown[]> => {
      const answer = async <Data>(endpoint: string, variables: Row = {}): Promise<Data> =>
        (await ask<Data>(store, endpoint, now, variables)).data;
      const [top] = await answer<Row[]>('lp/pools/top');
      const [found] = await answer<Row[]>('lp/pools/search', { query: SOL_USDC });
      const bucket = (await answer<Row[]>('lp/pools/volume-history', { pool_address: SOL_USDC, timeframe: '1h' })).at(-1);
      const fees = await answer<Row & { time_series: Row[] }>('lp/pools/fee-analysis', { pool_address: SOL_USDC, timeframe: '1h' });
      const detail = await answer<Row>('lp/pools/detail', { pool_address: SOL_USDC });
      const volumes = [top, found, bucket, fees, fees.time_series[0]].map((row) => (row as Row).volume_usd);
      return [...volumes, detail.volume_usd_24h, fees.fees_per_1k_liquidity_day];
    };
    expect(await asked(NOW)).toEqual([null, null, null, null, null, null, null]);
    expect(await asked(new Date('2026-03-10T12:41:00Z'))).toEqual([10.5, 10.5, 10.5, 10.5, 10.5, 10.5, null]);
  });
});

test('pools/detail: a bin beyond all prices tells none', async () => {
  await inStore(async (far) => {
    await loadRecords(far.pool, 'pools.json', [dlmmPoolsPage]);
    const added = (name: string, at: string, bin: number): Row =>
      tx(name, at, BEN, liquidity('AddLiquidity', SOL_USDC, BEN, P2, 1_000_000_000, 100_000_000, bin));
    await loadRecords(far.pool, 'chain.json', [added('n1', '2026-03-10T10:00:00Z', 2_000_000_000)]);
    expect((await ask<Row>(far, 'lp/pools/detail', NOW, { pool_address: SOL_USDC })).data).toMatchObject({ price: null, total_events: 1 });
  });
});

test('lps/profile: a position is open, closed, or nobody knows', async () => {
  const status = async (owner: string): Promise<unknown> =>
    (await data<{ pool_breakdown: Row[] }>('lp/lps/profile', { owner })).pool_breakdown.map((row) => row.status);
  expect([await status(ANNA), await status(BEN), await status(CARA)]).toEqual([['closed'], ['open'], [null]]);
});

test('positions/history: the same three', async () => {
  const status = async (position_address: string): Promise<unknown> =>
    (await data<{ summary: Row }>('lp/positions/history', { position_address })).summary.status;
  expect([await status(P1), await status(P2), await status(P3)]).toEqual(['closed', 'open', null]);
});

test('a position that is opened again at the address of a closed one is open, until it is closed again', async () => {
  await inStore(async (store) => {
    await loadRecords(store.pool, 'pools.json', [dlmmPoolsPage]);
    await loadRecords(store.pool, 'histories.json', [
      own('r1', '2026-03-05T10:00:00Z', 'add', P1, ANNA, '1000'),
      own('r2', '2026-03-06T10:00:00Z', 'remove', P1, ANNA, '1100'),
      own('r3', '2026-03-08T10:00:00Z', 'add', P1, ANNA, '500'),
    ]);
    const opens = (name: string, at: string): Row => tx(name, at, ANNA, positionCreate(SOL_USDC, P1, ANNA));
    const closes = (name: string, at: string): Row => tx(name, at, ANNA, positionClose(P1, ANNA));
    const told = async (): Promise<unknown[]> => {
      const { summary } = (await ask<{ summary: Row }>(store, 'lp/positions/history', NOW, { position_address: P1 })).data;
      const open = await ask<Row[]>(store, 'lp/positions/active', NOW, { owner: ANNA }).then(({ data: rows }) => rows.length, () => 0); // prettier-ignore
      return [summary.status, summary.opened_at, summary.closed_at, summary.realized_pnl_usd, open];
    };
    const lives = [opens('r4', '2026-03-05T10:00:00Z'), closes('r5', '2026-03-06T10:00:00Z'), opens('r6', '2026-03-08T10:00:00Z')];
    await loadRecords(store.pool, 'chain-1.json', lives);
    expect(await told()).toEqual(['open', '2026-03-05T10:00:00Z', null, null, 1]);
    await loadRecords(store.pool, 'histories.json', [own('r7', '2026-03-09T10:00:00Z', 'remove', P1, ANNA, '450')]);
    // The newest first, as nodes list them.
    await loadRecords(store.pool, 'chain-2.json', [closes('r8', '2026-03-09T10:00:00Z'), ...[...lives].reverse()]);
    expect(await told()).toEqual(['closed', '2026-03-05T10:00:00Z', '2026-03-09T10:00:00Z', 50, 0]);
  });
});

test('a position is as old as its first deposit, not as the opening that was seen; nothing tells how old one is that was there before', async () => {
  await inStore(async (store) => {
    await loadRecords(store.pool, 'pools.json', [dlmmPoolsPage]);
    await loadRecords(store.pool, 'histories.json', [
      own('s1', '2026-03-05T10:00:00Z', 'add', P1, ANNA, '1000'),
      own('s2', '2026-03-06T10:00:00Z', 'remove', P1, ANNA, '1100'),
      // What Ben took out here he put in before anybody looked.
      own('s3', '2026-03-06T10:00:00Z', 'remove', P2, BEN, '1000'),
      ...[P1, P2].flatMap((position, i) => [
        own(`s4${i}`, '2026-03-08T10:00:00Z', 'add', position, i === 0 ? ANNA : BEN, '500'),
        own(`s5${i}`, '2026-03-09T10:00:00Z', 'remove', position, i === 0 ? ANNA : BEN, '450'),
      ]),
    ]);
    await loadRecords(
      store.pool,
      'chain.json',
      [
        [P1, ANNA],
        [P2, BEN],
      ].flatMap(([position, owner], i) => [
        tx(`s6${i}`, '2026-03-08T10:00:00Z', owner as string, positionCreate(SOL_USDC, position as string, owner as string)),
        tx(`s7${i}`, '2026-03-09T10:00:00Z', owner as string, positionClose(position as string, owner as string)),
      ]),
    );
    const told = async (position_address: string): Promise<unknown[]> => {
      const { summary } = (await ask<{ summary: Row }>(store, 'lp/positions/history', NOW, { position_address })).data;
      return [summary.status, summary.opened_at, summary.hold_hours, summary.realized_pnl_usd];
    };
    expect(await told(P1)).toEqual(['closed', '2026-03-05T10:00:00Z', 96, 50]);
    expect(await told(P2)).toEqual(['closed', null, null, null]);
    const { summary } = (await ask<{ summary: Row }>(store, 'lp/lps/profile', NOW, { owner: BEN })).data;
    expect(summary).toMatchObject({ closed_positions: 1, realized_pnl_usd: null, win_rate: null });
  });
});

test('a position that came to nothing is no win, one that ends in its first second is closed, and a loss of which a part is unknown is unknown', async () => {
  await inStore(async (store) => {
    await loadRecords(store.pool, 'pools.json', [dlmmPoolsPage]);
    const [start, end] = ['2026-03-05T10:00:00Z', '2026-03-07T10:00:00Z'];
    await loadRecords(store.pool, 'histories.json', [
      own('e1', start, 'add', P1, ANNA, '1000'),
      own('e2', end, 'remove', P1, ANNA, '1000'),
      // A SOL goes in and dollars come out: what a SOL was worth at the close nobody tells.
      history({ tx: 'e3', at: start, type: 'add', pool: SOL_USDC, position: P2, owner: ANNA, x: '1', y: '0', usdX: '100', usdY: '0' }),
      own('e4', end, 'remove', P2, ANNA, '110'),
      own('e5', start, 'add', P3, BEN, '1000'),
      own('e6', start, 'remove', P3, BEN, '990'),
    ]);
    const close = (name: string, at: string, position: string, owner: string): Row => tx(name, at, owner, positionClose(position, owner));
    await loadRecords(store.pool, 'chain.json', [close('e7', end, P2, ANNA), close('e8', start, P3, BEN)]);
    const profile = async (owner: string): Promise<Row[]> => {
      const told = (await ask<{ summary: Row; pool_breakdown: Row[] }>(store, 'lp/lps/profile', NOW, { owner })).data;
      return [told.summary, told.pool_breakdown[0] as Row];
    };
    expect(await profile(ANNA)).toMatchObject([{ closed_positions: 2, win_rate: 0.5, realized_pnl_usd: 10 }, { il_usd: null }]);
    expect(await profile(BEN)).toMatchObject([
      { closed_positions: 1, open_positions: 0, win_rate: 0, realized_pnl_usd: -10, avg_hold_hours: 0 },
      { il_usd: -10, status: 'closed' },
    ]);
  });
});

test('what is put in after the last withdrawal is there, however much was taken out before', async () => {
  await inStore(async (store) => {
    await loadRecords(store.pool, 'pools.json', [dlmmPoolsPage]);
    await loadRecords(store.pool, 'damm.json', [dammPoolsPage]);
    // Nobody saw what was put in first.
    await loadRecords(store.pool, 'histories.json', [
      own('w1', '2026-03-05T10:00:00Z', 'remove', P1, ANNA, '1000'),
      own('w2', '2026-03-06T10:00:00Z', 'add', P1, ANNA, '500'),
    ]);
    const changes = (name: string, at: string, delta: number, type: 0 | 1): Row =>
      tx(name, at, BEN, liquidityChange(ZED_SOL, P2, BEN, 1_000_000, 0, type, [0, 0], delta));
    await loadRecords(store.pool, 'chain.json', [
      changes('w3', '2026-03-05T10:00:00Z', 900, 1),
      changes('w4', '2026-03-06T10:00:00Z', 400, 0),
    ]);
    const told = async (owner: string, pool_address: string): Promise<unknown[]> => {
      const { summary } = (await ask<{ summary: Row }>(store, 'lp/positions/history', NOW, { owner, pool_address })).data;
      const open = await ask<Row[]>(store, 'lp/positions/active', NOW, { owner }).then(({ data: rows }) => rows.length, () => 0); // prettier-ignore
      return [summary.status, summary.closed_at, open];
    };
    expect(await told(ANNA, SOL_USDC)).toEqual(['open', null, 1]);
    expect(await told(BEN, ZED_SOL)).toEqual(['open', null, 1]);
    // In one transaction as well, which takes out and puts in; what is put in and taken out again is gone.
    const [out, into] = [liquidity('RemoveLiquidity', SOL_USDC, CARA, P3, 0, 1_000_000, 0), liquidity('AddLiquidity', SOL_USDC, CARA, P3, 0, 500_000, 0)]; // prettier-ignore
    await loadRecords(store.pool, 'anew.json', [tx('w5', '2026-03-07T10:00:00Z', CARA, out, into)]);
    expect(await told(CARA, SOL_USDC)).toEqual(['open', null, 1]);
    await loadRecords(store.pool, 'moved.json', [
      tx('w6', '2026-03-08T10:00:00Z', CARA, rebalancing(SOL_USDC, P3, CARA, 0, [0, 0, 900_000, 1_000, 0, 0])),
    ]);
    expect(await told(CARA, SOL_USDC)).toEqual(['open', null, 1]);
    await loadRecords(store.pool, 'gone.json', [tx('w7', '2026-03-09T10:00:00Z', CARA, into, out)]);
    expect(await told(CARA, SOL_USDC)).toEqual(['closed', '2026-03-09T10:00:00Z', 0]);
    const change = (delta: number, type: 0 | 1) =>
      liquidityChange(ZED_SOL, named('position four'), ANNA, 1_000_000, 0, type, [0, 0], delta);
    await loadRecords(store.pool, 'other.json', [tx('w8', '2026-03-07T10:00:00Z', ANNA, change(900, 1), change(400, 0))]);
    expect(await told(ANNA, ZED_SOL)).toEqual(['open', null, 2]);
  });
});

test('every answer with scores names the version of their run, none before the first', async () => {
  const asked: [endpoint: string, variables: Row][] = [
    ['lp/pools/trending', { timeframe: '4h', min_volume_usd: 0 }],
    ['lp/pools/top', {}],
    ['lp/pools/detail', { pool_address: SOL_USDC }],
    ['lp/pools/fee-analysis', { pool_address: SOL_USDC }],
    ['lp/lps/top', {}],
    ['lp/lps/profile', { owner: BEN }],
    ['lp/lps/compare', { owners: [ANNA, BEN] }],
    ['lp/lps/whales', { min_usd: 1, timeframe: '7d' }],
    ['lp/positions/active', { owner: BEN }],
    ['lp/platform/stats', { timeframe: '7d' }],
  ];
  for (const [endpoint, variables] of asked) {
    expect([endpoint, (await ask(db, endpoint, NOW, variables)).meta.score_version]).toEqual([endpoint, 'v']);
  }
  const before = await ask(db, 'lp/lps/profile', new Date('2026-03-09T23:00:00Z'), { owner: BEN });
  expect(before.meta.score_version).toBeNull();
});

test('volume-heatmap: whatever was done without a known value is told, deposits or not', async () => {
  const unpriced = history({
    tx: 'u1',
    at: '2026-03-10T10:00:00Z',
    type: 'remove',
    pool: SOL_USDC,
    position: P2,
    owner: BEN,
    x: '1',
    y: '0',
    usdX: '',
    usdY: '0',
  });
  delete (unpriced.events as Row[])[0]?.totalUsd;
  await inStore(async (later) => {
    await loadRecords(later.pool, 'histories.json', [unpriced]);
    const { data: cells, meta } = await ask<Row[]>(later, 'lp/platform/volume-heatmap', NOW, { group_by: 'action' });
    expect(cells).toMatchObject([{ action: 'withdraw', event_count: 1, volume_usd: 0 }]);
    expect(meta.warnings).toContain('1 event has no known USD value: left out of volume');
    // What a pool holds is told of its whole life, whatever the window.
    const warnings = async (endpoint: string, at: Date, variables: Row): Promise<string[]> => (await ask(later, endpoint, at, variables)).meta.warnings; // prettier-ignore
    const held = '1 event has no known USD value: in the lives of these pools, left out of sums';
    for (const sort_by of ['volume', 'events']) expect(await warnings('lp/pools/top', NOW, { sort_by, timeframe: '30d' })).toContain(held); // prettier-ignore
    const nextDay = new Date(NOW.getTime() + 43_200_000);
    await loadRecords(later.pool, 'histories.json', [history({ tx: 'u2', at: '2026-03-10T20:00:00Z', type: 'remove', pool: SOL_USDC, position: P2, owner: BEN, x: '1', y: '0', usdX: '5', usdY: '0' })]); // prettier-ignore
    expect(await warnings('lp/pools/volume-history', nextDay, { pool_address: SOL_USDC, timeframe: '6h' })).toContain(
      '1 event has no known USD value: before the window, left out of sums',
    );
  });
});

test('lps/profile: the points of a score are told as exactly as they add up', async () => {
  const { summary } = await data<{ summary: { lp_score_breakdown: Row } }>('lp/lps/profile', { owner: BEN, explain: true });
  // 35 · 0.523333; 25 · log10(25,001) / 7; 30 · 14.123 / 25; 10 · log10(8) / 2.
  expect(summary.lp_score_breakdown).toMatchObject({
    win_points: 18.316655,
    size_points: 15.706991,
    return_points: 16.9476,
    experience_points: 4.51545,
  });
});

test('lps/profile: a section that fails is null and named, the others are told', async () => {
  const told = (): ReturnType<typeof ask<Row & { summary: Row }>> => ask(db, 'lp/lps/profile', NOW, { owner: BEN, explain: true });
  const without = async (table: string): ReturnType<typeof told> => {
    await db.pool.query(`ALTER TABLE ${table} RENAME TO away`);
    return told().finally(() => db.pool.query(`ALTER TABLE away RENAME TO ${table}`));
  };
  const { summary, ...rest } = (await told()).data;
  const scoreless = await without('lp_score');
  expect(scoreless.data).toEqual({ ...rest, summary: { ...summary, lp_score: null, lp_score_breakdown: null } });
  expect(scoreless.meta.warnings).toEqual(['lp_score could not be told this time', 'lp_score_breakdown could not be told this time']);
  const nameless = await without('lp_token');
  expect(nameless.data).toEqual({ ...rest, summary, pool_breakdown: null, recent_events: null });
  expect(nameless.meta.warnings).toEqual(['recent_events could not be told this time', 'pool_breakdown could not be told this time']);
});

test('lps/compare: providers that did nothing in pools of a type are no answer about that type', async () => {
  const owners = [ANNA, BEN];
  await expect(data('lp/lps/compare', { owners, pool_type: 'damm_v2' })).rejects.toMatchObject({
    code: 'empty_result',
    context: { suggestion: { pool_type: 'all' } },
  });
  const { lps } = await data<{ lps: Row[] }>('lp/lps/compare', { owners, pool_type: 'dlmm' });
  expect(lps.map(({ owner, found }) => [owner, found])).toEqual([
    [ANNA, true],
    [BEN, true],
  ]);
});

test('an empty answer suggests to drop what was narrowed where no window is wider', async () => {
  const refused = async (endpoint: string, variables: Row): Promise<unknown> =>
    data(endpoint, variables).then(
      () => null,
      ({ context }: { context: { suggestion: unknown } }) => context.suggestion,
    );
  expect(await refused('lp/platform/stats', { pool_type: 'damm_v2', timeframe: 'all' })).toEqual({ pool_type: 'all' });
  const narrow = { pool_type: 'damm_v2', event_type: 'withdraw', min_usd: 1e9, timeframe: 'all' };
  expect(await refused('lp/lps/whales', narrow)).toEqual({ pool_type: 'all', event_type: null, min_usd: 1 });
});

test('hours in which nothing was swapped are no data by themselves', async () => {
  const history = (pool_address: string, timeframe: string): Promise<Row[]> =>
    data<Row[]>('lp/pools/volume-history', { pool_address, timeframe, bucket_size: '1h' });
  await expect(history(ZED_USDC, '1h')).rejects.toMatchObject({ code: 'empty_result' });
  // It begins with its first hour; two hours later those after noon are not stated yet.
  expect((await history(ZED_USDC, '4h')).map((row) => row.volume_usd)).toEqual([0, 50, 0, 0]);
  const later = await ask<Row[]>(db, 'lp/pools/volume-history', new Date(NOW.getTime() + 7_200_000), { pool_address: ZED_USDC, timeframe: '6h', bucket_size: '1h' }); // prettier-ignore
  expect(later.data.map((row) => [row.volume_usd, row.fees_usd])).toEqual([[0, 0], [50, 0.5], [0, 0], [0, 0], [null, null], [null, null]]); // prettier-ignore
  await expect(data('lp/platform/volume-heatmap', { timeframe: '1h' })).rejects.toMatchObject({ code: 'empty_result' });
  const cells = await data<Row[]>('lp/platform/volume-heatmap', { timeframe: '4h' });
  expect(cells.map((row) => [row.pool_address, row.bucket, row.volume_usd])).toEqual([[ZED_USDC, '2026-03-10T10:00:00Z', 50]]);
});

test('fees of swaps whose value nobody knows are unknown, not 0, in the hour as in the day', async () => {
  await inStore(async (other) => {
    await loadRecords(other.pool, 'pairs.json', [{ ...pairs[0], address: ZED_SOL, mint_y: SOL }]);
    await loadRecords(other.pool, 'chain.json', [
      tx('unpriced', '2026-03-10T11:05:00Z', BEN, dlmmSwap(ZED_SOL, BEN, 5, 1_000_000, 1, true, 1_000)),
    ]);
    const { data: hours } = await ask<Row[]>(other, 'lp/pools/volume-history', NOW, { pool_address: ZED_SOL, timeframe: '4h', bucket_size: '1h' }); // prettier-ignore
    expect(hours.map((row) => [row.event_count, row.volume_usd, row.fees_usd])).toEqual([[1, 0, null], [0, 0, 0]]); // prettier-ignore
    expect((await ask<Row>(other, 'lp/pools/detail', NOW, { pool_address: ZED_SOL })).data).toMatchObject({ volume_usd_24h: 0, fees_usd_24h: null }); // prettier-ignore
  });
});

test('pools in which nothing happened are neither trending nor ranked', async () => {
  await expect(data('lp/pools/top', { timeframe: '1h' })).rejects.toMatchObject({ code: 'empty_result' });
  await expect(data('lp/pools/trending', { timeframe: '1h', min_volume_usd: 0 })).rejects.toMatchObject({ code: 'empty_result' });
});

test('a pool that is known and quiet generated no fees: 0, not unknown', async () => {
  const later = new Date('2026-03-12T12:00:00Z');
  const quiet = { volume_usd_24h: 0, fees_usd_24h: 0, fee_rate_pct: null };
  expect((await ask<Row>(db, 'lp/pools/detail', later, { pool_address: ZED_USDC })).data).toMatchObject(quiet);
  const { data: ranked } = await ask<Row[]>(db, 'lp/pools/top', later, { sort_by: 'liquidity', timeframe: '24h' });
  expect(ranked).toMatchObject([
    { pool_address: SOL_USDC, volume_usd: 0, total_fees_usd: 0, fee_rate_pct: null, net_liquidity_usd: 900 },
    { pool_address: ZED_USDC, volume_usd: 0, total_fees_usd: 0, fee_rate_pct: null, net_liquidity_usd: 0 },
  ]);
});

test('pools/top: a pool of which fees are stated and no volume is ranked by its fees', async () => {
  await inStore(async (other) => {
    await loadRecords(other.pool, 'pools.json', [dlmmPoolsPage]);
    await loadRecords(other.pool, 'pairs.json', pairs);
    for (const [pool, volume, fees] of [[SOL_USDC, 0, 3], [ZED_USDC, 50, 0.5]] as const) // prettier-ignore
      await loadRecords(other.pool, `${pool}_volume.json`, [{ timeframe: '1h', data: [{ timestamp: Date.UTC(2026, 2, 10, 10) / 1_000, volume, fees, protocol_fees: 0 }] }]); // prettier-ignore
    const shown = async (variables: Row): Promise<unknown> =>
      (await ask<Row[]>(other, 'lp/pools/top', NOW, { timeframe: '24h', ...variables })).data.map((row) => [row.pool_address, row.volume_usd, row.total_fees_usd]); // prettier-ignore
    for (const limit of [1, 2, 3])
      expect(await shown({ sort_by: 'fees', limit })).toEqual([[SOL_USDC, 0, 3], [ZED_USDC, 50, 0.5]].slice(0, limit)); // prettier-ignore
    expect(await shown({ sort_by: 'fee_rate' })).toEqual([[ZED_USDC, 50, 0.5], [SOL_USDC, 0, 3]]); // prettier-ignore
  });
});

test('what lies before the first swap on record is not known: no volume of a pool that is older, and no days for its fees', async () => {
  await inStore(async (other) => {
    const [pool] = dlmmPoolsPage.data;
    await loadRecords(other.pool, 'pools_2026-03-10T10-20-00Z.json', [{ ...dlmmPoolsPage, data: [{ ...pool, tvl: 1000 }] }]);
    await loadRecords(other.pool, 'histories.json', [own('i1', '2026-03-10T10:10:00Z', 'claim_fee', P1, ANNA, '1')]);
    await loadRecords(other.pool, 'chain.json', [
      tx('i2', '2026-03-08T00:00:00Z', BEN, dlmmSwap(ZED_USDC, BEN, 5, 1_000_000, 1, true, 1_000)),
      tx('i3', '2026-03-09T12:00:00Z', BEN, dlmmSwap(SOL_USDC, BEN, -2303, 10_000_000, 1, false, 2_000_000)),
    ]);
    const answer = async <Data>(endpoint: string, variables: Row): Promise<Data> =>
      (await ask<Data>(other, endpoint, new Date('2026-03-11T00:00:00Z'), variables)).data;
    const known = (rows: Row[]): unknown => rows.map((row) => [row.bucket, row.volume_usd, row.fees_usd]).slice(-5);
    const asked = { pool_address: SOL_USDC, timeframe: '30d', bucket_size: '1d' };
    expect(known(await answer('lp/pools/volume-history', asked))).toEqual([
      ['2026-03-06T00:00:00Z', null, null],
      ['2026-03-07T00:00:00Z', null, null],
      ['2026-03-08T00:00:00Z', 0, 0],
      ['2026-03-09T00:00:00Z', 10, 1.8],
      ['2026-03-10T00:00:00Z', 0, 0],
    ]);
    const { time_series, fees_per_1k_liquidity_day } = await answer<Row & { time_series: Row[] }>('lp/pools/fee-analysis', asked);
    expect(time_series.map((row) => row.volume_usd).slice(-5)).toEqual([null, null, 0, 10, 0]);
    // 1.8 in three days on 1,000.
    expect(fees_per_1k_liquidity_day).toBe(0.6);
    for (const [timeframe, ratio] of [['24h', 0], ['7d', 0.06], ['90d', 0.06], ['all', 0.12]] as const) // prettier-ignore
      expect(await answer<Row[]>('lp/pools/top', { timeframe, sort_by: 'liquidity' })).toMatchObject([{ pool_address: SOL_USDC, fee_tvl_ratio_pct: ratio }]); // prettier-ignore
  });
});

test('all begins with the first fact of a pool, other windows reach back to when it was made', async () => {
  const first = async (timeframe: string): Promise<unknown> =>
    (await data<Row[]>('lp/pools/volume-history', { pool_address: SOL_USDC, timeframe, bucket_size: '1d' }))[0]?.bucket;
  expect([await first('all'), await first('90d')]).toEqual(['2026-03-05T00:00:00Z', '2026-01-01T00:00:00Z']);
  const { time_series } = await data<{ time_series: Row[] }>('lp/pools/fee-analysis', { pool_address: SOL_USDC, timeframe: 'all' });
  expect(time_series[0]).toMatchObject({ bucket: '2026-03-05T00:00:00Z' });
});

test('all of what has no fact at all is empty, not too long', async () => {
  await inStore(async (other) => {
    await loadRecords(other.pool, 'pairs.json', pairs);
    for (const [endpoint, variables] of [
      ['lp/pools/volume-history', { pool_address: ZED_USDC }],
      ['lp/pools/fee-analysis', { pool_address: ZED_USDC }],
      ['lp/platform/volume-heatmap', {}],
    ] as const)
      await expect(ask(other, endpoint, NOW, { ...variables, timeframe: 'all' })).rejects.toMatchObject({ code: 'empty_result' });
  });
});

test('a bucket in which a pool had events and no swaps is no empty one', async () => {
  await inStore(async (other) => {
    await loadRecords(other.pool, 'pools.json', [dlmmPoolsPage]);
    await loadRecords(other.pool, 'histories.json', [own('d1', '2026-03-10T10:00:00Z', 'add', P1, ANNA, '70')]);
    const hour = { timestamp: Date.UTC(2026, 2, 10, 11) / 1_000, volume: 30, fees: 0.3, protocol_fees: 0 };
    await loadRecords(other.pool, `${SOL_USDC}_volume.json`, [{ timeframe: '1h', data: [hour] }]);
    const { data: cells } = await ask<Row[]>(other, 'lp/platform/volume-heatmap', NOW, { timeframe: '4h' });
    expect(cells).toMatchObject([
      { bucket: '2026-03-10T10:00:00Z', volume_usd: 0, event_count: 1, pct_of_bucket: null },
      { bucket: '2026-03-10T11:00:00Z', volume_usd: 30, event_count: 0, pct_of_bucket: 100 },
    ]);
  });
});

test('lps/whales: the share of a pool is of the liquidity last seen before the event, in its own hour too', async () => {
  await inStore(async (other) => {
    const [pool] = dlmmPoolsPage.data;
    await loadRecords(other.pool, 'pools_2026-03-10T10-20-00Z.json', [{ ...dlmmPoolsPage, data: [{ ...pool, tvl: 1000 }] }]);
    await loadRecords(other.pool, 'histories.json', [
      own('e1', '2026-03-10T10:10:00Z', 'add', P1, ANNA, '100'),
      own('e2', '2026-03-10T10:30:00Z', 'add', P2, BEN, '100'),
      own('e3', '2026-03-10T11:00:00Z', 'add', P2, BEN, '100'),
    ]);
    const { data: rows } = await ask<Row[]>(other, 'lp/lps/whales', NOW, { min_usd: 1 });
    expect(rows.map((row) => row.PctOfPool)).toEqual([10, 10, null]);
  });
});

test('positions/history is in the order of the chain: in a rebalance what is taken out comes before what goes in again', async () => {
  await inStore(async (other) => {
    await loadRecords(other.pool, 'pools.json', [dlmmPoolsPage]);
    await loadRecords(other.pool, 'chain.json', [
      tx(
        'f1',
        '2026-03-10T10:00:00Z',
        ANNA,
        positionCreate(SOL_USDC, P1, ANNA),
        liquidity('AddLiquidity', SOL_USDC, ANNA, P1, 0, 9_000_000, 0),
      ),
      tx('f2', '2026-03-10T11:00:00Z', ANNA, rebalancing(SOL_USDC, P1, ANNA, 0, [0, 0, 9_000_000, 9_000_000, 0, 1_000_000])),
      tx(
        'f3',
        '2026-03-10T12:00:00Z',
        ANNA,
        liquidity('RemoveLiquidity', SOL_USDC, ANNA, P1, 0, 9_000_000, 0),
        claimFee(SOL_USDC, P1, ANNA, 0, 500_000),
      ),
    ]);
    const { data: story } = await ask<{ events: Row[] }>(other, 'lp/positions/history', NOW, { position_address: P1 });
    expect(story.events.map((row) => [row.EventType, row.CumulativeNetUsd])).toEqual([
      ['AddLiquidity', 9],
      ['RemoveLiquidity', 0],
      ['AddLiquidity', 9],
      ['ClaimFee', 9],
      ['RemoveLiquidity', 0],
      ['ClaimFee', 0],
    ]);
  });
});

test('pools/events end where windows end: what happens now comes later', async () => {
  const newest = async (now: string): Promise<unknown> =>
    (await ask<Row[]>(db, 'lp/pools/events', new Date(now), { pool_address: SOL_USDC, limit: 1 })).data[0]?.Owner;
  expect([await newest('2026-03-09T11:00:00Z'), await newest('2026-03-09T11:00:01Z')]).toEqual([BEN, CARA]);
});

test('events of a position whose owner nobody told are money and events, and no provider', async () => {
  await inStore(async (other) => {
    const told = async <Data = Row>(endpoint: string, variables: Row = {}): Promise<Data> =>
      (await ask<Data>(other, endpoint, NOW, variables)).data;
    const old = (at: string, usd: number): Row => ({
      tx_id: named(`old ${at}`, 64), position_address: P1, pair_address: ZED_USDC, active_bin_id: 7, token_x_amount: 0, token_y_amount: usd * 1e6,
      token_x_usd_amount: 0, token_y_usd_amount: usd, price: 1, onchain_timestamp: Date.parse(at) / 1_000,
    }); // prettier-ignore
    await loadRecords(other.pool, 'pairs.json', pairs);
    await loadRecords(other.pool, 'position_deposits.json', [old('2026-03-10T10:10:00Z', 300)]);
    await loadRecords(other.pool, 'position_claim_fees.json', [old('2026-03-10T12:20:00Z', 3)]);
    const ben = { pool: ZED_USDC, position: P2, owner: BEN, x: '0', usdX: '0' };
    await loadRecords(other.pool, 'histories.json', [
      history({ ...ben, tx: 'b1', at: '2026-03-10T10:20:00Z', type: 'add', y: '100', usdY: '100' }),
      history({ ...ben, tx: 'b2', at: '2026-03-10T11:30:00Z', type: 'claim_fee', y: '1', usdY: '1' }),
    ]);
    const volume = { timestamp: Date.UTC(2026, 2, 10, 10) / 1_000, volume: 1_000, fees: 10, protocol_fees: 0 };
    await loadRecords(other.pool, `${ZED_USDC}_volume.json`, [{ timeframe: '1h', data: [volume] }]);
    const pool = { pool_address: ZED_USDC };
    // When the pool was made is not known either: no rate without its launch can be told.
    for (const timeframe of ['24h', 'all'])
      expect(await told('lp/pools/fee-analysis', { ...pool, timeframe })).toMatchObject({
        total_fees_claimed: 4, unique_claimers: 1, avg_claim_usd: 2, claim_concentration_hhi: 1, fee_rate_pct: 1, fee_rate_adjusted_pct: null, top_claimers: [{ owner: BEN, share_pct: 25 }],
      }); // prettier-ignore
    expect(await told('lp/pools/detail', pool)).toMatchObject({
      total_events: 4,
      unique_lps: 1,
      net_liquidity_usd: 400,
      active_lps: 1,
      hhi: 1,
    });
    expect((await told<Row[]>('lp/pools/volume-history', { ...pool, timeframe: '4h', bucket_size: '1h' })).map((row) => [row.bucket, row.event_count, row.unique_lps])).toEqual([
      ['2026-03-10T10:00:00Z', 2, 1], ['2026-03-10T11:00:00Z', 1, 1], ['2026-03-10T12:00:00Z', 1, 0],
    ]); // prettier-ignore
    for (const timeframe of ['4h', '24h', 'all']) {
      expect(await told('lp/platform/stats', { timeframe })).toMatchObject({
        active_lps: 1,
        new_lps: 1,
        total_events: 4,
        total_volume_usd: 400,
        by_pool_type: [{ pool_type: 'dlmm', lp_count: 1 }, { lp_count: 0 }],
      });
      expect(await told('lp/pools/top', { timeframe })).toMatchObject([{ event_count: 4, unique_lps: 1 }]);
      expect(await told('lp/lps/top', { timeframe })).toMatchObject([{ owner: BEN, event_count: 2 }]);
    }
  });
});

test('pools/fee-analysis: swaps without a known value are left out of its volume, and told', async () => {
  await inStore(async (other) => {
    // Nobody tells what the tokens of this pool are divided into.
    const claimed = { tx: 'n1', at: '2026-03-10T10:00:00Z', type: 'claim_fee', pool: ZED_USDC, position: P2, owner: BEN, x: '0', usdX: '0', y: '3', usdY: '3' } as const; // prettier-ignore
    await loadRecords(other.pool, 'histories.json', [history(claimed)]);
    await loadRecords(other.pool, 'chain.json', [
      tx('n2', '2026-03-10T11:00:00Z', CARA, dlmmSwap(ZED_USDC, CARA, 5, 1_000_000, 1_000_000, true, 1_000)),
    ]);
    const { data: fees, meta } = await ask<Row>(other, 'lp/pools/fee-analysis', NOW, { pool_address: ZED_USDC });
    expect([fees.total_fees_claimed, fees.volume_usd]).toEqual([3, 0]);
    expect(meta.warnings).toEqual(['1 event has no known USD value: left out of volume', 'swaps: sampled']);
  });
});

test('a rate is the launch schedule above 10 % in the first day of a constant-product pool, implausible above what a program allows', async () => {
  await inStore(async (other) => {
    const DAY = 86_400_000;
    const table: [type: 'damm_v2' | 'dlmm', age_ms: number, rate: number, flag: string | null][] = [
      ['damm_v2', DAY - 1_000, 10.5, 'launch_fee_schedule'],
      ['damm_v2', DAY - 1_000, 10, null],
      ['damm_v2', DAY, 50, null],
      ['damm_v2', DAY - 1_000, 99, 'launch_fee_schedule'],
      ['damm_v2', DAY - 1_000, 99.5, 'implausible'],
      ['dlmm', DAY - 1_000, 10, null],
      ['dlmm', 30 * DAY, 10.5, 'implausible'],
    ];
    for (const [index, [type, age, rate]] of table.entries()) {
      const [page, address] = [type === 'dlmm' ? dlmmPoolsPage : dammPoolsPage, named(`rated ${index}`)];
      const made = { ...page.data[0], address, created_at: (NOW.getTime() - age) / 1_000 };
      await loadRecords(other.pool, `${type}_pools.json`, [{ ...page, data: [made] }]);
      const hour = {
        timestamp: Date.UTC(2026, 2, 10, 9) / 1_000,
        volume: 1_000 - index,
        fees: ((1_000 - index) * rate) / 100,
        protocol_fees: 0,
      };
      await loadRecords(other.pool, `${address}_volume.json`, [{ timeframe: '1h', data: [hour] }]);
    }
    const { data: rows } = await ask<Row[]>(other, 'lp/pools/top', NOW, { timeframe: '24h' });
    expect(rows.map((row) => [row.pool_type, row.fee_rate_pct, row.fee_rate_flag])).toEqual(
      table.map(([type, , rate, flag]) => [type, rate, flag]),
    );
  });
});

test('what is shown as a bound reaches it: nobody sees more than six decimals', async () => {
  await inStore(async (other) => {
    await loadRecords(other.pool, 'pools.json', [dlmmPoolsPage]);
    await loadRecords(other.pool, 'pairs.json', pairs);
    await loadRecords(other.pool, 'histories.json', [own('b1', '2026-03-10T10:00:00Z', 'add', P2, BEN, '24999.9999996')]);
    const hour = { timestamp: Date.UTC(2026, 2, 10, 10) / 1_000, volume: 24_999.999_999_6, fees: 1, protocol_fees: 0 };
    await loadRecords(other.pool, `${SOL_USDC}_volume.json`, [{ timeframe: '1h', data: [hour] }]);
    const shown = async (endpoint: string, variables: Row, field: string): Promise<unknown> => {
      const rows = await ask<Row[]>(other, endpoint, NOW, variables).then(
        ({ data: found }) => found,
        () => [],
      );
      return rows.map((row) => row[field]);
    };
    for (const [bound, reached] of [
      [25_000, [25_000]],
      [25_000.000_001, []],
    ] as const) {
      expect(await shown('lp/lps/whales', { min_usd: bound, field_case: 'snake' }, 'usd_total')).toEqual(reached);
      expect(await shown('lp/pools/events', { pool_address: SOL_USDC, min_usd: bound, field_case: 'snake' }, 'usd_total')).toEqual(reached);
      expect(await shown('lp/positions/active', { owner: BEN, min_usd: bound }, 'net_value_usd')).toEqual(reached);
      expect(await shown('lp/pools/trending', { min_volume_usd: bound }, 'volume_usd')).toEqual(reached);
    }
  });
});

test('liquidity is what was told last: by the catalogue, or by the reserves that an event stated, at the prices of now', async () => {
  await inStore(async (other) => {
    const at = (time: string): Date => new Date(`2026-03-10T${time}:00Z`);
    const liquidityAt = async (time: string): Promise<unknown> =>
      (await ask<Row>(other, 'lp/pools/detail', at(time), { pool_address: ZED_SOL })).data.liquidity_usd;
    const topAt = async (time: string, min_liquidity_usd: number): Promise<unknown> =>
      ask<Row[]>(other, 'lp/pools/top', at(time), { sort_by: 'liquidity', min_liquidity_usd }).then(({ data: rows }) => rows.length, (error: { code: string }) => error.code); // prettier-ignore
    // 50,000 with ZED at 0.25 and SOL at 100.5; then 80,000 ZED and 100 SOL.
    await loadRecords(other.pool, 'damm_v2_pools_2026-03-10T09-30-00Z.json', [dammPoolsPage]);
    await loadRecords(other.pool, 'chain.json', [
      tx('g1', '2026-03-10T10:00:00Z', ANNA, liquidityChange(ZED_SOL, P1, ANNA, 4_000_000, 0, 0, [80_000_000_000, 100_000_000_000])),
    ]);
    expect([await liquidityAt('09:50'), await liquidityAt('10:10')]).toEqual([50_000, 30_050]);
    expect([await topAt('10:10', 30_050), await topAt('10:10', 30_050.01)]).toEqual([1, 'empty_result']);
    const [pool] = dammPoolsPage.data;
    await loadRecords(other.pool, 'damm_v2_pools_2026-03-10T10-20-00Z.json', [{ ...dammPoolsPage, data: [{ ...pool, tvl: 60_000 }] }]);
    expect(await liquidityAt('10:25')).toBe(60_000);
  });
});

test.each([
  ['a swap', '10:00', '11:00', -2_300],
  ['an event', '11:00', '10:00', -2_200],
])('the price of a pool is that of whatever came last: %s', async (_, event, swap, bin) => {
  await inStore(async (other) => {
    await loadRecords(other.pool, 'pools.json', [dlmmPoolsPage]);
    await loadRecords(other.pool, 'chain.json', [
      tx('h1', `2026-03-10T${event}:00Z`, BEN, liquidity('AddLiquidity', SOL_USDC, BEN, P2, 1_000_000_000, 100_000_000, -2_200)),
      tx('h2', `2026-03-10T${swap}:00Z`, CARA, dlmmSwap(SOL_USDC, CARA, -2_300, 1_000_000_000, 100_000_000, true, 1_000)),
    ]);
    const { data: pool } = await ask<Row>(other, 'lp/pools/detail', NOW, { pool_address: SOL_USDC });
    expect(pool.price).toBeCloseTo(1_000 * 1.001 ** bin, 4);
  });
});

test('earlier days are not scored by what came after them: fees that were claimed when a position was long over', async () => {
  await inStore(async (store) => {
    await loadRecords(store.pool, 'pools.json', [dlmmPoolsPage]);
    await loadRecords(store.pool, 'pairs.json', pairs);
    // Anna gets back what she put in, and half as much again in fees three days later.
    await loadRecords(
      store.pool,
      'histories.json',
      [P1, P2, P3].flatMap((position, n) => [
        own(`in${n}`, '2026-03-04T10:00:00Z', 'add', position, ANNA, '1000'),
        own(`out${n}`, '2026-03-05T10:00:00Z', 'remove', position, ANNA, '1000'),
        own(`fees${n}`, '2026-03-08T10:00:00Z', 'claim_fee', position, ANNA, '500'),
      ]),
    );
    const told = async (): Promise<unknown> =>
      (
        await store.pool.query(
          "SELECT to_char(day, 'DD') AS day, score::float8 AS score FROM lp_score WHERE owner = $1 AND score IS NOT NULL ORDER BY day",
          [ANNA],
        )
      ).rows.map(({ day, score }: Row) => [day, score]);
    await score(store.pool, NOW, () => undefined);
    // 35·3/5.706025 + 25·log10(3001)/7 + 30 + 10·log10(4)/2.
    expect(await told()).toEqual([['08', 63.8], ['09', 63.8], ['10', 63.8]]); // prettier-ignore
  });
});

test('pools/smart-wallet: who was smart in a pool before the window as well is shown by what it did in it, of a day that is cut too', async () => {
  await inStore(async (other) => {
    await loadRecords(other.pool, 'pools.json', [dlmmPoolsPage]);
    await loadRecords(other.pool, 'pairs.json', pairs);
    const newcomers = ['one', 'two', 'three', 'four', 'five'].map((name) => named(`newcomer ${name}`));
    const did = (owner: string, at: string, type: 'add' | 'remove' | 'claim_fee', usd: string): Row =>
      own(`${owner}${at}`.replace(/\W/g, ''), at, type, named(`position of ${owner}`), owner, usd);
    await loadRecords(other.pool, 'histories.json', [
      // 100, 90, 80, 70 and 60 in the 24 hours before 12:30, some of it in the hour and on the day that are cut.
      ...newcomers.map((owner, i) => did(owner, `2026-03-${i < 3 ? '09T12:45' : '10T09:00'}:00Z`, 'add', String(100 - 10 * i))),
      // Anna took out 500 just before, and 65 just after the window began.
      did(ANNA, '2026-03-08T10:00:00Z', 'add', '1000'),
      did(ANNA, '2026-03-09T12:15:00Z', 'remove', '500'),
      did(ANNA, '2026-03-09T12:40:00Z', 'remove', '65'),
      // Ben put in less than the last of those shown ever; Cara was there before the window alone.
      did(BEN, '2026-03-08T10:00:00Z', 'add', '59'),
      did(BEN, '2026-03-10T10:00:00Z', 'remove', '58'),
      did(CARA, '2026-03-09T12:20:00Z', 'add', '5000'),
    ]);
    const smart = [...newcomers, ANNA, BEN, CARA];
    await other.pool.query(
      `INSERT INTO lp_score (owner, day, score, n, wins, version) SELECT owner, '2026-03-01', 70, 5, 3, 'v' FROM unnest($1::text[]) AS owner`,
      [smart],
    );
    await scoresWritten(other.pool);
    const told = async (): Promise<unknown> =>
      (await ask<{ pools: Row[] }>(other, 'lp/pools/smart-wallet', NOW, { timeframe: '24h' })).data.pools.map((row) => [
        row.smart_lp_count,
        row.smart_volume_usd,
        row.total_volume_usd,
        (row.smart_lps as Row[]).map(({ owner, net_usd }) => [owner, net_usd]),
      ]);
    const largest = [...newcomers.slice(0, 4).map((owner, i) => [owner, 100 - 10 * i]), [ANNA, -65]];
    expect(await told()).toEqual([[7, 523, 523, largest]]);
    // What comes later changes nothing of it: neither Anna, who does it, nor the hour that is going on.
    await loadRecords(other.pool, 'later.json', [did(ANNA, '2026-03-10T12:40:00Z', 'add', '3000'), did(newcomers[4] as string, '2026-03-10T12:50:00Z', 'add', '700')]); // prettier-ignore
    expect(await told()).toEqual([[7, 523, 523, largest]]);
  });
});

test('everything: whoever was in a pool is counted once, by the month and the day of the last time, and by clocks before it', async () => {
  await inStore(async (other) => {
    await loadRecords(other.pool, 'pools.json', [dlmmPoolsPage]);
    await loadRecords(other.pool, 'pairs.json', pairs);
    const did = (owner: string, at: string, usd: string): Row =>
      own(`${owner}${at}`.replace(/\W/g, ''), at, 'add', named(`position of ${owner}`), owner, usd);
    await loadRecords(other.pool, 'histories.json', [did(ANNA, '2026-01-20T10:00:00Z', '100'), did(BEN, '2026-01-31T23:59:00Z', '200')]);
    await other.pool.query(
      `INSERT INTO lp_score (owner, day, score, n, wins, version) VALUES ($1, '2026-01-10', 70, 5, 3, 'v'), ($2, '2026-01-10', 59.9, 5, 3, 'v'),
       ($1, '2026-02-01', 80, 5, 3, 'v'), ($2, '2026-02-01', 60, 5, 3, 'v'), ($3, '2026-02-01', 59.9, 5, 3, 'v')`,
      [ANNA, CARA, BEN],
    );
    await scoresWritten(other.pool);
    const told = async (now: string): Promise<unknown> => {
      const at = new Date(now);
      const [top] = (await ask<Row[]>(other, 'lp/pools/top', at, { timeframe: 'all', sort_by: 'events' })).data;
      const [smart] = (await ask<{ pools: Row[] }>(other, 'lp/pools/smart-wallet', at, { timeframe: 'all', min_smart_lps: 1 })).data.pools;
      const { unique_lps } = (await ask<Row>(other, 'lp/pools/detail', at, { pool_address: SOL_USDC })).data;
      return [top?.unique_lps, top?.smart_lp_count, unique_lps, smart?.smart_lp_count, smart?.avg_lp_score, smart?.smart_volume_usd, smart?.total_volume_usd]; // prettier-ignore
    };
    expect(await told('2026-01-25T12:30:00Z')).toEqual([1, 1, 1, 1, 70, 100, 100]);
    expect(await told('2026-02-10T12:30:00Z')).toEqual([2, 1, 2, 1, 70, 100, 300]);
    // Anna comes again in February, and Cara for the first time: nobody is left whose last time was in January but Ben.
    await loadRecords(other.pool, 'later.json', [did(ANNA, '2026-02-03T09:00:00Z', '50'), did(CARA, '2026-02-04T09:00:00Z', '7')]);
    expect(await told('2026-01-25T12:30:00Z')).toEqual([1, 1, 1, 1, 70, 100, 100]);
    expect(await told('2026-02-01T00:00:00Z')).toEqual([2, 1, 2, 1, 70, 100, 300]);
    expect(await told('2026-02-03T12:30:00Z')).toEqual([2, 1, 2, 1, 80, 150, 350]);
    // Anna's newest score, and Cara's, which is just enough.
    expect(await told('2026-02-10T12:30:00Z')).toEqual([3, 2, 3, 2, 70, 157, 357]);
    expect(await told('2026-03-10T12:30:00Z')).toEqual([3, 2, 3, 2, 70, 157, 357]);
    const { rows } = await other.pool.query(`SELECT since::date::text AS since, owners FROM lp_pool_last WHERE unit = 'month' ORDER BY 1`);
    expect(rows).toEqual([{ since: '2026-01-01', owners: 1 }, { since: '2026-02-01', owners: 2 }]); // prettier-ignore
    await loadRecords(other.pool, 'latest.json', [did(BEN, '2026-02-05T09:00:00Z', '1')]);
    expect((await other.pool.query(`SELECT owners FROM lp_pool_last WHERE unit = 'month'`)).rows).toEqual([{ owners: 3 }]);
  });
});
