import fc from 'fast-check';
import { quantile, seededIntegers } from '../../../../src/lib/statistics';
import { seededRandom } from '../../../support/random';
import {
  type Edge,
  type EndedPosition,
  edgeOf,
  eligiblePositions,
  forecasts,
  sumsByEvent,
} from '../../../../src/venues/prediction/scoring/evidence';
import { edgeInterval, randomizationP, seedOfEvents } from '../../../../src/venues/prediction/scoring/significance';
import { NOW, daysAgo, position, record } from './planted';

const weighed = (positions: readonly EndedPosition[]) => forecasts(eligiblePositions(positions, NOW), NOW);
const eventsOf = (positions: readonly EndedPosition[]) => sumsByEvent(weighed(positions));
const meanP = (positions: readonly EndedPosition[]): number => {
  const seeds = 60;
  let total = 0;
  for (let seed = 1; seed <= seeds; seed += 1) total += randomizationP(weighed(positions), seed);
  return total / seeds;
};

describe('chance of so large an edge at fair prices', () => {
  // scipy.stats.binom.sf(won − 1, n, e).
  test.each([
    [30, 21, 0.5, 0.021386972628533847],
    [30, 15, 0.5, 0.572232224047184],
    [30, 30, 0.9, 0.04239115827521624],
    [40, 38, 0.9, 0.22280812433940309],
    [50, 6, 0.05, 0.037776172989777285],
    [10, 9, 0.5, 0.0107421875],
    [3, 3, 0.5, 0.125],
    [10, 0, 0.5, 1],
  ])('%d bets, %d won at %d: the binomial tail', (n, won, e, tail) => {
    // 50 results as large know p to 14 %, the mean over 60 seeds to 2 %, with a bias of 2 %; where 999 draws end first, of 0.001.
    expect(Math.abs(meanP(record(n, won, { e })) - tail)).toBeLessThan(0.06 * tail + 0.0012);
  });

  test('positions of one event are won and lost as one', () => {
    // Two events of 15 coin flips each: both won is one in four, not one in 2³⁰.
    const two = [...record(15, 15, { event: 'a' }), ...record(15, 15, { event: 'b' })];
    expect(meanP(two)).toBeCloseTo(0.25, 1);
  });

  test('old positions weigh less here too', () => {
    // A recent win against ten losses of eight years ago: all that counts is one coin flip.
    expect(meanP([...record(10, 0, { closed_at: daysAgo(2900) }, 'old'), position({ event: 'new' })])).toBeCloseTo(0.5, 1);
  });

  test('draws are those of the generator, one after the other, up to the fiftieth as large', () => {
    const random = seededRandom(41);
    const told = Array.from({ length: 40 }, (_, wallet) => {
      const counted = weighed(
        Array.from({ length: 5 + wallet }, (_unused, index) => {
          const e = 0.1 + 0.8 * random();
          const y = random() < e + 0.2 ? 1 : 0;
          return position({ event: `event-${Math.floor(index / 2)}`, e, y, closed_at: daysAgo(300 * random()) });
        }),
      );
      const events = [...new Set(counted.map(({ event }) => event))];
      const seen = counted.reduce((sum, { y, weight }) => sum + weight * (y - 1e-9), 0);
      const fill = seededIntegers(wallet);
      const luck = new Uint32Array(events.length);
      let [reached, drawn] = [0, 0];
      while (reached < 50 && drawn < 999) {
        fill(luck);
        const won = counted.reduce(
          (sum, { event, e, weight }) => sum + ((luck[events.indexOf(event)] as number) < e * 2 ** 32 ? weight : 0),
          0,
        );
        drawn += 1;
        if (won >= seen) reached += 1;
      }
      const p = reached === 50 ? reached / drawn : (reached + 1) / 1000;
      expect(randomizationP(counted, wallet)).toBe(p);
      return drawn;
    });
    expect(told.some((drawn) => drawn < 999)).toBe(true);
    expect(told.some((drawn) => drawn === 999)).toBe(true);
  });

  test('what never happens by chance is one in a thousand, and nothing proves nothing', () => {
    expect(randomizationP(weighed(record(60, 60)), 3)).toBe(1 / 1000);
    expect(randomizationP([], 3)).toBe(1);
  });

  test('at fair prices it is below 5 % one time in twenty', () => {
    const random = seededRandom(99);
    const wallets = Array.from({ length: 1500 }, (_, wallet) =>
      Array.from({ length: 30 }, (_unused, index) => {
        const e = 0.05 + 0.88 * random();
        return position({ event: `${wallet}-${index}`, e, y: random() < e ? 1 : 0, closed_at: daysAgo(700 * random()) });
      }),
    );
    const below = wallets.filter((wallet) => randomizationP(weighed(wallet), seedOfEvents(eventsOf(wallet))) < 0.05).length;
    // Standard error 0.56 %.
    expect(below / wallets.length).toBeGreaterThan(0.033);
    expect(below / wallets.length).toBeLessThan(0.067);
  });
});

describe('interval of the edge', () => {
  const random = seededRandom(5);
  const clustered = Array.from({ length: 60 }, (_, index) =>
    position({
      event: `event-${Math.floor(index / 2)}`,
      e: 0.5,
      y: Math.floor(index / 2) % 3 === 0 ? 0 : 1,
      closed_at: daysAgo(300 * random()),
    }),
  );

  test('of resamples: agrees with a bootstrap written otherwise', () => {
    const events = eventsOf(clustered);
    const edge = edgeOf(events);
    if (!edge) throw new Error('nothing to score');
    expect(edge.is_floored).toBe(false);
    const means = Array.from({ length: 20_000 }, () => {
      const drawn = events.map(() => events[Math.floor(random() * events.length)] as (typeof events)[0]);
      return drawn.reduce((total, { value }) => total + value, 0) / drawn.reduce((total, { weight }) => total + weight, 0);
    });
    const [low, high] = edgeInterval(edge, events, 1);
    expect(Math.abs(low - (quantile(means, 0.05) as number))).toBeLessThan(0.25 * edge.se);
    expect(Math.abs(high - (quantile(means, 0.95) as number))).toBeLessThan(0.25 * edge.se);
  });

  test('the seed is that of the events: any order and any amounts, the same draws', () => {
    const shuffled = [...clustered].reverse().map((each) => ({ ...each, cost_usdc: 77 }));
    expect(seedOfEvents(eventsOf(shuffled))).toBe(seedOfEvents(eventsOf(clustered)));
    expect(seedOfEvents(eventsOf(clustered.slice(4)))).not.toBe(seedOfEvents(eventsOf(clustered)));
    expect(seedOfEvents(eventsOf([position({ event: 'ab' }), position({ event: 'c' })]))).not.toBe(
      seedOfEvents(eventsOf([position({ event: 'a' }), position({ event: 'bc' })])),
    );
  });

  test('a winning streak has an interval although its resamples are all alike', () => {
    const events = eventsOf(record(20, 20, { e: 0.8 }));
    const edge = edgeOf(events);
    if (!edge) throw new Error('nothing to score');
    // Student's t that 5 % exceed with 19 degrees of freedom.
    const half = 1.7293 * Math.sqrt(0.16 / 20);
    expect(edgeInterval(edge, events, 1)).toEqual([expect.closeTo(0.2 - half, 4), expect.closeTo(0.2 + half, 4)]);
  });

  // Five coin flips at a time that are won and lost as one; that of nine intervals in ten, the true edge of 0 is in.
  test.each([1, 2, 3, 5, 10, 30])('covers the edge in nine cases of ten with %d events', (count) => {
    const wallets = 600;
    let covered = 0;
    for (let wallet = 0; wallet < wallets; wallet += 1) {
      const events = eventsOf(
        Array.from({ length: count }, (_, event) => record(5, random() < 0.5 ? 5 : 0, { event: `${wallet}-${event}` })).flat(),
      );
      const [low, high] = edgeInterval(edgeOf(events) as Edge, events, seedOfEvents(events));
      if (low <= 0 && high >= 0) covered += 1;
    }
    // Wins of three events are 0 to 3 of 3: intervals of so few are too long or too short, never all right.
    expect(covered / wallets).toBeGreaterThan(count === 3 ? 0.7 : 0.85);
  });

  test('one event tells no interval but that of every edge there is', () => {
    const events = eventsOf(record(12, 12, { event: 'the only one' }));
    expect(edgeInterval(edgeOf(events) as Edge, events, 1)).toEqual([-1, 1]);
  });

  test('by the standard error it is above 0 just when z is proven', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 60 }), fc.double({ min: 0.5, max: 0.9, noNaN: true }), fc.nat(100), (count, e, won) => {
        const events = eventsOf(record(count, Math.round((won / 100) * count), { e }));
        const edge = edgeOf(events) as Edge;
        fc.pre(edge.is_floored);
        const [low, high] = edgeInterval(edge, events, 1);
        expect([low > 0, high < 0]).toEqual([edge.z > 1.645, edge.z < -1.645]);
      }),
    );
  });
});
