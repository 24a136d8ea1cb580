/** The last price of a coin before an instant, as a scalar value. `coin` and `instant` are SQL: a column, a parameter. */
export const priceBefore = (coin: string, instant: string): string =>
  `(SELECT told.price FROM perp_price_before(${coin}, ${instant}) AS told)`;
