import crypto from 'node:crypto';
import { Keypair, PublicKey, TransactionInstruction, VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';
import fc from 'fast-check';
import { associatedTokenAddress } from '../../src/chains/solana';
import { AppError } from '../../src/errors';
import { type TransferTerms, verifySolanaTransfer } from '../../src/payments/protocols/solana-transfer';
import { instructionsOf, memo, signTransfer, transferChecked, type TransferWish } from './solana-signing';

// 10,000 take about a minute: PROPERTY_RUNS=10000 npx jest test/payments/solana-transfer.property
const RUNS = Number(process.env.PROPERTY_RUNS ?? 500);

const MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const buyer = Keypair.generate();
const sponsor = Keypair.generate();
const merchant = Keypair.generate().publicKey.toBase58();
const terms: TransferTerms = {
  mint: MINT,
  destination: associatedTokenAddress(merchant, MINT),
  amount: 20_000n,
  sponsor: sponsor.publicKey.toBase58(),
};
const base: TransferWish = {
  buyer,
  mint: MINT,
  pay_to: merchant,
  amount: 20_000n,
  blockhash: bs58.encode(crypto.randomBytes(32)),
  memo: 'q1.abcdefghijkl.zzzzzz.abcdefghijklmnopqrstuv',
};
const originals = [base, { ...base, legacy: true }, { ...base, fee_payer: sponsor.publicKey.toBase58() }].map((wish) => ({
  wish,
  encoded: signTransfer(wish),
}));

/** The claim key, or the code of the refusal. Anything but an AppError is a failure of the verifier. */
function judge(encoded: string): { key: string } | { refused: string } {
  try {
    const { message_hash, payer, memos } = verifySolanaTransfer(encoded, terms);
    expect(payer).toBe(buyer.publicKey.toBase58());
    return { key: `${message_hash} ${memos.join()}` };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    expect(['verification_failed', 'payment_insufficient']).toContain(error.code);
    expect(error.context.reason).toEqual(expect.any(String));
    return { refused: error.code };
  }
}

/** Refused, or the very same payment. */
function expectHarmless(original: string, mutated: string): void {
  const verdict = judge(mutated);
  if ('key' in verdict) expect(verdict).toEqual(judge(original));
}

const original = fc.constantFrom(...originals);
const settings = { numRuns: RUNS };

describe('any single change to a valid transaction is refused or leaves the same payment', () => {
  it('the originals are accepted', () => {
    for (const { encoded } of originals) expect(judge(encoded)).toHaveProperty('key');
  });

  it('bytes flipped, inserted, removed, repeated', () => {
    const change = fc.record({
      kind: fc.constantFrom('flip', 'insert', 'remove', 'repeat', 'cut'),
      at: fc.nat(),
      value: fc.integer({ min: 1, max: 255 }),
      length: fc.integer({ min: 1, max: 40 }),
    });
    fc.assert(
      fc.property(original, change, ({ encoded }, { kind, at, value, length }) => {
        const wire = Buffer.from(encoded, 'base64');
        const index = at % wire.length;
        const parts = {
          flip: () => [wire.subarray(0, index), Buffer.from([(wire[index] as number) ^ value]), wire.subarray(index + 1)],
          insert: () => [wire.subarray(0, index), Buffer.from([value]), wire.subarray(index)],
          remove: () => [wire.subarray(0, index), wire.subarray(index + 1)],
          repeat: () => [wire.subarray(0, index), wire.subarray(index, index + length), wire.subarray(index)],
          cut: () => [wire.subarray(0, index)],
        }[kind as 'flip']();
        expectHarmless(encoded, Buffer.concat(parts).toString('base64'));
      }),
      settings,
    );
  });

  it('the text of the encoding changed', () => {
    const alphabet = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-_ \n'];
    fc.assert(
      fc.property(original, fc.nat(), fc.constantFrom(...alphabet), fc.boolean(), ({ encoded }, at, character, insert) => {
        const index = at % (encoded.length + 1);
        expectHarmless(encoded, encoded.slice(0, index) + character + encoded.slice(insert ? index : index + 1));
      }),
      settings,
    );
  });

  it('instructions added, removed, swapped or re-aimed by the buyer, who signs again', () => {
    const stranger = Keypair.generate().publicKey;
    const additions: ((wish: TransferWish) => TransactionInstruction)[] = [
      () => memo('another memo'),
      (wish) => instructionsOf(wish)[2] as TransactionInstruction,
      (wish) => instructionsOf(wish)[0] as TransactionInstruction,
      () =>
        transferChecked(
          { source: stranger.toBase58(), mint: MINT, destination: stranger.toBase58(), owner: buyer.publicKey.toBase58() },
          1n,
        ),
      () => new TransactionInstruction({ programId: stranger, keys: [], data: Buffer.from([1]) }),
      () =>
        new TransactionInstruction({
          programId: PublicKey.default,
          keys: [
            { pubkey: buyer.publicKey, isSigner: true, isWritable: true },
            { pubkey: stranger, isSigner: false, isWritable: true },
          ],
          data: Buffer.from([2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]),
        }),
    ];
    const change = fc.record({
      kind: fc.constantFrom('add', 'remove', 'swap', 'account', 'data'),
      at: fc.nat(),
      other: fc.nat(),
      addition: fc.constantFrom(...additions),
    });
    fc.assert(
      fc.property(original, change, ({ wish }, { kind, at, other, addition }) => {
        const list = instructionsOf(wish);
        const index = at % list.length;
        const chosen = list[index] as TransactionInstruction;
        if (kind === 'add') list.splice(index, 0, addition(wish));
        if (kind === 'remove') list.splice(index, 1);
        if (kind === 'swap') [list[index], list[other % list.length]] = [list[other % list.length] as TransactionInstruction, chosen];
        if (kind === 'account' && chosen.keys.length > 0) chosen.keys[other % chosen.keys.length]!.pubkey = stranger;
        if (kind === 'data')
          chosen.data = Buffer.concat([chosen.data.subarray(0, other % (chosen.data.length + 1)), Buffer.from([other % 256])]);
        const encoded = signTransferOf(wish, list);
        if (encoded === null) return;
        // Signed anew it is another payment; it must still pay exactly the price to the merchant, and nothing else.
        const verdict = judge(encoded);
        if ('key' in verdict) expectExactPayment(encoded);
      }),
      settings,
    );
  });

  it('signatures of somebody else, or of something else', () => {
    const thief = Keypair.generate();
    fc.assert(
      fc.property(original, fc.uint8Array({ minLength: 64, maxLength: 64 }), fc.boolean(), ({ encoded }, random, byThief) => {
        const transaction = VersionedTransaction.deserialize(Buffer.from(encoded, 'base64'));
        const slot = transaction.signatures.length - 1;
        transaction.signatures[slot] = byThief
          ? (VersionedTransaction.deserialize(Buffer.from(signTransfer({ ...base, buyer: thief }), 'base64')).signatures[0] as Uint8Array)
          : random;
        expect(judge(Buffer.from(transaction.serialize()).toString('base64'))).toEqual({ refused: 'verification_failed' });
      }),
      settings,
    );
  });

  it('arbitrary bytes and texts never crash it', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 1_300 }), (bytes) => void judge(Buffer.from(bytes).toString('base64'))),
      settings,
    );
    fc.assert(
      fc.property(fc.string({ maxLength: 2_000 }), (text) => void judge(text)),
      settings,
    );
  });
});

/** Null when the library itself refuses to compile what was asked for (a signer that is not there). */
function signTransferOf(wish: TransferWish, instructions: TransactionInstruction[]): string | null {
  try {
    return signTransfer(wish, instructions);
  } catch {
    return null;
  }
}

/** Exactly one Token instruction, paying the price from the buyer to the merchant; nothing outside the four programs. */
function expectExactPayment(encoded: string): void {
  const { message } = VersionedTransaction.deserialize(Buffer.from(encoded, 'base64'));
  const keys = message.staticAccountKeys.map((key) => key.toBase58());
  const wanted = instructionsOf(base)[2] as TransactionInstruction;
  const programs = message.compiledInstructions.map(({ programIdIndex }) => keys[programIdIndex] as string);
  const transfers = message.compiledInstructions.filter((_, index) => programs[index] === wanted.programId.toBase58());
  expect(
    transfers.map(({ data, accountKeyIndexes }) => ({
      data: Buffer.from(data).toString('hex'),
      accounts: accountKeyIndexes.map((index) => keys[index]),
    })),
  ).toEqual([{ data: wanted.data.toString('hex'), accounts: wanted.keys.map(({ pubkey }) => pubkey.toBase58()) }]);
  expect(programs).not.toContain(PublicKey.default.toBase58());
}
