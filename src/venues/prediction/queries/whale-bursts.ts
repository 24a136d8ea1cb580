import type { Sql, Statement } from '../../../db/sql';
import { readBackward } from './backward';
import type { RowPosition, TradeRow } from './trade-row';
import { type WhaleFilter, filterOf } from './whale-filter';

/** Fills of one wallet, token and side this far apart at most are one burst. */
const BURST_GAP_MS = 60_000;
const GAP = `interval '${BURST_GAP_MS / 1_000} seconds'`;

const statements = new Map<string, Statement>();

/** A burst, and whether it may have begun before the slice that was read. */
type BurstRow = TradeRow & { is_cut: boolean };

// Only keys that could reach the bound, or that a slice may have cut, are put in order: few of many. IS TRUE keeps the
// look-up a hash: as a join, without statistics on a WITH query, it was planned as a nested loop.
function burstsStatement(filter: WhaleFilter): Statement {
  const { suffix, clauses, next } = filterOf(filter);
  const name = `pm_whale_bursts${suffix}`;
  const key = 'wallet, condition_id, token, side';
  const cut = `$${next + 3}::boolean AND min("timestamp") <= $1::timestamptz + ${GAP}`;
  const text = `WITH fills AS MATERIALIZED (
  SELECT *, COALESCE(token_id, '') AS token FROM pm_trade WHERE "timestamp" >= $1 AND "timestamp" < $2 AND side = ANY($3)${clauses}
), keys AS (
  SELECT ${key} FROM fills GROUP BY ${key} HAVING sum(usdc_size) >= $4::numeric OR (${cut})
), marked AS (
  SELECT *, COALESCE("timestamp" - lag("timestamp") OVER key <= ${GAP}, false) AS follows
  FROM fills WHERE ((${key}) IN (SELECT ${key} FROM keys)) IS TRUE WINDOW key AS (PARTITION BY ${key} ORDER BY "timestamp", trade_id)
), numbered AS (
  SELECT *, count(*) FILTER (WHERE NOT follows) OVER (PARTITION BY ${key} ORDER BY "timestamp", trade_id) AS burst FROM marked
), bursts AS (
  SELECT (array_agg(trade_id ORDER BY "timestamp", trade_id))[1] AS trade_id, condition_id, wallet, min(token_id) AS token_id, side,
    CASE WHEN side <> 'REDEEM' THEN sum(usdc_size) / sum(size) END AS price, (array_agg(price ORDER BY "timestamp" DESC, trade_id DESC))[1] AS last_price,
    sum(size) AS size, sum(usdc_size) AS usdc_size, max("timestamp") AS "timestamp", min("timestamp") AS first_at, count(*)::int AS fills,
    array_agg(trade_id::text ORDER BY "timestamp", trade_id) AS parts, CASE WHEN count(is_taker) = count(*) THEN bool_and(is_taker) END AS is_taker,
    (array_agg(tx_hash ORDER BY "timestamp", trade_id))[1] AS tx_hash, (${cut}) AS is_cut
  FROM numbered GROUP BY ${key}, burst
)
SELECT * FROM bursts WHERE (usdc_size >= $4::numeric OR is_cut) AND ("timestamp", trade_id) < ($${next}::timestamptz, $${next + 1}::uuid)
ORDER BY "timestamp" DESC, trade_id DESC LIMIT $${next + 2}`;
  const known = statements.get(name) ?? { name, text };
  statements.set(name, known);
  return known;
}

/**
 * At most `limit` bursts of at least `min_usdc` together behind `after`, newest first: fills of the window that follow each other within
 * 60 seconds, merged. A burst is told by its oldest fill and stands at its newest.
 */
export function listWhaleBursts(sql: Sql, filter: WhaleFilter, after: RowPosition, limit: number): Promise<TradeRow[]> {
  const statement = burstsStatement(filter);
  // Fills up to a gap behind `after` tell whether a burst goes on beyond it.
  const end = new Date(Math.min(filter.window.to.getTime(), after.timestamp.getTime() + BURST_GAP_MS + 1));
  return readBackward(filter.window, after.timestamp, async ({ from }, whole) => {
    const { values } = filterOf({ ...filter, window: { from, to: end } });
    const rows = await sql.query<BurstRow>(statement, [...values, after.timestamp, after.trade_id, limit, !whole]);
    if (whole) return rows;
    // What stands behind a cut burst may stand in another place once it is whole.
    const cut = rows.findIndex((row) => row.is_cut);
    return cut < 0 && rows.length >= limit ? rows : null;
  });
}
