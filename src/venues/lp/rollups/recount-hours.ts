import { DAY_MS } from '../../../lib/time';
import { POOL_BAR, poolBars, TYPE_BAR, typeBars } from './bars';
import { hourOf, OWNER_HOUR, ownerHours, POOL_HOUR, poolHours } from './buckets';
import { HOURS, OWNER_DAYS, SWAP_HOURS } from './changes';

export type TimeSpan = [from: Date, to: Date];

/** Condition that a time is in the hour `d.hour`. */
type InHour = (time: string) => string;

/** By its bounds: of few hours, whose facts an index finds. */
const ofFew: InHour = (time) => `${time} >= d.hour AND ${time} < d.hour + interval '1 hour'`;

/** By its own hour, which is hashed: of many hours, each of which would be compared with all facts of its pool. */
const ofMany: InHour = (time) => `${hourOf(time)} = d.hour`;

const hoursOf = (hours: string, alias: string, time: string, table: string, inHour: InHour): string =>
  `(SELECT DISTINCT pool_address, hour FROM ${hours}) d JOIN ${table} ${alias} ON ${alias}.pool_address = d.pool_address
    AND ${inHour(`${alias}.${time}`)} AND ${alias}.${time} >= $1 AND ${alias}.${time} < $2`;

/** A noted hour of a pool that is `alias`'s; and one that a quarter of it is of. */
export const inHours = (hours: string, alias: string): string =>
  `${hours} d WHERE ${alias}.pool_address = d.pool_address AND ${alias}.hour = d.hour`;
export const barsInHours = (hours: string, alias: string): string =>
  `${hours} d WHERE ${alias}.pool_address = d.pool_address AND ${ofFew(`${alias}.bar`)}`;

const OWNER_HOURS = OWNER_HOUR.split(', ');
const rowOf = (alias: string): string => `ROW(${OWNER_HOURS.map((column) => `${alias}.${column}`).join(', ')})::text`;

/**
 * Providers' hours from facts between $1 and $2. Of all providers of a pool's hour a page changes few: only what comes out otherwise than it stands, to the
 * last zero, is written, and its days are noted.
 */
const recountOwners = (inHour: InHour): string => `
WITH counted AS MATERIALIZED (${ownerHours(hoursOf(HOURS, 'e', '"timestamp"', 'lp_event', inHour))}),
gone AS (
  DELETE FROM lp_owner_hour o USING ${inHours(HOURS, 'o')}
    AND NOT EXISTS (SELECT 1 FROM counted n WHERE n.pool_address = o.pool_address AND n.hour = o.hour AND n.owner = o.owner)
  RETURNING o.pool_address, o.owner, o.hour
), written AS (
  INSERT INTO lp_owner_hour AS o (${OWNER_HOUR}) SELECT * FROM counted
  ON CONFLICT (pool_address, hour, owner) DO UPDATE SET ${OWNER_HOURS.map((column) => `${column} = EXCLUDED.${column}`).join(', ')}
    WHERE ${rowOf('o')} <> ${rowOf('EXCLUDED')}
  RETURNING o.pool_address, o.owner, o.hour
)
INSERT INTO ${OWNER_DAYS} SELECT DISTINCT pool_address, owner, date_trunc('day', hour, 'UTC') FROM (SELECT * FROM gone UNION ALL SELECT * FROM written) AS changed`;

/** Quarters of the hours of all pools of a type, from the same. */
const recountTypes = (inHour: InHour): string =>
  `INSERT INTO lp_type_bar (${TYPE_BAR}) ${typeBars(
    `(SELECT DISTINCT hour FROM ${HOURS}) d JOIN lp_event e ON ${inHour('e."timestamp"')} AND e."timestamp" >= $1 AND e."timestamp" < $2`,
  )}`;

/** Quarters of pools' hours, by what was swapped between $1 and $2; and the hours, by these and by what is stated. */
const recountSwaps = (inHour: InHour): string =>
  `INSERT INTO lp_pool_bar (${POOL_BAR}) ${poolBars(hoursOf(SWAP_HOURS, 's', '"timestamp"', 'lp_swap', inHour))}`;
const recountPools = (inHour: InHour): string => `INSERT INTO lp_pool_hour (${POOL_HOUR})
  ${poolHours(hoursOf(SWAP_HOURS, 'b', 'bar', 'lp_pool_bar', inHour), hoursOf(SWAP_HOURS, 'v', 'hour', 'lp_volume_hour', inHour))}`;

const recountsOf = (suffix: string, inHour: InHour) => ({
  owners: { name: `lp_recount_owner_hours${suffix}`, text: recountOwners(inHour) },
  types: { name: `lp_recount_type_bars${suffix}`, text: recountTypes(inHour) },
  swaps: { name: `lp_recount_pool_bars${suffix}`, text: recountSwaps(inHour) },
  pools: { name: `lp_recount_pool_hours${suffix}`, text: recountPools(inHour) },
});
const FEW_HOURS = recountsOf('', ofFew);
const MANY_HOURS = recountsOf('_many', ofMany);

/** Statements that count hours anew from facts in a span. Of more than a day's span, as recorded pages have it, the noted hours are many; a live page's are those of its minutes. */
export const recountsIn = ([from, to]: TimeSpan): typeof FEW_HOURS => (to.getTime() - from.getTime() > DAY_MS ? MANY_HOURS : FEW_HOURS);
