import type { Endpoint } from '../endpoints/endpoint';
import { AppError, type ErrorContext } from '../errors';
import { nearest } from '../lib/nearest';
import { asAppError } from './answer';

/** What to ask instead of an endpoint that does not answer: the same idea, made of less. */
const FALLBACKS: Record<string, NonNullable<ErrorContext['fallback']>> = {
  'markets/opportunities': { method: 'GET', path: '/api/v1/markets/high-conviction', note: 'same idea, lighter' },
  'markets/insiders': { method: 'GET', path: '/api/v1/markets/trades', note: 'the trades themselves' },
  'wallets/insiders': { method: 'POST', path: '/api/v1/markets/insiders', note: 'one market at a time' },
  'wallets/top-performers': { method: 'GET', path: '/api/v1/wallets/top-performers?timeframe=24h', note: 'a shorter window' },
  'perps/traders/profile': { method: 'GET', path: '/api/v1/perps/traders/daily-pnl', note: 'the same account, day by day' },
  'lp/lps/profile': { method: 'GET', path: '/api/v1/lp/pools/fee-analysis', note: 'fees by pool' },
};

/** What of a path, or of a whole address, names what is there. */
const nameIn = (path: string): string =>
  path
    .replace(/^https?:\/\/[^/]*|\?.*$/gi, '')
    .split('/')
    .filter((part) => part !== '')
    .join('/')
    .replace(/^api\/v\d+\//i, '');

/** The 404 of a path that is none of ours, with the one that may be meant and where all are listed. */
export function unknownPath(path: string, known: readonly string[]): AppError {
  const paths = new Map(known.map((one) => [nameIn(one), one]));
  const meant = nearest(nameIn(path), [...paths.keys()]);
  return new AppError('endpoint_not_found', {
    details: [{ param: 'path', issue: 'names no endpoint', got: path.slice(0, 200) }],
    fallback: { method: 'GET', path: '/api/v1/pricing', note: 'every endpoint with its price' },
    ...(meant === undefined ? {} : { suggestion: { path: paths.get(meant) } }),
  });
}

const FAILURES: readonly string[] = ['internal', 'query_timeout', 'stale_data', 'at_capacity'];

/** The error as the consumer sees it: where we failed, with what to ask instead. */
export function withFallback(endpoint: Endpoint, thrown: unknown): unknown {
  const fallback = FALLBACKS[endpoint.name];
  const error = asAppError(thrown);
  if (fallback === undefined || error.context.fallback !== undefined || !FAILURES.includes(error.code)) return thrown;
  return new AppError(error.code, { ...error.context, fallback, cause: error.context.cause ?? error });
}
