import { DCA_PROGRAM, SOL, USDC } from '../../../../src/venues/lp/chain-addresses';
import { type TestDatabase, testDatabase } from '../../../support/database';
import { ask } from '../ask';
import { eventData, key, named, u64 } from '../chain-writer';
import { loadRecords } from '../load';
import {
  ANNA,
  BEN,
  CARA,
  claimFee,
  dammPoolsPage,
  dammSwap2,
  dlmmPoolsPage,
  dlmmSwap,
  history,
  inSlot,
  liquidity,
  liquidityChange,
  SOL_USDC,
  tokenList,
  tx,
  withBalances,
  ZED,
  ZED_SOL,
} from '../pages';

// What several records tell of one minute or second is the same in whatever order they come.

let db: TestDatabase;
beforeEach(async () => {
  db = await testDatabase();
});
afterEach(() => db.drop());

const rows = async (text: string): Promise<Record<string, unknown>[]> => (await db.pool.query<Record<string, unknown>>(text)).rows;
const load = (name: string, records: unknown[], format?: 'json' | 'ndjson') => loadRecords(db.pool, name, records, format);

test('prices of several pages of one minute: the same stays, and values the same, in whatever order they come', async () => {
  const [pool] = dlmmPoolsPage.data;
  const priced = (price: number): unknown => ({ ...dlmmPoolsPage, data: [{ ...pool, token_x: { ...pool?.token_x, price } }] });
  const swap = tx('a', '2026-03-01T00:10:00Z', ANNA, dlmmSwap(SOL_USDC, ANNA, 5, 1_000_000_000, 100, true, 1_000));
  const told: unknown[] = [];
  for (const order of [
    [100, 101, 99],
    [99, 100, 101],
    [101, 99, 100],
  ]) {
    await db.pool.query('TRUNCATE token_price, lp_swap, lp_pool, lp_liquidity_hour');
    await load('transactions.ndjson', [swap], 'ndjson');
    for (const price of order) await load(`dlmm_pools_2026-03-01T00-09-${price - 70}Z.json`, [priced(price)]);
    told.push(await rows('SELECT usd::float, (SELECT usd FROM token_price)::float AS price FROM lp_swap'));
  }
  expect(told).toEqual(Array(3).fill([{ usd: 99, price: 99 }]));
});

test('a price against SOL is the same whether SOL was known, or known better, before or after', async () => {
  const zed = tx('zed', '2026-03-01T00:10:00Z', ANNA, dammSwap2(ZED_SOL, 0, 50_000_000, 50_000_000, 1n << 64n, 1_000));
  // A dollar for a SOL: far less than the catalogue says.
  const sol = tx('sol', '2026-03-01T00:10:00Z', ANNA, dlmmSwap(SOL_USDC, ANNA, -6_905, 5_000_000_000, 5_000_000, true, 1_000));
  const pages: [string, unknown][] = [['dlmm_pools_2026-03-01T00-09-00Z.json', dlmmPoolsPage], ['transaction.json', zed], ['transaction.json', sol]]; // prettier-ignore
  const told: unknown[] = [];
  for (const order of [
    [0, 1, 2],
    [2, 1, 0],
    [0, 2, 1],
    [1, 0, 2],
  ]) {
    await db.pool.query('TRUNCATE token_price, lp_swap, lp_pool, lp_token, lp_liquidity_hour');
    await load('damm_v2_pools.json', [dammPoolsPage]);
    for (const [name, record] of order.map((n) => pages[n] as [string, unknown])) await load(name, [record]);
    told.push(await rows('SELECT mint, minute::text, round(usd, 9) AS usd, source FROM token_price ORDER BY 1, 2'));
    told.push(await rows('SELECT tx_id, round(usd, 9) AS usd FROM lp_swap ORDER BY 1'));
  }
  for (const n of [2, 4, 6]) expect(told.slice(n, n + 2)).toEqual(told.slice(0, 2));
});

test('an order that was opened twice in one second holds the same, in whatever order its openings come', async () => {
  const opened = (n: number): unknown => {
    const order = [key(ANNA), key(named('order')), u64(n * 100), key(ZED), key(SOL), u64(60), u64(n), u64(1_772_323_200)];
    return tx(`opening ${n}`, '2026-03-01T00:00:00Z', ANNA, { program: DCA_PROGRAM, data: eventData('Opened', ...order) });
  };
  const told: unknown[] = [];
  for (const order of [
    [1, 2],
    [2, 1],
  ]) {
    await db.pool.query('TRUNCATE dca_event, dca_order');
    for (const n of order) await load('transactions.ndjson', [opened(n)], 'ndjson');
    told.push(await rows('SELECT in_amount_per_cycle, remaining FROM dca_order'));
  }
  expect(told[0]).toEqual(told[1]);
});

test('a position that changes hands within one second is whose it was last, in whatever order its transactions come', async () => {
  const position = named('position');
  const deposit = (owner: string) => liquidityChange(ZED_SOL, position, owner, 1_000_000, 1_000_000, 0);
  const told = (slot: number, name: string, ...owners: string[]) =>
    inSlot(slot, tx(name, '2026-03-01T00:00:00Z', ANNA, ...owners.map(deposit)));
  const orders = [
    [0, 1, 2],
    [2, 1, 0],
    [1, 2, 0],
    [1, 0, 2],
  ];
  const ownersOf = async (transactions: unknown[]): Promise<unknown[]> => {
    const found: unknown[] = [];
    for (const order of orders)
      for (const pages of [order.map((n) => [transactions[n]]), [order.map((n) => transactions[n])]]) {
        await db.pool.query('TRUNCATE lp_event, lp_position, lp_pool');
        for (const page of pages) await load('transactions.ndjson', page, 'ndjson');
        found.push((await rows('SELECT owner FROM lp_position'))[0]?.owner);
      }
    return found;
  };
  const apart = await ownersOf([told(300_000_001, 'a', CARA, BEN), told(300_000_002, 'b', CARA, ANNA), told(300_000_003, 'c', CARA, BEN)]);
  expect(apart).toEqual(Array(8).fill(BEN));
  const others = await ownersOf([told(300_000_001, 'a', BEN), told(300_000_002, 'b', CARA), told(300_000_003, 'c', BEN, ANNA)]);
  expect(others).toEqual(Array(8).fill(ANNA));
  const together = await ownersOf([told(300_000_001, 'a', ANNA), told(300_000_001, 'b', BEN), told(300_000_001, 'c', CARA)]);
  expect(new Set(together).size).toBe(1);
});

test('price and reserves of a pool are those of the last slot of a second, in whatever order its transactions come', async () => {
  const told: unknown[] = [];
  for (const names of [
    ['a', 'b'],
    ['b', 'a'],
  ])
    for (const order of [
      [0, 1],
      [1, 0],
    ]) {
      await db.pool.query('TRUNCATE lp_event, lp_swap, lp_position, lp_pool');
      await load('damm_v2_pools.json', [dammPoolsPage]);
      const transactions = names.map((name, n) => {
        const swap = dammSwap2(ZED_SOL, 0, 50_000_000, 50_000_000, BigInt(n + 1) << 64n, 1_000);
        const deposit = liquidityChange(ZED_SOL, named('position'), ANNA, 1_000_000, 1_000_000, 0, [n + 1, n + 1]);
        return inSlot(300_000_001 + n, tx(name, '2026-03-01T00:00:00Z', ANNA, swap, deposit));
      });
      for (const n of order) await load('transactions.ndjson', [transactions[n]], 'ndjson');
      const { data } = await ask<{ price: number }>(db, 'lp/pools/detail', new Date('2026-03-01T00:00:01Z'), { pool_address: ZED_SOL });
      told.push([data.price, (await rows('SELECT reserve_x::int AS x, reserve_y::int AS y FROM lp_pool'))[0]]);
    }
  // A square root of two, with three decimals between the tokens.
  expect(told).toEqual(Array(4).fill([0.004, { x: 2, y: 2 }]));
});

test("a token's decimals are those that the chain tells, whoever tells others before or after", async () => {
  const list = (decimals: number): [string, unknown] => [
    'tokens_2026-03-01T00-09-00Z.json',
    { address: ZED, symbol: 'ZED', name: 'Zed Token', decimals },
  ];
  const swap = (balances: [string, number][]): [string, unknown] => [
    'transaction.json',
    withBalances(
      balances,
      tx(
        'zed',
        '2026-03-01T00:10:00Z',
        ANNA,
        dammSwap2(ZED_SOL, 0, 50_000_000, 50_000_000, 1n << 64n, 1_000),
        liquidityChange(ZED_SOL, named('position'), ANNA, 1_000_000, 1_000_000, 0),
      ),
    ),
  ];
  const pool: [string, unknown] = ['damm_v2_pools.json', dammPoolsPage];
  const sol: [string, unknown] = ['dlmm_pools_2026-03-01T00-09-00Z.json', dlmmPoolsPage];
  const told: unknown[] = [];
  const TOLD = [
    'SELECT decimals, name FROM lp_token WHERE mint = $1',
    "SELECT amount_in, amount_out, round(usd, 6) AS usd, round(fee_usd, 9) AS fee FROM lp_swap WHERE $1 <> ''",
    "SELECT amount_x, amount_y, round(usd, 6) AS usd FROM lp_event WHERE $1 <> ''",
    'SELECT minute::text, round(usd, 12) AS usd FROM token_price WHERE mint = $1',
    "SELECT pool_address, hour::text, round(swap_usd, 6) AS usd, round(swap_fee_usd, 9) AS fee FROM lp_pool_hour WHERE $1 <> '' ORDER BY 1, 2",
  ];
  const tell = async (pages: readonly [string, unknown][]): Promise<void> => {
    await db.pool.query(
      'TRUNCATE token_price, lp_swap, lp_event, lp_position, lp_pool, lp_token, lp_liquidity_hour, lp_pool_hour, lp_pool_bar',
    );
    for (const [name, record] of pages) await load(name, [record]);
    told.push(await Promise.all(TOLD.map(async (text) => (await db.pool.query(text, [ZED])).rows)));
  };
  const chain = swap([
    [ZED, 9],
    [SOL, 9],
  ]);
  for (const order of [
    [pool, sol, list(5), chain],
    [chain, list(5), pool, sol],
    [pool, chain, sol, list(5)],
    [sol, list(5), chain, pool],
  ] as const)
    await tell(order);
  expect(told[0]).toMatchObject([
    [{ decimals: 9, name: 'Zed Token' }],
    [{ amount_in: '0.050000000' }],
    [{ amount_x: '0.001000000' }],
    expect.anything(),
    expect.anything(),
  ]);
  for (const one of told.slice(1)) expect(one).toEqual(told[0]);
  // Lists alone: the same whichever comes first, the better one.
  told.length = 0;
  for (const order of [
    [pool, sol, list(5), swap([])],
    [swap([]), list(5), sol, pool],
    [pool, swap([]), sol, list(5)],
  ] as const)
    await tell(order);
  expect(told[0]).toMatchObject([[{ decimals: 5 }], [{ amount_in: '500.00000' }], [{}], expect.anything(), expect.anything()]);
  for (const one of told.slice(1)) expect(one).toEqual(told[0]);
});

test('decimals of SOL and of dollars are what they are, whatever a list tells: too small a trade is no evidence of a price, whoever comes first', async () => {
  const list = tokenList.map((token) => (token.address === ZED ? token : { ...token, decimals: 3 }));
  // 0.5 USDC, and 0.005 SOL.
  const swaps = [
    tx('sol', '2026-03-01T00:10:00Z', ANNA, dlmmSwap(SOL_USDC, BEN, -2303, 5_000_000, 500_000, true, 0)),
    tx('zed', '2026-03-01T00:10:00Z', ANNA, dammSwap2(ZED_SOL, 0, 50_000_000, 5_000_000, 1n << 64n, 0)),
  ];
  const chain = withBalances(
    [
      [USDC, 6],
      [SOL, 9],
    ],
    tx('balances', '2026-03-01T01:30:00Z', ANNA, dammSwap2(ZED_SOL, 0, 1, 1, 1n << 64n, 0)),
  );
  await load('tokens.json', list);
  await load('dlmm_pools.json', [dlmmPoolsPage]);
  await load('damm_v2_pools.json', [dammPoolsPage]);
  await load('transactions.ndjson', swaps, 'ndjson');
  await load('transactions.ndjson', [chain], 'ndjson');
  expect(await rows('SELECT mint, usd, source FROM token_price')).toEqual([]);
});

test('an event of a dlmm position is of the owner who was told of it last, whatever an older record says, and whichever comes first', async () => {
  const position = named('position');
  const of = { pool: SOL_USDC, position, x: '0', y: '1', usdX: '0', usdY: '1' } as const;
  const older = history({ ...of, tx: 'added', at: '2026-03-01T00:00:00Z', type: 'add', owner: BEN });
  const added = tx('added', '2026-03-01T00:00:00Z', CARA, liquidity('AddLiquidity', SOL_USDC, CARA, position, 0, 1_000_000, 0));
  const newer = tx('claimed', '2026-03-01T00:10:00Z', CARA, claimFee(SOL_USDC, position, ANNA, 0, 1_000));
  const told: unknown[] = [];
  for (const order of [
    [older, added, newer],
    [newer, older],
    [newer, added, older],
    [added, newer, older],
  ]) {
    await db.pool.query('TRUNCATE lp_event, lp_position, lp_pool, lp_owner_hour, lp_position_sum, lp_owner_result');
    for (const record of order) await load('page.json', [record]);
    told.push(await rows('SELECT DISTINCT owner FROM lp_event'));
  }
  expect(told).toEqual(Array(4).fill([{ owner: ANNA }]));
});
