import type { Sql, Statement } from '../../../db/sql';
import { BEGINNING, type Window } from '../../../lib/timeframe';
import { ownerCounts, smartCounts } from './presence';
import { flowSumsOfLife, flowsIn, ofPools } from './span';
import { spanOf } from './window-span';

/** What providers did in a pool in a window. */
interface ProvidedRow {
  pool_address: string;
  /** Deposits, withdrawals and claims. */
  provided: number;
  unique_lps: number;
  smart_lp_count: number;
}

// $1 to $6: the window; $7: the pools. `life`: the window begins before everything.
function statement(life: boolean): Statement {
  const counting = { pools: 'unnest($7::text[]) shown(pool_address)', at: 1, life };
  return {
    name: `lp_provided${life ? '_life' : ''}`,
    keyed: true,
    text: `
WITH provided AS MATERIALIZED (
  ${
    life
      ? `SELECT pool_address, deposits + withdrawals + claims AS n FROM (${flowSumsOfLife(1, ofPools(7))}) e`
      : `SELECT pool_address, sum(deposits + withdrawals + claims)::int AS n FROM (${flowsIn(1, ofPools(7))}) e GROUP BY pool_address`
  }
), owners AS MATERIALIZED (${ownerCounts(counting)}), smart AS MATERIALIZED (${smartCounts(counting)})
SELECT p.pool_address, coalesce(e.n, 0) AS provided, coalesce(o.n, 0)::int AS unique_lps, coalesce(s.n, 0)::int AS smart_lp_count
FROM unnest($7::text[]) p(pool_address)
LEFT JOIN provided e ON e.pool_address = p.pool_address LEFT JOIN owners o ON o.pool_address = p.pool_address LEFT JOIN smart s ON s.pool_address = p.pool_address`,
  };
}

const STATEMENTS = { life: statement(true), span: statement(false) };

/** What providers did in each of the pools in the window. */
export async function listProvided(sql: Sql, window: Window, pools: readonly string[]): Promise<Map<string, ProvidedRow>> {
  const which = window.from.getTime() === BEGINNING.getTime() ? 'life' : 'span';
  const rows = await sql.query<ProvidedRow>(STATEMENTS[which], [...spanOf(window), pools]);
  return new Map(rows.map((row) => [row.pool_address, row]));
}
