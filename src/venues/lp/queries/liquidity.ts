import { BEGINNING } from '../../../lib/timeframe';
import { hourOf } from '../rollups/buckets';
import { dayOf } from '../rollups/days';
import { priceAt } from '../rollups/price-at';
import { bornAt } from './pools-trending';

/**
 * Select of `usd`, the value of a pool's reserves at an instant: the newer of the catalogue's figure and the reserves that an
 * event stated, these at the prices of the instant; where both are younger than the instant, the catalogue's of the last hour
 * before it, or null without `earlier`, which opens every month. `p` is an alias over lp_pool.
 */
export const liquidityOf = (p: string, at: string, earlier = true): string => `
SELECT CASE
  WHEN ${p}.reserve_at <= ${at} AND (${p}.tvl_usd IS NULL OR ${p}.as_of IS NULL OR ${p}.reserve_at > ${p}.as_of) AND a.decimals IS NOT NULL AND b.decimals IS NOT NULL
    AND x.usd IS NOT NULL AND y.usd IS NOT NULL
  THEN ${p}.reserve_x * ('1e-' || a.decimals)::numeric * x.usd + ${p}.reserve_y * ('1e-' || b.decimals)::numeric * y.usd
  WHEN ${p}.as_of IS NULL OR ${p}.as_of <= ${at} THEN ${p}.tvl_usd
  ${earlier ? `ELSE (SELECT h.liquidity_usd FROM lp_liquidity_hour h WHERE h.pool_address = ${p}.pool_address AND h.hour <= ${at} - interval '1 hour' ORDER BY h.hour DESC LIMIT 1)` : ''} END AS usd
FROM (SELECT 1) one
LEFT JOIN lp_token a ON a.mint = ${p}.mint_x LEFT JOIN lp_token b ON b.mint = ${p}.mint_y
${priceAt(`${p}.mint_x`, `${at}::timestamptz`, 'x')} ${priceAt(`${p}.mint_y`, `${at}::timestamptz`, 'y')}`;

/** Sum and number of the hours in which the liquidity of the pool `b` was seen. `after`: an hour before which no pool's begin, by parameters alone: its months are opened, and no others. */
const hoursSeen = (from: string, until: string, to: number, after: string): string => `
SELECT sum(l.liquidity_usd) AS usd, count(*) AS hours FROM lp_liquidity_hour l
WHERE l.pool_address = b.pool_address AND l.hour >= ${from} AND l.hour < ${until} AND l.as_of >= b.born AND l.as_of < $${to} AND l.hour >= ${after} AND l.hour < $${to}`;

/** Those from the start of a window on. */
const hoursOfLife = (until: string, from: number, to: number): string =>
  hoursSeen(hourOf('b.born'), until, to, hourOf(`$${from}::timestamptz`));

/** The same by whole days, and by the hours before and after them. */
const daysSeen = (from: number, to: number): string => `
${hoursOfLife(`least(b.first_day, $${to})`, from, to)}
UNION ALL SELECT sum(d.liquidity_usd), sum(d.hours) FROM lp_liquidity_day d WHERE d.pool_address = b.pool_address AND d.day >= b.first_day AND d.day < ${dayOf(`$${to}::timestamptz`)}
UNION ALL ${hoursSeen(`greatest(b.first_day, ${dayOf(`$${to}::timestamptz`)})`, `$${to}`, to, dayOf(`$${to}::timestamptz`))}`;

/** Since when something told of swaps before the instant $to; null where nothing did. */
const toldSince = (to: number): string => `(SELECT min(hour) FROM lp_pool_hour WHERE hour < $${to})`;

/**
 * Rows (pool_address, usd, days) of `pools`, a FROM item with pool_address and created_at: the mean liquidity seen in [$from, $to), and how long the pool
 * lived in it since swaps of any are on record; in a window without a beginning, from its first fact on. Where no liquidity was seen its mean is null.
 * `byHours`: quicker where the window holds hardly a whole day.
 */
export const meanLiquidity = (pools: string, from: number, to: number, byHours = false): string => `
SELECT b.pool_address, m.usd, extract(epoch FROM $${to}::timestamptz - b.born)::numeric / 86400 AS days
FROM (
  SELECT p.pool_address, p.born, ${dayOf("p.born + interval '1 day' - interval '1 microsecond'")} AS first_day
  FROM (
    SELECT p.pool_address, greatest($${from}::timestamptz, ${toldSince(to)}, least(CASE WHEN $${from} > '${BEGINNING.toISOString()}' THEN p.created_at END, ${bornAt('p.pool_address')})) AS born
    FROM ${pools} p OFFSET 0
  ) p OFFSET 0
) b CROSS JOIN LATERAL (
  SELECT sum(s.usd) / nullif(sum(s.hours), 0) AS usd FROM (${byHours ? hoursOfLife(`$${to}`, from, to) : daysSeen(from, to)}) s
) m`;

/** `fees` per USD of that mean, and per day; null where no liquidity was seen. `m` is an alias of its rows. */
export const perLiquidityDay = (fees: string, m: string): string => `${fees} / nullif(${m}.usd, 0) / nullif(${m}.days, 0)`;

/** The same of one pool, an alias with pool_address and created_at. */
export const feesPerLiquidityDay = (fees: string, p: string, from: number, to: number): string =>
  `(SELECT ${perLiquidityDay(fees, 'm')} FROM (${meanLiquidity(`(SELECT ${p}.pool_address, ${p}.created_at)`, from, to)}) m)`;

/** Percent that `usd` of the row `move` is of what its pool held just before its `timestamp`, which lies between two parameters; null when no liquidity of the day before is known. */
export const shareOfPool = (
  move: string,
  from: string,
  to: string,
): string => `(SELECT 100 * ${move}.usd / nullif(l.liquidity_usd, 0) FROM lp_liquidity_hour l
  WHERE l.pool_address = ${move}.pool_address AND l.hour BETWEEN ${move}."timestamp" - interval '25 hours' AND ${move}."timestamp"
    AND l.hour BETWEEN ${from}::timestamptz - interval '25 hours' AND ${to}::timestamptz AND l.as_of >= ${move}."timestamp" - interval '1 day' AND l.as_of < ${move}."timestamp" ORDER BY l.hour DESC LIMIT 1)`;
