import { heldAt } from '../queries/held';
import { VOLUME, VOLUME_COLUMNS, ownRows } from '../queries/span';
import { PERP_TAGS } from './tags';

/** An account's life up to the run. Decimals as text. */
export interface LifeRow {
  trader: string;
  first_at: Date;
  fills: number;
  closing_trades: number;
  winning_trades: number;
  net_pnl: string;
  largest_coin_day_pnl: string;
  largest_position_usd: string | null;
  top_coin_share: string | null;
  top_coin_round_trips: number;
  active_days: number;
  median_gap_seconds: number | null;
  median_hold_seconds: number | null;
  maker_share: string | null;
  net_volume: string;
  gross_volume: string;
  liquidations: number;
  /** The venue says so; false too where it was never asked. */
  is_vault: boolean;
}

const COLUMNS = [...VOLUME_COLUMNS, 'long_pnl', 'short_pnl', 'fees_usd', 'fills', 'taker_fills', 'maker_fills', 'liquidations'] as const;

/** The pace of an account is that of so many of its newest fills. */
export const NEWEST_FILLS = 1_000;

// $1 to $4: everything up to the run; $5: accounts. Gaps between fills matter from so many fills on, and only then facts are read.
export const LIVES = {
  name: 'perps_lives',
  text: `
WITH ${heldAt('$4::timestamptz', 'p.trader = ANY ($5::text[])')},
own AS MATERIALIZED (
  SELECT r.trader, coin, (hour AT TIME ZONE 'UTC')::date AS day, sum(long_pnl + short_pnl - fees_usd) AS net_pnl, sum(${VOLUME}) AS volume,
    sum(open_long_usd + close_short_usd - open_short_usd - close_long_usd) AS net_volume, sum(fills) AS fills, sum(taker_fills) AS taker_fills,
    sum(maker_fills) AS maker_fills, sum(liquidations) AS liquidations
  FROM ${ownRows(COLUMNS, { traders: '$5' })} r GROUP BY 1, 2, 3
),
total AS (
  SELECT trader, sum(net_pnl) AS net_pnl, max(net_pnl) AS largest_coin_day_pnl, sum(volume) AS volume, sum(net_volume) AS net_volume, sum(fills)::int AS fills,
    sum(taker_fills) AS taker_fills, sum(maker_fills) AS maker_fills, sum(liquidations)::int AS liquidations, count(DISTINCT day)::int AS active_days
  FROM own GROUP BY trader
),
trips AS MATERIALIZED (
  SELECT trader, coin, net_pnl, peak_size * opened_usd / nullif(opened_size, 0) AS position_usd, extract(epoch FROM closed_at - opened_at) AS hold
  FROM perp_round_trip WHERE trader = ANY ($5::text[]) AND closed_at < $4
),
closed AS (
  SELECT trader, count(*)::int AS closed, count(*) FILTER (WHERE net_pnl > 0)::int AS won, max(position_usd) AS position_usd,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY hold) AS hold
  FROM trips GROUP BY trader
),
open_now AS (SELECT trader, max(peak_size * opened_usd / nullif(opened_size, 0)) AS position_usd FROM held GROUP BY trader),
top AS (
  SELECT DISTINCT ON (trader) trader, coin, volume FROM (SELECT trader, coin, sum(volume) AS volume FROM own GROUP BY trader, coin) c
  ORDER BY trader, volume DESC, coin COLLATE "C"
),
in_top AS (SELECT top.trader, count(*)::int AS trips FROM top JOIN trips ON trips.trader = top.trader AND trips.coin = top.coin GROUP BY top.trader),
gaps AS (
  SELECT trader, percentile_cont(0.5) WITHIN GROUP (ORDER BY gap) AS gap FROM (
    SELECT f.trader, extract(epoch FROM f.timestamp - lag(f.timestamp) OVER (PARTITION BY f.trader ORDER BY f.timestamp)) AS gap
    FROM (SELECT DISTINCT a.trader FROM total k JOIN perp_trader a ON a.trader = k.trader WHERE k.fills >= ${PERP_TAGS.hft_bot.gap_fills}) busy
    CROSS JOIN LATERAL (SELECT trader, timestamp FROM perp_fill WHERE trader = busy.trader AND timestamp < $4 ORDER BY timestamp DESC LIMIT ${NEWEST_FILLS}) f
  ) g GROUP BY trader
)
SELECT t.trader, p.first_at, t.fills, coalesce(closed.closed, 0) AS closing_trades, coalesce(closed.won, 0) AS winning_trades, t.net_pnl,
  greatest(t.largest_coin_day_pnl, 0) AS largest_coin_day_pnl, greatest(closed.position_usd, open_now.position_usd) AS largest_position_usd,
  top.volume / nullif(t.volume, 0) AS top_coin_share, coalesce(in_top.trips, 0) AS top_coin_round_trips, t.active_days,
  gaps.gap AS median_gap_seconds, closed.hold AS median_hold_seconds, t.maker_fills / nullif(t.taker_fills + t.maker_fills, 0) AS maker_share,
  t.net_volume, t.volume AS gross_volume, t.liquidations, coalesce(role.role = 'vault', false) AS is_vault
FROM total t JOIN perp_trader p ON p.trader = t.trader LEFT JOIN closed ON closed.trader = t.trader LEFT JOIN open_now ON open_now.trader = t.trader
LEFT JOIN top ON top.trader = t.trader LEFT JOIN in_top ON in_top.trader = t.trader LEFT JOIN gaps ON gaps.trader = t.trader
LEFT JOIN perp_role role ON role.trader = p.trader`,
};
