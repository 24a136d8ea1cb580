import type { Sql } from '../../../db/sql';
import type { Timeframe, Window } from '../../../lib/timeframe';
import { positionsSql } from '../rollups/positions-as-of';
import { CATEGORY_FROM } from '../rollups/standings';
import { IS_MACHINE } from '../scoring/tiers';
import { COUNTS, type EndedMetric, RANKS, RANK_NEEDS } from './ended-figures';
import { Parameters } from './parameters';
import { cutAt, walletPieces } from './pieces';
import { type Standings, findStandings } from './standings';
import { listVolumeLeaders } from './volume-leaders';

export type LeaderboardMetric = EndedMetric | 'volume';

/** Whose positions, and how they are ranked. */
export interface LeaderboardFilter {
  timeframe: Timeframe;
  /** Of the timeframe, up to now. */
  window: Window;
  now: Date;
  /** Positions that what is kept does not tell as of now (loadOverlay). */
  overlay: string;
  category: string | null;
  metric: LeaderboardMetric;
  /** Ended positions at least, refunded ones not counted. */
  min_trades: number;
  /** Day of the score run that tells machines, or null. */
  score_day: string | null;
  include_bots: boolean;
  limit: number;
}

/** A ranked wallet. */
export interface LeaderboardRow {
  wallet: string;
  counted: number;
  wins: number;
  rank_value: number;
}

/** SQL of a metric's rank, and of what that needs besides COUNTS. */
const RANK: Record<LeaderboardMetric, string> = { ...RANKS, volume: 'volume::float8' };
const NEEDS: Record<LeaderboardMetric, string> = { ...RANK_NEEDS, volume: '' };

/** SQL condition: the wallet is no machine in the run of that day. */
export const noMachine = (day: string): string => `wallet NOT IN (SELECT wallet FROM pm_wallet_score WHERE day = ${day} AND ${IS_MACHINE})`;

/** Wallets ranked by positions that ended in the window, best first. */
export async function listLeaders(sql: Sql, filter: LeaderboardFilter): Promise<LeaderboardRow[]> {
  const are_kept = filter.metric !== 'volume' && (filter.category === null || filter.min_trades >= CATEGORY_FROM);
  const standings = are_kept ? await findStandings(sql, filter) : null;
  if (standings !== null) {
    const leaders = await listStanding(sql, filter, filter.metric as EndedMetric, standings);
    // None are told when the standings were told anew meanwhile.
    if (leaders.length > 0) return leaders;
  }
  return (filter.metric === 'volume' ? await listByVolume(sql, filter) : null) ?? listReckoned(sql, filter);
}

/** SQL of ranked wallets by positions that ended in the window, of wallets of which `whose` holds: LeaderboardRow, in no order. */
function ranked(filter: LeaderboardFilter, parameters: Parameters, whose: string): string {
  const markets =
    filter.category === null
      ? ''
      : ` AND condition_id IN (SELECT condition_id FROM pm_market WHERE category = ${parameters.add(filter.category, 'text')})`;
  const chosen = `${whose}${markets}`;
  const [now, overlay] = [parameters.add(filter.now, 'timestamptz'), parameters.add(filter.overlay, 'jsonb')];
  const [from, to] = [parameters.add(filter.window.from, 'timestamptz'), parameters.add(filter.window.to, 'timestamptz')];
  const ended = positionsSql(
    now,
    overlay,
    `status <> 'open' AND paid_shares > 0 AND closed_at >= ${from} AND closed_at <= ${to} AND ${chosen}`,
  );
  const volume =
    filter.metric === 'volume'
      ? `JOIN (SELECT wallet, sum(buy_usdc + sell_usdc) AS volume FROM (${walletPieces(cutAt([filter.window.from, filter.window.to]), parameters, chosen)}) AS piece GROUP BY wallet) AS traded USING (wallet)`
      : '';
  const machines = filter.include_bots || filter.score_day === null ? 'true' : noMachine(parameters.add(filter.score_day, 'date'));
  return `SELECT wallet, counted, wins, rank_value FROM (
  SELECT *, ${RANK[filter.metric]} AS rank_value FROM (
    SELECT wallet, ${COUNTS}${NEEDS[filter.metric]} FROM (${ended}) AS position GROUP BY wallet HAVING count(*) FILTER (WHERE status <> 'voided') >= ${parameters.add(filter.min_trades, 'int')}
  ) AS figures ${volume}
) AS valued WHERE rank_value IS NOT NULL AND ${machines}`;
}

const nameOf = (kind: string, { metric, category, include_bots, score_day }: LeaderboardFilter): string =>
  `pm_leaders_${kind}_${metric}${category === null ? '' : '_category'}${include_bots || score_day === null ? '_all' : ''}`;

/** Leaders by all that ended in the window. */
function listReckoned(sql: Sql, filter: LeaderboardFilter): Promise<LeaderboardRow[]> {
  const parameters = new Parameters();
  const text = `SELECT * FROM (${ranked(filter, parameters, 'true')}) AS leader ORDER BY rank_value DESC, wallet LIMIT ${parameters.add(filter.limit, 'int')}`;
  return sql.query<LeaderboardRow>({ name: nameOf('reckoned', filter), text }, parameters.values);
}

/** Leaders by volume, of those who traded most in all their life; null where too little is told of that. */
const listByVolume = (sql: Sql, filter: LeaderboardFilter): Promise<LeaderboardRow[] | null> =>
  listVolumeLeaders(sql, { ...filter, machines_of: filter.include_bots ? null : filter.score_day }, (wallets) => {
    const parameters = new Parameters();
    const text = ranked(filter, parameters, `wallet = ANY (${parameters.add(wallets, 'text[]')})`);
    return sql.query<LeaderboardRow>({ name: nameOf('some', filter), text }, parameters.values);
  });

/** Leaders by what is kept, and by all that ended of wallets of which it no longer holds. */
function listStanding(
  sql: Sql,
  filter: LeaderboardFilter,
  metric: EndedMetric,
  { told_at, changed }: Standings,
): Promise<LeaderboardRow[]> {
  const is_standing = changed.length === 0;
  const parameters = new Parameters();
  const others = parameters.add(changed, 'text[]');
  const [limit, least] = [parameters.add(filter.limit, 'int'), parameters.add(filter.min_trades, 'int')];
  const machine =
    filter.include_bots || filter.score_day === null
      ? ''
      : ` AND NOT EXISTS (SELECT 1 FROM pm_wallet_score AS judged WHERE judged.day = ${parameters.add(filter.score_day, 'date')} AND judged.wallet = standing.wallet AND ${IS_MACHINE})`;
  const text = `SELECT * FROM (
(SELECT wallet, counted, wins, ${metric} AS rank_value FROM pm_standing AS standing
WHERE category = ${parameters.add(filter.category ?? '', 'text')} AND timeframe = ${parameters.add(filter.timeframe, 'text')} AND ${metric} IS NOT NULL AND counted >= ${least} AND wallet <> ALL (${others})${machine} ORDER BY ${metric} DESC, wallet LIMIT ${limit})
UNION ALL ${is_standing ? 'SELECT NULL, NULL, NULL, NULL WHERE false' : ranked(filter, parameters, `wallet = ANY (${others})`)}
) AS leader WHERE EXISTS (SELECT 1 FROM pm_standing_told WHERE told_at = ${parameters.add(told_at, 'timestamptz')}) ORDER BY rank_value DESC, wallet LIMIT ${limit}`;
  return sql.query<LeaderboardRow>(
    { name: nameOf(is_standing ? 'standing' : 'changed', filter), text, keyed: is_standing },
    parameters.values,
  );
}

/** USDC bought and sold in the window by wallet, exact decimal texts. */
export async function listPeriodVolumes(
  sql: Sql,
  wallets: readonly string[],
  window: Window,
  category: string | null,
): Promise<Map<string, string>> {
  const parameters = new Parameters();
  const chosen = parameters.add(wallets, 'text[]');
  const markets =
    category === null
      ? ''
      : ` AND condition_id IN (SELECT condition_id FROM pm_market WHERE category = ${parameters.add(category, 'text')})`;
  const pieces = walletPieces(cutAt([window.from, window.to]), parameters, `wallet = ANY (${chosen})${markets}`);
  const text = `SELECT wallet, sum(buy_usdc + sell_usdc) AS volume FROM (${pieces}) AS piece GROUP BY wallet`;
  const rows = await sql.query<{ wallet: string; volume: string }>(
    { name: `pm_period_volumes${category === null ? '' : '_category'}`, text },
    parameters.values,
  );
  return new Map(rows.map(({ wallet, volume }) => [wallet, volume]));
}
