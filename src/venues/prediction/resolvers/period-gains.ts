import type { Window } from '../../../lib/timeframe';
import type { GraphContext } from '../../venue';
import { hasEnded, isPosition } from '../positions/figures';
import { less, total } from '../exact';
import type { PositionRow } from '../rollups/positions-row';
import { listComputed, listPositionsAsOf } from '../rollups/positions-as-of';
import { loadJudged } from './position';

/** What a wallet's positions did in a window. */
export interface PeriodGains {
  /** Booked in the window, of open positions too. */
  realized_pnl: string;
  new_positions: number;
  closed_positions: number;
}

const within = (time: Date | null, { from, to }: Window): boolean => time !== null && time >= from && time <= to;

/** Gains of one wallet in the window, on the markets in scope. */
export async function loadPeriodGains(
  context: GraphContext,
  wallet: string,
  window: Window,
  scope: { condition_id: string | null; category: string | null },
): Promise<PeriodGains> {
  const rows = await listPositionsAsOf(context.sql, { wallets: [wallet] }, window.to);
  const chosen = rows.filter(
    (row) => isPosition(row) && row.last_at >= window.from && (scope.condition_id === null || row.condition_id === scope.condition_id),
  );
  const judged =
    scope.category === null ? chosen : (await loadJudged(chosen, context)).filter(({ category }) => category === scope.category);
  return {
    realized_pnl: await bookedSince(context, judged, window.from),
    new_positions: judged.filter(({ opened_at }) => within(opened_at, window)).length,
    closed_positions: judged.filter((row) => hasEnded(row) && within(row.closed_at, window)).length,
  };
}

/** Gain of positions less what of it was booked before `from`. */
export async function bookedSince(context: GraphContext, rows: readonly PositionRow[], from: Date): Promise<string> {
  const older = rows.filter(({ opened_at, gain }) => opened_at < from && Number(gain) !== 0);
  const before =
    older.length === 0 ? [] : await listComputed(context.sql, older, { facts: from, resolutions: new Date(from.getTime() - 1) });
  const counted = new Set(older.map(({ token_id }) => token_id));
  return less(total(rows.map(({ gain }) => gain)), total(before.filter(({ token_id }) => counted.has(token_id)).map(({ gain }) => gain)));
}
