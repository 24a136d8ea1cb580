import type { Sql, Statement } from '../../../db/sql';
import { HOUR_MS } from '../../../lib/time';
import { BEGINNING, type Window } from '../../../lib/timeframe';

/** Of more markets some are old: the search for all their lives would cost more than it saves. */
const MOST_MARKETS = 64;

// Each end a place in the key of the hours, which are kept with the facts.
const LIFE: Statement = {
  name: 'pm_markets_life',
  keyed: true,
  text: `SELECT min(first.hour) AS first, max(last.hour) AS last FROM pm_market AS market
CROSS JOIN LATERAL (SELECT hour FROM pm_wallet_hour AS own WHERE own.condition_id = market.condition_id ORDER BY hour LIMIT 1) AS first
CROSS JOIN LATERAL (SELECT hour FROM pm_wallet_hour AS own WHERE own.condition_id = market.condition_id ORDER BY hour DESC LIMIT 1) AS last
WHERE market.condition_id = ANY ($1)`,
};

/**
 * The part of [BEGINNING, to) that holds all facts of these markets, so that a statement is planned for the months in which they were alive instead of every month there
 * is; the whole of it where they are many.
 */
export async function lifeOf(sql: Sql, condition_ids: readonly string[], to: Date): Promise<Window> {
  const markets = [...new Set(condition_ids)];
  if (markets.length === 0 || markets.length > MOST_MARKETS) return { from: BEGINNING, to };
  const [life] = await sql.query<{ first: Date | null; last: Date | null }>(LIFE, [markets]);
  if (!life?.first || !life.last) return { from: to, to };
  return { from: life.first, to: new Date(Math.min(to.getTime(), life.last.getTime() + HOUR_MS)) };
}
