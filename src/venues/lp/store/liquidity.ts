import type { PoolClient } from 'pg';
import { dayOf, fill, liquidityDays } from '../rollups/days';
import { batchesOf, columnArrays, type Columns, unnestOf } from './insert';

/** What a catalogue record of `as_of` says of a pool; decimal text. */
export interface PoolLiquidity {
  pool_address: string;
  liquidity_usd: string;
  as_of: Date;
}

const LIQUIDITY: Columns<PoolLiquidity> = [
  ['pool_address', 'text'],
  ['liquidity_usd', 'numeric'],
  ['as_of', 'timestamptz'],
];

/**
 * Of records of one instant, which only a page that repeats a pool has, the larger figure stays: whichever comes first. Of a newer record that says the
 * same its time is kept, by which one that comes late is known as older.
 */
const SAVE_LIQUIDITY = `
INSERT INTO lp_liquidity_hour AS l (pool_address, hour, liquidity_usd, as_of)
SELECT DISTINCT ON (pool_address, hour) pool_address, h.hour, liquidity_usd, as_of FROM ${unnestOf(LIQUIDITY, 'u')}
CROSS JOIN LATERAL (SELECT date_trunc('hour', u.as_of, 'UTC') AS hour) h
ORDER BY pool_address, hour, as_of DESC, liquidity_usd DESC
ON CONFLICT (pool_address, hour) DO UPDATE SET liquidity_usd = EXCLUDED.liquidity_usd, as_of = EXCLUDED.as_of
WHERE (EXCLUDED.as_of, EXCLUDED.liquidity_usd) > (l.as_of, l.liquidity_usd)
RETURNING pool_address, hour`;

/** Days of these pools and instants, from their hours: none is ever taken away. */
const RECOUNT_DAYS = `${fill(
  liquidityDays,
  `(SELECT DISTINCT pool_address, ${dayOf('at')} AS day FROM unnest($1::text[], $2::timestamptz[]) AS u(pool_address, at)) c
  JOIN lp_liquidity_hour l ON l.pool_address = c.pool_address AND l.hour >= c.day AND l.hour < c.day + interval '1 day'`,
)} ON CONFLICT (pool_address, day) DO UPDATE SET hours = EXCLUDED.hours, liquidity_usd = EXCLUDED.liquidity_usd`;

/**
 * Keeps the liquidity of pools by the hours of their catalogue records; the newest record of an hour stays, in whatever order they
 * come. Returns the pools of which something new is kept. Their months must be there. `later`: days are not counted.
 */
export async function saveLiquidity(client: PoolClient, rows: readonly PoolLiquidity[], later: boolean): Promise<string[]> {
  const pools: string[] = [];
  for (const batch of batchesOf(rows)) {
    const saved = await client.query<{ pool_address: string; hour: Date }>({
      name: 'lp_save_liquidity',
      text: SAVE_LIQUIDITY,
      values: columnArrays(LIQUIDITY, batch),
    });
    const changed = saved.rows.map((row) => row.pool_address);
    if (changed.length > 0 && !later) {
      const hours = saved.rows.map(({ hour }) => hour.toISOString());
      await client.query({ name: 'lp_recount_liquidity', text: RECOUNT_DAYS, values: [changed, hours] });
    }
    pools.push(...changed);
  }
  return pools;
}
