import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lib/time';
import { randomOf } from '../world';
import type { EventWriter } from './encode';
import { DCA, type Key, keyOf } from './keys';
import { priceOf, type Token } from './market';
import { heavyTailed, poisson, type Random } from './random';
import type { Roster } from './roster';
import type { ChainTx, ToldEvent } from './transactions';

/** Orders last at most this long. */
export const ORDER_DAYS = 14;
const CYCLES = [
  [5 * MINUTE_MS, 30],
  [30 * MINUTE_MS, 24],
  [HOUR_MS, 20],
  [6 * HOUR_MS, 12],
  [DAY_MS, 10],
] as const;
const FEE = 0.001;
const STANDING_CYCLES = 26;
const STANDING_USD = 250;

interface Order {
  id: string;
  key: Key;
  owner: Key;
  input: Token;
  output: Token;
  opened: number;
  every: number;
  cycles: number;
  /** Cycles after which the owner gives up; equal to `cycles` when it runs to its end. */
  filled: number;
  /** Smallest units. */
  per_cycle: number;
}

/** Recurring orders opened on a day, as the transactions of their whole life, in order of time. */
export function orderTxsOf(roster: Roster, day: number): ChainTx[] {
  const random = randomOf(roster.seed, 'lp', 'orders', day);
  const orders = Array.from({ length: poisson(random, roster.orders / 30) }, (_, i) => makeOrder(roster, day, i));
  orders.push(standingOrder(roster, day));
  return orders.flatMap((order) => (order === null ? [] : lifeOf(roster, order))).sort((a, b) => a.time - b.time);
}

function makeOrder(roster: Roster, day: number, index: number): Order | null {
  const id = `${day}/${index}`;
  const random = randomOf(roster.seed, 'lp', 'order', id);
  const opened = roster.start + day * DAY_MS + Math.floor(random() * 86_400) * 1000;
  const known = roster.tokens.filter((token) => token.created + DAY_MS < opened && token.index > 1);
  const token = random() < 0.35 ? (roster.tokens[0] as Token) : known[Math.floor(random() ** 2 * known.length)];
  if (token === undefined) return null;
  const dollars = roster.tokens[1] as Token;
  const [input, output] = random() < 0.68 ? [dollars, token] : [token, dollars];
  const [every, most] = CYCLES[Math.floor(random() * CYCLES.length)] as (typeof CYCLES)[number];
  const cycles = Math.max(2, Math.min(Math.floor(most * (0.4 + random())), Math.floor((ORDER_DAYS * DAY_MS) / every) - 1));
  const usd = heavyTailed(random, 40, 1.2);
  return {
    id,
    key: keyOf(roster.seed, 'order', id),
    owner: roster.traders[Math.floor(random() * roster.traders.length)] as Key,
    input,
    output,
    opened,
    every,
    cycles,
    filled: random() < 0.2 ? Math.floor(random() * cycles) : cycles,
    per_cycle: Math.max(1, Math.floor((usd / priceOf(roster.seed, input, opened)) * 10 ** input.decimals)),
  };
}

/** Buys a settled token every hour until after the next day's order has begun: at any time something is due within the hour. */
function standingOrder(roster: Roster, day: number): Order {
  const [input, output] = [roster.tokens[1], roster.tokens[3]] as [Token, Token];
  const id = `${day}/standing`;
  return {
    id,
    key: keyOf(roster.seed, 'order', id),
    owner: keyOf(roster.seed, 'saver'),
    input,
    output,
    opened: roster.start + day * DAY_MS + 5 * MINUTE_MS,
    every: HOUR_MS,
    cycles: STANDING_CYCLES,
    filled: STANDING_CYCLES,
    per_cycle: STANDING_USD * 10 ** input.decimals,
  };
}

/** The first cycle runs at once, the others at equal steps by a keeper; then the order closes itself. */
function lifeOf(roster: Roster, order: Order): ChainTx[] {
  const random = randomOf(roster.seed, 'lp', 'order-life', order.id);
  const open: ChainTx = { time: order.opened, id: `order/${order.id}/open`, payer: order.owner, program: DCA, steps: [[opened(order)]] };
  const fills = Array.from({ length: order.filled }, (_, cycle) => fillOf(roster, order, cycle, random));
  const complete = order.filled === order.cycles;
  const last = fills.at(-1)?.time ?? order.opened;
  const time = complete ? last + 1000 : last + Math.floor((order.every * (0.2 + 0.6 * random())) / 1000) * 1000;
  const received = fills.reduce((sum, fill) => sum + fill.out, 0);
  const close: ChainTx = {
    time,
    id: `order/${order.id}/close`,
    payer: complete ? KEEPER : order.owner,
    program: DCA,
    steps: [[closed(order, received, !complete)]],
  };
  return [open, ...fills, close];
}

const KEEPER = keyOf('keeper');

const told = (name: string, write: ToldEvent['write']): ToldEvent => ({ program: DCA, name, write });

function writeTerms(to: EventWriter, order: Order): EventWriter {
  return to
    .key(order.owner, order.key)
    .u64(order.per_cycle * order.cycles)
    .key(order.input.mint, order.output.mint)
    .u64(order.every / 1000, order.per_cycle, order.opened / 1000);
}

const opened = (order: Order): ToldEvent => told('Opened', (to) => writeTerms(to, order));

function closed(order: Order, received: number, byUser: boolean): ToldEvent {
  const unfilled = order.per_cycle * (order.cycles - order.filled);
  return told('Closed', (to) => writeTerms(to, order).u64(unfilled, received, unfilled).bool(byUser));
}

function fillOf(roster: Roster, order: Order, cycle: number, random: Random): ChainTx & { out: number } {
  const { owner, key, input, output, per_cycle } = order;
  const time = order.opened + cycle * order.every + (1 + Math.floor(random() * 20)) * 1000;
  const value = (per_cycle / 10 ** input.decimals) * priceOf(roster.seed, input, time);
  const out = Math.floor((value / priceOf(roster.seed, output, time)) * (1 - 0.002 * random()) * 10 ** output.decimals);
  const fee = Math.floor(out * FEE);
  const events = [
    told('CollectedFee', (to) => to.key(owner, key, output.mint).u64(fee)),
    told('Filled', (to) => to.key(owner, key, input.mint, output.mint).u64(per_cycle, out).key(output.mint).u64(fee)),
  ];
  return { time, id: `order/${order.id}/${cycle}`, payer: KEEPER, program: DCA, steps: [events], out };
}
