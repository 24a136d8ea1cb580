import type { Tier } from '../endpoints/endpoint';
import type { Timeframe } from '../lib/timeframe';

/** Base price of a tier in micro-USDC (1 USDC = 1,000,000). */
export const BASE_MICRO: Record<Tier, bigint> = { light: 10_000n, medium: 20_000n, heavy: 50_000n, whale: 80_000n };

/** No answer costs less or more, in micro-USDC. */
export const FLOOR_MICRO = 10_000n;
export const CEILING_MICRO = 200_000n;

/** What a window multiplies the price by, as decimal literals. */
export const TIMEFRAME_MULTIPLIERS: Record<Timeframe, string> = {
  '1m': '0.5',
  '5m': '0.5',
  '30m': '0.5',
  '1h': '0.5',
  '4h': '0.7',
  '6h': '0.8',
  '12h': '0.9',
  '24h': '1',
  today: '1',
  '7d': '2',
  '30d': '3',
  '90d': '4',
  '365d': '5',
  all: '5',
};

/** Micro-USDC as dollars, for JSON. */
export const dollars = (micro: bigint): number => Number(micro) / 1_000_000;

/** Micro-USDC as people read a price: $0.02, $0.125. */
export const usd = (micro: bigint): string =>
  dollars(micro).toLocaleString('en-US', { style: 'currency', currency: 'USD', maximumFractionDigits: 6 });
