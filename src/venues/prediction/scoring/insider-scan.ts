import type { Sql, Statement } from '../../../db/sql';
import { median } from '../../../lib/statistics';
import { isPosition } from '../positions/figures';
import {
  type BoughtPosition,
  type FirstBet,
  type WalletEvidence,
  listFirstBets,
  listNewsTimes,
  listTakenVolumes,
  listWalletEvidence,
  listWithdrawals,
} from '../queries/insider-evidence';
import { groupedBy } from '../grouped';
import { listPositionsAsOf } from '../rollups/positions-as-of';
import { keyOf } from '../rollups/positions-compute';
import type { Group } from '../rollups/positions-store';
import { type InsiderEvidence, type InsiderSignalsRecord, insiderScore, isCandidate, reachOf } from './insider';

const HOUR = 3_600_000;
const DAY = 86_400_000;

/** Wallets of which raw trades are read at most: the second phase. */
export const MOST_SURVIVORS = 2_000;
/** What is read at once fits into memory. */
const WALLETS_AT_ONCE = 200;
const MARKETS_AT_ONCE = 200;

/** A wallet on a market with what it scored there. */
export interface InsiderFinding {
  wallet: string;
  condition_id: string;
  score: number;
  signals: InsiderSignalsRecord;
  first_bet_at: Date;
  /** Outcome bought most. */
  position: BoughtPosition;
  /** All its outcomes there. */
  positions: BoughtPosition[];
  buy_usdc: number;
}

interface MarketEvidence {
  condition_id: string;
  category: string;
  question: string | null;
  tags: string[];
  outcomes: number;
  end_date: Date | null;
  resolved_at: Date | null;
}

const MARKETS: Statement = {
  name: 'pm_insider_markets',
  text: `SELECT condition_id, category, question, tags, end_date, CASE WHEN resolved_at <= $2 THEN resolved_at END AS resolved_at,
  (SELECT count(*)::int FROM pm_outcome AS outcome WHERE outcome.condition_id = market.condition_id) AS outcomes FROM pm_market AS market WHERE condition_id = ANY($1)`,
};

export interface ScanResult {
  findings: InsiderFinding[];
  scanned: number;
  survived: number;
  /** USDC taken on the markets, by id. */
  volumes: ReadonlyMap<string, string>;
}

/** D-INS in two phases over wallets' positions on markets, as of `now`: the first drops those that what is known of wallets and markets keeps below `min_score`, and all but the 2,000 wallets that can reach most; the second reads trades. */
export async function scanInsiders(
  sql: Sql,
  held: readonly BoughtPosition[],
  now: Date,
  overlay: string,
  min_score: number,
): Promise<ScanResult> {
  const pairs = pairsOf(held);
  const known = await listEvidence(sql, pairs.map(([first]) => first as BoughtPosition), now, overlay); // prettier-ignore
  const reaching = pairs.flatMap((positions) => firstPhase(positions, known) ?? []).filter(({ reach }) => reach >= min_score);
  const { findings, survived } = await secondPhase(sql, reaching, now, min_score);
  return { findings, scanned: pairs.length, survived, volumes: known.volumes };
}

/** As `scanInsiders`, over pairs of the whole venue: all that are no candidates are dropped, most of them before their positions are read. */
export async function scanVenue(
  sql: Sql,
  pairs: readonly Group[],
  now: Date,
  overlay: string,
  min_score: number,
): Promise<InsiderFinding[]> {
  const known = await listEvidence(sql, pairs, now, overlay);
  const possible = groupedBy(pairs.filter((pair) => mayBeCandidate(pair, known)), ({ wallet }) => wallet); // prettier-ignore
  const reaching: Survivor[] = [];
  for (let first = 0; first < possible.size; first += WALLETS_AT_ONCE) {
    const chosen = [...possible].slice(first, first + WALLETS_AT_ONCE);
    const wanted = new Set(chosen.flatMap(([, own]) => own.map(keyOf)));
    const held = await listPositionsAsOf(sql, { wallets: chosen.map(([wallet]) => wallet) }, now);
    const survivors = pairsOf(held.filter((row) => wanted.has(keyOf(row)))).flatMap((positions) => firstPhase(positions, known) ?? []);
    reaching.push(...survivors.filter(({ reach, is_candidate }) => reach >= min_score && is_candidate));
  }
  return (await secondPhase(sql, reaching, now, min_score)).findings;
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
  volumes: ReadonlyMap<string, string>;
}

async function listEvidence(sql: Sql, pairs: readonly Group[], now: Date, overlay: string): Promise<Evidence> {
  const addresses = [...new Set(pairs.map(({ wallet }) => wallet))];
  const condition_ids = [...new Set(pairs.map(({ condition_id }) => condition_id))];
  const [wallets, markets, volumes] = await Promise.all([
    listWalletEvidence(sql, addresses, now, overlay),
    listMarkets(sql, condition_ids, now),
    listTakenVolumes(sql, condition_ids, now),
  ]);
  return { wallets, markets, volumes };
}

/** Whether the pair could be one, were its bet the wallet's first trade. */
function mayBeCandidate({ wallet: address, condition_id }: Group, { wallets, markets, volumes }: Evidence): boolean {
  const [wallet, market] = [wallets.get(address), markets.get(condition_id)];
  if (wallet === undefined || market === undefined) return false;
  const volume_usdc = Number(volumes.get(condition_id) ?? 0);
  return isCandidate({ age_days: 0, market: { ...market, volume_usdc }, category_volumes: wallet.categories });
}

async function listMarkets(sql: Sql, condition_ids: readonly string[], now: Date): Promise<Map<string, MarketEvidence>> {
  const rows = await sql.query<MarketEvidence & Record<string, unknown>>(MARKETS, [condition_ids, now]);
  return new Map(rows.map((row) => [row.condition_id, row]));
}

interface Survivor {
  key: string;
  positions: BoughtPosition[];
  wallet: WalletEvidence;
  market: MarketEvidence;
  volume: number;
  reach: number;
  is_candidate: boolean;
}

function firstPhase(positions: BoughtPosition[], { wallets, markets, volumes }: Evidence): Survivor | null {
  const { wallet: address, condition_id } = positions[0] as BoughtPosition;
  const [wallet, market] = [wallets.get(address), markets.get(condition_id)];
  if (wallet === undefined || market === undefined) return null;
  const volume = Number(volumes.get(condition_id) ?? 0);
  const opened = Math.min(...positions.map(({ opened_at }) => opened_at.getTime()));
  const known = {
    age_days: Math.max(0, (opened - wallet.first_trade_at.getTime()) / DAY),
    market: { ...market, volume_usdc: volume },
    category_volumes: wallet.categories,
    is_resolved: market.resolved_at !== null,
    short_bets: { n: wallet.short_n, wins: wallet.short_wins, mean_entry: wallet.short_entry },
  };
  return { key: `${address}|${condition_id}`, positions, wallet, market, volume, reach: reachOf(known), is_candidate: isCandidate(known) };
}

async function secondPhase(
  sql: Sql,
  reaching: Survivor[],
  now: Date,
  min_score: number,
): Promise<{ findings: InsiderFinding[]; survived: number }> {
  const ordered = reaching.sort((a, b) => b.reach - a.reach || (a.key < b.key ? -1 : 1));
  const chosen = new Set([...new Set(ordered.map(({ wallet }) => wallet.wallet))].slice(0, MOST_SURVIVORS));
  const survivors = ordered.filter(({ wallet }) => chosen.has(wallet.wallet));
  const trades = await listTrades(sql, survivors, now);
  const findings = survivors.flatMap((survivor) => {
    const bet = trades.bets.get(survivor.key);
    return bet === undefined ? [] : [findingOf(survivor, bet, evidenceOf(survivor, bet, trades))];
  });
  return { findings: findings.filter(({ score }) => score >= min_score), survived: survivors.length };
}

/** What trades tell of survivors. */
interface TradeEvidence {
  /** First bets of the survivors, by key. */
  bets: ReadonlyMap<string, FirstBet>;
  /** Usual first bet of a market. */
  usual: ReadonlyMap<string, number | null>;
  news: ReadonlyMap<string, Date>;
  withdrawals: ReadonlyMap<string, Date>;
}

async function listTrades(sql: Sql, survivors: readonly Survivor[], now: Date): Promise<TradeEvidence> {
  const paid = survivors.filter(({ market }) => market.resolved_at !== null);
  const wallets = [...new Set(paid.map(({ wallet }) => wallet.wallet))];
  const condition_ids = [...new Set(paid.map(({ market }) => market.condition_id))];
  const [bets, withdrawals] = await Promise.all([
    listBets(sql, survivors, now),
    paid.length === 0 ? new Map<string, Date>() : listWithdrawals(sql, wallets, condition_ids, now),
  ]);
  return { ...bets, withdrawals };
}

/** Some markets at once: everybody's first bets are read. */
async function listBets(sql: Sql, survivors: readonly Survivor[], now: Date): Promise<Omit<TradeEvidence, 'withdrawals'>> {
  const ids = [...new Set(survivors.map(({ market }) => market.condition_id))];
  const wanted = new Set(survivors.map(({ key }) => key));
  const [bets, usual, news] = [new Map<string, FirstBet>(), new Map<string, number | null>(), new Map<string, Date>()];
  for (let first = 0; first < ids.length; first += MARKETS_AT_ONCE) {
    const some = ids.slice(first, first + MARKETS_AT_ONCE);
    const [first_bets, times] = await Promise.all([listFirstBets(sql, some, now), listNewsTimes(sql, some, now)]);
    for (const [id, own] of groupedBy(first_bets, ({ condition_id }) => condition_id)) {
      usual.set(id, median(own.map(({ usdc }) => usdc)));
      for (const bet of own) if (wanted.has(keyOf(bet))) bets.set(keyOf(bet), bet);
    }
    for (const [id, at] of times) news.set(id, at);
  }
  return { bets, usual, news };
}

function evidenceOf({ key, wallet, market, volume }: Survivor, bet: FirstBet, trades: TradeEvidence): InsiderEvidence {
  const withdrawn = trades.withdrawals.get(key);
  const end = market.resolved_at === null ? market.end_date : (trades.news.get(market.condition_id) ?? market.resolved_at);
  const taken =
    market.resolved_at === null || withdrawn === undefined ? null : Math.max(0, withdrawn.getTime() - market.resolved_at.getTime());
  return {
    age_days: Math.max(0, (bet.first_at.getTime() - wallet.first_trade_at.getTime()) / DAY),
    first_bet_usdc: bet.usdc,
    median_first_bet_usdc: trades.usual.get(market.condition_id) ?? null,
    hours_before_end: end === null ? null : (end.getTime() - bet.first_at.getTime()) / HOUR,
    is_resolved: market.resolved_at !== null,
    minutes_after_resolution: taken === null ? null : taken / 60_000,
    market: { ...market, volume_usdc: volume },
    category_volumes: wallet.categories,
    short_bets: { n: wallet.short_n, wins: wallet.short_wins, mean_entry: wallet.short_entry },
  };
}

function findingOf({ positions, wallet, market }: Survivor, bet: FirstBet, evidence: InsiderEvidence): InsiderFinding {
  const ordered = [...positions].sort((a, b) => Number(b.buy_usdc) - Number(a.buy_usdc) || (a.token_id < b.token_id ? -1 : 1));
  return {
    wallet: wallet.wallet,
    condition_id: market.condition_id,
    ...insiderScore(evidence),
    first_bet_at: bet.first_at,
    position: ordered[0] as BoughtPosition,
    positions: ordered,
    buy_usdc: positions.reduce((sum, { buy_usdc }) => sum + Number(buy_usdc), 0),
  };
}
