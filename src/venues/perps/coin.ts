/** Names of perpetual coins: `BTC`, `kPEPE`, with a dex in front `xyz:CL`. */
const PERP_COIN = /^([a-z0-9]{1,12}:)?[A-Za-z0-9]{1,16}$/;

/** Whether `text` can be the name of a perpetual coin. */
export function isPerpCoin(text: string): boolean {
  return PERP_COIN.test(text);
}

/** Which other market the upstream's name belongs to, or null: `@107` and `PURR/USDC` are spot pairs, `#12` and `+12` outcomes. */
export function isSpotOrOutcome(name: string): 'spot' | 'outcome' | null {
  if (name.startsWith('@') || name.includes('/')) return 'spot';
  return name.startsWith('#') || name.startsWith('+') ? 'outcome' : null;
}
