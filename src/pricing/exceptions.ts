import type { Value } from '../endpoints/endpoint';
import { ONE, type Rational, atLeast, decimal, ratio } from '../lib/rational';

/** Parameters of a request by name, canonical. */
export type Variables = Readonly<Record<string, Value>>;

/** A price rule of single endpoints, beside tier, timeframe, limit and filters. */
export interface SpecialRule {
  endpoints: readonly string[];
  /** In words, for the price list. */
  rule: string;
  factor(variables: Variables): Rational;
}

/** Items in a list parameter; a list that is absent or bad is priced as the fewest allowed. */
const itemsOf = (variables: Variables, name: string, fewest: number): number =>
  Array.isArray(variables[name]) ? (variables[name] as readonly string[]).length : fewest;

const perTwo = (endpoint: string, list: string): SpecialRule => ({
  endpoints: [endpoint],
  rule: `number of ${list} / 2`,
  factor: (variables) => ratio(itemsOf(variables, list, 2), 2),
});

export const SPECIAL_RULES: readonly SpecialRule[] = [
  perTwo('wallets/compare', 'wallets'),
  perTwo('perps/traders/compare', 'traders'),
  perTwo('lp/lps/compare', 'owners'),
  {
    endpoints: ['wallets/portfolio'],
    rule: 'max(1, number of wallets / 10)',
    factor: (variables) => atLeast(ONE, ratio(itemsOf(variables, 'wallets', 1), 10)),
  },
  {
    endpoints: ['wallets/profile'],
    rule: 'include_positions and include_trades: both 1.0, one 0.7, none 0.4',
    factor: (variables) =>
      decimal(['0.4', '0.7', '1'][Number(variables.include_positions === true) + Number(variables.include_trades === true)] as string),
  },
  {
    endpoints: ['wallets/top-performers'],
    rule: 'without category: 2.0',
    factor: (variables) => (variables.category === undefined ? decimal('2') : ONE),
  },
];

/** Highest price of single endpoints, in micro-USDC. */
export const CAPS_MICRO: Readonly<Record<string, bigint>> = { 'markets/opportunities': 150_000n, 'wallets/copy-traders': 120_000n };

/** Endpoints priced by the longest of several windows: the parameter that lists them. */
export const WINDOW_LISTS: Readonly<Record<string, string>> = { 'markets/capital-flow-comparison': 'timeframes' };
