import type { PoolClient } from 'pg';
import { noteProviders, notingEvents, notingSwaps } from './changes';
import { TouchedMinutes } from '../store/touched';

const FILL_EVENTS = notingEvents(`
UPDATE lp_event e SET amount_x = coalesce(e.amount_x, e.raw_x * ('1e-' || x.decimals)::numeric), amount_y = coalesce(e.amount_y, e.raw_y * ('1e-' || y.decimals)::numeric)
FROM lp_pool p LEFT JOIN lp_token x ON x.mint = p.mint_x LEFT JOIN lp_token y ON y.mint = p.mint_y
WHERE p.pool_address = ANY($1) AND e.pool_address = p.pool_address
  AND ((e.amount_x IS NULL AND e.raw_x IS NOT NULL AND x.decimals IS NOT NULL) OR (e.amount_y IS NULL AND e.raw_y IS NOT NULL AND y.decimals IS NOT NULL))`);

const FILL_SWAPS = notingSwaps(`
UPDATE lp_swap s SET
  amount_in = coalesce(s.amount_in, s.raw_in * ('1e-' || CASE WHEN s.x_to_y THEN x.decimals ELSE y.decimals END)::numeric),
  amount_out = coalesce(s.amount_out, s.raw_out * ('1e-' || CASE WHEN s.x_to_y THEN y.decimals ELSE x.decimals END)::numeric)
FROM lp_pool p LEFT JOIN lp_token x ON x.mint = p.mint_x LEFT JOIN lp_token y ON y.mint = p.mint_y
WHERE p.pool_address = ANY($1) AND s.pool_address = p.pool_address AND (s.amount_in IS NULL OR s.amount_out IS NULL)`);

const MINUTES = `
SELECT date_trunc('minute', "timestamp") AS minute FROM lp_event WHERE pool_address = ANY($1)
UNION SELECT date_trunc('minute', "timestamp") FROM lp_swap WHERE pool_address = ANY($1)`;

/**
 * Counts earlier facts of pools in units of their tokens, now that the tokens (or the bin step) are known. Returns the
 * minutes of all their facts: prices may be read from them only now.
 */
export async function fillAmounts(client: PoolClient, pools: readonly string[]): Promise<TouchedMinutes> {
  await client.query(FILL_EVENTS, [pools]);
  await client.query(FILL_SWAPS, [pools]);
  await noteProviders(client, pools);
  const { rows } = await client.query<{ minute: Date }>(MINUTES, [pools]);
  const touched = new TouchedMinutes();
  for (const { minute } of rows) touched.add(minute);
  return touched;
}
