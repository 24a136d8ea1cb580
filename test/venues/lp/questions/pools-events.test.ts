import { testDatabase } from '../../../support/database';
import { ask } from '../ask';
import { named } from '../chain-writer';
import { loadRecords } from '../load';
import {
  ANNA,
  BEN,
  claimFee,
  dammPoolsPage,
  dammSwap2,
  dlmmPoolsPage,
  dlmmSwap,
  history,
  liquidity,
  liquidityChange,
  rebalancing,
  SOL_USDC,
  tokenList,
  tx,
  ZED,
  ZED_SOL,
} from '../pages';

const NOW = new Date('2026-03-10T12:00:01Z');
const P = named('position a');
const Q = named('position b');
let db: Awaited<ReturnType<typeof testDatabase>>;
type Row = Record<string, unknown>;

const events = (variables: Row) => ask<Row[]>(db, 'lp/pools/events', NOW, variables);

beforeAll(async () => {
  db = await testDatabase();
  const load = (name: string, ...records: unknown[]) => loadRecords(db.pool, name, records);
  await load('pools.json', dlmmPoolsPage);
  await load('damm.json', dammPoolsPage);
  await load('tokens.json', ...tokenList);
  const row = { pool: SOL_USDC, position: P, owner: ANNA } as const;
  await load(
    'historical.json',
    history(
      { ...row, tx: 'open', at: '2026-03-08T10:00:00Z', type: 'add', x: '2', y: '200', usdX: '210', usdY: '200' },
      { ...row, tx: 'part', at: '2026-03-09T10:00:00Z', type: 'remove', x: '1', y: '90.5', usdX: '104.1', usdY: '90.5' },
      { ...row, tx: 'late', at: '2026-03-10T12:00:00Z', type: 'claim_fee', x: '0.01', y: '1.5', usdX: '1', usdY: '1.5' },
      { ...row, tx: 'future', at: '2026-03-10T12:00:01Z', type: 'claim_fee', x: '1', y: '1', usdX: '1', usdY: '1' },
    ),
  );
  await load(
    'chain.json',
    tx(
      'rebalance',
      '2026-03-09T11:00:00Z',
      BEN,
      rebalancing(SOL_USDC, Q, BEN, -2303, [1_000_000_000, 1_000_000_000, 50_000_000, 40_000_000, 0, 2_000_000]),
    ),
    tx(
      'swap',
      '2026-03-09T11:00:30Z',
      named('trader'),
      dlmmSwap(SOL_USDC, named('trader'), -2303, 200_000_000, 1_980_000_000, false, 400_000),
    ),
    tx('unpriced', '2026-03-01T00:00:00Z', ANNA, liquidityChange(ZED_SOL, named('nft position'), ANNA, 3_000_000, 2_000_000_000, 0)),
    tx('damm swap', '2026-03-01T00:10:00Z', BEN, dammSwap2(ZED_SOL, 0, 1_000_000, 2_000_000, 1n << 64n, 5)),
  );
});
afterAll(() => db.drop());

test('native rows of a bin pool: PascalCase names, its own event types, newest first, nothing after now', async () => {
  const { data, meta } = await events({ pool_address: SOL_USDC });
  expect(data.map((row) => [row.EventType, row.UsdTotal, row.Timestamp])).toEqual([
    ['ClaimFee', 2.5, '2026-03-10T12:00:00Z'],
    // One price of the minute: 1.001^-2303 x 1000 = 100.069...; withdrawal 100.069 + 50, deposit 100.069 + 40, claim 2.
    ['RemoveLiquidity', expect.closeTo(1000 * 1.001 ** -2303 + 50, 5), '2026-03-09T11:00:00Z'],
    ['AddLiquidity', expect.closeTo(1000 * 1.001 ** -2303 + 40, 5), '2026-03-09T11:00:00Z'],
    ['ClaimFee', 2, '2026-03-09T11:00:00Z'],
    ['RemoveLiquidity', 194.6, '2026-03-09T10:00:00Z'],
    ['AddLiquidity', 410, '2026-03-08T10:00:00Z'],
  ]);
  expect(data[0]).toEqual({
    Owner: ANNA,
    PoolAddress: SOL_USDC,
    PoolType: 'dlmm',
    EventType: 'ClaimFee',
    UsdTotal: 2.5,
    Timestamp: '2026-03-10T12:00:00Z',
    TxId: named('late', 64),
    PositionAddress: P,
    TokenX: 'SOL',
    TokenY: 'USDC',
    AmountX: 0.01,
    AmountY: 1.5,
    FeesUsd: 2.5,
  });
  expect(data[5]).toMatchObject({ FeesUsd: null, AmountX: 2, AmountY: 200 });
  expect(new Set(data.slice(1, 4).map((row) => row.TxId))).toEqual(new Set([named('rebalance', 64)]));
  expect(meta).toMatchObject({ count: 6, next_cursor: null, warnings: [], timeframe: null, window: null });
});

test('native rows of a constant-product pool: snake_case names, no position address, unpriced values null and told', async () => {
  const { data, meta } = await events({ pool_address: ZED_SOL });
  expect(data).toEqual([
    {
      owner: ANNA,
      pool_address: ZED_SOL,
      pool_type: 'damm_v2',
      event_type: 'add_liquidity',
      usd_total: null,
      timestamp: '2026-03-01T00:00:00Z',
      tx_id: named('unpriced', 64),
      position_address: null,
      token_a: 'ZED',
      token_b: 'SOL',
      amount_a: 3,
      amount_b: 2,
      fees_usd: null,
    },
  ]);
  expect(meta.warnings).toEqual(['1 event has no known USD value: shown without USD']);
});

test('field_case=snake: one set of names for both, event types unchanged', async () => {
  const { data: bins } = await events({ pool_address: SOL_USDC, field_case: 'snake', limit: 1 });
  expect(bins[0]).toEqual({
    owner: ANNA,
    pool_address: SOL_USDC,
    pool_type: 'dlmm',
    event_type: 'ClaimFee',
    usd_total: 2.5,
    timestamp: '2026-03-10T12:00:00Z',
    tx_id: named('late', 64),
    position_address: P,
    token_x: 'SOL',
    token_y: 'USDC',
    amount_x: 0.01,
    amount_y: 1.5,
    fees_usd: 2.5,
  });
  const { data: curve } = await events({ pool_address: ZED_SOL, field_case: 'snake' });
  expect(curve[0]).toMatchObject({
    event_type: 'add_liquidity',
    token_x: 'ZED',
    token_y: 'SOL',
    amount_x: 3,
    amount_y: 2,
    position_address: null,
  });
});

test('swaps only when asked for: who traded, what was paid in and out, what providers earned', async () => {
  const { data, meta } = await events({ pool_address: SOL_USDC, event_type: 'swap' });
  expect(data).toEqual([
    {
      Owner: named('trader'),
      PoolAddress: SOL_USDC,
      PoolType: 'dlmm',
      EventType: 'Swap',
      UsdTotal: 200,
      Timestamp: '2026-03-09T11:00:30Z',
      TxId: named('swap', 64),
      PositionAddress: null,
      TokenX: 'SOL',
      TokenY: 'USDC',
      AmountX: -1.98,
      AmountY: 200,
      FeesUsd: 0.36,
    },
  ]);
  expect(meta.warnings).toEqual(['swaps: sampled']);
  expect((await events({ pool_address: ZED_SOL, event_type: 'swap' })).data[0]).toMatchObject({
    event_type: 'swap',
    owner: BEN,
    amount_a: 1,
    amount_b: -0.002,
  });
});

test.each([
  [{ event_type: 'deposit' }, ['AddLiquidity', 'AddLiquidity']],
  [{ event_type: 'AddLiquidity' }, ['AddLiquidity', 'AddLiquidity']],
  [{ event_type: 'add_liquidity', min_usd: 200 }, ['AddLiquidity']],
  [{ event_type: 'withdraw' }, ['RemoveLiquidity', 'RemoveLiquidity']],
  [{ event_type: 'remove_liquidity', owner: ANNA }, ['RemoveLiquidity']],
  [{ event_type: 'claim' }, ['ClaimFee', 'ClaimFee']],
  [{ event_type: 'ClaimFee', min_usd: 2.5 }, ['ClaimFee']],
  [{ min_usd: 194.6 }, ['RemoveLiquidity', 'AddLiquidity']],
  [{ owner: BEN }, ['RemoveLiquidity', 'AddLiquidity', 'ClaimFee']],
  [{ pool_type: 'dlmm', limit: 2 }, ['ClaimFee', 'RemoveLiquidity']],
])('%j', async (variables, wanted) => {
  expect((await events({ pool_address: SOL_USDC, ...variables })).data.map((row) => row.EventType)).toEqual(wanted);
});

describe('what cannot be answered', () => {
  test('an unknown pool', async () => {
    await expect(events({ pool_address: named('nowhere') })).rejects.toMatchObject({ code: 'not_found' });
  });

  test('a pool of the other type: unknown, with the right type suggested', async () => {
    await expect(events({ pool_address: SOL_USDC, pool_type: 'damm_v2' })).rejects.toMatchObject({
      code: 'not_found',
      context: { suggestion: { pool_type: 'dlmm' } },
    });
  });

  test('a pool that is made only later', async () => {
    await expect(ask(db, 'lp/pools/events', new Date('2025-12-31T23:59:59Z'), { pool_address: SOL_USDC })).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(ask(db, 'lp/pools/events', new Date('2026-01-01T00:00:00Z'), { pool_address: SOL_USDC })).rejects.toMatchObject({
      code: 'empty_result',
    });
  });

  test('no event in scope: empty, and the suggestion drops the filters sent', async () => {
    await expect(events({ pool_address: ZED_SOL, event_type: 'claim', min_usd: 5, owner: BEN })).rejects.toMatchObject({
      code: 'empty_result',
      context: { suggestion: { event_type: null, min_usd: 0, owner: null } },
    });
  });

  test('an unpriced event is no event above a threshold', async () => {
    await expect(events({ pool_address: ZED_SOL, min_usd: 0.01 })).rejects.toMatchObject({
      code: 'empty_result',
      context: { suggestion: { min_usd: 0 } },
    });
  });

  test('a cursor of another list', async () => {
    const { meta } = await events({ pool_address: SOL_USDC, limit: 2 });
    for (const other of [
      { pool_address: SOL_USDC, limit: 2, event_type: 'claim' },
      { pool_address: ZED_SOL, limit: 2 },
      { pool_address: SOL_USDC, limit: 2, min_usd: 1 },
      { pool_address: SOL_USDC, limit: 2, field_case: 'snake' },
    ]) {
      await expect(events({ ...other, cursor: meta.next_cursor })).rejects.toMatchObject({ code: 'invalid_parameter' });
    }
  });
});

test('a token without symbol is shown by its mint', async () => {
  await db.pool.query('UPDATE lp_token SET symbol = NULL WHERE mint = $1', [ZED]);
  expect((await events({ pool_address: ZED_SOL })).data[0]).toMatchObject({ token_a: ZED });
  await db.pool.query(`UPDATE lp_token SET symbol = 'ZED' WHERE mint = $1`, [ZED]);
});

test('pages do not repeat or skip rows while new rows arrive in front and behind', async () => {
  const pool_address = SOL_USDC;
  const seen: unknown[] = [];
  const add = (name: string, at: string) =>
    loadRecords(db.pool, 'more.json', [tx(name, at, ANNA, liquidity('AddLiquidity', SOL_USDC, ANNA, P, 0, 1_000_000, 0))]);
  const known = (await events({ pool_address })).data.map((row) => `${row.TxId as string}/${row.EventType as string}`);
  for (let cursor: string | null = null, page = 0; page === 0 || cursor !== null; page += 1) {
    const answer: Awaited<ReturnType<typeof events>> = await events({ pool_address, limit: 2, cursor });
    seen.push(...answer.data.map((row) => `${row.TxId as string}/${row.EventType as string}`));
    cursor = answer.meta.next_cursor;
    await add(`newer ${page}`, `2026-03-10T11:59:0${page}Z`);
    if (page === 0) await add('older', '2026-03-07T00:00:00Z');
  }
  expect(seen.slice(0, known.length)).toEqual(known);
  expect(seen.slice(known.length)).toEqual([`${named('older', 64)}/AddLiquidity`]);
});

test('events alike in one transaction are paged one by one', async () => {
  const pool_address = named('fourth pool');
  const add = (x: number) => liquidity('AddLiquidity', pool_address, ANNA, named('fourth position'), x, 1, 0);
  await loadRecords(db.pool, 'alike.json', [tx('alike', '2026-03-10T11:00:00Z', ANNA, add(11), add(22), add(33))]);
  const rows = await db.pool.query<{ raw_x: string; n: number }>('SELECT raw_x, n FROM lp_event WHERE pool_address = $1 ORDER BY n', [
    pool_address,
  ]);
  expect(rows.rows).toEqual([
    { raw_x: '11', n: 0 },
    { raw_x: '22', n: 1 },
    { raw_x: '33', n: 2 },
  ]);
  let pages = 0;
  for (let cursor: string | null = null; pages === 0 || cursor !== null; pages += 1)
    cursor = (await events({ pool_address, limit: 1, cursor })).meta.next_cursor;
  expect(pages).toBe(3);
});

test('what is due to claims is in claims: a claim of another pool is not seen here', async () => {
  await loadRecords(db.pool, 'other.json', [
    tx('other', '2026-03-10T11:00:00Z', BEN, claimFee(named('third pool'), named('third position'), BEN, 1, 1)),
  ]);
  expect((await events({ pool_address: SOL_USDC, event_type: 'claim' })).data.map((row) => row.TxId)).not.toContain(named('other', 64));
  expect((await events({ pool_address: named('third pool') })).data).toMatchObject([
    { TokenX: null, AmountX: null, UsdTotal: null, EventType: 'ClaimFee' },
  ]);
});
