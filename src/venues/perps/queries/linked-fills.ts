import type { Sql, Statement } from '../../../db/sql';
import { timedPosition } from '../../../lib/cursor';
import { type PageRequest, type PagedList, byParent } from '../../../lib/connection';
import { type SideFilter, sideFilter } from '../side';
import { CLOSING_FILL, CLOSING_PLACE } from './linked-round-trips';
import { type FillRow, IS_PART, ORDER, ORDER_TYPES, POSITION_FORMS, SELECT, positionOf } from './fills';

/** What fills hang on. The parent's key: coin, account, `account|coin|Long or Short|first millisecond|last millisecond|tid|oid` of what closed it. */
export type FillParent = 'coin' | 'trader' | 'trip';

/** Which of a parent's fills: a side as trade lists take it. */
export interface LinkedFillsFilter {
  side: string | null;
}

// Another round trip can end where this one begins, another begin where it ends: a row is of the first that ends at the row's instant and
// not before the row; where none does, of what was still open then.
const IS_OWN = `coalesce((SELECT t.tid IS NOT DISTINCT FROM wanted.f::bigint AND t.oid IS NOT DISTINCT FROM wanted.g::bigint FROM perp_round_trip t ${CLOSING_FILL}
    WHERE t.trader = f.trader AND t.coin = f.coin AND t.closed_at = f.timestamp AND ${CLOSING_PLACE} >= (f.seq, f.tid, f.oid, part.opens)
    ORDER BY closing.seq, t.tid, t.oid LIMIT 1), wanted.f IS NULL OR f.timestamp < wanted.e::timestamptz)`;

const OF: Record<FillParent, string> = {
  coin: 'f.coin = wanted.a',
  trader: 'f.trader = wanted.a',
  trip: `f.trader = wanted.a AND f.coin = wanted.b AND (part.opens = f.is_buy) = (wanted.c = 'Long')
    AND f.timestamp >= wanted.d::timestamptz AND f.timestamp <= wanted.e::timestamptz
    AND (f.timestamp NOT IN (wanted.d::timestamptz, wanted.e::timestamptz) OR ${IS_OWN})`,
};

const FIRST_KEY = 12;
const key = ORDER_TYPES.map((type, index) => `$${FIRST_KEY + index}::${type}`);

const page = (parent: FillParent): Statement => ({
  name: `perps_linked_fills_${parent}`,
  text: `SELECT wanted.parent, found.* FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[]) AS wanted(parent, a, b, c, d, e, f, g)
CROSS JOIN LATERAL (${SELECT}
  WHERE ${OF[parent]} AND f.timestamp < $9::timestamptz AND ${IS_PART}
    AND ($10::boolean IS NULL OR f.is_buy = $10) AND ($11::boolean IS NULL OR part.opens = $11)
    AND (${key[0]} IS NULL OR (f.timestamp <= ${key[0]} AND (${ORDER.join(', ')}) < (${key.join(', ')})))
  ORDER BY ${ORDER.map((column) => `${column} DESC`).join(', ')} LIMIT $${FIRST_KEY + ORDER.length}) AS found
ORDER BY wanted.parent, ${ORDER.map((column) => `found.${column === 'f.tid' ? 'trade_id::bigint' : column === 'f.oid' ? 'oid::bigint' : column.split('.')[1]} DESC`).join(', ')}`,
});

const PAGES: Record<FillParent, Statement> = { coin: page('coin'), trader: page('trader'), trip: page('trip') };

/** The parts of each parent's key, one array a part; milliseconds as instants. */
function keyParts(parents: readonly string[]): (string | null)[][] {
  const split = parents.map((parent) => parent.split('|'));
  const instant = (text: string | undefined): string | null => (text === undefined ? null : new Date(Number(text)).toISOString());
  return [0, 1, 2, 3, 4, 5, 6].map((place) =>
    split.map((parts) => (place === 3 || place === 4 ? instant(parts[place]) : (parts[place] ?? null))),
  );
}

/** Fills by what they hang on, newest first. */
export const linkedFills = (sql: Sql, of: FillParent): PagedList<FillRow, LinkedFillsFilter> => ({
  name: `perps fills of ${of}`,
  async list(parents, { filter, to, after, limit }: PageRequest<LinkedFillsFilter>) {
    const { is_buy, opens }: SideFilter = sideFilter(filter.side);
    const position = timedPosition(after, ORDER.length);
    return byParent(
      await sql.query<FillRow & { parent: string }>(PAGES[of], [parents, ...keyParts(parents), to, is_buy, opens, ...position, limit]),
    );
  },
  position: positionOf,
  forms: POSITION_FORMS,
});
