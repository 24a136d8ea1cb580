import { randomOf } from '../world';
import { type Account, type Role, type Roster, type SimCoin, addressOf } from './roster';
import { STYLES, type Style, type Trip, between, busyAt, exponential, makeTrip } from './trips';

const SECOND = 1_000;
const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 86_400_000;
/** Accounts that are lucky once are other accounts every 30 days. */
const GENERATION = 30 * DAY;

/** A stretch of one coin's trading, at whose ends everybody is flat: what makes the world cheap to enter anywhere. */
export interface Session {
  coin_index: number;
  coin: SimCoin;
  index: number;
  from: number;
  to: number;
  /** From here on positions are only closed. */
  wind_down: number;
}

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

export interface SessionPlan {
  orders: Order[];
  /** Accounts that live in this session only. */
  planted: Account[];
}

/** Everything that will be wanted in a session, in order of time. */
export function planSession(seed: number, roster: Roster, session: Session, start: number): SessionPlan {
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
  const planted = [...newcomers(seed, roster, session), ...insiders(seed, roster, session), ...luckyOnes(seed, roster, session, start)];
  for (const { account, trips: own } of planted) add(account, own);
  orders.sort((a, b) => a.time - b.time);
  return { orders, planted: planted.map(({ account }) => account) };
}

function standingTrips(account: Account, session: Session, random: () => number): Trip[] {
  const style = STYLES[account.role] as Style;
  const interval = (DAY * account.coins.length) / account.trips_per_day;
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
    time = random() < 0.15 && !trip.liquidated ? trip.exit : trip.exit + MINUTE + exponential(random, pause);
  }
  return trips;
}

function bursts(style: Style, session: Session, interval: number, random: () => number): Trip[] {
  const trips: Trip[] = [];
  let time = session.from + exponential(random, interval * 15);
  while (time < session.wind_down) {
    const length = between(random, [10, 20]);
    for (let index = 0; index < length; index += 1) {
      const trip = makeTrip(style, session.coin, time, session.to - 10 * MINUTE, random);
      if (trip !== null) trips.push(trip);
      time = (trip?.exit ?? time) + SECOND + exponential(random, 2 * SECOND);
    }
    time += exponential(random, interval * length);
  }
  return trips;
}

/** Leavers are spread over the wind-down, so that its end is quiet. */
const latestExit = (session: Session, random: () => number): number =>
  session.wind_down + (session.to - session.wind_down) * (0.05 + 0.85 * random());

function copiedTrips(leaders: readonly Trip[], random: () => number): Trip[] {
  const trips: Trip[] = [];
  for (const led of leaders) {
    const enter = Math.max(led.enter + 5 * SECOND + exponential(random, 15 * SECOND), (trips.at(-1)?.exit ?? 0) + SECOND);
    const exit = led.exit + 5 * SECOND + exponential(random, 15 * SECOND);
    if (random() < 0.75 && exit > enter + MINUTE)
      trips.push({ ...led, enter, exit, usd: led.usd * (0.05 + 0.05 * random()), entries: 1, exits: 1 });
  }
  return trips;
}

interface Planted {
  account: Account;
  trips: Trip[];
}

function newcomers(seed: number, roster: Roster, session: Session): Planted[] {
  const random = randomOf(seed, 'newcomers', session.coin.name, session.index);
  const share = session.coin.weight / roster.coins.reduce((sum, { weight }) => sum + weight, 0);
  const found: Planted[] = [];
  let time = session.from + exponential(random, DAY / (roster.busyness * share));
  while (time < session.wind_down) {
    const account = plantedAccount('newcomer', session, addressOf(seed, 'newcomer', session.coin.name, Math.round(time)));
    const trips: Trip[] = [];
    for (let wanted = between(random, [1, 3]), next = time; wanted > 0; wanted -= 1) {
      const trip =
        next < session.wind_down ? makeTrip(STYLES.newcomer as Style, session.coin, next, latestExit(session, random), random) : null;
      if (trip !== null) trips.push(trip);
      next = (trip?.exit ?? next) + MINUTE + exponential(random, 5 * HOUR);
    }
    found.push({ account, trips });
    time += exponential(random, DAY / (roster.busyness * share));
  }
  return found;
}

/** New accounts that put everything on one sudden move hours before it comes, after one small trade to try the venue out. */
function insiders(seed: number, roster: Roster, session: Session): Planted[] {
  const found: Planted[] = [];
  for (const jump of session.coin.path.jumps(session.from + 12 * HOUR, session.wind_down - 2 * HOUR)) {
    const random = randomOf(seed, 'insiders', session.coin.name, jump.time);
    const number = Math.floor(random() + 0.12 * roster.busyness ** 0.7);
    for (let index = 0; index < number; index += 1) {
      const side: 1 | -1 = jump.size > 0 ? 1 : -1;
      const enter = jump.time - (2 + 4 * random()) * HOUR;
      const trial: Trip = {
        enter: enter - (1 + 3 * random()) * HOUR,
        exit: enter - 30 * MINUTE,
        side,
        usd: 100 + 200 * random(),
        entries: 1,
        exits: 1,
        liquidated: false,
      };
      const exit = jump.time + (40 + 50 * random()) * MINUTE;
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

function luckyOnes(seed: number, roster: Roster, session: Session, start: number): Planted[] {
  const found: Planted[] = [];
  const number = Math.round(8 * Math.max(1, roster.busyness ** 0.5));
  for (
    let generation = Math.floor((session.from - start) / GENERATION);
    start + generation * GENERATION < session.wind_down;
    generation += 1
  ) {
    for (let index = 0; index < number; index += 1) {
      const random = randomOf(seed, 'lucky', generation, index);
      if (Math.floor(random() * roster.coins.length) !== session.coin_index) continue;
      const account = plantedAccount('lucky', session, addressOf(seed, 'lucky', generation, index));
      const first = start + generation * GENERATION + random() * 10 * DAY;
      const trips = [0, 1, 2, 3].flatMap((turn) => {
        const own = randomOf(seed, 'lucky', generation, index, turn);
        const time = first + (2 * turn + own()) * DAY;
        const inside = time >= session.from && time < session.wind_down;
        return (
          (inside &&
            makeTrip(STYLES.lucky as Style, session.coin, time, Math.min(latestExit(session, own), first + (2 * turn + 2) * DAY), own)) ||
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
