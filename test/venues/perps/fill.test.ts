import fc from 'fast-check';
import { decodeFill, decodeTime, type Fill } from '../../../src/venues/perps/sources/fill';
import { trader, wireFill } from './support';

const A = trader('a');

describe('a fill of the upstream', () => {
  test('keeps every decimal as text', () => {
    const raw = wireFill({
      px: '0.010573',
      sz: '200000.0',
      startPosition: '-23071.0',
      closedPnl: '-0.207639',
      fee: '-0.021146',
      tid: 905_837_605_365_806,
      oid: 214_107_588_995,
    });
    expect(decodeFill(A.toUpperCase().replace('X', 'x'), raw)).toEqual({
      coin: 'BTC', trader: A, tid: '905837605365806', oid: '214107588995', time: Date.UTC(2026, 0, 15), is_buy: true, price: '0.010573', size: '200000.0',
      start_position: '-23071.0', closed_pnl: '-0.207639', fee_usd: '-0.021146', is_taker: true, is_liquidation: false, liquidates: false,
      dir: 'Open Long', tx_hash: `0x${'ab'.repeat(32)}`,
    }); // prettier-ignore
  });

  test('a label without what no database keeps', () => {
    expect(decodeFill(A, wireFill({ dir: 'Open\0 Long\ud800' }))).toMatchObject({ dir: 'Open Long\ufffd' });
  });

  test.each([
    ['no object', 'text', 'malformed'],
    ['no coin', wireFill({ coin: undefined }), 'malformed'],
    ['a spot pair by index', wireFill({ coin: '@107', dir: 'Buy' }), 'spot'],
    ['a spot pair by name', wireFill({ coin: 'PURR/USDC' }), 'spot'],
    ['a dust conversion', wireFill({ dir: 'Spot Dust Conversion' }), 'spot'],
    ['an outcome', wireFill({ coin: '#120', dir: 'Buy' }), 'outcome'],
    ['a coin that is none', wireFill({ coin: 'B T C' }), 'bad_coin'],
    ['a side that is none', wireFill({ side: 'buy' }), 'bad_side'],
    ['a price that is none', wireFill({ px: 'NaN' }), 'bad_number'],
    ['a price of nothing', wireFill({ px: '0.0' }), 'bad_number'],
    ['a size of nothing', wireFill({ sz: '0' }), 'bad_number'],
    ['a position that is missing', wireFill({ startPosition: undefined }), 'bad_number'],
    ['a price beyond all prices', wireFill({ px: '1e99' }), 'bad_number'],
    ['a size beyond all sizes', wireFill({ sz: '1e30' }), 'bad_number'],
    ['a loss beyond all losses', wireFill({ closedPnl: '-1e99' }), 'bad_number'],
    ['a position beyond all positions', wireFill({ startPosition: `-${'9'.repeat(30)}e9` }), 'bad_number'],
    ['seconds instead of milliseconds', wireFill({ time: 1_768_032_000 }), 'bad_time'],
    ['a day that is none', wireFill({ time: '2026-13-01 00:00:00' }), 'bad_time'],
  ])('%s is skipped, with the reason', (_what, raw, reason) => {
    expect(decodeFill(A, raw)).toBe(reason);
  });

  test('needs an account', () => {
    expect(decodeFill(undefined, wireFill({}))).toBe('no_account');
    expect(decodeFill('0x12', wireFill({}))).toBe('bad_account');
  });

  test('of 2023 lacks fields: they are unknown, and a trade id is derived', () => {
    const old = wireFill({ tid: undefined, feeToken: undefined, twapId: undefined, crossed: undefined, oid: undefined });
    const decoded = decodeFill(A, old) as Fill;
    expect(decoded).toMatchObject({ is_taker: null, fee_usd: '0.0', oid: '0' });
    expect(BigInt(decoded.tid)).toBeLessThan(0n);
    expect(decodeFill(A, { ...old, px: '100.00' })).toMatchObject({ tid: decoded.tid });
    for (const other of [{ px: '100.1' }, { startPosition: '1.0' }, { time: Date.UTC(2026, 0, 16) }, { side: 'A' }, { hash: '0x01' }]) {
      expect((decodeFill(A, { ...old, ...other }) as Fill).tid).not.toBe(decoded.tid);
    }
    expect((decodeFill(trader('b'), old) as Fill).tid).not.toBe(decoded.tid);
  });

  test('flags the account that is forced out, and tells the other side that its match did it', () => {
    const liquidation = { liquidatedUser: A, markPx: '100', method: 'market' };
    expect(decodeFill(A, wireFill({ liquidation }))).toMatchObject({ is_liquidation: true, liquidates: true });
    expect(decodeFill(trader('b'), wireFill({ liquidation }))).toMatchObject({ is_liquidation: false, liquidates: true });
    expect(decodeFill(A, wireFill({ dir: 'Auto-Deleveraging' }))).toMatchObject({ is_liquidation: true, liquidates: true });
    expect(decodeFill(A, wireFill({ dir: 'Liquidated Cross Long', side: 'A' }))).toMatchObject({ is_liquidation: true, liquidates: true });
    expect(decodeFill(A, wireFill({ dir: 'Liquidated Isolated Short' }))).toMatchObject({ is_liquidation: true, liquidates: true });
  });

  test('does not flag who takes a liquidated position over, whose fill has the same label', () => {
    const taken = { dir: 'Liquidated Cross Long', liquidation: { liquidatedUser: A, markPx: '100', method: 'backstop' } };
    expect(decodeFill(A, wireFill({ ...taken, side: 'A' }))).toMatchObject({ is_liquidation: true, liquidates: true });
    expect(decodeFill(trader('b'), wireFill(taken))).toMatchObject({ is_liquidation: false, liquidates: true });
    // Old records lack whom it was.
    expect(decodeFill(trader('b'), wireFill({ dir: taken.dir }))).toMatchObject({ is_liquidation: false, liquidates: true });
    expect(decodeFill(trader('b'), wireFill({ dir: 'Liquidated Cross Short', side: 'A' }))).toMatchObject({
      is_liquidation: false,
      liquidates: true,
    });
  });

  test('a fee that is not in dollars is unknown in dollars', () => {
    expect(decodeFill(A, wireFill({ fee: '0.5', feeToken: 'HYPE' }))).toMatchObject({ fee_usd: null });
    expect(decodeFill(A, wireFill({ fee: '0.5', feeToken: 'USDT0' }))).toMatchObject({ fee_usd: '0.5' });
  });

  test('objects in the place of texts say nothing', () => {
    const foreign = { toString: 1, valueOf: 1 };
    expect(decodeFill(A, wireFill({ fee: '0.5', feeToken: foreign, crossed: foreign }))).toMatchObject({ fee_usd: null, is_taker: null });
  });

  test('cells of a CSV are read like JSON', () => {
    const cells = {
      crossed: 'False',
      tid: '902833158029868',
      oid: '263739989715',
      time: '2025-12-09 16:22:29.316',
      closedPnl: '1e-05',
      hash: `0x${'0'.repeat(64)}`,
      twapId: '',
    };
    expect(decodeFill(A, wireFill(cells))).toMatchObject({
      is_taker: false,
      tid: '902833158029868',
      oid: '263739989715',
      time: Date.UTC(2025, 11, 9, 16, 22, 29, 316),
      closed_pnl: '1e-05',
      tx_hash: null,
    });
  });

  test('whatever comes, decoding answers and never throws', () => {
    const anything = fc.oneof(
      fc.anything(),
      fc.record({
        coin: fc.constantFrom('BTC', '@1', 'x'),
        px: fc.anything(),
        sz: fc.anything(),
        side: fc.anything(),
        time: fc.anything(),
        startPosition: fc.anything(),
        closedPnl: fc.anything(),
        liquidation: fc.anything(),
      }),
    );
    fc.assert(
      fc.property(fc.option(fc.string(), { nil: undefined }), anything, (account, raw) =>
        ['string', 'object'].includes(typeof decodeFill(account, raw)),
      ),
      { numRuns: 2_000 },
    );
  });
});

test('times: milliseconds, digits, and UTC texts with any fraction', () => {
  const at = Date.UTC(2025, 9, 27, 16, 59, 59, 797);
  for (const text of [at, String(at), '2025-10-27T16:59:59.797563798', '2025-10-27 16:59:59.797', '2025-10-27T16:59:59.797Z'])
    expect(decodeTime(text)).toBe(at);
  expect(decodeTime('2025-10-27 16:59:59')).toBe(at - 797);
  expect(decodeTime('2025-10-27 16:59:59.7')).toBe(at - 97);
  for (const bad of ['', 'now', null, 1.5, Number.NaN, '27-10-2025 16:59', Date.UTC(2017, 0), Date.UTC(2100, 0)])
    expect(decodeTime(bad)).toBeUndefined();
});
