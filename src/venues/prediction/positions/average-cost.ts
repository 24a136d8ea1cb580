import { UNIT, fixed, plain } from './fixed';

/** One row of a wallet's history on one market, exact decimal texts. A conversion names the token it took shares of; what it brought is a BUY. */
export interface HistoryRow {
  trade_id: string;
  side: 'BUY' | 'SELL' | 'REDEEM' | 'SPLIT' | 'MERGE' | 'CONVERSION';
  token_id: string | null;
  size: string;
  usdc_size: string;
  timestamp: Date;
}

/** What the wallet's rows cannot tell by themselves. */
export interface MarketFacts {
  /** Tokens of the market. */
  tokens: readonly string[];
  /** What each token pays; null while unresolved. */
  payouts: ReadonlyMap<string, string> | null;
  /** Price of each token at a split or merge, adding up to 1, by trade_id. */
  set_prices: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

interface Holding {
  shares: bigint;
  cost: bigint;
}

// Within one second shares are taken to come before they go; a conversion stands between.
const RANKS: Partial<Record<HistoryRow['side'], number>> = { BUY: 0, SPLIT: 0, CONVERSION: 1 };
const rank = ({ side }: HistoryRow): number => RANKS[side] ?? 2;

/**
 * Gain of each SELL and REDEEM row over the average cost of its shares, by trade_id: cost is averaged per token, a split
 * buys and a merge sells every outcome at its set price. Rows whose shares were not seen to come (history cut off) are left out.
 */
export function realizedGains(rows: readonly HistoryRow[], facts: MarketFacts): Map<string, string> {
  const holdings = new Map<string, Holding>(facts.tokens.map((token) => [token, { shares: 0n, cost: 0n }]));
  const gains = new Map<string, string>();
  const ordered = [...rows].sort(
    (a, b) => a.timestamp.getTime() - b.timestamp.getTime() || rank(a) - rank(b) || (a.trade_id < b.trade_id ? -1 : 1),
  );
  for (const row of ordered) {
    const gain = apply(row, holdings, facts);
    if (gain !== null) gains.set(row.trade_id, plain(gain));
  }
  return gains;
}

function apply(row: HistoryRow, holdings: Map<string, Holding>, facts: MarketFacts): bigint | null {
  const size = fixed(row.size);
  const usdc = fixed(row.usdc_size);
  if (row.side === 'BUY' || row.side === 'SELL') {
    const holding = holdingOf(row.token_id as string, holdings);
    if (row.side === 'SELL') return gainOf(usdc, remove(holding, size));
    add(holding, size, usdc);
  } else if (row.side === 'CONVERSION') {
    remove(holdingOf(row.token_id as string, holdings), size);
  } else if (row.side === 'REDEEM') {
    return redeem(size, usdc, holdings, facts);
  } else {
    moveSets(row, size, usdc, holdings, facts);
  }
  return null;
}

function holdingOf(token: string, holdings: Map<string, Holding>): Holding {
  const known = holdings.get(token) ?? { shares: 0n, cost: 0n };
  holdings.set(token, known);
  return known;
}

const gainOf = (proceeds: bigint, cost: bigint | null): bigint | null => (cost === null ? null : proceeds - cost);

function add(holding: Holding, size: bigint, cost: bigint): void {
  holding.shares += size;
  holding.cost += cost;
}

/** Takes shares out at average cost; tells that cost, or null when there are not so many. */
function remove(holding: Holding, size: bigint): bigint | null {
  if (size > holding.shares) {
    Object.assign(holding, { shares: 0n, cost: 0n });
    return null;
  }
  const cost = size === 0n ? 0n : (holding.cost * size) / holding.shares;
  holding.shares -= size;
  holding.cost -= cost;
  return cost;
}

function moveSets(row: HistoryRow, size: bigint, usdc: bigint, holdings: Map<string, Holding>, facts: MarketFacts): void {
  const prices = facts.set_prices.get(row.trade_id);
  const cash = usdc > 0n ? usdc : size;
  for (const token of facts.tokens) {
    const holding = holdingOf(token, holdings);
    if (row.side === 'SPLIT') add(holding, size, (cash * fixed(prices?.get(token) ?? '0')) / UNIT);
    else remove(holding, size);
  }
}

/** Shares that win are redeemed by their number; of what else is left a refund takes what it pays for, and a row that pays nothing takes all. */
function redeem(size: bigint, usdc: bigint, holdings: Map<string, Holding>, { payouts }: MarketFacts): bigint | null {
  if (payouts === null) return null;
  const winner = [...payouts].find(([, payout]) => Number(payout) === 1)?.[0];
  if (size > 0n && winner !== undefined) return gainOf(usdc, remove(holdingOf(winner, holdings), size));
  const left = [...holdings].filter(([token, holding]) => token !== winner && holding.shares > 0n);
  if (left.length === 0) return null;
  const worth = left.reduce((sum, [token, { shares }]) => sum + (shares * fixed(payouts.get(token) ?? '0')) / UNIT, 0n);
  const taken = ({ shares }: Holding): bigint => (usdc < worth ? (shares * usdc) / worth : shares);
  return left.reduce((gain, [, holding]) => gain - (remove(holding, taken(holding)) as bigint), usdc);
}

/** Prices of a full set from the last price of each token: a missing one is what the others leave, all are scaled to add up to 1; none known: equal shares. */
export function setPrices(tokens: readonly string[], last: ReadonlyMap<string, string>): Map<string, string> {
  const known = tokens.map((token) => (last.has(token) ? fixed(last.get(token) as string) : null));
  const sum = known.reduce<bigint>((total, price) => total + (price ?? 0n), 0n);
  const missing = known.filter((price) => price === null).length;
  const rest = missing === 0 || sum >= UNIT ? 0n : (UNIT - sum) / BigInt(missing);
  const filled = known.map((price) => price ?? rest);
  const total = filled.reduce((a, b) => a + b, 0n);
  if (sum === 0n || total === 0n) return new Map(tokens.map((token) => [token, plain(UNIT / BigInt(tokens.length))]));
  return new Map(tokens.map((token, index) => [token, plain(((filled[index] as bigint) * UNIT) / total)]));
}
