import { isoSecond } from '../../src/lib/time';

test.each([
  ['1969-12-31T23:59:59.999Z', '1969-12-31T23:59:59Z'],
  ['1970-01-01T00:00:00.000Z', '1970-01-01T00:00:00Z'],
  ['2026-02-28T23:59:59.001Z', '2026-02-28T23:59:59Z'],
  ['2026-03-01T00:00:00.000Z', '2026-03-01T00:00:00Z'],
  ['2026-03-01T09:08:07.999Z', '2026-03-01T09:08:07Z'],
])('%s is written %s', (instant, written) => expect(isoSecond(new Date(instant))).toBe(written));

test('what is no date is not written', () => expect(() => isoSecond(new Date(Number.NaN))).toThrow(RangeError));
