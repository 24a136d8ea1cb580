import { MINUTE_MS, wholeSecond } from './time';

/** Clocks of processes over one store differ by less. */
export const CLOCKS_DIFFER_MS = MINUTE_MS;

/** The now of analytics. Payments never use it: they keep the real clock. */
export interface Clock {
  now(): Date;
}

/** The second that lasts: what answers are as of, which tell instants by whole seconds. */
export const secondOf = (clock: Clock): Date => wholeSecond(clock.now());

export const realClock: Clock = { now: () => new Date() };

/** A clock that stands still, so that a recorded world is served as of its own last minute. */
export function standingClock(at: Date): Clock {
  return { now: () => new Date(at) };
}
