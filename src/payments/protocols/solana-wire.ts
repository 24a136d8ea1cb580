import bs58 from 'bs58';
import { solanaAddressOf } from '../../lib/solana-address';

/** A signed transaction taken apart. Byte fields are views into its wire form. */
export interface SolanaWire {
  signatures: Buffer[];
  /** What was signed. */
  message: Buffer;
  readonly_signed: number;
  readonly_unsigned: number;
  /** Account keys, raw and in base58. */
  key_bytes: Buffer[];
  keys: string[];
  /** Base58. */
  blockhash: string;
  instructions: { program: number; accounts: number[]; data: Buffer }[];
  /** Address lookup tables; what stands in them is not read. */
  lookups: number;
}

const SIGNATURE_BYTES = 64;
const KEY_BYTES = 32;
const VERSION_MARK = 0x80;

/** Where the signatures of a decodable transaction begin, and its message: the count of signatures takes one byte below 128. */
export function signatureOffset(index: number): number {
  return 1 + index * SIGNATURE_BYTES;
}

/**
 * Decodes a legacy or version 0 transaction (Solana docs, "Transactions and Instructions": structure). Only the one canonical
 * encoding passes, for every length must be spelled as short as it can be and nothing may follow. Throws an Error otherwise.
 */
export function decodeWire(wire: Buffer): SolanaWire {
  const read = new Reader(wire);
  const signatures = read.list(() => read.bytes(SIGNATURE_BYTES));
  const message = wire.subarray(read.offset);
  const versioned = (read.peek() & VERSION_MARK) !== 0;
  if (versioned && read.byte() !== VERSION_MARK) throw new Error('an unknown version');
  const [required, readonly_signed, readonly_unsigned] = [read.byte(), read.byte(), read.byte()];
  if (signatures.length !== required) throw new Error('not as many signatures as signers');
  const key_bytes = read.list(() => read.bytes(KEY_BYTES));
  const blockhash = bs58.encode(read.bytes(KEY_BYTES));
  const instructions = read.list(() => ({
    program: read.byte(),
    accounts: [...read.bytes(read.length())],
    data: read.bytes(read.length()),
  }));
  const lookups = versioned ? read.length() : 0;
  if (lookups === 0 && read.offset !== wire.length) throw new Error('bytes after the end');
  return {
    signatures,
    message,
    readonly_signed,
    readonly_unsigned,
    key_bytes,
    keys: key_bytes.map(solanaAddressOf),
    blockhash,
    instructions,
    lookups,
  };
}

class Reader {
  offset = 0;

  constructor(private readonly wire: Buffer) {}

  peek(): number {
    const byte = this.wire[this.offset];
    if (byte === undefined) throw new Error('the end is missing');
    return byte;
  }

  byte(): number {
    const byte = this.peek();
    this.offset += 1;
    return byte;
  }

  bytes(count: number): Buffer {
    const end = this.offset + count;
    if (end > this.wire.length) throw new Error('the end is missing');
    const view = this.wire.subarray(this.offset, end);
    this.offset = end;
    return view;
  }

  /** A compact-u16: seven bits a byte, the lowest first, three bytes at most (solana short_vec.rs refuses aliases as well). */
  length(): number {
    let value = 0;
    for (let place = 0; place < 3; place += 1) {
      const byte = this.byte();
      if (place > 0 && byte === 0) throw new Error('a length that could be shorter');
      value |= (byte & 0x7f) << (7 * place);
      if ((byte & 0x80) === 0) {
        if (value > 0xffff) break;
        return value;
      }
    }
    throw new Error('a length beyond 16 bits');
  }

  list<T>(item: () => T): T[] {
    const count = this.length();
    // Each takes a byte at least: a length alone must not make us allocate.
    if (count > this.wire.length - this.offset) throw new Error('the end is missing');
    return Array.from({ length: count }, item);
  }
}
