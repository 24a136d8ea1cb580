import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { selectFields, toCsv, toNdjson } from '../../src/gateway/formats';

test('only the wanted fields stay, and every id', () => {
  const data = { condition_id: '0x1', question: 'Why?', trades: [{ tx_hash: 'a', price: 1, size: 2, wallet: 'w' }] };
  expect(selectFields(data, ['trades.price'])).toEqual({ condition_id: '0x1', trades: [{ tx_hash: 'a', wallet: 'w', price: 1 }] });
  for (const whole of [['trades'], ['trades.price', 'trades'], ['trades', 'trades.price']])
    expect(selectFields(data, whole)).toEqual({ condition_id: '0x1', trades: data.trades });
  for (const parts of [
    ['trades.price', 'trades.size'],
    ['trades.size', 'trades.price'],
  ])
    expect(selectFields(data, parts)).toEqual({ condition_id: '0x1', trades: [{ tx_hash: 'a', wallet: 'w', price: 1, size: 2 }] });
  // A name that begins as another one does is none of its parts.
  expect(selectFields({ price: 1, price_usd: 2, size: 3 }, ['price', 'price_usd'])).toEqual({ price: 1, price_usd: 2 });
});

test('of what is unknown a part is unknown as well', () =>
  expect(selectFields([{ profile: null, tags: ['a'] }], ['profile.tier', 'tags.name'])).toEqual([{ profile: null, tags: ['a'] }]));

test.each([
  [
    'condition_id',
    'token_id',
    'wallet',
    'trader',
    'owner',
    'coin',
    'pool_address',
    'position_address',
    'token',
    'tx_hash',
    'tx_id',
    'trade_id',
  ],
  ['rank', 'bucket', 'date', 'outcome'],
  ['Owner', 'PoolAddress', 'PositionAddress', 'TxId'],
])('a row is told from others by %s, whatever was asked for', (...ids) => {
  const row = Object.fromEntries(ids.map((name) => [name, name]));
  expect(selectFields([{ ...row, usd: 1, size: 2 }], ['usd'])).toEqual([{ ...row, usd: 1 }]);
});

test('native rows answer to either spelling', () => {
  const row = { Owner: 'o', PoolAddress: 'p', UsdTotal: 3, Timestamp: 't', AmountX: 1 };
  expect(selectFields([row], ['usd_total', 'AmountX'])).toEqual([{ Owner: 'o', PoolAddress: 'p', UsdTotal: 3, AmountX: 1 }]);
});

test('a native name is answered by rows of the other spelling too: one list may hold both', () => {
  const rows = [
    { Owner: 'o', UsdTotal: 3, AmountX: 1 },
    { owner: 'q', usd_total: 4, amount_a: 1 },
  ];
  expect(selectFields(rows, ['UsdTotal'])).toEqual([
    { Owner: 'o', UsdTotal: 3 },
    { owner: 'q', usd_total: 4 },
  ]);
});

test('csv can be read back: quotes, commas, line breaks, nested values', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ a: fc.string(), b: fc.oneof(fc.integer(), fc.constant(null)), c: fc.array(fc.integer()) }), { minLength: 1 }),
      (rows) => {
        const read = parse(toCsv(rows), { columns: true, relax_quotes: false, record_delimiter: '\r\n' }) as Record<string, string>[];
        expect(read).toEqual(rows.map((row) => ({ a: row.a, b: row.b === null ? '' : String(row.b), c: JSON.stringify(row.c) })));
      },
    ),
  );
});

test('a row without a column has an empty cell there', () => expect(toCsv([{ a: 1 }, { b: 2 }])).toBe('a,b\r\n1,\r\n,2\r\n'));

test('a row whose only cell is empty is no empty line: readers would pass over it', () =>
  expect(toCsv([{ a: 1 }, { a: null }])).toBe('a\r\n1\r\n""\r\n'));

test('what any reader may take for the end of a line stands in quotes', () =>
  expect(toCsv([{ a: 'x\ry' }, { a: 'x\ny' }])).toBe('a\r\n"x\ry"\r\n"x\ny"\r\n'));

test('ndjson is one value a line, of an answer that is no list one line', () => {
  expect(toNdjson([{ a: 1 }, { a: 'x\ny' }])).toBe('{"a":1}\n{"a":"x\\ny"}\n');
  expect(toNdjson({ a: [1, 2] })).toBe('{"a":[1,2]}\n');
});
