import type { QueryResultRow } from 'pg';
import { makeLoaders } from '../loaders';
import { openedBefore, timedOpens } from '../rollups/timings';
import type { GraphContext } from '../../venue';

// $1: now; $2: accounts, each once; $3: up to when opens are told; $4: the coin, where there is one. Fills are looked up account by account (OFFSET): of all together the planner reads
// everybody's, by their time, where a month has just begun and seems to hold hardly any.
function text(coin: boolean): string {
  const only = (table: string): string => (coin ? ` AND ${table}.coin = $4::text` : '');
  const fills = `
  SELECT own.* FROM perp_trader asked CROSS JOIN LATERAL (
    SELECT * FROM perp_fill f WHERE f.trader = asked.trader AND f.timestamp >= $3 AND f.timestamp < $1${only('f')} OFFSET 0) own
  WHERE asked.trader = ANY ($2::text[])`;
  return `
WITH told AS (
  SELECT l.trader, k.opens, k.moved FROM perp_trader_life l CROSS JOIN LATERAL (${openedBefore('l', '$3::timestamptz')}) k
  WHERE l.trader = ANY ($2::text[])${only('l')}
),
${timedOpens(fills, ['$3::timestamptz', '$1::timestamptz'])}
SELECT trader, (sum(moved)::numeric / sum(opens))::float8 AS timing
FROM (SELECT * FROM told UNION ALL SELECT trader, opens, moved FROM timed) own GROUP BY trader`;
}

/**
 * Share of each account's opens (of the coin) that a favourable move of at least two standard deviations followed within 24 hours;
 * opens before which the price did not move are left out, accounts without others are not told. `traders`: each once.
 */
export async function listTimings(
  { sql, now, loaders }: GraphContext,
  traders: readonly string[],
  coin: string | null,
): Promise<Map<string, number>> {
  const statement = { name: coin === null ? 'perps_timing' : 'perps_timing_coin', text: text(coin !== null), keyed: true };
  const values = [now, traders, await loaders(makeLoaders).timedUntil(), ...(coin === null ? [] : [coin])];
  const rows = await sql.query<{ trader: string; timing: number } & QueryResultRow>(statement, values);
  return new Map(rows.map(({ trader, timing }) => [trader, timing]));
}
