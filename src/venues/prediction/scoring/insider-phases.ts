import type { Sql, Statement } from '../../../db/sql';
import { median, roundTo } from '../../../lib/statistics';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lib/time';
import { listFirstBets, listNewsTimes, listWithdrawals } from '../queries/insider-evidence';
import { lifeOf } from '../queries/lives';
import { listTakenVolumes } from '../queries/market-volumes';
import { type WeighedEvidence, reachOf } from './insider';

/** Wallets of which raw trades are read at most: the second phase. */
export const MOST_SURVIVORS = 2_000;
/** What is read at once fits into memory. */
const MARKETS_AT_ONCE = 200;

export interface MarketEvidence {
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
  keyed: true,
  text: `SELECT condition_id, category, question, tags, end_date, CASE WHEN resolved_at <= $2 THEN resolved_at END AS resolved_at,
  (SELECT count(*)::int FROM pm_outcome AS outcome WHERE outcome.condition_id = market.condition_id) AS outcomes FROM pm_market AS market WHERE condition_id = ANY($1)`,
};

/** Markets with what is known of them, by id. */
export async function listMarkets(sql: Sql, condition_ids: readonly string[], now: Date): Promise<Map<string, MarketEvidence>> {
  const [rows, volumes] = await Promise.all([
    sql.query<Omit<MarketEvidence, 'volume_usdc'>>(MARKETS, [condition_ids, now]),
    listTakenVolumes(sql, condition_ids, now),
  ]);
  return new Map(rows.map((row) => [row.condition_id, { ...row, volume_usdc: Number(volumes.get(row.condition_id) ?? 0) }]));
}

/** A wallet that bought on a market, as the first phase looks at it. Times are in milliseconds. */
export interface Suspect extends Pick<WeighedEvidence, 'category_volumes' | 'short_bets'> {
  wallet: string;
  opened_at: number;
  first_trade_at: number;
}

/** A suspect and the most it can reach on the market. */
export interface Weighed<Who extends Suspect> {
  suspect: Who;
  market: MarketEvidence;
  reach: number;
}

const ageOf = (at: number, { first_trade_at }: Suspect): number => Math.max(0, (at - first_trade_at) / DAY_MS);

/** What is known of a suspect on a market before trades are looked at. */
export const knownOf = (suspect: Suspect, market: MarketEvidence) => ({
  age_days: ageOf(suspect.opened_at, suspect),
  market,
  category_volumes: suspect.category_volumes,
  is_resolved: market.resolved_at !== null,
  short_bets: suspect.short_bets,
});

/** The suspect with the most it can reach on the market. */
export const weigh = <Who extends Suspect>(suspect: Who, market: MarketEvidence): Weighed<Who> => ({
  suspect,
  market,
  reach: reachOf(knownOf(suspect, market)),
});

/** Whether the suspect can reach a score: scores are told in tenths, and compared as they are told. */
export const canReach = ({ reach }: Weighed<Suspect>, score: number): boolean => roundTo(reach, 1) >= score;

/** Those of whom trades are looked at: the wallets that can reach most. */
export function survivorsOf<Who extends Suspect>(reaching: Weighed<Who>[]): Weighed<Who>[] {
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
export interface Judged<Who extends Suspect> {
  suspect: Who;
  market: MarketEvidence;
  first_bet_at: Date;
  evidence: WeighedEvidence;
}

/** Survivors whose first bet there is; `trades` by market. */
export function judge<Who extends Suspect>(survivors: readonly Weighed<Who>[], trades: ReadonlyMap<string, MarketTrades>): Judged<Who>[] {
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
    hours_before_end: end === null ? null : (end.getTime() - bet.first_at) / HOUR_MS,
    minutes_after_resolution: taken === null ? null : taken / MINUTE_MS,
  };
}

/** What trades on these markets tell of these wallets, or of all. Some markets at once: everybody's first bets are read. */
export async function listTrades(
  sql: Sql,
  condition_ids: readonly string[],
  wallets: readonly string[] | null,
  now: Date,
): Promise<Map<string, MarketTrades>> {
  const wanted = wallets && new Set(wallets);
  const trades = new Map<string, MarketTrades>();
  for (let first = 0; first < condition_ids.length; first += MARKETS_AT_ONCE) {
    const some = condition_ids.slice(first, first + MARKETS_AT_ONCE);
    const life = await lifeOf(sql, some, now);
    const [bets, news, taken] = await Promise.all([
      listFirstBets(sql, some, life),
      listNewsTimes(sql, some, now),
      listWithdrawals(sql, wallets, some, life),
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
