import { FOREIGN_CURSOR, belongsTo, listScope } from '../lib/cursor';
import { STALE_CURSOR, isFresh } from '../lib/list-page';
import { BUCKETS, type BucketSize, SHORTER, refusedGrid } from '../lib/grid';
import { TIMEFRAMES, type Timeframe, isLongest, longestOf, windowOf, withShorter } from '../lib/timeframe';
import type { Endpoint, Value } from './endpoint';
import type { Reading } from './reading';

type Check = (reading: Reading, endpoint: Endpoint) => void;

/** A grid over the whole window, so many rows in each bucket. Where a pool's life cuts it, only the answer knows how long it is. */
const grid =
  (rowsOf: (variables: Reading['variables']) => Value = () => 1): Check =>
  (reading, endpoint) =>
    checkWindow(reading, endpoint, Number(rowsOf(reading.variables)));

const limitBy =
  (group: string) =>
  ({ group_by, limit }: Reading['variables']): Value =>
    group_by === group ? (limit as Value) : 1;

/** Rules between parameters that a document cannot say, by endpoint. */
const CHECKS: Readonly<Record<string, Check>> = {
  'markets/capital-flow-comparison': longestWindow,
  'markets/price-history': grid(),
  'markets/sentiment': grid(),
  'markets/smart-flow': grid(),
  'markets/volume-heatmap': grid(limitBy('market')),
  'wallets/insiders/trend': grid(),
  'perps/trades/long-short-ratio': grid(),
  'perps/coins/volume-heatmap': grid(({ limit }) => limit as Value),
  'lp/platform/volume-heatmap': grid(limitBy('pool')),
  'lp/dca/pressure': ownFields,
};

/** Applies the endpoint's own rules as of `now`; what is wrong is added to `problems`. */
export function crossCheck(endpoint: Endpoint, reading: Reading, now?: Date): void {
  CHECKS[endpoint.name]?.(reading, endpoint);
  ownCursor(reading, endpoint, now);
}

/** Lists of what happened and nothing else, which have no window: they are read on whenever one likes. */
const ENDLESS = new Set(['lp/pools/events']);

/** A cursor belongs to one question with all its parameters, and for a time; which these are is known only where none of them is wrong. */
function ownCursor({ variables, problems }: Reading, { name }: Endpoint, now: Date | undefined): void {
  const { cursor } = variables;
  if (typeof cursor !== 'string' || problems.length > 0) return;
  const isOwn = belongsTo(cursor, listScope(name, variables));
  if (isOwn && (now === undefined || ENDLESS.has(name) || isFresh(cursor, now))) return;
  problems.push({ param: 'cursor', ...(isOwn ? STALE_CURSOR : FOREIGN_CURSOR), got: cursor.slice(0, 80), code: 'invalid_parameter' });
  delete variables.cursor;
}

/** `timeframe=X` stands for X and the two next shorter windows; with good `timeframes` too, it must be the longest of them. */
function longestWindow(reading: Reading): void {
  const { timeframe, timeframes } = reading.variables as { timeframe?: Timeframe; timeframes?: readonly Timeframe[] };
  if (timeframe === undefined) return;
  const meant = withShorter(timeframe);
  const problem = (issue: string, allowed: unknown): void => {
    reading.problems.push({ param: 'timeframe', issue, allowed, got: timeframe, code: 'invalid_parameter' });
    delete reading.variables.timeframe;
  };
  if (meant.length === 1) return problem('leaves no shorter window to compare with', TIMEFRAMES.slice(1));
  if (!reading.sent.has('timeframes') || reading.problems.some(({ param }) => param === 'timeframes')) {
    reading.variables.timeframes = meant;
    return;
  }
  if (timeframes && !isLongest(timeframe, timeframes)) problem('is not the longest of timeframes', longestOf(timeframes));
}

/** What the list of tokens tells beside its rows, and what one token's row tells as well. */
const OF_LIST = /^(tokens(\..+)?|last_updated)$/;
const OF_BOTH = 'timeframe';

/** With a token the answer is its row, without one a list of rows: of fields of the other answer nothing would be left. */
function ownFields(reading: Reading, { answer }: Endpoint): void {
  const { fields, variables, sent } = reading;
  const isList = !sent.has('token');
  if (fields === null || (!isList && variables.token === undefined)) return;
  const fits = (name: string): boolean => name === OF_BOTH || OF_LIST.test(name) === isList;
  const foreign = fields.filter((name) => !fits(name));
  if (foreign.length === 0) return;
  const issue = isList ? 'names fields of one token, and none is asked for' : 'names fields of a list, and one token is asked for';
  reading.problems.push({
    param: 'fields',
    issue,
    allowed: [...answer.fields].filter(fits),
    got: foreign.join(','),
    code: 'invalid_parameter',
  });
  reading.fields = null;
  const meant = fields.map((name) => (fits(name) ? name : isList ? `tokens.${name}` : name.replace(/^tokens\./, '')));
  if (meant.every((name) => answer.fields.has(name) && fits(name))) reading.suggestion.fields = [...new Set(meant)].join(',');
}

/** A day's first instant: a window that ends there touches no more buckets than it must. */
const MIDNIGHT = new Date('2026-01-01T00:00:00Z');

/** Refuses a bucket size that is too fine for the window, whatever the data; how long `all` is, and what `auto` is, only the answer knows. */
function checkWindow(reading: Reading, endpoint: Endpoint, rows: number): void {
  const { timeframe, bucket_size } = reading.variables as { timeframe: Timeframe; bucket_size: BucketSize | 'auto' };
  if (timeframe === 'all' || bucket_size === 'auto') return;
  // What was sent badly is told already, and its default was not asked for.
  if (reading.problems.some(({ param }) => ['timeframe', 'bucket_size', 'limit'].includes(param))) return;
  const parameter = endpoint.parameters.find(({ name }) => name === 'bucket_size');
  const allowed = (parameter?.choices ?? []).filter((size) => size !== 'auto') as BucketSize[];
  allowed.sort((a, b) => BUCKETS[a] - BUCKETS[b]);
  const refused = refusedGrid(windowOf(timeframe, MIDNIGHT), { size: bucket_size, allowed, rows });
  if (refused === null) return;
  const { issue, fits } = refused;
  reading.problems.push({ param: 'bucket_size', issue, allowed: fits ?? SHORTER, got: bucket_size, code: 'range_too_large' });
  if (fits !== undefined) reading.suggestion.bucket_size = fits;
  reading.variables.bucket_size = parameter?.default as Value;
}
