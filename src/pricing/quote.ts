import type { Endpoint, Parameter, Tier, Value } from '../endpoints/endpoint';
import { ONE, type Rational, atLeast, atMost, decimal, ratio, rounded, times, toNumber } from '../lib/rational';
import { type Timeframe, longestOf } from '../lib/timeframe';
import { CAPS_MICRO, SPECIAL_RULES, type Variables, WINDOW_LISTS } from './exceptions';
import { BASE_MICRO, CEILING_MICRO, FLOOR_MICRO, TIMEFRAME_MULTIPLIERS, dollars } from './tiers';

/** A price with everything that made it. */
export interface Quote {
  /** Exact price in micro-USDC. */
  amount: bigint;
  price_usd: number;
  pricing: {
    tier: Tier;
    base_usd: number;
    timeframe_multiplier: number;
    limit_multiplier: number;
    filter_multiplier: number;
    special_multiplier: number;
    filters: { param: string; factor: number }[];
    cap_usd: number | null;
    clamped: 'floor' | 'ceiling' | 'cap' | null;
  };
}

/**
 * The price of a request: a pure function of the endpoint and its canonical parameters (defaults filled in, bad ones absent).
 * Exact rational arithmetic, rounded once, halves up; then the endpoint's cap, then floor and ceiling.
 */
export function quote(endpoint: Endpoint, variables: Variables): Quote {
  const filters = endpoint.parameters.filter((parameter) => isActive(parameter, variables[parameter.name]));
  const timeframe = timeframeFactor(endpoint, variables);
  const limit = limitFactor(endpoint, variables);
  const filter = filters.map((parameter) => decimal(parameter.filter?.factor as string)).reduce(times, ONE);
  const special = SPECIAL_RULES.filter((rule) => rule.endpoints.includes(endpoint.name))
    .map((rule) => rule.factor(variables))
    .reduce(times, ONE);
  const base = BASE_MICRO[endpoint.tier];
  const computed = rounded([timeframe, limit, filter, special].reduce(times, { n: base, d: 1n }));
  const { amount, clamped } = clamp(computed, CAPS_MICRO[endpoint.name]);
  return {
    amount,
    price_usd: dollars(amount),
    pricing: {
      tier: endpoint.tier,
      base_usd: dollars(base),
      timeframe_multiplier: toNumber(timeframe),
      limit_multiplier: toNumber(limit),
      filter_multiplier: toNumber(filter),
      special_multiplier: toNumber(special),
      filters: filters.map((parameter) => ({ param: parameter.name, factor: Number(parameter.filter?.factor) })),
      cap_usd: CAPS_MICRO[endpoint.name] === undefined ? null : dollars(CAPS_MICRO[endpoint.name] as bigint),
      clamped,
    },
  };
}

/**
 * Whether a filter lowers the price: it is sent, not false, and not the value that means "no filter". A required one always does: who asks without it
 * is told the price of the list.
 */
function isActive({ filter, required }: Parameter, value: Value | undefined): boolean {
  if (filter === null || required) return filter !== null;
  return value !== undefined && value !== null && value !== false && value !== filter.unless;
}

function timeframeFactor(endpoint: Endpoint, variables: Variables): Rational {
  const list = WINDOW_LISTS[endpoint.name];
  const windows = list === undefined ? undefined : (variables[list] as readonly Timeframe[] | undefined);
  const token = (variables.timeframe as Timeframe | undefined) ?? longestOf(windows ?? []);
  if (token === undefined) return ONE;
  const multiplier = decimal(TIMEFRAME_MULTIPLIERS[token]);
  return narrowsOnly(endpoint) ? atMost(ONE, multiplier) : multiplier;
}

/** Whether leaving the timeframe out means "no window": then a token only narrows, and its factor never exceeds 1. */
export const narrowsOnly = ({ name, parameters }: Endpoint): boolean =>
  WINDOW_LISTS[name] === undefined && parameters.some((parameter) => parameter.name === 'timeframe' && parameter.default === undefined);

function limitFactor(endpoint: Endpoint, variables: Variables): Rational {
  const parameter = endpoint.parameters.find((candidate) => candidate.pricedLimit);
  if (parameter === undefined) return ONE;
  return atLeast(ONE, ratio(variables[parameter.name] as number, parameter.default as number));
}

function clamp(computed: bigint, cap: bigint | undefined): Pick<Quote, 'amount'> & { clamped: Quote['pricing']['clamped'] } {
  if (cap !== undefined && computed > cap) return { amount: cap, clamped: 'cap' };
  if (computed > CEILING_MICRO) return { amount: CEILING_MICRO, clamped: 'ceiling' };
  if (computed < FLOOR_MICRO) return { amount: FLOOR_MICRO, clamped: 'floor' };
  return { amount: computed, clamped: null };
}
