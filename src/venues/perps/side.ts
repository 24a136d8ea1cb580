/** What a value of `side` (trades/whales and its sisters) asks for; null: either. */
export interface SideFilter {
  is_buy: boolean | null;
  opens: boolean | null;
}

const SIDES: Record<string, SideFilter> = {
  BUY: { is_buy: true, opens: null },
  SELL: { is_buy: false, opens: null },
  'Open Long': { is_buy: true, opens: true },
  'Open Short': { is_buy: false, opens: true },
  'Close Long': { is_buy: false, opens: false },
  'Close Short': { is_buy: true, opens: false },
};

/** The filter of a canonical side; without one, none. */
export function sideFilter(side: string | null | undefined): SideFilter {
  return SIDES[side ?? ''] ?? { is_buy: null, opens: null };
}
