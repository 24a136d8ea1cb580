import { HOUR_MS } from '../../../lib/time';
import { type Habit, HABITS } from './habits';
import type { Key } from './keys';
import { priceOf } from './market';
import type { Owner, Pool, Roster } from './roster';
import { pairPrice, yieldAt } from './yield';

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

/** Where, from when to when, and with how much. */
export interface Plan {
  pool: Pool;
  opened: number;
  closed: number;
  usd: number;
}

/** What is in a position, in units of the tokens, and the price it was last brought up to. */
interface Content {
  x: number;
  y: number;
  price: number;
  claimed_at: number;
}

/** The position that becomes of a plan: what is done to it from its opening to its close. */
export function lived(roster: Roster, id: string, owner: Owner, plan: Plan, key: Key, random: () => number): Position {
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
  const hours = (time - content.claimed_at) / HOUR_MS;
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
    for (
      let time = opened + habit.claims * HOUR_MS * (0.5 + random());
      time < closed;
      time += habit.claims * HOUR_MS * (0.6 + 0.8 * random())
    )
      diary.push({ time: Math.floor(time / 1000) * 1000, kind: 'claim' });
  const every = habit.rebalance_hours * HOUR_MS;
  if (every > 0)
    for (let time = opened + every; time < closed; time += every * (0.7 + 0.6 * random()))
      diary.push({ time: Math.floor(time / 1000) * 1000, kind: type === 'dlmm' ? 'rebalance' : 'claim' });
  if (random() < 0.22) diary.push({ time: between(), kind: 'add' });
  if (random() < 0.15) diary.push({ time: between(), kind: 'remove' });
  return [...diary.filter(({ time }) => time > opened && time < closed).sort((a, b) => a.time - b.time), { time: closed, kind: 'close' }];
}

const raw = (amount: number, decimals: number): number => Math.max(0, Math.floor(amount * 10 ** decimals));
