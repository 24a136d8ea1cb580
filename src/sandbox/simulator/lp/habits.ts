import type { Role } from './roster';

/** How owners of a role behave. */
export interface Habit {
  /** Median USD, hours, share of positions with top-ups. */
  usd: number;
  hours: number;
  /** Hours between claims; 0 claims at the close only. */
  claims: number;
  rebalance_hours: number;
  /** How many plans are weighed, and whether the best or the worst is taken: skill is planted here. */
  plans: number;
  takes: 'best' | 'worst';
  single: boolean;
  /** How much of the fees of its share it earns. */
  range: number;
}

const FARMER: Habit = { usd: 900, hours: 30, claims: 24, rebalance_hours: 0, plans: 1, takes: 'best', single: false, range: 1 };

export const HABITS: Record<Role, Habit> = {
  farmer: FARMER,
  skilled: { ...FARMER, usd: 4_000, hours: 20, claims: 12, plans: 8, range: 2.2 },
  lucky: { ...FARMER, usd: 1_200, plans: 6 },
  market_maker: { ...FARMER, usd: 12_000, hours: 70, claims: 0, rebalance_hours: 26, range: 2.5 },
  bot: { ...FARMER, usd: 1_500, hours: 6, claims: 0, rebalance_hours: 3, range: 1.4 },
  sniper: { ...FARMER, usd: 1_000, hours: 5, claims: 2 },
  single_sided: { ...FARMER, single: true },
  whale: { ...FARMER, usd: 40_000, hours: 120, claims: 48 },
  copier: FARMER,
  novice: { ...FARMER, usd: 300, hours: 40, plans: 4, takes: 'worst', range: 0.6 },
};
