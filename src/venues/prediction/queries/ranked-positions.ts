import type { Sql, Statement } from '../../../db/sql';
import type { Window } from '../../../lib/timeframe';
import { positionsSql } from '../rollups/positions-as-of';
import { type Columns, byColumn, rowsOf } from './by-column';
import { KNOWN_COLUMNS, type KnownPosition, OWN_SENT, type WalletsScope, withWords } from './known-positions';
import { WITH_TOKEN, tokenPrice } from './token-price';

export type BreakdownSort = 'pnl' | 'abs_pnl' | 'roi' | 'cost' | 'closed_at';

/** Which positions, and how many of them. */
export interface RankedFilter {
  /** In which they ended. */
  window: Window;
  category: string | null;
  include_open: boolean;
  sort_by: BreakdownSort;
  limit: number;
}

/** A position with its place in the order asked, that after the last of the limit for all beyond; best and worst by gain among ended ones. */
export type RankedPosition = KnownPosition & { place: number; is_best: boolean; is_worst: boolean };

// By the return as it is sent: purchases at one price are even, whatever binary fractions make of them.
const KEYS: Record<BreakdownSort, string> = {
  pnl: 'gain DESC',
  abs_pnl: 'abs(gain) DESC',
  roi: 'round(100 * returned / NULLIF(paid_usdc, 0), 6) DESC NULLS LAST',
  cost: 'paid_usdc DESC',
  closed_at: 'closed_at DESC NULLS LAST',
};

/** Orders of ended positions of which an index tells the first: all that come first by the key are among the first of these. */
const FIRSTS: Partial<Record<BreakdownSort, readonly string[]>> = {
  pnl: ['gain DESC'],
  abs_pnl: ['gain DESC', 'gain'],
  closed_at: ['closed_at DESC'],
};

const OWN = KNOWN_COLUMNS.join(', ');

const CATEGORY = `($6::text IS NULL OR $6 = COALESCE((SELECT category FROM pm_market AS market WHERE market.condition_id = position.condition_id), 'Other'))`;

/** SQL of the positions in scope; of ended ones that are kept only where `ended` holds. */
const chosenWith = (ended: string): string =>
  `SELECT * FROM (${positionsSql(
    '$2',
    '$3',
    "wallet = ANY ($1) AND paid_shares > 0 AND (CASE status WHEN 'open' THEN $7 ELSE closed_at >= $4 AND closed_at <= $5 END)",
    ended,
  )}) AS position WHERE ${CATEGORY}`;

// Of one wallet: where several are looked through, no index tells their order.
const ENDED = `SELECT ${OWN} FROM pm_position AS position WHERE wallet = ($1::text[])[1] AND status <> 'open' AND paid_shares > 0 AND last_at < $2::timestamptz
  AND closed_at >= $4 AND closed_at <= $5 AND ${CATEGORY}`;

/** The position that comes first by `order` among ended ones: of those kept it is read from an index, `other` tells the rest. */
const endOf = (order: string): string =>
  `(SELECT * FROM ((${ENDED} ORDER BY ${order} LIMIT 1) UNION ALL SELECT ${OWN} FROM other WHERE status <> 'open') AS ended ORDER BY ${order} LIMIT 1)`;

// What a position brought so far: booked, and while it is open what it would bring at its price. Prices are looked for where the order needs them.
const RETURNED = `SELECT position.*, CASE status WHEN 'open' THEN gain + shares * ${tokenPrice('$2::timestamptz')} - cost ELSE gain END AS returned
FROM (${chosenWith('true')}) AS position ${WITH_TOKEN}`;

function candidatesOf(sort: BreakdownSort): string {
  if (sort === 'roi') return RETURNED;
  const firsts = FIRSTS[sort]?.map((order) => `(${ENDED} ORDER BY ${order}, condition_id, token_id LIMIT $8::int)`);
  return firsts === undefined ? chosenWith('true') : `SELECT ${OWN} FROM other UNION ALL (${firsts.join(' UNION ')})`;
}

// Only the first are put in order.
const ranked = (sort: BreakdownSort): string => `WITH other AS MATERIALIZED (
  ${chosenWith("$7 AND status = 'open'")}
), best AS MATERIALIZED ${endOf('gain DESC, condition_id, token_id')}, worst AS MATERIALIZED ${endOf('gain, condition_id DESC, token_id DESC')}, shown AS MATERIALIZED (
  SELECT ${OWN}, row_number() OVER (ORDER BY ${KEYS[sort]}, condition_id, token_id)::int AS place
  FROM (SELECT * FROM (${candidatesOf(sort)}) AS candidate ORDER BY ${KEYS[sort]}, condition_id, token_id LIMIT $8::int) AS first
), further AS (
  SELECT *, $8::int + 1 AS place FROM (SELECT * FROM best UNION SELECT * FROM worst) AS ends WHERE (condition_id, token_id) NOT IN (SELECT condition_id, token_id FROM shown)
)
SELECT *, (condition_id, token_id) IN (SELECT condition_id, token_id FROM best) AS is_best, (condition_id, token_id) IN (SELECT condition_id, token_id FROM worst) AS is_worst
FROM (SELECT * FROM shown UNION ALL SELECT * FROM further) AS ranked ORDER BY place`;

/** The same as it is found: its market is looked up after. */
type FoundPosition = Pick<RankedPosition, keyof typeof OWN_SENT | 'place' | 'is_best' | 'is_worst'>;

const FOUND: Columns<FoundPosition> = { ...OWN_SENT, place: 'plain', is_best: 'plain', is_worst: 'plain' };

// Planned for its window: in a short one what ended then is looked through, in a long one what gained most.
const statement = (sort: BreakdownSort): Statement => ({
  name: `pm_ranked_positions_${sort}`,
  text: byColumn(FOUND, ranked(sort)),
});

/** The first of one wallet's positions, and those that gained and lost most among all that ended, in the order asked. */
export async function listRankedPositions(
  sql: Sql,
  { wallets, now, overlay }: WalletsScope,
  filter: RankedFilter,
): Promise<RankedPosition[]> {
  const { window, category, include_open, sort_by, limit } = filter;
  const values = [wallets, now, overlay, window.from, window.to, category, include_open, limit];
  const [told] = await sql.query(statement(sort_by), values);
  return withWords(sql, rowsOf(FOUND, told), now);
}
