import fc from 'fast-check';
import { type Unit, tilesOf } from '../../../../src/venues/prediction/queries/tiles';

const LENGTHS: Record<Unit, number> = { day: 86_400_000, hour: 3_600_000, minute: 60_000 };
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
const units = fc.constantFrom<Unit[]>(['day', 'hour', 'minute'], ['day', 'hour'], ['hour', 'minute'], ['hour']);

describe('tiles of a stretch of time', () => {
  test('by hand: days in the middle, then hours, then minutes, and what a bound tears', () => {
    const { rolled, torn } = tilesOf([at('2026-01-01T22:30:10Z'), at('2026-01-04T01:02:00Z')], ['day', 'hour', 'minute']);
    expect(rolled.map(({ unit, from, to }) => `${unit} ${from.toISOString().slice(5, 16)} ${to.toISOString().slice(5, 16)}`)).toEqual([
      'day 01-02T00:00 01-04T00:00',
      'hour 01-01T23:00 01-02T00:00',
      'hour 01-04T00:00 01-04T01:00',
      'minute 01-01T22:31 01-01T23:00',
      'minute 01-04T01:00 01-04T01:02',
    ]);
    expect(torn.filter(({ from, to }) => from < to)).toEqual([{ from: at('2026-01-01T22:30:10Z'), to: at('2026-01-01T22:31:00Z') }]);
  });

  test('every instant is told once, in its part, by whole units; their number depends on the number of bounds alone', () => {
    fc.assert(
      fc.property(bounds, units, fc.array(instant, { minLength: 20, maxLength: 20 }), (given, chosen, asked) => {
        const { rolled, torn } = tilesOf(given, chosen);
        expect(rolled).toHaveLength((given.length - 1) * (2 * chosen.length - 1));
        expect(torn).toHaveLength(given.length);
        for (const { unit, from, to } of rolled.filter((tile) => tile.from < tile.to))
          expect([from.getTime() % LENGTHS[unit], to.getTime() % LENGTHS[unit]]).toEqual([0, 0]);
        const ends = [...rolled, ...torn].flatMap(({ from, to }) => [from.getTime() - 1, from.getTime(), to.getTime() - 1, to.getTime()]);
        for (const time of [...asked.map((one) => START + one), ...ends]) {
          const part = given.filter((bound) => bound.getTime() <= time).length;
          const inside = part > 0 && part < given.length;
          const holds = ({ from, to }: { from: Date; to: Date }): boolean => from.getTime() <= time && time < to.getTime();
          const [whole, edges] = [rolled.filter(holds), torn.filter(holds)];
          expect(whole.length + edges.length).toBe(inside ? 1 : 0);
          for (const tile of whole) expect(tile.part).toBe(part);
        }
      }),
      { numRuns: 400 },
    );
  });
});
