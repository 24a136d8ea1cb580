import { unitOf } from '../rollups/hours';

/**
 * The last price of a coin before an instant, as a scalar value. `coin` and `instant` are SQL: a column, a parameter. Facts of the instant's
 * hour tell it, or the hours before: however long ago the coin was filled last, no more of other coins' facts is read.
 */
export function priceBefore(coin: string, instant: string): string {
  const hour = unitOf('hour', instant);
  return `coalesce(
    (SELECT last.price FROM perp_fill last WHERE last.coin = ${coin} AND last.timestamp >= ${hour} AND last.timestamp < ${instant} ORDER BY last.timestamp DESC, last.seq DESC, last.tid DESC LIMIT 1),
    (SELECT earlier.close_price FROM perp_coin_hour earlier WHERE earlier.coin = ${coin} AND earlier.hour < ${hour} AND earlier.close_price IS NOT NULL ORDER BY earlier.hour DESC LIMIT 1))`;
}
