import type { PoolClient } from 'pg';
import { DAY_MS } from '../../../lib/time';

/** Two accounts are one cluster when each has this share of all its fills, and so many of them, with the other: both live on each other. */
export const CLUSTER = { share: 0.5, matches: 10 } as const;

const TODAY = "date_trunc('day', $1::timestamptz, 'UTC')";

/** What accounts dealt with each other in [from, to), by both sides of each match of which both are known. */
// Makers are read by themselves (OFFSET): fills stand by account, both sides of a match under two of them.
const dealtBetween = (from: string, to: string): string => `
  SELECT side.trader, side.other, sum(t.usd_value) AS usd, count(*)::int AS matches
  FROM perp_fill t JOIN (
    SELECT coin, timestamp, tid, trader FROM perp_fill WHERE NOT is_taker AND timestamp >= ${from} AND timestamp < ${to} OFFSET 0
  ) m ON m.coin = t.coin AND m.timestamp = t.timestamp AND m.tid = t.tid
  CROSS JOIN LATERAL (VALUES (t.trader, m.trader), (m.trader, t.trader)) AS side(trader, other)
  WHERE t.is_taker AND t.timestamp >= ${from} AND t.timestamp < ${to} GROUP BY 1, 2`;

// $1: the run. How far days are kept, and whether those still have the fills they had: fills only ever come to a day.
const KEPT = {
  name: 'perps_dealt_kept',
  text: `
WITH kept AS (SELECT max(day) + interval '24 hours' AS until FROM perp_dealt_day)
SELECT kept.until, EXISTS (
  SELECT 1 FROM (SELECT day, sum(fills) AS fills FROM perp_trader_day WHERE day < (SELECT until FROM kept) GROUP BY day) own
  FULL JOIN perp_dealt_day k ON k.day = own.day WHERE own.fills IS DISTINCT FROM k.fills
) AS is_stale, coalesce(kept.until > ${TODAY}, false) AS is_ahead FROM kept`,
};

// $1: the run; $2: how far days are kept.
const KEEP_DAYS = {
  name: 'perps_keep_dealt',
  text: `
WITH days AS (
  INSERT INTO perp_dealt_day (day, fills)
  SELECT day, sum(fills) FROM perp_trader_day WHERE day >= $2::timestamptz AND day < ${TODAY} GROUP BY day ORDER BY day
)
INSERT INTO perp_dealt AS kept (trader, other, usd, matches)
SELECT trader, other, usd, matches FROM (${dealtBetween('$2::timestamptz', TODAY)}) dealt ORDER BY trader, other
ON CONFLICT (trader, other) DO UPDATE SET usd = kept.usd + EXCLUDED.usd, matches = kept.matches + EXCLUDED.matches`,
};

// $1: the run; $2: from when on facts tell it; what is kept tells the days before, where there are any. Of the whole trading of accounts: of some of it the other
// side may not be on record.
const SELF_TRADES = {
  name: 'perps_self_trades',
  text: `
WITH dealt AS MATERIALIZED (
  SELECT trader, other, sum(usd) AS usd, sum(matches) AS matches FROM (
    SELECT trader, other, usd, matches FROM perp_dealt WHERE $2::timestamptz > '-infinity'
    UNION ALL (${dealtBetween('$2::timestamptz', '$1')})
  ) d GROUP BY 1, 2
),
later AS (SELECT trader, sum(usd_value) AS usd, count(*) AS fills FROM perp_fill WHERE timestamp >= $1 GROUP BY trader),
whole AS (
  SELECT p.trader, p.volume_usd - coalesce(later.usd, 0) AS usd, p.fills - coalesce(later.fills, 0) AS fills
  FROM perp_trader p LEFT JOIN later ON later.trader = p.trader
),
leaning AS MATERIALIZED (
  SELECT d.trader, d.other, d.usd, whole.usd AS volume FROM dealt d JOIN whole ON whole.trader = d.trader
  WHERE d.trader = d.other OR (d.matches >= ${CLUSTER.matches} AND d.matches >= ${CLUSTER.share} * whole.fills)
)
SELECT a.trader, (sum(a.usd) / a.volume)::float8 AS share FROM leaning a JOIN leaning b ON b.trader = a.other AND b.other = a.trader
GROUP BY a.trader, a.volume`,
};

/**
 * Shares (0..1) of accounts' volume before `now` against themselves or their cluster, in the client's transaction; accounts without such
 * are not told. Whole days are kept from run to run; those of a run before the newest kept day, and late fills, are told from all facts.
 */
export async function listSelfTrades(client: PoolClient, now: Date): Promise<Map<string, number>> {
  const { rows } = await client.query<{ trader: string; share: number }>({ ...SELF_TRADES, values: [now, await keepDays(client, now)] });
  return new Map(rows.map(({ trader, share }) => [trader, share]));
}

/** Brings the kept days up to the run's own; from when on facts tell the rest. */
async function keepDays(client: PoolClient, now: Date): Promise<Date | '-infinity'> {
  const kept = await client.query<{ until: Date | null; is_stale: boolean; is_ahead: boolean }>({ ...KEPT, values: [now] });
  const { until, is_stale, is_ahead } = kept.rows[0] as (typeof kept.rows)[number];
  if (is_ahead) return '-infinity';
  // A rebuild forgets the days only.
  if (is_stale || until === null) await client.query('DELETE FROM perp_dealt; DELETE FROM perp_dealt_day');
  await client.query({ ...KEEP_DAYS, values: [now, is_stale ? '-infinity' : (until ?? '-infinity')] });
  return new Date(Math.floor(now.getTime() / DAY_MS) * DAY_MS);
}
