import crypto from 'node:crypto';
import {
  AddressLookupTableAccount,
  ComputeBudgetProgram,
  Keypair,
  type MessageV0,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import bs58 from 'bs58';
import { associatedTokenAddress } from '../../src/chains/solana';
import { AppError } from '../../src/errors';
import { type TransferTerms, verifySolanaTransfer } from '../../src/payments/protocols/solana-transfer';
import { instructionsOf, memo, signTransfer, transferChecked, type TransferWish } from './solana-signing';

const MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const LIGHTHOUSE = new PublicKey('L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95');
const TOKEN_2022 = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';

const buyer = Keypair.generate();
const other = Keypair.generate();
const sponsor = Keypair.generate();
const merchant = Keypair.generate().publicKey.toBase58();
const blockhash = bs58.encode(crypto.randomBytes(32));
const terms: TransferTerms = { mint: MINT, destination: associatedTokenAddress(merchant, MINT), amount: 10_000n, sponsor: null };
const sponsoredTerms: TransferTerms = { ...terms, sponsor: sponsor.publicKey.toBase58() };
const wish = (change: Partial<TransferWish> = {}): TransferWish => ({
  buyer,
  mint: MINT,
  pay_to: merchant,
  amount: 10_000n,
  blockhash,
  memo: 'q1.memo',
  ...change,
});
const sponsoredWish = (change: Partial<TransferWish> = {}): TransferWish => wish({ fee_payer: sponsor.publicKey.toBase58(), ...change });

function refusal(encoded: string, of: TransferTerms = terms): string {
  try {
    verifySolanaTransfer(encoded, of);
    return 'accepted';
  } catch (error) {
    const { code, context, message } = error as AppError;
    // Every reason is told in words too.
    expect(message).not.toBe(new AppError('verification_failed').message);
    return `${code} ${context.reason?.replace('invalid_exact_svm_payload_', '')}`;
  }
}

const budget = ComputeBudgetProgram;
const instruction = (program: PublicKey, data: Buffer, keys: PublicKey[] = []): TransactionInstruction =>
  new TransactionInstruction({ programId: program, data, keys: keys.map((pubkey) => ({ pubkey, isSigner: false, isWritable: true })) });
const assertion = (): TransactionInstruction => instruction(LIGHTHOUSE, Buffer.from([1, 2, 3]), [buyer.publicKey]);
const ownTransfer = (
  change: Partial<Parameters<typeof transferChecked>[0]> = {},
  amount = 10_000n,
  decimals = 6,
  program?: string,
): TransactionInstruction =>
  transferChecked(
    {
      source: associatedTokenAddress(buyer.publicKey.toBase58(), MINT),
      mint: MINT,
      destination: associatedTokenAddress(merchant, MINT),
      owner: buyer.publicKey.toBase58(),
      ...change,
    },
    amount,
    decimals,
    program,
  );

/** The same, and none of its accounts has to sign. */
const unsigned = (of: TransactionInstruction): TransactionInstruction =>
  new TransactionInstruction({ ...of, keys: of.keys.map((key) => ({ ...key, isSigner: false })) });

describe('a self-paid transfer', () => {
  it('is accepted as the stock x402 client builds it, and told apart by its message', () => {
    const encoded = signTransfer(wish());
    const transfer = verifySolanaTransfer(encoded, terms);
    const { message, signatures } = VersionedTransaction.deserialize(Buffer.from(encoded, 'base64'));
    expect(transfer).toMatchObject({
      payer: buyer.publicKey.toBase58(),
      sponsored: false,
      blockhash,
      memos: ['q1.memo'],
      message_hash: crypto.createHash('sha256').update(message.serialize()).digest('hex'),
      source: associatedTokenAddress(buyer.publicKey.toBase58(), MINT),
      destination: associatedTokenAddress(merchant, MINT),
    });
    expect(transfer.transaction_id).toBe(bs58.encode(signatures[0] as Uint8Array));
  });

  it('has the measured size of the stock client’s: 496 bytes sponsored with a 32-character memo, a signature and a key less self-paid', () => {
    const text = 'x'.repeat(32);
    expect(Buffer.from(signTransfer(sponsoredWish({ memo: text }), undefined, [buyer]), 'base64')).toHaveLength(496);
    expect(Buffer.from(signTransfer(wish({ memo: text })), 'base64')).toHaveLength(496 - 64 - 32);
  });

  const [limit, price, transfer, text] = instructionsOf(wish()) as [
    TransactionInstruction,
    TransactionInstruction,
    TransactionInstruction,
    TransactionInstruction,
  ];
  const signed = (instructions: TransactionInstruction[], signers = [buyer]): string => signTransfer(wish(), instructions, signers);

  it.each<[string, string]>([
    ['limit, price, transfer, memo', signed([limit, price, transfer, text])],
    ['price, limit, transfer, memo (MPP)', signed([price, budget.setComputeUnitLimit({ units: 200_000 }), transfer, text])],
    ['memo first', signed([text, transfer, price, limit])],
    ['only the transfer', signed([transfer])],
    ['legacy message', signTransfer(wish({ legacy: true }))],
    ['memo that names the payer as signer', signed([transfer, memo('q1.memo', [buyer.publicKey])])],
    ['three wallet assertions', signed([limit, price, transfer, assertion(), assertion(), assertion(), text])],
    [
      'heap frame and data limit',
      signed([budget.requestHeapFrame({ bytes: 65_536 }), instruction(budget.programId, Buffer.from([4, 0, 0, 1, 0])), transfer, text]),
    ],
    ['the highest price', signed([budget.setComputeUnitPrice({ microLamports: 5_000_000 }), transfer, text])],
  ])('is accepted: %s', (_, encoded) => {
    expect(refusal(encoded)).toBe('accepted');
  });

  it('tells its memos to the last character: a byte order mark is one', () => {
    expect(verifySolanaTransfer(signed([transfer, memo('\ufeffq1.memo')]), terms).memos).toEqual(['\ufeffq1.memo']);
  });

  const u64 = (value: bigint): Buffer => {
    const data = Buffer.alloc(8);
    data.writeBigUInt64LE(value);
    return data;
  };
  const own = associatedTokenAddress(buyer.publicKey.toBase58(), MINT);
  const otherMerchant = Keypair.generate().publicKey.toBase58();
  const fakeMint = Keypair.generate().publicKey.toBase58();
  it.each<[string, string, string]>([
    ['amount one less', signTransfer(wish({ amount: 9_999n })), 'payment_insufficient amount_mismatch'],
    ['amount one more', signTransfer(wish({ amount: 10_001n })), 'verification_failed amount_mismatch'],
    ['wrong decimals', signTransfer(wish({ decimals: 9 })), 'verification_failed mint_mismatch'],
    ['fake mint', signTransfer(wish({ mint: fakeMint })), 'verification_failed mint_mismatch'],
    ['Token-2022 look-alike', signed([ownTransfer({}, 10_000n, 6, TOKEN_2022), text]), 'verification_failed unknown_first_instruction'],
    ['the wallet instead of its token account', signTransfer(wish({ destination: merchant })), 'verification_failed recipient_mismatch'],
    ['another owner’s account', signTransfer(wish({ pay_to: otherMerchant })), 'verification_failed recipient_mismatch'],
    [
      'source that is not the payer’s own account',
      signTransfer(wish({ source: Keypair.generate().publicKey.toBase58() })),
      'verification_failed source_mismatch',
    ],
    [
      'the money of somebody who does not sign',
      signed([
        unsigned(ownTransfer({ owner: other.publicKey.toBase58(), source: associatedTokenAddress(other.publicKey.toBase58(), MINT) })),
      ]),
      'verification_failed authority_mismatch',
    ],
    ['no transfer', signed([limit, price, text]), 'verification_failed no_transfer_instruction'],
    ['two transfers', signed([transfer, ownTransfer({}, 1n), text]), 'verification_failed no_transfer_instruction'],
    [
      'a refund after it',
      signed([transfer, ownTransfer({ source: associatedTokenAddress(merchant, MINT), destination: own }, 1n)]),
      'verification_failed no_transfer_instruction',
    ],
    [
      'plain Transfer (tag 3)',
      signed([instruction(transfer.programId, Buffer.concat([Buffer.from([3]), u64(10_000n)]), [new PublicKey(own)])]),
      'verification_failed no_transfer_instruction',
    ],
    [
      'SetAuthority',
      signed([transfer, new TransactionInstruction({ programId: transfer.programId, keys: [], data: Buffer.from([6, 2, 0]) })]),
      'verification_failed no_transfer_instruction',
    ],
    [
      'CloseAccount',
      signed([transfer, new TransactionInstruction({ programId: transfer.programId, keys: [], data: Buffer.from([9]) })]),
      'verification_failed no_transfer_instruction',
    ],
    [
      'Approve',
      signed([
        transfer,
        new TransactionInstruction({ programId: transfer.programId, keys: [], data: Buffer.concat([Buffer.from([4]), u64(1n)]) }),
      ]),
      'verification_failed no_transfer_instruction',
    ],
    [
      'ApproveChecked, of the same length and accounts as the transfer',
      signed([new TransactionInstruction({ ...transfer, data: Buffer.concat([Buffer.from([13]), transfer.data.subarray(1)]) }), text]),
      'verification_failed no_transfer_instruction',
    ],
    [
      'trailing data on the transfer',
      signed([new TransactionInstruction({ ...transfer, data: Buffer.concat([transfer.data, Buffer.from([0])]) })]),
      'verification_failed no_transfer_instruction',
    ],
    [
      'a multisig authority',
      signed([
        new TransactionInstruction({
          ...transfer,
          keys: [...transfer.keys, { pubkey: other.publicKey, isSigner: false, isWritable: false }],
        }),
      ]),
      'verification_failed no_transfer_instruction',
    ],
    [
      'a durable nonce',
      signed([SystemProgram.nonceAdvance({ noncePubkey: other.publicKey, authorizedPubkey: buyer.publicKey }), transfer, text]),
      'verification_failed unknown_first_instruction',
    ],
    [
      'a System transfer',
      signed([limit, price, transfer, SystemProgram.transfer({ fromPubkey: buyer.publicKey, toPubkey: other.publicKey, lamports: 1 })]),
      'verification_failed unknown_fourth_instruction',
    ],
    [
      'creation of a token account',
      signed([transfer, instruction(new PublicKey('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'), Buffer.from([1]), [other.publicKey])]),
      'verification_failed unknown_second_instruction',
    ],
    [
      'an unknown program',
      signed([transfer, instruction(other.publicKey, Buffer.from([1]))]),
      'verification_failed unknown_second_instruction',
    ],
    [
      'four wallet assertions',
      signed([transfer, assertion(), assertion(), assertion(), assertion()]),
      'verification_failed unknown_optional_instruction',
    ],
    [
      'eight instructions',
      signed([limit, price, transfer, text, text, text, text, text]),
      'verification_failed transaction_instructions_length',
    ],
    [
      'too high a limit',
      signTransfer(wish({ limit: 200_001 })),
      'verification_failed transaction_instructions_compute_limit_instruction_too_high',
    ],
    [
      'too high a price',
      signTransfer(wish({ price: 5_000_001 })),
      'verification_failed transaction_instructions_compute_price_instruction_too_high',
    ],
    ['two limits', signed([limit, limit, transfer]), 'verification_failed transaction_instructions_compute_limit_instruction'],
    ['two prices', signed([price, price, transfer]), 'verification_failed transaction_instructions_compute_price_instruction'],
    [
      'long limit data',
      signed([instruction(budget.programId, Buffer.concat([limit.data, Buffer.from([0])])), transfer]),
      'verification_failed transaction_instructions_compute_limit_instruction',
    ],
    [
      'the retired ComputeBudget tag 0',
      signed([instruction(budget.programId, Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0])), transfer]),
      'verification_failed transaction_instructions_compute_limit_instruction',
    ],
    [
      'a ComputeBudget tag beyond the last, 4',
      signed([instruction(budget.programId, Buffer.from([5, 0, 0, 0, 0])), transfer]),
      'verification_failed transaction_instructions_compute_limit_instruction',
    ],
    [
      'accounts on ComputeBudget',
      signed([instruction(budget.programId, limit.data, [other.publicKey]), transfer]),
      'verification_failed transaction_instructions_compute_limit_instruction',
    ],
    [
      'a second signer',
      signed([transfer, memo('q1.memo', [other.publicKey])], [buyer, other]),
      'verification_failed transaction_excessive_signers',
    ],
    [
      'a memo that names somebody who does not sign',
      signed([transfer, unsigned(memo('q1.memo', [other.publicKey]))]),
      'verification_failed memo_mismatch',
    ],
    ['a memo that is not UTF-8', signed([transfer, memo(Buffer.from([0xff, 0xfe]))]), 'verification_failed memo_mismatch'],
    [
      'a sponsor we are not',
      signTransfer(wish({ fee_payer: sponsor.publicKey.toBase58() })),
      'verification_failed transaction_excessive_signers',
    ],
  ])('is refused: %s', (_, encoded, expected) => {
    expect(refusal(encoded)).toBe(expected);
  });

  it('is refused when the payer is the merchant itself', () => {
    const self = signTransfer(wish({ pay_to: buyer.publicKey.toBase58() }));
    expect(refusal(self, { ...terms, destination: associatedTokenAddress(buyer.publicKey.toBase58(), MINT) })).toBe(
      'verification_failed recipient_mismatch',
    );
  });

  describe('encodings', () => {
    const good = signTransfer(wish());
    const wire = Buffer.from(good, 'base64');
    const undecodable = 'verification_failed transaction_could_not_be_decoded';
    const withVersion = (version: number): string => {
      const changed = Buffer.from(wire);
      changed[65] = 0x80 | version;
      return changed.toString('base64');
    };
    it.each<[string, string, string]>([
      ['empty', '', undecodable],
      ['no base64', 'not base64!', undecodable],
      ['base64url', good.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '') + '-', undecodable],
      ['without padding', good.replace(/=+$/, '') + (good.endsWith('=') ? '' : 'A'), undecodable],
      ['white space', `${good.slice(0, 40)}\n${good.slice(40)}`, undecodable],
      ['a trailing byte', Buffer.concat([wire, Buffer.from([0])]).toString('base64'), undecodable],
      ['cut off', wire.subarray(0, wire.length - 1).toString('base64'), undecodable],
      ['larger than a packet', Buffer.alloc(1_233, 1).toString('base64'), undecodable],
      ['version 1', withVersion(1), undecodable],
      ['an overlong signature count', Buffer.concat([Buffer.from([0x81, 0x00]), wire.subarray(1)]).toString('base64'), undecodable],
      [
        'an extra signature',
        Buffer.concat([Buffer.from([2]), wire.subarray(1, 65), Buffer.alloc(64), wire.subarray(65)]).toString('base64'),
        undecodable,
      ],
      ['no signature', Buffer.concat([Buffer.from([0]), wire.subarray(65)]).toString('base64'), undecodable],
      [
        'an empty signature',
        Buffer.concat([Buffer.from([1]), Buffer.alloc(64), wire.subarray(65)]).toString('base64'),
        'verification_failed transaction_signature_invalid',
      ],
    ])('refused: %s', (_, encoded, expected) => {
      expect(refusal(encoded)).toBe(expected);
    });

    it('refuses a signature by somebody else, and a forged amount under a real signature', () => {
      const transaction = VersionedTransaction.deserialize(wire);
      transaction.signatures[0] = Uint8Array.from(crypto.sign(null, transaction.message.serialize(), privateKeyOf(other)));
      expect(refusal(Buffer.from(transaction.serialize()).toString('base64'))).toBe('verification_failed transaction_signature_invalid');
      const richer = VersionedTransaction.deserialize(Buffer.from(signTransfer(wish({ amount: 1n })), 'base64'));
      richer.message.compiledInstructions[2]!.data = instructionsOf(wish())[2]!.data;
      expect(refusal(Buffer.from(richer.serialize()).toString('base64'))).toBe('verification_failed transaction_signature_invalid');
    });

    it('refuses a malleated signature (S + L)', () => {
      const transaction = VersionedTransaction.deserialize(wire);
      const signature = transaction.signatures[0] as Uint8Array;
      const order = 2n ** 252n + 27742317777372353535851937790883648493n;
      const s = BigInt(`0x${Buffer.from(signature.slice(32)).reverse().toString('hex')}`) + order;
      signature.set(Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse(), 32);
      expect(refusal(Buffer.from(transaction.serialize()).toString('base64'))).toBe('verification_failed transaction_signature_invalid');
    });

    it('takes the largest packet of the network, and nothing larger', () => {
      // All but the memo takes 369 bytes.
      const [largest, larger] = [1_232, 1_233].map((bytes) => signTransfer(wish({ memo: 'x'.repeat(bytes - 369) }))) as [string, string];
      expect([Buffer.from(largest, 'base64').length, Buffer.from(larger, 'base64').length]).toEqual([1_232, 1_233]);
      expect([refusal(largest), refusal(larger)]).toEqual(['accepted', undecodable]);
    });

    it.each<[string, object]>([
      ['whose fee payer cannot be charged', { numReadonlySignedAccounts: 1 }],
      ['with more read-only accounts than it has', { numReadonlyUnsignedAccounts: 7 }],
    ])('refuses a message %s', (_, change) => {
      const transaction = VersionedTransaction.deserialize(wire);
      Object.assign(transaction.message.header, change);
      transaction.sign([buyer]);
      expect(refusal(Buffer.from(transaction.serialize()).toString('base64'))).toBe(undecodable);
    });

    it.each<[string, (message: MessageV0) => void]>([
      ['names an account twice', ({ staticAccountKeys: keys }) => void keys.push(keys[0] as PublicKey)],
      [
        'uses an account beyond its last',
        ({ staticAccountKeys: keys, compiledInstructions: [first] }) => void first?.accountKeyIndexes.push(keys.length),
      ],
    ])('refuses a message that %s', (_, edit) => {
      const transaction = VersionedTransaction.deserialize(Buffer.from(signed([assertion(), transfer, text]), 'base64'));
      edit(transaction.message as MessageV0);
      transaction.sign([buyer]);
      expect(refusal(Buffer.from(transaction.serialize()).toString('base64'))).toBe(undecodable);
    });

    it('refuses address lookup tables', () => {
      const table = new AddressLookupTableAccount({
        key: other.publicKey,
        state: {
          deactivationSlot: 2n ** 64n - 1n,
          lastExtendedSlot: 0,
          lastExtendedSlotStartIndex: 0,
          addresses: [new PublicKey(associatedTokenAddress(merchant, MINT))],
        },
      });
      const message = new TransactionMessage({
        payerKey: buyer.publicKey,
        recentBlockhash: blockhash,
        instructions: instructionsOf(wish()),
      }).compileToV0Message([table]);
      const transaction = new VersionedTransaction(message);
      transaction.sign([buyer]);
      expect(refusal(Buffer.from(transaction.serialize()).toString('base64'))).toBe('verification_failed address_lookup_table');
    });
  });
});

describe('a sponsored transfer', () => {
  const partly = (change: Partial<TransferWish> = {}, instructions?: TransactionInstruction[]): string =>
    signTransfer(sponsoredWish(change), instructions ?? instructionsOf(sponsoredWish(change)), [buyer]);

  it('is accepted with an empty sponsor signature, and has no id yet', () => {
    expect(verifySolanaTransfer(partly(), sponsoredTerms)).toMatchObject({
      payer: buyer.publicKey.toBase58(),
      sponsored: true,
      transaction_id: null,
    });
  });

  it('leaves self-paid transfers as they are', () => {
    expect(verifySolanaTransfer(signTransfer(wish()), sponsoredTerms)).toMatchObject({ sponsored: false });
  });

  it('is the same payment whatever stands in the sponsor’s slot', () => {
    const wire = Buffer.from(partly(), 'base64');
    const scribbled = Buffer.from(wire);
    scribbled.fill(7, 1, 65);
    const keys = [wire, scribbled].map((bytes) => verifySolanaTransfer(bytes.toString('base64'), sponsoredTerms).message_hash);
    expect(keys[0]).toBe(keys[1]);
  });

  const sponsorKey = sponsor.publicKey;
  const [limit, price, , text] = instructionsOf(wish()) as [
    TransactionInstruction,
    TransactionInstruction,
    TransactionInstruction,
    TransactionInstruction,
  ];
  it.each<[string, string, string]>([
    [
      'the sponsor’s own money',
      partly({}, [
        limit,
        price,
        ownTransfer({ owner: sponsorKey.toBase58(), source: associatedTokenAddress(sponsorKey.toBase58(), MINT) }),
        text,
        memo('x', [buyer.publicKey]),
      ]),
      'verification_failed transaction_fee_payer_transferring_funds',
    ],
    [
      'the sponsor in a memo',
      partly({}, [limit, price, ownTransfer(), memo('q1.memo', [sponsorKey])]),
      'verification_failed transaction_fee_payer_transferring_funds',
    ],
    [
      'a System transfer from the sponsor',
      partly({}, [limit, SystemProgram.transfer({ fromPubkey: sponsorKey, toPubkey: other.publicKey, lamports: 1 }), ownTransfer()]),
      'verification_failed transaction_fee_payer_transferring_funds',
    ],
    ['no limit', partly({ limit: null }), 'verification_failed transaction_instructions_compute_limit_instruction'],
    [
      'limit over the sponsor’s cap',
      partly({ limit: 40_001 }),
      'verification_failed transaction_instructions_compute_limit_instruction_too_high',
    ],
    [
      'price over the sponsor’s cap',
      partly({ price: 10_001 }),
      'verification_failed transaction_instructions_compute_price_instruction_too_high',
    ],
    ['wallet assertions', partly({}, [limit, price, ownTransfer(), assertion()]), 'verification_failed unknown_fourth_instruction'],
    [
      'somebody else as the sender',
      signTransfer(
        sponsoredWish(),
        [
          limit,
          price,
          ownTransfer({ owner: other.publicKey.toBase58(), source: associatedTokenAddress(other.publicKey.toBase58(), MINT) }),
          memo('x', [buyer.publicKey]),
        ],
        [buyer],
      ),
      'verification_failed transaction_excessive_signers',
    ],
  ])('is refused: %s', (_, encoded, expected) => {
    expect(refusal(encoded, sponsoredTerms)).toBe(expected);
  });

  it('is refused when it names the sponsor once more, for an instruction to use', () => {
    const transaction = VersionedTransaction.deserialize(Buffer.from(partly({}, [limit, ownTransfer(), text]), 'base64'));
    const { staticAccountKeys: keys, compiledInstructions } = transaction.message;
    compiledInstructions[2]?.accountKeyIndexes.push(keys.push(sponsorKey) - 1);
    transaction.sign([buyer]);
    expect(refusal(Buffer.from(transaction.serialize()).toString('base64'), sponsoredTerms)).toBe(
      'verification_failed transaction_could_not_be_decoded',
    );
  });

  it('is refused when the sponsor alone is to sign', () => {
    const wire = signTransfer(sponsoredWish(), [limit, text], [sponsor]);
    expect(refusal(wire, sponsoredTerms)).toBe('verification_failed transaction_missing_fee_payer');
  });

  it('is refused when the buyer did not sign', () => {
    const wire = Buffer.from(partly(), 'base64');
    wire.fill(0, 65, 129);
    expect(refusal(wire.toString('base64'), sponsoredTerms)).toBe('verification_failed transaction_signature_invalid');
  });
});

function privateKeyOf(keypair: Keypair): crypto.KeyObject {
  const pkcs8 = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), keypair.secretKey.slice(0, 32)]);
  return crypto.createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });
}
