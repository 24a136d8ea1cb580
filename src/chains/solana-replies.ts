import { PublicKey } from '@solana/web3.js';
import { JsonRpcError } from './json-rpc';

export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';

/** A token account of the classic Token program. */
export interface TokenAccount {
  mint: string;
  owner: string;
  /** Atomic units. */
  amount: bigint;
  frozen: boolean;
}

// What we read of the replies of the Solana JSON-RPC.
export interface InContext<T> {
  context: { slot: number };
  value: T;
}
export interface AccountJson {
  owner: string;
  data: [base64: string, encoding: 'base64'];
}
export interface SimulationJson {
  err: unknown;
  accounts?: (AccountJson | null)[] | null;
}
/** How far a node had read at one moment. */
export interface EpochJson {
  absoluteSlot: number;
  blockHeight: number;
}
export interface StatusJson {
  confirmations: number | null;
  confirmationStatus?: 'processed' | 'confirmed' | 'finalized' | null;
  err: unknown;
}
export interface TokenBalanceJson {
  accountIndex: number;
  uiTokenAmount: { amount: string };
}
export interface LandedJson {
  transaction: { message: { accountKeys: string[] } };
  meta: { err: unknown; preTokenBalances?: TokenBalanceJson[] | null; postTokenBalances?: TokenBalanceJson[] | null } | null;
}

/**
 * Whether an error reply speaks about the transaction itself (bad signature, not decodable) and not about the node (texts:
 * rpc-client-api custom_error.rs, rpc.rs decode_and_deserialize).
 */
export function isVerdict(error: unknown): boolean {
  const said = error instanceof JsonRpcError ? error.message : '';
  return /signature verification failure|failed to deserialize|failed to sanitize|invalid transaction/i.test(said);
}

/** The account as a token account, undefined when it is none of the classic Token program. */
export function tokenAccountOf(account: AccountJson | null): TokenAccount | undefined {
  return account?.owner === TOKEN_PROGRAM ? decodeTokenAccount(Buffer.from(account.data[0], 'base64')) : undefined;
}

/** Token account layout (spl-token state.rs): mint 0, owner 32, u64 amount 64, state 108 (2 = frozen); 165 bytes. */
function decodeTokenAccount(data: Buffer): TokenAccount | undefined {
  if (data.length !== 165 || data[108] === 0) return undefined;
  return {
    mint: new PublicKey(data.subarray(0, 32)).toBase58(),
    owner: new PublicKey(data.subarray(32, 64)).toBase58(),
    amount: data.readBigUInt64LE(64),
    frozen: data[108] === 2,
  };
}
