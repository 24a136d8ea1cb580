import { CURSOR_FORMS, timedPosition } from '../../../lib/cursor';
import type { Sql, Statement } from '../../../db/sql';
import { type PagedList, byParent } from '../../../lib/connection';
import type { FillRow } from './fills';

/** A closed round trip; figures are exact decimals as text. */
export interface RoundTripRow {
  trader: string;
  coin: string;
  direction: 'Long' | 'Short';
  closed_at: Date;
  first_at: Date;
  opened_at: Date | null;
  /** The fill that closed it. */
  tid: string;
  oid: string;
  fills: number;
  peak_size: string;
  entry_price: string | null;
  gross_pnl: string;
  fees_usd: string;
  net_pnl: string;
}

/** Which of an account's round trips. */
export interface RoundTripsFilter {
  coin: string | null;
}

const SELECT = `
  SELECT t.trader, t.coin, CASE WHEN t.is_long THEN 'Long' ELSE 'Short' END AS direction, t.closed_at, t.first_at, t.opened_at, t.tid::text AS tid, t.oid::text AS oid,
    t.parts AS fills, t.peak_size, t.opened_usd / nullif(t.opened_size, 0) AS entry_price, t.gross_pnl, t.fees_usd, t.net_pnl
  FROM perp_round_trip t`;

/** Beside a round trip `t`: the fill that closed it, as `closing`. */
export const CLOSING_FILL =
  'JOIN perp_fill closing ON closing.coin = t.coin AND closing.timestamp = t.closed_at AND closing.trader = t.trader AND closing.tid = t.tid AND closing.oid = t.oid';
/** Where the closing part of that fill stands among the rows of its instant; of a flip the opening part comes after it. */
export const CLOSING_PLACE = '(closing.seq, closing.tid, closing.oid, false)';

const PAGE: Statement = {
  name: 'perps_linked_round_trips',
  text: `SELECT wanted.parent, found.* FROM unnest($1::text[]) AS wanted(parent) CROSS JOIN LATERAL (${SELECT} WHERE t.trader = wanted.parent AND t.closed_at < $2::timestamptz AND ($3::text IS NULL OR t.coin = $3)
    AND ($4::timestamptz IS NULL OR (t.closed_at, t.coin, t.tid, t.oid) < ($4, $5::text, $6::bigint, $7::bigint))
  ORDER BY t.closed_at DESC, t.coin DESC, t.tid DESC, t.oid DESC LIMIT $8) AS found
ORDER BY wanted.parent, found.closed_at DESC, found.coin DESC, found.tid::bigint DESC, found.oid::bigint DESC`,
};

/** An account's closed round trips, the last closed first. */
export const traderRoundTrips = (sql: Sql): PagedList<RoundTripRow, RoundTripsFilter> => ({
  name: 'perps round trips of trader',
  list: async (parents, { filter, to, after, limit }) =>
    byParent(await sql.query<RoundTripRow & { parent: string }>(PAGE, [parents, to, filter.coin, ...timedPosition(after, 4), limit])),
  position: ({ closed_at, coin, tid, oid }) => [closed_at.getTime(), coin, tid, oid],
  forms: [CURSOR_FORMS.instant, CURSOR_FORMS.coin, CURSOR_FORMS.bigint, CURSOR_FORMS.bigint],
});

/** A row of a trade list, as far as its round trip depends on it. */
export type FillPart = Pick<FillRow, 'trader' | 'coin' | 'direction' | 'timestamp' | 'seq' | 'trade_id' | 'oid' | 'opens'>;

// $1 to $9: place, account, coin, direction, time, order within it and part of each row; $10: now. Round trips can end and begin at one
// instant: a row is of the first that does not end before it, in the order of trading.
const OF_FILLS: Statement = {
  name: 'perps_round_trips_of_fills',
  text: `SELECT wanted.place, found.* FROM unnest($1::int[], $2::text[], $3::text[], $4::boolean[], $5::timestamptz[], $6::int[], $7::bigint[], $8::bigint[], $9::boolean[])
  AS wanted(place, trader, coin, is_long, at, seq, tid, oid, opens)
CROSS JOIN LATERAL (${SELECT} ${CLOSING_FILL}
  WHERE t.trader = wanted.trader AND t.coin = wanted.coin AND t.is_long = wanted.is_long AND t.first_at <= wanted.at AND t.closed_at >= wanted.at
    AND t.closed_at < $10::timestamptz
    AND (t.closed_at > wanted.at OR ${CLOSING_PLACE} >= (wanted.seq, wanted.tid, wanted.oid, wanted.opens))
  ORDER BY t.closed_at, closing.seq, t.tid, t.oid LIMIT 1) AS found`,
};

/** The closed round trip of each row, in their order; null of what a position is still open with. */
export async function listTripsOfFills(sql: Sql, parts: readonly FillPart[], now: Date): Promise<(RoundTripRow | null)[]> {
  const column = <T>(of: (part: FillPart) => T): T[] => parts.map(of);
  const rows = await sql.query<RoundTripRow & { place: number }>(OF_FILLS, [
    parts.map((_, place) => place),
    column(({ trader }) => trader),
    column(({ coin }) => coin),
    column(({ direction }) => direction === 'Long'),
    column(({ timestamp }) => timestamp),
    column(({ seq }) => seq),
    column(({ trade_id }) => trade_id),
    column(({ oid }) => oid),
    column(({ opens }) => opens),
    now,
  ]);
  const found = new Map(rows.map((row) => [row.place, row]));
  return parts.map((_, place) => found.get(place) ?? null);
}
