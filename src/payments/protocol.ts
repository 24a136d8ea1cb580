import type { AppError } from '../errors';
import { DAY_MS, HOUR_MS } from '../lib/time';

/** What is for sale, as the corridor needs to know it. Built by the gateway for every request to a paid path. */
export interface Sale {
  request_id: string;
  method: 'GET' | 'POST';
  /** Matched path, `/api/v1/markets/trending`. */
  path: string;
  /** Absolute URL of the resource, for the buyer to read. */
  url: string;
  description: string;
  /** Of the answer, as it is asked for. */
  media_type: string;
  /** Exact price in micro-USDC. */
  amount: bigint;
  /** SHA-256 (hex) over method, path and canonical parameters: what a proof is bound to. */
  request_hash: string;
  /** SHA-256 (hex) over method, path and parameters as they were sent: of the same words it is the same whatever a new version understands by them. */
  sent_hash: string;
  /** Names and values in turns, as they were sent: of a name sent twice nothing is lost. */
  raw_headers: string[];
  /** Aborts when the buyer hangs up: before the broadcast the sale is then dropped, after it it is finished and kept. */
  client_gone?: AbortSignal;
}

/** The work that is paid for. */
export interface Work {
  /** Why the request would be refused even if paid (bad parameters, not implemented). Told after the proof is parsed, before it is verified. */
  refuse: AppError | null;
  /**
   * Executes the query. Resolves to the answer as a JSON value (it is what is kept for collection), or throws AppError:
   * whatever it throws, nothing is charged. `payer` is the verified sender, in its chain's own spelling.
   */
  run(context: { signal: AbortSignal; payer: string }): Promise<unknown>;
}

/** A fresh invitation to pay, in every enabled protocol. */
export interface Challenge {
  /** x402 part of the body; PAYMENT-REQUIRED is its base64. Null when x402 is off. */
  x402: Record<string, unknown> | null;
  /** Response headers: PAYMENT-REQUIRED, X-PAYMENT-REQUIRED, and one WWW-Authenticate per MPP method, tempo first. */
  headers: Record<string, string | string[]>;
  expires_at: Date;
}

/** How a request to a paid path ended. The gateway writes it to the wire; the corridor never touches a response. */
export type Outcome =
  /** 402: no proof, or a proof that was refused for `error`. `headers` may carry a failure receipt. */
  | { kind: 'challenge'; error: AppError; challenge: Challenge; headers: Record<string, string> }
  /** Any other error. `charged` is 'pending' only while a broadcast payment is unresolved; then `transaction` is its id. */
  | { kind: 'refused'; error: AppError; charged: false | 'pending'; transaction: string | null; headers: Record<string, string> }
  /** 200: settled. `replayed`: a kept answer, collected again without paying. `headers` carry the receipt. */
  | { kind: 'paid'; answer: unknown; replayed: boolean; headers: Record<string, string> };

/** One way to pay, for price lists and /health. */
export interface PaymentMethod {
  protocol: 'x402' | 'mpp';
  method: 'exact' | 'tempo' | 'solana';
  network: string;
  asset: string;
  decimals: 6;
  recipient: string;
  fees_paid_by: 'client' | 'server';
}

export interface MethodHealth {
  status: 'ok' | 'down' | 'off';
  latency_ms: number | null;
  last_settlement_at: Date | null;
}

/** What became of settlements nobody had heard the end of. */
export interface ReconcileReport {
  /** Payments of processes that ended: freed where nothing was sent, else left to the chain's word (`unresolved`). */
  released: number;
  unresolved: number;
  confirmed: number;
  failed: number;
  /** How many still wait for the chain's word. */
  open: number;
}

/** The corridor's face. Made by `createPayments` (charge.ts). */
export interface Payments {
  /** Runs one request through challenge, validate, claim, execute, settle. Never throws for a consumer's fault. */
  charge(sale: Sale, work: Work): Promise<Outcome>;
  methods(): PaymentMethod[];
  health(): Promise<Record<ProtocolName, MethodHealth>>;
  /** One pass over settlements nobody heard the end of, those that are due or all. */
  reconcile(which?: 'due' | 'all'): Promise<ReconcileReport>;
  /** Checks the chains and starts reconciliation of settlements nobody heard the end of. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

// ---- the port: what a protocol plugs into -------------------------------------------------------------------------

export type ProtocolName = 'x402' | 'mpp_tempo' | 'mpp_solana';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** Where payments report. Fields and messages never hold a proof, a raw transaction or a secret. */
export interface PaymentLog {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
  error(fields: Record<string, unknown>, message: string): void;
}

/** One protocol's invitation. */
export interface Offer {
  /** Value of one `WWW-Authenticate` field (starts with "Payment "); null for x402. */
  www_authenticate: string | null;
  /** x402 only: `required` goes, base64, into PAYMENT-REQUIRED; `body` is the x402 part of the 402 body (it depends on the body mode). */
  x402: { required: JsonObject; body: JsonObject } | null;
  expires_at: Date;
}

/** A proof as it was sent: decoded, nothing in it believed. */
export interface Credential {
  payload: unknown;
}

/** A proof that passed every offline rule: signatures, transaction rules, binding to this sale. Lives in memory only. */
export interface ValidProof {
  protocol: ProtocolName;
  /** Verified sender, in its chain's own spelling (Tempo: lower-case hex). */
  payer: string;
  /** What the proof pays, micro-USDC: the price of the sale, or the dearer or cheaper price of an unexpired bound quote. */
  amount: bigint;
  /** Which payment this is, whatever protocol carries it: `sol:<sha256 of message bytes>`, `tempo:<sender>:<sign payload hash>`. */
  proof_key: string;
  /** Further keys that may be claimed only once, server-made: `ch:<challenge id>`, `quote:<id>`, `tempo:<keccak of raw>`. */
  claim_keys: string[];
  /** What only the buyer can know and no chain shows; having one of them lets the kept answer be collected: `ch:<challenge id>`, `quote:<token>`. */
  secrets: string[];
  /** Keys the buyer chose (x402 payment-identifier); scoped to the payer by the corridor, they collect too, and conflict on another request. */
  buyer_keys: string[];
  /** The turn that it takes on its chain, which one payment alone can take: `tempo:<sender>:<nonce key>:<nonce>`. Left out where it takes none. */
  turn?: string;
  /** Transaction id when it is already known; null while a sponsor signature is missing. */
  transaction: string | null;
  /** When the invitation runs out; null when the proof carries none. Judged by the corridor, after kept answers (an answer outlives its challenge). */
  offer_expires_at: Date | null;
  /** Signed transaction as sent, in the protocol's own text form. Never logged, never stored before the write-ahead record. */
  raw: string;
  /** What later steps need besides `raw`: lives as long as the record, shown to nobody. */
  details: JsonObject;
}

/** By what a payment on record is found again: which payment it is, what only its buyer knows, and what it calls it. */
export type Marks = Pick<ValidProof, 'proof_key' | 'secrets' | 'buyer_keys'>;

/** What the chain said at admission. */
export interface Admission {
  /** The payer's balance in micro-USDC; bounds the sum that may be reserved against it. Null when unknown. */
  balance: bigint | null;
  /** Latest moment a broadcast can be started with good hope; null when the proof does not expire. */
  settle_by: Date | null;
  /** True when this very payment is already on chain: refused, unless it is our own unserved debt. Nothing else is checked then. */
  landed: boolean;
  /** Merged into the proof's details. */
  details: JsonObject;
}

/** A payment ready to be broadcast. */
export interface Prepared {
  transaction: string;
  /** The broadcastable bytes in the protocol's text form. */
  raw: string;
  /** Merged into the record's details. */
  details: JsonObject;
  settle_by: Date | null;
}

/** A payment as the ledger holds it from the write-ahead record on. */
export interface PaymentRecord {
  id: string;
  protocol: ProtocolName;
  payer: string;
  amount: bigint;
  transaction: string;
  /** The broadcastable bytes in the protocol's text form; null once they are erased. */
  raw: string | null;
  details: JsonObject;
  settle_by: Date | null;
  created_at: Date;
}

/**
 * What becomes of a payment. `settled`: the chain has it; `pending`: sent, without a word of the chain in time; `failed`: it never will have it;
 * `released`: not sent, for there was nothing to sell; `owed`: the buyer sent it and was not served; `rolled_back`: the chain lost it again.
 */
export type PaymentEvent = 'settled' | 'pending' | 'failed' | 'released' | 'owed' | 'rolled_back';

/** Who counts what becomes of payments in this process. */
export interface PaymentFigures {
  payment(event: PaymentEvent, record: Pick<PaymentRecord, 'protocol' | 'amount'>): void;
  /** How many payments wait for the chain's word, of all processes. */
  unresolved(count: number): void;
  /** Lamports of the wallet that pays fees for buyers, whenever it is looked at. */
  sponsor(lamports: number): void;
}

/** Milliseconds since a payment was admitted. */
export const ageOf = ({ created_at }: Pick<PaymentRecord, 'created_at'>): number => Date.now() - created_at.getTime();

/** The reason of a settlement that failed because the transaction never landed and never can. */
export const TRANSACTION_EXPIRED = 'transaction_expired';

/** The reasons why a proof is refused whose transaction is on its chain, and failed there. */
export const FAILED_ON_CHAIN: ReadonlySet<string> = new Set(['transaction_failed', 'invalid_exact_svm_transaction_failed']);

/** After so long a node may have forgotten a payment: that it does not know it is no word of the chain unless it knows others as old. */
export const FORGOTTEN_AFTER_MS = HOUR_MS;
/** What was confirmed and was not looked at for so long is taken for final where nobody knows it any more. */
export const FINAL_AFTER_MS = DAY_MS;

/** `failed` is definitive: it can never land any more (TRANSACTION_EXPIRED), or landed with an error. Everything not certain is `unknown`. */
export type Settlement =
  | { status: 'confirmed'; transaction: string }
  | { status: 'failed'; reason: string }
  | { status: 'unknown'; transaction: string };

/** What the chain is asked about a payment, between admission and receipt. Protocols over one chain share it. */
export interface Settling {
  /** Asks the chain (no broadcast): simulation, remaining life, balance, not yet landed. Throws payment_expired, verification_failed, payments_unavailable. */
  admit(proof: ValidProof, signal: AbortSignal): Promise<Admission>;
  /**
   * After the work succeeded: checks again what may have changed since `admitted_at`, and, where a sponsor pays the fee,
   * co-signs (only here). Nothing is broadcast. Throws payment_expired when the proof can no longer settle, settlement_failed
   * when it never could, payments_unavailable.
   */
  prepare(proof: ValidProof, admitted_at: Date, signal: AbortSignal): Promise<Prepared>;
  /** Broadcasts and waits for the chain's word until `signal` aborts (then: unknown). Never throws. Safe to repeat: the same bytes settle at most once. */
  settle(record: PaymentRecord, signal: AbortSignal): Promise<Settlement>;
  /** What the chain says now, without sending anything. Never throws. */
  lookup(record: PaymentRecord, signal: AbortSignal): Promise<Settlement>;
  /** Whether a confirmed payment has become irreversible. */
  finality(record: PaymentRecord, signal: AbortSignal): Promise<'final' | 'pending' | 'lost'>;
}

/**
 * One way to pay. The corridor calls, in this order: read, validate, admit, (the work), prepare, settle, receipt.
 * AppErrors thrown by read, validate, admit and prepare reach the consumer: 402 and 400 codes of the error table with a
 * `reason`; trouble with the chain's RPC is `payments_unavailable`. No method logs or keeps a proof.
 */
export interface Protocol {
  readonly name: ProtocolName;
  readonly settlement: Settling;
  method(): PaymentMethod;
  /** A fresh, unique, stateless offer bound to the sale. `error` is why the request is being asked to pay. */
  offer(sale: Sale, error: AppError): Promise<Offer>;
  /**
   * The credential in the request's headers, or null when there is none of this protocol (and, for MPP, of this method).
   * Throws malformed_payment, malformed_credential, method_unsupported, ambiguous_payment. MPP: refuses several Payment credentials.
   */
  read(sale: Sale): Credential | null;
  /** Offline and free of effects: decoding, binding to the sale, transaction rules, signatures. Does not judge the offer's expiry. */
  validate(credential: Credential, sale: Sale): Promise<ValidProof>;
  /** The marks of a credential, whatever is offered by now; judges nothing. Throws as `validate` does of a transaction that cannot be decoded. */
  marksOf(credential: Credential): Marks;
  /** Receipt headers of a settled payment. `at`: when it was confirmed. */
  receipt(record: PaymentRecord, at: Date): Record<string, string>;
  /** Headers that tell the failure to the buyer, {} where the protocol has none. `payer` null while nobody is verified. */
  failureReceipt(credential: Credential, payer: string | null, error: AppError): Record<string, string>;
  /** One cheap question to the chain; rejects when it cannot be reached or cannot be used (wrong chain, recipient unable to receive). */
  probe(signal: AbortSignal): Promise<{ latency_ms: number }>;
  /** Checks that must hold before the first sale (right chain, recipient can receive) and starts samplers. Rejects when they do not hold. */
  start(): Promise<void>;
  stop(): Promise<void>;
}
