import { unlessNone } from '../../../db/segments';
import type { Sql, Statement } from '../../../db/sql';
import { type AsOf, computePositions, keyOf } from './positions-compute';
import { POSITION_COLUMNS, POSITION_NAMES, type PositionRow } from './positions-row';
import type { Group } from './positions-store';

/** Whose positions: of these wallets, or on these markets. */
export type PositionScope = { wallets: readonly string[] } | { condition_ids: readonly string[] };

const COLUMNS = POSITION_NAMES.join(', ');

const kept = (by: 'wallet' | 'condition_id'): Statement => ({
  name: `pm_positions_by_${by}`,
  text: `SELECT ${COLUMNS} FROM pm_position WHERE ${by} = ANY($1) AND last_at < $2`,
});

const later = (by: 'wallet' | 'condition_id' | null): Statement => ({
  name: `pm_positions_later${by === null ? '' : `_by_${by}`}`,
  text: `SELECT DISTINCT wallet, condition_id FROM pm_position WHERE last_at >= $1 AND opened_at < $1${by === null ? '' : ` AND ${by} = ANY($2)`}`,
});

const KEPT = { wallet: kept('wallet'), condition_id: kept('condition_id') };
const LATER = { wallet: later('wallet'), condition_id: later('condition_id'), all: later(null) };

/**
 * Positions in scope as of `now`, in no order, also such without any share seen to come (paid_shares 0: their trades count as volume). What is
 * kept tells them, but for groups of which something happened at `now` or later: those are computed from facts. `any_later` false: `isAnyLater` found none.
 */
export async function listPositionsAsOf(sql: Sql, scope: PositionScope, now: Date, any_later = true): Promise<PositionRow[]> {
  const [by, ids] = 'wallets' in scope ? (['wallet', scope.wallets] as const) : (['condition_id', scope.condition_ids] as const);
  const [rows, groups] = await Promise.all([
    sql.query<PositionRow>(KEPT[by], [ids, now]),
    any_later ? sql.query<Group>(LATER[by], [now, ids]) : [],
  ]);
  return [...rows, ...(await listComputed(sql, groups, { facts: now, resolutions: now }))];
}

/** Positions of these groups from facts. */
export async function listComputed(sql: Sql, groups: readonly Group[], as_of: AsOf): Promise<PositionRow[]> {
  const wanted = new Set(groups.map(keyOf));
  const rows: PositionRow[] = [];
  // Conversions bring in further markets of a wallet: only those asked for are told.
  await computePositions(sql, groups, as_of, (computed) => void rows.push(...computed.filter((row) => wanted.has(keyOf(row)))));
  return rows;
}

/** SQL of whether the store holds anything of $1 or later: a position ends with its last fact, or when its market was resolved. */
export const ANY_LATER =
  '(EXISTS (SELECT 1 FROM pm_trade WHERE "timestamp" >= $1) OR EXISTS (SELECT 1 FROM pm_market WHERE resolved_at >= $1))';
const IS_ANY_LATER: Statement = { name: 'pm_any_later', text: `SELECT ${ANY_LATER} AS later` };

/** Whether the store holds anything of `now` or later. */
export async function isAnyLater(sql: Sql, now: Date): Promise<boolean> {
  const [any] = await sql.query<{ later: boolean }>(IS_ANY_LATER, [now]);
  return any?.later === true;
}

/** Positions of the whole venue that what is kept tells wrong as of `now`, told right: JSON for `positionsSql`. Empty unless facts of later than `now` are in the store (`any_later`). */
export async function loadOverlay(sql: Sql, now: Date, any_later?: boolean): Promise<string> {
  // Served as of now it never does, and looking through all positions for nothing is dear.
  if (!(any_later ?? (await isAnyLater(sql, now)))) return '[]';
  return overlayOf(sql, await sql.query<Group>(LATER.all, [now]), now);
}

/** The same for `positionsSql` of these wallets alone. */
export async function loadWalletsOverlay(sql: Sql, wallets: readonly string[], now: Date, any_later?: boolean): Promise<string> {
  if (!(any_later ?? (await isAnyLater(sql, now)))) return '[]';
  return overlayOf(sql, await sql.query<Group>(LATER.wallet, [now, wallets]), now);
}

const overlayOf = async (sql: Sql, groups: readonly Group[], now: Date): Promise<string> =>
  JSON.stringify(await listComputed(sql, groups, { facts: now, resolutions: now }));

/** SQL of what an overlay holds, an item of FROM. */
export const laterSql = (overlay: string, name: string): string =>
  `jsonb_to_recordset(${overlay}::jsonb) AS ${name}(${POSITION_COLUMNS.map(([column, type]) => `${column} ${type}`).join(', ')})`;

/**
 * SQL of all positions as of an instant, `now` and `overlay` (of `loadOverlay`) being parameters of the statement; of what is kept those alone for which
 * `kept` holds. Served as of now nothing is overlaid, and one table without another to append is planned in less time, and read in the order of its key.
 */
export const positionsSql = (now: string, overlay: string, condition = 'true', kept = 'true'): string =>
  `SELECT ${COLUMNS} FROM pm_position WHERE ${kept} AND last_at < ${now}::timestamptz AND ${overlay}::jsonb IS NOT NULL AND ${condition}
${unlessNone(overlay, `UNION ALL SELECT ${COLUMNS} FROM ${laterSql(overlay, 'later')} WHERE ${condition}`)}`;
