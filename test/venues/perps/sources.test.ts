import fc from 'fast-check';
import { rowCounts } from '../../../src/db/row-counts';
import { perps } from '../../../src/venues/perps/index';
import { testDatabase } from '../../support/database';
import { fixture, load, loadFile, match, trader, type TestDatabase, wireFill } from './support';

let db: TestDatabase;
beforeEach(async () => {
  db = await testDatabase();
});
afterEach(() => db.drop());

const [A, B, D, E] = ['a', 'b', 'd', 'e'].map(trader) as [string, string, string, string];
const rows = async (text: string): Promise<Record<string, unknown>[]> => (await db.pool.query<Record<string, unknown>>(text)).rows;

describe('fills by block', () => {
  test('both sides of each match become fills, the match itself is kept once, the rest is skipped with reasons', async () => {
    const report = await loadFile(db.pool, fixture('fills-by-block.ndjson'));
    expect(report).toEqual({
      source: 'perps.fills_by_block',
      read: 10,
      inserted: 5,
      duplicates: 0,
      skipped: { spot: 2, outcome: 1, bad_number: 1, bad_account: 1 },
    });
    expect(await rows('SELECT trader, coin, size::text, open_size::text, start_position::text, closed_pnl::text, fee_usd::text, is_taker, is_liquidation, dir, tx_hash FROM perp_fill ORDER BY timestamp, seq')).toEqual([
      { trader: A, coin: 'BTC', size: '0.5', open_size: '0.5', start_position: '0.0', closed_pnl: '0.0', fee_usd: '-0.96', is_taker: false, is_liquidation: false, dir: 'Open Short', tx_hash: `0x1f${'0'.repeat(61)}1` },
      { trader: B, coin: 'BTC', size: '0.5', open_size: '0.3', start_position: '-0.2', closed_pnl: '12.5', fee_usd: '14.4', is_taker: true, is_liquidation: false, dir: 'Short > Long', tx_hash: `0x1f${'0'.repeat(61)}1` },
      { trader: D, coin: 'xyz:CL', size: '10.0', open_size: '0', start_position: '10.0', closed_pnl: '-31.0', fee_usd: '0.2', is_taker: true, is_liquidation: true, dir: 'Close Long', tx_hash: null },
      { trader: A, coin: 'xyz:CL', size: '10.0', open_size: '10.0', start_position: '0.0', closed_pnl: '0.0', fee_usd: '0.1', is_taker: false, is_liquidation: false, dir: 'Open Long', tx_hash: null },
      { trader: E, coin: 'TIA', size: '50.0', open_size: '0', start_position: '50.0', closed_pnl: '3.0', fee_usd: '0.0', is_taker: null, is_liquidation: false, dir: 'Settlement', tx_hash: null },
    ]); // prettier-ignore
    expect(await rows('SELECT coin, tid::text, usd_value::float, taker_is_buy, is_liquidation FROM perp_match ORDER BY tid')).toEqual([
      { coin: 'BTC', tid: '501', usd_value: 32_000, taker_is_buy: true, is_liquidation: false },
      { coin: 'xyz:CL', tid: '502', usd_value: 682.5, taker_is_buy: false, is_liquidation: true },
    ]);
  });

  test('twice is once', async () => {
    await loadFile(db.pool, fixture('fills-by-block.ndjson'));
    const before = await rowCounts(db.pool, perps.factTables, 60_000);
    expect(await loadFile(db.pool, fixture('fills-by-block.ndjson'))).toMatchObject({ read: 10, inserted: 0, duplicates: 5 });
    expect(await rowCounts(db.pool, perps.factTables, 60_000)).toEqual(before);
  });

  test('the cursor says how far blocks were read, even without fills, and never moves back', async () => {
    await loadFile(db.pool, fixture('fills-by-block.ndjson'));
    const [cursor] = await rows('SELECT source, venue, cursor, watermark, last_event_at FROM source_cursor');
    const last = new Date(1_768_032_000_470);
    expect(cursor).toEqual({
      source: 'perps.fills_by_block',
      venue: 'perps',
      cursor: { page: 'fills-by-block.ndjson', block_number: 900_000_004 },
      watermark: last,
      last_event_at: last,
    });
    await load(db.pool, [{ block_time: '2026-01-10T09:00:00.000', block_number: 900_040_000, events: [] }]);
    await load(db.pool, [{ block_time: '2026-01-09T09:00:00.000', block_number: 899_000_000, events: [] }]);
    expect(await perps.freshness(db.pool)).toEqual({ last_event_at: last, watermark: new Date('2026-01-10T09:00:00Z') });
    expect(await rows("SELECT cursor->>'block_number' AS block FROM source_cursor")).toEqual([{ block: '900040000' }]);
  });

  test('a fill that is told twice otherwise stays as it was told first: on one page as on two', async () => {
    const told = (px: string): unknown => ({ block_time: '2026-01-15T00:00:00.000', block_number: 1, events: [[A, wireFill({ px })], [B, wireFill({ px: '7' })]] }); // prettier-ignore
    const prices = async (): Promise<unknown> =>
      (await rows('SELECT price::float FROM perp_fill ORDER BY trader')).map(({ price }) => price);
    expect(await load(db.pool, [told('100'), told('101')])).toMatchObject({ inserted: 2, duplicates: 2 });
    expect(await prices()).toEqual([100, 7]);
    await db.pool.query('TRUNCATE perp_fill, perp_match');
    for (const px of ['100', '101']) await load(db.pool, [told(px)]);
    expect(await prices()).toEqual([100, 7]);
  });

  test('fills of one account in one millisecond are ordered by their positions, whatever the order of the archive', async () => {
    const at = Date.UTC(2026, 0, 15);
    const fill = (tid: number, startPosition: string, sz: string): [string, unknown] => [
      A,
      wireFill({ tid, time: at, side: 'A', startPosition, sz }),
    ];
    await load(db.pool, [
      {
        block_time: '2026-01-15T00:00:00.000',
        block_number: 1,
        events: [fill(3, '0.30000000000000004', '0.3'), fill(1, '3.3', '1.0'), fill(2, '2.3', '2.0')],
      },
    ]);
    expect((await rows('SELECT tid::text, seq FROM perp_fill ORDER BY seq')).map(({ tid }) => tid)).toEqual(['1', '2', '3']);
  });

  test('a list that begins with its newest fill tells a millisecond backwards too, also where its fills would chain either way', async () => {
    const at = Date.UTC(2026, 0, 15);
    const fill = (tid: number, side: 'B' | 'A', startPosition: string, time = at): unknown => wireFill({ tid, side, startPosition, time });
    const fills = [fill(1, 'B', '0.0', at - 1), fill(2, 'A', '1.0', at - 1), fill(3, 'A', '0.0'), fill(4, 'B', '-1.0')];
    await load(db.pool, [{ channel: 'userFills', data: { user: A, fills: [...fills].reverse() } }]);
    expect((await rows('SELECT tid::text FROM perp_fill ORDER BY timestamp, seq')).map(({ tid }) => tid)).toEqual(['1', '2', '3', '4']);
    expect(await rows('SELECT is_long, opened_at = first_at AS opened FROM perp_round_trip ORDER BY closed_at')).toEqual([
      { is_long: true, opened: true },
      { is_long: false, opened: true },
    ]);
    // One account after the other, each forwards.
    const later = [fill(5, 'B', '0.0', at + 5), fill(6, 'A', '1.0', at + 5), fill(7, 'B', '0.0', at + 6)];
    const earlier = [fill(8, 'B', '0.0', at + 3), fill(9, 'A', '1.0', at + 3), fill(10, 'B', '0.0', at + 4)];
    await load(db.pool, [...later.map((own) => [A, own]), ...earlier.map((own) => [B, own])]);
    expect((await rows('SELECT tid::text FROM perp_fill WHERE tid > 4 ORDER BY timestamp, seq')).map(({ tid }) => tid)).toEqual([
      '8',
      '9',
      '10',
      '5',
      '6',
      '7',
    ]);
  });

  test('a fill that nearly equals the position closes it; one that dwarfs a speck of a position opens', async () => {
    const fill = (tid: number, startPosition: string, sz: string): [string, unknown] => [
      A,
      wireFill({ tid, side: 'A', startPosition, sz, time: Date.UTC(2026, 0, 15) + tid }),
    ];
    await load(db.pool, [
      {
        block_time: '2026-01-15T00:00:00.000',
        block_number: 1,
        events: [fill(1, '2.9999999999', '3.0'), fill(2, '0.0000000001', '3.0'), fill(3, '2.99', '3.0'), fill(4, '-1.0', '3.0')],
      },
    ]);
    expect((await rows('SELECT open_size::float AS opens FROM perp_fill ORDER BY tid')).map(({ opens }) => opens)).toEqual([0, 3, 0.01, 3]);
  });
});

describe('pages of one account', () => {
  const fills = [
    ['userFills answer', 'user-fills.json', A, { read: 4, inserted: 3, duplicates: 0, skipped: { spot: 1 } }],
    ['CSV export', 'user-fills.csv', A, { read: 3, inserted: 3, duplicates: 0, skipped: {} }],
    ['websocket envelopes', 'ws-user-fills.ndjson', undefined, { read: 4, inserted: 3, duplicates: 0, skipped: { malformed: 1 } }],
  ] as const;

  test.each(fills)('%s', async (_what, file, account, expected) => {
    expect(await loadFile(db.pool, fixture(file), account)).toEqual({ source: 'perps.user_fills', ...expected });
    expect(await rows('SELECT trader, tid::text, seq FROM perp_fill ORDER BY timestamp, seq')).toMatchObject([
      { trader: A, tid: '601' },
      { tid: '602' },
      { tid: '603' },
    ]);
  });

  test('all of them tell the same fills', async () => {
    for (const [, file, account] of fills) await loadFile(db.pool, fixture(file), account);
    expect(await loadFile(db.pool, fixture('node-fills.ndjson'))).toEqual({
      source: 'perps.node_fills',
      read: 2,
      inserted: 1,
      duplicates: 1,
      skipped: {},
    });
    expect(await rowCounts(db.pool, perps.factTables, 60_000)).toEqual({ perp_fill: 4, perp_match: 3, perp_coin: 1 });
  });

  test('fills of one millisecond are in the same order however pages cut them, or tell some again', async () => {
    const time = Date.UTC(2026, 0, 15);
    // Trade ids run against the order of the positions, so that they put nothing right.
    const fill = (n: number, coin: string, startPosition: string): Record<string, unknown> =>
      wireFill({ tid: 100 - n, oid: n, coin, time, startPosition, sz: '1', side: 'B' });
    const torn = [fill(1, 'BTC', '0'), fill(2, 'ETH', '5'), fill(3, 'BTC', '1'), fill(4, 'BTC', '2'), fill(5, 'ETH', '6')];
    const around = [
      { ...fill(6, 'BTC', '-1'), time: time - 1_000 },
      { ...fill(7, 'BTC', '3'), time: time + 1_000 },
    ];
    const all = [around[0], ...torn, around[1]];
    const pages: unknown[][][] = [[all]];
    for (const cut of [2, 3, 4, 5]) pages.push([all.slice(cut), all], [all.slice(0, cut), all]);
    for (const cut of [2, 3, 4, 5])
      for (const again of [0, 1, 2]) pages.push([all.slice(0, cut), all.slice(cut - again)], [all.slice(cut - again), all.slice(0, cut)]);
    const told: unknown[] = [];
    for (const cut of pages) {
      await db.pool.query('TRUNCATE perp_fill, perp_match, perp_round_trip, perp_trader_drawdown, perp_trader_coin_drawdown');
      for (const page of cut) await load(db.pool, page, { account: A });
      told.push((await rows('SELECT oid::int AS n FROM perp_fill ORDER BY timestamp, seq, coin, tid')).map(({ n }) => n));
    }
    expect(told).toEqual(pages.map(() => [6, 1, 2, 3, 4, 5, 7]));
  });

  test('so they are where their positions would chain either way: the end of the page tells at which they are', async () => {
    const time = Date.UTC(2026, 0, 15);
    const fill = (n: number, side: 'B' | 'A', startPosition: string, at: number): Record<string, unknown> =>
      wireFill({ tid: 100 - n, oid: n, time: time + at, startPosition, sz: '1', side });
    const all = [fill(1, 'A', '0', -1_000), fill(2, 'B', '-1', 0), fill(3, 'A', '0', 0), fill(4, 'B', '-1', 1_000)];
    const told: unknown[] = [];
    for (const cut of [[all], [all.slice(0, 2), all.slice(2)], [all.slice(2), all.slice(0, 2)]]) {
      await db.pool.query(
        'TRUNCATE perp_fill, perp_match, perp_round_trip, perp_position, perp_trader_drawdown, perp_trader_coin_drawdown',
      );
      for (const page of cut) await load(db.pool, page, { account: A });
      told.push(await rows('SELECT oid::int, (closed_at - first_at)::text AS held FROM perp_round_trip ORDER BY closed_at, oid'));
    }
    const trips = [
      { oid: 2, held: '00:00:01' },
      { oid: 4, held: '00:00:01' },
    ];
    expect(told).toEqual([trips, trips, trips]);
  });

  test('without an account nothing is guessed', async () => {
    expect(await loadFile(db.pool, fixture('user-fills.json'))).toMatchObject({
      read: 4,
      inserted: 0,
      skipped: { no_account: 3, spot: 1 },
    });
    expect(await load(db.pool, [{ channel: 'user', data: { fills: [wireFill({})] } }])).toMatchObject({
      inserted: 0,
      skipped: { no_account: 1 },
    });
    expect(await load(db.pool, [{ channel: 'user', data: { fills: [wireFill({})] } }], { account: B })).toMatchObject({ inserted: 1 });
  });

  test('a recorded exchange names its account; fills without trade ids load once, in chain order', async () => {
    expect(await loadFile(db.pool, fixture('exchange-2023.json'))).toEqual({
      source: 'perps.user_fills',
      read: 2,
      inserted: 2,
      duplicates: 0,
      skipped: {},
    });
    expect(await loadFile(db.pool, fixture('exchange-2023.json'))).toMatchObject({ inserted: 0, duplicates: 2 });
    expect((await rows('SELECT start_position::float AS start FROM perp_fill ORDER BY seq')).map(({ start }) => start)).toEqual([
      285.4, 142.7,
    ]);
  });

  test('records without trade ids: a match counts once, whichever of its sides come first, and of equal ones each', async () => {
    const fill = (fields: Record<string, unknown>): Record<string, unknown> =>
      wireFill({ px: '100.0', sz: '2', ...fields, tid: undefined, feeToken: undefined, twapId: undefined });
    // In one transaction A takes the same from B and from D; in another one E takes it of which the other side is not on record.
    const [taken, given] = [{ side: 'B' }, { side: 'A', crossed: false, px: '100', dir: 'Liquidated Cross Long' }];
    const sides: [string, Record<string, unknown>][] = [
      [A, fill({ ...taken, oid: 1 })],
      [A, fill({ ...taken, oid: 1, startPosition: '2' })],
      [B, fill({ ...given, oid: 2, startPosition: '2' })],
      [D, fill({ ...given, oid: 3, startPosition: '2' })],
      [E, fill({ ...taken, oid: 4, hash: '0x77' })],
    ];
    const one = (places: readonly number[]): unknown[] => places.map((place) => sides[place]);
    const told = (): Promise<unknown> =>
      rows('SELECT volume_usd::float AS usd, matches, bought_usd::float AS bought, liquidated_usd::float AS liquidated FROM perp_coin_day');
    for (const pages of [[[0, 1, 2, 3, 4]], [[3, 2, 4, 1, 0]], [[0, 1], [2], [3], [4]], [[4, 3], [2], [1], [0]], [[2], [1], [3, 4], [0]]]) {
      await db.pool.query(
        'TRUNCATE perp_fill, perp_match, perp_coin_day, perp_coin_hour, perp_coin_month, perp_coin_quarter, perp_coin_bar, perp_volume_hour',
      );
      for (const page of pages) await load(db.pool, one(page));
      expect([pages, await told()]).toEqual([pages, [{ usd: 600, matches: 3, bought: 600, liquidated: 400 }]]);
      for (const page of pages) expect(await load(db.pool, one(page))).toMatchObject({ inserted: 0 });
      expect([pages, await told()]).toEqual([pages, [{ usd: 600, matches: 3, bought: 600, liquidated: 400 }]]);
    }
    // Nothing says that these are sides of one match.
    await load(db.pool, [
      [A, fill({ hash: null, coin: 'ETH' })],
      [B, fill({ hash: null, coin: 'ETH', side: 'A' })],
    ]);
    expect(await rows("SELECT matches FROM perp_coin_day WHERE coin = 'ETH'")).toEqual([{ matches: 2 }]);
  });

  test('merged partial fills are refused', async () => {
    const exchange = { request: { body: { type: 'userFills', user: A, aggregateByTime: true } }, response: [wireFill({})] };
    expect(await load(db.pool, [exchange])).toMatchObject({ read: 1, inserted: 0, skipped: { aggregated: 1 } });
  });

  test('a recorded websocket begins with what was subscribed to: merged partial fills are refused there too', async () => {
    const answer = (user: string, options: object): unknown => ({ channel: 'subscriptionResponse', data: { method: 'subscribe', subscription: { type: 'userFills', user, ...options } } }); // prettier-ignore
    const told = (user: string, tid: number): unknown => ({
      channel: 'userFills',
      data: { user, isSnapshot: true, fills: [wireFill({ tid })] },
    });
    const session = [answer(A, {}), answer(B.toUpperCase().replace('X', 'x'), { aggregateByTime: true }), told(B, 1), told(A, 2)];
    expect(await load(db.pool, session)).toEqual({
      source: 'perps.user_fills',
      read: 2,
      inserted: 1,
      duplicates: 0,
      skipped: { aggregated: 1 },
    });
    expect(await rows('SELECT trader FROM perp_fill')).toEqual([{ trader: A }]);
  });

  test('slices of a TWAP order are unwrapped', async () => {
    expect(
      await load(db.pool, [{ fill: wireFill({ hash: `0x${'0'.repeat(64)}` }), twapId: 3156 }], { account: A, format: 'json' }),
    ).toMatchObject({ source: 'perps.user_fills', inserted: 1 });
  });

  test('sides seen one after the other make one match, and who took is learned from either', async () => {
    const both = match(new Date('2026-01-15T00:00:00Z'), {
      px: '100',
      sz: '2',
      side: 'A',
      taker: [B, '0.0', { liquidation: { liquidatedUser: B } }],
      maker: [A, '0.0'],
    });
    const [maker, taker] = both.events as [string, Record<string, unknown>][];
    await load(db.pool, [{ channel: 'userFills', data: { user: A, fills: [{ ...(maker as [string, object])[1], crossed: undefined }] } }]);
    expect(await rows('SELECT taker_is_buy, is_liquidation FROM perp_match')).toEqual([{ taker_is_buy: null, is_liquidation: false }]);
    await load(db.pool, [{ channel: 'userFills', data: { user: B, fills: [(taker as [string, object])[1]] } }]);
    expect(await rows('SELECT usd_value::float, taker_is_buy, is_liquidation FROM perp_match')).toEqual([
      { usd_value: 200, taker_is_buy: false, is_liquidation: true },
    ]);
  });
});

describe('the catalogue', () => {
  test('a coin is a fact; said again it is a duplicate, said differently it is new', async () => {
    expect(await loadFile(db.pool, fixture('meta.json'))).toEqual({
      source: 'perps.meta',
      read: 4,
      inserted: 3,
      duplicates: 0,
      skipped: { bad_coin: 1 },
    });
    expect(await loadFile(db.pool, fixture('meta.json'))).toMatchObject({ inserted: 0, duplicates: 3 });
    expect(
      await load(db.pool, [{ universe: [{ name: 'BTC', szDecimals: 5, maxLeverage: 40, isDelisted: true }] }, [{ markPx: '1' }]], {
        format: 'json',
      }),
    ).toMatchObject({ read: 1, inserted: 1 });
    expect(
      await rows(
        "SELECT coin, lookup, sz_decimals, max_leverage, only_isolated, is_delisted FROM perp_coin WHERE coin <> 'TIA' ORDER BY coin",
      ),
    ).toEqual([
      { coin: 'BTC', lookup: 'BTC', sz_decimals: 5, max_leverage: 40, only_isolated: false, is_delisted: true },
      { coin: 'kPEPE', lookup: 'KPEPE', sz_decimals: 0, max_leverage: 10, only_isolated: false, is_delisted: false },
    ]);
  });

  test('numbers may be written as text; what is wrapped in thousands of lists is no catalogue', async () => {
    expect(await load(db.pool, [{ universe: [{ name: 'BTC', szDecimals: '5', maxLeverage: '40' }] }], { format: 'json' })).toMatchObject({ inserted: 1 }); // prettier-ignore
    expect(await rows('SELECT sz_decimals, max_leverage FROM perp_coin')).toEqual([{ sz_decimals: 5, max_leverage: 40 }]);
    const deep = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`) as unknown;
    await expect(load(db.pool, [deep], { format: 'json' })).rejects.toThrow('Not recognised');
  });

  test('fills and catalogue complete each other in either order', async () => {
    const early = match(new Date('2026-01-02T00:00:00Z'), { px: '100', sz: '2', side: 'A', taker: [B, '0.0'], maker: [A, '0.0'] });
    const late = match(new Date('2026-01-03T00:00:00Z'), { px: '100', sz: '2', side: 'A', taker: [B, '0.0'], maker: [A, '0.0'] });
    await load(db.pool, [late]);
    await loadFile(db.pool, fixture('meta.json'));
    await load(db.pool, [early]);
    expect(await rows("SELECT sz_decimals, first_seen FROM perp_coin WHERE coin = 'BTC'")).toEqual([
      { sz_decimals: 5, first_seen: new Date('2026-01-02T00:00:00Z') },
    ]);
  });
});

test.each([
  [
    'trades of a coin',
    [{ coin: 'BTC', side: 'A', px: '104320.0', sz: '0.015', hash: '0x03', time: 1_769_916_002_000, tid: 300_003, users: [A, B] }],
  ],
  ['a spot catalogue', [{ universe: [{ name: '@1', tokens: [1, 0], index: 1 }], tokens: [] }]],
  ['an order book', [{ channel: 'l2Book', data: { coin: 'BTC', levels: [[], []] } }]],
  ['a text', ['fills']],
  ['numbers', [1]],
])('%s is not taken for anything of ours', async (_what, records) => {
  await expect(load(db.pool, records, { format: 'json' })).rejects.toThrow('Not recognised');
});

test('judging a page never throws', () => {
  const shapes = fc.oneof(
    fc.anything(),
    fc.record({
      block_time: fc.anything(),
      events: fc.anything(),
      request: fc.anything(),
      response: fc.anything(),
      channel: fc.constantFrom('user', 'userFills'),
      data: fc.anything(),
      universe: fc.anything(),
    }),
  );
  fc.assert(
    fc.property(shapes, (first) =>
      perps.sources.every((source) => typeof source.recognises(first, { name: 'x', format: 'json' }) === 'boolean'),
    ),
    { numRuns: 2_000 },
  );
});
