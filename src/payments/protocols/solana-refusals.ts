import { AppError } from '../../errors';

/** Most that a transaction may hold. Wire: the network's largest packet (packet.rs PACKET_DATA_SIZE); limit: compute units; price: micro-lamports a unit. */
export const MOST = {
  instructions: 7,
  lighthouse: 3,
  wire_bytes: 1_232,
  self_paid: { limit: 200_000, price: 5_000_000n },
  sponsored: { limit: 40_000, price: 10_000n },
} as const;

const bounds = (what: 'limit' | 'price'): string =>
  `at most ${MOST.sponsored[what].toLocaleString('en-US')} where the server pays the fee, ${MOST.self_paid[what].toLocaleString('en-US')} where the buyer does (asked for by the X-Payer header)`;

/** Why a proof is refused: reasons of @x402/svm where it has one, and what each tells the buyer. */
const REFUSALS = {
  invalid_exact_svm_unsupported_scheme: 'The proof is not of the scheme exact.',
  invalid_exact_svm_network_mismatch: 'The proof is for another network than the offer.',
  invalid_exact_svm_payload_transaction_could_not_be_decoded: `The transaction is not a legacy or version 0 Solana transaction in standard base64, of at most ${MOST.wire_bytes} bytes.`,
  invalid_exact_svm_payload_address_lookup_table: 'The transaction uses address lookup tables.',
  invalid_exact_svm_payload_transaction_instructions_length: `The transaction must have 1 to ${MOST.instructions} instructions.`,
  invalid_exact_svm_payload_unknown_instruction:
    'An instruction is of another program than ComputeBudget, Token, Memo and, where the buyer pays the fee, Lighthouse.',
  invalid_exact_svm_payload_unknown_optional_instruction: `The transaction has more than ${MOST.lighthouse} Lighthouse instructions.`,
  invalid_exact_svm_payload_transaction_fee_payer_transferring_funds: 'An instruction names the account that pays the fee for the buyer.',
  invalid_exact_svm_payload_transaction_excessive_signers:
    'The transaction asks for other signatures than those of the buyer and of who pays the fee.',
  invalid_exact_svm_payload_transaction_missing_fee_payer: 'The transaction has no signature of the buyer beside that of who pays the fee.',
  invalid_exact_svm_payload_transaction_signature_invalid: "The buyer's signature does not fit the transaction.",
  invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction:
    'The compute unit limit is missing, double or malformed, or another compute budget instruction is.',
  invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction_too_high: `The compute unit limit may be ${bounds('limit')}.`,
  invalid_exact_svm_payload_transaction_instructions_compute_price_instruction: 'The compute unit price is double or malformed.',
  invalid_exact_svm_payload_transaction_instructions_compute_price_instruction_too_high: `The compute unit price may be ${bounds('price')}.`,
  invalid_exact_svm_payload_no_transfer_instruction:
    'The transaction must hold exactly one Token instruction: TransferChecked with four accounts.',
  invalid_exact_svm_payload_mint_mismatch: 'The proof pays another token than the offer asks.',
  invalid_exact_svm_payload_recipient_mismatch:
    'The proof pays somebody else than the offer asks: the associated token account of payTo must receive.',
  invalid_exact_svm_payload_amount_mismatch: 'The payment must be exactly the price.',
  invalid_exact_svm_payload_authority_mismatch: 'The transfer is authorised by somebody else than the buyer who signed.',
  invalid_exact_svm_payload_source_mismatch: "The transfer is not from the buyer's associated token account.",
  invalid_exact_svm_payload_memo_count: 'The transaction must have exactly one memo: the text that the offer gives.',
  invalid_exact_svm_payload_memo_mismatch: 'The memo is not the text that the offer gives, in UTF-8 and signed by the buyer at most.',
  invalid_exact_svm_transaction_failed: 'The transaction is on the chain already, and failed there.',
  invalid_challenge: 'The offer that the proof names was not made by this server for this request.',
  insufficient_funds: 'The balance does not cover the price.',
  account_frozen: 'The token account that pays is frozen.',
  source_mismatch: 'The transaction was not signed by the stated source.',
} as const;

export type SolanaRefusal = keyof typeof REFUSALS;

/** Refuses with 402 `verification_failed`, a reason for machines and a sentence. `as`: the reason in other words for machines. */
export function refuse(why: SolanaRefusal, as: string = why): never {
  throw new AppError('verification_failed', { reason: as, message: REFUSALS[why] });
}

/** Refuses another amount than the price, both in micro-USDC: as `payment_insufficient` what is less, as `verification_failed` what is more, or no number. */
export function refuseAmount(paid: bigint | number, price: bigint): never {
  const reason = 'invalid_exact_svm_payload_amount_mismatch';
  if (paid < price) throw new AppError('payment_insufficient', { reason, message: REFUSALS[reason] });
  return refuse(reason);
}
