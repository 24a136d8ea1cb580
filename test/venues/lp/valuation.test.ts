import { SOL, USDC } from '../../../src/venues/lp/chain-addresses';
import { testDatabase } from '../../support/database';
import { named } from './chain-writer';
import { loadRecords } from './load';
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
  pairs,
  positionClose,
  positionCreate,
  SOL_USDC,
  tokenList,
  tx,
  ZED,
  ZED_SOL,
  ZED_USDC,
} from './pages';

let db: Awaited<ReturnType<typeof testDatabase>>;
beforeEach(async () => {
  db = await testDatabase();
});
afterEach(() => db.drop());

const rows = async (text: string): Promise<Record<string, unknown>[]> => (await db.pool.query<Record<string, unknown>>(text)).rows;
const load = (name: string, ...records: unknown[]) => loadRecords(db.pool, name, records);
const P = named('position v');

/** Q64.64 of the square root of a price in smallest units. */
const sqrt = (price: number): bigint => BigInt(Math.round(Math.sqrt(price) * 2 ** 32)) << 32n;

describe('prices', () => {
  test('against dollars: the price of the bin, not of the trade; the largest trade of a minute counts', async () => {
    await load('pools.json', dlmmPoolsPage);
    // Bin -2303 of 0.1 %: 1.001^-2303 = 0.10007… in smallest units, x 10^(9-6) = 100.07… USDC for a SOL.
    await load(
      'swaps.json',
      tx('s1', '2026-03-05T10:00:10Z', BEN, dlmmSwap(SOL_USDC, BEN, -2303, 1_000_000_000, 99_000_000, true, 0)),
      tx('s2', '2026-03-05T10:00:20Z', BEN, dlmmSwap(SOL_USDC, BEN, -2000, 500_000_000, 49_000_000, true, 0)),
    );
    const [price] = await rows('SELECT mint, minute::text, usd, source FROM token_price');
    expect(price).toEqual({ mint: SOL, minute: '2026-03-05 10:00:00+00', usd: expect.any(String), source: 2 });
    expect(Number(price?.usd)).toBeCloseTo(1000 * 1.001 ** -2303, 9);
    const swaps = await rows('SELECT usd, amount_in FROM lp_swap ORDER BY "timestamp"');
    expect(swaps.map((swap) => Number(swap.usd))).toEqual([Number(price?.usd), expect.closeTo(Number(price?.usd) / 2, 9)]);
  });

  test('against SOL, with SOL from its dollar pools; nothing where SOL has no price of the last hour', async () => {
    await load('pools.json', dlmmPoolsPage);
    await load('damm.json', dammPoolsPage);
    // 0.002 SOL for a ZED: 0.002 x 10^9 / 10^6 = 2 in smallest units.
    await load(
      'swaps.json',
      tx('s1', '2026-03-05T10:00:00Z', BEN, dlmmSwap(SOL_USDC, BEN, -2303, 1_000_000_000, 99_000_000, true, 0)),
      tx('s2', '2026-03-05T11:00:00Z', BEN, dammSwap2(ZED_SOL, 0, 1_000_000_000, 1_980_000_000, sqrt(2), 0)),
      tx('s3', '2026-03-05T11:01:00Z', BEN, dammSwap2(ZED_SOL, 0, 1_000_000_000, 1_980_000_000, sqrt(2), 0)),
    );
    const prices = await rows(`SELECT minute::text, usd, source FROM token_price WHERE mint = '${ZED}'`);
    expect(prices).toEqual([{ minute: '2026-03-05 11:00:00+00', usd: expect.any(String), source: 3 }]);
    expect(Number(prices[0]?.usd)).toBeCloseTo(0.002 * 1000 * 1.001 ** -2303, 9);
    // 11:01 is within the hour of ZED's own price.
    expect(
      (await rows(`SELECT usd IS NULL AS unpriced FROM lp_swap WHERE pool_address = '${ZED_SOL}'`)).map((row) => row.unpriced),
    ).toEqual([false, false]);
  });

  test('what the upstream states comes first; tiny amounts and dollars themselves are no evidence', async () => {
    await load('pools.json', dlmmPoolsPage);
    const row = { tx: 'h1', at: '2026-03-05T10:00:30Z', type: 'add', pool: SOL_USDC, position: P, owner: ANNA } as const;
    await load(
      'historical.json',
      history(
        { ...row, x: '2', y: '0.5', usdX: '210', usdY: '0.49' },
        { ...row, tx: 'h2', at: '2026-03-05T10:01:00Z', x: '0.000001', y: '0', usdX: '0.5', usdY: '0' },
      ),
    );
    expect(await rows('SELECT mint, minute::text, usd::float8, source FROM token_price')).toEqual([
      { mint: SOL, minute: '2026-03-05 10:00:00+00', usd: 105, source: 1 },
    ]);
    await load('swap.json', tx('s1', '2026-03-05T10:00:50Z', BEN, dlmmSwap(SOL_USDC, BEN, -2303, 1_000_000_000, 99_000_000, true, 0)));
    expect(await rows('SELECT usd::float8, source FROM token_price')).toEqual([{ usd: 105, source: 1 }]);
    expect(await rows('SELECT usd::float8 FROM lp_swap')).toEqual([{ usd: 105 }]);
  });

  test('a dollar, or a hundredth of a SOL, is evidence; less is none', async () => {
    await load('pools.json', dlmmPoolsPage);
    await load('damm.json', dammPoolsPage);
    const sol = (name: string, at: string, usdc: number) => tx(name, at, BEN, dlmmSwap(SOL_USDC, BEN, -2303, 10_000_000, usdc, true, 0));
    const zed = (name: string, at: string, lamports: number) => tx(name, at, BEN, dammSwap2(ZED_SOL, 0, 5_000_000, lamports, sqrt(2), 0));
    await load(
      'swaps.json',
      sol('s1', '2026-03-05T10:00:00Z', 1_000_000),
      sol('s2', '2026-03-05T10:01:00Z', 999_999),
      zed('s3', '2026-03-05T10:02:00Z', 10_000_000),
      zed('s4', '2026-03-05T10:03:00Z', 9_999_999),
    );
    const row = {
      at: '2026-03-05T10:04:00Z',
      type: 'add',
      pool: SOL_USDC,
      position: P,
      owner: ANNA,
      x: '0.01',
      y: '0',
      usdY: '0',
    } as const;
    await load(
      'historical.json',
      history({ ...row, tx: 'h1', usdX: '1' }, { ...row, tx: 'h2', at: '2026-03-05T10:05:00Z', usdX: '0.999999' }),
    );
    expect(await rows(`SELECT minute::time::text AS minute, source FROM token_price ORDER BY 1`)).toEqual([
      { minute: '10:00:00', source: 2 },
      { minute: '10:02:00', source: 3 },
      { minute: '10:04:00', source: 1 },
    ]);
  });

  test('a deposit at the active bin prices a token nobody trades; one-sided deposits do not', async () => {
    await load('pools.json', dlmmPoolsPage);
    await load('a.json', tx('a1', '2026-03-05T10:00:00Z', ANNA, liquidity('AddLiquidity', SOL_USDC, ANNA, P, 1_000_000_000, 0, -2303)));
    expect(await rows('SELECT 1 FROM token_price')).toEqual([]);
    expect(await rows('SELECT usd FROM lp_event')).toEqual([{ usd: null }]);
    await load(
      'b.json',
      tx('a2', '2026-03-05T10:00:00Z', ANNA, liquidity('AddLiquidity', SOL_USDC, ANNA, P, 1_000_000_000, 100_000_000, -2303)),
    );
    const priced = await rows('SELECT usd::float8 FROM lp_event ORDER BY usd');
    expect(priced.map((row) => row.usd)).toEqual([
      expect.closeTo(1000 * 1.001 ** -2303, 9),
      expect.closeTo(100 + 1000 * 1.001 ** -2303, 9),
    ]);
  });

  test('bins no pool can have do not stop a page', async () => {
    await load('pools.json', dlmmPoolsPage);
    const report = await load(
      's.json',
      tx('s1', '2026-03-05T10:00:00Z', BEN, dlmmSwap(SOL_USDC, BEN, 2_000_000_000, 1_000_000_000, 99_000_000, true, 0)),
    );
    expect(report.inserted).toBe(1);
    // The trade itself is what is left: 99 USDC for a SOL.
    expect(await rows('SELECT usd::float8 FROM token_price')).toEqual([{ usd: 99 }]);
  });
});

describe('values', () => {
  test('a price is good for an hour and never looks ahead by more than its own minute', async () => {
    await load('pools.json', dlmmPoolsPage);
    const claim = (name: string, at: string) => tx(name, at, ANNA, claimFee(SOL_USDC, P, ANNA, 1_000_000_000, 0));
    await load(
      'mixed.json',
      tx('s1', '2026-03-05T10:00:30Z', BEN, dlmmSwap(SOL_USDC, BEN, -2303, 1_000_000_000, 99_000_000, true, 0)),
      claim('c1', '2026-03-05T09:59:59Z'),
      claim('c2', '2026-03-05T10:00:00Z'),
      claim('c3', '2026-03-05T11:00:00Z'),
      claim('c4', '2026-03-05T11:00:01Z'),
    );
    expect((await rows('SELECT usd IS NULL AS unpriced FROM lp_event ORDER BY "timestamp"')).map((row) => row.unpriced)).toEqual([
      true,
      false,
      false,
      true,
    ]);
  });

  test('a price that comes late values what is on record up to an hour after its minute, and so do the prices that follow from it', async () => {
    await load('pools.json', dlmmPoolsPage);
    await load('damm.json', dammPoolsPage);
    const zed = (name: string, at: string) => tx(name, at, BEN, dammSwap2(ZED_SOL, 0, 1_000_000_000, 1_980_000_000, sqrt(2), 0));
    const claim = (name: string, at: string) => tx(name, at, ANNA, claimFee(SOL_USDC, P, ANNA, 1_000_000_000, 0));
    await load('early.json', claim('c1', '2026-03-05T09:59:59Z'), claim('c2', '2026-03-05T11:00:00Z'), claim('c3', '2026-03-05T11:00:01Z'));
    await load('zed.json', zed('z1', '2026-03-05T11:00:59Z'), zed('z2', '2026-03-05T12:00:00Z'), zed('z3', '2026-03-05T12:00:01Z'));
    const priced = async (): Promise<unknown[]> =>
      (await rows(`SELECT usd IS NOT NULL AS priced FROM (SELECT "timestamp", usd FROM lp_event UNION ALL SELECT "timestamp", usd FROM lp_swap WHERE pool_address = '${ZED_SOL}') f ORDER BY "timestamp"`))
        .map((row) => row.priced); // prettier-ignore
    expect(await priced()).toEqual([false, false, false, false, false, false]);
    // SOL is known from 10:00 to 11:00, by which ZED is at 11:00, and so until 12:00.
    await load('sol.json', tx('s1', '2026-03-05T10:00:30Z', BEN, dlmmSwap(SOL_USDC, BEN, -2303, 1_000_000_000, 99_000_000, true, 0)));
    expect(await priced()).toEqual([false, true, false, true, true, false]);
  });

  test('a price that comes late values what a closed position held, though nothing else happened in its hour', async () => {
    await load('pools.json', dlmmPoolsPage);
    const of = { pool: SOL_USDC, position: P, owner: ANNA } as const;
    await load(
      'histories.json',
      history(
        { ...of, tx: 'h1', at: '2026-03-05T10:00:00Z', type: 'add', x: '10', y: '1000', usdX: '1000', usdY: '1000' },
        { ...of, tx: 'h2', at: '2026-03-07T10:00:00Z', type: 'remove', x: '9', y: '1100', usdX: '900', usdY: '1100' },
      ),
    );
    await load('closes.json', tx('p1', '2026-03-07T10:30:00Z', ANNA, positionClose(P, ANNA)));
    const told = async () => rows('SELECT closed_positions AS closed, il_usd::float8 AS il FROM lp_owner_result');
    // By the price of the last withdrawal, 100: 10 SOL and 1,000 USDC would be worth as much as the 9 and 1,100 taken out.
    expect(await told()).toEqual([{ closed: 1, il: 0 }]);
    // The catalogue's 100.5 of later.
    await load('dlmm_pools_2026-03-07T10-05-00Z.json', dlmmPoolsPage);
    expect(await told()).toEqual([{ closed: 1, il: -0.5 }]);
    const sol = (name: string, at: string, bin: number) =>
      tx(name, at, BEN, dlmmSwap(SOL_USDC, BEN, bin, 1_000_000_000, 99_000_000, true, 0));
    await load('after.json', sol('s1', '2026-03-07T10:31:00Z', -2200));
    expect(await told()).toEqual([{ closed: 1, il: -0.5 }]);
    await load('before.json', sol('s2', '2026-03-07T10:20:00Z', -2200));
    expect(await told()).toEqual([{ closed: 1, il: expect.closeTo(100 - 1000 * 1.001 ** -2200, 6) }]);
  });

  test('an amount of zero needs no price; any other does', async () => {
    await load('tokens.json', ...tokenList);
    await load('pairs.json', ...pairs);
    await load(
      'e.json',
      tx('e1', '2026-03-05T10:00:00Z', ANNA, claimFee(ZED_USDC, P, ANNA, 0, 2_500_000)),
      tx('e2', '2026-03-05T10:00:01Z', ANNA, claimFee(ZED_USDC, P, ANNA, 1, 2_500_000)),
    );
    expect(await rows('SELECT usd FROM lp_event ORDER BY "timestamp"')).toEqual([{ usd: '2.500000' }, { usd: null }]);
  });
});

test('the order in which pages are loaded changes nothing', async () => {
  const pages: [string, unknown[]][] = [
    ['pools.json', [dlmmPoolsPage]],
    ['damm_2026-03-05T10-10-00Z.json', [dammPoolsPage]],
    [
      'chain.json',
      [
        tx('p0', '2026-03-05T09:59:00Z', BEN, positionCreate(SOL_USDC, P, ANNA)),
        tx('p1', '2026-03-05T10:00:00Z', BEN, liquidity('AddLiquidity', SOL_USDC, BEN, P, 2_000_000_000, 200_000_000, -2303)),
        tx(
          'p2',
          '2026-03-05T10:30:00Z',
          ANNA,
          liquidityChange(ZED_SOL, named('damm position'), ANNA, 5_000_000, 10_000_000, 0, [9_000_000, 18_000_000]),
        ),
        tx('p3', '2026-03-05T10:45:00Z', BEN, claimFee(SOL_USDC, P, ANNA, 10_000_000, 1_000_000)),
      ],
    ],
    [
      'swaps.json',
      [
        tx('s1', '2026-03-05T10:15:30Z', BEN, dlmmSwap(SOL_USDC, BEN, -2290, 1_000_000_000, 99_000_000, true, 1_000_000)),
        tx('s2', '2026-03-05T10:20:00Z', BEN, dammSwap2(ZED_SOL, 0, 1_000_000_000, 1_980_000_000, sqrt(2), 7)),
      ],
    ],
    [
      'historical.json',
      [
        history({
          tx: 'p1',
          at: '2026-03-05T10:00:00Z',
          type: 'add',
          pool: SOL_USDC,
          position: P,
          owner: ANNA,
          x: '2.000000000',
          y: '200.000000',
          usdX: '222',
          usdY: '200',
          ix: 0,
        }),
      ],
    ],
    ['tokens.json', tokenList],
  ];
  const dump = async (pool: typeof db.pool): Promise<string> => {
    const tables: Record<string, string> = {
      lp_event: '"timestamp", tx_id, kind',
      lp_swap: '"timestamp", tx_id',
      token_price: 'mint, minute',
      lp_position: 'position_address',
      lp_pool: 'pool_address',
      lp_token: 'mint',
      lp_position_event: 'position_address, kind',
    };
    const all = await Promise.all(
      Object.entries(tables).map(async ([table, order]) => [table, (await pool.query(`SELECT * FROM ${table} ORDER BY ${order}`)).rows]),
    );
    return JSON.stringify(all, null, 1);
  };
  const orders = [
    [0, 1, 2, 3, 4, 5],
    [5, 4, 3, 2, 1, 0],
    [4, 3, 2, 1, 0, 5],
    [2, 4, 0, 5, 3, 1],
    [3, 0, 2, 5, 1, 4],
    [4, 2, 1, 0, 3, 5],
    [2, 3, 5, 4, 1, 0],
    [1, 5, 3, 4, 0, 2],
  ];
  const dumps: string[] = [];
  for (const order of orders) {
    const other = await testDatabase();
    for (const index of order) {
      const [name, records] = pages[index] as [string, unknown[]];
      await loadRecords(other.pool, name, records);
    }
    dumps.push(await dump(other.pool));
    await other.drop();
  }
  for (const other of dumps.slice(1)) expect(other).toBe(dumps[0]);
  const [first] = JSON.parse(dumps[0] as string) as [[string, Record<string, unknown>[]]];
  expect(first[1].map((event) => [event.owner, event.usd_stated, event.usd !== null])).toEqual([
    [ANNA, true, true],
    [ANNA, false, true],
    [ANNA, false, true],
  ]);
  expect(first[1][0]).toMatchObject({ usd: '422', signer: BEN, bin_id: -2303, fee_payer: BEN });
  expect(USDC).toHaveLength(44);
});
