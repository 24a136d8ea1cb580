import { solanaAddressBytes } from './solana-address';

/** Lower-case 0x and 40 hex digits, or undefined. Upper case is lowered. */
export function canonicalEvmAddress(text: string): string | undefined {
  return /^0x[0-9a-fA-F]{40}$/.test(text) ? text.toLowerCase() : undefined;
}

/** Lower-case 0x and 64 hex digits, or undefined. Upper case is lowered. */
export function canonicalConditionId(text: string): string | undefined {
  return /^0x[0-9a-fA-F]{64}$/.test(text) ? text.toLowerCase() : undefined;
}

/** Whether `text` is base58 of 32 bytes. Case matters and is never changed. */
export function isBase58Address(text: string): boolean {
  return /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text) && solanaAddressBytes(text).length === 32;
}

/** Outcome token id: 1 to 78 decimal digits. */
export function isTokenId(text: string): boolean {
  return /^[0-9]{1,78}$/.test(text);
}
