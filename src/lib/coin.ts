/**
 * A perpetual coin in canonical spelling: upper case, but a builder's prefix (`xyz:CL`) and `k` for thousands (`kPEPE`) stay
 * as the venue writes them. Undefined when it is no coin symbol.
 */
export function canonicalCoin(text: string): string | undefined {
  if (!/^([a-z0-9]{1,12}:)?[A-Za-z0-9]{1,16}$/.test(text)) return undefined;
  return text.includes(':') || /^k[A-Z]/.test(text) ? text : text.toUpperCase();
}

/** The base coin of a pair form (`BTC-USDC`, `BTC/USD`, `BTC-PERP`), or undefined when it is none. */
export function baseOfPair(text: string): string | undefined {
  const base = /^([A-Za-z0-9]{1,16})[-/_](USDC?|USDT|PERP)$/i.exec(text)?.[1];
  return base === undefined ? undefined : canonicalCoin(base);
}
