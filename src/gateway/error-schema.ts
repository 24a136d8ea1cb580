import { ERRORS } from '../errors';

export const text = { type: 'string' };
export const textOrNull = { type: ['string', 'null'] };
export const number = { type: 'number' };
export const numberOrNull = { type: ['number', 'null'] };
export const object = { type: 'object' };
/** An object whose fields are not told: each kind of answer has its own. */
const anything = { ...object, additionalProperties: true };
/** One of these words. */
export const word = (...choices: readonly string[]): object => ({ ...text, enum: choices });
/** An object that always has all these fields. */
export const record = (properties: object, description?: string): object => ({
  ...object,
  ...(description === undefined ? {} : { description }),
  properties,
  required: Object.keys(properties),
});

/** JSON Schema of everything but a 200. */
const ERROR_PROPERTIES = {
  error: { ...text, description: 'A sentence for people.' },
  code: { ...text, enum: Object.keys(ERRORS), description: 'What went wrong; each has one status.' },
  reason: { ...textOrNull, description: 'What lies behind the code, in short; null where the code says all.' },
  request_id: { ...text, description: 'Id of this answer, as in `X-Request-Id`.' },
  charged: {
    type: ['boolean', 'string'],
    enum: [false, 'pending'],
    description: '`pending` only while a payment that was sent is not confirmed.',
  },
  details: {
    type: 'array',
    description: 'What is wrong with which parameter.',
    items: { ...object, properties: { param: text, issue: text, allowed: {}, got: {} }, required: ['param', 'issue'] },
  },
  retry_after_s: {
    type: ['integer', 'null'],
    description: 'When the same request may go through, where that is known, as in `Retry-After`.',
  },
  fallback: {
    type: ['object', 'null'],
    description: 'Another request to send in its place.',
    properties: { method: text, path: text, note: text },
    required: ['method', 'path', 'note'],
  },
  suggestion: {
    ...anything,
    type: ['object', 'null'],
    description: 'What to send in its place: parameters (null: leave it out), or the path that is meant.',
  },
};
/** What is told of errors about a payment alone. */
const PAYMENT_PROPERTIES = {
  type: { ...text, format: 'uri', description: 'Of errors about a payment: the kind of problem, as MPP names it (RFC 9457).' },
  title: { ...text, description: 'The same in words.' },
  status: { type: 'integer', description: 'The status of this answer.' },
  detail: { ...text, description: 'As `error`.' },
  transaction: { ...text, description: 'While a payment is not confirmed: the transaction that was sent.' },
};
export const ERROR_SCHEMA = {
  ...object,
  properties: { ...ERROR_PROPERTIES, ...PAYMENT_PROPERTIES },
  required: Object.keys(ERROR_PROPERTIES),
};

/** The price of a request and its free check, as a 402 and a quote tell them. */
export const PRICE_PROPERTIES = {
  price_usd: { ...number, description: 'Price of this very request.' },
  pricing: record(
    {
      tier: text,
      base_usd: number,
      timeframe_multiplier: number,
      limit_multiplier: number,
      filter_multiplier: number,
      special_multiplier: number,
      filters: { type: 'array', items: record({ param: text, factor: number }), description: 'The filters that count.' },
      cap_usd: { ...numberOrNull, description: 'The highest price of the endpoint, where it has one of its own.' },
      clamped: { ...textOrNull, enum: ['floor', 'ceiling', 'cap', null], description: 'Which bound holds the price.' },
    },
    'The price, factor by factor.',
  ),
  validation: record(
    {
      valid: { type: 'boolean', description: 'false: a paid request would be refused, uncharged.' },
      errors: ERROR_PROPERTIES.details,
      ignored_params: { type: 'array', items: text, description: 'What was sent and is no parameter of this endpoint.' },
      resolved: { ...anything, description: 'The parameters as they are understood, defaults included.' },
      suggestion: { ...anything, description: 'Parameters to send in place of those sent.' },
    },
    'The free check of the parameters.',
  ),
};

/** An offer of x402; version 1 has more fields. */
const OFFER = {
  ...anything,
  properties: {
    scheme: text,
    network: text,
    amount: { ...text, description: 'The price in micro-USDC.' },
    asset: { ...text, description: 'Mint of USDC.' },
    payTo: text,
    maxTimeoutSeconds: { type: 'integer' },
    extra: anything,
  },
  required: ['scheme', 'network', 'amount', 'asset', 'payTo', 'maxTimeoutSeconds', 'extra'],
};

/** What a 402 holds beside that; one whose payment was refused for good makes no new offer. */
export const OFFER_SCHEMA = {
  allOf: [
    { $ref: '#/components/schemas/Error' },
    {
      ...object,
      properties: {
        ...PRICE_PROPERTIES,
        expires_at: { ...text, format: 'date-time', description: 'Until when the offers stand.' },
        x402Version: { type: 'integer' },
        resource: record({ url: text, description: text, mimeType: text }, 'What is sold: its address, in words, and its media type.'),
        accepts: { type: 'array', items: OFFER, description: 'The offers of x402, as in `PAYMENT-REQUIRED`.' },
        extensions: {
          ...anything,
          description: '`bazaar.schema` is the JSON Schema of the parameters and of the answer, `bazaar.info` an example of both.',
        },
      },
    },
  ],
};

export const contentOfError = (name: string): object => ({ 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } });
