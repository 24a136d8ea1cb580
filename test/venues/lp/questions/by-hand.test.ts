import { OPERATOR } from '../../../../src/sandbox/simulator/lp/keys';
import { USDC } from '../../../../src/venues/lp/chain-addresses';
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
  history,
  lbPairCreate,
  liquidity,
  liquidityChange,
  pairs,
  positionClose,
  SOL_USDC,
  tx,
  ZED_SOL,
  ZED_USDC,
} from '../pages';

// Every figure below was worked out on paper from the dozen events loaded here; SOL is worth 100, 110 and 120 USD in turn.

const NOW = new Date('2026-03-10T12:00:00Z');
const [P1, P2, D1] = [named('position one'), named('position two'), named('position of damm')];
const [YOUNG, STRANGE, STRANGE_MINT] = [named('pool young'), named('pool strange'), named('mint strange')];

type Row = Record<string, unknown>;
let db: Awaited<ReturnType<typeof testDatabase>>;
const data = async <Data = Row[]>(endpoint: string, variables: Row = {}): Promise<Data> =>
  (await ask<Data>(db, endpoint, NOW, variables)).data;
const pick = (rows: Row[], ...names: string[]): unknown[][] => rows.map((row) => names.map((name) => row[name]));

const own = (
  name: string,
  at: string,
  type: 'add' | 'remove' | 'claim_fee',
  position: string,
  owner: string,
  x: string,
  usdX: string,
  y: string,
): Row => history({ tx: name, at, type, pool: SOL_USDC, position, owner, x, y, usdX, usdY: y });
const volume = (pool: string, ...hours: [at: string, volume: number, fees: number, protocol: number][]): Promise<unknown> =>
  loadRecords(db.pool, `${pool}_volume.json`, [
    {
      timeframe: '1h',
      data: hours.map(([at, usd, fees, protocol_fees]) => ({ timestamp: Date.parse(at) / 1_000, volume: usd, fees, protocol_fees })),
    },
  ]);

beforeAll(async () => {
  db = await testDatabase();
  const load = (name: string, ...records: unknown[]) => loadRecords(db.pool, name, records);
  await load('pools.json', dlmmPoolsPage);
  await load('pairs.json', ...pairs);
  // The catalogue's prices of 10:00 and 9:30 (ZED 0.25, SOL 100.5) value the two events of the constant-product pool.
  await load('damm_v2_pools_2026-03-06T10-00-00Z.json', dammPoolsPage);
  await load('damm_v2_pools_2026-03-10T09-30-00Z.json', dammPoolsPage);
  const young = { ...dammPoolsPage.data[0], address: YOUNG, created_at: Date.parse('2026-03-10T00:00:00Z') / 1_000 };
  await load('young.json', { ...dammPoolsPage, data: [young] });
  await load(
    'histories.json',
    // Anna: in with 1,000, a part out, fees without a close, the rest out.
    own('a1', '2026-03-05T10:00:00Z', 'add', P1, ANNA, '5', '500', '500'),
    own('a2', '2026-03-07T10:00:00Z', 'remove', P1, ANNA, '2', '220', '180'),
    own('a3', '2026-03-08T10:00:00Z', 'claim_fee', P1, ANNA, '0', '0', '30'),
    own('a4', '2026-03-09T18:00:00Z', 'remove', P1, ANNA, '2.5', '300', '360'),
    // Ben: in with 2,000, a part out, fees; still open.
    own('b1', '2026-03-09T13:00:00Z', 'add', P2, BEN, '10', '1200', '800'),
    own('b2', '2026-03-09T20:00:00Z', 'remove', P2, BEN, '4', '480', '320'),
    own('b3', '2026-03-10T09:00:00Z', 'claim_fee', P2, BEN, '0', '0', '12'),
  );
  await load(
    'chain.json',
    tx('a5', '2026-03-09T18:00:00Z', ANNA, positionClose(P1, ANNA)),
    // Anna opens it, its NFT moves, Ben takes all out, through the operator's fee payer.
    tx('d1', '2026-03-06T10:30:00Z', ANNA, liquidityChange(ZED_SOL, D1, ANNA, 400_000_000, 1_000_000_000, 0)),
    tx('d2', '2026-03-10T10:00:00Z', OPERATOR.text, liquidityChange(ZED_SOL, D1, BEN, 200_000_000, 1_000_000_000, 1)),
    // A pool of a token that nobody knows.
    tx('c1', '2026-03-10T06:00:00Z', CARA, lbPairCreate(STRANGE, 25, STRANGE_MINT, USDC)),
    tx('c2', '2026-03-10T06:01:00Z', CARA, liquidity('AddLiquidity', STRANGE, CARA, named('position strange'), 5, 0, 3)),
  );
  await volume(SOL_USDC, ['2026-03-10T03:00:00Z', 5_000, 10, 0.5], ['2026-03-10T05:00:00Z', 1_000, 200, 0]);
  await volume(YOUNG, ['2026-03-10T02:00:00Z', 1_000, 300, 60]);
  await volume(ZED_USDC, ['2026-03-10T02:00:00Z', 100, 20, 0]);
  await db.pool.query(
    `INSERT INTO lp_score (owner, day, score, n, wins, version) VALUES ($1, '2026-03-04', 70, 5, 3, 'v'), ($2, '2026-03-08', 65, 5, 3, 'v')`,
    [ANNA, BEN],
  );
  await scoresWritten(db.pool);
});
afterAll(() => db.drop());

test('pools/trending: each pool once; a launch fee and a rate that no pool can charge are marked, not hidden', async () => {
  const rows = await data('lp/pools/trending', { min_volume_usd: 0 });
  // SOL-USDC: nothing in the five windows it has lived through: (6,000 + 1,000) / (0 + 1,000). The others are too young to spike.
  expect(
    pick(rows, 'pool_address', 'volume_usd', 'volume_spike_multiplier', 'fee_rate_pct', 'fee_rate_flag', 'event_count', 'unique_lps'),
  ).toEqual([
    [SOL_USDC, 6_000, 7, 3.491667, null, 4, 2],
    [YOUNG, 1_000, null, 24, 'launch_fee_schedule', 0, 0],
    [ZED_USDC, 100, null, 20, 'implausible', 0, 0],
  ]);
  // Ben by the run of the 8th; Anna is not in it.
  expect(rows[0]).toMatchObject({ smart_lp_count: 1, fees_usd: 209.5, volume_change_pct: null });
});

test('pools/top: flagged pools go on request; fees and providers rank', async () => {
  const top = async (variables: Row): Promise<unknown[]> => pick(await data('lp/pools/top', variables), 'pool_address').flat();
  expect(await top({ sort_by: 'fees' })).toEqual([YOUNG, SOL_USDC, ZED_USDC, ...[ZED_SOL, STRANGE].sort()]);
  expect(await top({ sort_by: 'volume', exclude_anomalous: true })).toEqual([SOL_USDC, ...[ZED_SOL, STRANGE].sort()]);
  expect(pick(await data('lp/pools/top', { sort_by: 'lp_count', limit: 2 }), 'pool_address', 'unique_lps', 'net_liquidity_usd')).toEqual([
    [SOL_USDC, 2, 1_140],
    [ZED_SOL, 2, 50],
  ]);
});

test('pools/detail: money in and out at the time of each event, and whose the rest is', async () => {
  const pool = await data<Row>('lp/pools/detail', { pool_address: SOL_USDC });
  expect(pool).toMatchObject({
    total_events: 7,
    unique_lps: 2,
    net_liquidity_usd: 1_140,
    active_lps: 1,
    hhi: 1,
    volume_usd_24h: 6_000,
    fees_usd_24h: 209.5,
  });
  const byAction = pool.volume_by_action as { action: string; usd: number }[];
  expect(byAction.filter(({ action }) => action !== 'swap').sort((a, b) => (a.action < b.action ? -1 : 1))).toEqual([
    { action: 'claim', usd: 42 },
    { action: 'deposit', usd: 3_000 },
    { action: 'withdraw', usd: 1_860 },
  ]);
  // Anna took out more than she put in: what is left is Ben's.
  expect(pool.top_lps).toEqual([{ owner: BEN, share_pct: 100, net_deposit_usd: 1_200, lp_score: 65 }]);
});

test('pools/fee-analysis: who claimed', async () => {
  const fees = await data<Row>('lp/pools/fee-analysis', { pool_address: SOL_USDC });
  expect(fees).toMatchObject({
    total_fees_claimed: 42,
    unique_claimers: 2,
    avg_claim_usd: 21,
    volume_usd: 6_000,
    fee_rate_pct: 3.491667,
    claim_concentration_hhi: 0.591837,
  });
  expect(pick(fees.top_claimers as Row[], 'owner', 'fees_claimed', 'claims', 'share_pct')).toEqual([
    [ANNA, 30, 1, 71.428571],
    [BEN, 12, 1, 28.571429],
  ]);
});

test('pools/volume-history: stated hours in their buckets, deposits minus withdrawals to the end of each', async () => {
  const buckets = await data('lp/pools/volume-history', { pool_address: SOL_USDC, timeframe: '24h', bucket_size: '4h' });
  expect(pick(buckets, 'bucket', 'volume_usd', 'unique_lps', 'net_liquidity_usd')).toEqual([
    // Nothing tells the volume before the first stated hour, and after the last one.
    ['2026-03-09T12:00:00Z', null, 1, 2_600],
    ['2026-03-09T16:00:00Z', null, 1, 1_940],
    ['2026-03-09T20:00:00Z', null, 1, 1_140],
    ['2026-03-10T00:00:00Z', 5_000, 0, 1_140],
    ['2026-03-10T04:00:00Z', 1_000, 0, 1_140],
    ['2026-03-10T08:00:00Z', null, 1, 1_140],
  ]);
});

test('pools/smart-wallet: an event is smart by the run before its day', async () => {
  const { pools } = await data<{ pools: Row[] }>('lp/pools/smart-wallet');
  // Anna until the 8th, Ben from the 9th; her 660 of the 9th is in the total alone.
  expect(
    pick(
      pools,
      'pool_address',
      'smart_lp_count',
      'total_volume_usd',
      'smart_volume_usd',
      'smart_share_pct',
      'smart_net_usd',
      'avg_lp_score',
      'fees_claimed_by_smart_usd',
    ),
  ).toEqual([
    [SOL_USDC, 2, 4_860, 4_200, 86.419753, 1_800, 67.5, 42],
    [ZED_SOL, 2, 351, 351, 100, 50, 67.5, 0],
  ]);
});

test('lps/top: by every order; a moved position is its newest owner’s', async () => {
  const order = async (sort_by: string): Promise<unknown[]> => pick(await data('lp/lps/top', { sort_by, timeframe: '7d' }), 'owner').flat();
  expect(
    pick(
      await data('lp/lps/top', { timeframe: '7d' }),
      'owner',
      'total_volume_usd',
      'event_count',
      'pool_count',
      'fees_claimed_usd',
      'realized_pnl_usd',
      'win_rate',
      'closed_positions',
    ),
  ).toEqual([
    [BEN, 2_950.5, 4, 2, 12, -50, 0, 1],
    [ANNA, 2_260.5, 5, 2, 30, 90, 1, 1],
    [CARA, 0, 1, 1, 0, null, null, 0],
  ]);
  // What she closed at 18:00 is in the seven days from then on.
  const week = async (at: string): Promise<unknown> =>
    (await ask<Row[]>(db, 'lp/lps/top', new Date(at), { timeframe: '7d' })).data.find(({ owner }) => owner === ANNA)?.realized_pnl_usd;
  expect([await week('2026-03-16T18:00:00Z'), await week('2026-03-16T19:00:00Z')]).toEqual([90, undefined]);
  expect(await order('events')).toEqual([ANNA, BEN, CARA]);
  expect(await order('fees')).toEqual([ANNA, BEN, CARA]);
  expect(await order('pnl')).toEqual([ANNA, BEN, CARA]);
  expect(await order('pool_count')).toEqual([BEN, ANNA, CARA]);
  expect(await order('score')).toEqual([BEN, ANNA, CARA]);
});

test('lps/profile: a life, and no more than a day of it', async () => {
  const { summary, pool_breakdown } = await data<{ summary: Row; pool_breakdown: Row[] }>('lp/lps/profile', { owner: ANNA });
  expect(summary).toMatchObject({
    deposited_usd: 1_200.5,
    withdrawn_usd: 1_060,
    fees_claimed_usd: 30,
    net_value_usd: 140.5,
    realized_pnl_usd: 90,
    realized_pnl_pct: 9,
    avg_hold_hours: 104,
    closed_positions: 1,
    open_positions: 0,
    fee_yield_pct: 2.498959,
  });
  expect(pick(pool_breakdown, 'pool_address', 'volume_usd', 'realized_pnl_usd', 'il_usd', 'status')).toEqual([
    [SOL_USDC, 2_060, 90, -20, 'closed'],
    [ZED_SOL, 200.5, null, null, null],
  ]);
  const day = await data<{ summary: Row }>('lp/lps/profile', { owner: ANNA, timeframe: '24h' });
  expect(day.summary).toMatchObject({ deposited_usd: 0, withdrawn_usd: 660, realized_pnl_usd: 90, event_count: 1 });
});

test('lps/compare: who leads; nobody leads alone in a tie', async () => {
  const { comparison_winners, shared_pools } = await data<{ comparison_winners: Row; shared_pools: Row[] }>('lp/lps/compare', {
    owners: [ANNA, BEN],
  });
  expect(comparison_winners).toEqual({
    total_volume_usd: [BEN],
    fees_claimed_usd: [ANNA],
    realized_pnl_usd: [ANNA],
    win_rate: [ANNA],
    pool_count: [ANNA, BEN],
    lp_score: [BEN],
  });
  expect(pick(shared_pools, 'pool_address').flat()).toEqual([SOL_USDC, ZED_SOL]);
});

test('lps/whales: large moves of a day, newest first; each is among the pool’s events', async () => {
  const rows = await data('lp/lps/whales', { min_usd: 600, field_case: 'snake' });
  expect(pick(rows, 'owner', 'event_type', 'usd_total', 'lp_score')).toEqual([
    [BEN, 'RemoveLiquidity', 800, 65],
    [ANNA, 'RemoveLiquidity', 660, null],
    [BEN, 'AddLiquidity', 2_000, 65],
  ]);
  // The window begins with the addition of 13:00 and ends before the removal of 20:00; claims are no moves, however small one asks for.
  const moved = async (at: string, min_usd = 600): Promise<unknown[]> =>
    pick((await ask<Row[]>(db, 'lp/lps/whales', new Date(at), { min_usd, field_case: 'snake' })).data, 'usd_total').flat();
  expect(await moved('2026-03-10T13:00:00Z', 1)).toEqual([150.5, 800, 660, 2_000]);
  expect(await moved('2026-03-10T13:00:01Z')).toEqual([800, 660]);
  expect(await moved('2026-03-09T20:00:00Z')).toEqual([660, 2_000]);
  const events = await data('lp/pools/events', { pool_address: SOL_USDC, field_case: 'snake' });
  expect(pick(events, 'tx_id').flat()).toEqual(expect.arrayContaining(pick(rows, 'tx_id').flat()));
  // A token that nobody knows is shown by its whole mint, in its own case, and its event without USD.
  expect(await data('lp/pools/events', { pool_address: STRANGE })).toMatchObject([{ Owner: CARA, TokenX: STRANGE_MINT, UsdTotal: null }]);
});

test('positions: what is open, and the story of what is closed', async () => {
  expect(
    pick(
      await data('lp/positions/active', { pool_address: SOL_USDC }),
      'owner',
      'deposited_usd',
      'withdrawn_usd',
      'net_value_usd',
      'fees_claimed_usd',
      'event_count',
    ),
  ).toEqual([[BEN, 2_000, 800, 1_200, 12, 3]]);
  const before = await ask<Row[]>(db, 'lp/positions/active', new Date('2026-03-10T09:00:00Z'), { pool_address: SOL_USDC });
  expect(pick(before.data, 'fees_claimed_usd', 'event_count')).toEqual([[0, 2]]);
  const story = await data<{ events: Row[]; summary: Row }>('lp/positions/history', { position_address: P1, field_case: 'snake' });
  expect(pick(story.events, 'usd_total', 'cumulative_net_usd')).toEqual([
    [1_000, 1_000],
    [400, 600],
    [30, 600],
    [660, -60],
  ]);
  const open = await ask<{ events: Row[] }>(db, 'lp/positions/history', new Date('2026-03-09T18:00:00Z'), { position_address: P1 });
  expect(open.data).toMatchObject({ summary: { status: 'open', hold_hours: 104 }, events: { length: 3 } });
  // At 120: 5 SOL and 500 USDC kept would be 1,100; 4.5 SOL and 540 USDC came out, 1,080.
  expect(story.summary).toMatchObject({
    owner: ANNA,
    status: 'closed',
    realized_pnl_usd: 90,
    realized_pnl_pct: 9,
    hodl_value_usd: 1_100,
    il_usd: -20,
    hold_hours: 104,
    closed_at: '2026-03-09T18:00:00Z',
  });
  expect((await data<{ summary: Row }>('lp/positions/history', { owner: BEN, pool_address: ZED_SOL })).summary).toMatchObject({
    status: 'closed',
    realized_pnl_usd: -50,
  });
});

test('platform: totals, actions by hour, and the operator’s part of what can be attributed', async () => {
  expect(await data<Row>('lp/platform/stats')).toMatchObject({
    total_volume_usd: 3_610.5,
    total_events: 6,
    active_lps: 3,
    active_pools: 3,
    new_lps: 2,
    smart_lps: 1,
    net_flow_usd: 389.5,
    fees_claimed_usd: 12,
    volume_change_pct: null,
  });
  const actions = await data('lp/platform/volume-heatmap', { group_by: 'action', bucket_size: '1d' });
  const sum = (action: string): number =>
    actions.filter((row) => row.action === action).reduce((all, row) => all + (row.volume_usd as number), 0);
  expect(['deposit', 'withdraw', 'claim', 'swap'].map(sum)).toEqual([2_000, 1_610.5, 12, 7_100]);
  const pools = await data('lp/platform/volume-heatmap', { bucket_size: '1d' });
  expect(pick(pools, 'pool_address', 'bucket', 'volume_usd', 'pct_of_bucket')).toEqual([
    [SOL_USDC, '2026-03-09T00:00:00Z', 0, null],
    [SOL_USDC, '2026-03-10T00:00:00Z', 6_000, 84.507042],
    [YOUNG, '2026-03-10T00:00:00Z', 1_000, 14.084507],
    [ZED_USDC, '2026-03-10T00:00:00Z', 100, 1.408451],
  ]);
  expect(await data<Row>('lp/platform/operator-share', { timeframe: '24h' })).toMatchObject({
    total_events: 2,
    operator_events: 1,
    operator_share_pct: 100,
    operator_event_share_pct: 50,
    total_volume_usd: 150.5,
    operator_volume_usd: 150.5,
    unique_operator_lps: 1,
    change_pct: null,
  });
});
