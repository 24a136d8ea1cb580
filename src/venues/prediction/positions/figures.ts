import { clamp, mean, standardDeviation, wilsonLowerBound } from '../../../lib/statistics';
import type { PositionRow } from '../rollups/positions-row';
import type { EndedPosition } from '../scoring/evidence';
import { S_PM } from '../scoring/parameters';
import { fixed, plain } from './fixed';
import { over, percent, total } from '../exact';

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

/** Least gain that is told as one, and the least loss below it: less is told as 0, and is neither won nor lost. */
export const LEAST_GAIN = '0.0000005';
const LEAST = fixed(LEAST_GAIN);

/** Whether a position has won. */
export const hasWon = ({ gain }: Pick<PositionRow, 'gain'>): boolean => fixed(gain) >= LEAST;

/** Figures of a set of ended positions. */
export interface EndedFigures {
  pnl: string;
  cost: string;
  /** Without refunded ones. */
  counted: number;
  wins: number;
  win_rate: number | null;
  win_rate_lb: number | null;
  roi_pct: number | null;
  profit_factor: number | null;
  sharpe: number | null;
  max_drawdown: string;
  brier: number | null;
  avg_entry_price: number | null;
}

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

/** Figures of ended positions: return, Sharpe ratio, win rate, profit factor, drawdown, Brier score. */
export function figuresOf(ended: readonly PositionRow[]): EndedFigures {
  const counted = ended.filter(({ status }) => status !== 'voided');
  const wins = counted.filter(hasWon).length;
  const pnl = total(ended.map(({ gain }) => gain));
  const cost = total(ended.map(({ paid_usdc }) => paid_usdc));
  const losses = ended.map(({ gain }) => fixed(gain)).filter((gain) => gain <= -LEAST);
  const gains = ended.map(({ gain }) => fixed(gain)).filter((gain) => gain >= LEAST);
  const lost = plain(-losses.reduce((a, b) => a + b, 0n));
  return {
    pnl,
    cost,
    counted: counted.length,
    wins,
    win_rate: counted.length === 0 ? null : wins / counted.length,
    win_rate_lb: wilsonLowerBound(wins, counted.length),
    roi_pct: percent(pnl, cost),
    profit_factor: over(plain(gains.reduce((a, b) => a + b, 0n)), lost),
    sharpe: sharpeOf(ended),
    max_drawdown: drawdownOf(ended),
    brier: mean(counted.filter(({ status }) => status === 'resolved').map((row) => (entryOf(row) - Number(row.payout)) ** 2)),
    avg_entry_price: mean(counted.map(entryOf)),
  };
}

const entryOf = ({ paid_usdc, paid_shares }: PositionRow): number => Number(paid_usdc) / Number(paid_shares);

/** Largest fall of the running gain from its peak, which begins at 0, in the order in which positions ended. */
function drawdownOf(ended: readonly PositionRow[]): string {
  const ordered = [...ended].sort(
    (a, b) => (a.closed_at as Date).getTime() - (b.closed_at as Date).getTime() || (a.token_id < b.token_id ? -1 : 1),
  );
  let [running, peak, largest] = [0n, 0n, 0n];
  for (const { gain } of ordered) {
    running += fixed(gain);
    if (running > peak) peak = running;
    if (peak - running > largest) largest = peak - running;
  }
  return plain(largest);
}

/** USDC bought and sold. */
export const volumeOf = (positions: readonly PositionRow[]): string =>
  total(positions.flatMap(({ buy_usdc, sell_usdc }) => [buy_usdc, sell_usdc]));
