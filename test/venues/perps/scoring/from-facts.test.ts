import type { PerpTag } from '../../../../src/venues/perps/scoring/tags';
import { DAY, ONE, type Fact, type Trip, groupBy } from '../reckoning';
import { NOW, type SharedWorld, sharedWorld } from '../shared-world';

/** Every account's score and tags a second time, by the words of the methodology, from the upstream's own records alone. */

const now = NOW.getTime();
const number = (amount: bigint): number => Number(amount) / Number(ONE);
const sum = (values: Iterable<number>): number => [...values].reduce((a, b) => a + b, 0);
const largest = (values: Iterable<number>): number => Math.max(0, ...values);
const netOf = (facts: readonly Fact[]): number => number(facts.reduce((all, { pnl, fee }) => all + pnl - fee, 0n));
const usdOf = (facts: readonly Fact[]): number => number(facts.reduce((all, { usd }) => all + usd, 0n));
const dayOf = ({ time }: Fact): string => new Date(time).toISOString().slice(0, 10);

function median(values: readonly number[]): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length === 0) return null;
  return sorted.length % 2 === 1 ? (sorted[middle] as number) : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

/** Lower end of Wilson's 90 % interval. */
function lowerBound(won: number, of: number): number {
  const [p, square] = [won / of, 1.645 ** 2];
  return (p + square / (2 * of) - 1.645 * Math.sqrt((p * (1 - p)) / of + square / (4 * of * of))) / (1 + square / of);
}

interface Account {
  score: number | null;
  trades: number;
  closing_trades: number;
  winning_trades: number;
  net_pnl: number;
  caps: string[];
}

const topDay = (facts: readonly Fact[]): number =>
  largest([...groupBy(facts, (fact) => `${fact.coin} ${dayOf(fact)}`).values()].map(netOf));
const isOneDay = (facts: readonly Fact[]): boolean => netOf(facts) > 0 && topDay(facts) >= 0.6 * netOf(facts);

function judged(facts: readonly Fact[], trips: readonly Trip[]): Account {
  const closed = trips.filter(({ closedAt }) => closedAt !== null);
  const won = closed.filter(({ gross, fees }) => gross > fees).length;
  const [trades, net_pnl] = [facts.length, netOf(facts)];
  const told = { trades, closing_trades: closed.length, winning_trades: won, net_pnl };
  if (closed.length === 0) return { ...told, score: null, caps: [] };
  let score =
    Math.min(4 * Math.log2(trades + 1), 40) +
    40 * lowerBound(won, closed.length) +
    (net_pnl > 0 ? Math.min(4 * Math.log10(net_pnl + 1), 20) : 0);
  const caps: string[] = [];
  for (const [cap, applies, most] of [
    ['one_coin_day', isOneDay(facts), 84],
    ['few_round_trips', closed.length < 20, 59],
  ] as const) {
    if (!applies || score <= most) continue;
    score = most;
    caps.push(cap);
  }
  return { ...told, score: Math.round(10 * score) / 10, caps };
}

/** Share of each account's volume against itself or its cluster. */
function selfTrades(facts: readonly Fact[]): (user: string) => number {
  const dealt = new Map<string, { usd: number; matches: number }>();
  const add = (user: string, other: string, usd: number): void => {
    const known = dealt.get(`${user} ${other}`) ?? { usd: 0, matches: 0 };
    dealt.set(`${user} ${other}`, { usd: known.usd + usd, matches: known.matches + 1 });
  };
  for (const sides of groupBy(facts, ({ coin, time, tid }) => `${coin} ${time} ${tid}`).values())
    for (const taker of sides.filter((side) => side.taker))
      for (const maker of sides.filter((side) => !side.taker)) {
        add(taker.user, maker.user, number(taker.usd));
        add(maker.user, taker.user, number(taker.usd));
      }
  const byUser = groupBy([...dealt].map(([key, row]) => ({ user: key.split(' ')[0] as string, other: key.split(' ')[1] as string, ...row })), ({ user }) => user); // prettier-ignore
  const rowsOf = (user: string) => byUser.get(user) ?? [];
  const whole = groupBy(facts, ({ user }) => user);
  const wholeOf = (user: string): Fact[] => whole.get(user) ?? [];
  const leansOn = (user: string, other: string): boolean => {
    const matches = wholeOf(user).length;
    return user === other || rowsOf(user).some((row) => row.other === other && row.matches >= 10 && row.matches >= 0.5 * matches);
  };
  return (user) => {
    const clustered = rowsOf(user).filter(({ other }) => leansOn(user, other) && leansOn(other, user));
    return sum(clustered.map(({ usd }) => usd)) / usdOf(wholeOf(user));
  };
}

interface Entry {
  user: string;
  line: string;
  at: number;
}

/** Entries within an hour of one of the others' in the same coin and direction, each with the newest of those. */
const following = (ahead: readonly Entry[], behind: readonly Entry[]): { at: number; of: string; lag: number }[] =>
  behind.flatMap(({ line, at }) => {
    const before = ahead.filter((entry) => entry.line === line && entry.at < at && at - entry.at <= 3_600_000).map((entry) => entry.at);
    const newest = Math.max(...before);
    return before.length === 0 ? [] : [{ at, of: `${line} ${newest}`, lag: (at - newest) / 1_000 }];
  });

function copiers(trips: readonly Trip[], leaders: readonly string[]): Set<string> {
  const entries = trips
    .filter(({ openedAt }) => openedAt >= now - 30 * DAY)
    .map(({ user, coin, long, openedAt }): Entry => ({ user, line: `${coin} ${String(long)}`, at: openedAt }));
  const byUser = groupBy(entries, ({ user }) => user);
  const found = new Set<string>();
  for (const leader of leaders) {
    const led = byUser.get(leader) ?? [];
    const followed = [...byUser].filter(([user]) => user !== leader).map(([user, own]) => ({ user, own, matches: following(led, own) }));
    const chance = sum(followed.map(({ matches }) => matches.length)) / entries.length;
    for (const { user, own, matches } of followed) {
      if (matches.length < 5 || 2 * following(own, led).length >= matches.length) continue;
      const lags = matches.map(({ lag }) => lag);
      const mean = sum(lags) / lags.length;
      const deviation = Math.sqrt(sum(lags.map((lag) => (lag - mean) ** 2)) / (lags.length - 1));
      const precision = matches.length / own.length;
      const coverage = new Set(matches.map(({ of }) => of)).size / led.length;
      const regularity = Math.min(1, Math.max(0, 1 - deviation / mean));
      if (0.4 * precision + 0.2 * coverage + 0.2 * Math.min(precision / chance / 10, 1) + 0.2 * regularity >= 0.5) found.add(user);
    }
  }
  return found;
}

/** What the tags of one account say of its own records. */
function ownTags(facts: readonly Fact[], trips: readonly Trip[], score: number | null): PerpTag[] {
  const volume = usdOf(facts);
  const coins = [...groupBy(facts, ({ coin }) => coin)].map(([coin, own]) => ({ coin, usd: usdOf(own) })).sort((a, b) => b.usd - a.usd);
  const [top] = coins as [(typeof coins)[number]];
  const closed = trips.filter(({ closedAt }) => closedAt !== null);
  const hold = median(closed.map(({ openedAt, closedAt }) => ((closedAt as number) - openedAt) / 1_000));
  const gaps = facts.slice(-1_000).map(({ time }, index, own) => (time - (own[index - 1]?.time ?? time)) / 1_000).slice(1); // prettier-ignore
  const days = new Set(facts.map(dayOf)).size;
  const net = number(facts.reduce((all, { buys, usd }) => all + (buys ? usd : -usd), 0n));
  const rules: [PerpTag, boolean][] = [
    ['elite', score !== null && score >= 95],
    ['smart', score !== null && score >= 85 && score < 95],
    ['specialist', top.usd >= 0.6 * volume && closed.filter(({ coin }) => coin === top.coin).length >= 10],
    ['fresh', now - (facts[0] as Fact).time < 14 * DAY],
    ['one_hit', isOneDay(facts)],
    ['market_maker', facts.length >= 500 && facts.filter(({ taker }) => !taker).length >= 0.8 * facts.length && Math.abs(net) <= 0.1 * volume],
    ['hft_bot', facts.length >= 500 * days || (facts.length >= 200 && (median(gaps) as number) < 5)],
    ['liquidated', facts.some(({ liquidated }) => liquidated)],
    ['scalper', hold !== null && hold < 900],
    ['swing', hold !== null && hold >= DAY / 1_000],
  ]; // prettier-ignore
  return rules.filter(([, holds]) => holds).map(([tag]) => tag);
}

/** The most that a position was worth at what it had been opened for on average. */
function isWhale(facts: readonly Fact[]): boolean {
  const held = new Map<string, { size: number; peak: number; opened: number; usd: number }>();
  let most = 0;
  for (const { coin, buys, start, opened, closed, px } of facts) {
    const end = number(start + (buys ? opened + closed : -opened - closed));
    const own = opened > 0n && closed > 0n ? undefined : held.get(coin);
    const trip = own ?? { size: 0, peak: 0, opened: 0, usd: 0 };
    const next = { size: Math.abs(end), peak: Math.max(trip.peak, Math.abs(end)), opened: trip.opened + number(opened), usd: trip.usd + number(opened) * number(px) }; // prettier-ignore
    most = Math.max(most, (next.peak * next.usd) / (next.opened || 1));
    if (end === 0) held.delete(coin);
    else held.set(coin, next);
  }
  return most >= 50_000;
}

describe('scores and tags of a whole world', () => {
  let world: SharedWorld;
  let stored: (Account & { trader: string; win_rate_lb: number | null; tags: PerpTag[] })[];
  const tripsBy = (user: string): Trip[] => world.trips.get(user) ?? [];
  beforeAll(async () => {
    world = await sharedWorld();
    const { rows } = await world.db.pool.query<(typeof stored)[number]>(
      `SELECT trader, score::float8 AS score, trades, closing_trades, winning_trades, win_rate_lb::float8 AS win_rate_lb, net_pnl::float8 AS net_pnl, caps, tags FROM perp_score`,
    );
    stored = rows;
  });
  afterAll(() => world.db.drop());

  test('scores, what they are made of, and what held them down', () => {
    expect(new Set(stored.map(({ trader }) => trader))).toEqual(new Set(world.byUser.keys()));
    for (const { trader, tags: _, win_rate_lb, net_pnl, ...row } of stored) {
      const { net_pnl: expected, ...own } = judged(world.byUser.get(trader) as Fact[], tripsBy(trader));
      expect({ trader, ...row }).toEqual({ trader, ...own });
      expect(net_pnl).toBeCloseTo(expected, 6);
      if (own.closing_trades > 0) expect(win_rate_lb).toBeCloseTo(lowerBound(own.winning_trades, own.closing_trades), 9);
    }
    expect(stored.flatMap(({ caps }) => caps)).toContain('few_round_trips');
  });

  test('tags', () => {
    const washed = selfTrades(world.facts);
    const leaders = stored.filter(({ score }) => score !== null && score >= 85).map(({ trader }) => trader);
    const copying = copiers([...world.trips.values()].flat(), leaders);
    for (const { trader, score, tags } of stored) {
      const facts = world.byUser.get(trader) as Fact[];
      const expected: PerpTag[] = ownTags(facts, tripsBy(trader), score);
      if (isWhale(facts)) expected.push('whale');
      if (washed(trader) >= 0.3) expected.push('wash');
      if (copying.has(trader)) expected.push('copy_trader');
      expect([trader, tags.filter((tag) => tag !== 'vault').sort()]).toEqual([trader, expected.sort()]);
    }
    const met = [
      'smart',
      'whale',
      'specialist',
      'fresh',
      'one_hit',
      'market_maker',
      'hft_bot',
      'wash',
      'liquidated',
      'scalper',
      'swing',
      'copy_trader',
    ];
    expect(stored.flatMap(({ tags }) => tags)).toEqual(expect.arrayContaining(met));
  });
});
