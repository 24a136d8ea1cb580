import { randomOf } from '../world';
import { Book, type WireEvent } from './book';
import { type Order, planSession } from './plan';
import type { Roster } from './roster';
import type { Session } from './span';

const MAKERS_IN_A_COIN = 3;
const NO_HASH = `0x${'0'.repeat(64)}`;
/** Blocks follow each other about this quickly, milliseconds. */
const BLOCK = 90;

export interface TimedEvent {
  time: number;
  event: WireEvent;
}

/** The block an instant falls into. */
const blockOf = (time: number): number => Math.ceil(time / BLOCK);

/** The block whose time `timeOfBlock` is, counted from 2024 on. */
export const numberOfBlock = (time: number): number => Math.floor(time / BLOCK) - Math.floor(Date.UTC(2024, 0, 1) / BLOCK);

/** The one time of everything in a block. */
const timeOfBlock = (block: number): number => block * BLOCK + (Math.imul(block % 0x7fffffff, 0x9e3779b1) >>> 26);

/** A session being lived: the same from the beginning, however it is cut into steps. */
export class LiveSession {
  private readonly orders: Order[];
  /** Everything before this instant has happened. */
  reached: number;
  private next = 0;
  private deals = 0;
  private readonly book: Book;
  private readonly random: () => number;
  private readonly makers: string[];
  private readonly vault: string;
  private readonly cap: number;

  constructor(
    private readonly seed: number,
    roster: Roster,
    readonly session: Session,
    start: number,
  ) {
    this.orders = planSession(seed, roster, session, start);
    this.reached = session.from;
    this.book = new Book(session.coin);
    this.random = randomOf(seed, 'session', session.coin.name, session.index);
    const makers = roster.accounts.filter(({ role }) => role === 'market_maker').map(({ address }) => address);
    this.makers = Array.from({ length: MAKERS_IN_A_COIN }, (_, index) => makers[(session.coin_index + index) % makers.length] as string);
    this.vault = (roster.accounts.find(({ role }) => role === 'vault') as { address: string }).address;
    this.cap = 60_000 * Math.sqrt(session.coin.weight);
    this.orders.push(this.closing());
  }

  /** What happens from where the session stands until `until` (exclusive). */
  run(until: number): TimedEvent[] {
    const events: TimedEvent[] = [];
    for (let order = this.orders[this.next]; order !== undefined; order = this.orders[this.next]) {
      const time = timeOfBlock(blockOf(order.time));
      if (time >= until) break;
      this.next += 1;
      if (order.role === 'vault') this.flatten(time, events);
      else this.execute(order, time, events);
    }
    this.reached = Math.max(this.reached, until);
    return events;
  }

  /** The session's last act: what makers are still left with goes from one to the other. */
  private closing(): Order {
    return {
      time: this.session.to - 60_000,
      trader: this.vault,
      role: 'vault',
      kind: 'close',
      side: 1,
      lots: 0,
      counterparty: null,
      liquidated: false,
      twap: null,
    };
  }

  private flatten(time: number, events: TimedEvent[]): void {
    for (let [first, ...others] = this.book.holders(); first !== undefined; [first, ...others] = this.book.holders()) {
      const opposite = others.find(({ lots }) => Math.sign(lots) === -Math.sign((first as { lots: number }).lots));
      if (opposite === undefined) throw new Error('Positions of a coin do not add up to nothing.');
      const lots = Math.min(Math.abs(first.lots), Math.abs(opposite.lots));
      this.deal(events, time, opposite.trader, first.trader, opposite.lots > 0 ? -1 : 1, lots, 0);
    }
  }

  private execute(order: Order, time: number, events: TimedEvent[]): void {
    const held = this.book.lotsOf(order.trader);
    // Somebody else may have ended the position meanwhile (auto-deleveraging).
    const closable = Math.sign(held) === -order.side ? Math.abs(held) : 0;
    const wanted = { enter: order.lots, reduce: Math.min(order.lots, closable), close: closable, flip: closable + order.lots }[order.kind];
    if (wanted === 0) return;
    if (order.liquidated) return this.liquidate(order, wanted, time, events);
    if (order.counterparty !== null) return this.deal(events, time, order.trader, order.counterparty, order.side, wanted, 0);
    const notional = (wanted / 10 ** this.session.coin.sz_decimals) * this.session.coin.path.at(time);
    const parts = notional > 150_000 ? Math.min(3, wanted) : notional > 30_000 && this.random() < 0.3 ? Math.min(2, wanted) : 1;
    for (let part = 0, left = wanted; part < parts; part += 1) {
      const lots = part === parts - 1 ? left : Math.max(1, Math.floor((left / (parts - part)) * (0.7 + 0.6 * this.random())));
      if (lots <= 0 || lots > left) continue;
      left -= lots;
      this.deal(events, time, order.trader, this.maker(order, lots, time), order.side, lots, part, { twap: order.twap });
    }
    this.unload(time, events);
  }

  private liquidate(order: Order, lots: number, time: number, events: TimedEvent[]): void {
    const winner =
      this.random() < 0.05
        ? this.book
            .holders()
            .find(
              (holder) =>
                Math.sign(holder.lots) === order.side &&
                !this.makers.includes(holder.trader) &&
                holder.trader !== this.vault &&
                holder.trader !== order.trader,
            )
        : undefined;
    const taken = winner === undefined ? 0 : Math.min(lots, Math.abs(winner.lots));
    if (winner !== undefined && taken > 0)
      this.deal(events, time, order.trader, winner.trader, order.side, taken, 3, { liquidates: 'backstop', deleverages: true });
    if (lots > taken)
      this.deal(events, time, order.trader, this.maker(order, lots - taken, time), order.side, lots - taken, 3, { liquidates: 'market' });
  }

  /** Of two market makers the one that is left with less; beyond its limit, the vault. */
  private maker(order: Order, lots: number, time: number): string {
    const change = -order.side * lots;
    const limit = (this.cap / this.session.coin.path.at(time)) * 10 ** this.session.coin.sz_decimals;
    const picks = [0, 1].map(() => this.makers[Math.floor(this.random() * this.makers.length)] as string);
    const after = picks.map((maker) => Math.abs(this.book.lotsOf(maker) + change));
    const best = (after[0] as number) <= (after[1] as number) ? 0 : 1;
    return this.random() < 0.1 || (after[best] as number) > limit ? this.vault : (picks[best] as string);
  }

  /** Now and then a market maker that carries much sheds half of it. */
  private unload(time: number, events: TimedEvent[]): void {
    if (this.random() > 0.04) return;
    const maker = this.makers[Math.floor(this.random() * this.makers.length)] as string;
    const held = this.book.lotsOf(maker);
    if (Math.abs(held) > 1) this.deal(events, time, maker, this.vault, held > 0 ? -1 : 1, Math.ceil(Math.abs(held) / 2), 0);
  }

  private deal(
    events: TimedEvent[],
    time: number,
    taker: string,
    maker: string,
    side: 1 | -1,
    lots: number,
    depth: number,
    more: { twap?: number | null; liquidates?: 'market' | 'backstop'; deleverages?: boolean } = {},
  ): void {
    this.deals += 1;
    const { coin, index } = this.session;
    const half = coin.weight >= 10 ? 0.0002 : 0.0005;
    const price = coin.path.at(time) * (1 + side * (half + depth * 0.0001));
    const id = randomOf(this.seed, coin.name, index, this.deals);
    const tid = Math.floor(id() * 0x3ffff) * 0x1_0000_0000 + Math.floor(id() * 0x1_0000_0000) + 1;
    const twap = more.twap ?? null;
    const hash = twap === null ? hashOf(id) : NO_HASH;
    const deal = {
      time,
      price,
      lots,
      side,
      taker,
      maker,
      maker_rebate: maker !== this.vault && this.makers.includes(maker),
      hash,
      tid,
      twap,
    };
    const fills = this.book.settle({ ...deal, liquidates: more.liquidates ?? null, deleverages: more.deleverages ?? false });
    for (const event of fills) events.push({ time, event });
  }
}

function hashOf(random: () => number): string {
  let text = '0x';
  for (let word = 0; word < 8; word += 1)
    text += Math.floor(random() * 0x1_0000_0000)
      .toString(16)
      .padStart(8, '0');
  return text;
}
