import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lib/time';
import { randomOf } from '../world';
import { MAJORS } from './coins';
import { type Account, type Role, type Roster, addressOf } from './roster';
import type { Session } from './span';
import { STYLES, type Style, type Trip, between, exponential, makeTrip } from './trips';

/** Accounts that are lucky once are other accounts every 30 days. */
const GENERATION = 30 * DAY_MS;

/** Leavers are spread over the wind-down, so that its end is quiet. */
export const latestExit = (session: Session, random: () => number): number =>
  session.wind_down + (session.to - session.wind_down) * (0.05 + 0.85 * random());

/** An account that lives in one session, and what it does there. */
export interface Planted {
  account: Account;
  trips: Trip[];
}

export function newcomers(seed: number, roster: Roster, session: Session): Planted[] {
  const random = randomOf(seed, 'newcomers', session.coin.name, session.index);
  const share = session.coin.weight / roster.coins.reduce((sum, { weight }) => sum + weight, 0);
  const found: Planted[] = [];
  let time = session.from + exponential(random, DAY_MS / (roster.busyness * share));
  while (time < session.wind_down) {
    const account = plantedAccount('newcomer', session, addressOf(seed, 'newcomer', session.coin.name, Math.round(time)));
    const trips: Trip[] = [];
    for (let wanted = between(random, [1, 3]), next = time; wanted > 0; wanted -= 1) {
      const trip =
        next < session.wind_down ? makeTrip(STYLES.newcomer as Style, session.coin, next, latestExit(session, random), random) : null;
      if (trip !== null) trips.push(trip);
      next = (trip?.exit ?? next) + MINUTE_MS + exponential(random, 5 * HOUR_MS);
    }
    found.push({ account, trips });
    time += exponential(random, DAY_MS / (roster.busyness * share));
  }
  return found;
}

/** New accounts that put everything on one sudden move hours before it comes, after one small trade to try the venue out. */
export function insiders(seed: number, roster: Roster, session: Session): Planted[] {
  const found: Planted[] = [];
  // So much finds no takers in a minor coin.
  if (session.coin_index >= MAJORS.length) return found;
  for (const jump of session.coin.path.jumps(session.from + 12 * HOUR_MS, session.wind_down - 2 * HOUR_MS)) {
    const random = randomOf(seed, 'insiders', session.coin.name, jump.time);
    const number = Math.floor(random() + 0.12 * roster.busyness ** 0.7);
    for (let index = 0; index < number; index += 1) {
      const side: 1 | -1 = jump.size > 0 ? 1 : -1;
      const enter = jump.time - (2 + 4 * random()) * HOUR_MS;
      const trial: Trip = {
        enter: enter - (1 + 3 * random()) * HOUR_MS,
        exit: enter - 30 * MINUTE_MS,
        side,
        usd: 100 + 200 * random(),
        entries: 1,
        exits: 1,
        liquidated: false,
      };
      const exit = jump.time + (40 + 50 * random()) * MINUTE_MS;
      const trip: Trip = {
        enter,
        exit,
        side,
        usd: 300_000 + 500_000 * random(),
        entries: between(random, [6, 12]),
        exits: between(random, [3, 6]),
        liquidated: false,
      };
      found.push({
        account: plantedAccount('insider', session, addressOf(seed, 'insider', session.coin.name, Math.round(jump.time), index)),
        trips: [trial, trip],
      });
    }
  }
  return found;
}

export function luckyOnes(seed: number, roster: Roster, session: Session, start: number): Planted[] {
  const found: Planted[] = [];
  const number = Math.round(8 * Math.max(1, roster.busyness ** 0.5));
  for (
    let generation = Math.floor((session.from - start) / GENERATION);
    start + generation * GENERATION < session.wind_down;
    generation += 1
  ) {
    for (let index = 0; index < number; index += 1) {
      const random = randomOf(seed, 'lucky', generation, index);
      if (Math.floor(random() * MAJORS.length) !== session.coin_index) continue;
      const account = plantedAccount('lucky', session, addressOf(seed, 'lucky', generation, index));
      const first = start + generation * GENERATION + random() * 10 * DAY_MS;
      const trips = [0, 1, 2, 3].flatMap((turn) => {
        const own = randomOf(seed, 'lucky', generation, index, turn);
        const time = first + (2 * turn + own()) * DAY_MS;
        const inside = time >= session.from && time < session.wind_down;
        return (
          (inside &&
            makeTrip(
              STYLES.lucky as Style,
              session.coin,
              time,
              Math.min(latestExit(session, own), first + (2 * turn + 2) * DAY_MS),
              own,
            )) ||
          []
        );
      });
      if (trips.length > 0) found.push({ account, trips });
    }
  }
  return found;
}

const plantedAccount = (role: Role, session: Session, address: string): Account => ({
  address,
  role,
  coins: [session.coin_index],
  trips_per_day: 0,
  of: null,
});
