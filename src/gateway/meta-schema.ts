import type { Endpoint } from '../endpoints/endpoint';
import { sampleInput } from '../endpoints/json-schema';
import { rawOfBody, readParameters } from '../endpoints/read';
import { DCA_TIMEFRAMES, type Timeframe, longestOf } from '../lib/timeframe';
import { priceRange } from '../pricing/catalog';
import { dollars } from '../pricing/tiers';
import { record, text } from './error-schema';
import { anchor } from './pages/page';

/** Where it is told how an endpoint's answers are computed. */
export const methodologyOf = (endpoint: Endpoint): string => `/docs/methodology#${anchor(endpoint)}`;

const instant = { type: 'string', format: 'date-time' };
const number = { type: 'number' };
const integer = { type: 'integer' };
const orNull = (schema: Record<string, unknown>): Record<string, unknown> => ({ ...schema, type: [schema.type, 'null'] });

const TRACK_RECORD = {
  type: 'array',
  description:
    'Signal endpoints only: how the signals of earlier daily snapshots of this endpoint turned out by now. All signals count, none is dropped.',
  items: record({
    horizon: { ...text, description: 'When a signal is judged: `resolution` of its market, or so many hours later.' },
    signals: { ...integer, description: 'Signals that could be judged.' },
    hit_rate: { ...orNull(number), description: 'Share that would have gained, 0-1.' },
    hit_rate_lb: { ...orNull(number), description: 'Lower end of its 90 % Wilson interval.' },
    mean_return_pct: { ...orNull(number), description: 'Mean gain of who followed at the price of the signal, in percent of the stake.' },
    baseline_hit_rate: {
      ...orNull(number),
      description: 'Share of hits that prices implied: 0.9 hits at prices of 0.9 are no edge.',
    },
    backdated: { ...integer, description: 'Those of them that were told after their day, from what was known then.' },
    from: { ...orNull(instant), description: 'First signal counted.' },
    to: { ...orNull(instant), description: 'Last signal counted.' },
  }),
};

const PROPERTIES = {
  request_id: { ...text, description: 'Id of this answer, as in `X-Request-Id`.' },
  endpoint: { ...text, description: 'The path after `/api/v1/`.' },
  as_of: { ...instant, description: 'The instant the answer tells of; of a snapshot, when it was built.' },
  timeframe: { ...orNull(text), enum: [...DCA_TIMEFRAMES, null], description: 'Token of the window; null where the question has none.' },
  window: {
    ...orNull({ type: 'object' }),
    description: 'Both ends of the window: `from` belongs to it, `to` does not.',
    properties: { from: instant, to: instant },
    required: ['from', 'to'],
  },
  count: { ...orNull(integer), description: 'Length of the list that the priced limit bounds, of the longest where there are several.' },
  limit: { ...orNull(integer), description: 'That limit, as asked for or by default; null where there is none.' },
  next_cursor: {
    ...orNull(text),
    description: 'Send it as `cursor`, all else unchanged, for the next page; null on the last page and where there are none.',
  },
  freshness_s: { ...orNull(number), description: 'Seconds from the time up to which the sources had been read for this answer to now.' },
  cache: { type: 'string', enum: ['hit', 'miss'], description: 'hit: kept from an earlier request.' },
  score_version: { ...orNull(text), description: 'Formula of the scores that the answer rests on; null where it rests on none.' },
  methodology: { ...text, description: 'Where it is told how the answer is computed.' },
  ignored_params: { type: 'array', items: text, description: 'What was sent and is no parameter of this endpoint.' },
  warnings: { type: 'array', items: text, description: 'What to know before relying on the answer.' },
  price_usd: { ...number, description: 'Price of the answer; one that is given again is not charged again.' },
  replayed: { type: 'boolean', description: 'Whether it was paid for before, and is given again.' },
};

/** JSON Schema of `meta`, what every paid answer says about itself. */
export const META_SCHEMA = {
  type: 'object',
  properties: { ...PROPERTIES, track_record: TRACK_RECORD },
  required: Object.keys(PROPERTIES),
};

/** `meta` of an answer to the sample request, of one row, as far as that is known beforehand. */
export function sampleMeta(endpoint: Endpoint): Record<string, unknown> {
  const { variables } = readParameters(endpoint, rawOfBody(sampleInput(endpoint)));
  const limit = endpoint.parameters.find(({ pricedLimit }) => pricedLimit);
  return {
    ...Object.fromEntries(Object.entries(PROPERTIES).map(([name, property]) => [name, emptyOf(property)])),
    endpoint: endpoint.name,
    timeframe: variables.timeframe ?? longestOf((variables.timeframes ?? []) as Timeframe[]) ?? null,
    ...(limit === undefined ? {} : { count: 1, limit: variables[limit.name] }),
    methodology: methodologyOf(endpoint),
    price_usd: dollars(priceRange(endpoint).default),
  };
}

function emptyOf({ type, format, enum: choices }: Record<string, unknown>): unknown {
  if (Array.isArray(type)) return null;
  if (Array.isArray(choices)) return choices[0];
  if (format === 'date-time') return '2026-01-01T00:00:00Z';
  return { array: [], boolean: false, number: 0, string: '…' }[String(type)];
}
