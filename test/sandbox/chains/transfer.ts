import {
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { TOKEN_PROGRAM } from '../../../src/chains/solana-replies';
import { associatedTokenAddress } from '../../../src/chains/solana';
import { SOLANA_USDC } from '../../../src/sandbox/chains/solana-tokens';

export interface Transfer {
  payer: Keypair;
  to: string;
  amount: bigint;
  blockhash: string;
  decimals?: number;
  authority?: Keypair;
  units?: number;
  price?: number;
  before?: TransactionInstruction[];
}

const key = (address: string): PublicKey => new PublicKey(address);

/** TransferChecked of USDC between associated token accounts, 10 bytes: tag 12, u64 amount, decimals. */
function transferInstruction(from: string, to: string, authority: string, amount: bigint, decimals = 6): TransactionInstruction {
  const data = Buffer.alloc(10);
  data[0] = 12;
  data.writeBigUInt64LE(amount, 1);
  data[9] = decimals;
  return {
    programId: key(TOKEN_PROGRAM),
    keys: [
      { pubkey: key(associatedTokenAddress(from, SOLANA_USDC)), isSigner: false, isWritable: true },
      { pubkey: key(SOLANA_USDC), isSigner: false, isWritable: false },
      { pubkey: key(associatedTokenAddress(to, SOLANA_USDC)), isSigner: false, isWritable: true },
      { pubkey: key(authority), isSigner: true, isWritable: false },
    ],
    data,
  };
}

export function memoInstruction(text: string): TransactionInstruction {
  return { programId: key('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'), keys: [], data: Buffer.from(text) };
}

/** A signed v0 transaction that pays USDC, its fee paid by the payer. */
export function signedTransfer(transfer: Transfer): VersionedTransaction {
  const { payer, to, amount, blockhash, decimals, authority = payer, units = 20_000, price = 1, before = [] } = transfer;
  const from = payer.publicKey.toBase58();
  const instructions = [
    ComputeBudgetProgram.setComputeUnitLimit({ units }),
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports: price }),
    ...before,
    transferInstruction(from, to, authority.publicKey.toBase58(), amount, decimals),
  ];
  const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash: blockhash, instructions }).compileToV0Message();
  const transaction = new VersionedTransaction(message);
  transaction.sign(authority === payer ? [payer] : [payer, authority]);
  return transaction;
}
