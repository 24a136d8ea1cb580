import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lib/time';
import { randomOf } from '../world';
import { type Habit, HABITS } from './habits';
import { keyOf } from './keys';
import { priceOf } from './market';
import { lived, type Plan, type Position } from './position-life';
import { heavyTailed, pick, poisson, rhythm } from './random';
import { activityAt, type Owner, type Pool, type Roster } from './roster';
import { pairPrice, yieldAt } from './yield';

/** No position lives longer, so what is open at a time was opened within this many days. */
export const LIFE_DAYS = 20;
/** The documented owner opens a position this often. */
const STANDING_DAYS = 15;
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
    const position = plannedPosition(roster, id, owner, roster.start + day * DAY_MS + hourOf(own), own);
    if (position === null) continue;
    opened.push(position, ...copiesOf(roster, position));
  }
  return opened.sort((a, b) => a.opened - b.opened);
}

/** The same owner in the same pool in every world, so that documentation can name them; each outlives the opening of the next. */
function standingPosition(roster: Roster, day: number): Position {
  const [owner, pool] = [roster.owners[0] as Owner, roster.pools[0] as Pool];
  const opened = roster.start + day * DAY_MS;
  const plan = { pool, opened: opened + 20 * MINUTE_MS, closed: opened + (LIFE_DAYS - 1) * DAY_MS, usd: 25_000 };
  const name = day === 0 ? ['first'] : ['standing', day];
  return lived(roster, `${day}/first`, owner, plan, keyOf('position', day), randomOf(roster.seed, 'lp', 'position', ...name));
}

/** Milliseconds into a day: more of them in busy hours. */
function hourOf(random: () => number): number {
  for (;;) {
    const time = random() * DAY_MS;
    if (random() * 1.6 < rhythm(time)) return Math.floor(time / 1000) * 1000;
  }
}

function plannedPosition(roster: Roster, id: string, owner: Owner, time: number, random: () => number): Position | null {
  const habit = HABITS[owner.role];
  const weights = owner.role === 'sniper' ? [] : activityBefore(roster, time);
  const plans = Array.from({ length: habit.plans }, () => planOf(roster, owner, habit, time, weights, random)).filter(
    (plan) => plan !== null,
  );
  const ranked = plans.map((plan) => ({ plan, outcome: outcomeOf(roster, plan, habit) })).sort((a, b) => b.outcome - a.outcome);
  const chosen = (habit.takes === 'best' ? ranked[0] : ranked.at(-1))?.plan;
  return chosen === undefined ? null : lived(roster, id, owner, chosen, keyOf(roster.seed, 'position', id), random);
}

function planOf(roster: Roster, owner: Owner, habit: Habit, time: number, weights: readonly number[], random: () => number): Plan | null {
  const pool = owner.role === 'sniper' ? newestPool(roster, time) : activePool(roster, weights, random);
  if (pool === null) return null;
  const opened = owner.role === 'sniper' ? pool.created + Math.floor((1 + random() * 50) * 60) * 1000 : time;
  const hours = Math.min(heavyTailed(random, habit.hours, 0.9), LIFE_DAYS * 24 - 30);
  const closed = opened + Math.max(5 * MINUTE_MS, Math.floor(hours * 3600) * 1000);
  // Nobody can put in many times what a pool holds.
  const usd = Math.min(heavyTailed(random, habit.usd, 1), pool.base_tvl * 0.5);
  return { pool, opened, closed, usd };
}

/** How busy pools were an hour before, cumulated, as far as the last one that was there: later ones add nothing. */
function activityBefore(roster: Roster, time: number): number[] {
  const weights: number[] = [];
  let sum = 0;
  for (const pool of roster.pools) {
    if ((roster.next_made[pool.index] as number) > time - HOUR_MS) break;
    weights.push((sum += activityAt(pool, roster.start, time - HOUR_MS)));
  }
  return weights;
}

function activePool(roster: Roster, weights: readonly number[], random: () => number): Pool | null {
  return (weights.at(-1) ?? 0) === 0 ? null : (roster.pools[pick(random, weights)] as Pool);
}

/** A pool of the day whose first hour is still ahead or running, if there is one. */
function newestPool(roster: Roster, time: number): Pool | null {
  const day = Math.floor((time - roster.start) / DAY_MS);
  const fresh = roster.pools.filter(
    (pool) =>
      pool.created >= roster.start &&
      Math.floor((pool.created - roster.start) / DAY_MS) === day &&
      pool.created < roster.start + (day + 1) * DAY_MS - HOUR_MS,
  );
  return fresh.at(-1) ?? null;
}

/** Return of a plan per USD: fees earned less what the price's move costs a provider. */
function outcomeOf(roster: Roster, { pool, opened, closed }: Plan, habit: Habit): number {
  const move = pairPrice(roster, pool, closed) / pairPrice(roster, pool, opened);
  const hours = (closed - opened) / HOUR_MS;
  const yMove = priceOf(roster.seed, pool.y, closed) / priceOf(roster.seed, pool.y, opened);
  return Math.sqrt(move) * yMove - 1 + hours * yieldAt(roster, pool, (opened + closed) / 2) * habit.range;
}

/** Copiers open a smaller position of the same kind minutes later and leave minutes later. */
function copiesOf(roster: Roster, leader: Position): Position[] {
  if (leader.owner.role !== 'skilled') return [];
  return (roster.copiers.get(leader.owner.index) ?? []).flatMap((owner) => {
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
