import type { PoolClient } from 'pg';
import { besideAccounts } from './round-trips';

/**
 * How the sum of closed PnL moved through a stretch of an account's fills, so that stretches can be put together: what it came to
 * (`total`), how far it rose above its start (`peak`), how far below (`trough`), and its largest fall from a peak (`fall`). One fill is
 * the shortest stretch.
 */
const STRETCH_OF_FILL =
  'f.closed_pnl AS total, greatest(f.closed_pnl, 0) AS peak, least(f.closed_pnl, 0) AS trough, greatest(-f.closed_pnl, 0) AS fall';

/** The order of fills, in any list of stretches. */
const ORDER = 'at, seq, coin COLLATE "C", tid, oid';

/** Columns of a stretch that is one closing fill `f`. */
export const closingFills = (
  condition: string,
): string => `SELECT f.trader, f.timestamp AS at, f.seq, f.coin, f.tid, f.oid, ${STRETCH_OF_FILL}
  FROM perp_fill f WHERE f.closed_pnl <> 0 AND ${condition}`;

/** Stretches `from` (with their order) put together, one for each `key`, a list of columns. */
export const joinStretches = (from: string, key: string): string => `
SELECT ${key}, sum(total) AS total, max(greatest(before + peak, 0)) AS peak, min(least(before + trough, 0)) AS trough,
  max(greatest(fall, greatest(coalesce(peak_before, 0), 0) - (before + trough))) AS fall, max(at) AS last_at
FROM (
  SELECT grown.*, max(before + peak) OVER (PARTITION BY ${key} ORDER BY ${ORDER} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS peak_before
  FROM (SELECT s.*, sum(total) OVER (PARTITION BY ${key} ORDER BY ${ORDER} ROWS UNBOUNDED PRECEDING) - total AS before FROM ${from} s) grown
) peaked GROUP BY ${key}`;

// How many zeros a sum ends in depends on what it was put together from: without them both ways are the same to the last letter.
const keep = (table: string, key: string, told: string): string => `
INSERT INTO ${table} AS kept (${key}, total, peak, trough, fall, last_at)
SELECT ${key}, trim_scale(total), trim_scale(peak), trim_scale(trough), trim_scale(fall), last_at FROM ${told} told ORDER BY ${key}
ON CONFLICT (${key}) DO UPDATE SET total = EXCLUDED.total, peak = EXCLUDED.peak, trough = EXCLUDED.trough, fall = EXCLUDED.fall, last_at = EXCLUDED.last_at`;

const keepDays = (told: string): string => keep('perp_trader_drawdown', 'trader, day', told);
const keepCoinDays = (told: string): string => keep('perp_trader_coin_drawdown', 'trader, coin, day', told);

// A day goes on from where it stands; one with a fill before its end is told again from its start, and so are all its coins.
const TELL_DAYS = {
  name: 'perps_tell_drawdowns',
  text: `
WITH given AS MATERIALIZED (SELECT * FROM unnest($1::text[], $2::timestamptz[], $3::timestamptz[]) AS k(trader, day, since)),
touched AS MATERIALIZED (
  SELECT k.trader, k.day, d.total, d.peak, d.trough, d.fall, d.last_at, coalesce(d.last_at < k.since, false) AS goes_on,
    CASE WHEN d.last_at < k.since THEN k.since ELSE k.day END AS since
  FROM given k LEFT JOIN perp_trader_drawdown d ON d.trader = k.trader AND d.day = k.day
),
fill AS MATERIALIZED (
  SELECT t.trader, t.day, f.at, f.seq, f.coin, f.tid, f.oid, f.total, f.peak, f.trough, f.fall FROM ${besideAccounts('touched', ['day', 'since'])} t CROSS JOIN LATERAL (
    ${closingFills("f.trader = t.trader AND f.timestamp >= t.since AND f.timestamp < t.day + interval '24 hours'")} OFFSET 0) f
),
stretch AS (
  SELECT trader, day, last_at AS at, -1 AS seq, '' AS coin, 0::bigint AS tid, 0::bigint AS oid, total, peak, trough, fall FROM touched WHERE goes_on
  UNION ALL SELECT * FROM fill
),
coin_stretch AS (
  SELECT d.trader, d.day, d.last_at AS at, -1 AS seq, d.coin, 0::bigint AS tid, 0::bigint AS oid, d.total, d.peak, d.trough, d.fall
  FROM (SELECT DISTINCT trader, day, coin FROM fill) f JOIN touched t ON t.trader = f.trader AND t.day = f.day AND t.goes_on
  JOIN perp_trader_coin_drawdown d ON d.trader = f.trader AND d.coin = f.coin AND d.day = f.day
  UNION ALL SELECT * FROM fill
),
coin_days AS (${keepCoinDays(`(${joinStretches('coin_stretch', 'trader, coin, day')})`)}
)${keepDays(`(${joinStretches('stretch', 'trader, day')})`)}`,
};

/** A UTC day of an account with new fills, and the first of them. */
export interface TouchedDay {
  trader: string;
  day: Date;
  since: Date;
}

/** Brings the days' drawdowns up to date after new fills, inside the client's transaction. */
export async function tellDrawdowns(client: PoolClient, touched: readonly TouchedDay[]): Promise<void> {
  if (touched.length === 0) return;
  const values = [touched.map(({ trader }) => trader), touched.map(({ day }) => day), touched.map(({ since }) => since)];
  await client.query({ ...TELL_DAYS, values });
}

const ALL = `(SELECT c.*, date_trunc('day', c.at, 'UTC') AS day FROM (${closingFills('true')}) c)`;

/** Tells all days from facts, and all of their coins; the tables must be empty. */
export const TELL_ALL_DAYS = keepDays(`(${joinStretches(ALL, 'trader, day')})`);
export const TELL_ALL_COIN_DAYS = keepCoinDays(`(${joinStretches(ALL, 'trader, coin, day')})`);
