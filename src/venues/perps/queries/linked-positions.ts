import { CURSOR_FORMS } from '../../../lib/cursor';
import type { Sql, Statement } from '../../../db/sql';
import { type PagedList, byParent } from '../../../lib/connection';
import { type PositionRow, heldAt, positionColumns } from './held';

// $1: instant; $2: coins; $3, $4: size and account of the row before the page; $5: rows of each coin.
const HOLDERS: Statement = {
  name: 'perps_linked_holders',
  text: `
WITH ${heldAt('$1::timestamptz', 'p.coin = ANY ($2::text[])')},
ranked AS (
  SELECT held.*, row_number() OVER (PARTITION BY coin ORDER BY size DESC, trader DESC) AS place FROM held
  WHERE $3::numeric IS NULL OR (size, trader) < ($3::numeric, $4::text)
)
SELECT h.coin AS parent, ${positionColumns('$1::timestamptz')} FROM ranked h WHERE h.place <= $5 ORDER BY h.coin, h.place`,
};

/** Positions in a coin, the largest first. */
export const coinPositions = (sql: Sql): PagedList<PositionRow, null> => ({
  name: 'perps positions in coin',
  list: async (parents, { to, after, limit }) =>
    byParent(await sql.query<PositionRow & { parent: string }>(HOLDERS, [to, parents, after?.[0], after?.[1], limit])),
  position: ({ size, trader }) => [size, trader],
  forms: [CURSOR_FORMS.number, CURSOR_FORMS.evm_address],
});
