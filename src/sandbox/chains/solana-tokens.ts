import { PublicKey } from '@solana/web3.js';
import { TOKEN_PROGRAM } from '../../chains/solana-replies';
import { solanaAddressOf } from '../../lib/solana-address';
import { SOLANA_USDC_MINTS } from '../../payments/assets';

/** The local chain pretends to be mainnet. */
export const SOLANA_USDC = SOLANA_USDC_MINTS.mainnet;
export const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
/** Rent exemption of a 165-byte token account and an 82-byte mint, lamports. */
export const TOKEN_ACCOUNT_RENT = 2_039_280n;
export const MINT_RENT = 1_461_600n;

const MINT_SIZE = 82;
const ACCOUNT_SIZE = 165;
// Token-2022 puts the kind of account in the byte after the classic layout.
const KIND_MINT = 1;
const KIND_ACCOUNT = 2;

export interface TokenAccount {
  mint: string;
  owner: string;
  amount: bigint;
  state: 'initialized' | 'frozen';
}

export interface Mint {
  supply: bigint;
  decimals: number;
}

/** Whether `program` is SPL Token or Token-2022. */
export function isTokenProgram(program: string): boolean {
  return program === TOKEN_PROGRAM || program === TOKEN_2022_PROGRAM;
}

/** 82 bytes: supply at 36, decimals at 44, initialized at 45; no authorities (spl-token state.rs). */
export function encodeMint({ supply, decimals }: Mint): Uint8Array {
  const data = Buffer.alloc(MINT_SIZE);
  data.writeBigUInt64LE(supply, 36);
  data[44] = decimals;
  data[45] = 1;
  return data;
}

/** 165 bytes: mint at 0, owner at 32, amount at 64, state at 108 (spl-token state.rs). */
export function encodeTokenAccount({ mint, owner, amount, state }: TokenAccount): Uint8Array {
  const data = Buffer.alloc(ACCOUNT_SIZE);
  data.set(new PublicKey(mint).toBytes(), 0);
  data.set(new PublicKey(owner).toBytes(), 32);
  data.writeBigUInt64LE(amount, 64);
  data[108] = state === 'frozen' ? 2 : 1;
  return data;
}

/** Undefined when the bytes, owned by `program`, are no initialized token account. */
export function decodeTokenAccount(data: Uint8Array, program: string): TokenAccount | undefined {
  const bytes = Buffer.from(data);
  const sized = bytes.length === ACCOUNT_SIZE || (bytes.length > ACCOUNT_SIZE && bytes[ACCOUNT_SIZE] === KIND_ACCOUNT);
  if (!isTokenProgram(program) || !sized || bytes[108] === 0) return undefined;
  return {
    mint: solanaAddressOf(bytes.subarray(0, 32)),
    owner: solanaAddressOf(bytes.subarray(32, 64)),
    amount: bytes.readBigUInt64LE(64),
    state: bytes[108] === 2 ? 'frozen' : 'initialized',
  };
}

/** Undefined when the bytes, owned by `program`, are no initialized mint. */
export function decodeMint(data: Uint8Array, program: string): Mint | undefined {
  const bytes = Buffer.from(data);
  const sized = bytes.length === MINT_SIZE || (bytes.length > ACCOUNT_SIZE && bytes[ACCOUNT_SIZE] === KIND_MINT);
  if (!isTokenProgram(program) || !sized || bytes[45] !== 1) return undefined;
  return { supply: bytes.readBigUInt64LE(36), decimals: bytes[44] as number };
}

/** A token amount as the Solana RPC writes it. */
export function uiTokenAmount(amount: bigint, decimals: number): Record<string, unknown> {
  const digits = amount.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  const text = fraction === '' ? whole : `${whole}.${fraction}`;
  return { amount: amount.toString(), decimals, uiAmount: Number(text), uiAmountString: text };
}
