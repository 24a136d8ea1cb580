import { addressOf } from './base58';

/** Field types of the events we read. Integers above 53 bits come out as decimal text, like addresses as base58. */
export type FieldType =
  | 'pubkey'
  | 'u8'
  | 'u16'
  | 'u32'
  | 'u64'
  | 'u128'
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

/** Reads little-endian Borsh. Throws RangeError when the payload is too short or a bool is neither 0 nor 1. */
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
        return addressOf(this.take(32));
      case 'u8':
        return this.take(1).readUInt8();
      case 'u16':
        return this.take(2).readUInt16LE();
      case 'u32':
        return this.take(4).readUInt32LE();
      case 'i32':
        return this.take(4).readInt32LE();
      case 'u64':
        return this.u64().toString();
      case 'i64':
        return this.take(8).readBigInt64LE().toString();
      case 'u128':
        return (this.u64() + (this.u64() << 64n)).toString();
      case 'bool':
        return this.bool();
      case 'u64x2':
        return [this.u64().toString(), this.u64().toString()];
      default:
        return this.compound(type);
    }
  }

  private compound(type: { bytes: number } | { option: FieldType } | { struct: Layout }): FieldValue {
    if ('bytes' in type) return this.take(type.bytes).toString('hex');
    if ('struct' in type) return this.struct(type.struct);
    return this.bool() ? this.value(type.option) : null;
  }

  private bool(): boolean {
    const byte = this.take(1).readUInt8();
    if (byte > 1) throw new RangeError(`not a bool: ${byte}`);
    return byte === 1;
  }

  private u64(): bigint {
    return this.take(8).readBigUInt64LE();
  }

  private take(bytes: number): Buffer {
    if (this.bytesLeft < bytes) throw new RangeError('payload too short');
    this.at += bytes;
    return this.data.subarray(this.at - bytes, this.at);
  }
}
