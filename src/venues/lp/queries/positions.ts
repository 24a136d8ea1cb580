import type { Sql, Statement } from '../../../db/sql';
import { leastShown } from '../../../lib/statistics';
import type { PoolType } from '../chain-addresses';
import { POSITION_COLUMNS, positionSums } from '../rollups/position-sums';
import { type Between, priceAt } from '../rollups/price-at';
import { afterwards } from '../../../db/segments';

const kept = (filter: string, now: string): string =>
  `SELECT ${POSITION_COLUMNS.map((column) => `p.${column}`).join(', ')} FROM lp_position_sum p WHERE ${filter} AND p.changed_at < ${now}`;

/** A condition on the owner that a column names. */
export type OfOwner = (column: string) => string;

/**
 * Select of the sums of positions as of the instant `now` (SQL): kept ones, and of those that changed later what the facts before it
 * say. `filter` is a condition over `p`, an alias of lp_position_sum, that time does not change; `owner`, whose they were then.
 */
export const positionsAsOf = (filter: string, now: string, owner?: OfOwner): string => `
${kept(owner === undefined ? filter : `${filter} AND ${owner('p.owner')}`, now)}
${afterwards(now, `UNION ALL ${changedSince(filter, now, owner)}`)}`;

const key = 'SELECT p.pool_address, p.position_address FROM';

/** Positions of damm_v2 pools change hands: one may have been somebody's who has it no more, which its events tell. */
function changedSince(filter: string, now: string, owner?: OfOwner): string {
  const since = `${filter} AND p.changed_at >= ${now}`;
  const changed =
    owner === undefined
      ? `${key} lp_position_sum p WHERE ${since}`
      : `${key} lp_position_sum p WHERE ${since} AND ${owner('p.owner')}
    UNION ${key} lp_event e JOIN lp_position_sum p ON p.pool_address = e.pool_address AND p.position_address = e.position_address
    WHERE ${since} AND ${owner('e.owner')} AND e.pool_type = 'damm_v2' AND e."timestamp" < ${now}`;
  const sums = positionSums(
    `(${changed}) d JOIN lp_event e ON e.pool_address = d.pool_address AND e.position_address = d.position_address`,
    now,
  );
  return `SELECT * FROM (${sums}) s WHERE ${owner?.('s.owner') ?? 'true'}`;
}

/** The same for the positions that are open and were opened by a deposit; of the closed ones none is read. */
export const openPositionsAsOf = (filter: string, now: string, owner?: OfOwner): string => `
${kept(`${filter}${owner === undefined ? '' : ` AND ${owner('p.owner')}`} AND p.closed_at IS NULL AND p.deposits > 0`, now)}
${afterwards(now, `UNION ALL ${changedSince(filter, now, owner)} AND closed_at IS NULL AND deposits > 0`)}`;

/** Condition: the position is closed, and all of it was seen. */
const isWhole = (p: string): string => `${p}.closed_at IS NOT NULL AND ${p}.opened_at IS NOT NULL AND ${p}.deposits > 0`;

/** PnL of a position: withdrawn and claimed minus deposited; null while open, and where part of it is unknown. */
export const positionPnl = (p: string): string =>
  `CASE WHEN ${isWhole(p)} AND ${p}.unpriced = 0 THEN ${p}.withdrawn_usd + ${p}.claimed_usd - ${p}.deposited_usd END`;

const atClose = (x: string, y: string): string =>
  `CASE WHEN s.uncounted = 0 AND (${x} = 0 OR x.usd IS NOT NULL) AND (${y} = 0 OR y.usd IS NOT NULL) THEN ${x} * coalesce(x.usd, 0) + ${y} * coalesce(y.usd, 0) END`;

/**
 * Select of positions with `pnl_usd`, `hodl_usd` (deposited amounts at the prices of the close) and `kept_usd` (withdrawn amounts at
 * the same prices), both null while open or where its beginning was not seen; `positions` is a table of positionsAsOf, all of whose closes lie `between`.
 */
export const valuedPositions = (positions: string, between?: Between): string => `
SELECT s.*, ${positionPnl('s')} AS pnl_usd, CASE WHEN ${isWhole('s')} THEN ${atClose('s.deposited_x', 's.deposited_y')} END AS hodl_usd,
  CASE WHEN ${isWhole('s')} THEN ${atClose('s.withdrawn_x', 's.withdrawn_y')} END AS kept_usd
FROM ${positions} s LEFT JOIN lp_pool l ON l.pool_address = s.pool_address
${priceAt('l.mint_x', 's.closed_at', 'x', between)} ${priceAt('l.mint_y', 's.closed_at', 'y', between)}`;

/** Numeric columns are decimal text. */
export interface PositionRow {
  pool_address: string;
  position_address: string;
  pool_type: PoolType;
  owner: string | null;
  event_count: number;
  unpriced: number;
  deposited_usd: string;
  withdrawn_usd: string;
  claimed_usd: string;
  net_value_usd: string;
  opened_at: Date | null;
  closed_at: Date | null;
  last_at: Date;
  lower_bin: number | null;
  upper_bin: number | null;
}

export type ActiveSort = 'net_value' | 'deposited' | 'fees_claimed' | 'opened_at';

export interface ActivePositionsArgs {
  pool_address: string | null;
  owner: string | null;
  pool_type: PoolType | null;
  now: Date;
  sort_by: ActiveSort;
  /** 0 lists negative values as well. */
  min_usd: number;
  limit: number;
}

const ORDER: Record<ActiveSort, string> = {
  net_value: 'net_value_usd',
  deposited: 'deposited_usd',
  fees_claimed: 'claimed_usd',
  opened_at: 'opened_at',
};

/** One statement for each way to look positions up, so that each keeps its index. */
function active(pool: boolean, owner: boolean, sort: ActiveSort): Statement {
  const filter = [pool ? 'p.pool_address = $2' : '$2::text IS NULL', ...(owner ? [] : ['$3::text IS NULL'])].join(' AND ');
  const positions = openPositionsAsOf(filter, '$1::timestamptz', owner ? (column) => `${column} = $3` : undefined);
  return {
    name: `lp_positions_active_${Number(pool)}${Number(owner)}_${sort}`,
    keyed: pool || owner,
    text: `
SELECT * FROM (
  SELECT s.*, s.deposited_usd - s.withdrawn_usd AS net_value_usd, b.lower_bin, b.upper_bin
  FROM (${positions}) s LEFT JOIN lp_position b ON b.position_address = s.position_address
  WHERE $4::text IS NULL OR s.pool_type = $4
) s WHERE $5::numeric = 0 OR net_value_usd >= $5
ORDER BY ${ORDER[sort]} DESC NULLS LAST, pool_address COLLATE "C", position_address COLLATE "C" LIMIT $6`,
  };
}

/** Open positions of a pool, of an owner, or of an owner in a pool. */
export function listActivePositions(
  sql: Sql,
  { pool_address, owner, pool_type, now, sort_by, min_usd, limit }: ActivePositionsArgs,
): Promise<PositionRow[]> {
  const statement = active(pool_address !== null, owner !== null, sort_by);
  return sql.query<PositionRow>(statement, [now, pool_address, owner, pool_type, min_usd === 0 ? 0 : leastShown(min_usd), limit]);
}
