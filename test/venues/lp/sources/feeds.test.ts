import crypto from 'node:crypto';
import { sources } from '../../../../src/venues/lp/sources/all';
import { DCA_PROGRAM, SOL, USDC } from '../../../../src/venues/lp/chain-addresses';
import { testDatabase } from '../../../support/database';
import { bool, eventData, key, named, parsedTransaction, u128, u64, u8 } from '../chain-writer';
import { loadRecords } from '../load';
import {
  ANNA,
  BEN,
  CARA,
  claimFee,
  damm,
  dammPoolsPage,
  dammSwap1,
  dammSwap2,
  dlmmPoolsPage,
  dlmmSwap,
  history,
  lbPairCreate,
  liquidity,
  liquidityChange,
  pairs,
  positionClose,
  positionCreate,
  rebalancing,
  SOL_USDC,
  tokenList,
  tx,
  ZED,
  ZED_SOL,
  ZED_USDC,
} from '../pages';

let db: Awaited<ReturnType<typeof testDatabase>>;
beforeEach(async () => {
  db = await testDatabase();
});
afterEach(() => db.drop());

const rows = async (text: string): Promise<Record<string, unknown>[]> => (await db.pool.query<Record<string, unknown>>(text)).rows;
const load = (name: string, records: unknown[], format?: 'json' | 'ndjson') => loadRecords(db.pool, name, records, format);

test('every source knows its own format and no other; nothing makes one throw', () => {
  const pages: [string, string, unknown][] = [
    ['lp.dlmm_pools', 'a.json', dlmmPoolsPage],
    ['lp.dlmm_pools', 'a.json', dlmmPoolsPage.data[0]],
    ['lp.damm_v2_pools', 'a.json', dammPoolsPage],
    ['lp.dlmm_pairs', 'a.json', pairs[0]],
    ['lp.dlmm_pairs', 'a.json', { pairs, total: 1 }],
    ['lp.tokens', 'a.json', tokenList[0]],
    ['lp.position_history', 'a.json', history()],
    ['lp.position_legacy', 'position_deposits.json', { tx_id: 's', position_address: 'p', pair_address: 'q', onchain_timestamp: 1 }],
    ['lp.position_owner', 'a.json', { address: 'p', pair_address: 'q', owner: 'o' }],
    ['lp.volume_history', 'a.json', { timeframe: '1h', data: [{ timestamp: 1, volume: 2 }] }],
    ['lp.transactions', 'a.json', tx('t', '2026-03-01T00:00:00Z', ANNA)],
    ['lp.transactions', 'a.json', { jsonrpc: '2.0', id: 1, result: null }],
  ];
  for (const [source, name, record] of pages) {
    const knowing = sources
      .filter((candidate) => candidate.recognises(record, { name, format: 'json' }))
      .map((candidate) => candidate.name);
    expect([source, knowing[0]]).toEqual([source, source]);
    expect(knowing.length).toBe(1);
  }
  for (const odd of [
    null,
    undefined,
    1,
    'x',
    [],
    {},
    { data: 5 },
    { events: 'no' },
    { pairs: [1] },
    { result: { transaction: 1 } },
    { data: [null] },
  ]) {
    for (const source of sources) expect(() => source.recognises(odd, { name: 'deposits', format: 'json' })).not.toThrow();
  }
});

test('events of no possible time, and of no place in their transaction, are counted as skipped', async () => {
  const event = claimFee(SOL_USDC, named('position'), ANNA, 1, 2);
  type Answer = { result: { blockTime: number; meta: { innerInstructions: { index: number }[] } } };
  const [late, nowhere] = ['late', 'nowhere'].map((name) => tx(name, '2026-03-01T00:00:00Z', ANNA, event) as Answer) as [Answer, Answer];
  late.result.blockTime = 9_999_999_999_999;
  for (const group of nowhere.result.meta.innerInstructions) group.index = 1e21;
  expect(await load('transactions.ndjson', [late, nowhere], 'ndjson')).toMatchObject({
    inserted: 0,
    skipped: { no_block_time: 1, undecodable_event: 1 },
  });
  const row = {
    tx: 'a',
    type: 'add',
    pool: SOL_USDC,
    position: named('position'),
    owner: ANNA,
    x: '1',
    y: '2',
    usdX: '1',
    usdY: '2',
  } as const;
  const told = (at: string, ix?: number): unknown => history({ ...row, at, ix });
  expect(await load('historical.json', [told('1970-01-01T00:00:01Z'), told('2100-01-01T00:00:00Z')])).toMatchObject({
    inserted: 0,
    skipped: { unusable_event: 2 },
  });
  expect(await load('historical.json', [told('2026-03-01T00:00:00Z', 1e21)])).toMatchObject({ inserted: 1 });
});

test('what no store can keep of a transaction is unknown, and stops nothing', async () => {
  const answer = (name: string): Answer => tx(name, '2026-03-01T00:00:00Z', ANNA, claimFee(SOL_USDC, named(name), ANNA, 1, 2)) as never;
  type Answer = {
    result: {
      meta: { postTokenBalances: unknown[] };
      transaction: { signatures: string[]; message: { accountKeys: unknown[]; instructions: unknown[] } };
    };
  };
  const balance = (mint: unknown, decimals: number): unknown => ({ accountIndex: 0, mint, uiTokenAmount: { amount: '0', decimals } });
  const long = crypto.randomBytes(20_000).toString('hex');
  const [mints, keys, endless] = ['mints', 'keys', 'endless'].map(answer) as [Answer, Answer, Answer];
  mints.result.meta.postTokenBalances = [
    balance('mi\0nt', 6),
    balance(long, 6),
    balance(ZED, 1.5),
    balance(BEN, 40_000),
    balance(SOL, -100),
  ];
  keys.result.transaction.message.accountKeys = [{ pubkey: ANNA }, { pubkey: { toString: 1, valueOf: 1 } }];
  keys.result.transaction.message.instructions = [{ programId: 'pro\0gram' }, { programId: long }, { programIdIndex: 1 }];
  endless.result.transaction.signatures = [long];
  expect(await load('transactions.ndjson', [mints, keys, endless], 'ndjson')).toMatchObject({ inserted: 3, skipped: {} });
  expect(await rows('SELECT mint FROM lp_token WHERE decimals IS NOT NULL')).toEqual([]);
  expect(await rows("SELECT programs FROM lp_event WHERE position_address = '" + named('keys') + "'")).toEqual([{ programs: null }]);
  const nobody = answer('nobody');
  nobody.result.transaction.message.accountKeys = ['no\0body'];
  expect(await load('transactions.ndjson', [nobody], 'ndjson')).toMatchObject({ inserted: 0, skipped: { not_a_transaction: 1 } });
});

describe('catalogues', () => {
  test("pages of pools: pool, tokens, liquidity and prices of the page's time; twice is once; what changed is new", async () => {
    expect(await load('pools_2026-03-05T10-20-30Z.json', [dlmmPoolsPage])).toEqual({ read: 1, inserted: 1, duplicates: 0, skipped: {} });
    expect(await load('pools_2026-03-05T10-20-30Z.json', [dlmmPoolsPage])).toEqual({ read: 1, inserted: 0, duplicates: 1, skipped: {} });
    const [pool] = await rows('SELECT * FROM lp_pool');
    expect(pool).toMatchObject({
      pool_address: SOL_USDC,
      pool_type: 'dlmm',
      mint_x: SOL,
      mint_y: USDC,
      bin_step: 10,
      base_fee_pct: '0.1',
      tvl_usd: '250000.5',
      lifetime_volume_usd: '9000000',
      lifetime_fees_usd: '9000',
      catalogued: true,
    });
    expect((pool?.created_at as Date).toISOString()).toBe('2026-01-01T00:00:00.000Z');
    expect(await rows('SELECT mint, usd, source, minute::text FROM token_price')).toEqual([
      { mint: SOL, usd: '100.5', source: 5, minute: '2026-03-05 10:20:00+00' },
    ]);
    expect(await rows(`SELECT pool_address, liquidity_usd, hour::text FROM lp_liquidity_hour`)).toEqual([
      { pool_address: SOL_USDC, liquidity_usd: '250000.5', hour: '2026-03-05 10:00:00+00' },
    ]);
    const richer = { ...dlmmPoolsPage, data: [{ ...dlmmPoolsPage.data[0], tvl: 300000 }] };
    expect(await load('pools_2026-03-06.json', [richer])).toMatchObject({ inserted: 1, duplicates: 0 });
    expect(await load('pools_2026-03-05.json', [dlmmPoolsPage])).toMatchObject({ inserted: 1, duplicates: 0 });
    expect(await load('pools_2026-03-05.json', [dlmmPoolsPage])).toMatchObject({ inserted: 0, duplicates: 1 });
    expect(await rows('SELECT tvl_usd FROM lp_pool')).toEqual([{ tvl_usd: '300000' }]);
    expect(await rows(`SELECT watermark::text FROM source_cursor WHERE source = 'lp.dlmm_pools'`)).toEqual([
      { watermark: '2026-03-06 00:00:00+00' },
    ]);
  });

  test('a record that says nothing new touches no row; one that is only newer moves its pool on the same page, and leaves its tokens', async () => {
    const pools = Array.from({ length: 100 }, (_, n) => ({ ...dlmmPoolsPage.data[0], address: named(`pool ${n}`) }));
    const page = { ...dlmmPoolsPage, data: pools };
    const written = (table: string): Promise<unknown[]> => rows(`SELECT xmin, xmax, ctid FROM ${table} ORDER BY ctid`);
    const places = (): Promise<unknown[]> => rows('SELECT pool_address, (ctid::text::point)[0] AS block FROM lp_pool ORDER BY 1');
    await load('pools_2026-03-05T10-20-30Z.json', [page]);
    const [tokens, kept, where] = await Promise.all([written('lp_token'), written('lp_pool'), places()]);
    await load('pools_2026-03-05T10-20-30Z.json', [page]);
    expect(await written('lp_pool')).toEqual(kept);
    await load('pools_2026-03-05T10-30-30Z.json', [page]);
    expect(await rows('SELECT DISTINCT as_of::text FROM lp_pool')).toEqual([{ as_of: '2026-03-05 10:30:30+00' }]);
    expect(await places()).toEqual(where);
    expect(await written('lp_token')).toEqual(tokens);
  });

  test('what no store can keep of a pool is unknown, and stops nothing', async () => {
    const [pool] = dlmmPoolsPage.data;
    const odd = {
      ...pool,
      name: 'SOL\0-USDC',
      token_x: { ...pool?.token_x, symbol: 'SOL\0\0' },
      pool_config: { ...pool?.pool_config, bin_step: 1e21 },
      created_at: 1.7e15,
      tvl: 1e300,
      cumulative_metrics: { volume: `1.${'3'.repeat(20_000)}` },
    };
    expect(await load('pools_2026-03-05.json', [{ ...dlmmPoolsPage, data: [odd] }])).toMatchObject({ inserted: 1 });
    expect(await rows('SELECT name, bin_step, created_at, tvl_usd FROM lp_pool')).toEqual([
      { name: 'SOL-USDC', bin_step: null, created_at: null, tvl_usd: null },
    ]);
    expect(await rows(`SELECT symbol FROM lp_token WHERE mint = '${SOL}'`)).toEqual([{ symbol: 'SOL' }]);
    // Each of these letters is eighteen where it is searched for.
    const names = [crypto.randomBytes(20_000).toString('hex'), '\ufdfa'.repeat(500)];
    for (const symbol of names)
      expect(await load('tokens_2026-03-05.json', [{ address: ZED, symbol, name: symbol, decimals: 6 }])).toMatchObject({ inserted: 1 });
  });

  test('liquidity of an hour is what its newest page says, in whatever order pages come', async () => {
    const pageOf = (tvl: number): unknown => ({ ...dlmmPoolsPage, data: [{ ...dlmmPoolsPage.data[0], tvl }] });
    const pages = [
      ['pools_2026-04-05T11-00-00Z.json', 30],
      ['pools_2026-04-05T10-50-00Z.json', 20],
      ['pools_2026-04-05T10-10-00Z.json', 10],
      ['pools_2026-04-05T10-55-00Z.json', 25],
      ['pools_2026-04-05T09-59-59Z.json', 5],
    ] as const;
    for (const [name, tvl] of [...pages, ...pages]) await load(name, [pageOf(tvl)]);
    expect(
      await rows(`SELECT liquidity_usd, hour::text, as_of::text FROM lp_liquidity_hour WHERE hour >= '2026-04-01' ORDER BY hour`),
    ).toEqual([
      { liquidity_usd: '5', hour: '2026-04-05 09:00:00+00', as_of: '2026-04-05 09:59:59+00' },
      { liquidity_usd: '25', hour: '2026-04-05 10:00:00+00', as_of: '2026-04-05 10:55:00+00' },
      { liquidity_usd: '30', hour: '2026-04-05 11:00:00+00', as_of: '2026-04-05 11:00:00+00' },
    ]);
    // A late page is older than one that said the same as was known.
    for (const [time, tvl] of [
      ['12-10-00', 40],
      ['12-50-00', 40],
      ['12-30-00', 70],
    ] as const)
      await load(`pools_2026-04-05T${time}Z.json`, [pageOf(tvl)]);
    expect(await rows(`SELECT liquidity_usd, as_of::text FROM lp_liquidity_hour WHERE hour = '2026-04-05T12:00:00Z'`)).toEqual([
      { liquidity_usd: '40', as_of: '2026-04-05 12:50:00+00' },
    ]);
    expect(await rows(`SELECT day::text, hours, liquidity_usd FROM lp_liquidity_day WHERE day >= '2026-04-01'`)).toEqual([
      { day: '2026-04-05 00:00:00+00', hours: 4, liquidity_usd: '100' },
    ]);
  });

  test('of two pages of one instant, and of a pool twice in a page, the larger figures stay, in either order', async () => {
    const page = (address: string, tvl: number): unknown => ({
      ...dlmmPoolsPage,
      data: [{ ...dlmmPoolsPage.data[0], address, tvl, cumulative_metrics: { volume: tvl * 10, fees: tvl / 10 } }],
    });
    const [up, down, twice] = [named('pool up'), named('pool down'), named('pool twice')];
    await load('pools_2026-04-05T11-00-00Z.json', [page(up, 20)]);
    await load('pools_2026-04-05T11-00-00Z_again.json', [page(up, 30), page(down, 30)]);
    expect(await load('pools_2026-04-05T11-00-00Z_third.json', [page(down, 20)])).toMatchObject({ inserted: 0, duplicates: 1 });
    await load('pools_2026-04-05T11-00-00Z_fourth.json', [page(twice, 30), page(twice, 20)]);
    const stands = { tvl_usd: '30', lifetime_volume_usd: '300', lifetime_fees_usd: '3' };
    expect(await rows(`SELECT tvl_usd, lifetime_volume_usd, lifetime_fees_usd FROM lp_pool WHERE as_of = '2026-04-05T11:00:00Z'`)).toEqual([
      stands,
      stands,
      stands,
    ]);
    await load('pools_2026-04-05T11-00-01Z.json', [page(up, 7)]);
    expect(await rows(`SELECT tvl_usd FROM lp_pool WHERE pool_address = '${up}'`)).toEqual([{ tvl_usd: '7' }]);
  });

  test('a page that does not tell its time stands until one that does comes, and never in its place', async () => {
    const page = (tvl: number, name: string): unknown => ({
      ...dlmmPoolsPage,
      data: [{ ...dlmmPoolsPage.data[0], name, tvl, cumulative_metrics: { volume: tvl * 10, fees: tvl / 10 } }],
    });
    const told = (): Promise<unknown[]> => rows('SELECT name, tvl_usd, lifetime_volume_usd, as_of::text FROM lp_pool');
    const loadUndated = () => load('pools.json', [page(20, 'OLD-USDC')]);
    await loadUndated();
    expect(await told()).toEqual([{ name: 'OLD-USDC', tvl_usd: '20', lifetime_volume_usd: '200', as_of: null }]);
    await load('pools_2026-04-05T10-00-00Z.json', [page(30, 'SOL-USDC')]);
    const dated = [{ name: 'SOL-USDC', tvl_usd: '30', lifetime_volume_usd: '300', as_of: '2026-04-05 10:00:00+00' }];
    expect(await told()).toEqual(dated);
    expect(await loadUndated()).toMatchObject({ inserted: 0, duplicates: 1 });
    expect(await told()).toEqual(dated);
  });

  test('name and fee are what the newest page says that tells them, in whatever order pages come', async () => {
    const page = (name: string | undefined, base_fee_pct: number): unknown => ({
      ...dlmmPoolsPage,
      data: [{ ...dlmmPoolsPage.data[0], name, pool_config: { bin_step: 10, base_fee_pct } }],
    });
    await load('pools_2026-04-05T10-00-00Z.json', [page(undefined, 0.2)]);
    await load('pools_2026-04-05T09-00-00Z.json', [page('OLD-USDC', 0.1)]);
    expect(await rows('SELECT name, base_fee_pct FROM lp_pool')).toEqual([{ name: 'OLD-USDC', base_fee_pct: '0.2' }]);
    await load('pools_2026-04-05T11-00-00Z.json', [page('SOL-USDC', 0.3)]);
    await load('pools_2026-04-05T10-00-00Z.json', [page('OLD-USDC', 0.2)]);
    expect(await rows('SELECT name, base_fee_pct FROM lp_pool')).toEqual([{ name: 'SOL-USDC', base_fee_pct: '0.3' }]);
  });

  test('both pool types share a form and are told apart; a broken pool is skipped by name', async () => {
    expect(
      await load('damm.json', [{ ...dammPoolsPage, data: [...dammPoolsPage.data, { ...dammPoolsPage.data[0], address: 'short' }, 5] }]),
    ).toEqual({ read: 3, inserted: 1, duplicates: 0, skipped: { unusable_pool: 2 } });
    expect(await rows('SELECT pool_address, pool_type, bin_step FROM lp_pool')).toEqual([
      { pool_address: ZED_SOL, pool_type: 'damm_v2', bin_step: null },
    ]);
  });

  test('the older list, in both its forms; symbols from names only where they are certain', async () => {
    const odd = { ...pairs[0], address: named('odd'), name: 'A-B-USDC', mint_x: named('mint odd') };
    expect(await load('pair_all.json', [...pairs, odd])).toMatchObject({ read: 2, inserted: 2 });
    expect(await load('page.json', [{ pairs, total: 1 }])).toMatchObject({ read: 1, inserted: 0, duplicates: 1 });
    expect(await rows(`SELECT pool_address, tvl_usd, lifetime_volume_usd, base_fee_pct FROM lp_pool WHERE name = 'ZED-USDC'`)).toEqual([
      { pool_address: ZED_USDC, tvl_usd: '1000.25', lifetime_volume_usd: '77', base_fee_pct: '1' },
    ]);
    const symbols = await rows('SELECT mint, symbol, quality FROM lp_token ORDER BY quality, symbol');
    expect(symbols).toEqual([
      { mint: USDC, symbol: 'USDC', quality: 1 },
      { mint: ZED, symbol: 'ZED', quality: 1 },
      { mint: named('mint odd'), symbol: null, quality: 1 },
    ]);
  });

  test("a token list is better than a pool page, a pool page better than a pair's name, in any order", async () => {
    await load(
      'tokens.json',
      [
        { id: ZED, symbol: 'ZED', name: 'Zed', decimals: 6 },
        { address: 'x', symbol: 's', name: 'n', decimals: 'six' },
        { address: SOL, symbol: 's', name: 'n', decimals: 99 },
      ].slice(0, 1),
    );
    await load('damm.json', [dammPoolsPage]);
    await load('pair_all.json', pairs);
    expect(await rows(`SELECT name, quality, decimals FROM lp_token WHERE mint = '${ZED}'`)).toEqual([
      { name: 'Zed', quality: 3, decimals: 6 },
    ]);
    expect(await load('more.json', [tokenList[0], { ...tokenList[1], decimals: 99 }, 7])).toEqual({
      read: 3,
      inserted: 1,
      duplicates: 0,
      skipped: { unusable_token: 2 },
    });
  });

  test('fees of an hour that are told later are kept, and counted, whatever order its readings come in', async () => {
    const at = Date.UTC(2026, 2, 5, 10) / 1_000;
    const readings = [{ volume: 1_000 }, { volume: 1_000, fees: 9, protocol_fees: 1 }, { volume: 400, fees: 8, protocol_fees: 1 }];
    for (const order of [
      [0, 1, 2],
      [2, 1, 0],
      [1, 0, 2],
      [2, 0, 1],
    ]) {
      // prettier-ignore
      await db.pool.query('TRUNCATE lp_volume_hour, lp_pool_hour');
      for (const n of order)
        await load(`pools_${SOL_USDC}_volume_history.json`, [{ timeframe: '1h', data: [{ timestamp: at, ...readings[n] }] }]);
      expect(await rows('SELECT volume_usd, fees_usd, protocol_fees_usd FROM lp_volume_hour')).toEqual([
        { volume_usd: '1000', fees_usd: '9', protocol_fees_usd: '1' },
      ]);
      expect(await rows('SELECT stated_usd, stated_fee_usd FROM lp_pool_hour')).toEqual([{ stated_usd: '1000', stated_fee_usd: '8' }]);
    }
  });

  test('hourly volumes: shorter buckets are summed, longer ones refused, a growing hour replaced', async () => {
    const bucket = (minute: number, volume: number | string): Record<string, unknown> => ({
      timestamp: Date.parse('2026-03-05T10:00:00Z') / 1000 + minute * 60,
      volume,
      fees: 0.1,
      protocol_fees: '0.01',
    });
    expect(
      await load(`pools_${SOL_USDC}_volume_history.json`, [
        { timeframe: '5m', data: [bucket(0, 0.1), bucket(5, '0.2'), bucket(60, 5), { timestamp: null, volume: 1 }] },
      ]),
    ).toEqual({ read: 3, inserted: 2, duplicates: 0, skipped: { unusable_bucket: 1 } });
    expect(await rows('SELECT hour::text, volume_usd, fees_usd, protocol_fees_usd FROM lp_volume_hour ORDER BY 1')).toEqual([
      { hour: '2026-03-05 10:00:00+00', volume_usd: '0.3', fees_usd: '0.2', protocol_fees_usd: '0.02' },
      { hour: '2026-03-05 11:00:00+00', volume_usd: '5', fees_usd: '0.1', protocol_fees_usd: '0.01' },
    ]);
    expect(await load(`pools_${SOL_USDC}_volume_history.json`, [{ timeframe: '1h', data: [bucket(0, 0.2), bucket(60, 6)] }])).toMatchObject(
      { inserted: 1, duplicates: 1 },
    );
    expect(await rows('SELECT volume_usd FROM lp_volume_hour ORDER BY hour')).toEqual([{ volume_usd: '0.3' }, { volume_usd: '6' }]);
    expect(await load(`pools_${SOL_USDC}_x.json`, [{ timeframe: '24h', data: [bucket(0, 1)] }])).toMatchObject({
      inserted: 0,
      skipped: { bucket_too_long: 1 },
    });
    const untold = (...minutes: number[]) =>
      load(`pools_${SOL_USDC}_y.json`, [{ timeframe: null, data: minutes.map((minute) => bucket(minute, 7)) }]);
    for (const minutes of [[120], [120, 1_560]])
      expect(await untold(...minutes)).toMatchObject({ inserted: 0, skipped: { bucket_too_long: minutes.length } });
    expect(await untold(180, 120)).toMatchObject({ inserted: 2, skipped: {} });
    expect(await load('volume.json', [{ timeframe: '1h', data: [bucket(0, 1)] }])).toMatchObject({
      inserted: 0,
      skipped: { pool_not_named: 1 },
    });
  });
});

describe('positions by the index', () => {
  const P = named('position 1');
  const row = { tx: 't1', at: '2026-03-05T10:00:00Z', pool: SOL_USDC, position: P, owner: ANNA } as const;

  test('histories: kinds, amounts, USD and owner; rewards and odd rows are counted apart; twice is once', async () => {
    const page = history(
      { ...row, type: 'claim_fee', x: '0.01', y: '1', usdX: '1', usdY: '1', ix: 3 },
      { ...row, type: 'claim_reward', x: '0', y: '0', usdX: '0', usdY: '0', ix: 4 },
      { ...row, tx: 't0', at: '2026-03-04T10:00:00Z', type: 'add', x: '1.5', y: '150', usdX: '150.25', usdY: '150' },
    );
    (page.events as unknown[]).push(
      { signature: 's', eventType: 'add', positionAddress: 'nonsense' },
      { signature: 's', eventType: 'merge', positionAddress: P, poolAddress: SOL_USDC },
      { signature: 's', eventType: 'constructor', positionAddress: P, poolAddress: SOL_USDC, blockTime: 1772704800 },
    );
    const skipped = { claim_reward: 1, unusable_event: 1, unknown_event_type: 2 };
    expect(await load('historical.json', [page])).toEqual({ read: 6, inserted: 2, duplicates: 0, skipped });
    expect(await load('historical.json', [page])).toEqual({ read: 6, inserted: 0, duplicates: 2, skipped });
    expect(await rows('SELECT kind, owner, amount_x, amount_y, usd, usd_stated, outer_ix FROM lp_event ORDER BY "timestamp"')).toEqual([
      { kind: 'deposit', owner: ANNA, amount_x: '1.5', amount_y: '150', usd: '300.25', usd_stated: true, outer_ix: 1 },
      { kind: 'claim', owner: ANNA, amount_x: '0.01', amount_y: '1', usd: '2', usd_stated: true, outer_ix: 3 },
    ]);
    expect(await rows('SELECT pool_address, pool_type, mint_x, mint_y, catalogued FROM lp_pool')).toEqual([
      { pool_address: SOL_USDC, pool_type: 'dlmm', mint_x: SOL, mint_y: USDC, catalogued: false },
    ]);
    expect(await rows('SELECT last_event_at::text FROM source_cursor')).toEqual([{ last_event_at: '2026-03-05 10:00:00+00' }]);
  });

  test('0 USD of something is nothing stated: it is worth what prices tell, or unknown; 0 of nothing is 0', async () => {
    await load('dlmm_pools_2026-03-05T09-50-00Z.json', [dlmmPoolsPage]);
    const row = { at: '2026-03-05T10:00:00Z', type: 'add', position: P, owner: ANNA, x: '2', y: '0', usdX: '0', usdY: '0' } as const;
    const told = [
      { ...row, tx: 'unpriced', pool: ZED_USDC },
      { ...row, tx: 'priced', pool: SOL_USDC },
      { ...row, tx: 'nothing', pool: SOL_USDC, x: '0' },
    ];
    await load('historical.json', [history(...told)]);
    const old = { position_address: P, pair_address: SOL_USDC, onchain_timestamp: 1772704800, token_x_amount: 2_000_000_000, token_y_amount: 0, token_x_usd_amount: 0, token_y_usd_amount: 0 }; // prettier-ignore
    await load('position_deposits.json', [{ ...old, tx_id: named('old', 64) }]);
    const values = await rows('SELECT tx_id, usd::float8, usd_stated FROM lp_event');
    expect(Object.fromEntries(values.map(({ tx_id, usd, usd_stated }) => [tx_id, [usd, usd_stated]]))).toEqual({
      [named('unpriced', 64)]: [null, false],
      [named('priced', 64)]: [201, false],
      [named('nothing', 64)]: [0, true],
      [named('old', 64)]: [201, false],
    });
  });

  test('rows of the older index that are alike are numbered over the whole of their page, however long it is', async () => {
    const row = { position_address: P, pair_address: SOL_USDC, onchain_timestamp: 1772704800, token_x_amount: 1, token_y_amount: 2 };
    const page = Array.from({ length: 2_002 }, (_, n) => ({ ...row, tx_id: named(`deposit ${Math.floor((n + 1) / 2)}`, 64) }));
    expect(await load('position_deposits.json', page)).toEqual({ read: 2_002, inserted: 2_002, duplicates: 0, skipped: {} });
    expect(await load('position_deposits.json', page)).toMatchObject({ inserted: 0, duplicates: 2_002 });
  });

  test("the older index: the page's name says the kind; the owner comes with the position, before or after", async () => {
    const old = {
      tx_id: named('t9', 64),
      position_address: P,
      pair_address: ZED_USDC,
      active_bin_id: 7,
      token_x_amount: 2_000_000,
      token_y_amount: '3000000',
      token_x_usd_amount: 0.1,
      token_y_usd_amount: 0.2,
      price: 1,
      onchain_timestamp: 1772704800,
    };
    expect(await load('position_deposits.json', [old, { ...old, pair_address: null }])).toEqual({
      read: 2,
      inserted: 1,
      duplicates: 0,
      skipped: { unusable_event: 1 },
    });
    expect(await load('position_withdraws.json', [{ ...old, onchain_timestamp: 1772704900 }])).toMatchObject({ inserted: 1 });
    expect(await load('position_claim_fees.json', [{ ...old, onchain_timestamp: 1772705000 }])).toMatchObject({ inserted: 1 });
    expect(await rows('SELECT kind, owner, raw_x, amount_x, usd, bin_id FROM lp_event ORDER BY "timestamp"')).toEqual(
      ['deposit', 'withdraw', 'claim'].map((kind) => ({ kind, owner: null, raw_x: '2000000', amount_x: null, usd: '0.3', bin_id: 7 })),
    );
    expect(await load('position.json', [{ address: P, pair_address: ZED_USDC, owner: BEN, total_fee_x_claimed: 1 }])).toEqual({
      read: 1,
      inserted: 1,
      duplicates: 0,
      skipped: {},
    });
    expect(await load('position.json', [{ address: P, pair_address: ZED_USDC, owner: BEN }])).toMatchObject({ inserted: 0, duplicates: 1 });
    await load('more_deposits.json', [{ ...old, onchain_timestamp: 1772706000 }]);
    expect(await rows('SELECT DISTINCT owner FROM lp_event')).toEqual([{ owner: BEN }]);
    await load('tokens.json', tokenList);
    await load('pair_all.json', pairs);
    expect(await rows('SELECT DISTINCT amount_x, amount_y FROM lp_event')).toEqual([{ amount_x: '2.000000', amount_y: '3.000000' }]);
  });
});

describe('transactions', () => {
  const P = named('position 2');

  test("a position's life: the owner is the position's, not the signer's; a close finds its pool", async () => {
    const operator = named('operator');
    const report = await load(
      'life.ndjson',
      [
        tx('l1', '2026-03-01T00:00:00Z', operator, liquidity('AddLiquidity', SOL_USDC, operator, P, 5, 6, -3)),
        tx(
          'l2',
          '2026-03-02T00:00:00Z',
          operator,
          liquidity('RemoveLiquidity', SOL_USDC, operator, P, 5, 6, -4),
          claimFee(SOL_USDC, P, ANNA, 1, 2),
          positionClose(P, ANNA),
        ),
        tx('l0', '2026-02-28T23:59:59Z', operator, positionCreate(SOL_USDC, P, ANNA)),
      ],
      'ndjson',
    );
    expect(report).toEqual({ read: 5, inserted: 5, duplicates: 0, skipped: {} });
    expect(await rows('SELECT kind, owner, signer, raw_x, raw_y, bin_id, fee_payer FROM lp_event ORDER BY "timestamp", kind')).toEqual([
      { kind: 'deposit', owner: ANNA, signer: operator, raw_x: '5', raw_y: '6', bin_id: -3, fee_payer: operator },
      { kind: 'claim', owner: ANNA, signer: null, raw_x: '1', raw_y: '2', bin_id: null, fee_payer: operator },
      { kind: 'withdraw', owner: ANNA, signer: operator, raw_x: '5', raw_y: '6', bin_id: -4, fee_payer: operator },
    ]);
    expect(await rows('SELECT pool_address, owner, opened_at::text, closed_at::text FROM lp_position')).toEqual([
      { pool_address: SOL_USDC, owner: ANNA, opened_at: '2026-02-28 23:59:59+00', closed_at: '2026-03-02 00:00:00+00' },
    ]);
    expect(await rows('SELECT kind FROM lp_position_event ORDER BY "timestamp"')).toEqual([{ kind: 'open' }, { kind: 'close' }]);
  });

  test('events kept under their signer pass to the owner when the position becomes known', async () => {
    await load('a.json', [tx('o1', '2026-03-01T00:00:00Z', BEN, liquidity('AddLiquidity', SOL_USDC, BEN, P, 5, 6, 0))]);
    expect(await rows('SELECT owner FROM lp_event')).toEqual([{ owner: BEN }]);
    const counted = 'SELECT owner, deposits FROM lp_owner_hour UNION ALL SELECT owner, deposits FROM lp_owner_day';
    expect(await rows(counted)).toEqual(Array(2).fill({ owner: BEN, deposits: 1 }));
    await load('b.json', [tx('o0', '2026-02-28T00:00:00Z', BEN, positionCreate(SOL_USDC, P, ANNA))]);
    expect(await rows('SELECT owner FROM lp_event')).toEqual([{ owner: ANNA }]);
    expect(await rows(counted)).toEqual(Array(2).fill({ owner: ANNA, deposits: 1 }));
  });

  test('a rebalance is three flagged rows of one transaction; legs without amounts are none; rewards stay apart', async () => {
    const report = await load('r.json', [
      tx('r1', '2026-03-01T00:00:00Z', ANNA, rebalancing(SOL_USDC, P, ANNA, 4, [10, 8, 20, 25, 1, 2], [0, 9])),
      tx('r2', '2026-03-01T01:00:00Z', ANNA, rebalancing(SOL_USDC, P, ANNA, 4, [10, 10, 0, 0, 0, 0])),
    ]);
    expect(report).toEqual({ read: 6, inserted: 6, duplicates: 0, skipped: {} });
    expect(await rows('SELECT kind, raw_x, raw_y, n, rebalance, tx_id FROM lp_event ORDER BY "timestamp", kind')).toEqual([
      { kind: 'claim', raw_x: '1', raw_y: '2', n: 0, rebalance: true, tx_id: named('r1', 64) },
      { kind: 'deposit', raw_x: '8', raw_y: '25', n: 0, rebalance: true, tx_id: named('r1', 64) },
      { kind: 'withdraw', raw_x: '10', raw_y: '20', n: 0, rebalance: true, tx_id: named('r1', 64) },
      { kind: 'deposit', raw_x: '10', raw_y: '0', n: 0, rebalance: true, tx_id: named('r2', 64) },
      { kind: 'withdraw', raw_x: '10', raw_y: '0', n: 0, rebalance: true, tx_id: named('r2', 64) },
    ]);
    expect(await rows('SELECT reward_index, raw_amount FROM lp_reward')).toEqual([{ reward_index: 1, raw_amount: '9' }]);
  });

  test('what an upgrade told in two forms is one fact', async () => {
    const old = damm('EvtAddLiquidity', key(ZED_SOL), key(P), key(ANNA), u128(7), u64(0), u64(0), u64(100), u64(200), u64(100), u64(200));
    const report = await load('twins.json', [
      parsedTransaction({
        signature: named('w', 64),
        at: '2026-03-01T00:00:00Z',
        payer: ANNA,
        events: [
          { ...dammSwap1(ZED_SOL, 0, 500, 400, 5n, 6), outer: 1 },
          { ...dammSwap2(ZED_SOL, 0, 500, 400, 5n, 6), outer: 1 },
          // The same amounts again in another instruction are another swap.
          { ...dammSwap2(ZED_SOL, 0, 500, 400, 5n, 6), outer: 2 },
          { ...old, outer: 3 },
          { ...liquidityChange(ZED_SOL, P, ANNA, 100, 200, 0), outer: 3 },
        ],
      }),
    ]);
    expect(report).toEqual({ read: 3, inserted: 3, duplicates: 0, skipped: {} });
    expect(await rows('SELECT outer_ix, inner_ix, trader FROM lp_swap ORDER BY 1')).toEqual([
      { outer_ix: 1, inner_ix: 1, trader: ANNA },
      { outer_ix: 2, inner_ix: 0, trader: ANNA },
    ]);
    expect(await rows('SELECT kind, raw_x, liquidity_delta FROM lp_event')).toEqual([
      { kind: 'deposit', raw_x: '100', liquidity_delta: '7' },
    ]);
  });

  test("a pool's birth holds its first liquidity, which belongs to the position made with it", async () => {
    const born = damm(
      'EvtInitializePool',
      key(ZED_SOL),
      key(ZED),
      key(SOL),
      key(CARA),
      key(CARA),
      key(named('vault')),
      Buffer.alloc(30),
      bool(true),
      Buffer.alloc(32),
      u128(1),
      u128(2),
      u8(0),
      u8(1),
      u128(55),
      u128(66),
      u64(1),
      u8(0),
      u8(0),
      u64(1000),
      u64(2000),
      u64(1000),
      u64(2000),
      u8(0),
    );
    const made = damm('EvtCreatePosition', key(ZED_SOL), key(CARA), key(P), key(named('nft')));
    const record = parsedTransaction({ signature: named('b', 64), at: '2026-03-01T00:00:00Z', payer: CARA, events: [made, born] });
    expect(await load('birth.json', [record, tx('c', '2026-03-01T00:00:01Z', ANNA, lbPairCreate(ZED_USDC, 80, ZED, USDC))])).toEqual({
      read: 3,
      inserted: 3,
      duplicates: 0,
      skipped: {},
    });
    expect(await load('birth.json', [record, tx('c', '2026-03-01T00:00:01Z', ANNA, lbPairCreate(ZED_USDC, 80, ZED, USDC))])).toMatchObject({
      inserted: 0,
      duplicates: 3,
    });
    expect(await rows('SELECT kind, owner, position_address, raw_x, raw_y, liquidity_delta FROM lp_event')).toEqual([
      { kind: 'deposit', owner: CARA, position_address: P, raw_x: '1000', raw_y: '2000', liquidity_delta: '55' },
    ]);
    expect(await rows('SELECT pool_type, mint_x, mint_y, bin_step, created_at::text, reserve_y FROM lp_pool ORDER BY pool_type')).toEqual([
      { pool_type: 'damm_v2', mint_x: ZED, mint_y: SOL, bin_step: null, created_at: '2026-03-01 00:00:00+00', reserve_y: '2000' },
      { pool_type: 'dlmm', mint_x: ZED, mint_y: USDC, bin_step: 80, created_at: '2026-03-01 00:00:01+00', reserve_y: null },
    ]);
  });

  test("providers' part of swap fees: the protocol's, hosts', partners' and makers' parts are not theirs", async () => {
    await load('fees.json', [
      tx('f1', '2026-03-01T00:00:00Z', BEN, dlmmSwap(SOL_USDC, BEN, 0, 1000, 900, true, 50)),
      tx('f2', '2026-03-01T00:00:01Z', BEN, dammSwap2(ZED_SOL, 1, 1000, 900, 5n, 40, 1, 8)),
      tx('f3', '2026-03-01T00:00:02Z', BEN, dammSwap2(ZED_SOL, 1, 1000, 900, 5n, 40, 2, 8)),
      tx('f4', '2026-03-01T00:00:03Z', BEN, dammSwap2(ZED_SOL, 1, 1000, 900, 5n, 40, 0)),
      tx('f5', '2026-03-01T00:00:04Z', BEN, dammSwap1(ZED_SOL, 1, 1000, 900, 5n, 40)),
      tx('f6', '2026-03-01T00:00:05Z', BEN, dammSwap1(ZED_SOL, 0, 1000, 900, 5n, 40)),
      tx('f7', '2026-03-01T00:00:06Z', BEN, dlmmSwap(SOL_USDC, BEN, 0, 1000, 900, false, 50, 1)),
    ]);
    expect(await rows('SELECT raw_fee, fee_on_x, x_to_y, sqrt_price FROM lp_swap ORDER BY "timestamp"')).toEqual([
      { raw_fee: '45', fee_on_x: true, x_to_y: true, sqrt_price: null },
      { raw_fee: '40', fee_on_x: false, x_to_y: false, sqrt_price: '5' },
      { raw_fee: '48', fee_on_x: false, x_to_y: false, sqrt_price: null },
      { raw_fee: '40', fee_on_x: true, x_to_y: false, sqrt_price: '5' },
      { raw_fee: '40', fee_on_x: null, x_to_y: false, sqrt_price: '5' },
      { raw_fee: '40', fee_on_x: false, x_to_y: true, sqrt_price: '5' },
      { raw_fee: '45', fee_on_x: false, x_to_y: false, sqrt_price: null },
    ]);
  });

  test('recurring orders, and what is not ours: counted by reason', async () => {
    const terms = [key(ANNA), key(named('order')), u64(100), key(USDC), key(ZED), u64(3600), u64(10), u64(1772323200)];
    const dca = (name: string, ...pieces: Buffer[]) => ({ program: DCA_PROGRAM, data: eventData(name, ...pieces) });
    const report = await load('orders.json', [
      tx('d1', '2026-03-01T00:00:00Z', ANNA, dca('Opened', ...terms), dca('Deposit', key(named('order')), u64(100))),
      tx(
        'd2',
        '2026-03-01T01:00:00Z',
        BEN,
        dca('CollectedFee', key(ANNA), key(named('order')), key(ZED), u64(1)),
        dca('Filled', key(ANNA), key(named('order')), key(USDC), key(ZED), u64(10), u64(40), key(ZED), u64(1)),
      ),
      tx(
        'd3',
        '2026-03-01T02:00:00Z',
        ANNA,
        dca('Withdraw', key(named('order')), u64(0), u64(40), bool(true)),
        dca('Closed', ...terms, u64(90), u64(40), u64(90), bool(true)),
      ),
      tx('d4', '2026-03-01T03:00:00Z', ANNA),
      parsedTransaction({ signature: named('d5', 64), at: '2026-03-01T03:00:00Z', payer: ANNA, err: {}, events: [] }),
      { jsonrpc: '2.0', id: 1, result: null },
      tx('d6', '2026-03-01T03:00:00Z', ANNA, dca('Unheard', u64(1))),
    ]);
    expect(report).toEqual({
      read: 10,
      inserted: 6,
      duplicates: 0,
      skipped: { no_event: 1, failed_transaction: 1, not_a_transaction: 1, other_event: 1 },
    });
    const shown =
      'kind, owner, input_mint, in_amount, out_amount, in_deposited, in_amount_per_cycle, cycle_frequency, fee, by_user, unfilled_amount';
    expect(await rows(`SELECT ${shown} FROM dca_event ORDER BY "timestamp", outer_ix`)).toEqual([
      {
        kind: 'opened',
        owner: ANNA,
        input_mint: USDC,
        in_amount: null,
        out_amount: null,
        in_deposited: '100',
        in_amount_per_cycle: '10',
        cycle_frequency: '3600',
        fee: null,
        by_user: null,
        unfilled_amount: null,
      },
      {
        kind: 'deposit',
        owner: null,
        input_mint: null,
        in_amount: '100',
        out_amount: null,
        in_deposited: null,
        in_amount_per_cycle: null,
        cycle_frequency: null,
        fee: null,
        by_user: null,
        unfilled_amount: null,
      },
      {
        kind: 'fee',
        owner: ANNA,
        input_mint: null,
        in_amount: null,
        out_amount: null,
        in_deposited: null,
        in_amount_per_cycle: null,
        cycle_frequency: null,
        fee: '1',
        by_user: null,
        unfilled_amount: null,
      },
      {
        kind: 'filled',
        owner: ANNA,
        input_mint: USDC,
        in_amount: '10',
        out_amount: '40',
        in_deposited: null,
        in_amount_per_cycle: null,
        cycle_frequency: null,
        fee: '1',
        by_user: null,
        unfilled_amount: null,
      },
      {
        kind: 'withdraw',
        owner: null,
        input_mint: null,
        in_amount: '0',
        out_amount: '40',
        in_deposited: null,
        in_amount_per_cycle: null,
        cycle_frequency: null,
        fee: null,
        by_user: true,
        unfilled_amount: null,
      },
      {
        kind: 'closed',
        owner: ANNA,
        input_mint: USDC,
        in_amount: '90',
        out_amount: '40',
        in_deposited: '100',
        in_amount_per_cycle: '10',
        cycle_frequency: '3600',
        fee: null,
        by_user: true,
        unfilled_amount: '90',
      },
    ]);
  });
});
