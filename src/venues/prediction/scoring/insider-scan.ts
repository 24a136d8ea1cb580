import type { Sql, Statement } from '../../../db/sql';
import { median } from '../../../lib/statistics';
import { isPosition } from '../positions/figures';
import {
  type BoughtPosition,
  type WalletEvidence,
  listFirstBets,
  listNewsTimes,
  listSuspects,
  listTakenVolumes,
  listWalletEvidence,
  listWithdrawals,
} from '../queries/insider-evidence';
import { groupedBy } from '../grouped';
import { listPositionsAsOf } from '../rollups/positions-as-of';
import { keyOf } from '../rollups/positions-compute';
import type { Group } from '../rollups/positions-store';
import { type InsiderSignalsRecord, type WeighedEvidence, insiderScore, isCandidate, reachOf, scoreOf } from './insider';

const HOUR = 3_600_000;
const DAY = 86_400_000;

/** Wallets of which raw trades are read at most: the second phase. */
export const MOST_SURVIVORS = 2_000;
/** What is read at once fits into memory. */
const WALLETS_AT_ONCE = 200;
const MARKETS_AT_ONCE = 200;

interface MarketEvidence {
  condition_id: string;
  category: string;
  question: string | null;
  tags: string[];
  outcomes: number;
  end_date: Date | null;
  resolved_at: Date | null;
  /** Taken there. */
  volume_usdc: number;
}

const MARKETS: Statement = {
  name: 'pm_insider_markets',
  text: `SELECT condition_id, category, question, tags, end_date, CASE WHEN resolved_at <= $2 THEN resolved_at END AS resolved_at,
  (SELECT count(*)::int FROM pm_outcome AS outcome WHERE outcome.condition_id = market.condition_id) AS outcomes FROM pm_market AS market WHERE condition_id = ANY($1)`,
};

async function listMarkets(sql: Sql, condition_ids: readonly string[], now: Date): Promise<Map<string, MarketEvidence>> {
  const [rows, volumes] = await Promise.all([
    sql.query<Omit<MarketEvidence, 'volume_usdc'> & Record<string, unknown>>(MARKETS, [condition_ids, now]),
    listTakenVolumes(sql, condition_ids, now),
  ]);
  return new Map(rows.map((row) => [row.condition_id, { ...row, volume_usdc: Number(volumes.get(row.condition_id) ?? 0) }]));
}

/** A wallet that bought on a market, as the first phase looks at it. Times are in milliseconds. */
interface Suspect extends Pick<WeighedEvidence, 'category_volumes' | 'short_bets'> {
  wallet: string;
  opened_at: number;
  first_trade_at: number;
}

/** A suspect and the most it can reach on the market. */
interface Weighed<Who extends Suspect> {
  suspect: Who;
  market: MarketEvidence;
  reach: number;
}

const ageOf = (at: number, { first_trade_at }: Suspect): number => Math.max(0, (at - first_trade_at) / DAY);

const knownOf = (suspect: Suspect, market: MarketEvidence) => ({
  age_days: ageOf(suspect.opened_at, suspect),
  market,
  category_volumes: suspect.category_volumes,
  is_resolved: market.resolved_at !== null,
  short_bets: suspect.short_bets,
});

const weigh = <Who extends Suspect>(suspect: Who, market: MarketEvidence): Weighed<Who> => ({
  suspect,
  market,
  reach: reachOf(knownOf(suspect, market)),
});

/** Those of whom trades are looked at: the wallets that can reach most. */
function survivorsOf<Who extends Suspect>(reaching: Weighed<Who>[]): Weighed<Who>[] {
  const key = ({ suspect, market }: Weighed<Who>): string => suspect.wallet + market.condition_id;
  const ordered = reaching.sort((a, b) => b.reach - a.reach || (key(a) < key(b) ? -1 : 1));
  const chosen = new Set([...new Set(ordered.map(({ suspect }) => suspect.wallet))].slice(0, MOST_SURVIVORS));
  return ordered.filter(({ suspect }) => chosen.has(suspect.wallet));
}

/** First bet of a wallet on a market. */
interface FirstBet {
  /** Milliseconds. */
  first_at: number;
  usdc: number;
}

/** What trades tell of a market. */
interface MarketTrades {
  /** First bets by wallet. */
  bets: ReadonlyMap<string, FirstBet>;
  /** The usual one of all wallets. */
  usual: number | null;
  /** When the news was out; null: unknown. */
  news: Date | null;
  /** First payouts taken by wallet, milliseconds. */
  withdrawals: ReadonlyMap<string, number>;
}

/** A suspect with what its first bet is judged by. */
interface Judged<Who extends Suspect> {
  suspect: Who;
  market: MarketEvidence;
  first_bet_at: Date;
  evidence: WeighedEvidence;
}

/** Survivors whose first bet there is; `trades` by market. */
function judge<Who extends Suspect>(survivors: readonly Weighed<Who>[], trades: ReadonlyMap<string, MarketTrades>): Judged<Who>[] {
  return survivors.flatMap(({ suspect, market }) => {
    const told = trades.get(market.condition_id);
    const bet = told?.bets.get(suspect.wallet);
    if (told === undefined || bet === undefined) return [];
    return [{ suspect, market, first_bet_at: new Date(bet.first_at), evidence: evidenceOf(suspect, market, bet, told) }];
  });
}

function evidenceOf(suspect: Suspect, market: MarketEvidence, bet: FirstBet, { usual, news, withdrawals }: MarketTrades): WeighedEvidence {
  const withdrawn = withdrawals.get(suspect.wallet);
  const end = market.resolved_at === null ? market.end_date : (news ?? market.resolved_at);
  const taken = market.resolved_at === null || withdrawn === undefined ? null : Math.max(0, withdrawn - market.resolved_at.getTime());
  return {
    ...knownOf(suspect, market),
    age_days: ageOf(bet.first_at, suspect),
    first_bet_usdc: bet.usdc,
    median_first_bet_usdc: usual,
    hours_before_end: end === null ? null : (end.getTime() - bet.first_at) / HOUR,
    minutes_after_resolution: taken === null ? null : taken / 60_000,
  };
}

/** What trades on these markets tell of these wallets, or of all. Some markets at once: everybody's first bets are read. */
async function listTrades(
  sql: Sql,
  condition_ids: readonly string[],
  wallets: readonly string[] | null,
  now: Date,
): Promise<Map<string, MarketTrades>> {
  const wanted = wallets && new Set(wallets);
  const trades = new Map<string, MarketTrades>();
  for (let first = 0; first < condition_ids.length; first += MARKETS_AT_ONCE) {
    const some = condition_ids.slice(first, first + MARKETS_AT_ONCE);
    const [bets, news, taken] = await Promise.all([
      listFirstBets(sql, some, now),
      listNewsTimes(sql, some, now),
      listWithdrawals(sql, wallets, some, now),
    ]);
    const withdrawals = new Map(taken.map(({ condition_id, wallet, at }) => [condition_id, byWallet(wallet, at, wanted)]));
    for (const { condition_id, wallet, first_at, usdc } of bets) {
      const both = first_at.map((at, n) => ({ first_at: at, usdc: usdc[n] as number }));
      trades.set(condition_id, {
        bets: byWallet(wallet, both, wanted),
        usual: median(usdc),
        news: news.get(condition_id) ?? null,
        withdrawals: withdrawals.get(condition_id) ?? new Map(),
      });
    }
  }
  return trades;
}

/** Values of wallets, of those wanted. */
const byWallet = <Value>(wallets: readonly string[], values: readonly Value[], wanted: ReadonlySet<string> | null): Map<string, Value> =>
  new Map(wallets.flatMap((wallet, n) => (wanted === null || wanted.has(wallet) ? [[wallet, values[n] as Value] as const] : [])));

/** A wallet on one market with what it scored there. */
export interface MarketFinding {
  wallet: string;
  score: number;
  evidence: WeighedEvidence;
  first_bet_at: Date;
  /** Name of the outcome bought most, and what all its outcomes there cost; exact decimal text. */
  outcome: string;
  buy_usdc: string;
}

export interface MarketScan {
  findings: MarketFinding[];
  scanned: number;
  survived: number;
  /** USDC taken on the market. */
  volume_usdc: number;
}

interface MarketSuspect extends Suspect {
  outcome: string;
  buy_usdc: string;
}

/**
 * D-INS in two phases over the wallets that bought on a market, as of `now`: the first drops those that what is known of wallets and the market keeps below
 * `min_score`, and all but the 2,000 wallets that can reach most; the second looks at trades.
 */
export async function scanMarket(sql: Sql, condition_id: string, now: Date, overlay: string, min_score: number): Promise<MarketScan> {
  const [suspects, markets, trades] = await Promise.all([
    listMarketSuspects(sql, condition_id, now, overlay),
    listMarkets(sql, [condition_id], now),
    listTrades(sql, [condition_id], null, now),
  ]);
  const market = markets.get(condition_id) as MarketEvidence;
  const survivors = survivorsOf(suspects.map((suspect) => weigh(suspect, market)).filter(({ reach }) => reach >= min_score));
  const findings = judge(survivors, trades).map(({ suspect, first_bet_at, evidence }) => {
    const { wallet, outcome, buy_usdc } = suspect;
    return { wallet, score: scoreOf(evidence), evidence, first_bet_at, outcome, buy_usdc };
  });
  return {
    findings: findings.filter(({ score }) => score >= min_score),
    scanned: suspects.length,
    survived: survivors.length,
    volume_usdc: market.volume_usdc,
  };
}

async function listMarketSuspects(sql: Sql, condition_id: string, now: Date, overlay: string): Promise<MarketSuspect[]> {
  const lists = await listSuspects(sql, condition_id, now, overlay);
  return lists.wallet.map((wallet, n) => ({
    wallet,
    outcome: lists.outcome[n] as string,
    buy_usdc: lists.buy_usdc[n] as string,
    opened_at: lists.opened_at[n] as number,
    first_trade_at: lists.first_trade_at[n] as number,
    category_volumes: (lists.volumes[n] ?? []).map((usdc) => ({ usdc })),
    short_bets: { n: lists.short_n[n] as number, wins: lists.short_wins[n] as number, mean_entry: lists.short_entry[n] as number | null },
  }));
}

/** A wallet on any market with what it scored there. */
export interface InsiderFinding {
  wallet: string;
  condition_id: string;
  score: number;
  signals: InsiderSignalsRecord;
  first_bet_at: Date;
  /** Outcome bought most. */
  token_id: string;
  buy_usdc: number;
}

interface VenueSuspect extends Suspect {
  category_volumes: WalletEvidence['categories'];
  /** All its outcomes on the market. */
  positions: BoughtPosition[];
}

/** As `scanMarket`, over pairs of the whole venue: all that are no candidates are dropped, most of them before their positions are read. */
export async function scanVenue(
  sql: Sql,
  pairs: readonly Group[],
  now: Date,
  overlay: string,
  min_score: number,
): Promise<InsiderFinding[]> {
  const known = await listEvidence(sql, pairs, now, overlay);
  const possible = groupedBy(pairs.filter((pair) => mayBeCandidate(pair, known)), ({ wallet }) => wallet); // prettier-ignore
  const reaching: Weighed<VenueSuspect>[] = [];
  for (let first = 0; first < possible.size; first += WALLETS_AT_ONCE) {
    const chosen = [...possible].slice(first, first + WALLETS_AT_ONCE);
    const wanted = new Set(chosen.flatMap(([, own]) => own.map(keyOf)));
    const held = await listPositionsAsOf(sql, { wallets: chosen.map(([wallet]) => wallet) }, now);
    const weighed = pairsOf(held.filter((row) => wanted.has(keyOf(row)))).flatMap((positions) => weighPair(positions, known) ?? []);
    reaching.push(...weighed.filter(({ suspect, market, reach }) => reach >= min_score && isCandidate(knownOf(suspect, market))));
  }
  const survivors = survivorsOf(reaching);
  const ids = [...new Set(survivors.map(({ market }) => market.condition_id))];
  const wallets = [...new Set(survivors.map(({ suspect }) => suspect.wallet))];
  const findings = judge(survivors, await listTrades(sql, ids, wallets, now)).map(findingOf);
  return findings.filter(({ score }) => score >= min_score);
}

/** Bought positions, those of a wallet on a market together. */
const pairsOf = (held: readonly BoughtPosition[]): BoughtPosition[][] => [
  ...groupedBy(
    held.filter((row) => isPosition(row) && Number(row.buy_usdc) > 0),
    keyOf,
  ).values(),
];

/** What the first phase looks at besides positions. */
interface Evidence {
  wallets: ReadonlyMap<string, WalletEvidence>;
  markets: ReadonlyMap<string, MarketEvidence>;
}

async function listEvidence(sql: Sql, pairs: readonly Group[], now: Date, overlay: string): Promise<Evidence> {
  const addresses = [...new Set(pairs.map(({ wallet }) => wallet))];
  const condition_ids = [...new Set(pairs.map(({ condition_id }) => condition_id))];
  const [wallets, markets] = await Promise.all([listWalletEvidence(sql, addresses, now, overlay), listMarkets(sql, condition_ids, now)]);
  return { wallets, markets };
}

/** Whether the pair could be one, were its bet the wallet's first trade. */
function mayBeCandidate({ wallet: address, condition_id }: Group, { wallets, markets }: Evidence): boolean {
  const [wallet, market] = [wallets.get(address), markets.get(condition_id)];
  return wallet !== undefined && market !== undefined && isCandidate({ age_days: 0, market, category_volumes: wallet.categories });
}

function weighPair(positions: BoughtPosition[], { wallets, markets }: Evidence): Weighed<VenueSuspect> | null {
  const { wallet: address, condition_id } = positions[0] as BoughtPosition;
  const [wallet, market] = [wallets.get(address), markets.get(condition_id)];
  if (wallet === undefined || market === undefined) return null;
  const suspect = {
    wallet: address,
    opened_at: Math.min(...positions.map(({ opened_at }) => opened_at.getTime())),
    first_trade_at: wallet.first_trade_at.getTime(),
    category_volumes: wallet.categories,
    short_bets: { n: wallet.short_n, wins: wallet.short_wins, mean_entry: wallet.short_entry },
    positions,
  };
  return weigh(suspect, market);
}

function findingOf({ suspect, market, first_bet_at, evidence }: Judged<VenueSuspect>): InsiderFinding {
  return {
    wallet: suspect.wallet,
    condition_id: market.condition_id,
    ...insiderScore({ ...evidence, category_volumes: suspect.category_volumes }),
    first_bet_at,
    token_id: (mostBought(suspect.positions)[0] as BoughtPosition).token_id,
    buy_usdc: suspect.positions.reduce((sum, { buy_usdc }) => sum + Number(buy_usdc), 0),
  };
}

/** Positions, the one bought most of first. */
export const mostBought = (positions: readonly BoughtPosition[]): BoughtPosition[] =>
  [...positions].sort((a, b) => Number(b.buy_usdc) - Number(a.buy_usdc) || (a.token_id < b.token_id ? -1 : 1));
