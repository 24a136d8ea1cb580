import { PRICE_PROPERTIES, contentOfError, number, numberOrNull, object, record, text, textOrNull, word } from './error-schema';

export const FREE_TAG = ['free', 'Free: prices, and the state of the service'] as const;

const list = (description: string, items: object) => ({ type: 'array', items, description });
const texts = { type: 'array', items: text };
const byName = (values: object, description: string) => ({ ...object, additionalProperties: values, description });
const integer = { type: 'integer' };
const integerOrNull = { type: ['integer', 'null'] };
const boolean = { type: 'boolean' };
const instantOrNull = { type: ['string', 'null'], format: 'date-time' };

const FILTER = { param: text, factor: number, condition: { ...text, description: 'When it counts.' } };

const PARAMETER = record({
  name: text,
  in: word('query', 'body'),
  type: { ...text, description: 'Type of its values; `[]` after that of a list.' },
  default: { description: 'null where there is none.' },
  allowed: { type: ['array', 'null'], items: text, description: 'All values, where only these are taken.' },
  min: { ...numberOrNull, description: 'Least value, length of a text, or number of items.' },
  max: numberOrNull,
  required: boolean,
});

const PRICED = record({
  method: word('GET', 'POST'),
  path: text,
  venue: text,
  tier: text,
  base_price: { ...number, description: 'In dollars, as all prices here.' },
  default_price: { ...number, description: 'With default parameters.' },
  min_price: number,
  max_price: number,
  limit_param: { ...textOrNull, description: 'The parameter that the limit rule is about.' },
  default_limit: integerOrNull,
  max_limit: integerOrNull,
  timeframe_default: textOrNull,
  filters: { type: 'array', items: record(FILTER) },
  params: { type: 'array', items: PARAMETER },
  description: text,
});

const METHOD = record({
  protocol: word('x402', 'mpp'),
  method: text,
  network: text,
  asset: text,
  decimals: integer,
  recipient: text,
  fees_paid_by: word('client', 'server'),
});

const PRICES = {
  version: { ...text, description: 'Changes whenever a number of the whole list does.' },
  currency: text,
  decimals: integer,
  tiers: byName(number, 'Base price by tier, in dollars.'),
  bounds: record({ floor: number, ceiling: number }, 'No answer costs less than `floor` or more than `ceiling`, in dollars.'),
  timeframe_multipliers: byName(number, 'What a window multiplies the price by.'),
  limit_rule: { ...text, description: 'What the priced limit multiplies the price by.' },
  filters: list('What a filter multiplies the price by while it counts, and where.', record({ ...FILTER, endpoints: texts })),
  special_rules: list('Price rules of single endpoints.', record({ endpoints: texts, rule: text })),
  caps: byName(number, 'Highest price of single endpoints by path, in dollars.'),
  endpoints: list('Every endpoint with its prices and parameters; of a quote, the one that is asked for.', PRICED),
  updated_at: { ...text, format: 'date-time', description: 'Since when the list is in force.' },
  protocols: list('How an answer can be paid, and to whom.', METHOD),
  free_endpoints: list('Paths that cost nothing.', text),
};

const QUOTE = record(
  { method: text, path: text, amount: { ...text, description: 'The price in micro-USDC.' }, ...PRICE_PROPERTIES },
  'Only where `path` is sent: the price of that request, and the free check of its parameters.',
);

const BACKEND = { status: word('ok', 'down'), latency_ms: number };

const REPLAY_LAG = { ...numberOrNull, description: 'Of a replica: seconds since what it has replayed was written.' };

const FEED = record({
  feed: text,
  gates: { ...boolean, description: 'Whether answers of the venue are too old to be sold when this feed is.' },
  lag_s: integerOrNull,
  last_event_at: instantOrNull,
  event_lag: record(
    { events: integer, p50_s: numberOrNull, p99_s: numberOrNull },
    'Seconds from an event to its being visible, over the last events.',
  ),
  records: record(
    { read: integer, inserted: integer, duplicates: integer, skipped: byName(integer, 'By reason.') },
    'Records since the feed began.',
  ),
  failure: {
    type: ['object', 'null'],
    description: 'Why the last poll failed, when, and since when none succeeded.',
    properties: { at: text, since: text, words: text },
    required: ['at', 'words'],
  },
});

const VENUE = record({
  last_event_at: instantOrNull,
  lag_s: { ...integerOrNull, description: 'Seconds from the time up to which the sources have been read to now.' },
  status: word('ok', 'stale', 'empty'),
  mode: word('live', 'recorded'),
  feeds: { type: 'array', items: FEED },
});

const HEALTH = {
  status: {
    ...word('ok', 'degraded', 'down'),
    description:
      '`degraded`: a part is down, data is missing or too old to be sold, a feed fails for long, or a newer version has taken over.',
  },
  service: text,
  version: text,
  auth_mode: text,
  network: text,
  uptime_s: integer,
  postgres: record(BACKEND, 'State of the database, and how fast it answers.'),
  backends: list('The same of each database.', record({ name: text, ...BACKEND, replay_lag_s: REPLAY_LAG })),
  newer_migrations: list('What a newer version changed in the database: this one no longer reads feeds.', text),
  facilitator: { ...boolean, description: 'Whether any protocol takes payments.' },
  payments: byName(
    record({ status: word('ok', 'down', 'off'), latency_ms: numberOrNull, last_settlement_at: instantOrNull }),
    'State of each protocol, and when it last settled a payment.',
  ),
  semaphore: record(
    { active: integer, waiting: integer, max: integer, timeouts_1m: integer },
    'Paid requests that run, that wait, and that may run at once.',
  ),
  queries_1m: record(
    { count: integer, p50_ms: numberOrNull, p95_ms: numberOrNull },
    'Queries of the last minute: how many, and how long they took.',
  ),
  cache_1m: record({ hits: integer, misses: integer }, 'Answers of the last minute that were kept, and that were not.'),
  top_errors: byName(integer, 'Errors of the last minute by code.'),
  data_freshness: {
    ...object,
    description: 'Of each venue, how old its data is (`lag_s`) and by which feed; of scores and snapshots, as of when they are.',
    properties: {
      prediction: VENUE,
      perps: VENUE,
      lp: VENUE,
      scores: { ...object, additionalProperties: instantOrNull },
      snapshots: { ...object, additionalProperties: instantOrNull },
    },
  },
};

const answer = (description: string, properties: object, required = Object.keys(properties)) => ({
  description,
  content: { 'application/json': { schema: { ...object, properties, required } } },
});

/** What is free below `/`, as OpenAPI tells it: GET alone, never a 402. */
export const FREE_OPERATIONS = {
  '/api/v1/pricing': {
    operationId: 'pricing',
    summary: 'The price list, or a quote of one request',
    description:
      'Without parameters every price. With `path`, and the parameters of that endpoint beside it (also of a POST), what one request costs.',
    tags: [FREE_TAG[0]],
    parameters: [
      {
        name: 'path',
        in: 'query',
        required: false,
        description: 'The endpoint to quote, with or without `/api/v1/`.',
        schema: text,
        example: 'trades/whales',
      },
      {
        name: 'parameters',
        in: 'query',
        required: false,
        description: 'Each parameter of that endpoint under its own name.',
        style: 'form',
        explode: true,
        schema: { ...object, additionalProperties: true },
        example: { limit: 100 },
      },
    ],
    responses: {
      '200': answer(
        'The price list; with `path`, what of it concerns that endpoint, and the quote',
        { quote: QUOTE, ...PRICES },
        Object.keys(PRICES),
      ),
      '4XX': { description: 'No such endpoint, or more than one', content: contentOfError('Error') },
    },
  },
  '/health': {
    operationId: 'health',
    summary: 'The state of the service',
    description: 'Every figure is measured, within the last seconds.',
    tags: [FREE_TAG[0]],
    responses: {
      '200': answer('It answers, in full or in part', HEALTH),
      '503': answer('It is down', HEALTH),
    },
  },
} as const;
