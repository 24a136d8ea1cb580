import type { PoolClient } from 'pg';
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
RETURNING pool_address`;

/**
 * Keeps the liquidity of pools by the hours of their catalogue records; the newest record of an hour stays, in whatever order they
 * come. Returns the pools of which something new is kept. Their months must be there.
 */
export async function saveLiquidity(client: PoolClient, rows: readonly PoolLiquidity[]): Promise<string[]> {
  const pools: string[] = [];
  for (const batch of batchesOf(rows)) {
    const saved = await client.query<{ pool_address: string }>({
      name: 'lp_save_liquidity',
      text: SAVE_LIQUIDITY,
      values: columnArrays(LIQUIDITY, batch),
    });
    pools.push(...saved.rows.map((row) => row.pool_address));
  }
  return pools;
}
