import type { Sql, Statement } from '../../../db/sql';
import { type PageRequest, type PagedList, byParent } from '../../../lib/connection';
import { type SideFilter, sideFilter } from '../side';
import { type FillRow, IS_PART, ORDER, ORDER_TYPES, POSITION_FORMS, SELECT, positionOf } from './fills';

/** What fills hang on. The parent's key: coin, account, `account|coin|Long or Short|first millisecond|last millisecond`. */
export type FillParent = 'coin' | 'trader' | 'trip';

/** Which of a parent's fills: a side as trade lists take it. */
export interface LinkedFillsFilter {
  side: string | null;
}

const OF: Record<FillParent, string> = {
  coin: 'f.coin = wanted.a',
  trader: 'f.trader = wanted.a',
  trip: `f.trader = wanted.a AND f.coin = wanted.b AND (part.opens = f.is_buy) = (wanted.c = 'Long')
    AND f.timestamp >= wanted.d::timestamptz AND f.timestamp <= wanted.e::timestamptz`,
};

const FIRST_KEY = 10;
const key = ORDER_TYPES.map((type, index) => `$${FIRST_KEY + index}::${type}`);

const page = (parent: FillParent): Statement => ({
  name: `perps_linked_fills_${parent}`,
  text: `SELECT wanted.parent, found.* FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[]) AS wanted(parent, a, b, c, d, e)
CROSS JOIN LATERAL (${SELECT}
  WHERE ${OF[parent]} AND f.timestamp < $7::timestamptz AND ${IS_PART}
    AND ($8::boolean IS NULL OR f.is_buy = $8) AND ($9::boolean IS NULL OR part.opens = $9)
    AND (${key[0]} IS NULL OR (f.timestamp <= ${key[0]} AND (${ORDER.join(', ')}) < (${key.join(', ')})))
  ORDER BY ${ORDER.map((column) => `${column} DESC`).join(', ')} LIMIT $${FIRST_KEY + ORDER.length}) AS found
ORDER BY wanted.parent, ${ORDER.map((column) => `found.${column === 'f.tid' ? 'trade_id::bigint' : column === 'f.oid' ? 'oid::bigint' : column.split('.')[1]} DESC`).join(', ')}`,
});

const PAGES: Record<FillParent, Statement> = { coin: page('coin'), trader: page('trader'), trip: page('trip') };

/** The parts of each parent's key, one array a part; milliseconds as instants. */
function keyParts(parents: readonly string[]): (string | null)[][] {
  const split = parents.map((parent) => parent.split('|'));
  const instant = (text: string | undefined): string | null => (text === undefined ? null : new Date(Number(text)).toISOString());
  return [0, 1, 2, 3, 4].map((place) => split.map((parts) => (place < 3 ? (parts[place] ?? null) : instant(parts[place]))));
}

/** Fills by what they hang on, newest first. */
export const linkedFills = (sql: Sql, of: FillParent): PagedList<FillRow, LinkedFillsFilter> => ({
  name: `perps fills of ${of}`,
  async list(parents, { filter, to, after, limit }: PageRequest<LinkedFillsFilter>) {
    const { is_buy, opens }: SideFilter = sideFilter(filter.side);
    const position = ORDER.map((_, index) => (after === null ? null : index === 0 ? new Date(Number(after[0])) : after[index]));
    return byParent(
      await sql.query<FillRow & { parent: string }>(PAGES[of], [parents, ...keyParts(parents), to, is_buy, opens, ...position, limit]),
    );
  },
  position: positionOf,
  forms: POSITION_FORMS,
});
