import { predictionWorld } from '../../../../src/sandbox/simulator/prediction';
import type { Role } from '../../../../src/sandbox/simulator/prediction/crowd';
import { type Timeframe, windowOf } from '../../../../src/lib/timeframe';
import { testDatabase } from '../../../support/database';
import { loadAtOnce } from '../../../support/world';

/** A simulated world as its upstream told it, kept beside the store that loaded it. USDC in hundred-thousandths, shares in hundredths. */

export interface Fact {
  wallet: string;
  market: string;
  token: string | null;
  side: string;
  price: number;
  shares: number;
  usdc: number;
  time: number;
  taker: boolean;
}

export interface ToldMarket {
  id: string;
  question: string;
  slug: string;
  category: string;
  created: number;
  end: number;
  resolved: number | null;
  tokens: string[];
  outcomes: string[];
  payouts: number[] | null;
}

export interface World {
  db: Awaited<ReturnType<typeof testDatabase>>;
  now: Date;
  facts: Fact[];
  markets: Map<string, ToldMarket>;
  roles: Map<string, Role>;
  /** Scores by day of the run, oldest first. */
  runs: { day: string; scores: Map<string, number | null> }[];
}

const DAY = 86_400_000;
const start = new Date('2026-02-01T00:00:00Z');
const CATEGORY_OF: Record<string, string> = { sports: 'Sports', crypto: 'Crypto', politics: 'Politics', esports: 'Esports', world: 'World', finance: 'Finance', tech: 'Tech', 'pop-culture': 'Culture', economy: 'Economics', weather: 'Weather', 'mention-markets': 'Mentions' }; // prettier-ignore

/** Loads 26 days of a world; now is at noon and a bit of the 25th. Runs are of 12 and 3 days ago and of today, each with other scores. */
export async function loadWorld(seed: number, size: number): Promise<World> {
  const now = new Date(start.getTime() + 24 * DAY + 43_211_250);
  const world: World = { db: await testDatabase(), now, facts: [], markets: new Map(), roles: new Map(), runs: [] };
  const told = predictionWorld({ seed, size, start });
  const pages = [...told.pages(start, new Date(now.getTime() + 2 * DAY))];
  await loadAtOnce(world.db.pool, 'prediction', pages);
  for (const page of pages) {
    for (const record of page.records as Record<string, unknown>[]) {
      if (page.name.startsWith('markets')) note(record, world);
      else world.facts.push(read(record));
    }
  }
  for (const { wallet, role } of told.truth(now)) world.roles.set(wallet, role);
  for (const ago of [12, 3, 0]) await scoreAll(world, ago);
  return world;
}

/** Skilled wallets have high scores, most others low ones; who is which changes a little from run to run. */
async function scoreAll(world: World, ago: number): Promise<void> {
  const day = new Date(world.now.getTime() - ago * DAY).toISOString().slice(0, 10);
  const scores = new Map<string, number | null>();
  for (const [index, [wallet, role]] of [...world.roles].entries()) {
    const machine = role === 'hft_bot' || role === 'wash';
    const lucky = role === 'skilled' || (index + ago) % 7 === 0;
    const score = machine ? null : lucky ? 60 + ((index * 7 + ago) % 40) : (index * 11 + ago) % 60;
    scores.set(wallet, score);
    await world.db.pool.query("INSERT INTO pm_wallet_score (wallet, day, score, tags, version) VALUES ($1, $2, $3, $4, 'v')", [wallet, day, score, machine ? [role] : index % 5 === 0 ? ['market_maker'] : []]); // prettier-ignore
  }
  world.runs.push({ day, scores });
}

function read(record: Record<string, unknown>): Fact {
  const { type, side, price, size } = record as { type?: string; side: string; price: number; size: number };
  const trade = type === undefined || type === 'TRADE';
  const shares = Math.round(size * 100);
  return {
    wallet: record.proxyWallet as string, market: record.conditionId as string, token: trade ? (record.asset as string) : null, side: trade ? side : (type as string), price, shares,
    usdc: type === undefined ? shares * Math.round(price * 1_000) : Math.round((record.usdcSize as number) * 100_000), time: (record.timestamp as number) * 1_000, taker: type === undefined,
  }; // prettier-ignore
}

function note(record: Record<string, unknown>, world: World): void {
  const tags = (record.tags as { slug: string }[]).map((tag) => tag.slug);
  const category = (
    tags.includes('esports') ? 'Esports' : tags.includes('mention-markets') ? 'Mentions' : CATEGORY_OF[tags[0] as string]
  ) as string;
  const closed = record.closed as boolean;
  world.markets.set(record.conditionId as string, {
    id: record.conditionId as string, question: record.question as string, slug: record.slug as string, category, created: Date.parse(record.createdAt as string), end: Date.parse(record.endDate as string),
    tokens: JSON.parse(record.clobTokenIds as string) as string[], outcomes: JSON.parse(record.outcomes as string) as string[],
    resolved: closed ? Date.parse(`${(record.closedTime as string).slice(0, 19).replace(' ', 'T')}Z`) : null, payouts: closed ? (JSON.parse(record.outcomePrices as string) as string[]).map(Number) : null,
  }); // prettier-ignore
}

export const six = (value: number): number => Math.round(value * 1e6) / 1e6 + 0;
export const usd = (units: number): number => six(units / 100_000);
export const sum = (numbers: Iterable<number>): number => [...numbers].reduce((a, b) => a + b, 0);
export const usdc = (facts: readonly Fact[]): number => sum(facts.map((fact) => fact.usdc));
export const pct = (part: number, whole: number): number | null => (whole === 0 ? null : six((100 * part) / whole));
export const over = (part: number, whole: number): number | null => (whole === 0 ? null : six(part / whole));
export const distinct = (facts: readonly Fact[]): number => new Set(facts.map((fact) => fact.wallet)).size;
export const isFill = (fact: Fact): boolean => fact.side === 'BUY' || fact.side === 'SELL';
export const buys = (facts: readonly Fact[]): Fact[] => facts.filter((fact) => fact.side === 'BUY');
export const sells = (facts: readonly Fact[]): Fact[] => facts.filter((fact) => fact.side === 'SELL');
export const iso = (time: number): string => `${new Date(time).toISOString().slice(0, 19)}Z`;

/** Fills of [from, to). */
export const between = (world: World, from: number, to: number): Fact[] =>
  world.facts.filter((fact) => isFill(fact) && fact.time >= from && fact.time < to);

/** Fills of a timeframe, and of the equal one before; null for `all`. */
/** `before`: of the equal window before; `known` the same, null where records begin within it. */
export function windowsOf(
  world: World,
  timeframe: Timeframe,
): { from: number; to: number; fills: Fact[]; before: Fact[] | null; known: Fact[] | null } {
  const [from, to] = [windowOf(timeframe, world.now).from.getTime(), world.now.getTime()];
  const before = timeframe === 'all' ? null : between(world, 2 * from - to, from);
  const first = Math.min(...world.facts.filter(({ token }) => token !== null).map(({ time }) => time));
  return { from, to, fills: between(world, from, to), before, known: first <= 2 * from - to ? before : null };
}

/** Score that judges a wallet's event: of the newest run of a day before, or of the first run. */
export function scoreAt(world: World, wallet: string, time: number): number | null {
  const day = new Date(time).toISOString().slice(0, 10);
  const run = world.runs.filter((one) => one.day < day).at(-1) ?? world.runs[0];
  return run?.scores.get(wallet) ?? null;
}

export const isSmart = (world: World, fact: Fact, min = 60): boolean => (scoreAt(world, fact.wallet, fact.time) ?? -1) >= min;

/** Score in the newest run. */
export const scoreNow = (world: World, wallet: string): number | null => world.runs.at(-1)?.scores.get(wallet) ?? null;

export const isActive = (market: ToldMarket, now: number): boolean =>
  market.created <= now && market.end > now && (market.resolved === null || market.resolved > now);
