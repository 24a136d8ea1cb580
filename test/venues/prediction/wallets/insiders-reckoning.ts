import { groupedBy } from '../../../../src/lib/grouped';
import { type Counted, type Told, type ToldMarket, type ToldWorld, countPositions } from './told-world';

/** The insider pattern a second time: from what the upstream told, in plain TypeScript, a wallet on a market at a time. */

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

export interface Suspicion {
  wallet: string;
  market: ToldMarket;
  score: number;
  points: Record<string, number>;
  days: number;
  usdc: number;
  hours: number;
  minutes: number | null;
  volume: number;
  categories: { category: string; usdc: number }[];
  short: { n: number; wins: number; entry: number };
  first: number;
  /** Its positions there, the outcome bought most first. */
  positions: (Counted & { bought: number })[];
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
const within = (x: number): number => Math.min(1, Math.max(0, x));
/** Full at `full`, nothing at `none`, by orders of magnitude between. */
const between = (x: number, none: number, full: number): number => within(Math.log(x / none) / Math.log(full / none));

function middle(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return ((sorted[Math.floor((sorted.length - 1) / 2)] as number) + (sorted[Math.ceil((sorted.length - 1) / 2)] as number)) / 2;
}

/** Wilson's lower bound of 90 %. */
export function wilson(wins: number, n: number): number {
  const [z, p] = [1.645, wins / n];
  return Math.max(0, (p + z ** 2 / (2 * n) - z * Math.sqrt((p * (1 - p)) / n + z ** 2 / (4 * n ** 2))) / (1 + z ** 2 / n));
}

/** Nobody knows how a game ends or where a price goes. */
const isSecret = ({ category, question, tags }: ToldMarket): boolean => {
  if (category === 'Sports' || category === 'Esports') return false;
  return !tags.includes('crypto-prices') && !/Up or Down|set a new monthly high|close higher/.test(question);
};

/** Facts of a world before an instant, by what they are looked up by. */
export class Reckoning {
  readonly positions: Counted[];
  private readonly facts: Told[];
  private readonly bySubject: Map<string, Told[]>;
  private readonly positionsOf: Map<string, Counted[]>;
  /** Sizes of the first bets on a market. */
  private readonly firsts = new Map<string, number[]>();

  constructor(
    private readonly told: ToldWorld,
    private readonly now: number,
  ) {
    this.facts = told.facts.filter(({ time }) => time < now);
    this.positions = countPositions(told, now);
    this.positionsOf = groupedBy(this.positions, ({ wallet }) => wallet);
    this.bySubject = new Map([
      ...groupedBy(this.facts, ({ wallet }) => wallet),
      ...groupedBy(this.facts, ({ market }) => market),
      ...groupedBy(this.facts, ({ wallet, market }) => `${wallet}|${market}`),
    ]);
  }

  of = (key: string): Told[] => this.bySubject.get(key) ?? [];
  fills = (key: string): Told[] => this.of(key).filter(({ token }) => token !== null);

  /** First purchase: all fills of its transaction. Told by the second only: of two transactions of one second the one of the lower number on the page. */
  firstBet(key: string): { time: number; usdc: number } | null {
    const buys = this.fills(key).filter(({ side }) => side === 'BUY');
    const time = Math.min(...buys.map((fact) => fact.time));
    const [first, ...others] = buys.filter((fact) => fact.time === time);
    if (first === undefined) return null;
    if (others.some(({ tx }) => tx !== first.tx)) return { time, usdc: Number.NaN };
    return { time, usdc: sum([first, ...others].map(({ usdc }) => usdc)) };
  }

  private firstBets(market: string): number[] {
    const wallets = new Set(this.of(market).map(({ wallet }) => wallet));
    const known = this.firsts.get(market) ?? [...wallets].flatMap((wallet) => this.firstBet(`${wallet}|${market}`)?.usdc ?? []);
    this.firsts.set(market, known);
    return known;
  }

  /** Positions of resolved markets opened at most 72 hours before, sold since or not. */
  private shortBets(wallet: string): Suspicion['short'] {
    const own = (this.positionsOf.get(wallet) ?? []).filter((one) => (one.payout === 0 || one.payout === 1) && one.opened >= (one.market.resolved as number) - 72 * HOUR && one.opened <= (one.market.resolved as number)); // prettier-ignore
    const entry = sum(own.map(({ paid, paidShares }) => paid / paidShares)) / own.length;
    return { n: own.length, wins: own.filter(({ payout }) => payout === 1).length, entry };
  }

  private hoursLeft(market: ToldMarket, time: number): number {
    if (!this.isResolved(market)) return (market.end - time) / HOUR;
    const winner = market.tokens[(market.payouts as number[]).indexOf(1)];
    const cheap = this.fills(market.id).filter((fact) => fact.token === winner && fact.price < 0.9 && fact.time < (market.resolved as number)); // prettier-ignore
    const news = cheap.length > 0 ? Math.max(...cheap.map((fact) => fact.time)) : (market.resolved as number);
    return (news - time) / HOUR;
  }

  isResolved = (market: ToldMarket): boolean => market.resolved !== null && market.resolved <= this.now;
  taken = (key: string): number => sum(this.fills(key).filter(({ taker }) => taker).map(({ usdc }) => usdc)); // prettier-ignore

  volume = (market: ToldMarket): number => this.taken(market.id);

  private categories(wallet: string): Suspicion['categories'] {
    const sums = new Map<string, number>();
    for (const { market, usdc } of this.fills(wallet)) {
      const { category } = this.told.markets.get(market) as ToldMarket;
      sums.set(category, (sums.get(category) ?? 0) + usdc);
    }
    return [...sums].map(([category, usdc]) => ({ category, usdc })).sort((a, b) => b.usdc - a.usdc);
  }

  /** What a wallet's bets on a market look like; null without any. */
  suspicion(wallet: string, market: ToldMarket): Suspicion | null {
    const bet = this.firstBet(`${wallet}|${market.id}`);
    if (bet === null) return null;
    const firsts = this.firstBets(market.id);
    const resolved = this.isResolved(market);
    const taken = this.of(`${wallet}|${market.id}`).filter(({ side, usdc }) => side === 'REDEEM' && usdc > 0);
    const minutes = resolved && taken.length > 0 ? Math.max(0, (Math.min(...taken.map(({ time }) => time)) - (market.resolved as number)) / 60_000) : null; // prettier-ignore
    const days = (bet.time - Math.min(...this.fills(wallet).map(({ time }) => time))) / DAY;
    const [hours, volume] = [this.hoursLeft(market, bet.time), this.volume(market)];
    const [categories, short] = [this.categories(wallet), this.shortBets(wallet)];
    const traded = sum(categories.map(({ usdc }) => usdc));
    const points = {
      wallet_age: 15 * within((30 - days) / 30),
      first_bet_size: bet.usdc < 1_000 ? 0 : 15 * between(bet.usdc / middle(firsts), 1, 50),
      bet_timing: hours < 0 ? 0 : hours <= 6 ? 20 : 20 * between(hours, 14 * 24, 6),
      withdrawal_speed: minutes === null ? 0 : minutes <= 60 ? 10 : 10 * between(minutes, 24 * 60, 60),
      market_selection: !isSecret(market) || market.tokens.length !== 2 ? 0 : volume <= 50_000 ? 10 : 10 * between(volume, 1e6, 50_000),
      category_concentration: 10 * sum(categories.map(({ usdc }) => (usdc / traded) ** 2)),
      short_bet_win_rate: short.n < 3 ? 0 : 20 * within((wilson(short.wins, short.n) - short.entry) / 0.3),
    };
    const inPlay = 70 + (resolved ? 10 : 0) + (short.n >= 3 ? 20 : 0);
    const score = Math.min(100, (100 * sum(Object.values(points))) / inPlay);
    const buys = this.fills(`${wallet}|${market.id}`).filter(({ side }) => side === 'BUY');
    const positions = (this.positionsOf.get(wallet) ?? [])
      .filter((one) => one.market.id === market.id)
      .map((one) => ({ ...one, bought: sum(buys.filter(({ token }) => token === one.token).map(({ usdc }) => usdc)) }))
      .sort((a, b) => b.bought - a.bought || (a.token < b.token ? -1 : 1));
    return { wallet, market, score, points, days, usdc: bet.usdc, hours, minutes, volume, categories, short, first: bet.time, positions };
  }

  /** Whether a wallet on a market is looked at by the scan of the venue. */
  isCandidate({ wallet, market, points, categories, positions }: Suspicion): boolean {
    const first = Math.min(...this.fills(wallet).map(({ time }) => time));
    const opened = Math.min(...positions.map((one) => one.opened));
    const traded = sum(categories.map(({ usdc }) => usdc));
    const narrow = sum(categories.map(({ usdc }) => (usdc / traded) ** 2)) >= 1 / 2;
    const young = opened - first < 30 * DAY && first >= this.now - 90 * DAY && market.tokens.length === 2;
    return young && narrow && (points.market_selection as number) > 0 && sum(positions.map(({ bought }) => bought)) >= 1_000;
  }
}
