import { testDatabase } from '../../../support/database';
import { type Counted, type Told, type ToldMarket, type ToldWorld, PriceBook, loadTold } from '../wallets/told-world';
import { type Consensus, type Held, type Run, SignalBook, byMoney, byScore, consensusOf, iso } from './signal-reckoning';

/** A simulated world with made-up scores and tags, and what lists and reports must say of its markets: plain TypeScript over what was told. */

const DAY = 86_400_000;
const start = new Date('2026-02-01T00:00:00Z');
const now = new Date(start.getTime() + 24 * DAY + 43_211_000);
const MACHINES = ['market_maker', 'hft_bot', 'wash'];

export const NOW = now.getTime();
export const near = (value: number | null): unknown => (value === null ? null : expect.closeTo(value, 5.6));
export const sumOf = <Item>(items: readonly Item[], of: (item: Item) => number): number => items.reduce((all, item) => all + of(item), 0);

export interface ScoredWorld {
  db: Awaited<ReturnType<typeof testDatabase>>;
  now: Date;
  told: ToldWorld;
  book: SignalBook;
  runs: Run[];
  tags: Map<string, string[]>;
}

/** Runs are of 12 and 3 days ago and of today; every ninth wallet is a market maker. Two days more than now are told: they must not show. */
export async function loadScoredWorld(seed: number, size: number): Promise<ScoredWorld> {
  const db = await testDatabase();
  const told = await loadTold(db.pool, seed, size, start, new Date(NOW + 2 * DAY));
  const [runs, tags] = [[] as Run[], new Map<string, string[]>()];
  for (const ago of [12, 3, 0]) {
    const [day, scores] = [iso(NOW - ago * DAY).slice(0, 10), new Map<string, number | null>()];
    for (const [index, { wallet, role }] of told.world.truth(now).entries()) {
      const lucky = role === 'skilled' || (index + ago) % 4 === 0;
      const machine = MACHINES.includes(role);
      scores.set(wallet, machine ? null : lucky ? 60 + ((index * 7 + ago) % 40) : (index * 11 + ago) % 60);
      tags.set(wallet, machine ? [role] : index % 9 === 0 ? ['market_maker'] : []);
      await db.pool.query("INSERT INTO pm_wallet_score (wallet, day, score, tags, version) VALUES ($1, $2, $3, $4, 'v')", [wallet, day, scores.get(wallet), tags.get(wallet)]); // prettier-ignore
    }
    runs.push({ day, scores });
  }
  return { db, now, told, book: new SignalBook(told, NOW, runs), runs, tags };
}

export const isMachine = ({ tags }: ScoredWorld, wallet: string): boolean => (tags.get(wallet) ?? []).some((tag) => MACHINES.includes(tag));
export const isResolved = ({ resolved }: ToldMarket): boolean => resolved !== null && resolved <= NOW;
export const scoreNow = ({ runs }: ScoredWorld, wallet: string): number | null => runs.at(-1)?.scores.get(wallet) ?? null;

export function statusOf(market: ToldMarket): string {
  if (isResolved(market)) return market.payouts?.includes(1) === true ? 'resolved' : 'voided';
  return market.end <= NOW ? 'closed' : 'active';
}

/** Shares left of a market, at what they cost on average. */
export const heldOf = ({ book }: ScoredWorld, market: ToldMarket): Counted[] =>
  book.positions.filter((one) => one.market.id === market.id && one.shares > 0);

export function scoredOn(world: ScoredWorld, market: ToldMarket, test: (score: number) => boolean): Held[] {
  return heldOf(world, market).flatMap((one) => {
    const score = scoreNow(world, one.wallet);
    return score === null || !test(score) ? [] : [{ ...one, score }];
  });
}

export const smartOn = (world: ScoredWorld, market: ToldMarket): Consensus =>
  consensusOf(scoredOn(world, market, (score) => score >= 60), byScore); // prettier-ignore
export const dumbOn = (world: ScoredWorld, market: ToldMarket): Consensus =>
  consensusOf(scoredOn(world, market, (score) => score <= 30), byMoney); // prettier-ignore

/** Prices an outcome may have: what it paid, or a fill's of the last second, or what the other's leave; NaN where only the catalogue knows. */
function pricesOf({ book }: ScoredWorld, market: ToldMarket, token: string): number[] {
  if (isResolved(market)) return [(market.payouts as number[])[market.tokens.indexOf(token)] as number];
  const possible = [...new Set(book.possible(market, token))];
  return possible.length === 0 ? [Number.NaN] : possible;
}

/** The price of an outcome; undefined where it cannot be known from what was told. */
export function priceOf(world: ScoredWorld, market: ToldMarket, token: string): number | undefined {
  const [price, ...others] = pricesOf(world, market, token);
  return others.length > 0 || Number.isNaN(price) ? undefined : price;
}

/** Name and price of the dearest outcome, the first of equals; undefined where it cannot be known. */
export function leaderOf(world: ScoredWorld, market: ToldMarket): { outcome: string; price: number } | undefined {
  const prices = market.tokens.map((token) => priceOf(world, market, token));
  if (prices.some((price) => price === undefined)) return undefined;
  const index = (prices as number[]).indexOf(Math.max(...(prices as number[])));
  return { outcome: market.outcomes[index] as string, price: prices[index] as number };
}

/** Words of a text: letters and digits, with a dot, an apostrophe, an ampersand or a hyphen between two of them. */
export function wordsOf(text: string): string[] {
  const lower = [...text.toLowerCase()];
  const isWord = (at: number): boolean => /[\p{L}\p{N}]/u.test(lower[at] ?? '');
  const joins = (at: number): boolean => ".'’&-".includes(lower[at] ?? ' ') && isWord(at - 1) && isWord(at + 1);
  const marked = lower.map((letter, at) => (isWord(at) || joins(at) ? letter : ' '));
  return [...new Set(marked.join('').split(' ').filter((word) => word !== ''))]; // prettier-ignore
}

export const lastPrices = (facts: readonly Told[], token: string, time: number): number[] => new PriceBook(facts).last(token, time);
