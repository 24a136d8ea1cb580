import { PRICE_PROPERTIES, contentOfError, object, text } from './error-schema';

export const FREE_TAG = ['free', 'Free: prices, and the state of the service'] as const;

const list = (description: string, items: object = object) => ({ type: 'array', items, description });
const told = (description: string) => ({ ...object, description });
const instantOrNull = { type: ['string', 'null'], format: 'date-time' };

const PRICES = {
  version: { ...text, description: 'Changes whenever a number of the whole list does.' },
  currency: text,
  decimals: { type: 'integer' },
  tiers: told('Base price by tier, in dollars.'),
  bounds: told('No answer costs less than `floor` or more than `ceiling`, in dollars.'),
  timeframe_multipliers: told('What a window multiplies the price by.'),
  limit_rule: { ...text, description: 'What the priced limit multiplies the price by.' },
  filters: list('What a filter multiplies the price by while it is sent, and where.'),
  special_rules: list('Price rules of single endpoints.'),
  caps: told('Highest price of single endpoints by path, in dollars.'),
  endpoints: list('Every endpoint with its prices and parameters; of a quote, the one that is asked for.'),
  updated_at: { ...text, format: 'date-time', description: 'Since when the list is in force.' },
  protocols: list('How an answer can be paid, and to whom.'),
  free_endpoints: list('Paths that cost nothing.', text),
};

const QUOTE = {
  ...object,
  description: 'Only where `path` is sent: the price of that request, and the free check of its parameters.',
  properties: { method: text, path: text, amount: { ...text, description: 'The price in micro-USDC.' }, ...PRICE_PROPERTIES },
  required: ['method', 'path', 'amount', ...Object.keys(PRICE_PROPERTIES)],
};

const HEALTH = {
  status: { enum: ['ok', 'degraded', 'down'], description: '`degraded`: a part is down, or some data is too old to be sold.' },
  service: text,
  version: text,
  auth_mode: text,
  network: text,
  uptime_s: { type: 'integer' },
  postgres: told('State of the database, and how fast it answers.'),
  backends: list('The same of each database.'),
  newer_migrations: list('What a newer version changed in the database: this one no longer reads feeds.', text),
  facilitator: { type: 'boolean', description: 'Whether any protocol takes payments.' },
  payments: told('State of each protocol, and when it last settled a payment.'),
  semaphore: told('Paid requests that run, that wait, and that may run at once.'),
  queries_1m: told('Queries of the last minute: how many, and how long they took.'),
  cache_1m: told('Answers of the last minute that were kept, and that were not.'),
  top_errors: told('Errors of the last minute by code.'),
  data_freshness: {
    ...told('Of each venue, how old its data is (`lag_s`) and by which feed; of scores and snapshots, as of when they are.'),
    properties: {
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
      default: { description: 'No such endpoint, or more than one', content: contentOfError('Error') },
    },
  },
  '/health': {
    operationId: 'health',
    summary: 'The state of the service',
    description: 'Every figure is measured when it is asked for.',
    tags: [FREE_TAG[0]],
    responses: {
      '200': answer('It answers, in full or in part', HEALTH),
      '503': answer('It is down', HEALTH),
    },
  },
} as const;
