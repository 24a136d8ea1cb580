import bs58 from 'bs58';

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const CHUNK = 4;
const POWERS = [1, 58, 58 ** 2, 58 ** 3, 58 ** 4];
const LIMB = 2 ** 24;
const VALUES = new Int8Array(128).fill(-1);
for (let i = 0; i < ALPHABET.length; i += 1) VALUES[ALPHABET.charCodeAt(i)] = i;

/**
 * Bytes of a base58 text, or undefined when it is none. Four digits at a time into limbs of 24 bits (every product stays
 * below 2^53): event payloads of 100 to 300 bytes decode several times faster than digit by digit.
 */
export function decodeBase58(text: string): Buffer | undefined {
  const limbs: number[] = [];
  for (let at = 0; at < text.length; at += CHUNK) {
    const end = Math.min(at + CHUNK, text.length);
    let carry = 0;
    for (let i = at; i < end; i += 1) {
      const code = text.charCodeAt(i);
      const digit = code < 128 ? (VALUES[code] as number) : -1;
      if (digit < 0) return undefined;
      carry = carry * 58 + digit;
    }
    const scale = POWERS[end - at] as number;
    for (let i = 0; i < limbs.length; i += 1) {
      const value = (limbs[i] as number) * scale + carry;
      limbs[i] = value % LIMB;
      carry = Math.floor(value / LIMB);
    }
    while (carry > 0) {
      limbs.push(carry % LIMB);
      carry = Math.floor(carry / LIMB);
    }
  }
  return toBytes(limbs, leadingZeros(text));
}

function leadingZeros(text: string): number {
  let zeros = 0;
  while (zeros < text.length && text[zeros] === '1') zeros += 1;
  return zeros;
}

function toBytes(limbs: number[], zeros: number): Buffer {
  const big = Buffer.alloc(limbs.length * 3);
  limbs.forEach((limb, i) => big.writeUIntBE(limb, big.length - 3 * (i + 1), 3));
  const first = big.findIndex((byte) => byte !== 0);
  const significant = first === -1 ? Buffer.alloc(0) : big.subarray(first);
  return Buffer.concat([Buffer.alloc(zeros), significant]);
}

const known = new Map<string, string>();
const KNOWN_AT_MOST = 50_000;

/** Address of 32 bytes in base58. The same few thousand addresses come again and again, so they are remembered. */
export function addressOf(bytes: Buffer): string {
  const key = bytes.toString('latin1');
  const seen = known.get(key);
  if (seen !== undefined) return seen;
  if (known.size >= KNOWN_AT_MOST) known.clear();
  const address = bs58.encode(bytes);
  known.set(key, address);
  return address;
}
