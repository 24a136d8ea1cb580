import { AppError } from '../../../errors';
import { windowOf } from '../../../lib/timeframe';
import type { GraphContext } from '../../venue';
import { activeByCoin } from './active';
import { spanUpToNow } from './scope';
import { matchRows } from './span';

export interface CoinsListArgs {
  limit: number;
  sort_by: 'volume' | 'coin' | 'trade_count';
  query?: string | null;
}

/** A coin with its last seven days. Figures are exact decimals as text. */
export interface ListedCoinRow {
  coin: string;
  volume_usd: string;
  trade_count: number;
  unique_traders: number;
  price: string | null;
  first_seen: Date | null;
  last_trade: Date | null;
  is_active: boolean;
}

const ORDER = { volume: 'volume_usd DESC, ', coin: '', trade_count: 'trade_count DESC, ' } as const;

// $1 to $4: seven days, as far as they may reach; $5: prefix in upper case, null for all; $6: how many; $7: now. Last fills are looked up of the coins shown.
const text = (sort_by: CoinsListArgs['sort_by']): string => `
SELECT c.coin, c.volume_usd, c.trade_count, c.unique_traders, last.price, CASE WHEN c.first_seen < $4 THEN c.first_seen END AS first_seen, last.filled_at AS last_trade,
  coalesce(last.filled_at >= $7::timestamptz - interval '24 hours', false) AS is_active
FROM (
  SELECT c.coin, c.first_seen, coalesce(m.volume_usd, 0) AS volume_usd, coalesce(m.trade_count, 0) AS trade_count, coalesce(t.count, 0) AS unique_traders
  FROM perp_coin c
  LEFT JOIN (SELECT coin, sum(volume_usd) AS volume_usd, sum(matches)::int AS trade_count FROM ${matchRows(['volume_usd', 'matches'])} r GROUP BY coin) m
    ON m.coin = c.coin
  LEFT JOIN (${activeByCoin()}) t ON t.coin = c.coin
  WHERE (c.is_delisted IS NOT NULL OR c.first_seen < $4) AND ($5::text IS NULL OR starts_with(c.lookup, $5))
  ORDER BY ${ORDER[sort_by]}c.coin COLLATE "C" LIMIT $6
) c
LEFT JOIN LATERAL perp_last_fill(c.coin, $4) last ON true
ORDER BY ${ORDER[sort_by]}c.coin COLLATE "C"`;

/** Coins of the catalogue and those that were filled, with seven days of trading. Throws empty_result. */
export async function coinsList(args: CoinsListArgs, context: GraphContext): Promise<ListedCoinRow[]> {
  const window = windowOf('7d', context.now);
  context.meta.window = window;
  const rows = await context.sql.query<ListedCoinRow>({ name: `perps_coins_list_${args.sort_by}`, text: text(args.sort_by) }, [
    ...(await spanUpToNow(window, context)),
    args.query?.toUpperCase() ?? null,
    args.limit,
    window.to,
  ]);
  if (rows.length === 0) throw new AppError('empty_result', { suggestion: args.query == null ? undefined : { query: null } });
  context.meta.count = rows.length;
  return rows;
}
