import bs58 from 'bs58';
import { lruOf } from './lru';

// Base58 is arithmetic on long numbers; the same programs, mints and wallets come again.
const texts = lruOf<string>(50_000);
const bytes = lruOf<Uint8Array>(50_000);

/** Base58 of an address's 32 bytes. */
export function solanaAddressOf(address: Uint8Array): string {
  const key = Buffer.from(address.buffer, address.byteOffset, address.length).toString('latin1');
  const known = texts.get(key);
  if (known !== undefined) return known;
  const text = bs58.encode(address);
  texts.set(key, text);
  return text;
}

/** The bytes of an address in base58, not to be written to. Throws an Error for what is no base58. */
export function solanaAddressBytes(address: string): Uint8Array {
  const known = bytes.get(address);
  if (known !== undefined) return known;
  const decoded = bs58.decode(address);
  bytes.set(address, decoded);
  return decoded;
}
