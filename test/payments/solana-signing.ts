import {
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { associatedTokenAddress } from '../../src/chains/solana';
import { TOKEN_PROGRAM } from '../../src/chains/solana-replies';

export const MEMO_PROGRAM = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');

export interface TransferWish {
  buyer: Keypair;
  mint: string;
  pay_to: string;
  amount: bigint;
  blockhash: string;
  memo?: string;
  decimals?: number;
  fee_payer?: string;
  limit?: number | null;
  price?: number | bigint | null;
  /** Overrides of the four accounts. */
  source?: string;
  destination?: string;
  extra?: TransactionInstruction[];
  legacy?: boolean;
}

/** TransferChecked of spl-token, written out: tag 12, u64 amount, u8 decimals. */
export function transferChecked(
  accounts: { source: string; mint: string; destination: string; owner: string },
  amount: bigint,
  decimals = 6,
  program = TOKEN_PROGRAM,
): TransactionInstruction {
  const data = Buffer.alloc(10);
  data[0] = 12;
  data.writeBigUInt64LE(amount, 1);
  data[9] = decimals;
  const meta = (key: string, isWritable: boolean, isSigner = false) => ({ pubkey: new PublicKey(key), isSigner, isWritable });
  const keys = [
    meta(accounts.source, true),
    meta(accounts.mint, false),
    meta(accounts.destination, true),
    meta(accounts.owner, false, true),
  ];
  return new TransactionInstruction({ programId: new PublicKey(program), keys, data });
}

export function memo(text: string | Buffer, signers: PublicKey[] = []): TransactionInstruction {
  return new TransactionInstruction({
    programId: MEMO_PROGRAM,
    keys: signers.map((pubkey) => ({ pubkey, isSigner: true, isWritable: false })),
    data: Buffer.from(text as string),
  });
}

/** The instructions of the stock x402 client: limit, price, transfer, memo. */
export function instructionsOf(wish: TransferWish): TransactionInstruction[] {
  const owner = wish.buyer.publicKey.toBase58();
  const { limit = 20_000, price = 1 } = wish;
  return [
    ...(limit === null ? [] : [ComputeBudgetProgram.setComputeUnitLimit({ units: limit })]),
    ...(price === null ? [] : [ComputeBudgetProgram.setComputeUnitPrice({ microLamports: price })]),
    transferChecked(
      {
        source: wish.source ?? associatedTokenAddress(owner, wish.mint),
        mint: wish.mint,
        destination: wish.destination ?? associatedTokenAddress(wish.pay_to, wish.mint),
        owner,
      },
      wish.amount,
      wish.decimals,
    ),
    ...(wish.memo === undefined ? [] : [memo(wish.memo)]),
    ...(wish.extra ?? []),
  ];
}

/** Signs what the stock x402 client would: base64 of the wire transaction. */
export function signTransfer(wish: TransferWish, instructions = instructionsOf(wish), signers: Keypair[] = [wish.buyer]): string {
  const message = new TransactionMessage({
    payerKey: new PublicKey(wish.fee_payer ?? wish.buyer.publicKey),
    recentBlockhash: wish.blockhash,
    instructions,
  });
  const transaction = new VersionedTransaction(wish.legacy === true ? message.compileToLegacyMessage() : message.compileToV0Message());
  transaction.sign(signers);
  return Buffer.from(transaction.serialize()).toString('base64');
}
