import { median, roundTo } from '../../../lib/statistics';

/** What a wallet put into each outcome it held, one list of its markets' numbers, ascending, and others in the same order. */
export interface Sides {
  markets: BigInt64Array;
  tokens: BigInt64Array;
  /** USDC, below 0 for other outcomes than a market's first. */
  nets: Float64Array;
  /** 1 for the outcome of its market that most was put into. */
  tops: Uint8Array;
  /** Microseconds. */
  opened: Float64Array;
}

/** On how many markets a wallet had positions, and how long the vector of what it put into each is (a market's first outcome counts up, others down), USDC. */
export interface Reach {
  markets: number;
  norm: number;
}

/** Two of the wallets, by place, that had positions on one market at least. */
export interface Pair {
  a: number;
  b: number;
  /** Such markets, and those of them in which both put most into one outcome. */
  shared: number;
  agreeing: number;
  /** Of their vectors. */
  product: number;
  /** Seconds from a's opening of a position to b's, of the tokens that both held. */
  median_lag: number | null;
}

/** A market on which two wallets at least had positions, by its number. */
export interface SharedMarket {
  market: bigint;
  holders: number;
  /** USDC put in. */
  paid: number;
}

/** A wallet's part of the market that is looked at: places [from, to) of its lists. */
interface Part {
  place: number;
  own: Sides;
  market: bigint;
  from: number;
  to: number;
  top: bigint;
  net: number;
  paid: number;
}

/** USDC as they are told: sums that are even so are even. */
const toldUsdc = (usdc: number): number => roundTo(usdc, 6);

function partOf(place: number, own: Sides, from: number): Part {
  const market = own.markets[from] as bigint;
  const part: Part = { place, own, market, from, to: from, top: 0n, net: 0, paid: 0 };
  for (; part.to < own.markets.length && own.markets[part.to] === market; part.to += 1) {
    const net = own.nets[part.to] as number;
    part.net += net;
    part.paid += Math.abs(net);
    if (own.tops[part.to] === 1) part.top = own.tokens[part.to] as bigint;
  }
  // Sums of binary fractions: what is none to a millionth is none.
  part.net = toldUsdc(part.net);
  return part;
}

/** How the sides of wallets overlap, going through their markets side by side. */
export function overlapOf(wallets: readonly Sides[]): { reaches: Reach[]; pairs: Pair[]; shared: SharedMarket[] } {
  const reaches = wallets.map((): Reach => ({ markets: 0, norm: 0 }));
  const pairs = wallets.map(() => wallets.map(() => ({ shared: 0, agreeing: 0, product: 0, lags: [] as number[] })));
  const shared: SharedMarket[] = [];
  const next = wallets.map((own, place) => (own.markets.length === 0 ? null : partOf(place, own, 0)));
  for (;;) {
    let market: bigint | null = null;
    for (const part of next) if (part !== null && (market === null || part.market < market)) market = part.market;
    if (market === null) break;
    const held: Part[] = [];
    for (const part of next) if (part?.market === market) held.push(part);
    for (let index = 0; index < held.length; index += 1) {
      const a = held[index] as Part;
      const reach = reaches[a.place] as Reach;
      reach.markets += 1;
      reach.norm += a.net ** 2;
      for (let other = index + 1; other < held.length; other += 1) {
        const b = held[other] as Part;
        const pair = pairs[a.place]?.[b.place] as (typeof pairs)[number][number];
        pair.shared += 1;
        if (a.top === b.top) pair.agreeing += 1;
        pair.product += a.net * b.net;
        addLags(pair.lags, a, b);
      }
      next[a.place] = a.to === a.own.markets.length ? null : partOf(a.place, a.own, a.to);
    }
    if (held.length > 1) shared.push({ market, holders: held.length, paid: toldUsdc(held.reduce((sum, { paid }) => sum + paid, 0)) });
  }
  for (const reach of reaches) reach.norm = Math.sqrt(reach.norm);
  const met = pairs.flatMap((row, a) => row.map(({ lags, ...pair }, b): Pair => ({ a, b, ...pair, median_lag: median(lags) })));
  return { reaches, pairs: met.filter((pair) => pair.shared > 0), shared };
}

function addLags(lags: number[], a: Part, b: Part): void {
  for (let i = a.from; i < a.to; i += 1)
    for (let k = b.from; k < b.to; k += 1)
      if (a.own.tokens[i] === b.own.tokens[k]) lags.push(((b.own.opened[k] as number) - (a.own.opened[i] as number)) / 1e6);
}
