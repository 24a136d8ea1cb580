import type { Sql, Statement } from '../../../db/sql';
import { median } from '../../../lib/statistics';
import { isPosition } from '../positions/figures';
import {
  type FirstBet,
  type WalletEvidence,
  listFirstBets,
  listNewsTimes,
  listTakenVolumes,
  listWalletEvidence,
  listWithdrawals,
} from '../queries/insider-evidence';
import { groupedBy } from '../grouped';
import type { PositionRow } from '../rollups/positions-row';
import { type InsiderEvidence, type InsiderSignalsRecord, insiderScore, isCandidate, reachOf } from './insider';

const HOUR = 3_600_000;
const DAY = 86_400_000;

/** Wallets of which raw trades are read at most: the second phase. */
export const MOST_SURVIVORS = 2_000;

/** A wallet on a market with what it scored there. */
export interface InsiderFinding {
  wallet: string;
  condition_id: string;
  score: number;
  signals: InsiderSignalsRecord;
  first_bet_at: Date;
  /** Outcome bought most. */
  position: PositionRow;
  /** All its outcomes there. */
  positions: PositionRow[];
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
}

/**
 * D-INS in two phases over wallets' positions on markets, as of `now`: the first drops those that what is known of wallets and markets keeps below
 * `min_score` (and all but the 2,000 wallets that can reach most), and of a venue-wide scan all that are no candidates; the second reads trades.
 */
export async function scanInsiders(
  sql: Sql,
  held: readonly PositionRow[],
  now: Date,
  overlay: string,
  min_score: number,
  venue_wide = false,
): Promise<ScanResult> {
  const pairs = [...groupedBy(held.filter((row) => isPosition(row) && Number(row.buy_usdc) > 0), (row) => `${row.wallet}|${row.condition_id}`).values()]; // prettier-ignore
  const condition_ids = [...new Set(pairs.map(([first]) => (first as PositionRow).condition_id))];
  const wallets = await listWalletEvidence(sql, [...new Set(pairs.map(([first]) => (first as PositionRow).wallet))], now, overlay);
  const markets = await listMarkets(sql, condition_ids, now);
  const volumes = await listTakenVolumes(sql, condition_ids, now);
  const evidence = pairs.flatMap((positions) => {
    const known = firstPhase(positions, wallets, markets, volumes);
    return known === null ? [] : [known];
  });
  const reaching = evidence
    .filter(({ reach, is_candidate }) => reach >= min_score && (is_candidate || !venue_wide))
    .sort((a, b) => b.reach - a.reach || (a.key < b.key ? -1 : 1));
  const chosen = new Set([...new Set(reaching.map(({ wallet }) => wallet.wallet))].slice(0, MOST_SURVIVORS));
  const survivors = reaching.filter(({ wallet }) => chosen.has(wallet.wallet));
  const findings = await secondPhase(sql, survivors, now);
  return { findings: findings.filter(({ score }) => score >= min_score), scanned: pairs.length, survived: survivors.length };
}

async function listMarkets(sql: Sql, condition_ids: readonly string[], now: Date): Promise<Map<string, MarketEvidence>> {
  const rows = await sql.query<MarketEvidence & Record<string, unknown>>(MARKETS, [condition_ids, now]);
  return new Map(rows.map((row) => [row.condition_id, row]));
}

interface Survivor {
  key: string;
  positions: PositionRow[];
  wallet: WalletEvidence;
  market: MarketEvidence;
  volume: number;
  reach: number;
  is_candidate: boolean;
}

function firstPhase(
  positions: PositionRow[],
  wallets: ReadonlyMap<string, WalletEvidence>,
  markets: ReadonlyMap<string, MarketEvidence>,
  volumes: ReadonlyMap<string, string>,
): Survivor | null {
  const { wallet: address, condition_id } = positions[0] as PositionRow;
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

async function secondPhase(sql: Sql, survivors: readonly Survivor[], now: Date): Promise<InsiderFinding[]> {
  const ids = [...new Set(survivors.map(({ market }) => market.condition_id))];
  if (ids.length === 0) return [];
  const bets = groupedBy(await listFirstBets(sql, ids, now), ({ condition_id }) => condition_id);
  const usual = new Map([...bets].map(([id, own]) => [id, median(own.map(({ usdc }) => usdc))]));
  const byKey = new Map([...bets.values()].flat().map((bet) => [`${bet.wallet}|${bet.condition_id}`, bet]));
  const news = await listNewsTimes(sql, ids, now);
  const withdrawals = await listWithdrawals(sql, survivors.map(({ wallet, market }) => ({ wallet: wallet.wallet, condition_id: market.condition_id })), now); // prettier-ignore
  return survivors.flatMap((survivor) => {
    const bet = byKey.get(survivor.key);
    if (bet === undefined) return [];
    const { condition_id } = survivor.market;
    return [
      findingOf(
        survivor,
        bet,
        evidenceOf(survivor, bet, usual.get(condition_id) ?? null, news.get(condition_id), withdrawals.get(survivor.key)),
      ),
    ];
  });
}

function evidenceOf(
  { wallet, market, volume }: Survivor,
  bet: FirstBet,
  usual: number | null,
  news: Date | undefined,
  withdrawn: Date | undefined,
): InsiderEvidence {
  const end = market.resolved_at === null ? market.end_date : (news ?? market.resolved_at);
  const taken =
    market.resolved_at === null || withdrawn === undefined ? null : Math.max(0, withdrawn.getTime() - market.resolved_at.getTime());
  return {
    age_days: Math.max(0, (bet.first_at.getTime() - wallet.first_trade_at.getTime()) / DAY),
    first_bet_usdc: bet.usdc,
    median_first_bet_usdc: usual,
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
    position: ordered[0] as PositionRow,
    positions: ordered,
    buy_usdc: positions.reduce((sum, { buy_usdc }) => sum + Number(buy_usdc), 0),
  };
}
