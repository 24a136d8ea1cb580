import { TRADER_HOUR } from './hours';

/** Columns of perp_trader_sum: what a row of perp_trader_hour, _day or _life gives to each (`of`), and what a fill `f` does. */
export const TRADER_SUM = {
  fills: { of: 'fills', row: '1' },
  volume_usd: { of: 'open_long_usd + open_short_usd + close_long_usd + close_short_usd', row: 'f.usd_value' },
  pnl: { of: 'long_pnl + short_pnl', row: 'f.closed_pnl' },
  net_pnl: { of: 'long_pnl + short_pnl - fees_usd', row: 'f.closed_pnl - coalesce(f.fee_usd, 0)' },
  closed_entry_usd: { of: 'closed_entry_usd', row: TRADER_HOUR.closed_entry_usd.row },
} as const satisfies Record<string, { of: string; row: string }>;

export type SumColumn = keyof typeof TRADER_SUM;
const NAMES = Object.keys(TRADER_SUM) as SumColumn[];
const SUMS = NAMES.map((name) => `sum(${TRADER_SUM[name].of}) AS ${name}`).join(', ');

/** Adds the hours of `source` to the UTC days of their accounts, in all coins. */
export const keepTraderSums = (source: string): string => `
INSERT INTO perp_trader_sum AS kept (trader, day, ${NAMES.join(', ')})
SELECT r.trader, date_trunc('day', r.hour, 'UTC'), ${SUMS} FROM ${source} r GROUP BY 1, 2 ORDER BY 1, 2
ON CONFLICT (trader, day) DO UPDATE SET ${NAMES.map((name) => `${name} = kept.${name} + EXCLUDED.${name}`).join(', ')}`;

/** Tells all of the days by coin, in the order of time: what a window reads stands together. The table must be empty. */
export const TELL_TRADER_SUMS = `
INSERT INTO perp_trader_sum (trader, day, ${NAMES.join(', ')}, closed_trips, won_trips)
SELECT trader, day, ${SUMS}, sum(closed_trips), sum(won_trips) FROM perp_trader_day GROUP BY 1, 2 ORDER BY 2, 1`;
