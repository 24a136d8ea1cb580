import type { Sql } from '../../../db/sql';
import type { Window } from '../../../lib/timeframe';
import { groupedBy } from '../grouped';
import { type ShareStep, countFills, countOwnTrades, listFollowing, listOwnTrades, listShareSteps } from '../queries/copy-trades';
import { COPY_SCORE, type CopyFigures, type CopyMatch, type CopyTrade, canCopy, copyFigures, matchCopies } from './copying';

/** Wallets looked at closely, those with most trades after the leader's. */
const MOST_CANDIDATES = 300;
const DUST = 1e-6;

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

/** Wallets that copy the leader in the window (definition D-COPY), highest score first; wallets that trade before it as often as half the time they trade after are none. */
export async function scanCopiers(sql: Sql, scope: CopyScope, counts?: CopyCounts): Promise<Copier[]> {
  const { leader, window, max_lag_ms, min_overlap } = scope;
  const led = await listOwnTrades(sql, [leader], window);
  if (led.length === 0) return [];
  const following = await listFollowing(sql, leader, led, max_lag_ms, window.to);
  const chosen = await chooseCandidates(sql, following, led.length, scope, counts?.trades ?? new Map());
  if (chosen.length === 0) return [];
  const own = groupedBy(await listOwnTrades(sql, chosen.map(([wallet]) => wallet), window), ({ wallet }) => wallet); // prettier-ignore
  const pairs = chosen.flatMap(([wallet, trades]) =>
    [...new Set(trades.map(({ condition_id }) => condition_id))].map((condition_id) => ({ wallet, condition_id })),
  );
  const steps = groupedBy(await listShareSteps(sql, pairs, window.to), (step) => `${step.wallet}|${step.condition_id}`);
  const fills = counts?.fills ?? (await countFills(sql, window));
  const chance = fillsOf(following) / Math.max(1, fills - fillsOf(led));
  const copiers = chosen.flatMap(([wallet, trades]): Copier[] => {
    const mine = own.get(wallet) ?? [];
    const matches = matchCopies(led, trades, max_lag_ms, (match) => allows(match, steps));
    const reverse = matchCopies(mine, led, max_lag_ms, () => true).length;
    if (matches.length < min_overlap || 2 * reverse >= matches.length) return [];
    return [{ wallet, matches, ...copyFigures(matches, mine.length, led.length, chance) }];
  });
  const found = copiers.filter(({ copy_score }) => copy_score >= COPY_SCORE);
  return found.sort((a, b) => b.copy_score - a.copy_score || b.overlap_trades - a.overlap_trades || (a.wallet < b.wallet ? -1 : 1));
}

const fillsOf = (trades: readonly CopyTrade[]): number => trades.reduce((sum, { fills }) => sum + fills, 0);

/** Those with most trades after the leader's, but for whom so few of all their trades cannot make copiers. */
async function chooseCandidates(
  sql: Sql,
  following: readonly CopyTrade[],
  led: number,
  { window, min_overlap }: CopyScope,
  counted: Map<string, number>,
): Promise<[string, CopyTrade[]][]> {
  const candidates = [...groupedBy(following, ({ wallet }) => wallet)].filter(([, trades]) => trades.length >= min_overlap);
  const busiest = candidates.sort(([a, x], [b, y]) => y.length - x.length || (a < b ? -1 : 1)).slice(0, MOST_CANDIDATES);
  const uncounted = busiest.map(([wallet]) => wallet).filter((wallet) => !counted.has(wallet));
  if (uncounted.length > 0) for (const [wallet, trades] of await countOwnTrades(sql, uncounted, window)) counted.set(wallet, trades);
  return busiest.filter(([wallet, trades]) => canCopy(Math.min(trades.length, led), counted.get(wallet) ?? 0, led));
}

/** To copy a purchase is to hold nothing of the token before it; to copy a sale is to hold some. */
function allows({ leader, follower }: CopyMatch, steps: ReadonlyMap<string, ShareStep[]>): boolean {
  const own = steps.get(`${follower.wallet}|${follower.condition_id}`) ?? [];
  const shares = own.reduce((sum, step) => (step.at < leader.at && concerns(step, leader) ? sum + signOf(step) * step.size : sum), 0);
  return follower.side === 'BUY' ? shares <= DUST : shares > DUST;
}

const concerns = ({ token_id }: ShareStep, trade: CopyTrade): boolean => token_id === '' || token_id === trade.token_id;

function signOf({ side }: ShareStep): number {
  if (side === 'BUY' || side === 'SPLIT') return 1;
  return side === 'SELL' || side === 'MERGE' ? -1 : 0;
}
