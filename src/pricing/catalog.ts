import crypto from 'node:crypto';
import type { Endpoint, Parameter, Value } from '../endpoints/endpoint';
import { FORMS } from '../lib/forms';
import { addTo } from '../lib/grouped';
import { CAPS_MICRO, SPECIAL_RULES, WINDOW_LISTS } from './exceptions';
import { narrowsOnly, quote } from './quote';
import { BASE_MICRO, CEILING_MICRO, FLOOR_MICRO, TIMEFRAME_MULTIPLIERS, dollars } from './tiers';

type Variables = Record<string, Value>;

/** Default, lowest and highest price of an endpoint in micro-USDC. */
export interface PriceRange {
  default: bigint;
  cheapest: bigint;
  dearest: bigint;
}

/** What an endpoint can cost, computed from its own document by the one price function. */
export function priceRange(endpoint: Endpoint): PriceRange {
  return {
    default: quote(endpoint, defaultsOf(endpoint)).amount,
    cheapest: quote(endpoint, extremeOf(endpoint, 'cheapest')).amount,
    dearest: quote(endpoint, extremeOf(endpoint, 'dearest')).amount,
  };
}

function defaultsOf(endpoint: Endpoint): Variables {
  const variables: Variables = {};
  for (const parameter of endpoint.parameters) {
    if (parameter.default !== undefined) variables[parameter.name] = parameter.default;
    // A required identifier is always there, and so is its filter.
    else if (parameter.required) variables[parameter.name] = parameter.list ? items(parameter.min as number) : 'present';
  }
  return variables;
}

const items = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index));

/** Parameters at which the endpoint costs least (shortest window, all filters, no extras) or most. */
function extremeOf(endpoint: Endpoint, extreme: keyof Omit<PriceRange, 'default'>): Variables {
  const cheapest = extreme === 'cheapest';
  const variables = defaultsOf(endpoint);
  for (const parameter of endpoint.parameters) {
    const { name } = parameter;
    if (name === 'timeframe') setTimeframe(endpoint, variables, cheapest);
    else if (name === WINDOW_LISTS[endpoint.name]) continue;
    else if (parameter.filter && !parameter.required) {
      if (cheapest) variables[name] = activeValue(parameter);
    } else if (parameter.pricedLimit) variables[name] = cheapest ? (parameter.default as number) : (parameter.max as number);
    else if (parameter.list && parameter.required) variables[name] = items((cheapest ? parameter.min : parameter.max) as number);
    else if (name.startsWith('include_') && parameter.type === 'Boolean') variables[name] = !cheapest;
  }
  return variables;
}

function setTimeframe(endpoint: Endpoint, variables: Variables, cheapest: boolean): void {
  if (cheapest) variables.timeframe = WINDOW_LISTS[endpoint.name] === undefined ? '1h' : '4h';
  else if (!narrowsOnly(endpoint)) variables.timeframe = 'all';
}

/** A value that a filter counts for. */
function activeValue(parameter: Parameter): Value {
  return parameter.type === 'Boolean' ? true : (parameter.choices?.find((choice) => choice !== parameter.filter?.unless) ?? 'present');
}

/** When a filter counts, in words. */
export function conditionOf(parameter: Parameter): string {
  if (parameter.required) return 'always present';
  if (parameter.type === 'Boolean') return 'true';
  return parameter.filter?.unless ? `sent and not ${parameter.filter.unless}` : 'sent';
}

interface FilterRow {
  param: string;
  factor: number;
  condition: string;
  /** Paths. */
  endpoints: string[];
}

function filtersOf(endpoints: readonly Endpoint[]): FilterRow[] {
  const rows = new Map<string, FilterRow>();
  for (const endpoint of endpoints) {
    for (const parameter of endpoint.parameters) {
      if (!parameter.filter) continue;
      const condition = conditionOf(parameter);
      const key = `${parameter.name}|${parameter.filter.factor}|${condition}`;
      const row = rows.get(key) ?? { param: parameter.name, factor: Number(parameter.filter.factor), condition, endpoints: [] };
      row.endpoints.push(endpoint.path);
      rows.set(key, row);
    }
  }
  return [...rows.values()];
}

function endpointRow(endpoint: Endpoint) {
  const range = priceRange(endpoint);
  const limit = endpoint.parameters.find((parameter) => parameter.pricedLimit);
  return {
    method: endpoint.method,
    path: endpoint.path,
    venue: endpoint.venue,
    tier: endpoint.tier,
    base_price: dollars(BASE_MICRO[endpoint.tier]),
    default_price: dollars(range.default),
    min_price: dollars(range.cheapest),
    max_price: dollars(range.dearest),
    limit_param: limit?.name ?? null,
    default_limit: limit?.default ?? null,
    max_limit: limit?.max ?? null,
    timeframe_default: endpoint.parameters.find((parameter) => parameter.name === 'timeframe')?.default ?? null,
    filters: endpoint.parameters
      .filter((parameter) => parameter.filter)
      .map((parameter) => ({ param: parameter.name, factor: Number(parameter.filter?.factor), condition: conditionOf(parameter) })),
    params: endpoint.parameters.map((parameter) => ({
      name: parameter.name,
      in: endpoint.method === 'GET' ? 'query' : 'body',
      type: parameter.list ? `${parameter.type}[]` : parameter.type,
      default: parameter.default ?? null,
      allowed: parameter.choices ?? FORMS[parameter.type]?.choices ?? null,
      min: parameter.min,
      max: parameter.max,
      required: parameter.required,
    })),
    description: endpoint.summary,
  };
}

/** Price rules of the endpoint's own, in words. */
export function ownRulesOf(endpoint: Endpoint): string[] {
  const windows = WINDOW_LISTS[endpoint.name];
  return [
    ...SPECIAL_RULES.filter(({ endpoints }) => endpoints.includes(endpoint.name)).map(({ rule }) => rule),
    ...(windows === undefined ? [] : [`${windows}: multiplier of the longest`]),
    ...(narrowsOnly(endpoint) ? ['timeframe: min(1, multiplier)'] : []),
  ];
}

function specialRulesOf(endpoints: readonly Endpoint[]): { endpoints: string[]; rule: string }[] {
  const rows = new Map<string, string[]>();
  for (const endpoint of endpoints) for (const rule of ownRulesOf(endpoint)) addTo(rows, rule, endpoint.path);
  return [...rows].map(([rule, paths]) => ({ endpoints: paths, rule }));
}

/** The numbers that prices are made of, as far as they concern some endpoints. */
function rulesOf(endpoints: readonly Endpoint[]) {
  const asked = new Set(endpoints.map(({ name }) => name));
  const pathsOf = (names: readonly string[]): string[] => names.filter((name) => asked.has(name)).map((name) => `/api/v1/${name}`);
  return {
    currency: 'USDC',
    decimals: 6,
    tiers: Object.fromEntries(Object.entries(BASE_MICRO).map(([tier, micro]) => [tier, dollars(micro)])),
    bounds: { floor: dollars(FLOOR_MICRO), ceiling: dollars(CEILING_MICRO) },
    timeframe_multipliers: Object.fromEntries(Object.entries(TIMEFRAME_MULTIPLIERS).map(([token, factor]) => [token, Number(factor)])),
    limit_rule: 'max(1, limit / default_limit)',
    filters: filtersOf(endpoints),
    special_rules: specialRulesOf(endpoints),
    caps: Object.fromEntries(Object.entries(CAPS_MICRO).flatMap(([name, micro]) => pathsOf([name]).map((path) => [path, dollars(micro)]))),
    endpoints: endpoints.map(endpointRow),
  };
}

/** The price list without what depends on the running service. */
export interface PriceList extends ReturnType<typeof rulesOf> {
  /** Changes whenever a number changes. */
  version: string;
}

/** All prices: a pure function of the documents. */
export function priceList(endpoints: readonly Endpoint[]): PriceList {
  const rules = rulesOf(endpoints);
  const version = crypto.createHash('sha256').update(JSON.stringify(rules)).digest('hex').slice(0, 12);
  return { version, ...rules };
}

/** What of a price list concerns one endpoint, in the same form. */
export const priceListOf = (endpoint: Endpoint, { version }: PriceList): PriceList => ({ version, ...rulesOf([endpoint]) });
