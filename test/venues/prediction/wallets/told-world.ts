import type { Pool } from 'pg';
import { type PredictionWorld, predictionWorld } from '../../../../src/sandbox/simulator/prediction';
import { loadAtOnce } from '../../../support/world';

/** A row as the upstream told it. */
export interface Told {
  wallet: string;
  market: string;
  token: string | null;
  side: string;
  price: number;
  size: number;
  usdc: number;
  time: number;
  tx: string;
  order: number;
  /** Told by the feed of takers. */
  taker: boolean;
}

export interface ToldMarket {
  id: string;
  question: string;
  slug: string;
  category: string;
  tags: string[];
  event: string;
  tokens: string[];
  outcomes: string[];
  created: number;
  end: number;
  resolved: number | null;
  payouts: number[] | null;
}

/** A position by a second way of counting: plain numbers, all from what was told. */
export interface Counted {
  wallet: string;
  market: ToldMarket;
  token: string;
  shares: number;
  cost: number;
  paid: number;
  paidShares: number;
  received: number;
  gain: number;
  status: 'open' | 'closed' | 'resolved' | 'voided';
  opened: number;
  closed: number | null;
  payout: number | null;
}

export interface ToldWorld {
  world: PredictionWorld;
  facts: Told[];
  markets: Map<string, ToldMarket>;
}

/** Esports, Mentions and Weather are tagged sports, politics or science too: they are looked for first. */
const CATEGORIES: Record<string, string> = { esports: 'Esports', 'mention-markets': 'Mentions', weather: 'Weather', politics: 'Politics', sports: 'Sports', crypto: 'Crypto', finance: 'Finance', tech: 'Tech', 'pop-culture': 'Culture', economy: 'Economics', world: 'World' }; // prettier-ignore

/** Loads a simulated world and keeps what was told. */
export async function loadTold(pool: Pool, seed: number, size: number, start: Date, end: Date): Promise<ToldWorld> {
  const world = predictionWorld({ seed, size, start });
  const told: ToldWorld = { world, facts: [], markets: new Map() };
  const pages = [...world.pages(start, end)];
  await loadAtOnce(pool, 'prediction', pages);
  for (const page of pages) {
    for (const record of page.records as Record<string, unknown>[]) {
      if (page.name.startsWith('markets')) noteMarket(record, told.markets);
      else told.facts.push(readFact(record, told.facts.length));
    }
  }
  return told;
}

function readFact(record: Record<string, unknown>, order: number): Told {
  const { type, side, price, size } = record as { type?: string; side: string; price: number; size: number };
  const trade = type === undefined || type === 'TRADE';
  return {
    wallet: record.proxyWallet as string,
    market: record.conditionId as string,
    token: trade ? (record.asset as string) : null,
    side: trade ? side : type,
    price,
    size,
    usdc: type === undefined ? Math.round(Math.round(size * 100) * Math.round(price * 1_000)) / 100_000 : (record.usdcSize as number),
    time: (record.timestamp as number) * 1_000,
    tx: record.transactionHash as string,
    order,
    taker: type === undefined,
  };
}

function noteMarket(record: Record<string, unknown>, markets: Map<string, ToldMarket>): void {
  const closed = record.closed as boolean;
  const tags = (record.tags as { slug: string }[]).map(({ slug }) => slug);
  const prices = (JSON.parse(record.outcomePrices as string) as string[]).map(Number);
  markets.set(record.conditionId as string, {
    id: record.conditionId as string,
    question: record.question as string,
    slug: record.slug as string,
    tags,
    outcomes: JSON.parse(record.outcomes as string) as string[],
    end: Date.parse(record.endDate as string),
    category: CATEGORIES[Object.keys(CATEGORIES).find((tag) => tags.includes(tag)) ?? ''] ?? 'Other',
    event: (record.events as { slug: string }[])[0]?.slug ?? '',
    tokens: JSON.parse(record.clobTokenIds as string) as string[],
    created: Date.parse(record.createdAt as string),
    resolved: closed ? Date.parse((record.closedTime as string).replace(' ', 'T').replace('+00', 'Z')) : null,
    payouts: closed ? prices : null,
  });
}

const comesFirst = (side: string): number => (side === 'BUY' || side === 'SPLIT' ? 0 : 1);

/** Positions as of `now`, by wallet and token. */
export function countPositions({ facts, markets }: ToldWorld, now: number, until = now): Counted[] {
  const positions = new Map<string, Counted>();
  const ordered = facts.filter(({ time }) => time < now).sort((a, b) => a.time - b.time || comesFirst(a.side) - comesFirst(b.side));
  const prices = new PriceBook(facts.filter(({ time }) => time < now));
  const open = (fact: Told, token: string): Counted => {
    const key = `${fact.wallet}|${token}`;
    const market = markets.get(fact.market) as ToldMarket;
    const known = positions.get(key) ?? { wallet: fact.wallet, market, token, shares: 0, cost: 0, paid: 0, paidShares: 0, received: 0, gain: 0, status: 'open', opened: fact.time, closed: null, payout: null }; // prettier-ignore
    positions.set(key, known);
    return known;
  };
  for (const fact of ordered) {
    if (fact.side === 'REDEEM') continue;
    const market = markets.get(fact.market) as ToldMarket;
    const set = fact.side === 'SPLIT' || fact.side === 'MERGE' ? prices.set(market, fact.time) : null;
    const legs = set === null ? [{ token: fact.token as string, usdc: fact.usdc }] : market.tokens.map((token, index) => ({ token, usdc: fact.usdc * (set[index] as number) })); // prettier-ignore
    for (const { token, usdc } of legs) {
      if (fact.side === 'BUY' || fact.side === 'SPLIT') take(open(fact, token), fact.size, usdc);
      else give(open(fact, token), fact.size, usdc, fact.time);
    }
  }
  for (const position of positions.values()) settle(position, until);
  return [...positions.values()];
}

function take(position: Counted, size: number, usdc: number): void {
  Object.assign(position, { shares: position.shares + size, cost: position.cost + usdc, paid: position.paid + usdc, paidShares: position.paidShares + size, status: 'open', closed: null }); // prettier-ignore
}

function give(position: Counted, size: number, usdc: number, time: number): void {
  const part = size / position.shares;
  position.gain += usdc - position.cost * part;
  position.received += usdc;
  position.cost *= 1 - part;
  position.shares = Math.round((position.shares - size) * 1e6) / 1e6;
  if (position.shares === 0) Object.assign(position, { status: 'closed', closed: time, cost: 0 });
}

function settle(position: Counted, now: number): void {
  const { resolved, payouts, tokens } = position.market;
  if (resolved === null || resolved > now || payouts === null) return;
  position.payout = payouts[tokens.indexOf(position.token)] as number;
  if (position.status !== 'open') return;
  position.gain += position.shares * position.payout - position.cost;
  position.closed = Math.max(resolved, position.opened);
  position.status = payouts[0] === 0.5 ? 'voided' : 'resolved';
}

/** Last prices of tokens before a second. */
export class PriceBook {
  private readonly byToken = new Map<string, Told[]>();

  constructor(facts: readonly Told[]) {
    const trades = facts.filter(({ token }) => token !== null).sort((a, b) => a.time - b.time || a.order - b.order);
    for (const fact of trades) {
      const known = this.byToken.get(fact.token as string);
      if (known === undefined) this.byToken.set(fact.token as string, [fact]);
      else known.push(fact);
    }
  }

  /** All prices of the last second with a fill before `time`: several fills of one second have no order that was told. */
  last(token: string, time: number): number[] {
    const before = (this.byToken.get(token) ?? []).filter((fact) => fact.time < time);
    const newest = before.at(-1)?.time;
    return before.filter((fact) => fact.time === newest).map(({ price }) => price);
  }

  set({ tokens }: ToldMarket, time: number): number[] {
    const known = tokens.map((token) => this.last(token, time)[0]);
    const missing = known.filter((price) => price === undefined).length;
    const sum = known.reduce<number>((all, price) => all + (price ?? 0), 0);
    if (missing === tokens.length) return tokens.map(() => 1 / tokens.length);
    const filled = known.map((price) => price ?? Math.max(0, 1 - sum) / missing);
    const all = filled.reduce((a, b) => a + b, 0);
    return filled.map((price) => price / all);
  }
}
