import { DAY_MS, MINUTE_MS } from '../../../lib/time';
import { randomOf } from '../world';
import { type Planted, insiders, latestExit, luckyOnes, newcomers } from './planted';
import type { Account, Role, Roster } from './roster';
import type { Session } from './span';
import { STYLES, type Style, type Trip, between, busyAt, exponential, makeTrip } from './trips';

const SECOND = 1_000;

/** What an account wants at an instant. `close` leaves everything, `flip` leaves and takes `lots` on the other side. */
export interface Order {
  time: number;
  trader: string;
  role: Role;
  kind: 'enter' | 'reduce' | 'close' | 'flip';
  /** +1 buys. */
  side: 1 | -1;
  lots: number;
  counterparty: string | null;
  liquidated: boolean;
  /** Id of the TWAP order it is a slice of. */
  twap: number | null;
}

/** Accounts that live in this session only, and what they do there. */
export const plantedIn = (seed: number, roster: Roster, session: Session, start: number): Planted[] => [
  ...newcomers(seed, roster, session),
  ...insiders(seed, roster, session),
  ...luckyOnes(seed, roster, session, start),
];

/** Everything that will be wanted in a session, in order of time. */
export function planSession(seed: number, roster: Roster, session: Session, start: number): Order[] {
  const random = (...name: (string | number)[]): (() => number) => randomOf(seed, 'plan', session.coin.name, session.index, ...name);
  const orders: Order[] = [];
  const trips = new Map<string, Trip[]>();
  const add = (account: Account, own: Trip[]): void => {
    trips.set(account.address, own);
    orders.push(...ordersOf(account, own, session, random('orders', account.address)));
  };
  const here = roster.accounts.filter(({ coins }) => coins.includes(session.coin_index));
  for (const account of here)
    if (account.trips_per_day > 0) add(account, standingTrips(account, session, random('trips', account.address)));
  for (const account of here)
    if (account.role === 'copier') add(account, copiedTrips(trips.get(account.of ?? '') ?? [], random('copies', account.address)));
  for (const { account, trips: own } of plantedIn(seed, roster, session, start)) add(account, own);
  return orders.sort((a, b) => a.time - b.time);
}

function standingTrips(account: Account, session: Session, random: () => number): Trip[] {
  const style = STYLES[account.role] as Style;
  const interval = (DAY_MS * account.coins.length) / account.trips_per_day;
  if (account.role === 'scalper') return bursts(style, session, interval, random);
  const trips: Trip[] = [];
  let time = session.from + exponential(random, interval);
  while (time < session.wind_down) {
    const trip = random() < busyAt(time) ? makeTrip(style, session.coin, time, latestExit(session, random), random) : null;
    if (trip === null) {
      time += exponential(random, interval / 4);
      continue;
    }
    trips.push(trip);
    const pause = Math.max(interval * 0.15, interval - (trip.exit - trip.enter) - interval * 0.15);
    // Some turn round on the spot instead of leaving.
    time = random() < 0.15 && !trip.liquidated ? trip.exit : trip.exit + MINUTE_MS + exponential(random, pause);
  }
  return trips;
}

function bursts(style: Style, session: Session, interval: number, random: () => number): Trip[] {
  const trips: Trip[] = [];
  let time = session.from + exponential(random, interval * 15);
  while (time < session.wind_down) {
    const length = between(random, [10, 20]);
    for (let index = 0; index < length; index += 1) {
      const trip = makeTrip(style, session.coin, time, session.to - 10 * MINUTE_MS, random);
      if (trip !== null) trips.push(trip);
      time = (trip?.exit ?? time) + SECOND + exponential(random, 2 * SECOND);
    }
    time += exponential(random, interval * length);
  }
  return trips;
}

function copiedTrips(leaders: readonly Trip[], random: () => number): Trip[] {
  const trips: Trip[] = [];
  for (const led of leaders) {
    const enter = Math.max(led.enter + 5 * SECOND + exponential(random, 15 * SECOND), (trips.at(-1)?.exit ?? 0) + SECOND);
    const exit = led.exit + 5 * SECOND + exponential(random, 15 * SECOND);
    if (random() < 0.75 && exit > enter + MINUTE_MS)
      trips.push({ ...led, enter, exit, usd: led.usd * (0.05 + 0.05 * random()), entries: 1, exits: 1 });
  }
  return trips;
}

/** The orders that carry out an account's trips. */
function ordersOf(account: Account, trips: readonly Trip[], session: Session, random: () => number): Order[] {
  const orders: Order[] = [];
  trips.forEach((trip, index) => {
    const price = session.coin.path.at(trip.enter);
    const lots = Math.max(trip.entries, Math.round((trip.usd / price) * 10 ** session.coin.sz_decimals));
    const twap = trip.entries >= 4 && random() < 0.3 ? Math.floor(random() * 1e6) : null;
    const make = (time: number, kind: Order['kind'], side: 1 | -1, amount: number): void => {
      orders.push({
        time,
        trader: account.address,
        role: account.role,
        kind,
        side,
        lots: amount,
        counterparty: account.role === 'wash_b' ? account.of : null,
        liquidated: false,
        twap,
      });
    };
    const length = trip.exit - trip.enter;
    const last = orders.at(-1);
    for (const [child, part] of shares(trip.entries, lots, random).entries()) {
      const time = trip.enter + (length * 0.25 * child) / trip.entries;
      // Entered at the very instant the trip before was left: one order does both.
      if (child === 0 && last !== undefined && trips[index - 1]?.exit === trip.enter && last.side === trip.side)
        Object.assign(last, { kind: 'flip', lots: part });
      else make(time, 'enter', trip.side, part);
    }
    const leave = -trip.side as 1 | -1;
    shares(trip.exits, lots, random).forEach((part, child) => {
      const time = trip.exit - length * 0.2 * (1 - (child + 1) / trip.exits);
      make(time, child === trip.exits - 1 ? 'close' : 'reduce', leave, part);
    });
    if (trip.liquidated) (orders.at(-1) as Order).liquidated = true;
  });
  return orders;
}

/** `total` lots in `count` uneven parts of at least one. */
function shares(count: number, total: number, random: () => number): number[] {
  const weights = Array.from({ length: count }, () => 0.6 + 0.8 * random());
  const sum = weights.reduce((a, b) => a + b, 0);
  return weights.map((weight) => Math.max(1, Math.round((total * weight) / sum)));
}
