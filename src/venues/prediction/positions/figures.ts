import { clamp, mean, standardDeviation, wilsonLowerBound } from '../../../lib/statistics';
import type { PositionRow } from '../rollups/positions-row';
import type { EndedPosition } from '../scoring/evidence';
import { LEAST_GAIN, S_PM } from '../scoring/parameters';
import { fixed } from './fixed';
import { total } from '../exact';

/** A position with what it is judged by besides itself. */
export interface JudgedPosition extends PositionRow {
  category: string;
  /** The event of its market, or the market where no event is known. */
  event: string;
}

/** Bought at all, as far as was seen. */
export const isPosition = ({ paid_shares }: Pick<PositionRow, 'paid_shares'>): boolean => Number(paid_shares) > 0;

/** Sold out, resolved or refunded. */
export const hasEnded = ({ status }: PositionRow): boolean => status !== 'open';

/** What the wallet score looks at; y is what a share brought on average: its payout, its sale, or both by their shares. */
export function evidenceOf(position: JudgedPosition): EndedPosition {
  const { event, paid_shares, paid_usdc, received_usdc, payout_usdc, gain, status, closed_at } = position;
  return {
    event,
    e: Number(paid_usdc) / Number(paid_shares),
    y: (Number(received_usdc) + Number(payout_usdc)) / Number(paid_shares),
    cost_usdc: Number(paid_usdc),
    pnl_usdc: Number(gain),
    closed_at: closed_at as Date,
    is_voided: status === 'voided',
  };
}

const LEAST = fixed(LEAST_GAIN);

/** Whether a position has won. */
export const hasWon = ({ gain }: Pick<PositionRow, 'gain'>): boolean => fixed(gain) >= LEAST;

/** Least number of positions of which a Sharpe ratio is told. */
export const SHARPE_MIN = 10;
/** A deviation of returns that tells them apart: amounts are known to a millionth of a dollar, so that equal returns may differ by so much. */
export const SHARPE_LEAST_SPREAD = 1e-6;

type Returned = Pick<PositionRow, 'gain' | 'paid_usdc'>;

/** Sharpe ratio: mean over deviation of returns cut to −1..3, of ended positions; null below ten, and when returns do not vary. */
export function sharpeOf(positions: readonly Returned[]): number | null {
  const returns = positions.filter(({ paid_usdc }) => Number(paid_usdc) > 0).map(returnOf);
  const spread = standardDeviation(returns);
  return returns.length < SHARPE_MIN || spread === null || spread <= SHARPE_LEAST_SPREAD ? null : (mean(returns) as number) / spread;
}

const returnOf = ({ gain, paid_usdc }: Returned): number => clamp(Number(gain) / Number(paid_usdc), S_PM.return_min, S_PM.return_max);

/** Share of ended positions that won, refunded ones left out, and its lower bound; null of none. */
export function winRatesOf(ended: readonly PositionRow[]): { win_rate: number | null; win_rate_lb: number | null } {
  const counted = ended.filter(({ status }) => status !== 'voided');
  const wins = counted.filter(hasWon).length;
  return { win_rate: counted.length === 0 ? null : wins / counted.length, win_rate_lb: wilsonLowerBound(wins, counted.length) };
}

/** USDC bought and sold. */
export const volumeOf = (positions: readonly PositionRow[]): string =>
  total(positions.flatMap(({ buy_usdc, sell_usdc }) => [buy_usdc, sell_usdc]));
