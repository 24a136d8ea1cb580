import crypto from 'node:crypto';
import bs58 from 'bs58';
import { associatedTokenAddress } from '../../chains/solana';
import { TOKEN_PROGRAM } from '../../chains/solana-replies';
import { lruOf } from '../../lib/lru';
import { MOST, refuse, refuseAmount } from './solana-refusals';
import { decodeWire, type SolanaWire } from './solana-wire';

const COMPUTE_BUDGET = 'ComputeBudget111111111111111111111111111111';
const MEMO = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';
const LIGHTHOUSE = 'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95';

const USDC_DECIMALS = 6;
const TRANSFER_CHECKED = 0x0c;
// RFC 8410 prefix of a raw Ed25519 public key in SubjectPublicKeyInfo.
const ED25519_SPKI = Buffer.from('302a300506032b6570032100', 'hex');

/** What a transaction must pay. Addresses in base58. */
export interface TransferTerms {
  mint: string;
  /** The merchant's associated token account for the mint. */
  destination: string;
  /** Micro-USDC, exactly. */
  amount: bigint;
  /** Wallet that may pay the fee in the buyer's stead; null when buyers pay. */
  sponsor: string | null;
}

/** A transaction that pays exactly the terms and does nothing else. */
export interface SolanaTransfer {
  payer: string;
  sponsored: boolean;
  /** SHA-256 (hex) of the message bytes: what makes two encodings the same payment. */
  message_hash: string;
  /** Base58 signature of the fee payer = transaction id; null until the sponsor signs. */
  transaction_id: string | null;
  blockhash: string;
  /** Token accounts. */
  source: string;
  destination: string;
  /** Text of the memo instructions, in order. */
  memos: string[];
}

interface Instruction {
  program: string;
  accounts: number[];
  data: Buffer;
}

const payload = <Suffix extends string>(suffix: Suffix): `invalid_exact_svm_payload_${Suffix}` => `invalid_exact_svm_payload_${suffix}`;

/**
 * Judges a signed transaction by its bytes alone (rules 6.2 and 6.3 of the payment rules: no rule depends on the order of
 * instructions). `encoded` is standard base64. Memos are returned, not judged. Throws verification_failed with a reason, or
 * payment_insufficient when it pays too little.
 */
export function verifySolanaTransfer(encoded: string, terms: TransferTerms): SolanaTransfer {
  const transaction = decodeTransaction(encoded);
  const { keys } = transaction;
  if (new Set(keys).size !== keys.length) refuse(payload('transaction_could_not_be_decoded'));
  const instructions = transaction.instructions.map(({ program, accounts, data }) => ({
    program: keys[program] ?? refuse(payload('transaction_could_not_be_decoded')),
    accounts: accounts.map((index) => (index < keys.length ? index : refuse(payload('transaction_could_not_be_decoded')))),
    data,
  }));
  if (instructions.length < 1 || instructions.length > MOST.instructions) refuse(payload('transaction_instructions_length'));

  const sponsored = terms.sponsor !== null && keys[0] === terms.sponsor;
  const payerIndex = sponsored ? 1 : 0;
  checkSigners(transaction, payerIndex, sponsored);
  if (sponsored && instructions.some(({ accounts }) => accounts.includes(0))) refuse(payload('transaction_fee_payer_transferring_funds'));
  checkPrograms(instructions, sponsored);
  checkComputeBudget(instructions, sponsored);
  const payer = keys[payerIndex] as string;
  const { source, destination } = checkTransfer(instructions, keys, payerIndex, terms);
  const memos = instructions.filter(({ program }) => program === MEMO).map((instruction) => memoText(instruction, payerIndex));
  return {
    payer,
    sponsored,
    message_hash: hashOf(transaction),
    transaction_id: sponsored ? null : bs58.encode(transaction.signatures[0] as Buffer),
    blockhash: transaction.blockhash,
    source,
    destination,
    memos,
  };
}

/** The `message_hash` of a transaction, whatever it does. Throws verification_failed where it cannot be decoded. */
export const messageHashOf = (encoded: string): string => hashOf(decodeTransaction(encoded));

const hashOf = ({ message }: SolanaWire): string => crypto.createHash('sha256').update(message).digest('hex');

/** Strict base64, no trailing or odd bytes, legacy or version 0, no lookup tables. Throws verification_failed. */
function decodeTransaction(encoded: string): SolanaWire {
  const undecodable = payload('transaction_could_not_be_decoded');
  if (encoded.length > 4 * Math.ceil(MOST.wire_bytes / 3)) refuse(undecodable);
  const wire = Buffer.from(encoded, 'base64');
  if (wire.length === 0 || wire.length > MOST.wire_bytes || wire.toString('base64') !== encoded) refuse(undecodable);
  let transaction: SolanaWire;
  try {
    // One payment must have one encoding: the claim key is a hash of these bytes.
    transaction = decodeWire(wire);
  } catch {
    return refuse(undecodable);
  }
  if (transaction.lookups > 0) refuse(payload('address_lookup_table'));
  return transaction;
}

function checkSigners(transaction: SolanaWire, payerIndex: number, sponsored: boolean): void {
  const { message, signatures, key_bytes: keys, readonly_signed, readonly_unsigned } = transaction;
  const expected = sponsored ? 2 : 1;
  if (signatures.length > expected) refuse(payload('transaction_excessive_signers'));
  if (signatures.length < expected) refuse(payload('transaction_missing_fee_payer'));
  if (readonly_signed >= expected || readonly_unsigned > keys.length - expected) refuse(payload('transaction_could_not_be_decoded'));
  const key = keys[payerIndex];
  if (key === undefined || !isSignedBy(key, message, signatures[payerIndex] as Buffer)) refuse(payload('transaction_signature_invalid'));
}

function isSignedBy(publicKey: Buffer, bytes: Buffer, signature: Buffer): boolean {
  try {
    return crypto.verify(null, bytes, verifierOf(publicKey), signature);
  } catch {
    return false;
  }
}

// Reading a key takes as long as verifying with it; the same wallets come again.
const verifiers = lruOf<crypto.KeyObject>(10_000);

function verifierOf(publicKey: Buffer): crypto.KeyObject {
  const bytes = publicKey.toString('latin1');
  const known = verifiers.get(bytes);
  if (known !== undefined) return known;
  const key = crypto.createPublicKey({ key: Buffer.concat([ED25519_SPKI, publicKey]), format: 'der', type: 'spki' });
  verifiers.set(bytes, key);
  return key;
}

function checkPrograms(instructions: Instruction[], sponsored: boolean): void {
  const ordinals = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh'];
  const allowed = sponsored ? [COMPUTE_BUDGET, TOKEN_PROGRAM, MEMO] : [COMPUTE_BUDGET, TOKEN_PROGRAM, MEMO, LIGHTHOUSE];
  instructions.forEach(({ program }, index) => {
    if (!allowed.includes(program)) refuse(payload('unknown_instruction'), payload(`unknown_${ordinals[index]}_instruction`));
  });
  if (instructions.filter(({ program }) => program === LIGHTHOUSE).length > MOST.lighthouse)
    refuse(payload('unknown_optional_instruction'));
}

/** ComputeBudget: tag 1 heap frame, 2 unit limit (u32), 3 unit price (u64 micro-lamports), 4 loaded data limit; each at most once. */
function checkComputeBudget(instructions: Instruction[], sponsored: boolean): void {
  const caps = sponsored ? MOST.sponsored : MOST.self_paid;
  const seen = new Set<number>();
  for (const { data, accounts } of instructions.filter(({ program }) => program === COMPUTE_BUDGET)) {
    const tag = data[0] ?? 0;
    const reason =
      tag === 3
        ? payload('transaction_instructions_compute_price_instruction')
        : payload('transaction_instructions_compute_limit_instruction');
    if (tag < 1 || tag > 4 || seen.has(tag) || accounts.length > 0 || data.length !== (tag === 3 ? 9 : 5)) refuse(reason);
    if (tag === 2 && data.readUInt32LE(1) > caps.limit) refuse(`${reason}_too_high`);
    if (tag === 3 && data.readBigUInt64LE(1) > caps.price) refuse(`${reason}_too_high`);
    seen.add(tag);
  }
  // Without a limit the runtime takes a default, and the sponsor's fee would not be bounded by us.
  if (sponsored && !seen.has(2)) refuse(payload('transaction_instructions_compute_limit_instruction'));
}

/** TransferChecked of spl-token: 0x0c, u64 amount, u8 decimals; accounts source, mint, destination, authority. */
function checkTransfer(
  instructions: Instruction[],
  keys: string[],
  payerIndex: number,
  terms: TransferTerms,
): { source: string; destination: string } {
  const ofToken = instructions.filter(({ program }) => program === TOKEN_PROGRAM);
  const transfer = ofToken[0];
  if (ofToken.length !== 1 || transfer === undefined) return refuse(payload('no_transfer_instruction'));
  const { data, accounts } = transfer;
  if (data[0] !== TRANSFER_CHECKED || data.length !== 10 || accounts.length !== 4) refuse(payload('no_transfer_instruction'));
  const [source, mint, destination, authority] = accounts.map((index) => keys[index] as string) as [string, string, string, string];
  if (mint !== terms.mint || data[9] !== USDC_DECIMALS) refuse(payload('mint_mismatch'));
  if (destination !== terms.destination) refuse(payload('recipient_mismatch'));
  if (authority !== keys[payerIndex]) refuse(payload('authority_mismatch'));
  if (source !== associatedTokenAddress(authority, terms.mint)) refuse(payload('source_mismatch'));
  if (source === destination) refuse(payload('recipient_mismatch'));
  const paid = data.readBigUInt64LE(1);
  if (paid !== terms.amount) refuseAmount(paid, terms.amount);
  return { source, destination };
}

/** A memo may name the payer as its signer and nobody else; it must be UTF-8, or the program fails. */
function memoText({ data, accounts }: Instruction, payerIndex: number): string {
  if (accounts.some((index) => index !== payerIndex)) refuse(payload('memo_mismatch'));
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data);
  } catch {
    return refuse(payload('memo_mismatch'));
  }
}
