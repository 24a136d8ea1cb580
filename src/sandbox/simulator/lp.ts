import { addTo } from '../../lib/grouped';
import { DAY_MS, HOUR_MS } from '../../lib/time';
import { cataloguePages, poolsAt, stampOf } from './lp/catalogue-pages';
import { historyAnswer, legsOf } from './lp/history-pages';
import { DAMM_V2, DLMM, keyOf } from './lp/keys';
import { ORDER_DAYS, orderTxsOf } from './lp/orders';
import { reservesOf, sqrtPrice } from './lp/pool-state';
import { positionTx } from './lp/position-events';
import type { Position, PositionEvent } from './lp/position-life';
import { LIFE_DAYS, positionsOf } from './lp/positions';
import { makeRoster, type Pool, type Role, type Roster } from './lp/roster';
import { statedHour, swapsOf } from './lp/swaps';
import { type ChainTx, type ToldEvent, transactionAnswer } from './lp/transactions';
import type { VenueWorld, WorldOptions, WorldPage } from './world';

/** Facts a page holds, about. */
const PAGE_FACTS = 4_000;

/** What a provider of the world really is. */
interface PlantedProvider {
  owner: string;
  role: Role;
  /** The provider it copies. */
  of: string | null;
}

export interface LpWorld extends VenueWorld {
  truth(): PlantedProvider[];
  /** Rows of every pool of the index at an instant: the catalogue between its recorded snapshots. */
  catalogue(at: Date): Record<string, unknown>[];
}

/** Remembers the newest results of a function of whole numbers: days and hours are asked for again and again. */
function remember<Value>(most: number, make: (key: number) => Value): (key: number) => Value {
  const known = new Map<number, Value>();
  return (key) => {
    const seen = known.get(key);
    if (seen !== undefined) return seen;
    const value = make(key);
    known.set(key, value);
    if (known.size > most) known.delete(known.keys().next().value as number);
    return value;
  };
}

/**
 * The pretended liquidity-pool venue: pool pages and token lists, transactions of both pool programs and of recurring orders,
 * histories of the positions that the index is asked for, hourly volumes of the pools that are too busy to be read. Prices,
 * positions and orders are functions of the seed and of time, so any instant is entered without living through what was before.
 */
export function lpWorld(options: WorldOptions): LpWorld {
  const roster = makeRoster(options);
  const positions = remember(LIFE_DAYS + 3, (day) => (day < 0 ? [] : positionsOf(roster, day)));
  const orders = remember(ORDER_DAYS + 4, (day) => (day < 0 ? [] : orderTxsOf(roster, day)));
  const positionEvents = remember(3, (day) => eventsOfDay(roster, positions, day));
  const orderTxs = remember(3, (day) => txsOfDay(roster, orders, day));
  const tvl = liquidityOf(roster, positions);
  const hourSwaps = remember(3, (hour) =>
    roster.pools.flatMap((pool) =>
      swapsOf(roster, pool, roster.start + hour * HOUR_MS, (other) => tvl(other, roster.start + hour * HOUR_MS)),
    ),
  );
  const births = roster.pools.filter((pool) => pool.created >= roster.start);
  const dayOf = (time: number): number => Math.floor((time - roster.start) / DAY_MS);

  const eventsIn = (from: number, to: number): PositionEvent[] => {
    const events: PositionEvent[] = [];
    for (let day = dayOf(from); day <= dayOf(to - 1); day += 1) events.push(...positionEvents(day));
    return events.filter((event) => event.time >= from && event.time < to);
  };
  const txsIn = (from: number, to: number, events: readonly PositionEvent[]): ChainTx[] => {
    const txs = births.filter((pool) => pool.created >= from && pool.created < to).map((pool) => birthTx(roster, pool));
    txs.push(...events.map((event) => positionTx(roster, event, tvl(event.position.pool, event.time))));
    for (let day = dayOf(from); day <= dayOf(to - 1); day += 1) txs.push(...orderTxs(day));
    for (let hour = Math.floor((from - roster.start) / HOUR_MS); roster.start + hour * HOUR_MS < to; hour += 1)
      txs.push(...hourSwaps(hour));
    return txs.filter((tx) => tx.time >= from && tx.time < to).sort((a, b) => a.time - b.time);
  };

  return {
    *pages(from, to) {
      const [a, b] = [Math.max(from.getTime(), roster.start), to.getTime()];
      const step = Math.max(1, Math.min(24, Math.round((PAGE_FACTS / options.size) * 30 * 24))) * HOUR_MS;
      for (let time = a; time < b; time += step) {
        const until = Math.min(b, time + step);
        yield* cataloguePages(roster, time, until, tvl);
        const events = eventsIn(time, until);
        yield* transactionPages(roster, time, txsIn(time, until, events));
        yield* historyPages(roster, time, events);
        yield* volumePages(roster, time, until);
      }
    },
    catalogue: (at) => poolsAt(roster, at.getTime(), tvl),
    truth: () =>
      roster.owners.map(({ key, role, leader }) => ({
        owner: key.text,
        role,
        of: leader === null ? null : (roster.owners[leader]?.key.text ?? null),
      })),
  };
}

/** Events of a day, of the positions that can still live then. */
function eventsOfDay(roster: Roster, positions: (day: number) => Position[], day: number): PositionEvent[] {
  const [from, to] = [roster.start + day * DAY_MS, roster.start + (day + 1) * DAY_MS];
  const events: PositionEvent[] = [];
  for (let opened = Math.max(0, day - LIFE_DAYS - 1); opened <= day; opened += 1) {
    for (const position of positions(opened))
      if (position.closed >= from) events.push(...position.events.filter((event) => event.time >= from && event.time < to));
  }
  return events.sort((a, b) => a.time - b.time);
}

function txsOfDay(roster: Roster, orders: (day: number) => ChainTx[], day: number): ChainTx[] {
  const [from, to] = [roster.start + day * DAY_MS, roster.start + (day + 1) * DAY_MS];
  const txs: ChainTx[] = [];
  for (let opened = Math.max(0, day - ORDER_DAYS - 1); opened <= day; opened += 1)
    txs.push(...orders(opened).filter((tx) => tx.time >= from && tx.time < to));
  return txs;
}

/** Liquidity of a pool at the start of an hour: what was there from the beginning and what is deposited in open positions. */
function liquidityOf(roster: Roster, positions: (day: number) => Position[]): (pool: Pool, time: number) => number {
  const hours = remember(4, (hour) => {
    const time = roster.start + hour * HOUR_MS;
    const day = Math.floor((hour * HOUR_MS) / DAY_MS);
    const open = new Float64Array(roster.pools.length);
    for (let opened = Math.max(0, day - LIFE_DAYS - 1); opened <= day; opened += 1) {
      for (const position of positions(opened))
        if (position.opened <= time && position.closed > time)
          open[position.pool.index] = (open[position.pool.index] as number) + position.deposit_usd;
    }
    return open;
  });
  return (pool, time) => pool.base_tvl + (hours(Math.floor((time - roster.start) / HOUR_MS))[pool.index] as number);
}

/** Base fee 27 bytes, padding 3, no dynamic fee: as an event of a pool's making holds them. */
const FEES_WITHOUT_DYNAMIC = 31;
/** Bounds of the program (cp_amm MIN_SQRT_PRICE, MAX_SQRT_PRICE). */
const LEAST_SQRT_PRICE = 4_295_048_016;
const MOST_SQRT_PRICE = 7.922667352106698e28;

/** The transaction that made a pool; a damm_v2 pool is born with its creator's liquidity. */
function birthTx(roster: Roster, pool: Pool): ChainTx {
  const time = pool.created;
  const base = { time, id: `birth/${pool.index}`, payer: pool.creator };
  if (pool.type === 'dlmm') {
    const write: ToldEvent['write'] = (to) => to.key(pool.key).u16(pool.bin_step).key(pool.x.mint, pool.y.mint);
    return { ...base, program: DLMM, steps: [[{ program: DLMM, name: 'LbPairCreate', write }]] };
  }
  const position = keyOf(roster.seed, 'first-position', pool.index);
  const [a, b] = reservesOf(roster, pool, pool.base_tvl, time);
  const made: ToldEvent['write'] = (to) => to.key(pool.key, pool.creator, position, keyOf(roster.seed, 'first-nft', pool.index));
  const born: ToldEvent['write'] = (to) =>
    to
      .key(pool.key, pool.x.mint, pool.y.mint, pool.creator, pool.creator, keyOf('no-vault'))
      .zeros(FEES_WITHOUT_DYNAMIC)
      .u128(LEAST_SQRT_PRICE)
      .u128(MOST_SQRT_PRICE)
      .u8(1, 1)
      .u128(a * b)
      .u128(sqrtPrice(roster, pool, time))
      .u64(Math.floor(time / 1000))
      .u8(0, 0)
      .u64(a, b, a, b)
      .u8(0);
  const steps = [
    [
      { program: DAMM_V2, name: 'EvtCreatePosition', write: made },
      { program: DAMM_V2, name: 'EvtInitializePool', write: born },
    ],
  ];
  return { ...base, program: DAMM_V2, steps };
}

function* transactionPages(roster: Roster, time: number, txs: readonly ChainTx[]): Generator<WorldPage> {
  if (txs.length === 0) return;
  const facts = txs.reduce((sum, tx) => sum + (tx.failed === true ? 0 : tx.steps.flat().length), 0);
  yield {
    name: `transactions_${stampOf(time)}.ndjson`,
    format: 'ndjson',
    records: txs.map((tx) => transactionAnswer(roster.seed, tx)),
    facts,
  };
}

/** The index tells what the chain told already, with USD: nothing new but the values. */
function* historyPages(roster: Roster, time: number, events: readonly PositionEvent[]): Generator<WorldPage> {
  const asked = new Map<Position, PositionEvent[]>();
  for (const event of events) {
    const { position } = event;
    if (position.owner.polled && position.pool.type === 'dlmm') addTo(asked, position, event);
  }
  if (asked.size === 0) return;
  const facts = [...asked.values()].flat().reduce((sum, event) => sum + legsOf(event).length, 0);
  yield {
    name: `positions_historical_${stampOf(time)}.ndjson`,
    format: 'ndjson',
    records: [...asked.values()].map((own) => historyAnswer(roster, own)),
    facts,
  };
}

/** Hours that ended in [from, to). */
function* volumePages(roster: Roster, from: number, to: number): Generator<WorldPage> {
  const first = Math.ceil((from - roster.start) / HOUR_MS) - 1;
  const hours: number[] = [];
  for (let hour = Math.max(0, first); roster.start + (hour + 1) * HOUR_MS < to; hour += 1)
    if (roster.start + (hour + 1) * HOUR_MS >= from) hours.push(roster.start + hour * HOUR_MS);
  if (hours.length === 0) return;
  for (const pool of roster.pools) {
    if (!pool.stated) continue;
    const data = hours.filter((hour) => hour >= pool.created).map((hour) => statedHour(roster, pool, hour));
    if (data.length === 0) continue;
    const record = { start_time: hours[0], end_time: hours.at(-1), timeframe: '1h', data };
    yield { name: `pools_${pool.key.text}_volume_history_1h_${stampOf(from)}.json`, format: 'json', records: [record], facts: data.length };
  }
}
