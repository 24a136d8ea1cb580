import { bootstrapGroups, fnv1a, quantileOfSorted, seededRandom } from '../../../lib/statistics';
import type { Edge, EventSums, WeighedPosition } from './evidence';
import { S_PM } from './parameters';

/** Seed of whatever is drawn for these events: the same events, the same draws, on any machine and in any run. */
export const seedOfEvents = (events: readonly EventSums[]): number => events.reduce((seed, { event }) => fnv1a(`${event}\n`, seed), fnv1a(''));

/**
 * 90 % interval of the edge, [low, high]: 5 % and 95 % of a bootstrap over events. Where chance is the error (resamples of a
 * winning streak are all alike), and with so many events that both agree, it is edge ± 1.645 se.
 */
export function edgeInterval(edge: Edge, events: readonly EventSums[], seed: number): [number, number] {
  if (edge.is_floored || events.length > S_PM.bootstrap.max_events) {
    return [edge.edge - S_PM.significant_z * edge.se, edge.edge + S_PM.significant_z * edge.se];
  }
  const means = bootstrapGroups(events, S_PM.bootstrap.resamples, seed);
  return [quantileOfSorted(means, 0.05) as number, quantileOfSorted(means, 0.95) as number];
}

/**
 * Chance of so large an edge at fair prices: the sign of each y − e is drawn anew with the odds of its own price, won with
 * probability e. Positions of one event share a draw, which is the worst case of their dependence. Drawing stops at 50 results as large
 * (Besag and Clifford 1991) or at 999 draws. `positions` in the order of `eligiblePositions`; 0 < p <= 1, 1 of nothing.
 */
export function randomizationP(positions: readonly WeighedPosition[], seed: number): number {
  const { draws, enough } = S_PM.randomization;
  const isNewEvent = positions.map(({ event }, index) => event !== positions[index - 1]?.event);
  const weights = Float64Array.from(positions, ({ weight }) => weight);
  const prices = Float64Array.from(positions, ({ e }) => e);
  const weight = weights.reduce((total, each) => total + each, 0);
  // Σ w·y is compared, for Σ w·e is the same in every draw. What is as large but for rounding counts.
  const seen = positions.reduce((total, position) => total + position.weight * position.y, 0) - 1e-9 * weight;
  const random = seededRandom(seed);
  let reached = 0;
  for (let draw = 1; draw <= draws; draw += 1) {
    let [won, u] = [0, 0];
    for (let index = 0; index < weights.length; index += 1) {
      if (isNewEvent[index]) u = random();
      if (u < (prices[index] as number)) won += weights[index] as number;
    }
    if (won >= seen) reached += 1;
    if (reached === enough) return reached / draw;
  }
  return (reached + 1) / (draws + 1);
}
