import type { Window } from '../../../lib/timeframe';
import { SMART_SCORE } from '../scoring/tiers';
import { smartWallets } from './trade-row';

/** Which rows over all markets. */
export interface WhaleFilter {
  window: Window;
  sides: readonly string[];
  min_usdc: number;
  condition_id: string | null;
  category: string | null;
  /** Day of the score run whose smart wallets are kept; undefined: all wallets; null: there is no run, so nobody. */
  smart_day?: string | null;
}

/** The optional part of a statement over WhaleFilter. */
export interface OptionalFilter {
  /** Names the shape: one of eight. */
  suffix: string;
  clauses: string;
  /** Number of the next free parameter. */
  next: number;
  /** $1 from, $2 to, $3 sides, $4 min_usdc, then the optional ones. */
  values: unknown[];
}

/** SQL of the filters that were sent, and all parameters of the filter in order. */
export function filterOf({ window, sides, min_usdc, condition_id, category, smart_day }: WhaleFilter): OptionalFilter {
  const filter: OptionalFilter = { suffix: '', clauses: '', next: 5, values: [window.from, window.to, sides, String(min_usdc)] };
  const add = (name: string, clause: (parameter: string) => string, value: unknown): void => {
    filter.suffix += `_${name}`;
    filter.clauses += ` AND ${clause(`$${filter.next}`)}`;
    filter.next += 1;
    filter.values.push(value);
  };
  if (condition_id !== null) add('market', (parameter) => `condition_id = ${parameter}`, condition_id);
  if (category !== null)
    add('category', (parameter) => `condition_id IN (SELECT condition_id FROM pm_market WHERE category = ${parameter})`, category);
  // As a list, each is looked up in turn: as a join all rows were read in order of time until enough were of them.
  const smart = (parameter: string): string => {
    const wallets = smartWallets(parameter, SMART_SCORE);
    return condition_id === null ? `wallet = ANY (ARRAY(${wallets}))` : `wallet IN (${wallets})`;
  };
  if (smart_day !== undefined) add('smart', smart, smart_day);
  return filter;
}
