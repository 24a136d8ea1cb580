import type { Sql } from '../../../db/sql';
import { groupedBy } from '../../../lib/grouped';
import { type BoughtPosition, type WalletEvidence, listWalletEvidence } from '../queries/insider-evidence';
import { isPosition } from '../positions/figures';
import { listPositionsAsOf } from '../rollups/positions-as-of';
import { keyOf } from '../rollups/positions-compute';
import type { Group } from '../rollups/positions-store';
import { type InsiderSignalsRecord, insiderScore, isCandidate } from './insider';
import {
  type Judged,
  type MarketEvidence,
  type Suspect,
  type Weighed,
  canReach,
  judge,
  knownOf,
  listMarkets,
  listTrades,
  survivorsOf,
  weigh,
} from './insider-phases';

/** Wallets whose positions are read at once fit into memory. */
const WALLETS_AT_ONCE = 200;

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

/** As `scanMarket` of one market, over pairs of the whole venue: all that are no candidates are dropped, most of them before their positions are read. */
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
    reaching.push(...weighed.filter((one) => canReach(one, min_score) && isCandidate(knownOf(one.suspect, one.market))));
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
