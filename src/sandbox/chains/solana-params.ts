import { PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import type { SolanaBank } from './solana-bank';
import { RpcFailure } from './solana-errors';
import type { AccountEncoding } from './solana-json';
import type { Commitment } from './solana-slots';

/** The settings object of any method. */
export interface Config extends AccountEncoding {
  commitment?: Commitment;
  minContextSlot?: number;
  skipPreflight?: boolean;
  sigVerify?: boolean;
  replaceRecentBlockhash?: boolean;
  searchTransactionHistory?: boolean;
  maxSupportedTransactionVersion?: number;
  innerInstructions?: boolean;
  accounts?: { encoding?: string; addresses: string[] };
  limit?: number;
  before?: string;
  until?: string;
}

/** One RPC method: positional parameters in, the result out. Throws RpcFailure for what the real RPC refuses. */
export type Method = (bank: SolanaBank, params: unknown[]) => unknown;

/** What getVersion answers: the line of validators whose manners this chain copies. */
export const VERSION = { 'solana-core': '2.2.0', 'feature-set': 0 };

/** The settings object at `index`; empty when none was sent. */
export function configOf(params: unknown[], index: number): Config {
  const value = params[index];
  return typeof value === 'object' && value !== null ? (value as Config) : {};
}

/** Throws RpcFailure when there is no string at `index`. */
export function textOf(params: unknown[], index: number): string {
  const value = params[index];
  if (typeof value !== 'string') throw new RpcFailure(-32602, `Invalid params: a string is wanted at ${index}.`);
  return value;
}

/** Throws RpcFailure when the value is no base58 address. */
export function addressOf(value: unknown): string {
  try {
    if (typeof value === 'string') return new PublicKey(value).toBase58();
  } catch {
    // Said below.
  }
  throw new RpcFailure(-32602, 'Invalid param: Invalid');
}

/** Throws RpcFailure when there is no list at `index`, or one of more than `max`. */
export function listOf(params: unknown[], index: number, max: number): unknown[] {
  const value = params[index];
  if (!Array.isArray(value)) throw new RpcFailure(-32602, 'Invalid params: invalid type, expected a sequence.');
  if (value.length > max) throw new RpcFailure(-32602, `Too many inputs provided; max ${max}`);
  return value;
}

/** `{context, value}` at the caller's commitment; refuses a minContextSlot the chain has not reached. */
export function withContext(
  bank: SolanaBank,
  config: Config,
  value: unknown,
): { context: { apiVersion: string; slot: number }; value: unknown } {
  const slot = bank.clock.slot(config.commitment ?? 'finalized');
  if (config.minContextSlot !== undefined && bank.clock.slot() < config.minContextSlot) {
    throw new RpcFailure(-32016, 'Minimum context slot has not been reached', { contextSlot: slot });
  }
  return { context: { apiVersion: VERSION['solana-core'], slot }, value };
}

/** Strict base64 when so named, else base58, the RPC's default. Throws RpcFailure. */
export function bytesOf(text: string, encoding: string | undefined): Uint8Array {
  try {
    if (encoding !== 'base64') return bs58.decode(text);
    const bytes = Buffer.from(text, 'base64');
    if (bytes.toString('base64') === text) return bytes;
  } catch {
    // Said below.
  }
  throw new RpcFailure(-32602, `invalid ${encoding ?? 'base58'} encoding`);
}
