import fc from 'fast-check';
import { END } from '../../src/lib/timeframe';
import { type Unit, tilesOf } from '../../src/lib/tiles';

const LENGTHS: Record<Unit, number> = { day: 86_400_000, quarter: 21_600_000, hour: 3_600_000, bar: 900_000, minute: 60_000 };
const at = (text: string): Date => new Date(text);
const START = Date.parse('2026-01-01T00:00:00Z');

/** Instants from milliseconds to months apart, some on the edge of a unit. */
const instant = fc.oneof(
  fc.integer({ min: 0, max: 90 * 86_400_000 }),
  fc.integer({ min: 0, max: 7_200_000 }),
  fc.integer({ min: 0, max: 90 }).map((days) => days * 86_400_000),
  fc.integer({ min: 0, max: 200 }).map((hours) => hours * 3_600_000),
);
const bounds = fc.array(instant, { minLength: 2, maxLength: 4 }).map((times) => times.sort((a, b) => a - b).map((time) => new Date(START + time))); // prettier-ignore
const units = fc.constantFrom<Unit[]>(['day', 'hour', 'minute'], ['day', 'quarter', 'hour', 'bar'], ['hour', 'minute'], ['hour']);

const words = (bounds: readonly Date[], units: readonly Unit[]): string[] =>
  tilesOf(bounds, units)
    .filter(({ from, to }) => from < to)
    .map(({ unit, from, to, shares }) => {
      const [begin, end] = [from, to].map((time) => time.toISOString().slice(5, 19));
      return `${unit} ${begin} ${end} ${shares.map(({ part, sign }) => `${sign === 1 ? '+' : '-'}${part}`).join(' ')}`;
    });

describe('tiles of a stretch of time', () => {
  test('by hand: a bound is rounded to days, and what that adds or leaves out is told by shorter units; now is rounded up', () => {
    expect(words([at('2026-01-01T22:30:10Z'), at('2026-01-03T01:02:00Z'), at('2026-01-04T17:58:00Z')], ['day', 'quarter', 'hour'])).toEqual(
      [
        'day 01-02T00:00:00 01-03T00:00:00 +1',
        'day 01-03T00:00:00 01-05T00:00:00 +2',
        'hour 01-01T23:00:00 01-02T00:00:00 +1',
        'fact 01-01T22:30:10 01-01T23:00:00 +1',
        'hour 01-03T00:00:00 01-03T01:00:00 +1 -2',
        'fact 01-03T01:00:00 01-03T01:02:00 +1 -2',
        'quarter 01-04T18:00:00 01-05T00:00:00 -2',
        'fact 01-04T17:58:00 01-04T18:00:00 -2',
      ],
    );
  });

  test('by hand: since an instant is from now on, where nothing may have come', () => {
    expect(words([at('2026-01-03T01:02:00Z'), END], ['day', 'hour'])).toEqual([
      `day 01-04T00:00:00 01-01T00:00:00 +1`,
      'hour 01-03T02:00:00 01-04T00:00:00 +1',
      'fact 01-03T01:02:00 01-03T02:00:00 +1',
    ]);
  });

  test('every instant is counted once in its part, in others not at all, by whole units; their number and order depend on the number of bounds alone, and on whether the last is the end of time', () => {
    fc.assert(
      fc.property(bounds, fc.boolean(), units, fc.array(instant, { minLength: 20, maxLength: 20 }), (times, open, chosen, asked) => {
        const given = open ? [...times, END] : times;
        const tiles = tilesOf(given, chosen);
        const shapes = (all: typeof tiles): string[] => all.map(({ unit, shares }) => `${unit} ${shares.map(({ part }) => part).join()}`);
        const others = given.map((bound, index) => (bound === END ? END : new Date(START + index)));
        expect(shapes(tiles)).toEqual(shapes(tilesOf(others, chosen)));
        expect(tiles.length).toBe(given.length - 1 + times.length * chosen.length);
        for (const { unit, from, to } of tiles.filter((tile) => tile.from < tile.to && tile.unit !== 'fact'))
          expect([from.getTime() % LENGTHS[unit as Unit], to.getTime() % LENGTHS[unit as Unit]]).toEqual([0, 0]);
        const ends = tiles.flatMap(({ from, to }) => [from.getTime() - 1, from.getTime(), to.getTime() - 1, to.getTime()]);
        for (const time of [...asked.map((one) => START + one), ...ends]) {
          const counts = given.slice(1).map((_, index) => {
            const shares = tiles.filter(({ from, to }) => from.getTime() <= time && time < to.getTime()).flatMap((tile) => tile.shares);
            return shares.filter(({ part }) => part === index + 1).reduce((sum, { sign }) => sum + sign, 0);
          });
          const part = given.filter((bound) => bound.getTime() <= time).length;
          expect(counts).toEqual(given.slice(1).map((_, index) => (part === index + 1 ? 1 : 0)));
        }
      }),
      { numRuns: 400 },
    );
  });
});
