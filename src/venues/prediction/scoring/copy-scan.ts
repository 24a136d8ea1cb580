import type { Sql } from '../../../db/sql';
import { groupedBy } from '../../../lib/grouped';
import { DAY_MS } from '../../../lib/time';
import type { Window } from '../../../lib/timeframe';
import { type WalletMarket, listConverters } from '../queries/wallet-history';
import { keyOf, listConverted } from '../rollups/positions-compute';
import {
  type ShareStep,
  countFills,
  countOwnTrades,
  listFollowers,
  listOwnTrades,
  listShareSteps,
  listWithin,
} from '../queries/copy-trades';
import {
  COPY_SCORE,
  type CopyFigures,
  type CopyMatch,
  type CopyPair,
  type CopyTrade,
  copyFigures,
  countBefore,
  courseOf,
  matchCopies,
  mostTrades,
  tradesAfter,
} from './copying';

/** Wallets looked at closely, those with most trades after the leader's. */
const MOST_CANDIDATES = 300;
const DUST = 1e-6;
const LOOKS_MS = [1, 4, 16].map((days) => days * DAY_MS);

/** A wallet that copies the leader. */
export interface Copier extends CopyFigures {
  wallet: string;
  matches: CopyMatch[];
}

/** What a scan for copiers of one wallet asks. */
export interface CopyScope {
  leader: string;
  window: Window;
  max_lag_ms: number;
  min_overlap: number;
}

/** Counts of a window that scans of many leaders share. */
export interface CopyCounts {
  /** Fills of the whole venue. */
  fills: number;
  /** Trades by wallet, of those counted so far. */
  trades: Map<string, number>;
}

/** Counts of a window, of nobody's trades yet. */
export const countWindow = async (sql: Sql, window: Window): Promise<CopyCounts> => ({
  fills: await countFills(sql, window),
  trades: new Map(),
});

/** Wallets that copy the leader in the window, highest score first; wallets that trade before it as often as half the time they trade after are none. */
export async function scanCopiers(sql: Sql, scope: CopyScope, counts?: CopyCounts): Promise<Copier[]> {
  const { leader, window, max_lag_ms, min_overlap } = scope;
  const led = await listOwnTrades(sql, [leader], window);
  if (led.length === 0) return [];
  const asked = { max_lag_ms, to: window.to, least: min_overlap, most: MOST_CANDIDATES };
  const [{ followers, fills: followed }, fills] = await Promise.all([
    listFollowers(sql, leader, led, asked),
    counts?.fills ?? countFills(sql, window),
  ]);
  const chance = followed / Math.max(1, fills - fillsOf(led));
  const able = followers.filter(({ most_matches }) => most_matches >= min_overlap);
  const most = new Map(able.map(({ wallet, most_matches }) => [wallet, mostTrades(most_matches, led.length, chance)]));
  const chosen = counts ? await knownToFollow(sql, most, window, counts.trades) : await canFollow(sql, most, window);
  if (chosen.length === 0) return [];
  const lead = courseOf(led);
  const own = groupedBy(await listOwnTrades(sql, chosen, window), ({ wallet }) => wallet);
  const after = new Map(chosen.map((wallet) => [wallet, tradesAfter(lead, own.get(wallet) ?? [], max_lag_ms)]));
  const held = await loadHoldings(sql, after, window.to);
  const copiers = [...after].flatMap(([wallet, trades]): Copier[] => {
    const matches = matchCopies(lead, courseOf(trades), max_lag_ms, (pair) => allows(pair, held));
    if (matches.length < min_overlap) return [];
    const mine = own.get(wallet) ?? [];
    const reverse = matchCopies(courseOf(mine), lead, max_lag_ms, () => true).length;
    return 2 * reverse >= matches.length ? [] : [{ wallet, matches, ...copyFigures(matches, mine.length, led.length, chance) }];
  });
  const found = copiers.filter(({ copy_score }) => copy_score >= COPY_SCORE);
  return found.sort((a, b) => b.copy_score - a.copy_score || b.overlap_trades - a.overlap_trades || (a.wallet < b.wallet ? -1 : 1));
}

const fillsOf = (trades: readonly CopyTrade[]): number => trades.reduce((sum, { fills }) => sum + fills, 0);

/** Most trades in the window of which a follower can be a copier, by wallet. */
type MostTrades = ReadonlyMap<string, number>;

/** Of the wallets those with so few trades, as far as `counted`. */
const fewEnough = (wallets: readonly string[], most: MostTrades, counted: ReadonlyMap<string, number>): string[] =>
  wallets.filter((wallet) => (counted.get(wallet) ?? 0) <= (most.get(wallet) ?? 0));

/** Followers that can be copiers by their trades in the window, which scans of other leaders counted before or will ask for again. */
async function knownToFollow(sql: Sql, most: MostTrades, window: Window, counted: Map<string, number>): Promise<string[]> {
  const uncounted = [...most.keys()].filter((wallet) => !counted.has(wallet));
  if (uncounted.length > 0) for (const [wallet, trades] of await countOwnTrades(sql, uncounted, window)) counted.set(wallet, trades);
  return fewEnough([...most.keys()], most, counted);
}

/**
 * The same of those who are not cheaply known to trade too much, by ever longer ends of the window: who trades too much in a day need not be
 * counted for a year.
 */
async function canFollow(sql: Sql, most: MostTrades, { from, to }: Window): Promise<string[]> {
  const within = new Set(await listWithin(sql, new Map([...most].filter(([, trades]) => Number.isFinite(trades))), { from, to }));
  let rest = [...most.keys()].filter((wallet) => most.get(wallet) === Infinity || within.has(wallet));
  const ends = LOOKS_MS.map((length) => new Date(to.getTime() - length)).filter((end) => end > from);
  for (const end of [...ends, from]) {
    if (rest.length === 0) break;
    rest = fewEnough(rest, most, await countOwnTrades(sql, rest, { from: end, to }));
  }
  return rest;
}

/** To copy a purchase is to hold nothing of the token before it; to copy a sale is to hold some. */
function allows({ leader, follower }: CopyPair, held: Holdings): boolean {
  const shares = held(follower, leader.at);
  return follower.side === 'BUY' ? shares <= DUST : shares > DUST;
}

/** Shares of a trade's token that its wallet held before an instant. */
type Holdings = (trade: CopyTrade, at: number) => number;

/** What wallets held of the tokens they trade. */
async function loadHoldings(sql: Sql, trades: ReadonlyMap<string, readonly CopyTrade[]>, to: Date): Promise<Holdings> {
  const pairs: WalletMarket[] = [];
  const numbers = new Map<string, Map<string, number>>();
  for (const [wallet, own] of trades) {
    const markets = new Set(own.map(({ condition_id }) => condition_id));
    // A pair's number is how many there are with it.
    numbers.set(wallet, new Map([...markets].map((condition_id) => [condition_id, pairs.push({ wallet, condition_id })])));
  }
  const [told, converted] = await Promise.all([listShareSteps(sql, pairs, to), listConvertedSteps(sql, pairs, to)]);
  const steps = groupedBy([...told, ...converted], ({ pair }) => pair);
  const balances = new Map<string, Balance[]>();
  return ({ wallet, condition_id, token_id }, at) => {
    const pair = numbers.get(wallet)?.get(condition_id) ?? 0;
    const key = `${pair}|${token_id}`;
    const own = balances.get(key) ?? balancesOf(steps.get(pair) ?? [], token_id);
    balances.set(key, own);
    return own[countBefore(own, at) - 1]?.shares ?? 0;
  };
}

/** What conversions took and brought. */
async function listConvertedSteps(sql: Sql, pairs: readonly WalletMarket[], to: Date): Promise<ShareStep[]> {
  const converters = await listConverters(sql, [...new Set(pairs.map(({ wallet }) => wallet))], to);
  const converted = await listConverted(sql, pairs.filter(({ wallet }) => converters.has(wallet)), to); // prettier-ignore
  return pairs.flatMap((pair, index) =>
    (converted.get(keyOf(pair)) ?? []).map(({ token_id, came, size, timestamp }): ShareStep => ({
      pair: index + 1,
      token_id,
      side: came ? 'BUY' : 'SELL',
      at: timestamp.getTime(),
      size: Number(size),
    })),
  );
}

/** Shares from an instant on. */
interface Balance {
  at: number;
  shares: number;
}

/** Within one instant shares come before they go; of shares that were not seen to come none are owed. */
function balancesOf(steps: readonly ShareStep[], token_id: string): Balance[] {
  let shares = 0;
  return steps
    .filter((step) => step.token_id === '' || step.token_id === token_id)
    .sort((a, b) => a.at - b.at || signOf(b) - signOf(a))
    .map((step) => ({ at: step.at, shares: (shares = Math.max(0, shares + signOf(step) * step.size)) }));
}

function signOf({ side }: ShareStep): number {
  if (side === 'BUY' || side === 'SPLIT') return 1;
  return side === 'SELL' || side === 'MERGE' ? -1 : 0;
}
