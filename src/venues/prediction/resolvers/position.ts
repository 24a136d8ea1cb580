import type { GraphContext } from '../../venue';
import { makeLoaders } from '../loaders';
import { less, over, percent, total } from '../exact';
import type { JudgedPosition } from '../positions/figures';
import { fixed, plain } from '../positions/fixed';
import type { KnownPosition } from '../queries/known-positions';
import type { PositionRow } from '../rollups/positions-row';

/** Looks up what positions are about, for links between records: one query per kind of record. */
export async function loadKnown(rows: readonly PositionRow[], context: GraphContext): Promise<KnownPosition[]> {
  const loaders = context.loaders(makeLoaders);
  return Promise.all(
    rows.map(async (row) => {
      const [market, outcomes, prices] = await Promise.all([
        loaders.market.load(row.condition_id),
        loaders.outcomes.load(row.condition_id),
        loaders.prices.load(row.condition_id),
      ]);
      const outcome = outcomes.find(({ token_id }) => token_id === row.token_id);
      return {
        ...row,
        category: market?.category ?? 'Other',
        question: market?.question ?? null,
        end_date: market?.end_date ?? null,
        neg_risk: market?.neg_risk ?? null,
        outcome: outcome?.outcome ?? null,
        outcome_index: outcome?.outcome_index ?? null,
        price: prices.get(row.token_id) ?? null,
      };
    }),
  );
}

/** Looks up what positions are judged by. */
export async function loadJudged(rows: readonly PositionRow[], context: GraphContext): Promise<JudgedPosition[]> {
  const loaders = context.loaders(makeLoaders);
  return Promise.all(
    rows.map(async (row) => {
      const market = await loaders.market.load(row.condition_id);
      return { ...row, category: market?.category ?? 'Other', event: market?.event_slug ?? row.condition_id };
    }),
  );
}

type Valued = Pick<KnownPosition, 'status' | 'shares' | 'cost' | 'payout_usdc' | 'price'>;

/** Worth of the shares of a position that is open, or what those held at its end paid; null without a price. */
function valueOf({ status, shares, payout_usdc, price }: Valued): string | null {
  if (status !== 'open') return payout_usdc;
  return price === null ? null : plain((fixed(shares) * fixed(price)) / fixed('1'));
}

/** Worth less cost of a position that is open; null once it has ended, and without a price. */
export function unrealizedOf(position: Valued): string | null {
  const value = valueOf(position);
  return position.status !== 'open' || value === null ? null : less(value, position.cost);
}

/** A position in the words of PmPosition and PmPositionPnl. */
export function positionRecord(position: KnownPosition) {
  const { price, status, gain, paid_usdc, paid_shares, received_usdc, received_shares } = position;
  const unrealized = unrealizedOf(position);
  const average = over(paid_usdc, paid_shares);
  const payout = position.payout === null ? null : Number(position.payout);
  return {
    wallet: position.wallet,
    condition_id: position.condition_id,
    question: position.question,
    category: position.category,
    outcome: position.outcome,
    token_id: position.token_id,
    status,
    shares: position.shares,
    avg_buy_price: average,
    avg_sell_price: over(received_usdc, received_shares),
    cost_usdc: paid_usdc,
    proceeds_usdc: total([received_usdc, position.payout_usdc]),
    current_price: price,
    current_value_usdc: valueOf(position),
    unrealized_pnl_usdc: unrealized,
    realized_pnl_usdc: gain,
    roi_pct: status === 'open' && unrealized === null ? null : percent(total([gain, unrealized ?? '0']), paid_usdc),
    opened_at: position.opened_at,
    closed_at: position.closed_at,
    won: status === 'resolved' && (payout === 1 || payout === 0) ? payout === 1 : null,
    end_date: position.end_date,
    entry_edge: price === null || average === null ? null : Number(price) - average,
    neg_risk: position.neg_risk,
    pnl_components: {
      sell: position.gain_sell,
      resolution: position.gain_resolution,
      conversion: position.gain_conversion,
      merge: position.gain_merge,
    },
  };
}
