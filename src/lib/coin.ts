/**
 * A perpetual coin in canonical spelling: upper case, but a builder's prefix (`xyz:CL`) and `k` for thousands (`kPEPE`) stay
 * as the venue writes them. Undefined when it is no coin symbol.
 */
export function canonicalCoin(text: string): string | undefined {
  if (!/^([a-z0-9]{1,12}:)?[A-Za-z0-9]{1,16}$/.test(text)) return undefined;
  return text.includes(':') || /^k[A-Z]/.test(text) ? text : text.toUpperCase();
}

/** The coin that a pair form (`BTC-USDC`, `BTC/USD`, `BTC-PERP`) or a builder's prefix in capitals (`XYZ:CL`) means, or undefined when it is neither. */
export function coinMeant(text: string): string | undefined {
  const [, prefix = '', base] = /^([A-Za-z0-9]{1,12}:)?([A-Za-z0-9]{1,16})(?:[-/_](?:USDC?|USDT|PERP))?$/i.exec(text) ?? [];
  return base === undefined ? undefined : canonicalCoin(`${prefix.toLowerCase()}${base}`);
}
