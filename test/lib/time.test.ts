import { isoSecond } from '../../src/lib/time';

test.each([
  ['1969-12-31T23:59:59.999Z', '1969-12-31T23:59:59Z'],
  ['1970-01-01T00:00:00.000Z', '1970-01-01T00:00:00Z'],
  ['2026-02-28T23:59:59.001Z', '2026-02-28T23:59:59Z'],
  ['2026-03-01T00:00:00.000Z', '2026-03-01T00:00:00Z'],
  ['2026-03-01T09:08:07.999Z', '2026-03-01T09:08:07Z'],
  ['0097-10-11T12:34:56.000Z', '0097-10-11T12:34:56Z'],
  ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59Z'],
])('%s is written %s', (instant, written) => expect(isoSecond(new Date(instant))).toBe(written));

test('instants are written as the engine writes them', () => {
  // In steps that meet every month, day, hour, minute and second.
  for (let at = Date.UTC(2027, 11, 1); at < Date.UTC(2029, 0, 31); at += 3_607_001)
    expect(isoSecond(new Date(at))).toBe(`${new Date(at).toISOString().slice(0, 19)}Z`);
});

test('what is no date is not written', () => expect(() => isoSecond(new Date(Number.NaN))).toThrow(RangeError));
