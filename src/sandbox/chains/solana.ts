import { PublicKey, SystemProgram } from '@solana/web3.js';
import bs58 from 'bs58';
import { randomBytes } from 'node:crypto';
import { associatedTokenAddress } from '../../chains/solana';
import { TOKEN_PROGRAM } from '../../chains/solana-replies';
import { RpcFaults, type RpcHandler, type RpcReply, type RpcRequest } from './rpc-faults';
import { startRpcServer } from './rpc-server';
import { SolanaBank } from './solana-bank';
import { RpcFailure, describeError } from './solana-errors';
import { SOLANA_METHODS } from './solana-methods';
import { MINT_RENT, SOLANA_USDC, TOKEN_ACCOUNT_RENT, type TokenAccount, encodeMint, encodeTokenAccount } from './solana-tokens';

/** A Solana chain of our own: the real runtime and programs in process, behind a JSON-RPC server on loopback. No websocket: poll statuses. */
export interface LocalSolana {
  url: string;
  /** Fresh at each start, so that nothing signed for an earlier chain is good here. */
  genesis_hash: string;
  /** The USDC mint, at its mainnet address. */
  mint: string;
  /** Adds lamports and micro-USDC. Naming `usdc`, even 0, makes the owner's token account exist. */
  fund(owner: string, amounts: { lamports?: bigint; usdc?: bigint }): Promise<void>;
  /** Micro-USDC in the owner's associated token account; 0 when it does not exist. */
  usdcBalance(owner: string): Promise<bigint>;
  lamports(owner: string): Promise<bigint>;
  /** The owner's associated token account for USDC. */
  tokenAccount(owner: string): string;
  /** Overwrites the owner's token account, to drain or freeze it behind a payer's back. */
  setUsdc(owner: string, change: { amount?: bigint; frozen?: boolean }): Promise<void>;
  /** Lets this many slots pass at once: blockhashes age (150 kill one), confirmed becomes finalized (32). */
  advanceSlots(slots: number): void;
  faults: RpcFaults;
  stop(): Promise<void>;
}

const USDC_DECIMALS = 6;

function addLamports(bank: SolanaBank, address: string, lamports: bigint): void {
  const account = bank.account(address) ?? {
    address,
    owner: SystemProgram.programId.toBase58(),
    lamports: 0n,
    data: new Uint8Array(),
    executable: false,
  };
  bank.setAccount({ ...account, lamports: account.lamports + lamports });
}

function setMint(bank: SolanaBank, supply: bigint): void {
  bank.setAccount({
    address: SOLANA_USDC,
    owner: TOKEN_PROGRAM,
    lamports: MINT_RENT,
    data: encodeMint({ supply, decimals: USDC_DECIMALS }),
    executable: false,
  });
}

/** Writes the owner's token account and keeps the mint's supply in step. */
function setUsdc(bank: SolanaBank, owner: string, change: (held: TokenAccount) => TokenAccount): void {
  const address = associatedTokenAddress(owner, SOLANA_USDC);
  const held = bank.tokenAccount(address) ?? { mint: SOLANA_USDC, owner, amount: 0n, state: 'initialized' as const };
  const next = change(held);
  bank.setAccount({ address, owner: TOKEN_PROGRAM, lamports: TOKEN_ACCOUNT_RENT, data: encodeTokenAccount(next), executable: false });
  setMint(bank, (bank.mint(SOLANA_USDC)?.supply ?? 0n) + next.amount - held.amount);
}

function airdrop(bank: SolanaBank, params: unknown[]): string {
  addLamports(bank, new PublicKey(params[0] as string).toBase58(), BigInt(params[1] as number));
  return bs58.encode(randomBytes(64));
}

function handlerOf(bank: SolanaBank): RpcHandler {
  const methods: typeof SOLANA_METHODS = { ...SOLANA_METHODS, requestAirdrop: airdrop };
  return async ({ method, params }) => {
    const run = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (run === undefined) return { error: { code: -32601, message: 'Method not found' } };
    if (params !== undefined && params !== null && !Array.isArray(params))
      return { error: { code: -32602, message: 'Invalid params: a list is wanted.' } };
    try {
      return { result: run(bank, params ?? []) };
    } catch (error) {
      if (error instanceof RpcFailure) return { error: error.toRpc() };
      throw error;
    }
  };
}

function alreadyProcessed({ method }: RpcRequest): RpcReply {
  const message = `Transaction simulation failed: ${describeError('AlreadyProcessed')}`;
  if (method === 'simulateTransaction')
    return {
      result: { context: { slot: 0 }, value: { err: 'AlreadyProcessed', logs: [], accounts: null, unitsConsumed: 0, returnData: null } },
    };
  return {
    error: { code: -32002, message, data: { err: 'AlreadyProcessed', logs: [], accounts: null, unitsConsumed: 0, returnData: null } },
  };
}

/** Starts a local Solana chain with an empty USDC mint. `remembered`: how many of its newest transactions it remembers. */
export async function startLocalSolana({ remembered }: { remembered?: number } = {}): Promise<LocalSolana> {
  const bank = await SolanaBank.open(remembered);
  setMint(bank, 0n);
  const faults = new RpcFaults(alreadyProcessed);
  const server = await startRpcServer(handlerOf(bank), faults);
  const tokenAccount = (owner: string): string => associatedTokenAddress(owner, SOLANA_USDC);
  return {
    url: server.url,
    genesis_hash: bank.genesisHash,
    mint: SOLANA_USDC,
    fund: async (owner, { lamports = 0n, usdc }) => {
      if (lamports > 0n) addLamports(bank, owner, lamports);
      if (usdc !== undefined) setUsdc(bank, owner, (held) => ({ ...held, amount: held.amount + usdc }));
    },
    usdcBalance: async (owner) => bank.tokenAccount(tokenAccount(owner))?.amount ?? 0n,
    lamports: async (owner) => bank.account(owner)?.lamports ?? 0n,
    tokenAccount,
    setUsdc: async (owner, { amount, frozen }) =>
      setUsdc(bank, owner, (held) => ({
        ...held,
        amount: amount ?? held.amount,
        state: frozen === undefined ? held.state : frozen ? 'frozen' : 'initialized',
      })),
    advanceSlots: (slots) => bank.clock.advance(slots),
    faults,
    stop: () => server.stop(),
  };
}
