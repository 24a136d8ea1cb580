import { type Counted, type Told, type ToldMarket, type ToldWorld, PriceBook, countPositions } from '../wallets/told-world';

/** What scored wallets hold and do on active markets, from what the upstream told: plain TypeScript, no rollups, no SQL. */

const MINUTE = 60_000;

export interface Run {
  day: string;
  scores: Map<string, number | null>;
}

/** A position that is open, of a scored wallet. */
export interface Held extends Counted {
  score: number;
}

/** A wallet on the outcome it has most on, net of what it has on others. */
interface Stance extends Held {
  net: number;
  weight: number;
}

export interface Consensus {
  token: string | null;
  strength: number | null;
  wallets: Stance[];
}

export const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
export const mean = (values: readonly number[]): number => sum(values) / values.length;
export const iso = (time: number): string => `${new Date(time).toISOString().slice(0, 19)}Z`;
export const by = <Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[][] => [...grouped(items, keyOf).values()];
/** How far a score stands above 50. */
export const byScore = (score: number): number => Math.max(0, (score - 50) / 50);
export const byMoney = (): number => 1;

function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const known = groups.get(keyOf(item));
    if (known === undefined) groups.set(keyOf(item), [item]);
    else known.push(item);
  }
  return groups;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return ((sorted[Math.floor((sorted.length - 1) / 2)] as number) + (sorted[Math.ceil((sorted.length - 1) / 2)] as number)) / 2;
}

/** Wallets by weight; those that open one outcome within a minute of each other are one. */
export function independent(wallets: readonly { token: string; opened: number; weight: number }[]): number {
  const clusters: number[] = [];
  for (const same of by(wallets, ({ token }) => token)) {
    const ordered = [...same].sort((a, b) => a.opened - b.opened);
    ordered.forEach(({ opened, weight }, index) => {
      const before = ordered[index - 1];
      if (before !== undefined && opened - before.opened <= MINUTE) clusters[clusters.length - 1] = (clusters.at(-1) as number) + weight;
      else clusters.push(weight);
    });
  }
  const squares = sum(clusters.map((weight) => weight ** 2));
  return squares === 0 ? 0 : sum(clusters) ** 2 / squares;
}

/** Consensus, as it is defined. */
export function consensusOf(held: readonly Held[], weigh: (score: number) => number): Consensus {
  const wallets = by(held, ({ wallet }) => wallet).flatMap((own): Stance[] => {
    const [top, ...others] = [...own].sort((a, b) => b.cost - a.cost || (a.token < b.token ? -1 : 1)) as [Held, ...Held[]];
    const net = top.cost - sum(others.map(({ cost }) => cost));
    return net > 1e-9 ? [{ ...top, net, weight: net * weigh(top.score) }] : [];
  });
  const weights = by(wallets, ({ token }) => token).map((own) => ({ token: own[0]?.token as string, weight: sum(own.map(({ weight }) => weight)) })); // prettier-ignore
  const [best] = weights.sort((a, b) => b.weight - a.weight || (a.token < b.token ? -1 : 1));
  const token = best !== undefined && best.weight > 0 ? best.token : null;
  return { token, wallets, strength: token === null || wallets.length < 3 ? null : (best?.weight as number) / sum(weights.map(({ weight }) => weight)) }; // prettier-ignore
}

export class SignalBook {
  readonly facts: Told[];
  readonly positions: Counted[];
  readonly held: Map<string, Held[]>;
  readonly active: ToldMarket[];
  private readonly book: PriceBook;
  private readonly byMarket: Map<string, Told[]>;
  private readonly settled = new Map<string, number>();

  constructor(
    readonly told: ToldWorld,
    readonly now: number,
    private readonly runs: Run[],
  ) {
    this.facts = told.facts.filter(({ time }) => time < now);
    this.byMarket = grouped(this.facts, ({ market }) => market);
    this.positions = countPositions(told, now).filter(({ paidShares }) => paidShares > 0);
    this.book = new PriceBook(this.facts);
    const open = this.positions.filter(({ status, shares }) => status === 'open' && shares > 0);
    const scored = open.flatMap((one): Held[] => {
      const score = runs.at(-1)?.scores.get(one.wallet) ?? null;
      return score === null ? [] : [{ ...one, score }];
    });
    this.held = grouped(scored, ({ market }) => market.id);
    this.active = [...told.markets.values()].filter(({ created, end, resolved }) => created <= now && end > now && (resolved === null || resolved > now)); // prettier-ignore
  }

  fills = (id: string): Told[] => (this.byMarket.get(id) ?? []).filter(({ token }) => token !== null);
  all = (id: string): Told[] => this.byMarket.get(id) ?? [];
  volume = (id: string, from = 0): number => sum(this.fills(id).filter(({ taker, time }) => taker && time >= from).map(({ usdc }) => usdc)); // prettier-ignore
  on = (id: string, test: (score: number) => boolean): Held[] => (this.held.get(id) ?? []).filter(({ score }) => test(score));
  smart = (id: string): Consensus => consensusOf(this.on(id, (score) => score >= 60), byScore); // prettier-ignore
  nameOf = ({ tokens, outcomes }: ToldMarket, token: string): string => outcomes[tokens.indexOf(token)] as string;

  /** Score that judges what a wallet does at a time: of the newest run of a day before, or of the first run. */
  scoreAt(wallet: string, time: number): number | null {
    const day = iso(time).slice(0, 10);
    return (this.runs.filter((run) => run.day < day).at(-1) ?? this.runs[0])?.scores.get(wallet) ?? null;
  }

  /** Prices a token may have now: those of its last second; else what the other outcome's leave. */
  possible({ tokens }: ToldMarket, token: string): number[] {
    const own = this.book.last(token, this.now);
    const other = tokens.find((one) => one !== token) as string;
    return own.length > 0 ? own : this.book.last(other, this.now).map((price) => 1 - price);
  }

  /** Fills of one second have no order that was told: which price the store took for the last is settled by what it answers. */
  settle(market: ToldMarket, token: string, price: number): void {
    if (this.possible(market, token).some((one) => Math.abs(one - price) < 1e-6)) this.settled.set(token, price);
  }

  /** Price of an outcome; null where none is known. */
  price(market: ToldMarket, token: string): number | null {
    const prices = new Set(this.possible(market, token));
    return prices.size > 1 ? (this.settled.get(token) ?? ([...prices][0] as number)) : ([...prices][0] ?? null);
  }

  /** The dearest outcome's. */
  leader(market: ToldMarket): { token: string; price: number } | null {
    const priced = market.tokens.flatMap((token) => {
      const price = this.price(market, token);
      return price === null ? [] : [{ token, price }];
    });
    return priced.sort((a, b) => b.price - a.price || market.tokens.indexOf(a.token) - market.tokens.indexOf(b.token))[0] ?? null;
  }

  /** A wallet's fills of an outcome within a window, by scores of then. */
  flows(market: ToldMarket, from: number, min: number): { token: string; wallet: string; score: number; own: Told[] }[] {
    const smart = this.fills(market.id).filter(({ wallet, time }) => time >= from && (this.scoreAt(wallet, time) ?? -1) >= min);
    return by(smart, ({ wallet, token }) => `${wallet}|${token}`).map((own) => {
      const { wallet, token } = own[0] as Told;
      return { token: token as string, wallet, own, score: this.scoreAt(wallet, Math.max(...own.map(({ time }) => time))) as number };
    });
  }
}

export const usdcOf = (facts: readonly Told[], side: string): number => sum(facts.filter((fact) => fact.side === side).map(({ usdc }) => usdc)); // prettier-ignore
export const sizeOf = (facts: readonly Told[], side: string): number => sum(facts.filter((fact) => fact.side === side).map(({ size }) => size)); // prettier-ignore
