import { Chance } from './chance';
import { walletAddress } from './names';

/**
 * What a wallet really is. A `market_maker` is in and out of both outcomes within the hour; a `set_maker` takes the other side of what is
 * bought, merges full sets and holds what is left to the end.
 */
export type Role =
  | 'noise'
  | 'loser'
  | 'skilled'
  | 'favourite_buyer'
  | 'whale'
  | 'lucky'
  | 'copier'
  | 'market_maker'
  | 'set_maker'
  | 'hft_bot'
  | 'wash'
  | 'insider'
  | 'newcomer';

export interface Account {
  wallet: string;
  name: string;
  role: Role;
  /** Chance of choosing the outcome that will win. */
  hit: number;
  /** USDC of its usual bet. */
  bet: number;
  /** The account it copies, or washes with. */
  of: Account | null;
}

/** Everybody who is there from the start, by what they do. */
export interface Crowd {
  byRole: Record<Exclude<Role, 'insider' | 'newcomer'>, Account[]>;
  /** A wallet born on that day of the world. */
  newcomer(day: number, number: number): Account;
  /** The wallet with inside knowledge of one market. */
  insider(market: string): Account;
  newcomersPerDay: number;
  /** Losers who are nearly always wrong, and together. */
  herd: Account[];
}

const COIN_FLIP = 0.5;
const HERD = 24;
/** Part of a world's facts that market makers make, and facts of one of them in a month. */
export const MAKING = 0.04;
const MAKER_FACTS = 700;

/** The crowd of a world of that size: about one wallet for 25 facts of a month. */
export function makeCrowd(seed: number, size: number): Crowd {
  const count = Math.min(20_000, Math.max(60, Math.round(size / 25)));
  const chance = new Chance(seed, 'crowd');
  let made = 0;
  const account = (role: Role, hit: number, bet: number, of: Account | null = null): Account => {
    const number = made++;
    return { wallet: walletAddress(String(number)), name: `player-${number}`, role, hit, bet, of };
  };
  const many = (share: number, least: number, make: (index: number) => Account): Account[] =>
    Array.from({ length: Math.max(least, Math.round(count * share)) }, (_, index) => make(index));
  // The first account is the documented sample.
  const whale = many(0.02, 4, () => account('whale', COIN_FLIP, chance.around(6_000, 0.7)));
  const skilled = many(0.03, 4, () => account('skilled', chance.between(0.72, 0.85), chance.around(120, 0.8)));
  const copier = many(0.008, 2, (index) =>
    account('copier', COIN_FLIP, chance.around(60, 0.5), skilled[index % skilled.length] as Account),
  );
  const wash = many(0, 2, () => account('wash', COIN_FLIP, chance.around(150, 0.3)));
  (wash[0] as Account).of = wash[1] as Account;
  (wash[1] as Account).of = wash[0] as Account;
  const byRole: Crowd['byRole'] = {
    whale,
    skilled,
    copier,
    wash,
    favourite_buyer: many(0.02, 3, () => account('favourite_buyer', COIN_FLIP, chance.around(200, 0.6))),
    lucky: many(0.004, 2, () => account('lucky', COIN_FLIP, chance.around(800, 0.4))),
    set_maker: many(0.003, 2, () => account('set_maker', COIN_FLIP, 0)),
    market_maker: [],
    hft_bot: many(0.002, 2, () => account('hft_bot', COIN_FLIP, chance.around(6, 0.2))),
    loser: many(0.15, 6, () => account('loser', chance.between(0.34, 0.42), chance.around(35, 1))),
    noise: many(0.74, 20, () => account('noise', COIN_FLIP, chance.around(30, 1.1))),
  };
  const late = (name: string, role: Role, hit: number, bet: number): Account => ({
    wallet: walletAddress(name),
    name,
    role,
    hit,
    bet,
    of: null,
  });
  // Named apart from the numbered accounts, whose names and draws stay what they are.
  const makers = Math.max(1, Math.floor((MAKING * size) / MAKER_FACTS));
  byRole.market_maker = Array.from({ length: makers }, (_, number) => late(`maker-${number}`, 'market_maker', COIN_FLIP, 80));
  return {
    byRole,
    herd: Array.from({ length: HERD }, (_, number) => late(`herd-${number}`, 'loser', 0.12, 110)),
    newcomer: (day, number) =>
      late(`newcomer-${day}-${number}`, 'newcomer', COIN_FLIP, new Chance(seed, 'newcomer', day, number).around(40, 1)),
    insider: (market) => late(`insider-${market}`, 'insider', 1, new Chance(seed, 'insider', market).between(4_000, 15_000)),
    newcomersPerDay: Math.max(1, Math.round(count / 60)),
  };
}
