/**
 * The last price of a coin before an instant, as a scalar subquery. `coin` and `instant` are SQL: a column, a parameter. The coin's
 * key gives it without sorting more than one millisecond.
 */
export const priceBefore = (coin: string, instant: string): string =>
  `(SELECT last.price FROM perp_fill last WHERE last.coin = ${coin} AND last.timestamp < ${instant} ORDER BY last.timestamp DESC, last.seq DESC, last.tid DESC LIMIT 1)`;
