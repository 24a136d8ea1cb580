import type { Sql, Statement } from '../../../db/sql';
import type { Window } from '../../../lib/timeframe';
import { positionsSql } from '../rollups/positions-as-of';
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
  /** In no order; null when not asked for. */
  sides: SharedSide[] | null;
}

const ALIVE = positionsSql(
  '$2',
  '$3',
  'wallet = ANY ($1) AND paid_shares > 0 AND opened_at < $5 AND (closed_at IS NULL OR closed_at >= $4)',
);

// Texts are long: what is grouped and joined on the way are numbers.
const SIDES = `WITH alive AS MATERIALIZED (
  SELECT array_position($1::text[], wallet) AS w, hashtextextended(position.condition_id, 0) AS market, hashtextextended(position.token_id, 0) AS token, position.condition_id, position.token_id,
    outcome, outcome_index, status, shares, redeemed_shares, cost, gain, paid_usdc::float8 AS paid, paid_shares::float8 AS paid_shares, opened_at
  FROM (${ALIVE}) AS position LEFT JOIN pm_outcome AS token ON token.condition_id = position.condition_id AND token.token_id = position.token_id
), placed AS (
  SELECT *, row_number() OVER (PARTITION BY market, w ORDER BY paid DESC, token_id) = 1 AS is_top FROM alive
), side AS MATERIALIZED (
  SELECT market, w, count(*) OVER (PARTITION BY market) > 1 AS is_shared, max(token) FILTER (WHERE is_top) AS token, max(condition_id) FILTER (WHERE is_top) AS condition_id,
    max(COALESCE(outcome, token_id)) FILTER (WHERE is_top) AS outcome, max(shares - redeemed_shares) FILTER (WHERE is_top) AS net_shares, max(paid / paid_shares) FILTER (WHERE is_top) AS avg_buy_price,
    sum(gain) AS gain, sum(paid) AS paid, sum(CASE WHEN COALESCE(outcome_index, 0) = 0 THEN paid ELSE -paid END) AS net
  FROM placed GROUP BY market, w
)`;

const REACHES = `SELECT ($1::text[])[w] AS wallet, count(*) AS markets, sqrt(sum(net ^ 2)) AS norm FROM side GROUP BY w`;

const PAIRS = `SELECT ($1::text[])[a] AS a, ($1::text[])[b] AS b, shared, agreeing, product, median_lag FROM (
  SELECT a.w AS a, b.w AS b, count(*) AS shared, count(*) FILTER (WHERE a.token = b.token) AS agreeing, sum(a.net * b.net) AS product
  FROM side AS a JOIN side AS b ON b.market = a.market AND b.w > a.w GROUP BY a.w, b.w
) AS two LEFT JOIN (
  SELECT a.w AS a, b.w AS b, percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM b.opened_at - a.opened_at)) AS median_lag
  FROM alive AS a JOIN alive AS b ON b.token = a.token AND b.w > a.w GROUP BY a.w, b.w
) AS lag USING (a, b)`;

const SHARED = `SELECT side.w AS place, side.condition_id, question, outcome, net_shares, avg_buy_price, gain + COALESCE(unrealized, 0) AS pnl, paid
FROM side LEFT JOIN pm_market AS market ON market.condition_id = side.condition_id LEFT JOIN (
  SELECT position.market, position.w, sum(${unrealizedSql('$2::timestamptz')}) AS unrealized
  FROM alive AS position LEFT JOIN pm_market AS market ON market.condition_id = position.condition_id
  LEFT JOIN pm_outcome AS token ON token.condition_id = position.condition_id AND token.token_id = position.token_id
  WHERE position.status = 'open' AND position.market IN (SELECT market FROM side WHERE is_shared) GROUP BY position.market, position.w
) AS held ON held.market = side.market AND held.w = side.w WHERE is_shared`;

const SHARED_COLUMNS = ['place', 'condition_id', 'question', 'outcome', 'net_shares', 'avg_buy_price', 'pnl', 'paid'] as const;

/** What is told of the sides by column, each a list: as rows they are many, and dear to read. */
type SharedColumns = { place: number[] | null } & { [Name in Exclude<keyof SharedSide, 'wallet' | 'place'>]: SharedSide[Name][] };

const BOTH = `(SELECT json_agg(reach) FROM (${REACHES}) AS reach) AS reaches, (SELECT json_agg(pair) FROM (${PAIRS}) AS pair) AS pairs`;

const OVERLAP: Statement = { name: 'pm_wallets_overlap', text: `${SIDES} SELECT ${BOTH}` };
const OVERLAP_AND_SIDES: Statement = {
  name: 'pm_wallets_overlap_sides',
  text: `${SIDES} SELECT ${BOTH}, shared.* FROM (SELECT ${SHARED_COLUMNS.map((name) => `json_agg(${name}) AS ${name}`).join(', ')} FROM (${SHARED}) AS side) AS shared`,
};

/** Positions of the wallets open at some time of the window, and on request the sides of markets of two wallets at least. */
export async function listOverlap(
  sql: Sql,
  { wallets, now, overlay }: WalletsScope,
  { from, to }: Window,
  with_sides: boolean,
): Promise<WalletOverlap> {
  type Row = { reaches: WalletReach[] | null; pairs: WalletPair[] | null } & SharedColumns;
  const [row] = await sql.query<Row>(with_sides ? OVERLAP_AND_SIDES : OVERLAP, [wallets, now, overlay, from, to]);
  const { reaches, pairs, ...columns } = row as Row;
  return { reaches: reaches ?? [], pairs: pairs ?? [], sides: with_sides ? sidesOf(wallets, columns) : null };
}

const sidesOf = (wallets: readonly string[], columns: SharedColumns): SharedSide[] =>
  (columns.place ?? []).map((place, index) => ({
    wallet: wallets[place - 1] as string,
    place,
    condition_id: columns.condition_id[index] as string,
    question: columns.question[index] as string | null,
    outcome: columns.outcome[index] as string,
    net_shares: columns.net_shares[index] as number,
    avg_buy_price: columns.avg_buy_price[index] as number,
    pnl: columns.pnl[index] as number,
    paid: columns.paid[index] as number,
  }));
