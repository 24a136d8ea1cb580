import crypto from 'node:crypto';
import type { PaymentRecord, ValidProof } from './protocol';

/**
 * RESERVED, EXECUTING and RESULT_READY belong to a running process; BROADCASTING is written before the first send; UNKNOWN
 * waits for the chain's word. CONFIRMED and DELIVERED are paid; RELEASED, EXPIRED and REJECTED_ONCHAIN are not. OWED: the
 * buyer's own broadcast paid us and nothing was served. ROLLED_BACK: confirmed once, then lost by the chain.
 */
export type PaymentState =
  | 'RESERVED'
  | 'EXECUTING'
  | 'RESULT_READY'
  | 'BROADCASTING'
  | 'UNKNOWN'
  | 'CONFIRMED'
  | 'DELIVERED'
  | 'RELEASED'
  | 'REJECTED_ONCHAIN'
  | 'EXPIRED'
  | 'OWED'
  | 'ROLLED_BACK';

/** What a key is: of the proof itself, of what only its buyer knows, the buyer's own choice, or the turn that the payment takes on its chain. */
type KeyKind = 'proof' | 'secret' | 'buyer' | 'turn';

/** A payment that already holds one of the keys a request came with. */
export interface HeldPayment {
  record: PaymentRecord;
  state: PaymentState;
  request_hash: string;
  answer: string | null;
  settled_at: Date | null;
  reason: string | null;
  /** How the request's keys met it. */
  by: KeyKind[];
}

/** The keys of one request, as stored: what may be secret only as a hash. */
export interface ClaimKeys {
  keys: string[];
  kinds: KeyKind[];
  /** The stored form of everything that lets an answer be collected. */
  collecting: string[];
}

/** What a claim brought. */
export interface Claim {
  /** Id of the new payment; null when another payment holds one of the keys, or the payer's settlements failed too often. */
  id: string | null;
  /** Settlements that lately failed by the payer's doing. */
  faults: number;
  /** Micro-USDC the payer had still to pay at that moment, up to and with this payment. */
  open_sum: bigint;
  /** Answers that wait for a fresh proof of this payer, or were lately abandoned. */
  kept: number;
  /** JSON text of the answer that waits for a fresh proof for this very request. */
  waiting: string | null;
  /** Id of a payment of this payer for this very request that was lately settled and handed out to nobody. */
  unserved: string | null;
  /** The same of one that the payer has broadcast itself, and was never served for. */
  owed: string | null;
  /** The same of one that was sent, and whose end nobody heard. */
  unsettled: string | null;
  /** How many such this payer has of late, whatever they were for. */
  undecided: number;
}

/** How often a payer may let settlements fail. */
export interface FaultLimit {
  since: Date;
  most: number;
}

const hash = (...parts: string[]): string => crypto.createHash('sha256').update(parts.join('\n')).digest('hex');

type Claiming = Pick<ValidProof, 'payer' | 'proof_key' | 'claim_keys' | 'secrets' | 'buyer_keys' | 'turn'>;

/** An Idempotency-Key for a buyer that sent none, and nothing else that no chain shows. */
export const newCollectKey = (): string => crypto.randomBytes(18).toString('base64url');

/** All keys a proof claims. Keys the buyer chose (Idempotency-Key among them) are its own: scoped to the payer. */
export function claimKeysOf(proof: Claiming, idempotencyKey: string | null): ClaimKeys {
  const proofs = [proof.proof_key, ...proof.claim_keys.map((key) => `claim:${hash(key)}`)];
  const secrets = proof.secrets.map((secret) => `secret:${hash(secret)}`);
  const chosen = idempotencyKey === null ? proof.buyer_keys : [...proof.buyer_keys, `idem:${idempotencyKey}`];
  const buyers = chosen.map((key) => `buyer:${hash(proof.payer, key)}`);
  const turns = proof.turn === undefined ? [] : [`turn:${hash(proof.turn)}`];
  const kindsOf = (keys: readonly string[], kind: KeyKind): KeyKind[] => keys.map(() => kind);
  return {
    keys: [...proofs, ...secrets, ...buyers, ...turns],
    kinds: [...kindsOf(proofs, 'proof'), ...kindsOf(secrets, 'secret'), ...kindsOf(buyers, 'buyer'), ...kindsOf(turns, 'turn')],
    collecting: [...secrets, ...buyers],
  };
}
