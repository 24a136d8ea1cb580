import type { SimCoin } from './coins';

/** A stretch of one coin's trading, at whose ends everybody is flat: what makes the world cheap to enter anywhere. */
export interface Session {
  coin_index: number;
  coin: SimCoin;
  index: number;
  from: number;
  to: number;
  /** From here on positions are only closed. */
  wind_down: number;
}
