import { CURSOR_FORMS, timedPosition } from '../../../lib/cursor';
import type { Sql, Statement } from '../../../db/sql';
import { type PageRequest, type PagedList, byParent } from '../../../lib/connection';
import type { ValuedPositionRow } from './position-history';
import { positionsAsOf, valuedPositions } from './positions';

/** A position with its results. */
export type LinkedPositionRow = ValuedPositionRow;

/** Which of a parent's positions; null: all. */
export interface LinkedPositionsFilter {
  is_open: boolean | null;
}

const COUNTED = `(s.deposits > 0 OR s.closed_at IS NOT NULL)`;

const page = (by: 'pool_address' | 'owner'): Statement => ({
  name: `lp_linked_positions_${by}`,
  text: `SELECT wanted.parent, found.* FROM unnest($1::text[]) AS wanted(parent) CROSS JOIN LATERAL (
  ${valuedPositions(`(SELECT * FROM (${by === 'owner' ? positionsAsOf('true', '$2::timestamptz', (column) => `${column} = wanted.parent`) : positionsAsOf('p.pool_address = wanted.parent', '$2::timestamptz')}) s
    WHERE s.${by} = wanted.parent AND ${COUNTED} AND ($3::boolean IS NULL OR (s.closed_at IS NULL) = $3)
      AND ($4::timestamptz IS NULL OR (s.first_at, s.pool_address, s.position_address) < ($4, $5::text, $6::text))
    ORDER BY s.first_at DESC, s.pool_address DESC, s.position_address DESC LIMIT $7)`)}) AS found
ORDER BY wanted.parent, found.first_at DESC, found.pool_address DESC, found.position_address DESC`,
});

const PAGES = { pool_address: page('pool_address'), owner: page('owner') };

/** Positions of a pool or a provider, the last begun first. */
export const linkedPositions = (sql: Sql, by: 'pool_address' | 'owner'): PagedList<LinkedPositionRow, LinkedPositionsFilter> => ({
  name: `lp positions by ${by}`,
  async list(parents, { filter, to, after, limit }: PageRequest<LinkedPositionsFilter>) {
    const position = timedPosition(after, 3);
    return byParent(await sql.query<LinkedPositionRow & { parent: string }>(PAGES[by], [parents, to, filter.is_open, ...position, limit]));
  },
  position: ({ first_at, pool_address, position_address }) => [first_at.getTime(), pool_address, position_address],
  forms: [CURSOR_FORMS.instant, CURSOR_FORMS.base58, CURSOR_FORMS.base58],
});

const BY_ADDRESS: Statement = {
  name: 'lp_linked_positions_by_address',
  text: valuedPositions(`(${positionsAsOf('p.position_address = ANY($2::text[])', '$1::timestamptz')})`),
};

/** Positions by their addresses, as of `now`. */
export async function listPositionsByAddress(sql: Sql, addresses: readonly string[], now: Date): Promise<Map<string, LinkedPositionRow>> {
  const rows = await sql.query<LinkedPositionRow>(BY_ADDRESS, [now, addresses]);
  return new Map(rows.map((row) => [row.position_address, row]));
}
