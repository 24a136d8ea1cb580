import crypto from 'node:crypto';
import type { Key } from './keys';

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const LIMB = 58 ** 4;
const PAIRS = Array.from({ length: 58 * 58 }, (_, i) => `${ALPHABET[Math.floor(i / 58)]}${ALPHABET[i % 58]}`);
const limbs = new Float64Array(512);

/** Base58 of at most 1,200 bytes: three bytes at a time into limbs of four digits, every product below 2^53. */
export function toBase58(bytes: Buffer): string {
  let used = 0;
  for (let at = 0; at < bytes.length; at += 3) {
    const count = Math.min(3, bytes.length - at);
    let carry = bytes.readUIntBE(at, count);
    const scale = 2 ** (8 * count);
    for (let i = 0; i < used; i += 1) {
      const value = (limbs[i] as number) * scale + carry;
      carry = Math.floor(value / LIMB);
      limbs[i] = value - carry * LIMB;
    }
    while (carry > 0) {
      limbs[used] = carry % LIMB;
      carry = Math.floor(carry / LIMB);
      used += 1;
    }
  }
  let text = '';
  for (let i = used - 1; i >= 0; i -= 1) {
    const limb = limbs[i] as number;
    text += (PAIRS[Math.floor(limb / 3364)] as string) + (PAIRS[limb % 3364] as string);
  }
  let zeros = 0;
  while (zeros < bytes.length && bytes[zeros] === 0) zeros += 1;
  return '1'.repeat(zeros) + text.replace(/^1+/, '');
}

/** Values as an event's layout wants them: numbers are widths in bytes of unsigned little-endian integers. */
export type Field = Key | { u8: number } | { u16: number } | { i32: number } | { u64: bigint } | { u128: bigint } | { bool: boolean } | { zero: number };

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

const scratch = Buffer.alloc(1024);

/** Data of the instruction by which an Anchor program tells an event: tag, discriminator, fields. */
export function eventData(name: string, fields: readonly Field[]): string {
  TAG.copy(scratch, 0);
  discriminatorOf(name).copy(scratch, 8);
  let at = 16;
  for (const field of fields) at = write(field, at);
  return toBase58(scratch.subarray(0, at));
}

function write(field: Field, at: number): number {
  if ('bytes' in field) return at + field.bytes.copy(scratch, at);
  if ('u64' in field) return scratch.writeBigUInt64LE(field.u64, at);
  if ('u8' in field) return scratch.writeUInt8(field.u8, at);
  if ('u16' in field) return scratch.writeUInt16LE(field.u16, at);
  if ('i32' in field) return scratch.writeInt32LE(field.i32, at);
  if ('bool' in field) return scratch.writeUInt8(field.bool ? 1 : 0, at);
  if ('u128' in field) {
    scratch.writeBigUInt64LE(field.u128 & 0xffff_ffff_ffff_ffffn, at);
    return scratch.writeBigUInt64LE(field.u128 >> 64n, at + 8);
  }
  scratch.fill(0, at, at + field.zero);
  return at + field.zero;
}

/** A signature: 64 bytes that depend on the transaction's name alone. */
export function signatureOf(random: () => number): string {
  const bytes = Buffer.allocUnsafe(64);
  for (let at = 0; at < 64; at += 4) bytes.writeUInt32LE(Math.floor(random() * 4_294_967_296), at);
  return toBase58(bytes);
}
