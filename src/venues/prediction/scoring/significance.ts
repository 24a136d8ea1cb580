import { bootstrapGroups, clipSigned, fnv1a, quantileOfSorted, seededIntegers, sum, UINT32 } from '../../../lib/statistics';
import { studentEquivalent } from '../../../lib/student-t';
import type { Edge, EventSums, WeighedPosition } from './evidence';
import { S_PM } from './parameters';

/** Seed of whatever is drawn for these events: the same events, the same draws, on any machine and in any run. */
export const seedOfEvents = (events: readonly EventSums[]): number =>
  events.reduce((seed, { event }) => fnv1a(`${event}\n`, seed), fnv1a(''));

/** By number of events: looking for it is dear. */
const reaches = new Map<number, number>();

/** How many standard errors a bound of the 90 % interval is away when so many events told them: Student's t, as z is of the same error. */
function reachOf(events: number): number {
  const known = reaches.get(events);
  if (known !== undefined) return known;
  const reach = studentEquivalent(S_PM.significant_z, events - 1);
  reaches.set(events, reach);
  return reach;
}

/**
 * 90 % interval of the edge, [low, high], within −1..1: 5 % and 95 % of a bootstrap over events, whose distances from the edge grow as Student's t
 * does over the normal number, for few events know their spread badly. Where chance is the error (resamples of a winning streak are all alike), and
 * with so many events that both agree, it is edge ± t · se. One event tells nothing: every edge is in.
 */
export function edgeInterval({ edge, se, is_floored }: Edge, events: readonly EventSums[], seed: number): [number, number] {
  const reach = reachOf(events.length);
  if (is_floored || events.length > S_PM.bootstrap.max_events) return [clipSigned(edge - reach * se), clipSigned(edge + reach * se)];
  const means = bootstrapGroups(events, S_PM.bootstrap.resamples, seed);
  const bound = (q: number): number => clipSigned(edge + (reach / S_PM.significant_z) * ((quantileOfSorted(means, q) as number) - edge));
  return [bound(0.05), bound(0.95)];
}

/** Draws added up beside each other: sums that do not wait for one another take two thirds of the time. */
const BLOCK = 64;

/**
 * Chance of so large an edge at fair prices: the sign of each y − e is drawn anew with the odds of its own price, won with
 * probability e. Positions of one event share a draw, which is the worst case of their dependence. Drawing stops at 50 results as large
 * (Besag and Clifford 1991) or at 999 draws. `positions` in the order of `eligiblePositions`; 0 < p <= 1, 1 of nothing.
 */
export function randomizationP(positions: readonly WeighedPosition[], seed: number): number {
  const { draws, enough } = S_PM.randomization;
  const { weights, thresholds, eventOf, events } = columns(positions);
  // Σ w·y is compared, for Σ w·e is the same in every draw. What is as large but for rounding counts.
  const seen = sum(positions.map(({ y, weight }) => weight * (y - 1e-9)));
  const fill = seededIntegers(seed);
  const luck = new Uint32Array(events * BLOCK);
  const won = new Float64Array(BLOCK);
  let reached = 0;
  for (let drawn = 0; drawn < draws; drawn += BLOCK) {
    fill(luck);
    won.fill(0);
    for (let index = 0; index < weights.length; index += 1) {
      const [weight, threshold] = [weights[index] as number, thresholds[index] as number];
      for (let draw = 0, place = eventOf[index] as number; draw < BLOCK; draw += 1, place += events) {
        // Without a branch: a coin flip cannot be predicted, which costs the processor more than the product.
        won[draw] = (won[draw] as number) + weight * +((luck[place] as number) < threshold);
      }
    }
    for (let draw = 0; draw < BLOCK && drawn + draw < draws; draw += 1) {
      if ((won[draw] as number) >= seen) reached += 1;
      if (reached === enough) return reached / (drawn + draw + 1);
    }
  }
  return (reached + 1) / (draws + 1);
}

/** Positions as columns: weights, prices as parts of 2³², and the running number of each one's event. */
function columns(positions: readonly WeighedPosition[]) {
  let events = 0;
  const eventOf = Int32Array.from(positions, ({ event }, index) =>
    index > 0 && event !== positions[index - 1]?.event ? ++events : events,
  );
  return {
    weights: Float64Array.from(positions, ({ weight }) => weight),
    thresholds: Float64Array.from(positions, ({ e }) => e * UINT32),
    eventOf,
    events: events + 1,
  };
}
