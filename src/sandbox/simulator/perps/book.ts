import type { SimCoin } from './coins';

/** A fill in the upstream's own fields. */
interface WireFill {
  coin: string;
  px: string;
  sz: string;
  side: 'B' | 'A';
  time: number;
  startPosition: string;
  dir: string;
  closedPnl: string;
  hash: string;
  oid: number;
  crossed: boolean;
  fee: string;
  tid: number;
  feeToken: 'USDC';
  twapId: number | null;
  liquidation?: { liquidatedUser: string; markPx: string; method: 'market' | 'backstop' };
}

export type WireEvent = [user: string, fill: WireFill];

/** One agreement between two accounts. */
export interface Deal {
  time: number;
  price: number;
  lots: number;
  /** +1: the taker buys. */
  side: 1 | -1;
  taker: string;
  maker: string;
  maker_rebate: boolean;
  hash: string;
  tid: number;
  twap: number | null;
  liquidates: 'market' | 'backstop' | null;
  /** The maker is auto-deleveraged. */
  deleverages: boolean;
}

// The venue's base fees; large makers are paid a little.
const TAKER_FEE = 0.00045;
const MAKER_FEE = 0.00015;
const MAKER_REBATE = -0.00003;

interface Holding {
  lots: number;
  /** What the open position was entered for, USD. */
  cost: number;
}

/** Positions of everybody in one coin, and the fills that change them. Sizes are whole lots, so that nothing drifts. */
export class Book {
  private readonly holdings = new Map<string, Holding>();
  private readonly unit: number;

  constructor(private readonly coin: SimCoin) {
    this.unit = 10 ** -coin.sz_decimals;
  }

  lotsOf(trader: string): number {
    return this.holdings.get(trader)?.lots ?? 0;
  }

  /** Accounts that hold something, the largest first; equal ones by address. */
  holders(): { trader: string; lots: number }[] {
    return [...this.holdings]
      .flatMap(([trader, { lots }]) => (lots === 0 ? [] : [{ trader, lots }]))
      .sort((a, b) => Math.abs(b.lots) - Math.abs(a.lots) || (a.trader < b.trader ? -1 : 1));
  }

  /** Both accounts' fills of a deal, the maker's first. */
  settle(deal: Deal): [WireEvent, WireEvent] {
    const price = priceText(deal.price, this.coin.sz_decimals);
    return [this.fill(deal, price, deal.maker, -deal.side as 1 | -1, false), this.fill(deal, price, deal.taker, deal.side, true)];
  }

  private fill(deal: Deal, price: string, trader: string, side: 1 | -1, crossed: boolean): WireEvent {
    const start = this.lotsOf(trader);
    const pnl = this.move(trader, side * deal.lots, Number(price));
    const notional = Number(price) * deal.lots * this.unit;
    const rate = crossed ? TAKER_FEE : deal.maker_rebate ? MAKER_REBATE : MAKER_FEE;
    const fill: WireFill = {
      coin: this.coin.name,
      px: price,
      sz: this.amount(deal.lots),
      side: side > 0 ? 'B' : 'A',
      time: deal.time,
      startPosition: this.amount(start),
      dir: deal.deleverages && !crossed ? 'Auto-Deleveraging' : label(start, side * deal.lots),
      closedPnl: trimmed(pnl, 6),
      hash: deal.hash,
      oid: 200_000_000_000 + (deal.tid % 1_000_000_000) * 2 + (crossed ? 1 : 0),
      crossed,
      fee: trimmed(notional * rate, 6),
      tid: deal.tid,
      feeToken: 'USDC',
      twapId: crossed ? deal.twap : null,
    };
    if (deal.liquidates !== null) fill.liquidation = { liquidatedUser: deal.taker, markPx: price, method: deal.liquidates };
    return [trader, fill];
  }

  /** Changes a position and returns what was realised: average entry cost. */
  private move(trader: string, change: number, price: number): number {
    const held = this.holdings.get(trader) ?? { lots: 0, cost: 0 };
    const closing = Math.sign(held.lots) === -Math.sign(change) ? Math.min(Math.abs(held.lots), Math.abs(change)) : 0;
    const entry = held.lots === 0 ? 0 : held.cost / Math.abs(held.lots);
    const pnl = Math.sign(held.lots) * (price * this.unit - entry) * closing;
    const opening = Math.abs(change) - closing;
    const lots = held.lots + change;
    if (lots === 0) this.holdings.delete(trader);
    else this.holdings.set(trader, { lots, cost: held.cost - entry * closing + opening * price * this.unit });
    return closing === 0 ? 0 : pnl;
  }

  private amount(lots: number): string {
    return trimmed(lots * this.unit, this.coin.sz_decimals);
  }
}

function label(start: number, change: number): string {
  const after = start + change;
  if (start * after < 0) return start > 0 ? 'Long > Short' : 'Short > Long';
  const opens = start * change >= 0;
  const long = opens ? change > 0 : start > 0;
  return `${opens ? 'Open' : 'Close'} ${long ? 'Long' : 'Short'}`;
}

/** As the upstream writes decimals: no needless zeros, but one after the point. */
function trimmed(value: number, decimals: number): string {
  const fixed = value.toFixed(Math.max(decimals, 1)).replace(/0+$/, '');
  const text = fixed.endsWith('.') ? `${fixed}0` : fixed;
  return text === '-0.0' ? '0.0' : text;
}

/** Prices have at most five significant figures and 6 − szDecimals decimals; whole numbers are always allowed. */
function priceText(price: number, szDecimals: number): string {
  const decimals = Math.max(0, Math.min(6 - szDecimals, 4 - Math.floor(Math.log10(price))));
  return trimmed(price, decimals);
}
