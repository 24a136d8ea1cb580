import crypto from 'node:crypto';

const { floor } = Math;
/** Anything with the bytes of an address. */
interface Key {
  readonly bytes: Buffer;
}

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const LIMB = 58 ** 4;
const INVERSE = 1 / LIMB;
const PAIRS = Array.from({ length: 58 * 58 }, (_, i) => `${ALPHABET[floor(i / 58)]}${ALPHABET[i % 58]}`);
const limbs = new Float64Array(512);

/**
 * Base58 of at most 1,200 bytes: three bytes at a time into limbs of four digits, every product below 2^53. Multiplying by
 * the inverse may miss the quotient by one, which the remainder shows; a division would take three times as long.
 */
export function toBase58(bytes: Buffer): string {
  let used = 0;
  const odd = bytes.length % 3;
  // A first group of one or two bytes is three with zeros before them.
  for (let at = odd - 3 * Math.sign(odd); at < bytes.length; at += 3) {
    let carry = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] as number);
    for (let i = 0; i < used; i += 1) {
      const value = (limbs[i] as number) * 16_777_216 + carry;
      carry = floor(value * INVERSE);
      let rest = value - carry * LIMB;
      if (rest < 0) {
        rest += LIMB;
        carry -= 1;
      } else if (rest >= LIMB) {
        rest -= LIMB;
        carry += 1;
      }
      limbs[i] = rest;
    }
    while (carry > 0) {
      const next = floor(carry / LIMB);
      limbs[used] = carry - next * LIMB;
      carry = next;
      used += 1;
    }
  }
  let text = '';
  for (let i = used - 1; i >= 0; i -= 1) {
    const limb = limbs[i] as number;
    text += (PAIRS[floor(limb / 3364)] as string) + (PAIRS[limb % 3364] as string);
  }
  let zeros = 0;
  while (zeros < bytes.length && bytes[zeros] === 0) zeros += 1;
  return '1'.repeat(zeros) + text.replace(/^1+/, '');
}

const TAG = Buffer.from('e445a52e51cb9a1d', 'hex');
const discriminators = new Map<string, Buffer>();

function discriminatorOf(name: string): Buffer {
  let known = discriminators.get(name);
  if (known === undefined) {
    known = crypto.createHash('sha256').update(`event:${name}`).digest().subarray(0, 8);
    discriminators.set(name, known);
  }
  return known;
}

const TWO_32 = 2 ** 32;

/** Writes an event's fields, little-endian. Whole numbers may exceed 2^53: a double that is whole is written exactly. */
export class EventWriter {
  private readonly bytes = Buffer.alloc(1024);
  private at = 0;

  begin(name: string): this {
    TAG.copy(this.bytes, 0);
    discriminatorOf(name).copy(this.bytes, 8);
    this.at = 16;
    return this;
  }

  key(...keys: Key[]): this {
    for (const { bytes } of keys) this.at += bytes.copy(this.bytes, this.at);
    return this;
  }

  u8(...values: number[]): this {
    for (const value of values) this.at = this.bytes.writeUInt8(value, this.at);
    return this;
  }

  u16(value: number): this {
    this.at = this.bytes.writeUInt16LE(value, this.at);
    return this;
  }

  i32(...values: number[]): this {
    for (const value of values) this.at = this.bytes.writeInt32LE(value, this.at);
    return this;
  }

  bool(value: boolean): this {
    return this.u8(value ? 1 : 0);
  }

  u64(...values: number[]): this {
    for (const value of values) this.wide(value, 2);
    return this;
  }

  u128(value: number): this {
    return this.wide(value, 4);
  }

  zeros(count: number): this {
    this.bytes.fill(0, this.at, this.at + count);
    this.at += count;
    return this;
  }

  private wide(value: number, words: number): this {
    let rest = value;
    for (let i = 0; i < words; i += 1) {
      const next = floor(rest / TWO_32);
      this.at = this.bytes.writeUInt32LE(rest - next * TWO_32, this.at);
      rest = next;
    }
    return this;
  }

  /** Data of the instruction by which an Anchor program tells an event: tag, discriminator, fields. */
  end(): string {
    return toBase58(this.bytes.subarray(0, this.at));
  }
}

/** A signature: any 87 digits that begin with 3 or higher are 64 bytes. */
export function signatureOf(random: () => number): string {
  let text = ALPHABET[2 + floor(random() * 56)] as string;
  for (let i = 0; i < 43; i += 1) text += PAIRS[floor(random() * 3364)] as string;
  return text;
}
