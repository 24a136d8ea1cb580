import fc from 'fast-check';
import { instantText } from '../../src/lib/instant-text';

test('writes what toISOString writes', () => {
  const dates = fc.date({ noInvalidDate: true });
  const near = fc.date({ min: new Date('2026-01-01T22:00:00Z'), max: new Date('2026-01-02T02:00:00Z'), noInvalidDate: true });
  fc.assert(
    fc.property(fc.oneof(dates, near), (at) => expect(instantText(at)).toBe(at.toISOString())),
    { numRuns: 2_000 },
  );
  for (const ms of [0, -1, 86_399_999, 86_400_000, 253_402_300_799_999, 253_402_300_800_000])
    expect(instantText(new Date(ms))).toBe(new Date(ms).toISOString());
  expect(() => instantText(new Date(Number.NaN))).toThrow(RangeError);
});
