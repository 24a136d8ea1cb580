import type { Statement } from '../../../db/sql';
import { AppError } from '../../../errors';
import type { Timeframe } from '../../../lib/timeframe';
import type { GraphContext } from '../../venue';
import { matchRow, TAKER_OPENS, takerOpenRow, type Unit } from '../rollups/hours';
import { type PressureLabel, pressureLabel } from '../pressure';
import { openWindow, spanUpToNow, warnUndirected, widerTimeframe } from './scope';
import { pieces } from './pieces';

/** Longs against shorts. Figures are exact decimals as text. */
interface Pressure {
  long_pressure: string;
  short_pressure: string;
  long_percent: string | null;
  short_percent: string | null;
  pressure_ratio: string | null;
  pressure_label: PressureLabel | null;
}

export interface PressureSummary {
  coins: (Pressure & { coin: string; long_avg_entry: string | null; short_avg_entry: string | null })[];
  market: Pressure & { coins_long: number; coins_short: number };
}

interface Row {
  coin: string;
  long_pressure: string;
  short_pressure: string;
  long_percent: string | null;
  short_percent: string | null;
  pressure_ratio: string | null;
  long_avg_entry: string | null;
  short_avg_entry: string | null;
  all_longs: string;
  all_shorts: string;
  all_long_percent: string | null;
  all_short_percent: string | null;
  all_ratio: string | null;
  coins_long: number;
  coins_short: number;
  undirected: number;
}

/** Rows of the span $1 to $4 to be added up, by coin: what takers opened, and how many matches do not say who took. Rollups tell both in one row. */
function pressureRows(): string {
  const told = (unit: Unit): string =>
    `SELECT h.coin, ${TAKER_OPENS.map((column) => `h.${column}`).join(', ')}, h.undirected FROM perp_coin_${unit} h WHERE (h.matches > 0 OR h.open_long_usd > 0 OR h.open_short_usd > 0) AND`;
  const opened = TAKER_OPENS.map((column) => takerOpenRow(column)).join(', ');
  const nothing = TAKER_OPENS.map(() => '0').join(', ');
  return pieces(
    {
      months: told('month'),
      days: told('day'),
      quarters: told('quarter'),
      hours: told('hour'),
      bars: told('bar'),
      facts: `SELECT f.coin, ${opened}, 0 FROM perp_fill f WHERE f.is_taker AND f.open_size > 0 AND`,
      table: 'f',
      beside: { facts: `SELECT m.coin, ${nothing}, ${matchRow('undirected')} FROM perp_match m WHERE true AND`, table: 'm' },
    },
    1,
    'month',
  );
}

// $1 to $4: the window; $5: how many coins. The market is summed before the coins are cut. Parts of flips carry the noise of the position:
// what is shown as the same is equal.
const PRESSURE_SUMMARY: Statement = {
  name: 'perps_pressure_summary',
  keyed: true,
  text: `
WITH by_coin AS (
  SELECT coin, sum(open_long_usd) AS longs, sum(open_short_usd) AS shorts, sum(open_long_size) AS long_size, sum(open_short_size) AS short_size,
    sum(undirected) AS undirected
  FROM ${pressureRows()} piece GROUP BY coin
),
market AS (
  SELECT sum(longs) AS longs, sum(shorts) AS shorts, count(*) FILTER (WHERE round(longs - shorts, 6) > 0)::int AS coins_long,
    count(*) FILTER (WHERE round(longs - shorts, 6) < 0)::int AS coins_short, sum(undirected)::int AS undirected FROM by_coin
)
SELECT c.coin, c.longs AS long_pressure, c.shorts AS short_pressure, 100 * c.longs / nullif(c.longs + c.shorts, 0) AS long_percent,
  100 * c.shorts / nullif(c.longs + c.shorts, 0) AS short_percent, (c.longs - c.shorts) / nullif(c.longs + c.shorts, 0) AS pressure_ratio,
  c.longs / nullif(c.long_size, 0) AS long_avg_entry, c.shorts / nullif(c.short_size, 0) AS short_avg_entry,
  market.longs AS all_longs, market.shorts AS all_shorts, 100 * market.longs / nullif(market.longs + market.shorts, 0) AS all_long_percent,
  100 * market.shorts / nullif(market.longs + market.shorts, 0) AS all_short_percent,
  (market.longs - market.shorts) / nullif(market.longs + market.shorts, 0) AS all_ratio, market.coins_long, market.coins_short, market.undirected
FROM by_coin c CROSS JOIN market ORDER BY round(c.longs + c.shorts, 6) DESC, c.coin COLLATE "C" LIMIT $5`,
};

/** What takers opened, coin by coin and in all. Throws empty_result. */
export async function pressureSummary(args: { timeframe: Timeframe; limit: number }, context: GraphContext): Promise<PressureSummary> {
  const window = openWindow(args.timeframe, context);
  const rows = await context.sql.query<Row>(PRESSURE_SUMMARY, [...(await spanUpToNow(window, context)), args.limit]);
  const [any] = rows;
  if (any === undefined) throw new AppError('empty_result', { suggestion: widerTimeframe(args.timeframe) });
  context.meta.count = rows.length;
  warnUndirected(context, [any]);
  return {
    coins: rows.map((row) => ({ ...row, pressure_label: pressureLabel(row.pressure_ratio) })),
    market: {
      long_pressure: any.all_longs,
      short_pressure: any.all_shorts,
      long_percent: any.all_long_percent,
      short_percent: any.all_short_percent,
      pressure_ratio: any.all_ratio,
      pressure_label: pressureLabel(any.all_ratio),
      coins_long: any.coins_long,
      coins_short: any.coins_short,
    },
  };
}
