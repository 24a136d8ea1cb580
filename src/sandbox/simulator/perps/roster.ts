import { randomOf } from '../world';
import { type SimCoin, makeCoins } from './coins';

/**
 * What an account is for. Those with a meaning for scores: `skilled` foresees moves and trades often enough to prove it;
 * `lucky` won a few large trades by chance; `loser` is wrong more often than right; `copier` repeats its leader's trades seconds
 * later; `insider` is a new account that trades once, large, before a sudden move; `wash_a` and `wash_b` trade with each other.
 */
export type Role =
  | 'skilled'
  | 'lucky'
  | 'loser'
  | 'retail'
  | 'degen'
  | 'whale'
  | 'scalper'
  | 'copier'
  | 'insider'
  | 'newcomer'
  | 'wash_a'
  | 'wash_b'
  | 'market_maker'
  | 'vault';

export interface Account {
  address: string;
  role: Role;
  /** Indexes of the coins it trades. */
  coins: number[];
  /** Round trips a day over all its coins. */
  trips_per_day: number;
  /** Address of the account it copies or trades with. */
  of: string | null;
}

export interface Roster {
  coins: SimCoin[];
  accounts: Account[];
  /** How much busier than a world of 30,000 facts. */
  busyness: number;
}

// Role: accounts and round trips a day in a world of 30,000 facts, and how many coins each trades.
const POPULATION: Partial<Record<Role, { count: number; trips_per_day: number; coins: [number, number] }>> = {
  skilled: { count: 8, trips_per_day: 3.4, coins: [2, 3] },
  copier: { count: 3, trips_per_day: 0, coins: [0, 0] },
  loser: { count: 10, trips_per_day: 1, coins: [1, 3] },
  retail: { count: 110, trips_per_day: 0.32, coins: [1, 4] },
  degen: { count: 30, trips_per_day: 0.4, coins: [1, 2] },
  whale: { count: 8, trips_per_day: 0.35, coins: [1, 3] },
  scalper: { count: 1, trips_per_day: 24, coins: [1, 1] },
  wash_b: { count: 1, trips_per_day: 6, coins: [1, 1] },
};
const MARKET_MAKERS = 5;

/** An account's address, made from its name in the world. */
export function addressOf(seed: number, ...name: (string | number)[]): string {
  const random = randomOf(seed, 'address', ...name);
  return `0x${Array.from({ length: 5 }, () =>
    Math.floor(random() * 4_294_967_296)
      .toString(16)
      .padStart(8, '0'),
  ).join('')}`;
}

/** Coins and standing accounts of the world. `start` in milliseconds; `size` in facts a 30 days. */
export function makeRoster(seed: number, size: number, start: number): Roster {
  const busyness = size / 30_000;
  const coins = makeCoins(seed, busyness, start);
  // Four times the facts: about three times the accounts, each a bit busier.
  const crowd = busyness >= 1 ? busyness ** 0.8 : busyness ** 0.5;
  const accounts: Account[] = [{ address: addressOf(seed, 'vault'), role: 'vault', coins: [], trips_per_day: 0, of: null }];
  for (let index = 0; index < MARKET_MAKERS; index += 1)
    accounts.push({ address: addressOf(seed, 'market_maker', index), role: 'market_maker', coins: [], trips_per_day: 0, of: null });
  for (const [role, { count, trips_per_day, coins: range }] of Object.entries(POPULATION) as [
    Role,
    { count: number; trips_per_day: number; coins: [number, number] },
  ][]) {
    const number = Math.max(1, Math.round(count * crowd));
    // What rounding the head count adds or takes is made up by the rate.
    const rate = (trips_per_day * busyness * count) / number;
    for (let index = 0; index < number; index += 1) {
      const random = randomOf(seed, 'account', role, index);
      accounts.push({
        address: addressOf(seed, role, index),
        role,
        coins: chooseCoins(coins, range, random),
        trips_per_day: rate * (role === 'skilled' ? 0.95 + 0.2 * random() : 0.7 + 0.6 * random()),
        of: null,
      });
    }
  }
  return { coins, accounts: [...accounts, ...related(seed, accounts)], busyness };
}

/** Gives copiers their leaders, and adds the other half of each wash pair. */
function related(seed: number, accounts: Account[]): Account[] {
  const leaders = accounts.filter(({ role }) => role === 'skilled');
  accounts
    .filter(({ role }) => role === 'copier')
    .forEach((copier, index) => {
      const leader = leaders[index % leaders.length] as Account;
      Object.assign(copier, { of: leader.address, coins: leader.coins });
    });
  return accounts
    .filter(({ role }) => role === 'wash_b')
    .map((taker, index) => {
      const partner: Account = {
        address: addressOf(seed, 'wash_a', index),
        role: 'wash_a',
        coins: taker.coins,
        trips_per_day: 0,
        of: taker.address,
      };
      taker.of = partner.address;
      return partner;
    });
}

function chooseCoins(coins: readonly SimCoin[], [least, most]: [number, number], random: () => number): number[] {
  const chosen = new Set<number>();
  const wanted = least + Math.floor(random() * (most - least + 1));
  const total = coins.reduce((sum, { weight }) => sum + weight, 0);
  while (chosen.size < wanted) {
    let left = random() * total;
    const index = coins.findIndex(({ weight }) => (left -= weight) < 0);
    if (index >= 0) chosen.add(index);
  }
  return [...chosen];
}
