import type { QueryResultRow } from 'pg';
import { afterwards } from '../../../db/segments';
import { listInHalves } from '../../../db/halves';
import type { GraphContext } from '../../venue';
import type { TraderStats } from './trader-stats';
import { lifeRows } from './lives';
import { thisDay } from './pieces';
import { VOLUME, VOLUME_COLUMNS } from './span';
import { winRates } from './trader-coins';
import { lifeTrips } from './trip-counts';

/** What an account came to in its whole life: those figures of TraderStats that its rollup tells. Decimals as text. */
export type TraderLife = Pick<
  TraderStats,
  | 'trader'
  | 'total_pnl'
  | 'total_volume'
  | 'total_trades'
  | 'closing_trades'
  | 'winning_trades'
  | 'win_rate'
  | 'win_rate_lb'
  | 'roi_pct'
  | 'top_coin'
  | 'last_trade'
  | 'active_days'
>;

const COLUMNS = [...VOLUME_COLUMNS, 'long_pnl', 'short_pnl', 'fills', 'closed_entry_usd'] as const;

/** When the account of a row of perp_trader `p` was last filled before an instant. */
export const lastBefore = (instant: string): string => `CASE WHEN p.last_at < ${instant} THEN p.last_at
    ${afterwards(instant, `WHEN true THEN (SELECT max(f.timestamp) FROM perp_fill f WHERE f.trader = p.trader AND f.timestamp < ${instant})`)} ELSE p.last_at END`;

// $1: the instant lives are told up to; $2: accounts. A day counts from its first fill on.
const LIVES = {
  name: 'perps_trader_lives',
  keyed: true,
  text: `
WITH own AS (
  SELECT trader, coin, sum(long_pnl + short_pnl) AS pnl, sum(${VOLUME}) AS volume, sum(fills) AS fills, sum(closed_entry_usd) AS closed_entry_usd
  FROM ${lifeRows(COLUMNS, { traders: '$2' }, '$1')} r GROUP BY trader, coin HAVING sum(fills) > 0
),
total AS (
  SELECT trader, sum(pnl) AS pnl, sum(volume) AS volume, sum(fills)::int AS fills, sum(closed_entry_usd) AS closed_entry_usd,
    (array_agg(coin ORDER BY volume DESC, coin COLLATE "C"))[1] AS top_coin
  FROM own GROUP BY trader
),
trips AS (SELECT t.trader, sum(closed)::int AS closed, sum(won)::int AS won FROM ${lifeTrips({ traders: '$2' }, '$1')} t GROUP BY t.trader),
days AS (
  SELECT trader, sum(n)::int AS active FROM (
    SELECT trader, count(*) AS n FROM perp_trader_sum WHERE trader = ANY ($2::text[]) AND day < ${thisDay('$1')} GROUP BY trader
    UNION ALL SELECT DISTINCT trader, 1 FROM perp_trader_day WHERE trader = ANY ($2::text[]) AND day = ${thisDay('$1')} AND first_at < $1
  ) d GROUP BY trader
)
SELECT t.trader, t.pnl AS total_pnl, t.volume AS total_volume, t.fills AS total_trades, coalesce(trips.closed, 0) AS closing_trades,
  coalesce(trips.won, 0) AS winning_trades, 100 * t.pnl / nullif(t.closed_entry_usd, 0) AS roi_pct, t.top_coin,
  ${lastBefore('$1')} AS last_trade, days.active AS active_days
FROM total t JOIN days ON days.trader = t.trader JOIN perp_trader p ON p.trader = t.trader
LEFT JOIN trips ON trips.trader = t.trader`,
};

/** Figures of those of the accounts that had a fill before `instant`. */
export async function listLives({ sql }: GraphContext, traders: readonly string[], instant: Date): Promise<Map<string, TraderLife>> {
  const rows = await listInHalves(traders, (half) => sql.query<TraderLife & QueryResultRow>(LIVES, [instant, half]));
  return new Map(rows.map((row) => [row.trader, { ...row, ...winRates(row) }]));
}
