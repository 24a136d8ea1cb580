import { groupedBy } from '../../lib/grouped';
import { roundTo } from '../../lib/statistics';
import { fixed, plain } from './positions/fixed';

/** What one scored wallet holds of one outcome. */
export interface Stance {
  condition_id: string;
  token_id: string;
  wallet: string;
  score: number;
  tags: string[];
  /** Shares held, what they cost on average, and what it paid for all shares it ever took. */
  shares: string;
  cost: string;
  paid_shares: string;
  paid_usdc: string;
  opened_at: Date;
}

/** How much a wallet's money counts. */
export type Weight = (score: number) => number;

/** Smart money counts by how far a score stands above 50; what is not above counts nothing. */
export const byScore: Weight = (score) => Math.max(0, (score - 50) / 50);
/** SQL of the same. */
export const byScoreSql = (score: string): string => `GREATEST(0, (${score}::float8 - 50) / 50)`;
/** Low-score money counts by its USDC. */
export const byMoney: Weight = () => 1;

/** A wallet's money on the outcome it favours, less its money on others. */
export interface NetStance extends Stance {
  net_usdc: number;
  weight: number;
}

/** What wallets hold net, USDC. */
export const moneyOf = (wallets: readonly NetStance[]): number => wallets.reduce((sum, wallet) => sum + wallet.net_usdc, 0);

/** What a group of wallets thinks of one market. */
export interface Consensus {
  /** Outcome token with the most weight; null without any weight. */
  token_id: string | null;
  /** Its share of the weight; null with fewer than three wallets. */
  strength: number | null;
  /** Weight by outcome token. */
  weights: Map<string, number>;
  /** Wallets on one net outcome each. */
  wallets: NetStance[];
  /** Effective number of wallets, those that opened together counted as one; null of nobody. */
  independent_wallets: number | null;
}

export const FEWEST_WALLETS = 3;
/** Wallets that opened the same outcome this close to each other trade in step. */
export const TOGETHER_MS = 60_000;

/** Decimals to which weights are compared and their shares told: products of decimals are missed by binary fractions, and their sums by a little more. */
const DECIMALS = 6;

/** The outcome with the most weight first, of equals the first token. */
export const byWeight = (a: { token_id: string; weight: number }, b: { token_id: string; weight: number }): number =>
  roundTo(b.weight, DECIMALS) - roundTo(a.weight, DECIMALS) || (a.token_id < b.token_id ? -1 : 1);

/** Share of the leading weight in all, as it is told. */
export const consensusStrength = (weight: number, all: number): number => roundTo(weight / all, DECIMALS);

/** Consensus of the wallets with these stances, all of one market. A wallet on several outcomes counts net. */
export function consensusOf(stances: readonly Stance[], weigh: Weight): Consensus {
  const wallets = netOf(stances, weigh);
  const weights = new Map<string, number>();
  for (const { token_id, weight } of wallets) weights.set(token_id, (weights.get(token_id) ?? 0) + weight);
  const all = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  const leading = [...weights].map(([token_id, weight]) => ({ token_id, weight })).sort(byWeight)[0];
  if (leading === undefined || leading.weight <= 0) return { token_id: null, strength: null, weights, wallets, independent_wallets: null };
  const strength = wallets.length < FEWEST_WALLETS ? null : consensusStrength(leading.weight, all);
  return { token_id: leading.token_id, strength, weights, wallets, independent_wallets: independentOf(wallets) };
}

/** A smaller rest, USDC, is what shares in equal parts leave in their last decimals, and none. */
export const LEAST_REST = '0.000000000001';

function netOf(stances: readonly Stance[], weigh: Weight): NetStance[] {
  const best = new Map<string, { top: Stance; all: bigint }>();
  for (const stance of stances) {
    const cost = fixed(stance.cost);
    const known = best.get(stance.wallet);
    if (known === undefined) best.set(stance.wallet, { top: stance, all: cost });
    else best.set(stance.wallet, { top: larger(stance, known.top), all: known.all + cost });
  }
  return [...best.values()].flatMap(({ top, all }) => {
    const net = 2n * fixed(top.cost) - all;
    if (net < fixed(LEAST_REST)) return [];
    const net_usdc = Number(plain(net));
    return [{ ...top, net_usdc, weight: net_usdc * weigh(top.score) }];
  });
}

function larger(a: Stance, b: Stance): Stance {
  const [x, y] = [fixed(a.cost), fixed(b.cost)];
  return x > y || (x === y && a.token_id < b.token_id) ? a : b;
}

/** What clusters are seen by. */
export interface Opened {
  token_id: string;
  opened_at: Date;
  weight: number;
}

/** Effective number of wallets, (Σ weight)² / Σ (weight of a cluster)²; null without any weight. Wallets that opened one outcome within a minute of each other are a cluster. */
export function independentOf(wallets: readonly Opened[]): number | null {
  const clusters = clustersOf(wallets).map((cluster) => cluster.reduce((sum, { weight }) => sum + weight, 0));
  const all = clusters.reduce((sum, weight) => sum + weight, 0);
  return all > 0 ? roundTo(all ** 2 / clusters.reduce((sum, weight) => sum + weight ** 2, 0), DECIMALS) : null;
}

/** Wallets by outcome, in the order they opened, parted where more than a minute lies between two. */
function clustersOf(wallets: readonly Opened[]): Opened[][] {
  const clusters: Opened[][] = [];
  for (const [, own] of [...groupedBy(wallets, ({ token_id }) => token_id)].sort(([a], [b]) => (a < b ? -1 : 1))) {
    let before = Number.NEGATIVE_INFINITY;
    for (const wallet of own.sort((a, b) => a.opened_at.getTime() - b.opened_at.getTime())) {
      const at = wallet.opened_at.getTime();
      if (at - before <= TOGETHER_MS) (clusters.at(-1) as Opened[]).push(wallet);
      else clusters.push([wallet]);
      before = at;
    }
  }
  return clusters;
}
