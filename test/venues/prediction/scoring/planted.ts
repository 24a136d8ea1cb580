import type { EndedPosition } from '../../../../src/venues/prediction/scoring/evidence';

export const NOW = new Date('2026-03-20T12:00:00Z');
export const DAY = 86_400_000;
export const daysAgo = (days: number): Date => new Date(NOW.getTime() - days * DAY);

/** A position of $10 that ended now, in an event of its own by default; its gain follows from e and y. */
export function position(changes: Partial<EndedPosition> & { event: string }): EndedPosition {
  const { e = 0.5, y = 1, cost_usdc = 10 } = changes;
  return { e, y, cost_usdc, pnl_usdc: cost_usdc * (y / e - 1), closed_at: NOW, ...changes };
}

/** So many positions at one price, each in an event of its own, the first `won` of them won. */
export function record(n: number, won: number, changes: Partial<EndedPosition> = {}, prefix = 'event'): EndedPosition[] {
  return Array.from({ length: n }, (_, index) => position({ event: `${prefix}-${index}`, y: index < won ? 1 : 0, ...changes }));
}
