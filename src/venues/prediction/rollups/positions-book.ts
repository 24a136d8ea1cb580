import { UNIT, fixed, plain } from '../positions/fixed';
import { type BookFact, conversionsOf, inOrder } from './positions-facts';
import { type Position, type PositionRow, openPosition, readPosition, writePosition } from './positions-row';
import { shareOut } from './positions-shares';

/** A market as positions need it. */
export interface BookMarket {
  condition_id: string;
  neg_risk_id: string | null;
  /** In the venue's order; of a question Yes, then No. */
  tokens: readonly string[];
  resolved_at: Date | null;
  is_voided: boolean;
  /** What a share of each token pays; null while unresolved. */
  payouts: ReadonlyMap<string, string> | null;
}

/** Prices of tokens at a split, a merge (adding up to 1) or a conversion (last prices), by trade_id. */
export type PricesOf = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** Shares that a conversion took from a token at their average cost, or brought to one at their part of it; exact decimal texts. */
export interface ConvertedShares {
  trade_id: string;
  condition_id: string;
  token_id: string;
  came: boolean;
  size: string;
  cost: string;
  timestamp: Date;
}

/** A part of a cost, not divided ahead: what that leaves over would be a gain, or a loss, of next to nothing. */
interface Part {
  of: bigint;
  whole: bigint;
}

interface Place {
  market: BookMarket;
  settled: boolean;
}

const times = (amount: bigint, price: bigint): bigint => (amount * price) / UNIT;

/**
 * One wallet's positions on a market, or on markets that conversions tie together: cost is averaged per token; a split
 * buys and a merge sells every outcome at its set price; a conversion moves cost; resolution realizes all that is held, at the time
 * of resolution; a redemption is cash only. Shares given away that were not seen to come count nowhere but in `unseen_shares`.
 */
export class Book {
  private readonly places = new Map<string, Place>();
  private readonly positions = new Map<string, Position>();
  /** What the conversions of the facts applied so far moved. */
  readonly converted: ConvertedShares[] = [];

  /** Markets, and what was kept of the wallet's positions there: rows that all facts to come stand behind. */
  constructor(
    readonly wallet: string,
    markets: readonly BookMarket[],
    kept: readonly PositionRow[] = [],
  ) {
    for (const market of markets) this.places.set(market.condition_id, { market, settled: false });
    for (const row of kept) {
      const position = readPosition(row);
      this.positions.set(row.token_id, position);
      if (position.settled_at !== null && position.last_fact_at > position.settled_at) this.placeOf(row.condition_id).settled = true;
      else unsettle(position);
    }
  }

  /** Applies facts in order of time, and each market's resolution in its place. */
  run(facts: readonly BookFact[], prices: PricesOf): this {
    const due = [...this.places.values()].filter((place) => !place.settled && place.market.resolved_at !== null);
    due.sort((a, b) => timeOf(a) - timeOf(b));
    const ordered = [...facts].sort(inOrder);
    const conversions = conversionsOf(ordered);
    for (const fact of ordered) {
      while (due[0] !== undefined && timeOf(due[0]) < fact.timestamp.getTime()) this.settle(due.shift() as Place);
      if (fact.side !== 'CONVERSION') this.apply(fact, prices);
      else if (conversions.has(fact)) this.convert(conversions.get(fact) as BookFact[], prices.get(fact.trade_id));
      this.touch(fact);
    }
    for (const place of due) this.settle(place);
    return this;
  }

  /** The positions as rows. */
  rows(): PositionRow[] {
    const lasts = new Map<string, number>();
    for (const { condition_id, last_fact_at } of this.positions.values())
      lasts.set(condition_id, Math.max(lasts.get(condition_id) ?? 0, last_fact_at));
    return [...this.positions.values()].map((position) => writePosition(position, this.wallet, lasts.get(position.condition_id) as number));
  }

  private placeOf(condition_id: string): Place {
    const place = this.places.get(condition_id);
    if (place === undefined) throw new Error(`Market ${condition_id} is not in the book.`);
    return place;
  }

  private positionOf(condition_id: string, token_id: string, at: Date): Position {
    const position = this.positions.get(token_id) ?? openPosition(condition_id, token_id, at.getTime());
    this.positions.set(token_id, position);
    return position;
  }

  /** The market's positions carry the time of the wallet's newest row there, whichever token it was about. */
  private touch({ condition_id, timestamp }: BookFact): void {
    for (const position of this.positions.values()) {
      if (position.condition_id === condition_id) position.last_fact_at = Math.max(position.last_fact_at, timestamp.getTime());
    }
  }

  private apply(fact: BookFact, prices: PricesOf): void {
    const place = this.placeOf(fact.condition_id);
    if (fact.side === 'REDEEM') return this.redeem(fact, place);
    if (fact.side === 'SPLIT' || fact.side === 'MERGE') return this.moveSet(fact, place, prices.get(fact.trade_id));
    const position = this.positionOf(fact.condition_id, fact.token_id as string, fact.timestamp);
    const [size, usdc] = [fixed(fact.size), fixed(fact.usdc_size)];
    position.trades += 1;
    position.last_trade_at = fact.timestamp.getTime();
    if (fact.side === 'BUY') {
      position.buy_usdc += usdc;
      take(position, size, usdc);
    } else {
      position.sell_usdc += usdc;
      position.gain_sell += give(position, size, usdc, fact.timestamp);
    }
    this.revalue(position, place);
  }

  /** A full set comes or goes: its cash is shared out over the outcomes by their prices, to the last digit. */
  private moveSet(fact: BookFact, place: Place, prices: ReadonlyMap<string, string> | undefined): void {
    const { tokens, payouts } = place.market;
    const size = fixed(fact.size);
    const stated = fixed(fact.usdc_size);
    const cash = stated > 0n ? stated : size;
    const weights = tokens.map((token) => fixed((place.settled ? payouts : prices)?.get(token) ?? '0'));
    shareOut(cash, weights).forEach((usdc, index) => {
      const token = tokens[index] as string;
      if (fact.side === 'MERGE' && !this.positions.has(token)) return;
      const position = this.positionOf(fact.condition_id, token, fact.timestamp);
      if (fact.side === 'SPLIT') take(position, size, usdc);
      else position.gain_merge += give(position, size, usdc, fact.timestamp);
      this.revalue(position, place);
    });
  }

  /** A redemption burns what the wallet holds of every outcome (ConditionalTokens.redeemPositions over all index sets); of shares that win its size tells how many were seen to go. */
  private redeem(fact: BookFact, { market }: Place): void {
    if (market.payouts === null) return;
    const size = fixed(fact.size);
    const winner = market.tokens.find((token) => Number(market.payouts?.get(token)) === 1);
    for (const token of market.tokens) {
      const position = this.positions.get(token);
      if (position === undefined) continue;
      const redeemed = token === winner ? position.redeemed_shares + size : position.shares;
      if (redeemed > position.redeemed_shares) position.redeemed_shares = redeemed < position.shares ? redeemed : position.shares;
    }
  }

  /**
   * No shares of the markets that a conversion names become Yes shares of the group's other markets, and cash of one share less than there
   * are such markets. Their cost goes along, shared out by value: what falls on the cash is realized, the rest is what the Yes shares cost.
   */
  private convert(rows: readonly BookFact[], prices: ReadonlyMap<string, string> | undefined): void {
    const first = rows[0] as BookFact;
    const group = this.placeOf(first.condition_id).market.neg_risk_id;
    const named = new Set(rows.map((row) => row.condition_id));
    const size = fixed(first.size);
    const stated = rows.reduce((sum, row) => sum + fixed(row.usdc_size), 0n);
    const cash = stated > 0n ? stated : size * BigInt(named.size - 1);
    const into =
      group === null
        ? []
        : [...this.places.values()].filter(
            ({ market }) => market.neg_risk_id === group && !named.has(market.condition_id) && market.tokens.length === 2,
          );
    const weights = into.map(({ market }) => fixed(prices?.get(market.tokens[0] as string) ?? '0'));
    const value = weights.reduce((sum, weight) => sum + times(size, weight), 0n);
    const realized: Part = into.length === 0 ? { of: 1n, whole: 1n } : { of: cash, whole: cash + value || 1n };
    const held = [...named].map((condition_id) => this.positions.get(this.placeOf(condition_id).market.tokens[1] ?? '')?.shares ?? 0n);
    const seen = held.reduce((least, shares) => (shares < least ? shares : least), size);
    if (seen === 0n) return;
    const moved = shareOut(
      (cash * seen) / size,
      [...named].map(() => UNIT),
    ).map((part, index) => this.giveNo([...named][index] as string, size, seen, part, realized, first));
    const total = moved.reduce((sum, cost) => sum + cost, 0n);
    shareOut(total, weights).forEach((cost, index) => {
      const place = into[index] as Place;
      const position = this.positionOf(place.market.condition_id, place.market.tokens[0] as string, first.timestamp);
      take(position, seen, cost);
      this.noteConverted(first, position, true, seen, cost);
      position.last_fact_at = Math.max(position.last_fact_at, first.timestamp.getTime());
      this.revalue(position, place);
    });
  }

  /** Takes No shares out of a market; tells the cost that goes on to other markets. */
  private giveNo(condition_id: string, size: bigint, seen: bigint, cash: bigint, realized: Part, fact: BookFact): bigint {
    const place = this.placeOf(condition_id);
    const position = this.positions.get(place.market.tokens[1] as string) as Position;
    const cost = (position.cost * seen) / position.shares;
    const moved = cost - (cost * realized.of) / realized.whole;
    position.unseen_shares += size - seen;
    position.gain_conversion += give(position, seen, cash + moved, fact.timestamp);
    this.noteConverted(fact, position, false, seen, cost);
    this.revalue(position, place);
    return moved;
  }

  private noteConverted(
    { trade_id, timestamp }: BookFact,
    { condition_id, token_id }: Position,
    came: boolean,
    size: bigint,
    cost: bigint,
  ): void {
    this.converted.push({ trade_id, condition_id, token_id, came, size: plain(size), cost: plain(cost), timestamp });
  }

  private settle(place: Place): void {
    place.settled = true;
    for (const token of place.market.tokens) {
      const position = this.positions.get(token);
      if (position === undefined) continue;
      position.settled_cost = position.cost;
      this.revalue(position, place);
    }
  }

  /** Once the market is resolved a share is worth its payout: whatever its cost was above or below that is realized. */
  private revalue(position: Position, { market, settled }: Place): void {
    const payout = market.payouts?.get(position.token_id);
    if (!settled || payout === undefined || market.resolved_at === null) return;
    const worth = times(position.shares, fixed(payout));
    position.gain_resolution += worth - position.cost;
    Object.assign(position, { cost: worth, payout_usdc: worth, payout: fixed(payout), settled_at: market.resolved_at.getTime() });
    if (position.status === 'open' && position.shares > 0n) {
      position.status = market.is_voided ? 'voided' : 'resolved';
      position.closed_at = Math.max(market.resolved_at.getTime(), position.opened_at);
    }
  }
}

const timeOf = ({ market }: Place): number => (market.resolved_at as Date).getTime();

function take(position: Position, size: bigint, usdc: bigint): void {
  position.shares += size;
  position.cost += usdc;
  position.paid_shares += size;
  position.paid_usdc += usdc;
  if (position.status === 'closed') Object.assign(position, { status: 'open', closed_at: null });
}

/** Takes shares out at average cost and tells the gain; of more than there are, the part that is there. */
function give(position: Position, size: bigint, usdc: bigint, at: Date): bigint {
  const seen = size < position.shares ? size : position.shares;
  position.unseen_shares += size - seen;
  if (seen === 0n) return 0n;
  const proceeds = seen === size ? usdc : (usdc * seen) / size;
  const cost = (position.cost * seen) / position.shares;
  position.shares -= seen;
  position.cost -= cost;
  position.received_shares += seen;
  position.received_usdc += proceeds;
  if (position.shares === 0n && position.status === 'open') Object.assign(position, { status: 'closed', closed_at: at.getTime() });
  return proceeds - cost;
}

/** Takes a resolution back: possible while nothing came after it. */
function unsettle(position: Position): void {
  if (position.settled_at === null) return;
  position.cost -= position.gain_resolution;
  Object.assign(position, { gain_resolution: 0n, payout_usdc: 0n, settled_cost: 0n, payout: null, settled_at: null });
  if (position.status !== 'closed') Object.assign(position, { status: 'open', closed_at: null });
}
