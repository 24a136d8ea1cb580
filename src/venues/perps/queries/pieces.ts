import { QUARTER_MS } from '../../../lib/tiles';
import { PERP_BAR_MS, unitOf } from '../rollups/hours';
import { edgeOf } from './segments';

/**
 * In what pieces a span is told at most: months where they are whole (if they are told); days where they are, for buckets of days; quarters of days (if they are told), for buckets of half days; or nothing longer
 * than an hour, for shorter ones.
 */
export type Grain = 'month' | 'day' | 'quarter' | 'hour';

/** The first UTC midnight from an instant on, and the last one up to it. */
export const nextDay = (parameter: string): string =>
  `date_trunc('day', ${parameter}::timestamptz + interval '86399.999999 seconds', 'UTC')`;
export const thisDay = (parameter: string): string => `date_trunc('day', ${parameter}::timestamptz, 'UTC')`;

/** The first beginning of a UTC month from an instant on, and the last one up to it. */
const nextMonth = (parameter: string): string =>
  `((date_trunc('month', (${parameter}::timestamptz - interval '1 millisecond') AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC')`;
const thisMonth = (parameter: string): string => unitOf('month', `${parameter}::timestamptz`);

/** The first beginning of a quarter of a UTC day from an instant on, and the last one up to it. */
const nextQuarter = (parameter: string): string =>
  unitOf('quarter', `${parameter}::timestamptz + interval '${QUARTER_MS - 1} milliseconds'`);
const thisQuarter = (parameter: string): string => unitOf('quarter', `${parameter}::timestamptz`);

/** The first beginning of a bar from an instant on, and the last one up to it. */
const nextBar = (parameter: string): string => unitOf('bar', `${parameter}::timestamptz + interval '${PERP_BAR_MS - 1} milliseconds'`);
const thisBar = (parameter: string): string => unitOf('bar', `${parameter}::timestamptz`);

/** What tells a span: the beginnings of SELECT statements over whole months (if they are told), whole days, quarters of them (if they are told), whole hours, bars (if they are told) and facts, each ending in WHERE … AND. */
export interface Told {
  months?: string;
  /** Left out where nothing longer than an hour tells it. */
  days?: string;
  quarters?: string;
  hours: string;
  /** Hours from the first one to the end of its day, where the span goes on beyond that: those of one instant. */
  rest?: string | undefined;
  bars?: string;
  facts: string;
  /** Alias of the fact table. */
  table: string;
  /** Facts of another table that rollups tell in the same rows. */
  beside?: { facts: string; table: string };
}

/** All pieces of a span; of those told by the grain's own unit, hours or days, a row each; or of the others. */
export type Part = 'all' | 'whole' | 'torn';

/** The pieces of the span whose values start at `at`: whole months and days, then the quarters, the hours, the bars and the facts at both edges. */
export function pieces(told: Told, at: number, grain: Grain, part: Part = 'all'): string {
  const { months, days = '', quarters, hours, rest, bars, facts, table, beside } = told;
  const [from, first, last, to] = [at, at + 1, at + 2, at + 3].map((place) => `$${place}`) as [string, string, string, string];
  const factsIn = (begin: string, end: string): string =>
    [{ facts, table }, ...(beside === undefined ? [] : [beside])]
      .map((own) => `UNION ALL ${own.facts} ${own.table}.timestamp >= ${begin} AND ${own.table}.timestamp < ${end}`)
      .join('\n');
  const edges =
    bars === undefined
      ? `${edgeOf(at, 'facts_from', factsIn(from, first))}
  ${edgeOf(at, 'facts_to', factsIn(last, to))}`
      : `${edgeOf(at, 'bars_from', `UNION ALL ${bars} bar >= ${nextBar(from)} AND bar < ${first}`)}
  ${edgeOf(at, 'bars_to', `UNION ALL ${bars} bar >= ${last} AND bar < ${thisBar(to)}`)}
  ${edgeOf(at, 'torn_from', factsIn(from, `least(${first}::timestamptz, ${nextBar(from)})`))}
  ${edgeOf(at, 'torn_to', factsIn(`greatest(${last}::timestamptz, ${thisBar(to)})`, to))}`;
  // Names both ends, whatever edges are left out.
  const named = `${from}::timestamptz <= ${to}::timestamptz`;
  // What is left out still names its columns.
  const together = (whole: string, torn: string): string => `(
  ${whole} ${part === 'torn' ? 'AND false' : ''}
  ${part === 'whole' ? '' : torn})`;
  if (grain === 'hour' || (grain === 'quarter' && quarters === undefined))
    return together(`${hours} ${named} AND hour >= ${first} AND hour < ${last}`, edges);
  const tornQuarters = `${edgeOf(at, 'torn_quarter_from', `UNION ALL ${hours} hour >= ${first} AND hour < least(${last}::timestamptz, ${nextQuarter(first)})`)}
  ${edgeOf(at, 'torn_quarter_to', `UNION ALL ${hours} hour >= greatest(${thisQuarter(last)}, ${nextQuarter(first)}) AND hour < ${last}`)}
  ${edges}`;
  if (grain === 'quarter')
    return together(`${quarters} ${named} AND quarter >= ${nextQuarter(first)} AND quarter < ${thisQuarter(last)}`, tornQuarters);
  const torn =
    quarters === undefined
      ? `${edgeOf(at, 'hours_from', `UNION ALL ${rest === undefined ? `${hours} hour >= ${first} AND hour < least(${last}::timestamptz, ${nextDay(first)})` : `${rest} hour = ${first}`}`)}
  ${edgeOf(at, 'hours_to', `UNION ALL ${hours} hour >= greatest(${first}::timestamptz, ${thisDay(last)}, ${nextDay(first)}) AND hour < ${last}`)}
  ${edges}`
      : `${edgeOf(at, 'quarters_from', `UNION ALL ${quarters} quarter >= ${nextQuarter(first)} AND quarter < least(${thisQuarter(last)}, ${nextDay(first)})`)}
  ${edgeOf(at, 'quarters_to', `UNION ALL ${quarters} quarter >= greatest(${thisDay(last)}, ${nextDay(first)}) AND quarter < ${thisQuarter(last)}`)}
  ${tornQuarters}`;
  const whole =
    months === undefined || grain === 'day'
      ? `${days} ${named} AND day >= ${nextDay(first)} AND day < ${thisDay(last)}`
      : `${edgeOf(at, 'months', `${months} month >= ${nextMonth(first)} AND month < ${thisMonth(last)} UNION ALL`)}
  ${edgeOf(at, 'days_of_month', `${days} day >= greatest(${thisMonth(last)}, ${nextMonth(first)}) AND day < ${thisDay(last)} UNION ALL`)}
  ${days} ${named} AND day >= ${nextDay(first)} AND day < least(${thisDay(last)}, ${nextMonth(first)})`;
  return together(whole, torn);
}
