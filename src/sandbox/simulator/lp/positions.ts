import { randomOf } from '../world';
import { type Key, keyOf } from './keys';
import { priceOf } from './market';
import { heavyTailed, pick, poisson, rhythm } from './random';
import { activityAt, feeAt, type Owner, type Pool, type Role, type Roster } from './roster';

const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** No position lives longer, so what is open at a time was opened within this many days. */
export const LIFE_DAYS = 20;
/** The documented owner opens a position this often. */
const STANDING_DAYS = 15;
/** Median swap and mean swap of the heavy tail that swaps are drawn from. */
export const MEAN_SWAP_USD = 420;

/** One thing done to a position, amounts in smallest units (whole, possibly above 2^53). A rebalance takes all out (x, y), puts back, and claims. */
export interface PositionEvent {
  position: Position;
  index: number;
  time: number;
  kind: 'open' | 'add' | 'remove' | 'claim' | 'rebalance' | 'close';
  x: number;
  y: number;
  fee_x: number;
  fee_y: number;
}

export interface Position {
  id: string;
  key: Key;
  owner: Owner;
  pool: Pool;
  opened: number;
  closed: number;
  deposit_usd: number;
  events: PositionEvent[];
}

interface Habit {
  /** Median USD, hours, share of positions with top-ups. */
  usd: number;
  hours: number;
  /** Hours between claims; 0 claims at the close only. */
  claims: number;
  rebalance_hours: number;
  /** How many plans are weighed, and whether the best or the worst is taken: skill is planted here. */
  plans: number;
  takes: 'best' | 'worst';
  single: boolean;
  /** How much of the fees of its share it earns. */
  range: number;
}

const FARMER: Habit = { usd: 900, hours: 30, claims: 24, rebalance_hours: 0, plans: 1, takes: 'best', single: false, range: 1 };
const HABITS: Record<Role, Habit> = {
  farmer: FARMER,
  skilled: { ...FARMER, usd: 4_000, hours: 20, claims: 12, plans: 8, range: 2.2 },
  lucky: { ...FARMER, usd: 1_200, plans: 6 },
  market_maker: { ...FARMER, usd: 12_000, hours: 70, claims: 0, rebalance_hours: 26, range: 2.5 },
  bot: { ...FARMER, usd: 1_500, hours: 6, claims: 0, rebalance_hours: 3, range: 1.4 },
  sniper: { ...FARMER, usd: 1_000, hours: 5, claims: 2 },
  single_sided: { ...FARMER, single: true },
  whale: { ...FARMER, usd: 40_000, hours: 120, claims: 48 },
  copier: FARMER,
  novice: { ...FARMER, usd: 300, hours: 40, plans: 4, takes: 'worst', range: 0.6 },
};

/** All positions opened on a day (days count from the world's start), in order of opening. */
export function positionsOf(roster: Roster, day: number): Position[] {
  const random = randomOf(roster.seed, 'lp', 'positions', day);
  const opened: Position[] = [];
  const count = poisson(random, roster.positions / 30);
  if (day % STANDING_DAYS === 0) opened.push(standingPosition(roster, day));
  for (let i = 0; i < count; i += 1) {
    const id = `${day}/${i}`;
    const own = randomOf(roster.seed, 'lp', 'position', id);
    const owner = roster.owners[pick(own, roster.owner_weights)] as Owner;
    const position = plannedPosition(roster, id, owner, roster.start + day * DAY + hourOf(own), own);
    if (position === null) continue;
    opened.push(position, ...copiesOf(roster, position));
  }
  return opened.sort((a, b) => a.opened - b.opened);
}

/** The same owner in the same pool in every world, so that documentation can name them; each outlives the opening of the next. */
function standingPosition(roster: Roster, day: number): Position {
  const [owner, pool] = [roster.owners[0] as Owner, roster.pools[0] as Pool];
  const opened = roster.start + day * DAY;
  const plan = { pool, opened: opened + 20 * MINUTE, closed: opened + (LIFE_DAYS - 1) * DAY, usd: 25_000 };
  const name = day === 0 ? ['first'] : ['standing', day];
  return lived(roster, `${day}/first`, owner, plan, keyOf('position', day), randomOf(roster.seed, 'lp', 'position', ...name));
}

/** Milliseconds into a day: more of them in busy hours. */
function hourOf(random: () => number): number {
  for (;;) {
    const time = random() * DAY;
    if (random() * 1.6 < rhythm(time)) return Math.floor(time / 1000) * 1000;
  }
}

interface Plan {
  pool: Pool;
  opened: number;
  closed: number;
  usd: number;
}

function plannedPosition(roster: Roster, id: string, owner: Owner, time: number, random: () => number): Position | null {
  const habit = HABITS[owner.role];
  const plans = Array.from({ length: habit.plans }, () => planOf(roster, owner, habit, time, random)).filter((plan) => plan !== null);
  const ranked = plans.map((plan) => ({ plan, outcome: outcomeOf(roster, plan, habit) })).sort((a, b) => b.outcome - a.outcome);
  const chosen = (habit.takes === 'best' ? ranked[0] : ranked.at(-1))?.plan;
  return chosen === undefined ? null : lived(roster, id, owner, chosen, keyOf(roster.seed, 'position', id), random);
}

function planOf(roster: Roster, owner: Owner, habit: Habit, time: number, random: () => number): Plan | null {
  const pool = owner.role === 'sniper' ? newestPool(roster, time) : activePool(roster, time, random);
  if (pool === null) return null;
  const opened = owner.role === 'sniper' ? pool.created + Math.floor((1 + random() * 50) * 60) * 1000 : time;
  const hours = Math.min(heavyTailed(random, habit.hours, 0.9), LIFE_DAYS * 24 - 30);
  const closed = opened + Math.max(5 * MINUTE, Math.floor(hours * 3600) * 1000);
  // Nobody can put in many times what a pool holds.
  const usd = Math.min(heavyTailed(random, habit.usd, 1), pool.base_tvl * 0.5);
  return { pool, opened, closed, usd };
}

function activePool(roster: Roster, time: number, random: () => number): Pool | null {
  const weights: number[] = [];
  let sum = 0;
  for (const pool of roster.pools) weights.push((sum += activityAt(pool, roster.start, time - HOUR)));
  return sum === 0 ? null : (roster.pools[pick(random, weights)] as Pool);
}

/** A pool of the day whose first hour is still ahead or running, if there is one. */
function newestPool(roster: Roster, time: number): Pool | null {
  const day = Math.floor((time - roster.start) / DAY);
  const fresh = roster.pools.filter(
    (pool) =>
      pool.created >= roster.start &&
      Math.floor((pool.created - roster.start) / DAY) === day &&
      pool.created < roster.start + (day + 1) * DAY - HOUR,
  );
  return fresh.at(-1) ?? null;
}

const pairPrice = (roster: Roster, pool: Pool, time: number): number =>
  priceOf(roster.seed, pool.x, time) / priceOf(roster.seed, pool.y, time);

/** USD that 1 USD of liquidity earns per hour: what the pool's expected swaps pay, shared by its liquidity. */
function yieldAt(roster: Roster, pool: Pool, time: number): number {
  const swapsAnHour = (roster.swaps / 720) * (activityAt(pool, roster.start, time) / totalWeight(roster));
  return Math.min(0.004, (swapsAnHour * MEAN_SWAP_USD * Math.min(feeAt(pool, time), 0.05)) / pool.base_tvl + pool.fee * 0.004);
}

const weights = new WeakMap<Roster, number>();
export function totalWeight(roster: Roster): number {
  const known = weights.get(roster);
  if (known !== undefined) return known;
  const sum = roster.pools.reduce((total, pool) => total + (pool.created < roster.start ? pool.weight : 0), 0);
  weights.set(roster, sum);
  return sum;
}

/** Return of a plan per USD: fees earned less what the price's move costs a provider. */
function outcomeOf(roster: Roster, { pool, opened, closed }: Plan, habit: Habit): number {
  const move = pairPrice(roster, pool, closed) / pairPrice(roster, pool, opened);
  const hours = (closed - opened) / HOUR;
  const yMove = priceOf(roster.seed, pool.y, closed) / priceOf(roster.seed, pool.y, opened);
  return Math.sqrt(move) * yMove - 1 + hours * yieldAt(roster, pool, (opened + closed) / 2) * habit.range;
}

/** What is in a position, in units of the tokens, and the price it was last brought up to. */
interface Content {
  x: number;
  y: number;
  price: number;
  claimed_at: number;
}

function lived(roster: Roster, id: string, owner: Owner, plan: Plan, key: Key, random: () => number): Position {
  const { pool, opened, closed, usd } = plan;
  const position: Position = { id, key, owner, pool, opened, closed, deposit_usd: usd, events: [] };
  const habit = HABITS[owner.role];
  const content: Content = { x: 0, y: 0, price: pairPrice(roster, pool, opened), claimed_at: opened };
  const log = (time: number, kind: PositionEvent['kind'], x: number, y: number, fees: [number, number] = [0, 0]): void => {
    position.events.push({
      position,
      index: position.events.length,
      time,
      kind,
      x: raw(x, pool.x.decimals),
      y: raw(y, pool.y.decimals),
      fee_x: raw(fees[0], pool.x.decimals),
      fee_y: raw(fees[1], pool.y.decimals),
    });
  };
  deposit(roster, pool, content, opened, usd, habit.single && pool.type === 'dlmm');
  log(opened, 'open', content.x, content.y);
  for (const { time, kind } of diaryOf(habit, plan, pool.type, random)) {
    const fees = feesOf(roster, pool, content, habit, time);
    moveTo(roster, pool, content, time);
    if (kind === 'claim') log(time, 'claim', 0, 0, fees);
    else if (kind === 'add') {
      const before = { ...content };
      deposit(roster, pool, content, time, usd * (0.3 + 0.7 * random()), habit.single && pool.type === 'dlmm');
      log(time, 'add', content.x - before.x, content.y - before.y);
    } else if (kind === 'remove') {
      const part = 0.25 + 0.4 * random();
      log(time, 'remove', content.x * part, content.y * part);
      content.x *= 1 - part;
      content.y *= 1 - part;
    } else log(time, kind, content.x, content.y, fees);
    if (kind !== 'add' && kind !== 'remove') content.claimed_at = time;
  }
  return position;
}

/** Deposits are two equal halves in value, or only the second token. */
function deposit(roster: Roster, pool: Pool, content: Content, time: number, usd: number, single: boolean): void {
  const [px, py] = [priceOf(roster.seed, pool.x, time), priceOf(roster.seed, pool.y, time)];
  content.x += single ? 0 : usd / 2 / px;
  content.y += (single ? usd : usd / 2) / py;
  content.price = px / py;
}

/** A constant product keeps x·y while the price moves; one-sided content turns into the first token as the price falls. */
function moveTo(roster: Roster, pool: Pool, content: Content, time: number): void {
  const price = pairPrice(roster, pool, time);
  const move = price / content.price;
  if (content.x > 0) {
    content.x /= Math.sqrt(move);
    content.y *= Math.sqrt(move);
  } else if (move < 1) {
    const turned = Math.min(1, (1 - move) * 3) * content.y;
    content.x += turned / (content.price * Math.sqrt(move));
    content.y -= turned;
  }
  content.price = price;
}

function feesOf(roster: Roster, pool: Pool, content: Content, habit: Habit, time: number): [number, number] {
  const [px, py] = [priceOf(roster.seed, pool.x, time), priceOf(roster.seed, pool.y, time)];
  const hours = (time - content.claimed_at) / HOUR;
  const usd = (content.x * px + content.y * py) * hours * yieldAt(roster, pool, content.claimed_at) * habit.range;
  return [usd / 2 / px, usd / 2 / py];
}

/** What its owner does with a position after opening it, ending with the close. */
function diaryOf(
  habit: Habit,
  { opened, closed }: Plan,
  type: Pool['type'],
  random: () => number,
): { time: number; kind: PositionEvent['kind'] }[] {
  const diary: { time: number; kind: PositionEvent['kind'] }[] = [];
  const between = (): number => opened + Math.floor((random() * (closed - opened)) / 1000) * 1000;
  if (habit.claims > 0)
    for (let time = opened + habit.claims * HOUR * (0.5 + random()); time < closed; time += habit.claims * HOUR * (0.6 + 0.8 * random()))
      diary.push({ time: Math.floor(time / 1000) * 1000, kind: 'claim' });
  const every = habit.rebalance_hours * HOUR;
  if (every > 0)
    for (let time = opened + every; time < closed; time += every * (0.7 + 0.6 * random()))
      diary.push({ time: Math.floor(time / 1000) * 1000, kind: type === 'dlmm' ? 'rebalance' : 'claim' });
  if (random() < 0.22) diary.push({ time: between(), kind: 'add' });
  if (random() < 0.15) diary.push({ time: between(), kind: 'remove' });
  return [...diary.filter(({ time }) => time > opened && time < closed).sort((a, b) => a.time - b.time), { time: closed, kind: 'close' }];
}

const raw = (amount: number, decimals: number): number => Math.max(0, Math.floor(amount * 10 ** decimals));

/** Copiers open a smaller position of the same kind minutes later and leave minutes later. */
function copiesOf(roster: Roster, leader: Position): Position[] {
  if (leader.owner.role !== 'skilled') return [];
  return roster.owners
    .filter((owner) => owner.role === 'copier' && owner.leader === leader.owner.index)
    .flatMap((owner) => {
      const id = `${leader.id}/copy/${owner.index}`;
      const random = randomOf(roster.seed, 'lp', 'position', id);
      if (random() > 0.55) return [];
      const lag = (): number => Math.floor((2 + random() * 18) * 60) * 1000;
      const plan = {
        pool: leader.pool,
        opened: leader.opened + lag(),
        closed: leader.closed + lag(),
        usd: leader.deposit_usd * (0.1 + 0.3 * random()),
      };
      return [lived(roster, id, owner, plan, keyOf(roster.seed, 'position', id), random)];
    });
}
