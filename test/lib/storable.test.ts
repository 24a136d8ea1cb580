import { isAmount, storable } from '../../src/lib/storable';

test('text loses what PostgreSQL refuses, and nothing else', () => {
  expect(storable('USDC\0\0')).toBe('USDC');
  expect(storable('half \ud83d of one, \udc4d and the other')).toBe('half \ufffd of one, \ufffd and the other');
  expect(storable('whole \u{1f44d} é "')).toBe('whole \u{1f44d} é "');
});

test('an amount is not below zero, and near some number', () => {
  expect(['0', '0.000', '0e5', '12.5', '1e29', '1e-300'].filter((text) => !isAmount(text))).toEqual([]);
  expect(['-1', '1e30', '1e400', `1${'0'.repeat(400)}`, '1e-400', 'NaN'].filter(isAmount)).toEqual([]);
});
