import type { Sql, Statement } from '../../../db/sql';
import type { Window } from '../../../lib/timeframe';
import { compareAmounts } from '../exact';
import { positionsSql } from '../rollups/positions-as-of';
import { holdsTold } from '../rollups/told-categories';
import type { EndedPosition } from '../scoring/evidence';
import { type Columns, byColumn, rowsOf } from './by-column';
import { listInHalves } from '../../../db/halves';
import type { WalletsScope } from './known-positions';

const CATEGORY = `COALESCE(market.category, 'Other')`;

/** A position as the wallet score judges it (evidenceOf), with its gain and cost as exact decimal texts. */
export interface EndedEvidence extends EndedPosition {
  wallet: string;
  gain: string;
  paid_usdc: string;
}

/** The same as it is sent. */
type EvidenceRow = Pick<EndedEvidence, 'wallet' | 'event' | 'e' | 'y' | 'gain' | 'paid_usdc' | 'closed_at'> & { is_voided: boolean };

const EVIDENCE: Columns<EvidenceRow> = {
  wallet: 'plain',
  event: 'plain',
  e: 'plain',
  y: 'plain',
  closed_at: 'instant',
  is_voided: 'plain',
  gain: 'exact',
  paid_usdc: 'exact',
};

const ENDED: Statement = {
  name: 'pm_ended_evidence',
  text: byColumn(
    EVIDENCE,
    `SELECT position.wallet, COALESCE(market.event_slug, position.condition_id) AS event, paid_usdc::float8 / paid_shares::float8 AS e,
  (received_usdc::float8 + payout_usdc::float8) / paid_shares::float8 AS y, position.closed_at, status = 'voided' AS is_voided, gain, paid_usdc
FROM (${positionsSql('$2', '$3', "wallet = ANY ($1) AND status <> 'open' AND paid_shares > 0 AND closed_at >= $4")}) AS position
LEFT JOIN pm_market AS market ON market.condition_id = position.condition_id WHERE $5::text IS NULL OR ${CATEGORY} = $5 ORDER BY position.closed_at, position.token_id, position.wallet`,
  ),
};

/** Wallets from which their positions are told side by side. */
const SEVERAL = 2;

/** Positions of wallets that ended since the window's begin, of one category or all, those of a wallet oldest first: sums of floats and draws of luck depend on the order. */
export const listEndedEvidence = (sql: Sql, scope: WalletsScope, window: Window, category: string | null): Promise<EndedEvidence[]> =>
  listInHalves(scope.wallets, (wallets) => listEnded(sql, { ...scope, wallets }, window, category), SEVERAL);

async function listEnded(
  sql: Sql,
  { wallets, now, overlay }: WalletsScope,
  { from }: Window,
  category: string | null,
): Promise<EndedEvidence[]> {
  const [told] = await sql.query(ENDED, [wallets, now, overlay, from, category]);
  return rowsOf(EVIDENCE, told).map(({ wallet, event, e, y, gain, paid_usdc, is_voided, closed_at }) => ({
    wallet,
    event,
    e,
    y,
    gain,
    paid_usdc,
    is_voided,
    cost_usdc: Number(paid_usdc),
    pnl_usdc: Number(gain),
    closed_at,
  }));
}

/** What a wallet ever bought and sold in a category, USDC as an exact decimal text, and its open positions there. */
export interface CategoryHolding {
  wallet: string;
  category: string;
  volume: string;
  open: number;
}

const HOLDING: Columns<CategoryHolding> = { wallet: 'plain', category: 'plain', volume: 'exact', open: 'plain' };

const HOLDINGS: Statement = {
  name: 'pm_wallet_categories',
  text: byColumn(
    HOLDING,
    `SELECT position.wallet, ${CATEGORY} AS category, sum(buy_usdc + sell_usdc) AS volume, count(*) FILTER (WHERE status = 'open' AND paid_shares > 0)::int AS open
FROM (${positionsSql('$2', '$3', 'wallet = ANY ($1)')}) AS position LEFT JOIN pm_market AS market ON market.condition_id = position.condition_id GROUP BY 1, 2`,
  ),
};

const TOLD: Statement = {
  name: 'pm_told_holdings',
  keyed: true,
  text: byColumn(
    HOLDING,
    `SELECT kept.wallet, COALESCE(NULLIF(kept.category, ''), 'Other') AS category, volume, open FROM pm_told_category AS kept WHERE kept.wallet = ANY ($1) AND ${holdsTold('kept.wallet', '$2')}`,
  ),
};

/** Categories of wallets, most volume first. */
export async function listCategories(sql: Sql, { wallets, now, overlay }: WalletsScope): Promise<CategoryHolding[]> {
  const [kept] = await sql.query(TOLD, [wallets, now]);
  const told = rowsOf(HOLDING, kept);
  const known = new Set(told.map(({ wallet }) => wallet));
  const rest = wallets.filter((wallet) => !known.has(wallet));
  const [further] = rest.length === 0 ? [] : await sql.query(HOLDINGS, [rest, now, overlay]);
  return [...told, ...rowsOf(HOLDING, further)].sort((a, b) => compareAmounts(b.volume, a.volume) || (a.category < b.category ? -1 : 1));
}
