import type { Sql } from '../../../db/sql';
import { listHalves } from '../../../db/halves';
import { listSuspects } from '../queries/insider-evidence';
import { type WeighedEvidence, scoreOf } from './insider';
import { type MarketEvidence, type Suspect, canReach, judge, listMarkets, listTrades, survivorsOf, weigh } from './insider-phases';

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
 * The insider pattern in two phases over the wallets that bought on a market, as of `now`: the first drops those that what is known of wallets and the market keeps below
 * `min_score`, and all but the 2,000 wallets that can reach most; the second looks at trades.
 */
export async function scanMarket(sql: Sql, condition_id: string, now: Date, overlay: string, min_score: number): Promise<MarketScan> {
  const [suspects, markets, trades] = await Promise.all([
    listHalves((half) => listMarketSuspects(sql, condition_id, now, overlay, half)),
    listMarkets(sql, [condition_id], now),
    listTrades(sql, [condition_id], null, now),
  ]);
  const market = markets.get(condition_id) as MarketEvidence;
  const survivors = survivorsOf(suspects.map((suspect) => weigh(suspect, market)).filter((weighed) => canReach(weighed, min_score)));
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

async function listMarketSuspects(sql: Sql, condition_id: string, now: Date, overlay: string, half: number): Promise<MarketSuspect[]> {
  const lists = await listSuspects(sql, condition_id, now, overlay, half);
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
