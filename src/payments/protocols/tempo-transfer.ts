import { EXPIRING_NONCE_KEY } from '../../chains/tempo';
import { AppError } from '../../errors';
import { type HexText, keccak256 } from './keccak';
import { type EnvelopeFault, EnvelopeError, type SignedEnvelope, decodeEnvelope } from './tempo-envelope';

/** What a transaction must pay, and to which challenge it answers. */
export interface TempoTerms {
  chain_id: number;
  /** The only token taken, and who must receive it: 0x hex. */
  token: string;
  recipient: string;
  /** Exact amount in micro-USDC. */
  amount: bigint;
  realm: string;
  challenge_id: string;
  /** Who the client says pays, `did:pkh:eip155:<chain>:<address>`; ignored when it does not parse. */
  source?: string | undefined;
}

/** One exact transfer, proved offline. */
export interface TempoTransfer extends Omit<SignedEnvelope, 'calls' | 'extras' | 'chain_id'> {
  call_data: HexText;
  /** Memo of `transferWithMemo`; null for `transfer`. */
  memo: HexText | null;
}

/** Longest life of an expiring transaction, seconds (TIP-1009). */
const MAX_EXPIRY_S = 30;
const CLOCK_SKEW_S = 5;
/** A payment that ends sooner than this, seconds, is not begun: the pool refuses the last 3, and the query needs some. */
const MIN_REMAINING_S = 5;
/** The chain's own limit for one transaction (TIP-1010). */
const MAX_GAS = 30_000_000n;
const MIN_GAS = 21_000n;
/** Largest network fee, micro-dollars, we let a buyer pay by mistake. */
const MAX_FEE = 1_000_000n;
/** Gas is priced in attodollars, fees are paid in micro-dollars, rounded up (TIP-1010). */
const ATTODOLLARS_PER_MICRODOLLAR = 10n ** 12n;

/** `transfer(address,uint256)` and `transferWithMemo(address,uint256,bytes32)` of TIP-20. */
const TRANSFER = '0xa9059cbb';
const TRANSFER_WITH_MEMO = '0x95777d59';
/** First bytes of an attribution memo: keccak256("mpp") and version 1. */
const MEMO_TAG = keccak256('mpp').slice(0, 10);
const MEMO_VERSION = '01';

const REFUSALS = {
  too_large: 'The transaction is larger than 8 KiB.',
  encoding: 'The transaction must be 0x-prefixed hex.',
  sponsored_transaction: 'The network fee must be paid by the sender; a transaction that waits for a sponsor (0x78) is not accepted.',
  transaction_type: 'Only Tempo (0x76) and EIP-1559 (0x02) transactions are accepted.',
  undecodable: 'The transaction cannot be decoded.',
  not_canonical: 'The transaction is not in canonical encoding.',
  signature_missing: 'The transaction is not signed.',
  signature_kind: 'Only secp256k1, P256, WebAuthn and version 2 access key signatures are accepted.',
  signature_high_s: 'The signature is not in low-s form.',
  signature_invalid: 'The signature does not match the transaction.',
  source_mismatch: 'The transaction was not signed by the stated source.',
  chain_mismatch: 'The transaction is for another chain.',
  call_count: 'The transaction must hold exactly one call.',
  extra_parts: 'Access lists, authorisations and fee payer signatures are not accepted.',
  token_mismatch: 'The call must go to the token of the offer.',
  value_not_zero: 'The call must carry no value.',
  call_unsupported: 'Only transfer and transferWithMemo are accepted.',
  call_data: 'The call data must be exactly the transfer, in canonical encoding.',
  recipient_mismatch: 'The transfer goes to another recipient.',
  amount_mismatch: 'The transfer must be exactly the price.',
  memo_mismatch: 'The attribution memo belongs to another challenge.',
  gas_limit: 'The gas limit is out of range.',
  fee_cap: 'The network fee allowed is larger than one dollar.',
  expiring_nonce: 'An expiring transaction needs nonce 0 and a validBefore.',
  valid_before_too_far: 'An expiring transaction may live 30 seconds at most.',
  not_yet_valid: 'The transaction is not valid yet.',
} as const satisfies Record<EnvelopeFault, string> & Record<string, string>;

type TempoRefusal = keyof typeof REFUSALS;

/**
 * Judges a raw signed transaction by itself, offline and without a clock: it must be one exact transfer of `terms`, signed,
 * and nothing else. Throws verification_failed with a TempoRefusal as reason, or payment_insufficient when it pays too little.
 */
export function verifyTempoTransfer(raw: string, terms: TempoTerms): TempoTransfer {
  const { calls, extras, chain_id, ...envelope } = decoded(raw);
  if (chain_id !== terms.chain_id) throw refusal('chain_mismatch');
  if (extras.length > 0) throw refusal('extra_parts');
  const [call, ...others] = calls;
  if (call === undefined || others.length > 0) throw refusal('call_count');
  if (call.to?.toLowerCase() !== terms.token.toLowerCase()) throw refusal('token_mismatch');
  if (call.value !== 0n) throw refusal('value_not_zero');
  const memo = checkTransferCall(call.data, terms);
  if (contradicts(terms.source, envelope.sender)) throw refusal('source_mismatch');
  if (envelope.gas < MIN_GAS || envelope.gas > MAX_GAS) throw refusal('gas_limit');
  // RLP holds larger numbers; the chain has no such sequence, and cannot be asked about one.
  if (envelope.nonce_key > EXPIRING_NONCE_KEY) throw refusal('undecodable');
  const expiring = envelope.nonce_key === EXPIRING_NONCE_KEY;
  if (expiring && (envelope.nonce !== 0n || envelope.valid_before === null)) throw refusal('expiring_nonce');
  const transfer = { ...envelope, call_data: call.data, memo };
  if (maxFee(transfer) > MAX_FEE) throw refusal('fee_cap');
  return transfer;
}

/**
 * Judges the validity window against the chain's time `now`, Unix seconds. Throws payment_expired when fewer than 5 seconds
 * remain, verification_failed when it is not valid yet or lives longer than the chain allows.
 */
export function assertTimely(transfer: Pick<TempoTransfer, 'nonce_key' | 'valid_before' | 'valid_after'>, now: number): void {
  const { nonce_key, valid_before, valid_after } = transfer;
  if (valid_before !== null && valid_before - now < MIN_REMAINING_S)
    throw new AppError('payment_expired', {
      reason: 'valid_before',
      message: `The signed transaction has less than ${MIN_REMAINING_S} seconds to live; sign again.`,
    });
  if (nonce_key === EXPIRING_NONCE_KEY && valid_before !== null && valid_before > now + MAX_EXPIRY_S + CLOCK_SKEW_S)
    throw refusal('valid_before_too_far');
  if (valid_after !== null && valid_after > now) throw refusal('not_yet_valid');
}

/** The most the network may take for the transaction, in micro-dollars of its fee token. */
export function maxFee(transfer: Pick<TempoTransfer, 'gas' | 'max_fee_per_gas'>): bigint {
  return (transfer.gas * transfer.max_fee_per_gas + ATTODOLLARS_PER_MICRODOLLAR - 1n) / ATTODOLLARS_PER_MICRODOLLAR;
}

/** The turn that it takes: of transactions that share a nonce the chain takes one. Undefined of one that expires instead. */
export function turnOf({ sender, nonce_key, nonce }: Pick<TempoTransfer, 'sender' | 'nonce_key' | 'nonce'>): string | undefined {
  return nonce_key === EXPIRING_NONCE_KEY ? undefined : `tempo:${sender}:${nonce_key}:${nonce}`;
}

/** Keys under which the payment may be claimed once: by what was signed (signatures can have two spellings), and by its bytes. */
export function claimKeysOf(transfer: Pick<TempoTransfer, 'sender' | 'sign_payload' | 'hash'>): { payment: string; bytes: string } {
  return { payment: `tempo:${transfer.sender}:${transfer.sign_payload}`, bytes: `tempo:${transfer.hash}` };
}

/** The claim keys of a transaction, whatever it does. Throws verification_failed where it cannot be decoded. */
export const claimKeysOfRaw = (raw: string): ReturnType<typeof claimKeysOf> => claimKeysOf(decoded(raw));

/** An error for the buyer that names the rule which refused the transaction. */
function refusal(reason: TempoRefusal): AppError {
  return new AppError('verification_failed', { reason, message: REFUSALS[reason] });
}

function decoded(raw: string): SignedEnvelope {
  try {
    return decodeEnvelope(raw);
  } catch (error) {
    throw error instanceof EnvelopeError ? refusal(error.fault) : error;
  }
}

/** The memo of an exact transfer call. */
function checkTransferCall(data: HexText, terms: TempoTerms): HexText | null {
  const selector = data.slice(0, 10);
  if (selector !== TRANSFER && selector !== TRANSFER_WITH_MEMO) throw refusal('call_unsupported');
  const words = data.slice(10).match(/.{64}/g) ?? [];
  const [to, amount, memo] = words;
  if (to === undefined || amount === undefined || data.length !== 10 + 64 * (selector === TRANSFER ? 2 : 3)) throw refusal('call_data');
  if (!to.startsWith('0'.repeat(24))) throw refusal('call_data');
  if (`0x${to.slice(24)}` !== terms.recipient.toLowerCase()) throw refusal('recipient_mismatch');
  const paid = BigInt(`0x${amount}`);
  if (paid < terms.amount) throw new AppError('payment_insufficient', { reason: 'amount_mismatch', message: REFUSALS.amount_mismatch });
  if (paid !== terms.amount) throw refusal('amount_mismatch');
  if (memo === undefined) return null;
  if (!memoFits(memo, terms)) throw refusal('memo_mismatch');
  return `0x${memo}`;
}

/**
 * An attribution memo must name our realm and this challenge; any other memo is the buyer's own. 32 bytes: tag 4, version 1,
 * keccak256(realm) 10, client 10, keccak256(challenge id) 7 (mppx, `tempo/Attribution`).
 */
function memoFits(memo: string, terms: TempoTerms): boolean {
  if (!memo.startsWith(MEMO_TAG.slice(2))) return true;
  const server = keccak256(terms.realm).slice(2, 22);
  const challenge = keccak256(terms.challenge_id).slice(2, 16);
  return memo.slice(8, 10) === MEMO_VERSION && memo.slice(10, 30) === server && memo.slice(50) === challenge;
}

function contradicts(source: string | undefined, sender: HexText): boolean {
  const stated = /^did:pkh:eip155:\d+:(0x[0-9a-f]{40})$/i.exec(source ?? '')?.[1];
  return stated !== undefined && stated.toLowerCase() !== sender;
}
