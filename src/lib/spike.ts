/** How far the volume of a window stands out against the equal windows before it. */
export const SPIKE = {
  /** Windows looked back to. */
  windows: 7,
  /** Fewer than these tell nothing. */
  fewest: 3,
  /** Dollars added above and below, so that a thousand after none is no spike. */
  usd: 1_000,
} as const;
