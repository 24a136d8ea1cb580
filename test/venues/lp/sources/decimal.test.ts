import { addDecimals, negated, sumDecimals } from '../../../../src/venues/lp/sources/decimal';

test.each([
  [[], '0'],
  [['0.5'], '0.5'],
  [['1', '2.50', '-0.125'], '3.375'],
  [['0.1', '0.2', '-0.3'], '0.0'],
  [['-1.5', '1'], '-0.5'],
  [['1.5e-7', '1e3'], '1000.00000015'],
  [['12345678901234567890.1', '0.00000000000000000001'], '12345678901234567890.10000000000000000001'],
])('the sum of %j is %s', (values, sum) => expect(sumDecimals(values)).toBe(sum));

test('two at a time come to the same', () => {
  const values = Array.from({ length: 40 }, (_, i) => `${i % 3 === 0 ? '-' : ''}${i * 7919}.${'0'.repeat(i % 5)}${i * i + 1}`);
  expect(sumDecimals(values)).toBe(values.reduce((sum, value) => addDecimals(sum, value), '0'));
  expect(Number(sumDecimals([...values, negated(sumDecimals(values))]))).toBe(0);
});
