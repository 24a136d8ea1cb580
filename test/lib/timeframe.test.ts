import {
  BEGINNING,
  DCA_TIMEFRAMES,
  canonicalTimeframe,
  isLongest,
  isTold,
  lengthOf,
  longestOf,
  previousWindow,
  windowOf,
  withShorter,
} from '../../src/lib/timeframe';

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

test('every window reaches back by its name', () => {
  const minute = 60;
  const [hour, day] = [60 * minute, 1_440 * minute];
  const seconds = [minute, 5 * minute, 30 * minute, hour, 4 * hour, 6 * hour, 12 * hour, day, day, 7 * day, 30 * day, 90 * day, 365 * day];
  expect(DCA_TIMEFRAMES.map(lengthOf)).toEqual([...seconds, Infinity]);
  expect(windowOf('90d', now).from).toEqual(new Date(now.getTime() - 90 * day * 1_000));
  expect(windowOf('all', now)).toEqual({ from: BEGINNING, to: now });
});

test('a window with the two next shorter ones; the longest of several, today being no longer than a day', () => {
  expect([withShorter('30d'), withShorter('4h'), withShorter('1h')]).toEqual([['24h', '7d', '30d'], ['1h', '4h'], ['1h']]); // prettier-ignore
  expect([longestOf(['24h', 'today']), longestOf(['today', '24h']), longestOf(['all', '365d'])]).toEqual(['24h', '24h', 'all']);
  expect([isLongest('today', ['today', '24h']), isLongest('24h', ['24h', '7d']), isLongest('7d', ['24h'])]).toEqual([true, false, false]);
});

test('an upstream tells of instants from 2018 on and before 2100', () => {
  const instants = ['2017-12-31T23:59:59.999Z', '2018-01-01T00:00:00Z', '2099-12-31T23:59:59.999Z', '2100-01-01T00:00:00Z'];
  expect(instants.map((instant) => isTold(Date.parse(instant)))).toEqual([false, true, true, false]);
  expect(isTold(NaN)).toBe(false);
});
