import { clip, median } from '../../../lib/statistics';
import { HOUR_MS } from '../../../lib/time';

const DAY_HOURS = 24;
/** A market trends when its volume of 24 hours exceeds the usual by this factor. */
const TREND_FACTOR = 3;

/**
 * When a market began to trend: the end of the first hour (of its life, when that ends within it) at which its volume of the last 24 hours exceeded three
 * times the median of that figure over its life, from the first hour with a trade to `end`. Null when it never did. Hours without a trade may be left out.
 */
export function trendStart(hours: readonly { hour: Date; usdc: number }[], end: Date): Date | null {
  const first = hours[0]?.hour.getTime();
  if (first === undefined) return null;
  const count = Math.max(1, Math.ceil((end.getTime() - first) / HOUR_MS));
  const volumes = new Float64Array(count);
  for (const { hour, usdc } of hours) {
    const place = Math.round((hour.getTime() - first) / HOUR_MS);
    if (place < count) volumes[place] = usdc;
  }
  let running = 0;
  const days = Array.from(volumes, (usdc, index) => (running += usdc - (index >= DAY_HOURS ? (volumes[index - DAY_HOURS] as number) : 0)));
  const usual = median(days) as number;
  const place = days.findIndex((volume) => volume > TREND_FACTOR * usual);
  return place < 0 ? null : new Date(Math.min(first + (place + 1) * HOUR_MS, end.getTime()));
}

/** What an early call is ranked by. */
export interface AlphaEvidence {
  hit_rate_lb: number;
  /** Payout over entry price. */
  price_multiple: number;
  days_before_resolution: number;
  bet_usdc: number;
}

/** 0-100: how reliable the caller is (40), how far the price came (20, full at 10x), how early (20, full at 30 days) and with how much (20, full at $10k). */
export function alphaScore({ hit_rate_lb, price_multiple, days_before_resolution, bet_usdc }: AlphaEvidence): number {
  const size = bet_usdc > 0 ? clip(Math.log10(bet_usdc / 100) / 2) : 0;
  return 40 * hit_rate_lb + 20 * clip(Math.log10(price_multiple)) + 20 * clip(days_before_resolution / 30) + 20 * size;
}
