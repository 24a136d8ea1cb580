import { solanaAddressOf } from '../../../lib/solana-address';
import { SMALL_INTEGER } from './record';

/** Field types of the events we read. Integers above 53 bits come out as decimal text, like addresses as base58; an `index` is a u64 that counts a few things. */
export type FieldType =
  | 'pubkey'
  | 'u8'
  | 'u16'
  | 'u32'
  | 'u64'
  | 'u128'
  | 'index'
  | 'i32'
  | 'i64'
  | 'bool'
  | 'u64x2'
  | { bytes: number }
  | { option: FieldType }
  | { struct: Layout };
export type Layout = readonly (readonly [name: string, type: FieldType])[];
export type FieldValue = string | number | boolean | null | string[] | Fields;
export interface Fields {
  [name: string]: FieldValue;
}

/** Reads little-endian Borsh. Throws RangeError when the payload is too short, a bool neither 0 nor 1, or an index beyond what is counted. */
export class BorshReader {
  private at = 0;
  constructor(private readonly data: Buffer) {}

  get bytesLeft(): number {
    return this.data.length - this.at;
  }

  struct(layout: Layout): Fields {
    const fields: Fields = {};
    for (const [name, type] of layout) fields[name] = this.value(type);
    return fields;
  }

  private value(type: FieldType): FieldValue {
    switch (type) {
      case 'pubkey':
        return solanaAddressOf(this.take(32));
      case 'u8':
        return this.data.readUInt8(this.past(1));
      case 'u16':
        return this.data.readUInt16LE(this.past(2));
      case 'u32':
        return this.data.readUInt32LE(this.past(4));
      case 'i32':
        return this.data.readInt32LE(this.past(4));
      case 'u64':
        return this.u64();
      case 'i64':
        return this.data.readBigInt64LE(this.past(8)).toString();
      case 'u128':
        return this.u128();
      case 'index':
        return this.index();
      case 'bool':
        return this.bool();
      case 'u64x2':
        return [this.u64(), this.u64()];
      default:
        return this.compound(type);
    }
  }

  private compound(type: { bytes: number } | { option: FieldType } | { struct: Layout }): FieldValue {
    if ('bytes' in type) return this.take(type.bytes).toString('hex');
    if ('struct' in type) return this.struct(type.struct);
    return this.bool() ? this.value(type.option) : null;
  }

  private take(bytes: number): Buffer {
    const from = this.past(bytes);
    return this.data.subarray(from, this.at);
  }

  private bool(): boolean {
    const byte = this.data.readUInt8(this.past(1));
    if (byte > 1) throw new RangeError(`not a bool: ${byte}`);
    return byte === 1;
  }

  /** Most amounts are below 2^53, where a double is exact and far cheaper than a big integer. */
  private u64(): string {
    const from = this.past(8);
    const high = this.data.readUInt32LE(from + 4);
    return high < 0x200000 ? String(high * 0x100000000 + this.data.readUInt32LE(from)) : this.data.readBigUInt64LE(from).toString();
  }

  private index(): number {
    const index = this.data.readBigUInt64LE(this.past(8));
    if (index > SMALL_INTEGER) throw new RangeError(`not an index: ${index}`);
    return Number(index);
  }

  private u128(): string {
    const from = this.past(16);
    return (this.data.readBigUInt64LE(from) + (this.data.readBigUInt64LE(from + 8) << 64n)).toString();
  }

  /** Where the next bytes begin; they are read. */
  private past(bytes: number): number {
    if (this.bytesLeft < bytes) throw new RangeError('payload too short');
    this.at += bytes;
    return this.at - bytes;
  }
}
