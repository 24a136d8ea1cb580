import type { WorldPage } from '../../../src/sandbox/simulator/world';
import { abs, compare, type Exact, exact, minus, over, rounded, sum, times, ZERO } from './exact';

// The three questions computed a second time, in plain TypeScript over the upstream's own records: nothing of the wing is used.

export interface RawFill {
  user: string;
  time: number;
  /** Place in its block. */
  place: number;
  coin: string;
  px: string;
  sz: string;
  side: 'B' | 'A';
  startPosition: string;
  closedPnl: string;
  fee: string;
  crossed: boolean;
  tid: number;
  oid: number;
  hash: string;
  liquidation?: { liquidatedUser: string };
  dir: string;
}

/** Every fill of a world's archive pages. */
export function fillsOf(pages: Iterable<WorldPage>): RawFill[] {
  const fills: RawFill[] = [];
  for (const page of pages) {
    if (page.format !== 'ndjson') continue;
    for (const block of page.records as { events: [string, Omit<RawFill, 'user' | 'place'>][] }[])
      block.events.forEach(([user, fill], place) => fills.push({ ...fill, user, place }));
  }
  return fills;
}

export interface Row {
  trader: string;
  coin: string;
  side: string;
  direction: string;
  price: number;
  size: number;
  usd_value: number;
  closed_pnl: number;
  timestamp: string;
  trade_side: string;
  is_taker: boolean;
  fee_usd: number;
  is_liquidation: boolean;
  tx_hash: string | null;
  trade_id: string;
}

interface Part {
  fill: RawFill;
  opens: boolean;
  size: Exact;
  usd: Exact;
  row: Row;
}

function partsOf(fill: RawFill): Part[] {
  const size = exact(fill.sz);
  const start = exact(fill.startPosition);
  const against = start.n !== 0n && start.n > 0n !== (fill.side === 'B');
  const closing = !against ? ZERO : compare(abs(start), size) < 0 ? abs(start) : size;
  const closeFee = over(times(exact(fill.fee), closing), size);
  const parts: [boolean, Exact, Exact][] = [
    [true, minus(size, closing), minus(exact(fill.fee), closeFee)],
    [false, closing, closeFee],
  ];
  return parts.flatMap(([opens, amount, fee]) => (amount.n === 0n ? [] : [partOf(fill, opens, amount, fee, closing.n > 0n)]));
}

function partOf(fill: RawFill, opens: boolean, size: Exact, fee: Exact, closes: boolean): Part {
  const buys = fill.side === 'B';
  const direction = opens === buys ? 'Long' : 'Short';
  const usd = times(exact(fill.px), size);
  const row: Row = {
    trader: fill.user,
    coin: fill.coin,
    side: `${opens ? 'Open' : 'Close'} ${direction}`,
    direction,
    price: Number(fill.px),
    size: Number(size.n) / Number(size.d),
    usd_value: rounded(usd),
    closed_pnl: opens && closes ? 0 : rounded(exact(fill.closedPnl)),
    timestamp: `${new Date(fill.time).toISOString().slice(0, 19)}Z`,
    trade_side: buys ? 'BUY' : 'SELL',
    is_taker: fill.crossed,
    fee_usd: rounded(fee),
    is_liquidation: fill.liquidation?.liquidatedUser === fill.user || fill.dir === 'Auto-Deleveraging',
    tx_hash: /[^0x]/.test(fill.hash) ? fill.hash : null,
    trade_id: String(fill.tid),
  };
  return { fill, opens, size, usd, row };
}

export interface TradeFilter {
  from: number;
  to: number;
  coin?: string;
  min_usd?: number;
  side?: string;
  direction?: string;
  traders?: ReadonlySet<string>;
}

/** Rows of a trade list, newest first. */
export function tradeRows(fills: readonly RawFill[], filter: TradeFilter): Row[] {
  return fills
    .filter(
      (fill) =>
        fill.time >= filter.from &&
        fill.time < filter.to &&
        (filter.coin === undefined || fill.coin === filter.coin) &&
        (filter.traders?.has(fill.user) ?? true),
    )
    .flatMap(partsOf)
    .filter(
      ({ usd, row }) =>
        (filter.min_usd === undefined || compare(usd, exact(String(filter.min_usd))) >= 0) &&
        (filter.direction === undefined || row.direction === filter.direction),
    )
    .filter(({ row }) => filter.side === undefined || row.side === filter.side || row.trade_side === filter.side)
    .sort(
      (a, b) =>
        b.fill.time - a.fill.time ||
        b.fill.place - a.fill.place ||
        (a.fill.coin < b.fill.coin ? 1 : a.fill.coin > b.fill.coin ? -1 : Number(b.opens) - Number(a.opens)),
    )
    .map(({ row }) => row);
}

/** Totals of the venue over [from, to), compared with [before, from) where that is wholly on record. */
export function totals(
  fills: readonly RawFill[],
  from: number,
  to: number,
  before: number | null,
  smart: ReadonlySet<string> | null,
): Record<string, unknown> {
  const own = fills.filter(({ time }) => time >= from && time < to);
  const takers = own.filter(({ crossed }) => crossed);
  const usd = (chosen: readonly RawFill[]): Exact => sum(chosen.map((fill) => times(exact(fill.px), exact(fill.sz))));
  const [volume, bought, sold] = [
    usd(takers),
    usd(takers.filter(({ side }) => side === 'B')),
    usd(takers.filter(({ side }) => side === 'A')),
  ];
  const isOnRecord = before !== null && fills.some(({ time }) => time <= before);
  const earlier = !isOnRecord ? ZERO : usd(fills.filter(({ time, crossed }) => crossed && time >= before && time < from));
  const traders = new Set(own.map(({ user }) => user));
  const ofSmart = smart === null ? null : own.filter(({ user }) => smart.has(user));
  return {
    total_volume_usd: rounded(volume),
    total_trades: takers.length,
    active_traders: traders.size,
    smart_wallet_count: ofSmart === null ? null : new Set(ofSmart.map(({ user }) => user)).size,
    unique_coins: new Set(own.map(({ coin }) => coin)).size,
    buy_volume_usd: rounded(bought),
    sell_volume_usd: rounded(sold),
    long_short_ratio: sold.n === 0n ? null : rounded(over(bought, sold)),
    smart_volume_usd: ofSmart === null ? null : rounded(usd(ofSmart)),
    liquidation_volume_usd: rounded(usd(takers.filter(({ liquidation }) => liquidation !== undefined))),
    volume_change_pct: earlier.n === 0n ? null : rounded(over(times({ n: 100n, d: 1n }, minus(volume, earlier)), earlier)),
  };
}
