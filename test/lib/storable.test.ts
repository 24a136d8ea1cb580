import { LONGEST_TEXT, isAmount, storable } from '../../src/lib/storable';

test('text loses what PostgreSQL refuses, and nothing else', () => {
  expect(storable('USDC\0\0')).toBe('USDC');
  expect(storable('half \ud83d of one, \udc4d and the other')).toBe('half \ufffd of one, \ufffd and the other');
  expect(storable('whole \u{1f44d} é "')).toBe('whole \u{1f44d} é "');
});

test('text that no index would take is cut, and is whole characters still', () => {
  expect(storable('x'.repeat(3_000_000))).toBe('x'.repeat(LONGEST_TEXT));
  expect(storable(`${'x'.repeat(LONGEST_TEXT - 1)}\u{1f44d}`)).toBe(`${'x'.repeat(LONGEST_TEXT - 1)}\ufffd`);
});

test('an amount is not below zero, and near some number', () => {
  expect(['0', '0.000', '0e5', '12.5', '1e29', '1e-300'].filter((text) => !isAmount(text))).toEqual([]);
  expect(['-1', '1e30', '1e400', `1${'0'.repeat(400)}`, '1e-400', `0.${'3'.repeat(20_000)}`, 'NaN'].filter(isAmount)).toEqual([]);
});
