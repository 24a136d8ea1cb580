import { SOL, USDC } from '../../../../src/venues/lp/chain-addresses';
import { testDatabase } from '../../../support/database';
import { ask } from '../ask';
import { named } from '../chain-writer';
import { loadRecords } from '../load';
import {
  ANNA,
  BEN,
  dammPoolsPage,
  dlmmPoolsPage,
  dlmmSwap,
  history,
  liquidity,
  pairs,
  SOL_USDC,
  tokenList,
  tx,
  ZED,
  ZED_SOL,
  ZED_USDC,
} from '../pages';

const NOW = new Date('2026-03-10T12:00:00Z');
let db: Awaited<ReturnType<typeof testDatabase>>;
type Row = Record<string, unknown>;

const search = (query: string, variables: Row = {}) => ask<Row[]>(db, 'lp/pools/search', NOW, { query, ...variables });
const found = async (query: string, variables: Row = {}) =>
  (await search(query, variables)).data.map((row) => [row.pool_address, row.match]);

const ODD = named('mint odd');
const ZEDIX = named('mint zedix');
const ODD_USDC = named('pool odd');
const ZEDIX_SOL = named('pool zedix');

beforeAll(async () => {
  db = await testDatabase();
  const load = (name: string, ...records: unknown[]) => loadRecords(db.pool, name, records);
  await load('pools_2026-03-10T11-30-00Z.json', dlmmPoolsPage);
  await load('damm_2026-03-10T11-30-00Z.json', dammPoolsPage);
  await load(
    'pairs.json',
    ...pairs,
    { ...pairs[0], address: ODD_USDC, mint_x: ODD, name: 'odd', liquidity: null },
    { ...pairs[0], address: ZEDIX_SOL, mint_x: ZEDIX, mint_y: SOL, name: 'ZEDIX-SOL', liquidity: '5' },
  );
  await load('tokens.json', ...tokenList, { address: ODD, symbol: '100%_A-B', name: 'Ödd Coin\u200e', decimals: 6 });
  // Seven days back from now is 3 March 12:00.
  await load(
    'swaps.json',
    tx('s0', '2026-03-03T11:59:59Z', BEN, dlmmSwap(SOL_USDC, BEN, -2303, 400_000_000, 1, false, 0)),
    tx('s1', '2026-03-03T12:00:00Z', BEN, dlmmSwap(SOL_USDC, BEN, -2303, 10_500_000, 1, false, 0)),
    tx('s2', '2026-03-09T15:10:00Z', BEN, dlmmSwap(SOL_USDC, BEN, -2303, 7_000_000, 1, false, 0)),
    tx('s3', '2026-03-10T12:00:00Z', BEN, dlmmSwap(SOL_USDC, BEN, -2303, 400_000_000, 1, false, 0)),
    tx('s4', '2026-03-09T15:10:00Z', BEN, dlmmSwap(ZED_USDC, BEN, 5, 99_000_000, 1, false, 0)),
  );
  await load(`${SOL_USDC}_volume.json`, {
    timeframe: '1h',
    data: [
      { timestamp: Date.parse('2026-03-09T15:00:00Z') / 1000, volume: 1000.25 },
      { timestamp: Date.parse('2026-03-03T11:00:00Z') / 1000, volume: 5 },
    ],
  });
  const row = { pool: SOL_USDC, position: named('p'), x: '1', y: '1', usdX: '1', usdY: '1' } as const;
  await load(
    'h.json',
    history(
      { ...row, tx: 'h1', at: '2026-03-05T00:00:00Z', type: 'add', owner: ANNA },
      { ...row, tx: 'h2', at: '2026-03-06T00:00:00Z', type: 'remove', owner: ANNA },
      { ...row, tx: 'h3', at: '2026-03-01T00:00:00Z', type: 'add', owner: BEN },
    ),
  );
});
afterAll(() => db.drop());

test('a pair, with what happened in the last seven days: stated hours before seen swaps, never both', async () => {
  const { data, meta } = await search('SOL-USDC', { limit: 1 });
  expect(data).toEqual([
    {
      pool_address: SOL_USDC,
      pool_type: 'dlmm',
      token_x: 'SOL',
      token_y: 'USDC',
      token_a: null,
      token_b: null,
      token_x_mint: SOL,
      token_y_mint: USDC,
      // 10.5 seen at 3 March 12:00, 1,000.25 stated for the hour in which 7 were seen.
      volume_usd: 1010.75,
      // Two swaps, a deposit and a withdrawal.
      event_count: 4,
      unique_lps: 1,
      liquidity_usd: 250000.5,
      created_at: '2026-01-01T00:00:00Z',
      match: 'exact',
    },
  ]);
  expect(meta).toMatchObject({
    count: 1,
    timeframe: null,
    warnings: ['swaps: sampled'],
    window: { from: new Date('2026-03-03T12:00:00Z'), to: NOW },
  });
});

test('pools of the other type repeat their tokens as token_a and token_b; unknown figures are null', async () => {
  const { data, meta } = await search(ZED_SOL);
  expect(data).toEqual([
    {
      pool_address: ZED_SOL,
      pool_type: 'damm_v2',
      token_x: 'ZED',
      token_y: 'SOL',
      token_a: 'ZED',
      token_b: 'SOL',
      token_x_mint: ZED,
      token_y_mint: SOL,
      volume_usd: null,
      event_count: 0,
      unique_lps: 0,
      liquidity_usd: 50000,
      created_at: '2026-03-01T00:00:00Z',
      match: 'exact',
    },
  ]);
  expect(meta.warnings).toEqual(['swaps: none']);
});

test.each([
  ["a pool's address", SOL_USDC, [[SOL_USDC, 'exact']]],
  [
    'a mint',
    ZED,
    [
      [ZED_USDC, 'exact'],
      [ZED_SOL, 'exact'],
    ],
  ],
  [
    'a symbol: exact before prefix, then volume, then address',
    'zed',
    [
      [ZED_USDC, 'exact'],
      [ZED_SOL, 'exact'],
      [ZEDIX_SOL, 'prefix'],
    ],
  ],
  ['a name', 'Wrapped SOL', [[SOL_USDC, 'exact'], ...[ZED_SOL, ZEDIX_SOL].sort().map((pool) => [pool, 'exact'])]],
  ['part of a symbol', 'edix', [[ZEDIX_SOL, 'substring']]],
  ['a pair in either order and with either sign', 'usdc/zed', [[ZED_USDC, 'exact']]],
  ['a pair by prefixes', 'zed-so', [...[ZED_SOL, ZEDIX_SOL].sort().map((pool) => [pool, 'prefix'])]],
  ['a pair of a mint and a symbol', `${ZED}/SOL`, [[ZED_SOL, 'exact']]],
  ['a symbol that holds a dash and wildcards', '100%_A-B', [[ODD_USDC, 'exact']]],
  ['a pair whose token holds a dash', '100%_A-B/USDC', [[ODD_USDC, 'exact']]],
  ['letters beyond ASCII, any case', 'öDD', [[ODD_USDC, 'prefix']]],
  ['a name that ends with a mark nobody sees', 'ödd coin', [[ODD_USDC, 'exact']]],
  ['such a mark in the query', 'Ödd\u200b Coin', [[ODD_USDC, 'exact']]],
  ['spaces around', '  usdc - zed ', [[ZED_USDC, 'exact']]],
])('%s', async (_, query, wanted) => {
  expect(await found(query)).toEqual(wanted);
});

test('a blank query finds nothing', async () => {
  for (const query of [' ', '\u200b'])
    await expect(ask(db, 'lp/pools/search', NOW, { query })).rejects.toMatchObject({ code: 'empty_result' });
});

test('wildcards are letters', async () => {
  await expect(found('%')).resolves.toEqual([[ODD_USDC, 'substring']]);
  await expect(found('_')).resolves.toEqual([[ODD_USDC, 'substring']]);
  await expect(found('z_d')).rejects.toMatchObject({ code: 'empty_result' });
});

test('the type narrows; addresses keep their case', async () => {
  expect(await found('sol', { pool_type: 'damm_v2' })).toEqual([[ZED_SOL, 'exact']]);
  expect(await found('zed', { pool_type: 'dlmm' })).toEqual([
    [ZED_USDC, 'exact'],
    [ZEDIX_SOL, 'prefix'],
  ]);
  await expect(found(SOL_USDC.toLowerCase())).rejects.toMatchObject({ code: 'empty_result' });
});

test('nothing found: empty, with all types suggested when one was asked for', async () => {
  await expect(search('nosuchtoken')).rejects.toMatchObject({ code: 'empty_result', context: {} });
  await expect(search('ZED-USDC', { pool_type: 'damm_v2' })).rejects.toMatchObject({
    code: 'empty_result',
    context: { suggestion: { pool_type: 'all' } },
  });
});

test('pools that do not exist yet are not found', async () => {
  const early = await ask<Row[]>(db, 'lp/pools/search', new Date('2026-02-01T00:00:00Z'), { query: 'sol' });
  expect(early.data.map((row) => row.pool_address).sort()).toEqual([SOL_USDC, ZEDIX_SOL].sort());
});

test('the list is as long as asked for, narrower matches first', async () => {
  expect(await found('zed', { limit: 2 })).toEqual([
    [ZED_USDC, 'exact'],
    [ZED_SOL, 'exact'],
  ]);
  expect(await found('zed', { limit: 1 })).toEqual([[ZED_USDC, 'exact']]);
});

test('reserves that an event states later than the catalogue are worth current prices', async () => {
  const swap = tx(
    'r',
    '2026-03-10T11:45:00Z',
    BEN,
    liquidity('AddLiquidity', SOL_USDC, BEN, named('p2'), 1_000_000_000, 100_000_000, -2303),
  );
  await loadRecords(db.pool, 'bin.json', [swap]);
  await db.pool.query(
    `UPDATE lp_pool SET reserve_x = 3000000000, reserve_y = 7000000, reserve_at = '2026-03-10T11:50:00Z' WHERE pool_address = $1`,
    [SOL_USDC],
  );
  const { data } = await search(SOL_USDC);
  expect(data[0]?.liquidity_usd).toBeCloseTo(3 * 1000 * 1.001 ** -2303 + 7, 5);
});

test('cutting a query into pairs is bounded', async () => {
  await expect(search('-a'.repeat(64))).rejects.toMatchObject({ code: 'empty_result' });
});
