import { addTo } from '../../../lib/grouped';
import { DAY_MS, HOUR_MS } from '../../../lib/time';
import { randomOf, type WorldOptions } from '../world';
import { type Key, keyOf } from './keys';
import type { Token } from './market';
import { cumulated, heavyTailed, pick } from './random';
import { makeTokens, QUOTES } from './tokens';

/** What a provider of the world really is. */
export type Role = 'skilled' | 'lucky' | 'market_maker' | 'bot' | 'sniper' | 'single_sided' | 'whale' | 'copier' | 'farmer' | 'novice';

export interface Owner {
  index: number;
  key: Key;
  role: Role;
  /** The index asks for this owner's positions, so their events come with stated USD as well. */
  polled: boolean;
  /** Goes through the operator's program. */
  operated: boolean;
  /** Of a copier: the owner it follows. */
  leader: number | null;
  /** Tries it once or twice, as most do. */
  passing: boolean;
}

export interface Pool {
  index: number;
  key: Key;
  type: 'dlmm' | 'damm_v2';
  x: Token;
  y: Token;
  bin_step: number;
  /** Share of what is paid in. */
  fee: number;
  /** Starts with a far higher fee that falls within a day (damm_v2 launches). */
  launch_fee: boolean;
  created: number;
  /** Liquidity that was there before this world, or its creator's. */
  base_tvl: number;
  /** Part of all swaps. */
  weight: number;
  /** Too busy to be read by transactions: the index tells hourly volumes instead. */
  stated: boolean;
  creator: Key;
}

export interface Roster {
  seed: number;
  start: number;
  tokens: Token[];
  pools: Pool[];
  /** By a pool's index: when the first of it and those after it was made. */
  next_made: number[];
  owners: Owner[];
  /** Cumulative activity of owners. */
  owner_weights: number[];
  /** Copiers by the index of the owner they follow. */
  copiers: Map<number, Owner[]>;
  traders: Key[];
  /** Expected in 30 days. */
  swaps: number;
  positions: number;
  orders: number;
}

/** Share of all facts. */
const SWAPS = 0.38;
const POSITION_FACTS = 0.3;
const ORDER_FACTS = 0.1;
/** Facts that one position, one order leaves on average. */
const FACTS_OF_POSITION = 6;
const FACTS_OF_ORDER = 26;
/** The pools and tokens of one world go on appearing for this long. */
const HORIZON = 730 * DAY_MS;

/** Role, share of owners, how often they act. */
const ROLES: readonly (readonly [Role, number, number])[] = [
  ['skilled', 0.08, 3.5],
  ['lucky', 0.04, 0.3],
  ['market_maker', 0.02, 2],
  ['bot', 0.05, 4],
  ['sniper', 0.05, 2],
  ['single_sided', 0.1, 1.5],
  ['whale', 0.05, 1],
  ['copier', 0.04, 0],
  ['farmer', 0.33, 1],
  ['novice', 0.25, 1],
];

/** For each owner who stays so many pass by, who act so often beside them: most recorded providers were seen in one pool. */
const PASSING = { owners: 6, activity: 0.045 };
const PASSING_ROLES = ['farmer', 'novice'] as const;

export function makeRoster({ seed, size, start }: WorldOptions): Roster {
  const begin = start.getTime();
  const poolCount = Math.round(14 + Math.sqrt(size) / 8);
  const tokens = makeTokens(seed, begin, poolCount, HORIZON);
  const owners = makeOwners(seed, Math.round(40 + size / 200));
  const pools = makePools(seed, begin, tokens);
  return {
    seed,
    start: begin,
    tokens,
    pools,
    next_made: nextMade(pools),
    owners,
    owner_weights: cumulated(owners.map((owner) => activityOf(seed, owner))),
    copiers: copiersOf(owners),
    traders: Array.from({ length: Math.round(60 + size / 60) }, (_, i) => keyOf(seed, 'trader', i)),
    swaps: size * SWAPS,
    positions: (size * POSITION_FACTS) / FACTS_OF_POSITION,
    orders: (size * ORDER_FACTS) / FACTS_OF_ORDER,
  };
}

function makePools(seed: number, start: number, tokens: Token[]): Pool[] {
  const random = randomOf(seed, 'lp', 'pools');
  const [sol, usdc, usdt] = tokens as [Token, Token, Token];
  const pools: Pool[] = [];
  const add = (type: Pool['type'], x: Token, y: Token, weight: number, created: number): void => {
    const index = pools.length;
    pools.push({
      index,
      // The first pool's address is the same in every world: documentation names it.
      key: index === 0 ? keyOf('pool', 0) : keyOf(seed, 'pool', index),
      type,
      x,
      y,
      bin_step: [4, 10, 20, 50, 80, 100][Math.floor(random() * (x === sol ? 2 : 6))] as number,
      fee: x === sol ? 0.0008 + 0.002 * random() : 0.002 + 0.02 * random(),
      launch_fee: type === 'damm_v2' && created >= start && random() < 0.6,
      created,
      base_tvl: x === sol ? heavyTailed(random, 1_500_000, 0.6) : heavyTailed(random, created >= start ? 30_000 : 150_000, 1.1),
      weight,
      stated: type === 'dlmm' && index > 4 && created < start && random() < 0.3,
      creator: keyOf(seed, 'creator', index),
    });
  };
  add('dlmm', sol, usdc, 5, start - 600 * DAY_MS);
  add('damm_v2', sol, usdc, 2, start - 300 * DAY_MS);
  add('dlmm', sol, usdt, 1, start - 450 * DAY_MS);
  add('dlmm', sol, usdc, 1.5, start - 200 * DAY_MS);
  for (const token of tokens.slice(QUOTES)) {
    const made = token.created + Math.floor(random() * 120) * 1000;
    const weight = heavyTailed(random, 0.35, 0.9);
    add(random() < 0.6 ? 'dlmm' : 'damm_v2', token, random() < 0.7 ? sol : usdc, weight, made);
    if (random() < 0.45)
      add(
        random() < 0.5 ? 'dlmm' : 'damm_v2',
        token,
        random() < 0.5 ? usdc : sol,
        weight * 0.4,
        made + Math.floor((random() * 2 * DAY_MS) / 1000) * 1000,
      );
  }
  return pools;
}

function makeOwners(seed: number, staying: number): Owner[] {
  const cumulative = cumulated(ROLES.map(([, share]) => share));
  const owners = Array.from({ length: Math.round(staying * (1 + PASSING.owners)) }, (_, index): Owner => {
    const random = randomOf(seed, 'lp', 'owner', index);
    const passing = index >= staying;
    // Golden-ratio steps: shares hold in small worlds too, and every role is there.
    const at = index < ROLES.length ? index : pick(() => (index * 0.618034) % 1, cumulative);
    const role = passing ? (PASSING_ROLES[index % 2] as Role) : (ROLES[at]?.[0] as Role);
    const key = index < 2 ? keyOf('owner', index) : keyOf(seed, 'owner', index);
    return { index, key, role, polled: index % 3 === 0, operated: random() < 0.12, leader: null, passing };
  });
  const leaders = owners.filter((owner) => owner.role === 'skilled');
  for (const owner of owners) if (owner.role === 'copier') owner.leader = (leaders[owner.index % leaders.length] as Owner).index;
  return owners;
}

function nextMade(pools: readonly Pool[]): number[] {
  let next = Infinity;
  return pools
    .map(({ created }) => created)
    .reverse()
    .map((created) => (next = Math.min(next, created)))
    .reverse();
}

function copiersOf(owners: readonly Owner[]): Map<number, Owner[]> {
  const copiers = new Map<number, Owner[]>();
  for (const owner of owners) if (owner.leader !== null) addTo(copiers, owner.leader, owner);
  return copiers;
}

function activityOf(seed: number, { role, index, passing }: Owner): number {
  const activity = (ROLES.find(([name]) => name === role)?.[2] ?? 1) * (passing ? PASSING.activity : 1);
  return activity * heavyTailed(randomOf(seed, 'lp', 'activity', index), 1, 0.5);
}

/** Fee of a swap at a time: launches of damm_v2 begin near half of everything and fall within hours. */
export function feeAt(pool: Pool, time: number): number {
  if (!pool.launch_fee) return pool.fee;
  return pool.fee + 0.45 * Math.exp(-(time - pool.created) / (3 * HOUR_MS));
}

/** How busy a pool is: settled pools steadily, launched ones loudly at first. */
export function activityAt(pool: Pool, start: number, time: number): number {
  if (time < pool.created) return 0;
  if (pool.created < start) return pool.weight;
  const days = (time - pool.created) / DAY_MS;
  return pool.weight * (4 * Math.exp(-days / 0.7) + 0.35 * Math.exp(-days / 25));
}
