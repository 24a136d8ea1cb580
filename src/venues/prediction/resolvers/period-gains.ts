import type { GraphContext } from '../../venue';
import { less, total } from '../exact';
import type { WalletsScope } from '../queries/known-positions';
import { type PeriodPositions, type PeriodScope, getPeriodPositions } from '../queries/period-gains';
import { listComputed } from '../rollups/positions-as-of';

/** What a wallet's positions did in a window. */
export interface PeriodGains {
  /** Booked in the window, of open positions too. */
  realized_pnl: string;
  new_positions: number;
  closed_positions: number;
}

/** Gains of the scope's wallet from `from` to its instant, of positions in scope. */
export async function loadPeriodGains(context: GraphContext, wallet: WalletsScope, from: Date, scope: PeriodScope): Promise<PeriodGains> {
  const { gain, new_positions, closed_positions, ...older } = await getPeriodPositions(context.sql, wallet, from, scope);
  return { realized_pnl: less(gain, await bookedBefore(context, wallet, from, older)), new_positions, closed_positions };
}

/** What positions had booked before `from`. */
async function bookedBefore(
  { sql }: GraphContext,
  { wallets: [wallet] }: WalletsScope,
  from: Date,
  { older_markets, older_tokens }: Pick<PeriodPositions, 'older_markets' | 'older_tokens'>,
): Promise<string> {
  if (older_markets === null) return '0';
  const groups = older_markets.map((condition_id) => ({ wallet: wallet as string, condition_id }));
  const computed = await listComputed(sql, groups, { facts: from, resolutions: new Date(from.getTime() - 1) });
  const counted = new Set(older_tokens);
  return total(computed.filter(({ token_id }) => counted.has(token_id)).map(({ gain }) => gain));
}
