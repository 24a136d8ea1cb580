/** Which list an endpoint sorts, and by which of its fields, for each value of its sorting parameter. */
export interface SortOrder {
  /** Field of `data` that holds the list; null where `data` is the list. */
  list: string | null;
  /** Field a value stands for, where it is not the value's own name. A minus: ascending; bars: by magnitude. Null: told by no single field. */
  fields: Readonly<Record<string, string | null>>;
}

/** The contract's orders. Every endpoint with `sort_by` or `metric` stands here. */
export const SORT_ORDERS: Readonly<Record<string, SortOrder>> = {
  'markets/trending': { list: null, fields: { volume: 'period_volume_usdc', volume_spike: 'volume_spike_multiplier', trade_count: 'period_trade_count', smart_money_inflow: 'smart_money_net_flow_usdc' } },
  'markets/search': { list: null, fields: { relevance: null, end_date: '-end_date', volume: 'total_volume_usdc' } },
  'markets/resolutions': { list: null, fields: { resolved_recently: 'resolved_at', volume: 'total_volume_usdc' } },
  'markets/closing-soon': { list: null, fields: { end_date: '-end_date', category: '-category', volume: '-total_volume_usdc', smart_money_wallets: '-smart_money_wallets' } },
  'markets/high-conviction': { list: null, fields: {} },
  'markets/smart-signals': { list: null, fields: { net_flow: null } },
  'markets/dumb-consensus': { list: null, fields: { price_gap: null } },
  'markets/volume-by-group': { list: 'groups', fields: { group: '-group' } },
  'wallets/top-performers': { list: null, fields: { sharpe: 'rank_value', roi: 'rank_value', win_rate: 'win_rate_lb', pnl: 'period_pnl_usdc', volume: 'period_volume_usdc' } },
  'wallets/niche-experts': { list: null, fields: { category_sharpe: null } },
  'wallets/insiders': { list: 'candidates', fields: { win_rate: 'win_rate_lb', wallet_age_days: null } },
  'wallets/pnl-breakdown': { list: 'positions', fields: { pnl: 'realized_pnl_usdc', abs_pnl: '|realized_pnl_usdc|', roi: 'roi_pct', cost: 'cost_usdc' } },
  'wallets/portfolio': { list: 'positions', fields: { value: 'value_usdc', pnl: 'unrealized_pnl_usdc', end_date: '-end_date' } },
  'perps/coins/trending': { list: null, fields: { volume_spike: 'volume_spike_multiplier', volume: 'volume_usd' } },
  'perps/coins/list': { list: null, fields: { volume: 'volume_usd', coin: '-coin' } },
  'perps/smart-wallets/list': { list: null, fields: { pnl: 'total_pnl', volume: 'total_volume', win_rate: 'win_rate_lb' } },
  'perps/traders/leaderboard': { list: null, fields: { pnl: 'total_pnl', roi: 'roi_pct', win_rate: 'win_rate_lb', volume: 'total_volume', score: 'smart_score' } },
  'perps/traders/pnl-by-coin': { list: null, fields: { pnl: '|pnl|', win_rate: 'win_rate_lb' } },
  'perps/traders/fresh-whales': { list: null, fields: { win_rate: 'win_rate_lb', wallet_age_days: null } },
  'lp/pools/top': { list: null, fields: { volume: 'volume_usd', fees: 'total_fees_usd', liquidity: 'liquidity_usd', lp_count: 'unique_lps', events: 'event_count', fee_rate: 'fee_rate_pct' } },
  'lp/pools/smart-wallet': { list: 'pools', fields: {} },
  'lp/lps/top': { list: null, fields: { volume: 'total_volume_usd', events: 'event_count', fees: 'fees_claimed_usd', pnl: 'realized_pnl_usd', score: 'lp_score' } },
  'lp/positions/active': { list: null, fields: { net_value: 'net_value_usd', deposited: 'deposited_usd', fees_claimed: 'fees_claimed_usd' } },
}; // prettier-ignore

/** The rows that are sorted, and the field and direction they must follow; null where no single field tells the order. */
export function sortedRows(
  endpoint: string,
  sortBy: string,
  data: unknown,
): { rows: readonly Record<string, unknown>[]; field: string; ascending: boolean; magnitude: boolean } | null {
  const order = SORT_ORDERS[endpoint];
  if (order === undefined) throw new Error(`No order is told for ${endpoint}`);
  const told = sortBy in order.fields ? order.fields[sortBy] : sortBy;
  if (told === null || told === undefined) return null;
  const rows = (order.list === null ? data : (data as Record<string, unknown>)[order.list]) as readonly Record<string, unknown>[] | null;
  // Left out by request.
  if (rows === null) return null;
  return { rows, field: told.replace(/[-|]/g, ''), ascending: told.startsWith('-'), magnitude: told.startsWith('|') };
}

/** The first pair of neighbours that are out of order; nulls come last. Null when all is in order. */
export function outOfOrder({ rows, field, ascending, magnitude }: NonNullable<ReturnType<typeof sortedRows>>): string | null {
  const values = rows.map((row) => {
    const value = row[field] as number | string | null | undefined;
    return magnitude && typeof value === 'number' ? Math.abs(value) : value;
  });
  for (const [index, next] of values.entries()) {
    const before = values[index - 1];
    if (next === undefined) return `no field ${field}`;
    if (index === 0 || next === null) continue;
    if (before === null) return `${field}: ${JSON.stringify(next)} after null`;
    if (ascending ? (before as number) > (next as number) : (before as number) < (next as number))
      return `${field}: ${JSON.stringify(next)} after ${JSON.stringify(before)}`;
  }
  return null;
}
