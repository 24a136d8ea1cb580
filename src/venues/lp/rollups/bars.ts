import { barOf } from '../../../lib/tiles';
import { sumsOfEvents } from './buckets';
import { SUMS } from './days';

/** Columns of lp_pool_bar in the order of `poolBars`. */
export const POOL_BAR = 'pool_address, bar, swaps, unpriced, usd, fee_usd, first_at';

/** Quarters of an hour of pools, from the swaps of `source`: a FROM item, and join, over `lp_swap s`. */
export const poolBars = (source: string): string => `
SELECT s.pool_address, ${barOf('s."timestamp"')} AS bar, count(*)::int AS swaps, count(*) FILTER (WHERE s.usd IS NULL)::int AS unpriced, sum(s.usd) AS usd,
  sum(s.fee_usd) AS fee_usd, min(s."timestamp") AS first_at
FROM ${source} GROUP BY s.pool_address, ${barOf('s."timestamp"')}`;

/** Columns of lp_type_bar in the order of `typeBars`. */
export const TYPE_BAR = `bar, pool_type, ${SUMS}, known, known_usd, known_unpriced`;

/** Of the events whose transaction was read: how many, their deposits and withdrawals in USD, and how many have no USD. */
const knownOfEvents = `
  count(*) FILTER (WHERE e.fee_payer IS NOT NULL)::int AS known, coalesce(sum(e.usd) FILTER (WHERE e.fee_payer IS NOT NULL AND e.kind <> 'claim'), 0) AS known_usd,
  count(*) FILTER (WHERE e.fee_payer IS NOT NULL AND e.usd IS NULL)::int AS known_unpriced`;

/** Quarters of an hour of all pools of a type, from the events of `source`: a FROM item, and join, over `lp_event e`. */
export const typeBars = (source: string): string => `
SELECT ${barOf('e."timestamp"')} AS bar, e.pool_type, ${sumsOfEvents}, ${knownOfEvents} FROM ${source} GROUP BY ${barOf('e."timestamp"')}, e.pool_type`;
