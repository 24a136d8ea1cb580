import type { Pool } from 'pg';
import type { Endpoint, Parameter } from '../../src/endpoints/endpoint';
import { sampleInput } from '../../src/endpoints/json-schema';
import type { VenueName } from '../../src/lib/venue-name';

/** Identifiers of a world by the name of the parameter that asks for them, the busiest first. */
export type Subjects = Readonly<Record<string, readonly string[]>>;

const MOST = 60;

const ranked = (column: string, table: string): string =>
  `SELECT ${column} AS id FROM ${table} WHERE ${column} IS NOT NULL AND ${column} <> '' GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT ${MOST}`;

const FACTS: Record<VenueName, Record<string, string>> = {
  prediction: { condition_id: ranked('condition_id', 'pm_trade'), wallet: ranked('wallet', 'pm_trade') },
  perps: { trader: ranked('trader', 'perp_fill'), coin: ranked('coin', 'perp_fill') },
  lp: {
    pool_address: ranked('pool_address', 'lp_event'),
    owner: ranked('owner', 'lp_event'),
    position_address: ranked('position_address', 'lp_position_event'),
    token: ranked('input_mint', 'dca_order'),
  },
};

/** What can be asked about in the venue's world, counted over its facts. */
export async function subjectsOf(pool: Pool, venue: VenueName): Promise<Subjects> {
  const entries = Object.entries(FACTS[venue]).map(async ([name, text]) => {
    const { rows } = await pool.query<{ id: string }>(text);
    return [name, rows.map((row) => row.id)] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

/** Identifiers that fit the parameter, the busiest first; undefined where it asks for none. */
export const fitting = (parameter: Parameter, subjects: Subjects): readonly string[] | undefined =>
  subjects[parameter.name] ?? (parameter.list ? subjects[parameter.name.replace(/s$/, '')] : undefined);

/** The smallest request that works: defaults, and subjects in the `rank`-th place of their world. */
export function defaultInput(endpoint: Endpoint, subjects: Subjects, rank = 0): Record<string, unknown> {
  const input = sampleInput(endpoint);
  for (const parameter of endpoint.parameters) {
    const found = fitting(parameter, subjects);
    if (!(parameter.name in input) || found === undefined) continue;
    const first = Math.min(rank, Math.max(0, found.length - (parameter.min ?? 1)));
    input[parameter.name] = parameter.list ? found.slice(first, first + (parameter.min as number)) : found[first];
  }
  return input;
}

/** The request at the dearest end of its price: the busiest subjects, the longest window, the longest lists, no filter. */
export function dearestInput(endpoint: Endpoint, subjects: Subjects): Record<string, unknown> {
  const input = defaultInput(endpoint, subjects);
  for (const parameter of endpoint.parameters) {
    if (parameter.name === 'timeframe') input.timeframe = 'all';
    else if (parameter.pricedLimit || parameter.name === 'days') input[parameter.name] = parameter.max;
    else if (parameter.list && parameter.required) input[parameter.name] = fitting(parameter, subjects)?.slice(0, parameter.max as number);
  }
  return input;
}

/** The request that lets through as much as there is: the longest window, every `min_` at its least, every `max_` at its most. */
export function loosestInput(endpoint: Endpoint, subjects: Subjects): Record<string, unknown> {
  const input = defaultInput(endpoint, subjects);
  for (const { name, min, max } of endpoint.parameters) {
    if (name === 'timeframe') input.timeframe = 'all';
    else if (name.startsWith('min_') && min !== null) input[name] = min;
    else if (name.startsWith('max_') && max !== null) input[name] = max;
    else if (name === 'min_signal_strength') input[name] = 'weak';
  }
  return input;
}

/** What an endpoint is asked when its signals are stored: its defaults, with the greatest limit, so that none is dropped. */
export const allSignalsInput = ({ parameters }: Endpoint): Record<string, unknown> =>
  Object.fromEntries(
    parameters.filter((one) => one.default !== undefined).map((one) => [one.name, one.pricedLimit ? one.max : one.default]),
  );
