import { canonicalTimeframe, previousWindow, windowOf } from '../../src/lib/timeframe';
import { DCA_TIMEFRAMES } from '../../src/lib/timeframe';

const now = new Date('2026-03-10T15:30:00Z');

test.each([
  ['1d', '24h'],
  ['1Y', '365d'],
  ['TODAY', 'today'],
  ['7d', '7d'],
  ['2h', undefined],
  ['5m', undefined],
  ['toString', undefined],
])('%s is %s', (token, canonical) => expect(canonicalTimeframe(token)).toBe(canonical));

test('recurring orders know shorter windows', () => expect(canonicalTimeframe('5m', DCA_TIMEFRAMES)).toBe('5m'));

test('a window ends now; today starts at midnight UTC; the one before is of equal length', () => {
  expect(windowOf('24h', now)).toEqual({ from: new Date('2026-03-09T15:30:00Z'), to: now });
  expect(windowOf('today', now)).toEqual({ from: new Date('2026-03-10T00:00:00Z'), to: now });
  expect(previousWindow('7d', now)).toEqual({ from: new Date('2026-02-24T15:30:00Z'), to: new Date('2026-03-03T15:30:00Z') });
  expect(previousWindow('all', now)).toBeNull();
});
