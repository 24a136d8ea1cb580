import type { Sql, Statement } from '../../../db/sql';
import { CURSOR_FORMS, type CursorPosition, timedPosition } from '../../../lib/cursor';
import { leastShown } from '../../../lib/statistics';
import type { EventKind, EventRow, SwapRow } from '../store/rows';

export interface PoolEventsArgs {
  pool_address: string;
  /** Null: deposits, withdrawals and claims. */
  kind: EventKind | null;
  /** 0 lists unpriced events as well. */
  min_usd: number;
  owner: string | null;
  /** No fact of the pool is older. */
  born: Date;
  now: Date;
  /** Position after the last row of the page before: the key below the pool. */
  after: CursorPosition | null;
  limit: number;
}

/** A deposit, withdrawal or claim. Numeric columns are decimal text. */
export interface PoolEventRow extends Pick<
  EventRow,
  'pool_address' | 'timestamp' | 'tx_id' | 'position_address' | 'kind' | 'n' | 'pool_type' | 'owner' | 'amount_x' | 'amount_y'
> {
  usd: string | null;
}

/** A swap; the part paid in is positive, the part paid out negative. */
export interface PoolSwapRow extends Pick<SwapRow, 'pool_address' | 'timestamp' | 'tx_id' | 'outer_ix' | 'inner_ix' | 'pool_type'> {
  owner: string;
  amount_x: string | null;
  amount_y: string | null;
  usd: string | null;
  fee_usd: string | null;
}

const { instant, base58, index, word } = CURSOR_FORMS;
/** What the values of cursor positions look like. */
export const EVENT_FORMS = [instant, base58, base58, word, index];
export const SWAP_FORMS = [instant, base58, index, index];

export const eventPosition = (row: PoolEventRow): CursorPosition => [
  row.timestamp.getTime(),
  row.tx_id,
  row.position_address,
  row.kind,
  row.n,
];
export const swapPosition = (row: PoolSwapRow): CursorPosition => [row.timestamp.getTime(), row.tx_id, row.outer_ix, row.inner_ix];

interface Shape {
  kind: boolean;
  owner: boolean;
  min: boolean;
  after: boolean;
}

/** Newest first along the primary key. One statement a combination of filters, so that each keeps its plan. */
function eventsStatement({ kind, owner, min, after }: Shape): Statement {
  const conditions = [
    'pool_address = $1 AND "timestamp" < $2 AND "timestamp" >= $12',
    ...(kind ? ['kind = $4'] : []),
    ...(owner ? ['owner = $5'] : []),
    ...(min ? ['usd >= $6'] : []),
    ...(after ? ['("timestamp", tx_id, position_address, kind, n) < ($7::timestamptz, $8::text, $9::text, $10::text, $11::smallint)'] : []),
  ];
  return {
    name: `lp_pools_events_${[kind, owner, min, after].map(Number).join('')}`,
    keyed: true,
    text: `SELECT pool_address, "timestamp", tx_id, position_address, kind, n, pool_type, owner, amount_x, amount_y, usd
      FROM lp_event WHERE ${conditions.join(' AND ')} AND ${unused([4, kind], [5, owner], [6, min], [7, after], [8, after], [9, after], [10, after], [11, after])}
      ORDER BY "timestamp" DESC, tx_id DESC, position_address DESC, kind DESC, n DESC LIMIT $3`,
  };
}

function swapsStatement({ owner, min, after }: Shape): Statement {
  const conditions = [
    'pool_address = $1 AND "timestamp" < $2 AND "timestamp" >= $10',
    ...(owner ? ['trader = $4'] : []),
    ...(min ? ['usd >= $5'] : []),
    ...(after ? ['("timestamp", tx_id, outer_ix, inner_ix) < ($6::timestamptz, $7::text, $8::smallint, $9::smallint)'] : []),
  ];
  return {
    name: `lp_pools_events_swaps_${[owner, min, after].map(Number).join('')}`,
    keyed: true,
    text: `SELECT pool_address, "timestamp", tx_id, outer_ix, inner_ix, pool_type, trader AS owner, usd, fee_usd,
        CASE WHEN x_to_y THEN amount_in ELSE -amount_out END AS amount_x, CASE WHEN x_to_y THEN -amount_out ELSE amount_in END AS amount_y
      FROM lp_swap WHERE ${conditions.join(' AND ')} AND ${unused([4, owner], [5, min], [6, after], [7, after], [8, after], [9, after])}
      ORDER BY "timestamp" DESC, tx_id DESC, outer_ix DESC, inner_ix DESC LIMIT $3`,
  };
}

/** Parameters that this variant does not use still need a type: they are sent, and null. */
function unused(...parameters: [number, boolean][]): string {
  const idle = parameters.filter(([, used]) => !used).map(([index]) => `$${index}::text IS NULL`);
  return ['true', ...idle].join(' AND ');
}

const shapeOf = (args: PoolEventsArgs): Shape => ({
  kind: args.kind !== null,
  owner: args.owner !== null,
  min: args.min_usd > 0,
  after: args.after !== null,
});

/** One page of deposits, withdrawals and claims of a pool before `now`, newest first. */
export function listPoolEvents(sql: Sql, args: PoolEventsArgs): Promise<PoolEventRow[]> {
  const { pool_address, born, now, limit, kind, owner, min_usd, after } = args;
  const position = timedPosition(after, EVENT_FORMS.length);
  return sql.query<PoolEventRow>(eventsStatement(shapeOf(args)), [
    pool_address,
    now,
    limit,
    kind,
    owner,
    min_usd > 0 ? leastShown(min_usd) : null,
    ...position,
    born,
  ]);
}

/** One page of swaps of a pool before `now`, newest first. */
export function listPoolSwaps(sql: Sql, args: PoolEventsArgs): Promise<PoolSwapRow[]> {
  const { pool_address, born, now, limit, owner, min_usd, after } = args;
  const position = timedPosition(after, SWAP_FORMS.length);
  return sql.query<PoolSwapRow>(swapsStatement(shapeOf(args)), [
    pool_address,
    now,
    limit,
    owner,
    min_usd > 0 ? leastShown(min_usd) : null,
    ...position,
    born,
  ]);
}
