const text = { type: 'string' };
const instant = { type: 'string', format: 'date-time' };
const number = { type: 'number' };
const integer = { type: 'integer' };
const orNull = (schema: Record<string, unknown>): Record<string, unknown> => ({ ...schema, type: [schema.type, 'null'] });

const TRACK_RECORD = {
  type: 'array',
  description:
    'Signal endpoints only: how the signals of earlier daily snapshots of this endpoint turned out by now. All signals count, none is dropped.',
  items: {
    type: 'object',
    properties: {
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
    },
  },
};

/** JSON Schema of `meta`, what every paid answer says about itself. */
export const META_SCHEMA = {
  type: 'object',
  properties: {
    request_id: text,
    endpoint: text,
    as_of: { ...instant, description: 'The instant the answer tells of; of a snapshot, when it was built.' },
    timeframe: orNull(text),
    window: { ...orNull({ type: 'object' }), properties: { from: instant, to: instant } },
    count: { ...orNull(integer), description: 'Length of the list that the priced limit bounds.' },
    limit: orNull(integer),
    next_cursor: orNull(text),
    freshness_s: { ...orNull(number), description: 'Seconds since the sources were last read.' },
    cache: { type: 'string', enum: ['hit', 'miss'] },
    score_version: orNull(text),
    methodology: text,
    ignored_params: { type: 'array', items: text },
    warnings: { type: 'array', items: text },
    price_usd: number,
    replayed: { type: 'boolean' },
    track_record: TRACK_RECORD,
  },
} as const;
