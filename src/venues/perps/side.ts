import { AppError } from '../../errors';

/** What a value of `side` (trades/whales and its sisters) asks for; null: either. */
export interface SideFilter {
  is_buy: boolean | null;
  opens: boolean | null;
}

const SIDES: ReadonlyMap<string, SideFilter> = new Map(
  Object.entries({
    BUY: { is_buy: true, opens: null },
    SELL: { is_buy: false, opens: null },
    'Open Long': { is_buy: true, opens: true },
    'Open Short': { is_buy: false, opens: true },
    'Close Long': { is_buy: false, opens: false },
    'Close Short': { is_buy: true, opens: false },
  }),
);

/** The filter of a side, in whatever case; without one, none. Throws invalid_parameter for what is no side. */
export function sideFilter(side: string | null | undefined): SideFilter {
  if (side == null) return { is_buy: null, opens: null };
  const allowed = [...SIDES.keys()];
  const filter = SIDES.get(allowed.find((known) => known.toLowerCase() === side.toLowerCase()) ?? '');
  if (filter !== undefined) return filter;
  const message = `side must be one of ${allowed.join(', ')}.`;
  throw new AppError('invalid_parameter', { message, details: [{ param: 'side', issue: 'unknown value', allowed, got: side }] });
}
