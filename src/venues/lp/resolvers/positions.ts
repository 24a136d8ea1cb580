import { type AppError, notKnown } from '../../../errors';
import { listScope } from '../../../lib/cursor';
import { nextListCursor } from '../../../lib/list-page';
import { HOUR_MS } from '../../../lib/time';
import { type Timeframe, windowOf } from '../../../lib/timeframe';
import type { GraphContext, Resolvers } from '../../venue';
import { openList } from '../../venue-lists';
import { makeLoaders } from '../loaders';
import { listWhales, WHALE_FORMS, whalePosition } from '../queries/lps-whales';
import {
  listPositionEvents,
  listPositions,
  listResults,
  type PositionKey,
  type PositionSumRow,
  type ValuedPositionRow,
} from '../queries/position-history';
import { type ActiveSort, listActivePositions, type PositionRow } from '../queries/positions';
import { nothingIn, type PoolTypeFilter, poolNow, poolOf, typeDropped, typeOf, unpricedOf, warnOfUnpriced } from './asked';
import { type PoolSymbols, shownEvent, type ShownEvent } from './pool-event';
import { nameScores, scoreNow } from './score-now';
import { negated, sumDecimals } from '../sources/decimal';

type FieldCase = 'native' | 'snake';

async function symbols(pool_address: string, context: GraphContext): Promise<PoolSymbols> {
  const { token_x, token_y } = (await context.loaders(makeLoaders).poolIds.load(pool_address)) ?? { token_x: null, token_y: null };
  return { token_x, token_y };
}

interface WhalesInput {
  min_usd: number;
  timeframe: Timeframe;
  pool_type: PoolTypeFilter;
  limit: number;
  event_type: 'deposit' | 'withdraw' | null;
  pool_address: string | null;
  field_case: FieldCase;
  cursor: string | null;
}

/** Large deposits and withdrawals, newest first. Throws not_found for an unknown pool. */
async function lpLpsWhales(_root: unknown, input: WhalesInput, asked: GraphContext): Promise<ShownEvent[]> {
  const { min_usd, timeframe, pool_type, limit, field_case } = input;
  const [kind, pool_address] = [input.event_type ?? null, input.pool_address ?? null];
  const scope = listScope('lp/lps/whales', input);
  const { page: opened, then: context } = openList(asked, input.cursor, scope, WHALE_FORMS);
  const window = windowOf(timeframe, opened.as_of);
  const args = { min_usd, window, pool_type: typeOf(pool_type), kind, pool_address, after: opened.after, limit: limit + 1 };
  const [rows] = await Promise.all([listWhales(context.sql, args), nameScores(context)]);
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  if (last === undefined) {
    if (pool_address !== null) await poolOf({ pool_address, pool_type: typeOf(pool_type) ?? 'auto' }, context);
    throw nothingIn(timeframe, {
      ...typeDropped(pool_type),
      ...(kind !== null && { event_type: null }),
      ...(min_usd > 1 && { min_usd: 1 }),
    });
  }
  const next_cursor = rows.length > limit ? nextListCursor(opened, whalePosition(last), scope) : null;
  Object.assign(context.meta, { timeframe, window, count: page.length, next_cursor });
  return page.map((row) => ({ ...shownEvent(row, row, field_case === 'snake'), pct_of_pool: row.pct_of_pool }));
}

interface ActiveInput {
  pool_address: string | null;
  owner: string | null;
  pool_type: PoolTypeFilter;
  limit: number;
  sort_by: ActiveSort;
  min_usd: number;
}

/** Open positions of a pool or an owner. What they are worth now cannot be told from their events. */
async function lpPositionsActive(_root: unknown, input: ActiveInput, context: GraphContext): Promise<unknown> {
  const { sort_by, min_usd, limit } = input;
  const [pool_address, owner] = [input.pool_address ?? null, input.owner ?? null];
  const pool_type = typeOf(input.pool_type);
  const args = { pool_address, owner, pool_type, now: context.now, sort_by, min_usd, limit };
  const [rows] = await Promise.all([listActivePositions(context.sql, args), nameScores(context)]);
  if (rows.length === 0 && pool_address !== null && pool_type !== null && (await poolNow(pool_address, context)) !== null)
    await poolOf({ pool_address, pool_type }, context);
  if (rows.length === 0) throw nothingIn(null, { ...(min_usd > 0 && { min_usd: 0 }), ...typeDropped(input.pool_type) });
  context.meta.count = rows.length;
  warnOfUnpriced(unpricedOf(rows), 'counted, left out of sums', context);
  return Promise.all(
    rows.map(async (row) => ({
      ...row,
      position_address: row.pool_type === 'dlmm' ? row.position_address : null,
      position_key: row.position_address,
      fees_claimed_usd: row.claimed_usd,
      current_value_usd: null,
      unclaimed_fees_usd: null,
      pnl_usd: null,
      il_usd: null,
      in_range: null,
      last_event: row.last_at,
      ...(await surroundingsOf(row, context)),
    })),
  );
}

/** What is traded in a position's pool, and the score of its owner. */
async function surroundingsOf(
  { pool_address, owner }: PositionRow,
  context: GraphContext,
): Promise<PoolSymbols & { lp_score: string | null }> {
  const [tokens, lp_score] = await Promise.all([symbols(pool_address, context), owner === null ? null : scoreNow(owner, context)]);
  return { ...tokens, lp_score };
}

interface HistoryInput {
  position_address: string | null;
  owner: string | null;
  pool_address: string | null;
  limit: number;
  field_case: FieldCase;
}

const ACTIVE = { method: 'GET', path: '/api/v1/lp/positions/active', note: 'open positions of a pool or an owner' };

/** What of the question no position answers; `found` is the one of that address, of another owner or pool. */
function unknownPosition({ position_address, owner, pool_address }: HistoryInput, found: PositionSumRow | undefined): AppError {
  if (position_address == null) return notKnown('owner', owner as string, 'never had a position in this pool', ACTIVE);
  if (found === undefined) return notKnown('position_address', position_address, 'is no known position', ACTIVE);
  return owner != null && found.owner !== owner
    ? notKnown('owner', owner, 'is not the owner of this position', ACTIVE)
    : notKnown('pool_address', pool_address as string, 'is not the pool of this position', ACTIVE);
}

/** Events of a position, or of all positions of an owner in a pool, oldest first. Of an address that was used in several pools, what it was last. */
async function lpPositionsHistory(_root: unknown, input: HistoryInput, context: GraphContext): Promise<unknown> {
  const { sql, now, meta } = context;
  const found = await listPositions(sql, keyOf(input), now);
  const asked = found.filter((row) => isAsked(row, input));
  const [first] = asked;
  if (first === undefined) throw unknownPosition(input, found[0]);
  const positions = asked.filter((row) => row.pool_address === first.pool_address);
  const [rows, results] = await Promise.all([listPositionEvents(sql, positions, input.limit), listResults(sql, positions)]);
  meta.count = rows.length;
  const all = rows[0]?.events ?? 0;
  if (all > rows.length) meta.warnings.push(`events: the oldest ${rows.length} of ${all}`);
  warnOfUnpriced(unpricedOf(positions), 'shown, left out of sums', context);
  const tokens = await symbols(first.pool_address, context);
  return {
    position_address: input.position_address != null && first.pool_type === 'dlmm' ? first.position_address : null,
    events: rows.map((row) => ({ ...shownEvent(row, tokens, input.field_case === 'snake'), cumulative_net_usd: row.cumulative_net_usd })),
    summary: summaryOf(results, now),
  };
}

function keyOf({ position_address, owner, pool_address }: HistoryInput): PositionKey {
  if (position_address != null) return { position_address };
  return { owner: owner as string, pool_address: pool_address as string };
}

const isAsked = (row: PositionSumRow, { owner, pool_address }: HistoryInput): boolean =>
  (owner == null || row.owner === owner) && (pool_address == null || row.pool_address === pool_address);

/** Open while any position is, closed when all are; null where nobody tells of one that was opened before we looked, or where there is none. */
export function statusOf(of: { positions: number; open_positions: number; unseen_positions: number }): 'open' | 'closed' | null {
  if (of.open_positions > 0) return 'open';
  return of.positions === 0 || of.unseen_positions > 0 ? null : 'closed';
}

/** Totals of positions of one pool; results only when all are closed and known. */
export function summaryOf(positions: readonly ValuedPositionRow[], now: Date): Record<string, unknown> {
  const [first] = positions as [ValuedPositionRow];
  const left = positions.filter((row) => row.closed_at === null);
  const open_positions = left.filter((row) => row.deposits > 0).length;
  const closed = left.length === 0;
  const opened = earliest(positions.map((row) => row.opened_at));
  const closed_at = closed ? new Date(Math.max(...positions.map((row) => (row.closed_at as Date).getTime()))) : null;
  const deposited = sumOf(positions.map((row) => row.deposited_usd)) as string;
  const realized = closed ? sumOf(positions.map((row) => row.pnl_usd)) : null;
  const hodl = closed ? sumOf(positions.map((row) => row.hodl_usd)) : null;
  const kept = closed ? sumOf(positions.map((row) => row.kept_usd)) : null;
  return {
    pool_address: first.pool_address,
    pool_type: first.pool_type,
    owner: first.owner,
    status: statusOf({ positions: positions.length, open_positions, unseen_positions: left.length - open_positions }),
    deposited_usd: deposited,
    withdrawn_usd: sumOf(positions.map((row) => row.withdrawn_usd)),
    fees_claimed_usd: sumOf(positions.map((row) => row.claimed_usd)),
    realized_pnl_usd: realized,
    realized_pnl_pct: realized === null || Number(deposited) === 0 ? null : (100 * Number(realized)) / Number(deposited),
    hodl_value_usd: hodl,
    il_usd: hodl === null || kept === null ? null : sumOf([kept, negated(hodl)]),
    hold_hours: opened === null ? null : ((closed_at ?? now).getTime() - opened.getTime()) / HOUR_MS,
    opened_at: opened,
    closed_at,
  };
}

function earliest(times: readonly (Date | null)[]): Date | null {
  return times.includes(null) ? null : new Date(Math.min(...times.map((time) => (time as Date).getTime())));
}

/** Exact sum of decimal texts; null when one is unknown. */
function sumOf(values: readonly (string | null)[]): string | null {
  const known = values.filter((value) => value !== null);
  return known.length < values.length ? null : sumDecimals(known);
}

export const positionsResolvers = { Query: { lpLpsWhales, lpPositionsActive, lpPositionsHistory } } satisfies Resolvers;
