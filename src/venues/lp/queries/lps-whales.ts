import type { Sql, Statement } from '../../../db/sql';
import { CURSOR_FORMS, type CursorPosition, timedPosition } from '../../../lib/cursor';
import { leastShown } from '../../../lib/statistics';
import type { Window } from '../../../lib/timeframe';
import type { PoolType } from '../chain-addresses';
import { shareOfPool } from './liquidity';
import type { PoolEventRow } from './pools-events';

export interface WhalesArgs {
  min_usd: number;
  window: Window;
  /** Null: both. */
  pool_type: PoolType | null;
  /** Null: both. */
  kind: 'deposit' | 'withdraw' | null;
  pool_address: string | null;
  after: CursorPosition | null;
  limit: number;
}

export interface WhaleRow extends PoolEventRow {
  /** Decimal text; null when no liquidity of the day before the event is known. */
  pct_of_pool: string | null;
  /** Symbols of the pool's tokens; the mint where no symbol is known. */
  token_x: string | null;
  token_y: string | null;
}

const { instant, base58, index, word } = CURSOR_FORMS;
/** What the values of a cursor position look like. */
export const WHALE_FORMS = [instant, base58, base58, base58, word, index];
export const whalePosition = (row: WhaleRow): CursorPosition => [
  row.timestamp.getTime(),
  row.pool_address,
  row.tx_id,
  row.position_address,
  row.kind,
  row.n,
];

/** One statement for a pool and one for all, for first and for later pages. */
function whales(pool: boolean, after: boolean): Statement {
  return {
    name: `lp_whales_${Number(pool)}${Number(after)}`,
    keyed: true,
    text: `
SELECT w.*, ${shareOfPool('w', '$1', '$2')} AS pct_of_pool, coalesce(x.symbol, p.mint_x) AS token_x, coalesce(y.symbol, p.mint_y) AS token_y
FROM (
  SELECT pool_address, "timestamp", tx_id, position_address, kind, n, pool_type, owner, amount_x, amount_y, usd
  FROM lp_event WHERE "timestamp" >= $1 AND "timestamp" < $2 AND usd >= $3::numeric AND kind IN ('deposit', 'withdraw')
    AND ($4::text IS NULL OR pool_type = $4) AND ($5::text IS NULL OR kind = $5) AND ${pool ? 'pool_address = $6' : '$6::text IS NULL'}
    AND ${after ? '("timestamp", pool_address, tx_id, position_address, kind, n) < ($8::timestamptz, $9::text, $10::text, $11::text, $12::text, $13::smallint)' : "coalesce($8, $9, $10, $11, $12, $13, '') = ''"}
  ORDER BY "timestamp" DESC, pool_address DESC, tx_id DESC, position_address DESC, kind DESC, n DESC LIMIT $7
) w LEFT JOIN lp_pool p ON p.pool_address = w.pool_address LEFT JOIN lp_token x ON x.mint = p.mint_x LEFT JOIN lp_token y ON y.mint = p.mint_y
ORDER BY w."timestamp" DESC, w.pool_address DESC, w.tx_id DESC, w.position_address DESC, w.kind DESC, w.n DESC`,
  };
}

/** One page of large deposits and withdrawals, newest first. */
export function listWhales(sql: Sql, { min_usd, window, pool_type, kind, pool_address, after, limit }: WhalesArgs): Promise<WhaleRow[]> {
  const position = timedPosition(after, WHALE_FORMS.length);
  const values = [window.from, window.to, leastShown(min_usd), pool_type, kind, pool_address, limit, ...position];
  return sql.query<WhaleRow>(whales(pool_address !== null, after !== null), values);
}
