import fc from 'fast-check';
import { amountsOf } from '../../../src/venues/perps/sources/amounts';
import { testDatabase } from '../../support/database';
import type { TestDatabase } from './support';

const of = (price: string, size: string, start_position: string, is_buy: boolean): ReturnType<typeof amountsOf> =>
  amountsOf({ price, size, start_position, is_buy });

test.each([
  ['from flat', ['100', '2.50', '0.0', true], { usd_value: '250.00', open_size: '2.50' }],
  ['more of a long', ['0.5', '3', '1.0', true], { usd_value: '1.5', open_size: '3' }],
  ['less of a long', ['0.5', '3', '4.0', false], { usd_value: '1.5', open_size: '0' }],
  ['all of a short', ['2', '4.0', '-4', true], { usd_value: '8.0', open_size: '0' }],
  ['a flip', ['2', '4.5', '-4.00', true], { usd_value: '9.0', open_size: '0.50' }],
  ['closed but for noise', ['1', '3.0', '2.9999999999', false], { usd_value: '3.0', open_size: '0' }],
  ['flat but for noise', ['1', '3.0', '0.0000000001', false], { usd_value: '3.0', open_size: '3.0' }],
  ['exponents', ['1.5e-3', '2E2', '-1e2', true], { usd_value: '0.3000', open_size: '100' }],
] as const)('%s', (_what, [price, size, start, is_buy], expected) => {
  expect(of(price, size, start, is_buy)).toEqual(expected);
});

describe('beside numeric', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await testDatabase();
  });
  afterAll(() => db.drop());

  const digits = fc.tuple(fc.bigInt(1n, 10n ** 15n), fc.integer({ min: 0, max: 12 }), fc.integer({ min: -9, max: 9 }));
  const decimal = digits.map(([whole, scale, exponent]) => {
    const text = whole.toString().padStart(scale + 1, '0');
    const plain = scale === 0 ? text : `${text.slice(0, -scale)}.${text.slice(-scale)}`;
    return exponent < -6 || exponent > 6 ? `${plain}e${exponent}` : plain;
  });
  // Positions near the size, on either side of where noise ends.
  const near = fc.tuple(decimal, fc.constantFrom('0', '1e-10', '1e-9', '1.1e-9', '0.5', '-1e-10', '-1e-9', '-1.1e-9', '-0.5', '-1'));

  test('to the last digit, zeros that end it included', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ price: decimal, near, sign: fc.constantFrom('', '-'), is_buy: fc.boolean() }), {
          minLength: 20,
          maxLength: 40,
        }),
        async (cases) => {
          const { rows } = await db.pool.query<{ price: string; size: string; start: string }>(
            `SELECT price, size, sign || (size::numeric * (1 + share::numeric))::text AS start
           FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS c(price, size, share, sign)`,
            [
              cases.map(({ price }) => price),
              cases.map((one) => one.near[0]),
              cases.map((one) => one.near[1]),
              cases.map(({ sign }) => sign),
            ],
          );
          const { rows: expected } = await db.pool.query<{ usd_value: string; open_size: string }>(
            `SELECT (price * size)::text AS usd_value, (CASE WHEN start = 0 OR (start > 0) = is_buy OR abs(start) <= 1e-9 * size THEN size_text
             WHEN abs(size - abs(start)) <= 1e-9 * greatest(size, abs(start)) OR size < abs(start) THEN '0' ELSE (size - abs(start))::text END) AS open_size
           FROM (SELECT price::numeric, size::numeric, size AS size_text, start::numeric, is_buy FROM unnest($1::text[], $2::text[], $3::text[], $4::boolean[]) AS c(price, size, start, is_buy)) c`,
            [
              rows.map(({ price }) => price),
              rows.map(({ size }) => size),
              rows.map(({ start }) => start),
              cases.map(({ is_buy }) => is_buy),
            ],
          );
          expect(rows.map(({ price, size, start }, index) => of(price, size, start, (cases[index] as { is_buy: boolean }).is_buy))).toEqual(
            expected,
          );
        },
      ),
      { numRuns: 60 },
    );
  });
});
