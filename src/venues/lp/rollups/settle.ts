import type { PoolClient } from 'pg';
import { analyzeRoughly, fillEmptied } from '../../../db/indexes';
import { DAY_MS } from '../../../lib/time';
import { ensureMonths } from '../store/insert';
import type { TimeRange } from '../store/touched';
import { appendWaiting, settlePositions, WAITING_EVENTS, WAITING_SWAPS } from '../store/waiting';
import { openChanges } from './changes';
import { deriveAllPrices, revalue } from './valuation';

const spanOf = (tables: readonly string[]): string =>
  `SELECT min("from") AS "from", max("to") AS "to" FROM (${tables
    .map((table) => `SELECT min("timestamp") AS "from", max("timestamp") AS "to" FROM ${table}`)
    .join(' UNION ALL ')}) t`;

/** UTC days from the first to the last fact of the tables and the day after it, in which its prices may still be used. */
async function daysOf(client: PoolClient, tables: readonly string[]): Promise<TimeRange[]> {
  const { rows } = await client.query<{ from: Date | null; to: Date | null }>(spanOf(tables));
  const [span] = rows;
  if (!span?.from || !span.to) return [];
  const days: TimeRange[] = [];
  for (let day = Math.floor(span.from.getTime() / DAY_MS); day <= Math.floor(span.to.getTime() / DAY_MS) + 1; day += 1)
    days.push({ from: new Date(day * DAY_MS), to: new Date((day + 1) * DAY_MS) });
  return days;
}

const RECORD = ['lp_event', 'lp_swap'];
const WAITING = [WAITING_EVENTS, WAITING_SWAPS];

/**
 * Writes the facts that waited for the end of a load: prices of all minutes first, then the values of what was on record before,
 * then what waits, valued as it is written.
 */
export async function settleWaiting(client: PoolClient): Promise<void> {
  await openChanges(client);
  await settlePositions(client);
  await analyzeRoughly(client, [...WAITING.map((table) => `${table} (pool_address, "timestamp")`), 'lp_pool', 'lp_token', 'lp_position']);
  const onRecord = await daysOf(client, RECORD);
  const waiting = await daysOf(client, WAITING);
  await deriveAllPrices(client, daysBetween(onRecord, waiting));
  await analyzeRoughly(client, ['token_price']);
  if (onRecord.length > 0) await revalue(client, onRecord);
  const days = waiting.map(({ from }) => from);
  await ensureMonths(client, Object.fromEntries(RECORD.map((table) => [table, days])));
  await fillEmptied(client, RECORD, () => appendWaiting(client), true);
}

/** Each day of either list once, oldest first. */
function daysBetween(a: readonly TimeRange[], b: readonly TimeRange[]): TimeRange[] {
  const days = new Map([...a, ...b].map((day) => [day.from.getTime(), day]));
  return [...days.values()].sort((x, y) => x.from.getTime() - y.from.getTime());
}
