import fc from 'fast-check';
import { decimalText } from '../../../../src/venues/prediction/sources/decimal-text';
import { type DataApiRow, decodeDataApiRow } from '../../../../src/venues/prediction/sources/data-api-row';
import { decodeInstant } from '../../../../src/venues/prediction/sources/instant';
import { NaturalKeys } from '../../../../src/venues/prediction/sources/natural-key';
import { settle } from '../../../../src/venues/prediction/sources/settlement';
import { NOW, trade } from '../small-world';

describe('decimals', () => {
  test.each([
    [315, '315'],
    ['315.0', '315'],
    ['0315.10', '315.1'],
    ['.5', '0.5'],
    ['5.', '5'],
    [1e-7, '0.0000001'],
    ['1.5e3', '1500'],
    ['12.345e-2', '0.12345'],
    [1e21, '1000000000000000000000'],
    ['-0.0', '0'],
    [-2.5, '-2.5'],
    [' 7 ', '7'],
    ['0.20999986769995105', '0.20999986769995105'],
  ])('%s is %s', (value, text) => {
    expect(decimalText(value)).toBe(text);
  });

  test.each([
    '',
    '.',
    '-',
    'e5',
    '1e9999',
    '0x10',
    '1,000',
    'NaN',
    'Infinity',
    Number.NaN,
    Number.POSITIVE_INFINITY,
    null,
    undefined,
    true,
    {},
  ])('%p is none', (value) => {
    expect(decimalText(value)).toBeUndefined();
  });

  test('keeps every number a number can be, and has one spelling for each', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const text = decimalText(value) as string;
        expect(Number(text)).toBe(value === 0 ? 0 : value);
        expect(text).toMatch(/^-?(0|[1-9]\d*)(\.\d*[1-9])?$/);
        expect(decimalText(text)).toBe(text);
        expect(decimalText(value.toExponential())).toBe(text);
      }),
    );
  });
});

describe('instants', () => {
  const iso = (value: unknown): string | undefined => decodeInstant(value)?.toISOString();

  test.each([
    [1_784_327_295, '2026-07-17T22:28:15.000Z'],
    ['1784327295', '2026-07-17T22:28:15.000Z'],
    ['2026-01-08 12:31:08', '2026-01-08T12:31:08.000Z'],
    ['2021-06-13 17:47:29+00', '2021-06-13T17:47:29.000Z'],
    ['2021-06-13 17:47:29+02', '2021-06-13T15:47:29.000Z'],
    ['2021-06-13T17:47:29-0530', '2021-06-13T23:17:29.000Z'],
    ['2026-03-11T20:29:13.356562Z', '2026-03-11T20:29:13.356Z'],
    ['2026-03-31T12:00:00Z', '2026-03-31T12:00:00.000Z'],
    ['2026-03-31', '2026-03-31T00:00:00.000Z'],
  ])('%s is %s', (value, expected) => {
    expect(iso(value)).toBe(expected);
  });

  test.each([
    1_784_327_295_000,
    0,
    -5,
    '1970-01-01T00:00:00Z',
    '2101-01-01T00:00:00Z',
    'yesterday',
    '2026-13-01 00:00:00',
    '',
    null,
    undefined,
    Number.NaN,
  ])('%p is none', (value) => {
    expect(iso(value)).toBeUndefined();
  });
});

describe('rows of the Data API', () => {
  const row = trade(1, 1, 0, 1, 'BUY', 315, 0.999, 10);
  const decode = (changes: Record<string, unknown>): unknown => decodeDataApiRow({ ...row, ...changes });

  test('a JSON row and the same row of a CSV export are the same', () => {
    const csv = Object.fromEntries(Object.entries({ ...row, size: '315.0', price: '0.9990' }).map(([key, value]) => [key, String(value)]));
    expect(decodeDataApiRow(csv)).toEqual(decodeDataApiRow(row));
    expect(decodeDataApiRow(row)).toMatchObject({ size: '315', price: '0.999', usdc_size: null, timestamp: new Date((NOW - 10) * 1_000) });
  });

  test('text without what no database keeps; an amount beyond all amounts is not stated', () => {
    expect(decode({ title: 'Will \0it?\0', outcome: 'Y\ud800', usdcSize: 1e300 })).toMatchObject({
      title: 'Will it?',
      outcome: 'Y\ufffd',
      usdc_size: null,
    });
  });

  test('capitals are lowered, unknown fields ignored, optional ones tolerated', () => {
    const { name, slug, eventSlug, outcomeIndex, transactionHash, title, ...least } = { ...row, name: 'x' } as Record<string, unknown>;
    expect([name, slug, eventSlug, outcomeIndex, transactionHash, title]).toHaveLength(6);
    expect(
      decodeDataApiRow({
        ...least,
        proxyWallet: (row.proxyWallet as string).toUpperCase().replace('0X', '0x'),
        side: 'buy',
        somethingNew: 1,
      }),
    ).toMatchObject({
      wallet: row.proxyWallet,
      side: 'BUY',
      tx_hash: null,
      title: null,
      slug: null,
      outcome: 'Yes',
      outcome_index: null,
    });
  });

  test.each([
    [{ proxyWallet: '0x12' }, 'bad_wallet'],
    [{ conditionId: '' }, 'bad_condition_id'],
    [{ asset: '0xabc' }, 'bad_token_id'],
    [{ asset: '' }, 'bad_token_id'],
    [{ side: '' }, 'bad_side'],
    [{ side: 'HOLD' }, 'bad_side'],
    [{ size: 0 }, 'bad_size'],
    [{ size: -1 }, 'bad_size'],
    [{ size: 1e300 }, 'bad_size'],
    [{ size: '1e400' }, 'bad_size'],
    [{ size: 'many' }, 'bad_size'],
    [{ price: 0 }, 'bad_price'],
    [{ price: 1.01 }, 'bad_price'],
    [{ price: null }, 'bad_price'],
    [{ timestamp: 'soon' }, 'bad_timestamp'],
    [{ timestamp: 1_784_327_295_000 }, 'bad_timestamp'],
    [{ type: 'REWARD', side: '', asset: '', conditionId: '' }, 'reward'],
    [{ type: 'TAKER_REBATE', side: '' }, 'taker_rebate'],
    [{ type: 'DEPOSIT' }, 'deposit'],
    [{ type: 'SOMETHING_NEW' }, 'unknown_type'],
  ])('%j is skipped as %s', (changes, skip) => {
    expect(decode(changes)).toEqual({ skip });
  });

  test('a record that is no object', () => {
    for (const record of [null, 1, 'x', []]) expect(decodeDataApiRow(record)).toEqual({ skip: 'not_an_object' });
  });

  test('a row with objects in the place of texts, or a price of endless digits, is skipped like any other', () => {
    const foreign = { toString: 1, valueOf: 1 };
    expect(decode({ proxyWallet: foreign })).toEqual({ skip: 'bad_wallet' });
    expect(decode({ conditionId: [foreign] })).toEqual({ skip: 'bad_condition_id' });
    expect(decode({ asset: foreign })).toEqual({ skip: 'bad_token_id' });
    expect(decode({ price: `0.${'3'.repeat(20_000)}` })).toEqual({ skip: 'bad_price' });
  });

  test('moves of shares have no token, price or outcome', () => {
    for (const type of ['REDEEM', 'SPLIT', 'MERGE', 'CONVERSION']) {
      expect(decode({ type, side: '', asset: '', price: 0, outcome: '', outcomeIndex: 999, usdcSize: 5, size: 5 })).toMatchObject({
        side: type,
        token_id: null,
        price: null,
        usdc_size: '5',
        outcome: null,
        outcome_index: null,
      });
    }
    expect(decode({ type: 'REDEEM', size: 0, usdcSize: 0 })).toMatchObject({ side: 'REDEEM', size: '0', usdc_size: '0' });
    expect(decode({ type: 'SPLIT', size: 0 })).toEqual({ skip: 'bad_size' });
  });

  test('whatever a record holds, decoding never throws', () => {
    const value = fc.anything();
    const record = fc.record(
      {
        proxyWallet: value,
        conditionId: value,
        asset: value,
        side: value,
        size: value,
        price: value,
        timestamp: value,
        type: fc.oneof(value, fc.constantFrom('TRADE', 'REDEEM', undefined)),
        outcomeIndex: value,
      },
      { requiredKeys: [] },
    );
    fc.assert(fc.property(record, (one) => expect(typeof decodeDataApiRow(one)).toBe('object')));
  });
});

describe('natural keys', () => {
  const decoded = (changes: Record<string, unknown> = {}): DataApiRow =>
    decodeDataApiRow({ ...trade(1, 1, 0, 1, 'BUY', 10, 0.5, 10), ...changes }) as DataApiRow;

  test('equal rows of one page are told apart by their number, whatever the order', () => {
    const one = new NaturalKeys();
    const ids = [decoded(), decoded(), decoded({ price: 0.6 }), decoded()].map((row) => one.idOf(row));
    expect(new Set(ids).size).toBe(4);
    const again = new NaturalKeys();
    const others = [decoded({ price: 0.6 }), decoded(), decoded(), decoded()].map((row) => again.idOf(row));
    expect(others.sort()).toEqual(ids.sort());
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
  });

  test('every part of the key counts; with a hash the time does not, without one it does', () => {
    const id = (changes: Record<string, unknown>): string => new NaturalKeys().idOf(decoded(changes));
    const all = [
      {},
      { price: 0.51 },
      { size: 11 },
      { side: 'SELL' },
      { asset: '999' },
      { proxyWallet: `0x${'9'.repeat(40)}` },
      { transactionHash: `0x${'9'.repeat(64)}` },
      { conditionId: `0x${'9'.repeat(64)}` },
    ];
    expect(new Set(all.map(id)).size).toBe(all.length);
    expect(id({ timestamp: NOW - 11 })).toBe(id({}));
    expect(id({ transactionHash: undefined, timestamp: NOW - 11 })).not.toBe(id({ transactionHash: undefined }));
  });
});

describe('settlement', () => {
  test.each<[string[], boolean, ReturnType<typeof settle>]>([
    [['1', '0'], false, { winner: 0, payouts: ['1', '0'] }],
    [['0', '1'], false, { winner: 1, payouts: ['0', '1'] }],
    [['0', '0', '1'], false, { winner: 2, payouts: ['0', '0', '1'] }],
    [['0.5', '0.5'], true, { winner: null, payouts: ['0.5', '0.5'] }],
    [['0.5', '0.5'], false, null],
    [['0.333333', '0.333333', '0.333333'], true, { winner: null, payouts: ['0.333333', '0.333333', '0.333333'] }],
    [['0.9999998', '0.0000002'], true, { winner: 0, payouts: ['1', '0'] }],
    [['0.9999998', '0.0000002'], false, null],
    [['0.995', '0.005'], true, null],
    [['0', '0'], true, null],
    [['0.25', '0.75'], true, null],
    [['1', '1'], false, null],
  ])('%j, final %s', (prices, final, expected) => {
    expect(settle(prices, final)).toEqual(expected);
  });
});
