import type { Sql, Statement } from '../../../db/sql';
import type { Window } from '../../../lib/timeframe';
import { marketNumber } from '../rollups/market-number';
import { positionsSql } from '../rollups/positions-as-of';
import { holdsTold } from '../rollups/told-categories';
import { sidesSql } from '../rollups/told-sides';
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

/** SQL of the positions of `wallets` open at some time of the window for which `condition` holds. */
const aliveOf = (wallets: string, condition = 'true'): string =>
  positionsSql(
    '$2',
    '$3',
    `wallet = ANY (${wallets}) AND paid_shares > 0 AND opened_at < $5 AND (closed_at IS NULL OR closed_at >= $4) AND ${condition}`,
  );

// Texts are long: what is grouped on the way are numbers. What is told of a wallet's whole life is all of it where nothing ended before the window.
const SIDES = `WITH told AS MATERIALIZED (
  SELECT kept.* FROM pm_told_sides AS kept WHERE wallet = ANY ($1) AND ${holdsTold('kept.wallet', '$2')} AND (first_ended_at IS NULL OR first_ended_at >= $4)
), alive AS MATERIALIZED (
  SELECT array_position($1::text[], wallet) AS w, own.* FROM told, unnest(markets, tokens, net_usdc, is_top, told.opened_at) AS own(market, token, net, is_top, opened_at)
  UNION ALL SELECT w, market, token, net, is_top, opened_at
  FROM (${sidesSql(aliveOf('ARRAY(SELECT wanted.wallet FROM unnest($1::text[]) AS wanted(wallet) WHERE wanted.wallet NOT IN (SELECT told.wallet FROM told))'), 'array_position($1::text[], wallet)')}) AS rest
), side AS MATERIALIZED (
  SELECT market, w, max(token) FILTER (WHERE is_top) AS token, sum(abs(net)) AS paid, sum(net) AS net FROM alive GROUP BY market, w
)`;

const REACHES = `SELECT ($1::text[])[w] AS wallet, count(*) AS markets, sqrt(sum(net ^ 2)) AS norm FROM side GROUP BY w`;

const PAIRS = `SELECT ($1::text[])[a] AS a, ($1::text[])[b] AS b, shared, agreeing, product, median_lag FROM (
  SELECT a.w AS a, b.w AS b, count(*) AS shared, count(*) FILTER (WHERE a.token = b.token) AS agreeing, sum(a.net * b.net) AS product
  FROM side AS a JOIN side AS b ON b.market = a.market AND b.w > a.w GROUP BY a.w, b.w
) AS met LEFT JOIN (
  SELECT a.w AS a, b.w AS b, percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM b.opened_at - a.opened_at)) AS median_lag
  FROM alive AS a JOIN alive AS b ON b.token = a.token AND b.w > a.w GROUP BY a.w, b.w
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
const FIRST = `, shared AS MATERIALIZED (
  SELECT market, count(*) AS holders, sum(paid) AS paid FROM side GROUP BY market HAVING count(*) > 1
), first AS MATERIALIZED (
  SELECT condition_id FROM (SELECT * FROM shared ORDER BY holders DESC, paid DESC FETCH FIRST $6 ROWS WITH TIES) AS most
  JOIN pm_market AS market ON ${marketNumber('market.condition_id')} = most.market ORDER BY holders DESC, paid DESC, condition_id LIMIT $6
), known AS MATERIALIZED (
  SELECT array_position($1::text[], position.wallet) AS w, position.condition_id, position.token_id, question, outcome, shares - redeemed_shares AS net_shares, gain,
    paid_usdc::float8 AS paid, paid_shares::float8 AS paid_shares, CASE WHEN status = 'open' THEN ${unrealizedSql('$2::timestamptz')} END AS unrealized
  FROM (${aliveOf('$1', 'condition_id = ANY (ARRAY(SELECT first.condition_id FROM first))')}) AS position LEFT JOIN pm_market AS market ON market.condition_id = position.condition_id
  LEFT JOIN pm_outcome AS token ON token.condition_id = position.condition_id AND token.token_id = position.token_id
)`;
const SHOWN = `SELECT DISTINCT ON (condition_id, w) w AS place, condition_id, question, COALESCE(outcome, token_id) AS outcome, net_shares, paid / paid_shares AS avg_buy_price,
  sum(gain) OVER own + COALESCE(sum(unrealized) OVER own, 0) AS pnl, sum(paid) OVER own AS paid
FROM known WINDOW own AS (PARTITION BY condition_id, w ORDER BY paid DESC, token_id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) ORDER BY condition_id, w, known.paid DESC, token_id`;

const BOTH = `(SELECT json_agg(reach) FROM (${REACHES}) AS reach) AS reaches, (SELECT json_agg(pair) FROM (${PAIRS}) AS pair) AS pairs`;

const OVERLAP: Statement = { name: 'pm_wallets_overlap', keyed: true, text: `${SIDES} SELECT ${BOTH}` };
const OVERLAP_AND_SIDES: Statement = {
  name: 'pm_wallets_overlap_sides',
  keyed: true,
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
