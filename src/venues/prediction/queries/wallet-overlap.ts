import type { Sql, Statement } from '../../../db/sql';
import type { Window } from '../../../lib/timeframe';
import { positionsSql } from '../rollups/positions-as-of';
import { type Columns, byColumn, rowsOf } from './by-column';
import { type WalletsScope, unrealizedSql } from './known-positions';

/** On how many markets a wallet had positions in a window, and how long the vector of what it put into each is (a market's first outcome counts up, others down), USDC. */
interface WalletReach {
  wallet: string;
  markets: number;
  norm: number;
}

/** Two wallets, in the order asked, that had positions on one market at least in a window. */
export interface WalletPair {
  a: string;
  b: string;
  /** Such markets, and those of them in which both put most into one outcome. */
  shared: number;
  agreeing: number;
  /** Of their vectors. */
  product: number;
  /** Seconds from a's opening of a position to b's, of the tokens that both held. */
  median_lag: number | null;
}

/** A wallet's side of a market on which another has positions too: the outcome it put most into. */
export interface SharedSide {
  wallet: string;
  /** Among the wallets asked, from 1. */
  place: number;
  condition_id: string;
  question: string | null;
  /** Its token where it has no name. */
  outcome: string;
  net_shares: number;
  avg_buy_price: number;
  /** Of all outcomes: gained by now, realized or not, and USDC put in. */
  pnl: number;
  paid: number;
}

export interface WalletOverlap {
  reaches: WalletReach[];
  pairs: WalletPair[];
  /** On which two at least had positions; 0 when not asked for. */
  markets: number;
  /** In no order; null when not asked for. */
  sides: SharedSide[] | null;
}

const ALIVE = positionsSql(
  '$2',
  '$3',
  'wallet = ANY ($1) AND paid_shares > 0 AND opened_at < $5 AND (closed_at IS NULL OR closed_at >= $4)',
);

/** Wallets that are compared at once at most: what is told of a market or token stands in lists, by place of the wallet. */
const MOST = 5;
const places = Array.from({ length: MOST }, (_, index) => index + 1);
const byPlace = (value: (place: number) => string): string => `ARRAY[${places.map(value).join(', ')}]`;

// Texts are long: what is grouped on the way are numbers. Alone on its market a position has a length, whichever its side.
const SIDES = `WITH alive AS MATERIALIZED (
  SELECT array_position($1::text[], wallet) AS w, hashtextextended(position.condition_id, 0) AS market, hashtextextended(position.token_id, 0) AS token, position.condition_id, position.token_id,
    status, shares, redeemed_shares, cost, gain, paid_usdc::float8 AS paid, paid_shares::float8 AS paid_shares, opened_at
  FROM (${ALIVE}) AS position
), placed AS (
  SELECT *, row_number() OVER (PARTITION BY market, w ORDER BY paid DESC, token_id) = 1 AS is_top,
    first_value(w) OVER own <> last_value(w) OVER own AS is_shared, count(*) OVER own = 1 AS is_alone FROM alive
  WINDOW own AS (PARTITION BY market ORDER BY w ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
), side AS MATERIALIZED (
  SELECT market, w, bool_and(is_shared) AS is_shared, max(token) FILTER (WHERE is_top) AS token, max(placed.condition_id) FILTER (WHERE is_top) AS condition_id, max(placed.token_id) FILTER (WHERE is_top) AS token_id,
    max(outcome) FILTER (WHERE is_top) AS outcome, max(shares - redeemed_shares) FILTER (WHERE is_top) AS net_shares, max(paid / paid_shares) FILTER (WHERE is_top) AS avg_buy_price, sum(gain) AS gain, sum(paid) AS paid,
    sum(CASE WHEN is_alone OR COALESCE(outcome_index, 0) = 0 THEN paid ELSE -paid END) AS net
  FROM placed LEFT JOIN pm_outcome AS named ON named.condition_id = placed.condition_id AND named.token_id = CASE WHEN NOT is_alone THEN placed.token_id END GROUP BY market, w
), shared AS MATERIALIZED (
  SELECT market, count(*) AS holders, sum(paid) AS paid, max(condition_id) AS condition_id,
    ${byPlace((place) => `max(token) FILTER (WHERE w = ${place})`)} AS tokens, ${byPlace((place) => `max(net) FILTER (WHERE w = ${place})`)} AS nets
  FROM side WHERE is_shared GROUP BY market
)`;

const REACHES = `SELECT ($1::text[])[w] AS wallet, count(*) AS markets, sqrt(sum(net ^ 2)) AS norm FROM side GROUP BY w`;

const TWO = `(SELECT a, b FROM generate_series(1, ${MOST}) AS a, generate_series(1, ${MOST}) AS b WHERE a < b) AS two`;

const PAIRS = `SELECT ($1::text[])[a] AS a, ($1::text[])[b] AS b, shared, agreeing, product, median_lag FROM (
  SELECT a, b, count(*) AS shared, count(*) FILTER (WHERE tokens[a] = tokens[b]) AS agreeing, sum(nets[a] * nets[b]) AS product
  FROM shared, ${TWO} WHERE tokens[a] IS NOT NULL AND tokens[b] IS NOT NULL GROUP BY a, b
) AS met LEFT JOIN (
  SELECT a, b, percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM opened[b] - opened[a])) AS median_lag FROM (
    SELECT ${byPlace((place) => `max(opened_at) FILTER (WHERE w = ${place})`)} AS opened FROM alive GROUP BY token HAVING count(*) > 1
  ) AS held, ${TWO} WHERE opened[a] IS NOT NULL AND opened[b] IS NOT NULL GROUP BY a, b
) AS lag USING (a, b)`;

/** What is told of a side, its wallet by place alone. */
type SentSide = Omit<SharedSide, 'wallet'>;

const SIDE: Columns<SentSide> = {
  place: 'plain',
  condition_id: 'plain',
  question: 'plain',
  outcome: 'plain',
  net_shares: 'plain',
  avg_buy_price: 'plain',
  pnl: 'plain',
  paid: 'plain',
};

// What texts and prices tell is looked up for the markets shown alone.
const FIRST = `, first AS MATERIALIZED (
  SELECT market FROM shared ORDER BY holders DESC, paid DESC, condition_id LIMIT $6
), worth AS MATERIALIZED (
  SELECT position.market, w, sum(${unrealizedSql('$2::timestamptz')}) AS unrealized
  FROM first JOIN alive AS position ON position.market = first.market AND status = 'open' LEFT JOIN pm_market AS market ON market.condition_id = position.condition_id
  LEFT JOIN pm_outcome AS token ON token.condition_id = position.condition_id AND token.token_id = position.token_id GROUP BY position.market, w
)`;
const SHOWN = `SELECT side.w AS place, side.condition_id, (SELECT question FROM pm_market AS market WHERE market.condition_id = side.condition_id) AS question,
  COALESCE(side.outcome, side.token_id) AS outcome,
  net_shares, avg_buy_price, gain + COALESCE(unrealized, 0) AS pnl, paid
FROM first JOIN side ON side.market = first.market LEFT JOIN worth ON worth.market = side.market AND worth.w = side.w`;

const BOTH = `(SELECT json_agg(reach) FROM (${REACHES}) AS reach) AS reaches, (SELECT json_agg(pair) FROM (${PAIRS}) AS pair) AS pairs`;

const OVERLAP: Statement = { name: 'pm_wallets_overlap', text: `${SIDES} SELECT ${BOTH}` };
const OVERLAP_AND_SIDES: Statement = {
  name: 'pm_wallets_overlap_sides',
  text: `${SIDES}${FIRST} SELECT ${BOTH}, (SELECT count(*) FROM shared)::int AS markets, shown.* FROM (${byColumn(SIDE, SHOWN)}) AS shown`,
};

/**
 * How the wallets' positions open at some time of the window overlap; with `most` their sides of so many markets on which two had some, those of most wallets
 * first, then of most USDC.
 */
export async function listOverlap(
  sql: Sql,
  { wallets, now, overlay }: WalletsScope,
  { from, to }: Window,
  most: number | null,
): Promise<WalletOverlap> {
  type Row = { reaches: WalletReach[] | null; pairs: WalletPair[] | null; markets: number } & Record<string, unknown>;
  const scope = [wallets, now, overlay, from, to];
  const [row] = await (most === null ? sql.query<Row>(OVERLAP, scope) : sql.query<Row>(OVERLAP_AND_SIDES, [...scope, most]));
  const sides = most === null ? null : rowsOf(SIDE, row).map((side) => ({ ...side, wallet: wallets[side.place - 1] as string }));
  return { reaches: row?.reaches ?? [], pairs: row?.pairs ?? [], markets: row?.markets ?? 0, sides };
}
