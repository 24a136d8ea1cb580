import type { RawFill } from './recount';

// Round trips, positions and figures of accounts a second time: plain loops over the upstream's own records, nothing of the wing is used.
// Amounts are whole numbers of 10⁻¹².

const DECIMALS = 12;
export const ONE = 10n ** BigInt(DECIMALS);
const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

export function amount(text: string): bigint {
  const [, sign, whole, part = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) as unknown as [string, string, string, string | undefined];
  return BigInt(`${sign}${whole}${part.padEnd(DECIMALS, '0')}`);
}

const times = (a: bigint, b: bigint): bigint => (a * b) / ONE;
const abs = (a: bigint): bigint => (a < 0n ? -a : a);
const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/** A fraction rounded to so many places, ties upwards; null over nothing. */
export function share(n: bigint, d: bigint, places = 6): number | null {
  if (d === 0n) return null;
  const [top, bottom] = d < 0n ? [-n, -d] : [n, d];
  const scale = 10n ** BigInt(places);
  const doubled = 2n * top * scale + bottom;
  const whole = doubled / (2n * bottom) - (doubled % (2n * bottom) < 0n ? 1n : 0n);
  return Number(whole) / Number(scale) + 0;
}

/** An amount as it is sent: six places. */
export const usd = (value: bigint): number => share(value, ONE) as number;

export interface Fact {
  user: string;
  coin: string;
  time: number;
  place: number;
  buys: boolean;
  px: bigint;
  sz: bigint;
  usd: bigint;
  opened: bigint;
  closed: bigint;
  start: bigint;
  pnl: bigint;
  fee: bigint;
  taker: boolean;
  liquidated: boolean;
  tid: number;
}

/** The records as facts, oldest first. */
export function factsOf(fills: readonly RawFill[]): Fact[] {
  return fills
    .map((fill): Fact => {
      const [px, sz, start] = [amount(fill.px), amount(fill.sz), amount(fill.startPosition)];
      const buys = fill.side === 'B';
      const closed = start !== 0n && start > 0n !== buys ? least(abs(start), sz) : 0n;
      return {
        user: fill.user, coin: fill.coin, time: fill.time, place: fill.place, buys, px, sz, usd: times(px, sz), opened: sz - closed, closed, start,
        pnl: amount(fill.closedPnl), fee: amount(fill.fee), taker: fill.crossed, tid: fill.tid,
        liquidated: fill.liquidation?.liquidatedUser === fill.user || fill.dir === 'Auto-Deleveraging',
      }; // prettier-ignore
    })
    .sort((a, b) => a.time - b.time || a.place - b.place);
}

export interface Trip {
  user: string;
  coin: string;
  long: boolean;
  openedAt: number;
  closedAt: number | null;
  lastAt: number;
  openedSize: bigint;
  openedUsd: bigint;
  gross: bigint;
  fees: bigint;
  size: bigint;
}

/** Every round trip of the facts, those still open too. */
export function tripsOf(facts: readonly Fact[]): Trip[] {
  const trips: Trip[] = [];
  const open = new Map<string, Trip>();
  for (const fact of facts) {
    const key = `${fact.user}|${fact.coin}`;
    const closeFee = fact.closed === 0n ? 0n : fact.opened === 0n ? fact.fee : rounded(fact.fee * fact.closed, fact.sz);
    let trip = open.get(key);
    if (fact.closed > 0n) {
      if (trip === undefined) throw new Error('Closes what was never opened.');
      trip.gross += fact.pnl;
      trip.fees += closeFee;
      trip.lastAt = fact.time;
      trip.size -= fact.closed;
      if (trip.size === 0n) {
        trip.closedAt = fact.time;
        open.delete(key);
        trip = undefined;
      }
    }
    if (fact.opened > 0n) {
      if (trip === undefined) {
        trip = { user: fact.user, coin: fact.coin, long: fact.buys, openedAt: fact.time, closedAt: null, lastAt: 0, openedSize: 0n, openedUsd: 0n, gross: 0n, fees: 0n, size: 0n }; // prettier-ignore
        trips.push(trip);
        open.set(key, trip);
      }
      trip.openedSize += fact.opened;
      trip.openedUsd += times(fact.px, fact.opened);
      trip.fees += fact.fee - closeFee;
      trip.size += fact.opened;
      trip.lastAt = fact.time;
    }
  }
  return trips;
}

/** To 10⁻¹², halves away from zero. */
function rounded(n: bigint, d: bigint): bigint {
  const magnitude = (abs(n) * 2n + d) / (2n * d);
  return n < 0n ? -magnitude : magnitude;
}

export const sum = (values: readonly bigint[]): bigint => values.reduce((total, value) => total + value, 0n);
export const groupBy = <T>(rows: readonly T[], key: (row: T) => string): Map<string, T[]> => {
  const groups = new Map<string, T[]>();
  for (const row of rows) {
    const known = groups.get(key(row));
    if (known === undefined) groups.set(key(row), [row]);
    else known.push(row);
  }
  return groups;
};

/** Wilson's lower bound at 90 %, written again from the textbook. */
export function lowerBound(wins: number, n: number): number | null {
  if (n === 0) return null;
  const z = 1.645;
  const p = wins / n;
  return six(Math.max(0, (p + (z * z) / (2 * n) - z * Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n))) / (1 + (z * z) / n)));
}

export const six = (x: number): number => Math.round(x * 1e6) / 1e6 + 0;
export const second = (time: number): string => `${new Date(time).toISOString().slice(0, 19)}Z`;
const dayOf = (time: number): number => Math.floor(time / DAY);

export const volumeOf = (facts: readonly Fact[]): bigint => sum(facts.map((fact) => fact.usd));
const netOf = (trip: Trip): bigint => trip.gross - trip.fees;

/** What the closed parts had been entered for. */
function entryOf(fact: Fact): bigint {
  if (fact.closed === 0n) return 0n;
  const entry = times(fact.px, fact.closed) + (fact.buys ? fact.pnl : -fact.pnl);
  return entry > 0n ? entry : 0n;
}

export interface Figures {
  [name: string]: unknown;
}

/** R-TRADER of one account over [from, to), without what scores say; `facts` and `trips` are its own (and the coin's). */
export function figuresOf(facts: readonly Fact[], trips: readonly Trip[], from: number, to: number): Figures | null {
  const own = facts.filter(({ time }) => time >= from && time < to);
  if (own.length === 0) return null;
  const closed = trips.filter(({ closedAt }) => closedAt !== null && closedAt >= from && closedAt < to);
  const nets = closed.map(netOf);
  const won = nets.filter((net) => net > 0n);
  const lost = nets.filter((net) => net <= 0n);
  const pnl = sum(own.map((fact) => fact.pnl));
  const fees = sum(own.map((fact) => fact.fee));
  const days = groupBy(own, ({ time }) => String(dayOf(time)));
  const coins = [...groupBy(own, ({ coin }) => coin)].map(([coin, rows]) => ({ coin, volume: volumeOf(rows) }));
  const top = coins.sort((a, b) => (a.volume === b.volume ? (a.coin < b.coin ? -1 : 1) : a.volume > b.volume ? -1 : 1))[0] as {
    coin: string;
    volume: bigint;
  };
  const ordered = nets.sort((a, b) => (a < b ? -1 : 1));
  return {
    total_pnl: usd(pnl),
    total_volume: usd(volumeOf(own)),
    total_trades: own.length,
    winning_trades: won.length,
    win_rate: closed.length === 0 ? null : six(won.length / closed.length),
    win_rate_lb: lowerBound(won.length, closed.length),
    roi_pct: share(100n * pnl, sum(own.map(entryOf))),
    net_pnl: usd(pnl - fees),
    fees_usd: usd(fees),
    closing_trades: closed.length,
    losing_trades: lost.length,
    profit_factor: share(sum(won), -sum(lost)),
    sharpe: sharpeOf([...days].map(([day, rows]) => [Number(day), sum(rows.map((fact) => fact.pnl - fact.fee))])),
    max_drawdown_usd: usd(drawdownOf(own.map((fact) => fact.pnl))),
    best_trade_usd: ordered.length === 0 ? null : usd(ordered.at(-1) as bigint),
    worst_trade_usd: ordered.length === 0 ? null : usd(ordered[0] as bigint),
    active_days: days.size,
    coins_traded: coins.length,
    first_trade: second((own[0] as Fact).time),
    last_trade: second((own.at(-1) as Fact).time),
    top_coin: top.coin,
    top_coin_share: share(top.volume, volumeOf(own)),
    largest_trade_usd: usd(own.map((fact) => (fact.opened > fact.closed ? times(fact.px, fact.opened) : times(fact.px, fact.closed))).reduce((a, b) => (a > b ? a : b))), // prettier-ignore
    avg_hold_minutes:
      closed.length === 0
        ? null
        : six(closed.reduce((total, trip) => total + ((trip.closedAt as number) - trip.openedAt), 0) / closed.length / 60_000),
    avg_win_usd: share(sum(won), ONE * BigInt(won.length)),
    avg_loss_usd: share(sum(lost), ONE * BigInt(lost.length)),
  };
}

function sharpeOf(days: readonly [number, bigint][]): number | null {
  if (days.length < 20) return null;
  const numbers = days.map(([day]) => day);
  const span = Math.max(...numbers) - Math.min(...numbers) + 1;
  const nets = [...days.map(([, net]) => Number(net) / Number(ONE)), ...Array.from({ length: span - days.length }, () => 0)];
  const mean = nets.reduce((a, b) => a + b, 0) / span;
  const variance = nets.reduce((total, net) => total + (net - mean) ** 2, 0) / (span - 1);
  return six((mean / Math.sqrt(variance)) * Math.sqrt(365));
}

export function drawdownOf(changes: readonly bigint[]): bigint {
  let [grown, peak, fall] = [0n, 0n, 0n];
  for (const change of changes) {
    grown += change;
    if (grown > peak) peak = grown;
    if (peak - grown > fall) fall = peak - grown;
  }
  return fall;
}

/** The last price of a coin before an instant. */
export function priceAt(facts: readonly Fact[], coin: string, before: number): bigint | null {
  return facts.filter((fact) => fact.coin === coin && fact.time < before).at(-1)?.px ?? null;
}
