import crypto from 'node:crypto';
import bs58 from 'bs58';

/** Little-endian pieces of an event payload, written by hand: a second opinion on the layouts that are decoded. */
export const key = (address: string): Buffer => Buffer.from(bs58.decode(address));
export const u8 = (value: number): Buffer => Buffer.from([value]);
export const bool = (value: boolean): Buffer => u8(value ? 1 : 0);

export function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

export function i32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}

export function u64(value: bigint | number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

export function u128(value: bigint | number): Buffer {
  return Buffer.concat([u64(BigInt(value) & 0xffff_ffff_ffff_ffffn), u64(BigInt(value) >> 64n)]);
}

/** Data of an event-CPI instruction, from the event's name. */
export function eventData(name: string, ...pieces: Buffer[]): string {
  const discriminator = crypto.createHash('sha256').update(`event:${name}`).digest().subarray(0, 8);
  return bs58.encode(Buffer.concat([Buffer.from('e445a52e51cb9a1d', 'hex'), discriminator, ...pieces]));
}

/** An address or signature that depends on its name alone. */
export const named = (name: string, bytes: 32 | 64 = 32): string =>
  bs58.encode(
    crypto
      .createHash(bytes === 32 ? 'sha256' : 'sha512')
      .update(name)
      .digest(),
  );

export interface WrittenEvent {
  program: string;
  data: string;
  /** Index of the outer instruction; 0 without. */
  outer?: number;
}

export interface WrittenTx {
  signature: string;
  /** ISO text. */
  at: string;
  payer: string;
  events: WrittenEvent[];
  err?: unknown;
  /** Mint and decimals of balances. */
  balances?: [string, number][];
}

/** A getTransaction answer, encoding `jsonParsed`. */
export function parsedTransaction({ signature, at, payer, events, err = null, balances = [] }: WrittenTx): Record<string, unknown> {
  const groups = [...new Set(events.map((event) => event.outer ?? 0))];
  return {
    jsonrpc: '2.0',
    id: 1,
    result: {
      slot: 300_000_000,
      blockTime: Date.parse(at) / 1000,
      version: 0,
      meta: {
        err,
        innerInstructions: groups.map((index) => ({
          index,
          instructions: events
            .filter((event) => (event.outer ?? 0) === index)
            .map(({ program, data }) => ({ programId: program, accounts: [], data, stackHeight: 2 })),
        })),
        preTokenBalances: [],
        postTokenBalances: balances.map(([mint, decimals], accountIndex) => ({
          accountIndex,
          mint,
          uiTokenAmount: { amount: '0', decimals },
        })),
      },
      transaction: {
        signatures: [signature],
        message: {
          accountKeys: [{ pubkey: payer, signer: true }],
          instructions: groups.map(() => ({ programId: events[0]?.program ?? payer, accounts: [], data: '' })),
        },
      },
    },
  };
}
